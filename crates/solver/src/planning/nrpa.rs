//! Nested rollout policy adaptation.
//!
//! In: a puzzle. Out: a plan, or the best end met. Every move has a weight;
//! lines are drawn by weights, and the moves of the best line become heavier, at
//! each of some nested levels. Several policies are learned side by side, each
//! by a share of the lanes: after each play of many lines a policy learns from
//! the best.
//!
//! Source: Rosin, Nested rollout policy adaptation for Monte Carlo tree search
//! (2011), algorithm 2; many lines for each adaptation as in Cazenave, Sevestre
//! and Toulemont, Stabilized nested rollout policy adaptation (2021).

use super::rollout::{LANES, Line, Rollouts, Sampling, Start};
use super::{BestSoFar, Outcome, Puzzle};
use ggp_search::{Budget, BudgetKind, Compare, Meter, Observer, Stats};

/// How to learn.
#[derive(Clone, Debug)]
pub struct Nrpa {
    /// What is common to samplings.
    pub sampling: Sampling,
    /// Levels of policies, one within the other; at least 1.
    pub levels: usize,
    /// Adaptations of a level before the one above adapts.
    pub iterations: u32,
    /// How much heavier a move becomes.
    pub rate: f64,
    /// Policies learned side by side: a power of 2, at most 64.
    pub groups: usize,
}

impl Default for Nrpa {
    fn default() -> Self {
        Nrpa {
            sampling: Sampling::default(),
            levels: 3,
            iterations: 50,
            rate: 1.0,
            groups: 8,
        }
    }
}

/// Looks for a plan until the budget ends.
///
/// # Panics
///
/// If the groups are not as many as they may be, or there is no level.
pub fn nrpa(
    puzzle: &Puzzle,
    how: &Nrpa,
    budget: &Budget,
    best: &mut Option<BestSoFar>,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> Outcome {
    assert!(how.groups.is_power_of_two() && how.groups <= 64 && how.levels > 0);
    let mut meter = Meter::new(budget, stats, observer);
    let mut rollouts = Rollouts::new(puzzle, &how.sampling, budget);
    meter.begin_level(0, Compare::State);
    let came = learn(puzzle, how, &mut rollouts, &mut meter);
    let outcome = meter.ended(came).unwrap_or(Outcome::Unknown);
    meter.end_level();
    *best = rollouts.best.take();
    outcome
}

fn learn(
    puzzle: &Puzzle,
    how: &Nrpa,
    rollouts: &mut Rollouts,
    meter: &mut Meter<'_>,
) -> Result<Outcome, BudgetKind> {
    let start = Start {
        state: puzzle.start.clone(),
        plan: Vec::new(),
    };
    let starts = vec![start; LANES];
    let share = LANES / how.groups;
    let mut groups: Vec<Vec<Level>> = Vec::new();
    groups.resize_with(how.groups, || vec![Level::new(puzzle.moves()); how.levels]);
    let mut weights: Vec<Vec<f64>> = vec![vec![1.0; puzzle.moves()]; how.groups];
    loop {
        if let Some(plan) = rollouts.play(&starts, &weights, meter)? {
            let optimal = plan.is_empty();
            return Ok(Outcome::Solved { plan, optimal });
        }
        let lines = rollouts.lines();
        if lines.iter().all(|line| line.plan.is_empty()) {
            return Ok(Outcome::Unknown);
        }
        for (number, levels) in groups.iter_mut().enumerate() {
            let lines = &lines[number * share..][..share];
            let found = lines.iter().max_by_key(|line| line.value);
            advance(levels, found.expect("a group has lanes"), how);
            for (weight, &log) in weights[number].iter_mut().zip(&levels[0].logs) {
                *weight = log.exp();
            }
        }
    }
}

/// A policy, and the best line by it or by policies that began with it.
#[derive(Clone)]
struct Level {
    /// By move: the logarithm of its weight.
    logs: Vec<f64>,
    best: Option<Line>,
    adaptations: u32,
}

impl Level {
    fn new(moves: usize) -> Level {
        Level {
            logs: vec![0.0; moves],
            best: None,
            adaptations: 0,
        }
    }

    /// Takes a line that is as good, and adapts to the best.
    fn learn(&mut self, line: &Line, rate: f64) {
        if (self.best.as_ref()).is_none_or(|best| best.value <= line.value) {
            self.best = Some(line.clone());
        }
        if let Some(best) = &self.best {
            adapt(&mut self.logs, best, rate);
        }
        self.adaptations += 1;
    }
}

/// One line was found by the lowest level: it adapts, and those whose turn it is.
fn advance(levels: &mut [Level], found: &Line, how: &Nrpa) {
    levels[0].learn(found, how.rate);
    for level in 0..levels.len() {
        if levels[level].adaptations < how.iterations {
            break;
        }
        let below = std::mem::replace(&mut levels[level], Level::new(0));
        match levels.get_mut(level + 1) {
            Some(above) => {
                above.learn(&below.best.expect("it has learned"), how.rate);
                let logs = above.logs.clone();
                for level in &mut levels[..=level] {
                    *level = Level {
                        logs: logs.clone(),
                        best: None,
                        adaptations: 0,
                    };
                }
            }
            // All is begun again.
            None => levels.fill(Level::new(below.logs.len())),
        }
    }
}

/// Makes the moves of a line heavier, and those that were legal beside them
/// lighter by as much together.
fn adapt(logs: &mut [f64], line: &Line, rate: f64) {
    let weights: Vec<f64> = logs.iter().map(|log| log.exp()).collect();
    let played = &line.plan[line.plan.len() + 1 - line.starts.len()..];
    for (&chosen, range) in played.iter().zip(line.starts.windows(2)) {
        let legal = &line.legal[range[0]..range[1]];
        let sum: f64 = legal.iter().map(|&other| weights[other as usize]).sum();
        for &other in legal {
            logs[other as usize] -= rate * weights[other as usize] / sum;
        }
        logs[chosen as usize] += rate;
    }
}
