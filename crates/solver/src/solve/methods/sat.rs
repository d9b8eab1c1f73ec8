//! SAT encodings: of the set of moves made, and of each step.

use super::task::Task;
use crate::planning::Outcome;
use crate::planning::bounded::bounded;
use crate::planning::move_set::{self, move_set_if_reliable};
use ggp_search::{Budget, Observer, Stats};

pub(super) fn move_set(
    task: &mut Task<'_>,
    budget: &Budget,
    _: &mut Stats,
    _: &mut dyn Observer,
) -> (Outcome, String) {
    let answer = match task.in_portfolio {
        true => move_set_if_reliable(&task.puzzle, budget),
        false => move_set::move_set(&task.puzzle, budget),
    };
    (answer.outcome, answer.found)
}

pub(super) fn steps(
    task: &mut Task<'_>,
    budget: &Budget,
    _: &mut Stats,
    _: &mut dyn Observer,
) -> (Outcome, String) {
    let answer = bounded(&task.puzzle, budget);
    (answer.outcome, answer.found)
}
