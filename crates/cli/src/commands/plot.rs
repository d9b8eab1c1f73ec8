//! `ggp plot`: tables of numbers as curves.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use crate::chart::{self, Chart, Curve};
use crate::rules::{read_text, shown_name};
use crate::{Context, Exit, raster};

/// The options of `ggp plot`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  ggp solve senku.kif --method breadth-first-packed --stats-file senku.csv && ggp plot senku.csv -o senku.svg
  ggp plot one.csv two.csv --y generated --output both.svg
  ggp plot counts.csv --x depth --y paths,distinct --scale linear > counts.svg

A table has a line of names and then lines of numbers, with commas between: as from
--stats-file of `ggp solve`, and --csv of `ggp perft` and `ggp bench`. Columns that have
words in them are left out, and so are empty places.")]
pub struct Options {
    /// Tables (CSV); - is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The column that lies to the right [default: the first one of numbers]
    #[arg(long, value_name = "COLUMN")]
    x: Option<String>,
    /// The columns to draw [default: all others of numbers]
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    y: Vec<String>,
    /// The scale upwards
    #[arg(long, value_enum, default_value_t)]
    scale: Scale,
    /// What stands above [default: the names of the files]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Write to this file, which ends in .svg or .png
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Most bytes of a table
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

/// The curves of a chart have colours that can be told apart, up to so many.
const CURVES: usize = 30;

/// A table by columns; what is no number is none.
struct Table {
    name: String,
    names: Vec<String>,
    columns: Vec<Column>,
}

#[derive(Default)]
struct Column {
    numbers: Vec<Option<f64>>,
    /// The first thing that is no number, with its line.
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
        let text = read_text(path, most, context)?;
        let mut rows = csv::Reader::from_reader(text.as_bytes());
        let wrong = || match text.trim_start().starts_with(['{', '[']) {
            true => format!("{name} is JSON, and no table of values separated by commas"),
            false => format!("{name} is no table of values separated by commas"),
        };
        let names: Vec<String> = rows.headers().with_context(wrong)?.iter().map(str::to_owned).collect();
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
        Ok(Table { name, names, columns })
    }

    /// The number of a column that somebody asked for.
    fn column(&self, wanted: &str) -> anyhow::Result<usize> {
        let Some(found) = self.names.iter().position(|name| name == wanted) else {
            bail!("{} has no column {wanted:?}; it has {}", self.name, self.names.join(", "));
        };
        match &self.columns[found].word {
            Some((line, said)) => bail!(
                "{}:{line}: {said:?} is no number, so {wanted} cannot be drawn",
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
                None => bail!("{} has no column of numbers: it is a table of words, or empty", self.name),
            },
        };
        let chosen: Vec<usize> = match &options.y[..] {
            [] => (0..self.names.len()).filter(|k| *k != x).filter(of_numbers).collect(),
            names => names.iter().map(|name| self.column(name)).collect::<Result<_, _>>()?,
        };
        if chosen.is_empty() {
            bail!("{} has one column of numbers only, {}", self.name, self.names[x]);
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
        Ok((self.names[x].clone(), chosen.iter().map(|y| curve(*y)).collect()))
    }
}

/// Runs the command.
///
/// # Errors
///
/// If a file cannot be read or written, or is no table of numbers.
pub fn run(options: &Options, context: &Context) -> anyhow::Result<Exit> {
    let ending = options.output.as_deref().map(|path| path.extension().unwrap_or_default());
    let is_png = match ending.map(|ending| ending.to_string_lossy().to_lowercase()).as_deref() {
        None | Some("svg") => false,
        Some("png") => true,
        Some(_) => bail!("curves are written to a file that ends in .svg or .png"),
    };
    if is_png {
        raster::check()?;
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
            "{} curves are too many for one picture, which has room for {CURVES}: \
             choose columns by --y",
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
    let drawn = chart::svg(&chart, &curves)?;
    match &options.output {
        Some(path) if is_png => context.write_file(path, &raster::png(&drawn)?)?,
        Some(path) => context.write_file(path, drawn.as_bytes())?,
        None => context.print(drawn.trim_end())?,
    }
    Ok(Exit::Done)
}

/// Whether small numbers would not be seen beside the large ones.
fn has_many_magnitudes(curves: &[Curve]) -> bool {
    let numbers = || curves.iter().flat_map(|curve| &curve.points).map(|point| point.1);
    let least = numbers().filter(|number| *number > 0.0).fold(f64::INFINITY, f64::min);
    let most = numbers().fold(0.0, f64::max);
    numbers().all(|number| number >= 0.0) && most > 100.0 * least
}
