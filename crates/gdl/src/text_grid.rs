//! Text boards as facts, for rules that work with any board.
//!
//! In: the text of a grid. Out: its cells, and facts about them that are read
//! together with the rules: `(grid ROW COLUMN VALUE)`, `(grid_rows R)`,
//! `(grid_columns C)`, `(grid_row i)`, `(grid_column j)` and `(grid_next i j)` for
//! `j` = `i` + 1. The rules define the meaning of the values.
//!
//! A grid is written in one of three ways:
//! - one row on each line, with cells separated by blanks or commas; on a line
//!   without these, each character is a cell;
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

/// A rectangle of values with at least one cell.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Grid {
    name: String,
    rows: Vec<Row>,
}

/// A row, with the line it was written on.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Row {
    /// The line, from 1.
    line: usize,
    cells: Vec<String>,
}

/// An error in the text of a grid.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GridError {
    /// The file's name.
    pub name: String,
    /// The line, from 1.
    pub line: usize,
    /// The problem, in one line without a full stop.
    pub message: String,
}

impl fmt::Display for GridError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.name, self.line, self.message)
    }
}

impl std::error::Error for GridError {}

impl Grid {
    /// Reads one grid. `name` is used in messages only.
    ///
    /// # Errors
    ///
    /// [`GridError`] if there is no cell, the rows differ in length, or a cell
    /// contains a character that cannot be part of a name in a rule file.
    pub fn read(name: &str, text: &str) -> Result<Grid, GridError> {
        parse::grid(name, text)
    }

    /// The name of the file it was read from.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The line on which the grid begins, from 1.
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

    /// The rows from top to bottom, each with [`Grid::column_count`] cells from left
    /// to right.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[String]> {
        self.rows.iter().map(|row| &row.cells[..])
    }

    /// True if the facts of a grid define this relation.
    pub fn defines(relation: &str) -> bool {
        RELATIONS
            .iter()
            .any(|known| known.eq_ignore_ascii_case(relation))
    }

    /// The facts, to be read together with a rule set. The facts about the cells of a
    /// row are on the line on which the row was written.
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
