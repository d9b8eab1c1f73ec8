//! `ggp init`: the facts of the initial state.

use serde::Serialize;

use crate::position::PositionOptions;
use crate::rule_files::RuleOptions;
use crate::{Context, Exit};
use ggp_engine::machine::canonical_facts;

/// The options of `ggp init`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  ggp init tic_tac_toe.kif
  ggp init --json tic_tac_toe.kif
  ggp init tic_tac_toe.kif --moves '(mark 1 1); (mark 2 2)'   the facts after two moves")]
pub struct Options {
    #[command(flatten)]
    rules: RuleOptions,
    #[command(flatten)]
    position: PositionOptions,
}

#[derive(Serialize)]
struct Answer {
    facts: Vec<String>,
}

/// Runs the command.
///
/// # Errors
///
/// If the rules or the position are invalid.
pub fn run(options: &Options, context: &Context) -> anyhow::Result<Exit> {
    let mut machine = options.rules.machine_for_one_position(context)?;
    let state = options
        .position
        .state(&mut machine, &options.rules, context)?;
    let facts = canonical_facts(&machine, &state);
    if context.json() {
        context.print_json(&Answer { facts })?;
    } else {
        context.print_lines(&facts)?;
    }
    Ok(Exit::Done)
}
