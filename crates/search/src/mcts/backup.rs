//! Backup: the values of evaluated lines, added to every node and arm they passed.
//!
//! A node's value is the mean of its own evaluation and of its arms' values, weighted by
//! visits. An arm takes over the mean of its child, so that a node with several parents
//! informs all of them.
//!
//! Source: Childs, Brodeur and Kocsis, "Transpositions and move groups in Monte
//! Carlo tree search", 2008; Saffidine, Cazenave and Méhat, "UCD: upper
//! confidence bound for rooted directed acyclic graphs", 2012; Czech, Korus and
//! Kersting, "Improving AlphaZero using Monte-Carlo graph search", 2021.

use std::hash::Hash;

use super::expand::{Batch, Best, Line, Step};
use super::simulator::Sample;
use super::tree::{Chooser, Tree, WAITING};

impl<S: Clone + Eq + Hash, M: Clone + Eq + Hash> Tree<S, M> {
    /// Backs up the evaluated lines of a batch and returns their number.
    pub(super) fn finish(
        &mut self,
        batch: &Batch<S, M>,
        samples: Vec<Sample<M>>,
        best: &mut Best<M>,
    ) -> u64 {
        let mut samples = samples.into_iter();
        for &node in &batch.nodes {
            let first = node as usize * self.roles;
            self.nodes[node as usize].pending = 0;
            let sample = samples.next().filter(|sample| sample.playouts > 0);
            let Some(sample) = sample else {
                continue;
            };
            let playouts = sample.playouts as f64;
            for (role, sum) in sample.sums.iter().enumerate() {
                self.values[first + role] = sum / playouts;
            }
            self.nodes[node as usize].visits = 1;
            if sample.ended {
                let sum = self.sum_of(sample.sums.iter().map(|sum| sum / playouts));
                self.record_sum(sum, sample.playouts);
            }
            if let Some((score, line)) = sample.line {
                let at = batch.lines.iter().position(|line| line.end == node);
                if let Some(at) = at {
                    self.improve(best, score, batch, at, &line);
                }
            }
        }
        let mut count = 0;
        for line in &batch.lines {
            let is_evaluated = line.end < WAITING && self.nodes[line.end as usize].visits > 0;
            if line.is_duplicate || !is_evaluated {
                self.release(batch, line);
            } else {
                self.backup(batch, line);
                count += 1;
            }
        }
        self.iterations += count;
        count
    }

    /// Writes the roles and arms of a step to `out`.
    pub(super) fn chosen(&self, step: &Step, out: &mut Vec<(usize, usize)>) {
        out.clear();
        let mut rest = step.choice;
        for (role, arms) in self.choosers(step.node) {
            let count = arms.len() as u128;
            out.push((role, arms.start + (rest % count) as usize));
            rest /= count;
        }
    }

    /// Removes the pending marks of a line.
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

    /// Adds the value of the end of a line to every node and arm of the line.
    fn backup(&mut self, batch: &Batch<S, M>, line: &Line) {
        let roles = self.roles;
        self.waiting -= 1;
        let mut values: Vec<f64> = (0..roles).map(|role| self.mean(line.end, role)).collect();
        let (mut child, mut chosen) = (line.end, Vec::new());
        for step in batch.steps[line.steps.clone()].iter().rev() {
            let node = step.node as usize;
            self.nodes[node].pending -= 1;
            self.nodes[node].visits = self.nodes[node].visits.saturating_add(1);
            self.chosen(step, &mut chosen);
            let is_alone = self.nodes[node].chooser != Chooser::Many;
            for &(_, arm) in &chosen {
                self.arms[arm].pending -= 1;
                self.arms[arm].visits = self.arms[arm].visits.saturating_add(1);
            }
            match chosen[..] {
                [(_, arm)] if is_alone => self.take_over(arm, child, &mut values),
                _ => {
                    for &(_, arm) in &chosen {
                        let sums = &mut self.arm_values[arm * roles..(arm + 1) * roles];
                        add(sums, &values);
                    }
                }
            }
            add(&mut self.values[node * roles..(node + 1) * roles], &values);
            if self.options.solver {
                let stamp = self.nodes[child as usize].stamp;
                let is_stale = match chosen[..] {
                    [(_, arm)] if is_alone => self.arms[arm].stamp != stamp,
                    _ => stamp != 0,
                };
                if is_stale {
                    self.prove(step.node);
                }
            }
            child = step.node;
        }
    }

    /// Adds `values` to an arm whose visits were just incremented. If the child knows more
    /// than the arm, the arm takes over the child's mean instead, and `values` becomes the
    /// difference.
    fn take_over(&mut self, arm: usize, child: u32, values: &mut [f64]) {
        let visits = self.arms[arm].visits;
        let is_known = (self.options.graph && self.nodes[child as usize].visits >= visits)
            || (self.options.solver && self.is_solved(child));
        for (role, value) in values.iter_mut().enumerate() {
            let sum = self.arm_values[arm * self.roles + role];
            if is_known {
                *value = f64::from(visits) * self.mean(child, role) - sum;
            }
            self.arm_values[arm * self.roles + role] = sum + *value;
        }
    }
}

fn add(sums: &mut [f64], values: &[f64]) {
    for (sum, value) in sums.iter_mut().zip(values) {
        *sum += value;
    }
}
