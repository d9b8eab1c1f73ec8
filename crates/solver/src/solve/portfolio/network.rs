//! Methods on the network in turn.
//!
//! In: a [`Puzzle`] and [`SolveOptions`]. Out: an [`Attempt`]. Analyses come first: linear
//! systems, sums that no move makes larger, final states that a set of moves reaches. Each
//! has a short time; one that was cut short is tried again with more after each round
//! of searches. Searches take turns: a glance each, in which easy puzzles are solved whatever
//! method suits them, then rounds of which each has [`GROWTH`] times the budget of the
//! last, so that repeated work costs little. Budgets are counts, so that results do not
//! depend on the speed of the machine; in large games the CPU time of the thread ends a slice earlier. The
//! searches share their results: after a plan was found the next ones look for shorter
//! plans, and lengths that one search has refuted are not refuted again.
//!
//! Where the target is not reached, the same methods look for ends with lower scores, from
//! the lowest up. The best of them is the result of a search that runs out of its budget.

use ggp_engine::threads::usable;
use ggp_stop::Instant;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::super::methods::task::{Task, moves};
use super::super::methods::{Method, OnNetwork, PART, Run, Share, Turn, Unit};
use super::super::{Attempt, SolveOptions, one_plan};
use crate::planning::{BestSoFar, Outcome, Puzzle};
use ggp_gdl::game::{Move, Score};
use ggp_search::{Budget, Clock, LevelStats, Observer, Stats, Verdict};

/// The part of the first round that a glance is, by what a search counts, so that each takes about as long; the
/// states expanded one by one in it, times gates, at most; and its time, for large games.
const GLANCE_STATES: u64 = 2;
const GLANCE_ORDERS: u64 = 4;
const GLANCE_ESTIMATES: u64 = 256;
const GLANCE_PLAYOUTS: u64 = 32;
const GLANCE_CONFLICTS: u64 = 8;
const GLANCE: u64 = 40_000_000;
const GLANCE_TIME: Duration = Duration::from_millis(70);
/// The same of the search by levels, which has more: it solves small games in the fewest moves.
const GLANCE_LEVELS: u64 = 2;
const GLANCE_LEVELS_TIME: Duration = Duration::from_millis(300);
/// States that a search may expand in the first round, the factor for each further round,
/// and the number of rounds.
const FIRST_ROUND: u64 = 20_000;
const GROWTH: u64 = 6;
const ROUNDS: u32 = 8;
/// States that a search by levels may expand in the first round, times gates: for small
/// games it ends with a shortest plan or a proof.
const LEVELS: u64 = 500_000_000;
const MOST_LEVELS: u64 = 1_000_000;
/// States of playouts that count as one state of a search.
const SAMPLED: u64 = 500;
/// The time of a method in the first round, where that ends before the states do, and the
/// factor for each further round. Of the whole time it is this part at most, so that all
/// methods have a turn.
const FIRST_TIME: Duration = Duration::from_millis(300);
const MORE_TIME: u32 = 4;
const FIRST_PART: u32 = 24;
/// The part of the time for a lower bound before the searches.
const BOUND_PART: u32 = 10;
/// The time of an analysis before the searches, that of one that gives up at once where it does not suit, and the
/// factor of the part of the whole time after each round.
const FIRST_ANALYSIS: Duration = Duration::from_millis(100);
const FIRST_APT: Duration = Duration::from_millis(250);
const MORE_ANALYSIS: u32 = 2;
/// The factor of the time after each round for an analysis with a large part.
const LIKELY: u32 = 32;
/// Conflicts of a SAT solver in the first round, and the bytes of its formula over all steps. What is
/// constant in a step takes none, so that the steps of a puzzle that is played in a fixed order are cheap.
const FIRST_CONFLICTS: u64 = 1_000;
const FIRST_FORMULA: u64 = 64 << 20;
/// The CPU time for the best end after a proof that no end reaches the target.
const LAST_CLIMB: Duration = Duration::from_millis(600);
/// The pause between two looks at the interrupt flag while threads search.
const PAUSE: Duration = Duration::from_millis(20);
/// States that a search by levels expands to see how levels grow, and the factor between
/// two levels from which they grow quickly.
const PROBE: u64 = 32;
const QUICKLY: u64 = 2;

/// An analysis of the table.
#[derive(Copy, Clone)]
struct Analysis {
    method: Method,
    part: u32,
    most: Option<Duration>,
    is_apt: bool,
    run: OnNetwork,
}

fn analyses() -> Vec<Analysis> {
    let analyses = Method::all().filter_map(|method| match (method.share(), method.run()) {
        (Share::Analysis(share), Run::Network(run)) => Some(Analysis {
            method,
            part: share.part,
            most: share.most,
            is_apt: share.is_apt,
            run,
        }),
        _ => None,
    });
    analyses.collect()
}

/// A search of the table that takes turns.
#[derive(Copy, Clone)]
struct Search {
    method: Method,
    turn: Turn,
    run: OnNetwork,
}

/// The searches that take turns, in the order of the table, or in the order for games whose
/// levels grow quickly.
fn searches(is_wide: bool) -> Vec<Search> {
    let turns = Method::all().filter_map(|method| match (method.share(), method.run()) {
        (Share::Turn(turn), Run::Network(run)) => Some(Search { method, turn, run }),
        _ => None,
    });
    let mut searches: Vec<Search> = turns.collect();
    if is_wide {
        searches.sort_by_key(|search| search.turn.wide);
    }
    searches
}

/// Methods that take turns on one puzzle.
pub(super) struct Network<'p> {
    puzzle: &'p Puzzle,
    options: &'p SolveOptions,
    started: Instant,
    patience: Option<Duration>,
    task: Task<'p>,
    /// The shortest plan so far, if a shortest one is wanted.
    plan: Option<(Vec<Move>, String)>,
    /// No plan has this many moves or fewer.
    pub refuted: Option<u32>,
    /// The best end whose score is too low.
    pub best: Option<BestSoFar>,
    /// Whether no end has a higher score than that one.
    pub is_best: bool,
    searches: Vec<Search>,
}

impl<'p> Network<'p> {
    /// The methods on a puzzle, to be run for at most `patience`.
    pub fn new(
        puzzle: &'p Puzzle,
        options: &'p SolveOptions,
        patience: Option<Duration>,
    ) -> Network<'p> {
        let mut task = Task::new(puzzle, options);
        task.in_portfolio = true;
        Network {
            puzzle,
            options,
            started: Instant::now(),
            patience,
            task,
            plan: None,
            refuted: None,
            best: None,
            is_best: false,
            searches: searches(false),
        }
    }

    /// An answer; `None` if the budget ends first.
    pub fn run(&mut self, stats: &mut Stats, observer: &mut dyn Observer) -> Option<Attempt> {
        let found = self.rounds(stats, observer);
        if found
            .as_ref()
            .is_some_and(|found| found.verdict == Verdict::Unsolvable)
        {
            // The answer is there already.
            self.climb(0, FIRST_ROUND, Some(LAST_CLIMB), stats, observer);
        }
        found.or_else(|| {
            let (plan, why) = self.plan.take()?;
            Some(solved(plan, false, why))
        })
    }

    fn rounds(&mut self, stats: &mut Stats, observer: &mut dyn Observer) -> Option<Attempt> {
        let mut waiting = analyses();
        let found = self.analyse(&mut waiting, 0, stats, observer);
        if found.is_some() || self.is_over(stats) {
            return found;
        }
        if self.options.optimal {
            let time = self.options.budget.time.map(|whole| whole / BOUND_PART);
            let budget = self.budget(u64::MAX, time, u32::MAX, stats);
            if let Some(least) = self.task.bound(&budget).checked_sub(1) {
                stats.refuted = stats.refuted.max(Some(least));
            }
        }
        let by_levels = |search: &&Search| search.turn.unit == Unit::Levels;
        if let Some(&probe) = self.searches.iter().find(by_levels) {
            let first = stats.levels.len();
            let budget = self.budget(PROBE, Some(self.first_time()), self.depth(), stats);
            let found = self.one(probe.method, probe.run, &budget, stats, observer)?;
            if let Some(found) = self.answer(found, 1, stats) {
                return Some(found);
            }
            self.searches = searches(is_wide(&stats.levels[first..]));
        }
        let mut nodes = FIRST_ROUND;
        for round in 0..=ROUNDS {
            // In some games many orders help, in others they are in the way.
            self.task.one_order = round > 0 && round % 2 == 0;
            let found = match usable(self.options.threads) {
                0 | 1 => self.in_turn(round, nodes, stats, observer),
                threads => self.at_once(threads, round, nodes, stats, observer),
            };
            if found.is_some() || self.is_over(stats) {
                return found;
            }
            let found = self.analyse(&mut waiting, round + 1, stats, observer);
            if found.is_some() || self.is_over(stats) {
                return found;
            }
            if round == 0 {
                continue;
            }
            if self.plan.is_none() && !self.is_best {
                let solution = self.climb(1, nodes / 2, None, stats, observer);
                let solution = solution.and_then(|solution| self.answer(solution, round, stats));
                if solution.is_some() {
                    return solution;
                }
            }
            nodes = nodes.saturating_mul(GROWTH);
        }
        None
    }

    /// Runs analyses, after this number of rounds of searches. Those that were cut short
    /// stay in the list. After the glance only those are run that suit the game.
    fn analyse(
        &mut self,
        waiting: &mut Vec<Analysis>,
        round: u32,
        stats: &mut Stats,
        observer: &mut dyn Observer,
    ) -> Option<Attempt> {
        for analysis in std::mem::take(waiting) {
            if round == 1 && !analysis.is_apt {
                waiting.push(analysis);
                continue;
            }
            let share = self.analysis_time(&analysis, round);
            let time = analysis.most.map_or(share, |most| share.min(most));
            let budget = self.budget(u64::MAX, Some(time), self.depth(), stats);
            let found = self.one(analysis.method, analysis.run, &budget, stats, observer)?;
            let may_have_more = analysis.most.is_none_or(|most| share < most);
            if may_have_more && self.task.puzzle.stop.is_late() {
                waiting.push(analysis);
            }
            if let Some(found) = self.answer(found, round, stats) {
                return Some(found);
            }
        }
        None
    }

    /// The time of an analysis with this part after this number of rounds of searches.
    fn analysis_time(&self, analysis: &Analysis, round: u32) -> Duration {
        let (first, more) = match (analysis.is_apt, analysis.part < PART) {
            (true, true) => (FIRST_ANALYSIS, LIKELY),
            (true, false) => (FIRST_APT, MORE_TIME),
            (false, _) => (FIRST_ANALYSIS, MORE_TIME),
        };
        let growing = first * more.saturating_pow(round);
        let part_of = |whole: Duration| whole / analysis.part * MORE_ANALYSIS.pow(round);
        let whole = self.options.budget.time;
        whole.map_or(growing, |whole| growing.min(part_of(whole)))
    }

    /// The time of a search in the first round.
    fn first_time(&self) -> Duration {
        let part = self.options.budget.time.map(|time| time / FIRST_PART);
        part.map_or(FIRST_TIME, |part| part.min(FIRST_TIME))
    }

    fn in_turn(
        &mut self,
        round: u32,
        nodes: u64,
        stats: &mut Stats,
        observer: &mut dyn Observer,
    ) -> Option<Attempt> {
        for search in self.searches_of(round) {
            let budget = self.slice(search.turn.unit, round, nodes, stats);
            let found = self.one(search.method, search.run, &budget, stats, observer)?;
            if let Some(found) = self.answer(found, round, stats) {
                return Some(found);
            }
        }
        None
    }

    /// Runs one method; `None` if the budget is spent.
    fn one(
        &mut self,
        method: Method,
        run: OnNetwork,
        budget: &Budget,
        stats: &mut Stats,
        observer: &mut dyn Observer,
    ) -> Option<Attempt> {
        if self.is_over(stats) {
            return None;
        }
        let found = self.task.run(method, run, budget, stats, observer);
        let best = self.task.best.take();
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

    /// Runs the searches of a round on several threads. The answer is that of the first
    /// search, in their order, that has one, so that it does not depend on the speed of
    /// the threads.
    fn at_once(
        &mut self,
        threads: usize,
        round: u32,
        nodes: u64,
        stats: &mut Stats,
        observer: &mut dyn Observer,
    ) -> Option<Attempt> {
        let searches = self.searches_of(round);
        let budgets: Vec<Budget> = searches
            .iter()
            .map(|search| {
                let mut budget = self.slice(search.turn.unit, round, nodes, stats);
                budget.memory_bytes /= threads as u64;
                budget.stop = budget.stop.child();
                budget
            })
            .collect();
        let raise = |index: usize| budgets[index].stop.raise();
        let results: Vec<_> = searches.iter().map(|_| Mutex::new(None)).collect();
        let next = AtomicUsize::new(0);
        let (puzzle, options, one_order) = (self.puzzle, self.options, self.task.one_order);
        std::thread::scope(|scope| {
            let work = || {
                let mut task = Task::new(puzzle, options);
                (task.in_portfolio, task.one_order) = (true, one_order);
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(budget) = budgets.get(index) else {
                        return;
                    };
                    let mut stats = Stats::default();
                    let Search { method, run, .. } = searches[index];
                    let found = task.run(method, run, budget, &mut stats, &mut ());
                    if !matches!(found.verdict, Verdict::OutOfBudget { .. }) {
                        (index + 1..budgets.len()).for_each(raise);
                    }
                    let mut place = results[index].lock().expect("a search does not panic here");
                    *place = Some((found, stats, task.best.take()));
                }
            };
            // Threads that the system does not give are left out: all take from one list.
            let start = |_| std::thread::Builder::new().spawn_scoped(scope, work).ok();
            let workers: Vec<_> = (0..threads).filter_map(start).collect();
            if workers.is_empty() {
                work();
            }
            while !workers.iter().all(|worker| worker.is_finished()) {
                std::thread::sleep(PAUSE);
                if is_raised(&self.options.budget) {
                    (0..budgets.len()).for_each(raise);
                }
            }
        });
        for result in results {
            let result = result.into_inner().expect("a search does not panic here");
            let (found, counted, best) = result.expect("each search was run");
            stats.add(counted);
            self.take_best(best, stats);
            observer.level(stats);
            if let Some(found) = self.answer(found, round, stats) {
                return Some(found);
            }
        }
        None
    }

    /// The searches of a round, in their order. At the glance, that by levels comes first, and those whose
    /// states take longest last.
    fn searches_of(&self, round: u32) -> Vec<Search> {
        let mut searches = self.searches.clone();
        if round == 0 {
            searches.sort_by_key(|search| match search.turn.unit {
                Unit::Levels => 0,
                Unit::States | Unit::Playouts => 1,
                Unit::Orders => 2,
                Unit::Estimates | Unit::Conflicts => 3,
            });
        }
        searches
    }

    /// The budget of a search in a round.
    fn slice(&self, unit: Unit, round: u32, nodes: u64, stats: &Stats) -> Budget {
        let gates = self.puzzle.net.network().gates().max(1) as u64;
        let growth = GROWTH.saturating_pow(round.saturating_sub(1));
        let part = match unit {
            _ if round > 0 => 1,
            Unit::States => GLANCE_STATES,
            Unit::Orders => GLANCE_ORDERS,
            Unit::Estimates => GLANCE_ESTIMATES,
            Unit::Levels => GLANCE_LEVELS,
            Unit::Playouts => GLANCE_PLAYOUTS,
            Unit::Conflicts => GLANCE_CONFLICTS,
        };
        let more = MORE_TIME.pow(round.saturating_sub(1));
        let time = self.first_time() * more;
        let depth = self.depth();
        let nodes = nodes / part;
        let (nodes, mut time) = match unit {
            Unit::Orders => (nodes, time),
            Unit::States | Unit::Estimates => {
                let limit = if round == 0 { GLANCE / gates } else { u64::MAX };
                (nodes.min(limit), time)
            }
            Unit::Levels => {
                // At a glance the count ends it in small games, rather than the time.
                let minimum = MOST_LEVELS.min(LEVELS / gates) / part.pow(4);
                let nodes = nodes.max(minimum.saturating_mul(growth));
                // A search by levels that begins again has to repeat all its levels.
                (nodes, (2 * FIRST_TIME * more).min(4 * time))
            }
            Unit::Playouts => (nodes.saturating_mul(SAMPLED), 2 * time),
            Unit::Conflicts => (FIRST_CONFLICTS.saturating_mul(growth) / part, time),
        };
        if round == 0 {
            time = time.min(match unit {
                Unit::Levels => GLANCE_LEVELS_TIME,
                Unit::Playouts | Unit::Orders => 2 * GLANCE_TIME,
                _ => GLANCE_TIME,
            });
        }
        let mut budget = self.budget(nodes, Some(time), depth, stats);
        if unit == Unit::Conflicts {
            let formula = FIRST_FORMULA.saturating_mul(growth) / part;
            budget.memory_bytes = budget.memory_bytes.min(formula);
        }
        budget
    }

    /// A budget within the rest of the whole one. Its time is CPU time, so that what is found does not
    /// depend on what else the machine does.
    fn budget(&self, nodes: u64, time: Option<Duration>, depth: u32, stats: &Stats) -> Budget {
        let whole = &self.options.budget;
        Budget {
            nodes: nodes.min(whole.nodes.saturating_sub(stats.total().expanded)),
            time: [self.time_left(), time].into_iter().flatten().min(),
            clock: Clock::Work,
            stop: whole.stop.within(self.time_left()),
            depth,
            ..whole.clone()
        }
    }

    /// The greatest length of a plan that is still of use.
    fn depth(&self) -> u32 {
        let depth = self.options.budget.depth;
        match &self.plan {
            Some((plan, _)) => depth.min(plan.len() as u32 - 1),
            None => depth,
        }
    }

    /// Takes in the result of a method; returns it if it is the answer.
    fn answer(&mut self, found: Attempt, round: u32, stats: &mut Stats) -> Option<Attempt> {
        let why = match round {
            0 => format!("auto: {}", found.why),
            _ => format!("auto: {} (round {round})", found.why),
        };
        self.refuted = self.refuted.max(stats.refuted);
        let found = Attempt { why, ..found };
        match &found.verdict {
            Verdict::Solved {
                plans,
                optimal: false,
                ..
            } if self.options.optimal => {
                let plan = &plans[0];
                let shortest = self
                    .plan
                    .as_ref()
                    .map_or(usize::MAX, |(plan, _)| plan.len());
                if plan.len() < shortest {
                    stats.best_length = Some(plan.len());
                    self.plan = Some((plan.clone(), found.why.clone()));
                }
            }
            Verdict::NoSolutionWithin(depth) => {
                self.refute(*depth, stats);
                if *depth >= self.options.budget.depth {
                    return Some(found);
                }
            }
            Verdict::OutOfBudget {
                depth_completed, ..
            } => {
                if let Some(depth) = depth_completed {
                    self.refute(*depth, stats);
                }
            }
            Verdict::Unsolvable if self.plan.is_some() => {
                // No plan is shorter than the one that is known.
                let length = self.plan.as_ref().map_or(0, |(plan, _)| plan.len());
                self.refuted = self.refuted.max(Some(length as u32 - 1));
            }
            _ => return Some(found),
        }
        let (plan, _) = self.plan.as_ref()?;
        if plan.len() as u32 > self.refuted.map_or(0, |depth| depth + 1) {
            return None;
        }
        let (plan, first) = self.plan.take()?;
        let why = found.why;
        let why = match first == why {
            true => why,
            false => format!(
                "{first}; no plan is shorter: {}",
                why.trim_start_matches("auto: ")
            ),
        };
        Some(solved(plan, true, why))
    }

    /// Notes that no plan has this many moves or fewer.
    fn refute(&mut self, depth: u32, stats: &mut Stats) {
        self.refuted = self.refuted.max(Some(depth));
        stats.refuted = self.refuted;
    }

    /// Looks for ends with higher scores than the best so far, as long as the slice of a round with
    /// `nodes` states is enough for one of the searches to find one, and for about this CPU time. One that
    /// reaches the target is returned.
    fn climb(
        &mut self,
        round: u32,
        nodes: u64,
        time: Option<Duration>,
        stats: &mut Stats,
        observer: &mut dyn Observer,
    ) -> Option<Attempt> {
        let stop = self.options.budget.stop.within_work(time);
        let scores = self.puzzle.scores();
        let worthless = Score::new(0);
        loop {
            let known = self.best.as_ref().map(|end| end.score).or(worthless);
            let mut above = scores.iter().copied().filter(|&score| Some(score) > known);
            let rung = above.next().filter(|&rung| rung < self.puzzle.target)?;
            let puzzle = self.puzzle.aiming_at(rung)?;
            let mut task = Task::new(&puzzle, self.options);
            task.in_portfolio = true;
            let (mut outcome, mut why) = (Outcome::Unknown, String::new());
            for search in searches(false) {
                if !search.turn.climbs {
                    continue;
                }
                if self.is_over(stats) || stop.is_over() {
                    return None;
                }
                let budget = self.slice(search.turn.unit, round, nodes, stats);
                let (method, run) = (search.method, search.run);
                (outcome, why) = task.outcome(method, run, &budget, stats, observer);
                why = format!("{method}: {why}");
                if is_end(&outcome, budget.depth) {
                    break;
                }
            }
            match outcome {
                Outcome::Solved { plan, .. } => {
                    let score = puzzle.worth(&plan).unwrap_or(rung);
                    if score >= self.puzzle.target {
                        return Some(solved(moves(self.puzzle, &plan), false, why));
                    }
                    stats.best_score = Some(score.get());
                    self.best = Some(BestSoFar { score, plan });
                }
                Outcome::Unsolvable(_) => {
                    self.is_best = true;
                    return None;
                }
                _ => return None,
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

/// One plan as the answer.
fn solved(plan: Vec<Move>, optimal: bool, why: String) -> Attempt {
    Attempt::new(one_plan(plan, optimal), why)
}

/// Whether levels, of which the last is incomplete, grow quickly.
fn is_wide(levels: &[LevelStats]) -> bool {
    let states = |level: &LevelStats| level.counts.generated;
    match levels {
        [.., before, last, _] => states(last) > QUICKLY * states(before),
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
