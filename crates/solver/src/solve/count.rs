//! How many solutions there are.

use super::check::{Checker, check_all};
use super::{Method, SolveError, SolveOptions, moves, puzzle};
use crate::planning::move_set::count;
use ggp_engine::machine::Machine;
use ggp_gdl::game::Move;

/// Solutions that differ in the moves that are made, in whatever order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counted {
    /// A plan for each; each was played again.
    pub plans: Vec<Vec<Move>>,
    /// Whether it is proved that there are no others.
    pub is_all: bool,
    /// Who played the plans again.
    pub checked: Checker,
}

/// Looks for so many solutions, from any state. It works where facts are written
/// once, see [`move_set`](crate::planning::move_set::move_set()); elsewhere
/// [`Counted::is_all`] stays false.
///
/// # Errors
///
/// As [`solve`](super::solve); [`SolveError::NoNetwork`] without a network.
pub fn count_from<M: Machine>(
    machine: &M,
    start: &M::State,
    options: &SolveOptions,
    at_most: usize,
) -> Result<Counted, SolveError> {
    let roles = machine.game().role_count();
    if roles != 1 {
        return Err(SolveError::NotOneRole(roles));
    }
    let Some(puzzle) = puzzle(machine, start, options.target) else {
        return Err(SolveError::NoNetwork(Method::MoveSet));
    };
    let found = count(&puzzle, &options.budget, at_most);
    let plans: Vec<Vec<Move>> = (found.plans.iter())
        .map(|plan| moves(&puzzle, plan))
        .collect();
    let played: Vec<_> = plans.iter().map(|plan| (&plan[..], None)).collect();
    let (target, checker) = (options.target, options.checker);
    let raised = &options.budget.stop;
    let checked = check_all(
        machine,
        &machine.facts(start),
        &played,
        target,
        checker,
        raised,
    )?;
    Ok(Counted {
        plans,
        is_all: found.is_all,
        checked,
    })
}
