//! Monte Carlo tree search, for any number of players.
//!
//! In: a [`GameProblem`], or many positions of one at once ([`Simulator`]). Out:
//! visits and means of each role's legal moves in one state, and what is proved
//! of them; or a plan for a single role. The roles choose independently of each
//! other (decoupled selection); taking turns is the case of roles with a single
//! legal move. A [`Tree`] grows as long as it is asked to, and follows the game.
//!
//! Source: Kocsis and Szepesvári, "Bandit based Monte-Carlo planning", 2006;
//! Finnsson and Björnsson, "Simulation-based approach to general game
//! playing", 2008; and what the modules name.

mod backup;
mod bounds;
mod expand;
mod parallel;
mod prune;
mod rave;
mod report;
mod select;
mod simulator;
mod summary;
mod tree;

use super::Compare;
use super::budget::{Budget, BudgetKind, Meter};
use super::stats::{Observer, Stats, bump};
pub use expand::Best;
pub use parallel::grow_together;
pub use rave::Rave;
pub use report::{BestLine, MctsReport, MctsVerdict, MoveReport, RoleReport};
pub use simulator::{Ahead, GameProblem, OneByOne, Sample, Seen, Simulator, View, Views};
pub use summary::{Excerpt, Excerpted, named};
pub use tree::Tree;

/// How the worth of trying an arm is made of its mean and its visits.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Formula {
    /// UCB1.
    Ucb,
    /// UCB1-tuned, by the variance of outcomes that are all or nothing.
    Tuned,
    /// PUCT with equal priors.
    Puct,
}

/// How to search.
///
/// Of the [`Budget`], `nodes` limits the iterations like `iterations` does, and
/// `depth` is not used. Once the tree fills `memory_bytes`, what was visited
/// least is forgotten.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Mcts {
    /// The most iterations. Each plays one line and adds at most one position to
    /// the tree.
    pub iterations: u64,
    /// The weight of the exploration term, for values scaled to 0..=1.
    pub exploration: f64,
    /// The exploration term.
    pub formula: Formula,
    /// A move that was never tried counts as one tried once, with the mean of the
    /// position less this; if none, all are tried first.
    pub fpu: Option<f64>,
    /// The weight of what a move was worth elsewhere in the tree; 0 for none.
    pub history: f64,
    /// How moves are thought of that were made later on, if they are; by the
    /// moves that [`Sample`] tells of, and those of the tree.
    pub rave: Option<Rave>,
    /// Whether equal states are one position.
    pub graph: bool,
    /// Whether bounds are proved.
    pub solver: bool,
    /// Whether those who choose at the same time do so by regret, so that moves
    /// are to be drawn.
    pub regret: bool,
    /// The most lines that are evaluated together.
    pub batch: u32,
    /// Playouts of each new position; 0 for as many as run in the time of one.
    pub each: u32,
    /// The seed of all random choices. Without limits on time, equal seeds give
    /// equal results.
    pub seed: u64,
    /// The most moves of a playout, counted from the end of the tree. Where it
    /// ends, everybody gets 50.
    pub playout_depth: u32,
}

impl Default for Mcts {
    fn default() -> Self {
        Mcts {
            iterations: 10_000,
            exploration: std::f64::consts::SQRT_2,
            formula: Formula::Ucb,
            fpu: None,
            history: 0.0,
            rave: None,
            graph: false,
            solver: false,
            regret: false,
            batch: 1,
            each: 1,
            seed: 0,
            playout_depth: 1_000,
        }
    }
}

/// What ends a search, and how many iterations it had.
type Came<S, M> = (Tree<S, M>, Best<M>, BudgetKind);

/// Lets a tree grow by one line at a time, until something runs out or
/// `is_enough` says so.
fn search<G: GameProblem>(
    game: &mut G,
    root: &G::State,
    options: &Mcts,
    budget: &Budget,
    meter: &mut Meter<'_>,
    is_enough: impl Fn(&Tree<G::State, G::Move>, &Best<G::Move>) -> bool,
) -> Result<Came<G::State, G::Move>, G::Error> {
    meter.begin_level(0, Compare::State);
    let mut game = OneByOne::new(game, options.playout_depth);
    let mut tree = Tree::new(&mut game, root.clone(), options)?;
    let mut best = None;
    let stopped = loop {
        if tree.iterations() >= options.iterations || is_enough(&tree, &best) {
            break BudgetKind::Iterations;
        }
        meter.record(tree.len(), tree.bytes());
        if !tree.fits(budget.memory_bytes) {
            tree.fit(&game, budget.memory_bytes);
        }
        if let Err(what) = meter.spend_node() {
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
    let is_enough =
        |tree: &Tree<_, _>, _: &Best<_>| (0..tree.roles).all(|role| tree.is_settled(role));
    let (tree, _, stopped) = search(game, root, options, budget, meter, is_enough)?;
    Ok(tree.report(stopped))
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
    let is_enough =
        |tree: &Tree<_, _>, best: &Best<_>| tree.is_settled(0) || matches!(best, Some((100, _)));
    let (tree, best, what) = search(game, root, options, budget, meter, is_enough)?;
    Ok(
        match best.or_else(|| tree.ended().map(|score| (score, Vec::new()))) {
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
