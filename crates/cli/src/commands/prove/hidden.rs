//! `ggp prove` for games with hidden information: the best plan of a role against chance.

use anyhow::{anyhow, bail};
use serde::Serialize;

use super::Options;
use crate::{Context, Exit};
use ggp_engine::machine::{AnyMachine, Backend, Limits, Machine, PlayError};
use ggp_gdl::game::{Game, RoleId};
use ggp_hidden::{PlanError, World, best_plan};

/// The positions looked at if no other number is given.
const POSITIONS: usize = 5_000_000;

/// The value of a position by what the role knows.
#[derive(Serialize)]
struct Answer {
    role: String,
    /// The score that the best plan can expect.
    value: f64,
    moves: Vec<Valued>,
    /// The number of times that the role can be asked to move, told apart by what it knows.
    information_sets: usize,
    /// Those of them with more than one legal move.
    choices: usize,
}

#[derive(Serialize)]
struct Valued {
    #[serde(rename = "move")]
    made: String,
    value: f64,
}

/// Proves the value of the first position for a role that plays against chance only.
///
/// # Errors
///
/// If another role has choices, so that there is no such value, or a limit is reached.
pub(super) fn run(
    options: &Options,
    game: &Game,
    limits: Limits,
    context: &Context,
) -> anyhow::Result<Exit> {
    if options.table.is_some() {
        bail!("the rules have `sees`: a table has the values of positions that all roles know");
    }
    let mut roles = game.roles().filter(|role| !game.is_random(*role));
    let named = match &options.role {
        Some(name) => Some(super::find_role(game, name)?),
        None => None,
    };
    let role = named.or_else(|| roles.next());
    let role = role.ok_or_else(|| anyhow!("the rules have no role that chooses"))?;
    let mut world = match World::new(game, Backend::Auto, limits) {
        Err(PlayError::Interrupted) => bail!("the time was over before the rules were ready"),
        world => world?,
    };
    let machine: &mut AnyMachine = world.machine();
    let start = machine.initial()?;
    let given = options.position.state(machine, &options.rules, context)?;
    if machine.facts(&given) != machine.facts(&start) {
        bail!(
            "the rules have `sees`: what a role can reach from a later position depends on what it \
             knows there; leave the position out"
        );
    }
    let most = options.budget_nodes.map_or(POSITIONS, |nodes| {
        usize::try_from(nodes).unwrap_or(usize::MAX)
    });
    let plan = match best_plan(&mut world, role, &start, most) {
        Ok(plan) => plan,
        Err(error) => return Err(refusal(game, role, &error)),
    };
    let machine = world.machine();
    let mut moves: Vec<Valued> = plan
        .moves
        .iter()
        .map(|(made, value)| Valued {
            made: machine.text(*made),
            value: *value,
        })
        .collect();
    moves.sort_by(|a, b| b.value.total_cmp(&a.value));
    if options.best {
        moves.truncate(1);
    }
    if context.json() {
        context.print_json(&Answer {
            role: game.role_name(role).to_owned(),
            value: plan.value,
            moves,
            information_sets: plan.asked,
            choices: plan.choices,
        })?;
    } else {
        context.print_lines(moves.iter().map(|m| format!("{} {:.4}", m.made, m.value)))?;
        context.note(format_args!(
            "expected scores of the best plan by what {} knows, whose choices it makes in {} \
             situations",
            game.role_name(role),
            plan.choices
        ));
    }
    Ok(Exit::Done)
}

/// The error for a game without such a value.
fn refusal(game: &Game, role: RoleId, error: &PlanError) -> anyhow::Error {
    match error {
        PlanError::Play(PlayError::Interrupted) => anyhow!("the time was over before the end"),
        PlanError::Opponent(other) => anyhow!(
            "the rules have `sees`, and {} has choices as well as {}: what they can expect is a \
             matter of mixed strategies; `ggp export --efg` writes the tree for solvers of such games",
            game.role_name(*other),
            game.role_name(role)
        ),
        PlanError::UnknownMoves => anyhow!(
            "{} has other legal moves in two positions that it cannot tell apart; its percepts must \
             tell it what it may do",
            game.role_name(role)
        ),
        other => anyhow!("{other}; more are allowed by --budget-nodes"),
    }
}
