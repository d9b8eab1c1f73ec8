//! `auto`: the methods of the table in turn, in growing slices, until one has an answer.
//!
//! Methods on the network come first: analyses, then searches in turn ([`network`]). What
//! they leave of the budget goes to searches on the states ([`states`]), which also do the
//! work alone where there is no network, or all shortest plans are wanted.

mod network;
mod states;

use ggp_stop::Instant;

use super::methods::task::moves;
use super::{Attempt, BestEnd, GameProblem, Keys, SolveError, SolveOptions};
use crate::planning::Puzzle;
use ggp_engine::machine::AnyMachine;
use ggp_search::{Observer, Plans, Stats, Verdict};
use network::Network;

/// Whether the portfolio runs methods on the network with these options.
pub(super) fn uses_network(options: &SolveOptions) -> bool {
    options.plans == Plans::First && options.keys == Keys::Auto
}

/// Runs the portfolio. `puzzle` is the game on its network, if methods on it may run.
pub(super) fn run(
    problem: &mut GameProblem<AnyMachine>,
    puzzle: Option<&Puzzle>,
    options: &SolveOptions,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> Result<Attempt, SolveError> {
    let began = Instant::now();
    let Some(puzzle) = puzzle else {
        return states::run(problem, options, stats, observer);
    };
    let relevant = puzzle.relevant();
    let puzzle = relevant.as_ref().unwrap_or(puzzle);
    // Playouts look for the best end in the rest of the time.
    let patience = options.budget.time.map(|time| time * 4 / 5);
    let mut network = Network::new(puzzle, options, patience);
    let found = network.run(stats, observer);
    let mut attempt = match found {
        Some(found) => found,
        None => {
            let mut rest = options.clone();
            rest.budget.time = (options.budget.time).map(|t| t.saturating_sub(began.elapsed()));
            states::run(problem, &rest, stats, observer)?
        }
    };
    if let Verdict::OutOfBudget {
        depth_completed, ..
    } = &mut attempt.verdict
    {
        *depth_completed = (*depth_completed).max(network.refuted);
    }
    let best = network.best.map(|best| BestEnd {
        score: best.score,
        plan: moves(puzzle, &best.plan),
    });
    if network.is_best {
        attempt.bound = best.as_ref().map(|best| best.score);
    }
    attempt.best = [attempt.best, best]
        .into_iter()
        .flatten()
        .max_by_key(|end| end.score);
    Ok(attempt)
}
