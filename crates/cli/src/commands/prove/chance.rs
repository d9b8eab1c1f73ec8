//! `ggp prove` for games with chance where all roles know the position.

use serde::Serialize;

use super::{Asked, Options};
use crate::{Context, Exit, format};
use ggp_engine::machine::{AnyMachine, Machine, PropnetState};
use ggp_search::Budget;
use ggp_solver::expected::{Expected, expected_scores};

/// The expected scores of a role's moves.
#[derive(Serialize)]
struct Answer {
    role: String,
    /// Always true: what is not proved is answered by bounds.
    proved: bool,
    value: f64,
    /// Whether the values are those under best play of both sides; else the role can expect at least these.
    exact: bool,
    moves: Vec<Valued>,
    positions: u64,
}

#[derive(Serialize)]
struct Valued {
    #[serde(rename = "move")]
    made: String,
    value: f64,
}

/// Prints the expected scores of the moves of roles; `None` if positions repeat, or the budget ends first.
///
/// # Errors
///
/// If the output cannot be written.
pub(super) fn run(
    options: &Options,
    machine: &mut AnyMachine,
    state: &PropnetState,
    roles: &Asked,
    budget: &Budget,
    context: &Context,
) -> anyhow::Result<Option<Exit>> {
    let spinner = context.spinner("looking for expected scores");
    let scores = roles.iter().map(|(role, _)| {
        let expected = expected_scores(machine, state, *role, budget);
        // After a fault of the rules or a stop, the search for bounds says what happened.
        expected.ok().flatten().map(|expected| (*role, expected))
    });
    let scores: Option<Vec<_>> = scores.collect();
    spinner.finish_and_clear();
    for (role, expected) in match scores {
        Some(scores) => scores,
        None => return Ok(None),
    } {
        let Expected {
            is_exact,
            positions,
            mut moves,
            ..
        } = expected;
        moves.sort_by(|a, b| b.1.total_cmp(&a.1));
        let value = moves.first().map_or(0.0, |best| best.1);
        if options.best {
            moves.truncate(1);
        }
        let name = machine.game().role_name(role).to_owned();
        let moves = moves.iter().map(|(made, value)| Valued {
            made: machine.text(*made),
            value: *value,
        });
        let answer = Answer {
            moves: moves.collect(),
            role: name,
            proved: true,
            value,
            exact: is_exact,
            positions,
        };
        if context.json() {
            context.print_json(&answer)?;
            continue;
        }
        let prefix = match roles.len() {
            1 => String::new(),
            _ => format!("{} ", answer.role),
        };
        let bound = if is_exact { "" } else { "at least " };
        let lines = answer.moves.iter();
        context.print_lines(lines.map(|m| format!("{prefix}{} {bound}{:.4}", m.made, m.value)))?;
        context.note(format_args!(
            "expected scores of {}, means over the moves of chance: proved, {}",
            answer.role,
            format::counted(answer.positions as usize, "position")
        ));
    }
    Ok(Some(Exit::Done))
}
