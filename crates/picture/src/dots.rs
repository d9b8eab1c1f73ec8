//! Lines between neighbouring dots: facts of four coordinates that name two dots each. Other
//! facts with two coordinates are about the boxes between the dots.
//!
//! The rows and columns of the layout are, in turn, those of dots and those of boxes.

use rustc_hash::FxHashMap;

use super::evidence::{Evidence, Facts};
use super::name;
use super::places::{At, Layout, Place};
use super::shape::Shape;
use ggp_gdl::program::FunctorId;

/// Largest number of dots in a row or a column.
const MOST: usize = 40;

/// The constants of the axes, if facts of a shape are lines between neighbouring dots.
fn axes(evidence: &Evidence, shape: &Shape, facts: &Facts) -> Option<[Vec<FunctorId>; 2]> {
    let [a, b, c, d] = &shape.leaves[..] else {
        return None;
    };
    let is_flat = shape.skeleton[1..].iter().all(Option::is_none);
    if !is_flat || facts.iter().all(Vec::is_empty) {
        return None;
    }
    let axis = |one: &[FunctorId], two: &[FunctorId]| {
        let mut all = [one, two].concat();
        all.sort_unstable();
        all.dedup();
        let sorted = evidence.chains.sorted(&all)?;
        (2..=MOST).contains(&sorted.len()).then_some(sorted)
    };
    let axes = [axis(a, c)?, axis(b, d)?];
    let step = |axis: usize, from: FunctorId, to: FunctorId| {
        let rank = |name| axes[axis].iter().position(|other| *other == name);
        Some(rank(from)?.abs_diff(rank(to)?))
    };
    let is_line = |fact: &Vec<FunctorId>| {
        let steps = step(0, fact[0], fact[2]).zip(step(1, fact[1], fact[3]));
        matches!(steps, Some((0, 1) | (1, 0)))
    };
    facts.iter().flatten().all(is_line).then_some(axes)
}

/// The layout of dots for the lines of a shape.
pub(super) fn layout(evidence: &Evidence, shape: &Shape, facts: &Facts) -> Option<Layout> {
    let [rows, columns] = axes(evidence, shape, facts)?;
    let mut cells: FxHashMap<Place, At> = FxHashMap::default();
    for (row, down) in rows.iter().enumerate() {
        for (column, right) in columns.iter().enumerate() {
            let at = (2 * row, 2 * column);
            if let Some(next) = rows.get(row + 1) {
                cells.insert(vec![*down, *right, *next, *right], (at.0 + 1, at.1));
                cells.insert(vec![*next, *right, *down, *right], (at.0 + 1, at.1));
            }
            if let Some(next) = columns.get(column + 1) {
                cells.insert(vec![*down, *right, *down, *next], (at.0, at.1 + 1));
                cells.insert(vec![*down, *next, *down, *right], (at.0, at.1 + 1));
            }
            if row + 1 < rows.len() && column + 1 < columns.len() {
                cells.insert(vec![*down, *right], (at.0 + 1, at.1 + 1));
            }
        }
    }
    let names = |axis: &[FunctorId]| {
        let names = axis.iter().map(|constant| name(evidence.game, *constant));
        let mut names: Vec<String> = names.flat_map(|name| [name, String::new()]).collect();
        names.pop();
        names
    };
    Some(Layout {
        cells,
        rows: names(&rows),
        columns: names(&columns),
        has_dots: true,
        ..Layout::default()
    })
}

/// The arguments of facts that name a line or a box.
pub(super) fn cell(layout: &Layout, shape: &Shape, facts: &Facts) -> Option<Vec<usize>> {
    let is_on = |leaves: &[usize]| {
        let place = |fact: &Vec<FunctorId>| leaves.iter().map(|leaf| fact[*leaf]).collect();
        let mut places = facts.iter().flatten().map(place);
        places.all(|place: Place| layout.cells.contains_key(&place))
    };
    let lengths = match shape.leaves.len() {
        2 | 3 => 2,
        4 => 4,
        _ => return None,
    };
    let leaves: Vec<usize> = (0..lengths).collect();
    let is_flat = shape.skeleton[1..].iter().all(Option::is_none);
    (is_flat && facts.iter().any(|facts| !facts.is_empty()) && is_on(&leaves)).then_some(leaves)
}
