//! Selection: the arm that a line takes.
//!
//! Each role with a choice selects among its own arms only. Lines without an evaluation count
//! as visits without a value.
//!
//! Source: Auer, Cesa-Bianchi and Fischer, "Finite-time analysis of the
//! multiarmed bandit problem", 2002; Rosin, "Multi-armed bandits with episode
//! context", 2011; Lanctot, Lisý and Winands, "Monte Carlo tree search in
//! simultaneous move games", 2014.

use std::hash::Hash;

use rand::RngExt;

use super::tree::{ArmRange, Chooser, Tree};
use super::{Formula, Mcts};

/// Arms whose score is at most this much below the best are drawn with equal chance, where
/// more than one role has a choice.
///
/// Without it, roles with equal values choose the same moves in lockstep and never try other
/// combinations of moves.
const TOLERANCE: f64 = 0.01;
/// The score of an arm that was never tried, so that all arms are tried once first.
const UNTRIED: f64 = 1e6;

impl Mcts {
    /// The selection score of an arm with mean `mean` (0 to 1) and `n` of the node's `all`
    /// visits. `log` is the natural logarithm of `all`, `share` the prior.
    fn score(&self, mean: f64, n: f64, all: f64, log: f64, share: f64) -> f64 {
        let c = self.exploration;
        mean + match self.formula {
            Formula::Ucb => c * (log / n).sqrt(),
            Formula::Puct => c * share * all.sqrt() / n,
        }
    }
}

impl<S: Clone + Eq + Hash, M: Clone + Eq + Hash> Tree<S, M> {
    /// Selects one of a role's arms. The result is an index into `arms`.
    pub(super) fn choose(&mut self, node: u32, role: usize, arms: ArmRange) -> usize {
        let count = arms.len();
        if count == 1 {
            return 0;
        }
        if self.chance[role] {
            return self.rng.random_range(0..count);
        }
        let data = &self.nodes[node as usize];
        let is_alone = data.chooser != Chooser::Many;
        let tolerance = if is_alone { 0.0 } else { TOLERANCE };
        let all = f64::from(data.visits + data.pending).max(1.0);
        let log = all.ln();
        let own = (self.mean(node, role) / 100.0).clamp(0.0, 1.0);
        let share = 1.0 / count as f64;
        let best_low = self.best_low(&arms);
        let [low, high] = self.bounds[node as usize * self.roles + role];
        // If the value is proved, an arm with the best lower bound stays selectable for the
        // sake of the other roles.
        let is_proved = low == high;
        let (mut best, mut chosen, mut near) = (f64::NEG_INFINITY, 0, 0);
        let mut scores = if tolerance > 0.0 {
            Vec::with_capacity(count)
        } else {
            Vec::new()
        };
        for index in 0..count {
            let arm = &self.arms[arms.start + index];
            let [low, high] = arm.bounds;
            // Another arm is proved to be at least as good.
            if high < best_low || (high == best_low && low < high && !is_proved) {
                if tolerance > 0.0 {
                    scores.push(f64::NEG_INFINITY);
                }
                continue;
            }
            let tried = f64::from(arm.visits) + f64::from(arm.pending);
            let score = if arm.visits > 0 {
                let mean = self.arm_values[(arms.start + index) * self.roles + role];
                let mean = mean / f64::from(arm.visits);
                let mean = mean.clamp(low.into(), high.into()) / 100.0;
                self.options.score(mean, tried, all, log, share)
            } else if tried == 0.0 {
                UNTRIED
            } else {
                self.options.score(own, tried + 1.0, all, log, share)
            };
            if tolerance > 0.0 {
                scores.push(score);
            }
            if score > best {
                (best, chosen, near) = (score, index, 1);
            } else if score == best {
                near += 1;
                if self.rng.random_range(0..near) == 0 {
                    chosen = index;
                }
            }
        }
        if tolerance > 0.0 {
            // Reservoir sampling: the k-th near-best arm replaces the chosen one with
            // probability 1/k.
            near = 0;
            for (index, score) in scores.iter().enumerate() {
                if *score >= best - tolerance {
                    near += 1;
                    if self.rng.random_range(0..near) == 0 {
                        chosen = index;
                    }
                }
            }
        }
        chosen
    }

    /// The largest proved lower bound of the arms.
    pub(super) fn best_low(&self, arms: &ArmRange) -> u8 {
        let lows = self.arms[arms.clone()].iter().map(|arm| arm.bounds[0]);
        lows.max().unwrap_or(0)
    }
}
