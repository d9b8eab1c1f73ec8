//! Values that are looked up in a file of `ggp tabulate`.

use std::path::Path;

use anyhow::{Context as _, bail};
use serde::Serialize;

use super::{MOVES, Options};
use crate::commands::tabulate::value_text;
use crate::{Context, Exit, format};
use ggp_engine::machine::{AnyMachine, Machine, PropnetState};
use ggp_gdl::game::RoleId;
use ggp_solver::table::Table;

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
    let order = table.order_of(machine, state).with_context(cannot)?;
    let game = machine.game().clone();
    let name = game.role_name(role);
    let Some(player) = table.header().players.iter().position(|own| own == name) else {
        bail!("{name} is chance: it has no values");
    };
    let own = (table.value_of(&order, machine, state)).with_context(cannot)?;
    let moves = (table.moves(&order, machine, state, role)).with_context(cannot)?;
    let [least, most] = own.scores[player];
    let answer = Answer {
        role: name.to_owned(),
        least,
        most,
        distance: own.distance,
        moves: moves
            .into_iter()
            .map(|found| MoveAnswer {
                action: format::move_text(machine, found.action),
                least: found.scores[0],
                most: found.scores[1],
                distance: found.distance,
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
