//! Percepts by a machine for the game that has them in its states.
//!
//! In: a state's facts and a joint move. Out: a role's percepts of it. The backends make
//! this machine when percepts are first asked for.

use super::{Excess, Machine, PlayError};
use ggp_gdl::game::{Game, Move, RoleId, Telling};
use ggp_gdl::terms::{TermId, Terms};

/// A machine for a game with percepts in its states.
#[derive(Clone, Debug)]
pub(super) struct Teller<M> {
    pub machine: M,
    telling: Telling,
}

impl<M: Machine> Teller<M> {
    /// The machine that `make` makes for the game with percepts.
    pub fn new<E: Into<PlayError>>(
        game: &Game,
        make: impl FnOnce(&Game) -> Result<M, E>,
    ) -> Result<Self, PlayError> {
        let telling = game.telling();
        let telling = telling.map_err(|overflow| Excess::of_terms(game, overflow))?;
        Ok(Teller {
            machine: make(&telling.game).map_err(Into::into)?,
            telling,
        })
    }

    /// Appends the role's percepts to `out`, in the order of the game, and makes them known to
    /// `terms`.
    pub fn percepts(
        &mut self,
        facts: &[TermId],
        joint: &[Move],
        role: RoleId,
        terms: &mut Terms,
        out: &mut Vec<TermId>,
    ) -> Result<(), PlayError> {
        let Teller { machine, telling } = self;
        let state = machine.state(facts)?;
        let next = machine.next(&state, joint)?;
        let game = &telling.game;
        let name = game.role_term(role);
        let told = machine.facts(&next);
        let told = told
            .into_iter()
            .filter_map(|fact| telling.told(machine.terms(), fact));
        out.extend(told.filter(|told| told.0 == name).map(|told| told.1));
        out.sort_by(|a, b| game.compare_terms(machine.terms(), *a, *b));
        if out.iter().any(|percept| !terms.knows(*percept)) {
            terms.refresh();
        }
        Ok(())
    }
}
