//! Partial-order reduction: moves whose order does not matter.
//!
//! In: a puzzle. Out: which moves need not be tried directly after another one, and
//! a [`PartialOrder`] that gives the moves that suffice in a state.
//!
//! Two moves are *independent* if neither changes what the other reads, and if both
//! set, both clear or both flip whatever both change. Then either order leads to
//! the same state, through different intermediate states. None of these may be a
//! lost end (terminal but not solved). This is guaranteed in two cases: there are
//! no lost ends, except those that the number of moves alone decides; or the move
//! that is made first instead does not change what makes an end lost, and time
//! turns no state into a lost end by itself.
//!
//! *One order.* Of the plans of a given length, the lexicographically first
//! contains no neighbouring moves that could be exchanged for a smaller plan. So a
//! search for all plans of a length, such as by SAT, may exclude all others. A
//! search that stores visited states must not do this, as it would lose solutions.
//!
//! *Sufficient moves.* Dependent moves form groups. If a solution requires
//! something that a state lacks, only some groups can achieve it. The first move of
//! these groups in a plan is independent of all moves before it and could be made
//! at once. So it suffices to try the moves of these groups
//! ([`PartialOrder::sufficient`]). The set depends only on the state, so any search
//! may use it, and plans remain shortest. Where a game consists of several
//! simultaneous games, they are solved one after the other.
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
use ggp_stop::Stop;

/// Conflicts allowed for proving that there are no lost ends.
const CONFLICTS: i32 = 2_000;
/// Limit on the moves that are compared in pairs.
const MOST_MOVES: usize = 600;
/// Limit on the facts compared.
const MAX_WORK: usize = 20_000_000;

/// The sufficient moves of a puzzle's states.
#[derive(Clone, Debug)]
pub struct PartialOrder {
    /// The requirements of solutions.
    requirements: Vec<Requirement>,
}

/// A requirement: facts and values, of which each solution has at least one.
#[derive(Clone, Debug)]
struct Requirement {
    any: Vec<(u32, bool)>,
    /// The moves of the groups that may affect it, as a bit set.
    moves: Vec<u64>,
    count: u32,
}

impl PartialOrder {
    /// None if all moves are always needed, or if the puzzle is too large.
    pub fn of(puzzle: &Puzzle) -> Option<PartialOrder> {
        let effects = Effects::of(puzzle)?;
        let pairs = Pairs::new(&effects, &puzzle.stop)?;
        let moves = effects.changes.len();
        let mut groups: Vec<usize> = (0..moves).collect();
        let mut work_left = MAX_WORK;
        let possible = (0..moves).filter(|&chosen| pairs.is_possible(chosen));
        let possible: Vec<usize> = possible.collect();
        for (place, &one) in possible.iter().enumerate() {
            if puzzle.stop.is_over() {
                return None;
            }
            for &other in &possible[place + 1..] {
                work_left = work_left.checked_sub(effects.changes[other].len() + 1)?;
                if !pairs.are_independent(one, other) {
                    let (one, other) = (
                        representative(&mut groups, one),
                        representative(&mut groups, other),
                    );
                    groups[one.max(other)] = one.min(other);
                }
            }
        }
        let requirements = requirements(&effects, &pairs, &possible, &mut groups);
        (!requirements.is_empty()).then_some(PartialOrder { requirements })
    }

    /// The moves that suffice in a state that is not a solution, as a bit set; none
    /// if all moves have to be tried.
    pub fn sufficient(&self, state: &[u64]) -> Option<&[u64]> {
        let lacks = |need: &&Requirement| {
            let mut any = need.any.iter();
            !any.any(|&(fact, value)| holds(state, fact as usize) == value)
        };
        let least = self.requirements.iter().find(lacks);
        least.map(|need| need.moves.as_slice())
    }
}

/// By move: the larger moves directly after which it need not be tried.
/// There are fewer of them after a stop.
pub(super) fn commuting(effects: &Effects, stop: &Stop) -> Vec<Vec<u32>> {
    let moves = effects.changes.len();
    let mut after = vec![Vec::new(); moves];
    let Some(pairs) = Pairs::new(effects, stop) else {
        return after;
    };
    let mut work_left = MAX_WORK;
    for one in (0..moves).filter(|&one| pairs.is_possible(one) && pairs.may_go_first(one)) {
        if stop.is_over() {
            break;
        }
        for other in (one + 1..moves).filter(|&other| pairs.is_possible(other)) {
            let work = effects.changes[one].len() + effects.changes[other].len();
            let Some(left) = work_left.checked_sub(work) else {
                return after;
            };
            work_left = left;
            if pairs.are_independent(one, other) {
                after[one].push(other as u32);
            }
        }
    }
    after
}

/// True if making a move twice in a row changes nothing.
pub(super) fn is_undone_by_itself(effects: &Effects, chosen: usize) -> bool {
    let flipped =
        |&(fact, becomes): &(u32, Literal)| becomes == !effects.network.input(fact as usize);
    effects.changes[chosen].iter().all(flipped)
}

/// Data for the pairwise comparison of moves.
struct Pairs<'e> {
    effects: &'e Effects,
    /// By move: the facts that it reads.
    reads: Vec<Vec<u32>>,
    /// By move: whether it depends on the number of moves made.
    is_timed: Vec<bool>,
    /// By fact: whether moves that change it must not be moved forward; none if no
    /// move may be.
    is_last: Option<Vec<bool>>,
}

impl<'e> Pairs<'e> {
    /// None if there are too many moves.
    fn new(effects: &'e Effects, stop: &Stop) -> Option<Pairs<'e>> {
        let moves = effects.changes.len();
        if moves > MOST_MOVES {
            return None;
        }
        let mut all: Vec<Vec<u32>> = Vec::with_capacity(moves);
        for chosen in 0..moves {
            if stop.is_over() {
                return None;
            }
            all.push(reads(effects, chosen));
        }
        let reads = all;
        let is_timed = reads.iter().map(|reads| {
            let mut reads = reads.iter();
            reads.any(|&fact| effects.autonomous[fact as usize])
        });
        Some(Pairs {
            is_timed: is_timed.collect(),
            is_last: fixed_behind(effects, stop),
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
            Ok(place) => others[place].1 == becomes && is_simple(network, fact, becomes),
            Err(_) => true,
        };
        !self.is_timed[one]
            && !self.is_timed[other]
            && !is_read(changes, other)
            && !is_read(others, one)
            && changes.iter().all(agrees)
    }
}

/// True if a fact is set, cleared or flipped.
fn is_simple(network: &Network, fact: u32, becomes: Literal) -> bool {
    becomes.is_constant() || becomes == !network.input(fact as usize)
}

/// The facts that a move's legality and effects depend on, ascending; without the
/// facts that it only flips.
fn reads(effects: &Effects, chosen: usize) -> Vec<u32> {
    let mut roots = vec![effects.legal[chosen]];
    for &(fact, becomes) in &effects.changes[chosen] {
        if !is_simple(&effects.network, fact, becomes) {
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

/// By fact: whether moves that change it must not be moved forward; none if no move
/// may be.
fn fixed_behind(effects: &Effects, stop: &Stop) -> Option<Vec<bool>> {
    let network = &effects.network;
    let facts = network.inputs();
    let ends = [effects.terminal, effects.solved];
    let live = live(network, ends);
    let is_cyclic = |node| live[node] && matches!(network.node(node), Node::Feedback(_));
    if (0..network.len()).any(is_cyclic) {
        return None;
    }
    let mut clauses = Clauses::until(stop);
    let now: Vec<i32> = (0..facts).map(|_| clauses.variable()).collect();
    let mut frame = Frame::new(network, &now, &clauses);
    // Other facts at the same time.
    let other: Vec<i32> = (0..facts)
        .map(|fact| match effects.autonomous[fact] {
            true => now[fact],
            false => clauses.variable(),
        })
        .collect();
    let is_lost = lost_end(&mut frame, ends, &mut clauses);
    let other = lost_end(
        &mut Frame::new(network, &other, &clauses),
        ends,
        &mut clauses,
    );
    if clauses.solve(&[is_lost, -other], CONFLICTS) == Some(false) {
        return Some(vec![false; facts]);
    }
    // The same facts one step later, and any other facts at that time.
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
    let then = lost_end(
        &mut Frame::new(network, &later, &clauses),
        ends,
        &mut clauses,
    );
    let others = lost_end(
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

/// Terminal and not solved.
fn lost_end(frame: &mut Frame<'_>, [over, solved]: [Literal; 2], clauses: &mut Clauses) -> i32 {
    let over = frame.literal(over, clauses);
    let solved = frame.literal(solved, clauses);
    -clauses.any(&[-over, solved])
}

/// The requirements that only some of the groups affect, those with the fewest
/// moves first.
fn requirements(
    effects: &Effects,
    pairs: &Pairs<'_>,
    possible: &[usize],
    groups: &mut [usize],
) -> Vec<Requirement> {
    let network = &effects.network;
    let moves = effects.changes.len();
    let mut requirements = Vec::new();
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
        let achieves = |&chosen: &usize| {
            let achieves = |&(fact, value): &(u32, bool)| {
                let changes = &effects.changes[chosen];
                let place = changes.binary_search_by_key(&fact, |change| change.0);
                place.is_ok_and(|place| changes[place].1 != Literal::FALSE.negated_if(!value))
            };
            any.iter().any(achieves)
        };
        let achievers = possible.iter().copied().filter(achieves);
        let mut wanted = vec![false; moves];
        achievers.for_each(|chosen| wanted[representative(groups, chosen)] = true);
        let mut bits = vec![0; moves.div_ceil(64)];
        let mut count = 0;
        let mut may_all = true;
        for &chosen in possible {
            if wanted[representative(groups, chosen)] {
                bits[chosen / 64] |= 1 << (chosen % 64);
                count += 1;
                may_all &= pairs.may_go_first(chosen);
            }
        }
        if may_all && (count as usize) < possible.len() {
            requirements.push(Requirement {
                any,
                moves: bits,
                count,
            });
        }
    }
    requirements.sort_by_key(|need| need.count);
    requirements
}

fn representative(groups: &mut [usize], of: usize) -> usize {
    let mut at = of;
    while groups[at] != at {
        groups[at] = groups[groups[at]];
        at = groups[at];
    }
    at
}
