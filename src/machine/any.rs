//! A machine whose backend is chosen when the program runs.

use std::sync::Arc;

use super::{DatalogMachine, Limits, Machine, NaiveMachine, PlayError};
use crate::game::{Game, Move, RoleId};
use crate::ground::{TermId, Terms};

/// The backends.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Backend {
    /// The planned bottom-up evaluator.
    #[default]
    Datalog,
    /// The slow and obvious evaluator.
    Naive,
}

/// A machine on one of the backends.
#[derive(Clone, Debug)]
pub enum AnyMachine {
    /// See [`DatalogMachine`].
    Datalog(Box<DatalogMachine>),
    /// See [`NaiveMachine`].
    Naive(NaiveMachine),
}

impl AnyMachine {
    /// A machine for a game on a backend.
    ///
    /// # Errors
    ///
    /// [`PlayError::TooLarge`] if what holds in every state is too large.
    pub fn new(game: &Game, backend: Backend, limits: Limits) -> Result<Self, PlayError> {
        Ok(match backend {
            Backend::Datalog => AnyMachine::Datalog(Box::new(DatalogMachine::new(game, limits)?)),
            Backend::Naive => AnyMachine::Naive(NaiveMachine::new(game, limits)),
        })
    }
}

macro_rules! each {
    ($machine:expr, $inner:ident => $answer:expr) => {
        match $machine {
            AnyMachine::Datalog($inner) => $answer,
            AnyMachine::Naive($inner) => $answer,
        }
    };
}

impl Machine for AnyMachine {
    type State = Arc<[TermId]>;

    fn game(&self) -> &Game {
        each!(self, m => m.game())
    }

    fn terms(&self) -> &Terms {
        each!(self, m => m.terms())
    }

    fn terms_mut(&mut self) -> &mut Terms {
        each!(self, m => m.terms_mut())
    }

    fn initial(&mut self) -> Result<Self::State, PlayError> {
        each!(self, m => m.initial())
    }

    fn is_terminal(&mut self, state: &Self::State) -> Result<bool, PlayError> {
        each!(self, m => m.is_terminal(state))
    }

    fn legal(
        &mut self,
        state: &Self::State,
        role: RoleId,
        out: &mut Vec<Move>,
    ) -> Result<(), PlayError> {
        each!(self, m => m.legal(state, role, out))
    }

    fn next(&mut self, state: &Self::State, joint: &[Move]) -> Result<Self::State, PlayError> {
        each!(self, m => m.next(state, joint))
    }

    fn goal_values(&mut self, state: &Self::State, role: RoleId) -> Result<Vec<TermId>, PlayError> {
        each!(self, m => m.goal_values(state, role))
    }

    fn facts(&self, state: &Self::State) -> Vec<TermId> {
        each!(self, m => m.facts(state))
    }

    fn state(&mut self, facts: &[TermId]) -> Result<Self::State, PlayError> {
        each!(self, m => m.state(facts))
    }
}
