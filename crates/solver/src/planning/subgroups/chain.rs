//! The choice of subgroups.
//!
//! In: the moves and a solution. Out: groups with fewer and fewer moves, each of which has
//! few cosets of the next one.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Moves;
use super::group::{Group, Permutation, Work};
use ggp_stop::Stop;

/// Limit on the number of moves and their powers, which are bits of a [`Set`].
pub(super) const MOST_ELEMENTS: usize = Set::BITS as usize;
/// Limits on the number of groups to choose from, and of sets of elements that are tried for
/// each one.
const MOST_GROUPS: usize = 4_096;
const MOST_SETS: usize = 256;
/// Share of the moves of a group that lead to new cosets, for the expected number of moves.
const NEW: f64 = 0.75;
/// Two logarithms of orders that differ by less are those of the same order: an index is at
/// least two.
const SAME: f64 = 0.1;

/// A set of elements of [`Moves`].
type Set = u128;

/// Some moves, and the group that they are to reach.
pub(super) struct Stage {
    pub elements: Vec<usize>,
    pub into: Group,
}

/// A group that some elements generate.
struct Node {
    /// All elements that it contains.
    set: Set,
    /// The logarithm of its order, and of the number of elements that leave the solution as it
    /// is.
    order: f64,
    last: f64,
}

/// Groups to choose from, for ways to one solution.
pub(super) struct Groups<'m> {
    moves: &'m Moves,
    /// The points of the solution, each one once.
    base: Vec<u16>,
    /// By element: those that generate the same group, and those of the group without them.
    cyclic: Vec<[Set; 2]>,
    nodes: Vec<Node>,
}

impl<'m> Groups<'m> {
    fn new(moves: &'m Moves, solution: &[u16]) -> Groups<'m> {
        let mut seen = FxHashSet::default();
        let base = solution
            .iter()
            .copied()
            .filter(|&point| seen.insert(point))
            .collect();
        let numbers: FxHashMap<&Permutation, usize> = moves.elements.iter().zip(0..).collect();
        let powers: Vec<Set> = (moves.elements.iter())
            .map(|element| {
                let (mut set, mut power) = (0, element.clone());
                while let Some(number) = numbers.get(&power) {
                    set |= 1 << number;
                    power = super::product(element, &power);
                }
                set
            })
            .collect();
        let cyclic = powers
            .iter()
            .map(|&set| {
                let same = powers.iter().zip(0..).filter(|&(&other, _)| other == set);
                let same = same.fold(0, |all, (_, number)| all | 1 << number);
                [same, set & !same]
            })
            .collect();
        Groups {
            moves,
            base,
            cyclic,
            nodes: Vec::new(),
        }
    }

    fn group(&self, set: Set, work: &mut Work) -> Option<Group> {
        let elements: Vec<&[u16]> = members(set).map(|e| &self.moves.elements[e][..]).collect();
        Group::new(self.moves.points, &self.base, &elements, work)
    }

    /// Adds a group, unless it is known. Returns its number.
    fn add(&mut self, group: &Group) -> Option<usize> {
        let elements = self.moves.elements.iter().zip(0..);
        let set = elements.filter(|(element, _)| group.contains(element));
        let set = set.fold(0, |all, (_, number): (_, usize)| all | 1 << number);
        let is_known = self.nodes.iter().any(|node| node.set == set);
        if is_known || self.nodes.len() == MOST_GROUPS {
            return None;
        }
        let [order, last] = [0, self.base.len()].map(|base| group.ln_order(base));
        self.nodes.push(Node { set, order, last });
        Some(self.nodes.len() - 1)
    }

    /// Finds groups of fewer and fewer elements, until all are known or `work` is used up. Each
    /// has at most `exp(most)` cosets in another one.
    pub fn find(
        moves: &'m Moves,
        solution: &[u16],
        most: f64,
        work: &mut Work,
        stop: &Stop,
    ) -> Groups<'m> {
        let mut groups = Groups::new(moves, solution);
        groups.add_all(most, work, stop);
        groups.nodes.sort_by(|a, b| a.order.total_cmp(&b.order));
        groups
    }

    fn add_all(&mut self, most: f64, work: &mut Work, stop: &Stop) {
        let all = Set::MAX >> (MOST_ELEMENTS - self.moves.elements.len());
        let Some(group) = self.group(all, work) else {
            return;
        };
        self.add(&group);
        // By set: the logarithm of the order of the group that it generates.
        let mut orders: FxHashMap<Set, f64> = FxHashMap::default();
        // The groups that are left, by order: the smallest is last, so that some chain has an end.
        let mut open = vec![0];
        while let Some(node) = open.pop() {
            let Node { set, order, .. } = self.nodes[node];
            // Sets that generate the whole group, from which more is left out.
            let mut sets = vec![set];
            let mut added = Vec::new();
            let mut seen = FxHashSet::default();
            while let Some(set) = sets.pop() {
                for smaller in self.without_one(set) {
                    if smaller == 0 || seen.len() == MOST_SETS || !seen.insert(smaller) {
                        continue;
                    }
                    if stop.is_over() {
                        return;
                    }
                    let known = orders.get(&smaller).copied();
                    let mut new = None;
                    if known.is_none_or(|known| (SAME..=most).contains(&(order - known))) {
                        new = self.group(smaller, work);
                        if new.is_none() {
                            return;
                        }
                    }
                    let ln_order = new.as_ref().map_or(known, |group| Some(group.ln_order(0)));
                    let ln_order = ln_order.expect("one of both is known");
                    orders.insert(smaller, ln_order);
                    match (order - ln_order, new) {
                        (index, _) if index < SAME => sets.push(smaller),
                        (index, Some(group)) if index <= most => added.extend(self.add(&group)),
                        _ => {}
                    }
                }
            }
            open.extend(added);
            open.sort_by(|&a, &b| self.nodes[b].order.total_cmp(&self.nodes[a].order));
        }
    }

    /// The sets that lack all generators of one cyclic group, which no other one contains.
    fn without_one(&self, set: Set) -> Vec<Set> {
        let largest =
            |&element: &usize| members(set).all(|other| self.cyclic[other][1] >> element & 1 == 0);
        let mut smaller: Vec<Set> = (members(set).filter(largest))
            .map(|element| set & !self.cyclic[element][0])
            .collect();
        smaller.dedup();
        smaller
    }

    /// The stages with the fewest expected moves where none has more than `exp(most)` cosets.
    /// None if the groups have no such stages, or `work` does not suffice.
    pub fn stages(&self, most: f64, work: &mut Work) -> Option<Vec<Stage>> {
        // By node: the expected moves to the end, and the next node.
        let mut ways: Vec<Option<(f64, Option<usize>)>> = Vec::new();
        for (number, node) in self.nodes.iter().enumerate() {
            let expected = |order: f64| {
                let index = node.order - order;
                let moves = f64::max(NEW * f64::from(node.set.count_ones()), 2.0).ln();
                (index <= most).then_some(match index < SAME {
                    true => 0.0,
                    false => index / moves + 1.0,
                })
            };
            let mut way = expected(node.last).map(|moves| (moves, None));
            for (other, next) in self.nodes[..number].iter().enumerate() {
                if next.set & !node.set != 0 {
                    continue;
                }
                let more = ways[other].zip(expected(next.order));
                if let Some(((rest, _), first)) = more
                    && way.is_none_or(|(moves, _)| first + rest < moves)
                {
                    way = Some((first + rest, Some(other)));
                }
            }
            ways.push(way);
        }
        let mut at = self.nodes.len().checked_sub(1)?;
        let mut stages = Vec::new();
        loop {
            let (_, next) = ways[at]?;
            // Repetitions of a move are for groups without that move.
            let set = self.nodes[at].set;
            let first = |&element: &usize| match self.moves.words[element] {
                (_, 1) => true,
                (name, _) => members(set).all(|other| self.moves.words[other] != (name, 1)),
            };
            let elements = members(set).filter(first).collect();
            let into = match next {
                Some(next) => self.group(self.nodes[next].set, work)?,
                None => self.group(set, work)?.stabilizer(self.base.len()),
            };
            stages.push(Stage { elements, into });
            match next {
                Some(next) => at = next,
                None => return Some(stages),
            }
        }
    }
}

fn members(mut set: Set) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let first = set.trailing_zeros();
        (first < Set::BITS).then(|| {
            set &= set - 1;
            first as usize
        })
    })
}
