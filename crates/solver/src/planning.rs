//! Games of one player, solved on their networks.
//!
//! In: a [`Puzzle`]: the network of a game with one role, a state to begin in,
//! and the score that is wanted. Out: an [`Outcome`]: a plan, or a reason why
//! there is none. Each method is a file; none knows a game, and all go by
//! structure only. Plans are played again by [`solve`](crate::solve) before
//! anyone sees them, and reasons are written down so that they can be checked by
//! code that shares nothing with the methods.

pub mod best_first;
pub mod bounded;
pub mod breadth_first;
pub mod checkpoint;
pub mod dead_end;
pub mod depth_first;
pub mod effects;
pub mod estimate;
pub mod expand;
pub mod factored;
mod gf2;
pub mod invariant;
pub mod iterative_deepening;
pub mod linear;
pub mod move_set;
pub mod nrpa;
pub mod parity;
pub mod partial_order;
mod position;
pub mod potential;
pub mod rollout;
pub mod symmetry;

use ggp_engine::propnet::Propnet;
use ggp_engine::propnet::batch::Packed;
use ggp_engine::propnet::network::{Builder, Literal};
use ggp_engine::propnet::rewrite::{copy, live};
use ggp_gdl::game::{Game, Score};
pub(crate) use position::Position;

/// A game of one role, where to begin, and what is wanted.
#[derive(Clone, Debug)]
pub struct Puzzle {
    /// The network, simplified. Its only role is 0.
    pub net: Propnet,
    /// Holds in the states where the game is over and worth the target at least.
    pub solved: Literal,
    /// The first state.
    pub start: Packed,
    /// The least score that is wanted.
    pub target: Score,
}

impl Puzzle {
    /// None if the game has several roles or the state is none of the network's.
    pub fn new(mut net: Propnet, start: Packed, target: Score) -> Option<Puzzle> {
        if net.game.role_count() != 1 || net.game.is_random(net.game.roles().next()?) {
            return None;
        }
        let facts = net.facts.len();
        let holds: Vec<bool> = (0..facts)
            .map(|f| start[f / 64] >> (f % 64) & 1 == 1)
            .collect();
        if !net.admits(&holds) {
            return None;
        }
        let terms = net.terms();
        let game: &Game = &net.game;
        let enough = |value| game.score(&terms, value).is_ok_and(|score| score >= target);
        let enough: Vec<Literal> = net.goals[0]
            .iter()
            .filter(|&&(value, _)| enough(value))
            .map(|&(_, due)| due)
            .collect();
        let live = live(&net.network, net.roots());
        let mut builder = Builder::new(net.network.inputs());
        let inputs: Vec<Literal> = (0..net.network.inputs())
            .map(|i| builder.input(i))
            .collect();
        let network = &net.network;
        let became = copy(network, &live, &inputs, &mut builder);
        let of = |literal: Literal| became[literal.node()].negated_if(literal.is_negated());
        let enough: Vec<Literal> = enough.into_iter().map(of).collect();
        let enough = builder.or(&enough);
        let solved = builder.and(&[of(net.terminal), enough]);
        net.rebuilt(builder, &became);
        Some(Puzzle {
            net,
            solved,
            start,
            target,
        })
    }

    /// The same with another target.
    pub fn aiming_at(&self, target: Score) -> Option<Puzzle> {
        Puzzle::new(self.net.clone(), self.start.clone(), target)
    }

    /// What ends may be worth, in order, without what the rules write wrongly.
    pub fn scores(&self) -> Vec<Score> {
        let terms = self.net.terms();
        let values = self.net.goals[0]
            .iter()
            .filter(|due| due.1 != Literal::FALSE);
        let mut scores: Vec<Score> = values
            .filter_map(|&(value, _)| self.net.game.score(&terms, value).ok())
            .collect();
        scores.sort_unstable();
        scores.dedup();
        scores
    }

    /// What the end of a plan is worth; none if it is no end, or worth nothing
    /// certain.
    pub(crate) fn worth(&self, plan: &Plan) -> Option<Score> {
        let net = &self.net;
        let end = Position::at_end(net, &self.start, plan);
        let mut due = net.goals[0].iter().filter(|&&(_, due)| end.holds(due));
        let (&(value, _), more) = (due.next()?, due.next());
        let is_sure = end.holds(net.terminal) && more.is_none();
        is_sure.then(|| net.game.score(&net.terms(), value).ok())?
    }

    /// Number of moves that may ever be legal.
    pub fn moves(&self) -> usize {
        self.net.moves[0].len()
    }
}

/// A plan: positions among the moves of the role, in order.
pub type Plan = Vec<u32>;

/// The best end that a method met.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BestSoFar {
    /// What it is worth.
    pub score: Score,
    /// The way there.
    pub plan: Plan,
}

/// What a method came to.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    /// A plan, and whether it is proved that none is shorter.
    Solved {
        /// The plan.
        plan: Plan,
        /// No plan has fewer moves.
        optimal: bool,
    },
    /// There is no plan, for this reason.
    Unsolvable(Reason),
    /// There is no plan of so many moves or fewer.
    NoPlanWithin(u32),
    /// The method does not apply, or ran out of its budget.
    Unknown,
}

/// Why there is no plan. Facts are positions among those of the network.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Reason {
    /// Every position that can be reached was looked at, or enough of them, as one of
    /// each class under symmetry, to know of all; so many.
    Exhausted {
        /// Positions.
        positions: u64,
    },
    /// The number of these facts that hold is even at the start, or odd, and
    /// remains so with every move; a solution has it the other way.
    Parity {
        /// The facts.
        facts: Vec<u32>,
        /// Weights, as of [`Reason::Potential`], that tell which facts can hold
        /// in a solution; none if the rules of the end say enough.
        told: Vec<Vec<(u32, i64)>>,
    },
    /// No move makes the weighted sum of the facts that hold larger, and it is
    /// smaller at the start than in any solution.
    Potential {
        /// Facts and their weights.
        weights: Vec<(u32, i64)>,
    },
    /// Clauses that hold at the start, are kept by every move together with what
    /// the network takes for granted, and of which no solution fulfils all.
    Invariant {
        /// Of each list of facts, and whether they hold, one is so.
        clauses: Vec<Vec<(u32, bool)>>,
    },
    /// No play has more moves than this, and none of these is a solution.
    Over {
        /// Moves.
        moves: u32,
    },
    /// The end, as the rules say it, can not be brought about by any set of
    /// moves: the clauses were refuted.
    Refuted {
        /// Which clauses, in words.
        what: String,
    },
}
