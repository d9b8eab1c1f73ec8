//! `ggp goal`: the scores, and whether the game is over.

use serde::Serialize;

use super::legal::find_role;
use crate::format::{self, Goal};
use crate::position::PositionOptions;
use crate::rule_files::RuleOptions;
use crate::{Context, Exit};
use ggp_engine::machine::{Machine, PlayError};

/// The options of `ggp goal`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  ggp goal nim.kif
  ggp goal nim.kif --role left --state position.txt

Before the end of the game a role may have no score; this is shown as `none`.
At the end each role must have exactly one score, from 0 to 100; otherwise the command fails.")]
pub struct Options {
    #[command(flatten)]
    rules: RuleOptions,
    /// Only the score of this role
    #[arg(long, value_name = "ROLE")]
    role: Option<String>,
    #[command(flatten)]
    position: PositionOptions,
}

#[derive(Serialize)]
struct Answer {
    terminal: bool,
    goals: Vec<Goal>,
}

/// Runs the command.
///
/// # Errors
///
/// If the rules, the position or a score are invalid.
pub fn run(options: &Options, context: &Context) -> anyhow::Result<Exit> {
    let mut machine = options.rules.machine_for_one_position(context)?;
    let game = machine.game().clone();
    let only = match &options.role {
        Some(name) => Some(game.role_name(find_role(&game, name)?)),
        None => None,
    };
    let state = options
        .position
        .state(&mut machine, &options.rules, context)?;
    let terminal = machine.is_terminal(&state)?;
    let (mut goals, faults) = format::goals(&mut machine, &state)?;
    goals.retain(|goal| only.is_none_or(|only| goal.role == only));
    let is_asked = |role: &str| only.is_none_or(|only| only == role);
    let fault = faults.into_iter().find(|fault| match fault {
        PlayError::NoGoal(fault) => terminal && is_asked(&fault.role),
        PlayError::AmbiguousGoal(fault) | PlayError::BadGoal(fault) => is_asked(&fault.role),
        _ => true,
    });
    if context.json() {
        context.print_json(&Answer { terminal, goals })?;
    } else {
        context.print(format!("terminal {terminal}"))?;
        for goal in goals {
            context.print(match &goal.values[..] {
                values if goal.goal.is_none() && !values.is_empty() => {
                    format!("{} {}", goal.role, values.join(" "))
                }
                _ => goal.text(game.goal_choice()),
            })?;
        }
    }
    match fault {
        None => Ok(Exit::Done),
        Some(fault) => Err(fault.into()),
    }
}
