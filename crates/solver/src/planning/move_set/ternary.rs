//! Three-valued evaluation of a network.
//!
//! In: a network and the known values of some inputs. Out: the values that propagate
//! for its nodes. The feedbacks of a cycle are never known.

use super::effects::Readers;
use ggp_engine::propnet::network::{Literal, Network, Node};

/// By node: its value, if known.
pub(super) struct Ternary<'n> {
    network: &'n Network,
    readers: &'n Readers,
    values: Vec<Option<bool>>,
    /// By conjunction: the number of operands not known to be true; [`OTHER`] for
    /// other nodes.
    left: Vec<u32>,
    /// The conjunctions whose number in `left` was lowered by assumptions, once for each time.
    lowered: Vec<u32>,
}

const OTHER: u32 = u32::MAX;

impl<'n> Ternary<'n> {
    /// Evaluates the network; `known` gives the values of the inputs, as far as
    /// known.
    pub fn new(network: &'n Network, readers: &'n Readers, known: &[Option<bool>]) -> Self {
        let mut ternary = Ternary {
            network,
            readers,
            values: vec![None; network.len()],
            left: vec![OTHER; network.len()],
            lowered: Vec::new(),
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

    /// The value of a literal, if known.
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

    /// Assumes further inputs and propagates them. `on_learned` receives the nodes that
    /// became known and may return more inputs to assume; it is then called again.
    /// All assumptions are retracted at the end. The result is the number of nodes
    /// that became known.
    pub fn assume(
        &mut self,
        inputs: Vec<(usize, bool)>,
        mut on_learned: impl FnMut(&Self, &[usize]) -> Vec<(usize, bool)>,
    ) -> usize {
        let mut learned = Vec::new();
        let mut inputs = inputs;
        loop {
            let known = learned.len();
            for (input, value) in inputs {
                self.learn(self.network.input(input).node(), value, &mut learned);
            }
            self.propagate(known, &mut learned);
            inputs = on_learned(self, &learned[known..]);
            if inputs.is_empty() {
                break;
            }
        }
        while let Some(node) = self.lowered.pop() {
            self.left[node as usize] += 1;
        }
        learned.iter().for_each(|&node| self.values[node] = None);
        learned.len()
    }

    /// Propagates from the learned nodes, starting with position `next`.
    fn propagate(&mut self, mut next: usize, learned: &mut Vec<usize>) {
        while let Some(&node) = learned.get(next) {
            next += 1;
            let value = self.values[node];
            for &edge in self.readers.of(node) {
                let reader = edge.node();
                if self.values[reader].is_some() {
                    continue;
                }
                let left = &mut self.left[reader];
                let becomes = if *left == OTHER {
                    self.value(reader)
                } else if value == Some(edge.is_negated()) {
                    Some(false)
                } else {
                    // If no operand is false, the conjunction is true once all
                    // operands are.
                    *left -= 1;
                    self.lowered.push(reader as u32);
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
