//! `ggp conformance`: comparison with reference answers.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{anyhow, bail};

use crate::conformance;
use crate::rule_files::{EngineOptions, backend_parser};
use crate::whole_text;
use crate::{Context, Exit, json};
use ggp_engine::machine::{Backend, Limits};
use ggp_gdl::symbol::Case;

/// The options of `ggp conformance`.
#[derive(clap::Args)]
#[command(after_help = "\
The folder contains rule files and their answers as JSON lines: perft*.jsonl,
traces*.jsonl, invalid*.jsonl. The page docs/reference/conformance.md describes the format.

Exit code 1 if any answer differs.

Examples:
  ggp conformance ../shared/conformance
  ggp conformance ../shared/conformance --game 'chess*' --budget 1000000
  ggp conformance ../shared/conformance --time 600 --threads 2 --json")]
pub struct Options {
    /// The folder of reference answers
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Only games with this key; * is any text, ? any character
    #[arg(long = "game", value_name = "KEY")]
    games: Vec<String>,
    /// Approximate maximum of joint moves for the perft counts of one game
    #[arg(long, value_name = "N", default_value_t = conformance::Options::default().paths)]
    budget: u64,
    /// Maximum number of steps compared in each playout
    #[arg(long, value_name = "N")]
    steps: Option<usize>,
    /// Seconds for the whole run
    #[arg(long, value_name = "S", value_parser = crate::numbers::seconds)]
    time: Option<Duration>,
    /// Seconds for each game
    #[arg(long, value_name = "S", value_parser = crate::numbers::seconds, default_value = "60")]
    time_per_game: Duration,
    /// Games compared at the same time; 0 for one per processor
    #[arg(long, value_name = "N", default_value_t = 0)]
    threads: usize,
    /// Backend that evaluates the rules
    #[arg(long, value_parser = backend_parser(), default_value = "auto")]
    backend: Backend,
    #[command(flatten)]
    engine: EngineOptions,
    /// Distinguish upper and lower case: `Cell` is not `cell`
    #[arg(long)]
    case_sensitive: bool,
    /// A JSON file of accepted differences: a list of objects with key, what (the beginning
    /// of the difference) and why
    #[arg(long, value_name = "FILE")]
    explanations: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
///
/// If the folder is malformed, or the run was interrupted.
pub fn run(options: &Options, context: &Context) -> anyhow::Result<Exit> {
    let explanations = match &options.explanations {
        None => Vec::new(),
        Some(path) => {
            let name = path.display();
            let text = whole_text::read(path)?;
            let expected = "a JSON list of objects with `key`, `what` and `why`";
            json::parse(&text, expected)
                .map_err(|why| anyhow!("{name} is not a list of explanations: {why}"))?
        }
    };
    let chosen = conformance::Options {
        games: options.games.clone(),
        backend: options.backend,
        case: match options.case_sensitive {
            true => Case::Keep,
            false => Case::Fold,
        },
        threads: match options.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        },
        paths: options.budget,
        steps: options.steps.unwrap_or(usize::MAX),
        time: options.time,
        time_per_game: Some(options.time_per_game),
        limits: Limits {
            engine: options.engine.engine(),
            stop: context.stop().clone(),
            ..Limits::default()
        },
        explanations,
    };
    let bar = context.bar(0, "comparing");
    let report = conformance::run(&options.folder, &chosen, |game, of| {
        bar.set_length(of as u64);
        bar.set_message(game.game.clone());
        bar.inc(1);
    });
    bar.finish_and_clear();
    let report = report?;
    match context.json() {
        true => context.print_json(&report)?,
        false => context.print(report.to_string().trim_end())?,
    }
    if !report.agrees() {
        return Ok(Exit::Negative);
    }
    if context.is_interrupted() {
        bail!("interrupted; everything compared so far agrees");
    }
    Ok(Exit::Done)
}
