//! Pairs of moves whose order does not matter.
//!
//! In: a puzzle move by move. Out: for each move, the higher ones after which it
//! need not be tried: whoever makes the two in that order could make them in the
//! other, and would be in the same state.
//!
//! Two moves commute if neither changes what the other reads, and what both
//! change both make true, both make false, or both turn over. The state between
//! them differs, though, and must not be a lost end: either no end is one, as
//! long as the number of moves alone does not decide it, or the move that is to
//! come first does not change what makes an end a lost one.

use crate::propnet::clauses::{Clauses, Frame};
use crate::propnet::network::{Literal, Network, Node};
use crate::propnet::rewrite::live;
use crate::puzzle::collapse::effects::Effects;

/// Conflicts to find out whether ends can be lost.
const CONFLICTS: i32 = 2_000;
/// Moves of which pairs are looked at.
const MOST_MOVES: usize = 600;
/// Facts compared.
const EFFORT: usize = 20_000_000;

/// By move: the higher moves after which it need not be tried.
pub(super) fn commuting(effects: &Effects) -> Vec<Vec<u32>> {
    let moves = effects.changes.len();
    if moves > MOST_MOVES {
        return vec![Vec::new(); moves];
    }
    let network = &effects.network;
    let is_possible = |&chosen: &usize| effects.legal[chosen] != Literal::FALSE;
    let reads: Vec<Vec<u32>> = (0..moves)
        .map(|chosen| match is_possible(&chosen) {
            true => reads(effects, chosen),
            false => Vec::new(),
        })
        .collect();
    let lost = support(network, [effects.terminal, effects.solved]);
    let never_lost = ends_are_won(effects);
    let mut after = vec![Vec::new(); moves];
    let mut effort = EFFORT;
    for first in (0..moves).filter(is_possible) {
        let changes = &effects.changes[first];
        if !never_lost
            && changes
                .iter()
                .any(|(fact, _)| lost.binary_search(fact).is_ok())
        {
            continue;
        }
        for second in (first + 1..moves).filter(is_possible) {
            let others = &effects.changes[second];
            let work = changes.len() + others.len();
            let Some(left) = effort.checked_sub(work) else {
                return after;
            };
            effort = left;
            let is_read = |changes: &[(u32, Literal)], reads: &[u32]| {
                changes
                    .iter()
                    .any(|(fact, _)| reads.binary_search(fact).is_ok())
            };
            let agrees = |&(fact, becomes): &(u32, Literal)| match others
                .binary_search_by_key(&fact, |change| change.0)
            {
                Ok(place) => others[place].1 == becomes && is_plain(network, fact, becomes),
                Err(_) => true,
            };
            if !is_read(changes, &reads[second])
                && !is_read(others, &reads[first])
                && changes.iter().all(agrees)
            {
                after[first].push(second as u32);
            }
        }
    }
    after
}

/// Whether a move made twice in a row changes nothing.
pub(super) fn is_undone_by_itself(effects: &Effects, chosen: usize) -> bool {
    let turned =
        |&(fact, becomes): &(u32, Literal)| becomes == !effects.network.input(fact as usize);
    effects.changes[chosen].iter().all(turned)
}

/// Whether a fact becomes true, false, or the opposite.
fn is_plain(network: &Network, fact: u32, becomes: Literal) -> bool {
    becomes.is_constant() || becomes == !network.input(fact as usize)
}

/// The facts that a move's legality and effects depend on, ascending; of those
/// that it turns over not the fact itself.
fn reads(effects: &Effects, chosen: usize) -> Vec<u32> {
    let mut roots = vec![effects.legal[chosen]];
    for &(fact, becomes) in &effects.changes[chosen] {
        if !is_plain(&effects.network, fact, becomes) {
            roots.push(becomes);
        }
    }
    support(&effects.network, roots)
}

fn support(network: &Network, roots: impl IntoIterator<Item = Literal>) -> Vec<u32> {
    let live = live(network, roots);
    let inputs = (0..network.inputs()).filter(|&input| live[network.input(input).node()]);
    inputs.map(|input| input as u32).collect()
}

/// Whether being a lost end does not depend on what moves change.
fn ends_are_won(effects: &Effects) -> bool {
    let network = &effects.network;
    let mut changed = vec![false; network.inputs()];
    for (fact, _) in effects.changes.iter().flatten() {
        changed[*fact as usize] = true;
    }
    if !network.regions().is_empty()
        && live(network, [effects.terminal, effects.solved])
            .iter()
            .enumerate()
            .any(|(node, &live)| live && matches!(network.node(node), Node::Feedback(_)))
    {
        return false;
    }
    let mut clauses = Clauses::new();
    let one: Vec<i32> = changed.iter().map(|_| clauses.variable()).collect();
    let other: Vec<i32> = (one.iter().zip(&changed))
        .map(|(&one, &changed)| if changed { clauses.variable() } else { one })
        .collect();
    let lost = [one, other].map(|inputs| {
        let mut frame = Frame::new(network, &inputs, &clauses);
        let over = frame.literal(effects.terminal, &mut clauses);
        let solved = frame.literal(effects.solved, &mut clauses);
        -clauses.any(&[-over, solved])
    });
    clauses.solve(&[lost[0], -lost[1]], CONFLICTS) == Some(false)
}
