//! A machine whose backend is chosen at run time.

use ggp_stop::Stop;
use std::sync::Arc;

use super::{
    DatalogMachine, Limits, Machine, MixedMachine, NaiveMachine, PlayError, PropnetMachine,
    PropnetState,
};
use crate::propnet::batch::Packed;
use crate::propnet::{GroundError, Propnet};
use ggp_gdl::game::{Game, Move, RoleId};
use ggp_gdl::terms::{TermId, Terms};

/// The backends.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Backend {
    /// The network if the game has one within the limits, or else one without goals, or else
    /// Datalog.
    Auto,
    /// The propositional network.
    Propnet,
    /// A network for all but goals, which are asked of Datalog.
    Mixed,
    /// The planned bottom-up evaluator.
    #[default]
    Datalog,
    /// The slow reference evaluator.
    Naive,
}

/// A machine on one of the backends.
#[derive(Clone, Debug)]
pub enum AnyMachine {
    /// See [`PropnetMachine`].
    Propnet(Box<PropnetMachine>),
    /// See [`MixedMachine`].
    Mixed(Box<MixedMachine>),
    /// See [`DatalogMachine`].
    Datalog(Box<DatalogMachine>),
    /// See [`NaiveMachine`].
    Naive(Box<NaiveMachine>),
}

impl AnyMachine {
    /// A machine for a game on a backend.
    ///
    /// # Errors
    ///
    /// [`PlayError::TooLarge`] if the facts that hold in every state, or the
    /// network, exceed the limits.
    pub fn new(game: &Game, backend: Backend, limits: Limits) -> Result<Self, PlayError> {
        Ok(match backend {
            Backend::Auto => AnyMachine::auto(game, limits)?.0,
            Backend::Propnet => {
                let machine = PropnetMachine::new(game, limits)?;
                AnyMachine::Propnet(Box::new(machine))
            }
            Backend::Mixed => AnyMachine::Mixed(Box::new(MixedMachine::new(game, limits)?)),
            Backend::Datalog => AnyMachine::Datalog(Box::new(DatalogMachine::new(game, limits)?)),
            Backend::Naive => AnyMachine::Naive(Box::new(NaiveMachine::new(game, limits))),
        })
    }

    /// A machine that runs the network; or one that runs a network without goals, or Datalog, with
    /// the reason why there is no whole network.
    ///
    /// # Errors
    ///
    /// The errors of [`AnyMachine::new`], if no backend can be used.
    pub fn auto(game: &Game, limits: Limits) -> Result<(Self, Option<GroundError>), PlayError> {
        match AnyMachine::grounded(game, limits.clone()) {
            Ok(made) => Ok(made),
            Err(_) if limits.stop.is_over() => Err(PlayError::Interrupted),
            Err(reason) => {
                let machine = AnyMachine::new(game, Backend::Datalog, limits)?;
                Ok((machine, Some(reason)))
            }
        }
    }

    /// A machine that runs the network; or one that runs a network without goals, with the reason
    /// why there is no whole network.
    ///
    /// # Errors
    ///
    /// The reason why there is no whole network, if one without goals cannot be made either.
    pub fn grounded(
        game: &Game,
        limits: Limits,
    ) -> Result<(Self, Option<GroundError>), GroundError> {
        let mut limits = limits;
        limits.ground.stop = limits.ground.end();
        match PropnetMachine::new(game, limits.clone()) {
            Ok(machine) => Ok((AnyMachine::Propnet(Box::new(machine)), None)),
            Err(reason) => match MixedMachine::new(game, limits) {
                Ok(machine) => Ok((AnyMachine::Mixed(Box::new(machine)), Some(reason))),
                Err(_) => Err(reason),
            },
        }
    }

    /// The backend; never [`Backend::Auto`].
    pub fn backend(&self) -> Backend {
        match self {
            AnyMachine::Propnet(_) => Backend::Propnet,
            AnyMachine::Mixed(_) => Backend::Mixed,
            AnyMachine::Datalog(_) => Backend::Datalog,
            AnyMachine::Naive(_) => Backend::Naive,
        }
    }
}

/// The facts of a state of a machine without packed states.
pub(super) fn facts(state: &PropnetState) -> &Arc<[TermId]> {
    match state {
        PropnetState::Facts(facts) => facts,
        PropnetState::Packed(_) | PropnetState::Mixed(_) => {
            unreachable!("a state stays with the backend that made it")
        }
    }
}

/// Evaluates an expression for the actual backend, with the state in its own form.
macro_rules! of_state {
    ($machine:expr, $state:expr, $inner:ident, $own:ident => $answer:expr) => {
        match $machine {
            AnyMachine::Propnet($inner) => {
                let $own = $state;
                $answer
            }
            AnyMachine::Mixed($inner) => {
                let $own = $state;
                $answer
            }
            AnyMachine::Datalog($inner) => {
                let $own = facts($state);
                $answer
            }
            AnyMachine::Naive($inner) => {
                let $own = facts($state);
                $answer
            }
        }
    };
}

/// Evaluates an expression for the actual backend and converts the resulting state.
macro_rules! to_state {
    ($machine:expr, $inner:ident => $answer:expr) => {
        match $machine {
            AnyMachine::Propnet($inner) => $answer,
            AnyMachine::Mixed($inner) => $answer,
            AnyMachine::Datalog($inner) => Ok(PropnetState::Facts($answer?)),
            AnyMachine::Naive($inner) => Ok(PropnetState::Facts($answer?)),
        }
    };
}

macro_rules! each {
    ($machine:expr, $inner:ident => $answer:expr) => {
        match $machine {
            AnyMachine::Propnet($inner) => $answer,
            AnyMachine::Mixed($inner) => $answer,
            AnyMachine::Datalog($inner) => $answer,
            AnyMachine::Naive($inner) => $answer,
        }
    };
}

impl Machine for AnyMachine {
    type State = PropnetState;

    fn game(&self) -> &Game {
        each!(self, m => m.game())
    }

    fn terms(&self) -> &Terms {
        each!(self, m => m.terms())
    }

    fn terms_mut(&mut self) -> &mut Terms {
        each!(self, m => m.terms_mut())
    }

    fn stop(&self) -> &Stop {
        each!(self, m => m.stop())
    }

    fn set_stop(&mut self, stop: &Stop) {
        each!(self, m => m.set_stop(stop));
    }

    fn initial(&mut self) -> Result<Self::State, PlayError> {
        to_state!(self, m => m.initial())
    }

    fn is_terminal(&mut self, state: &Self::State) -> Result<bool, PlayError> {
        of_state!(self, state, m, own => m.is_terminal(own))
    }

    fn legal(
        &mut self,
        state: &Self::State,
        role: RoleId,
        out: &mut Vec<Move>,
    ) -> Result<(), PlayError> {
        of_state!(self, state, m, own => m.legal(own, role, out))
    }

    fn next(&mut self, state: &Self::State, joint: &[Move]) -> Result<Self::State, PlayError> {
        match self {
            AnyMachine::Propnet(machine) => machine.next(state, joint),
            AnyMachine::Mixed(machine) => machine.next(state, joint),
            AnyMachine::Datalog(machine) => {
                Ok(PropnetState::Facts(machine.next(facts(state), joint)?))
            }
            AnyMachine::Naive(machine) => {
                Ok(PropnetState::Facts(machine.next(facts(state), joint)?))
            }
        }
    }

    fn goal_values(&mut self, state: &Self::State, role: RoleId) -> Result<Vec<TermId>, PlayError> {
        of_state!(self, state, m, own => m.goal_values(own, role))
    }

    fn percepts(
        &mut self,
        state: &Self::State,
        joint: &[Move],
        role: RoleId,
        out: &mut Vec<TermId>,
    ) -> Result<(), PlayError> {
        of_state!(self, state, m, own => m.percepts(own, joint, role, out))
    }

    fn facts(&self, state: &Self::State) -> Vec<TermId> {
        of_state!(self, state, m, own => m.facts(own))
    }

    fn state(&mut self, facts: &[TermId]) -> Result<Self::State, PlayError> {
        to_state!(self, m => m.state(facts))
    }

    fn network(&self, state: &Self::State) -> Option<(&Propnet, Packed)> {
        match self {
            AnyMachine::Propnet(machine) => machine.network(state),
            _ => None,
        }
    }
}
