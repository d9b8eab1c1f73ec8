//! Random playouts.

use rand::{Rng, RngExt};

use super::{Machine, PlayError};
use ggp_gdl::game::{Move, Score};

/// How a playout is made.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct PlayoutOptions {
    /// Joint moves after which the playout is cut.
    pub depth: usize,
}

impl Default for PlayoutOptions {
    fn default() -> Self {
        PlayoutOptions { depth: 10_000 }
    }
}

/// One state of a playout, and what was done in it.
#[derive(Clone, Debug)]
pub struct PlayoutStep<S> {
    /// The state.
    pub state: S,
    /// The legal moves of each role.
    pub legal: Vec<Vec<Move>>,
    /// The joint move made.
    pub joint: Vec<Move>,
}

/// A playout from some state on.
#[derive(Clone, Debug)]
pub struct Playout<S> {
    /// The states before the last one, in order.
    pub steps: Vec<PlayoutStep<S>>,
    /// The last state.
    pub last: S,
    /// The scores of all roles; nothing if the playout was cut.
    pub scores: Option<Vec<Score>>,
}

/// Plays uniformly chosen legal moves until the game is over.
///
/// # Errors
///
/// Whatever play shows to be wrong with the rules.
pub fn playout<M: Machine>(
    machine: &mut M,
    from: &M::State,
    options: PlayoutOptions,
    random: &mut impl Rng,
) -> Result<Playout<M::State>, PlayError> {
    let roles: Vec<_> = machine.game().roles().collect();
    let mut steps = Vec::new();
    let mut state = from.clone();
    loop {
        let scores = if machine.is_terminal(&state)? {
            let scores = roles.iter().map(|role| machine.goal(&state, *role));
            Some(scores.collect::<Result<_, _>>()?)
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
        let mut legal = Vec::with_capacity(roles.len());
        let mut joint = Vec::with_capacity(roles.len());
        for role in &roles {
            let mut moves = Vec::new();
            machine.legal(&state, *role, &mut moves)?;
            joint.push(moves[random.random_range(0..moves.len())]);
            legal.push(moves);
        }
        let next = machine.next(&state, &joint)?;
        steps.push(PlayoutStep {
            state: std::mem::replace(&mut state, next),
            legal,
            joint,
        });
    }
}
