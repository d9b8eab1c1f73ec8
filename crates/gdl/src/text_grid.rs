//! Boards as text, for rule sets that are the same for every board.
//!
//! In: the text of a grid. Out: its cells, and facts about them that are read
//! together with the rules: `(grid ROW COLUMN VALUE)`, `(grid_rows R)`,
//! `(grid_columns C)`, `(grid_row i)`, `(grid_column j)` and `(grid_next i j)`
//! for `j` = `i` + 1. What a value means is left to the rules.
//!
//! A grid is written in one of three ways:
//! - a row on each line, the cells separated by blanks or commas; on a line
//!   without these each character is a cell;
//! - on one line with `/` between the rows, as in `010/111/010`;
//! - with brackets, as in `[[1,2,2],[2,3,1],[1,3,2]]`.

mod parse;

use std::fmt;
use std::fmt::Write;

use crate::span::Source;

pub use parse::puzzles;

/// The relations of the facts.
const RELATIONS: [&str; 6] = [
    "grid",
    "grid_rows",
    "grid_columns",
    "grid_row",
    "grid_column",
    "grid_next",
];

/// A rectangle of values, at least one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Grid {
    name: String,
    rows: Vec<Row>,
}

/// A row, and on which line it was written.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Row {
    /// From 1.
    line: usize,
    cells: Vec<String>,
}

/// Text that is no grid.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GridError {
    /// The file's name.
    pub name: String,
    /// From 1.
    pub line: usize,
    /// What is wrong, in one line without a full stop.
    pub message: String,
}

impl fmt::Display for GridError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.name, self.line, self.message)
    }
}

impl std::error::Error for GridError {}

impl Grid {
    /// Reads one grid. `name` is shown in messages only.
    ///
    /// # Errors
    ///
    /// [`GridError`] if there is no cell, the rows differ in length, or a cell
    /// has a character that cannot be part of a name in a rule file.
    pub fn read(name: &str, text: &str) -> Result<Grid, GridError> {
        parse::grid(name, text)
    }

    /// The name of the file it was read from.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The line on which it begins, from 1.
    pub fn line(&self) -> usize {
        self.rows[0].line
    }

    /// Number of rows, at least 1.
    pub fn row_count(&self) -> usize {
        self.rows.len()
    }

    /// Number of columns, at least 1.
    pub fn column_count(&self) -> usize {
        self.rows[0].cells.len()
    }

    /// The rows from the top, each of [`Grid::column_count`] cells from the left.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[String]> {
        self.rows.iter().map(|row| &row.cells[..])
    }

    /// Whether the facts of a grid have a relation of that name.
    pub fn says(relation: &str) -> bool {
        RELATIONS
            .iter()
            .any(|known| known.eq_ignore_ascii_case(relation))
    }

    /// The facts, to be read together with a rule set. Those about the cells of
    /// a row stand on the line on which the row was written.
    pub fn to_source(&self) -> Source {
        let mut text = String::new();
        let mut line = 1;
        for (number, row) in (1..).zip(&self.rows) {
            while line < row.line {
                text.push('\n');
                line += 1;
            }
            for (column, value) in (1..).zip(&row.cells) {
                put(&mut text, format_args!("(grid {number} {column} {value})"));
            }
        }
        let (rows, columns) = (self.row_count(), self.column_count());
        put(&mut text, format_args!("(grid_rows {rows})"));
        put(&mut text, format_args!("(grid_columns {columns})"));
        for row in 1..=rows {
            put(&mut text, format_args!("(grid_row {row})"));
        }
        for column in 1..=columns {
            put(&mut text, format_args!("(grid_column {column})"));
        }
        for next in 2..=rows.max(columns) {
            let number = next - 1;
            put(&mut text, format_args!("(grid_next {number} {next})"));
        }
        text.push('\n');
        Source::new(&self.name, text)
    }
}

fn put(text: &mut String, fact: fmt::Arguments<'_>) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push(' ');
    }
    text.write_fmt(fact)
        .expect("writing to a string cannot fail");
}

#[cfg(test)]
mod tests;
