//! Boards whose cells are named by a letter and a number, such as `a1`.

use std::collections::{BTreeMap, BTreeSet};

use super::Names;
use crate::drawing::DrawnBoard;
use crate::evidence::Evidence;
use crate::name;
use crate::shape::Shape;
use crate::symbols::symbols;
use ggp_gdl::game::Game;
use ggp_gdl::program::FunctorId;

/// Least number of cells, of letters and of numbers.
const CELLS: usize = 6;
const LINES: usize = 2;

/// Facts that give cells their contents.
#[derive(Clone, Debug)]
struct Layer {
    /// The argument that is the cell.
    cell: usize,
    /// A prefix of the contents, if the facts have no others.
    title: Option<String>,
}

/// A board whose cells are named by a letter and a number.
#[derive(Clone, Debug)]
pub(crate) struct PlacedBoard {
    /// Row and column of each cell.
    cells: BTreeMap<String, (usize, usize)>,
    rows: Vec<String>,
    columns: Vec<String>,
    layers: Vec<Layer>,
    /// The contents, as text and as constants.
    contents: Vec<(String, Vec<FunctorId>)>,
    symbols: BTreeMap<String, String>,
    owners: BTreeMap<String, usize>,
    names: Names,
    /// The content of an empty cell.
    empty: Option<String>,
}

/// A letter and a number, if a name consists of them.
fn place(name: &str) -> Option<(String, u32)> {
    let mut letters = name.chars();
    let letter = letters.next().filter(char::is_ascii_alphabetic)?;
    let number = letters.as_str();
    let is_number = (1..=2).contains(&number.len()) && number.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| Some((letter.to_lowercase().to_string(), number.parse().ok()?)))?
}

impl PlacedBoard {
    /// The argument of a shape that names cells.
    pub fn cell_argument(game: &Game, shape: &Shape) -> Option<usize> {
        (0..shape.leaves.len()).find(|leaf| {
            let places = shape.leaves[*leaf]
                .iter()
                .map(|constant| place(&name(game, *constant)));
            let Some(places) = places.collect::<Option<BTreeSet<_>>>() else {
                return false;
            };
            let letters: BTreeSet<&String> = places.iter().map(|(letter, _)| letter).collect();
            let numbers: BTreeSet<u32> = places.iter().map(|(_, number)| *number).collect();
            places.len() >= CELLS && letters.len() >= LINES && numbers.len() >= LINES
        })
    }

    /// A board with the cells of a shape.
    pub fn new(game: &Game, shape: &Shape, cell: usize) -> Self {
        let names = shape.leaves[cell]
            .iter()
            .map(|constant| name(game, *constant));
        let places: Vec<(String, (String, u32))> = names
            .filter_map(|name| Some((name.clone(), place(&name)?)))
            .collect();
        let numbers: BTreeSet<u32> = places.iter().map(|(_, (_, number))| *number).collect();
        let letters: BTreeSet<&String> = places.iter().map(|(_, (letter, _))| letter).collect();
        let rows: Vec<u32> = numbers.into_iter().rev().collect();
        let columns: Vec<String> = letters.into_iter().cloned().collect();
        let at = |(letter, number): &(String, u32)| {
            let row = rows.iter().position(|other| other == number);
            let column = columns.iter().position(|other| other == letter);
            row.zip(column).expect("they were just collected")
        };
        PlacedBoard {
            cells: places
                .iter()
                .map(|(name, place)| (name.clone(), at(place)))
                .collect(),
            rows: rows.iter().map(u32::to_string).collect(),
            columns,
            layers: Vec::new(),
            contents: Vec::new(),
            symbols: BTreeMap::new(),
            owners: BTreeMap::new(),
            names: Names::default(),
            empty: None,
        }
    }

    /// Returns whether the cells of a shape are on the board.
    pub fn fits(&self, game: &Game, shape: &Shape, cell: usize) -> bool {
        let mut names = shape.leaves[cell].iter();
        names.all(|constant| self.cells.contains_key(&name(game, *constant)))
    }

    /// Adds facts, and returns the index of their layer.
    pub fn add(&mut self, game: &Game, shape: &Shape, cell: usize) -> usize {
        let is_mark = shape.leaves.len() == 1;
        let title = shape.skeleton[0].map(|functor| name(game, functor));
        self.layers.push(Layer {
            cell,
            title: title.filter(|_| is_mark || !self.layers.is_empty()),
        });
        let others: Vec<usize> = (0..shape.leaves.len())
            .filter(|leaf| *leaf != cell)
            .collect();
        let mut whats: Vec<Vec<FunctorId>> = vec![Vec::new()];
        for leaf in others {
            let names = &shape.leaves[leaf];
            whats = (whats.iter())
                .flat_map(|what| names.iter().map(|name| [&what[..], &[*name]].concat()))
                .take(256)
                .collect();
        }
        let layer = self.layers.len() - 1;
        for what in whats {
            self.contents.push((self.text(game, layer, &what), what));
        }
        layer
    }

    /// Chooses the signs and colours of all contents.
    pub fn finish(&mut self, evidence: &Evidence, signs: &BTreeMap<String, String>) {
        let empty = self
            .contents
            .iter()
            .find(|(_, what)| super::is_empty(evidence, what));
        self.empty = empty.map(|(text, _)| text.clone());
        self.contents
            .retain(|(text, _)| Some(text) != self.empty.as_ref());
        self.symbols = symbols(evidence, &self.contents, signs);
        self.names = super::read(evidence, &self.contents, |_| Vec::new());
        let owner = |what: &[FunctorId]| what.iter().find_map(|f| evidence.owners.get(f)).copied();
        let owned = self
            .contents
            .iter()
            .map(|(text, what)| Some((text.clone(), owner(what)?)));
        self.owners = owned.flatten().collect();
    }

    fn text(&self, game: &Game, layer: usize, what: &[FunctorId]) -> String {
        let title = self.layers[layer].title.clone().unwrap_or_default();
        let names = what.iter().map(|constant| name(game, *constant));
        names.fold(title, |text, word| crate::join(&text, &word))
    }

    /// Returns whether a fact is on the board.
    pub fn has(&self, game: &Game, layer: usize, names: &[FunctorId]) -> bool {
        let cell = names.get(self.layers[layer].cell);
        cell.is_some_and(|cell| self.cells.contains_key(&name(game, *cell)))
    }

    /// The row and the column of a cell, by its name.
    pub fn at(&self, cell: &str) -> Option<(usize, usize)> {
        self.cells.get(cell).copied()
    }

    /// The board with the facts of a state.
    pub fn draw(&self, game: &Game, facts: &[(usize, Vec<FunctorId>)]) -> DrawnBoard {
        let mut contents = vec![vec![None; self.columns.len()]; self.rows.len()];
        for &(row, column) in self.cells.values() {
            contents[row][column] = Some(Vec::new());
        }
        for (layer, names) in facts {
            let cell = self.layers[*layer].cell;
            let others = (0..names.len()).filter(|at| *at != cell);
            let what: Vec<FunctorId> = others.map(|at| names[at]).collect();
            let text = self.text(game, *layer, &what);
            if let Some((row, column)) = self.at(&name(game, names[cell]))
                && self.empty.as_ref() != Some(&text)
            {
                contents[row][column]
                    .get_or_insert_with(Vec::new)
                    .push(text);
            }
        }
        DrawnBoard {
            rows: self.rows.clone(),
            columns: self.columns.clone(),
            contents,
            symbols: self.symbols.clone(),
            owners: self.owners.clone(),
            colours: self.names.colours.clone(),
            shapes: self.names.symbols.clone(),
            empty: self.empty.clone().unwrap_or_default(),
            ..DrawnBoard::default()
        }
    }
}
