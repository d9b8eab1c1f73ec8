//! Players that do not think.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Choice, Player, PlayerError, Turn};
use crate::machine::Machine;

/// Plays the first legal move in the order of [`Machine::legal`].
#[derive(Copy, Clone, Debug, Default)]
pub struct FirstPlayer;

impl<M: Machine> Player<M> for FirstPlayer {
    fn choose(
        &mut self,
        _machine: &mut M,
        turn: &Turn<'_, M::State>,
    ) -> Result<Choice, PlayerError> {
        Ok(Choice::Play(turn.legal[0]))
    }
}

/// Plays every legal move with the same chance.
#[derive(Clone, Debug)]
pub struct RandomPlayer {
    random: Xoshiro256PlusPlus,
}

impl RandomPlayer {
    /// A player whose choices follow from the seed.
    pub fn new(seed: u64) -> Self {
        RandomPlayer {
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
        }
    }
}

impl<M: Machine> Player<M> for RandomPlayer {
    fn choose(
        &mut self,
        _machine: &mut M,
        turn: &Turn<'_, M::State>,
    ) -> Result<Choice, PlayerError> {
        let index = self.random.random_range(0..turn.legal.len());
        Ok(Choice::Play(turn.legal[index]))
    }
}
