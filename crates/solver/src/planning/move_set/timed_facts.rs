//! Facts that depend only on the number of moves made.
//!
//! In: the effects of each move. Out: the values of these facts after each number
//! of moves, until they no longer change or end the game.

use super::effects::{Effects, Readers};
use super::ternary::Ternary;
use crate::planning::Puzzle;
use ggp_engine::propnet::batch::holds;
use ggp_engine::propnet::network::read;

/// The values of the autonomous facts by the number of moves made.
#[derive(Debug)]
pub(in crate::planning) struct Timeline {
    /// The autonomous facts that change; all autonomous facts if that is not known.
    pub facts: Vec<usize>,
    /// By number of moves, from 0, and by position in [`Timeline::facts`]: whether
    /// the fact holds.
    pub values: Vec<Vec<bool>>,
    /// The continuation after the last values.
    pub then: Continuation,
}

/// The continuation of a timeline after its last values.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(in crate::planning) enum Continuation {
    /// The last values remain.
    Same,
    /// The last values end the game.
    End,
    /// The further values are not known.
    Other,
}

/// Limit on the number of nodes evaluated, for all steps together.
const MAX_EVALUATIONS: usize = 20_000_000;
/// Limit on the number of steps.
const MAX_STEPS: usize = 2_000;

impl Timeline {
    /// Computes the timeline of a puzzle. After [`Puzzle::stop`] less of it is known.
    pub fn new(puzzle: &Puzzle, effects: &Effects) -> Timeline {
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
            return Timeline {
                facts: all,
                values: vec![Vec::new()],
                then: Continuation::Same,
            };
        }
        let live = vec![true; network.len()];
        let readers = Readers::new(network, &live);
        let mut then = Continuation::Other;
        while then == Continuation::Other
            && values.len() <= MAX_STEPS.min(MAX_EVALUATIONS / network.len())
        {
            if puzzle.stop.is_over() {
                break;
            }
            let mut known = vec![None; network.inputs()];
            for (&fact, &value) in all.iter().zip(values.last().expect("the start at least")) {
                known[fact] = Some(value);
            }
            if Ternary::new(network, &readers, &known).read(effects.terminal) == Some(true) {
                then = Continuation::End;
                break;
            }
            let gates = network.evaluate(&inputs);
            for &fact in &all {
                inputs[fact] = read(effects.drift[fact], &gates) & 1;
            }
            let next = now(&inputs);
            match values.last() == Some(&next) {
                true => then = Continuation::Same,
                false => values.push(next),
            }
        }
        let changes = |&place: &usize| {
            then == Continuation::Other || values.iter().any(|now| now[place] != values[0][place])
        };
        let places: Vec<usize> = (0..all.len()).filter(changes).collect();
        Timeline {
            facts: places.iter().map(|&place| all[place]).collect(),
            values: (values.iter())
                .map(|now| places.iter().map(|&place| now[place]).collect())
                .collect(),
            then,
        }
    }

    /// The values after a number of moves, by position in [`Timeline::facts`]; none
    /// if they are not known.
    pub fn after(&self, moves: usize) -> Option<&[bool]> {
        match self.then {
            Continuation::Same => self.values.get(moves).or(self.values.last()),
            _ => self.values.get(moves),
        }
        .map(Vec::as_slice)
    }
}
