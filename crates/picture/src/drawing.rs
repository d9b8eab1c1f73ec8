//! A state as it is drawn, independent of the output format.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde::Serialize;

use super::likely::Unsure;
use super::look::Look;
use super::options::Shape;

/// A state as boards, tables and facts.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Drawing {
    /// The boards, in the order of the rules.
    pub boards: Vec<DrawnBoard>,
    /// The turn, counters, heaps and piles, in the order of the rules.
    pub tables: Vec<DrawnTable>,
    /// Texts of all other facts, in the order of the rules.
    pub facts: Vec<String>,
    /// Number of facts beyond the limits.
    pub left_out: usize,
    /// Names of the roles.
    pub roles: Vec<String>,
}

impl Drawing {
    /// The drawing of a state in which the game is over: nobody is to move. A fact that still names a role
    /// whose turn it would be is shown like others.
    pub fn at_end(mut self) -> Drawing {
        let turns = self
            .tables
            .iter_mut()
            .filter(|table| table.style == TableStyle::Turn);
        for table in turns {
            table.style = TableStyle::Plain;
            table.title.clone_from(&table.name);
        }
        self
    }
}

/// A board of a state.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct DrawnBoard {
    /// A title that tells the board from others of its kind.
    pub title: String,
    /// Names of the rows, from top to bottom.
    pub rows: Vec<String>,
    /// Names of the columns, from left to right.
    pub columns: Vec<String>,
    /// The contents by row and column; `None` where the board has no cell.
    pub contents: Vec<Vec<Option<Vec<String>>>>,
    /// The cells whose contents are not certain; `contents` has the likeliest for them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unsure: Vec<Unsure>,
    /// The text that is shown for each content.
    pub symbols: BTreeMap<String, String>,
    /// The role to which each content belongs, by number.
    pub owners: BTreeMap<String, usize>,
    /// The colour of each content for which options name one.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub colours: BTreeMap<String, String>,
    /// The shapes of each content for which options name some.
    #[serde(skip)]
    pub shapes: BTreeMap<String, Vec<Shape>>,
    /// The content that marks an empty cell; the empty string if there is no such content.
    #[serde(skip)]
    pub empty: String,
    /// The static text by row and column, where the state says something else.
    #[serde(skip)]
    pub printed: Vec<Vec<Option<String>>>,
    /// The cells by row and column whose text is static. Empty if no text is.
    #[serde(skip)]
    pub given: Vec<Vec<bool>>,
    /// Contents that say something about another content of their cell.
    #[serde(skip)]
    pub minor: BTreeSet<String>,
    /// Contents that stay where something has been.
    #[serde(skip)]
    pub trails: BTreeSet<String>,
    /// Contents that are drawn across the sides of their cell.
    #[serde(skip)]
    pub edges: BTreeSet<String>,
    /// Those that reach into the next cell, and its rows and columns from their own.
    #[serde(skip)]
    pub links: BTreeMap<String, [isize; 2]>,
    /// The cells by row and column where nothing but edges can be. Empty if there are no such cells.
    #[serde(skip)]
    pub outside: Vec<Vec<bool>>,
    /// The surface of the board.
    pub look: Look,
    /// The number of the region of each cell, by row and column. Empty without regions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub regions: Vec<Vec<usize>>,
    /// The roles that the top, the bottom, the left and the right side belong to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sides: Option<[usize; 4]>,
    /// The shift to the right of each row against the row above, in halves of a cell.
    pub slant: isize,
    /// Number of rows and of columns beyond the limit.
    pub left_out: (usize, usize),
    /// The names of cells by row and column. Empty if rows and columns name them.
    #[serde(skip)]
    pub places: Vec<Vec<String>>,
    /// Lines between cells. If there are some, cells are points.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<[(usize, usize); 2]>,
    /// True if cells are pits in one ground.
    #[serde(skip)]
    pub has_pits: bool,
    /// True if cells are lines between dots, and boxes between the lines.
    #[serde(skip)]
    pub has_dots: bool,
    /// The numbers at the left edge by row, and at the upper edge by column.
    #[serde(skip)]
    pub clues: [Vec<Vec<String>>; 2],
    /// The index of the board in the picture; boards side by side share it.
    #[serde(skip)]
    pub origin: usize,
    /// The constants that tell the board from those next to it.
    #[serde(skip)]
    pub sheet: Vec<String>,
}

/// Facts listed together.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct DrawnTable {
    /// The caption, or else the name of the facts in the rules.
    pub title: String,
    /// The name of the facts in the rules.
    #[serde(skip)]
    pub name: String,
    /// The style of the table.
    pub style: TableStyle,
    /// The lines of the table, or its piles.
    pub entries: Vec<DrawnEntry>,
    /// The order of the things in piles.
    #[serde(skip)]
    pub ranks: BTreeMap<String, usize>,
    /// The index of the table in the picture.
    #[serde(skip)]
    pub origin: usize,
}

impl DrawnTable {
    /// Returns whether the table is a picture: heaps or piles.
    pub(super) fn is_picture(&self) -> bool {
        !matches!(self.style, TableStyle::Plain | TableStyle::Turn)
    }

    /// The largest number of values in an entry.
    pub(super) fn height(&self) -> usize {
        let heights = self.entries.iter().map(|entry| entry.values.len());
        heights.max().unwrap_or(0)
    }
}

/// A line of a table, or a pile.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct DrawnEntry {
    /// The subject of the line; the empty string if the table has one line.
    pub key: String,
    /// The values; for a pile its elements, the topmost first.
    pub values: Vec<String>,
    /// The value as a length.
    pub bar: Option<usize>,
    /// The number of the role to which the entry belongs.
    pub owner: Option<usize>,
}

/// The style of a table.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TableStyle {
    /// Plain text.
    Plain,
    /// The role whose turn it is.
    Turn,
    /// A bar for each number.
    Bars,
    /// Ordered things in several places.
    Piles,
    /// Things on top of each other.
    Stacks,
}

impl DrawnBoard {
    /// Removes rows and columns at the edges that have no cell.
    pub(super) fn trim(&mut self, is_place: impl Fn(usize, usize) -> bool) {
        let is_used = |row: usize, column: usize| {
            let place = self.contents[row][column].as_ref();
            is_place(row, column) || place.is_some_and(|contents| !contents.is_empty())
        };
        let (rows, columns) = (self.rows.len(), self.columns.len());
        let row_used = |row: &usize| (0..columns).any(|column| is_used(*row, column));
        let column_used = |column: &usize| (0..rows).any(|row| is_used(row, *column));
        let ends = |used: Vec<usize>| Some((*used.first()?, used.last()? + 1));
        let found = ends((0..rows).filter(row_used).collect())
            .zip(ends((0..columns).filter(column_used).collect()));
        let Some(((top, bottom), (left, right))) = found else {
            return;
        };
        let [of_rows, of_columns] = &mut self.clues;
        *of_rows = of_rows.get(top..bottom).unwrap_or_default().to_vec();
        *of_columns = of_columns.get(left..right).unwrap_or_default().to_vec();
        self.rows = self.rows[top..bottom].to_vec();
        self.columns = self.columns[left..right].to_vec();
        self.contents = part(&self.contents, top..bottom, left..right);
        self.printed = part(&self.printed, top..bottom, left..right);
        self.outside = part(&self.outside, top..bottom, left..right);
        self.given = part(&self.given, top..bottom, left..right);
        self.regions = part(&self.regions, top..bottom, left..right);
    }

    /// The alternatives for a cell whose contents are not certain.
    pub(super) fn unsure(&self, row: usize, column: usize) -> Option<&Unsure> {
        let mut cells = self.unsure.iter();
        cells.find(|unsure| unsure.cell == (row, column))
    }

    /// The share of what is drawn in a cell, 1 if it is certain.
    pub(super) fn share(&self, row: usize, column: usize) -> f64 {
        let unsure = self.unsure(row, column);
        let likeliest = unsure.and_then(|unsure| unsure.likeliest());
        likeliest.map_or(1.0, |(_, share)| *share)
    }

    /// The text of a cell, from its contents.
    pub(super) fn signs(&self, contents: &[String]) -> String {
        let sign = |content: &String| self.symbols.get(content).unwrap_or(content).clone();
        let signs = contents.iter().map(sign);
        let signs: Vec<String> = signs.filter(|sign| !sign.is_empty()).collect();
        let is_short = signs.iter().all(|sign| sign.chars().count() == 1);
        signs.join(if is_short { "" } else { "+" })
    }

    /// The text to the left of a row: its numbers, or else its name.
    pub(super) fn row_label(&self, row: usize) -> String {
        let clues = self.clues[0].get(row);
        clues.map_or_else(|| self.rows[row].clone(), |clues| clues.join(" "))
    }

    /// The text of each cell, by row and column: empty for an empty cell, `None` where the
    /// board has no cell.
    pub fn cells(&self) -> Vec<Vec<Option<String>>> {
        let cell = |place: &Option<Vec<String>>| place.as_ref().map(|all| self.signs(all));
        let rows = self.contents.iter();
        rows.map(|row| row.iter().map(cell).collect()).collect()
    }

    /// The signs on the board that differ from the content itself, with the content that
    /// each stands for.
    pub fn legend(&self) -> BTreeMap<&str, &str> {
        let contents = self.contents.iter().flatten().flatten().flatten();
        let pairs = contents.filter_map(|content| {
            let sign = self.symbols.get(content)?;
            (sign != content && !sign.is_empty()).then_some((&**sign, &**content))
        });
        pairs.collect()
    }
}

/// A rectangular part of a grid.
fn part<T: Clone>(all: &[Vec<T>], rows: Range<usize>, columns: Range<usize>) -> Vec<Vec<T>> {
    let rows = all.get(rows).unwrap_or_default().iter();
    rows.map(|row| row[columns.clone()].to_vec()).collect()
}

/// Two boards that are the edges of squares: one has the edges above and below, the other
/// the edges to the left and right. The first has one row more, the second one column more,
/// and each cell has at most one content.
pub(super) fn lattice(boards: &[DrawnBoard]) -> Option<(&DrawnBoard, &DrawnBoard)> {
    let [one, two] = boards else {
        return None;
    };
    let is_plain = |board: &DrawnBoard| {
        let is_one = |place: &Option<Vec<String>>| place.as_ref().is_some_and(|all| all.len() < 2);
        board.slant == 0
            && board.left_out == (0, 0)
            && board.symbols.len() == 1
            && board.contents.iter().flatten().all(is_one)
    };
    let is_within = |few: &[String], many: &[String]| {
        many.len() == few.len() + 1 && few.iter().all(|name| many.contains(name))
    };
    let fit = |across: &DrawnBoard, along: &DrawnBoard| {
        is_within(&along.rows, &across.rows) && is_within(&across.columns, &along.columns)
    };
    match is_plain(one) && is_plain(two) {
        true if fit(one, two) => Some((one, two)),
        true if fit(two, one) => Some((two, one)),
        _ => None,
    }
}
