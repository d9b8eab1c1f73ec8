//! Plans for games of one role, found by a table of methods and checked.
//!
//! In: a machine and [`SolveOptions`]. Out: an [`Answer`]: a verdict, plans that were played
//! again on the naive evaluator, and statistics. `methods` is the table of methods, and
//! `portfolio` the one that runs them in turn. The counters that tables may leave out come
//! from [`analysis`](ggp_gdl::analysis). Games of several roles, or with chance,
//! have no plan.

mod check;
mod claim;
mod count;
mod joint;
mod methods;
mod order;
mod portfolio;
mod problem;
mod simulation;
mod trail;

use ggp_stop::{Instant, Stop};
use std::fmt;
use std::time::Duration;

use crate::planning::breadth_first::{BreadthFirstError, BreadthFirstOptions, Seen};
use crate::planning::{Puzzle, Reason};
use ggp_engine::machine::{AnyMachine, Machine, PlayError, PropnetState};
use ggp_gdl::counted::counted;
use ggp_gdl::game::{Game, Move, RoleId, Score};
use ggp_search::{Budget, BudgetKind, Coverage, Observer, Plans, Prune, Stats, Verdict};

pub use check::{Checker, Replays, WrongPlan, check_plan};
pub use claim::{PATIENCE, claim, claim_count, claim_outcome, lacks_proof, proof};

pub use crate::planning::rollout::Scoring;
pub use count::{Counted, count_from};
pub use joint::{Joint, JointProblem, joint_text};
use methods::Run;
use methods::task::Task;
pub use methods::{Group, Method, Proves, Refutes, Setting, UnknownMethod};
pub use order::MoveOrder;
pub use problem::{GameProblem, Keys};
pub use simulation::Table;

/// The task of a search, and its budget.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SolveOptions {
    /// The method.
    pub method: Method,
    /// The least score that makes a terminal state a solution.
    pub target: Score,
    /// The plans to look for. Only methods that read [`Setting::AllPlans`] find more than
    /// the first.
    pub plans: Plans,
    /// The positions that iterative deepening leaves out.
    pub prune: Prune,
    /// The keys that tables compare.
    pub keys: Keys,
    /// The order in which moves are tried; `auto` varies it.
    pub order: MoveOrder,
    /// The limits of the search; [`Budget::depth`] is the longest plan.
    pub budget: Budget,
    /// The seed of random choices.
    pub seed: u64,
    /// The value of a playout on the network.
    pub scoring: Scoring,
    /// The evaluator that plays the plans again.
    pub checker: Checker,
    /// The memory of earlier replays, shared by clones of these options.
    pub replays: Replays,
    /// Whether `auto` goes on until it is proved that no plan is shorter.
    pub optimal: bool,
    /// Threads for methods that use several; 0 counts as 1.
    pub threads: usize,
    /// Options of breadth-first search on packed states.
    pub packed: BreadthFirstOptions,
}

impl Default for SolveOptions {
    fn default() -> Self {
        SolveOptions {
            method: Method::default(),
            target: Score::MAX,
            plans: Plans::First,
            prune: Prune::CYCLE,
            keys: Keys::default(),
            order: MoveOrder::default(),
            budget: Budget::default(),
            seed: 0,
            scoring: Scoring::Points,
            checker: Checker::default(),
            replays: Replays::default(),
            optimal: false,
            threads: 1,
            packed: BreadthFirstOptions::default(),
        }
    }
}

/// The result of a search for plans.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Answer {
    /// The verdict. Each plan in it was played again, see [`Answer::checked`].
    pub verdict: Verdict<Move>,
    /// The least score that makes a terminal state a solution.
    pub target: Score,
    /// The reason why there is no plan, if a method on the network found it.
    pub reason: Option<Reason>,
    /// The game on its network, if a method on the network ran.
    pub puzzle: Option<Puzzle>,
    /// If there is no plan: the best end that was met, if its score is above 0.
    pub best: Option<BestEnd>,
    /// The highest score of any end, if that is proved.
    pub bound: Option<Score>,
    /// The positions that `breadth-first-packed` has seen.
    pub seen: Option<Seen>,
    /// The method that gave the verdict and the reason for its choice, in one line.
    pub chosen: String,
    /// The number of counters that the tables left out where they compared keys.
    pub stripped: usize,
    /// The evaluator that played the plans again.
    pub checked: Checker,
    /// The first fault of the rules that play has shown. The states concerned counted as
    /// ends without score. Several goal values that a search on states meets are an error instead.
    pub fault: Option<PlayError>,
}

/// A terminal state that is not a solution, and the moves that lead there.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct BestEnd {
    /// Its score.
    pub score: Score,
    /// The moves.
    pub plan: Vec<Move>,
}

/// The result of one method, before its plans are checked.
struct Attempt {
    verdict: Verdict<Move>,
    /// The reason why there is no plan, from a method on the network.
    reason: Option<Reason>,
    /// The best end that is not a solution.
    best: Option<BestEnd>,
    /// The highest score of any end, if that is proved.
    bound: Option<Score>,
    seen: Option<Seen>,
    /// The method and the reason why it applied, in one line.
    why: String,
}

impl Attempt {
    fn new(verdict: Verdict<Move>, why: String) -> Attempt {
        Attempt {
            verdict,
            reason: None,
            best: None,
            bound: None,
            seen: None,
            why,
        }
    }
}

/// The verdict for one plan.
fn one_plan(plan: Vec<Move>, optimal: bool) -> Verdict<Move> {
    Verdict::Solved {
        plans: vec![plan],
        optimal,
        coverage: Coverage::Unknown,
    }
}

/// The role that a plan is for.
///
/// # Errors
///
/// [`SolveError::NotOneRole`] or [`SolveError::Chance`] unless the game has a single role that is not
/// chance.
pub fn role_of_plan(game: &Game) -> Result<RoleId, SolveError> {
    let mut deciding = game.roles().filter(|role| !game.is_random(*role));
    let first = deciding.next();
    match (first, deciding.count(), game.role_count()) {
        (Some(role), 0, 1) => Ok(role),
        (_, 0, _) => Err(SolveError::Chance),
        (.., roles) => Err(SolveError::NotOneRole(roles)),
    }
}

/// The name of an exhausted budget in file formats.
pub fn budget_name(kind: BudgetKind) -> &'static str {
    match kind {
        BudgetKind::Nodes => "nodes",
        BudgetKind::Memory => "memory",
        BudgetKind::Disk => "disk",
        BudgetKind::Time => "time",
        BudgetKind::Interrupt => "interrupt",
        BudgetKind::Iterations => "iterations",
        BudgetKind::Method => "method",
    }
}

/// The reason why there is no answer.
#[non_exhaustive]
pub enum SolveError {
    /// The game has this number of roles, of which several are not chance.
    NotOneRole(usize),
    /// The only other role, if there is one, is chance.
    Chance,
    /// The method works on the network, and the machine has another backend.
    NoNetwork(Method),
    /// A file of a breadth-first search could not be written or read.
    Files(BreadthFirstError),
    /// The rules are wrong, or too large.
    Play(PlayError),
    /// A plan that a search returned is not a plan. This is a fault of this program.
    WrongPlan(WrongPlan),
}

impl From<PlayError> for SolveError {
    fn from(error: PlayError) -> Self {
        SolveError::Play(error)
    }
}

impl fmt::Display for SolveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SolveError::NotOneRole(roles) => write!(
                f,
                "a plan is for a game with one role, and this one has {}",
                counted(roles, "role")
            ),
            SolveError::Chance => f.write_str(
                "a plan is for a game without chance, and this one has the role `random`, whose moves are drawn",
            ),
            SolveError::NoNetwork(method) => write!(
                f,
                "{} searches the propositional network of the game, which was not built: omit \
                 `--backend`, or raise the limit of grounding that was reached",
                method.name()
            ),
            SolveError::Files(error) => error.fmt(f),
            SolveError::Play(error) => error.fmt(f),
            SolveError::WrongPlan(wrong) => wrong.fmt(f),
        }
    }
}

impl std::error::Error for SolveError {}

ggp_gdl::debug_as_display!(SolveError);

/// Looks for plans from the initial state of a game with one role.
///
/// `stats` takes the levels of all searches that were run. An interrupt, from
/// the budget or the machine's limits, ends the search with
/// [`Verdict::OutOfBudget`].
///
/// # Errors
///
/// [`SolveError`] if the game has several roles or its rules cannot be
/// evaluated.
pub fn solve(
    machine: &AnyMachine,
    options: &SolveOptions,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> Result<Answer, SolveError> {
    let mut machine = machine.clone();
    let initial = machine.initial()?;
    solve_from(&machine, &initial, options, stats, observer)
}

/// Looks for plans from any state, as [`solve`] does from the initial one.
///
/// # Errors
///
/// As [`solve`].
pub fn solve_from(
    machine: &AnyMachine,
    start: &PropnetState,
    options: &SolveOptions,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> Result<Answer, SolveError> {
    let is_on_network = match options.method.run() {
        Run::Network(_) => true,
        Run::Portfolio => portfolio::uses_network(options),
        Run::States(_) => false,
    };
    let puzzle = match is_on_network {
        true => puzzle(machine, start, options.target),
        false => None,
    };
    solve_puzzle(machine, start, puzzle, options, stats, observer)
}

/// Looks for plans; `puzzle` is the game on its network for the same target.
fn solve_puzzle(
    machine: &AnyMachine,
    start: &PropnetState,
    puzzle: Option<Puzzle>,
    options: &SolveOptions,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> Result<Answer, SolveError> {
    // The rest of the time is for the replay of what was found.
    let end = options.budget.end();
    let mut options = options.clone();
    options.budget.time = options.budget.time.map(|time| time - replay_time(time));
    let options = &options;
    let puzzle = puzzle.map(|puzzle| puzzle.until(options.budget.end()));
    let mut machine = machine.clone();
    machine.set_stop(&machine.stop().within(options.budget.time));
    let machine = &machine;
    let mut problem = GameProblem::new(machine, start, options.target, options.keys)?;
    problem.set_order(options.order);
    stats.refuted = None;
    let (method, budget) = (options.method, &options.budget);
    let attempt = match method.run() {
        Run::Portfolio => portfolio::run(&mut problem, puzzle.as_ref(), options, stats, observer)?,
        Run::Network(run) => {
            let puzzle = puzzle.as_ref().ok_or(SolveError::NoNetwork(method))?;
            let mut task = Task::new(puzzle, options);
            let attempt = task.run(method, run, budget, stats, observer);
            if let Some(failure) = task.failure.take() {
                return Err(SolveError::Files(failure));
            }
            attempt
        }
        Run::States(run) => {
            stats.method = Some(method.name());
            let attempt = run(&mut problem, options, budget, stats, observer)?;
            let why = format!("{method}, as requested; {}", attempt.why);
            Attempt { why, ..attempt }
        }
    };
    let Attempt {
        mut verdict,
        mut bound,
        ..
    } = attempt;
    let mut best = match verdict {
        Verdict::Solved { .. } => None,
        _ => problem.best_end().max_by_score(attempt.best),
    };
    let facts = machine.facts(start);
    let check = |plans: &[(&[Move], Option<Score>)]| {
        check::check_all(machine.game(), &facts, plans, options, &end)
    };
    let checked = match (&verdict, &best) {
        (Verdict::Solved { plans, .. }, _) => {
            let plans: Vec<_> = plans.iter().map(|plan| (&plan[..], None)).collect();
            check(&plans)?
        }
        (_, Some(found)) => match check(&[(&found.plan, Some(found.score))]) {
            // The moves to the best end are right unless two fingerprints collide.
            Err(SolveError::WrongPlan(_)) => {
                best = None;
                Checker::Nobody
            }
            checked => checked?,
        },
        (_, None) => check(&[])?,
    };
    let is_plan = |end: &mut BestEnd| {
        end.score >= options.target && end.plan.len() <= options.budget.depth as usize
    };
    if let Some(BestEnd { plan, .. }) = best.take_if(is_plan) {
        // Whoever found it, and whatever the search said when it ended.
        (verdict, bound) = (one_plan(plan, false), None);
    }
    if let Verdict::Solved { plans, optimal, .. } = &mut verdict {
        // Where a move is made, the start was no end.
        *optimal |= plans.iter().any(|plan| plan.len() <= 1);
    }
    let bound = bound.or_else(|| match verdict {
        Verdict::Unsolvable => {
            let mut scores = puzzle.as_ref()?.scores().into_iter();
            scores.rfind(|&score| score < options.target)
        }
        _ => None,
    });
    Ok(Answer {
        verdict,
        target: options.target,
        reason: attempt.reason,
        // What is asked of the answer later has its own time.
        puzzle: puzzle.map(|puzzle| puzzle.until(Stop::new())),
        best,
        bound,
        seen: attempt.seen,
        chosen: attempt.why,
        stripped: problem.stripped_count(),
        checked,
        fault: problem.take_fault(),
    })
}

/// The part of a time limit that is kept for the replay of plans.
fn replay_time(whole: Duration) -> Duration {
    (whole / 10).min(Duration::from_secs(1))
}

/// The game from a state on, as a puzzle, if the machine has a network.
fn puzzle(machine: &AnyMachine, start: &PropnetState, target: Score) -> Option<Puzzle> {
    let (net, packed) = machine.network(start)?;
    Puzzle::new(net.clone(), packed, target)
}

/// The answer with its target as the bound, if all higher scores that ends may have were
/// refuted before.
fn with_bound(mut answer: Answer, is_known: bool) -> Answer {
    if is_known && answer.bound.is_none() && answer.verdict != Verdict::Unsolvable {
        answer.bound = Some(answer.target);
    }
    answer
}

/// Looks for the end with the highest score, from any state: for the greatest of the scores
/// that can be reached. [`Answer::target`] is the score that the verdict is about. Without
/// a network it is [`SolveOptions::target`].
///
/// # Errors
///
/// As [`solve`].
pub fn solve_best_from(
    machine: &AnyMachine,
    start: &PropnetState,
    options: &SolveOptions,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> Result<Answer, SolveError> {
    let began = Instant::now();
    let Some(mut puzzle) = puzzle(machine, start, options.target) else {
        let answer = solve_puzzle(machine, start, None, options, stats, observer)?;
        return Ok(with_bound(answer, false));
    };
    let mut scores = puzzle.scores();
    let mut options = options.clone();
    let time = options.budget.time;
    let is_known = !scores.is_empty();
    options.target = scores.pop().unwrap_or(options.target);
    loop {
        if puzzle.target != options.target
            && let Some(other) = puzzle.aiming_at(options.target)
        {
            puzzle = other;
        }
        let shared = match options.method.run() {
            Run::Portfolio if !portfolio::uses_network(&options) => None,
            Run::States(_) => None,
            Run::Network(_) | Run::Portfolio => Some(puzzle.clone()),
        };
        let answer = solve_puzzle(machine, start, shared, &options, stats, observer)?;
        let is_refuted = answer.verdict == Verdict::Unsolvable;
        if let Some(bound) = answer.bound {
            scores.retain(|&score| score <= bound);
        }
        match scores.pop().filter(|_| is_refuted) {
            Some(next) => options.target = next,
            None => return Ok(with_bound(answer, is_known)),
        }
        options.budget.time = time.map(|time| time.saturating_sub(began.elapsed()));
    }
}

/// The outcome; an interrupted evaluation counts as an exhausted budget.
fn or_interrupted<T>(
    outcome: Result<T, PlayError>,
    interrupted: impl FnOnce() -> T,
) -> Result<T, SolveError> {
    match outcome {
        Err(PlayError::Interrupted) => Ok(interrupted()),
        other => other.map_err(SolveError::from),
    }
}
