//! Candidate invariants.
//!
//! In: the pairs of moves that exclude each other. Out: clauses that are likely to
//! hold in every reachable state: facts that never change, pairs of facts of which
//! at least one keeps its initial value because no two moves that change them are
//! both made, and what every move that changes a fact requires or also causes. None
//! of them is proved here.

use super::effects::{Conjuncts, Effects};
use super::single_changes::SingleChanges;
use crate::planning::Puzzle;
use ggp_engine::propnet::batch::holds;
use ggp_engine::propnet::network::{Literal, Node};

/// Limit on the number of clauses.
const MAX_CLAUSES: usize = 30_000;
/// Limit on the number of pairs of moves compared.
const MAX_PAIRS: usize = 20_000_000;

pub(super) fn candidates(
    puzzle: &Puzzle,
    effects: &Effects,
    single_changes: &SingleChanges,
) -> Vec<Vec<(u32, bool)>> {
    let at_start = |fact: usize| holds(&puzzle.start, fact);
    let relevant = (0..single_changes.movers.len()).filter(|&fact| effects.relevant[fact]);
    let (still, moved): (Vec<usize>, Vec<usize>) = relevant
        .filter(|&fact| !effects.autonomous[fact])
        .partition(|&fact| single_changes.movers[fact].is_still());
    let stays = |fact: usize| (fact as u32, at_start(fact));
    let mut candidates: Vec<Vec<(u32, bool)>> =
        still.into_iter().map(|fact| vec![stays(fact)]).collect();
    let movers: Vec<Vec<u32>> = (moved.iter())
        .map(|&fact| {
            [
                single_changes.movers[fact].must.as_slice(),
                &single_changes.movers[fact].may,
            ]
            .concat()
        })
        .collect();
    let mut conjuncts = Conjuncts::new(&effects.network);
    for (fact, movers) in moved.iter().zip(&movers) {
        for with in common_literals(effects, &mut conjuncts, movers) {
            let is_plain =
                with == stays(with.0 as usize) && single_changes.movers[with.0 as usize].is_still();
            if with.0 as usize != *fact && !is_plain {
                candidates.push(vec![stays(*fact), with]);
            }
        }
    }
    let mut effort = MAX_PAIRS;
    for (place, one) in movers.iter().enumerate() {
        for (other, others) in moved.iter().zip(&movers).skip(place + 1) {
            let Some(left) = effort.checked_sub(one.len() * others.len()) else {
                return candidates;
            };
            effort = left;
            let never = |&a: &u32, &b: &u32| {
                let (a, b) = (a as usize, b as usize);
                a != b && single_changes.is_never_after(a, b) && single_changes.is_never_after(b, a)
            };
            if one.iter().all(|a| others.iter().all(|b| never(a, b))) {
                candidates.push(vec![stays(moved[place]), stays(*other)]);
            }
            if candidates.len() >= MAX_CLAUSES {
                return candidates;
            }
        }
    }
    candidates
}

/// Literals that hold after each of some moves.
fn common_literals(
    effects: &Effects,
    conjuncts: &mut Conjuncts<'_>,
    moves: &[u32],
) -> Vec<(u32, bool)> {
    let mut lists =
        (moves.iter()).map(|&chosen| literals_after(effects, conjuncts, chosen as usize));
    let mut common = lists.next().unwrap_or_default();
    for list in lists {
        common.retain(|fact| list.binary_search(fact).is_ok());
    }
    common
}

/// Literals that hold after a move, as far as they are conjuncts of its legality or
/// constant effects; ascending.
fn literals_after(
    effects: &Effects,
    conjuncts: &mut Conjuncts<'_>,
    chosen: usize,
) -> Vec<(u32, bool)> {
    let changes = &effects.changes[chosen];
    let parts = conjuncts.of(effects.legal[chosen]).iter();
    let needed = parts.filter_map(|literal| match effects.network.node(literal.node()) {
        Node::Input(fact) => Some((fact as u32, !literal.is_negated())),
        _ => None,
    });
    let stays = |&(fact, _): &(u32, bool)| changes.iter().all(|change| change.0 != fact);
    let mut literals_after: Vec<(u32, bool)> = needed.filter(stays).collect();
    let constant = changes.iter().filter(|change| change.1.is_constant());
    literals_after.extend(constant.map(|&(fact, becomes)| (fact, becomes == Literal::TRUE)));
    literals_after.sort_unstable();
    literals_after
}
