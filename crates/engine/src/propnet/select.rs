//! One of several literals, as a number says, in gates.
//!
//! In: literals such as the legal moves of a role. Out: how many of them hold,
//! as a binary number ([`Count`]), and for a number below that the literal so
//! numbered ([`Count::choose`]). Both cost about six two-input gates a literal.
//! Where the number comes from is not decided here: see
//! [`streams`](super::streams).

use super::network::{Builder, Literal};

/// How many of some literals hold.
#[derive(Clone, Debug)]
pub struct Count {
    literals: usize,
    root: Option<Part>,
}

/// The count of some neighbours: a literal, or the sum of two parts.
#[derive(Clone, Debug)]
struct Part {
    /// As a binary number, lowest bit first; as many as `most` needs.
    bits: Vec<Literal>,
    /// How many literals there are.
    most: usize,
    kind: PartKind,
}

#[derive(Clone, Debug)]
enum PartKind {
    Literal(usize),
    Sum(Box<[Part; 2]>),
}

impl Count {
    /// The adders that count the literals.
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

    /// The most that it can be.
    pub fn most(&self) -> usize {
        self.root.as_ref().map_or(0, |root| root.most)
    }

    /// The count as a binary number, lowest bit first.
    pub fn bits(&self) -> &[Literal] {
        self.root.as_ref().map_or(&[], |root| &root.bits)
    }

    /// Whether any literal holds.
    pub fn any(&self, builder: &mut Builder) -> Literal {
        builder.or(self.bits())
    }

    /// How many bits the number of a literal needs.
    pub fn number_bits(&self) -> usize {
        length(self.most().saturating_sub(1))
    }

    /// The bits that the number of a literal may have set, which depends on the
    /// count: the smallest number of low bits that can say `count - 1`. None if
    /// nothing is to be counted.
    pub fn mask(&self, builder: &mut Builder) -> Vec<Literal> {
        let bits = self.bits();
        (0..self.number_bits())
            .map(|bit| {
                // Numbers need this bit if the count is more than 2 to its power.
                let lower = builder.or(&bits[..bit]);
                let beyond = builder.and(&[bits[bit], lower]);
                let mut ways = bits[bit + 1..].to_vec();
                ways.push(beyond);
                builder.or(&ways)
            })
            .collect()
    }

    /// By literal: whether it is the one with the given number, counting from 0
    /// those that hold.
    ///
    /// The number comes as [`Count::number_bits`] bits, lowest first. If it is
    /// not below the count then the result may be any one literal or none. So a
    /// literal alone is chosen always.
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
        // Full trees to the left: their counts have the cheapest adders.
        let half = (literals.len().next_power_of_two() / 2).max(1);
        let left = Part::new(builder, &literals[..half]);
        let right = Part::new(builder, &literals[half..]);
        Part {
            bits: add(builder, &left, &right),
            most: literals.len(),
            kind: PartKind::Sum(Box::new([left, right])),
        }
    }

    /// Whether the bit, when set, is the only one: all literals hold.
    fn stands_alone(&self, bit: usize) -> bool {
        self.most == 1 << bit
    }

    fn bit(&self, bit: usize) -> Literal {
        self.bits.get(bit).copied().unwrap_or(Literal::FALSE)
    }

    /// `here`: whether the literal sought is in this part. Elsewhere `number`
    /// means nothing, and may have any value.
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
        // A number below the left count is sought to the left as it is, any
        // other to the right, less the left count.
        let (is_less, mut less) = subtract(builder, number, left);
        let in_left = builder.and(&[here, is_less]);
        let in_right = builder.and(&[here, !is_less]);
        left.choose(builder, in_left, &number[..length(left.most - 1)], chosen);
        less.truncate(length(right.most - 1));
        right.choose(builder, in_right, &less, chosen);
    }
}

/// How many bits a number needs.
fn length(number: usize) -> usize {
    (usize::BITS - number.leading_zeros()) as usize
}

fn add(builder: &mut Builder, left: &Part, right: &Part) -> Vec<Literal> {
    let mut carry = Literal::FALSE;
    (0..length(left.most + right.most))
        .map(|bit| {
            let (a, b) = (left.bit(bit), right.bit(bit));
            // Where a bit stands alone, none below it was set, so none came from
            // there: it and the carry exclude each other, and their sum is one bit.
            let (a, b) = match (left.stands_alone(bit), right.stands_alone(bit)) {
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
                    let through = builder.and(&[different, carry]);
                    carry = builder.or(&[both, through]);
                    return sum;
                }
            };
            carry = builder.and(&[a, b]);
            builder.xor(a, b)
        })
        .collect()
}

/// Whether the number is below the part's count; and their difference, which is
/// right if it is not.
fn subtract(builder: &mut Builder, number: &[Literal], part: &Part) -> (Literal, Vec<Literal>) {
    let mut borrow = Literal::FALSE;
    let difference = number
        .iter()
        .enumerate()
        .map(|(bit, &from)| {
            let take = part.bit(bit);
            if part.stands_alone(bit) {
                // As in adders: if it is taken then nothing is borrowed.
                let take = builder.or(&[take, borrow]);
                borrow = builder.and(&[!from, take]);
                return builder.xor(from, take);
            }
            let different = builder.xor(from, take);
            let owed = builder.and(&[!from, take]);
            let through = builder.and(&[!different, borrow]);
            let result = builder.xor(different, borrow);
            borrow = builder.or(&[owed, through]);
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

    /// Counts, masks and choices of `n` literals, some of them constant, in
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

        // Every number that is asked for in some lane.
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
    fn counts_and_choices_are_those_of_counting() {
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
    fn nothing_to_choose_from_needs_no_gates() {
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
    fn gates_grow_as_the_literals_do() {
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
