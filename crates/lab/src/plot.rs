//! `ggp-lab plot`: line charts of CSV tables.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use crate::line_chart::{self, Chart, Curve};
use ggp_cli::rule_files::{read_text, shown_name};
use ggp_cli::{Context, Exit, png};

/// The options of `ggp-lab plot`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  ggp solve hanoi.kif --method breadth-first-packed --stats-file hanoi.csv
  ggp-lab plot hanoi.csv -o hanoi.svg
  ggp-lab plot one.csv two.csv --y generated --output both.svg
  ggp-lab plot counts.csv --x depth --y paths,distinct --scale linear > counts.svg

A table has a line of column names and then lines of numbers, separated by commas, as
written by --stats-file of `ggp solve` and --csv of `ggp engine perft` and `ggp engine bench`. Columns
that contain words are left out, and so are empty cells.")]
pub struct Options {
    /// CSV tables; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Column for the x axis [default: the first numeric column]
    #[arg(long, value_name = "COLUMN")]
    x: Option<String>,
    /// Columns for the y axis [default: all other numeric columns]
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    y: Vec<String>,
    /// Scale of the y axis
    #[arg(long, value_enum, default_value_t)]
    scale: Scale,
    /// Title [default: the names of the files]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Write to this file; its name ends in .svg or .png
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Maximum size of a table, in bytes
    #[arg(long, value_name = "N", default_value_t = 64 << 20)]
    max_bytes: usize,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, clap::ValueEnum)]
enum Scale {
    /// Logarithmic if the largest number is more than a hundred times the smallest
    #[default]
    Auto,
    /// Logarithmic
    Log,
    /// Linear
    Linear,
}

/// Maximum number of curves in a chart, so that their colours can be told apart.
const CURVES: usize = 30;

/// A table by columns; cells that are not numbers are `None`.
struct Table {
    name: String,
    names: Vec<String>,
    columns: Vec<Column>,
}

#[derive(Default)]
struct Column {
    numbers: Vec<Option<f64>>,
    /// The first cell that is not a number, with its line.
    word: Option<(u64, String)>,
}

impl Column {
    fn is_of_numbers(&self) -> bool {
        self.word.is_none() && self.numbers.iter().any(Option::is_some)
    }
}

impl Table {
    fn read(path: &Path, most: usize, context: &Context) -> anyhow::Result<Table> {
        let name = shown_name(path);
        if path.is_dir() {
            bail!("{name} is a folder; give CSV tables");
        }
        let text = read_text(path, most, context)?;
        let mut rows = csv::Reader::from_reader(text.as_bytes());
        let wrong = || match text.trim_start().starts_with(['{', '[']) {
            true => format!("{name} is JSON, not a CSV table"),
            false => format!("{name} is not a CSV table"),
        };
        let names: Vec<String> = rows
            .headers()
            .with_context(wrong)?
            .iter()
            .map(str::to_owned)
            .collect();
        let mut columns: Vec<Column> = names.iter().map(|_| Column::default()).collect();
        for row in rows.records() {
            let row = row.with_context(wrong)?;
            let line = row.position().map_or(0, csv::Position::line);
            for (column, said) in columns.iter_mut().zip(&row) {
                let number = said.trim().parse::<f64>().ok();
                if number.is_none() && !said.trim().is_empty() && column.word.is_none() {
                    column.word = Some((line, said.to_owned()));
                }
                column.numbers.push(number);
            }
        }
        Ok(Table {
            name,
            names,
            columns,
        })
    }

    /// The index of a requested column.
    fn column(&self, wanted: &str) -> anyhow::Result<usize> {
        let Some(found) = self.names.iter().position(|name| name == wanted) else {
            bail!(
                "{} has no column {wanted:?}; its columns are {}",
                self.name,
                self.names.join(", ")
            );
        };
        match &self.columns[found].word {
            Some((line, said)) => bail!(
                "{}:{line}: {said:?} is not a number, so {wanted} cannot be plotted",
                self.name
            ),
            None => Ok(found),
        }
    }

    fn curves(&self, options: &Options, is_alone: bool) -> anyhow::Result<(String, Vec<Curve>)> {
        let of_numbers = |k: &usize| self.columns[*k].is_of_numbers();
        let x = match &options.x {
            Some(name) => self.column(name)?,
            None => match (0..self.names.len()).find(of_numbers) {
                Some(first) => first,
                None => bail!("{} has no numeric column", self.name),
            },
        };
        let chosen: Vec<usize> = match &options.y[..] {
            [] => (0..self.names.len())
                .filter(|k| *k != x)
                .filter(of_numbers)
                .collect(),
            names => names
                .iter()
                .map(|name| self.column(name))
                .collect::<Result<_, _>>()?,
        };
        if chosen.is_empty() {
            bail!(
                "{} has only one numeric column, {}",
                self.name,
                self.names[x]
            );
        }
        let curve = |y: usize| {
            let label = match (is_alone, chosen.len()) {
                (true, _) => self.names[y].clone(),
                (false, 1) => self.name.clone(),
                (false, _) => format!("{} {}", self.name, self.names[y]),
            };
            let pairs = self.columns[x].numbers.iter().zip(&self.columns[y].numbers);
            let points = pairs.filter_map(|(x, y)| Some(((*x)?, (*y)?))).collect();
            Curve { label, points }
        };
        Ok((
            self.names[x].clone(),
            chosen.iter().map(|y| curve(*y)).collect(),
        ))
    }
}

/// Runs the command.
///
/// # Errors
///
/// If a file cannot be read or written, or is not a table of numbers.
pub fn run(options: &Options, context: &Context) -> anyhow::Result<Exit> {
    let ending = options
        .output
        .as_deref()
        .map(|path| path.extension().unwrap_or_default());
    let is_png = match ending
        .map(|ending| ending.to_string_lossy().to_lowercase())
        .as_deref()
    {
        None | Some("svg") => false,
        Some("png") => true,
        Some(_) => bail!("the file name of a chart must end in .svg or .png"),
    };
    if is_png {
        png::check()?;
    }
    if let Some(path) = &options.output {
        Context::can_write(path)?;
    }
    let mut across = String::new();
    let mut curves = Vec::new();
    for path in &options.files {
        let table = Table::read(path, options.max_bytes, context)?;
        let (name, found) = table.curves(options, options.files.len() == 1)?;
        across = name;
        curves.extend(found);
    }
    if curves.len() > CURVES {
        bail!(
            "{} curves are too many for one chart; the maximum is {CURVES}: \
             choose columns with --y",
            curves.len()
        );
    }
    let files: Vec<String> = options.files.iter().map(|path| shown_name(path)).collect();
    let upwards = match (&options.y[..], &curves[..]) {
        ([one], _) => one,
        (_, [one]) => &one.label,
        _ => "",
    };
    let title = options.title.clone().unwrap_or_else(|| files.join(", "));
    let is_logarithmic = match options.scale {
        Scale::Log => true,
        Scale::Linear => false,
        Scale::Auto => has_many_magnitudes(&curves),
    };
    let chart = Chart {
        title: &title,
        across: &across,
        upwards,
        is_logarithmic,
    };
    let drawn = line_chart::svg(&chart, &curves)?;
    match &options.output {
        Some(path) if is_png => context.write_file(path, &png::png(&drawn)?)?,
        Some(path) => context.write_file(path, drawn.as_bytes())?,
        None => context.print(drawn.trim_end())?,
    }
    Ok(Exit::Done)
}

/// Whether small values would be invisible next to large ones.
fn has_many_magnitudes(curves: &[Curve]) -> bool {
    let numbers = || {
        curves
            .iter()
            .flat_map(|curve| &curve.points)
            .map(|point| point.1)
    };
    let least = numbers()
        .filter(|number| *number > 0.0)
        .fold(f64::INFINITY, f64::min);
    let most = numbers().fold(0.0, f64::max);
    numbers().all(|number| number >= 0.0) && most > 100.0 * least
}
