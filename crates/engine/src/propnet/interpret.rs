//! Runs a tape with portable code.
//!
//! In: a [`Tape`] and banks of rows. Out: the requested rows. During a run all
//! values lie in one array; inputs are copied into it and outputs are copied out.
//! All operations share one formula and differ only in masks, since a branch on the
//! kind of operation would often be mispredicted.

use super::lanes::Rows;
use super::tape::{Home, Kind, Place, Tape};

/// `a & first ^ b & (second ^ a & both)` on rows of one array: any function of two
/// operands that is false if both are.
#[derive(Copy, Clone, Debug)]
struct Operation {
    result: u32,
    a: u32,
    b: u32,
    masks: Masks,
}

/// Masks that are zero or all ones. They are stored as bytes, since there are three
/// per operation.
#[derive(Copy, Clone, Debug)]
struct Masks {
    first: i8,
    second: i8,
    both: i8,
}

/// The operations up to the next beginning or end of a loop.
#[derive(Clone, Debug)]
struct Stretch {
    end: usize,
    mark: Option<Mark>,
}

#[derive(Clone, Debug)]
enum Mark {
    /// The beginning of a loop: the rows of feedbacks to clear.
    Begin(Vec<u32>),
    /// The end of a loop: the row of each feedback and the row of its definition.
    End(Vec<(u32, u32)>),
}

/// A tape whose values are rows of one array.
#[derive(Debug)]
pub(super) struct Program {
    operations: Vec<Operation>,
    stretches: Vec<Stretch>,
    /// The rows to copy in. They follow the row of ones.
    given: Vec<Place>,
    /// The rows to copy out. They follow those.
    outputs: Vec<Place>,
    rows: usize,
}

/// The row that is set in all lanes.
const ONES: u32 = 0;

impl Program {
    pub fn new(tape: &Tape) -> Self {
        let mut given = Vec::new();
        let mut outputs = Vec::new();
        for (value, home) in tape.homes.iter().enumerate() {
            match *home {
                Home::Bank(place) if value < tape.given => given.push(place),
                Home::Bank(place) => outputs.push(place),
                _ => {}
            }
        }
        let scratch = 1 + given.len() + outputs.len();
        let mut banked = 1..scratch as u32;
        let rows: Vec<u32> = tape
            .homes
            .iter()
            .map(|home| match home {
                Home::Bank(_) => banked.next().expect("the rows in banks were counted"),
                Home::Scratch(slot) => scratch as u32 + slot,
                // Never computed, hence never read.
                Home::Nowhere => u32::MAX,
            })
            .collect();
        let mut program = Program {
            operations: Vec::with_capacity(tape.steps.len()),
            stretches: Vec::new(),
            given,
            outputs,
            rows: scratch + tape.scratch(),
        };
        let row = |value: u32| rows[value as usize];
        for step in &tape.steps {
            let [a, b, _] = step.operands;
            let pairs = || tape.loops[step.number()].iter();
            let (a, b, masks) = match step.kind {
                Kind::And => (row(a), row(b), [0, 0, -1]),
                Kind::AndNot => (row(a), row(b), [-1, 0, -1]),
                Kind::Or => (row(a), row(b), [-1, -1, -1]),
                Kind::Xor => (row(a), row(b), [-1, -1, 0]),
                Kind::Not => (row(a), ONES, [-1, -1, 0]),
                Kind::Copy => (row(a), ONES, [-1, 0, 0]),
                Kind::Zero => (ONES, ONES, [0, 0, 0]),
                Kind::Ones => (ONES, ONES, [-1, 0, 0]),
                Kind::Table(_) => unreachable!("only machine code has tables"),
                Kind::Begin => {
                    let feedbacks = pairs().map(|&(feedback, _)| row(feedback));
                    program.mark(Some(Mark::Begin(feedbacks.collect())));
                    continue;
                }
                Kind::End => {
                    let pairs = pairs().map(|&(feedback, next)| (row(feedback), row(next)));
                    program.mark(Some(Mark::End(pairs.collect())));
                    continue;
                }
            };
            program.push(row(step.result), a, b, masks);
        }
        program.mark(None);
        program
    }

    fn push(&mut self, result: u32, a: u32, b: u32, masks: [i8; 3]) {
        let [first, second, both] = masks;
        self.operations.push(Operation {
            result,
            a,
            b,
            masks: Masks {
                first,
                second,
                both,
            },
        });
    }

    fn mark(&mut self, mark: Option<Mark>) {
        let end = self.operations.len();
        self.stretches.push(Stretch { end, mark });
    }

    /// The number of rows of the array.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Runs the program on rows of `WORDS` words.
    pub fn run<const WORDS: usize>(&self, banks: &mut [Rows], array: &mut Rows) {
        let (array, rest) = array.flat_mut().as_chunks_mut::<WORDS>();
        assert!(rest.is_empty(), "rows have `WORDS` words");
        array[ONES as usize] = [u64::MAX; WORDS];
        for (row, place) in array[1..].iter_mut().zip(&self.given) {
            row.copy_from_slice(banks[place.bank as usize].row(place.index as usize));
        }
        self.execute(array);
        let outputs = &array[1 + self.given.len()..];
        for (row, place) in outputs.iter().zip(&self.outputs) {
            let bank = &mut banks[place.bank as usize];
            bank.row_mut(place.index as usize).copy_from_slice(row);
        }
    }

    fn execute<const WORDS: usize>(&self, array: &mut [[u64; WORDS]]) {
        let mut start = 0;
        let mut next = 0;
        // The position of the innermost loop's first operation and stretch.
        let mut begin = (0, 0);
        while let Some(stretch) = self.stretches.get(next) {
            for operation in &self.operations[start..stretch.end] {
                apply(array, operation);
            }
            start = stretch.end;
            next += 1;
            match &stretch.mark {
                None => {}
                Some(Mark::Begin(feedbacks)) => {
                    begin = (start, next);
                    for &feedback in feedbacks {
                        array[feedback as usize] = [0; WORDS];
                    }
                }
                Some(Mark::End(pairs)) => {
                    let mut is_changed = false;
                    for &(feedback, definition) in pairs {
                        let new = array[definition as usize];
                        let old = std::mem::replace(&mut array[feedback as usize], new);
                        is_changed |= old != new;
                    }
                    if is_changed {
                        (start, next) = begin;
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn apply<const WORDS: usize>(array: &mut [[u64; WORDS]], operation: &Operation) {
    let wide = |mask: i8| i64::from(mask) as u64;
    let Masks {
        first,
        second,
        both,
    } = operation.masks;
    let (first, second, both) = (wide(first), wide(second), wide(both));
    let (a, b) = (array[operation.a as usize], array[operation.b as usize]);
    array[operation.result as usize] =
        std::array::from_fn(|word| a[word] & first ^ b[word] & (second ^ a[word] & both));
}
