//! Whole matches between contenders.
//!
//! In: a game, a [`Contender`] for each role, a seed. Out: moves, scores and lapses. Agents
//! without clocks play the same match with the same seed.

use ggp_stop::{Instant, Stop};
use std::sync::Arc;
use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

#[cfg(feature = "tables")]
use super::Tables;
use super::referee::{Asking, Contender, Contenders, Lapse, Position, Referee};
use super::{AgentSpec, AgentThread, Brief, Match, Origin, SpecError};
use ggp_engine::machine::{Limits, Machine, PlayError};
use ggp_gdl::game::{Game, Move, RoleId, Score};

/// The clocks of a match; `None` means no limit.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Clocks {
    /// The time before the first move.
    pub start: Option<Duration>,
    /// The time for each move.
    pub play: Option<Duration>,
}

/// The resources of an agent apart from time.
#[derive(Clone, Debug)]
pub struct Resources {
    /// The most threads that search at once.
    pub threads: usize,
    /// The most bytes for search tables.
    pub memory_bytes: u64,
    /// Learned values of games.
    pub values: Arc<ggp_learn::Library>,
    /// Values of all positions of games.
    #[cfg(feature = "tables")]
    pub tables: Arc<Tables>,
    /// Limits for machines. The interrupt ends the match.
    pub limits: Limits,
}

impl Resources {
    /// The brief of an agent that plays a role.
    pub fn brief(&self, game: &Game, role: RoleId, clocks: Clocks, seed: u64) -> Brief {
        Brief {
            play_clock: clocks.play,
            threads: self.threads,
            memory_bytes: self.memory_bytes,
            values: Arc::clone(&self.values),
            #[cfg(feature = "tables")]
            tables: Arc::clone(&self.tables),
            // Each role has its own random numbers.
            seed: seed.wrapping_add((role.index() as u64 + 1) << 32),
            limits: Limits {
                threads: self.threads,
                ..self.limits.clone()
            },
            ..Brief::new(game, role)
        }
    }
}

/// An agent as a contender.
#[derive(Debug)]
pub struct AgentContender {
    thread: AgentThread,
    spec: AgentSpec,
    clocks: Clocks,
    roles: usize,
}

impl AgentContender {
    /// An agent that plays with these clocks.
    ///
    /// # Errors
    ///
    /// As [`AgentThread::new`].
    pub fn new(brief: Brief, spec: &AgentSpec, clocks: Clocks) -> Result<Self, SpecError> {
        Ok(AgentContender {
            roles: brief.game.role_count(),
            thread: AgentThread::new(brief, spec)?,
            spec: spec.clone(),
            clocks,
        })
    }
}

impl Contender for AgentContender {
    fn start(&mut self) -> Result<(), Lapse> {
        let deadline = self.clocks.start.map(|clock| Instant::now() + clock);
        match self.thread.begin(deadline) {
            // An agent that is not ready yet continues during its first move.
            None => Ok(()),
            Some(error) => Err(Lapse::Crashed(error.to_string())),
        }
    }

    fn choose(&mut self, position: &Position<'_>) -> Result<Move, Lapse> {
        if let ([only], 2..) = (position.legal, self.roles) {
            return Ok(*only);
        }
        let end = self.clocks.play.map(|clock| Instant::now() + clock);
        let observation = position.observation();
        let answer = self.thread.choose_within(&self.spec, &observation, end);
        if let Some(error) = answer.error {
            return Err(Lapse::Crashed(error.to_string()));
        }
        match answer.advice {
            Some(advice) if answer.origin != Origin::Random => Ok(advice.chosen),
            _ if !answer.finished => Err(Lapse::Late),
            _ => Err(Lapse::Illegal(String::new())),
        }
    }
}

/// Random joint moves before the first choice of a contender.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Opening {
    /// The least and the greatest number of joint moves.
    pub moves: (usize, usize),
    /// The seed of the number and of the moves. Equal seeds give equal openings.
    pub seed: u64,
}

/// A match to play.
#[derive(Clone, Debug)]
pub struct Contest<M> {
    /// The machine that evaluates the rules.
    pub machine: M,
    /// The order in which contenders think.
    pub asking: Asking,
    /// The seed for random moves.
    pub seed: u64,
    /// The opening. Contenders from the network cannot be given one.
    pub opening: Opening,
    /// The number of joint moves after which the match is aborted.
    pub most_moves: usize,
    /// Aborts the match when raised.
    pub stop: Stop,
}

/// The result of a match.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct MatchResult {
    /// The joint moves, as texts by role.
    pub moves: Vec<Vec<String>>,
    /// The number of joint moves of the opening.
    pub opening: usize,
    /// The scores by role; `None` if the match was aborted.
    pub scores: Option<Vec<Score>>,
    /// The error that ended the match: a fault in the rules, or a limit that they pass.
    pub fault: Option<PlayError>,
    /// The lapses: the number of joint moves before, the role, the lapse. A lapse while
    /// contenders prepare has no number.
    pub lapses: Vec<(Option<usize>, usize, Lapse)>,
    /// The longest time for one move, by role.
    pub slowest: Vec<Duration>,
}

impl<M: Machine> Contest<M> {
    /// Plays the match and notifies the contenders of its end.
    ///
    /// # Errors
    ///
    /// [`PlayError::Interrupted`], or an error in the rules before contenders choose.
    pub fn play(mut self, contenders: &mut Contenders<'_>) -> Result<MatchResult, PlayError> {
        let start = self.machine.initial()?;
        let mut game = Match::new(self.machine, start);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.opening.seed);
        let (least, most) = self.opening.moves;
        game.open(random.random_range(least..=most.max(least)), &mut random)?;
        let mut referee = Referee::new(game, self.asking, self.seed);
        let mut result = MatchResult {
            moves: referee.texts_so_far(),
            opening: referee.played().len(),
            slowest: vec![Duration::ZERO; contenders.len()],
            ..MatchResult::default()
        };
        let lapses = referee.start(contenders).into_iter().enumerate();
        result
            .lapses
            .extend(lapses.filter_map(|(role, lapse)| Some((None, role, lapse?))));
        let is_interrupted = || self.stop.is_raised();
        let ended = loop {
            if result.moves.len() >= self.most_moves {
                break Ok(());
            }
            match referee.step(contenders, is_interrupted) {
                Err(error) => break Err(error),
                Ok(None) => match referee.game().scores() {
                    Err(error) => break Err(error),
                    Ok(scores) => {
                        result.scores = Some(scores);
                        break Ok(());
                    }
                },
                Ok(Some(round)) => {
                    let made = result.moves.len();
                    let lapses = round.lapses.into_iter().enumerate();
                    let lapses =
                        lapses.filter_map(|(role, lapse)| Some((Some(made), role, lapse?)));
                    result.lapses.extend(lapses);
                    for (slowest, time) in result.slowest.iter_mut().zip(round.times) {
                        *slowest = time.max(*slowest);
                    }
                    result.moves.push(referee.last());
                }
            }
        };
        match result.scores {
            Some(_) => referee.stop(contenders),
            None => referee.abort(contenders),
        }
        match ended {
            Err(PlayError::Interrupted) => Err(PlayError::Interrupted),
            ended => Ok(MatchResult {
                fault: ended.err(),
                ..result
            }),
        }
    }
}
