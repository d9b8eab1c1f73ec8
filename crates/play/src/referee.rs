//! A match between any contenders, one joint move at a time.
//!
//! In: a match, and for each role a [`Contender`] or none (chance). Out: joint moves and
//! lapses. A role without a contender, or whose contender offers no legal move, gets a random
//! legal move; the seed makes a match reproducible. In games with `sees`, a contender gets
//! its own moves and percepts and nothing else. Clocks are up to the contenders; records are
//! not kept here.

use ggp_stop::Instant;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::observation::sees_all;
use super::{Chance, Match, News, Observation};
use ggp_engine::machine::{Machine, PlayError};
use ggp_gdl::game::{Move, RoleId};
use ggp_gdl::terms::{TermId, Terms};

/// The reason why a contender has no legal move to offer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Lapse {
    /// It did not answer in time.
    Late,
    /// It could not be reached, or the connection broke.
    Unreachable,
    /// Its answer is not a legal move.
    Illegal(String),
    /// It failed.
    Crashed(String),
}

/// The form in match records: `TO`, `CE`, `IL` with the answer, `CR` with the reason.
impl fmt::Display for Lapse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Lapse::Late => f.write_str("TO"),
            Lapse::Unreachable => f.write_str("CE"),
            Lapse::Illegal(answer) => write!(f, "IL {answer}"),
            Lapse::Crashed(reason) => write!(f, "CR {reason}"),
        }
    }
}

/// The position in which a contender must choose.
#[derive(Copy, Clone, Debug)]
pub struct Position<'a> {
    /// The news of the last turn.
    pub news: &'a News,
    /// The contender's legal moves, at least one.
    pub legal: &'a [Move],
    /// A view of the terms that includes all these moves.
    pub terms: &'a Terms,
    role: RoleId,
    sees_all: bool,
    past: &'a Past,
}

impl Position<'_> {
    /// The number of joint moves so far.
    pub fn turn(&self) -> usize {
        self.past.joint_moves.len()
    }

    /// Everything that the contender's role knows here.
    pub fn observation(&self) -> Observation {
        let Past {
            joint_moves,
            percepts,
        } = self.past;
        let Some(percepts) = percepts.as_ref().filter(|_| !self.sees_all) else {
            return Observation::of_joint_moves(self.role, &joint_moves[..]);
        };
        let role = self.role.index();
        let own: Vec<Move> = joint_moves.iter().map(|joint| joint[role]).collect();
        let percepts: Vec<_> = percepts.iter().map(|all| all[role].clone()).collect();
        Observation::of_percepts(own, percepts)
    }
}

/// The match so far. Contenders do not see it as a whole.
#[derive(Clone, Debug)]
struct Past {
    joint_moves: Vec<Vec<Move>>,
    /// The percepts by turn and role, in games with `sees`.
    percepts: Option<Vec<Vec<Vec<TermId>>>>,
}

/// A program that plays one role and keeps its own clock.
///
/// All methods return soon after the time is up or the match is interrupted.
pub trait Contender: Send {
    /// Prepares for the match.
    ///
    /// # Errors
    ///
    /// The lapse. The match continues nevertheless.
    fn start(&mut self) -> Result<(), Lapse>;

    /// Chooses a move.
    ///
    /// # Errors
    ///
    /// The reason why it has no legal move.
    fn choose(&mut self, position: &Position<'_>) -> Result<Move, Lapse>;

    /// Called when the game is over, with the news of the last turn.
    fn stop(&mut self, _news: &News) {}

    /// Called when the match is aborted.
    fn abort(&mut self) {}
}

/// The order in which contenders think.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Asking {
    /// Contenders think one after another, so that they do not compete for processors.
    InTurn,
    /// All contenders think at once.
    AtOnce,
}

/// A joint move with lapses and times.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Round {
    /// One move for each role.
    pub joint: Vec<Move>,
    /// The lapses by role.
    pub lapses: Vec<Option<Lapse>>,
    /// The thinking times by role.
    pub times: Vec<Duration>,
}

/// One contender for each role; `None` where chance moves.
pub type Contenders<'a> = [Option<Box<dyn Contender + 'a>>];

/// A match in progress between contenders.
#[derive(Debug)]
pub struct Referee<M: Machine> {
    game: Match<M>,
    past: Past,
    asking: Asking,
    seed: u64,
}

impl<M: Machine> Referee<M> {
    /// A referee for a match that may already have begun.
    pub fn new(game: Match<M>, asking: Asking, seed: u64) -> Self {
        let plies = || game.history().plies();
        let is_hidden = game.machine.game().is_hidden();
        let percepts = || plies().map(|ply| ply.percepts.clone()).collect();
        Referee {
            past: Past {
                joint_moves: plies().map(|ply| ply.joint.clone()).collect(),
                percepts: is_hidden.then(percepts),
            },
            game,
            asking,
            seed,
        }
    }

    /// The texts of moves in the spelling of the rules.
    fn texts(&self, joint: &[Move]) -> Vec<String> {
        let machine = &self.game.machine;
        let text = |chosen: &Move| machine.game().text(machine.terms(), chosen.term());
        joint.iter().map(text).collect()
    }

    /// The texts of the last joint move in the spelling of the rules; empty before the first.
    pub fn last(&self) -> Vec<String> {
        let last = self.played().last();
        last.map_or(Vec::new(), |joint| self.texts(joint))
    }

    /// The texts of all joint moves so far.
    pub fn texts_so_far(&self) -> Vec<Vec<String>> {
        self.played()
            .iter()
            .map(|joint| self.texts(joint))
            .collect()
    }

    /// The news for a role after `turn` joint moves.
    ///
    /// # Panics
    ///
    /// If fewer were made.
    pub fn news(&self, role: RoleId, turn: usize) -> News {
        let history = self.game.history();
        let last = turn.checked_sub(1).map(|before| &*history.plies[before]);
        News::new(&self.game.machine, role, turn, last)
    }

    /// The news of the last turn for each role that has a contender.
    fn latest(&self, contenders: &Contenders<'_>) -> Vec<Option<News>> {
        let roles = self.game.machine.game().roles();
        let news = roles.zip(contenders).map(|(role, contender)| {
            let contender = contender.as_ref();
            contender.map(|_| self.news(role, self.past.joint_moves.len()))
        });
        news.collect()
    }

    /// The match.
    pub fn game(&mut self) -> &mut Match<M> {
        &mut self.game
    }

    /// The joint moves so far.
    pub fn played(&self) -> &[Vec<Move>] {
        &self.past.joint_moves
    }

    /// Lets all contenders prepare. The result has their lapses by role.
    pub fn start(&self, contenders: &mut Contenders<'_>) -> Vec<Option<Lapse>> {
        let started = ask(self.asking, contenders, |_, contender| contender.start());
        let lapse = |answer: Option<(Result<(), Lapse>, Duration)>| answer?.0.err();
        started.into_iter().map(lapse).collect()
    }

    /// Asks all contenders for a move and makes the joint move. Returns `None` if the game is
    /// over.
    ///
    /// # Errors
    ///
    /// Those of the machine, and [`PlayError::Interrupted`] if `is_interrupted` returns true
    /// after all have answered. The match is unchanged then.
    pub fn step(
        &mut self,
        contenders: &mut Contenders<'_>,
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
        let mut round = Round {
            joint: self.draw(&legal),
            lapses: vec![None; legal.len()],
            times: vec![Duration::ZERO; legal.len()],
        };
        let (past, news) = (&self.past, self.latest(contenders));
        let terms = self.game.machine.terms();
        let game = self.game.machine.game();
        let ids: Vec<RoleId> = game.roles().collect();
        let answers = ask(self.asking, contenders, |role, contender| {
            contender.choose(&Position {
                news: news[role].as_ref().expect("a contender has news"),
                legal: &legal[role],
                terms,
                role: ids[role],
                sees_all: sees_all(game, ids[role]),
                past,
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
                    let answer = self.texts(&[chosen]).concat();
                    round.lapses[role] = Some(Lapse::Illegal(answer));
                }
                Err(lapse) => round.lapses[role] = Some(lapse),
            }
        }
        if is_interrupted() {
            return Err(PlayError::Interrupted);
        }
        self.game.play(round.joint.clone())?;
        self.past.joint_moves.push(round.joint.clone());
        if let (Some(percepts), Some(ply)) =
            (&mut self.past.percepts, self.game.history().plies().last())
        {
            percepts.push(ply.percepts.clone());
        }
        Ok(Some(round))
    }

    /// A random legal move for each role, by the seed and the turn.
    fn draw(&self, legal: &[Vec<Move>]) -> Vec<Move> {
        let made = self.past.joint_moves.len();
        if self.past.percepts.is_some() {
            // The move that one role gets does not depend on the legal moves of others.
            let chance = Chance::new(self.seed);
            let drawn = legal.iter().enumerate();
            let drawn = drawn.map(|(role, legal)| legal[chance.draw(made, role, legal.len())]);
            return drawn.collect();
        }
        let seed = self.seed ^ (made as u64).rotate_left(32);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let drawn = legal
            .iter()
            .map(|legal| legal[random.random_range(0..legal.len())]);
        drawn.collect()
    }

    /// Notifies all contenders that the game is over.
    pub fn stop(&self, contenders: &mut Contenders<'_>) {
        let news = self.latest(contenders);
        ask(self.asking, contenders, |role, contender| {
            contender.stop(news[role].as_ref().expect("a contender has news"));
        });
    }

    /// Notifies all contenders that the match is aborted.
    pub fn abort(&self, contenders: &mut Contenders<'_>) {
        ask(self.asking, contenders, |_, contender| contender.abort());
    }
}

/// Calls a contender and measures its time.
fn timed<T>(
    role: usize,
    contender: &mut Box<dyn Contender + '_>,
    question: &impl Fn(usize, &mut dyn Contender) -> T,
) -> (T, Duration) {
    let start = Instant::now();
    let answer = question(role, &mut **contender);
    (answer, start.elapsed())
}

/// Calls all contenders and measures their times.
fn ask<T: Send>(
    asking: Asking,
    contenders: &mut Contenders<'_>,
    question: impl Fn(usize, &mut dyn Contender) -> T + Sync,
) -> Vec<Option<(T, Duration)>> {
    let question = &question;
    let contenders = contenders.iter_mut().enumerate();
    if asking == Asking::InTurn {
        let asked = contenders.map(|(role, contender)| {
            let contender = contender.as_mut()?;
            Some(timed(role, contender, question))
        });
        return asked.collect();
    }
    let waiting: Vec<_> = contenders
        .map(|(role, contender)| Some((role, Mutex::new(contender.as_mut()?))))
        .collect();
    let ask_one = |role, waiting: &Mutex<&mut Box<_>>| {
        let mut contender = waiting.lock().unwrap_or_else(PoisonError::into_inner);
        timed(role, *contender, question)
    };
    let ask_one = &ask_one;
    std::thread::scope(|scope| {
        let asked = waiting.iter().map(|waiting| {
            let (role, waiting) = waiting.as_ref()?;
            let start = std::thread::Builder::new();
            let thread = start.spawn_scoped(scope, move || ask_one(*role, waiting));
            Some((*role, waiting, thread))
        });
        let asked: Vec<_> = asked.collect();
        let answers = asked.into_iter().map(|asked| {
            let (role, waiting, thread) = asked?;
            Some(match thread {
                Ok(thread) => thread.join().expect("contenders catch their panics"),
                // The system gives no more threads.
                Err(_) => ask_one(role, waiting),
            })
        });
        answers.collect()
    })
}
