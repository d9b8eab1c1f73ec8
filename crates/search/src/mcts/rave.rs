//! What moves are worth wherever they are made later on.
//!
//! Positions that were passed a few times remember, by move, what lines and
//! playouts through them were worth in which it was made. In a position that was
//! passed too seldom to say much, moves are thought of as the nearest position
//! before it has it that was passed often enough.
//!
//! Source: Gelly and Silver, "Monte-Carlo tree search and rapid action value
//! estimation in computer Go", 2011; Cazenave, "Generalized rapid action value
//! estimation", 2015; Sironi and Winands, "Comparison of rapid action value
//! estimation variants for general game playing", 2016.

use std::hash::Hash;

use rustc_hash::FxHashMap;

use super::expand::{Batch, Line};
use super::simulator::Seen;
use super::tree::Tree;

/// Visits from which a position remembers moves.
const YOUNG: u32 = 8;

/// How moves are thought of that were made later on.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Rave {
    /// Lines that a position must remember to be asked.
    pub reference: u32,
    /// Visits at which half as much is made of it.
    pub equivalence: f64,
}

impl Rave {
    /// What it counts in a position that was visited so often; what was found
    /// there itself counts the rest.
    pub(super) fn weight(&self, visits: f64) -> f64 {
        (self.equivalence / (3.0 * visits + self.equivalence)).sqrt()
    }
}

/// What a position remembers.
#[derive(Clone, Debug)]
pub(super) struct Memory<M> {
    lines: u32,
    /// By role and move: lines in which it was made, and what they were worth.
    moves: FxHashMap<(u16, M), [f32; 2]>,
}

impl<M: Clone + Eq + Hash> Memory<M> {
    /// What a move was worth to its role, if it was made.
    pub(super) fn mean(&self, role: usize, made: &M) -> Option<f64> {
        let [lines, worth] = self.moves.get(&(role as u16, made.clone()))?;
        Some(f64::from(worth / lines))
    }

    pub(super) fn len(&self) -> usize {
        self.moves.len()
    }
}

impl<S: Clone + Eq + Hash, M: Clone + Eq + Hash> Tree<S, M> {
    /// Whether a position remembers enough to be asked.
    pub(super) fn is_reference(&self, node: u32) -> bool {
        let (Some(rave), Some(memory)) = (&self.options.rave, self.memories.get(&node)) else {
            return false;
        };
        memory.lines >= rave.reference
    }

    /// Has all positions of a line remember what was made after them: on the line,
    /// and in the playouts at its end.
    pub(super) fn remember(&mut self, batch: &Batch<S, M>, line: &Line, seen: &[Seen<M>]) {
        let mut all: Vec<((u16, M), [f32; 2])> = (seen.iter())
            .map(|seen| ((seen.role, seen.action.clone()), [seen.share, seen.worth]))
            .collect();
        let mut chosen = Vec::new();
        for step in batch.steps[line.steps.clone()].iter().rev() {
            self.chosen(step, &mut chosen);
            for (role, made) in self.made(step, &chosen) {
                let worth = self.mean(line.end, role) as f32;
                all.push(((role as u16, made), [1.0, worth]));
            }
            if self.nodes[step.node as usize].visits < YOUNG {
                continue;
            }
            let memory = self.memories.entry(step.node).or_insert_with(|| Memory {
                lines: 0,
                moves: FxHashMap::default(),
            });
            let before = memory.len();
            memory.lines = memory.lines.saturating_add(1);
            for (made, [share, worth]) in &all {
                let known = memory.moves.entry(made.clone()).or_insert([0.0; 2]);
                *known = [known[0] + share, known[1] + worth];
            }
            self.remembered += memory.len() - before;
        }
    }
}
