//! Specialisation of a network to one move at a time.

use rustc_hash::FxHashMap;

use super::cube::Cube;
use crate::planning::Puzzle;
use ggp_engine::propnet::Propnet;
use ggp_engine::propnet::network::{Builder, Literal, Network, Node};
use ggp_engine::propnet::rewrite::{live, same_gate, transcribe};
use ggp_stop::Stop;

/// Limit on the number of nodes visited, for all moves together.
const MOST_WORK: usize = 10_000_000;

/// The network as functions of the facts alone.
pub(super) struct Specialiser<'p> {
    net: &'p Propnet,
    builder: Builder,
    /// By node: its function when no move is made.
    base: Vec<Literal>,
    /// By node: the gates that read it, and the feedbacks that it defines.
    readers: Vec<Vec<u32>>,
    /// By node: whether it is part of a cycle.
    cyclic: Vec<bool>,
    /// By node: the facts whose next value is this node or its negation.
    next_of: Vec<Vec<u32>>,
    /// Facts that may change even if no move is made.
    drifting: Vec<usize>,
    /// By node that the current move may change: its function; none in cycles and
    /// in nodes that depend on them.
    became: FxHashMap<usize, Option<Literal>>,
    /// Number of nodes visited.
    work: usize,
    stop: &'p Stop,
}

impl<'p> Specialiser<'p> {
    pub fn new(puzzle: &'p Puzzle) -> Self {
        let net = &puzzle.net;
        let network = net.network();
        let mut roots = net.roots();
        roots.push(puzzle.solved);
        let live = live(network, roots);
        let mut builder = Builder::new(net.facts().len());
        let inputs: Vec<Literal> = (0..network.inputs())
            .map(|input| match input < net.facts().len() {
                true => builder.input(input),
                false => Literal::FALSE,
            })
            .collect();
        let same = |b: &mut Builder, node, operands: &mut Vec<Literal>| {
            same_gate(network, b, node, operands)
        };
        let base = transcribe(network, &live, &inputs, &mut builder, same);
        let mut readers = vec![Vec::new(); network.len()];
        let mut cyclic = vec![false; network.len()];
        for node in (0..network.len()).filter(|&node| live[node]) {
            for operand in network.reads(node) {
                readers[operand.node()].push(node as u32);
            }
        }
        for region in network.regions() {
            cyclic[region.nodes.clone()].fill(true);
            for node in region.nodes.clone() {
                if let Node::Feedback(number) = network.node(node) {
                    let definition = region.definitions[number - region.feedbacks.start];
                    readers[definition.node()].push(node as u32);
                }
            }
        }
        let mut next_of = vec![Vec::new(); network.len()];
        for (fact, next) in net.next().iter().enumerate() {
            next_of[next.node()].push(fact as u32);
        }
        let mut specialiser = Specialiser {
            net,
            builder,
            base,
            readers,
            cyclic,
            next_of,
            drifting: Vec::new(),
            became: FxHashMap::default(),
            work: 0,
            stop: &puzzle.stop,
        };
        specialiser.drifting = (0..net.facts().len())
            .filter(|&fact| {
                let next = specialiser.base(net.next()[fact]);
                next != specialiser.network().input(fact)
            })
            .collect();
        specialiser
    }

    /// The network of the functions.
    pub fn network(&self) -> &Network {
        self.builder.network()
    }

    /// Whether too many nodes were visited, or the stop of the puzzle came.
    pub fn is_over(&self) -> bool {
        self.work > MOST_WORK || self.stop.is_over()
    }

    /// A literal of the puzzle's network when no move is made.
    pub fn base(&self, literal: Literal) -> Literal {
        self.base[literal.node()].negated_if(literal.is_negated())
    }

    /// The facts that may change when a move is made, with their next values; none
    /// where the next value is not known.
    pub fn touched(&mut self, chosen: usize) -> Vec<(usize, Option<Literal>)> {
        let input = self.net.move_input(0, chosen);
        let first = self.net.network().input(input).node();
        self.became.clear();
        self.became.insert(first, Some(Literal::TRUE));
        let mut cone = vec![first];
        let mut at = 0;
        while at < cone.len() {
            for &reader in &self.readers[cone[at]] {
                let reader = reader as usize;
                if self.became.insert(reader, None).is_none() && reader != first {
                    cone.push(reader);
                }
            }
            at += 1;
        }
        cone.sort_unstable();
        self.work += cone.len();
        for &node in &cone[1..] {
            let became = match self.cyclic[node] {
                true => None,
                false => self.gate(node),
            };
            self.became.insert(node, became);
        }
        let facts = cone.iter().flat_map(|&node| &self.next_of[node]);
        let mut facts: Vec<usize> = facts.map(|&fact| fact as usize).collect();
        facts.extend(&self.drifting);
        facts.sort_unstable();
        facts.dedup();
        let next = |fact| (fact, self.now(self.net.next()[fact]));
        facts.into_iter().map(next).collect()
    }

    /// A literal under the current move.
    fn now(&self, literal: Literal) -> Option<Literal> {
        match self.became.get(&literal.node()) {
            Some(became) => became.map(|became| became.negated_if(literal.is_negated())),
            None => Some(self.base(literal)),
        }
    }

    fn gate(&mut self, node: usize) -> Option<Literal> {
        let reads = self.net.network().reads(node);
        let operands: Option<Vec<Literal>> = reads.iter().map(|&one| self.now(one)).collect();
        match (self.net.network().node(node), operands) {
            (_, Some(operands)) => Some(same_gate(
                self.net.network(),
                &mut self.builder,
                node,
                &operands,
            )),
            (Node::And(operands), None) => operands
                .iter()
                .any(|&one| self.now(one) == Some(Literal::FALSE))
                .then_some(Literal::FALSE),
            _ => None,
        }
    }

    /// A function under the known values of a cube. `values` keeps what was found out by node for other
    /// functions under the same cube.
    pub fn under(
        &mut self,
        literal: Literal,
        cube: &Cube,
        values: &mut FxHashMap<usize, Literal>,
    ) -> Literal {
        let mut cone = Vec::new();
        let mut open = vec![literal.node()];
        while let Some(node) = open.pop() {
            if values.contains_key(&node) {
                continue;
            }
            values.insert(node, Literal::of(node));
            let regions = self.network().regions();
            let region = regions.partition_point(|region| region.nodes.end <= node);
            if regions
                .get(region)
                .is_none_or(|region| node < region.nodes.start)
            {
                cone.push(node);
                open.extend(self.network().reads(node).iter().map(|read| read.node()));
            }
        }
        cone.sort_unstable();
        self.work += cone.len();
        for node in cone {
            let read = |one: &Literal| values[&one.node()].negated_if(one.is_negated());
            let became = match self.builder.network().node(node) {
                Node::Input(fact) => match cube.value(fact) {
                    Some(value) => Literal::FALSE.negated_if(value),
                    None => continue,
                },
                Node::And(operands) => {
                    let operands: Vec<Literal> = operands.iter().map(read).collect();
                    self.builder.and(&operands)
                }
                Node::Xor(a, b) => {
                    let (a, b) = (read(&a), read(&b));
                    self.builder.xor(a, b)
                }
                Node::False | Node::Feedback(_) => continue,
            };
            values.insert(node, became);
        }
        values[&literal.node()].negated_if(literal.is_negated())
    }
}
