//! `ggp rename`: another name in the place of one.

use std::path::PathBuf;

use anyhow::bail;
use serde::Serialize;

use crate::texts::{self, TextLimits};
use crate::{Context, Exit};
use ggp_gdl::rewrite::{Kind, Pattern, edited, renamed};
use ggp_gdl::symbol::Case;

/// The options of `ggp rename`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  ggp rename game.kif heap pile              the name everywhere
  ggp rename game.kif take/2 draw            only with two arguments
  ggp rename game.kif red crimson --only term
  ggp rename rules.kif light lamp --with instance.kif

The files are written anew; all else in them, comments too, stays as it is. A name that is
in use already, a word of the language and a number are refused, and then nothing is
written.")]
pub struct Options {
    /// The rule file; `-` is standard input, and the result goes to standard output
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The name, or NAME/ARGUMENTS
    #[arg(value_name = "OLD")]
    old: String,
    /// The name in its place
    #[arg(value_name = "NEW")]
    new: String,
    /// Another file of the same rule set, to be renamed with it
    #[arg(long, value_name = "FILE")]
    with: Vec<PathBuf>,
    /// Only where it names a relation, or a term
    #[arg(long, value_enum, value_name = "WHAT")]
    only: Option<Only>,
    /// Write to standard output instead of the file
    #[arg(long, conflicts_with = "with")]
    stdout: bool,
    /// Tell `Cell` from `cell`
    #[arg(long)]
    case_sensitive: bool,
    #[command(flatten)]
    limits: TextLimits,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug, clap::ValueEnum)]
enum Only {
    /// Names of facts, heads and literals
    Relation,
    /// Names of functions and constants
    Term,
}

/// What was renamed.
#[derive(Serialize)]
struct Report {
    file: String,
    places: usize,
    /// Where nothing is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

/// Runs the command.
///
/// # Errors
///
/// If a file cannot be read or written, or the name is refused.
pub fn run(options: &Options, context: &Context) -> anyhow::Result<Exit> {
    let paths: Vec<PathBuf> = [&options.file].into_iter().chain(&options.with).cloned().collect();
    if paths.len() > 1 && paths.iter().any(|path| texts::is_stdin(path)) {
        bail!("standard input (`-`) cannot be renamed together with files");
    }
    let sources = options.limits.read_all(&paths, context)?;
    let forms = options.limits.forms(&sources, context)?;
    let (name, arity) = match options.old.rsplit_once('/') {
        Some((name, arity)) if !name.is_empty() && arity.parse::<usize>().is_ok() => {
            (name, arity.parse().ok())
        }
        _ => (&options.old[..], None),
    };
    let old = Pattern {
        name: name.to_owned(),
        arity,
        kind: options.only.map(|only| match only {
            Only::Relation => Kind::Relation,
            Only::Term => Kind::Term,
        }),
    };
    let case = if options.case_sensitive { Case::Keep } else { Case::Fold };
    let places = match renamed(&forms, &sources, &old, &options.new, case) {
        Ok(places) => places,
        Err(error) => bail!(error.message(&sources)),
    };
    let mut report = Vec::new();
    for (number, path) in paths.iter().enumerate() {
        let own = places.iter().filter(|place| place.file as usize == number);
        let count = own.clone().count();
        let text = edited(&sources, number, own.map(|place| (*place, &options.new[..])));
        let shows = options.stdout || texts::is_stdin(path);
        if shows && !context.json() {
            context.print_text(&text)?;
            return Ok(Exit::Done);
        }
        if count > 0 && !shows {
            texts::write(path, &text, context)?;
        }
        report.push(Report {
            file: sources.files()[number].name().to_owned(),
            places: count,
            text: shows.then_some(text),
        });
    }
    match context.json() {
        true => context.print_json(&report)?,
        false => {
            for Report { file, places, .. } in &report {
                let word = if *places == 1 { "place" } else { "places" };
                context.note(format_args!("{file}: renamed in {places} {word}"));
            }
        }
    }
    Ok(Exit::Done)
}
