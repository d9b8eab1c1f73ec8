//! Leaves out of a puzzle what no solution depends on: facts that neither the end, a goal nor a legal move
//! depends on, now or later, and all moves but one that change the other facts alike.
//!
//! In: a puzzle. Out: a puzzle with the same moves, of which more are illegal, and the same facts, of which
//! more are false. Each of its plans is one of the whole puzzle, it has a shortest one, and if it has
//! none, nor has the whole.
//!
//! Source: Clarke, Grumberg, Peled, Model Checking, 1999, section 13.1 (cone of influence reduction).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::Puzzle;
use ggp_engine::propnet::batch::{holds, pack};
use ggp_engine::propnet::network::{Builder, Literal, Network, Node};
use ggp_engine::propnet::rewrite::{copy, live};
use ggp_engine::propnet::{Passes, Propnet};
use ggp_stop::Stop;

/// The most changed gates of all moves, each done alone.
const MOST_CHANGES: usize = 20_000_000;

impl Puzzle {
    /// The puzzle without irrelevant facts and moves; `None` if all are relevant, or the stop comes first.
    pub(crate) fn relevant(&self) -> Option<Puzzle> {
        let stop = &self.stop;
        let relevant = relevant_facts(&self.net, stop)?;
        let kept = |fact: usize| relevant[fact];
        let mut net = Propnet::clone(&self.net);
        net.keep_facts(kept);
        let dropped = relevant.iter().any(|&is_relevant| !is_relevant);
        let repeated = repeated_moves(&net, stop)?;
        if !dropped && repeated.is_empty() {
            return None;
        }
        let facts = net.facts().len();
        net.forbid(0, |chosen| repeated.contains(&chosen));
        let mut builder = Builder::new(net.network().inputs());
        let inputs: Vec<Literal> = (0..net.network().inputs())
            .map(|input| match input.checked_sub(facts) {
                Some(chosen) if repeated.contains(&chosen) => Literal::FALSE,
                None if !kept(input) => Literal::FALSE,
                _ => builder.input(input),
            })
            .collect();
        let live = live(net.network(), net.roots());
        let became = copy(net.network(), &live, &inputs, &mut builder);
        net.rebuilt(builder, &became);
        let start: Vec<bool> = (0..facts)
            .map(|fact| kept(fact) && holds(&self.start, fact))
            .collect();
        net.set_initial(start.clone());
        net.simplify_until(Passes::ALL, stop);
        let reduced = Puzzle::new(net, pack(start), self.target)?;
        (!stop.is_over()).then(|| reduced.until(stop.clone()))
    }
}

/// By fact: whether the end, a goal or a legal move depends on it, now or later. `None` if the stop comes
/// first.
fn relevant_facts(net: &Propnet, stop: &Stop) -> Option<Vec<bool>> {
    let facts = net.facts().len();
    let mut roots: Vec<Literal> = net.legal()[0].clone();
    roots.push(net.terminal());
    roots.extend(net.goals()[0].iter().map(|goal| goal.1));
    let mut relevant = vec![false; facts];
    loop {
        if stop.is_over() {
            return None;
        }
        let live = live(net.network(), roots.iter().copied());
        let found = |fact: &usize| live[net.network().input(net.fact_input(*fact)).node()];
        let fresh: Vec<usize> = (0..facts)
            .filter(|fact| !relevant[*fact] && found(fact))
            .collect();
        if fresh.is_empty() {
            return Some(relevant);
        }
        for fact in fresh {
            relevant[fact] = true;
            roots.push(net.next()[fact]);
        }
    }
}

/// The moves that do the same as one before them whenever they are legal. `None` if the stop comes first.
fn repeated_moves(net: &Propnet, stop: &Stop) -> Option<FxHashSet<usize>> {
    let moves = net.moves()[0].len();
    let mut repeated = FxHashSet::default();
    let Some(mut alone) = Alone::new(net) else {
        return Some(repeated);
    };
    let mut known: FxHashSet<(Literal, Vec<u32>)> = FxHashSet::default();
    let mut work = 0;
    for chosen in 0..moves {
        if stop.is_over() {
            return None;
        }
        let (changed, count) = alone.changed(net.network().input(net.move_input(0, chosen)).node());
        if !known.insert((net.legal()[0][chosen], changed)) {
            repeated.insert(chosen);
        }
        work += count;
        if work > MOST_CHANGES {
            return Some(FxHashSet::default());
        }
    }
    Some(repeated)
}

/// The gates that depend on moves only, as they are where one move is made.
struct Alone<'n> {
    network: &'n Network,
    /// By node: the gates of the kind that read it, negated where they read its negation.
    readers: Vec<Vec<Literal>>,
    /// By node: whether something else reads it.
    is_read: Vec<bool>,
    /// By node: its value without any move, and the number of its operands that are false then.
    values: Vec<bool>,
    falses: Vec<u32>,
}

impl<'n> Alone<'n> {
    /// `None` if the network has cycles.
    fn new(net: &'n Propnet) -> Option<Self> {
        let network = net.network();
        if !network.regions().is_empty() {
            return None;
        }
        let by_facts = network.dependent(0..net.facts().len());
        let live = live(network, net.roots());
        let mut alone = Alone {
            network,
            readers: vec![Vec::new(); network.len()],
            is_read: vec![false; network.len()],
            values: vec![false; network.len()],
            falses: vec![0; network.len()],
        };
        for root in net.roots() {
            alone.is_read[root.node()] = true;
        }
        for node in (0..network.len()).filter(|&node| live[node]) {
            for operand in network.reads(node) {
                if by_facts[node] {
                    alone.is_read[operand.node()] = true;
                } else {
                    let reader = Literal::of(node).negated_if(operand.is_negated());
                    alone.readers[operand.node()].push(reader);
                }
            }
            if !by_facts[node] {
                let value =
                    |literal: &Literal| alone.values[literal.node()] != literal.is_negated();
                let reads = network.reads(node);
                let falses = reads.iter().filter(|operand| !value(operand)).count();
                alone.values[node] = match network.node(node) {
                    Node::And(_) => falses == 0,
                    Node::Xor(..) => falses == 1,
                    _ => false,
                };
                alone.falses[node] = falses as u32;
            }
        }
        Some(alone)
    }

    /// The nodes that others read and whose value changes where one move is made, ascending, and the number of
    /// all nodes that change.
    fn changed(&mut self, input: usize) -> (Vec<u32>, usize) {
        let mut changed = Vec::new();
        let mut count = 0;
        // By gate: the change of the number of its false operands.
        let mut changes: FxHashMap<u32, i32> = FxHashMap::default();
        let mut open = BinaryHeap::from([Reverse(input as u32)]);
        while let Some(Reverse(node)) = open.pop() {
            let at = node as usize;
            if let Some(change) = changes.remove(&node) {
                let falses = self.falses[at].wrapping_add_signed(change);
                let value = match self.network.node(at) {
                    Node::And(_) => falses == 0,
                    _ => falses == 1,
                };
                if value == self.values[at] {
                    continue;
                }
            }
            count += 1;
            if self.is_read[at] {
                changed.push(node);
            }
            for reader in &self.readers[at] {
                let was_true = self.values[at] != reader.is_negated();
                let reader = reader.node() as u32;
                let change = changes.entry(reader).or_insert_with(|| {
                    open.push(Reverse(reader));
                    0
                });
                *change += if was_true { 1 } else { -1 };
            }
        }
        (changed, count)
    }
}
