//! Matches between agents, each as it is written down.
//!
//! In: a game, an [`AgentSpec`] for each role, clocks, a seed. Out: moves, scores,
//! and what went wrong. Without clocks, the same seed gives the same match. Agents
//! take turns on the processor even where the game lets them move at once.

use std::time::{Duration, Instant};

use super::referee::{Asked, Asking, Contender, Lapse, Referee};
use super::{AgentSpec, Brief, Match, Origin, Seat};
use crate::game::{Game, Move, RoleId, Score};
use crate::machine::{Limits, Machine, PlayError};

/// How long agents may think.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Clocks {
    /// Before the first move.
    pub start: Option<Duration>,
    /// For each move.
    pub play: Option<Duration>,
}

/// What an agent at a match may use, beside time.
#[derive(Clone, Debug)]
pub struct Means {
    /// Threads that may search at once.
    pub threads: usize,
    /// Bytes that its tables may take.
    pub memory_bytes: u64,
    /// What machines may spend. The interrupt ends the match.
    pub limits: Limits,
}

impl Means {
    /// The brief of an agent that plays a role.
    pub fn brief(&self, game: &Game, role: RoleId, clocks: Clocks, seed: u64) -> Brief {
        Brief {
            play_clock: clocks.play,
            threads: self.threads,
            memory_bytes: self.memory_bytes,
            // No two roles draw the same numbers.
            seed: seed.wrapping_add((role.index() as u64 + 1) << 32),
            limits: self.limits.clone(),
            ..Brief::new(game, role)
        }
    }
}

/// An agent as a contender.
#[derive(Debug)]
pub struct SeatContender {
    seat: Seat,
    spec: AgentSpec,
    clocks: Clocks,
    roles: usize,
}

impl SeatContender {
    /// An agent that has the clocks, if there are any.
    ///
    /// # Errors
    ///
    /// As [`Seat::new`].
    pub fn new(brief: Brief, spec: &AgentSpec, clocks: Clocks) -> Result<Self, String> {
        Ok(SeatContender {
            roles: brief.game.role_count(),
            seat: Seat::new(brief, spec)?,
            spec: spec.clone(),
            clocks,
        })
    }
}

impl Contender for SeatContender {
    fn start(&mut self) -> Result<(), Lapse> {
        let deadline = self.clocks.start.map(|clock| Instant::now() + clock);
        match self.seat.begin(deadline) {
            // One that is not ready yet has the time of its first move.
            None => Ok(()),
            Some(error) => Err(Lapse::Crashed(error.to_string())),
        }
    }

    fn choose(&mut self, asked: &Asked<'_>) -> Result<Move, Lapse> {
        if let ([only], 2..) = (asked.legal, self.roles) {
            return Ok(*only);
        }
        let end = self.clocks.play.map(|clock| Instant::now() + clock);
        let (deadline, nodes) = self.spec.limits(end);
        let answer = self.seat.choose(asked.played, deadline, nodes);
        if let Some(error) = answer.error {
            return Err(Lapse::Crashed(error.to_string()));
        }
        match answer.advice {
            Some(advice) if answer.origin != Origin::Chance => Ok(advice.chosen),
            _ if deadline.is_some_and(|deadline| Instant::now() >= deadline) => Err(Lapse::Late),
            _ => Err(Lapse::Illegal(String::new())),
        }
    }
}

/// A match that is to be played.
#[derive(Clone, Debug)]
pub struct Contest<M> {
    /// Who says what is legal.
    pub machine: M,
    /// Who plays the roles; what plays the role of chance does not matter.
    pub players: Vec<AgentSpec>,
    /// How long they may think.
    pub clocks: Clocks,
    /// What else they may use.
    pub means: Means,
    /// The seed of all random choices.
    pub seed: u64,
    /// Joint moves after which the match is broken off.
    pub most_moves: usize,
}

/// What came of a match.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Outcome {
    /// The joint moves, as texts by role.
    pub moves: Vec<Vec<String>>,
    /// The scores by role; none if the game was not played to its end.
    pub scores: Option<Vec<Score>>,
    /// What went wrong: the number of joint moves before, the role, the lapse.
    /// What went wrong before the first move has none.
    pub lapses: Vec<(Option<usize>, usize, Lapse)>,
    /// The longest time for one move, by role.
    pub slowest: Vec<Duration>,
}

impl<M: Machine> Contest<M> {
    /// Plays the match.
    ///
    /// # Errors
    ///
    /// What play shows to be wrong with the rules, [`PlayError::Interrupted`], or
    /// a player's options.
    pub fn play(mut self) -> Result<Outcome, ContestError> {
        let game = self.machine.game().clone();
        let mut table: Vec<Option<Box<dyn Contender>>> = Vec::new();
        for (role, spec) in game.roles().zip(&self.players) {
            if game.is_random(role) {
                table.push(None);
                continue;
            }
            let brief = self.means.brief(&game, role, self.clocks, self.seed);
            let contender = SeatContender::new(brief, spec, self.clocks);
            table.push(Some(Box::new(contender.map_err(ContestError::Player)?)));
        }
        let start = self.machine.initial()?;
        let mut referee = Referee::new(Match::new(self.machine, start), Asking::InTurn, self.seed);
        let mut outcome = Outcome {
            slowest: vec![Duration::ZERO; game.role_count()],
            ..Outcome::default()
        };
        let lapses = referee.start(&mut table).into_iter().enumerate();
        outcome
            .lapses
            .extend(lapses.filter_map(|(role, lapse)| Some((None, role, lapse?))));
        let interrupt = &self.means.limits.interrupt;
        let is_interrupted = || interrupt.load(std::sync::atomic::Ordering::Relaxed);
        while outcome.moves.len() < self.most_moves {
            let Some(round) = referee.step(&mut table, is_interrupted)? else {
                outcome.scores = Some(referee.game().scores()?);
                break;
            };
            let made = outcome.moves.len();
            let lapses = round.lapses.into_iter().enumerate();
            let lapses = lapses.filter_map(|(role, lapse)| Some((Some(made), role, lapse?)));
            outcome.lapses.extend(lapses);
            for (slowest, time) in outcome.slowest.iter_mut().zip(round.times) {
                *slowest = time.max(*slowest);
            }
            let machine = referee.game().machine();
            let text = |chosen: &Move| game.text(machine.terms(), chosen.term());
            outcome.moves.push(round.joint.iter().map(text).collect());
        }
        Ok(outcome)
    }
}

/// Why there is no outcome.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ContestError {
    /// The rules, a limit, or an interrupt.
    Play(PlayError),
    /// A player's options.
    Player(String),
}

impl From<PlayError> for ContestError {
    fn from(error: PlayError) -> Self {
        ContestError::Play(error)
    }
}

impl std::fmt::Display for ContestError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ContestError::Play(error) => error.fmt(f),
            ContestError::Player(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for ContestError {}
