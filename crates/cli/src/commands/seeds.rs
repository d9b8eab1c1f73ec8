//! `ggp seeds`: other programs' figures beside ours, from a file that says what
//! to run.

mod files;
mod measure;
mod replay;
mod report;
mod spec;

use std::path::PathBuf;

use anyhow::{Context as _, bail};
use serde::Serialize;

use crate::{Context, Exit};
use measure::{Bench, BoardsRow, GraphRow, SearchRow};
use spec::{Curve, Other, Spec, Table};

/// The options of `ggp seeds`.
#[derive(clap::Args)]
#[command(after_help = "\
Each program that solves one puzzle by code of its own has a table: what it searched, counted
and measured, and the same puzzle here, from rules alone. What is wrong with an answer stands
in its row: plans are played again by the Datalog evaluator, proofs are checked, and lengths,
counts and numbers of solutions are compared with known ones. Times are those of this machine
and theirs those of their authors'.

Boards that are not part of this program are read from the folder in GGP_PUZZLES; what is not
there is left out.

Exit codes: 0 all is as known; 1 something is not; 2 bad input or a failure.

Examples:
  ggp seeds
  ggp seeds --table 4 --csv figures --plot figures
  ggp seeds --markdown > tables.md")]
pub struct Options {
    /// Only the table of this number; may be given several times
    #[arg(long = "table", value_name = "N")]
    tables: Vec<u32>,
    /// Print tables in Markdown
    #[arg(long)]
    markdown: bool,
    /// Write searches, levels and boards to this folder as comma-separated values
    #[arg(long, value_name = "DIR")]
    csv: Option<PathBuf>,
    /// Draw the states by depth into this folder, as SVG
    #[arg(long, value_name = "DIR")]
    plot: Option<PathBuf>,
    /// Run what this file says
    #[arg(long, value_name = "FILE")]
    spec: Option<PathBuf>,
    /// The folder with the rule files
    #[arg(long, value_name = "DIR", default_value = "games")]
    games: PathBuf,
    /// Most seconds of any one search
    #[arg(long, value_name = "S", default_value_t = 600.0)]
    budget_time: f64,
}

/// What is run unless told otherwise.
const SPEC: &str = include_str!("../../../../benches/seeds.json");

/// What stands above tables in Markdown.
const MARKDOWN: &str = "\
# Others' figures beside ours

Printed by `ggp seeds --markdown`. *Theirs* are figures of their authors, on their
machines; *ours* those of the machine that printed this, one thread unless a row says
more, release build. *CPU* is the time that a quiet machine would take.
Every answer was checked: plans were played again by another evaluator, proofs by
code of their own, and lengths, counts and numbers of solutions are as known unless
a row says WRONG. *Open* are states that a search by level had not expanded at its end.
";

/// What came of a table.
#[derive(Serialize)]
struct Measured {
    number: u32,
    title: String,
    notes: Vec<String>,
    graphs: Vec<GraphRow>,
    others: Vec<Other>,
    searches: Vec<SearchRow>,
    boards: Vec<BoardsRow>,
    /// Runs whose boards are not there.
    left_out: Vec<String>,
    #[serde(skip)]
    curves: Vec<Curve>,
}

/// Runs the command.
///
/// # Errors
///
/// If a file cannot be read or written or is not of its format, or a run fails or
/// is stopped.
pub fn run(options: &Options, context: &Context) -> anyhow::Result<Exit> {
    if !(options.budget_time > 0.0 && options.budget_time.is_finite()) {
        bail!("--budget-time takes seconds, more than 0");
    }
    let (name, text) = match &options.spec {
        None => ("the tables".to_owned(), SPEC.to_owned()),
        Some(path) => {
            let name = path.display().to_string();
            let text = std::fs::read_to_string(path);
            (name.clone(), text.with_context(|| format!("cannot read {name}"))?)
        }
    };
    let spec: Spec = serde_json::from_str(&text).with_context(|| format!("{name} is no list of tables"))?;
    if !options.games.is_dir() {
        bail!(
            "there is no folder {}; say with --games where the rule files are",
            options.games.display()
        );
    }
    let bench = Bench {
        context,
        games: options.games.clone(),
        boards: std::env::var_os("GGP_PUZZLES").map(PathBuf::from),
        most_seconds: options.budget_time,
    };
    let wanted = |table: &Table| options.tables.is_empty() || options.tables.contains(&table.number);
    let numbers: Vec<u32> = spec.tables.iter().map(|table| table.number).collect();
    if let Some(missing) = options.tables.iter().find(|number| !numbers.contains(number)) {
        bail!("there is no table {missing}");
    }
    if options.markdown && !context.json() {
        context.print(MARKDOWN)?;
    }
    let mut tables = Vec::new();
    for table in spec.tables.into_iter().filter(wanted) {
        let measured = measure(table, &bench)?;
        if !context.json() {
            print(&measured, options, context)?;
        }
        tables.push(measured);
    }
    if context.json() {
        context.print_json(&serde_json::json!({ "tables": tables }))?;
    }
    if let Some(folder) = &options.csv {
        for (name, text) in files::csv(&tables) {
            write(folder, name, &text, context)?;
        }
    }
    if let Some(folder) = &options.plot {
        let pictures = files::pictures(&tables)?;
        if pictures.is_empty() {
            context.note("note: nothing is drawn, since no search that was run goes level by level");
        }
        for (name, text) in pictures {
            write(folder, &name, &text, context)?;
        }
    }
    let faults = tables.iter().map(Measured::faults).sum::<usize>();
    if faults > 0 {
        context.note(format_args!("{faults} answers are not as they must be"));
    }
    Ok(if faults == 0 { Exit::Done } else { Exit::Negative })
}

fn measure(table: Table, bench: &Bench) -> anyhow::Result<Measured> {
    let mut measured = Measured {
        number: table.number,
        title: table.title,
        notes: table.notes,
        graphs: Vec::new(),
        others: table.others,
        searches: Vec::new(),
        boards: Vec::new(),
        left_out: Vec::new(),
        curves: table.curves,
    };
    let in_time = || match bench.context.is_interrupted() {
        true => bail!("interrupted"),
        false => Ok(()),
    };
    for run in &table.graphs {
        in_time()?;
        measured.graphs.push(bench.graph(run)?);
    }
    for run in &table.searches {
        in_time()?;
        measured.searches.push(bench.search(run)?);
    }
    for run in &table.boards {
        in_time()?;
        match bench.boards(run)? {
            Some(row) => measured.boards.push(row),
            None => measured.left_out.push(run.label.clone()),
        }
    }
    in_time()?;
    Ok(measured)
}

impl Measured {
    /// Number of answers that are not as they must be.
    fn faults(&self) -> usize {
        let graphs = self.graphs.iter().map(|row| row.faults.len());
        let searches = self.searches.iter().map(|row| row.faults.len());
        let boards = self.boards.iter().map(|row| row.faults.len());
        graphs.chain(searches).chain(boards).sum()
    }
}

fn print(measured: &Measured, options: &Options, context: &Context) -> anyhow::Result<()> {
    let title = format!("{}. {}", measured.number, measured.title);
    let mut blocks = vec![if options.markdown {
        format!("## {title}\n")
    } else {
        format!("{title}\n")
    }];
    if !measured.notes.is_empty() {
        blocks.push(measured.notes.join("\n\n") + "\n");
    }
    blocks.extend(report::sheets(measured).iter().map(|sheet| match options.markdown {
        true => sheet.markdown(),
        false => sheet.text(),
    }));
    for label in &measured.left_out {
        blocks.push(format!("{label}: left out, its boards are not there (see GGP_PUZZLES)\n"));
    }
    Ok(context.print(blocks.join("\n"))?)
}

fn write(folder: &std::path::Path, name: &str, text: &str, context: &Context) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    context.write_file(&folder.join(name), text.as_bytes())
}
