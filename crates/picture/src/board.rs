//! Boards: facts whose arguments include two coordinates.

mod marks;
mod printed;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use super::drawing::DrawnBoard;
use super::evidence::{Evidence, PlacedFact, orientation, slant};
use super::layer::{Candidate, Layer, background, gravity};
use super::look::{Look, regions, sides, surface};
use super::names::clues::Clues;
use super::names::{self, Names};
use super::options::{BoardOptions, PictureOptions};
use super::shape::Shape;
use super::symbols::{symbols, texts};
use super::{DrawingLimits, join, name};
use ggp_gdl::game::Game;
use ggp_gdl::program::FunctorId;

/// The static text of each cell.
type Printed = FxHashMap<(usize, usize), String>;

/// A sheet, a row and a column.
type At = (usize, (usize, usize));

/// A board, or several boards side by side that differ in one argument.
#[derive(Clone, Debug)]
pub(super) struct Board {
    /// A title that tells the board from others of the same size.
    title: String,
    /// From top to bottom, and from left to right.
    rows: Vec<FunctorId>,
    columns: Vec<FunctorId>,
    row_at: FxHashMap<FunctorId, usize>,
    column_at: FxHashMap<FunctorId, usize>,
    /// The constants that tell boards side by side apart.
    sheets: Vec<Vec<FunctorId>>,
    layers: Vec<Layer>,
    /// For each sheet: the cells that can have content. `None` if unknown; then all cells
    /// can.
    possible: Option<Vec<FxHashSet<(usize, usize)>>>,
    /// The rows and columns in use, if most are not.
    seen: Option<(Range<usize>, Range<usize>)>,
    /// The rows and columns that can ever be in use.
    used: (Range<usize>, Range<usize>),
    /// The static text of each cell, shown where the state says nothing.
    printed: Printed,
    /// The content that marks an empty cell.
    background: Option<String>,
    symbols: BTreeMap<String, String>,
    owners: BTreeMap<String, usize>,
    slant: isize,
    look: Look,
    regions: Vec<Vec<usize>>,
    sides: Option<[usize; 4]>,
    /// The colours and drawings that names, or marks that stay, call for.
    names: Names,
    /// For each layer: true if its facts only say which cells there are.
    is_ground: Vec<bool>,
    /// The cells that such a layer names. Empty if no layer does.
    ground: FxHashSet<(usize, usize)>,
    /// Contents that fill a cell where the thing of a role was.
    pub trails: BTreeSet<String>,
    /// The numbers at the edges.
    clues: Option<Clues>,
    /// True if options fixed the orientation.
    has_options: bool,
}

/// Puts layers with common axes together into boards.
pub(super) fn boards(
    evidence: &Evidence,
    mut candidates: Vec<Candidate>,
    options: &PictureOptions,
) -> Vec<Board> {
    // Layers on the axes of a board with options have the same orientation as that board.
    let is_turned = |board_options: &BoardOptions| {
        board_options
            .row
            .is_some_and(|row| row > board_options.column)
    };
    let turned = candidates
        .iter()
        .filter(|one| one.board_options.as_ref().is_some_and(is_turned));
    let turned: Vec<[Vec<FunctorId>; 2]> = turned.map(|one| one.axes.clone()).collect();
    for one in candidates
        .iter_mut()
        .filter(|one| one.board_options.is_none())
    {
        let is_part = |few: &[FunctorId], all: &[FunctorId]| few.iter().all(|f| all.contains(f));
        let lies_across = |[rows, columns]: &[Vec<FunctorId>; 2]| {
            is_part(&one.axes[0], columns) && is_part(&one.axes[1], rows)
        };
        if turned.iter().any(lies_across) {
            one.axes.reverse();
            std::mem::swap(&mut one.layer.first, &mut one.layer.second);
        }
    }
    let mut groups: Vec<Vec<Candidate>> = Vec::new();
    for candidate in candidates {
        let contains = |large: &Candidate, small: &Candidate| {
            let is_within = |axis: usize| {
                let names = &small.axes[axis];
                names.iter().all(|name| large.axes[axis].contains(name))
            };
            large.sheets == small.sheets && is_within(0) && is_within(1)
        };
        // Layers that each describe most cells are boards of their own.
        let fits = |group: &&mut Vec<Candidate>| {
            (contains(&group[0], &candidate) || contains(&candidate, &group[0]))
                && !(candidate.is_full() && group.iter().any(Candidate::is_full))
        };
        match groups.iter_mut().find(fits) {
            Some(group) => {
                let is_larger = contains(&candidate, &group[0]) && !contains(&group[0], &candidate);
                match is_larger {
                    true => group.insert(0, candidate),
                    false => group.push(candidate),
                }
            }
            None => groups.push(vec![candidate]),
        }
    }
    let axes: Vec<[Vec<FunctorId>; 2]> = groups.iter().map(|group| group[0].axes.clone()).collect();
    let is_alone =
        |number: usize| (0..axes.len()).all(|other| other == number || axes[other] != axes[number]);
    let groups = groups.into_iter().enumerate();
    groups
        .map(|(k, group)| Board::new(evidence, group, is_alone(k), options))
        .collect()
}

impl Board {
    fn new(
        evidence: &Evidence,
        mut group: Vec<Candidate>,
        is_alone: bool,
        options: &PictureOptions,
    ) -> Board {
        let game = evidence.game;
        // The largest layer determines the board; the layers are shown in the order of the
        // rules.
        let axes = group[0].axes.clone();
        let sheets = group[0].sheets.clone();
        let slant = slant(evidence, [&axes[0], &axes[1]]);
        let gravity = group.iter().find_map(|one| gravity(game, one));
        let ranks = [0, 1].map(|axis: usize| -> FxHashMap<FunctorId, usize> {
            axes[axis].iter().copied().zip(0..).collect()
        });
        let has_roles = [0, 1].map(|axis: usize| evidence.are_roles(&axes[axis]));
        let board_options = group.iter().find_map(|one| one.board_options.clone());
        let background = match (
            board_options
                .as_ref()
                .and_then(|board_options| board_options.empty.as_ref()),
            has_roles,
        ) {
            (Some(empty), _) => chosen_background(game, &group, empty),
            (None, has_roles) => {
                let reads_names = !options.ignores_names;
                let named = reads_names.then(|| named_background(evidence, &group));
                let is_structural = has_roles == [false, false];
                let found = || is_structural.then(|| background(game, &group));
                named.flatten().or_else(|| found().flatten())
            }
        };
        let mut placed = Vec::new();
        for one in &group {
            for fact in &one.facts[0] {
                let what: Vec<FunctorId> = one.layer.rest.iter().map(|k| fact[*k]).collect();
                if background.as_ref() != Some(&what) {
                    let [a, b] = one.layer.at(fact);
                    let at = ranks[0].get(&a).zip(ranks[1].get(&b));
                    placed.extend(at.map(|(a, b)| PlacedFact { at: [*a, *b], what }));
                }
            }
        }
        let are_numbers = [0, 1].map(|axis: usize| {
            axes[axis]
                .iter()
                .all(|f| name(game, *f).parse::<i64>().is_ok())
        });
        let found = orientation(evidence, &placed, are_numbers);
        let reading = marks::reading(evidence, &group, options);
        let compass = reading.compass;
        let (first_is_row, from_below) = match gravity {
            _ if group[0].layer.first.is_none() => (true, false),
            _ if reading.clues.is_some() => (
                reading
                    .clues
                    .as_ref()
                    .is_some_and(|clues| clues.first_is_row),
                false,
            ),
            _ if compass.is_some() => compass.map_or((true, false), |compass| {
                (compass.first_is_row, compass.from_below)
            }),
            _ if board_options.is_some() => (
                true,
                board_options.as_ref().is_some_and(|w| w.first_row_is_below),
            ),
            Some(is_first) => (!is_first, true),
            // As at a table, the first role is at the bottom.
            None if has_roles != [false, false] => (has_roles[0], true),
            None if slant != 0 => (true, false),
            None => (found.first_is_row, found.from_below),
        };
        let title = match is_alone {
            true => String::new(),
            false => text_of(game, &functors(&group[0].shape)),
        };
        let [first, second] = axes;
        let (mut rows, mut columns) = if first_is_row {
            (first, second)
        } else {
            (second, first)
        };
        if from_below {
            rows.reverse();
        }
        if board_options
            .as_ref()
            .is_some_and(|board_options| board_options.first_column_is_right)
            || compass.is_some_and(|compass| compass.from_right)
        {
            columns.reverse();
        }
        if !first_is_row {
            for one in &mut group {
                std::mem::swap(&mut one.layer.first, &mut one.layer.second);
            }
        }
        let texts = texts(evidence, &mut group);
        let is_owned =
            |what: &[FunctorId]| what.iter().any(|name| evidence.owners.contains_key(name));
        let found_look = surface(&group, background.as_ref(), is_owned, gravity.is_some());
        let background = background.map(|what| text_of(game, &what));
        // Cells may be free by facts of their own.
        let free = marks::free(&group).map(|one| content(game, &one.layer, &one.facts[0][0]));
        let background = background.or(free);
        let mut board = Board {
            used: (0..rows.len(), 0..columns.len()),
            row_at: rows.iter().copied().zip(0..).collect(),
            column_at: columns.iter().copied().zip(0..).collect(),
            title,
            rows,
            columns,
            sheets,
            layers: group.iter().map(|one| one.layer.clone()).collect(),
            possible: None,
            seen: None,
            printed: FxHashMap::default(),
            symbols: BTreeMap::new(),
            owners: BTreeMap::new(),
            background,
            slant,
            look: Look::Plain,
            regions: Vec::new(),
            sides: None,
            names: Names::default(),
            is_ground: marks::grounds(&group),
            ground: FxHashSet::default(),
            clues: reading.clues,
            trails: BTreeSet::new(),
            has_options: false,
        };
        board.print(game, &group, !first_is_row);
        board.find_used(&group);
        let texts = texts.into_iter();
        let texts: Vec<_> = texts
            .filter(|(text, _)| Some(text) != board.background.as_ref())
            .collect();
        board.symbols = symbols(evidence, &texts, &options.signs);
        if !options.ignores_names {
            let heads = |what: &[FunctorId]| {
                // Facts without a content have their name as the text.
                let has = |one: &&Candidate| {
                    let leaves = || one.layer.rest.iter().map(|leaf| &one.shape.leaves[*leaf]);
                    !what.is_empty()
                        && what.len() == one.layer.rest.len()
                        && leaves().zip(what).all(|(leaf, name)| leaf.contains(name))
                };
                let heads = group.iter().filter(has);
                heads
                    .map(|one| text_of(game, &functors(&one.shape)))
                    .collect()
            };
            board.names = names::read(evidence, &texts, heads);
        }
        board.find_ground(game, &group);
        board.has_options = board_options.is_some();
        let has_walls = !board.names.edges.is_empty();
        board.look = match board_options.as_ref().and_then(|options| options.look) {
            Some(look) => look,
            None if has_walls => Look::Plain,
            None => found_look,
        };
        board.find_parts(evidence, board_options.as_ref());
        let owner = |what: &[FunctorId]| {
            what.iter()
                .find_map(|name| evidence.owners.get(name))
                .copied()
        };
        // Colours that only a few of the pieces have would be misleading.
        let of_nobody = placed
            .iter()
            .filter(|one| owner(&one.what).is_none())
            .count();
        let are_few = 2 * of_nobody > placed.len();
        let is_role = |what: &[FunctorId]| what.iter().any(|f| evidence.roles.contains(f));
        let owned = texts
            .into_iter()
            .filter(|(_, what)| !are_few || is_role(what))
            .filter_map(|(text, what)| Some((text, owner(&what)?)));
        board.owners = owned.collect();
        board.find_filling(game, &group);
        board
    }

    /// Finds the regions of a board of squares, or else the sides of one of hexagons.
    fn find_parts(&mut self, evidence: &Evidence, options: Option<&BoardOptions>) {
        let (rows, columns) = (self.rows.len(), self.columns.len());
        if self.slant != 0 {
            self.sides = sides(
                &evidence.statics,
                &evidence.roles,
                &self.row_at,
                &self.column_at,
            );
        } else if let Some([height, width]) = options.and_then(|options| options.blocks) {
            let row = |row: usize| {
                (0..columns).map(move |column| row / height * columns + column / width)
            };
            self.regions = (0..rows).map(|at| row(at).collect()).collect();
        } else if rows > 1 && columns > 1 {
            self.regions = regions(&evidence.statics, &self.row_at, &self.column_at);
        }
    }

    /// The layers, in the order of the rules.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// The position of a fact: sheet, row and column.
    fn place(&self, layer: &Layer, names: &[FunctorId]) -> Option<At> {
        let [row, column] = layer.at(names);
        let (row, column) = (*self.row_at.get(&row)?, *self.column_at.get(&column)?);
        let sheet: Vec<FunctorId> = layer.sheets.iter().map(|k| names[*k]).collect();
        let sheet = self.sheets.iter().position(|other| *other == sheet)?;
        Some((sheet, (row, column)))
    }

    /// Informs the board of all facts that can ever hold.
    pub fn set_possible(
        &mut self,
        game: &Game,
        facts: impl Iterator<Item = (usize, Vec<FunctorId>)>,
    ) {
        let mut possible = vec![FxHashSet::default(); self.sheets.len()];
        for (layer, names) in facts {
            let layer = &self.layers[layer];
            let is_edge = || {
                let edges = &self.names.edges;
                !edges.is_empty() && edges.contains(&content(game, layer, &names))
            };
            if let Some((sheet, at)) = self.place(layer, &names).filter(|_| !is_edge()) {
                possible[sheet].insert(at);
            }
        }
        // A few rows and columns far beyond those in use do not make a board.
        let places = possible.iter().flatten().collect::<FxHashSet<_>>();
        let [rows, columns] = size(places.iter().copied());
        if 2 * places.len() >= rows * columns {
            self.seen = None;
        }
        // What is ordered with them, such as a counter, may have many more.
        if self.background.is_none() {
            self.used = hull(places.iter().copied());
        }
        self.possible = Some(possible);
        if !self.has_options && self.is_lattice_on_its_side() {
            self.turn();
        }
    }

    /// Finds the rows and columns that are in use.
    fn find_used(&mut self, group: &[Candidate]) {
        let facts = group.iter().flat_map(|one| {
            let facts = one.facts.iter().flatten();
            facts
                .filter_map(|fact| self.place(&one.layer, fact))
                .map(|(_, at)| at)
        });
        let places: Vec<(usize, usize)> = facts.collect();
        let (rows, columns) = hull(places.iter());
        let size = rows.len() * columns.len();
        if size > 0 && 2 * size < self.rows.len() * self.columns.len() && self.background.is_none()
        {
            self.seen = Some((rows, columns));
        }
    }

    /// Returns whether a fact belongs on the board.
    pub fn has(&self, layer: usize, names: &[FunctorId]) -> bool {
        self.place(&self.layers[layer], names).is_some()
    }

    /// Draws the boards of a state from the facts that belong on them, and counts the facts
    /// beyond the limit.
    pub fn draw(
        &self,
        game: &Game,
        facts: &[(usize, Vec<FunctorId>)],
        limits: DrawingLimits,
    ) -> (Vec<DrawnBoard>, usize) {
        let places = facts.iter().map(|(layer, names)| {
            let layer = &self.layers[*layer];
            let place = self
                .place(layer, names)
                .expect("only facts with a place are on boards");
            (content(game, layer, names), place)
        });
        let mut places: Vec<(String, At)> = places.collect();
        if self.is_ground.contains(&true) {
            for ((layer, _), (content, _)) in facts.iter().zip(&mut places) {
                if self.is_ground[*layer] {
                    content.clear();
                }
            }
        }
        let first_row = places.iter().map(|(_, (_, at))| at.0).min();
        let first_column = places.iter().map(|(_, (_, at))| at.1).min();
        let rows = window(&self.used.0, limits.max, first_row);
        let columns = window(&self.used.1, limits.max, first_column);
        let shown = |(row, column): (usize, usize)| {
            let is_shown = rows.contains(&row) && columns.contains(&column);
            is_shown.then(|| (row - rows.start, column - columns.start))
        };
        let is_place = |sheet: usize, at: (usize, usize)| {
            self.background.is_none()
                && (self.possible.as_ref()).is_none_or(|places| places[sheet].contains(&at))
        };
        let mut boards: Vec<Vec<Vec<Option<Vec<String>>>>> = (0..self.sheets.len())
            .map(|sheet| {
                let line = |row| {
                    let columns = columns.clone();
                    columns
                        .map(move |column| is_place(sheet, (row, column)).then(Vec::new))
                        .collect()
                };
                rows.clone().map(line).collect()
            })
            .collect();
        let mut hidden = 0;
        for (content, (sheet, at)) in places {
            let Some((row, column)) = shown(at) else {
                hidden += 1;
                continue;
            };
            let place = boards[sheet][row][column].get_or_insert_default();
            if self.background.as_ref() != Some(&content) && !content.is_empty() {
                place.push(content);
            }
        }
        let (mut printed, mut given) = match self.printed.is_empty() {
            true => (Vec::new(), Vec::new()),
            false => (
                vec![vec![None; columns.len()]; rows.len()],
                vec![vec![false; columns.len()]; rows.len()],
            ),
        };
        for (at, word) in &self.printed {
            if let Some((row, column)) = shown(*at) {
                let place = &mut boards[0][row][column];
                match place.as_ref().is_none_or(Vec::is_empty) {
                    true => {
                        *place = Some(vec![word.clone()]);
                        given[row][column] = true;
                    }
                    false => printed[row][column] = Some(word.clone()),
                }
            }
        }
        let names = |names: &[FunctorId], shown: &Range<usize>| {
            let names = names[shown.clone()].iter();
            names.map(|f| name(game, *f)).collect::<Vec<String>>()
        };
        let left_out = match self.seen.is_some() && hidden == 0 {
            true => (0, 0),
            false => (
                self.used.0.len() - rows.len(),
                self.used.1.len() - columns.len(),
            ),
        };
        let is_minor = |(layer, _): &&(usize, Vec<FunctorId>)| self.layers[*layer].is_minor;
        let minor = facts.iter().filter(is_minor);
        let minor: BTreeSet<String> = minor
            .map(|(layer, names)| content(game, &self.layers[*layer], names))
            .collect();
        let boards = boards.into_iter().zip(&self.sheets);
        let boards = boards.map(|(contents, title)| {
            let mut board = DrawnBoard {
                title: join(&self.title, &text_of(game, title)),
                rows: names(&self.rows, &rows),
                columns: names(&self.columns, &columns),
                contents,
                symbols: self.symbols.clone(),
                owners: self.owners.clone(),
                colours: self.names.colours.clone(),
                shapes: self.names.symbols.clone(),
                empty: self.background.clone().unwrap_or_default(),
                printed: std::mem::take(&mut printed),
                given: std::mem::take(&mut given),
                minor: minor.clone(),
                trails: self.trails.clone(),
                edges: self.names.edges.clone(),
                links: self.names.links.clone(),
                outside: self.outside(&rows, &columns),
                clues: self.clues_of(&rows, &columns),
                look: self.look,
                regions: part(&self.regions, &rows, &columns),
                sides: self.sides,
                slant: self.slant,
                left_out,
                sheet: title.iter().map(|f| name(game, *f)).collect(),
                ..DrawnBoard::default()
            };
            match &self.seen {
                Some((seen_rows, seen_columns)) => board.trim(|row, column| {
                    seen_rows.contains(&(row + rows.start))
                        && seen_columns.contains(&(column + columns.start))
                }),
                None => {
                    let contents = board.contents.clone();
                    board.trim(|row, column| contents[row][column].is_some());
                }
            }
            board
        });
        (boards.collect(), hidden)
    }
}

/// The part of the regions in a window.
fn part(regions: &[Vec<usize>], rows: &Range<usize>, columns: &Range<usize>) -> Vec<Vec<usize>> {
    let rows = regions.get(rows.clone()).unwrap_or_default().iter();
    rows.map(|row| row[columns.clone()].to_vec()).collect()
}

/// The rows and columns from the first to the last that have cells.
fn hull<'p>(
    places: impl Iterator<Item = &'p (usize, usize)> + Clone,
) -> (Range<usize>, Range<usize>) {
    let range = |of: fn(&(usize, usize)) -> usize| {
        let all = || places.clone().map(of);
        let ends = all().min().zip(all().max());
        ends.map_or(0..0, |(first, last)| first..last + 1)
    };
    (range(|at| at.0), range(|at| at.1))
}

/// The number of rows and the number of columns that have cells.
fn size<'p>(places: impl Iterator<Item = &'p (usize, usize)>) -> [usize; 2] {
    let (rows, columns): (FxHashSet<usize>, FxHashSet<usize>) = places.copied().unzip();
    [rows.len(), columns.len()]
}

/// The part of an axis that is shown: all that is used, or `most` constants from the first one in
/// use now.
fn window(used: &Range<usize>, most: usize, first: Option<usize>) -> Range<usize> {
    let count = used.len().min(most);
    let start = first.unwrap_or(0).clamp(used.start, used.end - count);
    start..start + count
}

/// The content that a fact describes.
fn content(game: &Game, layer: &Layer, names: &[FunctorId]) -> String {
    let rest: Vec<FunctorId> = layer.rest.iter().map(|k| names[*k]).collect();
    let text = text_of(game, &rest);
    match &layer.title {
        Some(title) => join(title, &text),
        None => text,
    }
}

/// The content whose name says that a cell is empty.
fn named_background(evidence: &Evidence, group: &[Candidate]) -> Option<Vec<FunctorId>> {
    let one = group.iter().find(|one| one.is_full())?;
    let facts = one.facts.iter().flatten();
    let mut whats = facts.map(|fact| one.layer.rest.iter().map(|k| fact[*k]).collect());
    whats.find(|what: &Vec<FunctorId>| names::is_empty(evidence, what))
}

/// The content that marks an empty cell, if options name it.
fn chosen_background(game: &Game, group: &[Candidate], empty: &str) -> Option<Vec<FunctorId>> {
    let mut whats = group.iter().flat_map(|one| {
        let facts = one.facts.iter().flatten();
        facts.map(|fact| one.layer.rest.iter().map(|k| fact[*k]).collect::<Vec<_>>())
    });
    whats.find(|what| text_of(game, what) == empty)
}

pub(super) fn text_of(game: &Game, names: &[FunctorId]) -> String {
    let names = names.iter().map(|f| name(game, *f));
    names.fold(String::new(), |text, word| join(&text, &word))
}

pub(super) fn functors(shape: &Shape) -> Vec<FunctorId> {
    shape.skeleton.iter().copied().flatten().collect()
}
