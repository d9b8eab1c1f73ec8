//! `ggp next`: the state after a joint move.

use anyhow::{Context as _, bail};
use serde::Serialize;

use crate::format::{self, Goal};
use crate::position::{self, PositionOptions};
use crate::rule_files::RuleOptions;
use crate::{Context, Exit};
use ggp_engine::machine::{Machine, canonical_facts};

/// The options of `ggp next`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  ggp next tic_tac_toe.kif --move '(mark 1 1)' --move wait
  ggp next tic_tac_toe.kif --move '(mark 1 1) wait'
  ggp next tic_tac_toe.kif -- '(mark 1 1)' wait
  ggp next tic_tac_toe.kif --moves '(mark 1 1); (mark 2 2)' --move '(mark 3 3)'

In games with hidden information (rules with `sees`), comments tell what each role sees of the joint
move. With --json, `sees` has a list of percepts for each role.

An illegal move gives exit code 1 and the list of legal moves. A text that cannot be a move,
such as a name that the rules do not have, is bad input and gives exit code 2.")]
pub struct Options {
    #[command(flatten)]
    rules: RuleOptions,
    /// A move, or one move for each role in the order of the roles
    ///
    /// Roles with a single legal move may be left out.
    #[arg(long = "move", value_name = "MOVE", conflicts_with = "joint")]
    named: Vec<String>,
    /// The move or moves, after `--` instead of --move
    #[arg(last = true, value_name = "MOVE")]
    joint: Vec<String>,
    #[command(flatten)]
    position: PositionOptions,
}

#[derive(Serialize)]
struct Answer {
    joint: Vec<String>,
    /// The percepts of each role, if the rules have `sees`.
    #[serde(skip_serializing_if = "Option::is_none")]
    sees: Option<Vec<Vec<String>>>,
    facts: Vec<String>,
    terminal: bool,
    goals: Vec<Goal>,
}

/// Runs the command.
///
/// # Errors
///
/// If the rules, the position or the move are invalid.
pub fn run(options: &Options, context: &Context) -> anyhow::Result<Exit> {
    let given = match options.named.is_empty() {
        true => &options.joint,
        false => &options.named,
    };
    if given.is_empty() {
        let made = options.position.moves.is_some() || options.position.moves_file.is_some();
        bail!(
            "no move is given; add --move MOVE (`ggp legal` lists the moves){}",
            match made {
                true =>
                    "; the moves of --moves lead to the position before it: name the last one by --move",
                false => "",
            }
        );
    }
    let mut machine = options.rules.machine_for_one_position(context)?;
    let state = options
        .position
        .state(&mut machine, &options.rules, context)?;
    let text = given.join(" ");
    let joint = position::parse_joint(&mut machine, &state, &text)
        .with_context(|| format!("in the move `{text}`"))?;
    let next = machine.play(&state, &joint)?;
    let facts = canonical_facts(&machine, &next);
    let sees = format::sees(&mut machine, &state, &joint)?;
    if context.json() {
        context.print_json(&Answer {
            joint: format::joint_texts(&machine, &joint),
            sees,
            facts,
            terminal: machine.is_terminal(&next)?,
            goals: format::goals(&mut machine, &next)?.0,
        })?;
    } else {
        context.print_lines(&facts)?;
        if let Some(sees) = sees {
            context.print(format!("; {}", format::sees_line(machine.game(), &sees)))?;
        }
    }
    Ok(Exit::Done)
}
