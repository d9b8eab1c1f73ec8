//! Values that are looked up in a file of `ggp tabulate`.

use std::cmp::Reverse;
use std::path::Path;

use anyhow::{Context as _, bail};
use rustc_hash::FxHashMap;
use serde::Serialize;

use super::{MOVES, Options};
use crate::commands::tabulate::value_text;
use crate::{Context, Exit, format};
use ggp_engine::machine::{AnyMachine, Machine, PropnetState, joint_moves};
use ggp_gdl::game::{Move, RoleId};
use ggp_solver::table::{Table, TableValue};

/// The values of a position and of the moves of a role, as `--json` prints them.
#[derive(Serialize)]
struct Answer {
    role: String,
    least: u8,
    most: u8,
    /// The number of joint moves to the end, if it is known.
    distance: Option<u16>,
    /// The moves, best first.
    moves: Vec<MoveAnswer>,
}

/// The value of a move.
#[derive(Serialize)]
struct MoveAnswer {
    #[serde(rename = "move")]
    action: String,
    least: u8,
    most: u8,
    /// The number of joint moves to the end, this one included.
    distance: Option<u16>,
}

/// Prints the values of the moves of a role.
///
/// # Errors
///
/// If the file cannot be read, belongs to other rules, or does not have the position.
pub(super) fn run(
    path: &Path,
    options: &Options,
    machine: &mut AnyMachine,
    state: &PropnetState,
    role: RoleId,
    context: &Context,
) -> anyhow::Result<Exit> {
    let cannot = || format!("cannot use {}", path.display());
    let table = Table::open(path).with_context(cannot)?;
    let Some((net, _)) = machine.network(state) else {
        bail!(
            "values are looked up with a network, and none was made within the limits that covers this \
             position; see --budget-time, --ground-time and --backend"
        );
    };
    let order = table.order(net).with_context(cannot)?;
    let game = machine.game().clone();
    let name = game.role_name(role);
    let Some(player) = table.header().players.iter().position(|own| own == name) else {
        bail!("{name} is chance: it has no values");
    };
    let look = |machine: &mut AnyMachine, state: &PropnetState| -> anyhow::Result<TableValue> {
        let packed = machine.network(state).map(|(_, packed)| packed);
        let found = match &packed {
            Some(packed) => table.look(&order, packed).with_context(cannot)?,
            None => None,
        };
        found.with_context(|| format!("{} does not have this position", path.display()))
    };
    let own = look(machine, state)?;
    let mut legal: Vec<Vec<Move>> = vec![Vec::new(); game.role_count()];
    for role in game.roles() {
        machine.legal(state, role, &mut legal[role.index()])?;
    }
    let mut moves = Vec::new();
    for action in std::mem::take(&mut legal[role.index()]) {
        legal[role.index()] = vec![action];
        // The others know the move, and nobody that of chance.
        let mut left: FxHashMap<Vec<Move>, [u8; 2]> = FxHashMap::default();
        let mut distances = Vec::new();
        for joint in joint_moves(&legal) {
            let next = machine.next(state, &joint)?;
            let after = look(machine, &next)?;
            let [least, most] = after.scores[player];
            let others = game.roles().filter(|other| !game.is_random(*other));
            let known = left.entry(others.map(|other| joint[other.index()]).collect());
            let known = known.or_insert([least, most]);
            *known = [known[0].min(least), known[1].max(most)];
            distances.push(after.distance);
        }
        let worst = [0, 1].map(|at| left.values().map(|value| value[at]).min().unwrap_or(0));
        let distance = match distances[..] {
            [Some(distance)] => Some(distance + 1),
            _ => None,
        };
        moves.push((action, worst[0], worst[1], distance));
    }
    let [least, most] = own.scores[player];
    // The end is hastened, or delayed if nothing can be worse.
    let delays = |value| table.header().delays(player, value);
    moves.sort_by_key(|&(_, least, most, distance)| {
        let distance = i32::from(distance.unwrap_or(u16::MAX));
        let sign = if delays([least, most]) { -1 } else { 1 };
        (Reverse((least, most)), sign * distance)
    });
    let answer = Answer {
        role: name.to_owned(),
        least,
        most,
        distance: own.distance,
        moves: moves
            .into_iter()
            .map(|(action, least, most, distance)| MoveAnswer {
                action: format::move_text(machine, action),
                least,
                most,
                distance,
            })
            .collect(),
    };
    if context.json() {
        context.print_json(&answer)?;
        return Ok(Exit::Done);
    }
    let shown = if options.best { 1 } else { MOVES };
    let has_chance = game.roles().any(|role| game.is_random(role));
    let said = |least, most, distance| said(least, most, distance, has_chance);
    let lines = answer.moves.iter().take(shown).map(|found| {
        let value = said(found.least, found.most, found.distance);
        format!("{} {value}", found.action)
    });
    context.print_lines(lines)?;
    let value = said(answer.least, answer.most, answer.distance);
    context.note(format_args!("{name} gets {value}: looked up"));
    Ok(Exit::Done)
}

/// A value with the number of joint moves to the end.
fn said(least: u8, most: u8, distance: Option<u16>, has_chance: bool) -> String {
    let value = value_text(least, most, has_chance);
    match distance {
        Some(distance) => {
            let moves = format::counted(distance.into(), "joint move");
            format!("{value}, the end after {moves}")
        }
        None => value,
    }
}
