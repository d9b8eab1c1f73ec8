//! Marks: the cells that a board has, contents that fill their cell, and boards of edges.

use std::collections::BTreeMap;
use std::ops::Range;

use rustc_hash::FxHashSet;

use super::{Board, content, size};
use crate::evidence::Evidence;
use crate::layer::Candidate;
use crate::names;
use crate::names::clues::{Clues, clues};
use crate::names::compass::{Compass, compass};
use crate::options::PictureOptions;
use ggp_gdl::game::Game;
use ggp_gdl::program::FunctorId;

impl Board {
    /// Finds the cells that a layer names whose facts say nothing else.
    pub(super) fn find_ground(&mut self, game: &Game, group: &[Candidate]) {
        for (number, one) in group.iter().enumerate() {
            let Some(first) = one.facts[0].first().filter(|_| self.is_ground[number]) else {
                continue;
            };
            if self.names.edges.contains(&content(game, &one.layer, first)) {
                self.is_ground[number] = false;
                continue;
            }
            let cells = one.facts[0].iter();
            let cells = cells.filter_map(|fact| self.place(&one.layer, fact));
            self.ground = cells.map(|(_, at)| at).collect();
        }
    }

    /// Finds the contents that fill their cell.
    pub(super) fn find_filling(&mut self, game: &Game, group: &[Candidate]) {
        for one in group
            .iter()
            .filter(|one| is_filling(one, group) || is_hole(one, group))
        {
            let text = one.facts.iter().flatten().next();
            if let Some(text) = text.map(|fact| content(game, &one.layer, fact))
                && !self.owners.contains_key(&text)
            {
                if is_filling(one, group) && !self.owners.is_empty() {
                    self.trails.insert(text.clone());
                }
                let drawn = self.names.symbols.entry(text);
                drawn.or_insert_with(names::filled);
            }
        }
    }

    /// The numbers at the left and at the upper edge of a window. Empty without clues.
    pub(super) fn clues_of(
        &self,
        rows: &Range<usize>,
        columns: &Range<usize>,
    ) -> [Vec<Vec<String>>; 2] {
        let Some(clues) = &self.clues else {
            return [Vec::new(), Vec::new()];
        };
        let of = |known: &BTreeMap<FunctorId, Vec<String>>, names: &[FunctorId]| {
            let lists = names
                .iter()
                .map(|name| known.get(name).cloned().unwrap_or_default());
            lists.collect()
        };
        [
            of(&clues.rows, &self.rows[rows.clone()]),
            of(&clues.columns, &self.columns[columns.clone()]),
        ]
    }

    /// The cells of a window that can have nothing but edges.
    pub(super) fn outside(&self, rows: &Range<usize>, columns: &Range<usize>) -> Vec<Vec<bool>> {
        let Some([places]) = self
            .possible
            .as_deref()
            .filter(|_| !self.names.edges.is_empty())
        else {
            return Vec::new();
        };
        let cells = if self.ground.is_empty() {
            places
        } else {
            &self.ground
        };
        let is_outside = |row| {
            columns
                .clone()
                .map(move |column| !cells.contains(&(row, column)))
        };
        rows.clone().map(|row| is_outside(row).collect()).collect()
    }

    /// Returns whether two boards are the edges of squares and the kind that the rules name first
    /// would be vertical.
    pub(super) fn is_lattice_on_its_side(&self) -> bool {
        let (Some([one, other]), [first, second]) = (self.possible.as_deref(), &self.sheets[..])
        else {
            return false;
        };
        let ([a, b], [c, d]) = (size(one.iter()), size(other.iter()));
        let is_edges = |[a, b]: [usize; 2], [c, d]: [usize; 2]| a == c + 1 && b + 1 == d;
        let is_plain = self.slant == 0 && self.background.is_none();
        let is_across = match (is_edges([a, b], [c, d]), is_edges([c, d], [a, b])) {
            (true, _) => first < second,
            (_, true) => second < first,
            _ => return false,
        };
        is_plain && !is_across
    }

    /// Swaps rows and columns.
    pub(super) fn turn(&mut self) {
        std::mem::swap(&mut self.rows, &mut self.columns);
        std::mem::swap(&mut self.row_at, &mut self.column_at);
        std::mem::swap(&mut self.used.0, &mut self.used.1);
        for layer in &mut self.layers {
            std::mem::swap(&mut layer.first, &mut layer.second);
        }
        for places in self.possible.iter_mut().flatten() {
            *places = places.iter().map(|&(row, column)| (column, row)).collect();
        }
        let printed = std::mem::take(&mut self.printed).into_iter();
        self.printed = printed
            .map(|((row, column), word)| ((column, row), word))
            .collect();
        let regions = std::mem::take(&mut self.regions);
        let columns = 0..regions.first().map_or(0, Vec::len);
        let turned = columns.map(|column| regions.iter().map(|row| row[column]).collect());
        self.regions = turned.collect();
    }
}

/// The names of directions and of rows and columns, as far as they say how a board lies.
#[derive(Default)]
pub(super) struct Reading {
    pub compass: Option<Compass>,
    pub clues: Option<Clues>,
}

/// Reads names, if options ask for it and do not fix the board themselves.
pub(super) fn reading(
    evidence: &Evidence,
    group: &[Candidate],
    options: &PictureOptions,
) -> Reading {
    if options.ignores_names || group.iter().any(|one| one.board_options.is_some()) {
        return Reading::default();
    }
    let axes = [0, 1].map(|axis: usize| &group[0].axes[axis][..]);
    let layers = group.iter().map(|one| &one.layer);
    let facts = layers.filter_map(|layer| {
        let coordinates = [layer.first?, layer.second?];
        Some((layer.skeleton[0]?, coordinates))
    });
    Reading {
        compass: facts
            .clone()
            .find_map(|facts| compass(evidence, axes, facts)),
        clues: facts.clone().find_map(|facts| clues(evidence, axes, facts)),
    }
}

/// The cells that facts of a layer name, with the board on which they are if there are several.
fn cells(one: &Candidate, facts: &[Vec<FunctorId>]) -> FxHashSet<Vec<FunctorId>> {
    let cell = |fact: &Vec<FunctorId>| {
        let sheet = one.layer.sheets.iter().map(|leaf| fact[*leaf]);
        one.layer.at(fact).into_iter().chain(sheet).collect()
    };
    facts.iter().map(cell).collect()
}

/// For each layer: whether it marks the same cells in all states, most of those in use and all
/// where anything changes. Then its facts say which cells the board has.
pub(super) fn grounds(group: &[Candidate]) -> Vec<bool> {
    let used = group.iter().flat_map(|one| cells(one, &one.facts[0]));
    let used = used.collect::<FxHashSet<_>>().len();
    let changing = group
        .iter()
        .filter(|one| one.facts.iter().any(|facts| *facts != one.facts[0]));
    let is_ground = |one: &Candidate| {
        let marked = cells(one, &one.facts[0]);
        let mut facts = changing
            .clone()
            .flat_map(|other| other.facts.iter().map(move |facts| cells(other, facts)));
        one.layer.rest.is_empty()
            && 2 * marked.len() >= used.max(2)
            && one.facts.iter().all(|facts| cells(one, facts) == marked)
            && facts.all(|others| others.is_subset(&marked))
    };
    group.iter().map(is_ground).collect()
}

/// The layer that marks the cells on which there is nothing else, if that changes and all other cells have
/// something.
pub(super) fn free(group: &[Candidate]) -> Option<&Candidate> {
    let is_free = |one: &&Candidate| {
        let others = |state: usize| -> FxHashSet<Vec<FunctorId>> {
            let others = group.iter().filter(|other| !std::ptr::eq(*other, *one));
            others
                .flat_map(|other| cells(other, &other.facts[state]))
                .collect()
        };
        let all = cells(one, &one.facts[0]).union(&others(0)).count();
        let mut states = one.facts.iter().enumerate();
        one.layer.rest.is_empty()
            && !one.facts[0].is_empty()
            && one.facts.iter().any(|facts| *facts != one.facts[0])
            && states.all(|(number, facts)| {
                let (free, others) = (cells(one, facts), others(number));
                free.is_disjoint(&others) && free.len() + others.len() == all
            })
    };
    group.iter().find(is_free)
}

/// Returns whether a layer marks the same cells in all states, and nothing else is ever there.
fn is_hole(one: &Candidate, group: &[Candidate]) -> bool {
    let marked = cells(one, &one.facts[0]);
    let is_free = |other: &Candidate| {
        let mut states = other.facts.iter();
        states.all(|facts| cells(other, facts).is_disjoint(&marked))
    };
    let mut others = group
        .iter()
        .filter(|other| other.layer.skeleton != one.layer.skeleton);
    one.layer.rest.is_empty()
        && group.len() > 1
        && !marked.is_empty()
        && one.facts.iter().all(|facts| cells(one, facts) == marked)
        && others.all(is_free)
}

/// Returns whether a layer has only one content, and cells get it in matches and never lose it.
fn is_filling(one: &Candidate, group: &[Candidate]) -> bool {
    let is_one = |leaf: &usize| one.shape.leaves[*leaf].len() == 1;
    // A further match begins with the initial state.
    let begins = |state: usize| {
        group
            .iter()
            .all(|other| other.facts[state] == other.facts[0])
    };
    let stays = |state: usize| {
        let after: FxHashSet<&Vec<FunctorId>> = one.facts[state].iter().collect();
        one.facts[state - 1].iter().all(|fact| after.contains(fact))
    };
    one.layer.rest.iter().all(is_one)
        && one.axes.iter().all(|axis| axis.len() > 1)
        && (one.facts.iter()).any(|facts| facts.len() > one.facts[0].len())
        && (1..one.facts.len()).all(|state| begins(state) || stays(state))
}
