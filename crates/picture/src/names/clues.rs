//! Numbers at the edges of a board, as in nonograms: static facts that name a row or a column, a
//! position and a number.

use std::collections::BTreeMap;

use super::words;
use crate::evidence::Evidence;
use crate::name;
use ggp_gdl::program::{FunctorId, Literal, Rule, Term};

/// The words for rows and for columns.
const ROW: &[&str] = &["row", "rows"];
const COLUMN: &[&str] = &["col", "cols", "column", "columns"];

/// The clues of a board.
#[derive(Clone, Debug)]
pub(crate) struct Clues {
    pub rows: BTreeMap<FunctorId, Vec<String>>,
    pub columns: BTreeMap<FunctorId, Vec<String>>,
    /// True if the first of the two coordinates is the row.
    pub first_is_row: bool,
}

/// The clues of the board whose facts have a functor and two coordinates.
pub(crate) fn clues(
    evidence: &Evidence,
    axes: [&[FunctorId]; 2],
    facts: (FunctorId, [usize; 2]),
) -> Option<Clues> {
    let first_is_row = first_is_row(evidence, facts)?;
    let (row_axis, column_axis) = match first_is_row {
        true => (axes[0], axes[1]),
        false => (axes[1], axes[0]),
    };
    Some(Clues {
        rows: of_axis(evidence, ROW, row_axis)?,
        columns: of_axis(evidence, COLUMN, column_axis)?,
        first_is_row,
    })
}

/// The numbers of each row or column, in the order of their positions.
fn of_axis(
    evidence: &Evidence,
    called: &[&str],
    axis: &[FunctorId],
) -> Option<BTreeMap<FunctorId, Vec<String>>> {
    let game = evidence.game;
    let relations = evidence.statics.ids.iter().zip(&evidence.statics.relations);
    let mut relations = relations.filter(|(id, rows)| {
        let words = words(game.relation_name(**id));
        rows.first().is_some_and(|row| row.len() == 3)
            && words.len() == 1
            && called.contains(&&*words[0])
    });
    relations.find_map(|(_, rows)| {
        let places: Vec<FunctorId> = rows.iter().map(|row| row[1]).collect();
        let order = evidence.ordered(&places);
        let mut found: BTreeMap<FunctorId, BTreeMap<usize, String>> = BTreeMap::new();
        for row in rows {
            let at = order.iter().position(|place| *place == row[1])?;
            let own = found.entry(row[0]).or_default();
            let is_new = own.insert(at, name(game, row[2])).is_none();
            if !is_new || !axis.contains(&row[0]) {
                return None;
            }
        }
        let lists = found.into_iter();
        Some(
            lists
                .map(|(key, own)| (key, own.into_values().collect()))
                .collect(),
        )
    })
}

/// Whether variables for the first coordinate of facts are called a row; `None` if variables are
/// called neither a row nor a column.
fn first_is_row(
    evidence: &Evidence,
    (functor, coordinates): (FunctorId, [usize; 2]),
) -> Option<bool> {
    let game = evidence.game;
    let is_called = |rule: &Rule, term: &Term, all: &[&str]| match term {
        Term::Variable(variable) => {
            let words = words(&rule.variables[variable.index()]);
            words.iter().any(|word| all.contains(&word.as_str()))
        }
        _ => false,
    };
    let of_fact = |rule: &Rule, fact: &Term| {
        if fact.functor(game.terms()) != Some(functor) {
            return None;
        }
        let arguments = fact.arguments(game.terms());
        let [first, second] = coordinates.map(|at| arguments.get(at));
        let has =
            |all: &[&str], term: Option<&Term>| term.is_some_and(|term| is_called(rule, term, all));
        match () {
            () if has(ROW, first) || has(COLUMN, second) => Some(true),
            () if has(COLUMN, first) || has(ROW, second) => Some(false),
            () => None,
        }
    };
    game.rules().rules.iter().find_map(|rule| {
        let mut found = rule
            .head
            .arguments
            .first()
            .and_then(|fact| of_fact(rule, fact));
        for literal in &rule.body {
            if let Literal::Positive(atom) | Literal::Negative(atom) = literal {
                let fact = atom.arguments.first();
                found = found.or_else(|| of_fact(rule, fact?));
            }
        }
        found
    })
}
