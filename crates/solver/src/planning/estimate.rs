//! Guesses, from the network alone, of how far states are from a solution.
//!
//! In: states as codes. Out: a number for each. Every gate has two costs, that
//! of making it true and that of making it false: an "and" is true at the cost
//! of all its operands and false at that of the cheapest. The costs of hundreds
//! of states are worked out side by side.
//!
//! Source: the additive estimate and the maximum over delete relaxations as in
//! Bonet and Geffner, Planning as heuristic search (2001); here both values of a
//! fact are kept once reached. Relaxed plans as in Hoffmann and Nebel, The FF
//! planning system (2001), section 4, with supporters of least additive cost as in
//! Keyder and Geffner, Heuristics for planning with action costs revisited (2008).

mod relaxed_plan;

use std::array::from_fn;
use std::sync::Arc;

use multiversion::multiversion;

use ggp_engine::propnet::batch::{Packed, holds};
use ggp_engine::propnet::network::{Literal, Network, Node, Region, read};
use ggp_engine::propnet::rewrite::live;
use ggp_gdl::terms::TermId;

use super::Puzzle;
use super::effects::Effects;
use super::expand::Layout;
pub use relaxed_plan::RelaxedPlan;
use relaxed_plan::{Walk, asks_moves};

/// What an estimate counts.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Estimate {
    /// Facts that have to change, wherever all of something are wanted, and the
    /// fewest where any of it is.
    GoalCount,
    /// As [`Distance`](Estimate::GoalCount), but facts weigh the more the fewer
    /// moves can change them as wanted: one by their number.
    WeightedGoalCount,
    /// Moves, if each fact wanted took moves of its own and nothing were ever
    /// undone.
    HAdd,
    /// Moves until the last fact wanted could be there, if nothing were ever
    /// undone. No plan is shorter.
    HMax,
    /// Moves that are legal.
    Mobility,
    /// Moves of a plan that reaches all facts wanted if nothing were ever undone.
    RelaxedPlan,
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
    /// What is to come about.
    wanted: Literal,
    /// Nodes to be worked out: those that legal moves need, then all others.
    stages: [Vec<usize>; 2],
    /// By node: of being true, and of being false.
    costs: Vec<[Costs; 2]>,
    /// By fact: what it costs to make it true, and false, where facts have to
    /// change.
    unmet: Vec<[u16; 2]>,
    state: Packed,
    /// By node: whether it depends on moves.
    asks_moves: Vec<bool>,
    walk: Walk,
}

impl Estimate {
    /// Whether it counts facts, and not moves.
    fn is_of_facts(self) -> bool {
        matches!(self, Estimate::GoalCount | Estimate::WeightedGoalCount)
    }
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
        let stages = if estimate.is_of_facts() {
            [nodes(&[wanted], &[]), Vec::new()]
        } else {
            let first = nodes(&legal, &[]);
            let all = [&net.next()[..], &[wanted]].concat();
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
            unmet: match estimate {
                Estimate::GoalCount => vec![[1; 2]; net.facts().len()],
                Estimate::WeightedGoalCount => scarcity(puzzle),
                _ => vec![[NEVER; 2]; net.facts().len()],
            },
            network: Arc::new(net.network().clone()),
            state: Packed::new(),
            asks_moves: asks_moves(net.network(), net.facts().len()),
            walk: Walk::default(),
        }
    }

    /// Appends the estimates of states to `out`. [`NEVER`] is certain, but for
    /// those that count facts.
    pub fn estimate(&mut self, states: &[u64], out: &mut Vec<u16>) {
        self.estimate_with(states, out, |_| {});
    }

    /// The same; `see` is given the plan of each state where there is one, in the
    /// order of the states. Only [`Estimate::RelaxedPlan`] has plans.
    pub fn estimate_with(
        &mut self,
        states: &[u64],
        out: &mut Vec<u16>,
        mut see: impl FnMut(&RelaxedPlan),
    ) {
        let stride = self.layout.words();
        for chunk in states.chunks(LANES * stride) {
            let count = chunk.len() / stride;
            if self.estimate == Estimate::Mobility {
                out.extend(&self.mobility(chunk)[..count]);
                continue;
            }
            self.put(chunk, stride);
            let is_sum = self.estimate != Estimate::HMax;
            if self.estimate.is_of_facts() {
                self.work_out(0, is_sum);
            } else {
                self.relax(count, is_sum);
            }
            let costs = self.cost(self.wanted);
            if self.estimate != Estimate::RelaxedPlan {
                out.extend(&costs[..count]);
                continue;
            }
            for (lane, &cost) in costs.iter().enumerate().take(count) {
                let plan = self.relaxed_plan(lane);
                out.push(match cost {
                    NEVER => NEVER,
                    _ => (plan.moves.len() as u16).min(NEVER - 1),
                });
                see(&plan);
                self.walk.plan = plan;
            }
        }
    }

    fn mobility(&mut self, states: &[u64]) -> Costs {
        let mut inputs: Vec<u64> = vec![0; self.network.inputs()];
        for (lane, code) in states.chunks(self.layout.words()).enumerate() {
            self.layout.decode(code, &mut self.state);
            for (fact, input) in inputs.iter_mut().enumerate().take(self.facts) {
                *input |= u64::from(holds(&self.state, fact)) << lane;
            }
        }
        let values = self.network.evaluate(&inputs);
        let mut moves = [0; LANES];
        for &legal in &self.legal {
            let legal = read(legal, &values);
            for (lane, moves) in moves.iter_mut().enumerate() {
                *moves += (legal >> lane & 1) as u16;
            }
        }
        moves
    }

    fn put(&mut self, states: &[u64], stride: usize) {
        self.costs[0] = [[NEVER; LANES], [0; LANES]];
        for fact in 0..self.facts {
            self.costs[1 + fact] = [[self.unmet[fact][0]; LANES], [0; LANES]];
        }
        for (lane, code) in states.chunks(stride).enumerate() {
            self.layout.decode(code, &mut self.state);
            for (group, &word) in self.state.iter().enumerate() {
                let mut word = word;
                while word != 0 {
                    let fact = 64 * group + word.trailing_zeros() as usize;
                    word &= word - 1;
                    self.costs[1 + fact][0][lane] = 0;
                    self.costs[1 + fact][1][lane] = self.unmet[fact][1];
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
                    &mut self.costs[self.wanted.node()][usize::from(self.wanted.is_negated())];
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

/// What is worth enough points, whether or not it is the end there: the rules of
/// the end say a lot that follows from it. None if there is more than one such
/// value, or it is due from the start.
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

/// What the dearest fact costs, and all of them together, at most.
const DEAREST: f64 = 3600.0;
const ALL_FACTS: f64 = 60_000.0;

/// By fact: what it costs to make it true, and false. What no move does costs
/// least, as it comes by itself or not at all.
fn scarcity(puzzle: &Puzzle) -> Vec<[u16; 2]> {
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
    let dearer = |both: &[u32; 2]| cost(&both[0]).max(cost(&both[1]));
    let all: f64 = moves.iter().map(dearer).sum();
    let scale = DEAREST.min(ALL_FACTS / all.max(1e-9));
    let of = |both: &[u32; 2]| [0, 1].map(|way| (scale * cost(&both[way])).round().max(1.0) as u16);
    moves.iter().map(of).collect()
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
