//! Layouts by names: places of a letter and a number, such as `a1`, and rings of places in
//! the directions of the compass.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use crate::evidence::Evidence;
use crate::name;
use crate::places::{At, Layout, Place};
use crate::shape::Shape;
use ggp_gdl::game::Game;
use ggp_gdl::program::FunctorId;

/// Least number of cells, of letters and of numbers.
const CELLS: usize = 6;
const LINES: usize = 2;
/// The directions of the compass, with their rows and columns from the centre.
const COMPASS: [(&[&str], [isize; 2]); 8] = [
    (&["n", "north"], [-1, 0]),
    (&["ne", "northeast"], [-1, 1]),
    (&["e", "east"], [0, 1]),
    (&["se", "southeast"], [1, 1]),
    (&["s", "south"], [1, 0]),
    (&["sw", "southwest"], [1, -1]),
    (&["w", "west"], [0, -1]),
    (&["nw", "northwest"], [-1, -1]),
];
/// The words for rings, from the outermost one.
const RINGS: [&[&str]; 3] = [
    &["outer", "outside"],
    &["middle", "central"],
    &["inner", "inside"],
];

/// A letter and a number, if a name consists of them.
fn place(name: &str) -> Option<(String, u32)> {
    let mut letters = name.chars();
    let letter = letters.next().filter(char::is_ascii_alphabetic)?;
    let number = letters.as_str();
    let is_number = (1..=2).contains(&number.len()) && number.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| Some((letter.to_lowercase().to_string(), number.parse().ok()?)))?
}

/// The argument of a shape that names cells by a letter and a number.
pub(crate) fn cell_argument(game: &Game, shape: &Shape) -> Option<usize> {
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

/// The layout of places of a letter and a number.
pub(crate) fn letters_and_numbers(evidence: &Evidence, names: &[FunctorId]) -> Layout {
    let named = names
        .iter()
        .filter_map(|constant| Some((*constant, place(&name(evidence.game, *constant))?)));
    let places: Vec<(FunctorId, (String, u32))> = named.collect();
    if let Some(layout) = hexagons(evidence, &places) {
        return layout;
    }
    let numbers: BTreeSet<u32> = places.iter().map(|(_, (_, number))| *number).collect();
    let letters: BTreeSet<&String> = places.iter().map(|(_, (letter, _))| letter).collect();
    let rows: Vec<u32> = numbers.into_iter().rev().collect();
    let columns: Vec<String> = letters.into_iter().cloned().collect();
    let at = |(letter, number): &(String, u32)| {
        let row = rows.iter().position(|other| other == number);
        let column = columns.iter().position(|other| other == letter);
        row.zip(column).expect("they were just collected")
    };
    Layout {
        cells: (places.iter())
            .map(|(constant, place)| (vec![*constant], at(place)))
            .collect(),
        rows: rows.iter().map(u32::to_string).collect(),
        columns,
        is_named: true,
        ..Layout::default()
    }
}

/// The layout of hexagons: each letter is a row, and the rows have a common middle. Static facts
/// must link only neighbours.
fn hexagons(evidence: &Evidence, places: &[(FunctorId, (String, u32))]) -> Option<Layout> {
    let mut rows: BTreeMap<&String, BTreeMap<u32, FunctorId>> = BTreeMap::new();
    for (constant, (letter, number)) in places {
        rows.entry(letter).or_default().insert(*number, *constant);
    }
    let lengths: Vec<usize> = rows.values().map(BTreeMap::len).collect();
    let is_odd = |pair: &[usize]| pair[0].abs_diff(pair[1]) % 2 == 1;
    if rows.len() < 3 || !lengths.windows(2).all(is_odd) {
        return None;
    }
    let longest = lengths.iter().copied().max()?;
    // Rows and halves of a cell from the left.
    let halves = |(row, cells): (usize, &BTreeMap<u32, FunctorId>)| {
        let start = longest - cells.len();
        let cells = cells.values().enumerate();
        let halves = cells.map(|(k, constant)| (*constant, (row, start + 2 * k)));
        halves.collect::<Vec<_>>()
    };
    let at: FxHashMap<FunctorId, At> = rows.values().enumerate().flat_map(halves).collect();
    let is_near = |pair: &Vec<FunctorId>| {
        let distance =
            |(row, half): &At, (other, end): &At| (row.abs_diff(*other), half.abs_diff(*end));
        let pair = at.get(&pair[0]).zip(at.get(&pair[1]));
        pair.is_some_and(|(one, two)| matches!(distance(one, two), (0, 2) | (1, 1)))
    };
    let mut relations = evidence.statics.relations.iter();
    let links = |relation: &&Vec<Vec<FunctorId>>| {
        let pairs = relation.iter().filter(|row| row.len() == 2);
        2 * pairs.count() >= at.len() && relation.iter().all(is_near)
    };
    relations.find(links)?;
    // The column counts from the start of the row, which is shifted by a half in each row.
    let count = rows.len();
    let column = |(row, half): At| (half + 2 * count - row) / 2;
    let first = at.values().map(|at| column(*at)).min()?;
    let last = at.values().map(|at| column(*at)).max()?;
    Some(Layout {
        cells: (at.iter())
            .map(|(constant, place)| (vec![*constant], (place.0, column(*place) - first)))
            .collect(),
        rows: rows.keys().map(|letter| (*letter).clone()).collect(),
        columns: vec![String::new(); last - first + 1],
        slant: 1,
        is_named: true,
        ..Layout::default()
    })
}

/// The two arguments of a shape that name a ring and a direction, and their layout: squares in
/// each other, with the lines that static facts draw between places.
pub(crate) fn compass_rings(evidence: &Evidence, shape: &Shape) -> Option<([usize; 2], Layout)> {
    let game = evidence.game;
    let direction = |constant: &FunctorId| {
        let name = name(game, *constant).to_lowercase();
        let mut all = COMPASS.iter();
        Some(all.find(|(names, _)| names.contains(&name.as_str()))?.1)
    };
    let leaves = &shape.leaves;
    let around = (0..leaves.len()).find(|leaf| {
        let names = &leaves[*leaf];
        names.len() == COMPASS.len() && names.iter().all(|name| direction(name).is_some())
    })?;
    let level = |constant: &FunctorId| {
        let words = super::words(&name(game, *constant));
        let is_named = |names: &&[&str]| words.iter().any(|word| names.contains(&word.as_str()));
        RINGS.iter().position(is_named)
    };
    let ring = (0..leaves.len()).find(|leaf| {
        let names = &leaves[*leaf];
        (2..=3).contains(&names.len()) && names.iter().all(|name| level(name).is_some())
    })?;
    let mut rings = leaves[ring].clone();
    rings.sort_by_key(level);
    let count = rings.len() as isize;
    let mut cells: FxHashMap<Place, At> = FxHashMap::default();
    for (out, ring_name) in (1..).zip(rings.iter().rev()) {
        for name in &leaves[around] {
            let place = match ring < around {
                true => vec![*ring_name, *name],
                false => vec![*name, *ring_name],
            };
            let [down, right] = direction(name)?;
            let at = |step: isize| usize::try_from(count + step * out).ok();
            cells.insert(place, (at(down)?, at(right)?));
        }
    }
    let size = 2 * rings.len() + 1;
    let lines = lines(evidence, &cells)?;
    let layout = Layout {
        cells,
        rows: vec![String::new(); size],
        columns: vec![String::new(); size],
        lines,
        is_named: true,
        ..Layout::default()
    };
    Some(([ring.min(around), ring.max(around)], layout))
}

/// The lines of static facts of two places each, if all are straight and end at the next place.
fn lines(evidence: &Evidence, cells: &FxHashMap<Place, At>) -> Option<Vec<[At; 2]>> {
    let line = |row: &Vec<FunctorId>| {
        let (from, to) = (*cells.get(&row[..2])?, *cells.get(&row[2..])?);
        let lies_between = |at: &At| {
            let is_within =
                |one: usize, at: usize, two: usize| one.min(two) <= at && at <= one.max(two);
            ![from, to].contains(at)
                && is_within(from.0, at.0, to.0)
                && is_within(from.1, at.1, to.1)
        };
        let is_straight = from != to && (from.0 == to.0 || from.1 == to.1);
        let is_free = !cells.values().any(lies_between);
        (is_straight && is_free).then(|| [from.min(to), from.max(to)])
    };
    let relations = evidence.statics.relations.iter();
    let mut relations = relations.filter(|rows| rows.first().is_some_and(|row| row.len() == 4));
    relations.find_map(|rows| {
        let lines = rows.iter().map(line).collect::<Option<BTreeSet<_>>>()?;
        (2 * lines.len() >= cells.len()).then(|| lines.into_iter().collect())
    })
}
