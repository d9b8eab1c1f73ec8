//! Methods in turn, in growing slices, until one comes to an answer.
//!
//! In: a [`Puzzle`] and [`SolveOptions`]. Out: what was found, and why. What
//! analysis finds comes first: linear systems, sums that no move makes larger,
//! final states that a set of moves brings about. Then searches take turns; each
//! round has [`GROWTH`] times what the last had, so that what is done again costs
//! little. What they have is counted, so that it does not depend on the machine;
//! in large games the clock ends a slice before. They share what they learn: a plan makes the next ones look for
//! shorter ones, and lengths that one has refuted need not be refuted again.
//!
//! Where the target is not met, the same methods look for ends that are worth
//! less, from the least up: the best of them is what a search that runs out of
//! its budget has to show.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::methods::{Found, Methods};
use super::{Method, SolveOptions};
use crate::planning::{BestSoFar, Outcome, Plan, Puzzle};
use ggp_gdl::game::Score;
use ggp_search::{Budget, LevelStats, Observer, Stats};

/// States that a search may expand in the first round, how much more it may in
/// the next, and rounds.
const FIRST_ROUND: u64 = 20_000;
const GROWTH: u64 = 6;
const ROUNDS: u32 = 8;
/// States that breadth-first may expand in the first round, times gates: for small
/// games it ends with a shortest plan or a proof.
const LEVELS: u64 = 500_000_000;
const MOST_LEVELS: u64 = 1_000_000;
/// States of lines that are sampled, hundreds at a time, for one of a search.
const SAMPLED: u64 = 500;
/// Time of a method in the first round, where that ends before the states do, and
/// how much more it has in the next.
const FIRST_TIME: Duration = Duration::from_millis(300);
const MORE_TIME: u32 = 4;
/// Conflicts of a SAT solver in the first round; and gates, over all steps, that
/// it is told about.
const FIRST_CONFLICTS: u64 = 1_000;
const FIRST_GATES: u64 = 100_000;
/// Time for a set of moves that is likely to be found.
const MOVE_SET: Duration = Duration::from_secs(20);
/// Time for each part of what a solution needs.
const PARTS: Duration = Duration::from_millis(500);
/// How often somebody looks whether searches are to end.
const LOOK: Duration = Duration::from_millis(20);

/// What analysis finds.
const ANALYSES: [Method; 3] = [Method::MoveSet, Method::Algebra, Method::Parts];
/// What takes turns.
const SEARCHES: [Method; 11] = [
    Method::Levels,
    Method::Dive,
    Method::Scarce,
    Method::Nrpa,
    Method::IdaStar,
    Method::Greedy,
    Method::Novelty,
    Method::Steps,
    Method::AStar,
    Method::Beam,
    Method::Uct,
];
/// What takes turns where levels grow quickly, so that breadth-first has little
/// hope: the same, in another order.
const WIDE: [Method; 11] = [
    Method::Scarce,
    Method::Dive,
    Method::Nrpa,
    Method::IdaStar,
    Method::Greedy,
    Method::Novelty,
    Method::Levels,
    Method::Steps,
    Method::AStar,
    Method::Beam,
    Method::Uct,
];
/// States that breadth-first expands to see how levels grow, and the growth that
/// is much.
const PROBE: u64 = 32;
const MUCH: u64 = 2;
/// What looks for ends that are worth something.
const CLIMBERS: [Method; 5] = [
    Method::Levels,
    Method::Dive,
    Method::Scarce,
    Method::Greedy,
    Method::Novelty,
];

/// Methods that take turns on one puzzle.
pub(super) struct Portfolio<'p> {
    puzzle: &'p Puzzle,
    options: &'p SolveOptions,
    started: Instant,
    patience: Option<Duration>,
    methods: Methods<'p>,
    /// The shortest plan so far, if a shortest one is wanted.
    plan: Option<(Plan, String)>,
    /// No plan has so many moves or fewer.
    pub refuted: Option<u32>,
    /// The best end that is not good enough.
    pub best: Option<BestSoFar>,
    /// Whether it is proved that no end is worth more than that.
    pub is_best: bool,
    /// Whether levels grow quickly.
    is_wide: bool,
}

impl<'p> Portfolio<'p> {
    /// To be run for so long at most.
    pub fn new(
        puzzle: &'p Puzzle,
        options: &'p SolveOptions,
        patience: Option<Duration>,
    ) -> Portfolio<'p> {
        let mut methods = Methods::new(puzzle, options);
        methods.is_hasty = true;
        Portfolio {
            puzzle,
            options,
            started: Instant::now(),
            patience,
            methods,
            plan: None,
            refuted: None,
            best: None,
            is_best: false,
            is_wide: false,
        }
    }

    /// An answer; none if the budget ends before.
    pub fn run(&mut self, stats: &mut Stats, observer: &mut dyn Observer) -> Option<Found> {
        let found = self.rounds(stats, observer);
        if let Some(Outcome::Unsolvable(_)) = found.as_ref().map(|found| &found.outcome) {
            self.climb(FIRST_ROUND, stats, observer);
        }
        found.or_else(|| {
            let (plan, why) = self.plan.take()?;
            let optimal = false;
            Some(Found {
                outcome: Outcome::Solved { plan, optimal },
                why,
            })
        })
    }

    fn rounds(&mut self, stats: &mut Stats, observer: &mut dyn Observer) -> Option<Found> {
        for method in ANALYSES {
            let found = self.one(method, 0, 0, stats, observer)?;
            if let Some(found) = self.answer(found, 0, stats) {
                return Some(found);
            }
        }
        if self.options.optimal
            && let Some(least) = self.methods.bound().checked_sub(1)
        {
            stats.refuted = stats.refuted.max(Some(least));
        }
        let first = stats.levels.len();
        let found = self.one(Method::Levels, 1, PROBE, stats, observer)?;
        if let Some(found) = self.answer(found, 1, stats) {
            return Some(found);
        }
        self.is_wide = is_wide(&stats.levels[first..]);
        let mut nodes = FIRST_ROUND;
        for round in 1..=ROUNDS {
            // In some games many orders help, in others they are in the way.
            self.methods.is_alone = round % 2 == 0;
            let found = match self.options.threads {
                0 | 1 => self.in_turn(round, nodes, stats, observer),
                threads => self.at_once(threads, round, nodes, stats, observer),
            };
            if found.is_some() || self.is_over(stats) {
                return found;
            }
            if self.plan.is_none() && !self.is_best {
                self.climb(nodes / 2, stats, observer);
            }
            nodes = nodes.saturating_mul(GROWTH);
        }
        None
    }

    fn in_turn(
        &mut self,
        round: u32,
        nodes: u64,
        stats: &mut Stats,
        observer: &mut dyn Observer,
    ) -> Option<Found> {
        for &method in self.searches() {
            let found = self.one(method, round, nodes, stats, observer)?;
            if let Some(found) = self.answer(found, round, stats) {
                return Some(found);
            }
        }
        None
    }

    fn searches(&self) -> &'static [Method; 11] {
        match self.is_wide {
            true => &WIDE,
            false => &SEARCHES,
        }
    }

    /// One method; none if the budget is spent.
    fn one(
        &mut self,
        method: Method,
        round: u32,
        nodes: u64,
        stats: &mut Stats,
        observer: &mut dyn Observer,
    ) -> Option<Found> {
        if self.is_over(stats) {
            return None;
        }
        let budget = self.slice(method, round, nodes, stats);
        let found = self.methods.run(method, &budget, stats, observer);
        let best = self.methods.best.take();
        self.take_best(best, stats);
        Some(found)
    }

    fn take_best(&mut self, best: Option<BestSoFar>, stats: &mut Stats) {
        let known = self.best.as_ref().map_or(0, |end| end.score.get());
        if let Some(best) = best.filter(|best| best.score.get() > known) {
            stats.best_score = Some(best.score.get());
            self.best = Some(best);
        }
    }

    /// The searches of a round by several threads. The answer is that of the
    /// first search, in their order, that has one: whichever thread
    /// is quicker, it is the same.
    fn at_once(
        &mut self,
        threads: usize,
        round: u32,
        nodes: u64,
        stats: &mut Stats,
        observer: &mut dyn Observer,
    ) -> Option<Found> {
        let searches = self.searches();
        let budgets: Vec<Budget> = searches
            .iter()
            .map(|&method| {
                let mut budget = self.slice(method, round, nodes, stats);
                budget.memory_bytes /= threads as u64;
                budget.stop = budget.stop.child();
                budget
            })
            .collect();
        let raise = |index: usize| budgets[index].stop.raise();
        let made = searches.map(|_| Mutex::new(None));
        let next = AtomicUsize::new(0);
        let (puzzle, options, is_alone) = (self.puzzle, self.options, self.methods.is_alone);
        std::thread::scope(|scope| {
            let work = || {
                let mut methods = Methods::new(puzzle, options);
                (methods.is_hasty, methods.is_alone) = (true, is_alone);
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(budget) = budgets.get(index) else {
                        return;
                    };
                    let mut stats = Stats::default();
                    let found = methods.run(searches[index], budget, &mut stats, &mut ());
                    if is_end(&found.outcome, budget.depth) {
                        (index + 1..budgets.len()).for_each(raise);
                    }
                    let mut place = made[index].lock().expect("a search does not panic here");
                    *place = Some((found, stats, methods.best.take()));
                }
            };
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            while !workers.iter().all(|worker| worker.is_finished()) {
                std::thread::sleep(LOOK);
                if is_raised(&self.options.budget) {
                    (0..budgets.len()).for_each(raise);
                }
            }
        });
        for made in made {
            let made = made.into_inner().expect("a search does not panic here");
            let (found, counted, best) = made.expect("each search was run");
            stats.add(counted);
            self.take_best(best, stats);
            observer.level(stats);
            if let Some(found) = self.answer(found, round, stats) {
                return Some(found);
            }
        }
        None
    }

    /// What a method may spend in a round.
    fn slice(&self, method: Method, round: u32, nodes: u64, stats: &Stats) -> Budget {
        let whole = &self.options.budget;
        let gates = self.puzzle.net.network().gates().max(1) as u64;
        let growth = GROWTH.saturating_pow(round.saturating_sub(1));
        let left = self.time_left();
        let time = FIRST_TIME * MORE_TIME.pow(round.saturating_sub(1));
        let depth = match &self.plan {
            Some((plan, _)) => whole.depth.min(plan.len() as u32 - 1),
            None => whole.depth,
        };
        let left_nodes = whole.nodes.saturating_sub(stats.total().expanded);
        let (nodes, time, depth) = match method {
            Method::MoveSet => (u64::MAX, Some(MOVE_SET), depth),
            Method::Algebra => (u64::MAX, None, depth),
            Method::Parts => (u64::MAX, Some(PARTS), depth),
            Method::Steps => {
                let steps = (FIRST_GATES.saturating_mul(growth) / gates).max(2);
                let steps = u32::try_from(steps).unwrap_or(u32::MAX);
                let conflicts = FIRST_CONFLICTS.saturating_mul(growth);
                (conflicts, Some(time), depth.min(steps))
            }
            Method::Levels if nodes != PROBE => {
                let least = MOST_LEVELS.min(LEVELS / gates);
                let nodes = nodes.max(least.saturating_mul(growth));
                (nodes, Some(2 * time), depth)
            }
            Method::Nrpa | Method::Nested | Method::Uct => {
                (nodes.saturating_mul(SAMPLED), Some(2 * time), depth)
            }
            _ => (nodes, Some(time), depth),
        };
        Budget {
            nodes: nodes.min(left_nodes),
            time: [left, time].into_iter().flatten().min(),
            depth,
            ..whole.clone()
        }
    }

    /// Takes in what a method came to; the answer, if that is one.
    fn answer(&mut self, found: Found, round: u32, stats: &mut Stats) -> Option<Found> {
        let why = match round {
            0 => format!("auto: {}", found.why),
            _ => format!("auto: {} (round {round})", found.why),
        };
        self.refuted = self.refuted.max(stats.refuted);
        let is_wanted = self.options.optimal;
        let outcome = match found.outcome {
            Outcome::Solved {
                plan,
                optimal: false,
            } if is_wanted => {
                let shortest = self
                    .plan
                    .as_ref()
                    .map_or(usize::MAX, |(plan, _)| plan.len());
                if plan.len() < shortest {
                    stats.best_length = Some(plan.len());
                    self.plan = Some((plan, why.clone()));
                }
                Outcome::Unknown
            }
            Outcome::NoPlanWithin(depth) => {
                self.refuted = self.refuted.max(Some(depth));
                stats.refuted = self.refuted;
                match depth >= self.options.budget.depth {
                    true => return Some(Found { why, ..found }),
                    false => Outcome::Unknown,
                }
            }
            // There is no plan shorter than that which is there.
            Outcome::Unsolvable(_) if self.plan.is_some() => {
                let length = self.plan.as_ref().map_or(0, |(plan, _)| plan.len());
                self.refuted = self.refuted.max(Some(length as u32 - 1));
                Outcome::Unknown
            }
            outcome => outcome,
        };
        if outcome != Outcome::Unknown {
            return Some(Found { outcome, why });
        }
        let (plan, _) = self.plan.as_ref()?;
        if plan.len() as u32 > self.refuted.map_or(0, |depth| depth + 1) {
            return None;
        }
        let (plan, first) = self.plan.take()?;
        let why = match first == why {
            true => why,
            false => format!(
                "{first}; no plan is shorter: {}",
                why.trim_start_matches("auto: ")
            ),
        };
        let optimal = true;
        Some(Found {
            outcome: Outcome::Solved { plan, optimal },
            why,
        })
    }

    /// Looks for better ends than the best so far, as long as so many states for
    /// each search are enough to find one.
    fn climb(&mut self, nodes: u64, stats: &mut Stats, observer: &mut dyn Observer) {
        let scores = self.puzzle.scores();
        let worthless = Score::new(0);
        loop {
            let known = self.best.as_ref().map(|end| end.score).or(worthless);
            let mut above = scores.iter().copied().filter(|&score| Some(score) > known);
            let Some(rung) = above.next().filter(|&rung| rung < self.puzzle.target) else {
                return;
            };
            let Some(puzzle) = self.puzzle.aiming_at(rung) else {
                return;
            };
            let mut methods = Methods::new(&puzzle, self.options);
            methods.is_hasty = true;
            let mut outcome = Outcome::Unknown;
            for method in CLIMBERS {
                if self.is_over(stats) {
                    return;
                }
                let budget = self.slice(method, 1, nodes, stats);
                outcome = methods.run(method, &budget, stats, observer).outcome;
                if is_end(&outcome, budget.depth) {
                    break;
                }
            }
            match outcome {
                Outcome::Solved { plan, .. } => {
                    let score = puzzle.worth(&plan).unwrap_or(rung);
                    stats.best_score = Some(score.get());
                    self.best = Some(BestSoFar { score, plan });
                }
                Outcome::Unsolvable(_) => {
                    self.is_best = true;
                    return;
                }
                _ => return,
            }
        }
    }

    fn is_over(&self, stats: &Stats) -> bool {
        let whole = &self.options.budget;
        self.time_left().is_some_and(|left| left.is_zero())
            || is_raised(whole)
            || stats.total().expanded >= whole.nodes
    }

    fn time_left(&self) -> Option<Duration> {
        let all = self.patience?;
        Some(all.saturating_sub(self.started.elapsed()))
    }
}

/// Whether levels, of which the last is incomplete, grow quickly.
fn is_wide(levels: &[LevelStats]) -> bool {
    let states = |level: &LevelStats| level.counts.generated;
    match levels {
        [.., before, last, _] => states(last) > MUCH * states(before),
        _ => false,
    }
}

/// Whether an outcome ends the search for plans of that length.
fn is_end(outcome: &Outcome, depth: u32) -> bool {
    match outcome {
        Outcome::Unknown => false,
        Outcome::NoPlanWithin(refuted) => *refuted >= depth,
        _ => true,
    }
}

fn is_raised(budget: &Budget) -> bool {
    budget.stop.is_raised()
}
