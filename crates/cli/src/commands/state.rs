//! `ggp state`: the facts of a state, the scores there, and whether the game is over.

use serde::Serialize;

use crate::format::{self, Goal};
use crate::position::PositionOptions;
use crate::rule_files::RuleOptions;
use crate::{Context, Exit};
use ggp_engine::machine::{Machine, PlayError, canonical_facts};

/// The options of `ggp state`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  ggp state tic_tac_toe.kif
  ggp state tic_tac_toe.kif --moves '(mark 1 1); (mark 2 2)'
  ggp state nim.kif --state position.txt --json
  ggp state nim.kif | ggp legal nim.kif --state -

The facts come first; comments after them tell whether the game is over, and the score of each
role. Before the end a role may have no score; this is shown as `none`. At the end each role must
have exactly one score, from 0 to 100; otherwise the command fails.")]
pub struct Options {
    #[command(flatten)]
    rules: RuleOptions,
    #[command(flatten)]
    position: PositionOptions,
}

#[derive(Serialize)]
struct Answer {
    facts: Vec<String>,
    terminal: bool,
    goals: Vec<Goal>,
}

/// Runs the command.
///
/// # Errors
///
/// If the rules or the position are invalid, or a score at the end is.
pub fn run(options: &Options, context: &Context) -> anyhow::Result<Exit> {
    let mut machine = options.rules.machine_for_one_position(context)?;
    let choice = machine.game().goal_choice();
    let state = options
        .position
        .state(&mut machine, &options.rules, context)?;
    let facts = canonical_facts(&machine, &state);
    let terminal = machine.is_terminal(&state)?;
    let (goals, faults) = format::goals(&mut machine, &state)?;
    let fault = faults.into_iter().find(|fault| match fault {
        PlayError::NoGoal(_) => terminal,
        _ => true,
    });
    if context.json() {
        context.print_json(&Answer {
            facts,
            terminal,
            goals,
        })?;
    } else {
        context.print_lines(&facts)?;
        context.print(format!("; terminal {terminal}"))?;
        for goal in goals {
            let text = match &goal.values[..] {
                values if goal.goal.is_none() && !values.is_empty() => {
                    format!("{} {}", goal.role, values.join(" "))
                }
                _ => goal.text(choice),
            };
            context.print(format!("; {text}"))?;
        }
    }
    match fault {
        None => Ok(Exit::Done),
        Some(fault) => Err(fault.into()),
    }
}
