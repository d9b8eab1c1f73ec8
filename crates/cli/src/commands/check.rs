//! `ggp check`: everything that is wrong with a rule set.

mod play;

use std::io;

use serde::Serialize;

use crate::rules::{self, RuleOptions};
use crate::{Context, Exit, Reported, show};
use ggp_gdl::diagnostic::{DiagnosticRecord, Severity};
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

With --play random plays are made, all positions are looked at where there are few, and what
holds in every play is proved where that can be: that play ends, that each role always has a
move and one goal at each end, that each can get 100, and more. Each claim says whether it was
seen or proved, and gives moves for `ggp ... --moves` that lead to an example. Facts that no
rule keeps, places that lose their value and places with two are told where the rules seem not
to mean it. Rules that never fire are shown with the literal where they fail, causes first.

Ctrl-C ends it with what was seen until then, and exit code 1 if that has no error.")]
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
            relations: game.rules().arity.len(),
            facts: game.rules().facts.len(),
            rules: game.rules().rules.len(),
        }
    }
}

/// Runs the command.
///
/// # Errors
///
/// If a file cannot be read or the rules have errors.
pub fn run(options: &Options, context: &Context) -> anyhow::Result<Exit> {
    let reading = options.rules.read(context)?;
    let count = |severity| {
        let findings = reading.findings.iter();
        findings.filter(|f| f.severity == severity).count()
    };
    let sizes = reading.game.as_ref().map(Sizes::of);
    let played = match &reading.game {
        Some(game) if options.play.play && rules::is_usable(&reading) => {
            Some(play::look(game, &options.rules, &options.play, context)?)
        }
        _ => None,
    };
    if context.json() {
        let findings = reading.findings.iter();
        context.print_json(&Report {
            ok: rules::is_usable(&reading),
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
            None => context.print(rules::summary(&reading))?,
            Some(sizes) => context.print(format!(
                "{}: {}, {}, {}, {}",
                match reading.findings.is_empty() {
                    true => "ok".to_owned(),
                    false => format!("ok, {}", rules::summary(&reading)),
                },
                show::counted(sizes.roles.len(), "role"),
                show::counted(sizes.relations, "relation"),
                show::counted(sizes.facts, "fact"),
                show::counted(sizes.rules, "rule")
            ))?,
        }
    }
    if let Some(played) = &played
        && !context.json()
    {
        play::print(played, &reading.sources, context)?;
    }
    let is_interrupted = played.as_ref().is_some_and(|played| played.interrupted);
    let fails = played.is_some_and(|played| played.has_errors());
    if rules::is_usable(&reading) && !fails {
        Ok(match is_interrupted {
            true => Exit::Negative,
            false => Exit::Done,
        })
    } else {
        Err(Reported.into())
    }
}
