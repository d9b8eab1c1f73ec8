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

use super::arms::ArmRange;
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
    /// True if bounds may follow from the assumption.
    is_used: bool,
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
    /// constant-sum assumption, bounds derived from it are no longer valid.
    pub(super) fn record_sum(&mut self, sum: f64, ends: u64) {
        if ends == 0 || self.total.is_refuted {
            return;
        }
        let before = *self.total.sum.get_or_insert(sum);
        self.total.is_used |= self.total.ends >= EVIDENCE;
        self.total.ends += ends;
        self.total.is_refuted = (before - sum).abs() > 1e-6;
    }

    /// Returns true once if bounds were derived from an assumption that is refuted now.
    pub(super) fn are_bounds_invalid(&mut self) -> bool {
        self.total.is_refuted && std::mem::take(&mut self.total.is_used)
    }

    fn constant_sum(&self) -> Option<f64> {
        let is_used = !self.total.is_refuted && self.total.ends >= EVIDENCE;
        self.total.sum.filter(|_| is_used)
    }

    /// Tightens the bounds of a node by those of its children and returns whether they
    /// changed.
    ///
    /// A proof stays valid when the children are pruned.
    pub(super) fn prove(&mut self, node: u32) -> bool {
        let first = node as usize * self.roles;
        let mut bounds = match self.nodes[node as usize].chooser {
            Chooser::Closed => return false,
            Chooser::One(role) => self.prove_choice(node, role as usize),
            Chooser::Many => self.prove_choices(node),
        };
        let known = first..first + self.roles;
        for (bounds, known) in bounds.iter_mut().zip(&self.bounds[known.clone()]) {
            *bounds = both(*known, *bounds);
        }
        if let (Some(sum), Some([one, two])) = (self.constant_sum(), self.two()) {
            for (own, other) in [(one, two), (two, one)] {
                let [low, high] = bounds[other].map(f64::from);
                let derived = [sum - high, sum - low].map(|bound| bound.max(0.0) as u8);
                bounds[own] = both(bounds[own], derived);
            }
        }
        let is_changed = self.bounds[known.clone()] != bounds;
        self.bounds[known].copy_from_slice(&bounds);
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

    /// The bounds of each role where one role chooses.
    fn prove_choice(&mut self, node: u32, chooser: usize) -> Vec<[u8; 2]> {
        let mut arms = std::mem::take(&mut self.nodes[node as usize].arms);
        let mut best = [0, 0];
        for arm in 0..arms.len() {
            let (child, mut bounds) = (arms.child(arm), arms.bounds(arm));
            if child < WAITING {
                bounds = both(bounds, self.bounds_of(child, chooser));
                arms.set_proof(arm, bounds, self.nodes[child as usize].stamp);
            }
            best = [best[0].max(bounds[0]), best[1].max(bounds[1])];
            self.nodes[node as usize].has_proofs |= bounds != self.range[chooser];
        }
        let chance = self.chance[chooser];
        let mut proved = Vec::with_capacity(self.roles);
        for role in 0..self.roles {
            if role == chooser && !chance {
                proved.push(best);
                continue;
            }
            let mut all: Option<[u8; 2]> = None;
            for arm in 0..arms.len() {
                // The role never chooses an arm that is proved to be worse.
                if chance || arms.bounds(arm)[1] >= best[0] {
                    let [low, high] = self.bounds_of(arms.child(arm), role);
                    let [least, most] = all.unwrap_or([low, high]);
                    all = Some([least.min(low), most.max(high)]);
                }
            }
            proved.push(all.unwrap_or(self.range[role]));
        }
        if best[0] == best[1] && !chance {
            let (is_lost, mut distance) = (best[0] == self.range[chooser][0], None);
            for arm in 0..arms.len() {
                let child = arms.child(arm);
                if arms.bounds(arm) == best && child < WAITING {
                    let steps = self.nodes[child as usize].distance.saturating_add(1);
                    let known: u16 = distance.unwrap_or(steps);
                    distance = Some(match is_lost {
                        true => known.max(steps),
                        false => known.min(steps),
                    });
                }
            }
            if let Some(distance) = distance {
                self.nodes[node as usize].distance = distance;
            }
        }
        self.nodes[node as usize].arms = arms;
        proved
    }

    /// The bounds of each role where several roles choose.
    fn prove_choices(&mut self, node: u32) -> Vec<[u8; 2]> {
        let choosers: Vec<(usize, ArmRange)> = self.choosers(node).collect();
        let counts = choosers.iter().map(|(_, arms)| arms.len() as u128);
        let joints = counts.fold(1, u128::saturating_mul);
        if joints > MOST_JOINT_MOVES {
            return self.range.clone();
        }
        let mut arms = std::mem::take(&mut self.nodes[node as usize].arms);
        let mut all = vec![[u8::MAX, 0]; self.roles];
        let mut by_arm = vec![[u8::MAX, 0]; arms.len()];
        let mut longest = 0;
        for joint in 0..joints {
            let child = self.child(node, joint);
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
                let bounds = &mut by_arm[arm];
                *bounds = [bounds[0].min(low), bounds[1].max(high)];
            }
        }
        for (role, range) in choosers {
            for arm in range.clone() {
                let bounds = both(arms.bounds(arm), by_arm[arm]);
                arms.set_proof(arm, bounds, 0);
            }
            if !self.chance[role] {
                all[role][0] = all[role][0].max(arms.best_low(range));
            }
        }
        let data = &mut self.nodes[node as usize];
        data.arms = arms;
        data.distance = longest.saturating_add(1);
        all
    }
}

/// The bounds that follow from two pairs for the same score. If they contradict each other,
/// which only a wrong assumption can cause, the lower bound counts.
pub(super) fn both(one: [u8; 2], other: [u8; 2]) -> [u8; 2] {
    let low = one[0].max(other[0]);
    [low, one[1].min(other[1]).max(low)]
}
