//! What programs that play have in common.
//!
//! In: a [`Brief`] of the match, then the joint moves made so far, each with a
//! [`Pace`]. Out: [`Advice`]. An [`Agent`] thinks in the thread that calls it;
//! [`Seat`](super::Seat) gives it one of its own and sees to it that a move is
//! there in time.
use ggp_stop::Stop;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::PlayerError;
use ggp_engine::machine::Limits;
use ggp_gdl::game::{Game, Move, RoleId};
use ggp_gdl::terms::TermId;
use ggp_search::Budget;
use ggp_search::mcts::Excerpt;
use ggp_solver::solve::Joint;

/// What an agent is told before a match.
#[derive(Clone, Debug)]
pub struct Brief {
    /// The rules.
    pub game: Game,
    /// Whom it plays.
    pub role: RoleId,
    /// The facts of the first state; those of the rules if none.
    pub start: Option<Vec<TermId>>,
    /// Time for each move, as far as it is known.
    pub play_clock: Option<Duration>,
    /// Threads that may search at once.
    pub threads: usize,
    /// Bytes that its tables may take.
    pub memory_bytes: u64,
    /// The seed of random choices.
    pub seed: u64,
    /// Positions of a search tree that are to be told of ([`Advice::tree`]), at most.
    pub tree: usize,
    /// What machines may spend. The interrupt ends the match.
    pub limits: Limits,
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
            tree: 0,
            limits: Limits::default(),
        }
    }
}

/// What an agent thinks of a legal move of its role.
#[derive(Clone, PartialEq, Debug)]
pub struct Candidate {
    /// The move.
    pub action: Move,
    /// How often it was looked at.
    pub visits: u64,
    /// The score that it is thought to lead to, 0 to 100.
    pub value: f64,
    /// The least and the most that the role gets after it, where that is proved.
    pub bounds: (f64, f64),
}

/// A move, and why.
#[derive(Clone, PartialEq, Debug)]
pub struct Advice {
    /// The move to make.
    pub chosen: Move,
    /// The score that it is thought to lead to, 0 to 100.
    pub value: Option<f64>,
    /// The least and the most that the role gets, where that is proved.
    pub bounds: (f64, f64),
    /// Iterations, or positions looked at.
    pub nodes: u64,
    /// What is thought of the legal moves, best first; those that were not looked
    /// at may be missing.
    pub candidates: Vec<Candidate>,
    /// How play is expected to go on, from the move on; empty if that is not known.
    pub line: Vec<Joint>,
    /// The part of the search tree that was visited most, as it was a while ago; if it
    /// is wanted ([`Brief::tree`]) and there is one.
    pub tree: Option<Arc<Excerpt<Move>>>,
}

impl Advice {
    /// A move without an opinion.
    pub fn of(chosen: Move) -> Self {
        Advice {
            chosen,
            value: None,
            bounds: (0.0, 100.0),
            nodes: 0,
            candidates: Vec::new(),
            line: Vec::new(),
            tree: None,
        }
    }
}

/// How long an agent may think, and where it puts what it has found until then.
///
/// A clone is the same pace.
#[derive(Clone, Debug, Default)]
pub struct Pace {
    nodes: Option<u64>,
    stop: Stop,
    best: Arc<Mutex<Option<Advice>>>,
}

impl Pace {
    /// Until a point in time, and for so many iterations or positions; without
    /// limits until it is stopped.
    pub fn new(deadline: Option<Instant>, nodes: Option<u64>) -> Self {
        let stop = Stop::new();
        Pace {
            nodes,
            stop: deadline.map_or(stop.clone(), |end| stop.until(end)),
            ..Pace::default()
        }
    }

    /// Whether the agent is to come to an end.
    pub fn is_over(&self) -> bool {
        self.stop.is_over()
    }

    /// Ends it.
    pub fn stop(&self) {
        self.stop.raise();
    }

    /// When it ends.
    pub fn deadline(&self) -> Option<Instant> {
        self.stop.deadline()
    }

    /// The most iterations or positions.
    pub fn nodes(&self) -> Option<u64> {
        self.nodes
    }

    /// What is left as the budget of a search.
    pub fn budget(&self, memory_bytes: u64) -> Budget {
        Budget {
            nodes: self.nodes.unwrap_or(u64::MAX),
            memory_bytes,
            stop: self.stop.clone(),
            ..Budget::default()
        }
    }

    /// Keeps the move that would be chosen if the time were up now.
    pub fn publish(&self, advice: Advice) {
        let mut best = self.best.lock().unwrap_or_else(PoisonError::into_inner);
        *best = Some(advice);
    }

    /// What was published last.
    pub fn published(&self) -> Option<Advice> {
        let best = self.best.lock().unwrap_or_else(PoisonError::into_inner);
        best.clone()
    }
}

/// A program that plays one role of one match.
///
/// All its methods come back soon after the pace is over.
pub trait Agent: Send {
    /// Makes ready, and thinks about the first state if there is a deadline.
    /// Called once, before all else.
    ///
    /// # Errors
    ///
    /// What keeps it from playing.
    fn begin(&mut self, pace: &Pace) -> Result<(), PlayerError>;

    /// Chooses a legal move in the state after these joint moves. It publishes
    /// what it would choose as soon as it can say, and when it changes its mind.
    ///
    /// # Errors
    ///
    /// What keeps it from choosing; [`PlayError::Interrupted`](ggp_engine::machine::PlayError)
    /// if the pace was over before it had a move.
    fn choose(&mut self, played: &[Vec<Move>], pace: &Pace) -> Result<Advice, PlayerError>;

    /// Thinks on after a choice until the pace is over, while others choose.
    ///
    /// # Errors
    ///
    /// What keeps it from thinking.
    fn ponder(&mut self, _pace: &Pace) -> Result<(), PlayerError> {
        Ok(())
    }
}
