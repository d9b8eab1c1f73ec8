//! Search for plans in single-agent problems, and Monte Carlo tree search for
//! games of any number of players.
//!
//! In: a [`Problem`] (a start, actions, results, a status) or a
//! [`mcts::GameProblem`], with a [`Budget`]. Out: a [`Verdict`], in which a
//! proof and mere ignorance are never the same value, and [`Stats`]. Nothing
//! here knows rules, facts or roles by name, and nothing chooses the search:
//! the caller does.
//!
//! - [`iterative_deepening`]: iterative deepening with step-stripped cycle pruning.
//! - [`breadth_first`]: level by level; shortest plans and proofs.
//! - [`depth_first`]: with a transposition table; any plan.
//! - [`graph`]: the explored graph itself, for pictures and tables.
//! - [`mcts`]: UCT over joint moves; also looks for plans by playouts.
//! - [`minimax`]: alpha-beta for one role against all others; proves values.
//!
//! # Keys, steps and proofs
//!
//! The tables compare keys and not states, so that a key may leave out a step
//! counter. Status and successors are always computed from exact states: a plan
//! that is returned is real. What the *absence* of a plan means depends on
//! [`KeyMeaning`]; a table never asks for mere membership but keeps the least
//! step at which each key was reached. Where keys are only a hint and hid
//! something, the searches run again with the exact state as the key before
//! they say that there is no plan, or that these are all the shortest ones.

pub mod breadth_first;
mod budget;
pub mod depth_first;
mod depth_limited;
pub mod graph;
pub mod iterative_deepening;
pub mod mcts;
pub mod minimax;
mod plan_graph;
mod stats;
mod strategy;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod toy_problems;
mod visited;

use std::hash::Hash;

#[doc(hidden)]
pub use budget::Meter;
pub use budget::{Budget, BudgetKind};
pub use stats::{Counts, LevelStats, Observer, Stats};

/// A single-agent problem: a start, actions, results, a status.
///
/// The methods take `&mut self` so that an evaluator may keep scratch space;
/// their answers must depend on their arguments only.
pub trait Problem {
    /// The exact state: equal states have the same status, the same actions in
    /// the same order, and equal results.
    type State: Clone + Eq + Hash;
    /// What the visited tables compare. A step counter may be stripped here.
    type Key: Clone + Eq + Hash;
    /// One step of a plan.
    type Action: Clone + Eq;
    /// What an evaluation may fail with. It ends the search.
    type Error;

    /// The state before the first action.
    ///
    /// # Errors
    ///
    /// Whatever the evaluation of the problem fails with.
    fn start(&mut self) -> Result<Self::State, Self::Error>;

    /// Whether `state` is a solution, an end without one, or neither.
    ///
    /// # Errors
    ///
    /// Whatever the evaluation of the problem fails with.
    fn status(&mut self, state: &Self::State) -> Result<Status, Self::Error>;

    /// Appends the actions of `state` to `out`, in a fixed order.
    ///
    /// Asked of [`Status::Open`] states only, and always with an empty `out`.
    ///
    /// # Errors
    ///
    /// Whatever the evaluation of the problem fails with.
    fn actions(
        &mut self,
        state: &Self::State,
        out: &mut Vec<Self::Action>,
    ) -> Result<(), Self::Error>;

    /// The state after `action`, one of those that [`Problem::actions`] gave.
    ///
    /// # Errors
    ///
    /// Whatever the evaluation of the problem fails with.
    fn result(
        &mut self,
        state: &Self::State,
        action: &Self::Action,
    ) -> Result<Self::State, Self::Error>;

    /// What the visited tables compare for `state`.
    fn key(&self, state: &Self::State) -> Self::Key;

    /// What equal keys promise.
    fn key_meaning(&self) -> KeyMeaning;

    /// The bytes that `state` owns on the heap, for [`Budget::memory_bytes`].
    fn state_heap_bytes(&self, _state: &Self::State) -> u64 {
        0
    }

    /// The bytes that `key` owns on the heap, for [`Budget::memory_bytes`].
    fn key_heap_bytes(&self, _key: &Self::Key) -> u64 {
        0
    }
}

/// The moves of all roles, and whether each could have been another.
pub type Joint<M> = Vec<(M, bool)>;

/// What a state is to a search.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Status {
    /// Neither ended nor solved; its actions may be asked for.
    Open,
    /// Ended, and not a solution.
    Dead,
    /// A solution; it is never expanded.
    Solved,
}

/// What two states with equal keys have in common.
///
/// A *plan of a state* is an action sequence from it that ends in a
/// [`Status::Solved`] state.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum KeyMeaning {
    /// They have the same plans, whatever the steps at which they were reached.
    SameFuture,
    /// The one reached in fewer steps has every plan of the other; reached in
    /// equally many, both have the same. A stripped counter that does no more
    /// than end the game is of this kind.
    EarlierIsBetter,
    /// They are alike, and nothing is promised.
    Hint,
}

/// What the visited tables are to compare.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
pub enum Compare {
    /// [`Problem::key`]; with a [`KeyMeaning::Hint`] the exact states in a
    /// second pass, where a claim would need them.
    #[default]
    Key,
    /// The exact states, in the only pass.
    State,
}

/// How many plans to look for.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
pub enum Plans {
    /// The first that is found.
    #[default]
    First,
    /// Every plan of the least length that has one, up to `max` of them, in
    /// lexicographic order of the actions.
    AllShortest {
        /// The most plans to return; 0 is taken as 1.
        max: usize,
    },
}

/// What to leave out of a search or of an explored graph.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct Prune {
    /// A state is not expanded if its key occurs on its path, or was visited
    /// with the same or a larger remaining depth.
    pub cycle: bool,
    /// States without continuation that are no solution are dropped from the
    /// counts and graphs; so is, in turn, a state that had only such children.
    pub dead_leaf: bool,
}

impl Prune {
    /// The whole tree.
    pub const NONE: Prune = Prune {
        cycle: false,
        dead_leaf: false,
    };
    /// Cycles only.
    pub const CYCLE: Prune = Prune {
        cycle: true,
        dead_leaf: false,
    };
    /// Dead leaves only.
    pub const DEAD_LEAF: Prune = Prune {
        cycle: false,
        dead_leaf: true,
    };
    /// Cycles and dead leaves.
    pub const ALL: Prune = Prune {
        cycle: true,
        dead_leaf: true,
    };
}

impl Default for Prune {
    fn default() -> Self {
        Prune::CYCLE
    }
}

/// The answer of a search.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict<A> {
    /// There is a plan.
    Solved {
        /// At least one plan; all of them have the same length.
        plans: Vec<Vec<A>>,
        /// Whether it is proved that no plan is shorter.
        optimal: bool,
        /// Whether there are other plans of that length.
        coverage: Coverage,
    },
    /// There is no plan of any length: everything reachable was searched.
    Unsolvable,
    /// There is no plan of this length or less. Longer ones were not looked for.
    NoSolutionWithin(u32),
    /// Nothing was found before the budget ran out.
    OutOfBudget {
        /// There is no plan of this length or less; `None` if nothing is proved.
        depth_completed: Option<u32>,
        /// What ran out.
        what: BudgetKind,
    },
}

/// How many of the plans of one length were returned.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Coverage {
    /// All of them, and they are the shortest.
    All,
    /// As many as were asked for, and more exist.
    Capped,
    /// The search ended before it knew of others.
    Unknown,
}

/// Why a pass ended early.
enum Stop<E> {
    Budget(BudgetKind),
    Error(E),
}

impl<E> From<BudgetKind> for Stop<E> {
    fn from(kind: BudgetKind) -> Self {
        Stop::Budget(kind)
    }
}

/// A problem with its exact state as the key.
struct Exact<'p, P>(&'p mut P);

impl<P: Problem> Problem for Exact<'_, P> {
    type State = P::State;
    type Key = P::State;
    type Action = P::Action;
    type Error = P::Error;

    fn start(&mut self) -> Result<Self::State, Self::Error> {
        self.0.start()
    }

    fn status(&mut self, state: &Self::State) -> Result<Status, Self::Error> {
        self.0.status(state)
    }

    fn actions(
        &mut self,
        state: &Self::State,
        out: &mut Vec<Self::Action>,
    ) -> Result<(), Self::Error> {
        self.0.actions(state, out)
    }

    fn result(
        &mut self,
        state: &Self::State,
        action: &Self::Action,
    ) -> Result<Self::State, Self::Error> {
        self.0.result(state, action)
    }

    fn key(&self, state: &Self::State) -> Self::Key {
        state.clone()
    }

    fn key_meaning(&self) -> KeyMeaning {
        KeyMeaning::SameFuture
    }

    fn state_heap_bytes(&self, state: &Self::State) -> u64 {
        self.0.state_heap_bytes(state)
    }

    fn key_heap_bytes(&self, key: &Self::Key) -> u64 {
        self.0.state_heap_bytes(key)
    }
}
