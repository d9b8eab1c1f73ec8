//! A match as one role knows it, for functions that play.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::belief::{Belief, Settings};
use crate::errors::Error;
use crate::game::Game;
use crate::knowledge;
use crate::shared::{Shared, seed_or_drawn};
use ggp_engine::machine::Machine;
use ggp_gdl::game::{Move, RoleId};
use ggp_play::Observation;

/// A match with hidden information as one role knows it: its own moves, its percepts after each, and its
/// legal moves. It holds nothing else. A function that plays such a game gets one for each choice, and
/// `State.view` makes one. Two views are equal if their games and roles are, the matches began in the same state and look
/// alike to the role, and it has the same legal moves.
#[pyclass(frozen, eq, hash, module = "ggp")]
pub struct View {
    pub shared: Arc<Shared>,
    pub role: RoleId,
    pub observation: Observation,
    pub legal: Vec<Move>,
    /// The facts of the first state, if it is not the initial one.
    pub start: Option<Vec<String>>,
}

impl PartialEq for View {
    fn eq(&self, other: &Self) -> bool {
        self.shared.is_same(&other.shared) && self.key() == other.key()
    }
}

impl Hash for View {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.key().hash(hasher);
    }
}

#[pymethods]
impl View {
    /// The game.
    #[getter]
    fn game(&self) -> Game {
        Game {
            shared: Arc::clone(&self.shared),
        }
    }

    /// The number of the role, as in `Game.roles`.
    #[getter]
    fn role(&self) -> usize {
        self.role.index()
    }

    /// The number of the player: of the role among those other than chance.
    #[getter]
    fn player(&self) -> PyResult<usize> {
        let found = self.shared.players().into_iter();
        let found = found.enumerate().find(|(_, role)| *role == self.role);
        let found = found.map(|(player, _)| player);
        found.ok_or_else(|| Error::new_err("chance is not a player"))
    }

    /// The number of turns so far.
    fn move_number(&self) -> usize {
        self.observation.len()
    }

    /// The role's legal moves, as texts. Empty if the match is over.
    fn legal_moves(&self) -> Vec<String> {
        let machine = self.shared.machine();
        self.legal.iter().map(|made| machine.text(*made)).collect()
    }

    /// The role's legal actions, in ascending order.
    ///
    /// Raises `LimitError` without a network.
    fn legal_actions(&self) -> PyResult<Vec<usize>> {
        let numbers = &self.shared.network()?.actions.numbers[self.role.index()];
        let legal = self.legal.iter().map(|made| numbers.get(made).copied());
        let legal: Option<Vec<usize>> = legal.collect();
        let mut legal =
            legal.ok_or_else(|| Error::new_err("a legal move is not in the network"))?;
        legal.sort_unstable();
        Ok(legal)
    }

    /// The text of an action of the role.
    fn action_to_string(&self, action: i64) -> PyResult<String> {
        let made = self.shared.action(self.role, action)?;
        Ok(self.shared.machine().text(made))
    }

    /// The role's own moves and percepts by turn, as `State.knowledge` has them.
    fn knowledge<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        knowledge::tuple(py, &self.shared, &self.observation)
    }

    /// The role's own moves and percepts as a text.
    fn information_state_string(&self) -> String {
        let start = self.start.as_deref();
        knowledge::text(&self.shared, self.role, &self.observation, start)
    }

    /// The role's percepts of the last joint move, as texts. Empty before the first one.
    fn percepts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let turns = self.knowledge(py)?;
        match turns.len() {
            0 => Ok(PyTuple::empty(py).into_any()),
            count => turns.get_item(count - 1)?.get_item(1),
        }
    }

    /// The states that fit what the role knows; see `ggp.Belief`. Where the role has legal moves, the
    /// match goes on.
    #[pyo3(signature = (*, members=2_000, joint_moves=100_000, seed=None))]
    pub fn belief(
        &self,
        py: Python<'_>,
        members: usize,
        joint_moves: usize,
        seed: Option<u64>,
    ) -> PyResult<Belief> {
        let settings = Settings {
            members,
            joint_moves,
            seed: seed_or_drawn(py, seed)?,
        };
        let start = self.start.clone();
        let (shared, role) = (&self.shared, self.role);
        let mut belief = Belief::after(py, shared, role, start, &self.observation, settings)?;
        if !self.legal.is_empty() {
            belief.go_on(py)?;
        }
        Ok(belief)
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err(
            "a view cannot be pickled, as its match is not part of it; pickle what you need of it, such as \
             `knowledge()` and `legal_moves()`, or pickle the `State` and call `State.view` again",
        ))
    }

    fn __repr__(&self) -> String {
        format!("<view of {}>", self.information_state_string())
    }
}

impl View {
    /// All that equal views have in common, except the rules.
    fn key(&self) -> (usize, String, Vec<String>) {
        let known = self.information_state_string();
        (self.role.index(), known, self.legal_moves())
    }

    /// Refuses another role than that of the view.
    ///
    /// # Errors
    ///
    /// `IndexError`.
    pub fn check_role(&self, role: Option<usize>) -> PyResult<()> {
        match role {
            Some(role) if role != self.role.index() => Err(PyIndexError::new_err(format!(
                "the view is that of role {}, not of role {role}",
                self.role.index()
            ))),
            _ => Ok(()),
        }
    }
}
