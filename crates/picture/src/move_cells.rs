//! The board cells that a move refers to.
//!
//! In: the rules and the boards that were found. A rule that mentions both a move and a
//! fact on a board links them by their common variables: the argument of the move that
//! equals a coordinate of the fact tells which cell the move refers to. The role that makes
//! the move counts as an argument. A move with only one coordinate of a two-dimensional
//! board refers to a whole row or column. Heaps and piles count as cells, too: a rule links the
//! argument of a move to the key of a heap, or to a thing in a pile.

use rustc_hash::FxHashMap;

use super::board::Board;
use super::drawing::{Drawing, TableStyle};
use super::places::PlacedBoard;
use super::shape::{self, Skeleton};
use super::table::Table;
use super::{Cell, name};
use ggp_gdl::check::Keyword;
use ggp_gdl::game::{Game, RoleId};
use ggp_gdl::program::{Atom, FunctorId, Rule, Term, Variable};
use ggp_gdl::terms::{TermId, Terms};

/// Maximum number of links for moves of one shape.
const LINKS: usize = 64;

/// The links from the arguments of moves to coordinates of boards.
#[derive(Clone, Debug, Default)]
pub(super) struct MoveCells {
    /// The links by the shape of a move.
    links: FxHashMap<Skeleton, Vec<Link>>,
    /// The links to heaps and piles by the shape of a move.
    heaps: FxHashMap<Skeleton, Vec<HeapLink>>,
    /// The links to boards of places by the shape of a move.
    places: FxHashMap<Skeleton, Vec<PlaceLink>>,
    /// For each board with rows and columns: whether its facts name the row first.
    rows_first: Vec<Option<bool>>,
}

/// A link from arguments of a move to a place.
#[derive(Clone, PartialEq, Eq, Debug)]
struct PlaceLink {
    board: usize,
    /// The functor of a place that is a term.
    prefix: Vec<FunctorId>,
    /// The arguments of the move; the role comes last.
    leaves: Vec<usize>,
}

/// A link from an argument of a move to a table.
#[derive(Clone, PartialEq, Eq, Debug)]
struct HeapLink {
    table: usize,
    /// The argument of the move.
    leaf: usize,
    /// True if it is the key of an entry, false if it is one of its values.
    is_key: bool,
}

/// A link: the arguments of a move that are the coordinates of a board. Arguments are
/// counted from the left; the role comes last.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Link {
    board: usize,
    /// The arguments for the row and for the column; at least one of them is not the role.
    leaves: [Option<usize>; 2],
    /// The arguments that select one of several boards side by side.
    sheets: Vec<Option<usize>>,
}

impl Link {
    /// Returns whether this link has all arguments of another one and more.
    fn covers(&self, other: &Link) -> bool {
        let axes = self.leaves.iter().zip(&other.leaves);
        let axes = axes.chain(self.sheets.iter().zip(&other.sheets));
        self.board == other.board
            && self.sheets.len() == other.sheets.len()
            && self != other
            && axes
                .clone()
                .all(|(own, other)| other.is_none() || own == other)
    }
}

impl MoveCells {
    /// Derives the links from the rules of a game.
    pub fn new(game: &Game, boards: &[Board], placed: &[PlacedBoard], tables: &[Table]) -> Self {
        let rows_first = |board: &Board| {
            let layer = board.layers().first()?;
            Some(layer.first? < layer.second?)
        };
        let mut move_cells = MoveCells {
            links: FxHashMap::default(),
            heaps: FxHashMap::default(),
            places: FxHashMap::default(),
            rows_first: boards.iter().map(rows_first).collect(),
        };
        for rule in &game.rules().rules {
            let about = facts(game, rule);
            for (role, action) in moves(game, rule) {
                let Some((skeleton, mut leaves)) = split(game, action) else {
                    continue;
                };
                leaves.push(match role {
                    Term::Variable(variable) => Some(*variable),
                    _ => None,
                });
                for fact in &about {
                    move_cells.link_heaps(game, tables, (&skeleton, &leaves), fact);
                    move_cells.link_places(game, placed, (&skeleton, &leaves), fact);
                    move_cells.link(game, boards, (&skeleton, &leaves), fact);
                }
            }
        }
        for found in move_cells.links.values_mut() {
            let all = found.clone();
            found.retain(|link| !all.iter().any(|other| other.covers(link)));
        }
        move_cells
    }

    fn link_places(
        &mut self,
        game: &Game,
        placed: &[PlacedBoard],
        (skeleton, action): (&Skeleton, &[Option<Variable>]),
        fact: &Term,
    ) {
        let Some((shape, names)) = split(game, fact) else {
            return;
        };
        for (number, board) in placed.iter().enumerate() {
            for layer in board
                .layers()
                .iter()
                .filter(|layer| layer.skeleton == shape)
            {
                let leaf = |at: &usize| {
                    let variable = names[*at]?;
                    action.iter().position(|other| *other == Some(variable))
                };
                let Some(leaves) = layer.cell.iter().map(leaf).collect::<Option<Vec<_>>>() else {
                    continue;
                };
                let is_own = leaves.iter().any(|leaf| leaf + 1 < action.len());
                let prefix = layer.prefix.clone();
                let link = PlaceLink {
                    board: number,
                    prefix,
                    leaves,
                };
                let found = self.places.entry(skeleton.clone()).or_default();
                if is_own && !found.contains(&link) && found.len() < LINKS {
                    found.push(link);
                }
            }
        }
    }

    /// The places on a board that a move names.
    pub fn places(
        &self,
        game: &Game,
        terms: &Terms,
        (role, action): (RoleId, TermId),
        board: usize,
    ) -> Vec<Vec<FunctorId>> {
        let Some((skeleton, mut names)) = shape::split(terms, action) else {
            return Vec::new();
        };
        names.push(game.terms().functor(game.role_term(role)));
        let links = self.places.get(&skeleton).into_iter().flatten();
        let links = links.filter(|link| link.board == board);
        let place = |link: &PlaceLink| {
            let named = link.leaves.iter().map(|leaf| names[*leaf]);
            link.prefix.iter().copied().chain(named).collect()
        };
        links.map(place).collect()
    }

    fn link_heaps(
        &mut self,
        game: &Game,
        tables: &[Table],
        (skeleton, action): (&Skeleton, &[Option<Variable>]),
        fact: &Term,
    ) {
        let Some((shape, names)) = split(game, fact) else {
            return;
        };
        for (number, table) in tables
            .iter()
            .enumerate()
            .filter(|(_, t)| t.skeleton == shape)
        {
            let Some(key) = table.key() else {
                continue;
            };
            for (at, variable) in names.iter().enumerate() {
                // The role that makes the move is its last argument, and not a thing.
                let own = &action[..action.len() - 1];
                let leaf = own
                    .iter()
                    .position(|other| other.is_some() && other == variable);
                let link = leaf.map(|leaf| HeapLink {
                    table: number,
                    leaf,
                    is_key: at == key,
                });
                let found = self.heaps.entry(skeleton.clone()).or_default();
                if let Some(link) = link
                    && !found.contains(&link)
                    && found.len() < LINKS
                {
                    found.push(link);
                }
            }
        }
    }

    fn link(
        &mut self,
        game: &Game,
        boards: &[Board],
        (skeleton, action): (&Skeleton, &[Option<Variable>]),
        fact: &Term,
    ) {
        let Some((shape, names)) = split(game, fact) else {
            return;
        };
        for (number, board) in boards.iter().enumerate() {
            for layer in board
                .layers()
                .iter()
                .filter(|layer| layer.skeleton == shape)
            {
                let leaf = |coordinate: Option<usize>| {
                    let variable = names[coordinate?]?;
                    action.iter().position(|other| *other == Some(variable))
                };
                let link = Link {
                    board: number,
                    leaves: [layer.first, layer.second].map(leaf),
                    sheets: layer.sheets.iter().map(|at| leaf(Some(*at))).collect(),
                };
                let found = self.links.entry(skeleton.clone()).or_default();
                let is_own = |leaf: &usize| leaf + 1 < action.len();
                let is_new = link.leaves.iter().flatten().any(is_own) && !found.contains(&link);
                if is_new && found.len() < LINKS {
                    found.push(link);
                }
            }
        }
    }

    /// The cells of a drawing that a move refers to, ascending.
    pub fn cells(
        &self,
        game: &Game,
        terms: &Terms,
        (role, action): (RoleId, TermId),
        drawing: &Drawing,
    ) -> Vec<Cell> {
        let Some((skeleton, names)) = shape::split(terms, action) else {
            return Vec::new();
        };
        let mut names: Vec<String> = names.iter().map(|functor| name(game, *functor)).collect();
        let heaps = self.heap_cells(&skeleton, &names, drawing);
        let links = self.links.get(&skeleton);
        let Some(links) = links.filter(|links| !links.is_empty()) else {
            return match heaps.is_empty() {
                true => self.named(&names, drawing),
                false => heaps,
            };
        };
        names.push(game.role_name(role).to_owned());
        let mut cells = heaps;
        for link in links {
            let drawn = drawing.boards.iter().enumerate();
            for (number, board) in drawn.filter(|(_, board)| board.origin == link.board) {
                let is_meant = |leaf: Option<usize>, name: &String| {
                    leaf.is_none_or(|leaf| names[leaf] == *name)
                };
                let mut sheets = link.sheets.iter().zip(&board.sheet);
                if !sheets.all(|(leaf, name)| is_meant(*leaf, name)) {
                    continue;
                }
                let along = |leaf: Option<usize>, all: &[String]| -> Vec<usize> {
                    let places = 0..all.len();
                    places.filter(|at| is_meant(leaf, &all[*at])).collect()
                };
                for row in along(link.leaves[0], &board.rows) {
                    for &column in &along(link.leaves[1], &board.columns) {
                        if board.contents[row][column].is_some() {
                            cells.push((number, row, column));
                        }
                    }
                }
            }
        }
        cells.sort_unstable();
        cells.dedup();
        cells
    }
}

impl MoveCells {
    /// The heaps and piles that a move names, ascending. Their boards are counted after the others.
    fn heap_cells(&self, skeleton: &Skeleton, names: &[String], drawing: &Drawing) -> Vec<Cell> {
        let mut cells = Vec::new();
        for link in self.heaps.get(skeleton).into_iter().flatten() {
            let name = &names[link.leaf];
            let tables = drawing.tables.iter();
            for table in tables.filter(|table| table.origin == link.table) {
                for (number, entry) in table.entries.iter().enumerate() {
                    let is_meant = match (link.is_key, table.style) {
                        (true, _) => entry.key == *name,
                        // A value of a heap is a number.
                        (false, TableStyle::Bars) => false,
                        (false, _) => entry.values.contains(name),
                    };
                    if is_meant {
                        cells.push((drawing.boards.len() + table.origin, 0, number));
                    }
                }
            }
        }
        cells.sort_unstable();
        cells.dedup();
        cells
    }

    /// The cells whose content the move names, ascending.
    fn named(&self, names: &[String], drawing: &Drawing) -> Vec<Cell> {
        let mut cells = Vec::new();
        for (number, board) in drawing.boards.iter().enumerate() {
            let Some(Some(rows_first)) = self.rows_first.get(board.origin) else {
                continue;
            };
            let mut rest = names;
            while let [first, second, ..] = rest {
                let (row, column) = match rows_first {
                    true => (first, second),
                    false => (second, first),
                };
                let row = board.rows.iter().position(|name| name == row);
                let column = board.columns.iter().position(|name| name == column);
                let place = row.zip(column);
                let place = place.filter(|(row, column)| board.contents[*row][*column].is_some());
                cells.extend(place.map(|(row, column)| (number, row, column)));
                rest = &rest[if place.is_some() { 2 } else { 1 }..];
            }
        }
        if let ([], [only]) = (&cells[..], names) {
            for (number, board) in drawing.boards.iter().enumerate() {
                for (row, places) in board.contents.iter().enumerate() {
                    for (column, place) in places.iter().enumerate() {
                        if place.as_ref().is_some_and(|all| all.contains(only)) {
                            cells.push((number, row, column));
                        }
                    }
                }
            }
            // A content that occurs in several cells names a kind of piece, not a single
            // piece.
            if cells.len() > 1 {
                cells.clear();
            }
        }
        cells.sort_unstable();
        cells.dedup();
        cells
    }
}

/// The moves that a rule mentions, each with its role.
fn moves<'r>(game: &Game, rule: &'r Rule) -> Vec<(&'r Term, &'r Term)> {
    let mut found = Vec::new();
    let mut visit = |atom: &'r Atom| {
        let keywords = [Keyword::Legal, Keyword::Does].map(|keyword| game.keyword(keyword));
        if keywords.contains(&Some(atom.relation)) {
            found.extend(atom.arguments.first().zip(atom.arguments.get(1)));
        }
    };
    visit(&rule.head);
    visit_body(rule, &mut visit);
    found
}

/// The facts that a rule mentions.
fn facts<'r>(game: &Game, rule: &'r Rule) -> Vec<&'r Term> {
    let mut found = Vec::new();
    let mut visit = |atom: &'r Atom| {
        let keywords = [Keyword::Next, Keyword::True].map(|keyword| game.keyword(keyword));
        if keywords.contains(&Some(atom.relation)) {
            found.extend(atom.arguments.first());
        }
    };
    visit(&rule.head);
    visit_body(rule, &mut visit);
    found
}

fn visit_body<'r>(rule: &'r Rule, visit: &mut impl FnMut(&'r Atom)) {
    for literal in &rule.body {
        literal.for_each_atom(&mut |atom, _| visit(atom));
    }
}

/// Takes a term apart as [`shape::split`] does; each constant position has its variable, if
/// any.
fn split(game: &Game, term: &Term) -> Option<(Skeleton, Vec<Option<Variable>>)> {
    let terms = game.terms();
    let mut skeleton = Vec::new();
    let mut names = Vec::new();
    let mut open = vec![(term.clone(), true)];
    while let Some((term, is_whole)) = open.pop() {
        let arguments = term.arguments(terms);
        match term.functor(terms) {
            Some(functor) if is_whole || !arguments.is_empty() => {
                skeleton.push(Some(functor));
                open.extend(
                    arguments
                        .into_iter()
                        .rev()
                        .map(|argument| (argument, false)),
                );
            }
            _ => {
                skeleton.push(None::<FunctorId>);
                names.push(match term {
                    Term::Variable(variable) => Some(variable),
                    _ => None,
                });
            }
        }
        if skeleton.len() > 4 * shape::LEAVES {
            return None;
        }
    }
    Some((skeleton, names))
}
