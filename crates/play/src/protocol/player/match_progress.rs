//! The course of a match as the host tells it.
//!
//! In: joint moves as text, one message after the other. Out: which position
//! each message speaks of. Hosts repeat messages, and messages get lost; what
//! does not follow from the rules is refused, and the match stays where it was.

use std::thread::JoinHandle;

use ggp_engine::machine::{AnyMachine, Backend, Limits, Machine, PlayError, PropnetState};
use ggp_gdl::game::{Game, Move, RoleId, Score};
use ggp_gdl::terms::{TermId, Terms};

/// Bytes of the text of a move, about.
const LONGEST_TEXT: usize = 1 << 16;
/// Joint moves that are tried in place of one that was not told.
const GUESSES: usize = 200;

/// What was played, and what we answered.
#[derive(Debug)]
pub(super) struct Course {
    game: Game,
    role: RoleId,
    referee: Referee,
    terms: Terms,
    played: Vec<Vec<Move>>,
    /// Our answer after so many joint moves.
    answers: Vec<Option<Move>>,
}

/// Who knows what is legal.
#[derive(Debug)]
enum Referee {
    Making(JoinHandle<Result<AnyMachine, PlayError>>),
    /// With the state after each number of joint moves.
    Made(Box<AnyMachine>, Vec<PropnetState>),
    Failed(PlayError),
}

/// What a message turned out to be.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Heard {
    /// It goes on, or this was said before.
    After(usize),
    /// A message before this one was lost, and its moves had to be these.
    Guessed,
}

impl Course {
    /// A match of which nothing was played. Rules are made ready on a thread of
    /// their own; the interrupt of the limits ends it.
    pub(super) fn new(game: &Game, role: RoleId, limits: &Limits) -> Self {
        let (rules, limits) = (game.clone(), limits.clone());
        let make = move || AnyMachine::new(&rules, Backend::Datalog, limits);
        Course {
            game: game.clone(),
            role,
            referee: Referee::Making(std::thread::spawn(make)),
            terms: game.terms().clone(),
            played: Vec::new(),
            answers: vec![None],
        }
    }

    /// What was played.
    pub(super) fn played(&self) -> &[Vec<Move>] {
        &self.played
    }

    /// What we answered after so many joint moves.
    pub(super) fn answer(&self, made: usize) -> Option<Move> {
        self.answers[made]
    }

    /// Keeps what we answer after so many joint moves.
    pub(super) fn set_answer(&mut self, made: usize, chosen: Move) {
        self.answers[made] = Some(chosen);
    }

    /// A move in the spelling of the rules; none if it is far too long to send.
    pub(super) fn text(&mut self, chosen: Move) -> Option<String> {
        self.terms.refresh();
        is_short(&self.terms, chosen.term()).then(|| self.game.text(&self.terms, chosen.term()))
    }

    /// Takes in the joint move that a message tells. `is_answered` says whether
    /// the host had our last answer.
    ///
    /// # Errors
    ///
    /// Why the joint move follows from nothing; nothing is changed then.
    pub(super) fn hear(&mut self, told: &[String], is_answered: bool) -> Result<Heard, String> {
        if told.is_empty() {
            return Ok(Heard::After(0));
        }
        let roles = self.game.role_count();
        if told.len() != roles {
            return Err(format!("{} moves for {roles} roles", told.len()));
        }
        let joint: Result<Vec<Move>, _> = told
            .iter()
            .map(|text| self.game.parse_term(&mut self.terms, text).map(Move::new))
            .collect();
        let joint = joint.map_err(|error| error.to_string())?;
        let made = self.played.len();
        // The same joint move twice is either said again or played again. A host
        // without our answer cannot have played it.
        let ours = Some(joint[self.role.index()]);
        let is_next = is_answered && self.answers[made] == ours;
        if self.played.last() == Some(&joint) && !is_next {
            return Ok(Heard::After(made));
        }
        if self.follow(&joint)? {
            return Ok(Heard::After(made + 1));
        }
        if let Some(before) = self.played.iter().rposition(|earlier| *earlier == joint) {
            return Ok(Heard::After(before + 1));
        }
        match self.guess(&joint)? {
            true => Ok(Heard::Guessed),
            false => Err(format!("{} is not legal here", told.join(" "))),
        }
    }

    /// The scores of all roles, if the game is over.
    pub(super) fn scores(&mut self) -> Option<Vec<(String, Score)>> {
        let (machine, states) = self.referee.made().ok()?;
        let state = states.last().expect("there is a first state");
        if !machine.is_terminal(state).ok()? {
            return None;
        }
        let scores = self.game.roles().map(|role| {
            let score = machine.goal(state, role).ok()?;
            Some((self.game.role_name(role).to_owned(), score))
        });
        scores.collect()
    }

    /// Makes a joint move if it is legal.
    fn follow(&mut self, joint: &[Move]) -> Result<bool, String> {
        let (machine, states) = self.referee.made()?;
        let state = states.last().expect("there is a first state");
        let next = play(machine, state, joint).map_err(|error| error.to_string())?;
        if let Some(next) = next {
            self.push(joint.to_vec(), next);
            return Ok(true);
        }
        Ok(false)
    }

    fn push(&mut self, joint: Vec<Move>, state: PropnetState) {
        if let Referee::Made(_, states) = &mut self.referee {
            states.push(state);
        }
        self.played.push(joint);
        self.answers.push(None);
    }

    /// Looks for a joint move with our last answer that makes the one told legal,
    /// and makes both if there is exactly one.
    fn guess(&mut self, told: &[Move]) -> Result<bool, String> {
        let made = self.played.len();
        let ours = self.answers[made];
        let (machine, states) = self.referee.made()?;
        let state = states.last().expect("there is a first state").clone();
        let mut found = None;
        let mut search = || -> Result<(), PlayError> {
            if machine.is_terminal(&state)? {
                return Ok(());
            }
            let mut choices: Vec<Vec<Move>> = Vec::new();
            for role in self.game.roles() {
                let mut legal = Vec::new();
                machine.legal(&state, role, &mut legal)?;
                match ours {
                    Some(chosen) if role == self.role => choices.push(vec![chosen]),
                    _ => choices.push(legal),
                }
            }
            let count = choices
                .iter()
                .try_fold(1_usize, |count, legal| count.checked_mul(legal.len()));
            if count.is_none_or(|count| count > GUESSES) {
                return Ok(());
            }
            for mut number in 0..count.unwrap_or(0) {
                let pick = |legal: &Vec<Move>| {
                    let chosen = legal[number % legal.len()];
                    number /= legal.len();
                    chosen
                };
                let joint: Vec<Move> = choices.iter().map(pick).collect();
                let between = machine.next(&state, &joint)?;
                if let Some(after) = play(machine, &between, told)?
                    && found.replace((joint, between, after)).is_some()
                {
                    found = None;
                    return Ok(());
                }
            }
            Ok(())
        };
        search().map_err(|error| error.to_string())?;
        let Some((joint, between, after)) = found else {
            return Ok(false);
        };
        self.push(joint, between);
        self.push(told.to_vec(), after);
        Ok(true)
    }
}

impl Referee {
    /// The machine and the states; waits for them if need be.
    fn made(&mut self) -> Result<(&mut AnyMachine, &[PropnetState]), String> {
        if let Referee::Making(_) = self {
            let interrupted = Referee::Failed(PlayError::Interrupted);
            if let Referee::Making(thread) = std::mem::replace(self, interrupted)
                && let Ok(came) = thread.join()
            {
                let first = came.and_then(|mut machine| Ok((machine.initial()?, machine)));
                *self = match first {
                    Ok((first, machine)) => Referee::Made(Box::new(machine), vec![first]),
                    Err(error) => Referee::Failed(error),
                };
            }
        }
        match self {
            Referee::Made(machine, states) => Ok((machine, states)),
            Referee::Failed(error) => Err(error.to_string()),
            Referee::Making(_) => unreachable!("it was just waited for"),
        }
    }
}

impl Drop for Course {
    /// The interrupt is raised before, or the match was so short that rules are
    /// ready soon.
    fn drop(&mut self) {
        let gone = Referee::Failed(PlayError::Interrupted);
        if let Referee::Making(thread) = std::mem::replace(&mut self.referee, gone) {
            // What it fails with concerns nobody any more.
            let _ = thread.join();
        }
    }
}

/// The state after a joint move, if it is legal.
fn play(
    machine: &mut AnyMachine,
    state: &PropnetState,
    joint: &[Move],
) -> Result<Option<PropnetState>, PlayError> {
    if machine.is_terminal(state)? {
        return Ok(None);
    }
    let mut legal = Vec::new();
    for (role, chosen) in machine.game().roles().zip(joint) {
        machine.legal(state, role, &mut legal)?;
        if !legal.contains(chosen) {
            return Ok(None);
        }
    }
    machine.next(state, joint).map(Some)
}

/// Whether a term's text is not far too long. Terms share their parts, so that
/// few of them can make a text that fits nowhere.
fn is_short(terms: &Terms, term: TermId) -> bool {
    let mut open = vec![term];
    let mut parts = 0;
    while let Some(term) = open.pop() {
        parts += 1;
        if parts > LONGEST_TEXT {
            return false;
        }
        open.extend(terms.arguments(term));
    }
    true
}
