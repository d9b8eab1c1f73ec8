//! Heuristic estimates of the distance to a solution, computed on the network.
//!
//! In: states as codes. Out: an estimate for each. Every node has two costs, for
//! being true and for being false: a conjunction is true at the cost of all its
//! operands and false at the cost of the cheapest one. The costs of many states are
//! computed in parallel lanes.
//!
//! Source: h^add and h^max under delete relaxation as in Bonet and Geffner,
//! Planning as heuristic search (2001). Here facts keep both values once reached.

use ggp_stop::Stop;
use std::array::from_fn;
use std::sync::Arc;

#[cfg(feature = "simd")]
use multiversion::multiversion;

use ggp_engine::propnet::batch::{Packed, holds};
use ggp_engine::propnet::network::{Literal, Network, Node, Region, read};
use ggp_engine::propnet::rewrite::live;
use ggp_gdl::terms::TermId;

use super::Puzzle;
use super::effects::Effects;
use super::expand::Layout;

/// The estimates.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Estimate {
    /// Goal counting: the number of facts that have to change, summed over
    /// conjunctions and minimised over disjunctions.
    GoalCount,
    /// Weighted goal counting: like [`GoalCount`](Estimate::GoalCount), with each
    /// fact weighted by the inverse of the number of moves that can change it as
    /// required.
    WeightedGoalCount,
    /// h^add: the number of moves under delete relaxation if each required fact
    /// takes moves of its own.
    HAdd,
    /// h^max: the number of moves under delete relaxation until the last required
    /// fact can hold. It is a lower bound.
    HMax,
}

/// Computes estimates.
#[derive(Clone, Debug)]
pub struct Estimator {
    estimate: Estimate,
    layout: Layout,
    network: Arc<Network>,
    facts: usize,
    /// By fact: its next value.
    next: Vec<Literal>,
    legal: Vec<Literal>,
    /// The condition to reach.
    wanted: Literal,
    /// The nodes to compute: first those that legality depends on, then all others.
    stages: [Vec<usize>; 2],
    /// By node: the cost of being true, and of being false.
    costs: Vec<[Costs; 2]>,
    /// By fact: the cost of making it true, and of making it false, for estimates
    /// that count facts.
    weights: Vec<[u16; 2]>,
    state: Packed,
    stop: Stop,
}

impl Estimate {
    /// True if the estimate counts facts rather than moves.
    fn counts_facts(self) -> bool {
        matches!(self, Estimate::GoalCount | Estimate::WeightedGoalCount)
    }
}

const LANES: usize = 64;

/// By lane: the state's cost.
type Costs = [u16; LANES];

/// The estimate of a state from which no solution can be reached.
pub const NEVER: u16 = u16::MAX;

/// Number of rounds after which conditions not yet reached count as distant, but
/// not as unreachable.
const ROUNDS: usize = 400;

impl Estimator {
    /// Prepares estimates for states of this layout, until a stop.
    pub fn new(puzzle: &Puzzle, layout: &Layout, estimate: Estimate, stop: Stop) -> Estimator {
        let net = &puzzle.net;
        let legal = net.legal()[0].clone();
        let wanted = match estimate {
            Estimate::HMax => puzzle.solved,
            _ => goal(puzzle).unwrap_or(puzzle.solved),
        };
        let nodes = |roots: &[Literal], but: &[usize]| -> Vec<usize> {
            let live = live(net.network(), roots.iter().copied());
            let gates = 1 + net.network().inputs()..net.network().len();
            let mut is_done = vec![false; net.network().len()];
            but.iter().for_each(|&node| is_done[node] = true);
            gates.filter(|&node| live[node] && !is_done[node]).collect()
        };
        let stages = if estimate.counts_facts() {
            [nodes(&[wanted], &[]), Vec::new()]
        } else {
            let first = nodes(&legal, &[]);
            let all = [net.next(), &[wanted]].concat();
            let second = nodes(&all, &first);
            [first, second]
        };
        Estimator {
            estimate,
            layout: layout.clone(),
            facts: net.facts().len(),
            next: net.next().to_vec(),
            legal,
            wanted,
            stages,
            costs: vec![[[0; LANES], [0; LANES]]; net.network().len()],
            weights: match estimate {
                Estimate::GoalCount => vec![[1; 2]; net.facts().len()],
                Estimate::WeightedGoalCount => weights_by_achievers(puzzle),
                _ => vec![[NEVER; 2]; net.facts().len()],
            },
            network: Arc::new(net.network().clone()),
            state: Packed::new(),
            stop,
        }
    }

    /// Appends the estimates of `states` to `out`. [`NEVER`] is a proof of
    /// unsolvability, except for estimates that count facts. None if the stop ends it: then
    /// some estimates are missing or wrong.
    pub fn estimate(&mut self, states: &[u64], out: &mut Vec<u16>) -> Option<()> {
        let stride = self.layout.words();
        for chunk in states.chunks(LANES * stride) {
            let count = chunk.len() / stride;
            self.load(chunk, stride);
            let is_sum = self.estimate != Estimate::HMax;
            if self.estimate.counts_facts() {
                self.compute(0, is_sum)?;
            } else {
                self.relax(count, is_sum)?;
            }
            let costs = self.cost(self.wanted);
            out.extend(&costs[..count]);
        }
        Some(())
    }

    fn load(&mut self, states: &[u64], stride: usize) {
        self.costs[0] = [[NEVER; LANES], [0; LANES]];
        for fact in 0..self.facts {
            self.costs[1 + fact] = [[self.weights[fact][0]; LANES], [0; LANES]];
        }
        for (lane, code) in states.chunks(stride).enumerate() {
            self.layout.decode(code, &mut self.state);
            for (group, &word) in self.state.iter().enumerate() {
                let mut word = word;
                while word != 0 {
                    let fact = 64 * group + word.trailing_zeros() as usize;
                    word &= word - 1;
                    self.costs[1 + fact][0][lane] = 0;
                    self.costs[1 + fact][1][lane] = self.weights[fact][1];
                }
            }
        }
    }

    /// Applies all legal moves at once, repeatedly, until no cost decreases.
    fn relax(&mut self, count: usize, is_sum: bool) -> Option<()> {
        for round in 0.. {
            if self.stop.is_over() {
                return None;
            }
            self.compute(0, is_sum)?;
            for (number, &legal) in self.legal.iter().enumerate() {
                let cost = self.cost(legal);
                self.costs[1 + self.facts + number] = [cost, [0; LANES]];
            }
            self.compute(1, is_sum)?;
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
                break;
            }
            if round == ROUNDS {
                // The condition might still become reachable.
                let cost =
                    &mut self.costs[self.wanted.node()][usize::from(self.wanted.is_negated())];
                for cost in &mut cost[..count] {
                    *cost = (*cost).min(NEVER - 1);
                }
                break;
            }
            for (fact, later) in cheaper {
                self.costs[1 + fact] = later;
            }
        }
        Some(())
    }

    fn compute(&mut self, stage: usize, is_sum: bool) -> Option<()> {
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
                    if self.compute_cycle(region, &inside[..end], is_sum).is_none() {
                        self.stages[stage] = nodes;
                        return None;
                    }
                    at += end;
                }
                None => {
                    self.compute_gate(node, is_sum);
                    at += 1;
                }
            }
        }
        self.stages[stage] = nodes;
        Some(())
    }

    /// Computes the least fixpoint of a cycle, starting from [`NEVER`]. Falsehood
    /// is assumed to cost nothing.
    fn compute_cycle(&mut self, region: &Region, nodes: &[usize], is_sum: bool) -> Option<()> {
        let feedback = |number: usize| number - region.feedbacks.start;
        let mut known = vec![[NEVER; LANES]; region.feedbacks.len()];
        loop {
            for &node in nodes {
                match self.network.node(node) {
                    Node::Feedback(number) => {
                        self.costs[node] = [known[feedback(number)], [0; LANES]];
                    }
                    _ => self.compute_gate(node, is_sum),
                }
            }
            let next: Vec<Costs> = region.definitions.iter().map(|&d| self.cost(d)).collect();
            if next == known {
                return Some(());
            }
            if self.stop.is_over() {
                return None;
            }
            known = next;
        }
    }

    fn compute_gate(&mut self, node: usize, is_sum: bool) {
        let add = if is_sum { sum } else { larger };
        let costs = match self.network.node(node) {
            Node::And(operands) => {
                let mut all = [[0; LANES], [NEVER; LANES]];
                for &operand in operands {
                    let [is, is_not] = self.both_costs(operand);
                    all = [add(&all[0], is), smaller(&all[1], is_not)];
                }
                all
            }
            Node::Xor(a, b) => {
                let ([a, not_a], [b, not_b]) = (self.both_costs(a), self.both_costs(b));
                [
                    smaller(&add(a, not_b), &add(not_a, b)),
                    smaller(&add(a, b), &add(not_a, not_b)),
                ]
            }
            Node::False | Node::Input(_) | Node::Feedback(_) => return,
        };
        self.costs[node] = costs;
    }

    fn both_costs(&self, literal: Literal) -> [&Costs; 2] {
        let [is, is_not] = &self.costs[literal.node()];
        if literal.is_negated() {
            [is_not, is]
        } else {
            [is, is_not]
        }
    }

    fn cost(&self, literal: Literal) -> Costs {
        *self.both_costs(literal)[0]
    }
}

/// The goal condition for the target score, whether or not the game is over: the
/// terminal condition often adds much that follows from it. None if several goal
/// values reach the target, or if the condition already holds at the start.
fn goal(puzzle: &Puzzle) -> Option<Literal> {
    let net = &puzzle.net;
    let terms = net.terms();
    let is_enough = |&&(value, _): &&(TermId, Literal)| {
        let score = net.game().score(&terms, value);
        score.is_ok_and(|score| score >= puzzle.target)
    };
    let mut enough = net.goals()[0].iter().filter(is_enough);
    let (_, due) = enough.next().filter(|_| enough.next().is_none())?;
    let mut inputs: Vec<u64> = vec![0; net.network().inputs()];
    for (fact, input) in inputs.iter_mut().enumerate().take(net.facts().len()) {
        *input = u64::from(holds(&puzzle.start, fact));
    }
    let is_due = read(*due, &net.network().evaluate(&inputs)) & 1 == 1;
    (!is_due).then_some(*due)
}

/// Largest weight of a single fact, and of all facts together.
const MAX_WEIGHT: f64 = 3600.0;
const MAX_TOTAL_WEIGHT: f64 = 60_000.0;

/// By fact: the weight for making it true, and for making it false. Facts that no
/// move changes weigh least, since they change by themselves or not at all.
fn weights_by_achievers(puzzle: &Puzzle) -> Vec<[u16; 2]> {
    let mut moves = vec![[0u32; 2]; puzzle.net.facts().len()];
    let Some(effects) = Effects::of(puzzle) else {
        return vec![[1; 2]; moves.len()];
    };
    for form in effects.moves.iter().flatten() {
        let mut changes: Vec<(u32, bool)> = form
            .choices
            .iter()
            .flatten()
            .flatten()
            .chain(&form.sure)
            .map(|&(fact, value)| (fact, value < 0))
            .collect();
        changes.sort_unstable();
        changes.dedup();
        for (fact, is_loss) in changes {
            moves[fact as usize][usize::from(is_loss)] += 1;
        }
    }
    let cost = |&moves: &u32| match moves {
        0 => 0.0,
        _ => 1.0 / f64::from(moves),
    };
    let larger_weight = |counts: &[u32; 2]| cost(&counts[0]).max(cost(&counts[1]));
    let all: f64 = moves.iter().map(larger_weight).sum();
    let scale = MAX_WEIGHT.min(MAX_TOTAL_WEIGHT / all.max(1e-9));
    let of = |counts: &[u32; 2]| {
        [0, 1].map(|value| (scale * cost(&counts[value])).round().max(1.0) as u16)
    };
    moves.iter().map(of).collect()
}

#[cfg_attr(
    feature = "simd",
    multiversion(targets("x86_64+avx512f+avx512bw", "x86_64+avx2"))
)]
fn sum(a: &Costs, b: &Costs) -> Costs {
    from_fn(|lane| a[lane].saturating_add(b[lane]))
}

#[cfg_attr(
    feature = "simd",
    multiversion(targets("x86_64+avx512f+avx512bw", "x86_64+avx2"))
)]
fn larger(a: &Costs, b: &Costs) -> Costs {
    from_fn(|lane| a[lane].max(b[lane]))
}

#[cfg_attr(
    feature = "simd",
    multiversion(targets("x86_64+avx512f+avx512bw", "x86_64+avx2"))
)]
fn smaller(a: &Costs, b: &Costs) -> Costs {
    from_fn(|lane| a[lane].min(b[lane]))
}

/// The lower of the current cost and the cost one move later.
#[cfg_attr(
    feature = "simd",
    multiversion(targets("x86_64+avx512f+avx512bw", "x86_64+avx2"))
)]
fn one_more(now: &Costs, before: &Costs) -> Costs {
    from_fn(|lane| now[lane].min(before[lane].saturating_add(1)))
}
