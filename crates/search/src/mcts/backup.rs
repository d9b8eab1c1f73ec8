//! What lines are worth, carried to all that they passed.
//!
//! A node's worth is the mean of its own evaluation and of what its arms are
//! worth, each weighed by its visits. An arm takes over the mean of the node it
//! leads to, so that a node that several lead to tells all of them.
//!
//! Source: Childs, Brodeur and Kocsis, "Transpositions and move groups in Monte
//! Carlo tree search", 2008; Saffidine, Cazenave and Méhat, "UCD: upper
//! confidence bound for rooted directed acyclic graphs", 2012; Czech, Korus and
//! Kersting, "Improving AlphaZero using Monte-Carlo graph search", 2021.

use std::hash::Hash;

use rustc_hash::FxHashMap;

use super::expand::{Batch, Best, Line, Step};
use super::simulator::Sample;
use super::tree::{Chooser, Tree, WAITING};

impl<S: Clone + Eq + Hash, M: Clone + Eq + Hash> Tree<S, M> {
    /// Credits the lines of a batch; the result is their number.
    pub(super) fn finish(
        &mut self,
        batch: &Batch<S, M>,
        samples: Vec<Sample<M>>,
        best: &mut Best<M>,
    ) -> u64 {
        let (mut samples, mut seen) = (samples.into_iter(), FxHashMap::default());
        for &node in &batch.nodes {
            let first = node as usize * self.roles;
            self.nodes[node as usize].pending = 0;
            let sample = samples.next().filter(|sample| sample.playouts > 0);
            let Some(sample) = sample else {
                continue;
            };
            let playouts = sample.playouts as f64;
            for (role, sum) in sample.sums.iter().enumerate() {
                self.worth[first + role] = sum / playouts;
            }
            self.nodes[node as usize].visits = 1;
            if sample.ended {
                let sum = self.sum_of(sample.sums.iter().map(|sum| sum / playouts));
                self.witness(sum, sample.playouts);
            }
            if self.options.rave.is_some() {
                seen.insert(node, sample.seen);
            }
            if let Some((score, line)) = sample.line {
                let at = batch.lines.iter().position(|line| line.end == node);
                if let Some(at) = at {
                    self.improve(best, score, batch, at, &line);
                }
            }
        }
        let mut credited = 0;
        for line in &batch.lines {
            let is_evaluated = line.end < WAITING && self.nodes[line.end as usize].visits > 0;
            if line.is_void || !is_evaluated {
                self.release(batch, line);
            } else {
                self.credit(batch, line);
                if let Some(seen) = seen.get(&line.end) {
                    self.remember(batch, line, seen);
                }
                credited += 1;
            }
        }
        self.iterations += credited;
        credited
    }

    /// The arms of a step.
    pub(super) fn chosen(&self, step: &Step, out: &mut Vec<(usize, usize)>) {
        out.clear();
        let mut rest = step.choice;
        for (role, arms) in self.choosers(step.node) {
            let count = arms.len() as u128;
            out.push((role, arms.start + (rest % count) as usize));
            rest /= count;
        }
    }

    /// Takes back what marks a line as pending.
    pub(super) fn release(&mut self, batch: &Batch<S, M>, line: &Line) {
        let mut chosen = Vec::new();
        self.waiting -= 1;
        for step in &batch.steps[line.steps.clone()] {
            self.nodes[step.node as usize].pending -= 1;
            self.chosen(step, &mut chosen);
            for &(_, arm) in &chosen {
                self.arms[arm].pending -= 1;
            }
        }
    }

    /// Carries the worth of a line's end to all that it passed.
    fn credit(&mut self, batch: &Batch<S, M>, line: &Line) {
        let roles = self.roles;
        self.waiting -= 1;
        let mut worth: Vec<f64> = (0..roles).map(|role| self.mean(line.end, role)).collect();
        let (mut child, mut chosen) = (line.end, Vec::new());
        for step in batch.steps[line.steps.clone()].iter().rev() {
            let node = step.node as usize;
            self.nodes[node].pending -= 1;
            self.nodes[node].visits = self.nodes[node].visits.saturating_add(1);
            self.chosen(step, &mut chosen);
            if self.options.history > 0.0 {
                self.learn(step, &chosen, &worth);
            }
            let is_alone = self.nodes[node].chooser != Chooser::Many;
            if self.options.regret && !is_alone {
                self.regret(step.node, step.choice, &worth);
            }
            for &(_, arm) in &chosen {
                self.arms[arm].pending -= 1;
                self.arms[arm].visits = self.arms[arm].visits.saturating_add(1);
            }
            match chosen[..] {
                [(_, arm)] if is_alone => self.take_over(arm, child, &mut worth),
                _ => {
                    for &(_, arm) in &chosen {
                        let sums = &mut self.arm_worth[arm * roles..(arm + 1) * roles];
                        sums.iter_mut()
                            .zip(&worth)
                            .for_each(|(sum, worth)| *sum += worth);
                    }
                }
            }
            let sums = &mut self.worth[node * roles..(node + 1) * roles];
            sums.iter_mut()
                .zip(&worth)
                .for_each(|(sum, worth)| *sum += worth);
            if self.options.solver {
                let stamp = self.nodes[child as usize].stamp;
                let is_news = match chosen[..] {
                    [(_, arm)] if is_alone => self.arms[arm].stamp != stamp,
                    _ => stamp != 0,
                };
                if is_news {
                    self.prove(step.node);
                }
            }
            child = step.node;
        }
    }

    /// Brings an arm, once more visited, up to date with its child; `worth`
    /// becomes the difference.
    fn take_over(&mut self, arm: usize, child: u32, worth: &mut [f64]) {
        let visits = self.arms[arm].visits;
        let is_known = (self.options.graph && self.nodes[child as usize].visits >= visits)
            || (self.options.solver && self.is_solved(child));
        for (role, worth) in worth.iter_mut().enumerate() {
            let sum = self.arm_worth[arm * self.roles + role];
            if is_known {
                *worth = f64::from(visits) * self.mean(child, role) - sum;
            }
            self.arm_worth[arm * self.roles + role] = sum + *worth;
        }
    }

    fn learn(&mut self, step: &Step, chosen: &[(usize, usize)], worth: &[f64]) {
        for (role, made) in self.made(step, chosen) {
            let known = self.history.entry((role as u16, made)).or_insert((0, 0.0));
            known.0 = known.0.saturating_add(1);
            known.1 += worth[role];
        }
    }

    /// The moves of a step, of those roles that chose them.
    pub(super) fn made(&self, step: &Step, chosen: &[(usize, usize)]) -> Vec<(usize, M)> {
        let mut rest = step.choice;
        let made = chosen.iter().map(|&(role, _)| {
            let moves = self.moves_of(step.node, role);
            let made = moves[(rest % moves.len() as u128) as usize].clone();
            rest /= moves.len() as u128;
            (role, made)
        });
        made.collect()
    }
}
