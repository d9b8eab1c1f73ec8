//! The order in which a tape does its work.
//!
//! In: the [`Cone`] to compute. Out: a list of [`Event`]s. A gate of many
//! operands is folded one operand at a time, so that an operand may be used and
//! forgotten before the next one is made.

use crate::propnet::network::Literal;

use super::cone::{Cone, NONE};

/// One piece of work.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Event {
    /// The gate takes in its next operand, which is complete.
    Fold(u32, Literal),
    /// A loop begins.
    Begin(u32),
    /// A loop ends; what its feedbacks become is complete.
    End(u32),
}

enum Frame {
    /// A gate, and how many of its operands are folded.
    Gate(usize, usize),
    /// A loop, and how many of its externals are complete.
    Externals(usize, usize),
    /// A loop that has begun, and how many of its definitions are complete.
    Body(usize, usize),
}

/// Depth first from the outputs, in their order. Of the operands of a gate the
/// one that needs the most room comes first, as then nothing else has to be
/// kept meanwhile.
///
/// Source: Sethi and Ullman, The Generation of Optimal Code for Arithmetic
/// Expressions (1970); here for graphs, hence no longer optimal.
pub(super) fn depth_first(cone: &Cone, outputs: impl Iterator<Item = Literal>) -> Vec<Event> {
    let operands = Operands::by_need(cone);
    let mut events = Vec::new();
    let mut is_done = vec![false; cone.network.len()];
    let mut is_loop_done = vec![false; cone.loops.len()];
    let mut open_loop = NONE;
    let mut stack = Vec::new();
    // What to do first so that the node is complete.
    let visit = |node: usize, is_done: &[bool], open_loop: u32| -> Option<Frame> {
        let its_loop = cone.loop_of[node];
        if is_done[node] {
            None
        } else if its_loop != NONE && its_loop != open_loop {
            Some(Frame::Externals(its_loop as usize, 0))
        } else {
            cone.is_gate(node).then_some(Frame::Gate(node, 0))
        }
    };
    for output in outputs {
        stack.extend(visit(output.node(), &is_done, open_loop));
        while let Some(frame) = stack.pop() {
            match frame {
                Frame::Gate(node, folded) => {
                    let Some(&operand) = operands.of(node).get(folded) else {
                        is_done[node] = true;
                        continue;
                    };
                    if let Some(first) = visit(operand.node(), &is_done, open_loop) {
                        stack.push(Frame::Gate(node, folded));
                        stack.push(first);
                    } else {
                        events.push(Event::Fold(node as u32, operand));
                        stack.push(Frame::Gate(node, folded + 1));
                    }
                }
                Frame::Externals(number, complete) => {
                    if is_loop_done[number] {
                        continue;
                    }
                    if let Some(&node) = cone.loops[number].externals.get(complete) {
                        stack.push(Frame::Externals(number, complete + 1));
                        stack.extend(visit(node, &is_done, open_loop));
                    } else {
                        events.push(Event::Begin(number as u32));
                        open_loop = number as u32;
                        stack.push(Frame::Body(number, 0));
                    }
                }
                Frame::Body(number, complete) => {
                    let feedbacks = &cone.loops[number].feedbacks;
                    if let Some((_, definition)) = feedbacks.get(complete) {
                        stack.push(Frame::Body(number, complete + 1));
                        stack.extend(visit(definition.node(), &is_done, open_loop));
                    } else {
                        events.push(Event::End(number as u32));
                        open_loop = NONE;
                        is_loop_done[number] = true;
                        for &(node, _) in feedbacks {
                            is_done[node] = true;
                        }
                    }
                }
            }
        }
    }
    events
}

/// The operands of every gate of a cone, in an order of our own.
struct Operands {
    starts: Vec<u32>,
    all: Vec<Literal>,
}

impl Operands {
    /// What needs most comes first.
    fn by_need(cone: &Cone) -> Self {
        let network = cone.network;
        let mut starts = Vec::with_capacity(network.len() + 1);
        let mut all: Vec<Literal> = Vec::new();
        // By node: how many values must be kept to compute it, were the network
        // a tree. What is given needs none: it lies in memory anyway.
        let mut need = vec![0u32; network.len()];
        for node in 0..network.len() {
            let start = all.len();
            starts.push(start as u32);
            if !cone.reached[node] || !cone.is_gate(node) {
                continue;
            }
            all.extend_from_slice(network.reads(node));
            let operands = &mut all[start..];
            operands.sort_by_key(|operand| std::cmp::Reverse(need[operand.node()]));
            let first = need[operands[0].node()];
            let second = operands.get(1).map_or(0, |operand| need[operand.node()]);
            need[node] = first.max(second + 1);
        }
        starts.push(all.len() as u32);
        Operands { starts, all }
    }

    fn of(&self, node: usize) -> &[Literal] {
        &self.all[self.starts[node] as usize..self.starts[node + 1] as usize]
    }
}
