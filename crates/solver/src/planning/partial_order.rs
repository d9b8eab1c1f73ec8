//! Moves whose order does not matter.
//!
//! In: a puzzle. Out: which moves need not be tried after another, and
//! [`PartialOrder`]: which moves are enough to look at in a state.
//!
//! Two moves are *independent* if neither changes what the other reads, and what
//! both change both make true, both make false, or both turn over. Then either
//! order leads to the same state. On the way there are other states, though, and
//! none of them may be a lost end: either no end is one, as long as the number of
//! moves alone does not decide it, or the move that comes first instead does not
//! change what makes an end a lost one, and time does not make lost what was none
//! but for itself.
//!
//! *One order.* Of the plans of the same length the first in the order of the
//! moves has no neighbours that could be exchanged for an earlier one. So a search
//! for all plans of a length, as by clauses, may leave out all others. One that
//! keeps visited states would lose some.
//!
//! *Enough moves.* Moves that are not independent make groups. What a solution
//! needs and a state lacks only some groups can bring about; the first move of
//! these groups in a plan is independent of what comes before it, and could be
//! made at once. So it is enough to try the moves of these groups
//! ([`PartialOrder::enough`]). This goes by the state alone, so any search may do it,
//! and plans remain as short. Where a game is several games played at a time, they
//! are solved one after the other.
//!
//! Source: sleep sets and stubborn sets, as in Valmari, Stubborn sets for reduced
//! state space generation (1989), and Wehrle and Helmert, Efficient stubborn sets:
//! generalized algorithms and selection strategies (2014).

use super::Puzzle;
use super::move_set::effects::{Conjuncts, Effects};
use ggp_engine::propnet::batch::holds;
use ggp_engine::propnet::clauses::{Clauses, Frame};
use ggp_engine::propnet::network::{Literal, Network, Node};
use ggp_engine::propnet::rewrite::live;

/// Conflicts to find out whether ends can be lost.
const CONFLICTS: i32 = 2_000;
/// Moves of which pairs are looked at.
const MOST_MOVES: usize = 600;
/// Facts compared.
const EFFORT: usize = 20_000_000;

/// What commuting moves spare a search.
#[derive(Clone, Debug)]
pub struct PartialOrder {
    /// What each solution needs.
    needs: Vec<Need>,
}

/// Facts and values of which each solution has one.
#[derive(Clone, Debug)]
struct Need {
    any: Vec<(u32, bool)>,
    /// A bit for each move that may have to do with it.
    moves: Vec<u64>,
    count: u32,
}

impl PartialOrder {
    /// None if nothing is spared, or there is too much to look at.
    pub fn of(puzzle: &Puzzle) -> Option<PartialOrder> {
        let effects = Effects::new(puzzle)?;
        let pairs = Pairs::new(&effects)?;
        let moves = effects.changes.len();
        let mut groups: Vec<usize> = (0..moves).collect();
        let mut effort = EFFORT;
        let possible = (0..moves).filter(|&chosen| pairs.is_possible(chosen));
        let possible: Vec<usize> = possible.collect();
        for (place, &one) in possible.iter().enumerate() {
            for &other in &possible[place + 1..] {
                effort = effort.checked_sub(effects.changes[other].len() + 1)?;
                if !pairs.are_independent(one, other) {
                    let (one, other) = (first(&mut groups, one), first(&mut groups, other));
                    groups[one.max(other)] = one.min(other);
                }
            }
        }
        let needs = needs(&effects, &pairs, &possible, &mut groups);
        (!needs.is_empty()).then_some(PartialOrder { needs })
    }

    /// A bit for each move that is enough to be tried in a state that is no
    /// solution; none if all are.
    pub fn enough(&self, state: &[u64]) -> Option<&[u64]> {
        let lacks = |need: &&Need| {
            let mut any = need.any.iter();
            !any.any(|&(fact, value)| holds(state, fact as usize) == value)
        };
        let least = self.needs.iter().find(lacks);
        least.map(|need| need.moves.as_slice())
    }
}

/// By move: the higher moves after which it need not be tried.
pub(super) fn commuting(effects: &Effects) -> Vec<Vec<u32>> {
    let moves = effects.changes.len();
    let mut after = vec![Vec::new(); moves];
    let Some(pairs) = Pairs::new(effects) else {
        return after;
    };
    let mut effort = EFFORT;
    for one in (0..moves).filter(|&one| pairs.is_possible(one) && pairs.may_go_first(one)) {
        for other in (one + 1..moves).filter(|&other| pairs.is_possible(other)) {
            let work = effects.changes[one].len() + effects.changes[other].len();
            let Some(left) = effort.checked_sub(work) else {
                return after;
            };
            effort = left;
            if pairs.are_independent(one, other) {
                after[one].push(other as u32);
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

/// What is known of moves, to compare them two by two.
struct Pairs<'e> {
    effects: &'e Effects,
    /// By move: the facts that it reads.
    reads: Vec<Vec<u32>>,
    /// By move: whether it depends on how many were made before.
    is_timed: Vec<bool>,
    /// By fact: whether a move that changes it may not come first instead; none
    /// if no move may.
    is_last: Option<Vec<bool>>,
}

impl<'e> Pairs<'e> {
    /// None if there are too many moves.
    fn new(effects: &'e Effects) -> Option<Pairs<'e>> {
        let moves = effects.changes.len();
        if moves > MOST_MOVES {
            return None;
        }
        let reads: Vec<Vec<u32>> = (0..moves).map(|chosen| reads(effects, chosen)).collect();
        let is_timed = reads.iter().map(|reads| {
            let mut reads = reads.iter();
            reads.any(|&fact| effects.autonomous[fact as usize])
        });
        Some(Pairs {
            is_timed: is_timed.collect(),
            is_last: last(effects),
            effects,
            reads,
        })
    }

    fn is_possible(&self, chosen: usize) -> bool {
        self.effects.legal[chosen] != Literal::FALSE
    }

    fn may_go_first(&self, chosen: usize) -> bool {
        let mut changes = self.effects.changes[chosen].iter();
        (self.is_last.as_ref())
            .is_some_and(|is_last| !changes.any(|(fact, _)| is_last[*fact as usize]))
    }

    fn are_independent(&self, one: usize, other: usize) -> bool {
        let network = &self.effects.network;
        let (changes, others) = (&self.effects.changes[one], &self.effects.changes[other]);
        let is_read = |changes: &[(u32, Literal)], by: usize| {
            let mut facts = changes.iter().map(|change| change.0);
            facts.any(|fact| self.reads[by].binary_search(&fact).is_ok())
        };
        let agrees = |&(fact, becomes): &(u32, Literal)| match others
            .binary_search_by_key(&fact, |change| change.0)
        {
            Ok(place) => others[place].1 == becomes && is_plain(network, fact, becomes),
            Err(_) => true,
        };
        !self.is_timed[one]
            && !self.is_timed[other]
            && !is_read(changes, other)
            && !is_read(others, one)
            && changes.iter().all(agrees)
    }
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

/// By fact: whether moves that change it are to stay behind others; none if all
/// moves are.
fn last(effects: &Effects) -> Option<Vec<bool>> {
    let network = &effects.network;
    let facts = network.inputs();
    let ends = [effects.terminal, effects.solved];
    let live = live(network, ends);
    let is_cyclic = |node| live[node] && matches!(network.node(node), Node::Feedback(_));
    if (0..network.len()).any(is_cyclic) {
        return None;
    }
    let mut clauses = Clauses::new();
    let now: Vec<i32> = (0..facts).map(|_| clauses.variable()).collect();
    let mut frame = Frame::new(network, &now, &clauses);
    // The same time, other facts.
    let other: Vec<i32> = (0..facts)
        .map(|fact| match effects.autonomous[fact] {
            true => now[fact],
            false => clauses.variable(),
        })
        .collect();
    let is_lost = lost(&mut frame, ends, &mut clauses);
    let other = lost(
        &mut Frame::new(network, &other, &clauses),
        ends,
        &mut clauses,
    );
    if clauses.solve(&[is_lost, -other], CONFLICTS) == Some(false) {
        return Some(vec![false; facts]);
    }
    // Some facts, a moment later; and any others at that moment.
    let mut later = now.clone();
    for fact in (0..facts).filter(|&fact| effects.autonomous[fact]) {
        later[fact] = frame.literal(effects.drift[fact], &mut clauses);
    }
    let others: Vec<i32> = (0..facts)
        .map(|fact| match effects.autonomous[fact] {
            true => later[fact],
            false => clauses.variable(),
        })
        .collect();
    let then = lost(
        &mut Frame::new(network, &later, &clauses),
        ends,
        &mut clauses,
    );
    let others = lost(
        &mut Frame::new(network, &others, &clauses),
        ends,
        &mut clauses,
    );
    if clauses.solve(&[then, -is_lost, -others], CONFLICTS) != Some(false) {
        return None;
    }
    let mut last = vec![false; facts];
    for fact in support(network, ends) {
        last[fact as usize] = true;
    }
    Some(last)
}

/// Over and not solved.
fn lost(frame: &mut Frame<'_>, [over, solved]: [Literal; 2], clauses: &mut Clauses) -> i32 {
    let over = frame.literal(over, clauses);
    let solved = frame.literal(solved, clauses);
    -clauses.any(&[-over, solved])
}

/// What every solution needs that not all groups of moves have to do with, those
/// of few moves first.
fn needs(
    effects: &Effects,
    pairs: &Pairs<'_>,
    possible: &[usize],
    groups: &mut [usize],
) -> Vec<Need> {
    let network = &effects.network;
    let moves = effects.changes.len();
    let mut needs = Vec::new();
    let mut conjuncts = Conjuncts::new(network);
    for &literal in conjuncts.of(effects.solved) {
        let any: Option<Vec<(u32, bool)>> = match network.node(literal.node()) {
            Node::Input(fact) => Some(vec![(fact as u32, !literal.is_negated())]),
            Node::And(operands) => {
                let value = |&one: &Literal| match network.node(one.node()) {
                    Node::Input(fact) => Some((fact as u32, one.is_negated())),
                    _ => None,
                };
                operands.iter().map(value).collect()
            }
            _ => None,
        };
        let Some(any) = any.filter(|any| {
            let mut facts = any.iter().map(|one| one.0 as usize);
            facts.all(|fact| effects.relevant[fact] && !effects.autonomous[fact])
        }) else {
            continue;
        };
        let brings = |&chosen: &usize| {
            let brings = |&(fact, value): &(u32, bool)| {
                let changes = &effects.changes[chosen];
                let place = changes.binary_search_by_key(&fact, |change| change.0);
                place.is_ok_and(|place| changes[place].1 != Literal::FALSE.negated_if(!value))
            };
            any.iter().any(brings)
        };
        let bringers = possible.iter().copied().filter(brings);
        let mut wanted = vec![false; moves];
        bringers.for_each(|chosen| wanted[first(groups, chosen)] = true);
        let mut bits = vec![0; moves.div_ceil(64)];
        let mut count = 0;
        let mut may_all = true;
        for &chosen in possible {
            if wanted[first(groups, chosen)] {
                bits[chosen / 64] |= 1 << (chosen % 64);
                count += 1;
                may_all &= pairs.may_go_first(chosen);
            }
        }
        if may_all && (count as usize) < possible.len() {
            needs.push(Need {
                any,
                moves: bits,
                count,
            });
        }
    }
    needs.sort_by_key(|need| need.count);
    needs
}

fn first(groups: &mut [usize], of: usize) -> usize {
    let mut at = of;
    while groups[at] != at {
        groups[at] = groups[groups[at]];
        at = groups[at];
    }
    at
}
