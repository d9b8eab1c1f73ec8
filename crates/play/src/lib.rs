//! Matches: players take turns, and what they did can be undone.
//!
//! In: a machine, a state to start from, a [`Player`] for each role. Out: a
//! [`History`] of joint moves and states. Players choose, a [`Match`] makes the
//! joint moves. Programs that play are [`Agent`]s; each sits on a [`Seat`], which
//! keeps its clock. [`referee`] lets contenders play whoever they are, [`contest`] lets
//! agents. Not done here: talking to people.

mod agent;
mod agent_thread;
mod backends;
pub mod contest;
mod greedy;
mod mcts;
mod minimax;
mod outlook;
mod players;
pub mod protocol;
mod puzzle;
pub mod rating;
pub mod record;
pub mod referee;
pub mod schedule;
mod spec;

use ggp_stop::Stop;
use std::error::Error;
use std::fmt;
use std::time::{Duration, Instant};

use im::Vector;

use ggp_engine::machine::{Machine, PlayError};
use ggp_gdl::game::{Move, RoleId, Score};

pub use agent::{Advice, Agent, Brief, Candidate, Pace};
pub use agent_thread::{Answer, Origin, Seat};
pub use backends::Backends;
pub use greedy::Greedy;
pub use mcts::MctsAgent;
pub use minimax::MinimaxAgent;
pub use outlook::{Evaluation, Lanes, Outlook};
pub use players::Picker;
pub use puzzle::PuzzleAgent;
pub use spec::{AgentSpec, KINDS, Kind, Thought, is_kind};

/// Who chooses the moves of a role.
pub trait Player<M: Machine> {
    /// Chooses for the role whose turn it is. A role with a single legal move is
    /// not asked if there are others.
    ///
    /// # Errors
    ///
    /// Whatever play shows to be wrong with the rules, or what keeps the player
    /// from choosing. It ends the match; what was played stays.
    fn choose(&mut self, machine: &mut M, turn: &Turn<'_, M::State>)
    -> Result<Choice, PlayerError>;
}

/// What a player is asked.
#[derive(Debug)]
pub struct Turn<'a, S> {
    /// The role to choose for.
    pub role: RoleId,
    /// Its legal moves, at least one, in the order of [`Machine::legal`].
    pub legal: &'a [Move],
    /// What was played so far, by all roles.
    pub history: &'a History<S>,
}

/// What a player wants.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Choice {
    /// To make a move.
    Play(Move),
    /// To go back to a state in which it had a choice.
    Undo,
    /// To end the match here.
    Quit,
}

/// What keeps a player from choosing.
#[derive(Debug)]
pub enum PlayerError {
    /// The rules, or a limit.
    Play(PlayError),
    /// Something of the player's own, such as a lost connection.
    Other(Box<dyn Error + Send + Sync>),
}

impl From<PlayError> for PlayerError {
    fn from(error: PlayError) -> Self {
        PlayerError::Play(error)
    }
}

impl fmt::Display for PlayerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlayerError::Play(error) => error.fmt(f),
            PlayerError::Other(error) => error.fmt(f),
        }
    }
}

impl Error for PlayerError {}

/// A joint move and the state after it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ply<S> {
    /// One move for each role.
    pub joint: Vec<Move>,
    /// What they led to.
    pub state: S,
}

/// The states and joint moves of a match, in order. A clone is cheap and keeps
/// what the match later undoes.
#[derive(Clone, Debug)]
pub struct History<S> {
    start: S,
    plies: Vector<Ply<S>>,
}

impl<S: Clone> History<S> {
    /// A history without a move.
    pub fn new(start: S) -> Self {
        History {
            start,
            plies: Vector::new(),
        }
    }

    /// Number of joint moves.
    pub fn len(&self) -> usize {
        self.plies.len()
    }

    /// Whether no move was made.
    pub fn is_empty(&self) -> bool {
        self.plies.is_empty()
    }

    /// The state after a number of joint moves.
    ///
    /// # Panics
    ///
    /// If fewer were made.
    pub fn state_after(&self, moves: usize) -> &S {
        match moves {
            0 => &self.start,
            _ => &self.plies[moves - 1].state,
        }
    }

    /// The state after all of them.
    pub fn state(&self) -> &S {
        self.state_after(self.len())
    }

    /// The joint moves, each with the state after it.
    pub fn plies(&self) -> impl ExactSizeIterator<Item = &Ply<S>> {
        self.plies.iter()
    }

    /// Adds a joint move and the state after it.
    pub fn push(&mut self, joint: Vec<Move>, state: S) {
        self.plies.push_back(Ply { joint, state });
    }

    /// Forgets all joint moves after the first few.
    pub fn truncate(&mut self, moves: usize) {
        // `Vector::truncate` is not for lengths past the end.
        if moves < self.len() {
            self.plies.truncate(moves);
        }
    }
}

/// What one step of a match came to.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// A joint move was made.
    Moved,
    /// The game is over, so nobody was asked.
    Over,
    /// A role wants to go back; nothing was done. See [`Match::undo`].
    Undo(RoleId),
    /// A role wants to end the match here.
    Quit(RoleId),
}

/// A match in progress.
#[derive(Debug)]
pub struct Match<M: Machine> {
    machine: M,
    history: History<M::State>,
}

impl<M: Machine> Match<M> {
    /// A match from a state on.
    pub fn new(machine: M, start: M::State) -> Self {
        Match {
            machine,
            history: History::new(start),
        }
    }

    /// The machine.
    pub fn machine(&mut self) -> &mut M {
        &mut self.machine
    }

    /// What was played.
    pub fn history(&self) -> &History<M::State> {
        &self.history
    }

    /// Whether the game is over.
    ///
    /// # Errors
    ///
    /// As [`Machine::is_terminal`].
    pub fn is_over(&mut self) -> Result<bool, PlayError> {
        self.machine.is_terminal(self.history.state())
    }

    /// The scores of all roles in the last state.
    ///
    /// # Errors
    ///
    /// As [`Machine::goal`].
    pub fn scores(&mut self) -> Result<Vec<Score>, PlayError> {
        let roles = self.machine.game().roles();
        roles
            .map(|role| self.machine.goal(self.history.state(), role))
            .collect()
    }

    /// Makes a joint move.
    ///
    /// # Errors
    ///
    /// As [`Machine::play`]; nothing is changed then.
    pub fn play(&mut self, joint: Vec<Move>) -> Result<(), PlayError> {
        let state = self.machine.play(self.history.state(), &joint)?;
        self.history.push(joint, state);
        Ok(())
    }

    /// Asks each player for a move, in the order of the roles, and makes the
    /// joint move. `players` has one entry for each role.
    ///
    /// # Errors
    ///
    /// Those of play and of the players; nothing is changed then.
    pub fn step(&mut self, players: &mut [Box<dyn Player<M> + '_>]) -> Result<Step, PlayerError> {
        if self.is_over()? {
            return Ok(Step::Over);
        }
        let roles = self.machine.game().roles();
        let mut joint = Vec::with_capacity(roles.len());
        let mut legal = Vec::new();
        for (role, player) in roles.zip(players.iter_mut()) {
            self.machine.legal(self.history.state(), role, &mut legal)?;
            if is_forced(&self.machine, &legal) {
                joint.push(legal[0]);
                continue;
            }
            let turn = Turn {
                role,
                legal: &legal,
                history: &self.history,
            };
            match player.choose(&mut self.machine, &turn)? {
                Choice::Play(chosen) => joint.push(chosen),
                Choice::Undo => return Ok(Step::Undo(role)),
                Choice::Quit => return Ok(Step::Quit(role)),
            }
        }
        self.play(joint)?;
        Ok(Step::Moved)
    }

    /// Goes back to the last state before this one in which any of the roles had
    /// a choice. The result is the number of joint moves taken back; 0 if there
    /// is no such state.
    ///
    /// # Errors
    ///
    /// As [`Machine::legal`].
    pub fn undo(&mut self, roles: &[RoleId]) -> Result<usize, PlayError> {
        let made = self.history.len();
        let mut legal = Vec::new();
        for moves in (0..made).rev() {
            for role in roles {
                let state = self.history.state_after(moves);
                self.machine.legal(state, *role, &mut legal)?;
                if !is_forced(&self.machine, &legal) {
                    self.history.truncate(moves);
                    return Ok(made - moves);
                }
            }
        }
        Ok(0)
    }
}

/// An agent among the players of a [`Match`].
#[derive(Debug)]
pub struct SeatPlayer {
    seat: Seat,
    spec: AgentSpec,
    clock: Option<Duration>,
    stop: Stop,
}

impl SeatPlayer {
    /// An agent that has the clock for each move, if there is one. The brief
    /// speaks of the match's game and start.
    ///
    /// # Errors
    ///
    /// As [`Seat::new`].
    pub fn new(brief: Brief, spec: AgentSpec) -> Result<Self, String> {
        Ok(SeatPlayer {
            clock: brief.play_clock,
            stop: brief.limits.stop.clone(),
            seat: Seat::new(brief, &spec)?,
            spec,
        })
    }
}

impl<M: Machine> Player<M> for SeatPlayer {
    fn choose(
        &mut self,
        _machine: &mut M,
        turn: &Turn<'_, M::State>,
    ) -> Result<Choice, PlayerError> {
        let played: Vec<Vec<Move>> = turn.history.plies().map(|ply| ply.joint.clone()).collect();
        let deadline = self.clock.map(|clock| Instant::now() + clock);
        let (deadline, nodes) = self.spec.limits(deadline);
        let answer = self.seat.choose(&played, deadline, nodes);
        match (answer.error, answer.advice) {
            (Some(error), _) => Err(error),
            (None, Some(advice)) => Ok(Choice::Play(advice.chosen)),
            (None, None) if self.stop.is_raised() => Err(PlayError::Interrupted.into()),
            // The time was too short for anything.
            (None, None) => Ok(Choice::Play(turn.legal[0])),
        }
    }
}

/// Whether a role with these legal moves need not be asked. A single player is
/// always asked: without a choice to make it still sees how the game goes on.
fn is_forced<M: Machine>(machine: &M, legal: &[Move]) -> bool {
    legal.len() == 1 && machine.game().role_count() > 1
}

#[cfg(test)]
mod tests;
