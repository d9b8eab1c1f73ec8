//! The part of a network that some outputs need, as straight-line code.
//!
//! In: a network, given nodes with the places of their values, and output literals
//! with their places. Out: a [`Tape`] of two-input operations on rows. Cycles
//! become loops. Tapes are executed by [`code`].
//!
//! [`code`]: crate::propnet::code

mod cone;
mod emit;
mod schedule;

use crate::propnet::network::{Literal, Network};
use cone::Cone;
use emit::Emitter;

/// The maximum number of banks of one tape.
pub const BANKS: usize = 8;

/// A row of a bank.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Place {
    /// The bank, below [`BANKS`].
    pub bank: u8,
    /// The row.
    pub index: u32,
}

/// The operation of a step. It reads values `a`, `b` and `c`, or the first of them.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Kind {
    And,
    /// `a` and not `b`.
    AndNot,
    Or,
    Xor,
    /// The negation of `a`.
    Not,
    /// A copy of `a`.
    Copy,
    Zero,
    Ones,
    /// Any function of three values: bit `4 * a + 2 * b + c` of the number. Tapes
    /// have none; machine code combines two other steps to one.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    Table(u8),
    /// The loop `a` begins: its feedbacks are set to zero.
    Begin,
    /// The loop `a` ends: its feedbacks are set to their definitions. If that
    /// changes any of them in any lane, the loop is repeated.
    End,
}

impl Kind {
    /// The number of values that it reads, not counting loops.
    fn arity(self) -> usize {
        match self {
            Kind::And | Kind::AndNot | Kind::Or | Kind::Xor => 2,
            Kind::Not | Kind::Copy => 1,
            Kind::Zero | Kind::Ones | Kind::Begin | Kind::End => 0,
            Kind::Table(_) => 3,
        }
    }
}

/// One step of a tape.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) struct Step {
    pub kind: Kind,
    /// The value that it makes; no other step does.
    pub result: u32,
    /// `a`, `b`, `c`; the number of the loop where it begins or ends.
    pub operands: [u32; 3],
}

impl Step {
    /// The values that it reads, not counting loops.
    pub fn reads(&self) -> &[u32] {
        &self.operands[..self.kind.arity()]
    }

    /// The loop that begins or ends here.
    pub fn number(&self) -> usize {
        self.operands[0] as usize
    }
}

/// The place of a value in memory, if it needs one.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Home {
    /// The place of an input or output.
    Bank(Place),
    /// A scratch row, free again after the value's last use.
    Scratch(u32),
    /// Not decided.
    Nowhere,
}

/// A program on rows: steps on values, each value made once.
///
/// The input rows and the output rows are disjoint.
#[derive(Clone, Debug)]
pub struct Tape {
    pub(super) steps: Vec<Step>,
    /// By loop: its feedbacks, each with its definition.
    pub(super) loops: Vec<Vec<(u32, u32)>>,
    /// By value.
    pub(super) homes: Vec<Home>,
    /// The number of given values, which come first.
    pub(super) given: usize,
    /// By bank: the number of rows it must have.
    rows: [usize; BANKS],
    scratch: usize,
    live: usize,
}

impl Tape {
    /// The program that computes the outputs from given nodes.
    ///
    /// A given node is read from its place and its operands are not computed.
    /// Usually these are inputs, but any node may be given. Nodes that no output
    /// needs are omitted. The places of outputs must differ from each other and
    /// from those of given nodes.
    /// # Panics
    ///
    /// If an output depends on an input that is not given, or the bank of a place
    /// is not below [`BANKS`].
    pub fn new(network: &Network, given: &[(usize, Place)], outputs: &[(Literal, Place)]) -> Tape {
        let literals = || outputs.iter().map(|&(literal, _)| literal);
        let cone = Cone::new(network, given.iter().map(|&(node, _)| node), literals());
        let events = schedule::schedule(&cone, literals());
        Emitter::new(&cone, given).emit(&events, outputs)
    }

    /// The number of gates executed, counting loops once.
    pub fn operations(&self) -> usize {
        let is_gate = |step: &&Step| !matches!(step.kind, Kind::Begin | Kind::End);
        self.steps.iter().filter(is_gate).count()
    }

    /// The number of rows needed in addition to those of the banks.
    pub fn scratch(&self) -> usize {
        self.scratch
    }

    /// The maximum number of values kept at a time, not counting those in banks.
    pub fn live(&self) -> usize {
        self.live
    }

    /// By bank: the number of rows it must have at least.
    pub fn rows(&self) -> &[usize; BANKS] {
        &self.rows
    }

    fn of(steps: Vec<Step>, loops: Vec<Vec<(u32, u32)>>, homes: Vec<Home>, given: usize) -> Tape {
        let mut rows = [0; BANKS];
        for home in &homes {
            if let Home::Bank(place) = home {
                let rows = &mut rows[place.bank as usize];
                *rows = (*rows).max(place.index as usize + 1);
            }
        }
        let mut tape = Tape {
            steps,
            loops,
            homes,
            given,
            rows,
            scratch: 0,
            live: 0,
        };
        tape.assign_scratch();
        tape
    }

    /// Assigns a scratch row to each value that is not in a bank, by linear scan.
    fn assign_scratch(&mut self) {
        let last = self::last_uses(&self.steps, &self.loops, self.homes.len());
        let last_uses = LastUses::new(&last, self.steps.len());
        let mut free: Vec<u32> = Vec::new();
        let mut live = 0;
        for (position, step) in self.steps.iter().enumerate() {
            // A step reads before it writes, so its result may overwrite an operand.
            for &value in last_uses.at(position) {
                if let Home::Scratch(slot) = self.homes[value as usize] {
                    free.push(slot);
                    live -= 1;
                }
            }
            let mut assign = |value: u32| {
                let home = &mut self.homes[value as usize];
                if *home == Home::Nowhere {
                    let slot = free.pop().unwrap_or_else(|| {
                        self.scratch += 1;
                        self.scratch as u32 - 1
                    });
                    *home = Home::Scratch(slot);
                    live += 1;
                    self.live = self.live.max(live);
                }
            };
            match step.kind {
                Kind::Begin => self.loops[step.number()]
                    .iter()
                    .for_each(|&(f, _)| assign(f)),
                Kind::End => {}
                _ => assign(step.result),
            }
        }
    }
}

/// By value: the last step that needs it. A loop needs the values that it reads
/// from outside until its end, since it may be repeated.
pub(super) fn last_uses(steps: &[Step], loops: &[Vec<(u32, u32)>], values: usize) -> Vec<u32> {
    let mut last = vec![0; values];
    // By value: the loop that makes it, from 1.
    let mut enclosing = vec![0; values];
    let mut open = 0;
    let mut outer: Vec<u32> = Vec::new();
    for (position, step) in steps.iter().enumerate() {
        let position = position as u32;
        for &value in step.reads() {
            last[value as usize] = position;
            if open != 0 && enclosing[value as usize] != open {
                outer.push(value);
            }
        }
        match step.kind {
            Kind::Begin => {
                open = step.number() + 1;
                for &(feedback, _) in &loops[step.number()] {
                    enclosing[feedback as usize] = open;
                }
            }
            Kind::End => {
                for &(feedback, definition) in &loops[step.number()] {
                    outer.extend([feedback, definition]);
                }
                for value in outer.drain(..) {
                    last[value as usize] = position;
                }
                open = 0;
            }
            _ => {
                enclosing[step.result as usize] = open;
                last[step.result as usize] = position;
            }
        }
    }
    last
}

/// Values by the step of their last use.
pub(super) struct LastUses {
    starts: Vec<u32>,
    values: Vec<u32>,
}

impl LastUses {
    pub fn new(last: &[u32], steps: usize) -> Self {
        let mut starts = vec![0; steps + 2];
        for &position in last {
            starts[position as usize + 2] += 1;
        }
        for position in 2..starts.len() {
            starts[position] += starts[position - 1];
        }
        let mut values = vec![0; last.len()];
        for (value, &position) in last.iter().enumerate() {
            let at = &mut starts[position as usize + 1];
            values[*at as usize] = value as u32;
            *at += 1;
        }
        LastUses { starts, values }
    }

    pub fn at(&self, position: usize) -> &[u32] {
        &self.values[self.starts[position] as usize..self.starts[position + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::propnet::network::Builder;

    /// Checks the operations, scratch rows and loops of a tape for all inputs and
    /// these outputs.
    fn check(builder: &Builder, outputs: &[Literal], expected: (usize, usize, usize)) {
        let network = builder.network();
        let place = |bank, index: usize| Place {
            bank,
            index: index as u32,
        };
        let inputs = 0..network.inputs();
        let given: Vec<_> = inputs.map(|i| (1 + i, place(0, i))).collect();
        let outputs = outputs.iter().enumerate();
        let outputs: Vec<_> = outputs.map(|(i, &out)| (out, place(1, i))).collect();
        let tape = Tape::new(network, &given, &outputs);
        let counts = (tape.operations(), tape.scratch(), tape.loops.len());
        assert_eq!(counts, expected);
    }

    #[test]
    fn negations_cost_only_at_outputs() {
        let mut builder = Builder::new(4);
        let [a, b, c, d] = [0, 1, 2, 3].map(|i| builder.input(i));
        let either = builder.or(&[a, !b]);
        let gate = builder.and(&[!c, !d, either]);
        let other = builder.xor(!gate, a);
        check(&builder, &[other], (4, 1, 0));
        check(&builder, &[!other], (5, 1, 0));
    }

    #[test]
    fn gates_share_common_operands() {
        let mut builder = Builder::new(60);
        let common: Vec<Literal> = (20..26).map(|i| builder.input(i)).collect();
        let gates: Vec<Literal> = (0..20)
            .map(|i| {
                let own = [builder.input(i), builder.input(59 - i)];
                builder.and(&[&common[..], &own].concat())
            })
            .collect();
        check(&builder, &gates, (5 + 2 * 20, 2, 0));
    }

    #[test]
    fn only_feedback_paths_are_in_the_loop() {
        let mut builder = Builder::new(4);
        let [a, b, c, d] = [0, 1, 2, 3].map(|i| builder.input(i));
        let feedback = builder.open(1)[0];
        let before = builder.and(&[a, b]);
        let inside = builder.and(&[feedback, c]);
        let next = builder.or(&[before, inside]);
        let after = builder.and(&[inside, d]);
        builder.close(&[next]);
        check(&builder, &[after], (4, 4, 1));
        // If only values from outside the loop are outputs, it need not run.
        check(&builder, &[before], (1, 0, 0));
    }
}
