//! Depth-first search over packed states, by many workers at once.
//!
//! In: a puzzle. Out: some plan, or a proof that there is none. Each worker tries
//! the moves in an order of its own and goes as deep as it can. All workers share
//! one table of visited states, so no state is entered twice, and each contributes
//! one state to be expanded together. An idle worker takes over the oldest waiting
//! state of the busiest one. After a number of states the search restarts with
//! other orders, at intervals given by Luby's sequence. The order of the rules and
//! its reverse come first, each alone. Dead ends are pruned, as long as enough of
//! them are found. If wanted, the states with the fewest open children come first,
//! and the order of a worker decides between equals.
//!
//! Sources: restarts as in Luby, Sinclair and Zuckerman, Optimal speedup of Las
//! Vegas algorithms (1993); fewest children first as in Pohl, A method for finding
//! Hamilton paths and knight's tours (1967), which is Warnsdorff's rule of 1823.

use std::collections::VecDeque;
use std::sync::Arc;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use ggp_engine::propnet::batch::Packed;
use ggp_engine::propnet::code::Engine;
use ggp_search::{Budget, BudgetKind, Compare, KeyMeaning, Meter, Observer, Stats};

use super::dead_end::DeadEnds;
use super::expand::states::{Full, States};
use super::expand::{Children, Ends, Expander, Facts, Layout};
use super::partial_order::PartialOrder;
use super::{Outcome, Plan, Puzzle, Reason};

/// A detector of states from which no solution can be reached.
pub trait DeadEndDetector {
    /// True if it is certain that no solution can be reached from a state.
    fn is_dead(&mut self, state: &[u64]) -> bool;

    /// Called when the search backtracks from a state without having found a
    /// solution; other workers may still be exploring some of its successors.
    fn stuck(&mut self, state: &[u64]);
}

/// Options of [`depth_first`].
#[derive(Clone, Debug)]
pub struct DepthFirstOptions {
    /// Number of workers, whose states are expanded together; 0 counts as 1.
    pub workers: usize,
    /// Number of states expanded before the first restart.
    pub restart_after: u64,
    /// Seed for the orders of all workers except the first two.
    pub seed: u64,
    /// If given, only the moves that suffice in a state are tried there.
    pub partial_order: Option<Arc<PartialOrder>>,
    /// Whether the children of a state are tried in ascending order of the number of
    /// their own children from which play goes on.
    pub fewest_moves: bool,
}

impl Default for DepthFirstOptions {
    fn default() -> Self {
        DepthFirstOptions {
            workers: 8,
            restart_after: 1 << 16,
            seed: 0,
            partial_order: None,
            fewest_moves: false,
        }
    }
}

/// Number of lanes of the expander.
const LANES: usize = 512;
/// The first two rounds are shorter than the others by this factor.
const SHORT_ROUND: u64 = 8;
/// Number of states checked for dead ends after which the check is given up unless
/// at least one in `CHECKS_PER_DEAD_END` was a dead end.
const MIN_CHECKED: u64 = 2_000;
const CHECKS_PER_DEAD_END: u64 = 30;
/// The most grandchildren that are counted together, unless one state has more.
const MOST_COUNTED: usize = 1 << 16;

/// Searches for a plan of at most [`Budget::depth`] moves. If `dead_end` cut
/// anything off and no plan is found, the outcome is unknown.
///
/// Level `n` of `stats` describes the work between two restarts.
pub fn depth_first(
    puzzle: &Puzzle,
    options: &DepthFirstOptions,
    dead_end: Option<&mut dyn DeadEndDetector>,
    budget: &Budget,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> Outcome {
    let mut meter = Meter::new(budget, stats, observer);
    let facts = match dead_end {
        Some(_) => Facts::All,
        None => Facts::Relevant,
    };
    let layout = Layout::new(puzzle, facts);
    let Some(expander) = Expander::new(puzzle, &layout, LANES, Engine::Auto) else {
        return Outcome::Unknown;
    };
    let mut search = Search {
        start: layout.encode(&puzzle.start),
        expander,
        // The other half is for waiting states and for the path to each state.
        states: States::new(layout.key_bits(), budget.memory_bytes / 2),
        links: Vec::new(),
        workers: Vec::new(),
        waiting: 0,
        is_cut: false,
        is_pruned: false,
        partial_order: options.partial_order.clone(),
        counted_at_once: (options.fewest_moves)
            .then(|| (MOST_COUNTED / puzzle.moves().max(1)).clamp(1, LANES)),
        open_children: Vec::new(),
        detector: DeadEnds::new(puzzle, &layout, LANES, Engine::Auto),
        checked: (0, 0),
        dead_ends: Vec::new(),
        reopens: budget.depth != u32::MAX || layout.meaning() == KeyMeaning::EarlierIsBetter,
        depth: budget.depth,
        state: Packed::new(),
        most_link_bytes: budget.memory_bytes / 2,
        dead_end,
        layout,
    };
    let result = search.run(options, puzzle.moves(), &mut meter);
    meter.ended(result).unwrap_or(Outcome::Unknown)
}

struct Search<'d> {
    layout: Layout,
    expander: Expander,
    start: Vec<u64>,
    states: States,
    /// By state: its predecessor on the shortest known path.
    links: Vec<Link>,
    workers: Vec<Worker>,
    /// Number of waiting states of all workers.
    waiting: usize,
    /// True if the depth limit cut anything off, and true if a dead end did.
    is_cut: bool,
    is_pruned: bool,
    partial_order: Option<Arc<PartialOrder>>,
    /// Number of children whose own children are counted together, if they are.
    counted_at_once: Option<usize>,
    /// By child: number of its open children, see [`Search::count_open_children`];
    /// empty if they are not counted.
    open_children: Vec<u32>,
    /// Checks successors for dead ends, as long as enough are found.
    detector: Option<DeadEnds>,
    /// Number of states checked, and of dead ends among them.
    checked: (u64, u64),
    /// The dead ends among the children, as a bit set.
    dead_ends: Vec<u64>,
    /// True if a state that is reached again with fewer moves is entered again.
    reopens: bool,
    depth: u32,
    dead_end: Option<&'d mut dyn DeadEndDetector>,
    /// Buffer for the dead-end check and for the partial order.
    state: Packed,
    /// Maximum memory for waiting states and paths, in bytes.
    most_link_bytes: u64,
}

#[derive(Copy, Clone)]
struct Link {
    parent: u32,
    chosen: u32,
    depth: u32,
}

/// The parent of the start.
const NO_PARENT: u32 = u32::MAX;

struct Worker {
    /// By move: its position in the worker's order.
    ranks: Vec<u32>,
    /// Waiting states, the next one last.
    waiting: VecDeque<Waiting>,
    /// The codes of the waiting states.
    codes: VecDeque<u64>,
}

#[derive(Copy, Clone)]
enum Waiting {
    /// A state to enter.
    Enter(Link),
    /// A marker: all successors of a state have been entered.
    Leave,
}

/// The result of a search between two restarts.
enum End {
    Solved(Plan),
    Over,
    Restart,
}

impl Search<'_> {
    fn run(
        &mut self,
        options: &DepthFirstOptions,
        moves: usize,
        meter: &mut Meter<'_>,
    ) -> Result<Outcome, BudgetKind> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(options.seed);
        for round in 1.. {
            // The two orders given by the rules are first tried alone and briefly.
            let is_short = options.workers > 1 && round <= 2 && !options.fewest_moves;
            let (workers, restart_after) = match is_short {
                true => (1, options.restart_after / SHORT_ROUND),
                false => (
                    options.workers.max(1) as u64,
                    options.restart_after.saturating_mul(luby(round)),
                ),
            };
            let orders = (0..workers).map(|worker| {
                let mut ranks: Vec<u32> = (0..moves as u32).collect();
                match (round, worker) {
                    (1, 0) => {}
                    (1, 1) | (2, 0) => ranks.reverse(),
                    _ => ranks.shuffle(&mut random),
                }
                Worker {
                    ranks,
                    waiting: VecDeque::new(),
                    codes: VecDeque::new(),
                }
            });
            self.workers = orders.collect();
            self.states.clear();
            self.links.clear();
            self.waiting = 0;
            meter.begin_level(0, Compare::Key);
            let end = self.run_until_restart(restart_after, meter)?;
            meter.end_level();
            match end {
                End::Restart => {}
                End::Solved(plan) => {
                    let optimal = plan.is_empty();
                    return Ok(Outcome::Solved { plan, optimal });
                }
                End::Over if self.is_pruned => return Ok(Outcome::Unknown),
                End::Over if self.is_cut => return Ok(Outcome::NoPlanWithin(self.depth)),
                End::Over => {
                    let positions = self.states.len() as u64;
                    return Ok(Outcome::Unsolvable(Reason::Exhausted { positions }));
                }
            }
        }
        unreachable!("Luby's sequence has no end")
    }

    fn run_until_restart(
        &mut self,
        restart_after: u64,
        meter: &mut Meter<'_>,
    ) -> Result<End, BudgetKind> {
        let stride = self.layout.words();
        let mut ends = Ends::default();
        let mut children = Children::default();
        let mut parents: Vec<u64> = Vec::new();
        let mut entered: Vec<(usize, u32)> = Vec::new();
        let mut spent = 0;
        self.expander.ends(&self.start, &mut ends);
        if ends.solved[0] == 1 {
            return Ok(End::Solved(Plan::new()));
        }
        if self.depth == 0 && ends.over[0] == 0 {
            self.is_cut = true;
            return Ok(End::Over);
        }
        let link = Link {
            parent: NO_PARENT,
            chosen: 0,
            depth: 0,
        };
        self.workers[0].waiting.push_back(Waiting::Enter(link));
        self.workers[0].codes.extend(&self.start);
        self.waiting = 1;
        while spent < restart_after {
            parents.clear();
            entered.clear();
            let most = usize::try_from(meter.nodes_left()).unwrap_or(usize::MAX);
            for worker in 0..self.workers.len().min(most) {
                if let Some(number) = self.enter(worker, &mut parents, meter)? {
                    entered.push((worker, number));
                }
            }
            if entered.is_empty() {
                return if most == 0 {
                    Err(BudgetKind::Nodes)
                } else {
                    Ok(End::Over)
                };
            }
            self.expander.expand(&parents, &mut children);
            spent += entered.len() as u64;
            meter.spend(
                children.open,
                children.len() as u64,
                self.states.len(),
                self.memory()?,
            )?;
            self.expander.ends(&children.states, &mut ends);
            if let Some(child) = ends.first_solved() {
                meter.level().counts.solutions += 1;
                let (_, parent) = entered[children.parents[child] as usize];
                let mut plan = self.plan(parent);
                plan.push(children.moves[child]);
                return Ok(End::Solved(plan));
            }
            self.find_dead_ends(&children.states, meter);
            self.count_open_children(&children.states, meter)?;
            for (position, &(worker, number)) in entered.iter().enumerate() {
                let depth = self.links[number as usize].depth + 1;
                let link = |child: usize| Link {
                    parent: number,
                    chosen: children.moves[child],
                    depth,
                };
                let range = children.starts[position]..children.starts[position + 1];
                let mut open: Vec<usize> = range.map(|child| child as usize).collect();
                if let Some(partial_order) = &self.partial_order {
                    let parent = &parents[position * stride..][..stride];
                    self.layout.decode(parent, &mut self.state);
                    if let Some(enough) = partial_order.sufficient(&self.state) {
                        open.retain(|&child| {
                            let chosen = children.moves[child] as usize;
                            enough[chosen / 64] >> (chosen % 64) & 1 == 1
                        });
                    }
                }
                let dead_ends = &self.dead_ends;
                open.retain(|&child| {
                    let word = dead_ends.get(child / 64).unwrap_or(&0);
                    word >> (child % 64) & 1 == 0
                });
                let (states, links) = (&mut self.states, &mut self.links);
                let mut full = Ok(());
                open.retain(|&child| {
                    let is_over = ends.over[child / 64] >> (child % 64) & 1 == 1;
                    if is_over {
                        let code = &children.states[child * stride..][..stride];
                        let record = |_, _, is_new| {
                            if is_new {
                                links.push(link(child))
                            }
                        };
                        full = full.and(states.insert_all(code, stride, record));
                    }
                    !is_over
                });
                full.map_err(|Full| BudgetKind::Memory)?;
                if depth >= self.depth {
                    self.is_cut |= !open.is_empty();
                    continue;
                }
                let worker = &mut self.workers[worker];
                if self.dead_end.is_some() {
                    worker.waiting.push_back(Waiting::Leave);
                    worker.codes.extend(&parents[position * stride..][..stride]);
                }
                let counts = &self.open_children;
                open.sort_unstable_by_key(|&child| {
                    let rank = worker.ranks[children.moves[child] as usize];
                    std::cmp::Reverse((counts.get(child).copied(), rank))
                });
                for child in open {
                    worker.waiting.push_back(Waiting::Enter(link(child)));
                    worker
                        .codes
                        .extend(&children.states[child * stride..][..stride]);
                    self.waiting += 1;
                }
            }
        }
        Ok(End::Restart)
    }

    fn find_dead_ends(&mut self, states: &[u64], meter: &mut Meter<'_>) {
        self.dead_ends.clear();
        let Some(detector) = &mut self.detector else {
            return;
        };
        detector.dead_ends(states, &mut self.dead_ends);
        let dead_ends: u32 = self.dead_ends.iter().map(|word| word.count_ones()).sum();
        meter.level().counts.dead_leaves += u64::from(dead_ends);
        self.checked.0 += (states.len() / self.layout.words()) as u64;
        self.checked.1 += u64::from(dead_ends);
        if self.checked.0 > MIN_CHECKED && self.checked.1 * CHECKS_PER_DEAD_END < self.checked.0 {
            self.detector = None;
        }
    }

    /// Counts the open children of states, if these decide the order: 0 if one of the
    /// children is solved, and the highest number if all of them are lost.
    fn count_open_children(
        &mut self,
        states: &[u64],
        meter: &mut Meter<'_>,
    ) -> Result<(), BudgetKind> {
        self.open_children.clear();
        let Some(at_once) = self.counted_at_once else {
            return Ok(());
        };
        let (mut children, mut ends) = (Children::default(), Ends::default());
        for some in states.chunks(at_once * self.layout.words()) {
            if (some.len() / self.layout.words()) as u64 > meter.nodes_left() {
                return Err(BudgetKind::Nodes);
            }
            self.expander.expand(some, &mut children);
            self.expander.ends(&children.states, &mut ends);
            meter.spend(
                children.open,
                children.len() as u64,
                self.states.len(),
                self.memory()? + children.memory(),
            )?;
            let is = |bits: &[u64], child: u32| bits[child as usize / 64] >> (child % 64) & 1 == 1;
            let counts = children.starts.windows(2).map(|range| {
                let own = || range[0]..range[1];
                match own().filter(|&child| !is(&ends.over, child)).count() {
                    _ if own().any(|child| is(&ends.solved, child)) => 0,
                    0 => u32::MAX,
                    open => open as u32,
                }
            });
            self.open_children.extend(counts);
        }
        Ok(())
    }

    /// Pops waiting states of a worker until one is new, and returns its number.
    /// Its code is appended to `parents`.
    fn enter(
        &mut self,
        worker: usize,
        parents: &mut Vec<u64>,
        meter: &mut Meter<'_>,
    ) -> Result<Option<u32>, BudgetKind> {
        let stride = self.layout.words();
        loop {
            let link = match self.workers[worker].waiting.pop_back() {
                Some(Waiting::Enter(link)) => link,
                Some(Waiting::Leave) => {
                    self.leave(worker);
                    continue;
                }
                None if self.waiting == 0 => return Ok(None),
                None => {
                    self.take_over(worker);
                    continue;
                }
            };
            self.waiting -= 1;
            let codes = &mut self.workers[worker].codes;
            let at = parents.len();
            parents.extend(codes.range(codes.len() - stride..));
            codes.truncate(codes.len() - stride);
            let (mut number, mut is_new) = (0, false);
            self.states
                .insert_all(&parents[at..], stride, |_, known, new| {
                    (number, is_new) = (known, new);
                })
                .map_err(|Full| BudgetKind::Memory)?;
            let counts = &mut meter.level().counts;
            if is_new {
                self.links.push(link);
            } else if self.reopens && link.depth < self.links[number as usize].depth {
                self.links[number as usize] = link;
            } else {
                counts.cycles += 1;
                parents.truncate(at);
                continue;
            }
            counts.generated += 1;
            if let Some(dead_end) = &mut self.dead_end {
                self.layout.decode(&parents[at..], &mut self.state);
                if dead_end.is_dead(&self.state) {
                    self.is_pruned = true;
                    counts.dead_leaves += 1;
                    parents.truncate(at);
                    continue;
                }
            }
            return Ok(Some(number));
        }
    }

    fn leave(&mut self, worker: usize) {
        let codes = &mut self.workers[worker].codes;
        let code = codes.split_off(codes.len() - self.layout.words());
        self.layout.decode(&Vec::from(code), &mut self.state);
        if let Some(dead_end) = &mut self.dead_end {
            dead_end.stuck(&self.state);
        }
    }

    /// Moves the oldest waiting state of the busiest worker to an idle one.
    fn take_over(&mut self, worker: usize) {
        let stride = self.layout.words();
        let busiest = (self.workers.iter_mut()).max_by_key(|worker| worker.codes.len());
        let busiest = busiest.expect("there are workers");
        while let Some(oldest) = busiest.waiting.pop_front() {
            let code: Vec<u64> = busiest.codes.drain(..stride).collect();
            if let Waiting::Enter(_) = oldest {
                self.workers[worker].waiting.push_back(oldest);
                self.workers[worker].codes.extend(code);
                return;
            }
        }
    }

    fn plan(&self, mut number: u32) -> Plan {
        let mut plan = Plan::new();
        while self.links[number as usize].parent != NO_PARENT {
            let link = self.links[number as usize];
            plan.push(link.chosen);
            number = link.parent;
        }
        plan.reverse();
        plan
    }

    /// Approximate memory used, in bytes.
    ///
    /// # Errors
    ///
    /// If waiting states and paths exceed their share.
    fn memory(&self) -> Result<u64, BudgetKind> {
        let waiting = self.waiting * (8 * self.layout.words() + size_of::<Waiting>());
        let links = self.links.len() * size_of::<Link>();
        let bytes = (waiting + links) as u64;
        if bytes > self.most_link_bytes {
            return Err(BudgetKind::Memory);
        }
        Ok(bytes + self.states.memory())
    }
}

/// Luby's sequence 1, 1, 2, 1, 1, 2, 4, 1, …, counted from 1.
fn luby(number: u64) -> u64 {
    let mut number = number;
    loop {
        let bits = u64::BITS - number.leading_zeros();
        if number == (1 << bits) - 1 {
            return 1 << (bits - 1);
        }
        number -= (1 << (bits - 1)) - 1;
    }
}
