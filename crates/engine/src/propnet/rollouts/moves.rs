//! Which moves were made in playouts, and what became of these.
//!
//! In: pass by pass, the lanes in which each move is made; then what lanes are
//! worth. Out: by move, in how many playouts it was made, and the sum of their
//! scores.
//!
//! Source: the averages that Finnsson and Björnsson, "Learning simulation control
//! in general game-playing agents", 2010, call MAST, a playout counting once.

use multiversion::multiversion;

use super::assignment::Deal;
use super::scores::MOST_WORDS;
use crate::propnet::Propnet;
use crate::propnet::batch::starts;
use crate::propnet::lanes::Rows;

/// What is known of a role's move.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub struct MoveSum {
    /// Playouts in which it was made.
    pub playouts: u64,
    /// The sum of the role's scores in these.
    pub total: u64,
}

impl MoveSum {
    /// What a playout with this move is worth to the role, 0 to 100; none if there
    /// was no such playout.
    pub fn mean(&self) -> Option<f64> {
        (self.playouts > 0).then(|| self.total as f64 / self.playouts as f64)
    }
}

/// A move that playouts from one state made.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Made {
    /// Whose it is.
    pub role: usize,
    /// Which of [`Propnet::moves`].
    pub index: usize,
    /// In how many of them, and what these were worth to the role.
    pub sum: MoveSum,
}

/// Levels of so many bits for moves of which this is known: 0 for the lowest mean,
/// the highest level for the highest one, in equal steps between. What was never
/// made has the highest level. Where all playouts have the same moves, in other
/// orders, nothing is learned.
pub fn learned_levels(sums: &[MoveSum], bits: u32) -> Vec<u8> {
    let most = f64::from((1_u32 << bits.min(8)) - 1);
    let means = || sums.iter().filter_map(MoveSum::mean);
    let (low, high) = (
        means().fold(f64::INFINITY, f64::min),
        means().fold(f64::NEG_INFINITY, f64::max),
    );
    let level = |sum: &MoveSum| match sum.mean() {
        Some(mean) if high > low => ((mean - low) / (high - low) * most).round() as u8,
        _ => most as u8,
    };
    sums.iter().map(level).collect()
}

/// The moves of all roles.
#[derive(Clone, Debug)]
pub(super) struct Moves {
    /// By role and move: the lanes whose playout has it.
    made: Rows,
    /// By role: its first row; one more at the end.
    starts: Vec<usize>,
    sums: Vec<MoveSum>,
}

/// Lanes with something in common, and what that adds to their score.
struct Part {
    lanes: [u64; MOST_WORDS],
    score: u64,
}

/// Bits of a score.
const SCORE_BITS: usize = 7;

impl Moves {
    pub fn new(net: &Propnet, words: usize) -> Moves {
        let starts = starts(net.moves.iter().map(Vec::len));
        let all = starts[starts.len() - 1];
        Moves {
            made: Rows::new(all, words),
            sums: vec![MoveSum::default(); all],
            starts,
        }
    }

    pub fn sums(&self, role: usize) -> &[MoveSum] {
        &self.sums[self.starts[role]..self.starts[role + 1]]
    }

    pub fn fade(&mut self, keep: f64) {
        for sum in &mut self.sums {
            for count in [&mut sum.playouts, &mut sum.total] {
                *count = (*count as f64 * keep) as u64;
            }
        }
    }

    /// Has playouts begin in these lanes.
    pub fn begin(&mut self, lanes: &[u64]) {
        clear(&mut self.made, lanes);
    }

    /// Adds the moves made in these lanes, where some rows say which.
    pub fn add(&mut self, lanes: &[u64], rows: &[usize], chosen: &Rows) {
        add(&mut self.made, lanes, rows, chosen);
    }

    /// Counts what a role made of playouts that have ended with scores: rows say
    /// which score is whose.
    pub fn count(&mut self, role: usize, lanes: &[u64], scored: &[(usize, u64)], scores: &Rows) {
        let parts = parts(lanes, scored, scores);
        let all = self.starts[role]..self.starts[role + 1];
        let sums = &mut self.sums[all.clone()];
        count(&self.made, all.start, lanes, &parts, sums);
    }

    /// The same by the state that playouts began in; only what was made.
    pub fn count_apart(
        &self,
        role: usize,
        lanes: &[u64],
        scored: &[(usize, u64)],
        scores: &Rows,
        deal: &Deal,
        made: &mut [Vec<Made>],
    ) {
        let parts = parts(lanes, scored, scores);
        for (index, row) in (self.starts[role]..self.starts[role + 1]).enumerate() {
            for (word, (bits, lanes)) in self.made.row(row).iter().zip(lanes).enumerate() {
                deal.split(word, bits & lanes, |start, lanes| {
                    let of = |part: &Part| {
                        part.score * u64::from((part.lanes[word] & lanes).count_ones())
                    };
                    let sum = MoveSum {
                        playouts: lanes.count_ones().into(),
                        total: parts.iter().map(of).sum(),
                    };
                    made[start].push(Made { role, index, sum });
                });
            }
        }
    }
}

/// The lanes by score, or by bit of the score if these are fewer.
fn parts(lanes: &[u64], scored: &[(usize, u64)], scores: &Rows) -> Vec<Part> {
    let of = |score: u64, is: &dyn Fn(u64) -> bool| {
        let mut part = Part {
            lanes: [0; MOST_WORDS],
            score,
        };
        for &(row, _) in scored.iter().filter(|scored| is(scored.1)) {
            let words = part.lanes.iter_mut().zip(lanes).zip(scores.row(row));
            words.for_each(|((part, lanes), row)| *part |= lanes & row);
        }
        part
    };
    let mut values: Vec<u64> = scored.iter().map(|scored| scored.1).collect();
    values.retain(|&score| score > 0);
    values.sort_unstable();
    values.dedup();
    if values.len() <= SCORE_BITS {
        let parts = values.iter();
        return parts
            .map(|&value| of(value, &|score| score == value))
            .collect();
    }
    (0..SCORE_BITS)
        .map(|bit| of(1 << bit, &|score| score >> bit & 1 == 1))
        .collect()
}

/// Takes lanes out of all rows.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
fn clear(rows: &mut Rows, lanes: &[u64]) {
    for row in rows.flat_mut().chunks_exact_mut(lanes.len()) {
        for (word, lanes) in row.iter_mut().zip(lanes) {
            *word &= !lanes;
        }
    }
}

/// Adds to some rows what other rows say of these lanes.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
fn add(made: &mut Rows, lanes: &[u64], rows: &[usize], chosen: &Rows) {
    match lanes.len().is_multiple_of(8) {
        true => add_by::<8>(made, lanes, rows, chosen),
        false => add_by::<1>(made, lanes, rows, chosen),
    }
}

/// The same in vectors of `N` words.
#[inline(always)]
fn add_by<const N: usize>(made: &mut Rows, lanes: &[u64], rows: &[usize], chosen: &Rows) {
    let (lanes, _) = lanes.as_chunks::<N>();
    let (made, _) = made.flat_mut().as_chunks_mut::<N>();
    let (chosen, _) = chosen.flat().as_chunks::<N>();
    for &row in rows {
        let first = row * lanes.len();
        for (at, lanes) in (first..).zip(lanes) {
            let (mut new, chosen) = (made[at], chosen[at]);
            for i in 0..N {
                new[i] |= chosen[i] & lanes[i];
            }
            made[at] = new;
        }
    }
}

/// Adds to sums, one for each row from the first on, what lanes are worth.
#[multiversion(targets("x86_64+avx512f+avx512vpopcntdq", "x86_64+avx2+popcnt"))]
fn count(made: &Rows, first: usize, lanes: &[u64], parts: &[Part], sums: &mut [MoveSum]) {
    match lanes.len().is_multiple_of(8) {
        true => count_by::<8>(made, first, lanes, parts, sums),
        false => count_by::<1>(made, first, lanes, parts, sums),
    }
}

/// The same in vectors of `N` words.
#[inline(always)]
fn count_by<const N: usize>(
    made: &Rows,
    first: usize,
    lanes: &[u64],
    parts: &[Part],
    sums: &mut [MoveSum],
) {
    let (lanes, _) = lanes.as_chunks::<N>();
    let (made, _) = made.flat().as_chunks::<N>();
    let made = made[first * lanes.len()..].chunks_exact(lanes.len());
    for (row, sum) in made.zip(sums) {
        let mut playouts = [0; N];
        let mut total = [0; N];
        for (at, (row, lanes)) in row.iter().zip(lanes).enumerate() {
            for i in 0..N {
                playouts[i] += u64::from((row[i] & lanes[i]).count_ones());
            }
            for part in parts {
                for i in 0..N {
                    let both = row[i] & part.lanes[at * N + i];
                    total[i] += part.score * u64::from(both.count_ones());
                }
            }
        }
        sum.playouts += playouts.iter().sum::<u64>();
        sum.total += total.iter().sum::<u64>();
    }
}

#[cfg(test)]
mod tests;
