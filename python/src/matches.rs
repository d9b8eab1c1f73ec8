//! Matches between players.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pyo3::exceptions::{PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{Error, play_error};
use crate::game::{Game, seconds};
use crate::interrupt::{interruptible, within};
use crate::player::spec;
use crate::shared::{Shared, seed_or_drawn};
use crate::state::State;
use crate::view::View;
use ggp_engine::machine::{Limits, Machine, PlayError};
use ggp_gdl::game::{Move, RoleId};
use ggp_play::contest::{AgentContender, Clocks, Contest, MatchResult, Opening, Resources};
use ggp_play::referee::{Asking, Contender, Lapse, Position};
use ggp_play::tournament::ResultsError;
use ggp_play::{AgentSpec, SpecError};
use ggp_stop::{Instant, Stop};

/// The conditions of matches.
pub struct Conditions {
    clocks: Clocks,
    most_moves: usize,
    resources: Resources,
    /// The first exception that a function has raised. It ends all matches.
    raised: Mutex<Option<PyErr>>,
}

impl Conditions {
    /// The conditions of matches with these clocks, threads and megabytes for each player.
    pub fn new(
        clocks: Clocks,
        most_moves: usize,
        threads: usize,
        memory: u64,
        stop: &Stop,
    ) -> Self {
        Conditions {
            clocks,
            most_moves,
            resources: Resources {
                threads: threads.max(1),
                memory_bytes: memory.saturating_mul(1 << 20),
                values: Arc::default(),
                tables: Arc::default(),
                limits: Limits {
                    stop: stop.clone(),
                    ..Limits::default()
                },
            },
            raised: Mutex::default(),
        }
    }

    /// Plays a match between players, one for each role but chance.
    pub fn play(
        &self,
        shared: &Arc<Shared>,
        players: &[&Entrant],
        seed: u64,
        opening: Opening,
    ) -> Result<MatchResult, Failure> {
        let stop = self.resources.limits.stop.clone();
        let mut contenders: Vec<Option<Box<dyn Contender + '_>>> = Vec::new();
        contenders.resize_with(shared.game.role_count(), || None);
        for ((role, entrant), player) in shared.players().into_iter().zip(players).zip(0..) {
            let contender: Box<dyn Contender + '_> = match entrant {
                Entrant::Agent(spec) => {
                    let brief = self.resources.brief(&shared.game, role, self.clocks, seed);
                    let contender = AgentContender::new(brief, spec, self.clocks);
                    Box::new(contender.map_err(Failure::Player)?)
                }
                Entrant::Function(function) => Box::new(Caller {
                    function,
                    shared,
                    role,
                    player,
                    clock: self.clocks.play,
                    raised: &self.raised,
                    stop: &stop,
                }),
            };
            contenders[role.index()] = Some(contender);
        }
        let mut machine = shared.machine().clone();
        machine.set_stop(&stop);
        let contest = Contest {
            machine,
            asking: Asking::InTurn,
            seed,
            opening,
            most_moves: self.most_moves,
            stop: stop.clone(),
        };
        contest.play(&mut contenders).map_err(Failure::Play)
    }

    /// The results of work, or the exception of a function that has ended it.
    pub fn ended<T>(self, py: Python<'_>, result: Result<T, Failure>) -> PyResult<T> {
        match self.raised.into_inner() {
            Ok(None) => result.map_err(|failure| failure.raised(py)),
            Ok(Some(error)) => Err(error),
            Err(poisoned) => Err(Error::new_err(format!("a match has failed: {poisoned}"))),
        }
    }
}

/// A player as it was given.
#[derive(FromPyObject)]
pub enum Given {
    Text(String),
    Function(Py<PyAny>),
}

/// A player.
pub enum Entrant {
    Agent(AgentSpec),
    /// A function of a state, or a view of it, and the number of the player.
    Function(Py<PyAny>),
}

impl Given {
    /// The player.
    pub fn read(self, py: Python<'_>) -> PyResult<Entrant> {
        match self {
            Given::Text(text) => Ok(Entrant::Agent(spec(&text)?)),
            Given::Function(function) if function.bind(py).is_callable() => {
                Ok(Entrant::Function(function))
            }
            Given::Function(other) => Err(PyTypeError::new_err(format!(
                "a player is a text or a function of a state and a player, not {}",
                other.bind(py).repr()?
            ))),
        }
    }
}

/// A function of Python in a match.
struct Caller<'a> {
    function: &'a Py<PyAny>,
    shared: &'a Arc<Shared>,
    role: RoleId,
    player: i32,
    clock: Option<Duration>,
    raised: &'a Mutex<Option<PyErr>>,
    /// Ends the match.
    stop: &'a Stop,
}

impl Caller<'_> {
    /// The move that the function chooses, as a text or an action.
    fn ask(&self, py: Python<'_>, position: &Position<'_>) -> PyResult<Move> {
        let observation = position.observation();
        let seen = match observation.joint_moves() {
            Some(joint_moves) => {
                let state = State::after(py, self.shared, joint_moves)?;
                Bound::new(py, state)?.into_any()
            }
            None => {
                let view = View {
                    shared: Arc::clone(self.shared),
                    role: self.role,
                    legal: position.legal.to_vec(),
                    observation,
                    start: None,
                };
                self.shared.machine().terms_mut().refresh();
                Bound::new(py, view)?.into_any()
            }
        };
        let call = || self.function.bind(py).call1((seen, self.player));
        let answer = within(self.stop, call)?;
        let made = match (answer.extract::<String>(), answer.extract()) {
            (Ok(text), _) => self.shared.machine().read_move(&text).ok(),
            (_, Ok(action)) => self.shared.action(self.role, action).ok(),
            _ => {
                return Err(PyTypeError::new_err(format!(
                    "the function of player {} must return an action or the text of a move, not {}",
                    self.player,
                    answer.repr()?
                )));
            }
        };
        let legal = made.filter(|made| position.legal.contains(made));
        legal.ok_or_else(|| {
            PyValueError::new_err(format!(
                "the function of player {} returned {}, which is not legal",
                self.player, answer
            ))
        })
    }
}

impl Contender for Caller<'_> {
    fn start(&mut self) -> Result<(), Lapse> {
        Ok(())
    }

    fn choose(&mut self, position: &Position<'_>) -> Result<Move, Lapse> {
        if let ([only], 2..) = (position.legal, self.shared.game.role_count()) {
            return Ok(*only);
        }
        let end = self.clock.map(|clock| Instant::now() + clock);
        let answer = Python::attach(|py| self.ask(py, position));
        match answer {
            Ok(_) if end.is_some_and(|end| Instant::now() > end) => Err(Lapse::Late),
            Ok(made) => Ok(made),
            Err(error) => {
                let text = error.to_string();
                let mut raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner);
                raised.get_or_insert(error);
                self.stop.raise();
                Err(Lapse::Crashed(text))
            }
        }
    }
}

/// The clocks of arguments.
pub fn clocks(start: Option<f64>, play: Option<f64>) -> PyResult<Clocks> {
    let clock = |time: Option<f64>, name| -> PyResult<Option<Duration>> {
        time.map(|time| seconds(time, name)).transpose()
    };
    Ok(Clocks {
        start: clock(start, "start_clock")?,
        play: clock(play, "play_clock")?,
    })
}

/// The reason why a match cannot begin, or was interrupted.
pub enum Failure {
    Player(SpecError),
    Play(PlayError),
    Results(ResultsError),
}

impl Failure {
    fn raised(self, py: Python<'_>) -> PyErr {
        match self {
            Failure::Player(error) => PyValueError::new_err(error.to_string()),
            Failure::Play(error) => play_error(py, &error),
            Failure::Results(error) => PyOSError::new_err(error.to_string()),
        }
    }
}

/// Sets what a match has shown in a dictionary.
pub fn describe(shared: &Shared, played: &MatchResult, result: &Bound<'_, PyDict>) -> PyResult<()> {
    let game = &shared.game;
    let names: Vec<&str> = game.roles().map(|role| game.role_name(role)).collect();
    let lapses = played.lapses.iter().map(|(made, role, lapse)| match made {
        Some(made) => format!("move {}, {}: {lapse}", made + 1, names[*role]),
        None => format!("before the match, {}: {lapse}", names[*role]),
    });
    result.set_item("lapses", lapses.collect::<Vec<_>>())?;
    result.set_item("moves", &played.moves)?;
    result.set_item("scores", scores(played))?;
    result.set_item("fault", played.fault.as_ref().map(PlayError::to_string))
}

fn scores(played: &MatchResult) -> Option<Vec<u32>> {
    let scores = played.scores.as_ref()?;
    Some(scores.iter().map(|score| score.get().into()).collect())
}

/// Plays a match. `players` has a player for each role but chance: a text such as `"mcts:1000"`, or a
/// function of a state and the number of its player, which returns an action or the text of a move. With hidden
/// information, it gets a `View` in place of the state. Functions
/// are called on other threads than the main one. What they raise ends the match; Ctrl-C does so as
/// soon as the function that is running returns.
///
/// Clocks are in seconds; without them, players are limited by their texts alone, and equal seeds give
/// equal matches; without a seed, matches are different each time. The match begins after `opening` random joint moves, and ends after `max_moves`;
/// `memory` is in megabytes for each player. The result is a dictionary with `moves` (texts by joint
/// move and role), `scores` (by role; `None` if the match did not end), `lapses` (texts with the move, the role, and `TO`
/// for too late, `IL` for illegal or `CR` for failed: the move was made at random) and `fault`.
#[expect(clippy::too_many_arguments, reason = "they have names in Python")]
#[pyfunction]
#[pyo3(signature = (game, players, *, seed=None, start_clock=None, play_clock=None, opening=0,
    max_moves=1000, threads=1, memory=1024))]
pub fn play<'py>(
    py: Python<'py>,
    game: &Game,
    players: Vec<Given>,
    seed: Option<u64>,
    start_clock: Option<f64>,
    play_clock: Option<f64>,
    opening: usize,
    max_moves: usize,
    threads: usize,
    memory: u64,
) -> PyResult<Bound<'py, PyDict>> {
    let shared = &game.shared;
    let roles = shared.players().len();
    if players.len() != roles {
        let given = players.len();
        return Err(PyValueError::new_err(format!(
            "give one player for each role: {roles}, not {given}"
        )));
    }
    let seed = seed_or_drawn(py, seed)?;
    let stop = Stop::new();
    let clocks = clocks(start_clock, play_clock)?;
    let conditions = Conditions::new(clocks, max_moves, threads, memory, &stop);
    let players: Vec<Entrant> = players
        .into_iter()
        .map(|given| given.read(py))
        .collect::<PyResult<_>>()?;
    let players: Vec<&Entrant> = players.iter().collect();
    let opening = Opening {
        moves: (opening, opening),
        seed,
    };
    let work = || conditions.play(shared, &players, seed, opening);
    let played = interruptible(py, &stop, work)?;
    let played = conditions.ended(py, played)?;
    let result = PyDict::new(py);
    describe(shared, &played, &result)?;
    Ok(result)
}
