//! Disjunctions of moves of several roles.
//!
//! In: an "or" of literals that are themselves "or"s of moves, one of each role. Out: the same
//! moves, if they are most moves of each role, so that their negations are fewer.

use rustc_hash::FxHashMap;

use super::{Exclusive, Group};
use crate::propnet::network::{Builder, Literal, Node};

/// The fewest disjuncts that are split into inputs of several groups.
const LEAST_SPLIT: usize = 8;
/// The most inputs for each of them.
const MOST_PER_SPLIT: usize = 4;

impl Exclusive {
    /// The disjuncts with "or"s of inputs of several groups replaced by these inputs, if they are
    /// more than the inputs that the groups have besides: all moves of any role but a few.
    pub(super) fn split(&self, builder: &Builder, disjuncts: &[Literal]) -> Option<Vec<Literal>> {
        if disjuncts.len() < LEAST_SPLIT {
            return None;
        }
        let mut inputs: Vec<Literal> = Vec::new();
        let mut others = 0;
        for &disjunct in disjuncts {
            match builder.network().node(disjunct.node()) {
                Node::And(operands)
                    if disjunct.is_negated() && self.groups(disjunct).is_empty() =>
                {
                    inputs.extend(operands.iter().map(|&operand| !operand));
                }
                _ => {
                    others += 1;
                    inputs.push(disjunct);
                }
            }
            if 2 * others > disjuncts.len() || inputs.len() > MOST_PER_SPLIT * disjuncts.len() {
                return None;
            }
        }
        let mut count: FxHashMap<u32, usize> = FxHashMap::default();
        for &input in &inputs {
            let &[group] = self.groups(input) else {
                return None;
            };
            *count.entry(group).or_default() +=
                self.sets.get(input).map_or(1, |set| set.nodes.len());
        }
        let most = |group: &u32| self.groups[*group as usize].nodes.len();
        if count
            .iter()
            .any(|(group, count)| count + disjuncts.len() <= most(group))
        {
            return None;
        }
        inputs.sort_unstable();
        inputs.dedup();
        let mut members: Vec<(u32, u32)> = Vec::with_capacity(inputs.len());
        for &input in &inputs {
            let group = self.groups(input)[0];
            match self.sets.get(input) {
                Some(set) => members.extend(set.nodes.iter().map(|&node| (group, node))),
                None => members.push((group, input.node() as u32)),
            }
        }
        members.sort_unstable();
        members.dedup();
        let left = members.chunk_by(|a, b| a.0 == b.0).map(|inside| {
            let Group { nodes, exact } = &self.groups[inside[0].0 as usize];
            exact.then(|| nodes.len() - inside.len())
        });
        let left: usize = left.sum::<Option<usize>>()?;
        (left < disjuncts.len()).then_some(inputs)
    }
}
