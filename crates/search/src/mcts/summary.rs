//! What a tree is to be seen of: where it was most, and how play is expected to go on.
//!
//! In: a tree. Out: some of its positions, parents first, and a line of joint moves.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::Hash;

use rustc_hash::FxHashSet;

use super::report::RoleReport;
use super::tree::{Chooser, NONE, Tree, WAITING};
use crate::Joint;

/// The longest line.
const LONGEST: usize = 40;
/// Joint moves of one position that are looked at where several choose, those of the
/// moves that were made most.
const JOINTS: usize = 256;

/// The positions of a tree that were visited most.
#[derive(Clone, PartialEq, Debug)]
pub struct Excerpt<M> {
    /// The root, and then each after the one that leads there, of two the one visited
    /// more.
    pub nodes: Vec<Excerpted<M>>,
    /// Positions of the whole tree.
    pub all: usize,
}

/// A position of an [`Excerpt`].
#[derive(Clone, PartialEq, Debug)]
pub struct Excerpted<M> {
    /// The place of the position before, that from which it was visited most; none for
    /// the root.
    pub from: Option<usize>,
    /// The joint move that leads here from there; empty for the root.
    pub joint: Joint<M>,
    /// How often lines came here from there, no more than as often as they came there. If
    /// several chose at once, how often it was visited at all; an end counts once.
    pub visits: u64,
    /// What it is thought to be worth to the role that asks, 0 to 100.
    pub value: f64,
    /// Whether the game is over.
    pub is_end: bool,
}

impl<M> Excerpt<M> {
    /// The same with moves called otherwise, each by its role.
    pub fn named<N>(&self, name: impl Fn(usize, &M) -> N) -> Excerpt<N> {
        let nodes = self.nodes.iter().map(|node| Excerpted {
            from: node.from,
            joint: named(&node.joint, &name),
            visits: node.visits,
            value: node.value,
            is_end: node.is_end,
        });
        Excerpt {
            nodes: nodes.collect(),
            all: self.all,
        }
    }
}

/// A joint move with moves called otherwise, each by its role.
pub fn named<M, N>(joint: &[(M, bool)], name: impl Fn(usize, &M) -> N) -> Joint<N> {
    let moves = joint.iter().enumerate();
    moves
        .map(|(role, (made, is_chosen))| (name(role, made), *is_chosen))
        .collect()
}

/// A position that may be taken in, where it hangs, and the joint move that leads there.
/// Those visited more are greater, and of equals those that were found earlier.
type Found = (u32, Reverse<usize>, u32, Option<(usize, u32, u128)>);

impl<S: Clone + Eq + Hash, M: Clone + Eq + Hash> Tree<S, M> {
    /// So many of its positions, those that were visited most, with what they are worth
    /// to a role.
    pub fn excerpt(&self, role: usize, most: usize) -> Excerpt<M> {
        let mut nodes: Vec<Excerpted<M>> = Vec::new();
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
            nodes.push(Excerpted {
                from: before.map(|(place, ..)| place),
                joint: before.map_or_else(Vec::new, |(_, from, choice)| {
                    let mut moves = Vec::new();
                    self.joint(from, choice, &mut moves);
                    let moves = moves.into_iter().enumerate();
                    let count = |role: usize| self.counts[from as usize * self.roles + role];
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
        Excerpt {
            nodes,
            all: self.len(),
        }
    }

    /// Tells where a position leads to, by which joint move, and how often.
    fn follow(&self, node: u32, mut tell: impl FnMut(u32, u128, u32)) {
        let data = &self.nodes[node as usize];
        if data.arms == NONE {
            return;
        }
        if data.chooser != Chooser::Many {
            for (_, arms) in self.choosers(node) {
                for (choice, arm) in (0..).zip(&self.arms[arms]) {
                    if arm.child < WAITING {
                        tell(arm.child, choice, arm.visits);
                    }
                }
            }
            return;
        }
        // By role: the unit of its choices, and these, those made most first.
        let mut unit = 1_u128;
        let choices = self.choosers(node).map(|(_, arms)| {
            let own = unit;
            unit *= arms.len() as u128;
            let mut made: Vec<usize> = (0..arms.len()).collect();
            made.sort_by_key(|index| Reverse(self.arms[arms.start + index].visits));
            (own, made)
        });
        let mut choices: Vec<(u128, Vec<usize>)> = choices.collect();
        let product = |choices: &[(u128, Vec<usize>)]| {
            let counts = choices.iter().map(|(_, made)| made.len());
            counts.fold(1, usize::saturating_mul)
        };
        while product(&choices) > JOINTS {
            let longest = choices.iter_mut().max_by_key(|(_, made)| made.len());
            longest.expect("several choose").1.pop();
        }
        for number in 0..product(&choices) {
            let (mut rest, mut choice) = (number, 0);
            for (unit, made) in &choices {
                choice += unit * made[rest % made.len()] as u128;
                rest /= made.len();
            }
            let child = self.edges.get(&(node, choice)).copied().unwrap_or(NONE);
            if child < WAITING {
                tell(child, choice, self.nodes[child as usize].visits);
            }
        }
    }

    /// How play is expected to go on if a role makes a move first: each role makes the
    /// move that [`RoleReport::best`] says, as far as the tree goes.
    pub fn line(&self, role: usize, first: &M) -> Vec<Joint<M>> {
        let mut line = Vec::new();
        let (mut node, mut met) = (self.root, FxHashSet::default());
        while line.len() < LONGEST && met.insert(node) {
            let (mut joint, mut choice, mut unit) = (Vec::new(), 0, 1);
            for (at, report) in self.known(node).iter().enumerate() {
                let wanted = match line.is_empty() && at == role {
                    true => Some(first),
                    false => report.best().map(|best| &best.action),
                };
                let Some(index) = wanted.and_then(|wanted| place(report, wanted)) else {
                    return line;
                };
                let count = report.moves.len() as u128;
                joint.push((report.moves[index].action.clone(), count > 1));
                choice += unit * index as u128;
                unit *= count;
            }
            let data = &self.nodes[node as usize];
            let child = match data.chooser {
                _ if data.arms == NONE => NONE,
                Chooser::Many => self.edges.get(&(node, choice)).copied().unwrap_or(NONE),
                _ => self.arms[data.arms as usize + choice as usize].child,
            };
            // What was never made is no more than a guess.
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

fn place<M: PartialEq>(report: &RoleReport<M>, wanted: &M) -> Option<usize> {
    let mut moves = report.moves.iter();
    moves.position(|entry| entry.action == *wanted)
}
