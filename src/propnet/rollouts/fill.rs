//! States to rows.
//!
//! In: packed states, and which lanes are theirs. Out: the rows that tapes read,
//! and the phase that each state is in.

use super::deal::Deal;
use crate::propnet::batch::{Packed, holds, transpose};
use crate::propnet::lanes::Rows;

/// Which facts make which rows.
#[derive(Clone, Debug)]
pub(super) struct Fill {
    /// By 64 facts: those that matter, each with its row.
    groups: Vec<Vec<(usize, usize)>>,
    /// By phase: facts that are constant in it, with their values.
    phases: Vec<Vec<(usize, bool)>>,
}

impl Fill {
    /// By fact, its row; by phase and fact, its value there if it is constant.
    pub fn new(facts: &[Option<usize>], values: &[Vec<Option<bool>>]) -> Fill {
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
        Fill {
            groups: groups.collect(),
            phases: phases.collect(),
        }
    }

    /// Puts the lanes of each state into it, and says where they enter.
    pub fn fill(&self, starts: &[Packed], deal: &mut Deal, rows: &mut Rows) {
        deal.enter(|start| self.phase(&starts[start]));
        let of: Vec<usize> = deal.starts().collect();
        for (word, of) in of.chunks(64).enumerate() {
            for (number, group) in self.groups.iter().enumerate() {
                let mut square = [0; 64];
                for (line, &start) in square.iter_mut().zip(of) {
                    *line = starts[start][number];
                }
                transpose(&mut square);
                for &(fact, row) in group {
                    rows.row_mut(row)[word] = square[fact];
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
        phase.expect("the game leads to the state")
    }
}
