//! Proved lower and upper bounds of each role's score.
//!
//! If one role chooses, its bounds are the best of its children's; the bounds of another role
//! span the children that the first may choose. If several roles choose, the lower bound of a
//! role is that of its best move against all moves of the others. If all terminal states seen
//! so far have the same sum of scores for two roles, the bounds of one follow from those of
//! the other (constant-sum assumption).
//!
//! Source: Winands, Björnsson and Saito, "Monte-Carlo tree search solver", 2008;
//! Cazenave and Saffidine, "Score bounded Monte-Carlo tree search", 2010.

use std::hash::Hash;

use super::tree::{Chooser, NONE, Tree, WAITING};

/// The number of terminal states with equal sums after which the constant-sum assumption is
/// used.
const EVIDENCE: u64 = 32;
/// The most joint moves of a position for which bounds are computed.
const MOST_JOINT_MOVES: u128 = 1024;

/// Statistics on the sum of all scores over the terminal states seen.
#[derive(Copy, Clone, PartialEq, Debug, Default)]
pub(super) struct Total {
    sum: Option<f64>,
    ends: u64,
    /// True if two terminal states had different sums.
    is_refuted: bool,
}

impl<S: Clone + Eq + Hash, M: Clone + Eq + Hash> Tree<S, M> {
    /// The sum of the scores of all roles except chance.
    pub(super) fn sum_of(&self, scores: impl Iterator<Item = f64>) -> f64 {
        let scores = scores.zip(&self.chance);
        scores.filter(|(_, chance)| !**chance).map(|(s, _)| s).sum()
    }

    /// Records the mean sum of the scores in a number of terminal states. If it refutes the
    /// constant-sum assumption, all bounds derived from it are dropped.
    pub(super) fn record_sum(&mut self, sum: f64, ends: u64) {
        if ends == 0 || self.total.is_refuted {
            return;
        }
        let before = *self.total.sum.get_or_insert(sum);
        let was_used = self.total.ends >= EVIDENCE;
        self.total.ends += ends;
        if (before - sum).abs() > 1e-6 {
            self.total.is_refuted = true;
            if was_used {
                self.recompute_bounds();
            }
        }
    }

    fn constant_sum(&self) -> Option<f64> {
        let is_used = !self.total.is_refuted && self.total.ends >= EVIDENCE;
        self.total.sum.filter(|_| is_used)
    }

    /// Recomputes all bounds from those of the terminal states.
    fn recompute_bounds(&mut self) {
        for node in 0..self.nodes.len() {
            if !self.nodes[node].is_end {
                let first = node * self.roles;
                self.bounds[first..first + self.roles].copy_from_slice(&self.range);
            }
        }
        for node in 0..self.nodes.len() as u32 {
            let choosers: Vec<_> = match self.nodes[node as usize].arms {
                NONE => continue,
                _ => self.choosers(node).collect(),
            };
            for (role, arms) in choosers {
                for arm in &mut self.arms[arms] {
                    (arm.bounds, arm.stamp) = (self.range[role], 0);
                }
            }
        }
        let mut is_changed = true;
        while is_changed {
            is_changed = false;
            for node in (0..self.nodes.len() as u32).rev() {
                is_changed |= self.nodes[node as usize].arms != NONE && self.prove(node);
            }
        }
    }

    /// Tightens the bounds of a node by those of its children and returns whether they
    /// changed.
    pub(super) fn prove(&mut self, node: u32) -> bool {
        let first = node as usize * self.roles;
        let before = self.bounds[first..first + self.roles].to_vec();
        match self.nodes[node as usize].chooser {
            Chooser::Closed => return false,
            Chooser::One(role) => self.prove_choice(node, role as usize),
            Chooser::Many => self.prove_choices(node),
        }
        if let (Some(sum), Some([one, two])) = (self.constant_sum(), self.two()) {
            for (own, other) in [(one, two), (two, one)] {
                let [low, high] = self.bounds[first + other];
                let [own_low, own_high] = &mut self.bounds[first + own];
                *own_low = (*own_low).max((sum - f64::from(high)).max(0.0) as u8);
                *own_high = (*own_high).min((sum - f64::from(low)).max(0.0) as u8);
            }
        }
        for bound in &mut self.bounds[first..first + self.roles] {
            // The scores may contradict the constant-sum assumption.
            bound[1] = bound[1].max(bound[0]);
        }
        let is_changed = before != self.bounds[first..first + self.roles];
        if is_changed {
            let stamp = &mut self.nodes[node as usize].stamp;
            *stamp = stamp.wrapping_add(1).max(1);
        }
        is_changed
    }

    /// The two roles that are not chance, if there are exactly two.
    fn two(&self) -> Option<[usize; 2]> {
        let mut players = (0..self.roles).filter(|&role| !self.chance[role]);
        match (players.next(), players.next(), players.next()) {
            (Some(one), Some(two), None) => Some([one, two]),
            _ => None,
        }
    }

    fn bounds_of(&self, child: u32, role: usize) -> [u8; 2] {
        match child {
            NONE | WAITING => self.range[role],
            _ => self.bounds[child as usize * self.roles + role],
        }
    }

    fn prove_choice(&mut self, node: u32, chooser: usize) {
        let first = node as usize * self.roles;
        let start = self.nodes[node as usize].arms as usize;
        let range = start..start + self.counts[first + chooser] as usize;
        let (mut best, mut distance) = ([0, 0], None);
        for arm in range.clone() {
            let child = self.arms[arm].child;
            let bounds = self.bounds_of(child, chooser);
            self.arms[arm].bounds = bounds;
            if child < WAITING {
                self.arms[arm].stamp = self.nodes[child as usize].stamp;
            }
            best = [best[0].max(bounds[0]), best[1].max(bounds[1])];
        }
        let chance = self.chance[chooser];
        if !chance {
            self.bounds[first + chooser] = best;
        }
        for role in (0..self.roles).filter(|&role| chance || role != chooser) {
            let mut all: Option<[u8; 2]> = None;
            for arm in range.clone() {
                let arm = &self.arms[arm];
                // The role never chooses an arm that is proved to be worse.
                if chance || arm.bounds[1] >= best[0] {
                    let [low, high] = self.bounds_of(arm.child, role);
                    let [least, most] = all.unwrap_or([low, high]);
                    all = Some([least.min(low), most.max(high)]);
                }
            }
            self.bounds[first + role] = all.unwrap_or(self.range[role]);
        }
        if best[0] == best[1] && !chance {
            let is_lost = best[0] == self.range[chooser][0];
            for arm in &self.arms[range] {
                if arm.bounds == best && arm.child < WAITING {
                    let steps = self.nodes[arm.child as usize].distance.saturating_add(1);
                    let known: u16 = distance.unwrap_or(steps);
                    distance = Some(match is_lost {
                        true => known.max(steps),
                        false => known.min(steps),
                    });
                }
            }
            self.nodes[node as usize].distance = distance.unwrap_or(0);
        }
    }

    fn prove_choices(&mut self, node: u32) {
        let choosers: Vec<(usize, std::ops::Range<usize>)> = self.choosers(node).collect();
        let mut joints = 1_u128;
        for (_, arms) in &choosers {
            joints = joints.saturating_mul(arms.len() as u128);
        }
        if joints > MOST_JOINT_MOVES {
            return;
        }
        let first = node as usize * self.roles;
        let mut all = vec![[u8::MAX, 0]; self.roles];
        for (_, arms) in &choosers {
            for arm in &mut self.arms[arms.clone()] {
                arm.bounds = [u8::MAX, 0];
            }
        }
        let mut longest = 0;
        for joint in 0..joints {
            let child = self.edges.get(&(node, joint)).copied().unwrap_or(NONE);
            if child < WAITING {
                longest = longest.max(self.nodes[child as usize].distance);
            }
            for (role, all) in all.iter_mut().enumerate() {
                let [low, high] = self.bounds_of(child, role);
                *all = [all[0].min(low), all[1].max(high)];
            }
            let mut rest = joint;
            for (role, arms) in &choosers {
                let arm = arms.start + (rest % arms.len() as u128) as usize;
                rest /= arms.len() as u128;
                let [low, high] = self.bounds_of(child, *role);
                let bounds = &mut self.arms[arm].bounds;
                *bounds = [bounds[0].min(low), bounds[1].max(high)];
            }
        }
        self.bounds[first..first + self.roles].copy_from_slice(&all);
        for (role, arms) in choosers {
            if !self.chance[role] {
                let lows = self.arms[arms].iter().map(|arm| arm.bounds[0]);
                let low = &mut self.bounds[first + role][0];
                *low = lows.max().map_or(*low, |best| best.max(*low));
            }
        }
        self.nodes[node as usize].distance = longest.saturating_add(1);
    }
}
