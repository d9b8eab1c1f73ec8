//! `ggp engine conformance`: comparison with reference answers.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{anyhow, bail};

use crate::conformance::{self, Explanation};
use crate::rule_files::{EngineOptions, backend_parser};
use crate::whole_text;
use crate::{Context, Exit, json};
use ggp_engine::machine::{Backend, Limits};
use ggp_gdl::symbol::Case;

/// The options of `ggp engine conformance`.
#[derive(clap::Args)]
#[command(after_help = "\
DIR contains answers about rule files. The files themselves belong to public collections, which
conformance/README.md lists; --games searches folders for them, by their SHA-256. Rule files
that are not found are counted and not compared.

Exit code 0 if no answer differs, even if few rule files are found; 1 if an answer differs; 2 if
a folder cannot be read or an answer is malformed. Known differences are listed with their
reasons and do not count.

Examples:
  git clone https://github.com/ggp-org/ggp-repository
  ggp engine conformance --games ggp-repository
  ggp engine conformance --games collections --game 'chess*' --budget 1000000
  ggp engine conformance --games collections --time 600 --threads 2 --json")]
pub struct Options {
    /// The folder of reference answers
    #[arg(value_name = "DIR", default_value = "conformance")]
    folder: PathBuf,
    /// Folders that are searched for the rule files, with everything in them
    #[arg(long = "games", value_name = "FOLDER", num_args = 1..)]
    rules: Vec<PathBuf>,
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
    /// A JSON file of known differences: a list of objects with key, what (the beginning
    /// of the difference) and why; without it, explanations.json in DIR if that exists
    #[arg(long, value_name = "FILE")]
    explanations: Option<PathBuf>,
}

/// The known differences.
fn explanations(options: &Options) -> anyhow::Result<Vec<Explanation>> {
    let default = options.folder.join("explanations.json");
    let path = match &options.explanations {
        Some(path) => path,
        None if default.exists() => &default,
        None => return Ok(Vec::new()),
    };
    let name = path.display();
    let text = whole_text::read(path)?;
    let expected = "a JSON list of objects with `key`, `what` and `why`";
    json::parse(&text, expected)
        .map_err(|why| anyhow!("{name} is not a list of explanations: {why}"))
}

/// Runs the command.
///
/// # Errors
///
/// If a folder cannot be read, an answer is malformed, or the run was interrupted.
pub fn run(options: &Options, context: &Context) -> anyhow::Result<Exit> {
    if !options.folder.is_dir() {
        bail!(
            "there is no folder {} of reference answers; run the command in the repository of \
             ggp, or give its folder `conformance`: ggp engine conformance DIR",
            options.folder.display()
        );
    }
    let chosen = conformance::Options {
        rules: options.rules.clone(),
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
        explanations: explanations(options)?,
    };
    let bar = context.bar(0, "searching for rule files");
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
