//! The cone of a tape: the part of a network between given nodes and outputs.
//!
//! In: a network, given nodes, output literals. Out: the gates between them, and of
//! each cycle only the gates that must be iterated. Gates that do not depend on a
//! feedback come before the loop; gates that no feedback depends on come after it.

use crate::propnet::network::{Literal, Network, Node};

/// Marks a node that is in no loop, or not given.
pub(super) const NONE: u32 = u32::MAX;

/// A cycle as a loop.
#[derive(Clone, Debug, Default)]
pub(super) struct Loop {
    /// Feedback nodes, each with its definition.
    pub feedbacks: Vec<(usize, Literal)>,
    /// The nodes that the loop reads from outside, each once. They are complete
    /// before it begins.
    pub externals: Vec<usize>,
}

/// The nodes to compute.
pub(super) struct Cone<'n> {
    pub network: &'n Network,
    /// By node: the position in the list of given nodes, or [`NONE`].
    pub given: Vec<u32>,
    /// By node: true if an output depends on it other than through given nodes.
    pub reached: Vec<bool>,
    /// By node: the loop that iterates it, or [`NONE`].
    pub loop_of: Vec<u32>,
    pub loops: Vec<Loop>,
}

impl<'n> Cone<'n> {
    pub fn new(
        network: &'n Network,
        given: impl Iterator<Item = usize>,
        outputs: impl Iterator<Item = Literal>,
    ) -> Self {
        let mut cone = Cone {
            network,
            given: vec![NONE; network.len()],
            reached: vec![false; network.len()],
            loop_of: vec![NONE; network.len()],
            loops: Vec::new(),
        };
        for (position, node) in given.enumerate() {
            cone.given[node] = position as u32;
        }
        cone.reach(outputs);
        cone.find_loops();
        cone
    }

    /// True if the node is to be computed, not read.
    #[inline]
    pub fn is_gate(&self, node: usize) -> bool {
        self.network.is_gate(node) && self.given[node] == NONE
    }

    fn reach(&mut self, outputs: impl Iterator<Item = Literal>) {
        let network = self.network;
        let mut definitions = Vec::with_capacity(network.feedbacks());
        for region in network.regions() {
            definitions.extend_from_slice(&region.definitions);
        }
        let mut open: Vec<usize> = outputs.map(Literal::node).collect();
        while let Some(node) = open.pop() {
            if std::mem::replace(&mut self.reached[node], true) || self.given[node] != NONE {
                continue;
            }
            match network.node(node) {
                Node::False => {}
                Node::Input(input) => {
                    panic!(
                        "every input that an output depends on must be given, but {input} is not"
                    )
                }
                Node::Feedback(number) => open.push(definitions[number].node()),
                Node::And(_) | Node::Xor(..) => {
                    open.extend(network.reads(node).iter().map(|operand| operand.node()));
                }
            }
        }
    }

    fn find_loops(&mut self) {
        let network = self.network;
        if network.regions().is_empty() {
            return;
        }
        let mut depends = vec![false; network.len()];
        let mut defines = vec![false; network.len()];
        let mut is_external = vec![NONE; network.len()];
        for region in network.regions() {
            let number = self.loops.len() as u32;
            let mut found = Loop::default();
            for node in region.nodes.clone() {
                if !self.reached[node] || self.given[node] != NONE {
                    continue;
                }
                if let Node::Feedback(feedback) = network.node(node) {
                    let definition = region.definitions[feedback - region.feedbacks.start];
                    found.feedbacks.push((node, definition));
                    depends[node] = true;
                    defines[definition.node()] = true;
                } else {
                    depends[node] = network.reads(node).iter().any(|read| depends[read.node()]);
                }
            }
            for node in region.nodes.clone().rev() {
                let is_inside = depends[node] && defines[node];
                if is_inside && self.is_gate(node) {
                    self.loop_of[node] = number;
                    for operand in network.reads(node) {
                        defines[operand.node()] = true;
                    }
                }
            }
            for &(node, _) in &found.feedbacks {
                self.loop_of[node] = number;
            }
            let read = |node: usize| network.reads(node).iter().map(|operand| operand.node());
            let inside = region.nodes.clone();
            let inside = inside.filter(|&node| self.loop_of[node] == number);
            let defined = found.feedbacks.iter().map(|(_, literal)| literal.node());
            for node in inside.flat_map(read).chain(defined) {
                if self.loop_of[node] != number && is_external[node] != number {
                    is_external[node] = number;
                    found.externals.push(node);
                }
            }
            // Gates outside read the final values of the cycle.
            for node in region.nodes.clone() {
                depends[node] = false;
            }
            if !found.feedbacks.is_empty() {
                self.loops.push(found);
            }
        }
    }
}
