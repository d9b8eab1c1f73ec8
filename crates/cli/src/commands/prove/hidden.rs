//! `ggp prove` for rules with `sees`: the best plan of a role against chance, or the answer that
//! nothing is hidden.

use std::time::Instant;

use anyhow::{anyhow, bail};
use serde::Serialize;

use super::Options;
use crate::{Context, Exit, format};
use ggp_engine::machine::{AnyMachine, Backend, Limits, Machine, PlayError};
use ggp_gdl::game::{Game, RoleId};
use ggp_hidden::{PlanError, State, World, best_plan, is_open};

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

/// The positions looked at to find out whether something is hidden, and before a plan is looked for.
const OPEN: usize = 2_000_000;
const OPEN_FIRST: usize = 200_000;

/// The message while positions are searched for something hidden.
const OPENNESS: &str = "finding out whether a role may not know the position";

/// A spinner that is removed in the end, whatever the result.
struct Cleared(indicatif::ProgressBar);

impl Drop for Cleared {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// Whether a role may not know the position in some match: the rules have `sees`, and the search
/// of all positions does not show that nothing is hidden.
///
/// # Errors
///
/// Those of the machine, but for a stop.
pub(in crate::commands) fn hides(
    game: &Game,
    limits: Limits,
    context: &Context,
) -> Result<bool, PlayError> {
    let _spinner = Cleared(context.spinner(OPENNESS));
    Ok(openness(game, limits)? != Some(true))
}

/// Whether all roles always know the position of a match; `None` if that is not found out.
///
/// # Errors
///
/// Faults of the rules.
pub(in crate::commands) fn openness(
    game: &Game,
    limits: Limits,
) -> Result<Option<bool>, PlayError> {
    if !game.is_hidden() {
        return Ok(Some(true));
    }
    let mut world = match World::new(game, Backend::Auto, limits) {
        Err(PlayError::Interrupted) => return Ok(None),
        world => world?,
    };
    let start = world.start(None)?;
    match is_open(&mut world, &start, OPEN) {
        Err(PlayError::Interrupted) => Ok(None),
        found => found,
    }
}

/// Whether all roles always know the position.
///
/// # Errors
///
/// If the time is over before that is found out, and faults of the rules.
fn nothing_is_hidden(world: &mut World, starts: &[&State], most: usize) -> anyhow::Result<bool> {
    for start in starts {
        match is_open(world, start, most) {
            Ok(Some(true)) => {}
            Ok(_) => return Ok(false),
            Err(PlayError::Interrupted) => bail!(
                "the time was over before it was found out whether a role may not know the position; \
                 raise --budget-time"
            ),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(true)
}

/// Proves the value of the first position for a role that plays against chance only; `None` if
/// there is no such value, but nothing is hidden.
///
/// # Errors
///
/// If another role has choices, so that there is no such value, or a limit is reached.
pub(super) fn run(
    options: &Options,
    game: &Game,
    limits: Limits,
    context: &Context,
) -> anyhow::Result<Option<Exit>> {
    let mut roles = game.roles().filter(|role| !game.is_random(*role));
    let named = match &options.role {
        Some(name) => Some(super::deciding_role(game, name)?),
        None => None,
    };
    let role = named.or_else(|| roles.next());
    let role = role.ok_or_else(|| anyhow!("the rules have no role that chooses"))?;
    let spinner = Cleared(context.spinner("preparing the rules"));
    let mut world = match World::new(game, Backend::Auto, limits) {
        Err(PlayError::Interrupted) => {
            bail!("the time was over before the rules were ready; raise --budget-time")
        }
        world => world?,
    };
    let machine: &mut AnyMachine = world.machine();
    let start = machine.initial()?;
    let given = options.position.state(machine, &options.rules, context)?;
    spinner.0.set_message(OPENNESS);
    let is_later = machine.facts(&given) != machine.facts(&start);
    let most = match is_later || options.table.is_some() {
        true => OPEN,
        false => OPEN_FIRST,
    };
    if nothing_is_hidden(&mut world, &[&start, &given], most)? {
        return Ok(None);
    }
    if options.table.is_some() {
        bail!("the rules have `sees`: a table has the values of positions that all roles know");
    }
    if is_later {
        bail!(
            "the rules have `sees`: what a role can reach from a later position depends on what it \
             knows there; leave the position out"
        );
    }
    let most = options.budget_nodes.map_or(POSITIONS, |nodes| {
        usize::try_from(nodes).unwrap_or(usize::MAX)
    });
    spinner.0.set_message(format!(
        "looking for the best plan by what {} knows, in at most {}",
        game.role_name(role),
        format::counted(most, "position")
    ));
    let began = Instant::now();
    let plan = match best_plan(&mut world, role, &start, most) {
        Ok(plan) => plan,
        Err(PlanError::Opponent(_) | PlanError::TooLarge(_))
            if nothing_is_hidden(&mut world, &[&start], OPEN)? =>
        {
            return Ok(None);
        }
        Err(PlanError::Interrupted(_)) if context.is_interrupted() => {
            return Err(PlayError::Interrupted.into());
        }
        Err(PlanError::Interrupted(positions)) => {
            let seconds = began.elapsed().as_secs_f64() * most as f64 / positions.max(1) as f64;
            bail!(
                "the time was over after {} of the plan; raise --budget-time: the {most} that \
                 --budget-nodes allows take about {seconds:.0} s",
                format::counted(positions, "position")
            )
        }
        Err(error) => return Err(refusal(game, role, &error)),
    };
    drop(spinner);
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
            "expected scores of the best plan by what {} knows: {}, of which {} with more than one \
             legal move",
            game.role_name(role),
            format::counted(plan.asked, "information set"),
            plan.choices
        ));
    }
    Ok(Some(Exit::Done))
}

/// The error for a game without such a value.
fn refusal(game: &Game, role: RoleId, error: &PlanError) -> anyhow::Error {
    match error {
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
        PlanError::TooLarge(_) => anyhow!("{error}; more are allowed by --budget-nodes"),
        other => anyhow!("{other}"),
    }
}
