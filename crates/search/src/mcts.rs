//! Monte Carlo tree search for any number of roles.
//!
//! In: a [`GameProblem`], or a [`Simulator`] that evaluates many positions at once. Out:
//! visits, means and proved bounds of each role's legal moves in one state, or a plan for a
//! single role. The roles choose independently of each other (decoupled selection); in a
//! turn-taking game all roles but one have a single legal move. A [`Tree`] can grow over
//! several calls and follow the game from move to move.
//!
//! Source: Kocsis and Szepesvári, "Bandit based Monte-Carlo planning", 2006;
//! Finnsson and Björnsson, "Simulation-based approach to general game
//! playing", 2008; each module names its own sources.

mod arms;
mod backup;
mod bounds;
mod expand;
mod parallel;
mod report;
mod room;
mod select;
mod simulator;
mod summary;
mod table;
mod tree;

use super::Compare;
use super::budget::{Budget, BudgetKind, Meter};
use super::stats::{Observer, Stats, bump};
pub use expand::Best;
pub use parallel::{GoOn, Others, TreeOf, grow_in_parallel};
pub use report::{BestLine, MctsReport, MctsVerdict, MoveReport, RoleReport};
pub use simulator::{GameProblem, OneByOne, Sample, Simulator, TerminalChild, View, Views};
pub use summary::{SummaryNode, TreeSummary, named};
pub use tree::Tree;

/// The formula that combines the mean and the visits of a move into its selection score.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Formula {
    /// UCB1.
    Ucb,
    /// PUCT with equal priors.
    Puct,
}

/// The options of a search.
///
/// [`Budget::nodes`] limits the iterations as `iterations` does; [`Budget::depth`] is not
/// used. The least visited positions are pruned to keep the tree within
/// [`Budget::memory_bytes`].
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Mcts {
    /// The most iterations. Each plays one line and adds at most one position to the tree.
    pub iterations: u64,
    /// The weight of the exploration term, for values scaled to 0..=1.
    pub exploration: f64,
    /// The share of implicit values in the values of moves, 0 to 1, where the simulator has values.
    pub implicit: f32,
    /// The exploration term.
    pub formula: Formula,
    /// True if equal states share one node.
    pub graph: bool,
    /// True if score bounds are proved.
    pub solver: bool,
    /// The most lines that are evaluated together.
    pub batch: u32,
    /// The number of playouts for each new position; 0 for as many as run in parallel at the
    /// cost of one.
    pub each: u32,
    /// The seed of all random choices. Without a time limit, equal seeds give equal results.
    pub seed: u64,
    /// The most joint moves of a playout. A playout that is cut scores 50 for every role.
    pub playout_depth: u32,
}

impl Default for Mcts {
    fn default() -> Self {
        Mcts {
            iterations: 10_000,
            exploration: std::f64::consts::SQRT_2,
            implicit: 0.0,
            formula: Formula::Ucb,
            graph: false,
            solver: false,
            batch: 1,
            each: 1,
            seed: 0,
            playout_depth: 1_000,
        }
    }
}

/// The tree of a search, the best terminal line and the limit that ended the search.
type Searched<S, M> = (Tree<S, M>, Best<M>, BudgetKind);

/// Grows a tree by one line at a time until the budget runs out or `is_enough` returns true.
fn search<G: GameProblem>(
    game: &mut G,
    root: &G::State,
    options: &Mcts,
    budget: &Budget,
    meter: &mut Meter<'_>,
    is_enough: impl Fn(&Tree<G::State, G::Move>, &Best<G::Move>) -> bool,
) -> Result<Searched<G::State, G::Move>, G::Error> {
    meter.begin_level(0, Compare::State);
    let mut game = OneByOne::new(game, options.playout_depth);
    let mut tree = Tree::new(&mut game, root.clone(), options)?;
    tree.set_memory(budget.memory_bytes);
    let mut best = None;
    let stopped = loop {
        if tree.iterations() >= options.iterations || is_enough(&tree, &best) {
            break BudgetKind::Iterations;
        }
        meter.record(tree.len(), tree.bytes());
        let checked = match tree.make_room(&game) {
            true => meter.spend_node(),
            false => meter.check(),
        };
        if let Err(what) = checked {
            break what;
        }
        let mut ran_out = None;
        let mut proceed = || {
            ran_out = meter.arc().err();
            ran_out.is_none()
        };
        tree.grow(&mut game, 1, &mut best, &mut proceed)?;
        if let Some(what) = ran_out {
            break what;
        }
    };
    meter.level().counts.generated = tree.len() as u64;
    meter.end_level();
    Ok((tree, best, stopped))
}

/// Evaluates the moves of every role in `root`.
///
/// The report of a terminal `root` has no moves. `stats` gets one level, in which `expanded`
/// is the number of iterations, `arcs` of joint moves played and `generated` of positions in
/// the tree.
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
    let is_enough =
        |tree: &Tree<_, _>, _: &Best<_>| (0..tree.roles).all(|role| tree.is_settled(role));
    let (tree, _, stopped) = search(game, root, options, budget, meter, is_enough)?;
    Ok(tree.report(stopped))
}

/// Searches a game with one role for a plan: a line from `root` to a terminal state with
/// score 100.
///
/// The result is the best line that reached a terminal state, the shortest among equals. The
/// search never proves that there is no plan.
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
    let is_enough =
        |tree: &Tree<_, _>, best: &Best<_>| tree.is_settled(0) || matches!(best, Some((100, _)));
    let (tree, best, what) = search(game, root, options, budget, meter, is_enough)?;
    Ok(
        match best.or_else(|| tree.terminal_score().map(|score| (score, Vec::new()))) {
            Some((100, plan)) => {
                bump(&mut meter.level().counts.solutions, 1);
                MctsVerdict::Solved { plan }
            }
            best => MctsVerdict::OutOfBudget {
                best: best.map(|(score, plan)| BestLine { score, plan }),
                what,
            },
        },
    )
}

#[cfg(test)]
mod tests;
