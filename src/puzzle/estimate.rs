//! Guesses, from the network alone, of how far states are from a solution.
//!
//! In: states as codes. Out: a number for each. Every gate has two costs, that
//! of making it true and that of making it false: an "and" is true at the cost
//! of all its operands and false at that of the cheapest. The costs of hundreds
//! of states are worked out side by side.
//!
//! Source: the additive estimate and the maximum over delete relaxations as in
//! Bonet and Geffner, Planning as heuristic search (2001); here both values of a
//! fact are kept once reached.

use std::array::from_fn;
use std::sync::Arc;

use multiversion::multiversion;

use crate::propnet::batch::Packed;
use crate::propnet::network::{Literal, Network, Node, Region};
use crate::propnet::rewrite::live;

use super::Puzzle;
use super::expand::Layout;

/// What an estimate counts.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Estimate {
    /// Facts that have to change, wherever all of something are wanted, and the
    /// fewest where any of it is.
    Distance,
    /// Moves, if each fact wanted took moves of its own and nothing were ever
    /// undone.
    Additive,
    /// Moves until the last fact wanted could be there, if nothing were ever
    /// undone. No plan is shorter.
    Latest,
}

/// Works out estimates.
#[derive(Clone, Debug)]
pub struct Estimator {
    estimate: Estimate,
    layout: Layout,
    network: Arc<Network>,
    facts: usize,
    /// By fact; none where nothing depends on it.
    next: Vec<Literal>,
    legal: Vec<Literal>,
    solved: Literal,
    /// Nodes to be worked out: those that legal moves need, then all others.
    stages: [Vec<usize>; 2],
    /// By node: of being true, and of being false.
    costs: Vec<[Costs; 2]>,
    state: Packed,
}

const LANES: usize = 64;

/// By state.
type Costs = [u16; LANES];

/// What can not be had.
pub const NEVER: u16 = u16::MAX;

/// Rounds after which what was not reached counts as far, but not as never.
const ROUNDS: usize = 400;

impl Estimator {
    /// Prepares to estimate states of this layout.
    pub fn new(puzzle: &Puzzle, layout: &Layout, estimate: Estimate) -> Estimator {
        let net = &puzzle.net;
        let legal = net.legal[0].clone();
        let nodes = |roots: &[Literal], but: &[usize]| -> Vec<usize> {
            let live = live(&net.network, roots.iter().copied());
            let gates = 1 + net.network.inputs()..net.network.len();
            let mut is_done = vec![false; net.network.len()];
            but.iter().for_each(|&node| is_done[node] = true);
            gates.filter(|&node| live[node] && !is_done[node]).collect()
        };
        let stages = if estimate == Estimate::Distance {
            [nodes(&[puzzle.solved], &[]), Vec::new()]
        } else {
            let first = nodes(&legal, &[]);
            let all = [&net.next[..], &[puzzle.solved]].concat();
            let second = nodes(&all, &first);
            [first, second]
        };
        Estimator {
            estimate,
            layout: layout.clone(),
            facts: net.facts.len(),
            next: net.next.clone(),
            legal,
            solved: puzzle.solved,
            stages,
            costs: vec![[[0; LANES], [0; LANES]]; net.network.len()],
            network: Arc::new(net.network.clone()),
            state: Packed::new(),
        }
    }

    /// Appends the estimates of states to `out`. [`NEVER`] is certain, but for
    /// [`Estimate::Distance`].
    pub fn estimate(&mut self, states: &[u64], out: &mut Vec<u16>) {
        let stride = self.layout.words();
        for chunk in states.chunks(LANES * stride) {
            let count = chunk.len() / stride;
            self.put(chunk, stride);
            let is_sum = self.estimate != Estimate::Latest;
            if self.estimate == Estimate::Distance {
                self.work_out(0, is_sum);
            } else {
                self.relax(count, is_sum);
            }
            let cost = self.cost(self.solved);
            out.extend(&cost[..count]);
        }
    }

    fn put(&mut self, states: &[u64], stride: usize) {
        let unmet = match self.estimate {
            Estimate::Distance => 1,
            _ => NEVER,
        };
        self.costs[0] = [[NEVER; LANES], [0; LANES]];
        for fact in 0..self.facts {
            self.costs[1 + fact] = [[unmet; LANES], [0; LANES]];
        }
        for (lane, code) in states.chunks(stride).enumerate() {
            self.layout.decode(code, &mut self.state);
            for (group, &word) in self.state.iter().enumerate() {
                let mut word = word;
                while word != 0 {
                    let fact = 64 * group + word.trailing_zeros() as usize;
                    word &= word - 1;
                    self.costs[1 + fact][0][lane] = 0;
                    self.costs[1 + fact][1][lane] = unmet;
                }
            }
        }
    }

    /// Makes moves that can be made, all at once and again and again, until
    /// nothing is cheaper.
    fn relax(&mut self, count: usize, is_sum: bool) {
        for round in 0.. {
            self.work_out(0, is_sum);
            for (number, &legal) in self.legal.iter().enumerate() {
                let cost = self.cost(legal);
                self.costs[1 + self.facts + number] = [cost, [0; LANES]];
            }
            self.work_out(1, is_sum);
            let mut is_better = false;
            let mut cheaper: Vec<(usize, [Costs; 2])> = Vec::new();
            for (fact, &next) in self.next.iter().enumerate() {
                let [now, not_now] = &self.costs[1 + fact];
                let later = [
                    one_more(now, &self.cost(next)),
                    one_more(not_now, &self.cost(!next)),
                ];
                if later != self.costs[1 + fact] {
                    is_better = true;
                    cheaper.push((fact, later));
                }
            }
            if !is_better {
                return;
            }
            if round == ROUNDS {
                // Whatever is not there may be on its way.
                let cost =
                    &mut self.costs[self.solved.node()][usize::from(self.solved.is_negated())];
                for cost in &mut cost[..count] {
                    *cost = (*cost).min(NEVER - 1);
                }
                return;
            }
            for (fact, later) in cheaper {
                self.costs[1 + fact] = later;
            }
        }
    }

    fn work_out(&mut self, stage: usize, is_sum: bool) {
        let nodes = std::mem::take(&mut self.stages[stage]);
        let network = Arc::clone(&self.network);
        let mut regions = network.regions().iter().peekable();
        let mut at = 0;
        while at < nodes.len() {
            let node = nodes[at];
            while regions.next_if(|region| region.nodes.end <= node).is_some() {}
            match regions.next_if(|region| region.nodes.start <= node) {
                Some(region) => {
                    let inside = &nodes[at..];
                    let end = inside.partition_point(|&node| node < region.nodes.end);
                    self.work_out_cycle(region, &inside[..end], is_sum);
                    at += end;
                }
                None => {
                    self.work_out_gate(node, is_sum);
                    at += 1;
                }
            }
        }
        self.stages[stage] = nodes;
    }

    /// From "never" down to the least fixpoint; falsehood costs nothing, as
    /// there is no telling.
    fn work_out_cycle(&mut self, region: &Region, nodes: &[usize], is_sum: bool) {
        let feedback = |number: usize| number - region.feedbacks.start;
        let mut known = vec![[NEVER; LANES]; region.feedbacks.len()];
        loop {
            for &node in nodes {
                match self.network.node(node) {
                    Node::Feedback(number) => {
                        self.costs[node] = [known[feedback(number)], [0; LANES]];
                    }
                    _ => self.work_out_gate(node, is_sum),
                }
            }
            let next: Vec<Costs> = region.definitions.iter().map(|&d| self.cost(d)).collect();
            if next == known {
                return;
            }
            known = next;
        }
    }

    fn work_out_gate(&mut self, node: usize, is_sum: bool) {
        let add = if is_sum { sum } else { larger };
        let costs = match self.network.node(node) {
            Node::And(operands) => {
                let mut all = [[0; LANES], [NEVER; LANES]];
                for &operand in operands {
                    let [is, is_not] = self.both(operand);
                    all = [add(&all[0], is), smaller(&all[1], is_not)];
                }
                all
            }
            Node::Xor(a, b) => {
                let ([a, not_a], [b, not_b]) = (self.both(a), self.both(b));
                [
                    smaller(&add(a, not_b), &add(not_a, b)),
                    smaller(&add(a, b), &add(not_a, not_b)),
                ]
            }
            Node::False | Node::Input(_) | Node::Feedback(_) => return,
        };
        self.costs[node] = costs;
    }

    fn both(&self, literal: Literal) -> [&Costs; 2] {
        let [is, is_not] = &self.costs[literal.node()];
        if literal.is_negated() {
            [is_not, is]
        } else {
            [is, is_not]
        }
    }

    fn cost(&self, literal: Literal) -> Costs {
        *self.both(literal)[0]
    }
}

#[multiversion(targets("x86_64+avx512f+avx512bw", "x86_64+avx2"))]
fn sum(a: &Costs, b: &Costs) -> Costs {
    from_fn(|lane| a[lane].saturating_add(b[lane]))
}

#[multiversion(targets("x86_64+avx512f+avx512bw", "x86_64+avx2"))]
fn larger(a: &Costs, b: &Costs) -> Costs {
    from_fn(|lane| a[lane].max(b[lane]))
}

#[multiversion(targets("x86_64+avx512f+avx512bw", "x86_64+avx2"))]
fn smaller(a: &Costs, b: &Costs) -> Costs {
    from_fn(|lane| a[lane].min(b[lane]))
}

/// The cheaper of what it costs now, and after one more move.
#[multiversion(targets("x86_64+avx512f+avx512bw", "x86_64+avx2"))]
fn one_more(now: &Costs, before: &Costs) -> Costs {
    from_fn(|lane| now[lane].min(before[lane].saturating_add(1)))
}
