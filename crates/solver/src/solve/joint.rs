//! A game of several roles as a search problem over joint moves.

use ggp_engine::machine::{Excess, Machine, PlayError};
use ggp_gdl::game::{Game, Move, RoleId, Score};
use ggp_gdl::terms::{TermId, Terms};
use ggp_search::{KeyMeaning, Problem, Status};

/// The most joint moves in one state.
const MOST: usize = 100_000;

/// The moves of all roles, and for each whether the role had a choice.
pub type Joint = ggp_search::Joint<Move>;

/// The text of a joint move: the moves of the roles that have a choice, or of all roles if
/// none has.
///
/// `terms` must contain all moves.
pub fn joint_text(game: &Game, terms: &Terms, joint: &[(Move, bool)]) -> String {
    let has_choice = joint.iter().any(|(_, is_chosen)| *is_chosen);
    let moves = joint
        .iter()
        .filter(|(_, is_chosen)| *is_chosen || !has_choice);
    let texts: Vec<String> = moves
        .map(|(chosen, _)| game.text(terms, chosen.term()))
        .collect();
    texts.join(" & ")
}

/// A game of any number of roles, starting from a given state. A terminal state is solved
/// if the score of one role reaches the target.
#[derive(Clone, Debug)]
pub struct JointProblem<M: Machine> {
    /// The machine that evaluates the rules.
    pub machine: M,
    /// The first state.
    pub start: M::State,
    /// The role whose score counts.
    pub role: RoleId,
    /// The lowest score of a solution.
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
            if joints.len().saturating_mul(legal.len()) > MOST {
                let excess = Excess::new("joint moves in one state", MOST as u64);
                return Err(PlayError::TooLarge(excess));
            }
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

#[cfg(test)]
mod tests {
    use super::*;
    use ggp_engine::machine::{AnyMachine, Limits};

    /// The number of joint moves if `roles` roles choose among 20 moves each.
    fn actions(roles: usize) -> Result<usize, PlayError> {
        let roles: String = (0..roles).map(|role| format!("(role r{role}) ")).collect();
        let moves: String = (0..20).map(|m| format!("(move m{m}) ")).collect();
        let text = format!(
            "{roles} {moves} (init (at 0)) (<= (legal ?r ?m) (role ?r) (move ?m))
             (<= (next (at 1)) (true (at 0))) (<= terminal (true (at 1)))
             (<= (goal ?r 100) (role ?r))"
        );
        let game = Game::from_text("many", &text).unwrap();
        let (mut machine, _) = AnyMachine::auto(&game, Limits::default()).unwrap();
        let start = machine.initial().unwrap();
        let mut problem = JointProblem {
            start: start.clone(),
            role: game.roles().next().unwrap(),
            target: Score::MAX,
            machine,
        };
        let mut out = Vec::new();
        problem.actions(&start, &mut out)?;
        Ok(out.len())
    }

    #[test]
    fn joint_moves_are_counted_before_they_are_made() {
        assert_eq!(actions(2), Ok(400));
        let told = actions(8).unwrap_err().to_string();
        assert_eq!(told, "more than 100000 joint moves in one state");
    }
}
