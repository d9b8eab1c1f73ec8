//! SAT encodings: of the set of moves made, and of each step.

use super::task::Task;
use crate::planning::Outcome;
use crate::planning::bounded::unroll;
use crate::planning::move_set::{collapse, collapse_sure};
use ggp_search::{Budget, Observer, Stats};

pub(super) fn move_set(
    task: &mut Task<'_>,
    budget: &Budget,
    _: &mut Stats,
    _: &mut dyn Observer,
) -> (Outcome, String) {
    let answer = match task.in_portfolio {
        true => collapse_sure(task.puzzle, budget),
        false => collapse(task.puzzle, budget),
    };
    (answer.outcome, answer.found)
}

pub(super) fn steps(
    task: &mut Task<'_>,
    budget: &Budget,
    _: &mut Stats,
    _: &mut dyn Observer,
) -> (Outcome, String) {
    let answer = unroll(task.puzzle, budget);
    (answer.outcome, answer.found)
}
