//! Tournaments: matches at once, or played elsewhere, and ratings.

use std::collections::{HashMap, VecDeque};
use std::ops::{Range, RangeInclusive};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use pyo3::exceptions::{PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::errors::LimitError;
use crate::game::Game;
use crate::interrupt::interruptible;
use crate::matches::{Conditions, Entrant, Failure, Given, clocks};
use crate::shared::Shared;
use ggp_engine::machine::PlayError;
use ggp_gdl::counted::counted;
use ggp_play::tournament::{
    Pairing, Plan, PlannedGame, PlannedPlayer, PlayerTally, Points, Results, ResultsError, Row,
    Task,
};
use ggp_stop::Stop;

/// The most matches of a tournament.
const MOST_MATCHES: usize = 1_000_000;
/// The most rounds of a tournament, as of `ggp tournament`, and threads of a player.
const MOST_ROUNDS: u64 = 1_000_000;
const MOST_THREADS: u64 = 1_024;

/// The games of an argument.
fn read_games(games: &Bound<'_, PyAny>) -> PyResult<Vec<Arc<Shared>>> {
    let of = |game: PyRef<'_, Game>| Arc::clone(&game.shared);
    if let Ok(game) = games.extract() {
        return Ok(vec![of(game)]);
    }
    let games: Result<Vec<PyRef<'_, Game>>, _> = games.extract();
    let games = games.map_err(|_| PyTypeError::new_err("`games` is a game or a list of games"))?;
    Ok(games.into_iter().map(of).collect())
}

/// The games with names that differ.
fn planned_games(games: &[Arc<Shared>]) -> Vec<PlannedGame> {
    let mut planned: Vec<PlannedGame> = Vec::new();
    for shared in games {
        let own = shared.game.name();
        let mut names = (2..).map(|number| format!("{own} {number}"));
        let mut name = own.clone();
        while planned.iter().any(|other| other.name == name) {
            name = names.next().unwrap_or_default();
        }
        planned.push(PlannedGame::new(name, &shared.game));
    }
    planned
}

/// The players of an argument.
fn read_players(players: &Bound<'_, PyAny>) -> PyResult<Vec<(PlannedPlayer, Entrant)>> {
    let py = players.py();
    let planned = |name: String, given: Given| {
        let text = match &given {
            Given::Text(text) => text.clone(),
            Given::Function(_) => "function".to_owned(),
        };
        Ok((PlannedPlayer { name, text }, given.read(py)?))
    };
    if let Ok(named) = players.cast::<PyDict>() {
        let read = |(name, given): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            planned(name.extract()?, given.extract()?)
        };
        return named.iter().map(read).collect();
    }
    let texts: Vec<String> = players.extract().map_err(|_| {
        let why = "`players` is a list of texts, or a dictionary of names and players";
        PyTypeError::new_err(why)
    })?;
    for (number, text) in texts.iter().enumerate() {
        if texts[..number].contains(text) {
            return Err(PyValueError::new_err(format!(
                "two players are called {text}: give names, as in {{\"a\": {text:?}}}"
            )));
        }
    }
    let texts = texts.into_iter();
    texts
        .map(|text| planned(text.clone(), Given::Text(text)))
        .collect()
}

/// The least and the greatest number of random joint moves at the beginning.
fn read_opening(opening: &Bound<'_, PyAny>) -> PyResult<(usize, usize)> {
    let range = match opening.extract::<usize>() {
        Ok(count) => Some((count, count)),
        Err(_) => opening.extract().ok(),
    };
    range.filter(|(least, most)| least <= most).ok_or_else(|| {
        PyValueError::new_err(format!(
            "opening is a number of joint moves, or two such as (2, 4), not {opening}"
        ))
    })
}

/// A whole number that was given, or what was given instead. It is read once its name is known.
#[derive(Clone)]
pub enum Number {
    Whole(u64),
    OutOfRange(String),
    Other(String),
}

impl<'py> FromPyObject<'_, 'py> for Number {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(match given.extract::<u64>() {
            Ok(number) => Number::Whole(number),
            Err(error) if error.is_instance_of::<PyTypeError>(given.py()) => {
                Number::Other(given.repr()?.to_string())
            }
            Err(_) => Number::OutOfRange(given.to_string()),
        })
    }
}

impl Number {
    /// The number, if it is in a range; `name` is that of the argument.
    fn within(&self, name: &str, range: RangeInclusive<u64>) -> PyResult<u64> {
        let given = match self {
            Number::Whole(number) if range.contains(number) => return Ok(*number),
            Number::Whole(number) => number.to_string(),
            Number::OutOfRange(text) => text.clone(),
            Number::Other(text) => {
                let why = format!("{name} is a whole number, not {text}");
                return Err(PyTypeError::new_err(why));
            }
        };
        let (least, most) = (range.start(), range.end());
        let range = match *most {
            u64::MAX => format!("{least} or more"),
            _ => format!("from {least} to {most}"),
        };
        Err(PyValueError::new_err(format!(
            "{name} is a whole number, {range}, not {given}"
        )))
    }
}

/// The arguments of a tournament.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Arguments {
    rounds: Number,
    pairing: String,
    seed: Number,
    start_clock: Option<f64>,
    play_clock: Option<f64>,
    opening: Py<PyAny>,
    max_moves: Number,
    threads: Number,
    memory: Number,
    results: Option<PathBuf>,
}

/// The most of what has no other limit.
const MOST: u64 = u64::MAX;

/// A match that is to be played: its id, and its game, round, number in the round and players by role
/// but chance, as numbers.
type Due = (String, usize, u64, usize, Vec<usize>);

/// A tournament whose matches may be played anywhere.
#[pyclass(frozen, module = "ggp._ggp", name = "_Tournament")]
pub struct Cup {
    plan: Plan,
    games: Vec<Arc<Shared>>,
    players: Vec<Entrant>,
    progress: Mutex<Progress>,
}

/// The matches of a tournament so far.
struct Progress {
    stages: VecDeque<Range<u64>>,
    /// The matches that are to be played now, in their order, and by id.
    order: Vec<String>,
    open: HashMap<String, Task>,
    rows: Vec<Row>,
    results: Results,
}

fn results_error(error: &ResultsError) -> PyErr {
    PyOSError::new_err(error.to_string())
}

#[pymethods]
impl Cup {
    #[new]
    fn new(
        py: Python<'_>,
        games: &Bound<'_, PyAny>,
        players: &Bound<'_, PyAny>,
        arguments: Arguments,
    ) -> PyResult<Self> {
        let games = read_games(games)?;
        let (planned, players): (Vec<_>, Vec<_>) = read_players(players)?.into_iter().unzip();
        if games.is_empty() {
            return Err(PyValueError::new_err("a tournament needs a game"));
        }
        for shared in &games {
            let roles = shared.players().len();
            if players.is_empty() || players.len() == 1 && roles > 1 {
                let name = shared.game.name();
                return Err(PyValueError::new_err(format!(
                    "{name} has {roles} roles: more players are needed"
                )));
            }
        }
        let opening = read_opening(arguments.opening.bind(py))?;
        let pairing = match &*arguments.pairing {
            "round-robin" => Pairing::RoundRobin,
            "swiss" => Pairing::Swiss,
            other => {
                return Err(PyValueError::new_err(format!(
                    "pairing is \"round-robin\" or \"swiss\", not {other:?}"
                )));
            }
        };
        let plan = Plan {
            games: planned_games(&games),
            players: planned,
            rounds: arguments.rounds.within("rounds", 1..=MOST_ROUNDS)?,
            pairing,
            points: Points::Result,
            clocks: clocks(arguments.start_clock, arguments.play_clock)?,
            opening,
            seed: arguments.seed.within("seed", 0..=MOST)?,
            threads: arguments.threads.within("threads", 1..=MOST_THREADS)? as usize,
            memory: arguments.memory.within("memory", 0..=MOST)?,
            most_moves: arguments.max_moves.within("max_moves", 0..=MOST)? as usize,
            most_matches: MOST_MATCHES,
            values: None,
        };
        let results = Results::open(arguments.results.as_deref());
        let results = results.map_err(|error| results_error(&error))?;
        if let Some(row) = results.rows().find(|row| !plan.has(row)) {
            let why = match plan.is_seated(row) {
                true => format!("it has {} rounds or more", row.round + 1),
                false => plan.strangeness(row),
            };
            return Err(PyValueError::new_err(format!(
                "{} has matches of another tournament ({why}): take another file",
                results.name()
            )));
        }
        Ok(Cup {
            progress: Mutex::new(Progress {
                stages: plan.stages().into(),
                order: Vec::new(),
                open: HashMap::new(),
                rows: Vec::new(),
                results,
            }),
            plan,
            games,
            players,
        })
    }

    /// The matches that may be played now; none once the tournament is over.
    fn open(&self) -> PyResult<Vec<Due>> {
        let mut progress = lock(&self.progress);
        while progress.open.is_empty()
            && let Some(rounds) = progress.stages.pop_front()
        {
            let tasks = self.plan.tasks(rounds, &progress.rows);
            let tasks = tasks.ok_or_else(|| {
                LimitError::new_err(format!("more than {}", counted(MOST_MATCHES, "match")))
            })?;
            progress.order.clear();
            for task in tasks {
                match progress.results.take(&task.row.id) {
                    Some(row) => {
                        if let Some(why) = self.contradiction(&row, &task) {
                            let (file, id) = (progress.results.name(), row.id);
                            return Err(PyValueError::new_err(format!(
                                "{file}: the match {id} has {why}; remove its line to play it again"
                            )));
                        }
                        progress.rows.push(row);
                    }
                    None => {
                        progress.order.push(task.row.id.clone());
                        progress.open.insert(task.row.id.clone(), task);
                    }
                }
            }
        }
        let due = |id: &String| {
            let task = progress.open.get(id)?;
            let seating = task.players.iter().flatten().copied().collect();
            Some((
                id.clone(),
                task.game,
                task.row.round,
                task.row.number,
                seating,
            ))
        };
        Ok(progress.order.iter().filter_map(due).collect())
    }

    /// Plays a match of this tournament: its result is a line of JSON, for `add`.
    fn play(
        &self,
        py: Python<'_>,
        game: usize,
        round: u64,
        number: usize,
        seating: Vec<usize>,
    ) -> PyResult<String> {
        let is_seat = |player: &usize| *player < self.players.len();
        let roles = self.plan.games.get(game).map(|game| game.played.len());
        if roles != Some(seating.len()) || !seating.iter().all(is_seat) {
            return Err(PyValueError::new_err("there is no such match"));
        }
        let task = self.plan.task(game, round, number, &seating);
        let stop = Stop::new();
        let conditions = self.conditions(&stop);
        let played = interruptible(py, &stop, || self.played(&task, &conditions))?;
        let row = conditions.ended(py, played)?;
        serde_json::to_string(&row).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// Adds the result of a match, and returns whether it was to be played and not added before.
    fn add(&self, line: &str) -> PyResult<bool> {
        let row: Row = serde_json::from_str(line)
            .map_err(|error| PyValueError::new_err(format!("not a match: {error}")))?;
        let mut progress = lock(&self.progress);
        let Some(task) = progress.open.get(&row.id) else {
            return Ok(false);
        };
        if let Some(why) = self.contradiction(&row, task) {
            let id = &row.id;
            return Err(PyValueError::new_err(format!(
                "the match {id} has {why}: was it played by the same version?"
            )));
        }
        progress.add(row).map_err(|error| results_error(&error))?;
        Ok(true)
    }

    /// The number of threads of each player.
    #[getter]
    fn threads(&self) -> usize {
        self.plan.threads
    }

    /// The number of matches that have been played.
    fn __len__(&self) -> usize {
        lock(&self.progress).rows.len()
    }

    /// The standings and the matches so far.
    fn result<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let mut rows = lock(&self.progress).rows.clone();
        rows.sort_by_key(|row| (row.round, self.game_of(row), row.number));
        let result = PyDict::new(py);
        result.set_item("players", self.standings(py, &rows)?)?;
        let matches = rows.iter().map(|row| self.described(py, row));
        result.set_item("matches", matches.collect::<PyResult<Vec<_>>>()?)?;
        Ok(result)
    }
}

impl Progress {
    /// Adds a match to the results.
    fn add(&mut self, row: Row) -> Result<(), ResultsError> {
        self.results.add(&row)?;
        self.open.remove(&row.id);
        self.rows.push(row);
        Ok(())
    }
}

impl Cup {
    fn game_of(&self, row: &Row) -> Option<usize> {
        self.plan
            .games
            .iter()
            .position(|game| game.name == row.game)
    }

    fn conditions(&self, stop: &Stop) -> Conditions {
        let Plan {
            clocks,
            most_moves,
            threads,
            memory,
            ..
        } = self.plan;
        Conditions::new(clocks, most_moves, threads, memory, stop)
    }

    /// Why a match is not what was to be played.
    fn contradiction(&self, row: &Row, task: &Task) -> Option<String> {
        let mut machine = self.games[task.game].machine().clone();
        row.contradiction(&task.row, &mut machine)
    }

    /// Plays a match.
    fn played(&self, task: &Task, conditions: &Conditions) -> Result<Row, Failure> {
        let seated = task.players.iter().flatten();
        let seated: Vec<&Entrant> = seated.map(|&at| &self.players[at]).collect();
        let mut row = task.row.clone();
        let shared = &self.games[task.game];
        match conditions.play(shared, &seated, row.seed, task.opening.clone()) {
            Ok(result) => row.set(result),
            Err(Failure::Play(error)) if !matches!(error, PlayError::Interrupted) => {
                row.fault = Some(error.to_string());
            }
            Err(failure) => return Err(failure),
        }
        Ok(row)
    }

    /// Plays open matches, some at once. After a failure no other match begins.
    fn play_all(&self, jobs: usize, conditions: &Conditions) -> Result<(), Failure> {
        let waiting: VecDeque<Task> = {
            let progress = lock(&self.progress);
            let tasks = progress.order.iter().filter_map(|id| progress.open.get(id));
            tasks.cloned().collect()
        };
        let jobs = jobs.clamp(1, waiting.len().max(1));
        let waiting = Mutex::new(waiting);
        let failed: Mutex<Option<Failure>> = Mutex::default();
        let work = || {
            loop {
                let next = lock(&waiting).pop_front();
                let Some(task) = next else {
                    return;
                };
                let added = self
                    .played(&task, conditions)
                    .and_then(|row| lock(&self.progress).add(row).map_err(Failure::Results));
                if let Err(failure) = added {
                    lock(&waiting).clear();
                    lock(&failed).get_or_insert(failure);
                }
            }
        };
        thread::scope(|scope| {
            // The system may give fewer threads than wanted; this one works, too.
            let builder = || thread::Builder::new().spawn_scoped(scope, work);
            let others: Vec<_> = (1..jobs).map_while(|_| builder().ok()).collect();
            work();
            for other in others {
                if let Err(panic) = other.join() {
                    std::panic::resume_unwind(panic);
                }
            }
        });
        lock(&failed).take().map_or(Ok(()), Err)
    }

    /// A match as a dictionary.
    fn described<'py>(&self, py: Python<'py>, row: &Row) -> PyResult<Bound<'py, PyDict>> {
        let one = PyDict::new(py);
        one.set_item("game", self.game_of(row))?;
        one.set_item("round", row.round)?;
        let players: Vec<&String> = row.players.iter().flatten().collect();
        one.set_item("players", players)?;
        let lapses = row.errors.iter().map(|error| {
            let (role, why) = (&row.roles[error.role], &error.error);
            match error.ply {
                Some(made) => format!("move {}, {role}: {why}", made + 1),
                None => format!("before the match, {role}: {why}"),
            }
        });
        one.set_item("lapses", lapses.collect::<Vec<_>>())?;
        one.set_item("moves", &row.moves)?;
        let scores = row.scores.as_ref().map(|scores| PyList::new(py, scores));
        one.set_item("scores", scores.transpose()?)?;
        one.set_item("fault", &row.fault)?;
        Ok(one)
    }

    /// The players, best first.
    fn standings<'py>(&self, py: Python<'py>, rows: &[Row]) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let mut players = self.plan.tally(rows).players;
        let elo = |player: &PlayerTally| player.elo.map_or(f64::NEG_INFINITY, |elo| elo.rating);
        players.sort_by(|one, other| elo(other).total_cmp(&elo(one)));
        let described = players.iter().map(|player| {
            let one = PyDict::new(py);
            one.set_item("name", &player.name)?;
            one.set_item("elo", player.elo.map(|elo| elo.rating))?;
            one.set_item("margin", player.elo.map(|elo| elo.margin))?;
            one.set_item("roles", player.roles)?;
            let met = [player.won, player.drawn, player.lost];
            for (name, count) in ["won", "drawn", "lost"].into_iter().zip(met) {
                one.set_item(name, count)?;
            }
            one.set_item("mean_score", player.mean_score)?;
            let lapses = player.late + player.unreachable + player.illegal + player.crashed;
            one.set_item("lapses", lapses)?;
            one.set_item("overbooked", player.overbooked)?;
            Ok(one)
        });
        described.collect()
    }
}

/// Plays a tournament: in each round, every group of players meets in each game once in each rotation of
/// its roles, or with `pairing="swiss"` players with similar standings meet.
///
/// `games` is a game or a list of games. `players` is a list of texts as for `ggp.Player`, or a dictionary
/// of names and players, each a text or a function as for `ggp.play`. All matches of a round with a game
/// begin with the same `opening` random joint moves, a number or a range such as `(2, 4)`. `jobs` matches are
/// played at once; clocks are in seconds, `memory` is in megabytes for each player. Without clocks and times,
/// equal seeds give equal tournaments.
///
/// Finished matches are appended to the file `results`, if there is one, and those that it has are not
/// played again. `ggp tournament` reads and writes the same lines. A function is known by its name alone:
/// give another name, or another file, after a change.
///
/// The result is a dictionary with `players`, best first, and `matches`. A player has a `name`, `elo`
/// with its `margin` (95 %; `None` without an opponent), `roles` (that it played), `won`, `drawn`, `lost` (meetings
/// with others), `mean_score`, `lapses` and `overbooked`: those of its late moves that may be the machine's
/// fault, which only `ggp.ray` measures. In a game for one role, the game is the opponent. A match
/// has the number of its `game`, its `round`, the names of its `players`, and what `ggp.play` returns.
#[expect(clippy::too_many_arguments, reason = "they have names in Python")]
#[pyfunction]
#[pyo3(signature = (games, players, *, rounds=Number::Whole(1), pairing="round-robin", seed=Number::Whole(0), start_clock=None,
    play_clock=None, opening=None, max_moves=Number::Whole(1000), jobs=Number::Whole(1),
    threads=Number::Whole(1), memory=Number::Whole(256), results=None), text_signature = "(games, players, *, rounds=1, pairing=\"round-robin\", seed=0, \
    start_clock=None, play_clock=None, opening=0, max_moves=1000, jobs=1, threads=1, memory=256, results=None)")]
pub fn tournament<'py>(
    py: Python<'py>,
    games: &Bound<'py, PyAny>,
    players: &Bound<'py, PyAny>,
    rounds: Number,
    pairing: &str,
    seed: Number,
    start_clock: Option<f64>,
    play_clock: Option<f64>,
    opening: Option<Py<PyAny>>,
    max_moves: Number,
    jobs: Number,
    threads: Number,
    memory: Number,
    results: Option<PathBuf>,
) -> PyResult<Bound<'py, PyDict>> {
    let jobs = jobs.within("jobs", 1..=MOST)? as usize;
    let arguments = Arguments {
        rounds,
        pairing: pairing.to_owned(),
        seed,
        start_clock,
        play_clock,
        opening: match opening {
            Some(opening) => opening,
            None => 0_usize.into_pyobject(py)?.into_any().unbind(),
        },
        max_moves,
        threads,
        memory,
        results,
    };
    let cup = Cup::new(py, games, players, arguments)?;
    while !cup.open()?.is_empty() {
        let stop = Stop::new();
        let conditions = cup.conditions(&stop);
        let played = interruptible(py, &stop, || cup.play_all(jobs, &conditions))?;
        conditions.ended(py, played)?;
    }
    cup.result(py)
}

/// The value that a lock guards. A panic elsewhere ends the tournament anyway.
fn lock<T>(guarded: &Mutex<T>) -> MutexGuard<'_, T> {
    guarded.lock().unwrap_or_else(PoisonError::into_inner)
}
