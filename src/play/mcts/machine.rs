//! A machine as the tree search sees it: one state at a time.

use crate::game::Move;
use crate::machine::{Machine, PlayError};
use crate::search::mcts::GameProblem;

/// A game on a machine. Rules that are wrong somewhere concern the match only if
/// it gets there: a role without a legal move or a score gets what it gets.
#[derive(Debug)]
pub struct Simulation<'m, M>(pub &'m mut M);

impl<M: Machine> GameProblem for Simulation<'_, M> {
    type State = M::State;
    type Move = Move;
    type Error = PlayError;

    fn roles(&self) -> usize {
        self.0.game().role_count()
    }

    fn is_chance(&self, role: usize) -> bool {
        let game = self.0.game();
        game.roles()
            .nth(role)
            .is_some_and(|role| game.is_random(role))
    }

    fn is_terminal(&mut self, state: &M::State) -> Result<bool, PlayError> {
        self.0.is_terminal(state)
    }

    fn legal(
        &mut self,
        state: &M::State,
        role: usize,
        out: &mut Vec<Move>,
    ) -> Result<(), PlayError> {
        let role = self.0.game().roles().nth(role).expect("a role of the game");
        match self.0.legal(state, role, out) {
            Err(PlayError::NoLegalMove(_)) => {
                out.clear();
                Ok(())
            }
            other => other,
        }
    }

    fn next(&mut self, state: &M::State, joint: &[Move]) -> Result<M::State, PlayError> {
        self.0.next(state, joint)
    }

    fn goals(&mut self, state: &M::State, out: &mut [u8]) -> Result<(), PlayError> {
        for (role, value) in self.0.game().roles().zip(out) {
            *value = match self.0.goal(state, role) {
                Ok(score) => score.get(),
                Err(PlayError::NoGoal(_) | PlayError::AmbiguousGoal(_) | PlayError::BadGoal(_)) => {
                    0
                }
                Err(error) => return Err(error),
            };
        }
        Ok(())
    }

    fn state_heap_bytes(&self, state: &M::State) -> u64 {
        self.0.facts(state).len() as u64 * 4 + 16
    }
}
