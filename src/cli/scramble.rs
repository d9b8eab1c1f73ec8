//! `ggp scramble`: names that say nothing, and back.

use std::path::PathBuf;

use anyhow::{Context as _, bail};
use serde::Serialize;

use super::texts::{self, TextLimits};
use super::{Context, Exit};
use crate::rewrite::{self, Layout, NameMap, Scramble, laid_out, restored, stranger};
use crate::symbol::Case;

/// The options of `ggp scramble`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  ggp scramble game.kif --seed 7 --map names.json > other.kif
  ggp scramble game.kif --order              rules and literals in another order, too
  ggp scramble --back names.json other.kif   the names as they were
  ggp --quiet solve other.kif | ggp scramble --back names.json -

Words of the language and integers stay, and roles keep their order, so every answer is the
same but for names. Comments are left out unless --comments is given, which leaves lines as
they are, too. The same names and seed give the same words. What was scrambled with other
names than those of the map is not put back, but refused.")]
pub struct Options {
    /// Rule files; several are one rule set, `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// What names and order are drawn by
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Write names and words to this file, as JSON
    #[arg(long, value_name = "FILE")]
    map: Option<PathBuf>,
    /// Draw the order of rules and literals, too
    #[arg(long)]
    order: bool,
    /// Keep comments
    #[arg(long)]
    comments: bool,
    /// Put names back by a file that --map has written
    #[arg(long, value_name = "FILE", conflicts_with_all = ["seed", "map", "order", "comments"])]
    back: Option<PathBuf>,
    /// Write to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Tell `Cell` from `cell`
    #[arg(long)]
    case_sensitive: bool,
    #[command(flatten)]
    limits: TextLimits,
}

/// What was made; the text unless it is written to a file.
#[derive(Serialize)]
struct Report {
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    names: Option<NameMap>,
}

/// Runs the command.
///
/// # Errors
///
/// If a file cannot be read or written, or brackets are wrong.
pub fn run(options: &Options, context: &Context) -> anyhow::Result<Exit> {
    for path in options.output.iter().chain(&options.map).filter(|path| !texts::is_stdin(path)) {
        Context::can_write(path)?;
    }
    let sources = options.limits.read_all(&options.files, context)?;
    let output = options.output.as_deref();
    if let Some(path) = &options.back {
        let name = path.display();
        let map = std::fs::read(path).with_context(|| format!("cannot read {name}"))?;
        let map: NameMap = serde_json::from_slice(&map)
            .with_context(|| format!("{name} is no map of names to words"))?;
        let forms = options.limits.forms(&sources, context)?;
        if let Some(place) = stranger(&forms, &sources, &map) {
            let (at, word) = (sources.place(place), sources.text(place));
            bail!("{at}: {word} is no word of {name}, which is the map of another text");
        }
        let texts = (0..sources.files().len()).map(|file| restored(&forms, &sources, file, &map));
        let text = texts.collect::<Vec<_>>().join("\n");
        texts::put_or_report(output, text, |text| Report { text, names: None }, context)?;
        return Ok(Exit::Done);
    }
    let how = Scramble {
        seed: options.seed,
        order: options.order,
        comments: options.comments,
        case: if options.case_sensitive { Case::Keep } else { Case::Fold },
    };
    // Lines with comments stay as they are, as long as what they speak of stays there.
    let (text, names) = if options.comments && !options.order {
        let forms = options.limits.forms(&sources, context)?;
        let (texts, names) = rewrite::scrambled_in_place(&forms, &sources, how);
        (texts.join("\n"), names)
    } else {
        let mut tree = options.limits.tree(&sources, context)?;
        let names = rewrite::scramble(&mut tree, how);
        (laid_out(&tree, Layout::default(), context.interrupt()), names)
    };
    texts::go_on(context)?;
    if let Some(path) = &options.map {
        let map = serde_json::to_string_pretty(&names)? + "\n";
        texts::put(Some(path), &map, context)?;
    }
    let names = Some(names);
    texts::put_or_report(output, text, |text| Report { text, names }, context)?;
    Ok(Exit::Done)
}
