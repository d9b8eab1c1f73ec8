//! The interface of programs that play.
//!
//! In: a [`Brief`] of the match, then an [`Observation`] for each choice, with a [`Pace`].
//! Out: [`Advice`]. An [`Agent`] thinks on the thread that calls it; an
//! [`AgentThread`](super::AgentThread) runs it on its own thread and returns a move on time.

use ggp_stop::{Instant, Stop};
use std::fmt::{self, Debug, Formatter};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

#[cfg(feature = "tables")]
use super::Tables;
use super::{Observation, PlayerError};
use ggp_engine::machine::{AnyMachine, Limits};
use ggp_gdl::game::{Game, Move, RoleId};
use ggp_gdl::terms::TermId;
use ggp_search::Budget;
use ggp_search::mcts::TreeSummary;
use ggp_solver::solve::Joint;

/// The information that an agent gets before a match.
#[derive(Clone, Debug)]
pub struct Brief {
    /// The rules.
    pub game: Game,
    /// The role that the agent plays.
    pub role: RoleId,
    /// The facts of the first state; by default those of the rules.
    pub start: Option<Vec<TermId>>,
    /// The time for each move, if known.
    pub play_clock: Option<Duration>,
    /// The most threads that search at once.
    pub threads: usize,
    /// The most bytes for search tables.
    pub memory_bytes: u64,
    /// The seed of random choices.
    pub seed: u64,
    /// Learned values of games.
    pub values: Arc<ggp_learn::Library>,
    /// Values of all positions of games, for the agent `auto`.
    #[cfg(feature = "tables")]
    pub tables: Arc<Tables>,
    /// The most positions of the search tree to report in [`Advice::tree`].
    pub tree: usize,
    /// Limits for machines. The interrupt ends the match.
    pub limits: Limits,
    /// A machine of the game that is ready for use; by default the agent makes its own.
    pub machine: Option<AnyMachine>,
}

impl Brief {
    /// One thread, 1 GiB, no clock, seed 0, no tree.
    pub fn new(game: &Game, role: RoleId) -> Self {
        Brief {
            game: game.clone(),
            role,
            start: None,
            play_clock: None,
            threads: 1,
            memory_bytes: 1 << 30,
            seed: 0,
            values: Arc::default(),
            #[cfg(feature = "tables")]
            tables: Arc::default(),
            tree: 0,
            limits: Limits::default(),
            machine: None,
        }
    }
}

/// An agent's assessment of one legal move of its role.
#[derive(Clone, PartialEq, Debug)]
pub struct Candidate {
    /// The move.
    pub action: Move,
    /// The number of visits in the search.
    pub visits: u64,
    /// The expected score, 0 to 100.
    pub value: f64,
    /// Proved lower and upper bounds of the role's score after the move, 0 and 100 if
    /// nothing is proved.
    pub bounds: (f64, f64),
    /// The number of joint moves to the end, the move included, if all play well and it is
    /// known.
    pub distance: Option<u16>,
}

/// A chosen move with the reasons for it.
#[derive(Clone, PartialEq, Debug)]
pub struct Advice {
    /// The chosen move.
    pub chosen: Move,
    /// The expected score, 0 to 100.
    pub value: Option<f64>,
    /// Proved lower and upper bounds of the role's score, 0 and 100 if nothing is proved.
    pub bounds: (f64, f64),
    /// Search iterations or expanded positions for this choice: 0 if earlier work decided it.
    pub nodes: u64,
    /// True if a player that searches chose among several moves before its search told anything
    /// about them.
    pub is_blind: bool,
    /// The legal moves, best first. Moves that were not searched may be missing.
    pub candidates: Vec<Candidate>,
    /// The probabilities by which the move was drawn; empty if it was not.
    pub mix: Vec<(Move, f64)>,
    /// The expected continuation, beginning with the chosen move; empty if unknown.
    pub line: Vec<Joint>,
    /// The most visited part of the search tree, from a recent moment of the search.
    /// Present if [`Brief::tree`] asks for it and the agent has a tree.
    pub tree: Option<Arc<TreeSummary<Move>>>,
}

impl Advice {
    /// A move without an assessment.
    pub fn of(chosen: Move) -> Self {
        Advice {
            chosen,
            value: None,
            bounds: (0.0, 100.0),
            nodes: 0,
            is_blind: false,
            candidates: Vec::new(),
            mix: Vec::new(),
            line: Vec::new(),
            tree: None,
        }
    }

    /// Any one of some moves, without a search.
    pub fn blind(chosen: Move, legal: &[Move]) -> Self {
        Advice {
            is_blind: legal.len() > 1,
            ..Advice::of(chosen)
        }
    }
}

/// The limits of one search, and a place for its best move so far.
///
/// Clones share the stop flag and the published move.
#[derive(Clone, Debug, Default)]
pub struct Pace {
    nodes: Option<u64>,
    stop: Stop,
    best: Arc<Mutex<Option<Advice>>>,
    listener: Option<AdviceListener>,
}

/// A function that takes each published move.
#[derive(Clone)]
struct AdviceListener(Arc<dyn Fn(&Advice) + Send + Sync>);

impl Debug for AdviceListener {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("AdviceListener")
    }
}

impl Pace {
    /// Limits by time and by a number of iterations or positions. Without either, the
    /// search runs until [`Pace::stop`].
    pub fn new(deadline: Option<Instant>, nodes: Option<u64>) -> Self {
        Pace::within(&Stop::new(), deadline, nodes)
    }

    /// A pace that also ends with a stop, and whose end raises that stop.
    pub fn within(stop: &Stop, deadline: Option<Instant>, nodes: Option<u64>) -> Self {
        Pace {
            nodes,
            stop: deadline.map_or(stop.clone(), |end| stop.until(end)),
            ..Pace::default()
        }
    }

    /// The same pace; `listener` takes each published move, on the thread of the agent.
    #[must_use]
    pub fn heard_by(self, listener: impl Fn(&Advice) + Send + Sync + 'static) -> Self {
        Pace {
            listener: Some(AdviceListener(Arc::new(listener))),
            ..self
        }
    }

    /// Returns true if the agent should return.
    pub fn is_over(&self) -> bool {
        self.stop.is_over()
    }

    /// Returns true if the deadline has passed.
    pub fn is_late(&self) -> bool {
        self.deadline().is_some_and(|end| Instant::now() >= end)
    }

    /// Asks the agent to return.
    pub fn stop(&self) {
        self.stop.raise();
    }

    /// The time by which the agent should return.
    pub fn deadline(&self) -> Option<Instant> {
        self.stop.deadline()
    }

    /// A stop for a part of the work, which ends with the pace, or after a share of the time
    /// that is left.
    pub fn part(&self, share: f64) -> Stop {
        self.stop
            .within(self.stop.remaining().map(|time| time.mul_f64(share)))
    }

    /// A pace for a share of the time that is left. It ends with this one.
    pub fn first(&self, share: f64) -> Pace {
        Pace {
            stop: self.part(share),
            ..self.clone()
        }
    }

    /// The same pace with another number of iterations or positions.
    pub fn with_nodes(&self, nodes: u64) -> Pace {
        Pace {
            nodes: Some(nodes),
            ..self.clone()
        }
    }

    /// The most iterations or positions.
    pub fn nodes(&self) -> Option<u64> {
        self.nodes
    }

    /// The remaining time and nodes as the budget of a search.
    pub fn budget(&self, memory_bytes: u64) -> Budget {
        Budget {
            nodes: self.nodes.unwrap_or(u64::MAX),
            memory_bytes,
            time: self.stop.remaining(),
            stop: self.stop.clone(),
            ..Budget::default()
        }
    }

    /// Stores the move that the agent would choose if time ran out now.
    pub fn publish(&self, advice: Advice) {
        if let Some(AdviceListener(tell)) = &self.listener {
            tell(&advice);
        }
        let mut best = self.best.lock().unwrap_or_else(PoisonError::into_inner);
        *best = Some(advice);
    }

    /// The last published advice.
    pub fn published(&self) -> Option<Advice> {
        let best = self.best.lock().unwrap_or_else(PoisonError::into_inner);
        best.clone()
    }
}

/// A program that plays one role of one match.
///
/// All its methods return soon after the pace is over.
pub trait Agent: Send {
    /// Prepares for the match, and thinks about the first state if there is a deadline.
    /// Called once, before all other methods.
    ///
    /// # Errors
    ///
    /// The reason why the agent cannot play.
    fn begin(&mut self, pace: &Pace) -> Result<(), PlayerError>;

    /// Chooses a legal move in the state that follows from the observation. The agent
    /// publishes its preferred move as soon as it has one, and whenever that changes.
    ///
    /// # Errors
    ///
    /// The reason why the agent cannot choose;
    /// [`PlayError::Interrupted`](ggp_engine::machine::PlayError) if the pace was over before
    /// it had a move, and [`PlayerError::HiddenMoves`] if it needs the joint moves and the
    /// observation has percepts.
    fn choose(&mut self, observation: &Observation, pace: &Pace) -> Result<Advice, PlayerError>;

    /// Continues to think after a choice, while the other roles choose, until the pace is
    /// over.
    ///
    /// # Errors
    ///
    /// The reason why the agent cannot think.
    fn ponder(&mut self, _pace: &Pace) -> Result<(), PlayerError> {
        Ok(())
    }
}
