//! `ggp fmt`: formatting of rule files.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;
use similar::TextDiff;

use crate::text_files::{self, TextLimits};
use crate::{Context, Exit, Reported};
use ggp_gdl::diagnostic::Style;
use ggp_gdl::rewrite::{Layout, laid_out};

/// The time for a shortest difference; after it, a longer one may be shown.
const DIFF_TIME: Duration = Duration::from_secs(1);

/// The options of `ggp fmt`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  ggp fmt game.kif           rewrite the file if its layout differs
  ggp fmt games              all rule files (.kif) in a folder
  ggp fmt --check games      write nothing; exit code 1 and a list of the files that differ
  ggp fmt --diff game.kif    write nothing; show what would change
  ggp fmt - < game.kif       from standard input to standard output

Only blanks and line breaks change. A file keeps its kind of line break (if it has several,
the most frequent one) and its byte order mark. Forms, names and comments stay; several empty lines
between forms become one. Facts on one line stay on one line; each literal of a rule gets
its own line. A file is written as a whole or not at all, and not if its brackets do not
match. Files in infix notation are refused: `ggp rules convert --to infix` formats them.")]
pub struct Options {
    /// Rule files and folders; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Write nothing; list the files whose layout differs
    #[arg(long)]
    check: bool,
    /// Write nothing; show the lines that would change
    #[arg(long)]
    diff: bool,
    /// Write to standard output instead of the files
    #[arg(long, conflicts_with_all = ["check", "diff"])]
    stdout: bool,
    /// Maximum length of a line, where lines can be broken
    #[arg(long, value_name = "N", default_value_t = Layout::WIDTH as u16)]
    #[arg(value_parser = clap::value_parser!(u16).range(20..=1000))]
    width: u16,
    #[command(flatten)]
    limits: TextLimits,
}

/// A file whose layout differs, or one that is printed.
#[derive(Serialize)]
struct Changed {
    file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<String>,
    /// The new text, if it is not written to the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

/// Runs the command.
///
/// # Errors
///
/// If a file cannot be read or written, or its brackets do not match.
pub fn run(options: &Options, context: &Context) -> anyhow::Result<Exit> {
    let mut is_wrong = false;
    let mut changed = Vec::new();
    for path in text_files::files(&options.files)? {
        match file(&path, options, context) {
            Ok(found) => changed.extend(found),
            // One failure does not stop the other files.
            Err(error) if error.is::<Reported>() => is_wrong = true,
            Err(error) => return Err(error),
        }
    }
    let shows = options.check || options.diff;
    if context.json() && !is_wrong {
        context.print_json(&changed)?;
    } else if shows {
        for file in &changed {
            match &file.diff {
                Some(diff) => context.print_text(&coloured(diff, context))?,
                None => context.print(&file.file)?,
            }
        }
    }
    match () {
        () if is_wrong => Err(Reported.into()),
        () if shows && !changed.is_empty() => Ok(Exit::Negative),
        () => Ok(Exit::Done),
    }
}

/// The file, if its layout differs.
fn file(path: &PathBuf, options: &Options, context: &Context) -> anyhow::Result<Option<Changed>> {
    let paths = std::slice::from_ref(path);
    let sources = options.limits.read_all(paths, context)?;
    let tree = options.limits.tree(&sources, context)?;
    let width = usize::from(options.width);
    let new = laid_out(&tree, Layout { width }, context.stop());
    text_files::go_on(context)?;
    let source = &sources.files()[0];
    let writes = !(options.check || options.diff);
    let file = source.name().to_owned();
    if writes && (options.stdout || text_files::is_stdin(path)) {
        if context.json() {
            let text = Some(new);
            return Ok(Some(Changed {
                file,
                diff: None,
                text,
            }));
        }
        context.print_text(&new)?;
        return Ok(None);
    }
    if new == source.text() {
        return Ok(None);
    }
    if writes {
        text_files::write(path, &new, context)?;
        context.note(format_args!("{file} was reformatted"));
    }
    let diff = options.diff.then(|| {
        let lines = TextDiff::configure()
            .timeout(DIFF_TIME)
            .diff_lines(source.text(), &new[..]);
        lines.unified_diff().header(&file, &file).to_string()
    });
    Ok(Some(Changed {
        file,
        diff,
        text: None,
    }))
}

/// A unified diff, coloured if requested.
fn coloured(diff: &str, context: &Context) -> String {
    if context.style(&io::stdout()) == Style::Plain {
        return diff.to_owned();
    }
    let line = |line: &str| match line.as_bytes().first() {
        Some(b'+') => format!("\x1b[32m{line}\x1b[0m\n"),
        Some(b'-') => format!("\x1b[31m{line}\x1b[0m\n"),
        Some(b'@') => format!("\x1b[36m{line}\x1b[0m\n"),
        _ => format!("{line}\n"),
    };
    diff.lines().map(line).collect()
}
