//! Values of positions: sums of the weights of their features.
//!
//! In: packed states. Out: the expected score of each role, from 0 to 100. The sum
//! of the weights goes through the logistic function, so weights add up in
//! logarithms of odds.

use crate::features::Features;
use crate::lanes;

/// The number of positions below which they are evaluated one by one.
const FEW: usize = 8;
/// The approximate size in bytes of what makes a feature active.
const SIZE: usize = 80;

/// A learned evaluation of a game's positions.
#[derive(Clone, Debug, PartialEq)]
pub struct Values {
    pub(crate) features: Features,
    pub(crate) roles: usize,
    /// The number of values learned: one if the scores of two roles add up to 100,
    /// else one for each role.
    pub(crate) outputs: usize,
    /// By output, phase and feature.
    pub(crate) weights: Vec<f32>,
}

impl Values {
    /// Values without knowledge: 50 everywhere.
    pub(crate) fn new(features: Features, roles: usize, outputs: usize) -> Values {
        let weights = vec![0.0; outputs * features.phases() * features.count()];
        Values {
            features,
            roles,
            outputs,
            weights,
        }
    }

    /// The number of roles.
    pub fn roles(&self) -> usize {
        self.roles
    }

    /// The features that have weights.
    pub fn features(&self) -> &Features {
        &self.features
    }

    /// The approximate size in bytes.
    pub fn bytes(&self) -> usize {
        4 * self.weights.len() + SIZE * self.features.count()
    }

    /// The weights of an output in a phase, by feature.
    pub(crate) fn block(&self, output: usize, phase: usize) -> &[f32] {
        let len = self.features.count();
        &self.weights[(output * self.features.phases() + phase) * len..][..len]
    }

    /// Sets `out` to the value of every role in every position, from 0 to 100, the
    /// roles of the first position first. Dozens of positions at a time cost less than
    /// one by one; the values are the same.
    ///
    /// # Panics
    ///
    /// If `out` does not have one place for each role and position.
    pub fn evaluate<S: AsRef<[u64]>>(&self, states: &[S], out: &mut [f32]) {
        assert_eq!(
            out.len(),
            states.len() * self.roles,
            "one value for each role"
        );
        self.set_shares(states, out);
        out.iter_mut().for_each(|value| *value *= 100.0);
    }

    /// The values of [`Values::evaluate`] from 0 to 1.
    pub(crate) fn all_shares<S: AsRef<[u64]>>(&self, states: &[S]) -> Vec<f32> {
        let mut out = vec![0.0; states.len() * self.roles];
        self.set_shares(states, &mut out);
        out
    }

    fn set_shares<S: AsRef<[u64]>>(&self, states: &[S], out: &mut [f32]) {
        if states.len() < FEW {
            for (state, out) in states.iter().zip(out.chunks_mut(self.roles)) {
                self.shares(state.as_ref(), out);
            }
            return;
        }
        let mut by_phase = vec![Vec::new(); self.features.phases()];
        for (index, state) in states.iter().enumerate() {
            by_phase[self.features.phase(state.as_ref())].push(index);
        }
        let mut columns = Vec::new();
        for (phase, indices) in by_phase.iter().enumerate() {
            for indices in indices.chunks(lanes::WIDTH) {
                let states = indices.iter().map(|&index| states[index].as_ref());
                let states: Vec<&[u64]> = states.collect();
                lanes::columns(&states, &mut columns);
                for output in 0..self.outputs {
                    let sums = lanes::sums(&self.features, self.block(output, phase), &columns);
                    for (&index, sum) in indices.iter().zip(sums) {
                        out[index * self.roles + output] = logistic(sum);
                    }
                }
            }
        }
        if self.outputs < self.roles {
            for out in out.chunks_mut(2) {
                out[1] = 1.0 - out[0];
            }
        }
    }

    /// The value of each role, from 0 to 1.
    pub(crate) fn shares(&self, state: &[u64], out: &mut [f32]) {
        for (output, out) in out.iter_mut().enumerate().take(self.outputs) {
            *out = logistic(self.sum(output, state));
        }
        if self.outputs < self.roles {
            out[1] = 1.0 - out[0];
        }
    }

    /// The sum of the weights of an output.
    #[inline]
    pub(crate) fn sum(&self, output: usize, state: &[u64]) -> f32 {
        let weights = self.block(output, self.features.phase(state));
        let mut sum = 0.0;
        self.features.each(state, |feature| sum += weights[feature]);
        sum
    }

    /// Rounds all weights to multiples of [`GRAIN`], as files have them.
    pub(crate) fn round(&mut self) {
        for weight in &mut self.weights {
            *weight = grains(*weight) as f32 * GRAIN;
        }
    }

    /// Drops groups of facts whose weights are all smaller than `least`, except those
    /// that a larger group extends.
    pub(crate) fn prune(&mut self, least: f32) {
        let features = &self.features;
        let mut kept = vec![false; features.count()];
        // Larger groups follow smaller ones.
        for feature in (1 + features.facts()..features.count()).rev() {
            let mut weights = self.weights.chunks(features.count());
            kept[feature] |= weights.any(|weights| weights[feature].abs() >= least);
            let (_, base) = features
                .facts_of(feature)
                .split_last()
                .expect("it is a group");
            if let Some(base) = features.feature_of(base).filter(|_| kept[feature]) {
                kept[base] = true;
            }
        }
        let groups = features.groups().iter().zip(&kept[1 + features.facts()..]);
        let groups = groups.filter(|(_, is_kept)| **is_kept);
        self.set_groups(groups.map(|(group, _)| group.clone()).collect());
    }

    /// Replaces the groups of facts. Those that stay keep their weights.
    pub(crate) fn set_groups(&mut self, groups: Vec<Vec<u32>>) {
        let old = &self.features;
        let mut features = old.clone();
        features.set_groups(groups);
        let singles = 1 + old.facts();
        // By new feature: the old one.
        let groups = features.groups().iter().map(|group| old.feature_of(group));
        let kept: Vec<Option<usize>> = (0..singles).map(Some).chain(groups).collect();
        let mut next = Values::new(features, self.roles, self.outputs);
        let (count, old_count) = (next.features.count(), old.count());
        let blocks = self.weights.chunks(old_count);
        for (new, old) in next.weights.chunks_mut(count).zip(blocks) {
            for (weight, kept) in new.iter_mut().zip(&kept) {
                *weight = kept.map_or(0.0, |kept| old[kept]);
            }
        }
        *self = next;
    }
}

/// The unit of weights.
pub(crate) const GRAIN: f32 = 1.0 / 4096.0;

/// A weight in units of [`GRAIN`].
pub(crate) fn grains(weight: f32) -> i32 {
    (weight / GRAIN).round() as i32
}

/// The logistic function.
pub(crate) fn logistic(sum: f32) -> f32 {
    1.0 / (1.0 + (-sum).exp())
}
