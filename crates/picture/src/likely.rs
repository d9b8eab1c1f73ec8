//! Drawings of what is not known for certain.
//!
//! In: several states, each with a weight. Out: one drawing. What is the same in all of them is
//! drawn as always; where they differ, the likeliest contents have their share of the weight.

use std::collections::BTreeMap;

use ggp_gdl::terms::{TermId, Terms};
use serde::Serialize;

use super::drawing::{Drawing, DrawnBoard, DrawnEntry, DrawnTable, TableStyle};
use super::{DrawingLimits, Picture};

/// The difference to 1 from which on a share is not certain.
const CERTAIN: f64 = 1e-9;
/// The most alternatives that are named.
const NAMED: usize = 6;

/// A cell whose contents differ from state to state.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Unsure {
    /// Row and column.
    pub cell: (usize, usize),
    /// The contents that it may have, with their shares from 0 to 1, the likeliest first.
    pub contents: Vec<(Vec<String>, f64)>,
}

impl Unsure {
    /// The likeliest contents that are not empty, with their share.
    pub(super) fn likeliest(&self) -> Option<&(Vec<String>, f64)> {
        let mut all = self.contents.iter();
        all.find(|(contents, _)| !contents.is_empty())
    }

    /// The alternatives in words.
    pub(super) fn words(&self) -> String {
        let contents = self.contents.iter();
        let named = contents.map(|(contents, share)| match contents.is_empty() {
            true => ("empty".to_owned(), *share),
            false => (contents.join(" "), *share),
        });
        listed(named)
    }
}

/// A share as text: `40 %`.
pub(super) fn percent(share: f64) -> String {
    match share {
        ..0.005 => "<1 %".to_owned(),
        0.995.. => ">99 %".to_owned(),
        // Sums of shares are inexact; a half is rounded up.
        _ => format!("{} %", (100.0 * share + 1e-9).round()),
    }
}

/// Alternatives as text, the first ones.
fn listed(alternatives: impl ExactSizeIterator<Item = (String, f64)>) -> String {
    let is_cut = alternatives.len() > NAMED;
    let texts = alternatives.map(|(text, share)| format!("{text} {}", percent(share)));
    let mut texts: Vec<String> = texts.take(NAMED).collect();
    texts.extend(is_cut.then(|| "…".to_owned()));
    texts.join(", ")
}

/// Values with the sum of their weights, in the order in which they came.
struct Shares<T>(Vec<(T, f64)>);

impl<T: PartialEq> Shares<T> {
    fn of(values: impl Iterator<Item = (T, f64)>) -> Self {
        let mut all: Vec<(T, f64)> = Vec::new();
        for (value, share) in values {
            match all.iter_mut().find(|(known, _)| *known == value) {
                Some((_, sum)) => *sum += share,
                None => all.push((value, share)),
            }
        }
        Shares(all)
    }

    /// The only value, if it is certain.
    fn certain(&self) -> Option<&T> {
        let [(only, share)] = &self.0[..] else {
            return None;
        };
        (*share > 1.0 - CERTAIN).then_some(only)
    }

    /// The values, the likeliest first.
    fn sorted(mut self) -> Vec<(T, f64)> {
        self.0.sort_by(|a, b| b.1.total_cmp(&a.1));
        self.0
    }
}

impl Picture {
    /// Draws several states at once, given their facts and weights above 0. There is at least one
    /// state.
    pub fn draw_likely(
        &self,
        terms: &Terms,
        states: &[(Vec<TermId>, f64)],
        limits: DrawingLimits,
    ) -> Drawing {
        let total: f64 = states.iter().map(|(_, weight)| weight).sum();
        let drawings = states
            .iter()
            .map(|(facts, weight)| (self.draw(terms, facts, limits), weight / total));
        let drawings: Vec<(Drawing, f64)> = drawings.collect();
        let (first, _) = &drawings[0];
        let frame = |drawing: &Drawing| {
            let frames = drawing.boards.iter();
            let frames = frames.map(|b| (b.title.clone(), b.rows.clone(), b.columns.clone()));
            frames.collect::<Vec<_>>()
        };
        let is_alike = drawings.iter().all(|(one, _)| frame(one) == frame(first));
        let mut drawing = match is_alike {
            true => Drawing {
                boards: (0..first.boards.len())
                    .map(|board| merged_board(board, &drawings))
                    .collect(),
                ..first.clone()
            },
            // Boards of several sizes: all that they show is listed.
            false => self.listing(terms, states, total, limits),
        };
        if is_alike {
            drawing.facts =
                merged_facts(drawings.iter().map(|(one, share)| (&one.facts[..], *share)));
            drawing.tables = merged_tables(&drawings);
            let left_out = drawings.iter().map(|(one, _)| one.left_out);
            drawing.left_out = left_out.max().unwrap_or(0);
        }
        drawing
    }

    /// The drawing of the facts of all states, with the other facts as a list. `total` is the sum of
    /// the weights.
    fn listing(
        &self,
        terms: &Terms,
        states: &[(Vec<TermId>, f64)],
        total: f64,
        limits: DrawingLimits,
    ) -> Drawing {
        let mut shares: BTreeMap<TermId, f64> = BTreeMap::new();
        for (facts, weight) in states {
            for fact in facts {
                *shares.entry(*fact).or_default() += weight / total;
            }
        }
        let certain = shares.iter().filter(|(_, share)| **share > 1.0 - CERTAIN);
        let certain: Vec<TermId> = certain.map(|(fact, _)| *fact).collect();
        let mut drawing = self.draw(terms, &certain, limits);
        let unsure = shares.iter().filter(|(_, share)| **share <= 1.0 - CERTAIN);
        let mut unsure: Vec<(TermId, f64)> = unsure.map(|(fact, share)| (*fact, *share)).collect();
        unsure.sort_by(|a, b| self.game.compare_terms(terms, a.0, b.0));
        drawing.left_out += unsure.len().saturating_sub(limits.max);
        unsure.truncate(limits.max);
        let texts = unsure
            .iter()
            .map(|(fact, share)| format!("{} {}", self.game.text(terms, *fact), percent(*share)));
        drawing.facts.extend(texts);
        drawing
    }
}

fn merged_board(number: usize, drawings: &[(Drawing, f64)]) -> DrawnBoard {
    let mut board = drawings[0].0.boards[number].clone();
    // A content may be on the board in one of the states only.
    for (other, _) in &drawings[1..] {
        let other = &other.boards[number];
        board.symbols.extend(other.symbols.clone());
        board.owners.extend(other.owners.clone());
    }
    for row in 0..board.contents.len() {
        for column in 0..board.contents[row].len() {
            let cells = drawings
                .iter()
                .map(|(drawing, share)| (&drawing.boards[number].contents[row][column], *share));
            let shares = Shares::of(cells);
            if shares.certain().is_some() {
                continue;
            }
            let contents = shares.sorted().into_iter();
            let contents =
                contents.map(|(place, share)| (place.clone().unwrap_or_default(), share));
            let unsure = Unsure {
                cell: (row, column),
                contents: contents.collect(),
            };
            let likeliest = unsure.likeliest().map(|(contents, _)| contents.clone());
            board.contents[row][column] = Some(likeliest.unwrap_or_default());
            board.unsure.push(unsure);
        }
    }
    board
}

/// The texts that all have, and the others with their shares.
fn merged_facts<'d>(all: impl Iterator<Item = (&'d [String], f64)>) -> Vec<String> {
    let each = all.flat_map(|(facts, share)| facts.iter().map(move |fact| (fact, share)));
    let shares = Shares::of(each).0.into_iter();
    let texts = shares.map(|(fact, share)| match share > 1.0 - CERTAIN {
        true => fact.clone(),
        false => format!("{fact} {}", percent(share)),
    });
    texts.collect()
}

fn merged_tables(drawings: &[(Drawing, f64)]) -> Vec<DrawnTable> {
    let tables = drawings.iter().flat_map(|(drawing, _)| &drawing.tables);
    let known: BTreeMap<usize, &DrawnTable> = tables.map(|table| (table.origin, table)).collect();
    let merged = known.into_values().map(|known| {
        let of = |drawing: &Drawing| {
            let mut tables = drawing.tables.iter();
            let table = tables.find(|table| table.origin == known.origin);
            table.map_or_else(Vec::new, |table| table.entries.clone())
        };
        let entries: Vec<(Vec<DrawnEntry>, f64)> = drawings
            .iter()
            .map(|(drawing, share)| (of(drawing), *share))
            .collect();
        let mut keys: Vec<&String> = Vec::new();
        for entry in entries.iter().flat_map(|(entries, _)| entries) {
            if !keys.contains(&&entry.key) {
                keys.push(&entry.key);
            }
        }
        let mut is_certain = true;
        let merged = keys.into_iter().map(|key| {
            let same = entries
                .iter()
                .map(|(entries, share)| (entries.iter().find(|entry| entry.key == *key), *share));
            let shares = Shares::of(same);
            if let Some(Some(entry)) = shares.certain() {
                return (*entry).clone();
            }
            is_certain = false;
            let alternatives = shares.sorted();
            let owner = alternatives
                .iter()
                .find_map(|(entry, _)| entry.as_ref()?.owner);
            let values = alternatives.into_iter().map(|(entry, share)| match entry {
                Some(entry) => (entry.values.join(" "), share),
                None => ("none".to_owned(), share),
            });
            DrawnEntry {
                key: key.clone(),
                values: vec![listed(values)],
                bar: None,
                owner,
            }
        });
        let entries = merged.collect();
        DrawnTable {
            entries,
            style: match is_certain {
                true => known.style,
                false => TableStyle::Plain,
            },
            ..known.clone()
        }
    });
    merged.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up() {
        let shares = Shares::of([("a", 0.25), ("b", 0.5), ("a", 0.25)].into_iter());
        assert_eq!(shares.certain(), None);
        assert_eq!(shares.sorted(), [("a", 0.5), ("b", 0.5)]);
        let certain = Shares::of([("a", 0.5), ("a", 0.5)].into_iter());
        assert_eq!(certain.certain(), Some(&"a"));
        let texts = [0.001, 0.4, 0.999].map(percent);
        assert_eq!(texts, ["<1 %", "40 %", ">99 %"]);
    }
}
