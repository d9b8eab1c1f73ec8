//! What a Monte Carlo search found.

use crate::search::BudgetKind;

/// What is known of the moves in one state.
#[derive(Clone, PartialEq, Debug)]
pub struct MctsReport<M> {
    /// One entry per role. All are empty if the state is terminal.
    pub roles: Vec<RoleReport<M>>,
    /// The iterations that were completed.
    pub iterations: u64,
    /// The positions in the tree, the root included.
    pub positions: usize,
    /// What ended the search.
    pub stopped: BudgetKind,
}

/// What is known of one role's moves.
#[derive(Clone, PartialEq, Debug)]
pub struct RoleReport<M> {
    /// One entry per legal move, in the order in which the game gave them.
    pub moves: Vec<MoveReport<M>>,
}

/// What is known of one move.
#[derive(Clone, PartialEq, Debug)]
pub struct MoveReport<M> {
    /// The move.
    pub action: M,
    /// The iterations in which it was played.
    pub visits: u64,
    /// The mean of what those were worth to the role, 0 to 100; 0 if none.
    pub mean: f64,
}

impl<M> RoleReport<M> {
    /// The move visited most; of equals the one with the larger mean, and then
    /// the first. `None` if there are no moves.
    pub fn best(&self) -> Option<&MoveReport<M>> {
        self.moves.iter().reduce(|best, other| {
            let order = other
                .visits
                .cmp(&best.visits)
                .then(other.mean.total_cmp(&best.mean));
            if order.is_gt() { other } else { best }
        })
    }
}

/// The answer of a search for a plan by Monte Carlo tree search.
#[derive(Clone, PartialEq, Debug)]
pub enum MctsVerdict<M> {
    /// The plan ends in a terminal state that is worth 100.
    Solved {
        /// The moves from the root.
        plan: Vec<M>,
    },
    /// No such line was played.
    OutOfBudget {
        /// The best line that ended in a terminal state, if there was one.
        best: Option<BestLine<M>>,
        /// What ran out.
        what: BudgetKind,
    },
}

/// A line that was played to its end.
#[derive(Clone, PartialEq, Debug)]
pub struct BestLine<M> {
    /// What its terminal state is worth.
    pub score: f64,
    /// The moves from the root.
    pub plan: Vec<M>,
}
