//! Parity invariants: sets of facts of which the number that hold stays even or
//! odd.
//!
//! In: the effects of moves. Out: a set of facts of which each move changes an even
//! number, and in which the start and every solution differ in parity. Such a set
//! is found by elimination over GF(2) if one exists, and proves that no solution
//! can be reached.
//!
//! Source: Reiss, Beiträge zur Theorie des Solitär-Spiels (1857), for jumps.

use rustc_hash::FxHashSet;

use super::effects::{Effects, Form, Sparse};
use super::gf2::{System, ones};
use super::potential::Potentials;
use super::{Outcome, Puzzle, Reason};
use ggp_engine::propnet::batch::holds;

/// Searches for such a set. If the known facts of solutions are not enough,
/// potentials restrict the solutions further.
pub fn refute(puzzle: &Puzzle, effects: &Effects, potentials: Option<&Potentials>) -> Outcome {
    let mut told = Vec::new();
    let mut facts = disagreement(puzzle, effects, &effects.solutions);
    if facts.is_none()
        && let Some(potentials) = potentials
    {
        let (narrowed, sums) = potentials.narrowed(&puzzle.start);
        if !sums.is_empty() {
            facts = disagreement(puzzle, effects, &narrowed);
            told = sums;
        }
    }
    match facts {
        Some(facts) => Outcome::Unsolvable(Reason::Parity { facts, told }),
        None => Outcome::Unknown,
    }
}

fn disagreement(puzzle: &Puzzle, effects: &Effects, solutions: &[Form]) -> Option<Vec<u32>> {
    let facts = puzzle.net.facts().len();
    let mut system = System::new(facts);
    let mut seen: FxHashSet<Vec<usize>> = FxHashSet::default();
    // Nothing is known if there is no time for all equations.
    let mut is_whole = true;
    let mut keep = |vector: Vec<usize>| {
        is_whole &= !puzzle.stop.is_over();
        if is_whole && !vector.is_empty() && seen.insert(vector.clone()) {
            system.equation(vector, false);
        }
    };
    for form in effects.moves.iter().flatten() {
        let (base, span) = modulo_two(form);
        keep(base);
        span.into_iter().for_each(&mut keep);
    }
    let solutions: Vec<_> = solutions.iter().map(modulo_two).collect();
    for (_, span) in &solutions {
        span.iter().cloned().for_each(&mut keep);
    }
    if !is_whole {
        return None;
    }
    let start = (0..facts).filter(|&fact| effects.free[fact] && holds(&puzzle.start, fact));
    for (base, _) in &solutions {
        let difference = symmetric_difference(base.clone(), start.clone());
        if !system.equation(difference, true) {
            return None;
        }
    }
    let found = system.solution();
    let facts = ones(&found).map(|fact| fact as u32);
    Some(facts.collect())
}

/// A form over GF(2): one of its vectors, and vectors that span the differences to
/// the others.
pub(super) fn modulo_two(form: &Form) -> (Vec<usize>, Vec<Vec<usize>>) {
    let of = |vector: &Sparse| -> Vec<usize> {
        let odd = vector.iter().filter(|(_, value)| value % 2 != 0);
        odd.map(|&(fact, _)| fact as usize).collect()
    };
    let mut base = of(&form.sure);
    let mut span = Vec::new();
    for options in &form.choices {
        let first = of(&options[0]);
        let difference = options[1..]
            .iter()
            .map(|other| symmetric_difference(of(other), first.iter().copied()));
        span.extend(difference.filter(|vector| !vector.is_empty()));
        base = symmetric_difference(base, first.iter().copied());
    }
    (base, span)
}

/// The symmetric difference of two sets, ascending.
fn symmetric_difference(mut one: Vec<usize>, other: impl IntoIterator<Item = usize>) -> Vec<usize> {
    one.extend(other);
    one.sort_unstable();
    let mut sum: Vec<usize> = Vec::with_capacity(one.len());
    for fact in one {
        match sum.last() {
            Some(&last) if last == fact => {
                sum.pop();
            }
            _ => sum.push(fact),
        }
    }
    sum
}
