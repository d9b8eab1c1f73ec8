//! Boards whose cells are places: single constants or terms of the rules, not rows and columns.
//!
//! In: a [`Layout`], which gives each place a row and a column, and the shapes of facts that name
//! places. [`ring`](super::ring) finds layouts by structure, and `names::places` by names.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::drawing::DrawnBoard;
use super::evidence::{Evidence, Facts, is_key};
use super::names::{self, Names};
use super::options::{Paint, PictureOptions, Shape as Drawn};
use super::shape::{Shape, Skeleton};
use super::symbols::symbols;
use super::{join, name};
use ggp_gdl::game::Game;
use ggp_gdl::program::FunctorId;

/// The largest heap that is drawn as single seeds.
const SEEDS: usize = 12;

/// A row and a column.
pub(super) type At = (usize, usize);

/// The constants that name a place; the functor comes first if it is a term.
pub(super) type Place = Vec<FunctorId>;

/// The arrangement of places.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    pub cells: FxHashMap<Place, At>,
    pub rows: Vec<String>,
    pub columns: Vec<String>,
    /// The shift to the right of each row against the row above, in halves of a cell.
    pub slant: isize,
    /// Lines between places. If there are some, places are points.
    pub lines: Vec<[At; 2]>,
    /// True if places are pits in one ground.
    pub has_pits: bool,
    /// True if places are lines between dots, and boxes between the lines.
    pub has_dots: bool,
    /// True if names led to the layout, so that a name in a move is a place.
    pub is_named: bool,
}

/// Facts that give places their contents.
#[derive(Clone, Debug)]
pub(super) struct Layer {
    pub skeleton: Skeleton,
    /// The functor of a place that is a term.
    pub prefix: Vec<FunctorId>,
    /// The arguments that name the place.
    pub cell: Vec<usize>,
    rest: Vec<usize>,
    /// A prefix of the contents, if the facts have no others.
    title: Option<String>,
}

impl Layer {
    fn what(&self, names: &[FunctorId]) -> Vec<FunctorId> {
        self.rest.iter().map(|leaf| names[*leaf]).collect()
    }

    fn place(&self, names: &[FunctorId]) -> Place {
        let named = self.cell.iter().map(|leaf| names[*leaf]);
        self.prefix.iter().copied().chain(named).collect()
    }
}

/// A board of places.
#[derive(Clone, Debug)]
pub(super) struct PlacedBoard {
    pub layout: Layout,
    layers: Vec<Layer>,
    /// The contents, as text and as constants.
    contents: Vec<(String, Vec<FunctorId>)>,
    symbols: BTreeMap<String, String>,
    owners: BTreeMap<String, usize>,
    names: Names,
    minor: BTreeSet<String>,
    /// Contents that are pieces although they are roles: others of their kind are not.
    pieces: BTreeSet<String>,
    /// The content of an empty cell.
    empty: Option<String>,
    /// Contents of layers that have a fact for each cell.
    full: BTreeSet<String>,
}

impl PlacedBoard {
    pub fn new(layout: Layout) -> Self {
        PlacedBoard {
            layout,
            layers: Vec::new(),
            contents: Vec::new(),
            symbols: BTreeMap::new(),
            owners: BTreeMap::new(),
            names: Names::default(),
            minor: BTreeSet::new(),
            pieces: BTreeSet::new(),
            empty: None,
            full: BTreeSet::new(),
        }
    }

    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// Adds facts whose arguments `cell` name places, and returns the index of their layer.
    pub fn add(
        &mut self,
        evidence: &Evidence,
        shape: &Shape,
        facts: &Facts,
        cell: Vec<usize>,
    ) -> usize {
        let game = evidence.game;
        let rest: Vec<usize> = (0..shape.leaves.len())
            .filter(|leaf| !cell.contains(leaf))
            .collect();
        let title = shape.skeleton[0].map(|functor| name(game, functor));
        let layer = Layer {
            skeleton: shape.skeleton.clone(),
            prefix: shape.skeleton[1..].iter().copied().flatten().collect(),
            title: title.filter(|_| {
                let is_count = self.layout.has_pits && !rest.is_empty();
                rest.is_empty() || (!is_count && self.has_others(shape, &rest))
            }),
            cell,
            rest,
        };
        let mut whats: Vec<Vec<FunctorId>> = vec![Vec::new()];
        for leaf in &layer.rest {
            let names = &shape.leaves[*leaf];
            whats = (whats.iter())
                .flat_map(|what| names.iter().map(|name| [&what[..], &[*name]].concat()))
                .take(256)
                .collect();
        }
        let [first, ..] = &facts[..] else {
            return 0;
        };
        let place: Vec<usize> = layer.cell.clone();
        let is_full = is_key(facts, &place) && first.len() >= self.layout.cells.len();
        // One that is no role may be that of an empty cell.
        let is_other =
            |what: &&Vec<FunctorId>| what.iter().all(|name| !evidence.roles.contains(name));
        let are_pieces = whats.iter().filter(is_other).count() > 1;
        for what in whats {
            let text = text(game, &layer, &what);
            if are_pieces {
                self.pieces.insert(text.clone());
            }
            if is_full {
                self.full.insert(text.clone());
            }
            let count = first.iter().filter(|fact| layer.what(fact) == what).count();
            if is_full && 2 * count > first.len() && !self.layout.has_pits && self.empty.is_none() {
                self.empty = Some(text.clone());
            }
            self.contents.push((text, what));
        }
        if self.layout.has_pits && !layer.rest.is_empty() {
            self.add_seeds(evidence, shape, &layer);
        }
        self.layers.push(layer);
        self.layers.len() - 1
    }

    /// Returns whether another layer has the same contents.
    fn has_others(&self, shape: &Shape, rest: &[usize]) -> bool {
        let names = rest.iter().flat_map(|leaf| &shape.leaves[*leaf]);
        let mut all = self.contents.iter().flat_map(|(_, what)| what);
        !self.layers.is_empty() && names.clone().any(|name| all.any(|other| other == name))
    }

    /// Draws numbers as seeds.
    fn add_seeds(&mut self, evidence: &Evidence, shape: &Shape, layer: &Layer) {
        let counts = super::table::bars(evidence, &shape.leaves[layer.rest[0]]);
        for (constant, count) in counts {
            let text = text(evidence.game, layer, &[constant]);
            match count {
                0..=SEEDS => {
                    self.names.symbols.insert(text, seeds(count));
                }
                _ => {
                    self.symbols.insert(text, count.to_string());
                }
            }
        }
    }

    /// Chooses the signs and colours of all contents.
    pub fn finish(&mut self, evidence: &Evidence, options: &PictureOptions) {
        let is_empty =
            |what: &[FunctorId]| !options.ignores_names && names::is_empty(evidence, what);
        let named = self.contents.iter().find(|(_, what)| is_empty(what));
        self.empty = named.map(|(text, _)| text.clone()).or(self.empty.take());
        self.contents
            .retain(|(text, _)| Some(text) != self.empty.as_ref());
        let known = std::mem::take(&mut self.symbols);
        self.symbols = symbols(evidence, &self.contents, &options.signs);
        self.symbols.extend(known);
        if !options.ignores_names {
            let names = names::read(evidence, &self.contents, |_| Vec::new());
            self.names.colours = names.colours;
            for (text, drawn) in names.symbols {
                self.names.symbols.entry(text).or_insert(drawn);
            }
        }
        let owner = |what: &[FunctorId]| what.iter().find_map(|f| evidence.owners.get(f)).copied();
        let owned = self
            .contents
            .iter()
            .map(|(text, what)| Some((text.clone(), owner(what)?)));
        self.owners = owned.flatten().collect();
        self.find_minor(evidence);
    }

    /// Finds the facts that say something about the contents of others: the role of a content is
    /// its colour, and marks are small. Marks alone are things, which belong to a single role.
    fn find_minor(&mut self, evidence: &Evidence) {
        let game = evidence.game;
        let is_role = |what: &[FunctorId]| matches!(what, [only] if evidence.roles.contains(only));
        let says_more = |what: &[FunctorId]| !what.is_empty() && !is_role(what);
        if !self.contents.iter().any(|(_, what)| says_more(what)) {
            if let [_] = evidence.roles[..] {
                self.owners = self
                    .contents
                    .iter()
                    .map(|(text, _)| (text.clone(), 0))
                    .collect();
            }
            return;
        }
        for (text, what) in &self.contents {
            let has_title = *text != super::board::text_of(game, what);
            if is_role(what) && !self.pieces.contains(text) {
                self.symbols.insert(text.clone(), String::new());
                self.names.symbols.remove(text);
            } else if has_title && (!what.is_empty() || !self.names.symbols.contains_key(text)) {
                self.minor.insert(text.clone());
            }
        }
    }

    /// The row and the column of a place.
    pub fn at(&self, place: &[FunctorId]) -> Option<At> {
        self.layout.cells.get(place).copied()
    }

    /// The places that follow each other among constants, if the layout is one by names.
    pub fn named(&self, constants: &[FunctorId]) -> Vec<At> {
        let length = self.layout.cells.keys().next().map_or(1, Vec::len);
        match self.layout.is_named {
            true => constants
                .windows(length)
                .filter_map(|place| self.at(place))
                .collect(),
            false => Vec::new(),
        }
    }

    /// Returns whether a fact is on the board.
    pub fn has(&self, layer: usize, names: &[FunctorId]) -> bool {
        self.at(&self.layers[layer].place(names)).is_some()
    }

    /// The board with the facts of a state.
    pub fn draw(&self, game: &Game, facts: &[(usize, Vec<FunctorId>)]) -> DrawnBoard {
        let layout = &self.layout;
        let mut contents = vec![vec![None; layout.columns.len()]; layout.rows.len()];
        let mut places = vec![vec![String::new(); layout.columns.len()]; layout.rows.len()];
        // Where each empty cell has a fact, one without is left out, as it is on other boards.
        let is_told = self
            .empty
            .as_ref()
            .is_some_and(|empty| self.full.contains(empty));
        for (place, &(row, column)) in &layout.cells {
            contents[row][column] = (!is_told).then(Vec::new);
            let words: Vec<String> = place.iter().map(|constant| name(game, *constant)).collect();
            places[row][column] = words.join(" ");
        }
        for (layer, names) in facts {
            let layer = &self.layers[*layer];
            let text = text(game, layer, &layer.what(names));
            if let Some((row, column)) = self.at(&layer.place(names)) {
                let content = contents[row][column].get_or_insert_with(Vec::new);
                if self.empty.as_ref() != Some(&text) {
                    content.push(text);
                }
            }
        }
        DrawnBoard {
            rows: layout.rows.clone(),
            columns: layout.columns.clone(),
            contents,
            places,
            symbols: self.symbols.clone(),
            owners: self.owners.clone(),
            colours: self.names.colours.clone(),
            shapes: self.names.symbols.clone(),
            empty: self.empty.clone().unwrap_or_default(),
            minor: self.minor.clone(),
            slant: layout.slant,
            lines: layout.lines.clone(),
            has_pits: layout.has_pits,
            has_dots: layout.has_dots,
            ..DrawnBoard::default()
        }
    }
}

fn text(game: &Game, layer: &Layer, what: &[FunctorId]) -> String {
    let title = layer.title.clone().unwrap_or_default();
    let names = what.iter().map(|constant| name(game, *constant));
    names.fold(title, |text, word| join(&text, &word))
}

/// A pit with seeds in it: up to nine in a square of three by three, more in four columns.
fn seeds(count: usize) -> Vec<Drawn> {
    let dots: String = match count {
        0 => String::new(),
        _ => {
            let columns = match count {
                1 => 1,
                2 | 4 => 2,
                ..=9 => 3,
                _ => 4,
            };
            let rows = count.div_ceil(columns);
            let dot = |number: usize| {
                let (row, column) = (number / columns, number % columns);
                let in_row = columns.min(count - row * columns);
                let x = 50.0 + (column as f64 - (in_row as f64 - 1.0) / 2.0) * 19.0;
                let y = 50.0 + (row as f64 - (rows as f64 - 1.0) / 2.0) * 19.0;
                format!("M{x} {} a7 7 0 1 1 0 14 a7 7 0 1 1 0 -14 Z ", y - 7.0)
            };
            (0..count).map(dot).collect()
        }
    };
    let solid = |path: String, fill: &str, stroke| Drawn {
        path,
        fill: Paint::Colour(fill.to_owned()),
        stroke,
        width: 3,
    };
    let pit = "M50 4 A46 46 0 1 1 50 96 A46 46 0 1 1 50 4 Z".to_owned();
    let mut drawn = vec![solid(pit, "#d9c4a3", Paint::Colour("#8a7455".to_owned()))];
    if count > 0 {
        drawn.push(solid(dots, "#5b3a1e", Paint::None));
    }
    drawn
}
