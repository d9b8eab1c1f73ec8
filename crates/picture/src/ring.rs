//! Places in a ring: static facts lead from each place to the next one, and back to the first.

use rustc_hash::{FxHashMap, FxHashSet};

use super::evidence::{Evidence, Facts, is_key};
use super::name;
use super::places::{At, Layout, Place};
use super::shape::Shape;
use ggp_gdl::program::FunctorId;

/// Least and greatest number of places.
const LEAST: usize = 4;
const MOST: usize = 40;
/// Maximum number of steps of the search for a way through all places.
const STEPS: usize = 20_000;

/// The next place after each, for each role that has its own way.
type Ways = FxHashMap<Option<FunctorId>, FxHashMap<Place, Place>>;

/// The rings of places in static facts.
pub(super) fn rings(evidence: &Evidence) -> Vec<Layout> {
    let relations = evidence.statics.pairs.iter();
    let found = relations.filter_map(|rows| ring(evidence, rows));
    found.collect()
}

fn ring(evidence: &Evidence, rows: &[Vec<Place>]) -> Option<Layout> {
    if !(LEAST..=3 * MOST).contains(&rows.len()) {
        return None;
    }
    let is_role = |place: &Place| matches!(place[..], [only] if evidence.roles.contains(&only));
    let of = match rows[0].len() {
        2 => None,
        _ => Some((0..3).find(|k| rows.iter().all(|row| is_role(&row[*k])))?),
    };
    let mut ways = Ways::default();
    for row in rows {
        let mut ends = (0..row.len())
            .filter(|k| Some(*k) != of)
            .map(|k| row[k].clone());
        let (from, to) = (ends.next()?, ends.next()?);
        let own = ways.entry(of.map(|of| row[of][0])).or_default();
        if is_role(&from) || own.insert(from, to).is_some() {
            return None;
        }
    }
    let mut next: FxHashMap<&Place, Vec<&Place>> = FxHashMap::default();
    for (from, to) in ways.values().flatten() {
        let known = next.entry(from).or_default();
        if !known.contains(&to) {
            known.push(to);
        }
    }
    next.values_mut().for_each(|all| all.sort_unstable());
    let is_known = next
        .values()
        .flatten()
        .all(|place| next.contains_key(place));
    if !is_known || !(LEAST..=MOST).contains(&next.len()) {
        return None;
    }
    let start = next.keys().min().copied()?;
    let mut way = vec![start];
    let mut left = STEPS;
    if !go_on(&next, &mut way, &mut left) {
        return None;
    }
    let way: Vec<Place> = way.into_iter().cloned().collect();
    // Each of two roles passes by the store of the other one.
    let mut stores = way.clone();
    stores.retain(|place| ways.values().any(|own| !own.contains_key(place)));
    match &stores[..] {
        [one, two] if ways.len() == 2 && evidence.roles.len() == 2 => {
            houses(evidence, &ways, &way, [one, two])
        }
        [] => Some(around(&way)),
        _ => None,
    }
}

/// Extends a way through all places that ends at its start.
fn go_on<'p>(
    next: &FxHashMap<&'p Place, Vec<&'p Place>>,
    way: &mut Vec<&'p Place>,
    left: &mut usize,
) -> bool {
    let last = way[way.len() - 1];
    if way.len() == next.len() {
        return next[last].contains(&way[0]);
    }
    for place in &next[last] {
        if *left > 0 && !way.contains(place) {
            *left -= 1;
            way.push(place);
            if go_on(next, way, left) {
                return true;
            }
            way.pop();
        }
    }
    false
}

fn layout(cells: FxHashMap<Place, At>, [rows, columns]: [usize; 2]) -> Layout {
    Layout {
        cells,
        rows: vec![String::new(); rows],
        columns: vec![String::new(); columns],
        ..Layout::default()
    }
}

/// The places along the sides of a rectangle, clockwise from the upper left corner.
fn around(way: &[Place]) -> Layout {
    let sum = way.len().div_ceil(2) + 2;
    let (height, width) = (sum / 2, sum - sum / 2);
    let top = (0..width).map(|column| (0, column));
    let right = (1..height).map(|row| (row, width - 1));
    let bottom = (0..width - 1).rev().map(|column| (height - 1, column));
    let left = (1..height - 1).rev().map(|row| (row, 0));
    let cells = top.chain(right).chain(bottom).chain(left);
    layout(way.iter().cloned().zip(cells).collect(), [height, width])
}

/// Two rows of houses, with the stores at their ends. The first role's houses are at the bottom,
/// from left to right, and its store follows them.
fn houses(evidence: &Evidence, ways: &Ways, way: &[Place], stores: [&Place; 2]) -> Option<Layout> {
    // A role passes through its own store.
    let first = Some(evidence.roles[0]);
    let own = *stores
        .iter()
        .find(|store| ways[&first].contains_key(**store))?;
    let at = way.iter().position(|place| place == own)?;
    let from_own: Vec<&Place> = way.iter().cycle().skip(at).take(way.len()).collect();
    let half = way.len() / 2;
    if !stores.contains(&from_own[half]) || !way.len().is_multiple_of(2) {
        return None;
    }
    let mut cells = FxHashMap::default();
    cells.insert(own.clone(), (1, half));
    cells.insert(from_own[half].clone(), (1, 0));
    for step in 1..half {
        cells.insert(from_own[step].clone(), (0, half - step));
        cells.insert(from_own[half + step].clone(), (2, step));
    }
    let [below, above] = [0, 1].map(|role| name(evidence.game, evidence.roles[role]));
    Some(Layout {
        rows: vec![above, String::new(), below],
        has_pits: true,
        ..layout(cells, [3, half + 1])
    })
}

/// The layout on whose places facts of a shape are, and the arguments that name them.
pub(super) fn cell(rings: &[Layout], shape: &Shape) -> Option<(Vec<usize>, Layout)> {
    // Facts on two rings have two coordinates.
    let found = rings
        .iter()
        .map(|layout| Some((cell_on(layout, shape, true)?, layout)));
    let found: Vec<(Vec<usize>, &Layout)> = found.flatten().collect();
    let (cell, layout) = found.first()?;
    let is_one = found.iter().all(|(other, _)| other == cell);
    is_one.then(|| (cell.clone(), (*layout).clone()))
}

/// The rings on all places of which facts can be, at most one of a shape on each.
pub(super) fn in_use(rings: Vec<Layout>, shapes: &[(Shape, Facts)]) -> Vec<Layout> {
    let is_used = |layout: &Layout| {
        let mut shapes = shapes.iter();
        shapes.any(|(shape, facts)| {
            let cell = cell_on(layout, shape, false);
            cell.is_some_and(|cell| is_key(facts, &cell))
        })
    };
    rings.into_iter().filter(is_used).collect()
}

/// The arguments of facts that are places of a layout: all of them, or if asked for only some.
fn cell_on(layout: &Layout, shape: &Shape, takes_parts: bool) -> Option<Vec<usize>> {
    let terms: Vec<FunctorId> = shape.skeleton[1..].iter().copied().flatten().collect();
    let leaves = shape.leaves.len();
    match (&terms[..], &shape.skeleton[..]) {
        ([], _) if leaves <= 2 => {
            let names = |leaf: usize| -> FxHashSet<FunctorId> {
                shape.leaves[leaf].iter().copied().collect()
            };
            let has_all = |leaf: &usize| {
                let names = names(*leaf);
                let has = |place: &Place| matches!(place[..], [only] if names.contains(&only));
                names.len() <= layout.cells.len() + 2 && layout.cells.keys().all(has)
            };
            let is_part = |leaf: &usize| {
                let is_place = |name: &FunctorId| layout.cells.contains_key(&[*name][..]);
                shape.leaves[*leaf].iter().all(is_place)
            };
            let mut found: Vec<usize> = (0..leaves).filter(has_all).collect();
            if found.is_empty() && takes_parts {
                found = (0..leaves).filter(is_part).collect();
            }
            (found.len() == 1).then_some(found)
        }
        // Places are terms: a house of a role.
        ([term], [_, Some(_), ..]) => {
            let place = layout.cells.keys().find(|place| place[0] == *term)?;
            let arguments = place.len() - 1;
            (arguments > 0 && (arguments..=arguments + 1).contains(&leaves))
                .then(|| (0..arguments).collect())
        }
        _ => None,
    }
}
