//! A state as it is drawn, whatever it is drawn with.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Serialize;

use super::wishes::Shape;

/// A state as boards, tables and facts.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Drawing {
    /// In the order of the rules.
    pub boards: Vec<DrawnBoard>,
    /// Whose turn it is, counters, heaps and piles, in the order of the rules.
    pub tables: Vec<DrawnTable>,
    /// Canonical texts of all other facts, in the order of the rules.
    pub facts: Vec<String>,
    /// Facts that are past the limits.
    pub left_out: usize,
    /// Names of the roles.
    pub roles: Vec<String>,
}

/// A board of a state.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct DrawnBoard {
    /// What tells it from others of its kind.
    pub title: String,
    /// Names of the rows, top to bottom.
    pub rows: Vec<String>,
    /// Names of the columns, left to right.
    pub columns: Vec<String>,
    /// By row and column: what is there; none where there is no place.
    pub contents: Vec<Vec<Option<Vec<String>>>>,
    /// What is written for a content.
    pub symbols: BTreeMap<String, String>,
    /// Numbers of the roles to which contents belong.
    pub owners: BTreeMap<String, usize>,
    /// Colours of contents that somebody chose.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub colours: BTreeMap<String, String>,
    /// Shapes for contents, that somebody chose.
    #[serde(skip)]
    pub shapes: BTreeMap<String, Vec<Shape>>,
    /// The content that an empty place stands for; empty if there is none.
    #[serde(skip)]
    pub empty: String,
    /// By row and column: what the rules say of the place for good, where the state says
    /// something else.
    #[serde(skip)]
    pub printed: Vec<Vec<Option<String>>>,
    /// By how many halves of a place each row stands to the right of the one above.
    pub slant: isize,
    /// Rows and columns past the limit.
    pub left_out: (usize, usize),
    /// Which board of the picture it is; several that lie side by side are one there.
    #[serde(skip)]
    pub origin: usize,
    /// The names that tell it from those.
    #[serde(skip)]
    pub sheet: Vec<String>,
}

/// Facts put together.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct DrawnTable {
    /// What the rules call them.
    pub title: String,
    /// What it should look like.
    pub look: Look,
    /// Its lines, or piles.
    pub entries: Vec<DrawnEntry>,
}

impl DrawnTable {
    /// How much is said of the entry of which most is said.
    pub(super) fn height(&self) -> usize {
        let heights = self.entries.iter().map(|entry| entry.values.len());
        heights.max().unwrap_or(0)
    }
}

/// A line of a table, or a pile.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct DrawnEntry {
    /// What it is of; empty if the table has one line.
    pub key: String,
    /// What is said of it; of a pile what is in it, the uppermost first.
    pub values: Vec<String>,
    /// The number that it says, as a length.
    pub bar: Option<usize>,
    /// The number of the role that it belongs to.
    pub owner: Option<usize>,
}

/// What a table should look like.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Look {
    /// Words.
    Plain,
    /// Whose turn it is.
    Turn,
    /// A length for each number.
    Bars,
    /// Things in their order, in several places.
    Piles,
    /// Things that stand on each other.
    Stacks,
}

impl DrawnBoard {
    /// Leaves out rows and columns at the edge that have no place.
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
        self.rows = self.rows[top..bottom].to_vec();
        self.columns = self.columns[left..right].to_vec();
        self.contents = part(&self.contents, top..bottom, left..right);
        self.printed = part(&self.printed, top..bottom, left..right);
    }

    /// What is written at a place, from its contents.
    pub(super) fn signs(&self, contents: &[String]) -> String {
        let sign = |content: &String| self.symbols.get(content).unwrap_or(content).clone();
        let signs: Vec<String> = contents.iter().map(sign).collect();
        let is_short = signs.iter().all(|sign| sign.chars().count() == 1);
        signs.join(if is_short { "" } else { "+" })
    }

    /// What is written at each place, by row and column: nothing on an empty one, none
    /// where there is no place.
    pub fn cells(&self) -> Vec<Vec<Option<String>>> {
        let cell = |place: &Option<Vec<String>>| place.as_ref().map(|all| self.signs(all));
        let rows = self.contents.iter();
        rows.map(|row| row.iter().map(cell).collect()).collect()
    }

    /// Signs on the board that are not the content itself, and what they stand for.
    pub fn legend(&self) -> BTreeMap<&str, &str> {
        let contents = self.contents.iter().flatten().flatten().flatten();
        let pairs = contents.filter_map(|content| {
            let sign = self.symbols.get(content)?;
            (sign != content).then_some((&**sign, &**content))
        });
        pairs.collect()
    }
}

/// Some rows and columns of all.
fn part<T: Clone>(all: &[Vec<T>], rows: Range<usize>, columns: Range<usize>) -> Vec<Vec<T>> {
    let rows = all.get(rows).unwrap_or_default().iter();
    rows.map(|row| row[columns.clone()].to_vec()).collect()
}

/// Two boards that are the edges of squares: of each square above and below, and to its left
/// and right. So it is where one has a row more and the other a column more, and all that
/// can be said of a place is one thing.
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
