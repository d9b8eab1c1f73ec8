//! Searches on the states of any backend, without a network.

use super::super::simulation::Simulation;
use super::super::{Attempt, BestEnd, GameProblem, Keys, SolveError, SolveOptions, or_interrupted};
use ggp_engine::machine::{AnyMachine, Machine};
use ggp_gdl::game::{Move, Score};
use ggp_search::breadth_first::BreadthFirst;
use ggp_search::depth_first::DepthFirst;
use ggp_search::iterative_deepening::IterativeDeepening;
use ggp_search::mcts::{Mcts, MctsVerdict, solve_with_mcts};
use ggp_search::{Budget, BudgetKind, Compare, Coverage, Observer, Stats, Verdict};

/// The part of a search on states in `auto`.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(in crate::solve) enum Part {
    /// Shortest plans and proofs.
    Breadth,
    /// Long plans, with another move order in each round.
    Depth,
    /// Playouts.
    Playouts,
}

type Problem = GameProblem<AnyMachine>;

fn compare(options: &SolveOptions) -> Compare {
    match options.keys {
        Keys::Exact => Compare::State,
        _ => Compare::Key,
    }
}

/// The reason why queries of a machine were interrupted.
fn interruption(machine: &AnyMachine) -> BudgetKind {
    match machine.stop().is_late() {
        true => BudgetKind::Time,
        false => BudgetKind::Interrupt,
    }
}

fn attempt(
    problem: &Problem,
    verdict: Result<Verdict<Move>, ggp_engine::machine::PlayError>,
) -> Result<Attempt, SolveError> {
    let verdict = or_interrupted(verdict, || Verdict::OutOfBudget {
        depth_completed: None,
        what: interruption(problem.machine()),
    })?;
    Ok(Attempt::new(verdict, problem.tables().to_owned()))
}

pub(in crate::solve) fn breadth_first(
    problem: &mut Problem,
    options: &SolveOptions,
    budget: &Budget,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> Result<Attempt, SolveError> {
    let how = BreadthFirst {
        plans: options.plans,
        compare: compare(options),
    };
    let verdict = ggp_search::breadth_first::breadth_first(problem, &how, budget, stats, observer);
    attempt(problem, verdict)
}

pub(super) fn depth_first(
    problem: &mut Problem,
    options: &SolveOptions,
    budget: &Budget,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> Result<Attempt, SolveError> {
    let how = DepthFirst {
        compare: compare(options),
    };
    let verdict = ggp_search::depth_first::depth_first(problem, &how, budget, stats, observer);
    attempt(problem, verdict)
}

pub(super) fn iterative_deepening(
    problem: &mut Problem,
    options: &SolveOptions,
    budget: &Budget,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> Result<Attempt, SolveError> {
    let how = IterativeDeepening {
        prune: options.prune,
        plans: options.plans,
        compare: compare(options),
    };
    let verdict = ggp_search::iterative_deepening::iterative_deepening(
        problem, &how, budget, stats, observer,
    );
    attempt(problem, verdict)
}

/// Looks for a plan by playouts. The budget's nodes are its iterations.
pub(super) fn monte_carlo(
    problem: &mut Problem,
    options: &SolveOptions,
    budget: &Budget,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> Result<Attempt, SolveError> {
    let how = Mcts {
        iterations: u64::MAX,
        seed: options.seed,
        ..Mcts::default()
    };
    let start = (problem.start_state().clone(), 0);
    let mut simulation = Simulation::of_problem(problem, budget.depth);
    let verdict = solve_with_mcts(&mut simulation, &start, &how, budget, stats, observer);
    let verdict = or_interrupted(verdict, || MctsVerdict::OutOfBudget {
        best: None,
        what: interruption(problem.machine()),
    })?;
    let why = problem.tables().to_owned();
    Ok(match verdict {
        MctsVerdict::Solved { plan } => Attempt::new(
            Verdict::Solved {
                plans: vec![plan],
                optimal: false,
                coverage: Coverage::Unknown,
            },
            why,
        ),
        MctsVerdict::OutOfBudget { best, what } => Attempt {
            best: best.filter(|line| line.score > 0).map(|line| BestEnd {
                score: Score::new(line.score).unwrap_or(Score::MAX),
                plan: line.plan,
            }),
            ..Attempt::new(
                Verdict::OutOfBudget {
                    depth_completed: None,
                    what,
                },
                why,
            )
        },
    })
}
