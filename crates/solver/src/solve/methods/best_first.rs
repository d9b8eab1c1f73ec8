//! Best-first searches on packed states: greedy, by novelty, A*, and in a beam.

use super::task::Task;
use crate::planning::Outcome;
use crate::planning::best_first::{self, BestFirst, Order};
use crate::planning::estimate::Estimate;
use ggp_search::{Budget, Observer, Stats};

/// States that a beam keeps of each level.
const BEAM: usize = 4_096;

pub(super) fn greedy(
    task: &mut Task<'_>,
    budget: &Budget,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> (Outcome, String) {
    let how = BestFirst::new(Order::Greedy, Estimate::HAdd);
    let outcome = best_first::best_first(&task.puzzle, &how, budget, stats, observer);
    (outcome, "by additive estimates".to_owned())
}

pub(super) fn weighted(
    task: &mut Task<'_>,
    budget: &Budget,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> (Outcome, String) {
    let how = BestFirst {
        together: 16,
        ..BestFirst::new(Order::Greedy, Estimate::WeightedGoalCount)
    };
    let outcome = best_first::best_first(&task.puzzle, &how, budget, stats, observer);
    (outcome, "facts that few moves change weigh most".to_owned())
}

pub(super) fn novelty(
    task: &mut Task<'_>,
    budget: &Budget,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> (Outcome, String) {
    let how = BestFirst::new(Order::Bfws2, Estimate::GoalCount);
    let outcome = best_first::best_first(&task.puzzle, &how, budget, stats, observer);
    (outcome, "novel states first, by the goal count".to_owned())
}

pub(super) fn a_star(
    task: &mut Task<'_>,
    budget: &Budget,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> (Outcome, String) {
    let how = BestFirst::new(Order::AStar, Estimate::HMax);
    let outcome = best_first::best_first(&task.puzzle, &how, budget, stats, observer);
    (outcome, "by a lower bound".to_owned())
}

pub(super) fn beam(
    task: &mut Task<'_>,
    budget: &Budget,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> (Outcome, String) {
    let how = BestFirst::new(Order::Beam(BEAM), Estimate::HAdd);
    let outcome = best_first::best_first(&task.puzzle, &how, budget, stats, observer);
    (outcome, "by additive estimates".to_owned())
}
