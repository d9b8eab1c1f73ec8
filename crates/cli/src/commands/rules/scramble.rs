//! `ggp rules scramble`: obfuscation of all names, and its reversal.

use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use serde::Serialize;

use crate::text_files::{self, TextLimits};
use crate::whole_text;
use crate::{Context, Exit, json};
use ggp_gdl::rewrite::{self, Layout, NameMap, Scramble, TextForm, laid_out};
use ggp_gdl::span::Sources;
use ggp_gdl::symbol::Case;
use ggp_gdl::syntax;

/// The options of `ggp rules scramble`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  ggp rules scramble game.kif --seed 7 --map names.json > other.kif
  ggp rules scramble game.kif --order              also shuffle rules and literals
  ggp rules scramble --back names.json other.kif   restore the names
  ggp --quiet solve other.kif | ggp rules scramble --back names.json -

Keywords and integers are unchanged and roles keep their order, so answers differ only in
names. Comments are removed unless --comments is given, which also keeps the lines. The same
names and seed give the same words. --back restores the names in rules, leaving comments
unchanged, and in any other text, such as answers and JSON. Text that was scrambled with
another map is refused.")]
pub struct Options {
    /// Rule files; several files form one rule set, `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The seed of the random words and order
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Write the map of names to this file, as JSON
    #[arg(long, value_name = "FILE")]
    map: Option<PathBuf>,
    /// Also shuffle the order of rules and literals
    #[arg(long)]
    order: bool,
    /// Keep comments
    #[arg(long)]
    comments: bool,
    /// Restore names with a file written by --map
    #[arg(long, value_name = "FILE", conflicts_with_all = ["seed", "map", "order", "comments"])]
    back: Option<PathBuf>,
    /// Write to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Distinguish upper and lower case: `Cell` is not `cell`
    #[arg(long)]
    case_sensitive: bool,
    #[command(flatten)]
    limits: TextLimits,
}

/// The result; the text unless it is written to a file.
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
/// If a file cannot be read or written, or brackets do not match.
pub fn run(options: &Options, context: &Context) -> anyhow::Result<Exit> {
    for path in options
        .output
        .iter()
        .chain(&options.map)
        .filter(|path| !text_files::is_stdin(path))
    {
        Context::can_write(path)?;
    }
    let output = options.output.as_deref();
    let stdout = Path::new("-");
    let outputs: Vec<&Path> = match &options.map {
        Some(map) => vec![map, output.unwrap_or(stdout)],
        None => output.into_iter().collect(),
    };
    let inputs: Vec<&Path> = match &options.back {
        // The restored text includes everything.
        Some(map) => vec![map],
        None => options.files.iter().map(PathBuf::as_path).collect(),
    };
    text_files::keep_apart(&outputs, &inputs)?;
    let sources = options.limits.read_all(&options.files, context)?;
    if let Some(path) = &options.back {
        let name = path.display();
        let map = whole_text::read(path)?;
        let map: NameMap = json::parse(&map, "a JSON object of names")
            .map_err(|why| anyhow!("{name} is not a map written by --map: {why}"))?;
        let text = back(&sources, &map, path, options, context)?;
        text_files::put_or_report(output, text, |text| Report { text, names: None }, context)?;
        return Ok(Exit::Done);
    }
    let how = Scramble {
        seed: options.seed,
        order: options.order,
        comments: options.comments,
        case: if options.case_sensitive {
            Case::Keep
        } else {
            Case::Fold
        },
    };
    // Lines with comments stay in place, as long as the code they describe does.
    let (text, names) = if options.comments && !options.order {
        let forms = options.limits.forms(&sources, context)?;
        let (texts, names) = rewrite::scrambled_in_place(&forms, &sources, how);
        (joined(&texts, &sources), names)
    } else {
        let mut tree = options.limits.tree(&sources, context)?;
        let names = rewrite::scramble(&mut tree, how);
        (laid_out(&tree, Layout::default(), context.stop()), names)
    };
    text_files::go_on(context)?;
    if let Some(path) = &options.map {
        let map = serde_json::to_string_pretty(&names)? + "\n";
        text_files::put(Some(path), &map, context)?;
    }
    let names = Some(names);
    text_files::put_or_report(output, text, |text| Report { text, names }, context)?;
    Ok(Exit::Done)
}

/// Restores the names: at the positions of names in rules, in place of all words in other
/// texts.
fn back(
    sources: &Sources,
    map: &NameMap,
    path: &Path,
    options: &Options,
    context: &Context,
) -> anyhow::Result<String> {
    let name = path.display();
    let syntax = options.limits.syntax();
    let (forms, findings) = syntax::read_until(sources, syntax, context.stop());
    text_files::go_on(context)?;
    let texts: Vec<String> = if findings.is_empty() && rewrite::are_rules(&forms, sources, map) {
        if let Some(place) = rewrite::foreign_word(&forms, sources, map) {
            let (at, word) = (sources.place(place), sources.text(place));
            bail!("{at}: {name} has no word {word}; it is the map of another text");
        }
        let files = 0..sources.files().len();
        files
            .map(|file| rewrite::restored(&forms, sources, file, map))
            .collect()
    } else {
        if sources
            .files()
            .iter()
            .any(|source| source.text().len() > syntax.bytes)
        {
            // Let the reader report that it is too large.
            options.limits.forms(sources, context)?;
        }
        for source in sources.files() {
            if let Some(word) = rewrite::foreign_word_in_text(source.text(), map) {
                let file = source.name();
                bail!("{file}: {name} has no word {word}; it is the map of another text");
            }
        }
        let files = sources.files().iter();
        files
            .map(|source| rewrite::restored_words(source.text(), map))
            .collect()
    };
    Ok(joined(&texts, sources))
}

/// The texts of several files as one.
fn joined(texts: &[String], sources: &Sources) -> String {
    TextForm::of(sources.files()[0].text()).join(texts)
}
