//! The look of a board: its surface, its regions, and the sides that belong to roles.
//!
//! In: the layers of a board, with the states of random matches, and the facts that hold in every
//! state. What happens to the contents decides: contents that move want squares of two colours,
//! contents that fall and stay a frame, contents that change sides a surface of one colour, and
//! all others plain lines.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use super::layer::Candidate;
use super::statics::Statics;
use ggp_gdl::program::FunctorId;

/// The surface of a board.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Look {
    /// Cells of one colour with lines between them.
    #[default]
    Plain,
    /// Squares of two colours.
    Checkered,
    /// A frame with a hole for each cell.
    Frame,
    /// Cells of one strong colour, for pieces that are turned over.
    Felt,
}

/// The orders of three arguments.
const ORDERS: [[usize; 3]; 6] = [
    [0, 1, 2],
    [1, 0, 2],
    [0, 2, 1],
    [2, 0, 1],
    [1, 2, 0],
    [2, 1, 0],
];

/// Row and column.
type At = (usize, usize);
/// A layer of a board, and the constants of a content.
type Content = (usize, Vec<FunctorId>);
/// The constants that tell cells apart.
type Place = Vec<FunctorId>;

/// The surface that the changes in a match call for. `falls` is true if moves name only a column.
pub(super) fn surface(
    group: &[Candidate],
    background: Option<&Vec<FunctorId>>,
    owned: impl Fn(&[FunctorId]) -> bool,
    falls: bool,
) -> Look {
    let states = group.first().map_or(0, |one| one.facts.len());
    let mut counts = Changes::default();
    let mut before = contents(group, background, 0);
    for number in 1..states {
        let after = contents(group, background, number);
        // A further match begins with the initial state.
        if group.iter().any(|one| one.facts[number] != one.facts[0]) {
            counts.add(&before, &after, &owned);
        }
        before = after;
    }
    let is_flat = group
        .iter()
        .all(|one| one.axes.iter().any(|axis| axis.len() < 2));
    match counts {
        _ if is_flat => Look::Plain,
        Changes { all: 0, .. } => Look::Plain,
        Changes { all, moved, .. } if 2 * moved >= all => Look::Checkered,
        Changes {
            lost: 0, turned: 0, ..
        } if falls => Look::Frame,
        Changes { all, turned, .. } if 2 * turned >= all => Look::Felt,
        _ => Look::Plain,
    }
}

/// The contents of each cell in a state, without those that mark empty cells.
fn contents(
    group: &[Candidate],
    background: Option<&Vec<FunctorId>>,
    state: usize,
) -> BTreeMap<Place, Vec<Content>> {
    let mut found: BTreeMap<Place, Vec<Content>> = BTreeMap::new();
    for (number, one) in group.iter().enumerate() {
        let layer = &one.layer;
        for fact in &one.facts[state] {
            let what: Vec<FunctorId> = layer.rest.iter().map(|k| fact[*k]).collect();
            if Some(&what) != background {
                let sheets = layer.sheets.iter().map(|k| fact[*k]);
                let place = sheets.chain(layer.at(fact)).collect();
                found.entry(place).or_default().push((number, what));
            }
        }
    }
    found.values_mut().for_each(|all| all.sort_unstable());
    found
}

/// The numbers of joint moves after which something changed on a board.
#[derive(Default)]
struct Changes {
    all: usize,
    /// One content moved from a cell to another one.
    moved: usize,
    /// A cell lost its content.
    lost: usize,
    /// The content of a role gave way to that of another one in the same cell.
    turned: usize,
}

impl Changes {
    fn add(
        &mut self,
        before: &BTreeMap<Place, Vec<Content>>,
        after: &BTreeMap<Place, Vec<Content>>,
        owned: &impl Fn(&[FunctorId]) -> bool,
    ) {
        if before == after {
            return;
        }
        let mut counts: BTreeMap<&Content, [usize; 2]> = BTreeMap::new();
        let (mut is_lost, mut is_turned) = (false, false);
        for (place, had) in before {
            let has = after.get(place).map_or(&[][..], Vec::as_slice);
            let gone = had.iter().filter(|content| !has.contains(content));
            let mut is_changed = false;
            for content in gone {
                counts.entry(content).or_default()[0] += 1;
                is_changed |= owned(&content.1);
            }
            is_lost |= has.is_empty();
            is_turned |= is_changed && has.iter().any(|(_, what)| owned(what));
        }
        for (place, has) in after {
            let had = before.get(place).map_or(&[][..], Vec::as_slice);
            for content in has.iter().filter(|content| !had.contains(content)) {
                counts.entry(content).or_default()[1] += 1;
            }
        }
        self.all += 1;
        self.moved += usize::from(counts.values().any(|count| *count == [1, 1]));
        self.lost += usize::from(is_lost);
        self.turned += usize::from(is_turned);
    }
}

/// The regions of a board: a number for each cell, by row and column. Empty without regions.
///
/// Static facts divide a board into regions if they assign one of several names to each cell, the
/// cells of a name hang together, and all have as many; or if they do so to the rows and to the
/// columns.
pub(super) fn regions(
    statics: &Statics,
    row_at: &FxHashMap<FunctorId, usize>,
    column_at: &FxHashMap<FunctorId, usize>,
) -> Vec<Vec<usize>> {
    let (rows, columns) = (row_at.len(), column_at.len());
    for relation in statics
        .relations
        .iter()
        .filter(|rows| rows.first().is_some_and(|row| row.len() == 3))
    {
        for [row, column, name] in ORDERS {
            let cell = |fact: &Vec<FunctorId>| {
                Some((
                    (*row_at.get(&fact[row])?, *column_at.get(&fact[column])?),
                    fact[name],
                ))
            };
            if let Some(found) = relation.iter().map(cell).collect::<Option<Vec<_>>>()
                && let Some(regions) = cell_regions(&found, rows, columns)
            {
                return regions;
            }
        }
    }
    let bands = |at: &FxHashMap<FunctorId, usize>| {
        statics
            .relations
            .iter()
            .find_map(|relation| bands(relation, at))
    };
    match bands(row_at).zip(bands(column_at)) {
        Some((across, along)) => {
            let row = |band: &usize| along.iter().map(|other| band * columns + other).collect();
            across.iter().map(row).collect()
        }
        None => Vec::new(),
    }
}

/// The regions if each cell has one name, and the names divide the board as required.
fn cell_regions(found: &[(At, FunctorId)], rows: usize, columns: usize) -> Option<Vec<Vec<usize>>> {
    let names: FxHashMap<At, FunctorId> = found.iter().copied().collect();
    if names.len() != found.len() || names.len() != rows * columns {
        return None;
    }
    let mut numbers: FxHashMap<FunctorId, usize> = FxHashMap::default();
    let mut cells: Vec<Vec<At>> = Vec::new();
    for row in 0..rows {
        for column in 0..columns {
            let count = numbers.len();
            let number = *numbers.entry(names[&(row, column)]).or_insert(count);
            if number == count {
                cells.push(Vec::new());
            }
            cells[number].push((row, column));
        }
    }
    let is_line = |cells: &[At]| {
        cells.iter().all(|at| at.0 == cells[0].0) || cells.iter().all(|at| at.1 == cells[0].1)
    };
    let is_right = |cells: &Vec<At>, size: usize| {
        cells.len() == size && size > 1 && !is_line(cells) && is_connected(cells)
    };
    let size = cells[0].len();
    let are_right = cells.len() > 1 && cells.iter().all(|cells| is_right(cells, size));
    are_right.then(|| {
        let number = |at: At| numbers[&names[&at]];
        (0..rows)
            .map(|row| (0..columns).map(|column| number((row, column))).collect())
            .collect()
    })
}

/// Returns whether cells hang together by their sides.
fn is_connected(cells: &[At]) -> bool {
    let mut left: FxHashSet<At> = cells.iter().copied().collect();
    let mut open = vec![cells[0]];
    while let Some(at @ (row, column)) = open.pop() {
        if left.remove(&at) {
            let next = [row.checked_sub(1), Some(row + 1)];
            open.extend(next.into_iter().flatten().map(|row| (row, column)));
            let next = [column.checked_sub(1), Some(column + 1)];
            open.extend(next.into_iter().flatten().map(|column| (row, column)));
        }
    }
    left.is_empty()
}

/// The number of the band of each place on an axis, if a relation divides it into bands of the
/// same width. Rows of the relation count that agree in all other arguments.
fn bands(relation: &[Vec<FunctorId>], at: &FxHashMap<FunctorId, usize>) -> Option<Vec<usize>> {
    let arguments = relation.first()?.len();
    if arguments > 4 {
        return None;
    }
    let pairs = (0..arguments).flat_map(|one| (0..arguments).map(move |two| (one, two)));
    pairs
        .filter(|(one, two)| one != two)
        .find_map(|(one, two)| {
            let mut groups: FxHashMap<Vec<FunctorId>, Vec<(usize, FunctorId)>> =
                FxHashMap::default();
            let mut order = Vec::new();
            for row in relation {
                let others = (0..arguments).filter(|k| ![one, two].contains(k));
                let key: Vec<FunctorId> = others.map(|k| row[k]).collect();
                let group = groups.entry(key.clone()).or_insert_with(|| {
                    order.push(key);
                    Vec::new()
                });
                group.extend(at.get(&row[one]).map(|place| (*place, row[two])));
            }
            order
                .iter()
                .find_map(|key| bands_of(&groups[key], at.len()))
        })
}

fn bands_of(pairs: &[(usize, FunctorId)], length: usize) -> Option<Vec<usize>> {
    let names: BTreeMap<usize, FunctorId> = pairs.iter().copied().collect();
    if names.len() != pairs.len() || names.len() != length {
        return None;
    }
    let names: Vec<FunctorId> = names.into_values().collect();
    let bands: Vec<&[FunctorId]> = names.chunk_by(|one, two| one == two).collect();
    let different: FxHashSet<FunctorId> = bands.iter().map(|band| band[0]).collect();
    let width = bands[0].len();
    let is_right = bands.len() > 1
        && width > 1
        && different.len() == bands.len()
        && bands.iter().all(|band| band.len() == width);
    is_right.then(|| (0..length).map(|place| place / width).collect())
}

/// The roles that the sides of a board belong to: top, bottom, left and right. Each of two roles
/// has two sides that face each other, and static facts name the role with each cell of a side.
pub(super) fn sides(
    statics: &Statics,
    roles: &[FunctorId],
    row_at: &FxHashMap<FunctorId, usize>,
    column_at: &FxHashMap<FunctorId, usize>,
) -> Option<[usize; 4]> {
    let (rows, columns) = (row_at.len(), column_at.len());
    let mut found = [None; 4];
    for relation in &statics.relations {
        if relation.first().is_none_or(|row| row.len() != 3) {
            continue;
        }
        for [role, row, column] in ORDERS {
            let mut cells: FxHashMap<usize, FxHashSet<At>> = FxHashMap::default();
            for fact in relation {
                let owner = roles.iter().position(|name| *name == fact[role]);
                let at = row_at.get(&fact[row]).zip(column_at.get(&fact[column]));
                if let Some((owner, (row, column))) = owner.zip(at) {
                    cells.entry(owner).or_default().insert((*row, *column));
                }
            }
            for (owner, cells) in cells {
                let lines = [
                    (0, columns, (0, 0), true),
                    (1, columns, (rows - 1, 0), true),
                    (2, rows, (0, 0), false),
                    (3, rows, (0, columns - 1), false),
                ];
                for (side, length, start, is_row) in lines {
                    let is_on = |at: &At| {
                        if is_row {
                            at.0 == start.0
                        } else {
                            at.1 == start.1
                        }
                    };
                    if cells.len() == length && cells.iter().all(is_on) {
                        found[side] = Some(owner);
                    }
                }
            }
        }
    }
    let [top, bottom, left, right] = [found[0]?, found[1]?, found[2]?, found[3]?];
    (top == bottom && left == right && top != left).then_some([top, bottom, left, right])
}
