//! One state that is changed in place: nothing is copied, compared or looked up by hash from one move
//! to the next, which takes longer than the gates of a small network.

use std::sync::Arc;

use super::{Evaluator, PropnetMachine, PropnetState, Shared};
use ggp_gdl::game::Move;
use ggp_gdl::terms::TermId;

/// The state in an evaluator of its own.
#[derive(Clone, Debug)]
pub(in crate::machine) struct Walk {
    shared: Arc<Shared>,
    evaluator: Evaluator,
    roles: Vec<Legal>,
    joint: Vec<usize>,
}

/// The legal moves of a role.
#[derive(Clone, Debug)]
struct Legal {
    /// Their number, if they are listed.
    count: Option<usize>,
    /// The index of each among all moves; the entries after `count` mean nothing.
    numbers: Vec<u32>,
    /// The moves themselves, made when they are asked for.
    moves: Vec<Move>,
}

impl PropnetMachine {
    /// The initial state, to be changed in place; `None` if the text of all moves may be longer than the limit,
    /// which only [`Machine::legal`](crate::machine::Machine::legal) looks at.
    pub(in crate::machine) fn walk(&self) -> Option<Walk> {
        let moves = &self.shared.net.moves;
        (self.shared.symbols <= self.limits.symbols).then(|| Walk {
            shared: Arc::clone(&self.shared),
            evaluator: self.shared.evaluator(self.limits.engine).clone(),
            roles: (moves.iter())
                .map(|moves| Legal {
                    count: None,
                    numbers: vec![0; moves.len()],
                    moves: Vec::new(),
                })
                .collect(),
            joint: vec![0; moves.len()],
        })
    }
}

impl Walk {
    pub(in crate::machine) fn is_terminal(&mut self) -> bool {
        match &mut self.evaluator {
            Evaluator::Lanes(batch) => batch.is_terminal(0),
            Evaluator::Changes(changes) => changes.is_terminal(),
            Evaluator::Once(_) => unreachable!("an evaluator that is shared can make moves"),
        }
    }

    /// The number of legal moves of a role.
    pub(in crate::machine) fn count(&mut self, role: usize) -> usize {
        let legal = &mut self.roles[role];
        if let Some(count) = legal.count {
            return count;
        }
        let count = match &mut self.evaluator {
            Evaluator::Lanes(batch) => batch.list_legal(role, &mut legal.numbers),
            Evaluator::Changes(changes) => {
                let numbers = changes.legal_moves(role).zip(&mut legal.numbers);
                numbers
                    .map(|(number, entry)| *entry = number as u32)
                    .count()
            }
            Evaluator::Once(_) => unreachable!("an evaluator that is shared can make moves"),
        };
        legal.count = Some(count);
        legal.moves.clear();
        count
    }

    /// The legal moves of a role.
    pub(in crate::machine) fn legal(&mut self, role: usize) -> &[Move] {
        let count = self.count(role);
        let legal = &mut self.roles[role];
        if legal.moves.len() < count {
            let moves = &self.shared.net.moves[role];
            let numbers = legal.numbers[..count].iter();
            (legal.moves).extend(numbers.map(|&number| moves[number as usize]));
        }
        &legal.moves
    }

    /// Chooses the move at a place among the legal moves of a role, which are listed.
    pub(in crate::machine) fn choose(&mut self, role: usize, place: usize) {
        self.joint[role] = self.roles[role].numbers[place] as usize;
    }

    /// Makes the joint move that was chosen.
    pub(in crate::machine) fn step(&mut self) {
        match &mut self.evaluator {
            Evaluator::Lanes(batch) => batch.step(&self.joint),
            Evaluator::Changes(changes) => changes.step(&self.joint),
            Evaluator::Once(_) => unreachable!("an evaluator that is shared can make moves"),
        }
        self.forget();
    }

    fn forget(&mut self) {
        for legal in &mut self.roles {
            legal.count = None;
        }
    }

    pub(in crate::machine) fn goal_values(&mut self, role: usize) -> Vec<TermId> {
        let goals = &self.shared.net.goals[role];
        let value = |number: usize| goals[number].0;
        match &mut self.evaluator {
            Evaluator::Lanes(batch) => batch.goal_values(0, role).map(value).collect(),
            Evaluator::Changes(changes) => changes.goal_values(role).map(value).collect(),
            Evaluator::Once(_) => unreachable!("an evaluator that is shared can make moves"),
        }
    }

    pub(in crate::machine) fn state(&self) -> PropnetState {
        PropnetState::Packed(match &self.evaluator {
            Evaluator::Lanes(batch) => batch.state(0).into(),
            Evaluator::Changes(changes) => changes.state().into(),
            Evaluator::Once(_) => unreachable!("an evaluator that is shared can make moves"),
        })
    }

    /// Goes to a state; false if the network does not cover it.
    pub(in crate::machine) fn set_state(&mut self, state: &PropnetState) -> bool {
        let PropnetState::Packed(packed) = state else {
            return false;
        };
        match &mut self.evaluator {
            Evaluator::Lanes(batch) => batch.set_state(0, packed),
            Evaluator::Changes(changes) => changes.set_state(packed),
            Evaluator::Once(_) => unreachable!("an evaluator that is shared can make moves"),
        }
        self.forget();
        true
    }
}
