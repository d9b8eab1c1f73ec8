//! Agents that do not search.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Advice, Agent, Backends, Brief, Observation, Pace, PlayerError};
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
