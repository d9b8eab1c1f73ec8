//! Backup: the values of evaluated lines, added to every node and arm they passed.
//!
//! A node's value is the mean of its own evaluation and of its arms' values, weighted by
//! visits. An arm takes over the mean of its child, so that a node with several parents
//! informs all of them.
//!
//! Where the simulator has values, each arm has in addition the value at the end of its best
//! line (implicit minimax): that of the position after it, until that has priors of its own.
//!
//! Source: Childs, Brodeur and Kocsis, "Transpositions and move groups in Monte
//! Carlo tree search", 2008; Saffidine, Cazenave and Méhat, "UCD: upper
//! confidence bound for rooted directed acyclic graphs", 2012; Czech, Korus and
//! Kersting, "Improving AlphaZero using Monte-Carlo graph search", 2021; Lanctot, Winands,
//! Pepels and Sturtevant, "Monte Carlo tree search with heuristic evaluations using implicit
//! minimax backups", 2014.

use std::hash::Hash;

use super::expand::{Batch, Best, Line, Step};
use super::simulator::Sample;
use super::tree::{Chooser, Tree, WAITING};

impl<S: Clone + Eq + Hash, M: Clone + Eq + Hash> Tree<S, M> {
    /// Backs up the evaluated lines of a batch and returns their number.
    pub(super) fn finish(
        &mut self,
        batch: &Batch<M>,
        samples: Vec<Sample<M>>,
        best: &mut Best<M>,
    ) -> u64 {
        let mut samples = samples.into_iter();
        for &node in &batch.nodes {
            let first = node as usize * self.roles;
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
        let (mut count, mut values) = (0, Vec::with_capacity(self.roles));
        for line in &batch.lines {
            let is_evaluated = line.end < WAITING && self.nodes[line.end as usize].visits > 0;
            if line.is_duplicate || !is_evaluated {
                self.release(batch, line);
            } else {
                self.backup(batch, line, &mut values);
                count += 1;
            }
        }
        self.iterations += count;
        count
    }

    /// The arms of a step.
    fn chosen(&self, step: &Step) -> Vec<usize> {
        let mut rest = step.choice;
        let choosers = self.choosers(step.node);
        let chosen = choosers.map(|(_, arms)| {
            let count = arms.len() as u128;
            let arm = arms.start + (rest % count) as usize;
            rest /= count;
            arm
        });
        chosen.collect()
    }

    /// Removes the pending marks of a line.
    pub(super) fn release(&mut self, batch: &Batch<M>, line: &Line) {
        for step in batch.path(line) {
            let data = &mut self.nodes[step.node as usize];
            data.pending -= 1;
            if data.chooser != Chooser::Many {
                data.arms.end(step.choice as usize);
                continue;
            }
            for arm in self.chosen(step) {
                self.nodes[step.node as usize].arms.end(arm);
            }
        }
    }

    /// Adds the value of the end of a line to every node and arm of the line.
    fn backup(&mut self, batch: &Batch<M>, line: &Line, values: &mut Vec<f64>) {
        let roles = self.roles;
        values.clear();
        values.extend((0..roles).map(|role| self.mean(line.end, role)));
        let mut child = line.end;
        for step in batch.path(line) {
            let node = step.node as usize;
            let data = &mut self.nodes[node];
            data.pending -= 1;
            data.visits = data.visits.saturating_add(1);
            let is_stale = if data.chooser == Chooser::Many {
                self.add_to_arms(step, values);
                self.nodes[child as usize].stamp != 0
            } else {
                let arm = step.choice as usize;
                data.arms.end(arm);
                data.arms.add_visit(arm);
                let stamp = data.arms.stamp(arm);
                self.take_over(step.node, arm, child, values);
                self.take_over_line(step.node, arm, child);
                self.nodes[child as usize].stamp != stamp
            };
            let sums = &mut self.values[node * roles..(node + 1) * roles];
            for (sum, value) in sums.iter_mut().zip(&*values) {
                *sum += value;
            }
            if is_stale && self.options.solver {
                self.prove(step.node);
            }
            child = step.node;
        }
    }

    /// Adds `values` to the arms of a step in which several roles choose.
    fn add_to_arms(&mut self, step: &Step, values: &[f64]) {
        for arm in self.chosen(step) {
            let arms = &mut self.nodes[step.node as usize].arms;
            arms.end(arm);
            arms.add_visit(arm);
            let visits = f64::from(arms.visits(arm));
            for (role, value) in values.iter().enumerate() {
                let mean = arms.mean(arm, role);
                arms.set_mean(arm, role, mean + (value - mean) / visits);
            }
        }
    }

    /// An arm takes over the implicit values of the best move of its child.
    fn take_over_line(&mut self, node: u32, arm: usize, child: u32) {
        let Chooser::One(role) = self.nodes[child as usize].chooser else {
            return;
        };
        let Some(best) = self.nodes[child as usize].arms.best_implicit(role.into()) else {
            return;
        };
        for role in 0..self.roles {
            let value = self.nodes[child as usize].arms.implicit(best, role);
            let arms = &mut self.nodes[node as usize].arms;
            arms.set_implicit(arm, role, value.expect("the best one is known"));
        }
    }

    /// Adds `values` to an arm whose visits were just incremented. If the child knows more
    /// than the arm, the arm takes over the child's mean instead, and `values` becomes the
    /// difference.
    fn take_over(&mut self, node: u32, arm: usize, child: u32, values: &mut [f64]) {
        let visits = self.nodes[node as usize].arms.visits(arm);
        let is_known = (self.options.graph && self.nodes[child as usize].visits >= visits)
            || (self.options.solver && self.is_solved(child));
        let visits = f64::from(visits);
        for (role, value) in values.iter_mut().enumerate() {
            let mean = self.nodes[node as usize].arms.mean(arm, role);
            let new = if is_known {
                let known = self.mean(child, role);
                *value = visits * known - (visits - 1.0) * mean;
                known
            } else {
                mean + (*value - mean) / visits
            };
            self.nodes[node as usize].arms.set_mean(arm, role, new);
        }
    }
}
