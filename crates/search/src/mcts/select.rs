//! Selection: the arm that a line takes.
//!
//! Each role with a choice selects among its own arms only. Lines without an evaluation count
//! as visits without a value. Where arms have implicit values, these are mixed into the means.
//!
//! Source: Auer, Cesa-Bianchi and Fischer, "Finite-time analysis of the
//! multiarmed bandit problem", 2002; Rosin, "Multi-armed bandits with episode
//! context", 2011; Lanctot, Lisý and Winands, "Monte Carlo tree search in
//! simultaneous move games", 2014.

use std::hash::Hash;

use rand::RngExt;

use super::arms::ArmRange;
use super::tree::{Chooser, Tree};
use super::{Formula, Mcts};

/// Arms whose score is at most this much below the best are drawn with equal chance, where
/// more than one role has a choice.
///
/// Without it, roles with equal values choose the same moves in lockstep and never try other
/// combinations of moves.
const TOLERANCE: f32 = 0.01;
/// The score of an arm that was never tried, so that all arms are tried once first.
const UNTRIED: f32 = 1e6;

impl Mcts {
    /// The selection score of an arm with mean `mean` (0 to 1) and `n` of the node's `all`
    /// visits. `log` is the natural logarithm of `all`.
    fn score(&self, mean: f64, n: f64, all: f64, log: f64, prior: f64) -> f64 {
        let c = self.exploration;
        mean + match self.formula {
            Formula::Ucb => c * (log / n).sqrt(),
            Formula::Puct => c * prior * all.sqrt() / n,
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
        if data.chooser == Chooser::Many {
            return self.choose_near_best(node, role, arms);
        }
        if !data.has_proofs && !data.is_tried && !data.has_priors {
            let [visits, pending, ..] = data.arms.lists(role);
            let is_untried = |(visits, pending): (&u32, &u32)| visits | pending == 0;
            let arms = visits.iter().zip(pending);
            let untried = arms.clone().filter(|arm| is_untried(*arm)).count();
            if untried > 0 {
                // Their scores are equal, and the largest.
                let drawn = self.rng.random_range(0..untried);
                let mut places = arms.enumerate().filter(|(_, arm)| is_untried(*arm));
                return places.nth(drawn).map_or(0, |(place, _)| place);
            }
            let is_tried = visits.iter().all(|&visits| visits > 0);
            self.nodes[node as usize].is_tried = is_tried;
        }
        let data = &self.nodes[node as usize];
        if (data.is_tried || data.has_priors) && !data.has_proofs {
            return self.choose_unproved(node, role);
        }
        self.score_arms(node, role, &arms);
        let (mut best, mut chosen, mut near) = (f32::NEG_INFINITY, 0, 0);
        for (index, &score) in self.scores.iter().enumerate() {
            if score > best {
                (best, chosen, near) = (score, index, 1);
            } else if score == best {
                near += 1;
                if self.rng.random_range(0..near) == 0 {
                    chosen = index;
                }
            }
        }
        chosen
    }

    /// The number of visits of a node, with the lines that wait.
    fn visits_of(&self, node: u32) -> f64 {
        let data = &self.nodes[node as usize];
        (f64::from(data.visits) + f64::from(data.pending)).max(1.0)
    }

    /// Selects an arm where nothing is proved, and all arms have visits or priors.
    fn choose_unproved(&mut self, node: u32, role: usize) -> usize {
        let all = self.visits_of(node);
        let own = match self.nodes[node as usize].is_tried {
            true => 0.0,
            false => (self.mean(node, role) / 100.0) as f32,
        };
        let options = self.options;
        let [visits, pending, priors, means, implicit] = self.nodes[node as usize].arms.lists(role);
        self.scores.clear();
        let values = visits.iter().zip(means);
        self.scores.extend(values.map(|(&visits, mean)| {
            let mean = f32::from_bits(*mean) * 0.01;
            if visits == 0 { own } else { mean }
        }));
        for (score, implicit) in self.scores.iter_mut().zip(implicit) {
            *score += options.implicit * (f32::from_bits(*implicit) * 0.01 - *score);
        }
        let arms = visits.iter().zip(pending).zip(priors);
        let arms = arms.map(|((visits, pending), prior)| {
            // Visits fit in 31 bits, for which there are vector instructions.
            let tried = visits.wrapping_add(*pending).cast_signed() as f32;
            (tried.max(1.0), f32::from_bits(*prior))
        });
        let scores = self.scores.iter_mut().zip(arms);
        match options.formula {
            Formula::Puct => {
                let weight = (options.exploration * all.sqrt()) as f32;
                scores.for_each(|(score, (tried, prior))| *score += weight * prior / tried);
            }
            Formula::Ucb => {
                let (log, weight) = (all.ln() as f32, options.exploration as f32);
                scores.for_each(|(score, (tried, _))| *score += weight * (log / tried).sqrt());
            }
        }
        largest(&self.scores)
    }

    /// Selects an arm among those whose score is nearly the best.
    fn choose_near_best(&mut self, node: u32, role: usize, arms: ArmRange) -> usize {
        self.score_arms(node, role, &arms);
        let best = self.scores.iter().fold(f32::NEG_INFINITY, |a, &b| a.max(b));
        let (mut chosen, mut near) = (0, 0);
        for index in 0..self.scores.len() {
            // Reservoir sampling: the k-th near-best arm replaces the chosen one with
            // probability 1/k.
            if self.scores[index] >= best - TOLERANCE {
                near += 1;
                if self.rng.random_range(0..near) == 0 {
                    chosen = index;
                }
            }
        }
        chosen
    }

    /// Computes the selection score of each arm, with regard to proofs.
    fn score_arms(&mut self, node: u32, role: usize, arms: &ArmRange) {
        let all = self.visits_of(node);
        let log = match self.options.formula {
            Formula::Ucb => all.ln(),
            Formula::Puct => 0.0,
        };
        let own = self.mean(node, role);
        let [low, high] = self.bounds[node as usize * self.roles + role];
        // If the value is proved, an arm with the best lower bound stays selectable for the
        // sake of the other roles.
        let is_proved = low == high;
        let has_priors = self.nodes[node as usize].has_priors;
        let known = &self.nodes[node as usize].arms;
        let best_low = known.best_low(arms.clone());
        self.scores.clear();
        for arm in arms.clone() {
            let [low, high] = known.bounds(arm);
            // Another arm is proved to be at least as good.
            if high < best_low || (high == best_low && low < high && !is_proved) {
                self.scores.push(f32::NEG_INFINITY);
                continue;
            }
            let tried = f64::from(known.visits(arm)) + f64::from(known.pending(arm));
            let prior = known.prior(arm);
            if tried == 0.0 && !has_priors {
                self.scores.push(UNTRIED);
                continue;
            }
            let (mean, tried) = match known.visits(arm) {
                0 => (own, tried + 1.0),
                _ => (known.mean(arm, role), tried),
            };
            let mean = known.implicit(arm, role).map_or(mean, |implicit| {
                mean + f64::from(self.options.implicit) * (f64::from(implicit) - mean)
            });
            let mean = mean.clamp(low.into(), high.into()) / 100.0;
            let score = self.options.score(mean, tried, all, log, prior);
            self.scores.push(score as f32);
        }
    }
}

/// The index of the first largest number.
#[inline]
fn largest(scores: &[f32]) -> usize {
    // Several running maxima, so that the loop compiles to vector instructions.
    let mut most = [f32::NEG_INFINITY; 8];
    let (parts, rest) = scores.as_chunks::<8>();
    for part in parts {
        for (most, &score) in most.iter_mut().zip(part) {
            *most = if score > *most { score } else { *most };
        }
    }
    let best = most
        .iter()
        .chain(rest)
        .fold(f32::NEG_INFINITY, |a, &b| if b > a { b } else { a });
    let found = scores.iter().position(|&score| score == best);
    found.unwrap_or(0)
}
