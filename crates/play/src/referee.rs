//! A match among contenders, whoever they are.
//!
//! In: a match, and for each role a [`Contender`] or nobody. Out: one joint move
//! at a time, with what went wrong. Who has no legal move to offer has one drawn,
//! by a seed, so that a match can be played again. Not done here: clocks, which
//! are the contenders', and records.

use std::fmt;
use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::Match;
use ggp_engine::machine::{Machine, PlayError};
use ggp_gdl::game::Move;
use ggp_gdl::terms::Terms;

/// Why a contender has no legal move to offer, or did not answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Lapse {
    /// It did not answer in time.
    Late,
    /// It could not be reached, or the connection broke.
    Unreachable,
    /// Its answer is no legal move.
    Illegal(String),
    /// It failed.
    Crashed(String),
}

/// As match records have it: `TO`, `CE`, `IL` and what was said, `CR` and why.
impl fmt::Display for Lapse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Lapse::Late => f.write_str("TO"),
            Lapse::Unreachable => f.write_str("CE"),
            Lapse::Illegal(said) => write!(f, "IL {said}"),
            Lapse::Crashed(why) => write!(f, "CR {why}"),
        }
    }
}

/// What a contender is asked.
#[derive(Copy, Clone, Debug)]
pub struct Asked<'a> {
    /// The joint moves so far.
    pub played: &'a [Vec<Move>],
    /// The last of them, as the rules spell it; nothing before the first.
    pub last: &'a [String],
    /// Its legal moves, at least one.
    pub legal: &'a [Move],
    /// A view that knows all these moves.
    pub terms: &'a Terms,
}

/// Who plays a role, and keeps its clock.
///
/// All methods come back soon after the time is up or the match is interrupted.
pub trait Contender: Send {
    /// Makes ready.
    ///
    /// # Errors
    ///
    /// The lapse. The match goes on with it nevertheless.
    fn start(&mut self) -> Result<(), Lapse>;

    /// Chooses a move.
    ///
    /// # Errors
    ///
    /// Why it has none.
    fn choose(&mut self, asked: &Asked<'_>) -> Result<Move, Lapse>;

    /// Hears that the match is over, and the last joint move.
    fn stop(&mut self, _last: &[String]) {}

    /// Hears that the match ends before its time.
    fn abort(&mut self) {}
}

/// Whether contenders think at the same time.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Asking {
    /// One after another, so that none takes processors from another.
    InTurn,
    /// All at once.
    AtOnce,
}

/// A joint move, and how it came about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Round {
    /// One move for each role.
    pub joint: Vec<Move>,
    /// What went wrong, by role.
    pub lapses: Vec<Option<Lapse>>,
    /// How long each role took.
    pub times: Vec<Duration>,
}

/// One contender for each role; nobody where chance moves.
pub type Table<'a> = [Option<Box<dyn Contender + 'a>>];

/// Sees to it that a match goes on.
#[derive(Debug)]
pub struct Referee<M: Machine> {
    game: Match<M>,
    played: Vec<Vec<Move>>,
    last: Vec<String>,
    asking: Asking,
    seed: u64,
}

impl<M: Machine> Referee<M> {
    /// For a match that has got so far.
    pub fn new(game: Match<M>, asking: Asking, seed: u64) -> Self {
        let plies = game.history().plies();
        let mut referee = Referee {
            played: plies.map(|ply| ply.joint.clone()).collect(),
            last: Vec::new(),
            game,
            asking,
            seed,
        };
        let last = referee.played.last().cloned();
        referee.last = last.map_or(Vec::new(), |joint| referee.texts(&joint));
        referee
    }

    /// A joint move as the rules spell it.
    fn texts(&mut self, joint: &[Move]) -> Vec<String> {
        let machine = self.game.machine();
        let text = |chosen: &Move| machine.game().text(machine.terms(), chosen.term());
        joint.iter().map(text).collect()
    }

    /// The last joint move, as the rules spell it; nothing before the first.
    pub fn last(&self) -> &[String] {
        &self.last
    }

    /// The match.
    pub fn game(&mut self) -> &mut Match<M> {
        &mut self.game
    }

    /// The joint moves so far.
    pub fn played(&self) -> &[Vec<Move>] {
        &self.played
    }

    /// Lets all make ready. The result has what went wrong, by role.
    pub fn start(&self, table: &mut Table<'_>) -> Vec<Option<Lapse>> {
        let started = ask(self.asking, table, |_, contender| contender.start());
        let lapse = |answer: Option<(Result<(), Lapse>, Duration)>| answer?.0.err();
        started.into_iter().map(lapse).collect()
    }

    /// Asks all for a move and makes the joint move; nothing if the game is over.
    ///
    /// # Errors
    ///
    /// Those of play, and [`PlayError::Interrupted`] if `is_interrupted` says so
    /// when all have answered. Nothing is changed then.
    pub fn step(
        &mut self,
        table: &mut Table<'_>,
        is_interrupted: impl Fn() -> bool,
    ) -> Result<Option<Round>, PlayError> {
        if self.game.is_over()? {
            return Ok(None);
        }
        let state = self.game.history().state().clone();
        let roles = self.game.machine().game().roles();
        let mut legal = Vec::with_capacity(roles.len());
        for role in roles {
            let mut moves = Vec::new();
            self.game.machine().legal(&state, role, &mut moves)?;
            legal.push(moves);
        }
        // Whatever happened before, a state draws the same moves.
        let ply = self.played.len() as u64;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.seed ^ ply.rotate_left(32));
        let drawn = legal
            .iter()
            .map(|legal| legal[random.random_range(0..legal.len())]);
        let mut round = Round {
            joint: drawn.collect(),
            lapses: vec![None; legal.len()],
            times: vec![Duration::ZERO; legal.len()],
        };
        let (played, last) = (&self.played[..], &self.last[..]);
        let terms = self.game.machine.terms();
        let answers = ask(self.asking, table, |role, contender| {
            contender.choose(&Asked {
                played,
                last,
                legal: &legal[role],
                terms,
            })
        });
        for (role, answer) in answers.into_iter().enumerate() {
            let Some((answer, time)) = answer else {
                continue;
            };
            round.times[role] = time;
            match answer {
                Ok(chosen) if legal[role].contains(&chosen) => round.joint[role] = chosen,
                Ok(chosen) => {
                    let said = self.texts(&[chosen]).concat();
                    round.lapses[role] = Some(Lapse::Illegal(said));
                }
                Err(lapse) => round.lapses[role] = Some(lapse),
            }
        }
        if is_interrupted() {
            return Err(PlayError::Interrupted);
        }
        self.game.play(round.joint.clone())?;
        self.last = self.texts(&round.joint);
        self.played.push(round.joint.clone());
        Ok(Some(round))
    }

    /// Tells all that the match is over.
    pub fn stop(&self, table: &mut Table<'_>) {
        let last = &self.last[..];
        ask(self.asking, table, |_, contender| contender.stop(last));
    }

    /// Tells all that the match ends before its time.
    pub fn abort(&self, table: &mut Table<'_>) {
        ask(self.asking, table, |_, contender| contender.abort());
    }
}

/// Asks all, and measures how long each took.
fn ask<T: Send>(
    asking: Asking,
    table: &mut Table<'_>,
    question: impl Fn(usize, &mut dyn Contender) -> T + Sync,
) -> Vec<Option<(T, Duration)>> {
    let timed = |role: usize, contender: &mut dyn Contender| {
        let start = Instant::now();
        let answer = question(role, contender);
        (answer, start.elapsed())
    };
    let seats = table.iter_mut().enumerate();
    if asking == Asking::InTurn {
        let asked = seats.map(|(role, seat)| Some(timed(role, seat.as_deref_mut()?)));
        return asked.collect();
    }
    std::thread::scope(|scope| {
        let timed = &timed;
        let asked = seats.map(|(role, seat)| {
            let contender = seat.as_deref_mut()?;
            Some(scope.spawn(move || timed(role, contender)))
        });
        let asked: Vec<_> = asked.collect();
        let answers = asked.into_iter();
        answers
            .map(|thread| Some(thread?.join().expect("contenders catch their panics")))
            .collect()
    })
}
