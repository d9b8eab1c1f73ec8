//! Alpha-beta search for one role against all others.
//!
//! In: a [`MinimaxGame`], a position, a role, a [`TranspositionTable`]. Out: a
//! [`MinimaxReport`] after each depth of iterative deepening and at the end. The role moves
//! first; all others then answer together, know its move and minimize its score. A chance
//! node has the mean value of its children, while proved bounds hold for every outcome of
//! chance. In a turn-taking game of two roles with a constant sum of scores this is minimax.
//! With more roles the others count as a single opponent (paranoid assumption), and for
//! simultaneous moves the worst answer is assumed.
//!
//! Proved bounds are separate from estimates: each position has a lower and an upper bound
//! that follow from terminal states alone. The lower bound holds in every game. The upper
//! bound is reported only if the positions seen are consistent with two roles that take turns
//! and have a constant sum.
//!
//! [`prove`] lets this search take turns with proof-number search (`proof_numbers`), which
//! reaches the end of a forced line sooner. Once a position repeats, retrograde analysis from
//! the terminal states (`retrograde`) takes its place, because forward search does not terminate
//! in games with cycles.
//!
//! Source: Knuth and Moore, "An analysis of alpha-beta pruning", 1975; paranoid assumption:
//! Sturtevant and Korf, 2000; bounds with estimates: Berliner's B*, and Cazenave and
//! Saffidine, "Score bounded Monte-Carlo tree search", 2010.

mod expanded;
mod game_class;
mod order;
mod proof_numbers;
mod retrograde;
mod table;
#[cfg(test)]
mod tests;
mod tree;
mod value;

use ggp_stop::Instant;
use std::hash::Hash;

use rustc_hash::FxHashMap;

use super::budget::{Budget, BudgetKind, Meter};
use super::stats::{Observer, Stats};
use super::{Compare, Joint, Stop};
use proof_numbers::{End, Proofs};
use retrograde::Graph;
pub use table::TranspositionTable;
use tree::{Seen, Tree};

/// The number of positions that [`prove`] expands before it first changes its method.
const FIRST_SHARE: u64 = 4_096;
/// The greatest depth of [`prove`] in joint moves. Each level uses stack space.
const MOST_AHEAD: u32 = 500;

/// The interface of a game to alpha-beta search.
///
/// Roles are `0..roles()`. The methods take `&mut self` so that an evaluator
/// may keep scratch space. Equal states must have equal successors.
pub trait MinimaxGame {
    /// A position.
    type State: Clone + Eq + Hash;
    /// A move of one role.
    type Move: Clone + Eq + Hash;
    /// The error of an evaluation. It ends the search.
    type Error;

    /// The number of roles, at least 1.
    fn roles(&self) -> usize;

    /// Returns true if a role is played by chance, with equal probabilities for all legal moves.
    fn is_chance(&self, _role: usize) -> bool {
        false
    }

    /// The children of a state that is not terminal. All moves of `role` are included; if
    /// there are too many joint moves, some moves of other roles may be left out.
    ///
    /// # Errors
    ///
    /// The error of the evaluation.
    fn expand(
        &mut self,
        state: &Self::State,
        role: usize,
    ) -> Result<Expansion<Self::State, Self::Move>, Self::Error>;

    /// Appends to `out` an estimate of the score of `role`, 0 to 100, for each of the states.
    /// None of them is terminal.
    ///
    /// # Errors
    ///
    /// The error of the evaluation.
    fn estimate(
        &mut self,
        states: &[&Self::State],
        role: usize,
        out: &mut Vec<f64>,
    ) -> Result<(), Self::Error>;

    /// Appends to `out` a forecast of the score of `role`, 0 to 100, for each of the states, for
    /// proof-number search: it looks first where a proof seems to be easy. By default 50
    /// each, which tells nothing. None of the states is terminal.
    fn forecast(&mut self, states: &[&Self::State], _role: usize, out: &mut Vec<f64>) {
        out.extend(states.iter().map(|_| 50.0));
    }

    /// The bytes that `state` owns on the heap, for [`TranspositionTable`].
    fn state_heap_bytes(&self, _state: &Self::State) -> u64 {
        0
    }
}

/// The legal moves and the children of a state.
#[derive(Clone, PartialEq, Debug)]
pub struct Expansion<S, M> {
    /// By role: its legal moves, in a fixed order.
    pub legal: Vec<Vec<M>>,
    /// One child for each joint move, with the last role's move changing fastest; empty if a
    /// role has no legal move.
    pub children: Vec<Child<S>>,
    /// True if no move of the other roles was left out.
    pub is_whole: bool,
}

/// A state after a joint move.
#[derive(Clone, PartialEq, Debug)]
pub struct Child<S> {
    /// The state.
    pub state: S,
    /// The scores of all roles, at most 100, if the game is over.
    pub scores: Option<Vec<u8>>,
    /// True if the game is over and some role does not have exactly one score. Its entry in
    /// `scores` is 0.
    pub is_wrong: bool,
    /// The number of the role's moves and of joint moves of the others in the state; 1 if it is
    /// not known.
    pub choices: [u32; 2],
}

/// The options of a search.
///
/// [`Budget::nodes`] limits the expanded positions and [`Budget::depth`] the depth in joint
/// moves. The memory limit is that of the [`TranspositionTable`].
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Minimax {
    /// The required knowledge of the moves.
    pub wanted: Wanted,
    /// The seed for ties between moves of equal value. Without a time limit, equal seeds and
    /// tables give equal results.
    pub seed: u64,
}

/// The required knowledge of the moves of the root.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Wanted {
    /// The best move. The values of the others are only upper bounds.
    #[default]
    Best,
    /// The value of each move.
    All,
}

/// The values of the moves of one role in one position.
#[derive(Clone, PartialEq, Debug)]
pub struct MinimaxReport<M> {
    /// All legal moves, best first.
    pub moves: Vec<MoveValue<M>>,
    /// The last completed depth in joint moves; 0 if the result was found in another way.
    pub depth: u32,
    /// The search that found the result.
    pub way: Way,
    /// The number of expanded positions.
    pub positions: u64,
    /// The limit that ended the search; `None` if the search is complete.
    pub stopped: Option<BudgetKind>,
    /// True if a position can repeat.
    pub has_cycles: bool,
    /// True if all positions are known and optimal play never ends: neither side can force
    /// an end within the bounds, and each side avoids the ends outside its own bound.
    pub is_endless: bool,
    /// Set by [`prove`]: the joint moves to the first position found in which a role has no
    /// legal move or no valid score. Nothing is proved about this position.
    pub fault: Option<Line<M>>,
    /// The expected continuation in joint moves, as far as it is known.
    pub line: Vec<Joint<M>>,
    /// The sum of the scores of all roles except chance, if it is the same in all ends that the search
    /// has seen, which are those that its bounds follow from.
    pub sum: Option<u32>,
}

impl<M> MinimaxReport<M> {
    /// Proved bounds of the role's score.
    pub fn bounds(&self) -> (u8, u8) {
        let least = self.moves.iter().map(|found| found.bounds.0).max();
        let most = self.moves.iter().map(|found| found.bounds.1).max();
        (least.unwrap_or(0), most.unwrap_or(100))
    }

    /// Bounds the scores of the role from above by what another role can force. They must be the only
    /// roles except chance. Nothing changes unless the sum of their scores is the same in all ends that both
    /// searches have seen. A score of 0 needs no end, so nothing follows from it.
    pub fn bound_by(&mut self, other: &MinimaxReport<M>) {
        let (least, _) = other.bounds();
        if least == 0 || self.sum != other.sum {
            return;
        }
        let Some(most) = other.sum.and_then(|sum| sum.checked_sub(least.into())) else {
            return;
        };
        for found in &mut self.moves {
            let (least, known) = found.bounds;
            found.bounds.1 = known.min(most.min(100) as u8).max(least);
            found.value = found.value.min(found.bounds.1.into());
        }
        let mut moves = self.moves.iter();
        if !self.moves.is_empty() && moves.all(|found| found.bounds.0 == found.bounds.1) {
            self.stopped = None;
        }
    }

    /// Adds the bounds of another search of the position, which may also have seen that upper
    /// bounds do not hold.
    fn join(&mut self, other: MinimaxReport<M>, has_upper_bounds: bool)
    where
        M: Eq + Hash,
    {
        let bounds = other
            .moves
            .into_iter()
            .map(|found| (found.action, found.bounds));
        let bounds: FxHashMap<M, (u8, u8)> = bounds.collect();
        for found in &mut self.moves {
            let Some((least, most)) = bounds.get(&found.action) else {
                continue;
            };
            found.bounds = match has_upper_bounds {
                true => (found.bounds.0.max(*least), found.bounds.1.min(*most)),
                false => (found.bounds.0.max(*least), 100),
            };
            let (least, most) = found.bounds;
            found.value = found.value.clamp(least.into(), most.into());
        }
    }
}

/// A kind of search.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Way {
    /// Alpha-beta search.
    Ahead,
    /// Retrograde analysis of all positions.
    Retrograde,
    /// Proof-number search.
    ProofNumbers,
}

/// A sequence of joint moves.
pub type Line<M> = Vec<Vec<M>>;

/// The value of a move.
#[derive(Clone, PartialEq, Debug)]
pub struct MoveValue<M> {
    /// The move.
    pub action: M,
    /// The expected score, 0 to 100. With [`Wanted::Best`], it is only an upper bound for all
    /// moves but the first.
    pub value: f64,
    /// Proved bounds of the role's score after the move.
    pub bounds: (u8, u8),
}

/// Searches with iterative deepening until the budget is spent or the search is complete.
/// `on_report` receives a report before the first depth and after each depth.
///
/// The table may only have been used for the same role of the same game. If the role has no
/// legal moves, the report has none. `stats` gets one level for each depth.
///
/// # Errors
///
/// The first error of `game`.
#[expect(
    clippy::too_many_arguments,
    reason = "the arguments have nothing in common"
)]
pub fn minimax<G: MinimaxGame>(
    game: &mut G,
    table: &mut TranspositionTable<G::State>,
    root: &G::State,
    role: usize,
    options: &Minimax,
    budget: &Budget,
    stats: &mut Stats,
    observer: &mut dyn Observer,
    on_report: &mut dyn FnMut(&MinimaxReport<G::Move>),
) -> Result<MinimaxReport<G::Move>, G::Error> {
    let meter = Meter::new(budget, stats, observer);
    let seen = &mut Seen::default();
    let mut tree = Tree::new(game, table, seen, meter, role, options.wanted);
    tree.begin(root, options.seed)?;
    on_report(&tree.report(0, None));
    let mut line = Vec::new();
    let mut report = deepen(&mut tree, budget.depth, &mut |tree, report| {
        // An error here is not a reason to fail.
        line = tree.line().unwrap_or_default();
        report.line.clone_from(&line);
        on_report(report);
    })?;
    // The last, incomplete depth may have found another best move.
    let best = report.moves.first().map(|found| &found.action);
    if line.first().map(|joint| &joint[role].0) == best {
        report.line = line;
    }
    Ok(report)
}

/// A callback that can complete a report from the tree.
type OnReport<'t, G> =
    dyn FnMut(&mut Tree<'_, G>, &mut MinimaxReport<<G as MinimaxGame>::Move>) + 't;

/// Searches with iterative deepening to a depth or until the budget is spent.
fn deepen<G: MinimaxGame>(
    tree: &mut Tree<'_, G>,
    most: u32,
    on_report: &mut OnReport<'_, G>,
) -> Result<MinimaxReport<G::Move>, G::Error> {
    for depth in 1..=most {
        tree.meter.begin_level(depth, Compare::State);
        let searched = tree.deepen(depth);
        tree.meter.end_level();
        match searched {
            Ok(is_over) => {
                let mut report = tree.report(depth, None);
                on_report(tree, &mut report);
                if is_over {
                    return Ok(report);
                }
            }
            Err(ended) => {
                let what = tree.meter.exhausted(ended)?;
                tree.meter.ran_out(what);
                return Ok(tree.report(depth - 1, Some(what)));
            }
        }
    }
    Ok(tree.report(most, None))
}

/// Computes the value of a position, also in games with cycles. The report includes
/// [`MinimaxReport::fault`].
///
/// The budget is spent in growing shares, alternating between alpha-beta search and
/// proof-number search or, once a position has repeated, retrograde analysis of the reachable
/// positions within the memory limit. Proof-number search is not used in games of chance. If the
/// stop is raised, the report has the results so far, even if an evaluation fails because of it.
///
/// # Errors
///
/// The first error of `game` before the stop is raised.
pub fn prove<G: MinimaxGame>(
    game: &mut G,
    table: &mut TranspositionTable<G::State>,
    root: &G::State,
    role: usize,
    options: &Minimax,
    budget: &Budget,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> Result<MinimaxReport<G::Move>, G::Error> {
    let started = Instant::now();
    let before = stats.total().expanded;
    let mut graph = Graph::new(game, root, role);
    let mut has_room = true;
    let has_chance = (0..game.roles()).any(|role| game.is_chance(role));
    let mut proofs = (!has_chance).then(|| Proofs::new(budget.memory_bytes));
    let mut seen = Seen::default();
    let mut share = FIRST_SHARE;
    let mut last = None;
    loop {
        let left = |stats: &Stats, most: u64| {
            let spent = stats.total().expanded - before;
            Budget {
                nodes: most.min(budget.nodes.saturating_sub(spent)),
                time: budget
                    .time
                    .map(|time| time.saturating_sub(started.elapsed())),
                ..budget.clone()
            }
        };
        let part = left(stats, share);
        let is_last = part.nodes < share;
        let meter = Meter::new(&part, stats, observer);
        let mut tree = Tree::new(game, table, &mut seen, meter, role, options.wanted);
        if let Err(error) = tree.begin(root, options.seed) {
            let what = tree.meter.exhausted(Stop::Error(error))?;
            let last = last.unwrap_or_else(|| tree.report(0, None));
            return Ok(MinimaxReport {
                stopped: Some(what),
                ..last
            });
        }
        if let Some(proofs) = &proofs {
            tree.learn(proofs);
        }
        let most = budget.depth.min(MOST_AHEAD);
        let mut report = deepen(&mut tree, most, &mut |_, _| ())?;
        let is_too_deep = !tree.is_over() && most < budget.depth;
        if let Err(error) = tree.complete(&mut report) {
            report.stopped = Some(tree.meter.exhausted(Stop::Error(error))?);
            return Ok(report);
        }
        drop(tree);
        let is_deepest = report.stopped.is_none() && is_too_deep;
        if is_deepest && !has_room {
            report.stopped = Some(BudgetKind::Memory);
        }
        let is_cut_short = report.stopped == Some(BudgetKind::Nodes) && !is_last;
        if !(is_cut_short || is_deepest && has_room) {
            return Ok(report);
        }
        if report.has_cycles || is_deepest {
            proofs = None;
        }
        if let Some(known) = &mut proofs {
            let part = left(stats, share);
            let is_last = part.nodes < share;
            let mut meter = Meter::new(&part, stats, observer);
            meter.begin_level(0, Compare::State);
            let mut tree = Tree::new(game, table, &mut seen, meter, role, options.wanted);
            let order: Vec<_> = report.moves.iter().map(|found| &found.action).collect();
            let found = match tree.begin(root, options.seed) {
                Ok(()) => tree.settle(known, &order),
                Err(error) => Err(End::Stop(Stop::Error(error))),
            };
            tree.meter.end_level();
            tree.learn(known);
            report.join(tree.report(0, None), tree.has_upper_bounds());
            let ended = match found {
                Ok(true) => {
                    report = MinimaxReport {
                        way: Way::ProofNumbers,
                        ..tree.report(0, None)
                    };
                    let completed = tree.fault().and_then(|fault| {
                        (report.fault, report.line) = (fault, tree.proved_line(known)?);
                        Ok(())
                    });
                    match completed {
                        Ok(()) => None,
                        Err(error) => Some(tree.meter.exhausted(Stop::Error(error))?),
                    }
                }
                Ok(false) | Err(End::Unfit) => {
                    report.has_cycles = tree.seen.has_cycles;
                    proofs = None;
                    Some(BudgetKind::Nodes)
                }
                Err(End::Stop(stop)) => Some(tree.meter.exhausted(stop)?),
            };
            drop(tree);
            report.positions = stats.total().expanded - before;
            if ended != Some(BudgetKind::Nodes) || is_last {
                report.stopped = ended;
                return Ok(report);
            }
        }
        if (report.has_cycles || is_deepest) && has_room {
            let part = left(stats, share);
            let mut meter = Meter::new(&part, stats, observer);
            meter.begin_level(0, Compare::State);
            let grown = graph.grow(game, share, budget.memory_bytes, &mut meter);
            let result = match grown {
                Ok(room) => {
                    has_room = room;
                    match graph.is_complete() {
                        true => graph.report(game, report.clone(), &mut meter).map(Some),
                        false => Ok(None),
                    }
                }
                Err(stop) => Err(stop),
            };
            meter.end_level();
            let result = result.map_err(|ended| meter.exhausted(ended));
            drop(meter);
            report.positions = stats.total().expanded - before;
            match result {
                Ok(None) => {}
                Ok(Some(solved)) => {
                    let positions = report.positions;
                    return Ok(MinimaxReport {
                        positions,
                        depth: 0,
                        way: Way::Retrograde,
                        ..solved
                    });
                }
                Err(what) => {
                    report.stopped = Some(what?);
                    return Ok(report);
                }
            }
        }
        last = Some(report);
        share = share.saturating_mul(2);
    }
}
