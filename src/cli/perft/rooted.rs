//! A machine whose game begins in another state, and which can be stopped
//! between two questions.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::game::{Game, Move, RoleId, Score};
use crate::ground::{TermId, Terms};
use crate::machine::{Machine, PlayError};

/// A machine that answers as another one, but for [`Machine::initial`].
#[derive(Clone, Debug)]
pub struct Rooted<M: Machine> {
    machine: M,
    root: M::State,
    interrupt: Arc<AtomicBool>,
}

impl<M: Machine> Rooted<M> {
    /// The machine, with another initial state. Questions whose number grows
    /// with the work fail once the interrupt is raised, however small they are.
    pub fn new(machine: M, root: M::State, interrupt: Arc<AtomicBool>) -> Self {
        Rooted {
            machine,
            root,
            interrupt,
        }
    }

    fn check(&self) -> Result<(), PlayError> {
        match self.interrupt.load(Ordering::Relaxed) {
            true => Err(PlayError::Interrupted),
            false => Ok(()),
        }
    }
}

impl<M: Machine> Machine for Rooted<M> {
    type State = M::State;

    fn game(&self) -> &Game {
        self.machine.game()
    }

    fn terms(&self) -> &Terms {
        self.machine.terms()
    }

    fn terms_mut(&mut self) -> &mut Terms {
        self.machine.terms_mut()
    }

    fn initial(&mut self) -> Result<Self::State, PlayError> {
        Ok(self.root.clone())
    }

    fn is_terminal(&mut self, state: &Self::State) -> Result<bool, PlayError> {
        self.check()?;
        self.machine.is_terminal(state)
    }

    fn legal(
        &mut self,
        state: &Self::State,
        role: RoleId,
        out: &mut Vec<Move>,
    ) -> Result<(), PlayError> {
        self.machine.legal(state, role, out)
    }

    fn next(&mut self, state: &Self::State, joint: &[Move]) -> Result<Self::State, PlayError> {
        self.check()?;
        self.machine.next(state, joint)
    }

    fn goal(&mut self, state: &Self::State, role: RoleId) -> Result<Score, PlayError> {
        self.machine.goal(state, role)
    }

    fn goal_values(&mut self, state: &Self::State, role: RoleId) -> Result<Vec<TermId>, PlayError> {
        self.machine.goal_values(state, role)
    }

    fn facts(&self, state: &Self::State) -> Vec<TermId> {
        self.machine.facts(state)
    }

    fn state(&mut self, facts: &[TermId]) -> Result<Self::State, PlayError> {
        self.machine.state(facts)
    }
}
