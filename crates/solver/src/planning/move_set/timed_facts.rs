//! Facts that depend on the number of moves made alone.
//!
//! In: a puzzle move by move. Out: what these facts are after so many moves, up
//! to where they stay as they are, or where they end the game.

use super::effects::{Effects, Readers};
use super::ternary::Ternary;
use crate::planning::Puzzle;
use ggp_engine::propnet::batch::holds;
use ggp_engine::propnet::network::read;

/// Autonomous facts, by the number of moves made.
#[derive(Debug)]
pub(in crate::planning) struct Course {
    /// The facts that change at all, or all if that is not known.
    pub facts: Vec<usize>,
    /// By number of moves, from 0, and fact of [`Course::facts`]: whether it
    /// holds.
    pub values: Vec<Vec<bool>>,
    /// How it goes on behind that.
    pub then: Then,
}

/// What comes behind the last values of a course.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(in crate::planning) enum Then {
    /// These values for ever.
    Same,
    /// Nothing: the last values end the game.
    End,
    /// Something else.
    Other,
}

/// Nodes evaluated, all steps together.
const EFFORT: usize = 20_000_000;
/// Steps that are followed.
const MOST: usize = 2_000;

impl Course {
    /// Follows the autonomous facts.
    pub fn new(puzzle: &Puzzle, effects: &Effects) -> Course {
        let network = &effects.network;
        let all: Vec<usize> = (0..effects.autonomous.len())
            .filter(|&fact| effects.autonomous[fact])
            .collect();
        let mut inputs = vec![0; network.inputs()];
        all.iter()
            .for_each(|&fact| inputs[fact] = u64::from(holds(&puzzle.start, fact)));
        let now = |inputs: &[u64]| all.iter().map(|&fact| inputs[fact] & 1 == 1).collect();
        let mut values: Vec<Vec<bool>> = vec![now(&inputs)];
        if all.is_empty() {
            return Course {
                facts: all,
                values: vec![Vec::new()],
                then: Then::Same,
            };
        }
        let live = vec![true; network.len()];
        let readers = Readers::new(network, &live);
        let mut then = Then::Other;
        while then == Then::Other && values.len() <= MOST.min(EFFORT / network.len()) {
            let mut known = vec![None; network.inputs()];
            for (&fact, &value) in all.iter().zip(values.last().expect("the start at least")) {
                known[fact] = Some(value);
            }
            if Ternary::new(network, &readers, &known).read(effects.terminal) == Some(true) {
                then = Then::End;
                break;
            }
            let gates = network.evaluate(&inputs);
            for &fact in &all {
                inputs[fact] = read(effects.drift[fact], &gates) & 1;
            }
            let next = now(&inputs);
            match values.last() == Some(&next) {
                true => then = Then::Same,
                false => values.push(next),
            }
        }
        let changes = |&place: &usize| {
            then == Then::Other || values.iter().any(|now| now[place] != values[0][place])
        };
        let places: Vec<usize> = (0..all.len()).filter(changes).collect();
        Course {
            facts: places.iter().map(|&place| all[place]).collect(),
            values: (values.iter())
                .map(|now| places.iter().map(|&place| now[place]).collect())
                .collect(),
            then,
        }
    }

    /// What holds after so many moves, by fact of [`Course::facts`]; None if
    /// that is not known.
    pub fn after(&self, moves: usize) -> Option<&[bool]> {
        match self.then {
            Then::Same => self.values.get(moves).or(self.values.last()),
            _ => self.values.get(moves),
        }
        .map(Vec::as_slice)
    }
}
