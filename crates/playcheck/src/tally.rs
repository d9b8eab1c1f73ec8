//! Counts over positions and terminal positions, with a shortest path to each example.

use std::cell::LazyCell;
use std::sync::Arc;

use ggp_gdl::game::{BadScore, Game, Move};
use ggp_gdl::terms::{TermId, Terms};

/// Joint moves from the initial state on.
pub(super) type Path = Vec<Vec<Move>>;

/// A position: its facts, joint moves made there, and a path to it.
pub(super) type SampledPosition = (Vec<TermId>, Vec<Vec<Move>>, Path);

/// A problem with a role's goal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum GoalFault {
    /// The role has no goal value.
    None,
    /// The role has several goal values.
    Several(Vec<TermId>),
    /// The goal value is not an integer from 0 to 100.
    Bad(TermId),
}

/// An example and the shortest path to it so far.
#[derive(Clone, Debug)]
pub(super) struct Example<T> {
    pub(super) what: T,
    pub(super) path: Arc<Path>,
}

/// Keeps the shorter of two examples.
fn keep<T>(known: &mut Option<Example<T>>, length: usize, example: impl FnOnce() -> Example<T>) {
    if known.as_ref().is_none_or(|known| length < known.path.len()) {
        *known = Some(example());
    }
}

/// The observations about one role.
#[derive(Clone, Debug, Default)]
pub(super) struct RoleTally {
    /// Whether the role had several legal moves in some position.
    pub(super) has_choice: bool,
    pub(super) best: Option<Example<u8>>,
    pub(super) sum: u64,
    /// An example of each kind of wrong goals.
    faults: [Option<Example<GoalFault>>; 3],
    /// A position without a legal move, and whether another role has a choice there.
    pub(super) stuck: Option<Example<bool>>,
}

impl RoleTally {
    /// The examples of wrong goals, one of each kind that was seen.
    pub(super) fn faults(&self) -> impl Iterator<Item = &Example<GoalFault>> {
        self.faults.iter().flatten()
    }
}

/// The observations so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub(super) positions: u64,
    /// Number of terminal positions with a score for each role.
    pub(super) scored: u64,
    pub(super) ends: u64,
    pub(super) cut: u64,
    /// Number of playouts that reached a position in which a role has no move.
    pub(super) stuck: u64,
    /// Minimum and maximum number of joint moves to a terminal position, and their total.
    pub(super) lengths: Option<(usize, usize)>,
    pub(super) moves: u64,
    /// The observations about each role.
    pub(super) roles: Vec<RoleTally>,
    /// Terminal positions with the smallest and the largest sum of scores.
    pub(super) least: Option<Example<u32>>,
    pub(super) most: Option<Example<u32>>,
    /// Positions in which several roles have a choice, and those in which one has.
    pub(super) simultaneous: Option<Example<()>>,
    pub(super) simultaneous_count: u64,
    pub(super) single: u64,
    /// Total number of joint moves that were possible in all positions.
    pub(super) choices: f64,
    /// Moves that change nothing: an example with these moves, made at the end of its path.
    pub(super) idle: Option<Example<Vec<Move>>>,
}

impl Tally {
    pub(super) fn new(roles: usize) -> Self {
        Tally {
            roles: vec![RoleTally::default(); roles],
            ..Tally::default()
        }
    }

    /// Counts a non-terminal position, given the number of legal moves of each role.
    /// Returns whether the match can go on.
    pub(super) fn position(
        &mut self,
        legal: &[usize],
        length: usize,
        path: impl FnOnce() -> Path,
    ) -> bool {
        let path = LazyCell::new(|| Arc::new(path()));
        self.positions += 1;
        let mut goes_on = true;
        let is_turn = legal.iter().any(|&count| count > 1);
        for (got, &count) in self.roles.iter_mut().zip(legal) {
            got.has_choice |= count > 1;
            if count == 0 {
                goes_on = false;
                keep(&mut got.stuck, length, || Example {
                    what: is_turn,
                    path: Arc::clone(&path),
                });
            }
        }
        self.stuck += u64::from(!goes_on);
        self.choices += legal.iter().map(|&count| count as f64).product::<f64>();
        match legal.iter().filter(|&&count| count > 1).count() {
            0 => {}
            1 => self.single += 1,
            _ => {
                self.simultaneous_count += 1;
                keep(&mut self.simultaneous, length, || Example {
                    what: (),
                    path: Arc::clone(&path),
                });
            }
        }
        goes_on
    }

    /// Counts a joint move that left the position unchanged.
    pub(super) fn idle(
        &mut self,
        joint: impl FnOnce() -> Vec<Move>,
        length: usize,
        path: impl FnOnce() -> Path,
    ) {
        keep(&mut self.idle, length, || Example {
            what: joint(),
            path: Arc::new(path()),
        });
    }

    /// Counts a terminal position, given the goal values of each role.
    pub(super) fn end(
        &mut self,
        goals: &[Vec<TermId>],
        scores: &mut Scores,
        length: usize,
        path: impl FnOnce() -> Path,
    ) {
        let path = LazyCell::new(|| Arc::new(path()));
        self.positions += 1;
        self.ends += 1;
        self.moves += length as u64;
        let (least, most) = self.lengths.unwrap_or((length, length));
        self.lengths = Some((least.min(length), most.max(length)));
        let mut sum = Some(0u32);
        let mut got = Vec::with_capacity(goals.len());
        for (role, values) in goals.iter().enumerate() {
            let score = match values[..] {
                [] => Err(GoalFault::None),
                [value] => scores.of(value).ok_or(GoalFault::Bad(value)),
                _ => Err(GoalFault::Several(values.clone())),
            };
            let score = score.or_else(|fault| scores.missing(role).ok_or(fault));
            let fault = match score {
                Ok(score) => {
                    got.push(score);
                    sum = sum.map(|sum| sum + u32::from(score));
                    continue;
                }
                Err(fault) => fault,
            };
            sum = None;
            let kind = match fault {
                GoalFault::None => 0,
                GoalFault::Several(_) => 1,
                GoalFault::Bad(_) => 2,
            };
            let known = &mut self.roles[role].faults[kind];
            keep(known, length, || Example {
                what: fault,
                path: Arc::clone(&path),
            });
        }
        let Some(sum) = sum else {
            return;
        };
        self.scored += 1;
        for (role, score) in self.roles.iter_mut().zip(got) {
            role.sum += u64::from(score);
            if role.best.as_ref().is_none_or(|best| score >= best.what) {
                let more = role.best.as_ref().is_none_or(|best| score > best.what);
                if more {
                    role.best = None;
                }
                keep(&mut role.best, length, || Example {
                    what: score,
                    path: Arc::clone(&path),
                });
            }
        }
        let beyond = |known: &Option<Example<u32>>, better: fn(u32, u32) -> bool| {
            known.as_ref().is_none_or(|known| {
                better(sum, known.what) || sum == known.what && length < known.path.len()
            })
        };
        if beyond(&self.least, |sum, known| sum < known) {
            self.least = Some(Example {
                what: sum,
                path: Arc::clone(&path),
            });
        }
        if beyond(&self.most, |sum, known| sum > known) {
            self.most = Some(Example {
                what: sum,
                path: Arc::clone(&path),
            });
        }
    }

    /// Whether a role had wrong goals.
    pub(super) fn has_fault(&self) -> bool {
        self.roles.iter().any(|role| role.faults().count() > 0)
    }

    /// Counts a playout that was stopped early.
    pub(super) fn cut(&mut self) {
        self.cut += 1;
    }
}

/// The scores of goal values.
pub(super) struct Scores {
    game: Game,
    terms: Terms,
    known: rustc_hash::FxHashMap<TermId, Option<u8>>,
}

impl Scores {
    pub(super) fn new(game: &Game, terms: &Terms) -> Self {
        Scores {
            game: game.clone(),
            terms: terms.clone(),
            known: rustc_hash::FxHashMap::default(),
        }
    }

    /// The score of a role without exactly one: 0 for chance.
    fn missing(&self, role: usize) -> Option<u8> {
        let role = self.game.roles().nth(role)?;
        self.game.is_random(role).then_some(0)
    }

    /// The score, if the value is one.
    pub(super) fn of(&mut self, value: TermId) -> Option<u8> {
        if let Some(known) = self.known.get(&value) {
            return *known;
        }
        if !self.terms.knows(value) {
            self.terms.refresh();
        }
        let score: Result<_, BadScore> = self.game.score(&self.terms, value);
        let score = score.ok().map(ggp_gdl::game::Score::get);
        self.known.insert(value, score);
        score
    }
}
