//! Directions of a board's axes, by the names of directions.
//!
//! Static facts, rules for the next cell and the effects of moves name a direction such as
//! `north` together with a cell and the next cell there. So the board can be turned such that
//! north is at the top.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::{drawings, words};
use crate::evidence::{Evidence, steps_along};
use crate::name;
use ggp_gdl::check::Keyword;
use ggp_gdl::program::{FunctorId, Literal, RelationId, Rule, Term};

/// The directions of a board's axes.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Compass {
    /// True if the first of the two coordinates is the row.
    pub first_is_row: bool,
    /// True if rows are counted from the bottom.
    pub from_below: bool,
    /// True if columns are counted from the right.
    pub from_right: bool,
}

/// The steps along both axes that were found for each direction: up, down, left and right.
type Steps = [BTreeMap<[isize; 2], usize>; 4];

/// The directions of axes, if names of directions say where the next cell is. `facts` are the
/// functor and the two coordinates of the facts on the board.
pub(crate) fn compass(
    evidence: &Evidence,
    axes: [&[FunctorId]; 2],
    facts: (FunctorId, [usize; 2]),
) -> Option<Compass> {
    let relations = evidence.statics.relations.iter();
    let statics = relations.map(|relation| of_facts(evidence, axes, relation));
    let links = axes.map(|axis| steps_along(evidence.game, axis));
    let rules = evidence.game.rules().rules.iter();
    let cells = rules.clone().map(|rule| of_cells(evidence, &links, rule));
    let effects = rules.map(|rule| of_effect(evidence, &links, rule, facts));
    let mut together = Steps::default();
    for steps in cells.chain(effects) {
        for (all, some) in together.iter_mut().zip(steps) {
            for (step, count) in some {
                *all.entry(step).or_default() += count;
            }
        }
    }
    statics.chain([together]).find_map(|steps| read(&steps))
}

fn read(steps: &Steps) -> Option<Compass> {
    // Where the ends of a board meet, some steps are long.
    let step = |at: usize| {
        let units = steps[at]
            .iter()
            .filter(|(step, _)| step[0].abs() + step[1].abs() == 1);
        let most = units.max_by_key(|(_, count)| **count)?;
        Some(*most.0)
    };
    let of = |one: usize, two: usize| step(one).or_else(|| step(two).map(|[a, b]| [-a, -b]));
    match (of(0, 1)?, of(3, 2)?) {
        ([0, up], [right, 0]) => Some(Compass {
            first_is_row: false,
            from_below: up > 0,
            from_right: right < 0,
        }),
        ([up, 0], [0, right]) => Some(Compass {
            first_is_row: true,
            from_below: up > 0,
            from_right: right < 0,
        }),
        _ => None,
    }
}

/// The direction that a name contains.
fn direction(evidence: &Evidence, constant: FunctorId) -> Option<usize> {
    let words = words(&name(evidence.game, constant));
    drawings::DIRECTIONS
        .iter()
        .position(|names| words.iter().any(|word| names.contains(&word.as_str())))
}

/// The steps that static facts of five constants name: a direction, a cell, and the next cell.
fn of_facts(evidence: &Evidence, axes: [&[FunctorId]; 2], relation: &[Vec<FunctorId>]) -> Steps {
    let mut steps = Steps::default();
    let rank = |axis: usize, constant: FunctorId| axes[axis].iter().position(|f| *f == constant);
    for fact in relation.iter().filter(|fact| fact.len() == 5) {
        let Some((at, direction)) =
            (0..5).find_map(|at| Some((at, direction(evidence, fact[at])?)))
        else {
            continue;
        };
        let rest: Vec<FunctorId> = (0..5).filter(|k| *k != at).map(|k| fact[k]).collect();
        let step = |axis: usize| {
            let (from, to) = rank(axis, rest[axis]).zip(rank(axis, rest[axis + 2]))?;
            Some(to as isize - from as isize)
        };
        if let Some((a, b)) = step(0).zip(step(1)) {
            *steps[direction].entry([a, b]).or_default() += 1;
        }
    }
    steps
}

/// For each axis: the relations that lead a fixed number of steps further.
type Links = [FxHashMap<RelationId, isize>; 2];

/// The distance between two terms along an axis, by the conditions of a rule.
fn distance(
    links: &FxHashMap<RelationId, isize>,
    rule: &Rule,
    from: &Term,
    to: &Term,
) -> Option<isize> {
    if from == to {
        return Some(0);
    }
    rule.body.iter().find_map(|literal| match literal {
        Literal::Positive(atom) => {
            let step = links.get(&atom.relation)?;
            match (&atom.arguments[0], &atom.arguments[1]) {
                pair if pair == (from, to) => Some(*step),
                pair if pair == (to, from) => Some(-step),
                _ => None,
            }
        }
        _ => None,
    })
}

/// The step of a rule whose head has a direction, a cell and the next cell.
fn of_cells(evidence: &Evidence, links: &Links, rule: &Rule) -> Steps {
    let mut steps = Steps::default();
    let terms = evidence.game.terms();
    let named = rule.head.arguments.iter().enumerate();
    let mut named =
        named.filter_map(|(at, term)| Some((at, direction(evidence, term.functor(terms)?)?)));
    if rule.head.arguments.len() == 5
        && let Some((at, direction)) = named.next()
    {
        let rest: Vec<&Term> = (0..5)
            .filter(|k| *k != at)
            .map(|k| &rule.head.arguments[k])
            .collect();
        let step = |axis: usize| distance(&links[axis], rule, rest[axis], rest[axis + 2]);
        if let Some((a, b)) = step(0).zip(step(1)) {
            steps[direction].insert([a, b], 1);
        }
    }
    steps
}

/// The step of a thing on the board that a move in a direction takes, by a rule for the next state.
fn of_effect(
    evidence: &Evidence,
    links: &Links,
    rule: &Rule,
    (functor, coordinates): (FunctorId, [usize; 2]),
) -> Steps {
    let mut steps = Steps::default();
    let game = evidence.game;
    let terms = game.terms();
    let atoms = |keyword: Keyword| {
        let relation = game.keyword(keyword);
        rule.body.iter().filter_map(move |literal| match literal {
            Literal::Positive(atom) if Some(atom.relation) == relation => Some(atom),
            _ => None,
        })
    };
    if Some(rule.head.relation) != game.keyword(Keyword::Next) {
        return steps;
    }
    let mut moves = atoms(Keyword::Does).flat_map(|atom| {
        let action = &atom.arguments[1];
        let mut names = vec![action.functor(terms)];
        names.extend(
            action
                .arguments(terms)
                .iter()
                .map(|term| term.functor(terms)),
        );
        names
    });
    let Some(direction) = moves.find_map(|name| direction(evidence, name?)) else {
        return steps;
    };
    let after = &rule.head.arguments[0];
    for atom in atoms(Keyword::True) {
        let before = &atom.arguments[0];
        if [before, after]
            .iter()
            .any(|fact| fact.functor(terms) != Some(functor))
        {
            continue;
        }
        let (before, after) = (before.arguments(terms), after.arguments(terms));
        let step = |axis: usize| {
            let leaf = coordinates[axis];
            distance(&links[axis], rule, before.get(leaf)?, after.get(leaf)?)
        };
        if let Some((a, b)) = step(0).zip(step(1)) {
            *steps[direction].entry([a, b]).or_default() += 1;
        }
    }
    steps
}
