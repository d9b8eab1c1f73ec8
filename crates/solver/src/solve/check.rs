//! Replay of plans on an evaluator that searches do not use, or on Datalog if that takes too long.

use ggp_stop::Stop;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::{SolveError, SolveOptions};
use ggp_engine::machine::{DatalogMachine, Learned, Limits, Machine, NaiveMachine, PlayError};
use ggp_gdl::counted::counted;
use ggp_gdl::game::{Game, Move, Score};
use ggp_gdl::terms::TermId;

/// The evaluator that replays a plan.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Checker {
    /// The naive evaluator, which shares only the rules with the others.
    #[default]
    Naive,
    /// The Datalog evaluator, which is also used if the naive one is too slow.
    Datalog,
    /// No evaluator. This is also reported if there is no plan or the replay was interrupted.
    Nobody,
}

/// The sizes of relations that replays on the Datalog evaluator have met. Clones share them, so
/// that they are learned once for many puzzles of the same rules.
#[derive(Clone, Debug, Default)]
pub struct Replays(Arc<Mutex<Option<Learned>>>);

impl Replays {
    fn machine(&self, game: &Game, limits: Limits) -> Result<DatalogMachine, PlayError> {
        let known = self.0.lock().expect("no holder panics").clone();
        let machine = match &known {
            Some(known) => DatalogMachine::as_learned(game, limits, known)?,
            None => DatalogMachine::for_few_states(game, limits)?,
        };
        *self.0.lock().expect("no holder panics") = machine.learned_sizes().cloned();
        Ok(machine)
    }
}

/// A plan that does not solve the game.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WrongPlan {
    /// The number of moves that could be made.
    pub moves: usize,
    /// A description of the fault.
    pub what: String,
}

impl fmt::Display for WrongPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the plan that was found is wrong after {}: {}; please report this",
            counted(self.moves, "move"),
            self.what
        )
    }
}

/// The most matches that the naive evaluator may try in one state.
const NAIVE_WORK: u64 = 20_000_000;
/// The longest time for all plans on the naive evaluator; after it, Datalog replays them.
const NAIVE_TIME: Duration = Duration::from_secs(1);

/// Replays plans until `stop` is over, and checks that each ends the game with the given score,
/// or with at least [`SolveOptions::target`]. `start` contains the facts of the first state. The plans are
/// played by [`SolveOptions::checker`], or by the Datalog evaluator if the naive one is too slow.
pub(super) fn check_all(
    game: &Game,
    start: &[TermId],
    plans: &[(&[Move], Option<Score>)],
    options: &SolveOptions,
    stop: &Stop,
) -> Result<Checker, SolveError> {
    let (target, checker) = (options.target, options.checker);
    if plans.is_empty() || checker == Checker::Nobody {
        return Ok(Checker::Nobody);
    }
    if checker == Checker::Naive {
        // Half of the rest is left to Datalog.
        let most = stop.remaining().map(|rest| rest / 2);
        let limits = Limits {
            work: NAIVE_WORK,
            stop: stop.within(most).within_work(Some(NAIVE_TIME)),
            ..Limits::default()
        };
        let naive = NaiveMachine::new(game, limits);
        match play_all(naive, start, plans, target, |_, _| Ok(())) {
            Ok(()) => return Ok(Checker::Naive),
            Err(SolveError::Play(PlayError::TooLarge(_) | PlayError::Interrupted)) => {}
            Err(error) => return Err(error),
        }
    }
    let limits = Limits {
        stop: stop.clone(),
        ..Limits::default()
    };
    let datalog = options.replays.machine(game, limits);
    let datalog = datalog.map_err(SolveError::Play);
    let played =
        datalog.and_then(|datalog| play_all(datalog, start, plans, target, Player::advance));
    match played {
        Err(SolveError::Play(PlayError::Interrupted)) => Ok(Checker::Nobody),
        other => other.map(|()| Checker::Datalog),
    }
}

/// Plays one plan on the naive evaluator from the initial state, and returns
/// the score at its end.
///
/// # Errors
///
/// [`SolveError::WrongPlan`] if a move is not legal or the game is not over
/// after the last, [`SolveError::Play`] if the rules cannot be evaluated.
pub fn check_plan<M: Machine>(machine: &M, plan: &[Move]) -> Result<Score, SolveError> {
    let mut naive = NaiveMachine::new(machine.game(), Limits::default());
    let start = naive.initial()?;
    let mut player = Player {
        states: vec![start],
        machine: naive,
        played: Vec::new(),
    };
    player.play(plan)
}

fn play_all<M: Machine>(
    mut machine: M,
    start: &[TermId],
    plans: &[(&[Move], Option<Score>)],
    target: Score,
    advance: impl Fn(&mut Player<M>, &[Move]) -> Result<(), SolveError>,
) -> Result<(), SolveError> {
    machine.terms_mut().refresh();
    let start = machine.state(start)?;
    let mut player = Player {
        states: vec![start],
        machine,
        played: Vec::new(),
    };
    for (plan, expected) in plans {
        advance(&mut player, plan)?;
        let score = player.play(plan)?;
        if expected.map_or(score < target, |expected| score != expected) {
            let what = format!("its score is {score}");
            return Err(wrong(plan.len(), what));
        }
    }
    Ok(())
}

/// Plays plans in lexicographic order; their common beginnings are played once.
struct Player<M: Machine> {
    machine: M,
    /// The states along the moves played.
    states: Vec<M::State>,
    played: Vec<Move>,
}

/// The number of moves from which on many states are tested at once.
const MANY: usize = 4;

impl Player<DatalogMachine> {
    /// Makes the moves of a plan, unless they are few, or are not shown to be legal in many
    /// states at once; [`Player::play`] then makes them one by one and finds the fault.
    fn advance(&mut self, plan: &[Move]) -> Result<(), SolveError> {
        let rest = &plan[self.go_back(plan)..];
        if rest.len() < MANY {
            return Ok(());
        }
        let start = self.states.last().expect("the start is kept").clone();
        let joints: Vec<&[Move]> = rest.chunks(1).collect();
        if let Some(states) = self.machine.states_along(&start, &joints)? {
            self.states.extend(states);
            self.played.extend(rest);
        }
        Ok(())
    }
}

impl<M: Machine> Player<M> {
    /// Takes back the moves that a plan does not begin with, and returns the number of others.
    fn go_back(&mut self, plan: &[Move]) -> usize {
        let pairs = self.played.iter().zip(plan);
        let common = pairs.take_while(|(before, now)| before == now).count();
        self.played.truncate(common);
        self.states.truncate(common + 1);
        common
    }

    /// The score at the end of a plan.
    fn play(&mut self, plan: &[Move]) -> Result<Score, SolveError> {
        let common = self.go_back(plan);
        for chosen in &plan[common..] {
            let state = self.states.last().expect("the start is kept");
            let next = match self.machine.play(state, &[*chosen]) {
                Ok(next) => next,
                Err(error @ (PlayError::IllegalMove { .. } | PlayError::GameOver)) => {
                    return Err(wrong(self.played.len(), error.to_string()));
                }
                Err(error) => return Err(error.into()),
            };
            self.states.push(next);
            self.played.push(*chosen);
        }
        let last = self.states.last().expect("the start is kept").clone();
        if !self.machine.is_terminal(&last)? {
            return Err(wrong(plan.len(), "the game is not over".to_owned()));
        }
        let role = self.machine.game().roles().next();
        let role = role.expect("a game has a role");
        Ok(self.machine.goal(&last, role)?)
    }
}

fn wrong(moves: usize, what: String) -> SolveError {
    SolveError::WrongPlan(WrongPlan { moves, what })
}
