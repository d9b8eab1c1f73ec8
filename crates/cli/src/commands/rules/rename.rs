//! `ggp rules rename`: a new name for a symbol.

use std::path::PathBuf;

use anyhow::bail;
use serde::Serialize;

use crate::text_files::{self, TextLimits};
use crate::{Context, Exit};
use ggp_gdl::rewrite::{NameKind, Pattern, edited, renamed};
use ggp_gdl::symbol::Case;

/// The options of `ggp rules rename`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  ggp rules rename game.kif heap pile              rename it everywhere
  ggp rules rename game.kif take/2 draw            rename it only with two arguments
  ggp rules rename game.kif red crimson --only term
  ggp rules rename rules.kif light lamp --with instance.kif

The files are rewritten; everything else in them, including comments, is unchanged. If the
new name is already in use, a keyword or a number, it is refused and nothing is written.")]
pub struct Options {
    /// The rule file; `-` is standard input, and the result goes to standard output
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The old name, or NAME/ARGUMENTS
    #[arg(value_name = "OLD")]
    old: String,
    /// The new name
    #[arg(value_name = "NEW")]
    new: String,
    /// Another file of the same rule set, in which the symbol is renamed too
    #[arg(long, value_name = "FILE")]
    with: Vec<PathBuf>,
    /// Rename only relations, or only terms
    #[arg(long, value_enum, value_name = "WHAT")]
    only: Option<Only>,
    /// Write to standard output instead of the file
    #[arg(long, conflicts_with = "with")]
    stdout: bool,
    /// Distinguish upper and lower case: `Cell` is not `cell`
    #[arg(long)]
    case_sensitive: bool,
    #[command(flatten)]
    limits: TextLimits,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug, clap::ValueEnum)]
enum Only {
    /// Names of relations: in facts, heads and literals
    Relation,
    /// Names of functions and constants
    Term,
}

/// The renamed occurrences.
#[derive(Serialize)]
struct Report {
    file: String,
    places: usize,
    /// The new text, if it is not written to a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

/// Runs the command.
///
/// # Errors
///
/// If a file cannot be read or written, or the name is refused.
pub fn run(options: &Options, context: &Context) -> anyhow::Result<Exit> {
    let paths: Vec<PathBuf> = [&options.file]
        .into_iter()
        .chain(&options.with)
        .cloned()
        .collect();
    if paths.len() > 1 && paths.iter().any(|path| text_files::is_stdin(path)) {
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
            Only::Relation => NameKind::Relation,
            Only::Term => NameKind::Term,
        }),
    };
    let case = if options.case_sensitive {
        Case::Keep
    } else {
        Case::Fold
    };
    let places = match renamed(&forms, &sources, &old, &options.new, case) {
        Ok(places) => places,
        Err(error) => bail!(error.message(&sources)),
    };
    let mut report = Vec::new();
    for (number, path) in paths.iter().enumerate() {
        let own = places.iter().filter(|place| place.file as usize == number);
        let count = own.clone().count();
        let text = edited(
            &sources,
            number,
            own.map(|place| (*place, &options.new[..])),
        );
        let shows = options.stdout || text_files::is_stdin(path);
        if shows && !context.json() {
            context.print_text(&text)?;
            return Ok(Exit::Done);
        }
        if count > 0 && !shows {
            text_files::write(path, &text, context)?;
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
