//! The values of positions, from a file of `ggp tabulate`.

use std::path::Path;

use anyhow::{Context as _, bail};

use super::Drawing;
use super::explored::Explored;
use ggp_engine::machine::{AnyMachine, Machine};
use ggp_gdl::game::RoleId;
use ggp_solver::table::Table;

/// The value of a position for a role.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) struct Value {
    /// The score that the role can force, and the score that the others can force it down to.
    pub scores: [u8; 2],
    /// The number of joint moves to the end, if it is known.
    pub distance: Option<u16>,
}

/// The number of colours for values.
pub(super) const SHADES: usize = 5;

impl Value {
    /// The value as text, for instance `100 in 9`.
    pub fn text(self) -> String {
        let [least, most] = self.scores;
        let score = match least == most {
            true => least.to_string(),
            false => format!("{least} to {most}"),
        };
        match self.distance {
            Some(0) | None => score,
            Some(distance) => format!("{score} in {distance}"),
        }
    }

    /// The colour of an exact value: from worst to best.
    pub fn shade(self) -> Option<usize> {
        let [least, most] = self.scores;
        let shade = match least {
            0 => 0,
            1..50 => 1,
            50 => 2,
            51..100 => 3,
            _ => 4,
        };
        (least == most).then_some(shade)
    }
}

/// The values that have a colour, as text.
pub(super) const MEANINGS: [&str; SHADES] = ["0", "1 to 49", "50", "51 to 99", "100"];

/// Looks up the values of all nodes for a role.
///
/// # Errors
///
/// If the file cannot be used for the game, or does not have a position.
pub(super) fn look_up(
    path: &Path,
    machine: &AnyMachine,
    role: RoleId,
    explored: &mut Explored,
) -> anyhow::Result<()> {
    let cannot = || format!("cannot use {}", path.display());
    let table = Table::open(path).with_context(cannot)?;
    let Some(first) = explored.states.first() else {
        return Ok(());
    };
    let order = table.order_of(machine, first).with_context(cannot)?;
    let name = machine.game().role_name(role).to_owned();
    let mut players = table.header().players.iter();
    let Some(player) = players.position(|own| *own == name) else {
        bail!("{name} is chance: it has no values");
    };
    for (node, state) in explored.drawing.nodes.iter_mut().zip(&explored.states) {
        let found = table.value_of(&order, machine, state);
        let found = found.with_context(cannot)?;
        node.value = Some(Value {
            scores: found.scores[player],
            distance: found.distance,
        });
    }
    explored.drawing.valued = Some(name);
    Ok(())
}

impl Drawing {
    /// The text of a node's value, if it has one.
    pub fn value_text(&self, number: usize) -> Option<String> {
        self.nodes[number].value.map(Value::text)
    }
}
