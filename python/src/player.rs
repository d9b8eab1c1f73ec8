//! Players that choose moves.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{Error, play_error};
use crate::interrupt::interruptible;
use crate::shared::{Shared, seed_or_drawn, some_role_number};
use crate::state::State;
use crate::view::View;
use ggp_engine::machine::{AnyMachine, Limits, Machine};
use ggp_gdl::game::{Move, RoleId};
use ggp_play::{Agent, AgentSpec, Brief, Observation, Pace, PlayerError, Tables};
use ggp_solver::table::{Table, TableError};
use ggp_stop::Stop;

/// A program that chooses moves, such as `ggp.Player("mcts:1s")` or `ggp.Player("minimax:1000")`.
///
/// The text is that of `ggp play --roles`: a name, and after a colon the number of iterations or
/// the time of a move, and options. `memory` is in megabytes. `table` is a file of `ggp tabulate`, with
/// which the player `auto` plays perfectly; another player cannot have one.
///
/// A player knows by the joint moves, or by what its role knows, which match a choice belongs to, and keeps its
/// search tree from one choice to the next. It may play up to eight matches in turn, also in several roles of one,
/// with as much `memory` for each. Each match has random numbers of its own: equal seeds give equal
/// sequences of matches; without a seed, they are different each time.
#[pyclass(module = "ggp")]
pub struct Player {
    spec: AgentSpec,
    seed: u64,
    threads: usize,
    memory: u64,
    tables: Arc<Tables>,
    /// The file of its table, if it has one.
    table: Option<PathBuf>,
    /// The matches that it is in, the latest first.
    playing: Vec<Playing>,
    /// The number of matches that it has begun.
    begun: u64,
}

/// The most matches that a player is in.
const MATCHES: usize = 8;

/// A match that a player is in.
struct Playing {
    game: Arc<Shared>,
    role: usize,
    start: Option<Vec<String>>,
    /// The role's knowledge at its last choice.
    seen: Observation,
    /// Locked by nobody else: the lock makes it safe to share.
    agent: Mutex<Box<dyn Agent>>,
    /// Ends the work of the agent's machines.
    stop: Stop,
}

impl Playing {
    fn agent(&mut self) -> &mut dyn Agent {
        let agent = self.agent.get_mut();
        &mut **agent.unwrap_or_else(PoisonError::into_inner)
    }
}

/// A player of this text.
pub fn spec(text: &str) -> PyResult<AgentSpec> {
    text.parse()
        .map_err(|error: ggp_play::SpecError| PyValueError::new_err(error.to_string()))
}

fn player_error(py: Python<'_>, error: &PlayerError) -> PyErr {
    match error {
        PlayerError::Play(error) => play_error(py, error),
        _ => Error::new_err(error.to_string()),
    }
}

/// A match for which a move is wanted: as it is, or as one role knows it.
#[derive(FromPyObject)]
enum Place<'py> {
    State(PyRef<'py, State>),
    View(PyRef<'py, View>),
}

/// True if a match that was observed so can go on to be observed so.
fn goes_on(before: &Observation, now: &Observation) -> bool {
    now.own_moves().starts_with(before.own_moves())
        && match (before.joint_moves(), now.joint_moves()) {
            (Some(before), Some(now)) => now.starts_with(before),
            _ => now
                .percepts()
                .unwrap_or_default()
                .starts_with(before.percepts().unwrap_or_default()),
        }
}

#[pymethods]
impl Player {
    #[new]
    #[pyo3(signature = (spec, *, seed=None, threads=1, memory=1024, table=None))]
    fn new(
        py: Python<'_>,
        spec: &str,
        seed: Option<u64>,
        threads: usize,
        memory: u64,
        table: Option<PathBuf>,
    ) -> PyResult<Self> {
        let spec = self::spec(spec)?;
        let mut tables = Tables::default();
        if let Some(path) = &table {
            if spec.name() != "auto" {
                return Err(PyValueError::new_err(format!(
                    "a table is for the player auto, and this one is {spec}"
                )));
            }
            let table = Table::open(path).map_err(|error| match error {
                TableError::Io(error) => PyErr::from(error),
                error => PyValueError::new_err(format!("{}: {error}", path.display())),
            });
            tables.add(table?);
        }
        Ok(Player {
            tables: Arc::new(tables),
            table,
            spec,
            seed: seed_or_drawn(py, seed)?,
            threads: threads.max(1),
            memory: memory.saturating_mul(1 << 20),
            playing: Vec::new(),
            begun: 0,
        })
    }

    /// Chooses a move for a role in a state; by default, for the role that has a choice. With hidden information, it
    /// has the role's own moves and percepts, and nothing else; a `View` has no more from the start. The result
    /// is a dictionary with `move`, `value` (the expected score, or `None`), `bounds` (proved),
    /// `nodes`, `line` (expected joint moves), `mix` (moves with
    /// the probabilities by which the move was drawn; empty if it was not drawn) and `candidates`: dictionaries with `move`, `visits`,
    /// `value`, `bounds` and `distance` (joint moves to the end, or `None`), best first.
    #[pyo3(signature = (state, role=None))]
    fn choose<'py>(
        &mut self,
        py: Python<'py>,
        state: Place<'py>,
        #[pyo3(from_py_with = some_role_number)] role: Option<usize>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let (shared, start, role, seen) = match &state {
            Place::State(state) => {
                state.check_settled()?;
                let role = match role {
                    Some(role) => Some(state.shared.numbered(role)?),
                    None => state.chooser(py)?,
                };
                let none = || PyIndexError::new_err("there is no role but chance");
                let role = role.ok_or_else(none)?;
                let seen = state.observation(py, role)?;
                (&state.shared, &state.start, role, seen)
            }
            Place::View(view) => {
                view.check_role(role)?;
                let seen = view.observation.clone();
                (&view.shared, &view.start, view.role, seen)
            }
        };
        let is_same = |playing: &Playing| {
            Arc::ptr_eq(&playing.game, shared)
                && playing.role == role.index()
                && playing.start == *start
                && goes_on(&playing.seen, &seen)
        };
        let known = self.playing.iter().enumerate();
        let known = known.filter(|(_, playing)| is_same(playing));
        // A shorter one may be another match that began alike.
        match known.max_by_key(|(_, playing)| playing.seen.len()) {
            Some((place, _)) => self.playing[..=place].rotate_right(1),
            None => self.begin(py, shared, role, start.as_deref(), &seen)?,
        }
        let playing = self.playing.first_mut().expect("it was made");
        playing.seen = seen.clone();
        let (deadline, nodes) = self.spec.limits(None);
        // The machines of a match end with their stop, so a choice has one of its own.
        let own = playing.stop.child();
        let pace = Pace::within(&own, deadline, nodes);
        let stop = playing.stop.clone();
        let chosen = interruptible(py, &stop, || playing.agent().choose(&seen, &pace));
        let advice = self.unless_failed(py, chosen)?;
        let machine = shared.machine();
        let text = |made: Move| machine.text(made);
        let result = PyDict::new(py);
        result.set_item("move", text(advice.chosen))?;
        result.set_item("value", advice.value)?;
        result.set_item("bounds", advice.bounds)?;
        result.set_item("nodes", advice.nodes)?;
        let mix = advice.mix.iter().map(|(made, share)| (text(*made), *share));
        result.set_item("mix", mix.collect::<std::collections::BTreeMap<_, _>>())?;
        let line = advice
            .line
            .iter()
            .map(|joint| -> Vec<String> { joint.iter().map(|(made, _)| text(*made)).collect() });
        result.set_item("line", line.collect::<Vec<_>>())?;
        let candidates = advice.candidates.iter().map(|candidate| {
            let one = PyDict::new(py);
            one.set_item("move", text(candidate.action))?;
            one.set_item("visits", candidate.visits)?;
            one.set_item("value", candidate.value)?;
            one.set_item("bounds", candidate.bounds)?;
            one.set_item("distance", candidate.distance)?;
            Ok(one)
        });
        result.set_item("candidates", candidates.collect::<PyResult<Vec<_>>>()?)?;
        Ok(result)
    }

    fn __repr__(&self) -> String {
        format!("ggp.Player({:?})", self.spec.to_string())
    }
}

impl Player {
    /// Begins a match, which becomes the first of those that it is in.
    fn begin(
        &mut self,
        py: Python<'_>,
        shared: &Arc<Shared>,
        role: RoleId,
        start: Option<&[String]>,
        seen: &Observation,
    ) -> PyResult<()> {
        let game = &shared.game;
        if let (Some(path), None) = (&self.table, self.tables.of(game)) {
            let path = path.display();
            return Err(PyValueError::new_err(format!(
                "{path} was made from other rules"
            )));
        }
        let stop = Stop::new();
        let machine = shared.machine().clone();
        let brief = Brief {
            // The numbers of the matches are far apart, as players add small ones to their seeds.
            seed: self
                .seed
                .wrapping_add(self.begun.wrapping_mul(0x9E37_79B9_7F4A_7C15)),
            threads: self.threads,
            memory_bytes: self.memory,
            tables: Arc::clone(&self.tables),
            start: start.map(|facts| shared.terms(facts)).transpose()?,
            limits: Limits {
                stop: stop.clone(),
                ..Limits::default()
            },
            // A network, which all matches share. Without one, the player may take longer to make its own.
            machine: matches!(machine, AnyMachine::Propnet(_)).then_some(machine),
            ..Brief::new(game, role)
        };
        let agent = self.spec.agent(brief);
        let agent = agent.map_err(|error| PyValueError::new_err(error.to_string()))?;
        self.begun += 1;
        self.playing.truncate(MATCHES - 1);
        self.playing.insert(
            0,
            Playing {
                game: Arc::clone(shared),
                role: role.index(),
                start: start.map(<[String]>::to_vec),
                seen: seen.clone(),
                agent: Mutex::new(agent),
                stop: stop.clone(),
            },
        );
        let playing = &mut self.playing[0];
        let begun = interruptible(py, &stop, || playing.agent().begin(&Pace::default()));
        self.unless_failed(py, begun)
    }

    /// A result of the agent of the latest match. After a failure the match is forgotten.
    fn unless_failed<T>(
        &mut self,
        py: Python<'_>,
        result: PyResult<Result<T, PlayerError>>,
    ) -> PyResult<T> {
        let result = result.and_then(|result| result.map_err(|error| player_error(py, &error)));
        if result.is_err() {
            self.playing.remove(0);
        }
        result
    }
}
