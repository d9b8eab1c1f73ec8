//! Searches on packed states: breadth-first, depth-first, from both ends, and by groups of moves.

use super::task::Task;
use crate::planning::Outcome;
use crate::planning::breadth_first::{self, BreadthFirstOptions};
use crate::planning::depth_first::{self, DeadEndDetector, DepthFirstOptions};
use crate::planning::{bidirectional, subgroups};
use ggp_search::{Budget, Observer, Stats};

pub(super) fn breadth_first(
    task: &mut Task<'_>,
    budget: &Budget,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> (Outcome, String) {
    let how = match task.in_portfolio {
        // In a portfolio each thread runs a search of its own.
        true => BreadthFirstOptions {
            threads: 1,
            ..BreadthFirstOptions::default()
        },
        false => BreadthFirstOptions {
            threads: task.options.threads,
            ..task.options.packed.clone()
        },
    };
    let why = "level by level".to_owned();
    match breadth_first::breadth_first(&task.puzzle, &how, budget, stats, observer) {
        Ok((outcome, seen)) => {
            task.seen = Some(seen);
            match seen.symmetries {
                1 => (outcome, why),
                count => (outcome, format!("{why}, up to {count} symmetries")),
            }
        }
        Err(error) => {
            task.failure = Some(error);
            (Outcome::Unknown, why)
        }
    }
}

pub(super) fn depth_first(
    task: &mut Task<'_>,
    budget: &Budget,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> (Outcome, String) {
    let puzzle = &task.puzzle.clone();
    let mut how = DepthFirstOptions {
        seed: task.options.seed,
        partial_order: task.partial_order(),
        ..DepthFirstOptions::default()
    };
    if task.one_order {
        how.workers = 1;
    }
    let mut learned = match task.in_portfolio {
        true => None,
        false => task.potentials(),
    };
    if let Some(learned) = &mut learned {
        learned.0.within(budget);
    }
    let why = match &learned {
        Some(_) => "without the states that potentials refute",
        None => "in many move orders",
    };
    let learned = learned.map(|learned| learned as &mut dyn DeadEndDetector);
    let outcome = depth_first::depth_first(puzzle, &how, learned, budget, stats, observer);
    (outcome, why.to_owned())
}

/// Number of workers where the fewest moves come first: the children of all of them about
/// fill the lanes.
const WORKERS: usize = 32;
/// States expanded before the first restart then.
const RESTART_AFTER: u64 = 1 << 12;

pub(super) fn fewest_moves(
    task: &mut Task<'_>,
    budget: &Budget,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> (Outcome, String) {
    let how = DepthFirstOptions {
        workers: WORKERS,
        restart_after: RESTART_AFTER,
        seed: task.options.seed,
        partial_order: task.partial_order(),
        fewest_moves: true,
    };
    let outcome = depth_first::depth_first(&task.puzzle, &how, None, budget, stats, observer);
    (outcome, "ties in random order".to_owned())
}

pub(super) fn bidirectional(
    task: &mut Task<'_>,
    budget: &Budget,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> (Outcome, String) {
    let outcome = bidirectional::bidirectional(&task.puzzle, budget, stats, observer);
    (outcome, "moves are undone from the solutions on".to_owned())
}

pub(super) fn subgroups(
    task: &mut Task<'_>,
    budget: &Budget,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> (Outcome, String) {
    let outcome = subgroups::subgroups(&task.puzzle, budget, stats, observer);
    (outcome, "smaller and smaller groups of moves".to_owned())
}
