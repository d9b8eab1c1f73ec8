//! The players who choose in a state, and the numbers of players and actions.

use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;

use super::{CHANCE, OVER, SIMULTANEOUS, State};
use crate::errors::{Error, play_error};
use ggp_engine::machine::{Machine, PlayError};
use ggp_gdl::game::{Move, RoleId};

/// The choices of a state.
pub(super) struct Choices {
    /// By role: the legal moves.
    pub(super) legal: Vec<Vec<Move>>,
    /// The players with a choice, by their numbers.
    pub(super) choosers: Vec<usize>,
    pub(super) chance: Option<RoleId>,
}

impl State {
    pub(super) fn choices(&self, py: Python<'_>) -> PyResult<Choices> {
        let roles: Vec<RoleId> = self.shared.game.roles().collect();
        let legal = self.ask(py, |machine, state| {
            let legal = roles.iter().map(|&role| {
                let mut legal = Vec::new();
                machine.legal(state, role, &mut legal).map(|()| legal)
            });
            legal.collect::<Result<Vec<_>, _>>()
        })?;
        let chooses = |role: &RoleId| legal[role.index()].len() > 1;
        let players = self.shared.players();
        let choosers = players.iter().enumerate().filter(|(_, role)| chooses(role));
        let choosers = choosers.map(|(player, _)| player).collect();
        let chance = roles
            .into_iter()
            .find(|&role| self.shared.game.is_random(role));
        let chance = chance.filter(chooses);
        Ok(Choices {
            choosers: if self.pending.is_some() {
                Vec::new()
            } else {
                choosers
            },
            chance,
            legal,
        })
    }

    /// The role of a player or of chance.
    pub(super) fn role(&self, player: i32) -> PyResult<RoleId> {
        let game = &self.shared.game;
        let role = match player {
            CHANCE => game.roles().find(|role| game.is_random(*role)),
            _ => usize::try_from(player)
                .ok()
                .and_then(|player| self.shared.players().get(player).copied()),
        };
        role.ok_or_else(|| PyIndexError::new_err(format!("there is no player {player}")))
    }

    pub(super) fn number(&self, role: RoleId, made: Move) -> PyResult<usize> {
        let numbers = &self.shared.network()?.actions.numbers[role.index()];
        let number = numbers.get(&made).copied();
        number.ok_or_else(|| Error::new_err("a legal move is not in the network"))
    }

    /// The role that chooses: the only one with a choice, else the first one that is not chance.
    pub fn chooser(&self, py: Python<'_>) -> PyResult<Option<RoleId>> {
        if self.is_over(py)? {
            return Err(play_error(py, &PlayError::GameOver));
        }
        let choices = self.choices(py)?;
        match choices.choosers[..] {
            [] => Ok(self.shared.players().first().copied()),
            [only] => Ok(self.shared.players().get(only).copied()),
            _ => Err(PyValueError::new_err(
                "several roles choose at once: name one",
            )),
        }
    }

    pub(super) fn player_now(&self, py: Python<'_>, choices: &Choices) -> PyResult<i32> {
        Ok(match (&choices.choosers[..], choices.chance) {
            _ if self.is_over(py)? => OVER,
            ([], Some(_)) => CHANCE,
            ([], None) => 0,
            ([only], _) => *only as i32,
            _ => SIMULTANEOUS,
        })
    }
}
