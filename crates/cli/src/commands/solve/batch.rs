//! `ggp solve --each` and `--suite`: the same rules with many boards, or many games.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::bail;
use serde::Serialize;

use super::reference::{Known, Match, Ours, Reference};
use super::report::verdict_name;
use super::{Options, left, texts};
use crate::rule_files::{self, RuleOptions};
use crate::{Context, Exit};
use ggp_engine::machine::{AnyMachine, Limits, Machine};
use ggp_engine::propnet::UsefulPasses;
use ggp_gdl::check::Reading;
use ggp_gdl::diagnostic::{Code, Severity};
use ggp_gdl::game::GoalChoice;
use ggp_gdl::text_grid::{self, Grid};
use ggp_search::{Stats, Verdict};
use ggp_solver::solve::{SolveOptions, count_from, solve};
use ggp_verify::digest;

/// The result of a puzzle.
#[derive(Serialize)]
struct Row {
    #[serde(flatten)]
    place: Place,
    verdict: &'static str,
    /// With --count: the number of solutions found.
    #[serde(skip_serializing_if = "Option::is_none")]
    solutions: Option<usize>,
    /// With --count: whether there are no other solutions.
    #[serde(skip_serializing_if = "Option::is_none")]
    complete: Option<bool>,
    length: Option<usize>,
    optimal: Option<bool>,
    nodes: u64,
    seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// The message about an undefined relation, perhaps of a board in another file.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<String>,
    /// The known result.
    #[serde(skip_serializing_if = "Option::is_none")]
    known: Option<Known>,
    /// The contradiction between this result and the known one.
    #[serde(skip_serializing_if = "Option::is_none")]
    contradiction: Option<String>,
    /// With --reference: whether the table has only a game of this name with other rules.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    other_rules: bool,
    #[serde(skip)]
    no_plan_within: Option<u32>,
    /// The cause of `error`.
    #[serde(skip)]
    cause: Option<anyhow::Error>,
}

/// The verdict on a game with several roles, which has no plans.
const SEVERAL_ROLES: &str = "several_roles";

impl Row {
    fn new(place: Place, verdict: &'static str) -> Row {
        Row {
            place,
            verdict,
            solutions: None,
            complete: None,
            length: None,
            optimal: None,
            nodes: 0,
            seconds: 0.0,
            plan: None,
            method: None,
            error: None,
            missing: None,
            known: None,
            contradiction: None,
            other_rules: false,
            no_plan_within: None,
            cause: None,
        }
    }

    /// Returns true if only the existence of a shorter plan can still be open.
    fn is_settled(&self) -> bool {
        ["solved", "unsolvable"].contains(&self.verdict)
    }

    /// Compares the result with the known one.
    fn compare(&mut self, known: Match<'_>) {
        let ours = match (self.verdict, self.length, self.optimal) {
            ("solved", Some(moves), Some(optimal)) => Ours::Plan(moves, optimal),
            ("unsolvable", ..) => Ours::Unsolvable,
            _ => Ours::NoPlan(self.no_plan_within),
        };
        self.other_rules = matches!(known, Match::OtherRules);
        if let Match::Known(known) = known {
            self.contradiction = known.contradiction(ours);
            self.known = Some(known.clone());
        }
    }
}

/// The identity of a puzzle.
#[derive(Serialize)]
#[serde(untagged)]
enum Place {
    /// A board of a file.
    Board {
        /// Position in the file, from 1; empty lines do not count.
        puzzle: usize,
        line: usize,
    },
    /// A rule set.
    Game {
        game: String,
        /// The digest of its rules.
        #[serde(skip_serializing_if = "Option::is_none")]
        rules: Option<String>,
    },
}

impl Place {
    fn name(&self) -> String {
        match self {
            Place::Board { puzzle, .. } => puzzle.to_string(),
            Place::Game { game, .. } => game.clone(),
        }
    }
}

#[derive(Serialize)]
struct Total {
    puzzles: usize,
    /// Solved puzzles, without those of `as_they_stand`.
    solved: usize,
    /// Solved puzzles whose rules use an undefined relation.
    as_they_stand: usize,
    unsolvable: usize,
    failed: usize,
    several_roles: usize,
    contradictions: usize,
    nodes: u64,
    /// The sum over the puzzles. With several threads it can exceed `elapsed`.
    seconds: f64,
    elapsed: f64,
}

/// Solves all puzzles of a file and prints a row for each, in the order of the file.
pub(super) fn each(
    options: &Options,
    path: &Path,
    how: &SolveOptions,
    context: &Context,
) -> anyhow::Result<Exit> {
    let text = rule_files::read_text(path, options.rules.max_bytes, context)?;
    let puzzles = text_grid::puzzles(&rule_files::shown_name(path), &text)?;
    if puzzles.is_empty() {
        bail!("{}: the file contains no puzzle", path.display());
    }
    let beginning = options.rules.beginning(context.stop(), context)?;
    let mut limits = options.rules.limits(context);
    limits.ground.useful = Some(UsefulPasses::default());
    let puzzles: Vec<(usize, &Grid)> = puzzles.iter().enumerate().collect();
    let sheet = Sheet {
        goals: options.rules.goals.goals,
        width: 7,
        reference: None,
        is_first_alone: true,
    };
    run(
        &puzzles,
        &sheet,
        options.threads,
        context,
        |(index, puzzle)| {
            let place = Place::Board {
                puzzle: index + 1,
                line: puzzle.line(),
            };
            let read = || {
                let beginning = beginning.clone();
                let rules = &options.rules;
                rules.read_with(beginning, Some(puzzle), context.stop(), context)
            };
            match options.count {
                Some(at_most) => {
                    let fill = counted(at_most);
                    row(place, &options.rules, &limits, read, how, fill, context)
                }
                None => row(place, &options.rules, &limits, read, how, solved, context),
            }
        },
    )
}

/// Solves games and prints a row for each. A folder is replaced by the rule files in it, without
/// rule sets that have errors. Games with another number of roles than requested are left out.
pub(super) fn suite(
    options: &Options,
    how: &SolveOptions,
    context: &Context,
) -> anyhow::Result<Exit> {
    let reference = match &options.reference {
        Some(path) => Some(Reference::read(path)?),
        None => None,
    };
    let listed: Vec<PathBuf> = options
        .rules
        .files
        .iter()
        .map(|path| folder(path))
        .collect();
    let mut games: Vec<(RuleOptions, usize, Option<String>)> = Vec::new();
    for files in rule_files::rule_sets(&listed)? {
        let is_listed = listed.iter().any(|file| files.contains(file));
        let rules = RuleOptions {
            files,
            ..options.rules.clone()
        };
        let game = rules.read(context)?.game;
        match game.map(|game| (game.role_count(), digest(&game))) {
            Some((roles, _)) if options.roles.is_some_and(|wanted| wanted != roles) => {}
            Some((roles, digest)) => games.push((rules, roles, Some(digest))),
            // The row shows the error.
            None if is_listed => games.push((rules, 1, None)),
            None => {
                let name = name(&rules.files);
                context.note(format_args!(
                    "note: {name} is left out: its rules have errors"
                ));
            }
        }
    }
    let names: Vec<String> = games.iter().map(|(rules, ..)| name(&rules.files)).collect();
    let sheet = Sheet {
        goals: options.rules.goals.goals,
        width: names.iter().map(String::len).max().unwrap_or(0).max(7),
        reference: reference.as_ref(),
        is_first_alone: false,
    };
    run(
        &games,
        &sheet,
        options.threads,
        context,
        |(rules, roles, digest)| {
            let game = name(&rules.files);
            let known = match (&reference, digest) {
                (Some(reference), Some(digest)) => reference.of(&game, digest),
                _ => Match::Unknown,
            };
            let place = Place::Game {
                game,
                rules: digest.clone(),
            };
            if *roles != 1 {
                return Row::new(place, SEVERAL_ROLES);
            }
            let (read, limits) = (|| rules.read(context), rules.limits(context));
            let mut row = row(place, rules, &limits, read, how, solved, context);
            row.compare(known);
            row
        },
    )
}

/// The folder `games` inside a folder without rule files of its own; otherwise the path itself.
fn folder(path: &Path) -> PathBuf {
    let inner = path.join("games");
    let is_rules = |entry: std::fs::DirEntry| {
        let path = entry.path();
        path.extension().is_some_and(|ending| ending == "kif")
    };
    let has_rules = || std::fs::read_dir(path).is_ok_and(|all| all.flatten().any(is_rules));
    match inner.is_dir() && !has_rules() {
        true => inner,
        false => path.to_owned(),
    }
}

/// The name of a rule set.
fn name(files: &[PathBuf]) -> String {
    let stem = |file: &PathBuf| {
        file.file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    };
    files.iter().map(stem).collect::<Vec<String>>().join("+")
}

/// Makes a row for each item and prints the rows in order, each as soon as all rows before it
/// are printed.
fn run<T: Sync>(
    items: &[T],
    sheet: &Sheet,
    threads: u16,
    context: &Context,
    solve: impl Fn(&T) -> Row + Sync,
) -> anyhow::Result<Exit> {
    let started = Instant::now();
    let next = AtomicUsize::new(0);
    let rows: Mutex<Vec<Option<Row>>> = Mutex::new(items.iter().map(|_| None).collect());
    let bar = context.bar(items.len() as u64, "puzzles");
    if !context.json() {
        context.print(sheet.head())?;
    }
    let printed = Mutex::new((0, Ok(())));
    let step = || {
        let index = next.fetch_add(1, Ordering::Relaxed);
        let Some(item) = items.get(index).filter(|_| !context.is_interrupted()) else {
            return false;
        };
        let row = solve(item);
        bar.inc(1);
        let mut rows = rows
            .lock()
            .expect("no thread panics while it holds the lock");
        rows[index] = Some(row);
        let mut printed = printed.lock().expect("printing does not panic");
        while let Some(Some(row)) = rows.get(printed.0) {
            if !context.json() && printed.1.is_ok() {
                printed.1 = bar.suspend(|| context.print(sheet.line(row)));
            }
            printed.0 += 1;
        }
        true
    };
    let work = || while step() {};
    if sheet.is_first_alone {
        step();
    }
    std::thread::scope(|scope| {
        // Threads that the system does not give are left out: all take from one list.
        for _ in 1..usize::from(threads).min(items.len()) {
            let _ = std::thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    bar.finish_and_clear();
    printed.into_inner().expect("printing does not panic").1?;
    let rows = rows
        .into_inner()
        .expect("no thread panics while it holds the lock");
    let mut rows: Vec<Row> = rows.into_iter().flatten().collect();
    let count = |verdict| rows.iter().filter(|row| row.verdict == verdict).count();
    let is_incomplete = |row: &&Row| row.verdict == "solved" && row.missing.is_some();
    let as_they_stand = rows.iter().filter(is_incomplete).count();
    let total = Total {
        puzzles: items.len(),
        solved: count("solved") - as_they_stand,
        as_they_stand,
        unsolvable: count("unsolvable"),
        failed: count("failed"),
        several_roles: count(SEVERAL_ROLES),
        contradictions: rows
            .iter()
            .filter(|row| row.contradiction.is_some())
            .count(),
        nodes: rows.iter().map(|row| row.nodes).sum(),
        // An empty sum would be -0.
        seconds: rows.iter().map(|row| row.seconds).sum::<f64>() + 0.0,
        elapsed: started.elapsed().as_secs_f64(),
    };
    let is_solved = total.solved + total.as_they_stand + total.several_roles == total.puzzles;
    let failed = rows
        .iter_mut()
        .find_map(|row| Some((row.place.name(), row.cause.take()?)));
    if context.json() {
        let mut all = serde_json::json!({ "puzzles": rows, "total": total });
        if let Some(choice) = sheet.goals.filter(|choice| *choice != GoalChoice::Error) {
            all["goals"] = choice.name().into();
        }
        context.print_json(&all)?;
    } else {
        context.print(sheet.total(&total))?;
    }
    for row in rows.iter() {
        if let Some(contradiction) = &row.contradiction {
            let word = context.error_word();
            // Contradictions are printed even with --quiet.
            eprintln!("{word} {}: {contradiction}", row.place.name());
        }
    }
    if let Some((puzzle, error)) = failed {
        return Err(error.context(format!("puzzle {puzzle}")));
    }
    let is_right = match sheet.reference {
        Some(_) => total.contradictions == 0,
        None => is_solved,
    };
    Ok(if is_right { Exit::Done } else { Exit::Negative })
}

/// Makes a row: creates the machine, calls `fill`, and records the time and any error.
fn row(
    place: Place,
    rules: &RuleOptions,
    limits: &Limits,
    read: impl Fn() -> anyhow::Result<Reading>,
    how: &SolveOptions,
    fill: impl Fn(&mut AnyMachine, &mut Row, &SolveOptions) -> anyhow::Result<()>,
    context: &Context,
) -> Row {
    let started = Instant::now();
    let mut row = Row::new(place, "failed");
    let made = machine(rules, limits, read, how, context);
    let filled = made.and_then(|(mut machine, missing)| {
        row.missing = missing;
        let mut how = how.clone();
        how.budget = left(&how.budget, started);
        fill(&mut machine, &mut row, &how)
    });
    row.cause = filled.err();
    row.error = row.cause.as_ref().map(|error| format!("{error:#}"));
    row.seconds = started.elapsed().as_secs_f64();
    row
}

fn machine(
    rules: &RuleOptions,
    limits: &Limits,
    read: impl Fn() -> anyhow::Result<Reading>,
    how: &SolveOptions,
    context: &Context,
) -> anyhow::Result<(AnyMachine, Option<String>)> {
    let reading = read()?;
    let missing = reading.findings.iter().find(|f| f.code == Code::Undefined);
    let missing = missing.map(|finding| finding.message.clone());
    let Some(game) = reading.game else {
        let error = reading
            .findings
            .iter()
            .find(|f| f.severity == Severity::Error);
        let message = error.map_or("the rules have errors", |error| &error.message);
        return Err(match error.and_then(|error| error.span) {
            Some(span) => anyhow::anyhow!("{}: {message}", reading.sources.place(span)),
            None => {
                let names = reading.sources.files().iter().map(|file| file.name());
                anyhow::anyhow!("{}: {message}", names.collect::<Vec<_>>().join(", "))
            }
        });
    };
    let limits = limits.clone();
    let machine = super::machine_within(rules, &game, &how.budget, limits, context)?;
    Ok((machine, missing))
}

/// Solves a puzzle and fills in the result.
fn solved(machine: &mut AnyMachine, row: &mut Row, how: &SolveOptions) -> anyhow::Result<()> {
    let mut stats = Stats::default();
    let answer = solve(machine, how, &mut stats, &mut ());
    row.nodes = stats.total().expanded;
    let answer = answer?;
    row.verdict = verdict_name(&answer.verdict);
    if let Verdict::Solved { plans, optimal, .. } = &answer.verdict {
        row.length = plans.first().map(Vec::len);
        row.optimal = Some(*optimal);
        row.plan = plans.first().map(|plan| texts(machine, plan));
    }
    row.no_plan_within = match answer.verdict {
        Verdict::NoSolutionWithin(depth) => Some(depth),
        Verdict::OutOfBudget {
            depth_completed, ..
        } => depth_completed,
        _ => None,
    };
    row.method = Some(answer.chosen);
    Ok(())
}

/// Counts solutions and fills in the result.
fn counted(
    at_most: u32,
) -> impl Fn(&mut AnyMachine, &mut Row, &SolveOptions) -> anyhow::Result<()> {
    move |machine, row, how| {
        let start = machine.initial()?;
        let counted = count_from(machine, &start, how, at_most as usize)?;
        row.verdict = match (counted.plans.len(), counted.is_all) {
            (0, true) => "unsolvable",
            (0, false) => "out_of_budget",
            _ => "solved",
        };
        row.solutions = Some(counted.plans.len());
        row.complete = Some(counted.is_all);
        row.length = counted.plans.first().map(Vec::len);
        row.plan = counted.plans.first().map(|plan| texts(machine, plan));
        Ok(())
    }
}

/// The verdict in words.
fn spoken(verdict: &str) -> String {
    verdict.replace('_', " ")
}

/// The layout of the rows.
struct Sheet<'r> {
    /// The choice among several goal values.
    goals: Option<GoalChoice>,
    /// The width of the names.
    width: usize,
    reference: Option<&'r Reference>,
    /// True if the others begin when the first puzzle is done, from which they learn.
    is_first_alone: bool,
}

impl Sheet<'_> {
    fn head(&self) -> String {
        let width = self.width;
        match self.reference {
            None => format!(
                "{:>width$}  {:<18}  {:>6}  {:>10}  {:>9}",
                "puzzle", "verdict", "length", "nodes", "seconds"
            ),
            Some(_) => format!(
                "{:<width$}  {:<11}  {:<18}  {:>6}  {:<5}  {:>9}  settled by",
                "game", "known", "ours", "length", "least", "seconds"
            ),
        }
    }

    fn line(&self, row: &Row) -> String {
        let width = self.width;
        let name = row.place.name();
        let length = row.length.map_or_else(|| "-".to_owned(), |l| l.to_string());
        if self.reference.is_none() {
            let verdict = match (row.solutions, row.complete) {
                (Some(1), Some(true)) => "solved, only one".to_owned(),
                (Some(count @ 1..), Some(true)) => format!("solved, {count} in all"),
                (Some(count @ 1..), _) => format!("solved, {count} or more"),
                _ => spoken(row.verdict),
            };
            let missing = row.missing.iter();
            let missing = missing.map(|missing| format!("  incomplete rules: {missing}"));
            let missing = missing.chain(row.error.iter().map(|error| format!("  {error}")));
            return format!(
                "{name:>width$}  {verdict:<18}  {length:>6}  {:>10}  {:>9.3}{}",
                row.nodes,
                row.seconds,
                missing.collect::<String>()
            );
        }
        let known = match &row.known {
            Some(known) => known.text(),
            None if row.other_rules => "other rules".to_owned(),
            None => "-".to_owned(),
        };
        let least = match row.optimal {
            Some(true) => "yes",
            Some(false) => "",
            None => "-",
        };
        let by = match (&row.contradiction, &row.error, &row.method) {
            (Some(contradiction), ..) => format!("CONTRADICTION: {contradiction}"),
            (_, Some(error), _) => error.clone(),
            (.., Some(method)) if row.is_settled() => method.clone(),
            _ => "-".to_owned(),
        };
        let by = match &row.missing {
            Some(missing) => format!("{by}; incomplete rules: {missing}"),
            None => by,
        };
        format!(
            "{name:<width$}  {known:<11}  {:<18}  {length:>6}  {least:<5}  {:>9.3}  {by}",
            spoken(row.verdict),
            row.seconds
        )
    }

    fn total(&self, total: &Total) -> String {
        let width = self.width;
        if self.reference.is_some() {
            let settled = total.solved + total.as_they_stand + total.unsolvable;
            let mut text = format!("settled {settled} of {}", total.puzzles);
            if total.contradictions > 0 {
                text += &format!(", {} CONTRADICT known results", total.contradictions);
            }
            return text;
        }
        let mut verdicts = format!("{} of {} solved", total.solved, total.puzzles);
        if total.as_they_stand > 0 {
            verdicts += &format!(", {} with incomplete rules", total.as_they_stand);
        }
        if total.unsolvable > 0 {
            verdicts += &format!(", {} unsolvable", total.unsolvable);
        }
        if total.several_roles > 0 {
            verdicts += &format!(", {} of several roles", total.several_roles);
        }
        format!(
            "{:>width$}  {verdicts:<18}  {:>6}  {:>10}  {:>9.3}",
            "total", "", total.nodes, total.seconds
        )
    }
}
