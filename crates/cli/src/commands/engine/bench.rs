//! `ggp engine bench`: random playouts on every backend.

mod child;
mod processes;
mod report;
mod task;

use ggp_gdl::counted::counted;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{anyhow, bail};
use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::bench::agreement::{Disagreement, disagreements};
use crate::bench::peers::Peers;
use crate::bench::{Row, read_rows};
use crate::rule_files::{EngineOptions, backend_name, backend_parser, rule_sets};
use crate::rule_limits::EvaluationOptions;
use crate::whole_text;
use crate::{Context, Exit};
use ggp_engine::machine::Backend;
use task::{Limits, Task};

/// The backends measured by default.
const BACKENDS: &[Backend] = &[Backend::Propnet, Backend::Datalog];

/// The numbers of positions that may be played at the same time.
const LANES: [&str; 4] = ["64", "256", "512", "1024"];

/// The options of `ggp engine bench`.
#[derive(clap::Args)]
#[command(after_help = "\
Each backend plays each game in a separate process: repeatedly from the initial state to the
end, by uniformly chosen legal moves, reading the goals there. A state change is one joint
move. Mean lengths and mean goals must agree between the backends, and with a reference if
one is given.

The column `of limit` compares the state changes with those that gates alone would allow.

With --start, the table has the bytes that each gate of the network and each row of Datalog
keeps in memory. Networks that other runs kept are never used.

Exit codes: 0 all games were measured; 1 means disagree, or a game exceeded a limit; 2 a
rule file has errors, or a process failed. Every game gets its row in any case.

Examples:
  ggp engine bench games
  ggp engine bench tic_tac_toe.kif --backend datalog --backend naive --seconds 3
  ggp engine bench games --against benches/peers.csv --reference benches/reference.json
  ggp engine bench games --start --jobs 4 --csv start.csv
  ggp engine bench rules.kif+instance.kif --json | jq '.[].state_changes_per_cpu_second'")]
pub struct Options {
    /// Rule files, or folders of rule files; A+B is one rule set of two files
    #[arg(value_name = "GAME", required_unless_present = "child")]
    games: Vec<PathBuf>,
    /// Backend to measure; may be given several times [default: propnet and datalog]
    #[arg(long = "backend", value_parser = backend_parser(), value_name = "BACKEND")]
    backends: Vec<Backend>,
    /// Prepare the games only, without playouts
    #[arg(long)]
    start: bool,
    /// Seconds of play for each game and backend
    #[arg(long, short, value_name = "S", default_value = "1", value_parser = crate::numbers::seconds)]
    #[arg(conflicts_with = "playouts")]
    seconds: Duration,
    /// Make N playouts instead, if --timeout allows
    #[arg(long, value_name = "N")]
    playouts: Option<NonZeroU64>,
    /// Threads that prepare and play one game
    #[arg(long, value_name = "N", default_value = "1")]
    threads: NonZeroUsize,
    /// Games played at the same time; they slow each other down
    #[arg(long, short, value_name = "N", default_value = "1")]
    jobs: NonZeroUsize,
    /// The seed of the random choices
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Cut playouts off after N joint moves
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    depth: u64,
    /// Write the rows to this file as CSV; `-` prints them instead of the table
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Compare with the figures of other engines in this file: CSV with the columns game,
    /// engine, state_changes_per_cpu_s, or the output of --json
    #[arg(long, value_name = "FILE", conflicts_with = "start")]
    against: Option<PathBuf>,
    /// Compare the means with those in this file, an output of --json
    #[arg(long, value_name = "FILE", conflicts_with = "start")]
    reference: Option<PathBuf>,
    /// Distinguish upper and lower case: `Cell` is not `cell`
    #[arg(long, help_heading = "Rules")]
    case_sensitive: bool,
    /// Positions that a network plays at the same time [default: chosen by the game]
    #[arg(long, value_name = "N", help_heading = "Networks")]
    #[arg(value_parser = PossibleValuesParser::new(LANES).map(|n| n.parse::<usize>().expect("a number")))]
    lanes: Option<usize>,
    #[command(flatten)]
    engine: EngineOptions,
    #[command(flatten)]
    evaluation: EvaluationOptions,
    /// Seconds for preparing a game, and for play beyond --seconds
    #[arg(long, value_name = "S", default_value = "60", value_parser = crate::numbers::seconds)]
    #[arg(help_heading = "Limits")]
    timeout: Duration,
    /// Maximum memory for a game, in MB of 2^20 bytes; 0 for no limit
    #[arg(
        long,
        value_name = "MB",
        default_value_t = 4096,
        help_heading = "Limits"
    )]
    memory: u64,
    /// Run one task, given as JSON, and print its result
    #[arg(long, hide = true, value_name = "TASK")]
    child: Option<String>,
}

/// Runs the command.
///
/// # Errors
///
/// If a file or folder does not exist, a file of figures is malformed, or the run was
/// interrupted. Errors in a game are in its row.
pub fn run(options: &Options, context: &Context) -> anyhow::Result<Exit> {
    if let Some(task) = &options.child {
        return child::run(task, context);
    }
    let games = rule_sets(&options.games)?;
    let csv = options.csv.as_deref();
    let is_printed = csv.is_some_and(|path| path.as_os_str() == "-");
    if let Some(path) = csv.filter(|_| !is_printed) {
        Context::can_write(path)?;
    }
    let peers = match &options.against {
        Some(path) => Some(read(path, Peers::read)?),
        None => None,
    };
    let reference = match &options.reference {
        Some(path) => read(path, read_rows)?,
        None => Vec::new(),
    };
    let backends = match options.backends.is_empty() {
        true => BACKENDS,
        false => &options.backends,
    };
    let mut tasks = Vec::new();
    for files in &games {
        let of_game = backends.iter().map(|backend| options.task(files, *backend));
        tasks.extend(of_game);
    }
    let source = |path: &Path| format!("in {}", path.display());
    let source = options.reference.as_deref().map(source);
    let source = source.as_deref().unwrap_or_default();
    let is_list = context.json() && !is_printed;
    let mut rows: Vec<Row> = Vec::new();
    let mut take = |mut row: Row| {
        row.disagreements = compare(&row, &rows, &reference, source);
        if let Some(peers) = &peers {
            row.against = peers.rivals(&row);
        }
        if is_list {
            report::print_member(&row, rows.is_empty(), context)?;
        }
        rows.push(row);
        Ok(())
    };
    let (limits, jobs) = (options.limits(), options.jobs.get());
    processes::measure(&tasks, limits, jobs, context, &mut take)?;
    if is_list {
        report::print_end(rows.is_empty(), context)?;
    }
    let is_whole = rows.len() == tasks.len();
    if options.reference.is_some() {
        for row in rows
            .iter()
            .filter(|row| reference.iter().all(|r| r.game != row.game))
        {
            context.note(format_args!(
                "note: the reference has no means for {}",
                row.game
            ));
        }
    }
    let kind = match options.start {
        true => report::Kind::Start,
        false => report::Kind::Play,
    };
    match csv {
        Some(_) if is_printed => context.print(report::csv(&rows).trim_end())?,
        Some(path) => context.write_file(path, report::csv(&rows).as_bytes())?,
        None => {}
    }
    if !is_list && !is_printed {
        report::print(&rows, kind, peers.as_ref(), context)?;
    }
    if !is_whole {
        bail!("interrupted; the rows above are complete");
    }
    exit(&rows, context)
}

/// The means of a row that differ from those of the same game on earlier backends, or in the
/// reference.
fn compare(row: &Row, earlier: &[Row], reference: &[Row], source: &str) -> Vec<Disagreement> {
    let mut found = Vec::new();
    for other in earlier.iter().filter(|other| other.file == row.file) {
        let source = format!("by {}", other.backend);
        found.extend(disagreements(row, other, &source));
    }
    for other in reference.iter().filter(|other| other.game == row.game) {
        found.extend(disagreements(row, other, source));
    }
    found
}

/// The exit code for the rows. Failures are reported on standard error.
fn exit(rows: &[Row], context: &Context) -> anyhow::Result<Exit> {
    let is_failure = |row: &&Row| row.failure.is_some_and(|failure| !failure.is_limit());
    let failed = rows.iter().filter(is_failure).count();
    if failed > 0 {
        bail!(
            "{failed} of {} failed; see {}",
            counted(rows.len(), "row"),
            if failed == 1 {
                "its error"
            } else {
                "their errors"
            }
        );
    }
    let is_cut = |row: &Row| row.failure.is_some() || !row.disagreements.is_empty();
    match rows.iter().any(is_cut) {
        true => Ok(Exit::Negative),
        false => {
            for row in rows.iter().filter(|row| row.faults > 0) {
                let fault = row.fault.as_deref().unwrap_or("the rules are faulty");
                context.note(format_args!(
                    "note: {}, {}: {} in {}, for example: {fault}",
                    row.game,
                    row.backend,
                    counted(row.faults, "fault"),
                    counted(row.playouts, "playout")
                ));
            }
            Ok(Exit::Done)
        }
    }
}

/// Reads and parses a file.
fn read<T>(path: &Path, parse: impl Fn(&str) -> Result<T, String>) -> anyhow::Result<T> {
    let name = path.display();
    let text = whole_text::read(path)?;
    parse(&text).map_err(|error| anyhow!("{name}: {error}"))
}

impl Options {
    fn limits(&self) -> Limits {
        Limits {
            start: self.timeout,
            play: self.timeout
                + match self.playouts {
                    Some(_) => Duration::ZERO,
                    None => 2 * self.seconds,
                },
            memory: (self.memory > 0).then_some(self.memory << 20),
        }
    }

    fn task(&self, files: &[PathBuf], backend: Backend) -> Task {
        Task {
            files: files.to_vec(),
            backend: backend_name(backend).to_owned(),
            seconds: (!self.start).then_some(self.seconds),
            playouts: self.playouts.map(NonZeroU64::get),
            threads: self.threads.get(),
            seed: self.seed,
            depth: self.depth,
            lanes: self.lanes,
            evaluation: self.evaluation.clone(),
            // A fallback to another backend is reported.
            ground_time: self.timeout * 4 / 5,
            no_jit: self.engine.no_jit,
            case_sensitive: self.case_sensitive,
            memory: self.limits().memory,
        }
    }
}
