//! Tournaments: schedules, matches at once, and ratings.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::LimitError;
use crate::game::Game;
use crate::interrupt::interruptible;
use crate::matches::{Conditions, Entrant, Failure, Given, describe};
use crate::shared::Shared;
use ggp_engine::machine::PlayError;
use ggp_gdl::game::Score;
use ggp_play::contest::MatchResult;
use ggp_play::rating::{Comparison, comparisons, elo, share_of_result};
use ggp_play::schedule::round_robin;
use ggp_stop::Stop;

/// The most matches of a tournament.
const MOST_MATCHES: usize = 1_000_000;

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

/// The names and the players of an argument.
fn read_players(players: &Bound<'_, PyAny>) -> PyResult<Vec<(String, Entrant)>> {
    let py = players.py();
    if let Ok(named) = players.cast::<PyDict>() {
        let read = |(name, given): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            Ok((name.extract()?, given.extract::<Given>()?.read(py)?))
        };
        return named.iter().map(read).collect();
    }
    let texts: Vec<String> = players.extract().map_err(|_| {
        let why = "`players` is a list of texts, or a dictionary of names and players";
        PyTypeError::new_err(why)
    })?;
    let mut found: Vec<(String, Entrant)> = Vec::new();
    for text in texts {
        if found.iter().any(|(other, _)| *other == text) {
            return Err(PyValueError::new_err(format!(
                "two players are called {text}: give names, as in {{\"a\": {text:?}}}"
            )));
        }
        let player = Given::Text(text.clone()).read(py)?;
        found.push((text, player));
    }
    Ok(found)
}

/// A match of a tournament.
struct Task {
    game: usize,
    round: u64,
    /// The number of the player in each role but chance.
    seating: Vec<usize>,
    seeds: [u64; 2],
}

/// Plays a tournament: in each round, every group of players meets in each game once in each rotation of
/// its roles.
///
/// `games` is a game or a list of games. `players` is a list of texts as for `ggp.Player`, or a dictionary
/// of names and players, each a text or a function as for `ggp.play`. All matches of a round with a game begin with the same `opening` random joint
/// moves. `jobs` matches are played at once; clocks are in seconds, `memory` is in megabytes for each
/// player. Without clocks and times, equal seeds give equal tournaments.
///
/// The result is a dictionary with `players`, best first, and `matches`. A player has a `name`, `elo`
/// with its `margin` (95 %; `None` without an opponent), `matches`, `won`, `drawn`, `lost` (meetings with
/// another player), `mean_score` and `lapses`. In a game for one role, the game is the opponent. A match
/// has the number of its `game`, its `round`, the names of its `players`, and what `ggp.play` returns.
#[expect(clippy::too_many_arguments, reason = "they have names in Python")]
#[pyfunction]
#[pyo3(signature = (games, players, *, rounds=1, seed=0, start_clock=None, play_clock=None, opening=0,
    max_moves=1000, jobs=1, threads=1, memory=256))]
pub fn tournament<'py>(
    py: Python<'py>,
    games: &Bound<'py, PyAny>,
    players: &Bound<'py, PyAny>,
    rounds: u64,
    seed: u64,
    start_clock: Option<f64>,
    play_clock: Option<f64>,
    opening: usize,
    max_moves: usize,
    jobs: usize,
    threads: usize,
    memory: u64,
) -> PyResult<Bound<'py, PyDict>> {
    let games = read_games(games)?;
    let players = read_players(players)?;
    let tasks = schedule(&games, players.len(), rounds, seed)?;
    let stop = Stop::new();
    let conditions = Conditions::new(
        start_clock,
        play_clock,
        opening,
        max_moves,
        threads,
        memory,
        &stop,
    )?;
    let play = |task: &Task| {
        let seated: Vec<&Entrant> = task.seating.iter().map(|&at| &players[at].1).collect();
        match conditions.play(&games[task.game], &seated, task.seeds) {
            Err(Failure::Play(error)) if !matches!(error, PlayError::Interrupted) => {
                Ok(MatchResult {
                    fault: Some(error),
                    ..MatchResult::default()
                })
            }
            played => played,
        }
    };
    let work = || play_all(&tasks, jobs.max(1), &play);
    let played = interruptible(py, &stop, work)?;
    let played = conditions.ended(py, played)?;
    let matches = tasks.iter().zip(&played).map(|(task, played)| {
        let one = PyDict::new(py);
        let names: Vec<&str> = task.seating.iter().map(|&at| &*players[at].0).collect();
        one.set_item("game", task.game)?;
        one.set_item("round", task.round)?;
        one.set_item("players", names)?;
        describe(&games[task.game], played, &one)?;
        Ok(one)
    });
    let result = PyDict::new(py);
    let matches = matches.collect::<PyResult<Vec<_>>>()?;
    let names: Vec<&str> = players.iter().map(|(name, _)| &**name).collect();
    result.set_item("players", standings(py, &names, &games, &tasks, &played)?)?;
    result.set_item("matches", matches)?;
    Ok(result)
}

/// The matches of all rounds.
fn schedule(games: &[Arc<Shared>], players: usize, rounds: u64, seed: u64) -> PyResult<Vec<Task>> {
    let mut tasks: Vec<Task> = Vec::new();
    for round in 0..rounds {
        for (game, shared) in games.iter().enumerate() {
            let roles = shared.players().len();
            if players == 0 || players == 1 && roles > 1 {
                let name = shared.game.name();
                return Err(PyValueError::new_err(format!(
                    "{name} has {roles} roles: more players are needed"
                )));
            }
            // Rounds and games have seeds of their own, which are far apart.
            let own = seed
                .wrapping_add(round << 32)
                .wrapping_add((game as u64) << 48);
            let seatings = round_robin(players, roles, own, MOST_MATCHES - tasks.len());
            let seatings = seatings
                .ok_or_else(|| LimitError::new_err(format!("more than {MOST_MATCHES} matches")))?;
            tasks.extend(seatings.into_iter().zip(0..).map(|(seating, at)| Task {
                game,
                round,
                seating,
                seeds: [own.wrapping_add(at), own],
            }));
        }
    }
    Ok(tasks)
}

/// The results of all tasks, some of which are played at once. After a failure no other match begins.
fn play_all(
    tasks: &[Task],
    jobs: usize,
    play: &(dyn Fn(&Task) -> Result<MatchResult, Failure> + Sync),
) -> Result<Vec<MatchResult>, Failure> {
    let open: Mutex<VecDeque<usize>> = Mutex::new((0..tasks.len()).collect());
    let failed: Mutex<Option<Failure>> = Mutex::default();
    let work = || {
        let mut played = Vec::new();
        loop {
            let next = lock(&open).pop_front();
            let Some(at) = next else {
                return played;
            };
            match play(&tasks[at]) {
                Ok(result) => played.push((at, result)),
                Err(failure) => {
                    lock(&open).clear();
                    lock(&failed).get_or_insert(failure);
                }
            }
        }
    };
    let jobs = jobs.min(tasks.len());
    let mut played = thread::scope(|scope| {
        // The system may give fewer threads than wanted; this one works, too.
        let builder = || thread::Builder::new().spawn_scoped(scope, work);
        let others: Vec<_> = (1..jobs).map_while(|_| builder().ok()).collect();
        let mut played = work();
        for other in others {
            match other.join() {
                Ok(more) => played.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        played
    });
    if let Some(failure) = lock(&failed).take() {
        return Err(failure);
    }
    played.sort_unstable_by_key(|(at, _)| *at);
    Ok(played.into_iter().map(|(_, result)| result).collect())
}

/// The value that a lock guards. A panic elsewhere ends the tournament anyway.
fn lock<T>(guarded: &Mutex<T>) -> MutexGuard<'_, T> {
    guarded.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The players, best first.
fn standings<'py>(
    py: Python<'py>,
    names: &[&str],
    games: &[Arc<Shared>],
    tasks: &[Task],
    played: &[MatchResult],
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    #[derive(Clone, Default)]
    struct Standing {
        matches: u64,
        scores: f64,
        /// Won, drawn, lost.
        met: [u64; 3],
        lapses: u64,
    }
    let mut standings = vec![Standing::default(); names.len()];
    let mut met: Vec<Comparison> = Vec::new();
    for (task, played) in tasks.iter().zip(played) {
        let roles = games[task.game].players();
        let seats = || task.seating.iter().zip(&roles);
        for (&player, role) in seats() {
            let lapses = played
                .lapses
                .iter()
                .filter(|(_, of, _)| *of == role.index());
            standings[player].lapses += lapses.count() as u64;
        }
        let Some(scores) = &played.scores else {
            continue;
        };
        let scored: Vec<(usize, u8)> = seats()
            .map(|(&player, role)| (player, scores[role.index()].get()))
            .collect();
        for &(player, score) in &scored {
            standings[player].matches += 1;
            standings[player].scores += f64::from(score);
        }
        match scored[..] {
            [(player, score)] => met.push(Comparison {
                players: [player, names.len() + task.game],
                share: f64::from(score) / f64::from(Score::MAX.get()),
                weight: 1.0,
            }),
            _ => {
                for found in comparisons(&scored, share_of_result) {
                    let [one, other] = found.players;
                    let place = (2.0 * (1.0 - found.share)) as usize;
                    standings[one].met[place] += 1;
                    standings[other].met[2 - place] += 1;
                    met.push(found);
                }
            }
        }
    }
    // Who has met nobody would only make the mean uncertain.
    let all = 0..names.len() + games.len();
    let rated: Vec<usize> = all
        .filter(|number| met.iter().any(|met| met.players.contains(number)))
        .collect();
    for met in &mut met {
        met.players = met
            .players
            .map(|number| rated.partition_point(|of| *of < number));
    }
    let middle = rated.partition_point(|number| *number < names.len());
    let ratings = elo(rated.len(), &met, middle);
    let rating = |player: usize| Some(ratings[rated.binary_search(&player).ok()?]);
    let mut order: Vec<usize> = (0..names.len()).collect();
    let elo_of = |player: usize| rating(player).map_or(f64::NEG_INFINITY, |found| found.rating);
    order.sort_by(|&one, &other| elo_of(other).total_cmp(&elo_of(one)));
    let described = order.into_iter().map(|player| {
        let (standing, rating) = (&standings[player], rating(player));
        let one = PyDict::new(py);
        one.set_item("name", names[player])?;
        one.set_item("elo", rating.map(|found| found.rating))?;
        one.set_item("margin", rating.map(|found| found.margin))?;
        one.set_item("matches", standing.matches)?;
        let [won, drawn, lost] = standing.met;
        one.set_item("won", won)?;
        one.set_item("drawn", drawn)?;
        one.set_item("lost", lost)?;
        let matches = standing.matches as f64;
        let mean = (standing.matches > 0).then(|| standing.scores / matches);
        one.set_item("mean_score", mean)?;
        one.set_item("lapses", standing.lapses)?;
        Ok(one)
    });
    described.collect()
}
