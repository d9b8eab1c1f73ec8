//! `ggp engine perft`: the number of positions at each depth.

mod paths;
mod table;

use ggp_stop::Stop;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use serde::Serialize;

use crate::position::PositionOptions;
use crate::rule_files::RuleOptions;
use crate::{Context, Exit, format};
use ggp_engine::machine::{
    AnyMachine, Machine, PerftEnd, PerftOptions, PlayError, PropnetState, perft,
};
use ggp_gdl::counted::counted;
use table::Row;

/// The options of `ggp engine perft`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  ggp engine perft tic_tac_toe.kif 4
  ggp engine perft tic_tac_toe.kif 3 --moves '(mark 1 1)'
  ggp engine perft tic_tac_toe.kif 20 --time 10 --csv counts.csv
  ggp engine perft tic_tac_toe.kif 3 --json | jq '.levels[].paths'
  ggp engine perft tic_tac_toe.kif 9 --no-transpositions

Columns: joint-move sequences of that length; distinct states they lead to; the sequences and
the states that end the game; the sum of each role's scores over the ending sequences; missing
or invalid scores. Every printed level is complete.")]
pub struct Options {
    #[command(flatten)]
    rules: RuleOptions,
    /// The last depth to count, after the rule files
    #[arg(value_name = "DEPTH", value_parser = parse_depth)]
    depth: u32,
    /// Number of threads; 0 for one per core
    #[arg(long, short = 'j', value_name = "N", default_value_t = 0)]
    #[arg(value_parser = clap::value_parser!(u16).range(..=1024))]
    threads: u16,
    /// Stop after S seconds
    #[arg(long, value_name = "S", value_parser = crate::numbers::seconds)]
    time: Option<Duration>,
    /// Stop when a level has more than N distinct states
    #[arg(long, value_name = "N", default_value_t = PerftOptions::default().states)]
    max_states: usize,
    /// Count every sequence, without merging equal states
    ///
    /// Distinct states are not counted then. This needs the network, which evaluates
    /// hundreds of positions at once: millions per second.
    #[arg(long, conflicts_with = "max_states")]
    no_transpositions: bool,
    /// Write the table to this file as CSV
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    #[command(flatten)]
    position: PositionOptions,
}

/// The result, as `--json` prints it.
#[derive(Serialize)]
struct Answer<'a> {
    roles: &'a [String],
    levels: &'a [Row],
    stop: Ending,
}

/// The reason why no further level is counted.
#[derive(Copy, Clone, Serialize)]
#[serde(untagged)]
enum Ending {
    Counted(PerftEnd),
    Other(&'static str),
}

impl Ending {
    fn text(self) -> &'static str {
        match self {
            Ending::Counted(PerftEnd::Exhausted) => "the whole game is counted",
            Ending::Counted(PerftEnd::Depth) => "the requested depth is reached",
            Ending::Counted(PerftEnd::States) => "too many states; raise --max-states",
            Ending::Counted(PerftEnd::Time) | Ending::Other("time") => "the time is over",
            Ending::Counted(PerftEnd::Overflow) => {
                "there are more sequences than 128 bits can count"
            }
            Ending::Other(_) => "interrupted",
        }
    }
}

/// Runs the command.
///
/// # Errors
///
/// If the rules are invalid, or turn out to be during play.
pub fn run(options: &Options, context: &Context) -> anyhow::Result<Exit> {
    let start = Instant::now();
    if let Some(path) = &options.csv {
        Context::can_write(path)?;
    }
    let late = options.time.map(|time| stop_after(time, context));
    let late = late.transpose()?;
    let is_late = || late.as_ref().is_some_and(Stop::is_raised);
    let ready = || {
        let mut machine = machine(options, context)?;
        let position = &options.position;
        let root: PropnetState = position.state(&mut machine, &options.rules, context)?;
        anyhow::Ok((machine, root))
    };
    let (mut machine, root) = match ready() {
        Err(_) if is_late() => bail!("the rules were not ready in time; give it more with --time"),
        made => made?,
    };
    let roles = format::role_names(machine.game());
    let threads = match options.threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads.into(),
    };
    let counting = Instant::now();
    let spinner = context.spinner("counting depth 0");
    let mut levels: Vec<Row> = Vec::new();
    let mut printed = match context.json() {
        true => Ok(()),
        false => context.print(table::heading(&roles)),
    };
    let on_level = |level: Row| {
        if !context.json() && printed.is_ok() {
            spinner.suspend(|| printed = context.print(table::line(&level)));
        }
        spinner.set_message(format!("counting depth {}", level.depth + 1));
        levels.push(level);
        if printed.is_err() {
            // The reader has closed the output, so counting can stop.
            context.stop().raise();
        }
    };
    let counted = match options.no_transpositions {
        true => paths::count(&mut machine, &root, options, threads, context, on_level)?,
        false => states(&mut machine, &root, options, threads, start, on_level),
    };
    spinner.finish_and_clear();
    printed?;
    let stop = match &counted {
        Ok(stop) => Ending::Counted(*stop),
        Err(PlayError::Interrupted) if is_late() => Ending::Other("time"),
        Err(PlayError::Interrupted) => Ending::Other("interrupted"),
        Err(_) => Ending::Other("error"),
    };
    if let Some(path) = &options.csv {
        context.write_file(path, table::csv(&roles, &levels).as_bytes())?;
    }
    if context.json() {
        context.print_json(&Answer {
            roles: &roles,
            levels: &levels,
            stop,
        })?;
    }
    if let Err(error) = counted
        && error != PlayError::Interrupted
    {
        return Err(error.into());
    }
    if !context.json() {
        context.print(format!("stopped: {}", stop.text()))?;
        context.note(rate(&levels, counting.elapsed().as_secs_f64()));
    }
    if let Ending::Other("interrupted") = stop {
        bail!("interrupted; the levels above are complete");
    }
    Ok(Exit::Done)
}

/// The machine, for which a network gets half of the time.
fn machine(options: &Options, context: &Context) -> anyhow::Result<AnyMachine> {
    let mut rules = options.rules.clone();
    let half = options.time.map(|time| time.as_secs_f64() / 2.0);
    let ground = &mut rules.evaluation.ground;
    ground.ground_time = ground.ground_time.or(half.filter(|half| *half < 5.0));
    match options.no_transpositions {
        true => paths::machine(&rules, context),
        false => rules.machine(context),
    }
}

/// Counts with equal states merged.
fn states(
    machine: &mut AnyMachine,
    root: &PropnetState,
    options: &Options,
    threads: usize,
    start: Instant,
    mut on_level: impl FnMut(Row),
) -> Result<PerftEnd, PlayError> {
    let mut within = PerftOptions::default();
    within.depth = options.depth;
    within.threads = threads;
    within.states = options.max_states;
    within.time = options
        .time
        .map(|time| time.saturating_sub(start.elapsed()));
    let counted = perft(machine, root, within, |level| on_level(level.into()))?;
    Ok(counted.stop)
}

/// The total count and the speed.
fn rate(levels: &[Row], seconds: f64) -> String {
    let distinct: Option<u64> = levels.iter().map(|level| level.distinct).sum();
    let (count, what) = match distinct {
        Some(states) => (states.into(), "state"),
        None => (
            levels.iter().map(|level| level.paths).sum::<u128>(),
            "sequence",
        ),
    };
    let rate = count as f64 / seconds.max(1e-6);
    let count = counted(count, what);
    format!("{count}, each depth by itself, in {seconds:.2} s: {rate:.0} per second")
}

/// Raises the interrupt after a time. The result reports whether this happened.
fn stop_after(time: Duration, context: &Context) -> anyhow::Result<Stop> {
    let late = Stop::new();
    let (raised, interrupt) = (late.clone(), context.stop().clone());
    // The process does not wait for this thread.
    std::thread::Builder::new()
        .spawn(move || {
            std::thread::sleep(time);
            raised.raise();
            interrupt.raise();
        })
        .context("cannot start a thread")?;
    Ok(late)
}

fn parse_depth(text: &str) -> Result<u32, String> {
    let parsed = text.parse();
    parsed.map_err(|_| "expected a depth: a whole number after the rule files".to_owned())
}
