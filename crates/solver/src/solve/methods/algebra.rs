//! Linear systems, parities and potentials: answers without a search.

use super::task::{HASTY, Learned, Task};
use crate::planning::{Outcome, Reason, linear, modular, parity};
use ggp_search::{Budget, Observer, Stats};

pub(super) fn algebra(
    task: &mut Task<'_>,
    budget: &Budget,
    _: &mut Stats,
    _: &mut dyn Observer,
) -> (Outcome, String) {
    let (outcome, why) = outcome(task, budget);
    (outcome, why.to_owned())
}

fn outcome(task: &mut Task<'_>, budget: &Budget) -> (Outcome, &'static str) {
    let puzzle = &task.puzzle.clone();
    let Some(effects) = task.effects() else {
        return (Outcome::Unknown, "there are too many moves and facts");
    };
    let solved = linear::solve(puzzle, &effects);
    if solved != Outcome::Unknown {
        return (solved, "moves flip facts, whatever the state");
    }
    let solved = modular::solve(puzzle, &effects);
    if solved != Outcome::Unknown {
        return (solved, "moves turn things on by fixed amounts");
    }
    let parity = parity::refute(puzzle, &effects, None);
    if let Outcome::Unsolvable(Reason::Parity { facts, .. }) = &parity {
        let why = match facts.is_empty() {
            true => "no state at all is a solution",
            false => "every move keeps a parity",
        };
        return (parity, why);
    }
    let most = task.in_portfolio.then_some(HASTY);
    let Some(Learned(potentials)) = task.potentials() else {
        return (Outcome::Unknown, "nothing is linear");
    };
    potentials.within(&Budget {
        time: [budget.time, most].into_iter().flatten().min(),
        ..budget.clone()
    });
    let potential = potentials.refute(puzzle);
    if potential != Outcome::Unknown {
        return (potential, "no move makes a weighted sum larger");
    }
    let narrowed = parity::refute(puzzle, &effects, Some(potentials));
    (
        narrowed,
        "every move keeps a parity of the facts that potentials allow in a solution",
    )
}
