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
  ggp next tic_tac_toe.kif --moves '(mark 1 1); (mark 2 2)'
  ggp next tic_tac_toe.kif --moves '(mark 1 1)' --move '(mark 2 2)'

The move is made after those of --moves. Without --move, it is the last one of --moves.

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
    let mut machine = options.rules.machine_for_one_position(context)?;
    let (start, mut made) =
        (options.position).start_and_moves(&mut machine, &options.rules, context)?;
    let given = match options.named.is_empty() {
        true => &options.joint,
        false => &options.named,
    };
    if !given.is_empty() {
        let state = made.last().map_or(&start, |(_, state)| state);
        let text = given.join(" ");
        let joint = position::parse_joint(&mut machine, state, &text)
            .with_context(|| format!("in the move `{text}`"))?;
        let next = machine.play(state, &joint)?;
        made.push((joint, next));
    }
    let Some((joint, next)) = made.pop() else {
        bail!("no move is given; add --move MOVE or --moves MOVES (`ggp legal` lists the moves)");
    };
    let state = made.last().map_or(&start, |(_, state)| state);
    let facts = canonical_facts(&machine, &next);
    let sees = format::sees(&mut machine, state, &joint)?;
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
