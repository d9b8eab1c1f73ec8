//! Nested rollout policy adaptation: playouts that learn which moves work.

use super::task::Task;
use crate::planning::Outcome;
use crate::planning::nrpa::{self, Nrpa};
use crate::planning::rollout::{Sampling, Scoring};
use ggp_search::{Budget, Observer, Stats};

pub(super) fn nrpa(
    task: &mut Task<'_>,
    budget: &Budget,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> (Outcome, String) {
    let how = Nrpa {
        sampling: Sampling {
            seed: task.options.seed,
            scoring: task.options.scoring,
            ..Sampling::default()
        },
        ..Nrpa::default()
    };
    let outcome = nrpa::nrpa(&task.puzzle, &how, budget, &mut task.best, stats, observer);
    let why = match task.options.scoring {
        Scoring::Points => "by points, then by the facts that are as wanted",
        Scoring::Length => "by the lengths of solutions",
    };
    (outcome, why.to_owned())
}
