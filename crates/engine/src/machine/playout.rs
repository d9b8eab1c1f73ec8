//! Random playouts.

use rand::{Rng, RngExt};

use super::any::facts;
use super::{AnyMachine, Machine, PlayError, PropnetState};
use ggp_gdl::game::{Move, RoleId, Score};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Options of a playout.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct PlayoutOptions {
    /// The number of joint moves after which the playout is cut.
    pub depth: usize,
}

impl Default for PlayoutOptions {
    fn default() -> Self {
        PlayoutOptions { depth: 10_000 }
    }
}

/// A state of a playout with its legal moves and the joint move made.
#[derive(Clone, Debug)]
pub struct PlayoutStep<S> {
    /// The state.
    pub state: S,
    /// By role: the legal moves.
    pub legal: Vec<Vec<Move>>,
    /// The joint move that was made.
    pub joint: Vec<Move>,
}

/// A playout from some state.
#[derive(Clone, Debug)]
pub struct Playout<S> {
    /// The states before the last one, in order.
    pub steps: Vec<PlayoutStep<S>>,
    /// The last state.
    pub last: S,
    /// By role: the score; `None` if the playout was cut.
    pub scores: Option<Vec<Score>>,
}

/// The scores of all roles in a state, each as that of [`score`].
///
/// # Errors
///
/// As [`Machine::goal`].
pub fn scores<M: Machine>(machine: &mut M, state: &M::State) -> Result<Vec<Score>, PlayError> {
    let roles = machine.game().roles();
    roles.map(|role| score(machine, state, role)).collect()
}

/// The score of a role in a state. Chance, which wants nothing, has 0 if the rules do not give it
/// exactly one.
///
/// # Errors
///
/// As [`Machine::goal`].
pub fn score<M: Machine>(
    machine: &mut M,
    state: &M::State,
    role: RoleId,
) -> Result<Score, PlayError> {
    match machine.goal(state, role) {
        Err(PlayError::NoGoal(_) | PlayError::AmbiguousGoal(_) | PlayError::BadGoal(_))
            if machine.game().is_random(role) =>
        {
            Ok(Score::new(0).expect("it is at most 100"))
        }
        score => score,
    }
}

/// Makes uniformly random legal moves until the game is over.
///
/// # Errors
///
/// Any error of the rules that shows up during play.
pub fn playout<M: Machine>(
    machine: &mut M,
    from: &M::State,
    options: PlayoutOptions,
    random: &mut impl Rng,
) -> Result<Playout<M::State>, PlayError> {
    let mut steps = Vec::new();
    let mut state = from.clone();
    loop {
        let scores = if machine.is_terminal(&state)? {
            Some(scores(machine, &state)?)
        } else {
            None
        };
        if scores.is_some() || steps.len() == options.depth {
            return Ok(Playout {
                steps,
                last: state,
                scores,
            });
        }
        let (step, next) = random_step(machine, state, random)?;
        steps.push(step);
        state = next;
    }
}

/// Makes a uniformly random legal move of each role in a state that is not terminal. Returns the step and
/// the state after it.
///
/// # Errors
///
/// Any error of the rules that shows up.
pub fn random_step<M: Machine>(
    machine: &mut M,
    state: M::State,
    random: &mut impl Rng,
) -> Result<(PlayoutStep<M::State>, M::State), PlayError> {
    let (mut legal, mut joint) = (Vec::new(), Vec::new());
    for role in machine.game().clone().roles() {
        let mut moves = Vec::new();
        machine.legal(&state, role, &mut moves)?;
        joint.push(moves[random.random_range(0..moves.len())]);
        legal.push(moves);
    }
    let next = machine.next(&state, &joint)?;
    let step = PlayoutStep {
        state,
        legal,
        joint,
    };
    Ok((step, next))
}

/// The end of a playout whose states are not kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PlayoutEnd {
    /// The game is over: by role its score, or what is wrong with it.
    Terminal(Vec<Result<Score, PlayError>>),
    /// The depth limit was reached.
    Cut,
    /// The caller ended the playout.
    Interrupted,
}

/// Number of joint moves between two calls of `goes_on`.
const LOOK: u64 = 4;

/// Makes uniformly random legal moves until the game is over, without keeping the states.
///
/// `length` is increased by the number of joint moves made, also before an error.
/// `goes_on` is asked regularly whether to continue.
///
/// # Errors
///
/// Any error of the rules that shows up during play.
pub fn play_to_end(
    machine: &mut AnyMachine,
    from: &PropnetState,
    depth: u64,
    random: &mut Xoshiro256PlusPlus,
    goes_on: &mut dyn FnMut() -> bool,
    length: &mut u64,
) -> Result<PlayoutEnd, PlayError> {
    match machine {
        AnyMachine::Propnet(machine) => {
            to_end(&mut **machine, from, depth, random, goes_on, length)
        }
        AnyMachine::Mixed(machine) => to_end(&mut **machine, from, depth, random, goes_on, length),
        AnyMachine::Datalog(machine) => {
            to_end(&mut **machine, facts(from), depth, random, goes_on, length)
        }
        AnyMachine::Naive(machine) => {
            to_end(&mut **machine, facts(from), depth, random, goes_on, length)
        }
    }
}

fn to_end<M: Machine>(
    machine: &mut M,
    from: &M::State,
    depth: u64,
    random: &mut Xoshiro256PlusPlus,
    goes_on: &mut dyn FnMut() -> bool,
    length: &mut u64,
) -> Result<PlayoutEnd, PlayError> {
    let roles: Vec<RoleId> = machine.game().roles().collect();
    let mut state = from.clone();
    let mut joint: Vec<Move> = Vec::with_capacity(roles.len());
    let mut legal = Vec::new();
    let mut made = 0;
    while !machine.is_terminal(&state)? {
        if made == depth {
            return Ok(PlayoutEnd::Cut);
        }
        if made.is_multiple_of(LOOK) && !goes_on() {
            return Ok(PlayoutEnd::Interrupted);
        }
        joint.clear();
        for role in &roles {
            machine.legal(&state, *role, &mut legal)?;
            joint.push(legal[random.random_range(0..legal.len())]);
        }
        state = machine.next(&state, &joint)?;
        made += 1;
        *length += 1;
    }
    let scores = roles.iter().map(|role| score(machine, &state, *role));
    Ok(PlayoutEnd::Terminal(scores.collect()))
}
