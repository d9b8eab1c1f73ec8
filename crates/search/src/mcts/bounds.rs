//! What is proved: the least and the most that each role gets.
//!
//! Where one role chooses, it gets the best of what it can choose; another role
//! gets something that the first may choose. Where several choose, a role gets
//! at least what one of its moves gives against all of the others'. If all ends
//! seen give two roles the same sum, what one gets the other lacks.
//!
//! Source: Winands, Björnsson and Saito, "Monte-Carlo tree search solver", 2008;
//! Cazenave and Saffidine, "Score bounded Monte-Carlo tree search", 2010.

use std::hash::Hash;

use super::tree::{Chooser, NONE, Tree, WAITING};

/// Ends with the same sum until it is taken for a law.
const EVIDENCE: u64 = 32;
/// Joint moves of one position that are looked through for bounds.
const MANY: u128 = 1024;

/// The sum of all roles' scores, over all ends seen.
#[derive(Copy, Clone, PartialEq, Debug, Default)]
pub(super) struct Total {
    sum: Option<f64>,
    ends: u64,
    /// Two ends had different ones.
    is_broken: bool,
}

impl<S: Clone + Eq + Hash, M: Clone + Eq + Hash> Tree<S, M> {
    /// The sum of scores of those who do not play by chance.
    pub(super) fn sum_of(&self, scores: impl Iterator<Item = f64>) -> f64 {
        let scores = scores.zip(&self.chance);
        scores.filter(|(_, chance)| !**chance).map(|(s, _)| s).sum()
    }

    /// Takes note of the mean sum of some ends. A law that turns out to be none
    /// takes all that was proved by it with it.
    pub(super) fn witness(&mut self, sum: f64, ends: u64) {
        if ends == 0 || self.total.is_broken {
            return;
        }
        let before = *self.total.sum.get_or_insert(sum);
        let was_law = self.total.ends >= EVIDENCE;
        self.total.ends += ends;
        if (before - sum).abs() > 1e-6 {
            self.total.is_broken = true;
            if was_law {
                self.prove_anew();
            }
        }
    }

    fn law(&self) -> Option<f64> {
        let is_law = !self.total.is_broken && self.total.ends >= EVIDENCE;
        self.total.sum.filter(|_| is_law)
    }

    /// Forgets all bounds but those of ends, and finds them again.
    fn prove_anew(&mut self) {
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

    /// Tightens the bounds of a node by those of what follows it; whether they
    /// have changed.
    pub(super) fn prove(&mut self, node: u32) -> bool {
        let first = node as usize * self.roles;
        let before = self.bounds[first..first + self.roles].to_vec();
        match self.nodes[node as usize].chooser {
            Chooser::Nobody => return false,
            Chooser::One(role) => self.prove_choice(node, role as usize),
            Chooser::Many => self.prove_choices(node),
        }
        if let (Some(sum), Some([one, two])) = (self.law(), self.two()) {
            for (own, other) in [(one, two), (two, one)] {
                let [low, high] = self.bounds[first + other];
                let [own_low, own_high] = &mut self.bounds[first + own];
                *own_low = (*own_low).max((sum - f64::from(high)).max(0.0) as u8);
                *own_high = (*own_high).min((sum - f64::from(low)).max(0.0) as u8);
            }
        }
        for bound in &mut self.bounds[first..first + self.roles] {
            // Rules whose scores contradict what was taken for a law.
            bound[1] = bound[1].max(bound[0]);
        }
        let is_changed = before != self.bounds[first..first + self.roles];
        if is_changed {
            let stamp = &mut self.nodes[node as usize].stamp;
            *stamp = stamp.wrapping_add(1).max(1);
        }
        is_changed
    }

    /// The two roles that do not play by chance, if there are two.
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
        let places = self.nodes[node as usize].arms as usize;
        let places = places..places + self.counts[first + chooser] as usize;
        let (mut best, mut distance) = ([0, 0], None);
        for arm in places.clone() {
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
            for arm in places.clone() {
                let arm = &self.arms[arm];
                // Nobody chooses what is proved to be worse.
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
            for arm in &self.arms[places] {
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
        if joints > MANY {
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
