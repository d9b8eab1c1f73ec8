//! Logic as a flat array of gates.
//!
//! A [`Network`] has inputs and, in level order, gates. The operands of a gate are
//! earlier nodes, each plain or negated. There is no gate for "not" or "or": an
//! "or" is a negated "and" of negated operands, so De Morgan's laws and double
//! negation need no passes. Where positive recursion in the rules causes a cycle,
//! the cycle is cut at *feedback* nodes. Its gates form a contiguous [`Region`]
//! that is iterated to its least fixpoint.
//!
//! A [`Builder`] makes networks. It folds constants, drops repeated operands and
//! never makes the same gate twice (structural hashing).
//!
//! Source: and-inverter graphs, as in Kuehlmann et al., Robust Boolean Reasoning
//! for Equivalence Checking and Functional Property Verification (2002).

mod builder;

use std::ops::{Not, Range};

use serde::{Deserialize, Serialize};

pub use builder::Builder;

/// A node of one network, or its negation.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Literal(u32);

impl Literal {
    /// The constant false.
    pub const FALSE: Literal = Literal(0);
    /// The constant true.
    pub const TRUE: Literal = Literal(1);

    /// A node, not negated.
    pub fn of(node: usize) -> Self {
        Literal((node as u32) << 1)
    }

    /// The number of the literal among those of all nodes, each followed by its negation.
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }

    /// The literal with this number.
    pub(super) fn at(index: usize) -> Self {
        Literal(index as u32)
    }

    /// The node.
    pub fn node(self) -> usize {
        (self.0 >> 1) as usize
    }

    /// True if the node's value is negated.
    pub fn is_negated(self) -> bool {
        self.0 & 1 == 1
    }

    /// True for [`Literal::FALSE`] and [`Literal::TRUE`].
    pub fn is_constant(self) -> bool {
        self.0 < 2
    }

    /// The literal, negated if `negate` is true.
    #[must_use]
    pub fn negated_if(self, negate: bool) -> Self {
        Literal(self.0 ^ u32::from(negate))
    }
}

impl Not for Literal {
    type Output = Literal;

    fn not(self) -> Literal {
        Literal(self.0 ^ 1)
    }
}

/// A node with its operands.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Node<'n> {
    /// Node 0, the constant false.
    False,
    /// An input, with its number among the inputs.
    Input(usize),
    /// The point where a cycle is cut, with its number among the feedbacks.
    Feedback(usize),
    /// True if all operands are. There are at least two, in ascending order and of
    /// different nodes.
    And(&'n [Literal]),
    /// True if exactly one operand is. Neither operand is negated.
    Xor(Literal, Literal),
}

#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
enum Kind {
    False,
    Input,
    Feedback,
    And,
    Xor,
}

/// The gates of a cycle, evaluated repeatedly until nothing changes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Region {
    /// Its nodes. Regions are disjoint.
    pub nodes: Range<usize>,
    /// The numbers of its feedbacks. They start out false.
    pub feedbacks: Range<usize>,
    /// By feedback: its value in the next round, which includes its previous value.
    pub definitions: Vec<Literal>,
}

/// Gates in level order: the operands of a node precede it, except for the
/// definitions of a [`Region`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Network {
    kinds: Vec<Kind>,
    /// By node: the index of its first operand; the last entry is the number of
    /// operands. Inputs and feedbacks have one operand, their number.
    starts: Vec<u32>,
    operands: Vec<Literal>,
    inputs: usize,
    feedbacks: usize,
    regions: Vec<Region>,
}

impl Network {
    /// The number of nodes. Node 0 is the constant; the inputs follow.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// True if there are no inputs and no gates.
    pub fn is_empty(&self) -> bool {
        self.len() == 1
    }

    /// The number of inputs.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// The number of feedbacks.
    pub fn feedbacks(&self) -> usize {
        self.feedbacks
    }

    /// The literal of an input.
    pub fn input(&self, number: usize) -> Literal {
        debug_assert_eq!(self.node(1 + number), Node::Input(number));
        Literal::of(1 + number)
    }

    /// The cycles, in the order of their nodes.
    pub fn regions(&self) -> &[Region] {
        &self.regions
    }

    /// The definition of a feedback, given its number: its value in the next round.
    pub fn definition(&self, feedback: usize) -> Literal {
        let after = |region: &Region| region.feedbacks.end <= feedback;
        let region = &self.regions[self.regions.partition_point(after)];
        region.definitions[feedback - region.feedbacks.start]
    }

    /// A node with its operands.
    #[inline]
    pub fn node(&self, node: usize) -> Node<'_> {
        let operands = self.operands(node);
        match self.kinds[node] {
            Kind::False => Node::False,
            Kind::Input => Node::Input(operands[0].0 as usize),
            Kind::Feedback => Node::Feedback(operands[0].0 as usize),
            Kind::And => Node::And(operands),
            Kind::Xor => Node::Xor(operands[0], operands[1]),
        }
    }

    /// The size in two-input gates: a gate with n operands counts n - 1.
    pub fn gates(&self) -> usize {
        // Inputs and feedbacks have one operand, the constant has none.
        self.operands.len() + 1 - self.len()
    }

    /// The bytes that the nodes and their operands keep.
    pub fn bytes(&self) -> usize {
        let regions = self.regions.iter();
        let definitions: usize = regions
            .map(|region| 4 * region.definitions.capacity())
            .sum();
        let nodes = self.kinds.capacity() + 4 * self.starts.capacity();
        let operands = 4 * self.operands.capacity();
        nodes + operands + definitions + size_of::<Region>() * self.regions.capacity()
    }

    /// Gives up memory that no node needs.
    pub(super) fn shrink(&mut self) {
        self.kinds.shrink_to_fit();
        self.starts.shrink_to_fit();
        self.operands.shrink_to_fit();
    }

    #[inline]
    pub(super) fn operands(&self, node: usize) -> &[Literal] {
        &self.operands[self.starts[node] as usize..self.starts[node + 1] as usize]
    }

    /// The operands of a gate; empty for other nodes.
    #[inline]
    pub fn reads(&self, node: usize) -> &[Literal] {
        match self.kinds[node] {
            Kind::And | Kind::Xor => self.operands(node),
            _ => &[],
        }
    }

    /// True if the node has operands.
    #[inline]
    pub(super) fn is_gate(&self, node: usize) -> bool {
        matches!(self.kinds[node], Kind::And | Kind::Xor)
    }

    /// The operands of a node that is true if all of them are; `None` for other nodes.
    #[inline]
    pub fn conjunction(&self, node: usize) -> Option<&[Literal]> {
        (self.kinds[node] == Kind::And).then(|| self.operands(node))
    }

    /// The number of an input node; `None` for other nodes.
    #[inline]
    pub fn input_number(&self, node: usize) -> Option<usize> {
        (self.kinds[node] == Kind::Input).then(|| self.operands(node)[0].0 as usize)
    }

    /// The network with its nodes in another order. `place` is the new position of
    /// each node. Operands must be included and come first, and cycles must stay
    /// contiguous.
    pub(super) fn permuted(&self, order: &[usize], place: &[usize]) -> Network {
        let moved =
            |literal: &Literal| Literal::of(place[literal.node()]).negated_if(literal.is_negated());
        let mut network = Network {
            kinds: Vec::with_capacity(order.len()),
            starts: vec![0],
            operands: Vec::new(),
            inputs: self.inputs,
            feedbacks: 0,
            regions: Vec::new(),
        };
        let mut feedbacks = vec![0; self.feedbacks];
        for &node in order {
            let operands = self.operands(node);
            let start = network.operands.len();
            match self.kinds[node] {
                Kind::False => {}
                Kind::Input => network.operands.extend(operands),
                Kind::Feedback => {
                    feedbacks[operands[0].0 as usize] = network.feedbacks;
                    network.operands.push(Literal(network.feedbacks as u32));
                    network.feedbacks += 1;
                }
                Kind::And | Kind::Xor => {
                    network.operands.extend(operands.iter().map(moved));
                    network.operands[start..].sort_unstable();
                }
            }
            network.kinds.push(self.kinds[node]);
            network.starts.push(network.operands.len() as u32);
        }
        let kept = |region: &&Region| {
            let start = region.nodes.start;
            order.get(place[start]) == Some(&start)
        };
        for region in self.regions.iter().filter(kept) {
            let start = place[region.nodes.start];
            let first = feedbacks[region.feedbacks.start];
            network.regions.push(Region {
                nodes: start..start + region.nodes.len(),
                feedbacks: first..first + region.feedbacks.len(),
                definitions: region.definitions.iter().map(moved).collect(),
            });
        }
        network.regions.sort_by_key(|region| region.nodes.start);
        network
    }

    /// The values of all nodes for 64 assignments of the inputs at once: bit `k` of
    /// `inputs[i]` is input `i` of assignment `k`. This is a slow reference
    /// implementation.
    pub fn evaluate(&self, inputs: &[u64]) -> Vec<u64> {
        let mut values = vec![0; self.len()];
        self.update(inputs, &mut values, |_| true);
        values
    }

    /// Updates values that were computed for other inputs. `stale` must be true for
    /// every node that depends on a changed input, and may be true for others. It
    /// must agree on all nodes of a cycle.
    pub fn update(&self, inputs: &[u64], values: &mut [u64], stale: impl Fn(usize) -> bool) {
        let mut regions = self.regions.iter().peekable();
        let mut node = 0;
        while node < self.len() {
            let region = regions.next_if(|region| region.nodes.start == node);
            if !stale(node) {
                node = region.map_or(node + 1, |region| region.nodes.end.max(node + 1));
            } else if let Some(region) = region {
                // The feedbacks are the first nodes of their cycle, in order.
                let mut feedback = vec![0; region.feedbacks.len()];
                let gates = region.nodes.start + feedback.len();
                loop {
                    values[region.nodes.start..gates].copy_from_slice(&feedback);
                    for node in gates..region.nodes.end {
                        values[node] = self.value(node, inputs, values);
                    }
                    let definitions = region.definitions.iter();
                    let mut changed = false;
                    for (feedback, &definition) in feedback.iter_mut().zip(definitions) {
                        let next = read(definition, values);
                        changed |= next != std::mem::replace(feedback, next);
                    }
                    if !changed {
                        break;
                    }
                }
                node = region.nodes.end.max(node + 1);
            } else {
                values[node] = self.value(node, inputs, values);
                node += 1;
            }
        }
    }

    #[inline(always)]
    fn value(&self, node: usize, inputs: &[u64], values: &[u64]) -> u64 {
        let operands = self.operands(node);
        match self.kinds[node] {
            Kind::And => operands
                .iter()
                .fold(u64::MAX, |all, &literal| all & read(literal, values)),
            Kind::Xor => read(operands[0], values) ^ read(operands[1], values),
            Kind::Input => inputs[operands[0].0 as usize],
            Kind::False => 0,
            Kind::Feedback => unreachable!("a feedback belongs to a region"),
        }
    }

    /// By node: true if it depends on any of these inputs.
    pub fn dependent(&self, inputs: Range<usize>) -> Vec<bool> {
        let mut dependent = vec![false; self.len()];
        let mut regions = self.regions.iter().peekable();
        for node in 0..self.len() {
            dependent[node] = match self.node(node) {
                Node::Input(number) => inputs.contains(&number),
                _ => self.reads(node).iter().any(|read| dependent[read.node()]),
            };
            while let Some(region) = regions.next_if(|region| region.nodes.end <= node + 1) {
                let mut definitions = region.definitions.iter();
                if dependent[region.nodes.clone()].contains(&true)
                    || definitions.any(|definition| dependent[definition.node()])
                {
                    dependent[region.nodes.clone()].fill(true);
                }
            }
        }
        dependent
    }
}

/// The value of a literal, given the values of all nodes.
#[inline]
pub fn read(literal: Literal, values: &[u64]) -> u64 {
    values[literal.node()] ^ u64::from(literal.is_negated()).wrapping_neg()
}

#[cfg(test)]
pub(super) mod tests {
    use rand::{Rng, RngExt, SeedableRng};

    use super::*;
    use crate::propnet::rewrite::{live, same_gate, transcribe};

    #[test]
    fn a_transcript_has_the_same_values() {
        for seed in 0..200 {
            let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(seed);
            let (network, roots) = random_network(12, 150, &mut random);
            let live = live(&network, roots.iter().copied());
            let mut builder = Builder::new(12);
            let inputs: Vec<Literal> = (0..12).map(|i| builder.input(i)).collect();
            let became = transcribe(
                &network,
                &live,
                &inputs,
                &mut builder,
                |b, node, operands| same_gate(&network, b, node, operands),
            );
            let words: Vec<u64> = (0..12).map(|_| random.random()).collect();
            let before = network.evaluate(&words);
            let after = builder.network().evaluate(&words);
            for root in roots {
                let new = became[root.node()].negated_if(root.is_negated());
                assert_eq!(read(root, &before), read(new, &after), "seed {seed}");
            }
        }
    }

    /// A random network with cycles, and literals to use as roots.
    pub(in crate::propnet) fn random_network(
        inputs: usize,
        gates: usize,
        random: &mut impl Rng,
    ) -> (Network, Vec<Literal>) {
        let mut builder = Builder::new(inputs);
        let mut made: Vec<Literal> = (0..inputs).map(|i| builder.input(i)).collect();
        let mut cycle: Option<(Vec<Literal>, usize)> = None;
        for number in 0..gates {
            // Gates of a cycle must be monotone in its feedbacks.
            let floor = cycle.as_ref().map_or(made.len(), |(_, floor)| *floor);
            let pick = |random: &mut _| -> Literal {
                let near = made.len().saturating_sub(40);
                let low = if RngExt::random_bool(random, 0.7) {
                    near
                } else {
                    0
                };
                let index = RngExt::random_range(random, low..made.len());
                let negate = index < floor && RngExt::random_bool(random, 0.3);
                made[index].negated_if(negate)
            };
            let count = 2 + random.random_range(0..3usize).pow(2);
            let operands: Vec<Literal> = (0..count).map(|_| pick(random)).collect();
            let gate = match random.random_range(0..5) {
                0 | 1 => builder.and(&operands),
                2 | 3 => builder.or(&operands),
                _ if cycle.is_some() => builder.or(&operands),
                _ => builder.xor(operands[0], operands[1]),
            };
            made.push(gate);
            match &cycle {
                None if random.random_bool(0.02) && number + 30 < gates => {
                    let floor = made.len();
                    let feedbacks = builder.open(random.random_range(1..5));
                    made.extend(&feedbacks);
                    cycle = Some((feedbacks, floor));
                }
                Some((feedbacks, floor)) if random.random_bool(0.05) || number + 1 == gates => {
                    let definitions: Vec<Literal> = feedbacks
                        .iter()
                        .map(|_| match random.random_bool(0.2) {
                            // A feedback may turn out not to be one.
                            true => made[random.random_range(0..made.len())],
                            false => made[random.random_range(*floor..made.len())],
                        })
                        .collect();
                    builder.close(&definitions);
                    cycle = None;
                }
                _ => {}
            }
        }
        if let Some((feedbacks, _)) = cycle {
            builder.close(&feedbacks);
        }
        let roots = (0..20)
            .map(|_| made[random.random_range(0..made.len())].negated_if(random.random_bool(0.5)))
            .collect();
        (builder.network().clone(), roots)
    }
}
