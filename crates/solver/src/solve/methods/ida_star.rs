//! Iterative deepening by a lower bound on the moves to come.

use super::task::Task;
use crate::planning::Outcome;
use crate::planning::iterative_deepening::{Bounds, Deepening, deepening};
use ggp_search::{Budget, Compare, Observer, Stats};

pub(super) fn ida_star(
    task: &mut Task<'_>,
    budget: &Budget,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> (Outcome, String) {
    let how = Deepening {
        bounds: Bounds::Sums,
        compare: Compare::Key,
    };
    let outcome = deepening(task.puzzle, &how, budget, stats, observer);
    (outcome, "one length after the other".to_owned())
}
