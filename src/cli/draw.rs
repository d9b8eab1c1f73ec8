//! `ggp draw`: a state as a person would draw it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::position::PositionOptions;
use super::rules::RuleOptions;
use super::{Context, Exit};
use crate::machine::{AnyMachine, Machine, PlayError};
use crate::picture::{self, Limits, Picture};

/// The options of `ggp draw`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  ggp draw tic_tac_toe.kif --moves '(mark 1 1); (mark 2 2)'
  ggp draw chess.kif --output board.svg
  ggp draw --json senku.kif

Boards are found by the structure of the rules: facts with two ordered arguments. A dot
is a place with nothing on it. Below are what signs stand for, whose turn it is, counters,
heaps and piles, and all other facts.")]
pub struct Options {
    #[command(flatten)]
    rules: RuleOptions,
    #[command(flatten)]
    position: PositionOptions,
    /// Write to this file: SVG if it ends in .svg, letters if it ends in .txt
    #[arg(long, short, value_name = "FILE", value_parser = parse_output)]
    output: Option<PathBuf>,
    /// Most rows and columns of a board that are drawn, and most facts that are listed
    #[arg(long, value_name = "N", default_value_t = 64)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    most: u16,
    /// Most states of random games to guess from what the rules mean
    #[arg(long, value_name = "N", default_value_t = picture::ENOUGH as u16)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    samples: u16,
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
    let picture = picture(&mut machine, usize::from(options.samples))?;
    let facts = machine.facts(&state);
    let limits = Limits {
        most: usize::from(options.most),
    };
    let drawing = picture.draw(machine.terms(), &facts, limits);
    match &options.output {
        Some(path) => {
            let text = match is_svg(path) {
                true => picture::svg(&drawing, &machine.game().name()),
                false => picture::text(&drawing) + "\n",
            };
            fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
        }
        None if context.json() => context.print_json(&drawing)?,
        None => context.print_lines(&[picture::text(&drawing)])?,
    }
    Ok(Exit::Done)
}

fn is_svg(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("svg"))
}

fn parse_output(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    let is_text = |path: &Path| path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("txt"));
    match is_svg(&path) || is_text(&path) {
        true => Ok(path),
        false => Err("a file for a drawing ends in .svg or .txt".to_owned()),
    }
}

/// The picture of a machine's game.
///
/// # Errors
///
/// As [`picture::sample`].
pub fn picture(machine: &mut AnyMachine, samples: usize) -> Result<Picture, PlayError> {
    let states = picture::sample(machine, samples)?;
    let start = machine.initial()?;
    let possible = machine.network(&start).map(|(net, _)| net.facts.clone());
    let (game, terms) = (machine.game(), machine.terms());
    Ok(Picture::new(game, terms, &states, possible.as_deref()))
}
