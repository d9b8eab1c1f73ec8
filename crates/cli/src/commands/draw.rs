//! `ggp draw`: a state as a person would draw it.

use std::path::{Path, PathBuf};

use crate::picture_file::PictureOptions;
use crate::position::PositionOptions;
use crate::rules::RuleOptions;
use crate::{Context, Exit, raster};
use ggp_engine::machine::{AnyMachine, Machine, PlayError};
use ggp_picture::{Limits, Picture, Wishes};

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
    #[command(flatten)]
    picture: PictureOptions,
    /// Write to this file: a picture if it ends in .svg or .png, letters if it ends in .txt
    #[arg(long, short, value_name = "FILE", value_parser = parse_output)]
    output: Option<PathBuf>,
    /// Most rows and columns of a board that are drawn, and most facts that are listed
    #[arg(long, value_name = "N", default_value_t = 64)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    most: u16,
    /// Most states of random games to guess from what the rules mean
    #[arg(long, value_name = "N", default_value_t = ggp_picture::ENOUGH as u16)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    samples: u16,
}

/// Runs the command.
///
/// # Errors
///
/// If the rules or the position are wrong.
pub fn run(options: &Options, context: &Context) -> anyhow::Result<Exit> {
    if options.output.as_deref().is_some_and(|path| ends_in(path, "png")) {
        raster::check()?;
    }
    let mut machine = options.rules.machine(context)?;
    let state = options
        .position
        .state(&mut machine, &options.rules, context)?;
    let wishes = options.picture.wishes(&options.rules, machine.game(), context)?;
    let picture = picture(&mut machine, usize::from(options.samples), wishes)?;
    let facts = machine.facts(&state);
    let limits = Limits {
        most: usize::from(options.most),
    };
    let drawing = picture.draw(machine.terms(), &facts, limits);
    match &options.output {
        Some(path) => {
            let picture = || ggp_picture::svg(&drawing, &machine.game().name());
            let content = match () {
                () if ends_in(path, "svg") => picture().into_bytes(),
                () if ends_in(path, "png") => raster::png(&picture())?,
                () => (ggp_picture::text(&drawing) + "\n").into_bytes(),
            };
            context.write_file(path, &content)?;
        }
        None if context.json() => context.print_json(&drawing)?,
        None => context.print_lines(&[ggp_picture::text(&drawing)])?,
    }
    Ok(Exit::Done)
}

fn ends_in(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|found| found.eq_ignore_ascii_case(ending))
}

fn parse_output(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match ["svg", "png", "txt"].iter().any(|ending| ends_in(&path, ending)) {
        true => Ok(path),
        false => Err("a file for a drawing ends in .svg, .png or .txt".to_owned()),
    }
}

/// The picture of a machine's game, as it is wished.
///
/// # Errors
///
/// As [`ggp_picture::sample`].
pub fn picture(
    machine: &mut AnyMachine,
    samples: usize,
    wishes: Wishes,
) -> Result<Picture, PlayError> {
    let states = ggp_picture::sample(machine, samples)?;
    let start = machine.initial()?;
    let possible = machine.network(&start).map(|(net, _)| net.facts().to_vec());
    let (game, terms) = (machine.game(), machine.terms());
    Ok(Picture::with(game, terms, &states, possible.as_deref(), wishes))
}
