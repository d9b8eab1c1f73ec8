//! `ggp draw`: a drawing of a state.

use std::path::{Path, PathBuf};

use crate::knowledge::{self, DrawnKnowledge, KnownByOptions};
use crate::picture_options::PictureOptions;
use crate::position::PositionOptions;
use crate::rule_files::RuleOptions;
use crate::{Context, Exit, png};
use ggp_engine::machine::Machine;
use ggp_picture::{Drawing, DrawingLimits, Examples};
use serde::Serialize;

/// The options of `ggp draw`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  ggp draw tic_tac_toe.kif --moves '(mark 1 1); (mark 2 2)'
  ggp draw chess.kif --output board.svg
  ggp draw --json senku.kif
  ggp draw krieg_tic_tac_toe.kif --moves '(mark 1 1); (mark 2 2)' --known-by cross

Boards are recognized from the structure of the rules: facts with two ordered arguments. A
dot is an empty cell. Below the board are a legend, the player to move, counters, heaps and
piles, and all other facts. With --known-by and --json, `known_by` has the number of positions that
fit, and whether they are all.")]
pub struct Options {
    #[command(flatten)]
    rules: RuleOptions,
    #[command(flatten)]
    position: PositionOptions,
    #[command(flatten)]
    picture: PictureOptions,
    #[command(flatten)]
    knowledge: KnownByOptions,
    /// Write to this file: a picture if it ends in .svg or .png, text if it ends in .txt
    #[arg(long, short, value_name = "FILE", value_parser = parse_output)]
    output: Option<PathBuf>,
    /// Maximum number of board rows and columns drawn, and of facts listed
    #[arg(long, value_name = "N", default_value_t = 64)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    most: u16,
    /// Maximum number of random states used to recognize boards
    #[arg(long, value_name = "N", default_value_t = ggp_picture::SAMPLE_STATES as u16)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    samples: u16,
}

/// A drawing, as `--json` prints it.
#[derive(Serialize)]
#[serde(untagged)]
enum Drawn {
    State(Drawing),
    Knowledge(DrawnKnowledge),
}

/// Runs the command.
///
/// # Errors
///
/// If the rules or the position are wrong.
pub fn run(options: &Options, context: &Context) -> anyhow::Result<Exit> {
    if options
        .output
        .as_deref()
        .is_some_and(|path| ends_in(path, "png"))
    {
        png::check()?;
    }
    let mut machine = options.rules.machine_for_few_states(context)?;
    let (start, made) =
        (options.position).start_and_moves(&mut machine, &options.rules, context)?;
    let last = made.last().map_or(&start, |(_, state)| state);
    let is_over = machine.is_terminal(last)?;
    let drawing_options = options
        .picture
        .read(&options.rules, machine.game(), context)?;
    let samples = usize::from(options.samples);
    let examples = context.preparing(|| Examples::of(&mut machine, samples))?;
    let picture = examples.picture(&machine, drawing_options);
    let passed = made.iter().map(|(_, state)| state);
    let states = [&start].into_iter().chain(passed);
    let states: Vec<_> = states.map(|state| machine.facts(state)).collect();
    let limits = DrawingLimits {
        max: usize::from(options.most),
    };
    let drawn = match &options.knowledge.known_by {
        None => {
            let drawing = picture.draw_after(machine.terms(), &states, limits);
            Drawn::State(if is_over { drawing.at_end() } else { drawing })
        }
        Some(name) => {
            let role = super::legal::find_role(machine.game(), name)?;
            let joints: Vec<_> = made.into_iter().map(|(joint, _)| joint).collect();
            let of_machine = options.rules.limits(context);
            let spinner =
                context.spinner(format!("finding the positions that fit what {name} knows"));
            let known = knowledge::belief(
                &mut machine,
                role,
                &states,
                &joints,
                of_machine,
                options.knowledge.sample(),
            );
            spinner.finish_and_clear();
            let drawn = known?.drawing(&mut machine, &picture, limits)?;
            if let Some(note) = &drawn.note {
                context.note(note);
            }
            Drawn::Knowledge(drawn)
        }
    };
    let drawing = match &drawn {
        Drawn::State(drawing) => drawing,
        Drawn::Knowledge(known) => &known.drawing,
    };
    match &options.output {
        Some(path) => {
            let picture = || ggp_picture::svg(drawing, &machine.game().name());
            let content = match () {
                () if ends_in(path, "svg") => picture().into_bytes(),
                () if ends_in(path, "png") => png::png(&picture())?,
                () => (ggp_picture::text(drawing) + "\n").into_bytes(),
            };
            context.write_file(path, &content)?;
        }
        None if context.json() => context.print_json(&drawn)?,
        None => context.print_lines(&[ggp_picture::text(drawing)])?,
    }
    Ok(Exit::Done)
}

fn ends_in(path: &Path, ending: &str) -> bool {
    path.extension()
        .is_some_and(|found| found.eq_ignore_ascii_case(ending))
}

fn parse_output(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match ["svg", "png", "txt"]
        .iter()
        .any(|ending| ends_in(&path, ending))
    {
        true => Ok(path),
        false => Err("the file name of a drawing must end in .svg, .png or .txt".to_owned()),
    }
}
