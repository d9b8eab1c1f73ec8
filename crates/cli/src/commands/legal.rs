//! `ggp legal`: the legal moves.

use anyhow::anyhow;
use serde::Serialize;

use crate::position::PositionOptions;
use crate::rule_files::RuleOptions;
use crate::{Context, Exit};
use ggp_engine::machine::{Machine, canonical_moves};
use ggp_gdl::game::{Game, RoleId};

/// The options of `ggp legal`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  ggp legal tic_tac_toe.kif               a role and a move on each line
  ggp legal tic_tac_toe.kif --role cross  a move on each line
  ggp legal tic_tac_toe.kif --moves '(mark 1 1) wait'
  ggp state game.kif | ggp legal game.kif --state -")]
pub struct Options {
    #[command(flatten)]
    rules: RuleOptions,
    /// Only the moves of this role
    #[arg(long, value_name = "ROLE")]
    role: Option<String>,
    #[command(flatten)]
    position: PositionOptions,
}

#[derive(Serialize)]
struct Answer {
    terminal: bool,
    roles: Vec<RoleMoves>,
}

#[derive(Serialize)]
struct RoleMoves {
    role: String,
    moves: Vec<String>,
}

/// Runs the command.
///
/// # Errors
///
/// If the rules or the position are invalid, or a role has no legal move although the game
/// is not over.
pub fn run(options: &Options, context: &Context) -> anyhow::Result<Exit> {
    let mut machine = options.rules.machine_for_one_position(context)?;
    let game = machine.game().clone();
    let roles: Vec<RoleId> = match &options.role {
        Some(name) => vec![find_role(&game, name)?],
        None => game.roles().collect(),
    };
    let state = options
        .position
        .state(&mut machine, &options.rules, context)?;
    let mut answer = Answer {
        terminal: machine.is_terminal(&state)?,
        roles: Vec::new(),
    };
    let mut legal = Vec::new();
    for role in roles {
        machine.legal(&state, role, &mut legal)?;
        answer.roles.push(RoleMoves {
            role: game.role_name(role).to_owned(),
            moves: canonical_moves(&machine, &legal),
        });
    }
    if context.json() {
        context.print_json(&answer)?;
        return Ok(Exit::Done);
    }
    if answer.terminal {
        context.note("the game is over in this state");
    }
    for RoleMoves { role, moves } in answer.roles {
        match options.role {
            Some(_) => context.print_lines(moves)?,
            None => context.print_lines(moves.iter().map(|text| format!("{role} {text}")))?,
        }
    }
    Ok(Exit::Done)
}

/// Finds a role by its name.
///
/// # Errors
///
/// If the game has no such role; the message has a similar one, or lists all.
pub fn find_role(game: &Game, name: &str) -> anyhow::Result<RoleId> {
    game.role_named(name).ok_or_else(|| {
        let roles = || crate::format::role_names(game).join(", ");
        match game.nearest_role(name) {
            _ if name.trim().is_empty() => {
                anyhow!("the name of the role is empty; the roles are {}", roles())
            }
            Some(nearest) => anyhow!("there is no role {name}; did you mean {nearest}?"),
            None => anyhow!("there is no role {name}; the roles are {}", roles()),
        }
    })
}
