//! Statistics about the moves made in playouts.
//!
//! In: pass by pass, the lanes in which each move is made; then the scores of the
//! lanes. Out: by move, the number of playouts in which it was made, and the sum of
//! their scores.
//!
//! Source: the averages that Finnsson and Björnsson, "Learning simulation control
//! in general game-playing agents", 2010, call MAST, counting each playout once.

use multiversion::multiversion;

use super::assignment::Assignment;
use super::scores::MOST_WORDS;
use crate::propnet::Propnet;
use crate::propnet::batch::starts;
use crate::propnet::lanes::Rows;

/// The statistics of a role's move.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub struct MoveSum {
    /// The number of playouts in which it was made.
    pub playouts: u64,
    /// The sum of the role's scores in these playouts.
    pub total: u64,
}

impl MoveSum {
    /// The role's mean score in the playouts with this move, 0 to 100; `None` if
    /// there are none.
    pub fn mean(&self) -> Option<f64> {
        (self.playouts > 0).then(|| self.total as f64 / self.playouts as f64)
    }
}

/// A move made by playouts from one state.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct MadeMove {
    /// The role that made it.
    pub role: usize,
    /// Its index in the role's [`Propnet::moves`].
    pub index: usize,
    /// The playouts from the state in which it was made, and the role's scores in
    /// them.
    pub sum: MoveSum,
}

/// Levels of `bits` bits for moves with these statistics: 0 for the lowest mean,
/// the highest level for the highest mean, and equal steps between. MoveStatistics that were
/// never made have the highest level. If all playouts contain the same moves in
/// different orders, nothing is learned.
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
pub(super) struct MoveStatistics {
    /// By role and move: the lanes whose playout contains it.
    made: Rows,
    /// By role: its first row; the last entry is the number of rows.
    starts: Vec<usize>,
    sums: Vec<MoveSum>,
}

/// Lanes with a score or a bit of it in common, and the amount that this adds to
/// their score.
struct Part {
    lanes: [u64; MOST_WORDS],
    score: u64,
}

/// Bits of a score.
const SCORE_BITS: usize = 7;

impl MoveStatistics {
    pub fn new(net: &Propnet, words: usize) -> MoveStatistics {
        let starts = starts(net.moves.iter().map(Vec::len));
        let all = starts[starts.len() - 1];
        MoveStatistics {
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

    /// Begins playouts in these lanes.
    pub fn begin(&mut self, lanes: &[u64]) {
        clear(&mut self.made, lanes);
    }

    /// Adds the moves made in these lanes. `rows` are the rows of `chosen` that
    /// were written.
    pub fn add(&mut self, lanes: &[u64], rows: &[usize], chosen: &Rows) {
        add(&mut self.made, lanes, rows, chosen);
    }

    /// Counts the moves that a role made in playouts that ended with scores.
    /// `scored` lists the rows and their scores.
    pub fn count(&mut self, role: usize, lanes: &[u64], scored: &[(usize, u64)], scores: &Rows) {
        let parts = parts(lanes, scored, scores);
        let all = self.starts[role]..self.starts[role + 1];
        let sums = &mut self.sums[all.clone()];
        count(&self.made, all.start, lanes, &parts, sums);
    }

    /// Counts a role's moves by the state in which the playouts began.
    pub fn count_apart(
        &self,
        role: usize,
        lanes: &[u64],
        scored: &[(usize, u64)],
        scores: &Rows,
        assignment: &Assignment,
        made: &mut [Vec<MadeMove>],
    ) {
        let parts = parts(lanes, scored, scores);
        for (index, row) in (self.starts[role]..self.starts[role + 1]).enumerate() {
            for (word, (bits, lanes)) in self.made.row(row).iter().zip(lanes).enumerate() {
                assignment.split(word, bits & lanes, |start, lanes| {
                    let of = |part: &Part| {
                        part.score * u64::from((part.lanes[word] & lanes).count_ones())
                    };
                    let sum = MoveSum {
                        playouts: lanes.count_ones().into(),
                        total: parts.iter().map(of).sum(),
                    };
                    made[start].push(MadeMove { role, index, sum });
                });
            }
        }
    }
}

/// The lanes by score, or by bit of the score if there are more than [`SCORE_BITS`]
/// scores.
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

/// Clears lanes in all rows.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
fn clear(rows: &mut Rows, lanes: &[u64]) {
    for row in rows.flat_mut().chunks_exact_mut(lanes.len()) {
        for (word, lanes) in row.iter_mut().zip(lanes) {
            *word &= !lanes;
        }
    }
}

/// Sets in some rows the lanes that are set in rows of `chosen` and in `lanes`.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
fn add(made: &mut Rows, lanes: &[u64], rows: &[usize], chosen: &Rows) {
    match lanes.len().is_multiple_of(8) {
        true => add_by::<8>(made, lanes, rows, chosen),
        false => add_by::<1>(made, lanes, rows, chosen),
    }
}

/// [`add`] in vectors of `N` words.
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

/// Adds the playouts and scores of the lanes to the sums, one for each row from
/// `first` on.
#[multiversion(targets("x86_64+avx512f+avx512vpopcntdq", "x86_64+avx2+popcnt"))]
fn count(made: &Rows, first: usize, lanes: &[u64], parts: &[Part], sums: &mut [MoveSum]) {
    match lanes.len().is_multiple_of(8) {
        true => count_by::<8>(made, first, lanes, parts, sums),
        false => count_by::<1>(made, first, lanes, parts, sums),
    }
}

/// [`count`] in vectors of `N` words.
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
