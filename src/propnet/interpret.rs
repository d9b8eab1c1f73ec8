//! Runs a tape in portable code.
//!
//! In: a [`Tape`] and banks of rows. Out: the rows asked for. All values lie in
//! one array while it runs, so what is given is copied in and what is asked for
//! is copied out.

use super::lanes::Rows;
use super::tape::{Home, Kind, Place, Tape};

/// An operation on rows of one array.
#[derive(Copy, Clone, Debug)]
struct Operation {
    kind: Kind,
    result: u32,
    operands: [u32; 2],
}

/// A tape whose values have rows in one array.
#[derive(Debug)]
pub(super) struct Program {
    operations: Vec<Operation>,
    /// By loop: the rows of its feedbacks, each with that of its definition.
    loops: Vec<Vec<(u32, u32)>>,
    /// Rows to copy in: the first ones of the array.
    given: Vec<Place>,
    /// Rows to copy out: those that follow.
    outputs: Vec<Place>,
    rows: usize,
}

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
        let scratch = given.len() + outputs.len();
        let mut banked = 0..scratch as u32;
        let rows: Vec<u32> = tape
            .homes
            .iter()
            .map(|home| match home {
                Home::Bank(_) => banked.next().expect("those in banks were counted"),
                Home::Scratch(slot) => scratch as u32 + slot,
                // Never made, hence never read.
                Home::Nowhere => u32::MAX,
            })
            .collect();
        let row = |value: u32| rows[value as usize];
        let operations = tape
            .steps
            .iter()
            .map(|step| match step.kind {
                Kind::Begin | Kind::End => Operation {
                    kind: step.kind,
                    result: step.result,
                    operands: step.operands,
                },
                kind => {
                    let mut operands = [0; 2];
                    for (operand, &value) in operands.iter_mut().zip(step.reads()) {
                        *operand = row(value);
                    }
                    Operation {
                        kind,
                        result: row(step.result),
                        operands,
                    }
                }
            })
            .collect();
        let pairs =
            |pairs: &Vec<(u32, u32)>| pairs.iter().map(|&(f, d)| (row(f), row(d))).collect();
        Program {
            operations,
            loops: tape.loops.iter().map(pairs).collect(),
            given,
            outputs,
            rows: scratch + tape.scratch(),
        }
    }

    /// Rows of the array.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Runs it on rows of `WORDS` words.
    pub fn run<const WORDS: usize>(&self, banks: &mut [Rows], array: &mut Rows) {
        let (array, rest) = array.flat_mut().as_chunks_mut::<WORDS>();
        assert!(
            rest.is_empty(),
            "the rows have as many words as were asked for"
        );
        for (row, place) in array.iter_mut().zip(&self.given) {
            row.copy_from_slice(banks[place.bank as usize].row(place.index as usize));
        }
        self.execute(array);
        for (row, place) in array[self.given.len()..].iter().zip(&self.outputs) {
            let bank = &mut banks[place.bank as usize];
            bank.row_mut(place.index as usize).copy_from_slice(row);
        }
    }

    fn execute<const WORDS: usize>(&self, array: &mut [[u64; WORDS]]) {
        let mut next = 0;
        let mut begin = 0;
        while let Some(operation) = self.operations.get(next) {
            next += 1;
            let [a, b] = operation.operands.map(|operand| operand as usize);
            let result = operation.result as usize;
            match operation.kind {
                Kind::And => binary(array, result, a, b, |a, b| a & b),
                Kind::AndNot => binary(array, result, a, b, |a, b| a & !b),
                Kind::Or => binary(array, result, a, b, |a, b| a | b),
                Kind::Xor => binary(array, result, a, b, |a, b| a ^ b),
                Kind::Not => array[result] = array[a].map(|word| !word),
                Kind::Copy => array[result] = array[a],
                Kind::Zero => array[result] = [0; WORDS],
                Kind::Ones => array[result] = [u64::MAX; WORDS],
                Kind::Begin => {
                    begin = next;
                    for &(feedback, _) in &self.loops[a] {
                        array[feedback as usize] = [0; WORDS];
                    }
                }
                Kind::End => {
                    let mut is_changed = false;
                    for &(feedback, definition) in &self.loops[a] {
                        let new = array[definition as usize];
                        let old = std::mem::replace(&mut array[feedback as usize], new);
                        is_changed |= old != new;
                    }
                    if is_changed {
                        next = begin;
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn binary<const WORDS: usize>(
    array: &mut [[u64; WORDS]],
    result: usize,
    a: usize,
    b: usize,
    operation: impl Fn(u64, u64) -> u64,
) {
    let (a, b) = (array[a], array[b]);
    array[result] = std::array::from_fn(|word| operation(a[word], b[word]));
}
