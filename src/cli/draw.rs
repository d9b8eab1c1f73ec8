//! `ggp draw`: a state as a person would draw it.

use super::position::PositionOptions;
use super::rules::RuleOptions;
use super::{Context, Exit, show};
use crate::machine::{AnyMachine, Machine, PlayError};
use crate::picture::{Drawing, Picture};

/// The options of `ggp draw`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  ggp draw tic_tac_toe.kif --moves '(mark 1 1); (mark 2 2)'
  ggp draw --json senku.kif

Boards are found by the structure of the rules: facts with two ordered arguments. A dot
is a place with nothing on it. What is on no board is listed below.")]
pub struct Options {
    #[command(flatten)]
    rules: RuleOptions,
    #[command(flatten)]
    position: PositionOptions,
}

/// Runs the command.
///
/// # Errors
///
/// If the rules or the position are wrong.
pub fn run(options: &Options, context: &Context) -> anyhow::Result<Exit> {
    let mut machine = options.rules.machine(context)?;
    let state = options
        .position
        .state(&mut machine, &options.rules, context)?;
    let picture = picture(&mut machine)?;
    let facts = machine.facts(&state);
    let drawing = picture.draw(machine.terms(), &facts);
    if context.json() {
        context.print_json(&drawing)?;
    } else {
        context.print_lines(&[text(&drawing)])?;
    }
    Ok(Exit::Done)
}

/// The boards of a machine's game.
///
/// # Errors
///
/// As [`Machine::initial`].
pub fn picture(machine: &mut AnyMachine) -> Result<Picture, PlayError> {
    let start = machine.initial()?;
    let first = machine.facts(&start);
    let possible = machine.network(&start).map(|(net, _)| net.facts.clone());
    let (game, terms) = (machine.game(), machine.terms());
    Ok(Picture::new(game, terms, &first, possible.as_deref()))
}

/// A drawing in letters: boards, then the other facts.
pub fn text(drawing: &Drawing) -> String {
    let mut parts: Vec<String> = drawing.boards.iter().map(|board| board.text()).collect();
    if !drawing.facts.is_empty() {
        parts.push(show::wrapped(&drawing.facts, 100));
    }
    parts.join("\n")
}
