//! Matches between agents, people and network players.
//!
//! In: a machine, a start state and a [`Player`] for each role. Out: a [`History`] of joint
//! moves and states. Players choose moves; a [`Match`] makes the joint moves and can undo
//! them. Programs that play are [`Agent`]s; each runs on an [`AgentThread`], which keeps its
//! clock. [`referee`] runs a match between any contenders, [`contest`] a whole match between
//! agents. User interfaces are not here.

mod agent;
mod agent_thread;
mod backends;
pub mod contest;
pub mod extensive_form;
mod greedy;
mod hidden;
#[cfg(feature = "tables")]
mod lookup;
mod mcts;
mod minimax;
mod news;
mod observation;
mod outlook;
mod players;
pub mod protocol;
mod puzzle;
#[cfg(feature = "ratings")]
pub mod rating;
mod reasons;
#[cfg(feature = "records")]
pub mod record;
pub mod referee;
pub mod schedule;
mod spec;
#[cfg(all(feature = "ratings", feature = "records"))]
pub mod tournament;
pub mod whole_file;

use ggp_stop::{Instant, Stop};
use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use ggp_engine::machine::{Machine, PlayError};
use ggp_gdl::game::{Move, RoleId, Score};
use ggp_gdl::terms::TermId;
use rand::{Rng, RngExt};

pub use agent::{Advice, Agent, Brief, Candidate, Pace};
pub use agent_thread::{AgentAnswer, AgentThread, Origin};
pub use backends::Backends;
pub use ggp_engine::machine::scores;
pub use greedy::Greedy;
pub use hidden::{GuessingAgent, KnowledgeAgent};
#[cfg(feature = "tables")]
pub use lookup::{Gap, LookupAgent, Tables};
pub use mcts::MctsAgent;
pub use minimax::MinimaxAgent;
pub use news::News;
pub use observation::Observation;
pub use outlook::{Evaluation, Lanes, Learner, Outlook};
pub use players::{Chance, Picker};
pub use puzzle::PuzzleAgent;
pub use reasons::{best_play, reasons};
pub use spec::{AGENT_KINDS, AgentKind, AgentSpec, OptionError, SpecError, is_agent};

/// A chooser of moves for one role.
pub trait Player<M: Machine> {
    /// Chooses a move for a role. In games of several roles, a role with a single legal
    /// move is not asked.
    ///
    /// # Errors
    ///
    /// An error in the rules, or the reason why the player cannot choose. It ends the match;
    /// the moves made so far remain.
    fn choose(&mut self, machine: &mut M, turn: &Turn<'_, M::State>)
    -> Result<Choice, PlayerError>;
}

/// The position in which a player must choose.
#[derive(Debug)]
pub struct Turn<'a, S> {
    /// The role to choose for.
    pub role: RoleId,
    /// Its legal moves, at least one, in the order of [`Machine::legal`].
    pub legal: &'a [Move],
    /// All joint moves so far.
    pub history: &'a History<S>,
}

/// A player's decision.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Choice {
    /// Make a move.
    Play(Move),
    /// Go back to the last state in which the player had a choice.
    Undo,
    /// End the match here.
    Quit,
}

/// The reason why a player cannot choose.
#[non_exhaustive]
pub enum PlayerError {
    /// An error in the rules, or a limit.
    Play(PlayError),
    /// The player needs the joint moves, and its observation has percepts.
    HiddenMoves,
    /// A failure of the player itself, such as a lost connection.
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
            PlayerError::HiddenMoves => f.write_str(
                "this player needs to see all moves; it cannot play games with hidden information",
            ),
            PlayerError::Other(error) => error.fmt(f),
        }
    }
}

impl Error for PlayerError {}

ggp_gdl::debug_as_display!(PlayerError);

/// A joint move and the state after it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ply<S> {
    /// One move for each role.
    pub joint: Vec<Move>,
    /// The state after the joint move.
    pub state: S,
    /// The percepts of each role, in games with `sees`; empty in all others.
    pub percepts: Vec<Vec<TermId>>,
}

/// The states and joint moves of a match, in order. A clone is cheap and does not change
/// when the match goes back.
#[derive(Clone, Debug)]
pub struct History<S> {
    start: S,
    plies: Vec<Arc<Ply<S>>>,
}

impl<S: Clone> History<S> {
    /// A history without moves.
    pub fn new(start: S) -> Self {
        History {
            start,
            plies: Vec::new(),
        }
    }

    /// The number of joint moves.
    pub fn len(&self) -> usize {
        self.plies.len()
    }

    /// Returns true if no move was made.
    pub fn is_empty(&self) -> bool {
        self.plies.is_empty()
    }

    /// The state after the first `moves` joint moves.
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

    /// The last state.
    pub fn state(&self) -> &S {
        self.state_after(self.len())
    }

    /// The joint moves, each with the state after it.
    pub fn plies(&self) -> impl ExactSizeIterator<Item = &Ply<S>> {
        self.plies.iter().map(|ply| &**ply)
    }

    /// Adds a joint move with the state after it.
    pub fn push(&mut self, ply: Ply<S>) {
        self.plies.push(Arc::new(ply));
    }

    /// Keeps the first `moves` joint moves and drops the others.
    pub fn truncate(&mut self, moves: usize) {
        self.plies.truncate(moves);
    }
}

/// The result of one step of a match.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// A joint move was made.
    Moved,
    /// The game is over; no player was asked.
    Over,
    /// A role wants to go back; the match is unchanged. See [`Match::undo`].
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
    /// A match that begins in a state.
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

    /// The joint moves and states so far.
    pub fn history(&self) -> &History<M::State> {
        &self.history
    }

    /// Returns true if the game is over.
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
    /// As [`scores`].
    pub fn scores(&mut self) -> Result<Vec<Score>, PlayError> {
        scores(&mut self.machine, self.history.state())
    }

    /// Makes a joint move.
    ///
    /// # Errors
    ///
    /// As [`Machine::play`]; the match is unchanged then.
    pub fn play(&mut self, joint: Vec<Move>) -> Result<(), PlayError> {
        let state = self.machine.play(self.history.state(), &joint)?;
        self.push(joint, state)
    }

    /// Adds a legal joint move, the state after it and the percepts.
    fn push(&mut self, joint: Vec<Move>, state: M::State) -> Result<(), PlayError> {
        let mut percepts = Vec::new();
        if self.machine.game().is_hidden() {
            let before = self.history.state();
            for role in self.machine.game().roles() {
                let mut seen = Vec::new();
                self.machine.percepts(before, &joint, role, &mut seen)?;
                percepts.push(seen);
            }
        }
        self.history.push(Ply {
            joint,
            state,
            percepts,
        });
        Ok(())
    }

    /// Makes random joint moves as an opening. There are fewer than `count` if the game would be
    /// over after them.
    ///
    /// # Errors
    ///
    /// Those of the machine.
    pub fn open(&mut self, count: usize, random: &mut impl Rng) -> Result<(), PlayError> {
        let mut legal = Vec::new();
        for _ in 0..count {
            let mut joint = Vec::new();
            for role in self.machine.game().roles() {
                self.machine.legal(self.history.state(), role, &mut legal)?;
                joint.push(legal[random.random_range(0..legal.len())]);
            }
            let state = self.machine.next(self.history.state(), &joint)?;
            if self.machine.is_terminal(&state)? {
                break;
            }
            self.push(joint, state)?;
        }
        Ok(())
    }

    /// Asks each player for a move, in the order of the roles, and makes the
    /// joint move. `players` has one entry for each role.
    ///
    /// # Errors
    ///
    /// Those of the machine and of the players; the match is unchanged then.
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

    /// Goes back to the last earlier state in which any of the roles had a choice. The
    /// result is the number of joint moves taken back, 0 if there is no such state.
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

/// An agent as a [`Player`] of a [`Match`].
#[derive(Debug)]
pub struct AgentPlayer {
    thread: AgentThread,
    role: RoleId,
    spec: AgentSpec,
    clock: Option<Duration>,
    stop: Stop,
    /// True if the agent has prepared for the match.
    is_ready: bool,
    listener: Option<Listener>,
}

/// A function that takes each answer of an agent.
struct Listener(Box<dyn FnMut(&AgentAnswer)>);

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Listener")
    }
}

impl AgentPlayer {
    /// An agent that uses the play clock of the brief for each move, if there is one. The time to read
    /// the rules before its first move does not count. The brief must have the game and the start state of the match.
    ///
    /// # Errors
    ///
    /// As [`AgentThread::new`].
    pub fn new(brief: Brief, spec: AgentSpec) -> Result<Self, SpecError> {
        Ok(AgentPlayer {
            clock: brief.play_clock,
            stop: brief.limits.stop.clone(),
            role: brief.role,
            thread: AgentThread::new(brief, &spec)?,
            spec,
            is_ready: false,
            listener: None,
        })
    }

    /// The same player; `listener` takes each of its answers, before the move is made.
    #[must_use]
    pub fn heard_by(self, listener: impl FnMut(&AgentAnswer) + 'static) -> Self {
        AgentPlayer {
            listener: Some(Listener(Box::new(listener))),
            ..self
        }
    }
}

impl<M: Machine> Player<M> for AgentPlayer {
    fn choose(
        &mut self,
        machine: &mut M,
        turn: &Turn<'_, M::State>,
    ) -> Result<Choice, PlayerError> {
        if !std::mem::replace(&mut self.is_ready, true)
            && let Some(error) = self.thread.begin(None)
        {
            return Err(error);
        }
        let deadline = self.clock.map(|clock| Instant::now() + clock);
        // The agent gets no more than this of the state and of the moves of others.
        let observation = Observation::of_history(machine.game(), self.role, turn.history);
        let answer = self
            .thread
            .choose_within(&self.spec, &observation, deadline);
        if let Some(Listener(hear)) = &mut self.listener {
            hear(&answer);
        }
        match (answer.error, answer.advice) {
            (Some(error), _) => Err(error),
            (None, Some(advice)) => Ok(Choice::Play(advice.chosen)),
            (None, None) if self.stop.is_raised() => Err(PlayError::Interrupted.into()),
            // There was no time even for the legal moves.
            (None, None) => Ok(Choice::Play(turn.legal[0])),
        }
    }
}

/// Returns true if a role with these legal moves is not asked. The only role of a game is always
/// asked, so that a person sees every state.
fn is_forced<M: Machine>(machine: &M, legal: &[Move]) -> bool {
    legal.len() == 1 && machine.game().role_count() > 1
}

#[cfg(test)]
mod tests;
