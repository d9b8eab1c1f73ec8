//! Iterative deepening by a lower bound on the moves to come.

use super::task::Task;
use crate::planning::Outcome;
use crate::planning::iterative_deepening;
use ggp_search::{Budget, Observer, Stats};

pub(super) fn ida_star(
    task: &mut Task<'_>,
    budget: &Budget,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> (Outcome, String) {
    let outcome = iterative_deepening::iterative_deepening(&task.puzzle, budget, stats, observer);
    (outcome, "one length after the other".to_owned())
}
