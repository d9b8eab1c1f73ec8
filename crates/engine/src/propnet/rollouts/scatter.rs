//! Loads states into rows.
//!
//! In: packed states, and the lanes assigned to each. Out: the rows that tapes
//! read, and the phase of each state.

#[cfg(feature = "simd")]
use multiversion::multiversion;

use super::assignment::Assignment;
use crate::propnet::batch::{holds, transpose};
use crate::propnet::lanes::Rows;

/// The mapping from facts to rows.
#[derive(Clone, Debug)]
pub(super) struct Scatter {
    /// By group of 64 facts: the relevant ones, each with its row.
    groups: Vec<Vec<(usize, usize)>>,
    /// By phase: the facts that are constant in it, with their values.
    phases: Vec<Vec<(usize, bool)>>,
}

impl Scatter {
    /// `facts`: by fact, its row. `values`: by phase and fact, its value there if
    /// it is constant.
    pub fn new(facts: &[Option<usize>], values: &[Vec<Option<bool>>]) -> Scatter {
        let groups = facts.chunks(64).map(|facts| {
            let facts = facts.iter().enumerate();
            facts
                .filter_map(|(fact, row)| Some((fact, (*row)?)))
                .collect()
        });
        let phases = values.iter().map(|values| {
            let values = values.iter().enumerate();
            values
                .filter_map(|(fact, value)| Some((fact, (*value)?)))
                .collect()
        });
        Scatter {
            groups: groups.collect(),
            phases: phases.collect(),
        }
    }

    /// Loads each state into its lanes and records the phase in which they begin.
    /// Lanes without a state have unspecified content.
    pub fn load<S: AsRef<[u64]>>(
        &self,
        starts: &[S],
        assignment: &mut Assignment,
        rows: &mut Rows,
    ) {
        assignment.enter(|start| self.phase(starts[start].as_ref()));
        let assignment = &*assignment;
        if starts.len() <= 64 {
            for (number, group) in self.groups.iter().enumerate() {
                let lines = starts.iter().map(|start| start.as_ref()[number]);
                spread(&columns(lines), group, assignment, rows);
            }
            return;
        }
        let of: Vec<usize> = assignment.starts().collect();
        for (word, of) in of.chunks(64).enumerate() {
            for (number, group) in self.groups.iter().enumerate() {
                let columns = columns(of.iter().map(|&start| starts[start].as_ref()[number]));
                for &(fact, row) in group {
                    rows.row_mut(row)[word] = columns[fact];
                }
            }
        }
    }

    fn phase(&self, state: &[u64]) -> usize {
        let is = |values: &Vec<(usize, bool)>| {
            let mut values = values.iter();
            values.all(|&(fact, value)| holds(state, fact) == value)
        };
        let phase = self.phases.iter().position(is);
        phase.expect("the state must be reachable")
    }
}

/// By bit: the words, of up to 64, in which it is set.
fn columns(words: impl Iterator<Item = u64>) -> [u64; 64] {
    let mut square = [0; 64];
    for (line, word) in square.iter_mut().zip(words) {
        *line = word;
    }
    transpose(&mut square);
    square
}

/// Computes the rows of facts. `states` gives for each fact the states, of up to
/// 64, in which it holds.
#[cfg_attr(
    feature = "simd",
    multiversion(targets("x86_64+avx512f", "x86_64+avx2"))
)]
fn spread(states: &[u64; 64], facts: &[(usize, usize)], assignment: &Assignment, rows: &mut Rows) {
    match rows.words().is_multiple_of(8) {
        true => spread_by::<8>(states, facts, assignment, rows),
        false => spread_by::<1>(states, facts, assignment, rows),
    }
}

/// [`spread`] in vectors of `N` words.
#[inline(always)]
fn spread_by<const N: usize>(
    states: &[u64; 64],
    facts: &[(usize, usize)],
    assignment: &Assignment,
    rows: &mut Rows,
) {
    let vectors = rows.words() / N;
    let slots = assignment.slots();
    let (masks, _) = slots.lanes.as_chunks::<N>();
    let (picks, _) = slots.starts.as_chunks::<N>();
    let (rows, _) = rows.flat_mut().as_chunks_mut::<N>();
    for &(fact, row) in facts {
        let states = states[fact];
        for at in 0..vectors {
            let mut lanes = [0; N];
            for slot in (at..masks.len()).step_by(vectors) {
                let (mask, pick) = (masks[slot], picks[slot]);
                for i in 0..N {
                    lanes[i] |= if states & pick[i] == 0 { 0 } else { mask[i] };
                }
            }
            rows[row * vectors + at] = lanes;
        }
    }
}
