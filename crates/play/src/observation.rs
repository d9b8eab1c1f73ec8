//! The part of a match that one role knows.
//!
//! In: a match, or the role's own moves and, after each, either the joint move (GDL) or the
//! role's percepts (GDL-II). Out: an [`Observation`] for an [`Agent`](super::Agent). In games
//! with `sees` it has the role's own moves and percepts and nothing else. The role `random` is
//! chance, which knows all moves.

use std::sync::Arc;

use super::{History, Match, PlayerError};
use ggp_engine::machine::{Machine, PlayError};
use ggp_gdl::game::{Game, Move, RoleId};
use ggp_gdl::terms::TermId;

/// Everything that one role knows of a match so far. A clone is cheap.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Observation {
    own: Arc<[Move]>,
    seen: Seen,
}

/// The role's knowledge of each turn apart from its own move.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Seen {
    /// One move for each role, by turn.
    JointMoves(Arc<[Vec<Move>]>),
    /// The terms for which `sees` held, by turn.
    Percepts(Arc<[Vec<TermId>]>),
}

impl Observation {
    /// The knowledge of a role after joint moves of a match that begins in `start`.
    ///
    /// A [`Match`] keeps the percepts of its joint moves, so [`Observation::of_history`] is
    /// faster where there is one.
    ///
    /// # Errors
    ///
    /// As [`Match::play`], in games with `sees`. Otherwise the moves are not checked.
    pub fn of_match<M: Machine>(
        machine: &M,
        role: RoleId,
        start: M::State,
        joint_moves: &[Vec<Move>],
    ) -> Result<Self, PlayError> {
        if sees_all(machine.game(), role) {
            return Ok(Observation::of_joint_moves(role, joint_moves));
        }
        let mut played = Match::new(machine.clone(), start);
        for joint in joint_moves {
            played.play(joint.clone())?;
        }
        let game = machine.game();
        Ok(Observation::of_history(game, role, played.history()))
    }

    /// The knowledge of a role after the joint moves of a [`Match`].
    pub fn of_history<S: Clone>(game: &Game, role: RoleId, history: &History<S>) -> Self {
        if sees_all(game, role) {
            let joint_moves: Arc<[_]> = history.plies().map(|ply| ply.joint.clone()).collect();
            return Observation::of_joint_moves(role, joint_moves);
        }
        let own: Arc<[_]> = history.plies().map(|ply| ply.joint[role.index()]).collect();
        let percepts: Arc<[_]> = history
            .plies()
            .map(|ply| ply.percepts[role.index()].clone())
            .collect();
        Observation::of_percepts(own, percepts)
    }

    /// An observation of a game in which every role sees all moves (GDL).
    ///
    /// Each joint move has one entry for each role of the game.
    ///
    /// # Panics
    ///
    /// If a joint move has no entry for the role.
    pub fn of_joint_moves(role: RoleId, joint_moves: impl Into<Arc<[Vec<Move>]>>) -> Self {
        let joint_moves = joint_moves.into();
        Observation {
            own: joint_moves
                .iter()
                .map(|joint| joint[role.index()])
                .collect(),
            seen: Seen::JointMoves(joint_moves),
        }
    }

    /// An observation of a game in which a role sees its own moves and its percepts
    /// (GDL-II).
    ///
    /// # Panics
    ///
    /// If the numbers of moves and of percept lists differ.
    pub fn of_percepts(
        own_moves: impl Into<Arc<[Move]>>,
        percepts: impl Into<Arc<[Vec<TermId>]>>,
    ) -> Self {
        let (own, percepts) = (own_moves.into(), percepts.into());
        assert_eq!(
            own.len(),
            percepts.len(),
            "one list of percepts for each move"
        );
        Observation {
            own,
            seen: Seen::Percepts(percepts),
        }
    }

    /// The number of turns so far.
    pub fn len(&self) -> usize {
        self.own.len()
    }

    /// Returns true if no move has been made yet.
    pub fn is_empty(&self) -> bool {
        self.own.is_empty()
    }

    /// The role's own moves, one for each turn.
    pub fn own_moves(&self) -> &[Move] {
        &self.own
    }

    /// The joint moves, if the role sees them.
    pub fn joint_moves(&self) -> Option<&[Vec<Move>]> {
        match &self.seen {
            Seen::JointMoves(joint_moves) => Some(joint_moves),
            Seen::Percepts(_) => None,
        }
    }

    /// The percepts after each turn, if the role sees them in place of the joint moves.
    pub fn percepts(&self) -> Option<&[Vec<TermId>]> {
        match &self.seen {
            Seen::JointMoves(_) => None,
            Seen::Percepts(percepts) => Some(percepts),
        }
    }

    /// The joint moves, for an agent that cannot do without them.
    ///
    /// # Errors
    ///
    /// [`PlayerError::HiddenMoves`] if the role sees only percepts.
    pub fn required_joint_moves(&self) -> Result<&[Vec<Move>], PlayerError> {
        self.joint_moves().ok_or(PlayerError::HiddenMoves)
    }
}

/// Returns true if a role knows all moves.
pub(super) fn sees_all(game: &Game, role: RoleId) -> bool {
    !game.is_hidden() || game.is_random(role)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ggp_gdl::game::Game;

    const RULES: &str = "(role a) (role b) (legal a x) (legal b y) (init p) terminal
        (goal a 1) (goal b 1)";

    #[test]
    fn own_moves_are_taken_from_joint_moves() {
        let game = Game::from_text("rules", RULES).unwrap();
        let moves: Vec<Move> = game.roles().map(|r| Move::new(game.role_term(r))).collect();
        let role = game.roles().nth(1).unwrap();
        let observation = Observation::of_joint_moves(role, vec![moves.clone(); 3]);
        assert_eq!(observation.own_moves(), [moves[1]; 3]);
        assert_eq!(observation.joint_moves().unwrap().len(), 3);
        assert_eq!(observation.percepts(), None);
    }

    #[test]
    fn percepts_hide_the_joint_moves() {
        let game = Game::from_text("rules", RULES).unwrap();
        let role = game.roles().next().unwrap();
        let own = vec![Move::new(game.role_term(role))];
        let percepts = vec![vec![game.role_term(role)]];
        let observation = Observation::of_percepts(own.clone(), percepts.clone());
        assert_eq!(observation.own_moves(), own);
        assert_eq!(observation.percepts(), Some(&percepts[..]));
        let error = observation.required_joint_moves().unwrap_err();
        assert!(matches!(error, PlayerError::HiddenMoves), "{error}");
    }
}
