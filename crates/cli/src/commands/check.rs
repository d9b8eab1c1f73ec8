//! `ggp check`: every error in a rule set.

mod play;

use std::io;
use std::time::Instant;

use serde::Serialize;

use crate::rule_files::{self, RuleOptions};
use crate::{Context, Exit, Reported, format};
use ggp_gdl::diagnostic::{Code, Diagnostic, DiagnosticRecord, Severity};
use ggp_gdl::game::Game;

/// The options of `ggp check`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  ggp check tic_tac_toe.kif
  ggp check --strict board.kif moves.kif
  ggp check --json game.kif | jq '.findings[].message'
  ggp check --play game.kif

Errors and warnings are printed on standard output; with errors the exit code is 2.

With --play the game is also played at random, all positions are examined if they are few,
and claims about every match are proved where possible: play ends, each role always has a
move and exactly one goal at the end, each role can get 100, and more. Each claim is marked
as seen or proved, with moves for `ggp ... --moves` that lead to an example. Facts that no
rule keeps, cells that lose their value and cells with two values are reported where they
look unintended. Rules that did not fire are shown with the literal that fails, causes first.

Ctrl-C ends the check and prints the findings so far; the exit code is 1 if they have no error.")]
pub struct Options {
    #[command(flatten)]
    rules: RuleOptions,
    #[command(flatten)]
    play: play::PlayOptions,
}

#[derive(Serialize)]
struct Report {
    ok: bool,
    errors: usize,
    warnings: usize,
    findings: Vec<DiagnosticRecord>,
    game: Option<Sizes>,
    #[serde(skip_serializing_if = "Option::is_none")]
    play: Option<play::Record>,
}

#[derive(Serialize)]
struct Sizes {
    roles: Vec<String>,
    relations: usize,
    facts: usize,
    rules: usize,
}

impl Sizes {
    fn of(game: &Game) -> Self {
        Sizes {
            roles: game.roles().map(|r| game.role_name(r).to_owned()).collect(),
            relations: game.as_written().rules().arity.len(),
            facts: game.as_written().rules().facts.len(),
            rules: game.as_written().rules().rules.len(),
        }
    }
}

/// Runs the command.
///
/// # Errors
///
/// If a file cannot be read or the rules have errors.
pub fn run(options: &Options, context: &Context) -> anyhow::Result<Exit> {
    let began = Instant::now();
    let reading = options.rules.read(context)?;
    let count = |severity| {
        let findings = reading.findings.iter();
        findings.filter(|f| f.severity == severity).count()
    };
    let sizes = reading.game.as_ref().map(Sizes::of);
    let played = match &reading.game {
        Some(game) if options.play.play && rule_files::is_usable(&reading) => {
            play::look(game, &options.rules, &options.play, began, context).map(Some)
        }
        _ => Ok(None),
    };
    // What was found by reading is printed even if the rules cannot be played.
    let (played, failed) = match played {
        Ok(played) => (played, None),
        Err(error) => (None, Some(error)),
    };
    if context.json() {
        let findings = reading.findings.iter();
        context.print_json(&Report {
            ok: rule_files::is_usable(&reading),
            errors: count(Severity::Error),
            warnings: count(Severity::Warning),
            findings: findings.map(|f| f.to_record(&reading.sources)).collect(),
            game: sizes,
            play: (played.as_ref()).map(|played| play::Record::new(played, &reading.sources)),
        })?;
    } else {
        let style = context.style(&io::stdout());
        for finding in &reading.findings {
            context.print(finding.render(&reading.sources, style))?;
            context.print("")?;
        }
        match sizes {
            None => context.print(rule_files::summary(&reading))?,
            Some(sizes) => context.print(format!(
                "{}: {}{}, {}, {}, {}",
                match reading.findings.is_empty() {
                    true => "ok".to_owned(),
                    false => format!("ok, {}", rule_files::summary(&reading)),
                },
                match reading.sources.files().len() {
                    1 => String::new(),
                    files => format!("{} as one rule set, ", format::counted(files, "file")),
                },
                format::counted(sizes.roles.len(), "role"),
                format::counted(sizes.relations, "relation"),
                format::counted(sizes.facts, "fact"),
                format::counted(sizes.rules, "rule")
            ))?,
        }
    }
    if let Some(played) = &played
        && !context.json()
    {
        let is_empty = |finding: &Diagnostic| finding.code == Code::EmptyConnective;
        let has_empty = reading.findings.iter().any(is_empty);
        play::print(played, has_empty, &reading.sources, context)?;
    }
    if let Some(error) = failed {
        return Err(error);
    }
    let is_interrupted = played.as_ref().is_some_and(|played| played.interrupted);
    let fails = played.is_some_and(|played| played.has_errors());
    if rule_files::is_usable(&reading) && !fails {
        Ok(match is_interrupted {
            true => Exit::Negative,
            false => Exit::Done,
        })
    } else {
        Err(Reported.into())
    }
}
