//! `ggp-lab seeds`: comparison with the figures of other programs, from a list of runs.

mod files;
mod measure;
mod replay;
mod report;
mod rows;
mod spec;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};
use serde::Serialize;

use ggp_cli::{Context, Exit, json, whole_text};
use measure::Bench;
use rows::{BoardsRow, GraphRow, SearchRow};
use spec::{Curve, Other, Spec, Table};

/// The options of `ggp-lab seeds`.
#[derive(clap::Args)]
#[command(after_help = "\
Each table has the figures of a program that was written for one puzzle (nodes, counts and
times), and those of this program, which solves the same puzzle from rules alone. All answers are
checked: plans are played again by the Datalog evaluator, proofs are checked, and lengths, counts
and numbers of solutions are compared with known ones. Errors are shown in the row. Times of this
program are measured on this machine, those of other programs were measured by their authors.

Boards that are not part of this program are read from FOLDER/puzzles, where the environment
variable GGP_CORPUS is FOLDER; runs whose boards are missing are left out.

Exit codes: 0 all answers are as known; 1 some are not; 2 bad input or a failure.

Examples:
  ggp-lab seeds
  ggp-lab seeds --table 4 --csv figures --plot figures
  ggp-lab seeds --markdown > tables.md")]
pub struct Options {
    /// Run only the table with this number; may be given several times
    #[arg(long = "table", value_name = "N")]
    tables: Vec<u32>,
    /// Print tables in Markdown
    #[arg(long)]
    markdown: bool,
    /// Write searches, levels and boards to CSV files in this folder
    #[arg(long, value_name = "DIR")]
    csv: Option<PathBuf>,
    /// Plot the states by depth in SVG files in this folder
    #[arg(long, value_name = "DIR")]
    plot: Option<PathBuf>,
    /// Run the tables in this JSON file instead of the built-in ones
    #[arg(long, value_name = "FILE")]
    spec: Option<PathBuf>,
    /// Folder with the rule files
    #[arg(long, value_name = "DIR", default_value = "games")]
    games: PathBuf,
    /// Time limit of each search, in seconds
    #[arg(long, value_name = "S", default_value_t = 600.0)]
    budget_time: f64,
}

/// The tables that are run by default.
const SPEC: &str = include_str!("seeds.json");

/// The text above the tables in Markdown.
const MARKDOWN: &str = "\
# Comparison with other programs

Printed by `ggp-lab seeds --markdown`. Columns *theirs* have the figures of the programs' authors,
measured on their machines; columns *ggp* are from the machine that printed this, in a release
build, with one thread unless a row says more. *CPU* is CPU time: the time that an idle
machine would take. Every answer was checked: plans were played again by another evaluator,
proofs were checked by separate code, and lengths, counts and numbers of solutions are as
known unless a row says WRONG. *Open* is the number of states that a search by level had not
expanded at its end.
";

/// The results of a table.
#[derive(Serialize)]
struct Measured {
    number: u32,
    title: String,
    notes: Vec<String>,
    graphs: Vec<GraphRow>,
    others: Vec<Other>,
    searches: Vec<SearchRow>,
    boards: Vec<BoardsRow>,
    /// The labels of runs whose boards are missing.
    left_out: Vec<String>,
    #[serde(skip)]
    curves: Vec<Curve>,
}

/// Runs the command.
///
/// # Errors
///
/// If a file cannot be read or written or has the wrong format, or a run fails or is stopped.
pub fn run(options: &Options, context: &Context) -> anyhow::Result<Exit> {
    if !(options.budget_time > 0.0 && options.budget_time.is_finite()) {
        bail!("--budget-time must be more than 0 seconds");
    }
    let (name, text) = match &options.spec {
        None => ("the tables".to_owned(), SPEC.to_owned()),
        Some(path) => {
            let name = path.display().to_string();
            (name, whole_text::read(path)?)
        }
    };
    let spec: Spec = json::parse(
        &text,
        "a JSON object with `tables`, like crates/lab/src/seeds.json",
    )
    .map_err(|why| anyhow!("{name} is not a list of tables: {why}"))?;
    if !options.games.is_dir() {
        bail!(
            "there is no folder {}; set the folder of the rule files with --games",
            options.games.display()
        );
    }
    let bench = Bench {
        context,
        games: options.games.clone(),
        boards: std::env::var_os("GGP_CORPUS").map(|folder| Path::new(&folder).join("puzzles")),
        most_seconds: options.budget_time,
    };
    let wanted =
        |table: &Table| options.tables.is_empty() || options.tables.contains(&table.number);
    let numbers: Vec<u32> = spec.tables.iter().map(|table| table.number).collect();
    if let Some(missing) = options
        .tables
        .iter()
        .find(|number| !numbers.contains(number))
    {
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
            context.note("note: nothing is drawn: no search went level by level");
        }
        for (name, text) in pictures {
            write(folder, &name, &text, context)?;
        }
    }
    let faults = tables.iter().map(Measured::faults).sum::<usize>();
    if faults > 0 {
        context.note(format_args!("answers that are not as expected: {faults}"));
    }
    Ok(if faults == 0 {
        Exit::Done
    } else {
        Exit::Negative
    })
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
    /// The number of answers that are not as expected.
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
    blocks.extend(
        report::sheets(measured)
            .iter()
            .map(|sheet| match options.markdown {
                true => sheet.markdown(),
                false => sheet.text(),
            }),
    );
    for label in &measured.left_out {
        blocks.push(format!(
            "{label}: left out, its boards are missing (see GGP_CORPUS)\n"
        ));
    }
    Ok(context.print(blocks.join("\n"))?)
}

fn write(folder: &Path, name: &str, text: &str, context: &Context) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot create the folder {}", folder.display()))?;
    context.write_file(&folder.join(name), text.as_bytes())
}
