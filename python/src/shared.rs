//! The parts of a game that its states share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rustc_hash::FxHashMap;

use crate::errors::LimitError;
use crate::reading::Options;
use ggp_engine::machine::{AnyMachine, Machine, PlayError, PropnetMachine};
use ggp_gdl::check::{Keyword, Reading};
use ggp_gdl::game::{Move, RoleId};
use ggp_picture::{Picture, sample};

/// The parts of a game that its states share.
pub struct Shared {
    pub game: ggp_gdl::game::Game,
    /// The warnings about the rules.
    pub reading: Reading,
    pub machine: Mutex<AnyMachine>,
    /// The network, if there is one, and its moves.
    pub network: Option<(PropnetMachine, Actions)>,
    /// The reason why there is no network.
    pub why_not: String,
    pub picture: Mutex<Option<Arc<Picture>>>,
    pub options: Options,
}

/// The moves of each role by number, and the numbers of moves.
pub struct Actions {
    pub moves: Vec<Vec<Move>>,
    pub numbers: Vec<FxHashMap<Move, usize>>,
}

/// The number of states from which a picture is derived.
const PICTURED: usize = 100;

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

    /// Returns true if roles do not see everything.
    pub fn hides(&self) -> bool {
        self.game.keyword(Keyword::Sees).is_some()
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
        let states = sample(&mut machine, PICTURED)?;
        let made = Arc::new(Picture::new(&self.game, machine.terms(), &states, None));
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
