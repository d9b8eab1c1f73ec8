//! Legal actions drawn uniformly at random, in all lanes at once.
//!
//! In: the rows of legal moves, and rows of random bits. Out: rows with the number of the drawn
//! move in binary. The legal moves are counted in gates. A random number below the count is the
//! product of the count and a binary fraction of random bits, without what is behind the point:
//! each move has the same probability up to a factor of 1 ± count · 2^-32. There is no rejection, so
//! a lane's draws depend on its random bits alone.

use super::{BANKS, DRAWN, RANDOM, STATUS, place};
use crate::propnet::Propnet;
use crate::propnet::code::{Code, Engine};
use crate::propnet::lanes::Rows;
use crate::propnet::network::{Builder, Literal};
use crate::propnet::select::Count;
use crate::propnet::tape::Tape;

/// The bits of a fraction.
const FRACTION: usize = 32;

/// The code that draws an action for each role.
#[derive(Clone, Debug)]
pub struct Uniform {
    code: Code,
    /// By role: the first of its rows, which are in one group of 64, and their number.
    fields: Vec<(usize, usize)>,
    /// The rows of random bits, and of results.
    random: usize,
    drawn: usize,
}

impl Uniform {
    /// The code for the legal moves of a network, in rows of some words.
    pub fn new(net: &Propnet, words: usize, engine: Engine) -> Uniform {
        let rows = net.legal.iter().map(Vec::len).sum();
        let mut builder = Builder::new(rows);
        let legal: Vec<Literal> = (0..rows).map(|row| builder.input(row)).collect();
        let given = legal.iter().enumerate();
        let mut given: Vec<_> = given
            .map(|(row, literal)| (literal.node(), place(STATUS, row)))
            .collect();
        let (mut fields, mut wanted) = (Vec::new(), Vec::new());
        let (mut random, mut drawn, mut first) = (0, 0, 0);
        for moves in &net.legal {
            let legal = &legal[first..first + moves.len()];
            first += moves.len();
            let count = Count::new(&mut builder, legal);
            let mut number = vec![Literal::FALSE; count.number_bits()];
            if !number.is_empty() {
                // The lowest digit of the fraction comes first. Halving drops what is behind the
                // point, also in the end.
                for _ in 0..FRACTION {
                    let digit = builder.add_input();
                    given.push((digit.node(), place(RANDOM, random)));
                    random += 1;
                    number = halved_sum(&mut builder, &number, count.bits(), digit);
                }
            }
            let chosen = count.choose(&mut builder, &number);
            let bits = (usize::BITS - moves.len().saturating_sub(1).leading_zeros()) as usize;
            // The bits of a role are read from one word.
            if drawn / 64 != (drawn + bits) / 64 {
                drawn = drawn.next_multiple_of(64);
            }
            fields.push((drawn, bits));
            for bit in 0..bits {
                let with = chosen
                    .iter()
                    .enumerate()
                    .filter(|(at, _)| at >> bit & 1 == 1);
                let with: Vec<Literal> = with.map(|(_, literal)| *literal).collect();
                wanted.push((builder.or(&with), place(DRAWN, drawn)));
                drawn += 1;
            }
        }
        let tape = Tape::new(&builder.into_network(), &given, &wanted);
        Uniform {
            code: Code::new(&tape, words, engine),
            fields,
            random,
            drawn,
        }
    }

    /// The banks for the random bits and the results.
    pub fn banks(&self, words: usize) -> [Rows; 2] {
        [Rows::new(self.random, words), Rows::new(self.drawn, words)]
    }

    /// The number of rows of results.
    pub fn rows(&self) -> usize {
        self.drawn
    }

    /// Draws an action for each role in each lane.
    pub fn run(&mut self, banks: &mut [Rows; BANKS]) {
        self.code.run(banks);
    }

    /// A role's action, from the bits of a lane in each group of 64 rows of results.
    #[inline]
    pub fn action(&self, role: usize, bits: impl Fn(usize) -> u64) -> i32 {
        let (first, count) = self.fields[role];
        match count {
            0 => 0,
            _ => (bits(first / 64) >> (first % 64) & !(u64::MAX << count)) as i32,
        }
    }
}

/// Half of the sum of a number and, if the digit is set, of the count, without the digit behind the
/// point. The number is below the count, so the result is, too.
fn halved_sum(
    builder: &mut Builder,
    number: &[Literal],
    count: &[Literal],
    digit: Literal,
) -> Vec<Literal> {
    let mut carry = Literal::FALSE;
    let mut sum = Vec::new();
    for (at, bit) in count.iter().enumerate() {
        let own = number.get(at).copied().unwrap_or(Literal::FALSE);
        let other = builder.and(&[*bit, digit]);
        let differ = builder.xor(own, other);
        sum.push(builder.xor(differ, carry));
        let both = builder.and(&[own, other]);
        let passed = builder.and(&[differ, carry]);
        carry = builder.or(&[both, passed]);
    }
    sum.push(carry);
    sum[1..=number.len()].to_vec()
}
