//! A game of one role as a problem for a search, and plans that are checked.
//!
//! In: a machine and [`SolveOptions`]. Out: an [`Answer`]: a verdict, plans that
//! were played again on the naive evaluator, and statistics. Which counters may
//! be left out of the tables comes from [`analysis`](ggp_gdl::analysis). Games of
//! several roles have no plan; [`evaluate()`] says what their moves promise.

mod auto;
mod check;
mod claim;
mod count;
mod evaluate;
mod joint;
mod methods;
mod order;
mod portfolio;
mod problem;
mod simulation;
mod strategy;
mod trail;

use std::fmt;
use std::time::Instant;

use crate::planning::breadth_first::{BreadthFirstOptions, Seen};
use crate::planning::{BestSoFar, Outcome, Plan, Puzzle};
use ggp_engine::machine::{Machine, PlayError};
use ggp_engine::propnet::Propnet;
use ggp_gdl::game::{Move, Score};
use ggp_search::breadth_first::{BreadthFirst, breadth_first};
use ggp_search::depth_first::{DepthFirst, depth_first};
use ggp_search::iterative_deepening::{IterativeDeepening, iterative_deepening};
use ggp_search::mcts::{Mcts, MctsVerdict, solve_with_mcts};
use ggp_search::{Budget, BudgetKind, Compare, Coverage, Observer, Plans, Prune, Stats, Verdict};

pub use check::{Checker, WrongPlan, check_plan};
pub use claim::{PATIENCE, claim, claim_count, lacks_proof, proof};

pub use crate::planning::rollout::Scoring;
pub use count::{Counted, count_from};
pub use evaluate::{Evaluation, MoveValue, RoleValue, budget_name, evaluate};
pub use joint::{Joint, JointProblem, joint_text};
use methods::{Found, Methods};
pub use order::MoveOrder;
use portfolio::Portfolio;
pub use problem::{GameProblem, Keys};
use simulation::Simulation;
pub use simulation::{Faults, Table};
pub use strategy::{Method, Strategy};

/// What to look for, and how.
#[derive(Clone, Debug)]
pub struct SolveOptions {
    /// The search.
    pub strategy: Strategy,
    /// The least score that makes a terminal state a solution.
    pub target: Score,
    /// The plans to look for. Monte Carlo and depth-first search find one only.
    pub plans: Plans,
    /// What iterative deepening leaves out.
    pub prune: Prune,
    /// What the tables compare.
    pub keys: Keys,
    /// The order in which moves are tried; [`Strategy::Auto`] varies it.
    pub order: MoveOrder,
    /// What may be spent; [`Budget::depth`] is the longest plan.
    pub budget: Budget,
    /// For what is chosen by chance.
    pub seed: u64,
    /// What playouts on the network are worth.
    pub scoring: Scoring,
    /// Who is to play the plans again.
    pub checker: Checker,
    /// Whether a plan will do only once it is proved that none is shorter;
    /// [`Strategy::Auto`] goes on until then.
    pub optimal: bool,
    /// Threads that [`Strategy::Auto`] and [`Method::Levels`] may use; 0 counts as 1.
    pub threads: usize,
    /// How [`Method::Levels`] goes about it.
    pub levels: BreadthFirstOptions,
}

impl Default for SolveOptions {
    fn default() -> Self {
        SolveOptions {
            strategy: Strategy::default(),
            target: Score::MAX,
            plans: Plans::First,
            prune: Prune::CYCLE,
            keys: Keys::default(),
            order: MoveOrder::default(),
            budget: Budget::default(),
            seed: 0,
            scoring: Scoring::Points,
            checker: Checker::default(),
            optimal: false,
            threads: 1,
            levels: BreadthFirstOptions::default(),
        }
    }
}

/// What a search for plans came to.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The verdict. Each plan in it was played again, see [`Answer::checked`].
    pub verdict: Verdict<Move>,
    /// The least score that makes a terminal state a solution.
    pub target: Score,
    /// The network where a method on it gave the verdict, and what that came to.
    pub proof: Option<(Propnet, Outcome)>,
    /// If there is no plan: the best end that was met, if it is worth anything.
    pub best: Option<BestEnd>,
    /// If that is proved: no end is worth more.
    pub bound: Option<Score>,
    /// What [`Method::Levels`] looked at, if it was asked for.
    pub seen: Option<Seen>,
    /// Which search gave the verdict and why it was chosen, in one line.
    pub chosen: String,
    /// How many counters the tables left out where they compared keys.
    pub stripped: usize,
    /// Who played the plans again.
    pub checked: Checker,
    /// What play showed to be wrong with the rules. The states concerned were
    /// taken for ends without score.
    pub fault: Option<PlayError>,
}

/// A terminal state that is no solution, and the way there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BestEnd {
    /// Its score.
    pub score: Score,
    /// The moves.
    pub plan: Vec<Move>,
}

/// Why there is no answer.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum SolveError {
    /// The game has several roles, as many as given, or its only one is chance.
    NotOneRole(usize),
    /// The method works on the network, and what answers is another backend.
    NoNetwork(Method),
    /// A file that was asked for could not be written, or read, for this reason.
    Files(String),
    /// The rules are wrong, or too large.
    Play(PlayError),
    /// A plan that a search returned is none. This is a fault of this program.
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
            SolveError::NotOneRole(1) => f.write_str(
                "the only role is `random`, whose moves are chosen by chance, so there is no plan",
            ),
            SolveError::NotOneRole(roles) => write!(
                f,
                "a plan is for a game with one role, and this one has {roles}"
            ),
            SolveError::NoNetwork(method) => write!(
                f,
                "{} works on the network of a game, and this one is played without",
                Strategy::Network(*method).name()
            ),
            SolveError::Files(failure) => f.write_str(failure),
            SolveError::Play(error) => error.fmt(f),
            SolveError::WrongPlan(wrong) => wrong.fmt(f),
        }
    }
}

impl std::error::Error for SolveError {}

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
pub fn solve<M: Machine>(
    machine: &M,
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
pub fn solve_from<M: Machine>(
    machine: &M,
    start: &M::State,
    options: &SolveOptions,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> Result<Answer, SolveError> {
    let mut problem = GameProblem::new(machine, start, options.target, options.keys)?;
    problem.set_order(options.order);
    stats.refuted = None;
    let began = Instant::now();
    let mut came = on_network(machine, start, options, stats, observer)?;
    let found = came.as_mut().and_then(|came| came.found.take());
    let mut proof = None;
    let (mut verdict, line, chosen) = match options.strategy {
        _ if found.is_some() => {
            let (came, found) = came.as_ref().zip(found).expect("it was looked at");
            let budget = &options.budget;
            let verdict = verdict_of(&came.puzzle, &found.outcome, budget, began, stats);
            proof = Some(found.outcome);
            (verdict, None, found.why)
        }
        Strategy::Auto => {
            let mut rest = options.clone();
            rest.budget.time = (options.budget.time).map(|t| t.saturating_sub(began.elapsed()));
            auto::search(&mut problem, &rest, stats, observer)?
        }
        strategy => {
            let run = run(
                &mut problem,
                strategy,
                options,
                &options.budget,
                stats,
                observer,
            )?;
            let chosen = format!("{}, as asked; {}", strategy.name(), problem.tables());
            (run.verdict, run.line, chosen)
        }
    };
    let refuted = came.as_ref().and_then(|came| came.refuted);
    if let Verdict::OutOfBudget {
        depth_completed, ..
    } = &mut verdict
    {
        *depth_completed = (*depth_completed).max(refuted);
    }
    let line = [line, came.as_ref().and_then(OnNetwork::best_end)];
    let line = line.into_iter().flatten().max_by_key(|end| end.score);
    let mut best = match verdict {
        Verdict::Solved { .. } => None,
        _ => problem.best_end().max_by_score(line),
    };
    let bound = came.as_ref().and_then(|came| came.bound(&verdict));
    let seen = came.as_ref().and_then(|came| came.seen);
    let proof = came
        .zip(proof)
        .map(|(came, outcome)| (came.puzzle.net, outcome));
    let facts = machine.facts(start);
    let plans: Vec<(&[Move], Option<Score>)> = match &verdict {
        Verdict::Solved { plans, .. } => plans.iter().map(|plan| (&plan[..], None)).collect(),
        _ => best.iter().map(|b| (&b.plan[..], Some(b.score))).collect(),
    };
    let (target, checker) = (options.target, options.checker);
    let raised = &options.budget.stop;
    let checked = check::check_all(machine, &facts, &plans, target, checker, raised);
    let checked = match checked {
        // The way to the best end is right but for a collision of fingerprints.
        Err(SolveError::WrongPlan(_)) if best.is_some() => {
            best = None;
            Checker::Nobody
        }
        other => other?,
    };
    Ok(Answer {
        verdict,
        target: options.target,
        proof,
        best,
        bound,
        seen,
        chosen,
        stripped: problem.stripped_count(),
        checked,
        fault: problem.take_fault(),
    })
}

/// What methods on the network came to.
struct OnNetwork {
    puzzle: Puzzle,
    found: Option<Found>,
    best: Option<BestSoFar>,
    is_best: bool,
    refuted: Option<u32>,
    seen: Option<Seen>,
}

/// Runs methods on the network, if they are to be tried.
fn on_network<M: Machine>(
    machine: &M,
    start: &M::State,
    options: &SolveOptions,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> Result<Option<OnNetwork>, SolveError> {
    let asked = match options.strategy {
        Strategy::Network(method) => Some(method),
        Strategy::Auto if options.plans == Plans::First && options.keys == Keys::Auto => None,
        _ => return Ok(None),
    };
    let Some(puzzle) = puzzle(machine, start, options.target) else {
        return match asked {
            Some(method) => Err(SolveError::NoNetwork(method)),
            None => Ok(None),
        };
    };
    let mut came = OnNetwork {
        found: None,
        best: None,
        is_best: false,
        refuted: None,
        seen: None,
        puzzle,
    };
    match asked {
        Some(method) => {
            let mut methods = Methods::new(&came.puzzle, options);
            let found = Some(methods.run(method, &options.budget, stats, observer));
            if let Some(failure) = methods.failure.take() {
                return Err(SolveError::Files(failure));
            }
            let (best, seen) = (methods.best.take(), methods.seen);
            came = OnNetwork {
                found,
                best,
                seen,
                ..came
            };
        }
        None => {
            // Playouts look for the best end in the rest of the time.
            let patience = options.budget.time.map(|time| time * 4 / 5);
            let mut portfolio = Portfolio::new(&came.puzzle, options, patience);
            let found = portfolio.run(stats, observer);
            let (best, is_best) = (portfolio.best.take(), portfolio.is_best);
            let refuted = portfolio.refuted;
            came = OnNetwork {
                found,
                best,
                is_best,
                refuted,
                ..came
            };
        }
    }
    Ok(Some(came))
}

/// The game from a state on, as a puzzle, if the machine has a network.
fn puzzle<M: Machine>(machine: &M, start: &M::State, target: Score) -> Option<Puzzle> {
    let (net, packed) = machine.network(start)?;
    Puzzle::new(net.clone(), packed, target)
}

impl OnNetwork {
    fn best_end(&self) -> Option<BestEnd> {
        let best = self.best.as_ref()?;
        Some(BestEnd {
            score: best.score,
            plan: moves(&self.puzzle, &best.plan),
        })
    }

    /// The most that an end can be worth, if something is proved.
    fn bound(&self, verdict: &Verdict<Move>) -> Option<Score> {
        if self.is_best {
            return self.best.as_ref().map(|best| best.score);
        }
        let scores = self.puzzle.scores();
        let mut below = scores
            .into_iter()
            .filter(|&score| score < self.puzzle.target);
        match verdict {
            Verdict::Unsolvable => below.next_back(),
            _ => None,
        }
    }
}

fn moves(puzzle: &Puzzle, plan: &Plan) -> Vec<Move> {
    let chosen = plan.iter();
    chosen
        .map(|&chosen| puzzle.net.moves()[0][chosen as usize])
        .collect()
}

/// All above the target was refuted, if it is known what ends may be worth.
fn with_bound(mut answer: Answer, is_known: bool) -> Answer {
    if is_known && answer.bound.is_none() && answer.verdict != Verdict::Unsolvable {
        answer.bound = Some(answer.target);
    }
    answer
}

/// Looks for the end that is worth most, from any state: for the greatest of the
/// scores that can be reached. [`Answer::target`] says which one the verdict is
/// about. Without a network it is [`SolveOptions::target`].
///
/// # Errors
///
/// As [`solve`].
pub fn solve_best_from<M: Machine>(
    machine: &M,
    start: &M::State,
    options: &SolveOptions,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> Result<Answer, SolveError> {
    let began = Instant::now();
    let known = puzzle(machine, start, options.target).map(|puzzle| puzzle.scores());
    let mut scores = known.unwrap_or_default();
    let mut options = options.clone();
    let time = options.budget.time;
    let is_known = !scores.is_empty();
    options.target = scores.pop().unwrap_or(options.target);
    loop {
        let answer = solve_from(machine, start, &options, stats, observer)?;
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

/// What a method came to, in the words of searches.
fn verdict_of(
    puzzle: &Puzzle,
    outcome: &Outcome,
    budget: &Budget,
    began: Instant,
    stats: &Stats,
) -> Verdict<Move> {
    match outcome {
        Outcome::Solved { plan, optimal } => Verdict::Solved {
            plans: vec![moves(puzzle, plan)],
            optimal: *optimal,
            coverage: Coverage::Unknown,
        },
        Outcome::Unsolvable(_) => Verdict::Unsolvable,
        Outcome::NoPlanWithin(depth) if *depth >= budget.depth => Verdict::NoSolutionWithin(*depth),
        Outcome::NoPlanWithin(_) | Outcome::Unknown => Verdict::OutOfBudget {
            depth_completed: match outcome {
                Outcome::NoPlanWithin(depth) => stats.refuted.max(Some(*depth)),
                _ => stats.refuted,
            },
            what: stats.ran_out.unwrap_or_else(|| match budget.time {
                _ if budget.stop.is_raised() => BudgetKind::Interrupt,
                Some(time) if began.elapsed() >= time => BudgetKind::Time,
                _ if budget.stop.is_late() => BudgetKind::Time,
                _ if stats.total().expanded >= budget.nodes => BudgetKind::Nodes,
                _ => BudgetKind::Method,
            }),
        },
    }
}

/// What one search came to.
struct Run {
    verdict: Verdict<Move>,
    /// The best line of a Monte Carlo search.
    line: Option<BestEnd>,
}

/// Runs one search; not [`Strategy::Auto`].
fn run<M: Machine>(
    problem: &mut GameProblem<M>,
    strategy: Strategy,
    options: &SolveOptions,
    budget: &Budget,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> Result<Run, SolveError> {
    stats.method = Some(strategy.name());
    let compare = match options.keys {
        Keys::Exact => Compare::State,
        _ => Compare::Key,
    };
    let outcome = match strategy {
        Strategy::Mcts => return monte_carlo(problem, options, budget, stats, observer),
        Strategy::DepthFirst => {
            let how = DepthFirst { compare };
            depth_first(problem, &how, budget, stats, observer)
        }
        Strategy::Iterative => {
            let how = IterativeDeepening {
                prune: options.prune,
                plans: options.plans,
                compare,
            };
            iterative_deepening(problem, &how, budget, stats, observer)
        }
        Strategy::BreadthFirst | Strategy::Auto | Strategy::Network(_) => {
            let how = BreadthFirst {
                plans: options.plans,
                compare,
            };
            breadth_first(problem, &how, budget, stats, observer)
        }
    };
    let verdict = or_interrupted(outcome, || Verdict::OutOfBudget {
        depth_completed: None,
        what: BudgetKind::Interrupt,
    })?;
    Ok(Run {
        verdict,
        line: None,
    })
}

/// Looks for a plan by playouts. The budget's nodes are its iterations.
fn monte_carlo<M: Machine>(
    problem: &mut GameProblem<M>,
    options: &SolveOptions,
    budget: &Budget,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> Result<Run, SolveError> {
    let how = Mcts {
        iterations: u64::MAX,
        seed: options.seed,
        ..Mcts::default()
    };
    let start = problem.start_state().clone();
    let mut simulation = Simulation::of_problem(problem);
    let outcome = solve_with_mcts(&mut simulation, &start, &how, budget, stats, observer);
    let verdict = or_interrupted(outcome, || MctsVerdict::OutOfBudget {
        best: None,
        what: BudgetKind::Interrupt,
    })?;
    Ok(match verdict {
        MctsVerdict::Solved { plan } => Run {
            verdict: Verdict::Solved {
                plans: vec![plan],
                optimal: false,
                coverage: Coverage::Unknown,
            },
            line: None,
        },
        MctsVerdict::OutOfBudget { best, what } => Run {
            verdict: Verdict::OutOfBudget {
                depth_completed: None,
                what,
            },
            line: best.filter(|line| line.score > 0).map(|line| BestEnd {
                score: Score::new(line.score).unwrap_or(Score::MAX),
                plan: line.plan,
            }),
        },
    })
}

/// The outcome, where an interrupted evaluation is an exhausted budget.
fn or_interrupted<T>(
    outcome: Result<T, PlayError>,
    interrupted: impl FnOnce() -> T,
) -> Result<T, SolveError> {
    match outcome {
        Err(PlayError::Interrupted) => Ok(interrupted()),
        other => other.map_err(SolveError::from),
    }
}
