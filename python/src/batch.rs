//! Many matches of one game at a time.

mod past;

use std::sync::Arc;

use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView};

use crate::buffers::Array;
use crate::errors::LimitError;
use crate::game::Game;
use crate::interrupt::interruptible;
use crate::shared::{Shared, role_number, seed_or_drawn};
use crate::state::State;
use ggp_engine::propnet::Propnet;
use ggp_engine::propnet::batch::{EnvironmentOptions, Environments, IllegalAction, Packed, holds};
use ggp_engine::propnet::playout::Proceed;
use ggp_engine::propnet::rollouts::{RolloutOptions, Rollouts};
use ggp_gdl::counted::counted;
use ggp_stop::Stop;
use past::{Pasts, over};

/// Many matches of one game at a time, for programs that learn.
///
/// All arrays are the caller's: anything with a buffer, such as a numpy array, whose elements lie
/// next to each other in the order of C. A flat array with as many elements as the shape says will do,
/// too. They are read and written in place. Actions are numbers of
/// `Game.actions(role)`, of type int32.
///
/// `memory` is the limit of all matches in megabytes; more raise `LimitError`.
///
/// A match that ends begins again at once, unless `auto_reset` is false. Each match has random
/// numbers of its own, so its course does not depend on the number of lanes. Equal seeds give equal
/// numbers; without a seed, they are different each time.
#[pyclass(module = "ggp")]
pub struct Batch {
    game: Arc<Shared>,
    matches: Environments,
    /// The moves of matches with hidden information.
    pasts: Option<Pasts>,
    resets: bool,
    /// Made when they are first needed.
    rollouts: Option<Rollouts>,
    /// The greatest length of the playouts.
    depth: u64,
    seed: u64,
}

/// The most matches of a batch.
const MOST_LANES: usize = 1 << 22;

impl Batch {
    fn role(&self, role: usize) -> PyResult<usize> {
        match role < self.matches.roles() {
            true => Ok(role),
            false => Err(PyIndexError::new_err(format!(
                "the game has {}, so there is no role {role}",
                counted(self.matches.roles(), "role")
            ))),
        }
    }

    /// The network that the matches run on: with hidden information, the one with percepts.
    fn net(game: &Shared) -> PyResult<&Propnet> {
        match game.percepts.get() {
            Some(percepts) => Ok(percepts.network.net()),
            None => Ok(game.network()?.net()),
        }
    }

    /// The state after the actions of a match.
    fn after<'a>(&self, py: Python<'_>, past: impl Iterator<Item = &'a [i32]>) -> PyResult<State> {
        let moves = &self.game.network()?.actions.moves;
        let joints = past.map(|actions| {
            let both = moves.iter().zip(actions);
            both.map(|(moves, action)| moves[*action as usize])
                .collect()
        });
        State::after(py, &self.game, &joints.collect::<Vec<_>>())
    }

    /// True if a fact of the network only holds a percept.
    fn is_percept(&self, fact: usize) -> bool {
        let percepts = self.game.percepts.get().map(|all| all.by_role.iter());
        let mut all = percepts.into_iter().flatten().flatten();
        all.any(|(number, _)| *number as usize == fact)
    }

    /// Writes the percepts of a role of the last joint moves.
    fn observe_percepts(
        &self,
        py: Python<'_>,
        role: usize,
        out: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let percepts = &self.game.all_percepts(py)?.by_role[role];
        let shape = [self.matches.lanes(), percepts.len()];
        let mut out = Array::<f32>::writable(out, "out", &shape)?;
        py.detach(|| {
            let states = self.matches.states();
            let out = out.get_mut().chunks_mut(percepts.len().max(1));
            for (state, out) in states.iter().zip(out) {
                for ((fact, _), out) in percepts.iter().zip(out) {
                    *out = f32::from(u8::from(holds(state, *fact as usize)));
                }
            }
        });
        Ok(())
    }
}

#[pymethods]
impl Batch {
    #[new]
    #[pyo3(signature = (game, lanes, *, seed=None, auto_reset=true, max_length=None, memory=4096))]
    fn new(
        py: Python<'_>,
        game: &Game,
        lanes: usize,
        seed: Option<u64>,
        auto_reset: bool,
        max_length: Option<u32>,
        memory: u64,
    ) -> PyResult<Self> {
        if lanes == 0 || lanes > MOST_LANES {
            return Err(PyValueError::new_err(format!(
                "lanes must be from 1 to {MOST_LANES}, not {lanes}"
            )));
        }
        game.shared.network()?;
        if game.shared.hides() {
            game.shared.all_percepts(py)?;
        }
        let net = Batch::net(&game.shared)?;
        let bytes = Environments::bytes(net, lanes);
        let most = memory.saturating_mul(1 << 20);
        if bytes > most {
            return Err(LimitError::new_err(format!(
                "{lanes} matches take about {} MB; `memory` sets this limit",
                bytes >> 20
            )));
        }
        let seed = seed_or_drawn(py, seed)?;
        let options = EnvironmentOptions {
            seed,
            resets: auto_reset,
            length: max_length,
            ..EnvironmentOptions::default()
        };
        let matches = py.detach(|| Environments::new(net, lanes, &options));
        let matches = matches
            .ok_or_else(|| LimitError::new_err("no move can be made in the initial state"))?;
        Ok(Batch {
            game: Arc::clone(&game.shared),
            pasts: (game.shared.hides()).then(|| Pasts::new(&matches, most - bytes)),
            matches,
            resets: auto_reset,
            rollouts: None,
            depth: 0,
            seed,
        })
    }

    /// The number of matches.
    #[getter]
    fn lanes(&self) -> usize {
        self.matches.lanes()
    }

    /// The number of roles.
    #[getter]
    fn num_roles(&self) -> usize {
        self.matches.roles()
    }

    /// The number of facts of an observation.
    #[getter]
    fn num_facts(&self) -> usize {
        self.matches.facts()
    }

    /// The number of bytes of an observation as bits.
    #[getter]
    fn num_bytes(&self) -> usize {
        self.matches.observation_bytes()
    }

    /// The number of actions of a role.
    fn num_actions(&self, #[pyo3(from_py_with = role_number)] role: usize) -> PyResult<usize> {
        Ok(self.matches.actions(self.role(role)?))
    }

    /// Puts matches into the initial state: all of them, or those with a number other than 0 in
    /// `which` (uint8 or bool, of shape lanes).
    #[pyo3(signature = (which=None))]
    fn reset(&mut self, py: Python<'_>, which: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let lanes = self.matches.lanes();
        let which = match which {
            None => vec![1; lanes],
            Some(which) => Array::<u8>::new(&as_bytes(which)?, "which", &[lanes])?
                .get()
                .to_vec(),
        };
        py.detach(|| self.matches.reset_some(&which));
        if let Some(pasts) = &mut self.pasts {
            let again = which.iter().enumerate().filter(|(_, which)| **which != 0);
            again.for_each(|(lane, _)| pasts.begin(lane));
        }
        Ok(())
    }

    /// Begins the random numbers of all matches again from a seed.
    fn seed(&mut self, py: Python<'_>, seed: u64) {
        self.seed = seed;
        py.detach(|| self.matches.seed(seed));
        if let Some(rollouts) = &mut self.rollouts {
            rollouts.reseed(seed);
        }
    }

    /// Draws a legal action for each role of each match, with equal probabilities, and writes them
    /// to `out` (int32, of shape lanes × roles); -1 in matches that are over.
    fn sample(&mut self, py: Python<'_>, out: &Bound<'_, PyAny>) -> PyResult<()> {
        let shape = [self.matches.lanes(), self.matches.roles()];
        let mut out = Array::<i32>::writable(out, "out", &shape)?;
        py.detach(|| self.matches.sample(out.get_mut()));
        Ok(())
    }

    /// Makes a joint move in each match that is not over.
    ///
    /// `actions` is int32, of shape lanes × roles. Where a match ends, `ends` (uint8, of shape
    /// lanes) is `ggp.TERMINAL`, `ggp.CUT` (the greatest length is reached), `ggp.STUCK` (a role
    /// has no legal move) or `ggp.UNSCORED` (the rules give a player not exactly one score), else 0.
    /// `rewards` (float32, of shape lanes × roles) has the scores, from 0 to 100, where it is
    /// `ggp.TERMINAL`. All other rewards are 0.
    ///
    /// Raises `ValueError` for an action that is not legal; nothing has changed then.
    fn step(
        &mut self,
        py: Python<'_>,
        actions: &Bound<'_, PyAny>,
        rewards: &Bound<'_, PyAny>,
        ends: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let (lanes, roles) = (self.matches.lanes(), self.matches.roles());
        let actions = Array::<i32>::new(actions, "actions", &[lanes, roles])?;
        let mut rewards = Array::<f32>::writable(rewards, "rewards", &[lanes, roles])?;
        let mut ends = Array::<u8>::writable(ends, "ends", &[lanes])?;
        let Batch { matches, pasts, .. } = self;
        let made = py.detach(|| {
            let were_over = pasts.as_ref().map(|_| over(matches));
            matches.step(actions.get(), rewards.get_mut(), ends.get_mut())?;
            if let (Some(pasts), Some(were_over)) = (pasts, were_over) {
                pasts.step(actions.get(), ends.get(), &were_over, self.resets);
            }
            Ok::<_, IllegalAction>(())
        });
        made.map_err(|wrong| {
            PyValueError::new_err(format!(
                "action {} of role {} is not legal in match {}",
                wrong.action, wrong.role, wrong.lane
            ))
        })
    }

    /// Writes 1 for each legal action of a role and 0 for all others to `out` (uint8 or bool, of
    /// shape lanes × actions of the role). In matches that are over, all are 0.
    fn legal_mask(
        &mut self,
        py: Python<'_>,
        #[pyo3(from_py_with = role_number)] role: usize,
        out: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let role = self.role(role)?;
        let shape = [self.matches.lanes(), self.matches.actions(role)];
        let mut out = Array::<u8>::writable(&as_bytes(out)?, "out", &shape)?;
        py.detach(|| self.matches.legal_mask(role, out.get_mut()));
        Ok(())
    }

    /// The number of percepts that a role may ever have, see `Game.percepts`.
    ///
    /// Raises `Error` if the rules have no `sees`.
    fn num_percepts(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = role_number)] role: usize,
    ) -> PyResult<usize> {
        let role = self.role(role)?;
        Ok(self.game.all_percepts(py)?.by_role[role].len())
    }

    /// Writes what a role sees to `out`: the facts, in the order of `Game.facts`. As float32 of
    /// shape lanes × facts, 1 for those that hold and 0 for all others; or as bits, uint8 of shape
    /// lanes × `num_bytes`: fact `f` is bit `f % 8` of byte `f // 8`.
    ///
    /// With hidden information, the percepts of the role of the last joint move, float32 of shape lanes × `num_percepts(role)`: 1
    /// for each of `Game.percepts` that it had, and 0 for all others; 0 everywhere before the first move.
    /// Where a match has just begun again, the percepts of the last one are gone: keep them with `auto_reset=False`.
    fn observe(
        &mut self,
        py: Python<'_>,
        #[pyo3(from_py_with = role_number)] role: usize,
        out: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let role = self.role(role)?;
        if self.game.hides() {
            return self.observe_percepts(py, role, out);
        }
        let (lanes, facts) = (self.matches.lanes(), self.matches.facts());
        match Array::<f32>::writable(out, "out", &[lanes, facts]) {
            Ok(mut out) => py.detach(|| self.matches.observe(out.get_mut())),
            Err(error) if error.is_instance_of::<PyTypeError>(py) => {
                let bytes = self.matches.observation_bytes();
                let mut out = Array::<u8>::writable(out, "out", &[lanes, bytes])?;
                py.detach(|| self.matches.observe_bits(out.get_mut()));
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Writes the mean scores of uniformly random playouts, 0 to 100, to `out` (float32, of shape
    /// lanes × roles): `each` playouts from the state of each match, whose states remain. Playouts that do
    /// not end within `max_length` joint moves do not count.
    ///
    /// Raises `LimitError` if none from a match ended; `out` has 0 for it, and the means of all others.
    #[pyo3(signature = (each, out, *, max_length=10_000))]
    fn rollouts(
        &mut self,
        py: Python<'_>,
        each: u32,
        out: &Bound<'_, PyAny>,
        max_length: u64,
    ) -> PyResult<()> {
        let (lanes, roles) = (self.matches.lanes(), self.matches.roles());
        let mut out = Array::<f32>::writable(out, "out", &[lanes, roles])?;
        let net = Batch::net(&self.game)?;
        let seed = self.seed;
        if self.depth != max_length {
            (self.rollouts, self.depth) = (None, max_length);
        }
        let rollouts = self.rollouts.get_or_insert_with(|| {
            let options = RolloutOptions {
                depth: Some(max_length),
                ..RolloutOptions::default()
            };
            Rollouts::new(net, &options, seed)
        });
        let states: Vec<Packed> = self.matches.states();
        let stop = Stop::new();
        let work = || {
            let mut proceed = || match stop.is_over() {
                true => Proceed::Drop,
                false => Proceed::On,
            };
            let width = rollouts.lanes();
            let mut endless = Vec::new();
            for (states, out) in states
                .chunks(width)
                .zip(out.get_mut().chunks_mut(width * roles))
            {
                let outcomes = rollouts.run(states, each, &mut proceed);
                for (outcome, out) in outcomes.iter().zip(out.chunks_mut(roles)) {
                    for (role, out) in out.iter_mut().enumerate() {
                        *out = outcome.mean(role).unwrap_or(0.0) as f32;
                    }
                    endless.push(outcome.mean(0).is_none());
                }
            }
            endless.iter().position(|is_endless| *is_endless)
        };
        match interruptible(py, &stop, work)? {
            None => Ok(()),
            Some(lane) => Err(LimitError::new_err(format!(
                "none of {} from match {lane} ended, so it has no mean score; more of them, or a \
                 `max_length` above {max_length}, may end",
                counted(each, "playout")
            ))),
        }
    }

    /// The state of a match as a `State`. A negative number counts from the end, as in a list. Raises
    /// `IndexError` if there is no match of this number.
    ///
    /// The history of the state begins there. With hidden information, it has all joint moves of the match, as
    /// what roles know depends on them. After `set_states`, or if they need more than `memory`, they are not
    /// known until the match begins again: what depends on them raises `Error` then.
    fn state(&self, py: Python<'_>, lane: isize) -> PyResult<State> {
        let lanes = self.matches.lanes();
        let place = match usize::try_from(lane) {
            Ok(place) => Some(place),
            Err(_) => lanes.checked_sub(lane.unsigned_abs()),
        };
        let Some(place) = place.filter(|place| *place < lanes) else {
            return Err(PyIndexError::new_err(format!(
                "there is no match {lane}: the number of matches is {lanes}"
            )));
        };
        if let Some(past) = self.pasts.as_ref().and_then(|pasts| pasts.of(place)) {
            return self.after(py, past);
        }
        let packed = py.detach(|| self.matches.states().swap_remove(place));
        let net = Batch::net(&self.game)?;
        let terms = net.terms();
        let facts = net.facts().iter().enumerate();
        let facts: Vec<String> = facts
            .filter(|(fact, _)| holds(&packed, *fact) && !self.is_percept(*fact))
            .map(|(_, term)| self.game.game.text(&terms, *term))
            .collect();
        let mut state = State::of_facts(py, &self.game, &facts)?;
        state.has_lost_past = self.pasts.is_some();
        Ok(state)
    }

    /// The states of all matches: the same bytes as `observe` writes as bits, for `set_states`. With hidden
    /// information, they hold the percepts of the last joint moves, too.
    fn states<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes = py.detach(|| {
            let mut bytes = vec![0; self.matches.lanes() * self.matches.observation_bytes()];
            self.matches.observe_bits(&mut bytes);
            bytes
        });
        PyBytes::new(py, &bytes)
    }

    /// Sets the states of all matches (uint8, of shape lanes × `num_bytes`). They must be reachable
    /// states of this game. The matches begin to count their lengths again. A match in whose state
    /// no move can be made is over; with `auto_reset` it begins again instead of its next move. With hidden
    /// information, the earlier moves of these matches are not known: see `state`.
    fn set_states(&mut self, py: Python<'_>, states: &Bound<'_, PyAny>) -> PyResult<()> {
        let bytes = self.matches.observation_bytes();
        let states = Array::<u8>::new(states, "states", &[self.matches.lanes(), bytes])?;
        py.detach(|| {
            let words = |line: &[u8]| -> Packed {
                let words = line.chunks(8).map(|part| {
                    let mut word = [0; 8];
                    word[..part.len()].copy_from_slice(part);
                    u64::from_le_bytes(word)
                });
                words.collect()
            };
            let states: Vec<Packed> = match bytes {
                0 => vec![Packed::new(); self.matches.lanes()],
                _ => states.get().chunks(bytes).map(words).collect(),
            };
            self.matches.set_states(&states);
        });
        if let Some(pasts) = &mut self.pasts {
            pasts.forget();
        }
        Ok(())
    }
}

/// An array of truth values as one of bytes; any other object as it is.
fn as_bytes<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let is_bool = PyUntypedBuffer::get(object)?.format() == c"?";
    match is_bool {
        true => Ok(PyMemoryView::from(object)?.call_method1("cast", ("B",))?),
        false => Ok(object.clone()),
    }
}
