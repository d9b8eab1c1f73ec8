//! Conditions under which moves are preferred.
//!
//! In: conditions of moves as literals of a network, and how many gates they may take. Out: by move,
//! whether one of the cheapest of its conditions holds.

use rustc_hash::FxHashSet;

use crate::propnet::network::{Builder, Literal, Network, Node};

/// The most gates of one condition, and of all together.
#[derive(Copy, Clone, Debug, Default)]
pub(in crate::propnet::playout) struct Allowance {
    pub each: usize,
    pub all: usize,
}

/// A condition under which a move is preferred.
pub(super) struct Condition {
    pub index: usize,
    pub literal: Literal,
}

/// By move: whether one of its conditions holds. The cheapest conditions are taken, until they
/// need more gates that are not known than `most` allows; `None` without any.
pub(super) fn cheapest(
    builder: &mut Builder,
    conditions: Vec<Condition>,
    mut known: FxHashSet<usize>,
    moves: usize,
    most: Allowance,
) -> Option<Vec<Literal>> {
    let network = builder.network();
    let mut sorted: Vec<(usize, Condition)> = conditions
        .into_iter()
        .filter(|condition| condition.literal != Literal::FALSE)
        .map(|condition| {
            let (_, gates) = needed(network, [condition.literal], &known, most.each);
            (gates, condition)
        })
        .filter(|(gates, _)| *gates <= most.each)
        .collect();
    sorted.sort_by_key(|(gates, condition)| (*gates, condition.index, condition.literal));
    let mut by_move = vec![Vec::new(); moves];
    let mut left = most.all;
    for (_, condition) in sorted {
        let (nodes, gates) = needed(network, [condition.literal], &known, left);
        if gates > left {
            break;
        }
        left -= gates;
        known.extend(nodes);
        by_move[condition.index].push(condition.literal);
    }
    let is_any = by_move.iter().any(|conditions| !conditions.is_empty());
    is_any.then(|| by_move.iter().map(|any| builder.or(any)).collect())
}

/// Literals of which one at least is true if `literal` is.
pub(super) fn disjuncts(network: &Network, literal: Literal) -> FxHashSet<Literal> {
    let (mut open, mut found) = (vec![literal], FxHashSet::default());
    while let Some(literal) = open.pop() {
        match network.node(literal.node()) {
            Node::And(operands) if literal.is_negated() => {
                open.extend(operands.iter().map(|&operand| !operand));
            }
            _ if literal == Literal::FALSE => {}
            _ => {
                found.insert(literal);
            }
        }
    }
    found
}

/// The nodes that some literals need and that are not known, and the number of their two-input
/// gates. The search ends when that number exceeds `most`.
pub(super) fn needed(
    network: &Network,
    literals: impl IntoIterator<Item = Literal>,
    known: &FxHashSet<usize>,
    most: usize,
) -> (FxHashSet<usize>, usize) {
    let mut open: Vec<usize> = literals.into_iter().map(Literal::node).collect();
    let (mut found, mut gates) = (FxHashSet::default(), 0);
    while let Some(node) = open.pop().filter(|_| gates <= most) {
        if !known.contains(&node) && found.insert(node) {
            let reads = network.reads(node);
            gates += reads.len().saturating_sub(1);
            open.extend(reads.iter().map(|literal| literal.node()));
        }
    }
    (found, gates)
}
