//! Matches, each as it is written down.
//!
//! In: a game, a [`Contender`] for each role, a seed. Out: moves, scores, and what
//! went wrong. Agents without clocks play the same match with the same seed.

use ggp_stop::Stop;
use std::time::{Duration, Instant};

use super::referee::{Asked, Asking, Contender, Lapse, Referee, Table};
use super::{AgentSpec, Brief, Match, Origin, Seat};
use ggp_engine::machine::{Limits, Machine, PlayError};
use ggp_gdl::game::{Game, Move, RoleId, Score};

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
            _ if !answer.finished => Err(Lapse::Late),
            _ => Err(Lapse::Illegal(String::new())),
        }
    }
}

/// A match that is to be played.
#[derive(Clone, Debug)]
pub struct Contest<M> {
    /// Who says what is legal.
    pub machine: M,
    /// Whether contenders think at the same time.
    pub asking: Asking,
    /// The seed of moves that are drawn.
    pub seed: u64,
    /// Joint moves after which the match is broken off.
    pub most_moves: usize,
    /// Raised from outside to break it off.
    pub stop: Stop,
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
    /// Plays the match. Contenders hear how it ends.
    ///
    /// # Errors
    ///
    /// What play shows to be wrong with the rules, or [`PlayError::Interrupted`].
    pub fn play(mut self, table: &mut Table<'_>) -> Result<Outcome, PlayError> {
        let start = self.machine.initial()?;
        let mut referee = Referee::new(Match::new(self.machine, start), self.asking, self.seed);
        let mut outcome = Outcome {
            slowest: vec![Duration::ZERO; table.len()],
            ..Outcome::default()
        };
        let lapses = referee.start(table).into_iter().enumerate();
        outcome
            .lapses
            .extend(lapses.filter_map(|(role, lapse)| Some((None, role, lapse?))));
        let is_interrupted = || self.stop.is_raised();
        let ended = loop {
            if outcome.moves.len() >= self.most_moves {
                break Ok(());
            }
            match referee.step(table, is_interrupted) {
                Err(error) => break Err(error),
                Ok(None) => match referee.game().scores() {
                    Err(error) => break Err(error),
                    Ok(scores) => {
                        outcome.scores = Some(scores);
                        break Ok(());
                    }
                },
                Ok(Some(round)) => {
                    let made = outcome.moves.len();
                    let lapses = round.lapses.into_iter().enumerate();
                    let lapses =
                        lapses.filter_map(|(role, lapse)| Some((Some(made), role, lapse?)));
                    outcome.lapses.extend(lapses);
                    for (slowest, time) in outcome.slowest.iter_mut().zip(round.times) {
                        *slowest = time.max(*slowest);
                    }
                    outcome.moves.push(referee.last().to_vec());
                }
            }
        };
        match outcome.scores {
            Some(_) => referee.stop(table),
            None => referee.abort(table),
        }
        ended.map(|()| outcome)
    }
}
