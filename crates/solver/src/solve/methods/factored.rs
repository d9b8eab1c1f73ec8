//! Independent parts of the goal, one after the other.

use super::task::Task;
use crate::planning::Outcome;
use crate::planning::factored;
use ggp_search::{Budget, Observer, Stats};

pub(super) fn factored(
    task: &mut Task<'_>,
    budget: &Budget,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> (Outcome, String) {
    let outcome = factored::factored(&task.puzzle, budget, stats, observer);
    (outcome, "the goal has independent parts".to_owned())
}
