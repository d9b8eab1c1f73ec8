//! The news of a turn for one role.
//!
//! In: a turn of a match. Out: what a role is to be told of it, as text. In games with `sees`
//! that is its own move and its percepts and nothing else.

use super::Ply;
use ggp_engine::machine::Machine;
use ggp_gdl::game::RoleId;

/// The part of the last turn that a role may know, in the spelling of the rules.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum News {
    /// The joint move, where every role sees all moves; empty before the first.
    Moves(Vec<String>),
    /// The role's own part of the turn, in games with `sees`.
    Percepts {
        /// The number of joint moves so far.
        turn: usize,
        /// The role's own move; absent before the first.
        own_move: Option<String>,
        /// The percepts; empty before the first move.
        percepts: Vec<String>,
    },
}

impl News {
    /// The news for a role after `turn` joint moves, of which `last` is the last one.
    pub fn new<M: Machine>(
        machine: &M,
        role: RoleId,
        turn: usize,
        last: Option<&Ply<M::State>>,
    ) -> Self {
        let game = machine.game();
        let text = |term| game.text(machine.terms(), term);
        if !game.is_hidden() {
            let joint = last.map_or(&[][..], |ply| &ply.joint);
            return News::Moves(joint.iter().map(|chosen| text(chosen.term())).collect());
        }
        let own_move = last.map(|ply| text(ply.joint[role.index()].term()));
        let percepts = last.map_or(&[][..], |ply| &ply.percepts[role.index()]);
        News::Percepts {
            turn,
            own_move,
            percepts: percepts.iter().map(|percept| text(*percept)).collect(),
        }
    }
}
