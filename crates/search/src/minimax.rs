//! Alpha-beta search for one role against all others.
//!
//! In: a [`MinimaxGame`], a position, a role, a [`Table`] of positions known
//! from before. Out: a [`MinimaxReport`], after each depth of an iterative
//! deepening and at the end. The role moves first, then all others answer
//! together, to its harm and knowing its move; what chance does is worth its mean,
//! and what is proved holds whatever it does. Where two roles take turns and
//! share a constant sum that is minimax; with more roles the others are taken
//! for a single enemy, and of moves at the same time the worst is expected.
//!
//! What is proved is kept apart from what is estimated: each position has the
//! least and the most that can come of it, by ends of the game alone. The least
//! holds in every game. The most is told only if nothing that was seen
//! contradicts the case of two roles, turns and a constant sum.
//!
//! [`prove`] looks ahead like that, and once it meets a position again also from the
//! ends backwards (`retrograde`): where play can go on for ever, looking ahead has no end.
//!
//! Source: Knuth and Moore, "An analysis of alpha-beta pruning", 1975; the
//! paranoid assumption is by Sturtevant and Korf, 2000; bounds beside estimates
//! after Berliner's B* and Cazenave and Saffidine, "Score bounded Monte-Carlo
//! tree search", 2010.

mod expanded;
mod game_class;
mod order;
mod retrograde;
mod table;
#[cfg(test)]
mod tests;
mod tree;
mod value;

use std::hash::Hash;
use std::time::Instant;

use super::budget::{Budget, BudgetKind, Meter};
use super::stats::{Observer, Stats};
use super::{Compare, Joint, Stop};
use retrograde::Graph;
pub use table::Table;
use tree::Tree;

/// Positions that [`prove`] expands before it changes its method, at first.
const FIRST_SHARE: u64 = 4_096;
/// Joint moves that [`prove`] looks ahead at most: each takes some of the stack.
const MOST_AHEAD: u32 = 500;

/// A game as alpha-beta sees it.
///
/// Roles are `0..roles()`. The methods take `&mut self` so that an evaluator
/// may keep scratch space. Equal states must have equal successors.
pub trait MinimaxGame {
    /// A position.
    type State: Clone + Eq + Hash;
    /// A move of one role.
    type Move: Clone + Eq + Hash;
    /// What an evaluation may fail with. It ends the search.
    type Error;

    /// The number of roles; never 0.
    fn roles(&self) -> usize;

    /// Whether a role's moves are drawn, all with the same chance.
    fn is_chance(&self, _role: usize) -> bool {
        false
    }

    /// What may follow a state in which the game goes on, if `role` may make any
    /// of its moves. Where that is too much, moves of others may be left out.
    ///
    /// # Errors
    ///
    /// Whatever the evaluation of the game fails with.
    fn expand(
        &mut self,
        state: &Self::State,
        role: usize,
    ) -> Result<Expansion<Self::State, Self::Move>, Self::Error>;

    /// Appends to `out` what each of these states, in which the game goes on, may
    /// be worth to `role`, 0 to 100.
    ///
    /// # Errors
    ///
    /// Whatever the evaluation of the game fails with.
    fn estimate(
        &mut self,
        states: &[&Self::State],
        role: usize,
        out: &mut Vec<f64>,
    ) -> Result<(), Self::Error>;

    /// The bytes that `state` owns on the heap, for [`Table`].
    fn state_heap_bytes(&self, _state: &Self::State) -> u64 {
        0
    }
}

/// The moves of a state and what they lead to.
#[derive(Clone, PartialEq, Debug)]
pub struct Expansion<S, M> {
    /// By role: its legal moves, in a fixed order.
    pub legal: Vec<Vec<M>>,
    /// One for each joint move, the last role's move changing fastest; nothing
    /// if a role has no move.
    pub children: Vec<Child<S>>,
    /// Whether no move of the other roles was left out.
    pub is_whole: bool,
}

/// A state after a joint move.
#[derive(Clone, PartialEq, Debug)]
pub struct Child<S> {
    /// The state.
    pub state: S,
    /// The scores of all roles, at most 100, if the game is over.
    pub scores: Option<Vec<u8>>,
    /// Whether the game is over and some role has not exactly one score; 0 stands
    /// for it.
    pub is_wrong: bool,
}

/// How to search.
///
/// Of the [`Budget`], `nodes` limits the positions that are expanded and `depth`
/// the joint moves to look ahead; the memory is that of the [`Table`].
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Minimax {
    /// What is to be known of the moves.
    pub wanted: Wanted,
    /// Decides between moves of equal value. Without a limit on time, equal seeds
    /// and tables give equal results.
    pub seed: u64,
}

/// What is to be known of the moves of the first position.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Wanted {
    /// Which is best; of the others, only that they are not better.
    #[default]
    Best,
    /// What each of them is worth.
    All,
}

/// What is known of the moves of one role in one position.
#[derive(Clone, PartialEq, Debug)]
pub struct MinimaxReport<M> {
    /// All legal moves, best first.
    pub moves: Vec<MoveWorth<M>>,
    /// The joint moves that were looked ahead in full; by [`prove`], 0 where all positions
    /// are known and it was gone backwards from the ends.
    pub depth: u32,
    /// The positions that were expanded.
    pub positions: u64,
    /// What ended the search; none if there was no more to be found.
    pub stopped: Option<BudgetKind>,
    /// Whether a position can come again.
    pub has_cycles: bool,
    /// Whether all positions are known, and play goes on for ever if each side does
    /// its best: neither can force an end between the bounds, nor let one happen that
    /// is beyond its own.
    pub is_endless: bool,
    /// By [`prove`]: the joint moves to the first position that was met in which
    /// somebody has no move or no score. Nothing is proved of it.
    pub fault: Option<Line<M>>,
    /// How play is expected to go on, in joint moves, as far as that is known.
    pub line: Vec<Joint<M>>,
}

impl<M> MinimaxReport<M> {
    /// The least and the most that the role gets, where that is proved.
    pub fn bounds(&self) -> (u8, u8) {
        let least = self.moves.iter().map(|found| found.bounds.0).max();
        let most = self.moves.iter().map(|found| found.bounds.1).max();
        (least.unwrap_or(0), most.unwrap_or(100))
    }
}

/// Joint moves, one after the other.
pub type Line<M> = Vec<Vec<M>>;

/// What is known of a move.
#[derive(Clone, PartialEq, Debug)]
pub struct MoveWorth<M> {
    /// The move.
    pub action: M,
    /// The score that it is thought to lead to, 0 to 100; unless everything was
    /// wanted, of all moves but the first merely a bound from above.
    pub value: f64,
    /// The least and the most that the role gets after it, where that is proved.
    pub bounds: (u8, u8),
}

/// Searches deeper and deeper until the budget is spent or there is no more to
/// be found. `told` gets a report once the moves are known, and after each depth.
///
/// The table must be one that was used for the same role and the same game. A
/// position in which the role has no moves gives a report without moves.
/// `stats` gets a level for each depth.
///
/// # Errors
///
/// The first error of `game`.
#[expect(clippy::too_many_arguments, reason = "they have nothing in common")]
pub fn minimax<G: MinimaxGame>(
    game: &mut G,
    table: &mut Table<G::State>,
    root: &G::State,
    role: usize,
    options: &Minimax,
    budget: &Budget,
    stats: &mut Stats,
    observer: &mut dyn Observer,
    told: &mut dyn FnMut(&MinimaxReport<G::Move>),
) -> Result<MinimaxReport<G::Move>, G::Error> {
    let meter = Meter::new(budget, stats, observer);
    let mut tree = Tree::new(game, table, meter, role, options.wanted);
    tree.begin(root, options.seed)?;
    told(&tree.report(0, None));
    let mut line = Vec::new();
    let mut report = deepen(&mut tree, budget.depth, &mut |tree, report| {
        // It is no reason to fail.
        line = tree.line().unwrap_or_default();
        report.line.clone_from(&line);
        told(report);
    })?;
    // What was found since may speak for another move.
    let best = report.moves.first().map(|found| &found.action);
    if line.first().map(|joint| &joint[role].0) == best {
        report.line = line;
    }
    Ok(report)
}

/// Gets a tree, and a report that it makes better.
type Told<'t, G> = dyn FnMut(&mut Tree<'_, G>, &mut MinimaxReport<<G as MinimaxGame>::Move>) + 't;

/// Looks ahead as far as a depth, or the budget.
fn deepen<G: MinimaxGame>(
    tree: &mut Tree<'_, G>,
    most: u32,
    told: &mut Told<'_, G>,
) -> Result<MinimaxReport<G::Move>, G::Error> {
    for depth in 1..=most {
        tree.meter.begin_level(depth, Compare::State);
        let searched = tree.deepen(depth);
        tree.meter.end_level();
        match searched {
            Ok(is_over) => {
                let mut report = tree.report(depth, None);
                told(tree, &mut report);
                if is_over {
                    return Ok(report);
                }
            }
            Err(Stop::Budget(what)) => {
                tree.meter.ran_out(what);
                return Ok(tree.report(depth - 1, Some(what)));
            }
            Err(Stop::Error(error)) => return Err(error),
        }
    }
    Ok(tree.report(most, None))
}

/// Finds out what a position is worth, also where play can go on for ever. The report
/// has the fault that [`minimax`] leaves out.
///
/// The budget is spent in growing parts on looking ahead; and, from where a position
/// was met again, on all that can be reached, of which the memory holds what it can.
///
/// # Errors
///
/// The first error of `game`.
pub fn prove<G: MinimaxGame>(
    game: &mut G,
    table: &mut Table<G::State>,
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
    let mut share = FIRST_SHARE;
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
        let mut tree = Tree::new(game, table, meter, role, options.wanted);
        tree.begin(root, options.seed)?;
        let most = budget.depth.min(MOST_AHEAD);
        let mut report = deepen(&mut tree, most, &mut |_, _| ())?;
        let is_too_deep = !tree.is_over() && most < budget.depth;
        report.line = tree.line()?;
        report.fault = tree.fault()?;
        drop(tree);
        let is_deepest = report.stopped.is_none() && is_too_deep;
        if is_deepest && !has_room {
            report.stopped = Some(BudgetKind::Memory);
        }
        let is_cut_short = report.stopped == Some(BudgetKind::Nodes) && !is_last;
        if !(is_cut_short || is_deepest && has_room) {
            return Ok(report);
        }
        if (report.has_cycles || is_deepest) && has_room {
            let part = left(stats, share);
            let mut meter = Meter::new(&part, stats, observer);
            meter.begin_level(0, Compare::State);
            let grown = graph.grow(game, share, budget.memory_bytes, &mut meter);
            let came = match grown {
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
            drop(meter);
            report.positions = stats.total().expanded - before;
            match came {
                Ok(None) => {}
                Ok(Some(solved)) => {
                    let positions = report.positions;
                    return Ok(MinimaxReport {
                        positions,
                        depth: 0,
                        ..solved
                    });
                }
                Err(Stop::Budget(what)) => {
                    report.stopped = Some(what);
                    return Ok(report);
                }
                Err(Stop::Error(error)) => return Err(error),
            }
        }
        share = share.saturating_mul(2);
    }
}
