//! Summaries of a tree: its most visited positions, and the expected continuation.
//!
//! In: a tree. Out: some of its positions, parents first, or a line of joint moves.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::Hash;

use rustc_hash::FxHashSet;

use super::report::RoleReport;
use super::tree::{Chooser, Tree, WAITING};
use crate::Joint;

/// The most joint moves of a line.
const LONGEST: usize = 40;
/// The most joint moves of one position to consider if several roles choose. They combine
/// the most visited moves.
const JOINTS: usize = 256;

/// The most visited positions of a tree.
#[derive(Clone, PartialEq, Debug)]
pub struct TreeSummary<M> {
    /// The positions: first the root, every other one after its parent, in order of
    /// decreasing visits.
    pub nodes: Vec<SummaryNode<M>>,
    /// The number of positions in the whole tree.
    pub total: usize,
}

/// A position of a [`TreeSummary`].
#[derive(Clone, PartialEq, Debug)]
pub struct SummaryNode<M> {
    /// The index of the parent from which it was visited most; `None` for the root.
    pub parent: Option<usize>,
    /// The joint move from the parent; empty for the root.
    pub joint: Joint<M>,
    /// The number of visits from the parent, at most those of the parent. If several roles
    /// chose at once, the number of all visits; a terminal state counts once.
    pub visits: u64,
    /// The mean score of the role for which the summary was made, 0 to 100.
    pub value: f64,
    /// True if the game is over.
    pub is_end: bool,
}

impl<M> TreeSummary<M> {
    /// The summary with each move replaced by `name(role, move)`.
    pub fn named<N>(&self, name: impl Fn(usize, &M) -> N) -> TreeSummary<N> {
        let nodes = self.nodes.iter().map(|node| SummaryNode {
            parent: node.parent,
            joint: named(&node.joint, &name),
            visits: node.visits,
            value: node.value,
            is_end: node.is_end,
        });
        TreeSummary {
            nodes: nodes.collect(),
            total: self.total,
        }
    }
}

/// A joint move with each move replaced by `name(role, move)`.
pub fn named<M, N>(joint: &[(M, bool)], name: impl Fn(usize, &M) -> N) -> Joint<N> {
    let moves = joint.iter().enumerate();
    moves
        .map(|(role, (made, is_chosen))| (name(role, made), *is_chosen))
        .collect()
}

/// A candidate for a summary: visits, order of discovery, node, and its parent's index, node
/// and joint move. Candidates with more visits are greater; among equals, the earlier one.
type Found = (u32, Reverse<usize>, u32, Option<(usize, u32, u128)>);

impl<S: Clone + Eq + Hash, M: Clone + Eq + Hash> Tree<S, M> {
    /// The `most` most visited positions, with their values for a role.
    pub fn summary(&self, role: usize, most: usize) -> TreeSummary<M> {
        let mut nodes: Vec<SummaryNode<M>> = Vec::new();
        let (mut taken, mut count) = (FxHashSet::default(), 0);
        let visits = self.nodes[self.root as usize].visits;
        let mut found: BinaryHeap<Found> =
            BinaryHeap::from([(visits, Reverse(0), self.root, None)]);
        while nodes.len() < most
            && let Some((visits, _, node, before)) = found.pop()
        {
            if !taken.insert(node) {
                continue;
            }
            let place = nodes.len();
            nodes.push(SummaryNode {
                parent: before.map(|(place, ..)| place),
                joint: before.map_or_else(Vec::new, |(_, from, choice)| {
                    let mut moves = Vec::new();
                    self.joint(from, choice, &mut moves);
                    let moves = moves.into_iter().enumerate();
                    let count = |role: usize| self.count(from, role);
                    moves.map(|(role, made)| (made, count(role) > 1)).collect()
                }),
                visits: visits.into(),
                value: self.mean(node, role),
                is_end: self.nodes[node as usize].is_end,
            });
            self.follow(node, |child, choice, own| {
                count += 1;
                let visits = own.min(visits);
                found.push((visits, Reverse(count), child, Some((place, node, choice))));
            });
        }
        TreeSummary {
            nodes,
            total: self.len(),
        }
    }

    /// Calls `visit` with each child of a position, its joint move and its visits.
    pub(super) fn follow(&self, node: u32, mut visit: impl FnMut(u32, u128, u32)) {
        let data = &self.nodes[node as usize];
        let arms = &data.arms;
        if arms.is_empty() {
            return;
        }
        if data.chooser != Chooser::Many {
            for (arm, &child) in arms.children().iter().enumerate() {
                if child < WAITING {
                    visit(child, arm as u128, arms.visits(arm));
                }
            }
            return;
        }
        // By role: the factor of its choices in the joint move number, and the choices in
        // order of decreasing visits.
        let mut unit = 1_u128;
        let choices = self.choosers(node).map(|(_, range)| {
            let own = unit;
            unit *= range.len() as u128;
            let mut made: Vec<usize> = (0..range.len()).collect();
            made.sort_by_key(|index| Reverse(arms.visits(range.start + index)));
            (own, made)
        });
        let mut choices: Vec<(u128, Vec<usize>)> = choices.collect();
        let product = |choices: &[(u128, Vec<usize>)]| {
            let counts = choices.iter().map(|(_, made)| made.len());
            counts.fold(1, usize::saturating_mul)
        };
        while product(&choices) > JOINTS {
            let longest = choices.iter_mut().max_by_key(|(_, made)| made.len());
            longest.expect("several roles choose").1.pop();
        }
        for number in 0..product(&choices) {
            let (mut rest, mut choice) = (number, 0);
            for (unit, made) in &choices {
                choice += unit * made[rest % made.len()] as u128;
                rest /= made.len();
            }
            let child = self.child(node, choice);
            if child < WAITING {
                visit(child, choice, self.nodes[child as usize].visits);
            }
        }
    }

    /// The expected continuation if a role starts with a given move: after it, each role
    /// plays [`RoleReport::best`] for as long as the position is in the tree.
    pub fn line(&self, role: usize, first: &M) -> Vec<Joint<M>> {
        let mut line = Vec::new();
        let (mut node, mut met) = (self.root, FxHashSet::default());
        while line.len() < LONGEST && met.insert(node) {
            let (mut joint, mut choice, mut unit) = (Vec::new(), 0, 1);
            for (at, report) in self.statistics(node).iter().enumerate() {
                let wanted = match line.is_empty() && at == role {
                    true => Some(first),
                    false => report.best().map(|best| &best.action),
                };
                let Some(index) = wanted.and_then(|wanted| index_of(report, wanted)) else {
                    return line;
                };
                let count = report.moves.len() as u128;
                joint.push((report.moves[index].action.clone(), count > 1));
                choice += unit * index as u128;
                unit *= count;
            }
            let child = self.child(node, choice);
            // Joint moves that were never tried are left out, except the first one.
            if child < WAITING || line.is_empty() {
                line.push(joint);
            }
            if child >= WAITING {
                return line;
            }
            node = child;
        }
        line
    }
}

fn index_of<M: PartialEq>(report: &RoleReport<M>, wanted: &M) -> Option<usize> {
    let mut moves = report.moves.iter();
    moves.position(|entry| entry.action == *wanted)
}
