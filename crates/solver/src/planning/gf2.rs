//! Linear equations over two elements.

/// Bits in words.
pub(super) type Bits = Vec<u64>;

/// No bit of so many.
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

/// Equations in reduced form. An equation is a row of coefficients; the last bit
/// is the right-hand side.
pub(super) struct System {
    unknowns: usize,
    /// Rows with an unknown that no other row has.
    rows: Vec<(usize, Bits)>,
}

impl System {
    pub fn new(unknowns: usize) -> Self {
        System {
            unknowns,
            rows: Vec::new(),
        }
    }

    /// False if it contradicts those before.
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

    /// The solution in which the unknowns that can be chosen are 0.
    pub fn solution(&self) -> Bits {
        let mut solution = zeros(self.unknowns);
        for (pivot, row) in &self.rows {
            if get(row, self.unknowns) {
                flip(&mut solution, *pivot);
            }
        }
        solution
    }

    /// A basis of what may be added to a solution.
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

/// The least number of ones that a vector can have after vectors of a basis are
/// added, and such a sum. At most 63 vectors.
pub(super) fn lightest(mut vector: Bits, basis: &[Bits]) -> Bits {
    let weight = |bits: &[u64]| bits.iter().map(|word| word.count_ones()).sum::<u32>();
    let mut best = (weight(&vector), vector.clone());
    // Gray code: each sum differs from the one before by one vector.
    for number in 1..1u64 << basis.len() {
        add(&mut vector, &basis[number.trailing_zeros() as usize]);
        let found = weight(&vector);
        if found < best.0 {
            best = (found, vector.clone());
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solutions_and_kernel_are_all_there_is() {
        // x0 + x1 = 1, x1 + x2 = 1, x0 + x2 = 0 of four unknowns.
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
        assert_eq!(lightest(system.solution(), &kernel), [0b0010]);
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
