//! What last states are worth, by the state that their playouts began in.

use super::Outcome;
use super::deal::Deal;
use crate::propnet::Propnet;
use crate::propnet::lanes::Rows;

/// The scores of one phase.
#[derive(Clone, Debug)]
pub(super) struct Worth {
    /// By role: rows that say that this is the only goal value, and the score.
    scores: Vec<Vec<(usize, u64)>>,
}

impl Worth {
    /// By role and goal value, the row that says that it is the only one.
    pub fn new(net: &Propnet, rows: &[Vec<usize>]) -> Worth {
        let terms = net.terms();
        let of_role = |(goals, rows): (&Vec<_>, &Vec<usize>)| -> Vec<(usize, u64)> {
            let goals = goals.iter().zip(rows);
            let scores = goals.filter_map(|(&(value, _), &row)| {
                let score = net.game.score(&terms, value).ok()?;
                Some((row, u64::from(score.get())))
            });
            scores.collect()
        };
        Worth {
            scores: net.goals.iter().zip(rows).map(of_role).collect(),
        }
    }

    /// Adds what these lanes are worth.
    pub fn count(&self, lanes: &[u64], scores: &Rows, deal: &Deal, outcomes: &mut [Outcome]) {
        let mut right = lanes.to_vec();
        for role in &self.scores {
            for (word, right) in right.iter_mut().enumerate() {
                let scored = role.iter().map(|&(row, _)| scores.row(row)[word]);
                *right &= scored.fold(0, |any, some| any | some);
            }
        }
        deal.count(&right, |start, n| outcomes[start].playouts += n);
        let faulty: Vec<u64> = lanes
            .iter()
            .zip(&right)
            .map(|(all, right)| all & !right)
            .collect();
        deal.count(&faulty, |start, n| outcomes[start].faulty += n);
        let mut both = vec![0; right.len()];
        for (role, values) in self.scores.iter().enumerate() {
            for &(row, score) in values.iter().filter(|value| value.1 > 0) {
                let words = right.iter().zip(scores.row(row));
                for (both, (right, row)) in both.iter_mut().zip(words) {
                    *both = right & row;
                }
                deal.count(&both, |start, n| {
                    let sum = &mut outcomes[start].scores[role];
                    sum.total += n * score;
                    sum.squares += n * score * score;
                });
            }
        }
    }
}
