//! Agents that do not think.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Advice, Agent, Backends, Brief, Pace, PlayerError};
use ggp_engine::machine::{Machine, PlayError};
use ggp_gdl::game::Move;

/// How one of the legal moves is picked.
#[derive(Debug)]
enum Pick {
    First,
    Uniform(Box<Xoshiro256PlusPlus>),
}

/// An agent that knows the legal moves and picks one of them.
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

    /// Plays every legal move with the same chance.
    pub fn random(brief: Brief) -> Self {
        let random = Xoshiro256PlusPlus::seed_from_u64(brief.seed);
        Picker {
            pick: Pick::Uniform(Box::new(random)),
            ..Picker::first(brief)
        }
    }

    fn backends(&mut self) -> Result<&mut Backends, PlayError> {
        if self.backends.is_none() {
            self.backends = Some(Backends::datalog(&self.brief)?);
        }
        Ok(self.backends.as_mut().expect("it was just made"))
    }
}

impl Agent for Picker {
    fn begin(&mut self, _pace: &Pace) -> Result<(), PlayerError> {
        self.backends()?;
        Ok(())
    }

    fn choose(&mut self, played: &[Vec<Move>], _pace: &Pace) -> Result<Advice, PlayerError> {
        let role = self.brief.role;
        let backends = self.backends()?;
        let state = backends.state_after(played)?;
        let mut legal = Vec::new();
        backends.machine().legal(&state, role, &mut legal)?;
        let index = match &mut self.pick {
            Pick::First => 0,
            Pick::Uniform(random) => random.random_range(0..legal.len()),
        };
        Ok(Advice::of(legal[index]))
    }
}
