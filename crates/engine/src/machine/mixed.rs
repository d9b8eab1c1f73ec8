//! The backend that runs a network for all but goals, which it asks of Datalog.
//!
//! In: a game. Out: the machine's answers, and playouts in lanes. Legal moves, next states and the end
//! may have a network although the rules for goals have too many instances: a sum over many players,
//! or a comparison of many places. What only goals need is not grounded, and Datalog derives it in the
//! states about which somebody asks: for players, where playouts end.

use std::sync::Arc;

use ggp_stop::Stop;

use super::{Limits, Machine, PlayError, PropnetMachine, PropnetState};
use crate::propnet::Propnet;
use ggp_gdl::game::{Game, Move, RoleId};
use ggp_gdl::terms::{TermId, Terms};

/// A machine that runs the network of a game without goals.
#[derive(Clone, Debug)]
pub struct MixedMachine {
    moves: PropnetMachine,
    /// The last state that Datalog was asked about, and its facts.
    last: Option<(PropnetState, Arc<[TermId]>)>,
}

impl MixedMachine {
    /// Grounds all but the goals of a game within [`Limits::ground`], and prepares Datalog for them.
    ///
    /// # Errors
    ///
    /// As [`PropnetMachine::new`] and [`DatalogMachine::new`](super::DatalogMachine::new).
    pub fn new(game: &Game, limits: Limits) -> Result<Self, PlayError> {
        let net = Propnet::without_goals(game, &limits.ground)?;
        let mut moves = PropnetMachine::from_network(net, limits);
        moves.datalog()?;
        Ok(MixedMachine { moves, last: None })
    }

    /// The machine that runs the network. Nobody has a goal in it.
    pub fn moves(&self) -> &PropnetMachine {
        &self.moves
    }

    /// By role: its score in a packed state of the network, 0 to 100; `None` if it has no goal value,
    /// several, or an invalid one. Chance has 0 then.
    ///
    /// # Errors
    ///
    /// As [`Machine::goal_values`].
    pub fn scores(&mut self, packed: &[u64]) -> Result<Vec<Option<u8>>, PlayError> {
        let state = PropnetState::Mixed(packed.into());
        let game = self.game().clone();
        let roles = game.roles().map(|role| {
            let values = self.goal_values(&state, role)?;
            let score = match values[..] {
                [value] => game.score(self.terms(), value).ok(),
                _ => None,
            };
            let of_chance = || game.is_random(role).then_some(0);
            Ok(score.map(|score| score.get()).or_else(of_chance))
        });
        roles.collect()
    }

    /// The facts of a state, for Datalog.
    fn facts_of(&mut self, state: &PropnetState) -> Arc<[TermId]> {
        if let Some((last, facts)) = &self.last
            && last == state
        {
            return Arc::clone(facts);
        }
        let facts: Arc<[TermId]> = self.facts(state).into();
        self.last = Some((state.clone(), Arc::clone(&facts)));
        facts
    }
}

/// The state as others know it, who would take it for one of a whole network otherwise.
fn outer(state: PropnetState) -> PropnetState {
    match state {
        PropnetState::Packed(packed) => PropnetState::Mixed(packed),
        other => other,
    }
}

impl Machine for MixedMachine {
    type State = PropnetState;

    fn game(&self) -> &Game {
        self.moves.game()
    }

    fn terms(&self) -> &Terms {
        self.moves.terms()
    }

    fn terms_mut(&mut self) -> &mut Terms {
        self.moves.terms_mut()
    }

    fn stop(&self) -> &Stop {
        self.moves.stop()
    }

    fn set_stop(&mut self, stop: &Stop) {
        self.moves.set_stop(stop);
    }

    fn initial(&mut self) -> Result<PropnetState, PlayError> {
        Ok(outer(self.moves.initial()?))
    }

    fn is_terminal(&mut self, state: &PropnetState) -> Result<bool, PlayError> {
        self.moves.is_terminal(state)
    }

    fn legal(
        &mut self,
        state: &PropnetState,
        role: RoleId,
        out: &mut Vec<Move>,
    ) -> Result<(), PlayError> {
        self.moves.legal(state, role, out)
    }

    fn next(&mut self, state: &PropnetState, joint: &[Move]) -> Result<PropnetState, PlayError> {
        Ok(outer(self.moves.next(state, joint)?))
    }

    fn goal_values(
        &mut self,
        state: &PropnetState,
        role: RoleId,
    ) -> Result<Vec<TermId>, PlayError> {
        let facts = self.facts_of(state);
        let values = self.moves.datalog()?.goal_values(&facts, role)?;
        self.moves.terms_mut().refresh();
        Ok(values)
    }

    fn percepts(
        &mut self,
        state: &PropnetState,
        joint: &[Move],
        role: RoleId,
        out: &mut Vec<TermId>,
    ) -> Result<(), PlayError> {
        self.moves.percepts(state, joint, role, out)
    }

    fn facts(&self, state: &PropnetState) -> Vec<TermId> {
        self.moves.facts(state)
    }

    fn state(&mut self, facts: &[TermId]) -> Result<PropnetState, PlayError> {
        Ok(outer(self.moves.state(facts)?))
    }
}
