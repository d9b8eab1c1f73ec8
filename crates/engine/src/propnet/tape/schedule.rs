//! The order of a tape's operations.
//!
//! In: the [`Cone`] to compute. Out: a list of [`Event`]s. A gate of several
//! operands is folded one operand at a time, so that an operand may be used and
//! dropped before the next one is computed.

use std::hash::BuildHasher;

use rustc_hash::{FxBuildHasher, FxHashSet};

use crate::propnet::network::Literal;

use super::cone::{Cone, NONE};

/// One operation of a schedule.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Event {
    /// The gate folds its next operand, which is complete.
    Fold(u32, Literal),
    /// A loop begins.
    Begin(u32),
    /// A loop ends; the definitions of its feedbacks are complete.
    End(u32),
}

enum Frame {
    /// A gate, and the number of its folded operands.
    Gate(u32, u32),
    /// A loop, and the number of its complete externals.
    Externals(u32, u32),
    /// A loop that has begun, and the number of its complete definitions.
    Body(u32, u32),
}

/// The better of two orders: depth-first from the outputs, and the order of the
/// network, which is better if related gates were made together.
///
/// List schedules that prefer gates with operands at their last use were not better
/// than these two and took twice the time.
pub(super) fn schedule(cone: &Cone, outputs: impl Iterator<Item = Literal>) -> Vec<Event> {
    let by_need = Operands::by_need(cone);
    // Sharing must pay off: ordering by need keeps fewer values at a time.
    let is_enough = |shared: usize, all: usize| shared * 50 < all * 49;
    let (least, most) = by_need.bounds();
    let by_readers = is_enough(least, most).then(|| by_need.by_readers(cone));
    let shared = by_readers.filter(|other| is_enough(other.distinct(), by_need.distinct()));
    let operands = shared.unwrap_or(by_need);
    let from_outputs = depth_first(cone, &operands, outputs.map(Literal::node));
    let nodes = (0..cone.network.len()).filter(|&node| cone.reached[node]);
    let in_order = depth_first(cone, &operands, nodes);
    match far_reads(cone, &from_outputs) <= far_reads(cone, &in_order) {
        true => from_outputs,
        false => in_order,
    }
}

/// The number of reads of values that were not touched for a while, so that they
/// are hardly in a register any more. Given nodes do not count, since they are far
/// in any order.
fn far_reads(cone: &Cone, events: &[Event]) -> usize {
    const WHILE: u32 = 64;
    let mut touched = vec![0; cone.network.len()];
    let mut count = 0;
    for (now, &event) in (WHILE..).zip(events) {
        if let Event::Fold(node, operand) = event {
            for node in [node as usize, operand.node()] {
                let last = std::mem::replace(&mut touched[node], now);
                let is_far = last != 0 && now - last > WHILE;
                count += usize::from(is_far && cone.given[node] == NONE);
            }
        }
    }
    count
}

/// Depth-first order from the roots. The operand of a gate that needs the most
/// registers comes first, because no other operand has to be kept meanwhile.
///
/// Source: Sethi and Ullman, The Generation of Optimal Code for Arithmetic
/// Expressions (1970); used for graphs here, hence not optimal.
fn depth_first(cone: &Cone, operands: &Operands, roots: impl Iterator<Item = usize>) -> Vec<Event> {
    let mut events = Vec::with_capacity(operands.all.len() + 2 * cone.loops.len());
    // What is not computed is complete, except for feedbacks.
    let is_complete = |node: usize| !cone.is_gate(node) && cone.loop_of[node] == NONE;
    let mut is_done: Vec<bool> = (0..cone.network.len()).map(is_complete).collect();
    let mut is_loop_done = vec![false; cone.loops.len()];
    let mut open_loop = NONE;
    let mut stack = Vec::new();
    // The frame that completes the node, or `None` if it is complete.
    let visit = |node: usize, is_done: &[bool], open_loop: u32| -> Option<Frame> {
        if is_done[node] {
            return None;
        }
        let its_loop = cone.loop_of[node];
        if its_loop != NONE && its_loop != open_loop {
            return Some(Frame::Externals(its_loop, 0));
        }
        cone.is_gate(node).then_some(Frame::Gate(node as u32, 0))
    };
    for root in roots {
        stack.extend(visit(root, &is_done, open_loop));
        while let Some(frame) = stack.pop() {
            match frame {
                Frame::Gate(node, folded) => {
                    let mut folded = folded;
                    let first = loop {
                        let Some(&operand) = operands.of(node as usize).get(folded as usize) else {
                            is_done[node as usize] = true;
                            break None;
                        };
                        let first = visit(operand.node(), &is_done, open_loop);
                        if first.is_some() {
                            break first;
                        }
                        events.push(Event::Fold(node, operand));
                        folded += 1;
                    };
                    if let Some(first) = first {
                        stack.push(Frame::Gate(node, folded));
                        stack.push(first);
                    }
                }
                Frame::Externals(number, complete) => {
                    let found = &cone.loops[number as usize];
                    if is_loop_done[number as usize] {
                        continue;
                    }
                    if let Some(&node) = found.externals.get(complete as usize) {
                        stack.push(Frame::Externals(number, complete + 1));
                        stack.extend(visit(node, &is_done, open_loop));
                    } else {
                        events.push(Event::Begin(number));
                        open_loop = number;
                        stack.push(Frame::Body(number, 0));
                    }
                }
                Frame::Body(number, complete) => {
                    let feedbacks = &cone.loops[number as usize].feedbacks;
                    if let Some((_, definition)) = feedbacks.get(complete as usize) {
                        stack.push(Frame::Body(number, complete + 1));
                        stack.extend(visit(definition.node(), &is_done, open_loop));
                    } else {
                        events.push(Event::End(number));
                        open_loop = NONE;
                        is_loop_done[number as usize] = true;
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

/// The number of operands from which gates are sampled to count them, and one in how many is.
const MANY_OPERANDS: usize = 200_000;
const SAMPLE_SHARE: u64 = 16;

/// The operands of every gate of a cone, reordered.
struct Operands {
    starts: Vec<u32>,
    all: Vec<Literal>,
}

impl Operands {
    /// Orders operands by the registers that they need, most first.
    fn by_need(cone: &Cone) -> Self {
        let network = cone.network;
        let mut starts = Vec::with_capacity(network.len() + 1);
        let gates = (0..network.len()).filter(|&node| cone.reached[node] && cone.is_gate(node));
        let mut all = Vec::with_capacity(gates.map(|node| network.reads(node).len()).sum());
        // By node: the number of values to keep while it is computed, if the
        // network were a tree. Given nodes need none, since they are in memory.
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

    /// Orders operands by their number of readers, most first. Gates with several
    /// common operands then begin with these, as in a prefix tree, and share their
    /// values.
    ///
    /// Source: Han, Pei and Yin, Mining Frequent Patterns without Candidate
    /// Generation (2000).
    fn by_readers(&self, cone: &Cone) -> Self {
        let mut readers = vec![0u32; 2 * cone.network.len()];
        let index = |literal: &Literal| 2 * literal.node() + usize::from(literal.is_negated());
        for literal in &self.all {
            readers[index(literal)] += 1;
        }
        let mut all = self.all.clone();
        for bounds in self.starts.windows(2) {
            let operands = &mut all[bounds[0] as usize..bounds[1] as usize];
            operands.sort_by_key(|literal| (std::cmp::Reverse(readers[index(literal)]), *literal));
        }
        let starts = self.starts.clone();
        Operands { starts, all }
    }

    /// Bounds of [`Operands::distinct`] for any order.
    fn bounds(&self) -> (usize, usize) {
        let counts = self
            .starts
            .windows(2)
            .map(|bounds| (bounds[1] - bounds[0]) as usize);
        let gates = counts.filter(|&count| count > 0);
        gates.fold((0, 0), |(least, most), count| (least + 1, most + count - 1))
    }

    /// The number of two-input gates, counting those once that gates with the same
    /// first operands share. In large cones this is an estimate, from a sample of these gates.
    fn distinct(&self) -> usize {
        let share = match self.all.len() {
            0..MANY_OPERANDS => 1,
            _ => SAMPLE_SHARE,
        };
        // Gates of two operands differ from each other, so they are counted without
        // being stored.
        let mut pairs = 0;
        // Hashes of lists of first operands. Two lists with one hash would count once.
        let mut known: FxHashSet<u64> = FxHashSet::default();
        for bounds in self.starts.windows(2) {
            let operands = &self.all[bounds[0] as usize..bounds[1] as usize];
            if let [_, _] = operands {
                pairs += 1;
                continue;
            }
            let mut prefix = 0;
            for (folded, &operand) in operands.iter().enumerate() {
                prefix = FxBuildHasher.hash_one((prefix, operand));
                if folded > 0 && prefix.is_multiple_of(share) {
                    known.insert(prefix);
                }
            }
        }
        known.len() * share as usize + pairs
    }

    fn of(&self, node: usize) -> &[Literal] {
        &self.all[self.starts[node] as usize..self.starts[node + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    #[test]
    fn shared_gates_are_counted_and_in_large_cones_estimated() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        for (gates, is_exact) in [(2_000, true), (60_000, false)] {
            let (mut starts, mut all) = (vec![0], Vec::new());
            let (mut lists, mut pairs) = (HashSet::new(), 0);
            for _ in 0..gates {
                let length = random.random_range(0..9usize);
                let operands = (0..length).map(|_| Literal::of(random.random_range(1..6usize)));
                let operands: Vec<Literal> = operands.collect();
                match length {
                    2 => pairs += 1,
                    _ => lists.extend((2..=length).map(|end| operands[..end].to_vec())),
                }
                all.extend(operands);
                starts.push(all.len() as u32);
            }
            let (expected, found) = (lists.len() + pairs, Operands { starts, all }.distinct());
            match is_exact {
                true => assert_eq!(found, expected),
                false => assert!(
                    found.abs_diff(expected) * 50 < expected,
                    "{found}, {expected}"
                ),
            }
        }
    }
}
