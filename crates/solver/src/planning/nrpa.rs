//! Nested rollout policy adaptation.
//!
//! In: a puzzle. Out: a plan, or the best terminal state found. Every move has a
//! weight. Rollouts choose moves by weight, and the moves of the best rollout gain
//! weight, on each of several nested levels. Several policies are learned in
//! parallel, each with a share of the lanes. After each batch of rollouts, a policy
//! learns from the best one.
//!
//! Source: Rosin, Nested rollout policy adaptation for Monte Carlo tree search
//! (2011), algorithm 2; many rollouts for each adaptation as in Cazenave, Sevestre
//! and Toulemont, Stabilized nested rollout policy adaptation (2021).

use super::rollout::{LANES, Rollout, Rollouts, Sampling, Start};
use super::{BestSoFar, Outcome, Puzzle};
use ggp_search::{Budget, BudgetKind, Compare, Meter, Observer, Stats};

/// Options of [`nrpa`].
#[derive(Clone, Debug)]
pub struct Nrpa {
    /// Options of the rollouts.
    pub sampling: Sampling,
    /// Number of nested levels, at least 1.
    pub levels: usize,
    /// Number of adaptations of a level before the level above adapts.
    pub iterations: u32,
    /// Learning rate: the amount added to the logarithm of a move's weight.
    pub rate: f64,
    /// Number of policies learned in parallel: a power of 2, at most 64.
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

/// Searches for a plan until the budget ends.
///
/// # Panics
///
/// If the number of groups is not allowed, or if there are no levels.
pub fn nrpa(
    puzzle: &Puzzle,
    options: &Nrpa,
    budget: &Budget,
    best: &mut Option<BestSoFar>,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> Outcome {
    assert!(options.groups.is_power_of_two() && options.groups <= 64 && options.levels > 0);
    let mut meter = Meter::new(budget, stats, observer);
    let Some(mut rollouts) = Rollouts::new(puzzle, &options.sampling, budget) else {
        return Outcome::Unknown;
    };
    meter.begin_level(0, Compare::State);
    let result = learn(puzzle, options, &mut rollouts, &mut meter);
    let outcome = meter.ended(result).unwrap_or(Outcome::Unknown);
    meter.end_level();
    *best = rollouts.best.take();
    outcome
}

fn learn(
    puzzle: &Puzzle,
    options: &Nrpa,
    rollouts: &mut Rollouts,
    meter: &mut Meter<'_>,
) -> Result<Outcome, BudgetKind> {
    let start = Start {
        state: puzzle.start.clone(),
        plan: Vec::new(),
    };
    let starts = vec![start; LANES];
    let share = LANES / options.groups;
    let mut groups: Vec<Vec<Level>> = Vec::new();
    groups.resize_with(options.groups, || {
        vec![Level::new(puzzle.moves()); options.levels]
    });
    let mut weights: Vec<Vec<f64>> = vec![vec![1.0; puzzle.moves()]; options.groups];
    loop {
        if let Some(plan) = rollouts.play(&starts, &weights, meter)? {
            let optimal = plan.is_empty();
            return Ok(Outcome::Solved { plan, optimal });
        }
        let batch = rollouts.rollouts();
        if batch.iter().all(|rollout| rollout.plan.is_empty()) {
            return Ok(Outcome::Unknown);
        }
        for (number, levels) in groups.iter_mut().enumerate() {
            let batch = &batch[number * share..][..share];
            let found = batch.iter().max_by_key(|rollout| rollout.value);
            advance(levels, found.expect("a group has lanes"), options);
            for (weight, &log) in weights[number].iter_mut().zip(&levels[0].logs) {
                *weight = log.exp();
            }
        }
    }
}

/// A policy, and the best rollout of it or of policies derived from it.
#[derive(Clone)]
struct Level {
    /// By move: the logarithm of its weight.
    logs: Vec<f64>,
    best: Option<Rollout>,
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

    /// Keeps the rollout if it is at least as good as the best one, then adapts to
    /// the best.
    fn learn(&mut self, rollout: &Rollout, rate: f64) {
        if (self.best.as_ref()).is_none_or(|best| best.value <= rollout.value) {
            self.best = Some(rollout.clone());
        }
        if let Some(best) = &self.best {
            adapt(&mut self.logs, best, rate);
        }
        self.adaptations += 1;
    }
}

/// Adapts the lowest level to a rollout, and higher levels when their turn comes.
fn advance(levels: &mut [Level], found: &Rollout, options: &Nrpa) {
    levels[0].learn(found, options.rate);
    for level in 0..levels.len() {
        if levels[level].adaptations < options.iterations {
            break;
        }
        let below = std::mem::replace(&mut levels[level], Level::new(0));
        match levels.get_mut(level + 1) {
            Some(above) => {
                above.learn(&below.best.expect("it has learned"), options.rate);
                let logs = above.logs.clone();
                for level in &mut levels[..=level] {
                    *level = Level {
                        logs: logs.clone(),
                        best: None,
                        adaptations: 0,
                    };
                }
            }
            // Learning starts over.
            None => levels.fill(Level::new(below.logs.len())),
        }
    }
}

/// Increases the weights of a rollout's moves, and decreases those of all legal
/// moves by the same total.
fn adapt(logs: &mut [f64], rollout: &Rollout, rate: f64) {
    let weights: Vec<f64> = logs.iter().map(|log| log.exp()).collect();
    let played = &rollout.plan[rollout.plan.len() + 1 - rollout.starts.len()..];
    for (&chosen, range) in played.iter().zip(rollout.starts.windows(2)) {
        let legal = &rollout.legal[range[0]..range[1]];
        let sum: f64 = legal.iter().map(|&other| weights[other as usize]).sum();
        for &other in legal {
            logs[other as usize] -= rate * weights[other as usize] / sum;
        }
        logs[chosen as usize] += rate;
    }
}
