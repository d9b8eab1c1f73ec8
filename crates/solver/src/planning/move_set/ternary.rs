//! Gates of which some inputs are not known.
//!
//! In: a network and what is known of its inputs. Out: what follows for its
//! nodes. A cycle's feedbacks are never known.

use super::effects::Readers;
use ggp_engine::propnet::network::{Literal, Network, Node};

/// By node: its value, if it is known.
pub(super) struct Ternary<'n> {
    network: &'n Network,
    readers: &'n Readers,
    values: Vec<Option<bool>>,
    /// By conjunction: operands that are not known to be true; [`OTHER`] for other
    /// nodes.
    left: Vec<u32>,
}

const OTHER: u32 = u32::MAX;

impl<'n> Ternary<'n> {
    /// By input: its value, if it is known.
    pub fn new(network: &'n Network, readers: &'n Readers, known: &[Option<bool>]) -> Self {
        let mut ternary = Ternary {
            network,
            readers,
            values: vec![None; network.len()],
            left: vec![OTHER; network.len()],
        };
        for node in 0..network.len() {
            ternary.values[node] = match network.node(node) {
                Node::Input(input) => known[input],
                _ => ternary.value(node),
            };
            if let Node::And(operands) = network.node(node) {
                let open = |operand: &&Literal| ternary.read(**operand) != Some(true);
                ternary.left[node] = operands.iter().filter(open).count() as u32;
            }
        }
        ternary
    }

    /// The same, where what follows from suppositions is looked for among other
    /// readers.
    pub fn reading(self, readers: &'n Readers) -> Self {
        Ternary { readers, ..self }
    }

    /// What is known of a literal.
    pub fn read(&self, literal: Literal) -> Option<bool> {
        self.values[literal.node()].map(|value| value != literal.is_negated())
    }

    fn value(&self, node: usize) -> Option<bool> {
        match self.network.node(node) {
            Node::False => Some(false),
            Node::Input(_) | Node::Feedback(_) => None,
            Node::Xor(a, b) => Some(self.read(a)? != self.read(b)?),
            Node::And(operands) => operands
                .iter()
                .try_fold(true, |all, &operand| match self.read(operand) {
                    Some(false) => Err(()),
                    Some(true) => Ok(all),
                    None => Ok(false),
                })
                .map_or(Some(false), |all| all.then_some(true)),
        }
    }

    /// What follows if these inputs too are known, and those that `look` adds when
    /// it is given the nodes that became known; it looks again then. All is
    /// forgotten at the end. The result is the number of nodes that became known.
    pub fn suppose(
        &mut self,
        inputs: Vec<(usize, bool)>,
        mut look: impl FnMut(&Self, &[usize]) -> Vec<(usize, bool)>,
    ) -> usize {
        let mut learned = Vec::new();
        let mut inputs = inputs;
        loop {
            let known = learned.len();
            for (input, value) in inputs {
                self.learn(self.network.input(input).node(), value, &mut learned);
            }
            self.follow(known, &mut learned);
            inputs = look(self, &learned[known..]);
            if inputs.is_empty() {
                break;
            }
        }
        for &node in &learned {
            for &edge in self.readers.of(node) {
                let left = &mut self.left[edge.node()];
                if *left != OTHER && self.values[node] != Some(edge.is_negated()) {
                    *left += 1;
                }
            }
        }
        learned.iter().for_each(|&node| self.values[node] = None);
        learned.len()
    }

    /// Learns what follows from nodes that were learned, from the `next` on.
    fn follow(&mut self, mut next: usize, learned: &mut Vec<usize>) {
        while let Some(&node) = learned.get(next) {
            next += 1;
            let value = self.values[node];
            for &edge in self.readers.of(node) {
                let reader = edge.node();
                let left = &mut self.left[reader];
                let becomes = if *left == OTHER {
                    self.value(reader)
                } else if value == Some(edge.is_negated()) {
                    Some(false)
                } else {
                    // Without a false operand all have to be true.
                    *left -= 1;
                    (*left == 0).then_some(true)
                };
                if let Some(value) = becomes {
                    self.learn(reader, value, learned);
                }
            }
        }
    }

    fn learn(&mut self, node: usize, value: bool, learned: &mut Vec<usize>) {
        if self.values[node].is_none() {
            self.values[node] = Some(value);
            learned.push(node);
        }
    }
}
