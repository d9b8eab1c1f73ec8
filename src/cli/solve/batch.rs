//! `ggp solve --each`: the same rules with one board after the other.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::Context as _;
use serde::Serialize;

use super::report::verdict_name;
use super::{Options, texts};
use crate::cli::rules;
use crate::cli::{Context, Exit};
use crate::diagnostic::Severity;
use crate::grid::{self, Grid};
use crate::search::{Stats, Verdict};
use crate::solve::{SolveOptions, solve};

/// What came of one puzzle.
#[derive(Serialize)]
struct Row {
    /// Position in the file, from 1; empty lines do not count.
    puzzle: usize,
    line: usize,
    verdict: &'static str,
    length: Option<usize>,
    nodes: u64,
    seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
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
pub(super) fn run(
    options: &Options,
    path: &Path,
    how: &SolveOptions,
    context: &Context,
) -> anyhow::Result<Exit> {
    let text = rules::read_text(path, options.rules.max_bytes, context)?;
    let puzzles = grid::puzzles(&rules::shown_name(path), &text)?;
    let started = Instant::now();
    let next = AtomicUsize::new(0);
    let rows: Mutex<Vec<Option<Row>>> = Mutex::new(Vec::new());
    rows.lock()
        .expect("nobody else has it yet")
        .resize_with(puzzles.len(), || None);
    let bar = context.bar(puzzles.len() as u64, "puzzles");
    if !context.json() {
        context.print(format!(
            "{:>7}  {:<18}  {:>6}  {:>10}  {:>9}",
            "puzzle", "verdict", "length", "nodes", "seconds"
        ))?;
    }
    let printed = Mutex::new((0, Ok(())));
    std::thread::scope(|scope| {
        for _ in 0..usize::from(options.threads).min(puzzles.len()) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(puzzle) = puzzles.get(index) else {
                        return;
                    };
                    if context.is_interrupted() {
                        return;
                    }
                    let row = row(options, index, puzzle, how, context);
                    bar.inc(1);
                    let mut rows = rows.lock().expect("a puzzle does not panic here");
                    rows[index] = Some(row);
                    // Rows come out in order, each as soon as those before it.
                    let mut printed = printed.lock().expect("printing does not panic");
                    while let Some(Some(row)) = rows.get(printed.0) {
                        if !context.json() && printed.1.is_ok() {
                            printed.1 = bar.suspend(|| context.print(line(row)));
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
        puzzles: puzzles.len(),
        solved: count("solved"),
        unsolvable: count("unsolvable"),
        failed: count("failed"),
        nodes: rows.iter().map(|row| row.nodes).sum(),
        seconds: rows.iter().map(|row| row.seconds).sum(),
        elapsed: started.elapsed().as_secs_f64(),
    };
    let is_solved = total.solved == total.puzzles;
    let failed = rows.iter().find_map(|row| row.error.as_ref().map(|e| (row.puzzle, e)));
    if context.json() {
        context.print_json(&serde_json::json!({ "puzzles": rows, "total": total }))?;
    } else {
        context.print(format!(
            "{:>7}  {:<18}  {:>6}  {:>10}  {:>9.3}",
            "total",
            format!("{} of {} solved", total.solved, total.puzzles),
            "",
            total.nodes,
            total.seconds
        ))?;
    }
    if let Some((puzzle, error)) = failed {
        return Err(anyhow::anyhow!("{error}")).with_context(|| format!("puzzle {puzzle}"));
    }
    Ok(if is_solved { Exit::Done } else { Exit::Negative })
}

fn row(
    options: &Options,
    index: usize,
    puzzle: &Grid,
    how: &SolveOptions,
    context: &Context,
) -> Row {
    let started = Instant::now();
    let mut stats = Stats::default();
    let mut row = Row {
        puzzle: index + 1,
        line: puzzle.line(),
        verdict: "failed",
        length: None,
        nodes: 0,
        seconds: 0.0,
        plan: None,
        error: None,
    };
    match solve_one(options, puzzle, how, &mut stats, context) {
        Ok((verdict, plan)) => {
            row.verdict = verdict;
            row.length = plan.as_ref().map(Vec::len);
            row.plan = plan;
        }
        Err(error) => row.error = Some(format!("{error:#}")),
    }
    row.nodes = stats.total().expanded;
    row.seconds = started.elapsed().as_secs_f64();
    row
}

fn solve_one(
    options: &Options,
    puzzle: &Grid,
    how: &SolveOptions,
    stats: &mut Stats,
    context: &Context,
) -> anyhow::Result<(&'static str, Option<Vec<String>>)> {
    let reading = options.rules.read_with(Some(puzzle), context)?;
    if reading.game.is_none() {
        let error = reading.findings.iter().find(|f| f.severity == Severity::Error);
        let message = error.map_or("the rules have errors", |error| &error.message);
        return Err(anyhow::anyhow!("{message}"));
    }
    let game = reading.game.context("the rules have errors")?;
    let machine = options.rules.machine_for(&game, context)?;
    let answer = solve(&machine, how, stats, &mut ())?;
    let plan = match &answer.verdict {
        Verdict::Solved { plans, .. } => plans.first().map(|plan| texts(&machine, plan)),
        _ => None,
    };
    Ok((verdict_name(&answer.verdict), plan))
}

fn line(row: &Row) -> String {
    let length = row.length.map_or_else(|| "-".to_owned(), |l| l.to_string());
    format!(
        "{:>7}  {:<18}  {length:>6}  {:>10}  {:>9.3}",
        row.puzzle, row.verdict, row.nodes, row.seconds
    )
}
