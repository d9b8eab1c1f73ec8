//! Counts of solutions.

use super::check::{Checker, check_all};
use super::methods::task::moves;
use super::{SolveError, SolveOptions, puzzle, role_of_plan};
use crate::planning::Puzzle;
use crate::planning::move_set::count;
use ggp_engine::machine::{AnyMachine, Machine, PropnetState};
use ggp_gdl::game::Move;

/// Solutions that differ in the set of moves made, whatever their order.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Counted {
    /// A plan for each solution; each was played again.
    pub plans: Vec<Vec<Move>>,
    /// Whether it is proved that there are no others.
    pub is_all: bool,
    /// The evaluator that played the plans again.
    pub checked: Checker,
    /// The game on its network.
    pub puzzle: Puzzle,
}

/// Looks for up to `at_most` solutions, from any state. It works where each fact is written
/// once, see [`move_set`](crate::planning::move_set); elsewhere [`Counted::is_all`] stays
/// false.
///
/// # Errors
///
/// As [`solve`](super::solve); [`SolveError::NoNetwork`] without a network.
pub fn count_from(
    machine: &AnyMachine,
    start: &PropnetState,
    options: &SolveOptions,
    at_most: usize,
) -> Result<Counted, SolveError> {
    role_of_plan(machine.game())?;
    let Some(puzzle) = puzzle(machine, start, options.target) else {
        return Err(SolveError::NoNetwork(options.method));
    };
    let end = options.budget.end();
    let found = count(&puzzle, &options.budget, at_most);
    let plans: Vec<Vec<Move>> = (found.plans.iter())
        .map(|plan| moves(&puzzle, plan))
        .collect();
    let played: Vec<_> = plans.iter().map(|plan| (&plan[..], None)).collect();
    let facts = machine.facts(start);
    let checked = check_all(machine.game(), &facts, &played, options, &end)?;
    Ok(Counted {
        plans,
        is_all: found.is_all,
        checked,
        puzzle,
    })
}
