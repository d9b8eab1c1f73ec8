//! Search methods for single-player games, on their propositional networks.
//!
//! In: a [`Puzzle`]: the network of a game with one role, a first state, and the
//! target score. Out: an [`Outcome`]: a plan, or a reason why there is none. Each
//! method has its own file. No method knows any particular game; all go by
//! structure only. Plans are replayed by [`solve`](crate::solve) before they are
//! shown, and reasons are written down so that they can be checked without the code
//! of the methods.

pub mod best_first;
pub mod bidirectional;
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
mod known;
pub mod linear;
pub mod modular;
pub mod move_set;
pub mod nrpa;
pub mod parity;
pub mod partial_order;
mod permutations;
mod position;
pub mod potential;
mod relevance;
pub mod rollout;
pub mod subgroups;
pub mod symmetry;

use expand::MOST_JOINT_MOVES;
use ggp_engine::propnet::Propnet;
use ggp_engine::propnet::batch::Packed;
#[cfg(feature = "tables")]
use ggp_engine::propnet::batch::pack;
use ggp_engine::propnet::network::{Builder, Literal};
use ggp_engine::propnet::rewrite::{copy, live};
use ggp_gdl::game::{Game, Score};
use ggp_stop::Stop;
use known::Known;
pub(crate) use position::Position;
use std::sync::Arc;

/// A game with one role, a first state, and a target score.
#[derive(Clone, Debug)]
pub struct Puzzle {
    /// The network, simplified. Its only role is 0.
    pub net: Arc<Propnet>,
    /// True in terminal states with at least the target score.
    pub solved: Literal,
    /// The first state.
    pub start: Packed,
    /// The lowest score that counts as a solution.
    pub target: Score,
    /// Ends every analysis, which then knows nothing. The default never does.
    pub stop: Stop,
    /// Analyses of the puzzle and code for it, shared by its clones.
    known: Arc<Known>,
}

impl Puzzle {
    /// None if the game has several roles or the state is not a state of the
    /// network.
    pub fn new(mut net: Propnet, start: Packed, target: Score) -> Option<Puzzle> {
        if net.game().role_count() != 1 || net.game().is_random(net.game().roles().next()?) {
            return None;
        }
        let facts = net.facts().len();
        let holds: Vec<bool> = (0..facts)
            .map(|f| start[f / 64] >> (f % 64) & 1 == 1)
            .collect();
        if !net.admits(&holds) {
            return None;
        }
        let terms = net.terms();
        let game: &Game = net.game();
        let reaching = |value| game.score(&terms, value).is_ok_and(|score| score >= target);
        let reaching: Vec<Literal> = net.goals()[0]
            .iter()
            .filter(|&&(value, _)| reaching(value))
            .map(|&(_, due)| due)
            .collect();
        let live = live(net.network(), net.roots());
        let mut builder = Builder::new(net.network().inputs());
        let inputs: Vec<Literal> = (0..net.network().inputs())
            .map(|i| builder.input(i))
            .collect();
        let network = net.network();
        let copied = copy(network, &live, &inputs, &mut builder);
        let of = |literal: Literal| copied[literal.node()].negated_if(literal.is_negated());
        let reaching: Vec<Literal> = reaching.into_iter().map(of).collect();
        let reaching = builder.or(&reaching);
        let solved = builder.and(&[of(net.terminal()), reaching]);
        net.rebuilt(builder, &copied);
        Some(Puzzle {
            net: Arc::new(net),
            solved,
            start,
            target,
            stop: Stop::new(),
            known: Arc::default(),
        })
    }

    /// True if the plan can be played and ends with a solution.
    pub(crate) fn is_plan(&self, plan: &[u32]) -> bool {
        let net = &self.net;
        let mut state = self.start.clone();
        for &chosen in plan {
            let position = Position::new(net, &state, Some(chosen));
            let is_legal = position.holds(net.legal()[0][chosen as usize]);
            if position.holds(net.terminal()) || !is_legal {
                return false;
            }
            state = position.after(net);
        }
        Position::new(net, &state, None).holds(self.solved)
    }

    /// The same puzzle with another target.
    pub fn aiming_at(&self, target: Score) -> Option<Puzzle> {
        let other = Puzzle::new(Propnet::clone(&self.net), self.start.clone(), target)?;
        Some(other.until(self.stop.clone()))
    }

    /// The same puzzle, whose analyses end with this stop.
    #[must_use]
    pub fn until(&self, stop: Stop) -> Puzzle {
        Puzzle {
            stop,
            ..self.clone()
        }
    }

    /// The possible scores of terminal states, ascending. Invalid goal values are
    /// left out.
    pub fn scores(&self) -> Vec<Score> {
        let terms = self.net.terms();
        let values = self.net.goals()[0]
            .iter()
            .filter(|due| due.1 != Literal::FALSE);
        let mut scores: Vec<Score> = values
            .filter_map(|&(value, _)| self.net.game().score(&terms, value).ok())
            .collect();
        scores.sort_unstable();
        scores.dedup();
        scores
    }

    /// The score at the end of a plan; none if the plan does not end the game, or
    /// if the score is not unique.
    pub(crate) fn worth(&self, plan: &Plan) -> Option<Score> {
        let net = &self.net;
        let end = Position::at_end(net, &self.start, plan);
        let mut due = net.goals()[0].iter().filter(|&&(_, due)| end.holds(due));
        let (&(value, _), more) = (due.next()?, due.next());
        let is_sure = end.holds(net.terminal()) && more.is_none();
        is_sure.then(|| net.game().score(&net.terms(), value).ok())?
    }

    /// A game with any number of roles in which nothing is a solution, so that a search visits all
    /// of its positions.
    #[cfg(feature = "tables")]
    pub(crate) fn without_target(net: &Propnet, stop: Stop) -> Puzzle {
        Puzzle {
            start: pack(net.initial().iter().copied()),
            net: Arc::new(net.clone()),
            solved: Literal::FALSE,
            target: Score::MAX,
            stop,
            known: Arc::default(),
        }
    }

    /// Number of moves of all roles that may ever be legal.
    pub fn moves(&self) -> usize {
        self.net.moves().iter().map(Vec::len).sum()
    }

    /// The most children that a position can have.
    pub(crate) fn most_children(&self) -> usize {
        let roles = self.net.moves().iter().map(Vec::len);
        match roles.len() {
            1 => self.moves(),
            _ => roles.fold(1, usize::saturating_mul).min(MOST_JOINT_MOVES),
        }
    }

    /// By role: the number of its first move among those of all roles; the last entry is the
    /// number of all.
    pub(crate) fn first_moves(&self) -> Vec<usize> {
        let roles = self.net.moves().iter();
        let ends = roles.scan(0, |end, moves| {
            *end += moves.len();
            Some(*end)
        });
        std::iter::once(0).chain(ends).collect()
    }
}

/// A plan: indices into the role's moves, in order.
pub type Plan = Vec<u32>;

/// The best terminal state that a method found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BestSoFar {
    /// Its score.
    pub score: Score,
    /// The plan that leads to it.
    pub plan: Plan,
}

/// The result of a method.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    /// A plan was found.
    Solved {
        /// The plan.
        plan: Plan,
        /// True if it is proved that no plan has fewer moves.
        optimal: bool,
    },
    /// There is no plan, for this reason.
    Unsolvable(Reason),
    /// There is no plan of this number of moves or fewer.
    NoPlanWithin(u32),
    /// The method does not apply, or its budget ran out.
    Unknown,
}

/// Reasons why there is no plan. Facts are indices into those of the network.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Reason {
    /// All reachable positions were visited, or enough of them to cover all, such
    /// as one of each class under symmetry.
    Exhausted {
        /// Number of positions visited.
        positions: u64,
    },
    /// The parity of the number of these facts that hold is preserved by every
    /// move, and differs between the start and every solution.
    Parity {
        /// The facts.
        facts: Vec<u32>,
        /// Weights as in [`Reason::Potential`], which restrict the facts that can
        /// hold in a solution; empty if the rules of the end suffice.
        told: Vec<Vec<(u32, i64)>>,
    },
    /// No move increases the weighted sum of the facts that hold, and it is smaller
    /// at the start than in any solution.
    Potential {
        /// Facts and their weights.
        weights: Vec<(u32, i64)>,
    },
    /// An inductive invariant: clauses that hold at the start, that every move
    /// preserves together with the network's assumptions, and that no solution
    /// satisfies.
    Invariant {
        /// Each clause is a list of facts and values, of which at least one holds.
        clauses: Vec<Vec<(u32, bool)>>,
    },
    /// No play has more moves than this, and none of these is a solution.
    Over {
        /// Number of moves.
        moves: u32,
    },
    /// No set of moves leads to a solution: the clauses of a SAT encoding were
    /// refuted.
    Refuted {
        /// A description of the clauses.
        what: String,
    },
}
