//! Search algorithms: plans for single-agent problems, and game tree search.
//!
//! In: a [`Problem`] (start, actions, results, status), a [`mcts::GameProblem`] or a
//! [`minimax::MinimaxGame`], with a [`Budget`]. Out: a [`Verdict`], which distinguishes a
//! proof from an exhausted budget, or a report, and [`Stats`]. Nothing here knows rules, facts
//! or role names, and the caller chooses the search.
//!
//! - [`iterative_deepening`]: iterative deepening with step-stripped cycle pruning.
//! - [`breadth_first`]: level by level; shortest plans and proofs.
//! - [`depth_first`]: with a transposition table; any plan.
//! - [`graph`]: the explored graph itself, for pictures and tables.
//! - [`mcts`]: Monte Carlo tree search over joint moves; also finds plans by playouts.
//! - [`minimax`]: alpha-beta search for one role against all others; proves values.
//!
//! # Keys, steps and proofs
//!
//! The visited tables compare keys instead of states, so that a key may leave out a step
//! counter. Status and successors are always computed from exact states, so every returned
//! plan is real. The meaning of the *absence* of a plan depends on [`KeyMeaning`]. A table
//! stores the least step at which each key was reached, not mere membership. If keys are only
//! a hint and states were merged, a search runs again with exact states before it claims that
//! there is no plan or that it has all shortest plans.

pub mod breadth_first;
mod budget;
pub mod depth_first;
mod depth_limited;
pub mod graph;
pub mod iterative_deepening;
pub mod mcts;
pub mod minimax;
mod plan_graph;
mod state_hash;
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
pub use budget::{Budget, BudgetKind, Clock};
pub use state_hash::{StateHasher, state_hash};
pub use stats::{Counts, LevelStats, Observer, Stats};

/// A single-agent problem: a start, actions, results, a status.
///
/// The methods take `&mut self` so that an evaluator may keep scratch space. Their results
/// must depend on their arguments only.
pub trait Problem {
    /// The exact state: equal states have the same status, the same actions in
    /// the same order, and equal results.
    type State: Clone + Eq + Hash;
    /// The key that visited tables compare. It may leave out a step counter.
    type Key: Clone + Eq + Hash;
    /// One step of a plan.
    type Action: Clone + Eq;
    /// The error of an evaluation. It ends the search.
    type Error;

    /// The state before the first action.
    ///
    /// # Errors
    ///
    /// The error of the evaluation.
    fn start(&mut self) -> Result<Self::State, Self::Error>;

    /// The status of `state`.
    ///
    /// # Errors
    ///
    /// The error of the evaluation.
    fn status(&mut self, state: &Self::State) -> Result<Status, Self::Error>;

    /// Appends the actions of `state` to `out`, in a fixed order.
    ///
    /// Called for [`Status::Open`] states only, with an empty `out`.
    ///
    /// # Errors
    ///
    /// The error of the evaluation.
    fn actions(
        &mut self,
        state: &Self::State,
        out: &mut Vec<Self::Action>,
    ) -> Result<(), Self::Error>;

    /// The state after `action`, which is one of [`Problem::actions`].
    ///
    /// # Errors
    ///
    /// The error of the evaluation.
    fn result(
        &mut self,
        state: &Self::State,
        action: &Self::Action,
    ) -> Result<Self::State, Self::Error>;

    /// The key of `state` in visited tables.
    fn key(&self, state: &Self::State) -> Self::Key;

    /// The guarantee that equal keys give.
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

/// The moves of all roles, each with whether the role had another choice.
pub type Joint<M> = Vec<(M, bool)>;

/// The status of a state.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Status {
    /// Neither terminal nor solved; the state has actions.
    Open,
    /// Terminal and not a solution.
    Dead,
    /// A solution. It is never expanded.
    Solved,
}

impl Status {
    /// The status as a word of a file format.
    pub fn name(self) -> &'static str {
        match self {
            Status::Open => "open",
            Status::Dead => "dead",
            Status::Solved => "solved",
        }
    }
}

/// The relation between two states with equal keys.
///
/// A *plan of a state* is an action sequence from it that ends in a
/// [`Status::Solved`] state.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum KeyMeaning {
    /// They have the same plans, regardless of the steps at which they were reached.
    SameFuture,
    /// The state reached in fewer steps has every plan of the other; states reached in equally
    /// many steps have the same plans. A stripped counter that only ends the game is of this
    /// kind.
    EarlierIsBetter,
    /// They are similar, without any guarantee.
    Hint,
}

/// The kind of key that visited tables compare.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
pub enum Compare {
    /// [`Problem::key`]. With a [`KeyMeaning::Hint`], a second pass compares exact states if a
    /// claim requires it.
    #[default]
    Key,
    /// Exact states, in a single pass.
    State,
}

/// The number of plans to find.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
pub enum Plans {
    /// The first plan found.
    #[default]
    First,
    /// All shortest plans, up to `max` of them, in lexicographic order of the actions.
    AllShortest {
        /// The most plans to return; 0 means 1.
        max: usize,
    },
}

/// The states to leave out of a search or of an explored graph.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct Prune {
    /// A state is not expanded if its key occurs on its path, or was visited
    /// with the same or a larger remaining depth.
    pub cycle: bool,
    /// States without continuation that are not solutions are dropped from counts and graphs,
    /// and recursively also states that have only such children.
    pub dead_leaf: bool,
}

impl Prune {
    /// Nothing is left out.
    pub const NONE: Prune = Prune {
        cycle: false,
        dead_leaf: false,
    };
    /// Cycles are left out.
    pub const CYCLE: Prune = Prune {
        cycle: true,
        dead_leaf: false,
    };
    /// Dead leaves are left out.
    pub const DEAD_LEAF: Prune = Prune {
        cycle: false,
        dead_leaf: true,
    };
    /// Cycles and dead leaves are left out.
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

/// The result of a search.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict<A> {
    /// There is a plan.
    Solved {
        /// At least one plan; all of them have the same length.
        plans: Vec<Vec<A>>,
        /// True if it is proved that no plan is shorter.
        optimal: bool,
        /// True if there are more plans of that length.
        coverage: Coverage,
    },
    /// There is no plan of any length: everything reachable was searched.
    Unsolvable,
    /// There is no plan of this length or less. Longer plans were not searched.
    NoSolutionWithin(u32),
    /// The budget ran out before a plan was found.
    OutOfBudget {
        /// There is no plan of this length or less; `None` if nothing is proved.
        depth_completed: Option<u32>,
        /// The exhausted limit.
        what: BudgetKind,
    },
}

/// The completeness of a list of plans of one length.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Coverage {
    /// All shortest plans were returned.
    All,
    /// The requested number was returned, and more exist.
    Capped,
    /// The search ended before it looked for more plans.
    Unknown,
}

/// The reason why a pass ended early.
enum Stop<E> {
    Budget(BudgetKind),
    Error(E),
}

impl<E> From<BudgetKind> for Stop<E> {
    fn from(kind: BudgetKind) -> Self {
        Stop::Budget(kind)
    }
}

/// A problem whose keys are its exact states.
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
