//! A lower bound on the remaining moves, as a weighted sum.
//!
//! In: the effects of moves. Out: weights such that no move decreases the sum of
//! the facts that hold by more than one unit. The excess of a state's sum over that
//! of a solution is then a lower bound on the number of moves. The weights are
//! found by linear programming for the start. The numerical result is not trusted:
//! the largest decrease and the largest sum of a solution are recomputed from
//! integer weights, so the bound holds for any weights.
//!
//! Source: Pommerening, Helmert, Röger and Seipp, From non-negative to general
//! operator cost partitioning (2015), for potentials that are admissible.

use std::sync::Arc;
use std::time::Duration;

use super::solver::{OptimizationDirection, Problem, Variable};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{ERROR, MOST_NUMBERS, MOST_SCALE, MOST_TIME, Most, Potential, integers};
use crate::planning::Puzzle;
use crate::planning::effects::{Effects, Form};
use ggp_engine::propnet::batch::holds;

/// A lower bound on the number of moves from any state to a solution.
#[derive(Debug)]
pub struct Bound {
    potential: Potential,
    /// The largest decrease of the sum by a move.
    fall: i64,
    /// The largest sum of a solution.
    end: i64,
}

/// Largest weight of a fact, in moves.
const MOST_WEIGHT: f64 = 256.0;

impl Bound {
    /// None if the effects are too many, nothing is known about solutions, or the
    /// linear program exceeds the time limit or [`Puzzle::stop`].
    pub fn of(
        puzzle: &Puzzle,
        effects: &Effects,
        most_time: Option<Duration>,
    ) -> Option<Arc<Bound>> {
        let known = &puzzle.known.bound;
        if let Some(bound) = known.get() {
            return Some(Arc::clone(bound));
        }
        // The time may suffice when it is tried again.
        let made = Bound::make(puzzle, effects, most_time).map(Arc::new)?;
        Some(Arc::clone(known.get_or_init(|| made)))
    }

    fn make(puzzle: &Puzzle, effects: &Effects, most_time: Option<Duration>) -> Option<Bound> {
        let mut seen: FxHashSet<&Form> = FxHashSet::default();
        let moves = effects.moves.iter().flatten();
        let moves: Vec<&Form> = moves.filter(|&form| seen.insert(form)).collect();
        let solutions = &effects.solutions;
        let numbers =
            |form: &Form| form.sure.len() + form.choices.iter().flatten().flatten().count();
        let all = moves.iter().copied().chain(solutions);
        if !cfg!(feature = "lp")
            || solutions.is_empty()
            || all.map(numbers).sum::<usize>() > MOST_NUMBERS
        {
            return None;
        }
        let time = most_time.map_or(MOST_TIME, |most| most.min(MOST_TIME));
        let weights = program(puzzle, effects, &moves, time)?;
        let weights = integers(&weights).unwrap_or_else(|| {
            let scale = f64::from(MOST_SCALE);
            let whole = |&(fact, weight): &(u32, f64)| (fact, (weight * scale).round() as i64);
            weights
                .iter()
                .map(whole)
                .filter(|&(_, weight)| weight != 0)
                .collect()
        });
        let potential = Potential::new(weights, puzzle.start.len());
        let fall = moves.iter().map(|form| -potential.least(form)).max()?;
        let end = solutions.iter().map(|form| potential.most(form)).max()?;
        (fall > 0).then_some(Bound {
            potential,
            fall,
            end,
        })
    }

    /// The lower bound for a state: no plan from it has fewer moves.
    pub fn moves(&self, state: &[u64]) -> u32 {
        let above = (self.potential.sum(state) - self.end).max(0);
        u32::try_from((above + self.fall - 1) / self.fall).unwrap_or(u32::MAX)
    }
}

/// Weights that approximately maximise the bound for the start.
fn program(
    puzzle: &Puzzle,
    effects: &Effects,
    moves: &[&Form],
    time: Duration,
) -> Option<Vec<(u32, f64)>> {
    let mut problem = Problem::new(OptimizationDirection::Maximize);
    let one = problem.add_var(0.0, (1.0, 1.0));
    let end = problem.add_var(-1.0, (f64::NEG_INFINITY, f64::INFINITY));
    let weights: Vec<(u32, Variable)> = (0..puzzle.net.facts().len())
        .filter(|&fact| effects.free[fact])
        .map(|fact| {
            let gain = f64::from(u8::from(holds(&puzzle.start, fact)));
            let weight = problem.add_var(gain, (-MOST_WEIGHT, MOST_WEIGHT));
            (fact as u32, weight)
        })
        .collect();
    let mut most = Most {
        of_fact: weights.iter().copied().collect(),
        problem,
        size: 0,
        known: FxHashMap::default(),
    };
    for form in moves {
        let mut fall = most.of(form, -1);
        fall.push((one, -1.0));
        most.at_most(fall);
    }
    for form in &effects.solutions {
        let mut sum = most.of(form, 1);
        sum.push((end, -1.0));
        most.at_most(sum);
    }
    let solution = most.solve(&puzzle.stop.within_work(Some(time)))?;
    let weights = weights.iter();
    let weights = weights.map(|&(fact, weight)| (fact, solution.var_value(weight)));
    (solution.objective() > ERROR).then(|| weights.collect())
}
