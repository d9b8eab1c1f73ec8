//! Values that are looked up in a file of `ggp tabulate`.

use std::path::Path;

use anyhow::{Context as _, bail};
use serde::Serialize;

use super::{MOVES, Options};
use crate::commands::tabulate::value_text;
use crate::rule_files::other_rules;
use crate::{Context, format};
use ggp_engine::machine::{AnyMachine, Machine, PropnetState};
use ggp_gdl::game::RoleId;
use ggp_solver::table::Table;

/// The values of a position and of the moves of a role, as `--json` prints them.
#[derive(Serialize)]
struct Answer {
    role: String,
    least: u8,
    /// `null` if no bound is proved.
    most: Option<u8>,
    /// The expected score, where chance decides and the file has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    mean: Option<f32>,
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
    /// `null` if no bound is proved.
    most: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mean: Option<f32>,
    /// The number of joint moves to the end, this one included.
    distance: Option<u16>,
}

/// Prints the values of the moves of a role. Lines begin with the role if it is named.
///
/// # Errors
///
/// If the file cannot be read, belongs to other rules, or does not have the position.
pub(super) fn run(
    path: &Path,
    options: &Options,
    machine: &mut AnyMachine,
    state: &PropnetState,
    (role, is_named): (RoleId, bool),
    context: &Context,
) -> anyhow::Result<()> {
    let cannot = || format!("cannot use {}", path.display());
    let table = Table::open(path).with_context(cannot)?;
    let game = machine.game().clone();
    if !table.is_of(&game) {
        bail!(
            "{}: {}",
            cannot(),
            other_rules(&game, |game| table.is_of(game))
        );
    }
    let order = table.order_of(machine, state).with_context(cannot)?;
    let name = game.role_name(role);
    let Some(player) = table.header().players.iter().position(|own| own == name) else {
        bail!("{name} is chance: it has no values");
    };
    let own = (table.value_of(&order, machine, state)).with_context(cannot)?;
    let moves = (table.moves(&order, machine, state, role)).with_context(cannot)?;
    let value = own.scores[player];
    let answer = Answer {
        role: name.to_owned(),
        least: value[0],
        most: table.header().upper_bound(value),
        mean: own.means.get(player).copied().filter(|mean| !mean.is_nan()),
        distance: own.distance,
        moves: moves
            .into_iter()
            .map(|found| MoveAnswer {
                action: format::move_text(machine, found.action),
                least: found.scores[0],
                most: table.header().upper_bound(found.scores),
                mean: found.mean,
                distance: found.distance,
            })
            .collect(),
    };
    if context.json() {
        return context.print_json(&answer);
    }
    let shown = if options.best { 1 } else { MOVES };
    let has_chance = game.roles().any(|role| game.is_random(role));
    let said =
        |least, most, mean, distance| said(value_text(least, most, mean, has_chance), distance);
    let lines = answer.moves.iter().take(shown).map(|found| {
        let value = said(found.least, found.most, found.mean, found.distance);
        if is_named {
            format!("{name} {} {value}", found.action)
        } else {
            format!("{} {value}", found.action)
        }
    });
    context.print_lines(lines)?;
    let value = said(answer.least, answer.most, answer.mean, answer.distance);
    context.note(format_args!("{name} gets {value}: looked up"));
    Ok(())
}

/// A value with the number of joint moves to the end.
fn said(value: String, distance: Option<u16>) -> String {
    match distance {
        Some(distance) => {
            let moves = format::counted(distance, "joint move");
            format!("{value}, the end after {moves}")
        }
        None => value,
    }
}
