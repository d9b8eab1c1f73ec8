//! Compaction of scattered lanes.
//!
//! In: rows, and a selection of their lanes. Out: rows in which the selected lanes
//! are adjacent, as soon as there are enough of them for a row.

use multiversion::multiversion;

use crate::propnet::lanes::Rows;

/// Lanes that wait until there are enough of them.
#[derive(Clone, Debug)]
pub(super) struct Gather {
    /// The rows in order, each with room for twice the lanes and a word more.
    /// Beyond `count` lanes all bits are zero.
    buffer: Vec<u64>,
    words: usize,
    count: usize,
}

impl Gather {
    /// Makes room for rows of `words` words.
    pub fn new(rows: usize, words: usize) -> Self {
        Gather {
            buffer: vec![0; rows * stride(words)],
            words,
            count: 0,
        }
    }

    /// The number of waiting lanes.
    pub fn count(&self) -> usize {
        self.count
    }

    /// True if there are enough lanes for a row.
    pub fn is_full(&self) -> bool {
        self.count >= self.words * 64
    }

    /// Adds some lanes of the first rows. The buffer must not be full.
    pub fn add(&mut self, rows: &Rows, lanes: &[u64]) {
        assert!(!self.is_full(), "the buffer must have room for a row");
        let stride = stride(self.words);
        let rows = &rows.flat()[..self.buffer.len() / stride * self.words];
        add(rows, lanes, &mut self.buffer, self.count);
        let added: u32 = lanes.iter().map(|word| word.count_ones()).sum();
        self.count += added as usize;
    }

    /// Moves as many lanes as a row has, or all, to the first rows of `rows`, and
    /// returns their number.
    pub fn take(&mut self, rows: &mut Rows) -> usize {
        let words = self.words;
        let buffer = self.buffer.chunks_exact_mut(stride(words));
        for (from, to) in buffer.zip(rows.flat_mut().chunks_exact_mut(words)) {
            to.copy_from_slice(&from[..words]);
            from.copy_within(words.., 0);
            from[words..].fill(0);
        }
        let taken = self.count.min(words * 64);
        self.count -= taken;
        taken
    }
}

fn stride(words: usize) -> usize {
    2 * words + 1
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn add(rows: &[u64], lanes: &[u64], buffer: &mut [u64], count: usize) {
    match lanes.len() {
        1 => add_to::<1>(rows, lanes, buffer, count),
        4 => add_to::<4>(rows, lanes, buffer, count),
        8 => add_to::<8>(rows, lanes, buffer, count),
        16 => add_to::<16>(rows, lanes, buffer, count),
        _ => unreachable!("rows have 1, 4, 8 or 16 words"),
    }
}

#[inline(always)]
fn add_to<const W: usize>(rows: &[u64], lanes: &[u64], buffer: &mut [u64], count: usize) {
    let lanes: &[u64; W] = lanes.try_into().expect("lanes have the words of a row");
    let steps = steps(lanes);
    // By word: the destination of its lanes.
    let mut places = [(0, 0); W];
    let mut at = count;
    for (place, word) in places.iter_mut().zip(lanes) {
        *place = (at / 64, at % 64);
        at += word.count_ones() as usize;
    }
    let buffer = buffer.chunks_exact_mut(stride(W));
    for (row, to) in rows.chunks_exact(W).zip(buffer) {
        let mut row: [u64; W] = row.try_into().expect("a row has `W` words");
        for word in 0..W {
            row[word] &= lanes[word];
        }
        for (step, moving) in steps.iter().enumerate() {
            for word in 0..W {
                let moved = row[word] & moving[word];
                row[word] = row[word] ^ moved | moved >> (1 << step);
            }
        }
        for word in 0..W {
            let (index, shift) = places[word];
            to[index] |= row[word] << shift;
            // Two shifts, because a shift by 64 is not allowed.
            to[index + 1] |= row[word] >> 1 >> (63 - shift);
        }
    }
}

/// By step: the bits that move down by 2 to the power of its number. After all
/// steps the selected bits are the lowest.
#[inline(always)]
fn steps<const W: usize>(lanes: &[u64; W]) -> [[u64; W]; 6] {
    let mut steps = [[0; W]; 6];
    for word in 0..W {
        let mut left = lanes[word];
        let mut gaps = !left << 1;
        for (step, moving) in steps.iter_mut().enumerate() {
            let mut odd = gaps;
            for shift in [1, 2, 4, 8, 16, 32] {
                odd ^= odd << shift;
            }
            moving[word] = odd & left;
            left = left ^ moving[word] | moving[word] >> (1 << step);
            gaps &= !odd;
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};

    use super::*;

    #[test]
    fn lanes_keep_their_order_and_values() {
        for words in [1, 4, 8, 16] {
            let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(words as u64);
            let mut gather = Gather::new(5, words);
            let mut expected: Vec<[bool; 5]> = Vec::new();
            let mut taken = Rows::new(6, words);
            for round in 0..50 {
                let mut rows = Rows::new(7, words);
                rows.flat_mut().fill_with(|| random.random());
                let lanes: Vec<u64> = (0..words)
                    .map(|_| match round % 4 {
                        0 => random.random(),
                        1 => random.random::<u64>() & random.random::<u64>(),
                        2 => u64::MAX,
                        _ => 0,
                    })
                    .collect();
                let lane = |lane: usize| [0, 1, 2, 3, 4].map(|row| rows.get(row, lane));
                let is_selected = |lane: &usize| lanes[lane / 64] >> (lane % 64) & 1 == 1;
                expected.extend((0..64 * words).filter(is_selected).map(lane));
                gather.add(&rows, &lanes);
                assert_eq!(gather.count(), expected.len());
                while gather.is_full() || round == 49 && gather.count() > 0 {
                    let count = gather.take(&mut taken);
                    for (lane, expected) in expected.drain(..count).enumerate() {
                        let found = [0, 1, 2, 3, 4].map(|row| taken.get(row, lane));
                        assert_eq!(found, expected, "{words} words, round {round}");
                    }
                }
            }
        }
    }
}
