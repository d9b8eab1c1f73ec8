//! The parts of a game that its states share.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use pyo3::exceptions::{PyIndexError, PyOverflowError, PyValueError};
use pyo3::prelude::*;
use rustc_hash::FxHashMap;

use crate::errors::LimitError;
use crate::reading::Options;
use ggp_engine::machine::{AnyMachine, Backend, Machine, PlayError, PropnetMachine};
use ggp_gdl::check::{Keyword, Reading};
use ggp_gdl::game::{Game, Move, ParseTermError, RoleId};
use ggp_gdl::terms::{TermId, Terms};
use ggp_hidden::World;
use ggp_picture::{Picture, PictureOptions};
use ggp_stop::Stop;

/// The parts of a game that its states share.
pub struct Shared {
    pub game: Game,
    /// The warnings about the rules.
    pub reading: Reading,
    pub machine: Mutex<AnyMachine>,
    /// The network, if there is one, and its moves.
    pub network: Option<(PropnetMachine, Actions)>,
    /// The reason why there is no network.
    pub why_not: String,
    pub picture: Mutex<Option<Arc<Picture>>>,
    /// The game with percepts in its states. Made when a belief first needs it.
    pub world: Mutex<Option<World>>,
    /// The percepts that roles may ever have, once they are asked for.
    pub percepts: OnceLock<Percepts>,
    pub options: Options,
}

/// The percepts that roles may ever have, in the order of the game.
pub struct Percepts {
    /// The network with percepts in its states.
    pub network: PropnetMachine,
    /// By role: the number of the fact that holds a percept, and the percept.
    pub by_role: Vec<Vec<(u32, TermId)>>,
}

/// The moves of each role by number, and the numbers of moves.
pub struct Actions {
    pub moves: Vec<Vec<Move>>,
    pub numbers: Vec<FxHashMap<Move, usize>>,
}

/// The number of a role from Python.
///
/// # Errors
///
/// `IndexError` if a number is negative or too large, instead of `OverflowError`.
pub fn role_number(given: &Bound<'_, PyAny>) -> PyResult<usize> {
    given.extract().map_err(|error: PyErr| {
        match error.is_instance_of::<PyOverflowError>(given.py()) {
            true => PyIndexError::new_err(format!(
                "there is no role {given}: roles are numbered from 0, in the order of `Game.roles`"
            )),
            false => error,
        }
    })
}

/// The number of a role from Python, or `None`.
///
/// # Errors
///
/// As [`role_number`].
pub fn some_role_number(given: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
    match given.is_none() {
        true => Ok(None),
        false => role_number(given).map(Some),
    }
}

/// The seed that was given, or one that the system draws.
///
/// # Errors
///
/// If the system has no random numbers.
pub fn seed_or_drawn(py: Python<'_>, given: Option<u64>) -> PyResult<u64> {
    match given {
        Some(seed) => Ok(seed),
        // Processes that were forked draw different ones, too.
        None => {
            let drawn: [u8; 8] = py.import("os")?.call_method1("urandom", (8,))?.extract()?;
            Ok(u64::from_le_bytes(drawn))
        }
    }
}

impl Shared {
    pub fn machine(&self) -> MutexGuard<'_, AnyMachine> {
        // A machine has only scratch space, which is written anew.
        self.machine.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The machine on the network.
    ///
    /// # Errors
    ///
    /// `LimitError` without a network.
    pub fn network(&self) -> PyResult<PropnetMachineRef<'_>> {
        match &self.network {
            Some((machine, actions)) => Ok(PropnetMachineRef { machine, actions }),
            None => Err(LimitError::new_err(format!(
                "this needs a network, and the game has none: {}",
                self.why_not
            ))),
        }
    }

    /// The move of a role with this number.
    ///
    /// # Errors
    ///
    /// `ValueError` if no move has it, `LimitError` without a network.
    pub fn action(&self, role: RoleId, action: i64) -> PyResult<Move> {
        let moves = &self.network()?.actions.moves[role.index()];
        let made = usize::try_from(action)
            .ok()
            .and_then(|number| moves.get(number));
        let name = self.game.role_name(role);
        made.copied()
            .ok_or_else(|| PyValueError::new_err(format!("{name} has no action {action}")))
    }

    /// The rules as they are read: two games with equal ones have the same matches.
    pub fn rules(&self) -> (bool, Vec<&str>) {
        let files = self.game.sources().files().iter();
        (
            self.options.case_sensitive,
            files.map(|file| file.text()).collect(),
        )
    }

    /// Returns true if both have the same rules.
    pub fn is_same(self: &Arc<Self>, other: &Arc<Self>) -> bool {
        Arc::ptr_eq(self, other) || self.rules() == other.rules()
    }

    /// Returns true if roles do not see everything.
    pub fn hides(&self) -> bool {
        self.game.keyword(Keyword::Sees).is_some()
    }

    /// Works on the game with percepts in its states.
    pub fn with_world<T, E: From<PlayError>>(
        &self,
        stop: &Stop,
        work: impl FnOnce(&mut World) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut world = self.world.lock().unwrap_or_else(PoisonError::into_inner);
        let world = match &mut *world {
            Some(world) => world,
            none => none.insert(World::new(
                &self.game,
                Backend::Auto,
                self.options.limits(stop),
            )?),
        };
        world.set_stop(stop);
        world.terms_mut().refresh();
        let result = work(world);
        world.set_stop(&Stop::new());
        result
    }

    /// The terms of texts: facts or percepts.
    ///
    /// # Errors
    ///
    /// `ValueError` for a text that is not a term, or has names that the rules do not have.
    pub fn terms(&self, texts: &[String]) -> PyResult<Vec<TermId>> {
        self.parsed(texts, Game::parse_term)
    }

    /// The facts of a state.
    ///
    /// # Errors
    ///
    /// As [`Shared::terms`], and for a term that is a fact in no state.
    pub fn facts(&self, texts: &[String]) -> PyResult<Vec<TermId>> {
        self.parsed(texts, Game::parse_fact)
    }

    fn parsed(
        &self,
        texts: &[String],
        parse: fn(&Game, &mut Terms, &str) -> Result<TermId, ParseTermError>,
    ) -> PyResult<Vec<TermId>> {
        let mut machine = self.machine();
        let terms = texts.iter().map(|text| {
            let term = parse(&self.game, machine.terms_mut(), text);
            term.map_err(|error| PyValueError::new_err(error.to_string()))
        });
        terms.collect()
    }

    /// The roles that are not chance.
    pub fn players(&self) -> Vec<RoleId> {
        let roles = self.game.roles();
        roles.filter(|role| !self.game.is_random(*role)).collect()
    }

    /// The way to draw positions of the game.
    pub fn picture(&self) -> Result<Arc<Picture>, PlayError> {
        let mut picture = self.picture.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(picture) = &*picture {
            return Ok(Arc::clone(picture));
        }
        let mut machine = self.machine().clone();
        let made = Arc::new(Picture::of(&mut machine, PictureOptions::default())?);
        *picture = Some(Arc::clone(&made));
        Ok(made)
    }
}

/// The network of a game with its actions.
pub struct PropnetMachineRef<'g> {
    pub machine: &'g PropnetMachine,
    pub actions: &'g Actions,
}

impl<'g> PropnetMachineRef<'g> {
    pub fn net(&self) -> &'g ggp_engine::propnet::Propnet {
        self.machine.net()
    }
}
