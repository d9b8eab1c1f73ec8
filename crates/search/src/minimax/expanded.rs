//! The joint moves of a position, split into the role's moves and the answers of all others.

use std::collections::BTreeMap;
use std::hash::Hash;

use super::Expansion;
use super::order::{Side, key};
use super::value::Value;
use crate::Joint;

/// An expansion whose joint moves are split into the role's moves and the others' answers.
pub(super) struct Expanded<S, M> {
    pub(super) expansion: Expansion<S, M>,
    /// The number of the role's moves.
    pub(super) own: usize,
    /// The number of joint moves of all others.
    pub(super) others: usize,
    /// The number of joint moves of the roles after the role.
    stride: usize,
    /// The joint moves of the others, grouped by the moves of roles other than chance; empty
    /// if chance has no choice.
    pub(super) by_chance: Vec<Vec<usize>>,
    /// The estimates of the children, if they are not searched further.
    pub(super) estimates: Vec<Value>,
}

impl<S, M> Expanded<S, M> {
    pub(super) fn new(role: usize, expansion: Expansion<S, M>, chance: &[bool]) -> Self {
        let legal = &expansion.legal;
        let product = |lists: &[Vec<M>]| lists.iter().map(Vec::len).product();
        let (before, stride): (usize, usize) =
            (product(&legal[..role]), product(&legal[role + 1..]));
        let is_drawn = |at: usize| at != role && chance[at] && legal[at].len() > 1;
        let has_chance = (0..legal.len()).any(is_drawn);
        let mut expanded = Expanded {
            own: legal[role].len(),
            others: before * stride,
            stride,
            by_chance: Vec::new(),
            expansion,
            estimates: Vec::new(),
        };
        if has_chance && expanded.own > 0 {
            let mut groups: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
            for others in 0..expanded.others {
                let mut places = expanded.places(others);
                for (at, place) in places.iter_mut().enumerate() {
                    if at == role || chance[at] {
                        *place = 0;
                    }
                }
                groups.entry(places).or_default().push(others);
            }
            expanded.by_chance = groups.into_values().collect();
        }
        expanded
    }

    /// The index of a child by the role's move and the joint move of the others.
    pub(super) fn at(&self, own: usize, others: usize) -> usize {
        let (before, after) = (others / self.stride, others % self.stride);
        (before * self.own + own) * self.stride + after
    }

    /// Returns true if the role and others choose simultaneously.
    pub(super) fn is_simultaneous(&self) -> bool {
        let answers = match self.by_chance.len() {
            0 => self.others,
            answers => answers,
        };
        self.own > 1 && answers > 1
    }

    /// By role: the index of its move in a joint move of the others; 0 for the role itself.
    fn places(&self, others: usize) -> Vec<usize> {
        self.joint(self.at(0, others))
    }

    /// By role: the index of its move that leads to a child.
    pub(super) fn joint(&self, mut place: usize) -> Vec<usize> {
        let legal = self.expansion.legal.iter().rev();
        let mut places: Vec<usize> = legal
            .map(|legal| {
                let at = place % legal.len();
                place /= legal.len();
                at
            })
            .collect();
        places.reverse();
        places
    }
}

impl<S, M: Hash> Expanded<S, M> {
    /// The key of one of the role's moves.
    pub(super) fn own_key(&self, role: usize, own: usize) -> u64 {
        key(Side::Own, [&self.expansion.legal[role][own]])
    }

    /// The key of a joint move of the others.
    pub(super) fn others_key(&self, role: usize, others: usize) -> u64 {
        let mut rest = self.at(0, others);
        let legal = self.expansion.legal.iter().enumerate().rev();
        let moves = legal.filter_map(|(at, legal)| {
            let chosen = &legal[rest % legal.len()];
            rest /= legal.len();
            (at != role).then_some(chosen)
        });
        key(Side::Others, moves)
    }
}

impl<S, M: Clone> Expanded<S, M> {
    /// The joint move that leads to a child, with whether each role had a choice.
    pub(super) fn joint_to(&self, place: usize) -> Joint<M> {
        let counts = self.expansion.legal.iter().map(|legal| legal.len() > 1);
        self.moves_to(place).into_iter().zip(counts).collect()
    }

    /// The joint move that leads to a child.
    pub(super) fn moves_to(&self, place: usize) -> Vec<M> {
        let legal = self.expansion.legal.iter();
        let joint = self.joint(place).into_iter().zip(legal);
        joint.map(|(at, legal)| legal[at].clone()).collect()
    }
}
