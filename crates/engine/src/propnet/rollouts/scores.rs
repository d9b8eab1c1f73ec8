//! What last states are worth, by the state that their playouts began in.

use super::Outcome;
use super::assignment::Deal;
use crate::propnet::Propnet;
use crate::propnet::lanes::Rows;

/// The scores of one phase.
#[derive(Clone, Debug)]
pub(super) struct Scores {
    /// By role: rows that say that this is the only goal value, and the score.
    scores: Vec<Vec<(usize, u64)>>,
}

impl Scores {
    /// By role and goal value, the row that says that it is the only one.
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
        }
    }

    /// By role: rows that say what a lane is worth, and the score.
    pub fn scores(&self) -> &[Vec<(usize, u64)>] {
        &self.scores
    }

    /// Adds what these lanes are worth. The result is those with scores.
    pub fn count(
        &self,
        lanes: &[u64],
        scores: &Rows,
        deal: &Deal,
        outcomes: &mut [Outcome],
    ) -> [u64; MOST_WORDS] {
        let words = lanes.len();
        let (mut all_right, mut some) = ([0; MOST_WORDS], [0; MOST_WORDS]);
        let (right, some) = (&mut all_right[..words], &mut some[..words]);
        right.copy_from_slice(lanes);
        for role in &self.scores {
            some.fill(0);
            for &(row, _) in role {
                let row = scores.row(row);
                (0..words).for_each(|word| some[word] |= row[word]);
            }
            (0..words).for_each(|word| right[word] &= some[word]);
        }
        deal.count(right, |start, n| outcomes[start].playouts += n);
        if right != lanes {
            (0..words).for_each(|word| some[word] = lanes[word] & !right[word]);
            deal.count(some, |start, n| outcomes[start].faulty += n);
        }
        for (role, values) in self.scores.iter().enumerate() {
            for &(row, score) in values.iter().filter(|value| value.1 > 0) {
                let row = scores.row(row);
                (0..words).for_each(|word| some[word] = right[word] & row[word]);
                deal.count(some, |start, n| {
                    let sum = &mut outcomes[start].scores[role];
                    sum.total += n * score;
                    sum.squares += n * score * score;
                });
            }
        }
        all_right
    }
}

/// Words of the longest rows.
pub(super) const MOST_WORDS: usize = 16;
