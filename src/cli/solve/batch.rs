//! `ggp solve --each` and `--suite`: the same rules with one board after the
//! other, or one game after the other.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::Context as _;
use serde::Serialize;

use super::report::verdict_name;
use super::{Options, texts};
use crate::check::Reading;
use crate::cli::rules::{self, RuleOptions};
use crate::cli::{Context, Exit, bench};
use crate::diagnostic::Severity;
use crate::grid::{self, Grid};
use crate::machine::AnyMachine;
use crate::search::{Stats, Verdict};
use crate::solve::{Answer, SolveOptions, solve};

/// What came of one puzzle.
#[derive(Serialize)]
struct Row {
    #[serde(flatten)]
    place: Place,
    verdict: &'static str,
    length: Option<usize>,
    optimal: Option<bool>,
    nodes: u64,
    seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    strategy: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// Which one it is.
#[derive(Serialize)]
#[serde(untagged)]
enum Place {
    /// One board of a file.
    Board {
        /// Position in the file, from 1; empty lines do not count.
        puzzle: usize,
        line: usize,
    },
    /// A rule set.
    Game { game: String },
}

impl Place {
    fn name(&self) -> String {
        match self {
            Place::Board { puzzle, .. } => puzzle.to_string(),
            Place::Game { game } => game.clone(),
        }
    }
}

#[derive(Serialize)]
struct Total {
    puzzles: usize,
    solved: usize,
    unsolvable: usize,
    failed: usize,
    nodes: u64,
    /// The sum over the puzzles, with several threads more than has passed.
    seconds: f64,
    elapsed: f64,
}

/// Solves all puzzles of a file, a row each, in the order of the file.
pub(super) fn each(
    options: &Options,
    path: &Path,
    how: &SolveOptions,
    context: &Context,
) -> anyhow::Result<Exit> {
    let text = rules::read_text(path, options.rules.max_bytes, context)?;
    let puzzles = grid::puzzles(&rules::shown_name(path), &text)?;
    let puzzles: Vec<(usize, &Grid)> = puzzles.iter().enumerate().collect();
    run(&puzzles, 7, options.threads, context, |(index, puzzle)| {
        let place = Place::Board {
            puzzle: index + 1,
            line: puzzle.line(),
        };
        let read = || options.rules.read_with(Some(puzzle), context);
        row(place, &options.rules, read, how, context)
    })
}

/// Solves games, a row each. Folders stand for the rule files in them; rule sets
/// with errors are left out there, and so are games with another number of roles.
pub(super) fn suite(
    options: &Options,
    how: &SolveOptions,
    context: &Context,
) -> anyhow::Result<Exit> {
    let mut games: Vec<RuleOptions> = Vec::new();
    for files in bench::games(&options.rules.files)? {
        let is_listed = options.rules.files.iter().any(|file| files.contains(file));
        let rules = RuleOptions {
            files,
            ..options.rules.clone()
        };
        let game = rules.read(context)?.game;
        let roles = game.map(|game| game.role_count());
        if is_listed && roles.is_none() || roles.is_some_and(|roles| options.roles == Some(roles))
            || options.roles.is_none() && roles.is_some()
        {
            games.push(rules);
        }
    }
    let names: Vec<String> = games.iter().map(|rules| name(&rules.files)).collect();
    let width = names.iter().map(String::len).max().unwrap_or(0).max(7);
    run(&games, width, options.threads, context, |rules| {
        let game = name(&rules.files);
        row(Place::Game { game }, rules, || rules.read(context), how, context)
    })
}

/// What a rule set is called.
fn name(files: &[PathBuf]) -> String {
    let stem = |file: &PathBuf| file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    files.iter().map(stem).collect::<Vec<String>>().join("+")
}

/// Makes a row of each item, and prints them in order, each as soon as those
/// before it are there.
fn run<T: Sync>(
    items: &[T],
    width: usize,
    threads: u16,
    context: &Context,
    solve: impl Fn(&T) -> Row + Sync,
) -> anyhow::Result<Exit> {
    let started = Instant::now();
    let next = AtomicUsize::new(0);
    let rows: Mutex<Vec<Option<Row>>> = Mutex::new(items.iter().map(|_| None).collect());
    let bar = context.bar(items.len() as u64, "puzzles");
    if !context.json() {
        context.print(format!(
            "{:>width$}  {:<18}  {:>6}  {:>10}  {:>9}",
            "puzzle", "verdict", "length", "nodes", "seconds"
        ))?;
    }
    let printed = Mutex::new((0, Ok(())));
    std::thread::scope(|scope| {
        for _ in 0..usize::from(threads).min(items.len()) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(index) else {
                        return;
                    };
                    if context.is_interrupted() {
                        return;
                    }
                    let row = solve(item);
                    bar.inc(1);
                    let mut rows = rows.lock().expect("a puzzle does not panic here");
                    rows[index] = Some(row);
                    let mut printed = printed.lock().expect("printing does not panic");
                    while let Some(Some(row)) = rows.get(printed.0) {
                        if !context.json() && printed.1.is_ok() {
                            printed.1 = bar.suspend(|| context.print(line(row, width)));
                        }
                        printed.0 += 1;
                    }
                }
            });
        }
    });
    bar.finish_and_clear();
    printed.into_inner().expect("printing does not panic").1?;
    let rows = rows.into_inner().expect("a puzzle does not panic here");
    let rows: Vec<Row> = rows.into_iter().flatten().collect();
    let count = |verdict| rows.iter().filter(|row| row.verdict == verdict).count();
    let total = Total {
        puzzles: items.len(),
        solved: count("solved"),
        unsolvable: count("unsolvable"),
        failed: count("failed"),
        nodes: rows.iter().map(|row| row.nodes).sum(),
        seconds: rows.iter().map(|row| row.seconds).sum(),
        elapsed: started.elapsed().as_secs_f64(),
    };
    let is_solved = total.solved == total.puzzles;
    let failed = rows.iter().find_map(|row| Some((row.place.name(), row.error.as_ref()?)));
    if context.json() {
        context.print_json(&serde_json::json!({ "puzzles": rows, "total": total }))?;
    } else {
        let mut verdicts = format!("{} of {} solved", total.solved, total.puzzles);
        if total.unsolvable > 0 {
            verdicts += &format!(", {} unsolvable", total.unsolvable);
        }
        context.print(format!(
            "{:>width$}  {verdicts:<18}  {:>6}  {:>10}  {:>9.3}",
            "total", "", total.nodes, total.seconds
        ))?;
    }
    if let Some((puzzle, error)) = failed {
        return Err(anyhow::anyhow!("{error}")).with_context(|| format!("puzzle {puzzle}"));
    }
    Ok(if is_solved { Exit::Done } else { Exit::Negative })
}

fn row(
    place: Place,
    rules: &RuleOptions,
    read: impl Fn() -> anyhow::Result<Reading>,
    how: &SolveOptions,
    context: &Context,
) -> Row {
    let started = Instant::now();
    let mut stats = Stats::default();
    let mut row = Row {
        place,
        verdict: "failed",
        length: None,
        optimal: None,
        nodes: 0,
        seconds: 0.0,
        plan: None,
        strategy: None,
        error: None,
    };
    match solve_one(rules, read, how, &mut stats, context) {
        Ok((machine, answer)) => {
            row.verdict = verdict_name(&answer.verdict);
            if let Verdict::Solved { plans, optimal, .. } = &answer.verdict {
                row.length = plans.first().map(Vec::len);
                row.optimal = Some(*optimal);
                row.plan = plans.first().map(|plan| texts(&machine, plan));
            }
            row.strategy = Some(answer.chosen);
        }
        Err(error) => row.error = Some(format!("{error:#}")),
    }
    row.nodes = stats.total().expanded;
    row.seconds = started.elapsed().as_secs_f64();
    row
}

fn solve_one(
    rules: &RuleOptions,
    read: impl Fn() -> anyhow::Result<Reading>,
    how: &SolveOptions,
    stats: &mut Stats,
    context: &Context,
) -> anyhow::Result<(AnyMachine, Answer)> {
    let reading = read()?;
    let Some(game) = reading.game else {
        let error = reading.findings.iter().find(|f| f.severity == Severity::Error);
        let message = error.map_or("the rules have errors", |error| &error.message);
        return Err(anyhow::anyhow!("{message}"));
    };
    let machine = rules.machine_for(&game, context)?;
    let answer = solve(&machine, how, stats, &mut ())?;
    Ok((machine, answer))
}

fn line(row: &Row, width: usize) -> String {
    let length = row.length.map_or_else(|| "-".to_owned(), |l| l.to_string());
    format!(
        "{:>width$}  {:<18}  {length:>6}  {:>10}  {:>9.3}",
        row.place.name(),
        row.verdict,
        row.nodes,
        row.seconds
    )
}
