//! Sets of facts whose number is even for ever, or odd.
//!
//! In: the effects of moves. Out: a set of facts of which each move changes an
//! even number, and of which the start and every solution disagree; found by
//! elimination over two elements if there is any. It is a proof that nothing
//! leads from one to the other.
//!
//! Source: Reiss, Beiträge zur Theorie des Solitär-Spiels (1857), for jumps.

use rustc_hash::FxHashSet;

use super::effects::{Effects, Form, Sparse};
use super::gf2::{System, ones};
use super::potential::Potentials;
use super::{Outcome, Puzzle, Reason};
use ggp_engine::propnet::batch::holds;

/// Looks for such a set. If what the end fixes is not enough, potentials say more
/// of the end.
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
    let mut keep = |vector: Vec<usize>| {
        if !vector.is_empty() && seen.insert(vector.clone()) {
            system.equation(vector, false);
        }
    };
    for form in effects.moves.iter().flatten() {
        let (base, span) = odd(form);
        keep(base);
        span.into_iter().for_each(&mut keep);
    }
    let solutions: Vec<_> = solutions.iter().map(odd).collect();
    for (_, span) in &solutions {
        span.iter().cloned().for_each(&mut keep);
    }
    let start = (0..facts).filter(|&fact| effects.free[fact] && holds(&puzzle.start, fact));
    for (base, _) in &solutions {
        let apart = sum(base.clone(), start.clone());
        if !system.equation(apart, true) {
            return None;
        }
    }
    let found = system.solution();
    let facts = ones(&found).map(|fact| fact as u32);
    Some(facts.collect())
}

/// A form over two elements: one of its vectors, and vectors which, added in any
/// number, give all others.
pub(super) fn odd(form: &Form) -> (Vec<usize>, Vec<Vec<usize>>) {
    let of = |vector: &Sparse| -> Vec<usize> {
        let odd = vector.iter().filter(|(_, value)| value % 2 != 0);
        odd.map(|&(fact, _)| fact as usize).collect()
    };
    let mut base = of(&form.sure);
    let mut span = Vec::new();
    for options in &form.choices {
        let first = of(&options[0]);
        let apart = options[1..]
            .iter()
            .map(|other| sum(of(other), first.iter().copied()));
        span.extend(apart.filter(|vector| !vector.is_empty()));
        base = sum(base, first.iter().copied());
    }
    (base, span)
}

/// What is in one of two sets only, ascending.
fn sum(mut one: Vec<usize>, other: impl IntoIterator<Item = usize>) -> Vec<usize> {
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
