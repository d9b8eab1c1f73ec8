//! Games as problems for Monte Carlo tree search.

use super::problem::GameProblem;
use ggp_engine::machine::{Machine, PlayError};
use ggp_gdl::game::{Move, RoleId, Score};
use ggp_search::mcts;

/// A game of one role to be solved.
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

    /// Scores from the target on count as 100.
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
        ggp_search::Problem::state_heap_bytes(self.problem, state)
    }
}

/// The treatment of faulty rules: a role without a legal move, or without exactly one score
/// at the end.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Faults {
    /// The fault ends the search.
    End,
    /// The role scores 0 there, because a match may never reach that state.
    Nothing,
}

/// A game of any number of roles on a machine.
#[derive(Debug)]
pub struct Table<'m, M> {
    machine: &'m mut M,
    roles: Vec<RoleId>,
    faults: Faults,
}

impl<'m, M: Machine> Table<'m, M> {
    /// The game that the machine runs.
    pub fn new(machine: &'m mut M, faults: Faults) -> Self {
        let roles = machine.game().roles().collect();
        Table {
            machine,
            roles,
            faults,
        }
    }

    /// The score of a role at the end; 50 if the role is chance.
    fn score(&mut self, state: &M::State, role: RoleId) -> Result<u8, PlayError> {
        if self.machine.game().is_random(role) {
            return Ok(50);
        }
        match self.machine.goal(state, role) {
            Err(PlayError::NoGoal(_) | PlayError::AmbiguousGoal(_) | PlayError::BadGoal(_))
                if self.faults == Faults::Nothing =>
            {
                Ok(0)
            }
            score => score.map(Score::get),
        }
    }
}

impl<M: Machine> mcts::GameProblem for Table<'_, M> {
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
        match self.machine.legal(state, self.roles[role], out) {
            Err(PlayError::NoLegalMove(_)) if self.faults == Faults::Nothing => {
                out.clear();
                Ok(())
            }
            other => other,
        }
    }

    fn next(&mut self, state: &M::State, joint: &[Move]) -> Result<M::State, PlayError> {
        self.machine.next(state, joint)
    }

    fn goals(&mut self, state: &M::State, out: &mut [u8]) -> Result<(), PlayError> {
        for (role, value) in out.iter_mut().enumerate() {
            *value = self.score(state, self.roles[role])?;
        }
        Ok(())
    }

    fn state_heap_bytes(&self, state: &M::State) -> u64 {
        self.machine.facts(state).len() as u64 * 4 + 16
    }
}
