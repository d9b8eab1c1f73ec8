//! `ggp convert`: KIF to infix notation, and back.

use std::path::PathBuf;

use serde::Serialize;

use crate::texts::{self, TextLimits};
use crate::{Context, Exit, Reported, rules};
use ggp_gdl::rewrite::{Layout, from_infix, laid_out, detect_infix, to_infix, unwritable};
use ggp_gdl::span::Sources;

/// The options of `ggp convert`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  ggp convert game.kif > game.hrf     to infix notation
  ggp convert game.hrf > game.kif     and back: the same rules, comments too
  ggp convert game.hrf | ggp check -  other commands read KIF

Infix notation is that of the book \"General Game Playing\" by Genesereth and Thielscher:
  legal(P,take(N)) :- true(heap(M)) & less(N,M) & ~over
Alternatives are written (a | b), names like map+ in quotes, 'map+'. A full stop after a
clause, commas for & and % or ; before comments are read, too. Other commands refuse what
is in infix notation, whatever the file is called.")]
pub struct Options {
    /// The rule file; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// What to make; what is in it already is laid out [default: KIF of infix, infix of
    /// what begins with a bracket; by the ending .hrf where the text says nothing]
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
    /// Prefix notation, (p ?x)
    Kif,
    /// Infix notation, p(X)
    Infix,
}

/// What was made; the text unless it is written to a file.
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
/// If the file cannot be read or written, or something is wrong with it.
pub fn run(options: &Options, context: &Context) -> anyhow::Result<Exit> {
    if let Some(path) = options.output.as_ref().filter(|path| !texts::is_stdin(path)) {
        Context::can_write(path)?;
    }
    let sources = Sources::from(options.limits.read(&options.file, context)?);
    let source = &sources.files()[0];
    // Names alone may be either.
    let is_infix = detect_infix(source.text()).unwrap_or_else(|| {
        texts::is_named_infix(&options.file)
            || options.to != Some(Notation::Infix) && !begins_with_bracket(source.text())
    });
    let refuse = |findings: &[_]| {
        rules::report(findings, &sources, context);
        Err(Reported.into())
    };
    let to_kif = options.to.map_or(is_infix, |to| to == Notation::Kif);
    let tree = if is_infix {
        let tree = from_infix(source, options.limits.syntax(), context.interrupt());
        texts::go_on(context)?;
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
        true => laid_out(&tree, Layout::default(), context.interrupt()),
        false => to_infix(&tree),
    };
    texts::go_on(context)?;
    let notation = if to_kif { Notation::Kif } else { Notation::Infix };
    let report = |text| Report { notation, text };
    texts::put_or_report(options.output.as_deref(), text, report, context)?;
    Ok(Exit::Done)
}

/// Whether a bracket comes first, after comments.
fn begins_with_bracket(text: &str) -> bool {
    let mut lines = text.split(['\n', '\r']).map(|line| line.trim_start_matches([' ', '\t', '\u{feff}']));
    let first = lines.find(|line| !line.is_empty() && !line.starts_with([';', '%']));
    first.is_none_or(|line| line.starts_with('('))
}
