//! The making of states: from facts, joint moves and what was written down.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::{Saved, State};
use crate::errors::{Error, play_error};
use crate::knowledge::Turn;
use crate::shared::Shared;
use crate::view::View;
use ggp_engine::machine::{AnyMachine, Machine, PlayError, PropnetState};
use ggp_gdl::game::{Move, RoleId};
use ggp_gdl::terms::TermId;

impl State {
    pub fn initial(py: Python<'_>, shared: &Arc<Shared>) -> PyResult<State> {
        let state = py.detach(|| shared.machine().initial());
        Ok(State {
            shared: Arc::clone(shared),
            state: state.map_err(|error| play_error(py, &error))?,
            history: Vec::new(),
            turns: Vec::new(),
            start: None,
            pending: None,
            has_lost_past: false,
        })
    }

    /// A state with joint moves that lead to it from the state with the facts `start`.
    pub fn reached(
        shared: &Arc<Shared>,
        state: PropnetState,
        history: Vec<Vec<Move>>,
        start: Option<Vec<String>>,
    ) -> State {
        State {
            shared: Arc::clone(shared),
            state,
            history,
            turns: Vec::new(),
            start,
            pending: None,
            has_lost_past: false,
        }
    }

    /// The facts, if the state is one of this game and no choice of chance is missing.
    pub fn facts_within(&self, py: Python<'_>, shared: &Arc<Shared>) -> PyResult<Vec<String>> {
        if !self.shared.is_same(shared) {
            return Err(PyValueError::new_err("the state is one of another game"));
        }
        self.check_settled()?;
        self.facts(py)
    }

    /// The match as a role knows it.
    pub fn view_of(&self, py: Python<'_>, role: usize) -> PyResult<View> {
        self.shared.check_hides()?;
        self.check_settled()?;
        let role = self.shared.knower(role)?;
        let legal = self.ask(py, |machine, state| {
            let mut legal = Vec::new();
            if !machine.is_terminal(state)? {
                machine.legal(state, role, &mut legal)?;
            }
            Ok(legal)
        })?;
        Ok(View {
            shared: Arc::clone(&self.shared),
            role,
            observation: self.observation(py, role)?,
            legal,
            start: self.start.clone(),
        })
    }

    /// The role of a player, or of the current one.
    pub(super) fn observer(&self, py: Python<'_>, player: Option<i32>) -> PyResult<RoleId> {
        let player = match player {
            Some(player) => player,
            None => self.current_player(py)?,
        };
        match self.role(player) {
            Ok(role) if player >= 0 => Ok(role),
            _ if player < 0 => Err(PyValueError::new_err(
                "what is known depends on the player: name one",
            )),
            other => other,
        }
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
        let terms = shared.facts(facts)?;
        let mut machine = shared.machine();
        let state = machine
            .state(&terms)
            .map_err(|error| play_error(py, &error))?;
        // Equal states have equal lists.
        let texts = machine.facts(&state).into_iter();
        let texts = texts.map(|fact| shared.game.text(machine.terms(), fact));
        let mut start: Vec<String> = texts.collect();
        start.sort();
        drop(machine);
        Ok(State {
            start: Some(start),
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
        state.has_lost_past = saved.has_lost_past;
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

    /// The moves of the players while chance has not chosen yet.
    pub(super) fn pending_texts(&self) -> Option<Vec<String>> {
        let machine = self.shared.machine();
        let texts = |joint: &Vec<Move>| joint.iter().map(|made| machine.text(*made)).collect();
        self.pending.as_ref().map(texts)
    }

    /// All that equal states have in common, except the rules and the facts.
    pub(super) fn context(&self) -> Saved {
        let hides = self.shared.hides();
        Saved {
            start: self.start.clone().filter(|_| hides),
            moves: if hides { self.history() } else { Vec::new() },
            pending: self.pending_texts(),
            has_lost_past: self.has_lost_past,
        }
    }

    /// Calls the machine without the lock of the interpreter.
    pub fn ask<T: Send>(
        &self,
        py: Python<'_>,
        question: impl FnOnce(&mut AnyMachine, &PropnetState) -> Result<T, PlayError> + Send,
    ) -> PyResult<T> {
        let answer = py.detach(|| question(&mut self.shared.machine(), &self.state));
        answer.map_err(|error| play_error(py, &error))
    }

    pub fn read(&self, text: &str) -> PyResult<Move> {
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
        let next = self.ask(py, |machine, state| machine.play(state, &joint))?;
        if self.shared.hides() && self.turns.len() == self.history.len() {
            self.turns.push(Turn::new(self.state.clone()));
        }
        self.state = next;
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
        self.shared.terms(facts).map(Some)
    }

    /// Returns true if the match began in this state.
    pub fn is_first(&self) -> bool {
        self.history.is_empty() && !self.has_lost_past
    }

    /// Refuses a state whose past is not known, where something depends on it.
    pub fn check_past(&self) -> PyResult<()> {
        if self.has_lost_past {
            return Err(Error::new_err(
                "the moves that led to this state of a batch are not known, and so neither is what a role knows: \
                 after `Batch.set_states`, or if the moves need more than `memory`, reset the match first, or \
                 play it as a `State`",
            ));
        }
        Ok(())
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
}
