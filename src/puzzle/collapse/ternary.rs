//! Gates of which some inputs are not known.
//!
//! In: a network and what is known of its inputs. Out: what follows for its
//! nodes. A cycle's feedbacks are never known.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::effects::Readers;
use crate::propnet::network::{Literal, Network, Node};

/// By node: its value, if it is known.
pub(super) struct Ternary<'n> {
    network: &'n Network,
    readers: &'n Readers,
    values: Vec<Option<bool>>,
}

impl<'n> Ternary<'n> {
    /// By input: its value, if it is known.
    pub fn new(network: &'n Network, readers: &'n Readers, known: &[Option<bool>]) -> Self {
        let mut ternary = Ternary {
            network,
            readers,
            values: vec![None; network.len()],
        };
        for node in 0..network.len() {
            ternary.values[node] = match network.node(node) {
                Node::Input(input) => known[input],
                _ => ternary.value(node),
            };
        }
        ternary
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
            Node::And(operands) => operands.iter().try_fold(true, |all, &operand| {
                match self.read(operand) {
                    Some(false) => Err(()),
                    Some(true) => Ok(all),
                    None => Ok(false),
                }
            }).map_or(Some(false), |all| all.then_some(true)),
        }
    }

    /// What follows if these inputs too are known, given to `look`; it is
    /// forgotten then. The result is the number of nodes that became known.
    pub fn suppose(&mut self, inputs: &[(usize, bool)], look: impl FnOnce(&Self, &[usize])) -> usize {
        let mut waiting = BinaryHeap::new();
        let mut learned = Vec::new();
        for &(input, value) in inputs {
            let node = self.network.input(input).node();
            if self.values[node].is_none() {
                self.values[node] = Some(value);
                learned.push(node);
                waiting.extend(self.readers.of(node).iter().map(|&reader| Reverse(reader)));
            }
        }
        while let Some(Reverse(node)) = waiting.pop() {
            while waiting.peek() == Some(&Reverse(node)) {
                waiting.pop();
            }
            let node = node as usize;
            if self.values[node].is_none() && let Some(value) = self.value(node) {
                self.values[node] = Some(value);
                learned.push(node);
                // A feedback may stand before what defines it, and stays unknown.
                waiting.extend(self.readers.of(node).iter().map(|&reader| Reverse(reader)));
            }
        }
        look(self, &learned);
        learned.iter().for_each(|&node| self.values[node] = None);
        learned.len()
    }
}
