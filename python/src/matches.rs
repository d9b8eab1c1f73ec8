//! Matches between players.

use std::sync::Arc;
use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::play_error;
use crate::game::{Game, seconds};
use crate::interrupt::interruptible;
use crate::player::spec;
use crate::shared::Shared;
use ggp_engine::machine::{Limits, Machine, PlayError};
use ggp_gdl::game::RoleId;
use ggp_play::contest::{AgentContender, Clocks, Contest, MatchResult, Opening, Resources};
use ggp_play::referee::{Asking, Contender};
use ggp_play::{AgentSpec, SpecError};
use ggp_stop::Stop;

/// The conditions of matches.
pub struct Conditions {
    clocks: Clocks,
    opening: usize,
    most_moves: usize,
    resources: Resources,
}

/// The roles that players have: all but chance.
pub fn played_roles(shared: &Shared) -> Vec<RoleId> {
    let game = &shared.game;
    let roles = game.roles();
    roles.filter(|&role| !game.is_random(role)).collect()
}

impl Conditions {
    pub fn new(
        start_clock: Option<f64>,
        play_clock: Option<f64>,
        opening: usize,
        most_moves: usize,
        threads: usize,
        memory: u64,
        stop: &Stop,
    ) -> PyResult<Self> {
        let clock = |time: Option<f64>, name| -> PyResult<Option<Duration>> {
            time.map(|time| seconds(time, name)).transpose()
        };
        Ok(Conditions {
            clocks: Clocks {
                start: clock(start_clock, "start_clock")?,
                play: clock(play_clock, "play_clock")?,
            },
            opening,
            most_moves,
            resources: Resources {
                threads: threads.max(1),
                memory_bytes: memory.saturating_mul(1 << 20),
                values: Arc::default(),
                limits: Limits {
                    stop: stop.clone(),
                    ..Limits::default()
                },
            },
        })
    }

    /// Plays a match between players of these texts, one for each role but chance.
    pub fn play(
        &self,
        shared: &Shared,
        players: &[&AgentSpec],
        seeds: [u64; 2],
    ) -> Result<MatchResult, Failure> {
        let [seed, opening_seed] = seeds;
        let stop = self.resources.limits.stop.clone();
        let mut contenders: Vec<Option<Box<dyn Contender>>> = Vec::new();
        contenders.resize_with(shared.game.role_count(), || None);
        for (role, spec) in played_roles(shared).into_iter().zip(players) {
            let brief = self.resources.brief(&shared.game, role, self.clocks, seed);
            let contender =
                AgentContender::new(brief, spec, self.clocks).map_err(Failure::Player)?;
            contenders[role.index()] = Some(Box::new(contender));
        }
        let mut machine = shared.machine().clone();
        machine.set_stop(&stop);
        let contest = Contest {
            machine,
            asking: Asking::InTurn,
            seed,
            opening: Opening {
                moves: (self.opening, self.opening),
                seed: opening_seed,
            },
            most_moves: self.most_moves,
            stop,
        };
        contest.play(&mut contenders).map_err(Failure::Play)
    }
}

/// The reason why a match cannot begin, or was interrupted.
pub enum Failure {
    Player(SpecError),
    Play(PlayError),
}

impl Failure {
    pub fn raised(&self, py: Python<'_>) -> PyErr {
        match self {
            Failure::Player(error) => PyValueError::new_err(error.to_string()),
            Failure::Play(error) => play_error(py, error),
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

/// Plays a match. `players` has a text for each role but chance, such as `["mcts:1000", "random"]`.
///
/// Clocks are in seconds; without them, players are limited by their texts alone, and equal seeds give
/// equal matches. The match begins after `opening` random joint moves, and ends after `max_moves`;
/// `memory` is in megabytes for each player. The result is a dictionary with `moves` (texts by joint
/// move and role), `scores` (by role; `None` if the match did not end), `lapses` (texts) and `fault`.
#[expect(clippy::too_many_arguments, reason = "they have names in Python")]
#[pyfunction]
#[pyo3(signature = (game, players, *, seed=0, start_clock=None, play_clock=None, opening=0,
    max_moves=1000, threads=1, memory=1024))]
pub fn play<'py>(
    py: Python<'py>,
    game: &Game,
    players: Vec<String>,
    seed: u64,
    start_clock: Option<f64>,
    play_clock: Option<f64>,
    opening: usize,
    max_moves: usize,
    threads: usize,
    memory: u64,
) -> PyResult<Bound<'py, PyDict>> {
    let shared = &game.shared;
    let roles = played_roles(shared).len();
    if players.len() != roles {
        let given = players.len();
        return Err(PyValueError::new_err(format!(
            "{roles} players are needed, one for each role, not {given}"
        )));
    }
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
    let specs: Vec<AgentSpec> = players
        .iter()
        .map(|text| spec(text))
        .collect::<PyResult<_>>()?;
    let specs: Vec<&AgentSpec> = specs.iter().collect();
    let work = || conditions.play(shared, &specs, [seed, seed]);
    let played = interruptible(py, &stop, work)?.map_err(|failure| failure.raised(py))?;
    let result = PyDict::new(py);
    describe(shared, &played, &result)?;
    Ok(result)
}
