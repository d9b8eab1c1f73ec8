//! The making of states: from facts, joint moves and what was written down.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::{Saved, State};
use crate::errors::{Error, play_error};
use crate::shared::Shared;
use ggp_engine::machine::{AnyMachine, Machine, PlayError, PropnetState};
use ggp_gdl::game::Move;
use ggp_gdl::terms::TermId;

impl State {
    pub fn initial(py: Python<'_>, shared: &Arc<Shared>) -> PyResult<State> {
        let state = py.detach(|| shared.machine().initial());
        Ok(State {
            shared: Arc::clone(shared),
            state: state.map_err(|error| play_error(py, &error))?,
            history: Vec::new(),
            start: None,
            pending: None,
        })
    }

    /// The state after joint moves.
    pub fn after(py: Python<'_>, shared: &Arc<Shared>, moves: &[Vec<Move>]) -> PyResult<State> {
        let mut state = State::initial(py, shared)?;
        for joint in moves {
            state.advance(py, joint.clone())?;
        }
        Ok(state)
    }

    pub fn of_facts(py: Python<'_>, shared: &Arc<Shared>, facts: &[String]) -> PyResult<State> {
        let mut machine = shared.machine();
        let game = &shared.game;
        let terms = facts.iter().map(|fact| {
            let term = game.parse_term(machine.terms_mut(), fact);
            term.map_err(|error| PyValueError::new_err(error.to_string()))
        });
        let terms = terms.collect::<PyResult<Vec<_>>>()?;
        let state = machine
            .state(&terms)
            .map_err(|error| play_error(py, &error))?;
        drop(machine);
        Ok(State {
            start: Some(facts.to_vec()),
            state,
            ..State::initial(py, shared)?
        })
    }

    pub fn deserialize(py: Python<'_>, shared: &Arc<Shared>, text: &str) -> PyResult<State> {
        let bad =
            |why: &str| PyValueError::new_err(format!("this is not a serialized state: {why}"));
        let saved: Saved = serde_json::from_str(text).map_err(|error| bad(&error.to_string()))?;
        let mut state = match &saved.start {
            Some(facts) => State::of_facts(py, shared, facts)?,
            None => State::initial(py, shared)?,
        };
        for joint in &saved.moves {
            state.make(py, joint)?;
        }
        if let Some(pending) = saved.pending {
            if pending.len() != shared.game.role_count() {
                return Err(bad("it has another number of roles"));
            }
            let moves = pending.iter().map(|text| state.read(text));
            state.pending = Some(moves.collect::<PyResult<_>>()?);
        }
        Ok(state)
    }

    /// Calls the machine without the lock of the interpreter.
    pub(super) fn ask<T: Send>(
        &self,
        py: Python<'_>,
        question: impl FnOnce(&mut AnyMachine, &PropnetState) -> Result<T, PlayError> + Send,
    ) -> PyResult<T> {
        let answer = py.detach(|| question(&mut self.shared.machine(), &self.state));
        answer.map_err(|error| play_error(py, &error))
    }

    pub(super) fn read(&self, text: &str) -> PyResult<Move> {
        let made = self.shared.machine().read_move(text);
        made.map_err(|error| PyValueError::new_err(error.to_string()))
    }

    pub(super) fn make(&mut self, py: Python<'_>, texts: &[String]) -> PyResult<()> {
        let joint = texts
            .iter()
            .map(|text| self.read(text))
            .collect::<PyResult<Vec<_>>>()?;
        self.advance(py, joint)
    }

    /// Makes a joint move.
    pub(super) fn advance(&mut self, py: Python<'_>, joint: Vec<Move>) -> PyResult<()> {
        self.state = self.ask(py, |machine, state| machine.play(state, &joint))?;
        self.history.push(joint);
        self.pending = None;
        Ok(())
    }

    pub(super) fn is_over(&self, py: Python<'_>) -> PyResult<bool> {
        self.ask(py, |machine, state| machine.is_terminal(state))
    }

    /// The facts of the first state, if it is not the initial one.
    pub fn first_facts(&self) -> PyResult<Option<Vec<TermId>>> {
        let Some(facts) = &self.start else {
            return Ok(None);
        };
        let mut machine = self.shared.machine();
        let terms = facts.iter().map(|fact| {
            let term = self.shared.game.parse_term(machine.terms_mut(), fact);
            term.map_err(|error| PyValueError::new_err(error.to_string()))
        });
        terms.collect::<PyResult<Vec<_>>>().map(Some)
    }

    /// Refuses a state in which the players have chosen, and chance has not.
    pub fn check_settled(&self) -> PyResult<()> {
        match self.pending {
            None => Ok(()),
            Some(_) => Err(PyValueError::new_err(
                "chance chooses in this state: make its move first, with apply_action",
            )),
        }
    }

    /// Refuses a player who does not exist, and one who does not know the facts.
    pub(super) fn check_observer(&self, player: Option<i32>) -> PyResult<()> {
        player.map(|player| self.role(player)).transpose()?;
        match self.shared.hides() {
            false => Ok(()),
            true => Err(Error::new_err(
                "the rules have `sees`: players do not know the facts",
            )),
        }
    }
}
