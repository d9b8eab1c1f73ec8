//! The selection of one of several literals by number, in gates.
//!
//! In: literals such as the legal moves of a role. Out: the number of true
//! literals, as a binary number ([`Count`]), and for a given number below it the
//! literal with that number ([`Count::choose`]). Both cost about six two-input
//! gates per literal. The number itself comes from elsewhere: see
//! [`streams`](super::streams).

use super::network::{Builder, Literal};

/// The number of true literals among several.
#[derive(Clone, Debug)]
pub struct Count {
    literals: usize,
    root: Option<Part>,
}

/// The count of some consecutive literals: one literal, or the sum of two parts.
#[derive(Clone, Debug)]
struct Part {
    /// The count in binary, lowest bit first, with the bits that `most` needs.
    bits: Vec<Literal>,
    /// The number of literals.
    most: usize,
    kind: PartKind,
}

#[derive(Clone, Debug)]
enum PartKind {
    Literal(usize),
    Sum(Box<[Part; 2]>),
}

impl Count {
    /// Builds the adders that count the literals.
    pub fn new(builder: &mut Builder, literals: &[Literal]) -> Count {
        let possible: Vec<(usize, Literal)> = literals
            .iter()
            .copied()
            .enumerate()
            .filter(|&(_, literal)| literal != Literal::FALSE)
            .collect();
        Count {
            literals: literals.len(),
            root: (!possible.is_empty()).then(|| Part::new(builder, &possible)),
        }
    }

    /// The maximum count.
    pub fn most(&self) -> usize {
        self.root.as_ref().map_or(0, |root| root.most)
    }

    /// The count in binary, lowest bit first.
    pub fn bits(&self) -> &[Literal] {
        self.root.as_ref().map_or(&[], |root| &root.bits)
    }

    /// True if any literal is.
    pub fn any(&self, builder: &mut Builder) -> Literal {
        builder.or(self.bits())
    }

    /// The number of bits that the number of a literal needs.
    pub fn number_bits(&self) -> usize {
        length(self.most().saturating_sub(1))
    }

    /// The bits that the number of a literal may have set, depending on the count:
    /// the fewest low bits that can represent `count - 1`. Empty if there is
    /// nothing to count.
    pub fn mask(&self, builder: &mut Builder) -> Vec<Literal> {
        let bits = self.bits();
        (0..self.number_bits())
            .map(|bit| {
                // Numbers need this bit if the count is more than 2 to its power.
                let lower = builder.or(&bits[..bit]);
                let beyond = builder.and(&[bits[bit], lower]);
                let mut terms = bits[bit + 1..].to_vec();
                terms.push(beyond);
                builder.or(&terms)
            })
            .collect()
    }

    /// By literal: true if it is the one with the given number, counting the true
    /// literals from 0.
    ///
    /// The number is given as [`Count::number_bits`] bits, lowest first. If it is
    /// not below the count, then any one literal or none is chosen. Consequently, a
    /// single literal is always chosen.
    pub fn choose(&self, builder: &mut Builder, number: &[Literal]) -> Vec<Literal> {
        let mut chosen = vec![Literal::FALSE; self.literals];
        if let Some(root) = &self.root {
            root.choose(builder, Literal::TRUE, number, &mut chosen);
        }
        chosen
    }
}

impl Part {
    fn new(builder: &mut Builder, literals: &[(usize, Literal)]) -> Part {
        if let [(index, literal)] = *literals {
            return Part {
                bits: vec![literal],
                most: 1,
                kind: PartKind::Literal(index),
            };
        }
        // Full trees on the left: their counts have the cheapest adders.
        let half = (literals.len().next_power_of_two() / 2).max(1);
        let left = Part::new(builder, &literals[..half]);
        let right = Part::new(builder, &literals[half..]);
        Part {
            bits: add(builder, &left, &right),
            most: literals.len(),
            kind: PartKind::Sum(Box::new([left, right])),
        }
    }

    /// True if all lower bits are 0 whenever this bit is set, because it means that
    /// all literals are true.
    fn excludes_lower(&self, bit: usize) -> bool {
        self.most == 1 << bit
    }

    fn bit(&self, bit: usize) -> Literal {
        self.bits.get(bit).copied().unwrap_or(Literal::FALSE)
    }

    /// `here` is true if the selected literal is in this part. Otherwise `number`
    /// is meaningless and may have any value.
    fn choose(
        &self,
        builder: &mut Builder,
        here: Literal,
        number: &[Literal],
        chosen: &mut [Literal],
    ) {
        let [left, right] = match &self.kind {
            PartKind::Literal(index) => {
                chosen[*index] = here;
                return;
            }
            PartKind::Sum(parts) => parts.as_ref(),
        };
        // A number below the left count selects on the left. Any other selects on
        // the right, less the left count.
        let (is_less, mut less) = subtract(builder, number, left);
        let in_left = builder.and(&[here, is_less]);
        let in_right = builder.and(&[here, !is_less]);
        left.choose(builder, in_left, &number[..length(left.most - 1)], chosen);
        less.truncate(length(right.most - 1));
        right.choose(builder, in_right, &less, chosen);
    }
}

/// The number of bits of a number.
fn length(number: usize) -> usize {
    (usize::BITS - number.leading_zeros()) as usize
}

fn add(builder: &mut Builder, left: &Part, right: &Part) -> Vec<Literal> {
    let mut carry = Literal::FALSE;
    (0..length(left.most + right.most))
        .map(|bit| {
            let (a, b) = (left.bit(bit), right.bit(bit));
            // If a bit excludes all lower ones, it also excludes a carry from them: the
            // two are exclusive, so their sum is one bit.
            let (a, b) = match (left.excludes_lower(bit), right.excludes_lower(bit)) {
                (true, true) => {
                    let different = builder.xor(a, b);
                    let sum = builder.or(&[different, carry]);
                    carry = builder.and(&[a, b]);
                    return sum;
                }
                (true, false) => (builder.or(&[a, carry]), b),
                (false, true) => (a, builder.or(&[b, carry])),
                (false, false) => {
                    let different = builder.xor(a, b);
                    let sum = builder.xor(different, carry);
                    let both = builder.and(&[a, b]);
                    let propagated = builder.and(&[different, carry]);
                    carry = builder.or(&[both, propagated]);
                    return sum;
                }
            };
            carry = builder.and(&[a, b]);
            builder.xor(a, b)
        })
        .collect()
}

/// True if the number is below the part's count; and their difference, which is
/// correct otherwise.
fn subtract(builder: &mut Builder, number: &[Literal], part: &Part) -> (Literal, Vec<Literal>) {
    let mut borrow = Literal::FALSE;
    let difference = number
        .iter()
        .enumerate()
        .map(|(bit, &from)| {
            let take = part.bit(bit);
            if part.excludes_lower(bit) {
                // As in adders: the bit and the borrow exclude each other.
                let take = builder.or(&[take, borrow]);
                borrow = builder.and(&[!from, take]);
                return builder.xor(from, take);
            }
            let different = builder.xor(from, take);
            let generated = builder.and(&[!from, take]);
            let propagated = builder.and(&[!different, borrow]);
            let result = builder.xor(different, borrow);
            borrow = builder.or(&[generated, propagated]);
            result
        })
        .collect();
    (borrow, difference)
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::propnet::network::read;

    /// The value of a number in each of 64 lanes.
    fn numbers(bits: &[Literal], values: &[u64]) -> Vec<usize> {
        (0..64)
            .map(|lane| {
                let set = |(bit, &literal)| ((read(literal, values) >> lane & 1) as usize) << bit;
                bits.iter().enumerate().map(set).sum()
            })
            .collect()
    }

    /// Checks counts, masks and choices of `n` literals, some of them constant, in
    /// lanes of different density.
    fn check(n: usize, constants: &[(usize, Literal)], seed: u64) {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut builder = Builder::new(n);
        let mut literals: Vec<Literal> = (0..n).map(|i| builder.input(i)).collect();
        for &(index, constant) in constants {
            literals[index] = constant;
        }
        let count = Count::new(&mut builder, &literals);
        let mask = count.mask(&mut builder);
        let number: Vec<Literal> = (0..count.number_bits())
            .map(|_| builder.add_input())
            .collect();
        let chosen = count.choose(&mut builder, &number);
        let any = count.any(&mut builder);
        let network = builder.network();

        let mut inputs = vec![0; network.inputs()];
        for word in &mut inputs[..n] {
            for lane in 0..64 {
                *word |=
                    u64::from(random.random_bool((lane as f64 / 63.0).clamp(0.01, 0.99))) << lane;
            }
        }
        let values = network.evaluate(&inputs);
        let holding: Vec<Vec<usize>> = (0..64)
            .map(|lane| {
                (0..n)
                    .filter(|&i| read(literals[i], &values) >> lane & 1 == 1)
                    .collect()
            })
            .collect();
        let expected: Vec<usize> = holding.iter().map(Vec::len).collect();
        assert_eq!(
            numbers(count.bits(), &values),
            expected,
            "n {n} seed {seed}"
        );
        let masks: Vec<usize> = expected
            .iter()
            .map(|&count| count.max(1).next_power_of_two() - 1)
            .collect();
        assert_eq!(numbers(&mask, &values), masks, "n {n} seed {seed}");
        for (lane, holding) in holding.iter().enumerate() {
            assert_eq!(read(any, &values) >> lane & 1 == 1, !holding.is_empty());
        }

        // Every number that is selected in some lane.
        for round in 0..expected.iter().copied().max().unwrap_or(0) {
            let asked: Vec<usize> = expected.iter().map(|&c| round % c.max(1)).collect();
            for (bit, word) in inputs[n..].iter_mut().enumerate() {
                *word = (0..64)
                    .map(|lane| ((asked[lane] >> bit & 1) as u64) << lane)
                    .sum();
            }
            let values = network.evaluate(&inputs);
            for lane in (0..64).filter(|&lane| expected[lane] > 0) {
                let found: Vec<usize> = (0..n)
                    .filter(|&i| read(chosen[i], &values) >> lane & 1 == 1)
                    .collect();
                assert_eq!(found, [holding[lane][asked[lane]]], "n {n} seed {seed}");
            }
        }
    }

    #[test]
    fn counts_and_choices_agree_with_counting() {
        for n in (1..=40).chain([63, 64, 65, 100]) {
            for seed in 0..3 {
                check(n, &[], seed);
            }
        }
    }

    #[test]
    fn constant_literals_count_too() {
        use Literal as L;
        check(1, &[(0, L::TRUE)], 1);
        check(5, &[(0, L::TRUE), (3, L::FALSE)], 2);
        check(9, &[(0, L::FALSE), (1, L::FALSE), (8, L::TRUE)], 3);
        let all: Vec<_> = (0..7).map(|i| (i, L::TRUE)).collect();
        check(7, &all, 4);
    }

    #[test]
    fn trivial_choices_need_no_gates() {
        let mut builder = Builder::new(1);
        let none = Count::new(&mut builder, &[Literal::FALSE; 3]);
        assert_eq!((none.most(), none.number_bits()), (0, 0));
        assert_eq!(none.any(&mut builder), Literal::FALSE);
        assert_eq!(none.choose(&mut builder, &[]), [Literal::FALSE; 3]);
        let only = builder.input(0);
        let one = Count::new(&mut builder, &[Literal::FALSE, only]);
        assert_eq!((one.most(), one.number_bits()), (1, 0));
        let chosen = one.choose(&mut builder, &[]);
        assert_eq!(chosen, [Literal::FALSE, Literal::TRUE]);
        assert_eq!(builder.network().gates(), 0);
    }

    #[test]
    fn the_number_of_gates_is_linear_in_the_literals() {
        for n in [8, 64, 512, 4096] {
            let mut builder = Builder::new(n);
            let literals: Vec<Literal> = (0..n).map(|i| builder.input(i)).collect();
            let count = Count::new(&mut builder, &literals);
            let number: Vec<Literal> = (0..count.number_bits())
                .map(|_| builder.add_input())
                .collect();
            count.choose(&mut builder, &number);
            let gates = builder.network().gates();
            assert!(gates < 14 * n, "{gates} gates for {n} literals");
        }
    }
}
