//! The scores of terminal states, by the state in which their playouts began.

use super::Outcome;
use super::assignment::Assignment;
use crate::propnet::Propnet;
use crate::propnet::lanes::Rows;

/// The scores of one phase.
#[derive(Clone, Debug)]
pub(super) struct Scores {
    /// By role: rows that are set if this is the only goal value, and its score.
    scores: Vec<Vec<(usize, u64)>>,
    /// By role: whether it is chance, which needs no score.
    chance: Vec<bool>,
}

impl Scores {
    /// `rows`: by role and goal value, the row that is set if it is the only one.
    pub fn new(net: &Propnet, rows: &[Vec<usize>]) -> Scores {
        let terms = net.terms();
        let of_role = |(goals, rows): (&Vec<_>, &Vec<usize>)| -> Vec<(usize, u64)> {
            let goals = goals.iter().zip(rows);
            let scores = goals.filter_map(|(&(value, _), &row)| {
                let score = net.game.score(&terms, value).ok()?;
                Some((row, u64::from(score.get())))
            });
            scores.collect()
        };
        Scores {
            scores: net.goals.iter().zip(rows).map(of_role).collect(),
            chance: net.chance(),
        }
    }

    /// By role: rows that are set if a lane has this score, and the score.
    pub fn scores(&self) -> &[Vec<(usize, u64)>] {
        &self.scores
    }

    /// Adds the scores of these lanes; a role without a score adds 0. Returns the lanes in
    /// which every role but chance has a score.
    pub fn count(
        &self,
        lanes: &[u64],
        scores: &Rows,
        assignment: &Assignment,
        outcomes: &mut [Outcome],
    ) -> [u64; MOST_WORDS] {
        let words = lanes.len();
        let (mut all_valid, mut some) = ([0; MOST_WORDS], [0; MOST_WORDS]);
        let (valid, some) = (&mut all_valid[..words], &mut some[..words]);
        valid.copy_from_slice(lanes);
        let of_roles = self.scores.iter().zip(&self.chance);
        for (role, _) in of_roles.filter(|(_, is_chance)| !**is_chance) {
            some.fill(0);
            for &(row, _) in role {
                let row = scores.row(row);
                (0..words).for_each(|word| some[word] |= row[word]);
            }
            (0..words).for_each(|word| valid[word] &= some[word]);
        }
        assignment.count(valid, |start, n| outcomes[start].playouts += n);
        if valid != lanes {
            (0..words).for_each(|word| some[word] = lanes[word] & !valid[word]);
            assignment.count(some, |start, n| outcomes[start].faulty += n);
        }
        for (role, values) in self.scores.iter().enumerate() {
            for &(row, score) in values.iter().filter(|value| value.1 > 0) {
                let row = scores.row(row);
                (0..words).for_each(|word| some[word] = lanes[word] & row[word]);
                assignment.count(some, |start, n| {
                    let sum = &mut outcomes[start].scores[role];
                    sum.total += n * score;
                    sum.squares += n * score * score;
                });
            }
        }
        all_valid
    }
}

/// Words of the longest rows.
pub(super) const MOST_WORDS: usize = 16;
