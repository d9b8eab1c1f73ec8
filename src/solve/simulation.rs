//! A game as something to play out at random.

use super::problem::GameProblem;
use crate::game::{Move, RoleId, Score};
use crate::machine::{Machine, PlayError};
use crate::search::mcts;

/// A game of one role that is to be solved.
pub(super) struct Simulation<'p, M: Machine> {
    problem: &'p mut GameProblem<M>,
    target: Score,
}

impl<'p, M: Machine> Simulation<'p, M> {
    pub(super) fn of_problem(problem: &'p mut GameProblem<M>) -> Self {
        let target = problem.target();
        Simulation { problem, target }
    }
}

impl<M: Machine> mcts::GameProblem for Simulation<'_, M> {
    type State = M::State;
    type Move = Move;
    type Error = PlayError;

    fn roles(&self) -> usize {
        1
    }

    fn is_terminal(&mut self, state: &M::State) -> Result<bool, PlayError> {
        self.problem.machine_mut().is_terminal(state)
    }

    fn legal(
        &mut self,
        state: &M::State,
        _role: usize,
        out: &mut Vec<Move>,
    ) -> Result<(), PlayError> {
        self.problem.moves(state, out)
    }

    fn next(&mut self, state: &M::State, joint: &[Move]) -> Result<M::State, PlayError> {
        self.problem.machine_mut().next(state, joint)
    }

    /// Everything from the target on is a full success.
    fn goals(&mut self, state: &M::State, out: &mut [u8]) -> Result<(), PlayError> {
        let score = self.problem.score(state)?;
        out[0] = match score {
            Some(score) if score >= self.target => 100,
            Some(score) => score.get(),
            None => 0,
        };
        Ok(())
    }

    fn state_heap_bytes(&self, state: &M::State) -> u64 {
        crate::search::Problem::state_heap_bytes(self.problem, state)
    }
}

/// A game of any number of roles that is to be evaluated.
pub(super) struct Table<M: Machine> {
    machine: M,
    roles: Vec<RoleId>,
}

impl<M: Machine> Table<M> {
    pub(super) fn new(machine: M) -> Self {
        let roles = machine.game().roles().collect();
        Table { machine, roles }
    }
}

impl<M: Machine> mcts::GameProblem for Table<M> {
    type State = M::State;
    type Move = Move;
    type Error = PlayError;

    fn roles(&self) -> usize {
        self.roles.len()
    }

    fn is_chance(&self, role: usize) -> bool {
        self.machine.game().is_random(self.roles[role])
    }

    fn is_terminal(&mut self, state: &M::State) -> Result<bool, PlayError> {
        self.machine.is_terminal(state)
    }

    fn legal(
        &mut self,
        state: &M::State,
        role: usize,
        out: &mut Vec<Move>,
    ) -> Result<(), PlayError> {
        self.machine.legal(state, self.roles[role], out)
    }

    fn next(&mut self, state: &M::State, joint: &[Move]) -> Result<M::State, PlayError> {
        self.machine.next(state, joint)
    }

    fn goals(&mut self, state: &M::State, out: &mut [u8]) -> Result<(), PlayError> {
        for (role, value) in self.roles.iter().zip(out) {
            *value = match self.machine.game().is_random(*role) {
                true => 50,
                false => self.machine.goal(state, *role)?.get(),
            };
        }
        Ok(())
    }

    fn state_heap_bytes(&self, state: &M::State) -> u64 {
        self.machine.facts(state).len() as u64 * 4 + 16
    }
}
