//! The progress of a match by the host's messages.
//!
//! In: joint moves as text, one for each message. Out: the position that each message refers
//! to. Games with `sees` are followed elsewhere. Hosts repeat messages, and messages get lost. A joint move that is not legal is
//! rejected and leaves the match unchanged.

use std::fmt;
use std::thread::JoinHandle;

use ggp_engine::machine::{AnyMachine, Backend, Limits, Machine, PlayError, PropnetState, score};
use ggp_gdl::counted::counted;
use ggp_gdl::game::{Game, Move, RoleId};
use ggp_gdl::terms::{TermId, Terms};

/// The most parts of a move that is sent.
const LONGEST_TEXT: usize = 1 << 16;
/// The most joint moves that are tried in place of a lost one.
const MOST_INFERRED: usize = 200;

/// The joint moves so far and our answers.
#[derive(Debug)]
pub(super) struct MatchProgress {
    game: Game,
    role: RoleId,
    rules: Rules,
    terms: Terms,
    played: Vec<Vec<Move>>,
    /// Our answers, by the number of earlier joint moves.
    answers: Vec<Option<Move>>,
}

/// The reason why a joint move of the host was rejected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum OutOfStep {
    /// The number of moves is not the number of roles.
    Count { moves: usize, roles: usize },
    /// A move is not a valid term.
    Malformed(String),
    /// The joint move is not legal.
    Illegal(String),
    /// Messages were lost, or are of the wrong form.
    Lost(String),
    /// The rules cannot be evaluated.
    Play(PlayError),
}

impl From<PlayError> for OutOfStep {
    fn from(error: PlayError) -> Self {
        OutOfStep::Play(error)
    }
}

impl fmt::Display for OutOfStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OutOfStep::Count { moves, roles } => {
                let (moves, roles) = (counted(moves, "move"), counted(roles, "role"));
                write!(f, "{moves} for {roles}")
            }
            OutOfStep::Malformed(error) | OutOfStep::Lost(error) => f.write_str(error),
            OutOfStep::Illegal(moves) => write!(f, "{moves} is not legal here"),
            OutOfStep::Play(error) => error.fmt(f),
        }
    }
}

/// The machine that checks moves.
#[derive(Debug)]
enum Rules {
    Compiling(JoinHandle<Result<AnyMachine, PlayError>>),
    /// With the states from the first on.
    Ready(Box<AnyMachine>, Vec<PropnetState>),
    Failed(PlayError),
}

/// The interpretation of a message.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Received {
    /// The message refers to the position after this number of joint moves.
    After(usize),
    /// The message before this one was lost, and its joint move was inferred.
    Inferred,
}

impl MatchProgress {
    /// A match without moves. The rules are compiled on another thread, which the interrupt of
    /// the limits ends.
    pub(super) fn new(game: &Game, role: RoleId, limits: &Limits) -> Self {
        let (copy, limits) = (game.clone(), limits.clone());
        let make = move || AnyMachine::new(&copy, Backend::Datalog, limits);
        MatchProgress {
            game: game.clone(),
            role,
            rules: Rules::Compiling(std::thread::spawn(make)),
            terms: game.terms().clone(),
            played: Vec::new(),
            answers: vec![None],
        }
    }

    /// The joint moves so far.
    pub(super) fn played(&self) -> &[Vec<Move>] {
        &self.played
    }

    /// Our answer after a number of joint moves.
    pub(super) fn answer(&self, made: usize) -> Option<Move> {
        self.answers[made]
    }

    /// Records our answer after a number of joint moves.
    pub(super) fn set_answer(&mut self, made: usize, chosen: Move) {
        self.answers[made] = Some(chosen);
    }

    /// A move in the spelling of the rules; `None` if it is too long to send.
    pub(super) fn text(&mut self, chosen: Move) -> Option<String> {
        spelled(&self.game, &mut self.terms, chosen)
    }

    /// Processes the joint move of a message. `is_answered` is whether the host received our
    /// last answer.
    ///
    /// # Errors
    ///
    /// The reason why the joint move is not legal here. Nothing is changed then.
    pub(super) fn receive(
        &mut self,
        texts: &[String],
        is_answered: bool,
    ) -> Result<Received, OutOfStep> {
        if texts.is_empty() {
            return Ok(Received::After(0));
        }
        let roles = self.game.role_count();
        if texts.len() != roles {
            return Err(OutOfStep::Count {
                moves: texts.len(),
                roles,
            });
        }
        let joint: Result<Vec<Move>, _> = texts
            .iter()
            .map(|text| self.game.parse_term(&mut self.terms, text).map(Move::new))
            .collect();
        let joint = joint.map_err(|error| OutOfStep::Malformed(error.to_string()))?;
        let made = self.played.len();
        // The same joint move twice is either a repeated message or played again. A host
        // without our answer cannot have played it.
        let ours = Some(joint[self.role.index()]);
        let is_next = is_answered && self.answers[made] == ours;
        if self.played.last() == Some(&joint) && !is_next {
            return Ok(Received::After(made));
        }
        if self.follow(&joint)? {
            return Ok(Received::After(made + 1));
        }
        if let Some(before) = self.played.iter().rposition(|earlier| *earlier == joint) {
            return Ok(Received::After(before + 1));
        }
        match self.infer(&joint)? {
            true => Ok(Received::Inferred),
            false => Err(OutOfStep::Illegal(texts.join(" "))),
        }
    }

    /// The scores of all roles; none if the game is not over.
    ///
    /// # Errors
    ///
    /// If the rules do not give the scores, or not within the limits, or the match is
    /// interrupted.
    pub(super) fn scores(&mut self) -> Result<Vec<(String, u8)>, PlayError> {
        let Ok((machine, states)) = self.rules.ready() else {
            return Ok(Vec::new());
        };
        let state = states.last().expect("the first state is in the list");
        if !machine.is_terminal(state)? {
            return Ok(Vec::new());
        }
        let scores = self.game.roles().map(|role| {
            let score = score(machine, state, role)?;
            Ok((self.game.role_name(role).to_owned(), score.get()))
        });
        scores.collect()
    }

    /// Makes a joint move if it is legal.
    fn follow(&mut self, joint: &[Move]) -> Result<bool, OutOfStep> {
        let (machine, states) = self.rules.ready()?;
        let state = states.last().expect("the first state is in the list");
        let next = play(machine, state, joint)?;
        if let Some(next) = next {
            self.push(joint.to_vec(), next);
            return Ok(true);
        }
        Ok(false)
    }

    fn push(&mut self, joint: Vec<Move>, state: PropnetState) {
        if let Rules::Ready(_, states) = &mut self.rules {
            states.push(state);
        }
        self.played.push(joint);
        self.answers.push(None);
    }

    /// Looks for a joint move with our last answer after which `joint` is legal, and makes both
    /// if there is exactly one.
    fn infer(&mut self, received: &[Move]) -> Result<bool, OutOfStep> {
        let made = self.played.len();
        let ours = self.answers[made];
        let (machine, states) = self.rules.ready()?;
        let state = states
            .last()
            .expect("the first state is in the list")
            .clone();
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
            if count.is_none_or(|count| count > MOST_INFERRED) {
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
                if let Some(after) = play(machine, &between, received)?
                    && found.replace((joint, between, after)).is_some()
                {
                    found = None;
                    return Ok(());
                }
            }
            Ok(())
        };
        search()?;
        let Some((joint, between, after)) = found else {
            return Ok(false);
        };
        self.push(joint, between);
        self.push(received.to_vec(), after);
        Ok(true)
    }
}

impl Rules {
    /// The machine and the states, once the rules are compiled.
    fn ready(&mut self) -> Result<(&mut AnyMachine, &[PropnetState]), OutOfStep> {
        if let Rules::Compiling(_) = self {
            let interrupted = Rules::Failed(PlayError::Interrupted);
            if let Rules::Compiling(thread) = std::mem::replace(self, interrupted)
                && let Ok(result) = thread.join()
            {
                let first = result.and_then(|mut machine| Ok((machine.initial()?, machine)));
                *self = match first {
                    Ok((first, machine)) => Rules::Ready(Box::new(machine), vec![first]),
                    Err(error) => Rules::Failed(error),
                };
            }
        }
        match self {
            Rules::Ready(machine, states) => Ok((machine, states)),
            Rules::Failed(error) => Err(error.clone().into()),
            Rules::Compiling(_) => unreachable!("the thread was just joined"),
        }
    }
}

impl Drop for MatchProgress {
    /// Waits for the thread that compiles the rules. Its interrupt is raised, or it ends soon.
    fn drop(&mut self) {
        let gone = Rules::Failed(PlayError::Interrupted);
        if let Rules::Compiling(thread) = std::mem::replace(&mut self.rules, gone) {
            // Its result is no longer needed.
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

/// A move in the spelling of the rules; `None` if it is too long to send.
pub(super) fn spelled(game: &Game, terms: &mut Terms, chosen: Move) -> Option<String> {
    terms.refresh();
    is_short(terms, chosen.term()).then(|| game.text(terms, chosen.term()))
}

/// Returns true if the text of a term is short enough to send. Terms share subterms, so that a
/// small term can have a very long text.
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
