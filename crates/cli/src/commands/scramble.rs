//! `ggp scramble`: names that say nothing, and back.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use serde::Serialize;

use crate::texts::{self, TextLimits};
use crate::{Context, Exit};
use ggp_gdl::rewrite::{self, Layout, NameMap, Scramble, laid_out};
use ggp_gdl::span::Sources;
use ggp_gdl::symbol::Case;
use ggp_gdl::syntax;

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
they are, too. The same names and seed give the same words. --back puts names back in rules,
whose comments stay as they are, and in any other text, such as answers and JSON, wherever a
word stands. What was scrambled with other names than those of the map is refused.")]
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
    let output = options.output.as_deref();
    let stdout = Path::new("-");
    let outputs: Vec<&Path> = match &options.map {
        Some(map) => vec![map, output.unwrap_or(stdout)],
        None => output.into_iter().collect(),
    };
    let inputs: Vec<&Path> = match &options.back {
        // What comes back is all of it.
        Some(map) => vec![map],
        None => options.files.iter().map(PathBuf::as_path).collect(),
    };
    texts::keep_apart(&outputs, &inputs)?;
    let sources = options.limits.read_all(&options.files, context)?;
    if let Some(path) = &options.back {
        let map = std::fs::read(path);
        let map = map.with_context(|| format!("cannot read {}", path.display()))?;
        let map: NameMap = serde_json::from_slice(&map)
            .with_context(|| format!("{} is no map of names to words", path.display()))?;
        let text = back(&sources, &map, path, options, context)?;
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

/// The names as they were: in rules where names stand, in other texts in the place of all
/// words.
fn back(
    sources: &Sources,
    map: &NameMap,
    path: &Path,
    options: &Options,
    context: &Context,
) -> anyhow::Result<String> {
    let name = path.display();
    let syntax = options.limits.syntax();
    let (forms, findings) = syntax::read_until(sources, syntax, context.interrupt());
    texts::go_on(context)?;
    let texts: Vec<String> = if findings.is_empty() && rewrite::are_rules(&forms, sources, map) {
        if let Some(place) = rewrite::foreign_word(&forms, sources, map) {
            let (at, word) = (sources.place(place), sources.text(place));
            bail!("{at}: {word} is no word of {name}, which is the map of another text");
        }
        let files = 0..sources.files().len();
        files.map(|file| rewrite::restored(&forms, sources, file, map)).collect()
    } else {
        if sources.files().iter().any(|source| source.text().len() > syntax.bytes) {
            // To say that it is too large.
            options.limits.forms(sources, context)?;
        }
        for source in sources.files() {
            if let Some(word) = rewrite::foreign_word_in_text(source.text(), map) {
                let file = source.name();
                bail!("{file}: {word} is no word of {name}, which is the map of another text");
            }
        }
        let files = sources.files().iter();
        files.map(|source| rewrite::restored_words(source.text(), map)).collect()
    };
    Ok(texts.join("\n"))
}
