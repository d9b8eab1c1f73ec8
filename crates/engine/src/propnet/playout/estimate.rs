//! The sizes of plans, without making their gates.
//!
//! In: a network, and the facts that are constant in each phase of two plans. Out: about as many
//! gates as their tapes have. Constants are propagated through the network, for all phases at
//! once, and the gates that are left are counted. Making them takes ten times as long.

use crate::propnet::Propnet;
use crate::propnet::network::{Literal, Network, Node};

/// The maximum number of phases of both plans together.
pub(super) const MOST_PHASES: usize = 16;

/// The gates for each legal move that choose one of them.
const CHOICE: i64 = 12;
/// More of them for each bit of a move's level.
const LEVEL_BIT: i64 = 4;

/// The phases in which a node may be false, and those in which it may be true.
#[derive(Copy, Clone)]
struct Possible {
    no: u16,
    yes: u16,
}

const ANY: Possible = Possible {
    no: u16::MAX,
    yes: u16::MAX,
};

impl Possible {
    fn of(literal: Literal, values: &[Possible]) -> Possible {
        let Possible { no, yes } = values[literal.node()];
        match literal.is_negated() {
            true => Possible { no: yes, yes: no },
            false => Possible { no, yes },
        }
    }

    /// The phases in which the node is not constant.
    fn varies(self) -> u16 {
        self.no & self.yes
    }
}

/// The approximate numbers of gates of a pass, without those for scores, in the first phase and in
/// all others together. `constants` has, by phase and fact, the value of a fact without a row;
/// `level_bits` are the bits of a move's level.
pub(super) fn gates(
    net: &Propnet,
    constants: &[Vec<Option<bool>>],
    level_bits: usize,
) -> [usize; 2] {
    assert!(constants.len() <= MOST_PHASES, "each phase has a bit");
    let network = &net.network;
    let mut inputs = vec![ANY; network.inputs()];
    for (phase, constants) in constants.iter().enumerate() {
        for (input, constant) in inputs.iter_mut().zip(constants) {
            input.no &= !(u16::from(*constant == Some(true)) << phase);
            input.yes &= !(u16::from(*constant == Some(false)) << phase);
        }
    }
    let mut values = vec![ANY; network.len()];
    propagate(network, &inputs, &mut values);
    // A move that is never legal is never made, and the only one that is always.
    for (role, legal) in net.legal.iter().enumerate() {
        let possible = |&legal: &Literal| Possible::of(legal, &values).yes;
        let [one, two] = one_and_two(legal.iter().map(possible));
        for (index, legal) in legal.iter().enumerate() {
            let yes = possible(legal);
            let no = !(yes & one & !two);
            inputs[net.move_input(role, index)] = Possible { no, yes };
        }
    }
    propagate(network, &inputs, &mut values);
    let all = u16::MAX >> (MOST_PHASES - constants.len());
    let varies = |literal: Literal| values[literal.node()].varies() & all;
    let mut live = vec![0; network.len()];
    for &root in net.legal.iter().flatten().chain([&net.terminal]) {
        live[root.node()] |= varies(root);
    }
    for (&next, input) in net.next.iter().zip(&inputs) {
        live[next.node()] |= varies(next) & input.varies();
    }
    let mut gates = [0, 0];
    let mut count = |phases: u16, each: i64| {
        gates[0] += each * i64::from(phases & 1);
        gates[1] += each * i64::from((phases >> 1).count_ones());
    };
    let mut regions = network.regions().iter().rev().peekable();
    for node in (0..network.len()).rev() {
        // What is needed of a cycle needs its definitions, which come after the feedbacks.
        if let Some(region) = regions.next_if(|region| region.nodes.end == node + 1) {
            let phases = live[region.nodes.clone()]
                .iter()
                .fold(0, |all, of| all | of);
            for &definition in &region.definitions {
                live[definition.node()] |= phases & varies(definition);
            }
        }
        if live[node] == 0 {
            continue;
        }
        // A gate of n operands counts n - 1.
        if !network.reads(node).is_empty() {
            count(live[node], -1);
        }
        for &read in network.reads(node) {
            let needed = live[node] & varies(read);
            live[read.node()] |= needed;
            count(needed, 1);
        }
    }
    for (role, legal) in net.legal.iter().enumerate() {
        let inputs = (0..legal.len()).map(|index| net.move_input(role, index));
        let used = inputs.fold(0, |used, input| used | live[network.input(input).node()]);
        for &legal in legal {
            count(
                used & Possible::of(legal, &values).yes,
                CHOICE + LEVEL_BIT * level_bits as i64,
            );
        }
    }
    gates.map(|gates| gates as usize)
}

/// Sets the possible values of all nodes for those of the inputs.
fn propagate(network: &Network, inputs: &[Possible], values: &mut [Possible]) {
    for node in 0..network.len() {
        let of = |literal: Literal| Possible::of(literal, values);
        values[node] = match network.node(node) {
            Node::False => Possible { yes: 0, ..ANY },
            Node::Input(number) => inputs[number],
            Node::Feedback(_) => ANY,
            Node::And(operands) => {
                let both = |a: Possible, b: Possible| Possible {
                    no: a.no | b.no,
                    yes: a.yes & b.yes,
                };
                operands
                    .iter()
                    .map(|&operand| of(operand))
                    .fold(Possible { no: 0, ..ANY }, both)
            }
            Node::Xor(a, b) => {
                let (a, b) = (of(a), of(b));
                Possible {
                    no: a.no & b.no | a.yes & b.yes,
                    yes: a.no & b.yes | a.yes & b.no,
                }
            }
        };
    }
}

/// The phases in which at least one, and at least two, of several conditions hold.
fn one_and_two(conditions: impl Iterator<Item = u16>) -> [u16; 2] {
    conditions.fold([0, 0], |[one, two], now| [one | now, two | one & now])
}
