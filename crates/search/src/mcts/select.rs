//! Which arm a line takes.
//!
//! Each role that has a choice makes it by its own arms alone. Lines that are
//! not evaluated yet count as visits, and as nothing else.
//!
//! Source: Auer, Cesa-Bianchi and Fischer, "Finite-time analysis of the
//! multiarmed bandit problem", 2002; Rosin, "Multi-armed bandits with episode
//! context", 2011; Nijssen and Winands, "Enhancements for multi-player
//! Monte-Carlo tree search", 2011; Lanctot, Lisý and Winands, "Monte Carlo tree
//! search in simultaneous move games", 2014.

use std::hash::Hash;

use rand::RngExt;

use super::tree::{ArmRange, Chooser, NONE, Tree};
use super::{Formula, Mcts};

/// How far below the best a bound may be to be chosen all the same, where more
/// than one role has a choice.
///
/// Without it, roles with the same worths choose the same moves in step for
/// ever, and never see what a move is worth against another one.
const TOLERANCE: f64 = 0.01;
/// How often regret is not asked.
const GAMMA: f64 = 0.1;

impl Mcts {
    /// The worth of trying an arm of mean `mean`, 0 to 1, tried `n` times of
    /// `all`, with `share` of the prior.
    fn score(&self, mean: f64, n: f64, all: f64, log: f64, share: f64) -> f64 {
        let c = self.exploration;
        mean + match self.formula {
            Formula::Ucb => c * (log / n).sqrt(),
            // The variance of outcomes 0 and 1, from above.
            Formula::Tuned => {
                let spread = mean * (1.0 - mean) + (2.0 * log / n).sqrt();
                c * (log / n * spread.min(0.25)).sqrt() * 2.0
            }
            Formula::Puct => c * share * all.sqrt() / n,
        }
    }
}

impl<S: Clone + Eq + Hash, M: Clone + Eq + Hash> Tree<S, M> {
    /// An arm of a role among those of its own. `reference` is a node that remembers
    /// moves, or none.
    pub(super) fn choose(
        &mut self,
        node: u32,
        role: usize,
        arms: ArmRange,
        reference: u32,
    ) -> usize {
        let count = arms.len();
        if count == 1 {
            return 0;
        }
        if self.chance[role] {
            return self.rng.random_range(0..count);
        }
        let data = &self.nodes[node as usize];
        let is_alone = data.chooser != Chooser::Many;
        if !is_alone && self.options.regret {
            return self.choose_by_regret(arms);
        }
        let tolerance = if is_alone { 0.0 } else { TOLERANCE };
        let all = f64::from(data.visits + data.pending).max(1.0);
        let log = all.ln();
        let own = self.mean(node, role) / 100.0;
        let share = 1.0 / count as f64;
        let best_low = self.best_low(&arms);
        let [low, high] = self.bounds[node as usize * self.roles + role];
        // Then the rest is of interest to the others alone.
        let is_proved = low == high;
        let weight = match (reference, &self.options.rave) {
            (NONE, _) | (_, None) => 0.0,
            (_, Some(rave)) => rave.weight(all),
        };
        let place = (node, role);
        let (mut best, mut chosen, mut near) = (f64::NEG_INFINITY, 0, 0);
        let mut scores = if tolerance > 0.0 {
            Vec::with_capacity(count)
        } else {
            Vec::new()
        };
        for index in 0..count {
            let arm = &self.arms[arms.start + index];
            let [low, high] = arm.bounds;
            // Proved not to be better than another one.
            if high < best_low || (high == best_low && low < high && !is_proved) {
                if tolerance > 0.0 {
                    scores.push(f64::NEG_INFINITY);
                }
                continue;
            }
            let tried = f64::from(arm.visits) + f64::from(arm.pending);
            let mut score = if arm.visits > 0 {
                let mean = self.arm_worth[(arms.start + index) * self.roles + role];
                let mean = mean / f64::from(arm.visits);
                let mean = mean.clamp(low.into(), high.into()) / 100.0;
                let mean = self.recalled(mean, place, index, reference, weight);
                self.options.score(mean, tried, all, log, share)
            } else {
                match self.options.fpu {
                    None if tried == 0.0 => 1e6,
                    less => {
                        let mean = (own - less.unwrap_or(0.0)).clamp(0.0, 1.0);
                        let mean = self.recalled(mean, place, index, reference, weight);
                        self.options.score(mean, tried + 1.0, all, log, share)
                    }
                }
            };
            if self.options.history > 0.0 {
                score += self.history_bonus(node, role, index, tried);
            }
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
            // The k-th of those near the best replaces the chosen one with chance 1/k.
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

    /// A mean with what another node remembers of the move mixed in.
    fn recalled(
        &self,
        mean: f64,
        (node, role): (u32, usize),
        index: usize,
        reference: u32,
        weight: f64,
    ) -> f64 {
        if weight == 0.0 {
            return mean;
        }
        let made = &self.moves_of(node, role)[index];
        let memory = self.memories.get(&reference);
        let known = memory.and_then(|memory| memory.mean(role, made));
        known.map_or(mean, |known| mean + weight * (known / 100.0 - mean))
    }

    /// The most that some arm is proved to give.
    pub(super) fn best_low(&self, arms: &ArmRange) -> u8 {
        let lows = self.arms[arms.clone()].iter().map(|arm| arm.bounds[0]);
        lows.max().unwrap_or(0)
    }

    fn history_bonus(&self, node: u32, role: usize, index: usize, tried: f64) -> f64 {
        let made = &self.moves_of(node, role)[index];
        let Some((count, worth)) = self.history.get(&(role as u16, made.clone())) else {
            return self.options.history * 0.5 / (tried + 1.0);
        };
        self.options.history * (worth / f64::from(*count) / 100.0) / (tried + 1.0)
    }

    /// Draws an arm by the regret of not having chosen it.
    fn choose_by_regret(&mut self, arms: ArmRange) -> usize {
        let sum: f64 = self.regrets[arms.clone()]
            .iter()
            .map(|r| r[0].max(0.0))
            .sum();
        let uniform = 1.0 / arms.len() as f64;
        let mut drawn = self.rng.random_range(0.0..1.0);
        let mut chosen = None;
        for (index, regret) in self.regrets[arms].iter_mut().enumerate() {
            let share = if sum > 0.0 {
                regret[0].max(0.0) / sum
            } else {
                uniform
            };
            regret[1] += share;
            let share = GAMMA * uniform + (1.0 - GAMMA) * share;
            drawn -= share;
            if drawn < 0.0 && chosen.is_none() {
                chosen = Some(index);
            }
        }
        chosen.unwrap_or(0)
    }

    /// Learns what each role would have got by another choice.
    pub(super) fn regret(&mut self, node: u32, joint: u128, worth: &[f64]) {
        let choosers: Vec<(usize, ArmRange)> = self.choosers(node).collect();
        let mut unit = 1_u128;
        for (role, arms) in choosers {
            let count = arms.len() as u128;
            let own = joint / unit % count;
            for (index, arm) in (0..count).zip(arms) {
                let other = joint - own * unit + index * unit;
                let child = self.edges.get(&(node, other)).copied().unwrap_or(NONE);
                let known =
                    (child as usize) < self.nodes.len() && self.nodes[child as usize].visits > 0;
                let value = match known {
                    _ if index == own => worth[role],
                    true => self.mean(child, role),
                    false => 0.0,
                };
                self.regrets[arm][0] += (value - worth[role]) / 100.0;
            }
            unit *= count;
        }
    }
}
