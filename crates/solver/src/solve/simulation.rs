//! Games as problems for Monte Carlo tree search.

use super::problem::GameProblem;
use ggp_engine::machine::{Machine, PlayError};
use ggp_gdl::game::{Move, RoleId, Score};
use ggp_search::mcts;

/// A game of one role to be solved. A state has the number of moves that lead to it.
pub(super) struct Simulation<'p, M: Machine> {
    problem: &'p mut GameProblem<M>,
    target: Score,
    /// The most moves: other states are ends without points.
    depth: u32,
}

impl<'p, M: Machine> Simulation<'p, M> {
    pub(super) fn of_problem(problem: &'p mut GameProblem<M>, depth: u32) -> Self {
        let target = problem.target();
        Simulation {
            problem,
            target,
            depth,
        }
    }
}

impl<M: Machine> mcts::GameProblem for Simulation<'_, M> {
    type State = (M::State, u32);
    type Move = Move;
    type Error = PlayError;

    fn roles(&self) -> usize {
        1
    }

    fn is_terminal(&mut self, (state, moves): &Self::State) -> Result<bool, PlayError> {
        Ok(*moves >= self.depth || self.problem.machine_mut().is_terminal(state)?)
    }

    fn legal(
        &mut self,
        (state, _): &Self::State,
        _role: usize,
        out: &mut Vec<Move>,
    ) -> Result<(), PlayError> {
        self.problem.moves(state, out)
    }

    fn next(
        &mut self,
        (state, moves): &Self::State,
        joint: &[Move],
    ) -> Result<Self::State, PlayError> {
        let next = self.problem.machine_mut().next(state, joint)?;
        Ok((next, moves.saturating_add(1)))
    }

    /// Scores from the target on count as 100.
    fn goals(&mut self, (state, moves): &Self::State, out: &mut [u8]) -> Result<(), PlayError> {
        let is_end = *moves < self.depth || self.problem.machine_mut().is_terminal(state)?;
        let score = if is_end {
            self.problem.score(state)?
        } else {
            None
        };
        out[0] = match score {
            Some(score) if score >= self.target => 100,
            Some(score) => score.get(),
            None => 0,
        };
        Ok(())
    }

    fn state_heap_bytes(&self, (state, _): &Self::State) -> u64 {
        ggp_search::Problem::state_heap_bytes(self.problem, state)
    }
}

/// A game of any number of roles on a machine. Where the rules are faulty, a role without exactly one
/// score at the end scores 0, because a match may never reach that state.
#[derive(Debug)]
pub struct Table<'m, M> {
    machine: &'m mut M,
    roles: Vec<RoleId>,
}

impl<'m, M: Machine> Table<'m, M> {
    /// The game that the machine runs.
    pub fn new(machine: &'m mut M) -> Self {
        let roles = machine.game().roles().collect();
        Table { machine, roles }
    }

    /// The score of a role at the end; 50 if the role is chance.
    fn score(&mut self, state: &M::State, role: RoleId) -> Result<u8, PlayError> {
        if self.machine.game().is_random(role) {
            return Ok(50);
        }
        match self.machine.goal(state, role) {
            Err(PlayError::NoGoal(_) | PlayError::AmbiguousGoal(_) | PlayError::BadGoal(_)) => {
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
            Err(PlayError::NoLegalMove(_)) => {
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
