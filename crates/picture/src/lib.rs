//! Drawings of game states, derived from the structure of the rules alone.
//!
//! In: a [`Game`] and some of its states. Out: boards, counters, heaps and piles, and the
//! remaining facts as text. A board is made of facts with two ordered arguments such that a
//! state has at most one fact for each pair of values, or the pairs say everything.
//! Places in a ring, lines between dots and places with names such as `a1` are boards, too.
//! Counters, heaps and piles are facts of one or two arguments. Names carry no meaning;
//! numbers and successor relations give the order. What static rules say of a cell is shown
//! where the state says nothing.
//!
//! A [`Drawing`] does not depend on an output format; [`text()`] renders it as plain text
//! and [`svg()`] as SVG.

mod board;
mod dots;
mod drawing;
mod evidence;
#[cfg(feature = "files")]
mod file;
mod layer;
mod likely;
mod line;
mod look;
mod move_cells;
mod names;
#[doc(hidden)]
pub mod options;
mod places;
mod ring;
mod sample;
mod shape;
mod statics;
mod svg;
mod symbols;
mod table;
mod text;
mod trails;

use rustc_hash::FxHashMap;

use ggp_engine::machine::{Machine, PlayError};
use ggp_gdl::analysis::domains::Domains;
use ggp_gdl::game::{Game, Move, RoleId};
use ggp_gdl::program::FunctorId;
use ggp_gdl::terms::{TermId, Terms};

use board::Board;
use evidence::Evidence;
use move_cells::MoveCells;
use names::places::{cell_argument, compass_rings, letters_and_numbers};
use places::{Layout, PlacedBoard};
use shape::Skeleton;
use table::Table;

pub use drawing::{Drawing, DrawnBoard, DrawnEntry, DrawnTable, TableStyle};
#[cfg(feature = "files")]
pub use file::{PictureFileError, PictureFileProblem, read_options};
pub use likely::Unsure;
pub use look::Look;
pub use options::{BoardOptions, Paint, PictureOptions, Shape};
pub use sample::Examples;
pub use svg::{board_svg, film, svg, thumbnail, thumbnail_film};
pub use text::text;

/// A cell of a drawing as (board, row, column), each counted from 0.
pub type Cell = (usize, usize, usize);

/// Number of states from random matches that is enough to derive a picture.
pub const SAMPLE_STATES: usize = 60;

/// The limits on the size of a drawing.
#[derive(Copy, Clone, Debug)]
pub struct DrawingLimits {
    /// Maximum number of rows and of columns of a board, and of facts that are listed.
    pub max: usize,
}

impl Default for DrawingLimits {
    fn default() -> Self {
        DrawingLimits { max: 64 }
    }
}

/// The rules for drawing the states of one game.
#[derive(Clone, Debug)]
pub struct Picture {
    game: Game,
    boards: Vec<Board>,
    /// Boards whose cells have names such as `a1`.
    placed: Vec<PlacedBoard>,
    tables: Vec<Table>,
    options: PictureOptions,
    /// The board layer or table that shows the facts of a shape.
    places: FxHashMap<Skeleton, Place>,
    move_cells: MoveCells,
}

#[derive(Copy, Clone, Debug)]
enum Place {
    /// A board and one of its layers, by index.
    Board(usize, usize),
    /// A board with named cells, and one of its layers.
    Placed(usize, usize),
    Table(usize),
}

impl Picture {
    /// The picture of a machine's game. It does not depend on the backend.
    ///
    /// # Errors
    ///
    /// If there is no initial state, or the machine is stopped.
    pub fn of<M: Machine>(machine: &mut M, options: PictureOptions) -> Result<Self, PlayError> {
        Ok(Examples::of(machine, SAMPLE_STATES)?.picture(machine, options))
    }

    /// Derives the picture of a game from the facts of some of its states, the initial
    /// state first, and, if known, from all facts that can ever hold.
    fn new(
        game: &Game,
        terms: &Terms,
        states: &[Vec<TermId>],
        possible: Option<&[TermId]>,
        options: PictureOptions,
    ) -> Self {
        let mut picture = Picture {
            game: game.clone(),
            boards: Vec::new(),
            placed: Vec::new(),
            tables: Vec::new(),
            options,
            places: FxHashMap::default(),
            move_cells: MoveCells::default(),
        };
        let (Some(domains), [_, ..]) = (Domains::of(game), states) else {
            return picture;
        };
        let evidence = Evidence::new(game, &domains, terms, states);
        let shapes = shape::shapes(game, &domains).into_iter().map(|mut shape| {
            let facts = evidence.facts(&shape);
            evidence.narrow(&mut shape, &facts);
            (shape, facts)
        });
        let shapes: Vec<(shape::Shape, evidence::Facts)> = shapes.collect();
        let rings = ring::rings(&evidence);
        let rings = ring::in_use(rings, &shapes);
        let mut dots = shapes.iter();
        let dots = dots.find_map(|(shape, facts)| dots::layout(&evidence, shape, facts));
        let mut candidates = Vec::new();
        for (shape, facts) in shapes {
            let named = shape.skeleton[0].map(|functor| name(game, functor));
            if named
                .as_ref()
                .is_some_and(|name| picture.options.hidden.contains(name))
            {
                continue;
            }
            let mut options = picture.options.boards.iter();
            let board_options =
                options.find(|board_options| named.as_ref() == Some(&board_options.facts));
            let board_options = board_options.cloned();
            if board_options.is_none()
                && let Some((board, cell)) =
                    picture.placed_on(&evidence, (&rings, dots.as_ref()), (&shape, &facts))
            {
                let layer = picture.placed[board].add(&evidence, &shape, &facts, cell);
                let place = Place::Placed(board, layer);
                picture.places.insert(shape.skeleton, place);
                continue;
            }
            let listed = table::table(&evidence, &shape, &facts);
            let is_stack = listed.as_ref().is_some_and(Table::is_stack);
            let candidate = match is_stack && board_options.is_none() {
                true => None,
                false => layer::candidate(&evidence, &shape, facts, board_options.as_ref()),
            };
            match (candidate, listed) {
                (Some(candidate), _) => candidates.push(candidate),
                (None, Some(listed)) => picture.tables.push(listed),
                (None, None) => {}
            }
        }
        picture.boards = board::boards(&evidence, candidates, &picture.options);
        for board in &mut picture.placed {
            board.finish(&evidence, &picture.options);
        }
        for (number, board) in picture.boards.iter().enumerate() {
            for (layer, one) in board.layers().iter().enumerate() {
                let place = Place::Board(number, layer);
                picture.places.insert(one.skeleton.clone(), place);
            }
        }
        for (number, table) in picture.tables.iter().enumerate() {
            let place = Place::Table(number);
            picture.places.insert(table.skeleton.clone(), place);
        }
        if let Some(possible) = possible {
            let mut placed = vec![Vec::new(); picture.boards.len()];
            for &fact in possible.iter().chain(states.first().into_iter().flatten()) {
                if let Some((Place::Board(board, layer), names)) = picture.place(terms, fact) {
                    placed[board].push((layer, names));
                }
            }
            for (board, placed) in picture.boards.iter_mut().zip(placed) {
                board.set_possible(game, placed.into_iter());
            }
        }
        // What is possible may turn boards.
        picture.move_cells =
            MoveCells::new(game, &picture.boards, &picture.placed, &picture.tables);
        picture
    }

    /// The board of places that facts of a shape are on, which may be a new one, and the arguments
    /// that name the places.
    fn placed_on(
        &mut self,
        evidence: &Evidence,
        (rings, dots): (&[Layout], Option<&Layout>),
        (shape, facts): (&shape::Shape, &evidence::Facts),
    ) -> Option<(usize, Vec<usize>)> {
        let game = evidence.game;
        let (cell, layout) = if !self.options.ignores_names
            && let Some(leaf) = cell_argument(game, shape)
        {
            let layout = letters_and_numbers(evidence, &shape.leaves[leaf]);
            (vec![leaf], layout)
        } else if !self.options.ignores_names
            && let Some((leaves, layout)) = compass_rings(evidence, shape)
        {
            (leaves.to_vec(), layout)
        } else if let Some(layout) = dots
            && let Some(leaves) = dots::cell(layout, shape, facts)
        {
            (leaves, layout.clone())
        } else {
            ring::cell(rings, shape)?
        };
        let is_on = |board: &PlacedBoard| {
            let known = &board.layout.cells;
            layout.cells.keys().all(|place| known.contains_key(place))
        };
        let board = self.placed.iter().position(is_on).unwrap_or_else(|| {
            self.placed.push(PlacedBoard::new(layout));
            self.placed.len() - 1
        });
        Some((board, cell))
    }

    /// Returns whether the picture has at least one board.
    pub fn has_boards(&self) -> bool {
        !self.boards.is_empty()
    }

    /// Draws a state, given its facts.
    pub fn draw(&self, terms: &Terms, facts: &[TermId], limits: DrawingLimits) -> Drawing {
        let is_hidden = |functor| self.options.hidden.contains(&name(&self.game, functor));
        let mut facts = facts.to_vec();
        facts.retain(|fact| !is_hidden(terms.functor(*fact)));
        facts.sort_by(|a, b| self.game.compare_terms(terms, *a, *b));
        let mut on_boards = vec![Vec::new(); self.boards.len()];
        let mut on_placed = vec![Vec::new(); self.placed.len()];
        let mut in_tables = vec![Vec::new(); self.tables.len()];
        facts.retain(|&fact| match self.place(terms, fact) {
            Some((Place::Board(board, layer), names)) => {
                on_boards[board].push((layer, names));
                false
            }
            Some((Place::Placed(board, layer), names)) => {
                on_placed[board].push((layer, names));
                false
            }
            Some((Place::Table(table), names)) => {
                in_tables[table].push(names);
                false
            }
            None => true,
        });
        let roles = self.game.roles();
        let mut drawing = Drawing {
            left_out: facts.len().saturating_sub(limits.max),
            roles: roles
                .map(|role| self.game.role_name(role).to_owned())
                .collect(),
            ..Drawing::default()
        };
        facts.truncate(limits.max);
        let facts = facts.iter().map(|fact| self.game.text(terms, *fact));
        drawing.facts = facts.collect();
        for (number, (board, facts)) in self.boards.iter().zip(on_boards).enumerate() {
            let (boards, left_out) = board.draw(&self.game, &facts, limits);
            let boards = boards.into_iter().map(|board| DrawnBoard {
                origin: number,
                ..board
            });
            drawing.boards.extend(boards);
            drawing.left_out += left_out;
        }
        for (number, (board, facts)) in self.placed.iter().zip(on_placed).enumerate() {
            drawing.boards.push(DrawnBoard {
                origin: self.boards.len() + number,
                ..board.draw(&self.game, &facts)
            });
        }
        let tables = self.tables.iter().enumerate().zip(in_tables);
        let tables = tables.filter(|((_, table), _)| !table.skeleton[0].is_some_and(is_hidden));
        for ((number, table), mut facts) in tables {
            drawing.left_out += facts.len().saturating_sub(limits.max);
            facts.truncate(limits.max);
            drawing.tables.push(DrawnTable {
                origin: number,
                ..table.draw(&self.game, &facts)
            });
        }
        drawing.tables.retain(|table| !table.entries.is_empty());
        for board in &mut drawing.boards {
            board.colours.extend(self.options.colours.clone());
            board.shapes.extend(self.options.symbols.clone());
        }
        self.write_captions(&mut drawing);
        drawing
    }

    /// Returns whether the things of roles leave trails, so that a drawing says more if it is known
    /// how a position was reached.
    pub fn has_trails(&self) -> bool {
        self.boards.iter().any(|board| !board.trails.is_empty())
    }

    /// Draws the last of the states of a match, given their facts, the initial state first.
    /// Trails have the colours of the roles that have made them.
    pub fn draw_after(
        &self,
        terms: &Terms,
        states: &[Vec<TermId>],
        limits: DrawingLimits,
    ) -> Drawing {
        let mut makers = trails::Makers::new();
        let mut last = Drawing::default();
        let first = match self.has_trails() {
            true => 0,
            false => states.len().saturating_sub(1),
        };
        for facts in &states[first..] {
            let drawing = self.draw(terms, facts, limits);
            trails::note(&mut makers, &last, &drawing);
            last = drawing;
        }
        trails::colour(&makers, &mut last);
        last
    }

    /// The cells of a drawing of this picture that a role's move refers to, ascending.
    pub fn cells(
        &self,
        terms: &Terms,
        (role, action): (RoleId, Move),
        drawing: &Drawing,
    ) -> Vec<Cell> {
        let action = (role, action.term());
        let mut cells = self.move_cells.cells(&self.game, terms, action, drawing);
        let leaves = shape::split(terms, action.1).map_or_else(Vec::new, |(_, leaves)| leaves);
        for (number, board) in drawing.boards.iter().enumerate() {
            let placed = board.origin.checked_sub(self.boards.len());
            let placed = placed.and_then(|at| Some((at, self.placed.get(at)?)));
            let Some((at, placed)) = placed else {
                continue;
            };
            let linked = self.move_cells.places(&self.game, terms, action, at);
            let named = placed.named(&leaves);
            let found = linked
                .iter()
                .filter_map(|place| placed.at(place))
                .chain(named);
            cells.extend(found.map(|(row, column)| (number, row, column)));
        }
        cells.sort_unstable();
        cells.dedup();
        cells
    }

    fn write_captions(&self, drawing: &mut Drawing) {
        let titles = drawing.tables.iter_mut().map(|table| &mut table.title);
        for title in titles.chain(drawing.boards.iter_mut().map(|board| &mut board.title)) {
            if let Some(caption) = self.options.captions.get(title) {
                title.clone_from(caption);
            }
        }
    }

    /// The board layer or table that shows a fact, and the constants of the fact.
    fn place(&self, terms: &Terms, fact: TermId) -> Option<(Place, Vec<FunctorId>)> {
        let (skeleton, names) = shape::split(terms, fact)?;
        let place = *self.places.get(&skeleton)?;
        let has = match place {
            Place::Board(board, layer) => self.boards[board].has(layer, &names),
            Place::Placed(board, layer) => self.placed[board].has(layer, &names),
            Place::Table(table) => self.tables[table].has(&names),
        };
        has.then_some((place, names))
    }
}

fn name(game: &Game, functor: FunctorId) -> String {
    let functor = game.functors().functor(functor);
    game.symbols().name(functor.name).to_owned()
}

fn join(before: &str, word: &str) -> String {
    match (before, word) {
        ("", _) => word.to_owned(),
        (_, "") => before.to_owned(),
        _ => format!("{before}/{word}"),
    }
}
