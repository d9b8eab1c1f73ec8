//! Players that do not search.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Advice, Agent, Backends, Brief, Choice, Observation, Pace, Player, PlayerError, Turn};
use ggp_engine::machine::{Machine, PlayError};

/// A rule for picking one of the legal moves.
#[derive(Debug)]
enum Pick {
    First,
    Uniform(Box<Xoshiro256PlusPlus>),
}

/// An agent that picks one of the legal moves without search.
#[derive(Debug)]
pub struct Picker {
    brief: Brief,
    backends: Option<Backends>,
    pick: Pick,
}

impl Picker {
    /// Plays the first legal move in the order of [`Machine::legal`].
    pub fn first(brief: Brief) -> Self {
        Picker {
            brief,
            backends: None,
            pick: Pick::First,
        }
    }

    /// Plays a legal move drawn uniformly at random.
    pub fn random(brief: Brief) -> Self {
        let random = Xoshiro256PlusPlus::seed_from_u64(brief.seed);
        Picker {
            pick: Pick::Uniform(Box::new(random)),
            ..Picker::first(brief)
        }
    }

    fn backends(&mut self) -> Result<&mut Backends, PlayError> {
        if self.backends.is_none() {
            self.backends = Some(Backends::without_grounding(&self.brief)?);
        }
        Ok(self.backends.as_mut().expect("it was just made"))
    }
}

impl Agent for Picker {
    fn begin(&mut self, _pace: &Pace) -> Result<(), PlayerError> {
        self.backends()?;
        Ok(())
    }

    fn choose(&mut self, observation: &Observation, _pace: &Pace) -> Result<Advice, PlayerError> {
        let role = self.brief.role;
        let backends = self.backends()?;
        let state = backends.state_after(observation.required_joint_moves()?)?;
        let mut legal = Vec::new();
        backends.machine().legal(&state, role, &mut legal)?;
        let index = match &mut self.pick {
            Pick::First => 0,
            Pick::Uniform(random) => random.random_range(0..legal.len()),
        };
        Ok(Advice::of(legal[index]))
    }
}

/// Chance as a player: a random legal move of the true state.
///
/// A move depends on the seed, the role and the number of earlier joint moves, but not on the
/// legal moves of others.
#[derive(Clone, Debug)]
pub struct Chance {
    seed: u64,
}

impl Chance {
    /// Chance with a seed.
    pub fn new(seed: u64) -> Self {
        Chance { seed }
    }

    /// A number below `count` for a role after a number of joint moves.
    pub(super) fn draw(&self, made: usize, role: usize, count: usize) -> usize {
        // The seeds of agents are sums with the seed of the match. Agents draw other numbers
        // from them than chance does.
        let mut mixed = self.seed ^ 0x6368_616e_6365;
        for part in [made, role] {
            mixed = (mixed ^ part as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            mixed ^= mixed >> 29;
        }
        Xoshiro256PlusPlus::seed_from_u64(mixed).random_range(0..count)
    }
}

impl<M: Machine> Player<M> for Chance {
    fn choose(
        &mut self,
        _machine: &mut M,
        turn: &Turn<'_, M::State>,
    ) -> Result<Choice, PlayerError> {
        let drawn = self.draw(turn.history.len(), turn.role.index(), turn.legal.len());
        Ok(Choice::Play(turn.legal[drawn]))
    }
}
