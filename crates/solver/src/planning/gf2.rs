//! Linear equations over GF(2).

use ggp_stop::Stop;

/// A bit vector, 64 bits per word.
pub(super) type Bits = Vec<u64>;

/// The zero vector of `bits` bits.
pub(super) fn zeros(bits: usize) -> Bits {
    vec![0; bits.div_ceil(64)]
}

pub(super) fn flip(bits: &mut [u64], bit: usize) {
    bits[bit / 64] ^= 1 << (bit % 64);
}

pub(super) fn get(bits: &[u64], bit: usize) -> bool {
    bits[bit / 64] >> (bit % 64) & 1 == 1
}

pub(super) fn add(to: &mut [u64], other: &[u64]) {
    for (to, other) in to.iter_mut().zip(other) {
        *to ^= other;
    }
}

pub(super) fn ones(bits: &[u64]) -> impl Iterator<Item = usize> {
    bits.iter().enumerate().flat_map(|(word, &bits)| {
        let mut left = bits;
        std::iter::from_fn(move || {
            let bit = (left != 0).then_some(64 * word + left.trailing_zeros() as usize);
            left &= left.wrapping_sub(1);
            bit
        })
    })
}

/// A system in reduced row echelon form. A row holds the coefficients of an
/// equation; its last bit is the right-hand side.
pub(super) struct System {
    unknowns: usize,
    /// Pivots and rows; no other row contains the pivot.
    rows: Vec<(usize, Bits)>,
}

impl System {
    pub fn new(unknowns: usize) -> Self {
        System {
            unknowns,
            rows: Vec::new(),
        }
    }

    /// Adds an equation. False if it contradicts the earlier ones.
    pub fn equation(&mut self, coefficients: impl IntoIterator<Item = usize>, right: bool) -> bool {
        let mut row = zeros(self.unknowns + 1);
        for unknown in coefficients {
            flip(&mut row, unknown);
        }
        if right {
            flip(&mut row, self.unknowns);
        }
        for (pivot, other) in &self.rows {
            if get(&row, *pivot) {
                add(&mut row, other);
            }
        }
        let Some(pivot) = ones(&row).next() else {
            return true;
        };
        if pivot == self.unknowns {
            return false;
        }
        for (_, other) in &mut self.rows {
            if get(other, pivot) {
                add(other, &row);
            }
        }
        self.rows.push((pivot, row));
        true
    }

    /// The solution in which all free unknowns are 0.
    pub fn solution(&self) -> Bits {
        let mut solution = zeros(self.unknowns);
        for (pivot, row) in &self.rows {
            if get(row, self.unknowns) {
                flip(&mut solution, *pivot);
            }
        }
        solution
    }

    /// A basis of the kernel: the vectors that may be added to a solution.
    pub fn kernel(&self) -> Vec<Bits> {
        let mut pivots = zeros(self.unknowns);
        for (pivot, _) in &self.rows {
            flip(&mut pivots, *pivot);
        }
        let chosen = (0..self.unknowns).filter(|&unknown| !get(&pivots, unknown));
        let vector = |unknown| {
            let mut vector = zeros(self.unknowns);
            flip(&mut vector, unknown);
            for (pivot, row) in &self.rows {
                if get(row, unknown) {
                    flip(&mut vector, *pivot);
                }
            }
            vector
        };
        chosen.map(vector).collect()
    }
}

/// A vector of the least weight in `vector` plus the span of a basis of at most 63
/// vectors, and whether all were tried before the stop.
pub(super) fn lightest(mut vector: Bits, basis: &[Bits], stop: &Stop) -> (Bits, bool) {
    let weight = |bits: &[u64]| bits.iter().map(|word| word.count_ones()).sum::<u32>();
    let mut best = (weight(&vector), vector.clone());
    // Gray code: each sum differs from the previous one by one vector.
    for number in 1..1u64 << basis.len() {
        if number.is_multiple_of(1 << 14) && stop.is_over() {
            return (best.1, false);
        }
        add(&mut vector, &basis[number.trailing_zeros() as usize]);
        let found = weight(&vector);
        if found < best.0 {
            best = (found, vector.clone());
        }
    }
    (best.1, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solution_and_kernel_give_all_solutions() {
        // x0 + x1 = 1, x1 + x2 = 1, x0 + x2 = 0 in four unknowns.
        let mut system = System::new(4);
        assert!(system.equation([0, 1], true));
        assert!(system.equation([1, 2], true));
        assert!(system.equation([0, 2], false));
        assert!(!system.equation([0, 2], true));
        let kernel = system.kernel();
        assert_eq!(kernel.len(), 2);
        let mut found = Vec::new();
        for chosen in 0..4 {
            let mut sum = system.solution();
            for (number, vector) in kernel.iter().enumerate() {
                if chosen >> number & 1 == 1 {
                    add(&mut sum, vector);
                }
            }
            found.push(sum[0]);
        }
        found.sort_unstable();
        assert_eq!(found, [0b0010, 0b0101, 0b1010, 0b1101]);
        let found = lightest(system.solution(), &kernel, &Stop::new());
        assert_eq!(found, (vec![0b0010], true));
    }

    #[test]
    fn ones_are_found_across_words() {
        let mut bits = zeros(130);
        for bit in [0, 63, 64, 129] {
            flip(&mut bits, bit);
        }
        assert_eq!(ones(&bits).collect::<Vec<_>>(), [0, 63, 64, 129]);
    }
}
