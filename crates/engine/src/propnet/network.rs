//! Logic as a flat array of gates.
//!
//! A [`Network`] has inputs and, in level order, gates whose operands are
//! earlier nodes, each taken as it is or negated. So there is no gate for "not"
//! or "or": an "or" is a negated "and" of negated operands, and De Morgan's laws
//! and double negation need no pass of their own. Where positive recursion of
//! the rules makes a cycle, the cycle is cut at *feedback* nodes and its gates
//! stand together in a [`Region`] that is iterated to its least fixpoint.
//!
//! A [`Builder`] makes networks: it folds constants, drops repeated operands,
//! and never makes the same gate twice (structural hashing).
//!
//! Source: and-inverter graphs, as in Kuehlmann et al., Robust Boolean Reasoning
//! for Equivalence Checking and Functional Property Verification (2002).

mod builder;

use std::ops::{Not, Range};

pub use builder::Builder;

/// A node of one network, or its negation.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Literal(u32);

impl Literal {
    /// Never true.
    pub const FALSE: Literal = Literal(0);
    /// Always true.
    pub const TRUE: Literal = Literal(1);

    /// A node as it is.
    pub fn of(node: usize) -> Self {
        Literal((node as u32) << 1)
    }

    /// The node.
    pub fn node(self) -> usize {
        (self.0 >> 1) as usize
    }

    /// Whether the node's value is to be negated.
    pub fn is_negated(self) -> bool {
        self.0 & 1 == 1
    }

    /// Whether it is [`Literal::FALSE`] or [`Literal::TRUE`].
    pub fn is_constant(self) -> bool {
        self.0 < 2
    }

    /// Itself, or its negation.
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

/// What a node is.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Node<'n> {
    /// Node 0: never true.
    False,
    /// Set from outside; the number counts the inputs.
    Input(usize),
    /// A place where a cycle is cut; the number counts the feedbacks.
    Feedback(usize),
    /// All operands hold. At least two, ascending, of different nodes.
    And(&'n [Literal]),
    /// Exactly one of two holds. Neither operand is negated.
    Xor(Literal, Literal),
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Kind {
    False,
    Input,
    Feedback,
    And,
    Xor,
}

/// Gates of a cycle, evaluated again and again until nothing changes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Region {
    /// Its nodes; no other region shares any.
    pub nodes: Range<usize>,
    /// Its feedbacks by number. They start out false.
    pub feedbacks: Range<usize>,
    /// By feedback: its value in the next round, never less than before.
    pub definitions: Vec<Literal>,
}

/// Gates in level order: a node's operands stand before it, but for what a
/// [`Region`] defines.
#[derive(Clone, Debug)]
pub struct Network {
    kinds: Vec<Kind>,
    /// By node: where its operands start; one more at the end. Inputs and
    /// feedbacks have one operand, their number.
    starts: Vec<u32>,
    operands: Vec<Literal>,
    inputs: usize,
    feedbacks: usize,
    regions: Vec<Region>,
}

impl Network {
    /// Number of nodes. Node 0 is the constant, the inputs follow.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Whether it has no inputs and no gates.
    pub fn is_empty(&self) -> bool {
        self.len() == 1
    }

    /// Number of inputs.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Number of feedbacks.
    pub fn feedbacks(&self) -> usize {
        self.feedbacks
    }

    /// An input.
    pub fn input(&self, number: usize) -> Literal {
        debug_assert_eq!(self.node(1 + number), Node::Input(number));
        Literal::of(1 + number)
    }

    /// The cycles, in the order of their nodes.
    pub fn regions(&self) -> &[Region] {
        &self.regions
    }

    /// A node.
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

    /// Size as two-input gates: a gate with n operands counts n - 1.
    pub fn gates(&self) -> usize {
        // Inputs and feedbacks have one operand, the constant has none.
        self.operands.len() + 1 - self.len()
    }

    #[inline]
    pub(super) fn operands(&self, node: usize) -> &[Literal] {
        &self.operands[self.starts[node] as usize..self.starts[node + 1] as usize]
    }

    /// The nodes that a gate reads; none for other nodes.
    #[inline]
    pub fn reads(&self, node: usize) -> &[Literal] {
        match self.kinds[node] {
            Kind::And | Kind::Xor => self.operands(node),
            _ => &[],
        }
    }

    /// The number of a node that is an input.
    pub fn input_number(&self, node: usize) -> Option<usize> {
        match self.node(node) {
            Node::Input(number) => Some(number),
            _ => None,
        }
    }

    /// Nodes in another order, `place` being their new positions. What is read
    /// must be there and come before, and cycles must stay whole.
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

    /// The values of all nodes, for 64 assignments of the inputs at once: bit
    /// `k` of `inputs[i]` is input `i` of assignment `k`. Slow and obvious.
    pub fn evaluate(&self, inputs: &[u64]) -> Vec<u64> {
        let mut values = vec![0; self.len()];
        self.update(inputs, &mut values, |_| true);
        values
    }

    /// Brings values that were those of other inputs up to date. All nodes that
    /// depend on an input that is another now are stale, and others may be; of a
    /// cycle all nodes or none.
    pub fn update(&self, inputs: &[u64], values: &mut [u64], stale: impl Fn(usize) -> bool) {
        let mut regions = self.regions.iter().peekable();
        let mut node = 0;
        while node < self.len() {
            let region = regions.next_if(|region| region.nodes.start == node);
            if !stale(node) {
                node = region.map_or(node + 1, |region| region.nodes.end.max(node + 1));
            } else if let Some(region) = region {
                let mut feedback = vec![0; region.feedbacks.len()];
                loop {
                    for node in region.nodes.clone() {
                        values[node] = match self.kinds[node] {
                            Kind::Feedback => {
                                feedback[self.operands(node)[0].0 as usize - region.feedbacks.start]
                            }
                            _ => self.value(node, inputs, values),
                        };
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

    #[inline]
    fn value(&self, node: usize, inputs: &[u64], values: &[u64]) -> u64 {
        let operands = self.operands(node);
        match self.kinds[node] {
            Kind::And => operands
                .iter()
                .fold(u64::MAX, |all, &literal| all & read(literal, values)),
            Kind::Xor => read(operands[0], values) ^ read(operands[1], values),
            Kind::Input => inputs[operands[0].0 as usize],
            Kind::False => 0,
            Kind::Feedback => unreachable!("a feedback stands in its region"),
        }
    }

    /// By node: whether it depends on any of these inputs.
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

/// A literal's value, given the values of all nodes.
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

    /// A random network with cycles, and roots to ask for.
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
