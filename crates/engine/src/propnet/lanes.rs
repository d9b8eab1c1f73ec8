//! Rows of bits, one bit per lane.
//!
//! A [`Rows`] holds the values of many literals in many positions at once: a row
//! per literal, a lane per position. The rows have no meaning in this module.

/// Rows of equal length, stored consecutively. The first one is aligned to a cache
/// line.
///
/// A row has `words` words and 64 times as many lanes: lane `64 * w + b` is bit `b`
/// of word `w`. A row of eight words fills one cache line, which suits vector loads
/// best.
#[derive(Debug)]
pub struct Rows {
    /// Longer than needed by [`SLACK`], so that the rows can be aligned.
    buffer: Vec<u64>,
    start: usize,
    rows: usize,
    words: usize,
}

/// The words of a cache line less one.
const SLACK: usize = 7;

impl Rows {
    /// Rows without any bit set.
    pub fn new(rows: usize, words: usize) -> Self {
        let length = rows * words;
        let buffer = vec![0; length + SLACK];
        // An address that cannot be aligned costs speed, not correctness.
        let start = buffer.as_ptr().align_offset(64).min(SLACK);
        Rows {
            buffer,
            start,
            rows,
            words,
        }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// True if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The words of a row.
    pub fn words(&self) -> usize {
        self.words
    }

    /// The lanes of a row.
    pub fn lanes(&self) -> usize {
        self.words * 64
    }

    /// A row.
    #[inline]
    pub fn row(&self, row: usize) -> &[u64] {
        &self.flat()[row * self.words..][..self.words]
    }

    /// A row, mutable.
    #[inline]
    pub fn row_mut(&mut self, row: usize) -> &mut [u64] {
        let words = self.words;
        &mut self.flat_mut()[row * words..][..words]
    }

    /// All rows in order, without gaps.
    #[inline]
    pub fn flat(&self) -> &[u64] {
        &self.buffer[self.start..][..self.rows * self.words]
    }

    /// All rows in order, without gaps, mutable.
    #[inline]
    pub fn flat_mut(&mut self) -> &mut [u64] {
        &mut self.buffer[self.start..][..self.rows * self.words]
    }

    /// Sets all words of a row to `word`.
    pub fn fill(&mut self, row: usize, word: u64) {
        self.row_mut(row).fill(word);
    }

    /// Copies a row over another.
    pub fn copy(&mut self, from: usize, to: usize) {
        let words = self.words;
        self.flat_mut()
            .copy_within(from * words..(from + 1) * words, to * words);
    }

    /// Exchanges two rows.
    pub fn swap(&mut self, a: usize, b: usize) {
        let words = self.words;
        for word in 0..words {
            self.flat_mut().swap(a * words + word, b * words + word);
        }
    }

    /// The bit of a row in a lane.
    #[inline]
    pub fn get(&self, row: usize, lane: usize) -> bool {
        self.row(row)[lane / 64] >> (lane % 64) & 1 == 1
    }

    /// Sets the bit of a row in a lane.
    #[inline]
    pub fn set(&mut self, row: usize, lane: usize, bit: bool) {
        let word = &mut self.row_mut(row)[lane / 64];
        *word = *word & !(1 << (lane % 64)) | u64::from(bit) << (lane % 64);
    }
}

impl Clone for Rows {
    /// The copy has another address, so it is aligned separately.
    fn clone(&self) -> Self {
        let mut rows = Rows::new(self.rows, self.words);
        rows.flat_mut().copy_from_slice(self.flat());
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_aligned_and_disjoint() {
        for words in [1, 4, 8, 16] {
            let mut rows = Rows::new(5, words);
            assert_eq!(rows.flat().as_ptr().align_offset(64), 0);
            rows.fill(1, u64::MAX);
            rows.set(3, 63, true);
            rows.copy(3, 4);
            rows.swap(1, 2);
            rows.set(3, 63, false);
            let rows = rows.clone();
            assert_eq!(rows.flat().as_ptr().align_offset(64), 0);
            let counts: Vec<u32> = (0..rows.len())
                .map(|row| rows.row(row).iter().map(|word| word.count_ones()).sum())
                .collect();
            assert_eq!(counts, [0, 0, rows.lanes() as u32, 0, 1]);
            assert!(rows.get(4, 63) && !rows.get(4, 62));
        }
    }
}
