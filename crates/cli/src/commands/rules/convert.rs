//! `ggp rules convert`: conversion between KIF and infix notation.

use std::path::PathBuf;

use serde::Serialize;

use crate::text_files::{self, TextLimits};
use crate::{Context, Exit, Reported, rule_files};
use ggp_gdl::rewrite::{Layout, detect_infix, from_infix, laid_out, to_infix, unwritable};
use ggp_gdl::span::Sources;

/// The options of `ggp rules convert`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  ggp rules convert game.kif > game.hrf     to infix notation
  ggp rules convert game.hrf > game.kif     back to KIF: the same rules and comments
  ggp rules convert game.hrf | ggp check -  other commands read KIF

Infix notation is taken from the book \"General Game Playing\" by Genesereth and Thielscher:
  legal(P,take(N)) :- true(heap(M)) & less(N,M) & ~over
Alternatives are written (a | b), names like map+ in quotes, 'map+'. A full stop after a
clause, commas for &, not or \\+ for ~, X \\= Y or X != Y for distinct(X,Y), and comments
after % or ; are read too. Other commands refuse infix notation, whatever the file is called.")]
pub struct Options {
    /// The rule file; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Notation to write; rules already in that notation are formatted [default: the other
    /// one; the extension .hrf decides if the text does not]
    #[arg(long, value_enum, value_name = "NOTATION")]
    to: Option<Notation>,
    /// Write to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    limits: TextLimits,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug, clap::ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
enum Notation {
    /// Prefix notation: (p ?x)
    Kif,
    /// Infix notation: p(X)
    Infix,
}

/// The result; the text unless it is written to a file.
#[derive(Serialize)]
struct Report {
    notation: Notation,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

/// Runs the command.
///
/// # Errors
///
/// If the file cannot be read or written, or has errors.
pub fn run(options: &Options, context: &Context) -> anyhow::Result<Exit> {
    if let Some(path) = options
        .output
        .as_ref()
        .filter(|path| !text_files::is_stdin(path))
    {
        Context::can_write(path)?;
    }
    let sources = Sources::from(options.limits.read(&options.file, context)?);
    let source = &sources.files()[0];
    // A text of names alone may be in either notation.
    let is_infix = detect_infix(source.text()).unwrap_or_else(|| {
        text_files::is_named_infix(&options.file)
            || options.to != Some(Notation::Infix) && !begins_with_bracket(source.text())
    });
    let refuse = |findings: &[_]| {
        rule_files::report(findings, &sources, context);
        Err(Reported.into())
    };
    let to_kif = options.to.map_or(is_infix, |to| to == Notation::Kif);
    let tree = if is_infix {
        let tree = from_infix(source, options.limits.syntax(), context.stop());
        text_files::go_on(context)?;
        match tree {
            Ok(tree) => tree,
            Err(findings) => return refuse(&findings),
        }
    } else {
        let findings = match to_kif {
            true => Vec::new(),
            false => unwritable(&options.limits.forms(&sources, context)?),
        };
        if !findings.is_empty() {
            return refuse(&findings);
        }
        options.limits.tree(&sources, context)?
    };
    let text = match to_kif {
        true => laid_out(&tree, Layout::default(), context.stop()),
        false => to_infix(&tree),
    };
    text_files::go_on(context)?;
    let notation = if to_kif {
        Notation::Kif
    } else {
        Notation::Infix
    };
    let report = |text| Report { notation, text };
    text_files::put_or_report(options.output.as_deref(), text, report, context)?;
    Ok(Exit::Done)
}

/// Whether the text begins with a bracket, after comments.
fn begins_with_bracket(text: &str) -> bool {
    let mut lines = text
        .split(['\n', '\r'])
        .map(|line| line.trim_start_matches([' ', '\t', '\u{feff}']));
    let first = lines.find(|line| !line.is_empty() && !line.starts_with([';', '%']));
    first.is_none_or(|line| line.starts_with('('))
}
