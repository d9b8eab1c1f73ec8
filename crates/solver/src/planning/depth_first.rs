//! Depth-first search over packed states, by many divers at once.
//!
//! In: a puzzle. Out: some plan, or the proof that there is none. Each diver
//! tries moves in an order of its own and goes down as far as it can; all share
//! one table, so that none enters what another has entered, and take a state
//! each to be expanded together. One that is done takes over the oldest state
//! that waits with the busiest. After some states all is begun again with other
//! orders, sooner or later as in Luby's sequence; the order of the rules and its
//! reverse come first, each alone. States from which something needed can never
//! be had are left out, as long as there are some.
//!
//! Source: restarts as in Luby, Sinclair and Zuckerman, Optimal speedup of Las
//! Vegas algorithms (1993).

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

/// What knows states from which no solution can be reached.
pub trait DeadEndDetector {
    /// Whether it is certain that no solution can be reached from a state.
    fn is_dead(&mut self, state: &[u64]) -> bool;

    /// The search came back from a state without a solution, and may have left
    /// to others some of what follows it.
    fn stuck(&mut self, state: &[u64]);
}

/// How to dive.
#[derive(Clone, Debug)]
pub struct DepthFirstOptions {
    /// States expanded at once; 0 counts as 1.
    pub divers: usize,
    /// States expanded before the first restart.
    pub patience: u64,
    /// Chooses the orders of all but the first two.
    pub seed: u64,
    /// What is known of moves that commute: only those that are enough in a
    /// state are tried there.
    pub commuting: Option<Arc<PartialOrder>>,
}

impl Default for DepthFirstOptions {
    fn default() -> Self {
        DepthFirstOptions {
            divers: 8,
            patience: 1 << 16,
            seed: 0,
            commuting: None,
        }
    }
}

/// Lanes of the expander.
const LANES: usize = 512;
/// The share of the states of a round that the first two have.
const SHORT: u64 = 8;
/// States looked at for whether they are lost, after which one in so many must
/// have been.
const LOOKS: u64 = 2_000;
const WORTH: u64 = 30;

/// Looks for a plan of at most [`Budget::depth`] moves. Without a plan, what
/// `dead_end` has cut off is no proof: the outcome is unknown then.
///
/// Level `n` of `stats` holds what was done between restarts.
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
    let mut search = Search {
        start: layout.encode(&puzzle.start),
        expander: Expander::new(puzzle, &layout, LANES, Engine::Auto),
        // The other half is for what waits, and the way to each state.
        states: States::new(layout.key_bits(), budget.memory_bytes / 2),
        ways: Vec::new(),
        divers: Vec::new(),
        waiting: 0,
        is_cut: false,
        was_dead: false,
        commuting: options.commuting.clone(),
        relaxed: DeadEnds::new(puzzle, &layout, LANES, Engine::Auto),
        looked: (0, 0),
        lost: Vec::new(),
        reopens: budget.depth != u32::MAX || layout.meaning() == KeyMeaning::EarlierIsBetter,
        depth: budget.depth,
        state: Packed::new(),
        most_beside: budget.memory_bytes / 2,
        dead_end,
        layout,
    };
    let came = search.run(options, puzzle.moves(), &mut meter);
    meter.ended(came).unwrap_or(Outcome::Unknown)
}

struct Search<'d> {
    layout: Layout,
    expander: Expander,
    start: Vec<u64>,
    states: States,
    /// By state: how it was reached with the fewest moves.
    ways: Vec<Way>,
    divers: Vec<Diver>,
    /// States that wait with all divers.
    waiting: usize,
    /// Whether the depth limit cut anything off; whether a dead end did.
    is_cut: bool,
    was_dead: bool,
    commuting: Option<Arc<PartialOrder>>,
    /// Looks for lost states among those that follow, while there are some.
    relaxed: Option<DeadEnds>,
    /// States looked at, and those of them that were lost.
    looked: (u64, u64),
    /// By child: whether it is lost.
    lost: Vec<u64>,
    /// Whether a state that is reached again with fewer moves is entered again.
    reopens: bool,
    depth: u32,
    dead_end: Option<&'d mut dyn DeadEndDetector>,
    /// For dead ends and commuting moves.
    state: Packed,
    /// Bytes that what waits and the ways may take.
    most_beside: u64,
}

#[derive(Copy, Clone)]
struct Way {
    parent: u32,
    chosen: u32,
    depth: u32,
}

/// The start has no parent.
const NOBODY: u32 = u32::MAX;

struct Diver {
    /// By move: how early it is tried.
    ranks: Vec<u32>,
    /// The last is next.
    waiting: VecDeque<Waiting>,
    /// The codes of what waits.
    codes: VecDeque<u64>,
}

#[derive(Copy, Clone)]
enum Waiting {
    /// To be entered.
    Enter(Way),
    /// What followed it was entered.
    Leave,
}

/// How a dive between two restarts ended.
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
            // First each of the two orders that the rules give, for a short time.
            let is_short = options.divers > 1 && round <= 2;
            let (divers, patience) = match is_short {
                true => (1, options.patience / SHORT),
                false => (
                    options.divers.max(1) as u64,
                    options.patience.saturating_mul(luby(round)),
                ),
            };
            let orders = (0..divers).map(|diver| {
                let mut ranks: Vec<u32> = (0..moves as u32).collect();
                match (round, diver) {
                    (1, 0) => {}
                    (1, 1) | (2, 0) => ranks.reverse(),
                    _ => ranks.shuffle(&mut random),
                }
                Diver {
                    ranks,
                    waiting: VecDeque::new(),
                    codes: VecDeque::new(),
                }
            });
            self.divers = orders.collect();
            self.states.clear();
            self.ways.clear();
            self.waiting = 0;
            meter.begin_level(0, Compare::Key);
            let end = self.run_until_restart(patience, meter)?;
            meter.end_level();
            match end {
                End::Restart => {}
                End::Solved(plan) => {
                    let optimal = plan.is_empty();
                    return Ok(Outcome::Solved { plan, optimal });
                }
                End::Over if self.was_dead => return Ok(Outcome::Unknown),
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
        patience: u64,
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
        let way = Way {
            parent: NOBODY,
            chosen: 0,
            depth: 0,
        };
        self.divers[0].waiting.push_back(Waiting::Enter(way));
        self.divers[0].codes.extend(&self.start);
        self.waiting = 1;
        while spent < patience {
            parents.clear();
            entered.clear();
            let most = usize::try_from(meter.nodes_left()).unwrap_or(usize::MAX);
            for diver in 0..self.divers.len().min(most) {
                if let Some(number) = self.enter(diver, &mut parents, meter)? {
                    entered.push((diver, number));
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
            self.find_lost(&children.states, meter);
            for (position, &(diver, number)) in entered.iter().enumerate() {
                let depth = self.ways[number as usize].depth + 1;
                let way = |child: usize| Way {
                    parent: number,
                    chosen: children.moves[child],
                    depth,
                };
                let range = children.starts[position]..children.starts[position + 1];
                let mut open: Vec<usize> = range.map(|child| child as usize).collect();
                if let Some(commuting) = &self.commuting {
                    let parent = &parents[position * stride..][..stride];
                    self.layout.decode(parent, &mut self.state);
                    if let Some(enough) = commuting.enough(&self.state) {
                        open.retain(|&child| {
                            let chosen = children.moves[child] as usize;
                            enough[chosen / 64] >> (chosen % 64) & 1 == 1
                        });
                    }
                }
                let lost = &self.lost;
                open.retain(|&child| {
                    let word = lost.get(child / 64).unwrap_or(&0);
                    word >> (child % 64) & 1 == 0
                });
                let (states, ways) = (&mut self.states, &mut self.ways);
                let mut full = Ok(());
                open.retain(|&child| {
                    let is_over = ends.over[child / 64] >> (child % 64) & 1 == 1;
                    if is_over {
                        let code = &children.states[child * stride..][..stride];
                        let note = |_, _, is_new| {
                            if is_new {
                                ways.push(way(child))
                            }
                        };
                        full = full.and(states.insert_all(code, stride, note));
                    }
                    !is_over
                });
                full.map_err(|Full| BudgetKind::Memory)?;
                if depth >= self.depth {
                    self.is_cut |= !open.is_empty();
                    continue;
                }
                let diver = &mut self.divers[diver];
                if self.dead_end.is_some() {
                    diver.waiting.push_back(Waiting::Leave);
                    diver.codes.extend(&parents[position * stride..][..stride]);
                }
                open.sort_unstable_by_key(|&child| {
                    std::cmp::Reverse(diver.ranks[children.moves[child] as usize])
                });
                for child in open {
                    diver.waiting.push_back(Waiting::Enter(way(child)));
                    diver
                        .codes
                        .extend(&children.states[child * stride..][..stride]);
                    self.waiting += 1;
                }
            }
        }
        Ok(End::Restart)
    }

    fn find_lost(&mut self, states: &[u64], meter: &mut Meter<'_>) {
        self.lost.clear();
        let Some(relaxed) = &mut self.relaxed else {
            return;
        };
        relaxed.lost(states, &mut self.lost);
        let lost: u32 = self.lost.iter().map(|word| word.count_ones()).sum();
        meter.level().counts.dead_leaves += u64::from(lost);
        self.looked.0 += (states.len() / self.layout.words()) as u64;
        self.looked.1 += u64::from(lost);
        if self.looked.0 > LOOKS && self.looked.1 * WORTH < self.looked.0 {
            self.relaxed = None;
        }
    }

    /// Takes states that wait with a diver until one is new; its number. Its
    /// code is added to `parents`.
    fn enter(
        &mut self,
        diver: usize,
        parents: &mut Vec<u64>,
        meter: &mut Meter<'_>,
    ) -> Result<Option<u32>, BudgetKind> {
        let stride = self.layout.words();
        loop {
            let way = match self.divers[diver].waiting.pop_back() {
                Some(Waiting::Enter(way)) => way,
                Some(Waiting::Leave) => {
                    self.leave(diver);
                    continue;
                }
                None if self.waiting == 0 => return Ok(None),
                None => {
                    self.take_over(diver);
                    continue;
                }
            };
            self.waiting -= 1;
            let codes = &mut self.divers[diver].codes;
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
                self.ways.push(way);
            } else if self.reopens && way.depth < self.ways[number as usize].depth {
                self.ways[number as usize] = way;
            } else {
                counts.cycles += 1;
                parents.truncate(at);
                continue;
            }
            counts.generated += 1;
            if let Some(dead_end) = &mut self.dead_end {
                self.layout.decode(&parents[at..], &mut self.state);
                if dead_end.is_dead(&self.state) {
                    self.was_dead = true;
                    counts.dead_leaves += 1;
                    parents.truncate(at);
                    continue;
                }
            }
            return Ok(Some(number));
        }
    }

    fn leave(&mut self, diver: usize) {
        let codes = &mut self.divers[diver].codes;
        let code = codes.split_off(codes.len() - self.layout.words());
        self.layout.decode(&Vec::from(code), &mut self.state);
        if let Some(dead_end) = &mut self.dead_end {
            dead_end.stuck(&self.state);
        }
    }

    /// Gives a diver the oldest state that waits with the busiest.
    fn take_over(&mut self, diver: usize) {
        let stride = self.layout.words();
        let busiest = (self.divers.iter_mut()).max_by_key(|diver| diver.codes.len());
        let busiest = busiest.expect("there are divers");
        while let Some(oldest) = busiest.waiting.pop_front() {
            let code: Vec<u64> = busiest.codes.drain(..stride).collect();
            if let Waiting::Enter(_) = oldest {
                self.divers[diver].waiting.push_back(oldest);
                self.divers[diver].codes.extend(code);
                return;
            }
        }
    }

    fn plan(&self, mut number: u32) -> Plan {
        let mut plan = Plan::new();
        while self.ways[number as usize].parent != NOBODY {
            let way = self.ways[number as usize];
            plan.push(way.chosen);
            number = way.parent;
        }
        plan.reverse();
        plan
    }

    /// Bytes taken, about, if what waits and the ways have their share.
    fn memory(&self) -> Result<u64, BudgetKind> {
        let waiting = self.waiting * (8 * self.layout.words() + size_of::<Waiting>());
        let ways = self.ways.len() * size_of::<Way>();
        let beside = (waiting + ways) as u64;
        if beside > self.most_beside {
            return Err(BudgetKind::Memory);
        }
        Ok(beside + self.states.memory())
    }
}

/// The numbers 1, 1, 2, 1, 1, 2, 4, 1, …, counted from 1.
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
