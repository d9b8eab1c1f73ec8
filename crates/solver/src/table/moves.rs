//! The values of the moves of a role, from those of the positions after them.

use std::cmp::Reverse;
use std::fmt;

use rustc_hash::FxHashMap;

use super::file::{FactOrder, Table, TableError, TableValue};
use ggp_engine::machine::{AnyMachine, Machine, PlayError, PropnetState, joint_moves};
use ggp_gdl::game::{Move, RoleId};

/// A move of a role and its value.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct MoveValue {
    /// The move.
    pub action: Move,
    /// The score that the role can force with it, and the score down to which the others can
    /// force it, who know the move.
    pub scores: [u8; 2],
    /// The number of joint moves to the end, this one included, if it is known.
    pub distance: Option<u16>,
    /// The score that the role can expect, if the file has expected scores, and play must end.
    pub mean: Option<f32>,
}

/// The reason why a position has no values.
#[derive(Debug)]
#[non_exhaustive]
pub enum LookError {
    /// The file cannot be used.
    Table(TableError),
    /// The rules cannot be evaluated.
    Play(PlayError),
    /// The machine has no network, or none that represents the position.
    NoNetwork,
    /// The file does not have the position.
    Missing,
    /// The role is chance, and has no values.
    Chance,
}

impl fmt::Display for LookError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LookError::Table(error) => error.fmt(f),
            LookError::Play(error) => error.fmt(f),
            LookError::NoNetwork => f.write_str(
                "values are looked up with a network, and none was made within the limits that \
                 covers this position; see --budget-time, --ground-time and --backend",
            ),
            LookError::Missing => f.write_str("it does not have this position"),
            LookError::Chance => f.write_str("the role is chance: it has no values"),
        }
    }
}

impl std::error::Error for LookError {}

impl From<TableError> for LookError {
    fn from(error: TableError) -> Self {
        LookError::Table(error)
    }
}

impl From<PlayError> for LookError {
    fn from(error: PlayError) -> Self {
        LookError::Play(error)
    }
}

impl Table {
    /// The order of the facts of a machine's network in the file.
    ///
    /// # Errors
    ///
    /// If the file was made from other rules, or the machine has no network for the state.
    pub fn order_of(
        &self,
        machine: &AnyMachine,
        state: &PropnetState,
    ) -> Result<FactOrder, LookError> {
        let (net, _) = machine.network(state).ok_or(LookError::NoNetwork)?;
        Ok(self.order(net)?)
    }

    /// The value of a state of a machine. `order` is that of its network.
    ///
    /// # Errors
    ///
    /// [`LookError`].
    pub fn value_of(
        &self,
        order: &FactOrder,
        machine: &AnyMachine,
        state: &PropnetState,
    ) -> Result<TableValue, LookError> {
        let (_, packed) = machine.network(state).ok_or(LookError::NoNetwork)?;
        self.look(order, &packed)?.ok_or(LookError::Missing)
    }

    /// The values of a role's moves in a state that is not terminal, best first. `order` is that
    /// of the machine's network.
    ///
    /// Of moves with the same value the end is hastened, or delayed if no value is worse.
    ///
    /// # Errors
    ///
    /// [`LookError`].
    pub fn moves(
        &self,
        order: &FactOrder,
        machine: &mut AnyMachine,
        state: &PropnetState,
        role: RoleId,
    ) -> Result<Vec<MoveValue>, LookError> {
        let game = machine.game().clone();
        let name = game.role_name(role);
        let mut players = self.header().players.iter();
        let player = players.position(|own| own == name);
        let player = player.ok_or(LookError::Chance)?;
        let mut legal: Vec<Vec<Move>> = vec![Vec::new(); game.role_count()];
        for role in game.roles() {
            machine.legal(state, role, &mut legal[role.index()])?;
        }
        let mut moves = Vec::new();
        for action in std::mem::take(&mut legal[role.index()]) {
            legal[role.index()] = vec![action];
            // The others know the move, and nobody that of chance.
            let mut left: FxHashMap<Vec<Move>, [u8; 2]> = FxHashMap::default();
            let mut means: FxHashMap<Vec<Move>, (f32, f32)> = FxHashMap::default();
            let mut distances = Vec::new();
            for joint in joint_moves(&legal) {
                let next = machine.next(state, &joint)?;
                let after = self.value_of(order, machine, &next)?;
                let [least, most] = after.scores[player];
                let others = game.roles().filter(|other| !game.is_random(*other));
                let others: Vec<Move> = others.map(|other| joint[other.index()]).collect();
                if let Some(mean) = after.means.get(player) {
                    let (sum, count) = means.entry(others.clone()).or_default();
                    (*sum, *count) = (*sum + mean, *count + 1.0);
                }
                let known = left.entry(others).or_insert([least, most]);
                *known = [known[0].min(least), known[1].max(most)];
                distances.push(after.distance);
            }
            let worst = |at: usize| left.values().map(|value| value[at]).min().unwrap_or(0);
            moves.push(MoveValue {
                action,
                scores: [worst(0), worst(1)],
                mean: (means.into_values().map(|(sum, count)| sum / count))
                    .reduce(|a, b| {
                        if b.is_nan() {
                            b
                        } else if a.is_nan() {
                            a
                        } else {
                            a.min(b)
                        }
                    })
                    .filter(|mean| !mean.is_nan()),
                distance: match distances[..] {
                    [Some(distance)] => Some(distance + 1),
                    _ => None,
                },
            });
        }
        let order = |found: &MoveValue| {
            let distance = i32::from(found.distance.unwrap_or(u16::MAX));
            let sign = match self.header().delays(player, found.scores) {
                true => -1,
                false => 1,
            };
            (Reverse(found.scores), sign * distance)
        };
        moves.sort_by(|a, b| {
            let mean = |of: &MoveValue| of.mean.unwrap_or(f32::NEG_INFINITY);
            let by_mean = mean(b).total_cmp(&mean(a));
            by_mean.then_with(|| order(a).cmp(&order(b)))
        });
        Ok(moves)
    }
}
