//! Terminal states of playouts on a network that does not know goals.
//!
//! In: the lanes in which playouts end, and the rows of their facts. Out: the states, and later their
//! scores, by the state in which the playouts began.

use super::Outcome;
use super::assignment::Assignment;
use crate::propnet::Propnet;
use crate::propnet::batch::{Packed, pack};
use crate::propnet::lanes::Rows;

/// The network with a pseudo-role for each fact, whose only goal value is due while the fact holds:
/// playouts that read its scores read states.
pub(super) fn with_facts_as_goals(net: &Propnet) -> Propnet {
    let mut net = net.clone();
    let facts = net.facts.iter().enumerate();
    net.goals = facts
        .map(|(number, &fact)| vec![(fact, net.network.input(net.fact_input(number)))])
        .collect();
    net
}

/// Terminal states that are not scored yet, each with the index of its outcome.
#[derive(Clone, Debug, Default)]
pub(super) struct Ends(Vec<(usize, Packed)>);

impl Ends {
    /// Removes all states.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds the states of some lanes, given the rows of facts and the row of each fact.
    pub fn add(
        &mut self,
        lanes: &[u64],
        facts: &Rows,
        rows: &[Vec<usize>],
        assignment: &Assignment,
    ) {
        for (word, &lanes) in lanes.iter().enumerate() {
            assignment.split(word, lanes, |start, mut lanes| {
                while lanes != 0 {
                    let lane = lanes.trailing_zeros();
                    lanes &= lanes - 1;
                    let holds = |row: &Vec<usize>| facts.row(row[0])[word] >> lane & 1 == 1;
                    self.0.push((start, pack(rows.iter().map(holds))));
                }
            });
        }
    }

    /// Counts the states in their outcomes and removes them, until `scores` gives nothing.
    pub fn score(
        &mut self,
        mut scores: impl FnMut(&[u64]) -> Option<Vec<Option<u8>>>,
        outcomes: &mut [Outcome],
    ) {
        for (number, state) in std::mem::take(&mut self.0) {
            let Some(scores) = scores(&state) else {
                return;
            };
            let outcome = &mut outcomes[number];
            match scores.contains(&None) {
                true => outcome.faulty += 1,
                false => outcome.playouts += 1,
            }
            for (sum, score) in outcome.scores.iter_mut().zip(scores) {
                let score = u64::from(score.unwrap_or(0));
                sum.total += score;
                sum.squares += score * score;
            }
        }
    }
}
