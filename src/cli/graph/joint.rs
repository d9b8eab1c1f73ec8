//! A game of several roles as something to explore: all that may be done together.

use crate::game::{Move, RoleId, Score};
use crate::ground::TermId;
use crate::machine::{Machine, PlayError};
use crate::search::{KeyMeaning, Problem, Status};

/// The moves of all roles, and whether each could have been another.
pub(super) type Joint = Vec<(Move, bool)>;

/// A game from some state on. Ends are solved where one role has the score wanted.
pub(super) struct JointProblem<M: Machine> {
    pub machine: M,
    pub start: M::State,
    pub role: RoleId,
    pub target: Score,
}

impl<M: Machine> Problem for JointProblem<M> {
    type State = M::State;
    type Key = M::State;
    type Action = Joint;
    type Error = PlayError;

    fn start(&mut self) -> Result<M::State, PlayError> {
        Ok(self.start.clone())
    }

    fn status(&mut self, state: &M::State) -> Result<Status, PlayError> {
        if !self.machine.is_terminal(state)? {
            return Ok(Status::Open);
        }
        Ok(match self.machine.goal(state, self.role)? >= self.target {
            true => Status::Solved,
            false => Status::Dead,
        })
    }

    fn actions(&mut self, state: &M::State, out: &mut Vec<Joint>) -> Result<(), PlayError> {
        let roles: Vec<RoleId> = self.machine.game().roles().collect();
        let mut joints = vec![Joint::new()];
        let mut legal = Vec::new();
        for role in roles {
            self.machine.legal(state, role, &mut legal)?;
            let longer = joints.iter().flat_map(|joint| {
                legal.iter().map(|chosen| {
                    let mut joint = joint.clone();
                    joint.push((*chosen, legal.len() > 1));
                    joint
                })
            });
            joints = longer.collect();
        }
        out.append(&mut joints);
        Ok(())
    }

    fn result(&mut self, state: &M::State, action: &Joint) -> Result<M::State, PlayError> {
        let moves: Vec<Move> = action.iter().map(|(chosen, _)| *chosen).collect();
        self.machine.next(state, &moves)
    }

    fn key(&self, state: &M::State) -> M::State {
        state.clone()
    }

    fn key_meaning(&self) -> KeyMeaning {
        KeyMeaning::SameFuture
    }

    fn state_heap_bytes(&self, state: &M::State) -> u64 {
        (self.machine.facts(state).len() * size_of::<TermId>()) as u64 + 16
    }

    fn key_heap_bytes(&self, key: &M::State) -> u64 {
        self.state_heap_bytes(key)
    }
}
