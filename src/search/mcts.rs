//! Monte Carlo tree search with UCT, for any number of players.
//!
//! In: a [`GameProblem`] with simultaneous joint moves. Out: visits and means
//! of each role's legal moves in one state, or a plan for a single role. The
//! roles choose independently of each other (decoupled UCT); taking turns is
//! the case of roles with a single legal move. Positions are a tree: equal
//! states on different paths are not merged.
//!
//! Source: Kocsis and Szepesvári, "Bandit based Monte-Carlo planning", 2006;
//! Finnsson and Björnsson, "Simulation-based approach to general game
//! playing", 2008.

mod report;
mod tree;

use super::budget::{Budget, BudgetKind, Meter};
use super::stats::{Observer, Stats, bump};
use super::{Compare, Stop};
pub use report::{BestLine, MctsReport, MctsVerdict, MoveReport, RoleReport};
use tree::Tree;

/// A game that can be simulated.
///
/// Roles are `0..roles()`. The methods take `&mut self` so that an evaluator
/// may keep scratch space; their answers must depend on their arguments only.
pub trait GameProblem {
    /// A position.
    type State: Clone;
    /// A move of one role.
    type Move: Clone + Eq;
    /// What an evaluation may fail with. It ends the search.
    type Error;

    /// The number of roles; never 0.
    fn roles(&self) -> usize;

    /// Whether the game has ended in `state`.
    ///
    /// # Errors
    ///
    /// Whatever the evaluation of the game fails with.
    fn is_terminal(&mut self, state: &Self::State) -> Result<bool, Self::Error>;

    /// Appends the legal moves of `role` to `out`, in a fixed order.
    ///
    /// Asked of states that are not terminal, and always with an empty `out`.
    /// If a role has none, the state is scored like one that is too deep.
    ///
    /// # Errors
    ///
    /// Whatever the evaluation of the game fails with.
    fn legal(
        &mut self,
        state: &Self::State,
        role: usize,
        out: &mut Vec<Self::Move>,
    ) -> Result<(), Self::Error>;

    /// The state after `joint`, which holds one legal move of each role.
    ///
    /// # Errors
    ///
    /// Whatever the evaluation of the game fails with.
    fn next(
        &mut self,
        state: &Self::State,
        joint: &[Self::Move],
    ) -> Result<Self::State, Self::Error>;

    /// Writes what a terminal `state` is worth to each role, 0 to 100.
    ///
    /// # Errors
    ///
    /// Whatever the evaluation of the game fails with.
    fn goals(&mut self, state: &Self::State, out: &mut [f64]) -> Result<(), Self::Error>;

    /// Writes what a state that is not terminal may be worth to each role, 0 to
    /// 100, where a playout is too long. 50 for everybody unless told otherwise.
    ///
    /// # Errors
    ///
    /// Whatever the evaluation of the game fails with.
    fn estimate(&mut self, _state: &Self::State, out: &mut [f64]) -> Result<(), Self::Error> {
        out.fill(50.0);
        Ok(())
    }

    /// The bytes that `state` owns on the heap, for [`Budget::memory_bytes`].
    fn state_heap_bytes(&self, _state: &Self::State) -> u64 {
        0
    }
}

/// How to search.
///
/// Of the [`Budget`], `nodes` limits the iterations like `iterations` does, and
/// `depth` is not used. Once the tree fills `memory_bytes` it stops growing, and
/// the search goes on by playouts from its leaves.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Mcts {
    /// The most iterations. Each adds at most one position to the tree.
    pub iterations: u64,
    /// The weight of the exploration term, for values scaled to 0..=1.
    pub exploration: f64,
    /// The seed of all random choices. Without limits on time, equal seeds give
    /// equal results.
    pub seed: u64,
    /// The most moves of a playout, counted from the end of the tree. Where it
    /// ends, [`GameProblem::estimate`] is asked.
    pub playout_depth: u32,
}

impl Default for Mcts {
    fn default() -> Self {
        Mcts {
            iterations: 10_000,
            exploration: std::f64::consts::SQRT_2,
            seed: 0,
            playout_depth: 1_000,
        }
    }
}

/// Evaluates the moves of every role in `root`.
///
/// A terminal `root` gives a report without moves. `stats` gets one level, in
/// which `expanded` counts the iterations, `arcs` the joint moves played and
/// `generated` the positions of the tree.
///
/// # Errors
///
/// The first error of `game`.
pub fn mcts<G: GameProblem>(
    game: &mut G,
    root: &G::State,
    options: &Mcts,
    budget: &Budget,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> Result<MctsReport<G::Move>, G::Error> {
    let meter = &mut Meter::new(budget, stats, observer);
    meter.begin_level(0, Compare::State);
    let mut tree = Tree::new(game, root.clone(), options)?;
    let mut iterations = 0;
    let mut stopped = BudgetKind::Iterations;
    while iterations < options.iterations && !tree.is_over() {
        match tree.iterate(game, meter) {
            Ok(()) => iterations += 1,
            Err(Stop::Budget(what)) => {
                stopped = what;
                break;
            }
            Err(Stop::Error(error)) => return Err(error),
        }
    }
    meter.level().counts.generated = tree.len() as u64;
    meter.end_level();
    Ok(tree.report(iterations, stopped))
}

/// Looks for a plan of a game with one role: a line from `root` to a terminal
/// state that is worth 100.
///
/// Every line that reaches a terminal state is looked at, and the best is kept
/// (of equal ones the shortest). It never proves that there is no plan.
///
/// # Errors
///
/// The first error of `game`.
///
/// # Panics
///
/// If `game` has more than one role.
pub fn solve_with_mcts<G: GameProblem>(
    game: &mut G,
    root: &G::State,
    options: &Mcts,
    budget: &Budget,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> Result<MctsVerdict<G::Move>, G::Error> {
    assert_eq!(game.roles(), 1, "a plan is for a game with one role");
    let meter = &mut Meter::new(budget, stats, observer);
    meter.begin_level(0, Compare::State);
    let mut tree = Tree::new(game, root.clone(), options)?;
    let mut best: Option<BestLine<G::Move>> = None;
    let mut iterations = 0;
    let what = loop {
        if iterations >= options.iterations {
            break BudgetKind::Iterations;
        }
        match tree.iterate(game, meter) {
            Ok(()) => iterations += 1,
            Err(Stop::Budget(what)) => break what,
            Err(Stop::Error(error)) => return Err(error),
        }
        if let Some((score, line)) = tree.finished_line() {
            let better = best.as_ref().is_none_or(|best| {
                score > best.score || (score == best.score && line.len() < best.plan.len())
            });
            if better {
                best = Some(BestLine {
                    score,
                    plan: line.to_vec(),
                });
            }
            if score >= 100.0 {
                bump(&mut meter.level().counts.solutions, 1);
                break BudgetKind::Iterations;
            }
        }
        // Every further iteration would be the same.
        if tree.is_over() {
            break BudgetKind::Iterations;
        }
    };
    meter.level().counts.generated = tree.len() as u64;
    meter.end_level();
    Ok(match best {
        Some(BestLine { score, plan }) if score >= 100.0 => MctsVerdict::Solved { plan },
        best => MctsVerdict::OutOfBudget { best, what },
    })
}

#[cfg(test)]
mod tests;
