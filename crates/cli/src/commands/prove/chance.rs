//! `ggp prove` for games with chance where all roles know the position.

use serde::Serialize;

use super::{Asked, Options};
use crate::{Context, Exit, format};
use ggp_engine::machine::{AnyMachine, Machine, PropnetState};
use ggp_search::Budget;
use ggp_solver::expected::{Bounds, Expected, expected_scores};

/// The most that is lost where a value is shown with four digits behind the point.
const SHOWN: f64 = 5e-5;

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
    /// The upper bound, where it is another number: the roles can repeat positions as long as they like.
    #[serde(skip_serializing_if = "Option::is_none")]
    most: Option<f64>,
}

/// Prints the expected scores of the moves of roles; `None` if the budget ends first.
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
        moves.sort_by(|(_, [a, _]), (_, [b, _])| b.total_cmp(a));
        let value = moves.first().map_or(0.0, |(_, [least, _])| *least);
        let is_open = |[least, most]: Bounds| most - least > SHOWN;
        let has_open = moves.iter().any(|(_, bounds)| is_open(*bounds));
        if options.best {
            moves.truncate(1);
        }
        let name = machine.game().role_name(role).to_owned();
        let moves = moves.iter().map(|(made, bounds)| Valued {
            made: machine.text(*made),
            value: bounds[0],
            most: (is_exact && is_open(*bounds)).then_some(bounds[1]),
        });
        let answer = Answer {
            moves: moves.collect(),
            role: name,
            proved: true,
            value,
            exact: is_exact && !has_open,
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
        context.print_lines(lines.map(|m| match m.most {
            Some(most) => format!("{prefix}{} from {:.4} to {most:.4}", m.made, m.value),
            None => format!("{prefix}{} {bound}{:.4}", m.made, m.value),
        }))?;
        context.note(format_args!(
            "expected scores of {}, means over the moves of chance: proved, {}",
            answer.role,
            format::counted(answer.positions as usize, "position")
        ));
    }
    Ok(Some(Exit::Done))
}
