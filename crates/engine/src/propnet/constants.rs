//! Constant facts, and moves that are never legal.
//!
//! In: a network. Out: a safe approximation of the values that its facts and moves
//! have in reachable states. Each node is false, true or *either*. The analysis
//! starts from the initial state, in which every legal move may be made. A node
//! changes only from a constant to either, so the cost is one visit per edge.
//!
//! Source: ternary simulation of sequential circuits, as in Bryant, Boolean
//! analysis of MOS circuits (1987), and the latches of ggp-base's networks.

use super::Propnet;
use super::network::{Literal, Network, Node};

/// There is no input.
const NONE: u32 = u32::MAX;

/// The possible values of a node.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Value {
    Never,
    Always,
    Either,
}

/// By input: its value in all reachable states, or `None` if it may change.
pub(super) fn constants(net: &Propnet) -> Vec<Option<bool>> {
    let network = &net.network;
    let mut propagation = Propagation::new(net);
    for (fact, &holds) in net.initial.iter().enumerate() {
        let value = if holds { Value::Always } else { Value::Never };
        propagation.inputs[net.fact_input(fact)] = value;
    }
    propagation.settle(net);
    // By input: the next value of the fact, or the legality of the move.
    let moves = net.legal.iter().flatten();
    let sources: Vec<Literal> = net.next.iter().chain(moves).copied().collect();
    // By node: the first input that it decides; and by input, the next one.
    let mut first = vec![NONE; network.len()];
    let mut following = vec![NONE; sources.len()];
    for (input, source) in sources.iter().enumerate() {
        following[input] = std::mem::replace(&mut first[source.node()], input as u32);
    }
    // Each of them once: many moves may have the same legality.
    let mut changed: Vec<usize> = sources.iter().map(|source| source.node()).collect();
    changed.sort_unstable();
    changed.dedup();
    while let Some(node) = changed.pop() {
        let mut input = first[node];
        while input != NONE {
            let number = input as usize;
            let before = propagation.inputs[number];
            if before != Value::Either && propagation.literal(sources[number]) != before {
                propagation.inputs[number] = Value::Either;
                let node = network.input(number).node();
                propagation.raise(net, node, &mut changed);
            }
            input = following[number];
        }
    }
    propagation
        .inputs
        .iter()
        .map(|value| match value {
            Value::Never => Some(false),
            Value::Always => Some(true),
            Value::Either => None,
        })
        .collect()
}

struct Propagation {
    inputs: Vec<Value>,
    values: Vec<Value>,
    /// By gate: the number of operands that are never true, and that are either.
    never: Vec<u32>,
    either: Vec<u32>,
    /// By node: the gates and definitions that read it.
    starts: Vec<u32>,
    readers: Vec<(u32, bool)>,
}

impl Propagation {
    fn new(net: &Propnet) -> Self {
        let network = &net.network;
        let mut starts = vec![0u32; network.len() + 1];
        for_each_edge(network, |from, _| starts[from.node() + 1] += 1);
        for node in 0..network.len() {
            starts[node + 1] += starts[node];
        }
        let mut next = starts.clone();
        let mut readers = vec![(0, false); starts[network.len()] as usize];
        for_each_edge(network, |from, to| {
            let next = &mut next[from.node()];
            readers[*next as usize] = (to as u32, from.is_negated());
            *next += 1;
        });
        Propagation {
            inputs: vec![Value::Never; network.inputs()],
            values: vec![Value::Never; network.len()],
            never: vec![0; network.len()],
            either: vec![0; network.len()],
            starts,
            readers,
        }
    }

    fn literal(&self, literal: Literal) -> Value {
        negate(self.values[literal.node()], literal.is_negated())
    }

    /// Computes the values of all nodes for the current inputs.
    fn settle(&mut self, net: &Propnet) {
        for node in 0..net.network.len() {
            for read in net.network.reads(node) {
                match self.literal(*read) {
                    Value::Never => self.never[node] += 1,
                    Value::Either => self.either[node] += 1,
                    Value::Always => {}
                }
            }
            self.values[node] = self.value(net, node);
        }
        // A feedback becomes either once its definition may be true.
        let mut changed = Vec::new();
        for region in net.network.regions() {
            for (number, definition) in region.definitions.iter().enumerate() {
                let feedback = region.nodes.start + number;
                if self.literal(*definition) != Value::Never
                    && self.values[feedback] == Value::Never
                {
                    self.raise(net, feedback, &mut changed);
                }
            }
        }
    }

    fn value(&self, net: &Propnet, node: usize) -> Value {
        match net.network.node(node) {
            Node::False => Value::Never,
            Node::Input(number) => self.inputs[number],
            Node::Feedback(_) => self.values[node],
            Node::And(_) if self.never[node] > 0 => Value::Never,
            Node::And(_) if self.either[node] > 0 => Value::Either,
            Node::And(_) => Value::Always,
            Node::Xor(..) if self.either[node] > 0 => Value::Either,
            Node::Xor(..) if self.never[node] == 1 => Value::Always,
            Node::Xor(..) => Value::Never,
        }
    }

    /// Changes a node to either and propagates the change. The changed nodes are
    /// appended to `changed`.
    fn raise(&mut self, net: &Propnet, node: usize, changed: &mut Vec<usize>) {
        let mut open = vec![(node, self.values[node])];
        self.values[node] = Value::Either;
        while let Some((node, before)) = open.pop() {
            changed.push(node);
            let readers = self.starts[node] as usize..self.starts[node + 1] as usize;
            for at in readers {
                let (reader, negated) = self.readers[at];
                let reader = reader as usize;
                if self.values[reader] == Value::Either {
                    continue;
                }
                if let Node::Feedback(_) = net.network.node(reader) {
                    let old = self.values[reader];
                    self.values[reader] = Value::Either;
                    open.push((reader, old));
                    continue;
                }
                if negate(before, negated) == Value::Never {
                    self.never[reader] -= 1;
                }
                self.either[reader] += 1;
                let old = self.values[reader];
                let new = self.value(net, reader);
                if new != old {
                    // The new value can only be either: both values are possible.
                    self.values[reader] = Value::Either;
                    open.push((reader, old));
                }
            }
        }
    }
}

/// Visits what each node and feedback reads.
fn for_each_edge(network: &Network, mut visit: impl FnMut(Literal, usize)) {
    for node in 0..network.len() {
        network
            .reads(node)
            .iter()
            .for_each(|&read| visit(read, node));
    }
    for region in network.regions() {
        // The feedbacks are the first nodes of their cycle, in order.
        for (number, &definition) in region.definitions.iter().enumerate() {
            visit(definition, region.nodes.start + number);
        }
    }
}

fn negate(value: Value, negate: bool) -> Value {
    match (value, negate) {
        (Value::Never, true) => Value::Always,
        (Value::Always, true) => Value::Never,
        _ => value,
    }
}
