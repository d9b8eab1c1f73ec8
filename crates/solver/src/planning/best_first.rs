//! Best-first search over packed states, many at a time.
//!
//! In: a puzzle, an [`Estimate`] and an order in which states are expanded. Out:
//! some plan, a shortest one, or a proof that there is none. Several states are
//! expanded together in lanes, and their successors are estimated in lanes. All
//! moves cost one, so search without an estimate (uniform-cost search) is
//! [`breadth_first`](super::breadth_first::breadth_first()).
//!
//! Source: novelty as BFWS(f2) in Lipovetzky and Geffner, Best-first width search
//! (2017).

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use ggp_engine::propnet::batch::Packed;
use ggp_engine::propnet::code::Engine;
use ggp_search::{Budget, BudgetKind, Compare, KeyMeaning, Meter, Observer, Stats};

use super::estimate::{Estimate, Estimator, NEVER};
use super::expand::states::{Full, States};
use super::expand::{Children, Ends, Expander, Facts, Layout};
use super::{Outcome, Plan, Puzzle, Reason};

/// The order in which states are expanded.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Order {
    /// Greedy best-first search: the least estimate first, and of these the newest
    /// state.
    Greedy,
    /// A*: the least sum of moves made and estimate first. Plans are shortest if
    /// the estimate is admissible.
    AStar,
    /// BFWS(f2): novel states first, which contain a fact that no state with the
    /// same estimate contained before; then greedily.
    Bfws2,
    /// Beam search with the given width: only the best states of each level are
    /// kept. It cannot prove anything.
    Beam(usize),
}

/// Options of [`best_first`].
#[derive(Copy, Clone, Debug)]
pub struct BestFirst {
    /// The order of expansion.
    pub order: Order,
    /// The estimate.
    pub estimate: Estimate,
    /// Maximum number of states expanded together. Not used by [`Order::Beam`].
    pub together: usize,
}

impl BestFirst {
    /// A search that expands the default number of states together.
    pub fn new(order: Order, estimate: Estimate) -> BestFirst {
        BestFirst {
            order,
            estimate,
            together: TOGETHER,
        }
    }
}

/// Number of lanes of the expander.
const LANES: usize = 512;
/// Maximum number of states expanded at once.
const TOGETHER: usize = 64;
/// Searches for a plan of at most [`Budget::depth`] moves.
pub fn best_first(
    puzzle: &Puzzle,
    how: &BestFirst,
    budget: &Budget,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> Outcome {
    let mut meter = Meter::new(budget, stats, observer);
    let layout = Layout::new(puzzle, Facts::Relevant);
    let &BestFirst {
        order, estimate, ..
    } = how;
    let Some(expander) = Expander::new(puzzle, &layout, LANES, Engine::Auto) else {
        return Outcome::Unknown;
    };
    let mut search = Search {
        order,
        together: how.together.max(1),
        is_bound: order == Order::AStar && estimate == Estimate::HMax,
        reopens: order == Order::AStar
            || budget.depth != u32::MAX
            || layout.meaning() == KeyMeaning::EarlierIsBetter,
        depth: budget.depth,
        start: layout.encode(&puzzle.start),
        expander,
        estimator: Estimator::new(puzzle, &layout, estimate, budget.end()),
        states: States::new(layout.key_bits(), budget.memory_bytes / 2),
        nodes: Vec::new(),
        suffixes: Vec::new(),
        queue: Queue::default(),
        seen: FxHashMap::default(),
        most_node_bytes: budget.memory_bytes / 2,
        is_cut: false,
        has_dropped: false,
        state: Packed::new(),
        layout,
    };
    let result = search.run(&mut meter);
    meter.ended(result).unwrap_or(Outcome::Unknown)
}

struct Search {
    layout: Layout,
    order: Order,
    together: usize,
    /// True if the estimate guarantees that the first plan is a shortest one.
    is_bound: bool,
    reopens: bool,
    depth: u32,
    start: Vec<u64>,
    expander: Expander,
    estimator: Estimator,
    states: States,
    /// By state.
    nodes: Vec<Node>,
    /// By depth: the bits outside the key, which all states of that depth share.
    suffixes: Vec<Vec<u64>>,
    queue: Queue,
    /// By estimate: the facts that held in states with it.
    seen: FxHashMap<u16, Vec<u64>>,
    most_node_bytes: u64,
    /// True if the depth limit cut anything off, and true if a beam dropped any state.
    is_cut: bool,
    has_dropped: bool,
    /// Buffer for the novelty test.
    state: Packed,
}

#[derive(Copy, Clone)]
struct Node {
    parent: u32,
    chosen: u32,
    depth: u32,
    estimate: u16,
    end: End,
    is_taken: bool,
}

#[derive(Copy, Clone, PartialEq, Eq)]
enum End {
    Open,
    Dead,
    Solved,
}

/// The parent of the start.
const NO_PARENT: u32 = u32::MAX;

/// States by rank, each with its depth when it was queued. Within a rank, the
/// newest comes first.
#[derive(Default)]
struct Queue {
    ranks: BTreeMap<usize, Vec<(u32, u32)>>,
    len: usize,
}

impl Queue {
    fn push(&mut self, rank: usize, state: u32, depth: u32) {
        self.ranks.entry(rank).or_default().push((state, depth));
        self.len += 1;
    }

    /// The least rank in the queue.
    fn least(&self) -> Option<usize> {
        self.ranks.first_key_value().map(|(&rank, _)| rank)
    }

    /// Removes the newest state of the least rank.
    fn pop(&mut self) -> Option<(u32, u32)> {
        let mut first = self.ranks.first_entry()?;
        let newest = first.get_mut().pop();
        if first.get().is_empty() {
            first.remove();
        }
        self.len -= 1;
        newest
    }

    fn clear(&mut self) {
        self.ranks.clear();
        self.len = 0;
    }
}

impl Search {
    fn run(&mut self, meter: &mut Meter<'_>) -> Result<Outcome, BudgetKind> {
        meter.begin_level(0, Compare::Key);
        let mut children = Children {
            states: self.start.clone(),
            parents: vec![0],
            moves: vec![0],
            ..Children::default()
        };
        let mut parents: Vec<u64> = Vec::new();
        let mut taken = Vec::new();
        let mut solved = self.enter(&children, &[NO_PARENT], meter)?;
        while solved.is_none() {
            solved = self.take(&mut taken, meter)?;
            if solved.is_none() && taken.is_empty() {
                meter.end_level();
                return Ok(self.no_plan());
            }
            for taken in taken.chunks(TOGETHER) {
                parents.clear();
                for &number in taken {
                    let at = parents.len();
                    let depth = self.nodes[number as usize].depth as usize;
                    parents.extend_from_slice(&self.suffixes[depth]);
                    self.states.read(number as usize, &mut parents[at..]);
                }
                self.expander.expand(&parents, &mut children);
                let memory = self.memory()?;
                let arcs = children.len() as u64;
                meter.spend(taken.len() as u64, arcs, self.states.len(), memory)?;
                if solved.is_none() {
                    solved = self.enter(&children, taken, meter)?;
                }
            }
        }
        let solved = solved.expect("the loop ends with one");
        meter.level().counts.solutions += 1;
        meter.end_level();
        Ok(Outcome::Solved {
            plan: self.plan(solved),
            optimal: self.is_bound || solved == 0,
        })
    }

    /// Adds the children of the states taken. Returns a solution that ends the
    /// search, if there is one.
    fn enter(
        &mut self,
        children: &Children,
        taken: &[u32],
        meter: &mut Meter<'_>,
    ) -> Result<Option<u32>, BudgetKind> {
        let stride = self.layout.words();
        let mut known: Vec<(u32, bool)> = Vec::with_capacity(children.len());
        self.states
            .insert_all(&children.states, stride, |_, number, is_new| {
                known.push((number, is_new));
            })
            .map_err(|Full| BudgetKind::Memory)?;
        let first = self.nodes.len();
        let mut new: Vec<u64> = Vec::new();
        for (child, &(number, is_new)) in known.iter().enumerate() {
            let parent = taken[children.parents[child] as usize];
            let before = self.nodes.get(parent as usize);
            let depth = before.map_or(0, |parent| parent.depth + 1);
            let code = &children.states[child * stride..][..stride];
            if is_new {
                if self.suffixes.len() == depth as usize {
                    self.suffixes.push(code.to_vec());
                }
                new.extend_from_slice(code);
                self.nodes.push(Node {
                    parent,
                    chosen: children.moves[child],
                    depth,
                    estimate: 0,
                    end: End::Open,
                    is_taken: false,
                });
                continue;
            }
            meter.level().counts.cycles += 1;
            let node = &mut self.nodes[number as usize];
            if self.reopens && depth < node.depth {
                node.parent = parent;
                node.chosen = children.moves[child];
                node.depth = depth;
                node.is_taken = false;
                // New states are queued below.
                if (number as usize) < first && node.end != End::Dead && depth < self.depth {
                    let rank = self.rank(number, None);
                    self.queue.push(rank, number, depth);
                }
            }
        }
        meter.level().counts.generated += (self.nodes.len() - first) as u64;
        self.value(first, &new, meter)
    }

    /// Evaluates new states and queues them.
    fn value(
        &mut self,
        first: usize,
        new: &[u64],
        meter: &mut Meter<'_>,
    ) -> Result<Option<u32>, BudgetKind> {
        let mut ends = Ends::default();
        self.expander.ends(new, &mut ends);
        let mut estimates = Vec::new();
        for some in new.chunks(TOGETHER * self.layout.words()) {
            let estimated = self.estimator.estimate(some, &mut estimates);
            meter.spend(0, 0, self.states.len(), 0)?;
            estimated.ok_or(BudgetKind::Time)?;
        }
        let stride = self.layout.words();
        for (position, code) in new.chunks(stride).enumerate() {
            let number = first + position;
            let is = |bits: &[u64]| bits[position / 64] >> (position % 64) & 1 == 1;
            let node = &mut self.nodes[number];
            node.estimate = estimates[position];
            node.end = match (is(&ends.solved), is(&ends.over)) {
                (true, _) => End::Solved,
                (_, true) => End::Dead,
                _ => End::Open,
            };
            let Node { end, depth, .. } = *node;
            match end {
                End::Dead => meter.level().counts.dead_leaves += 1,
                End::Solved if !self.is_bound => return Ok(Some(number as u32)),
                End::Open if depth >= self.depth => self.is_cut = true,
                _ => {
                    let rank = self.rank(number as u32, Some(code));
                    self.queue.push(rank, number as u32, depth);
                }
            }
        }
        Ok(None)
    }

    /// The rank of a state; lower ranks are taken first. `code` is given if the
    /// state is new.
    fn rank(&mut self, number: u32, code: Option<&[u64]>) -> usize {
        let node = self.nodes[number as usize];
        let estimate = usize::from(node.estimate);
        match self.order {
            Order::Greedy | Order::Beam(_) => estimate,
            Order::AStar => node.depth as usize + estimate,
            Order::Bfws2 => {
                let is_novel = code.is_some_and(|code| self.is_novel(code, node.estimate));
                estimate + if is_novel { 0 } else { usize::from(NEVER) + 1 }
            }
        }
    }

    /// True if a fact holds that held in no earlier state with the same estimate.
    fn is_novel(&mut self, code: &[u64], estimate: u16) -> bool {
        self.layout.decode(code, &mut self.state);
        let words = self.state.len();
        let seen = (self.seen.entry(estimate)).or_insert_with(|| vec![0; words]);
        let mut is_novel = false;
        for (seen, &word) in seen.iter_mut().zip(&self.state) {
            is_novel |= word & !*seen != 0;
            *seen |= word;
        }
        is_novel
    }

    /// Replaces `taken` by the states to expand next. Returns a solution if it has
    /// the least rank.
    fn take(
        &mut self,
        taken: &mut Vec<u32>,
        meter: &mut Meter<'_>,
    ) -> Result<Option<u32>, BudgetKind> {
        taken.clear();
        let most = match self.order {
            Order::Beam(width) => width,
            _ => self.together,
        };
        let left = usize::try_from(meter.nodes_left()).unwrap_or(usize::MAX);
        let queue = &mut self.queue;
        let rank = queue.least();
        while taken.len() < most {
            if self.order == Order::AStar && queue.least() != rank {
                break;
            }
            let Some((number, depth)) = queue.pop() else {
                break;
            };
            let node = &mut self.nodes[number as usize];
            if node.depth != depth || node.is_taken {
                // The state was queued again or has already been expanded.
                continue;
            }
            if node.end == End::Solved {
                return Ok(Some(number));
            }
            if taken.len() == left {
                return Err(BudgetKind::Nodes);
            }
            node.is_taken = true;
            taken.push(number);
        }
        if let Order::Beam(_) = self.order {
            self.has_dropped |= self.queue.len > 0;
            self.queue.clear();
        } else if taken.is_empty() && self.queue.len > 0 {
            // All states of this rank were queued again.
            return self.take(taken, meter);
        }
        Ok(None)
    }

    fn no_plan(&self) -> Outcome {
        match (self.has_dropped, self.is_cut) {
            (true, _) => Outcome::Unknown,
            (_, true) => Outcome::NoPlanWithin(self.depth),
            _ => Outcome::Unsolvable(Reason::Exhausted {
                positions: self.states.len() as u64,
            }),
        }
    }

    fn plan(&self, mut number: u32) -> Plan {
        let mut plan = Plan::new();
        while self.nodes[number as usize].parent != NO_PARENT {
            let node = self.nodes[number as usize];
            plan.push(node.chosen);
            number = node.parent;
        }
        plan.reverse();
        plan
    }

    /// Approximate memory used, in bytes.
    ///
    /// # Errors
    ///
    /// If the data other than the states exceed their share.
    fn memory(&self) -> Result<u64, BudgetKind> {
        let nodes = self.nodes.len() * size_of::<Node>();
        let queue = self.queue.len * size_of::<(u32, u32)>();
        let seen = self.seen.len() * 8 * self.state.len();
        let bytes = (nodes + queue + seen) as u64;
        if bytes > self.most_node_bytes {
            return Err(BudgetKind::Memory);
        }
        Ok(bytes + self.states.memory())
    }
}
