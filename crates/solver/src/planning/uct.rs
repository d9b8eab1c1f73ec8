//! Monte Carlo tree search for one player, many leaves at a time.
//!
//! In: a puzzle. Out: a plan, or the best end met. Leaves are taken one after the
//! other as if those before had come to nothing good, and lines are played from
//! all of them side by side. A node is worth what its lines come to, half on
//! average and half at best. Nodes all of whose lines were followed to the end
//! are left out.
//!
//! Source: Kocsis and Szepesvári, Bandit based Monte-Carlo planning (2006); the
//! best line beside the mean as in Schadd et al., Single-player Monte-Carlo tree
//! search (2008); Chaslot, Winands and van den Herik, Parallel Monte-Carlo tree
//! search (2008), for leaves taken together.

use super::rollout::{LANES, Policy, Rollouts, Sampling, Start};
use super::{BestSoFar, Outcome, Plan, Puzzle};
use ggp_engine::propnet::batch::Packed;
use ggp_search::{Budget, BudgetKind, Compare, Meter, Observer, Stats};

/// How to search.
#[derive(Clone, Debug)]
pub struct Uct {
    /// What is common to samplings.
    pub sampling: Sampling,
    /// The weight of the exploration term, for values scaled to 0..=1.
    pub exploration: f64,
    /// Leaves taken together: at least 1, at most 512.
    pub leaves: usize,
}

impl Default for Uct {
    fn default() -> Self {
        Uct {
            sampling: Sampling::default(),
            exploration: 0.4,
            leaves: 32,
        }
    }
}

/// Looks for a plan until the budget ends, or the whole tree was seen.
///
/// # Panics
///
/// If the leaves are not as many as they may be.
pub fn uct(
    puzzle: &Puzzle,
    how: &Uct,
    budget: &Budget,
    best: &mut Option<BestSoFar>,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> Outcome {
    assert!((1..=LANES).contains(&how.leaves), "leaves fit into lanes");
    let mut meter = Meter::new(budget, stats, observer);
    let mut rollouts = Rollouts::new(puzzle, &how.sampling, budget);
    let mut tree = Tree {
        nodes: vec![Node::new(NOBODY, 0, puzzle.start.clone())],
        least: i64::MAX,
        most: i64::MIN,
        exploration: how.exploration,
        bytes: 0,
        // Some more leaves are added before they are counted.
        most_bytes: budget.memory_bytes - budget.memory_bytes / 8,
    };
    meter.begin_level(0, Compare::State);
    let outcome = tree.grow(how, &mut rollouts, &mut meter);
    meter.level().counts.generated = tree.nodes.len() as u64;
    meter.end_level();
    *best = rollouts.best.take();
    meter.ended(outcome).unwrap_or(Outcome::Unknown)
}

/// The root has no parent.
const NOBODY: u32 = u32::MAX;

struct Tree {
    nodes: Vec<Node>,
    /// Of all lines.
    least: i64,
    most: i64,
    exploration: f64,
    bytes: u64,
    most_bytes: u64,
}

struct Node {
    parent: u32,
    chosen: u32,
    state: Packed,
    /// Moves that have no node yet; none before they were asked for.
    untried: Option<Vec<u32>>,
    children: Vec<u32>,
    /// Times it was passed, and times it was told what came of it: the sum of
    /// means, and the best of all lines.
    visits: u64,
    returned: u64,
    sum: f64,
    best: i64,
    /// Whether all lines from here were seen.
    is_done: bool,
}

impl Node {
    fn new(parent: u32, chosen: u32, state: Packed) -> Node {
        Node {
            parent,
            chosen,
            state,
            untried: None,
            children: Vec::new(),
            visits: 0,
            returned: 0,
            sum: 0.0,
            best: i64::MIN,
            is_done: false,
        }
    }
}

impl Tree {
    fn grow(
        &mut self,
        how: &Uct,
        rollouts: &mut Rollouts,
        meter: &mut Meter<'_>,
    ) -> Result<Outcome, BudgetKind> {
        let mut leaves = vec![0];
        loop {
            self.expand(&leaves, rollouts);
            // From an end there is but one line.
            let open = leaves
                .iter()
                .filter(|&&leaf| !self.nodes[leaf as usize].is_done);
            let open = open.count();
            let share = (LANES - (leaves.len() - open)) / open.max(1);
            let mut starts: Vec<Start> = Vec::with_capacity(LANES);
            let mut ends = Vec::with_capacity(leaves.len());
            for &leaf in &leaves {
                let node = &self.nodes[leaf as usize];
                let start = Start {
                    state: node.state.clone(),
                    plan: self.way(leaf),
                };
                let lines = if node.is_done { 1 } else { share };
                starts.resize(starts.len() + lines, start);
                ends.push(starts.len());
            }
            if let Some(plan) = rollouts.play(&starts, &Policy::Uniform, meter)? {
                let optimal = plan.is_empty();
                return Ok(Outcome::Solved { plan, optimal });
            }
            let values: Vec<i64> = rollouts.lines().iter().map(|line| line.value).collect();
            let mut first = 0;
            for (&leaf, end) in leaves.iter().zip(ends) {
                self.back_up(leaf, &values[first..end]);
                first = end;
            }
            for &leaf in &leaves {
                self.close(leaf);
            }
            if self.nodes[0].is_done {
                return Ok(Outcome::Unknown);
            }
            meter.record(self.nodes.len(), self.bytes);
            self.select(how.leaves, rollouts, &mut leaves);
        }
    }

    /// Asks for the legal moves of new leaves.
    fn expand(&mut self, leaves: &[u32], rollouts: &mut Rollouts) {
        let states: Vec<Packed> = leaves
            .iter()
            .map(|&leaf| self.nodes[leaf as usize].state.clone())
            .collect();
        for (&leaf, legal) in leaves.iter().zip(rollouts.legal(&states)) {
            let depth = self.way(leaf).len();
            let node = &mut self.nodes[leaf as usize];
            // Where a limit ends lines, all that can be seen is.
            node.is_done = legal.is_empty() || depth >= rollouts.limit;
            if node.untried.is_none() {
                self.bytes += (size_of::<Node>() + 8 * node.state.len() + 8 * legal.len()) as u64;
                node.untried = Some(legal);
            }
        }
    }

    /// Replaces `leaves` by new nodes; by old ones where there is no room.
    fn select(&mut self, most: usize, rollouts: &mut Rollouts, leaves: &mut Vec<u32>) {
        leaves.clear();
        let is_full = self.bytes >= self.most_bytes;
        let (mut parents, mut moves) = (Vec::new(), Vec::new());
        while leaves.len() < most {
            let mut at = 0;
            let chosen = loop {
                let node = &mut self.nodes[at as usize];
                node.visits += 1;
                let untried = node.untried.as_mut().filter(|_| !is_full);
                if let Some(chosen) = untried.and_then(Vec::pop) {
                    break Some(chosen);
                }
                match self.child(at) {
                    Some(child) => at = child,
                    None => break None,
                }
            };
            let Some(chosen) = chosen else {
                // A leaf of this turn, or of a full tree.
                if is_full && !leaves.contains(&at) {
                    leaves.push(at);
                    continue;
                }
                break;
            };
            let child = self.nodes.len() as u32;
            parents.push(self.nodes[at as usize].state.clone());
            moves.push(chosen as usize);
            self.nodes[at as usize].children.push(child);
            self.nodes.push(Node::new(at, chosen, Packed::new()));
            self.nodes[child as usize].visits = 1;
            leaves.push(child);
        }
        let fresh = self.nodes.len() - parents.len();
        let states = rollouts.step(&parents, &moves);
        for (node, state) in self.nodes[fresh..].iter_mut().zip(states) {
            node.state = state;
        }
    }

    /// The most promising child whose lines were not all seen.
    fn child(&self, at: u32) -> Option<u32> {
        let node = &self.nodes[at as usize];
        let log = (node.visits.max(1) as f64).ln();
        let scale = (self.most - self.least).max(1) as f64;
        let open = node.children.iter().copied();
        let open = open.filter(|&child| !self.nodes[child as usize].is_done);
        let promise = |child: u32| {
            let child = &self.nodes[child as usize];
            let visits = child.visits.max(1) as f64;
            let value = match child.best {
                i64::MIN => 0.0,
                best => {
                    let best = (best - self.least) as f64;
                    let sum = child.sum - child.returned as f64 * self.least as f64;
                    (best + sum / visits) / (2.0 * scale)
                }
            };
            value + self.exploration * (log / visits).sqrt()
        };
        let ranked = open.map(|child| (promise(child), child));
        let best = ranked.reduce(|a, b| if b.0 > a.0 { b } else { a });
        best.map(|(_, child)| child)
    }

    /// Tells all on the way what lines from a leaf came to.
    fn back_up(&mut self, leaf: u32, values: &[i64]) {
        let best = values.iter().copied().max().expect("each leaf has lines");
        let least = values.iter().copied().min().expect("each leaf has lines");
        let mean = values.iter().sum::<i64>() as f64 / values.len() as f64;
        self.most = self.most.max(best);
        self.least = self.least.min(least);
        let mut at = leaf;
        while let Some(node) = self.nodes.get_mut(at as usize) {
            node.returned += 1;
            node.sum += mean;
            node.best = node.best.max(best);
            at = node.parent;
        }
    }

    /// Marks what is done because a leaf is.
    fn close(&mut self, leaf: u32) {
        let mut at = leaf;
        while let Some(node) = self.nodes.get(at as usize) {
            let mut children = node.children.iter();
            let is_done = node.is_done
                || node.untried.as_ref().is_some_and(Vec::is_empty)
                    && children.all(|&child| self.nodes[child as usize].is_done);
            if !is_done {
                return;
            }
            let node = &mut self.nodes[at as usize];
            node.is_done = true;
            at = node.parent;
        }
    }

    fn way(&self, mut at: u32) -> Plan {
        let mut plan = Plan::new();
        while self.nodes[at as usize].parent != NOBODY {
            plan.push(self.nodes[at as usize].chosen);
            at = self.nodes[at as usize].parent;
        }
        plan.reverse();
        plan
    }
}
