//! Boards of one line: facts of two arguments, one of which is a position.
//!
//! Facts that assign a thing to each of some constants can be read in two ways: as the
//! contents of positions, or as the position of things. The rules decide. On a board, the
//! content is produced by the rules or comes from another position, and no move names it;
//! or contents are only moved around, and all of them remain.

use super::evidence::{Evidence, Facts, is_key};
use super::name;
use super::shape::Shape;
use ggp_gdl::check::Keyword;
use ggp_gdl::game::Game;
use ggp_gdl::program::{Atom, Literal, Rule, Term};

/// Minimum number of positions of a line.
const SHORTEST: usize = 3;

/// The argument that is the position, if the facts form a line.
pub(super) fn line(evidence: &Evidence, shape: &Shape, facts: &Facts) -> Option<usize> {
    if !matches!(shape.skeleton[..], [Some(_), None, None]) {
        return None;
    }
    let is_order = |leaf: usize| evidence.chains.sorted(&shape.leaves[leaf]).is_some();
    let is_number = |leaf: usize| {
        let mut names = shape.leaves[leaf].iter();
        names.all(|f| name(evidence.game, *f).parse::<i64>().is_ok())
    };
    let is_where = |at: &usize| {
        let what = 1 - at;
        // Facts that accumulate from nothing may also be a log of moves over time.
        2 * facts[0].len() >= shape.leaves[*at].len()
            && shape.leaves[*at].len() >= SHORTEST
            && is_order(*at)
            && !evidence.are_roles(&shape.leaves[*at])
            && is_key(facts, &[*at])
            && shape.leaves[what].len() > 1
            && !is_order(what)
            && !is_number(what)
    };
    let at = [0, 1].into_iter().find(is_where)?;
    match is_made(evidence.game, shape, at) {
        Some(true) => Some(at),
        Some(false) => None,
        None => is_moved(shape, facts, at).then_some(at),
    }
}

/// Returns whether rules or other positions produce the content (`true`) or a move names it
/// (`false`). `None` if the rules do not decide.
fn is_made(game: &Game, shape: &Shape, at: usize) -> Option<bool> {
    let next = game.keyword(Keyword::Next)?;
    let mut found = None;
    let rules = game.rules().rules.iter();
    for rule in rules.filter(|rule| rule.head.relation == next) {
        let Some(made) = parts(game, &rule.head.arguments[0], shape) else {
            continue;
        };
        let what = &made[1 - at];
        if names_in_move(game, rule, what) {
            return Some(false);
        }
        let held = facts(game, rule, shape);
        let stays = held.contains(&made);
        let comes = || {
            held.iter()
                .any(|other| other[1 - at] == *what && other[at] != made[at])
        };
        if !stays && (matches!(what, Term::Ground(_)) || comes()) {
            found = Some(true);
        }
    }
    found
}

/// The two arguments of a fact of a shape.
fn parts(game: &Game, fact: &Term, shape: &Shape) -> Option<[Term; 2]> {
    match fact.functor(game.terms()) == shape.skeleton[0] {
        true => <[Term; 2]>::try_from(fact.arguments(game.terms())).ok(),
        false => None,
    }
}

/// The facts of a shape in the conditions of a rule.
fn facts(game: &Game, rule: &Rule, shape: &Shape) -> Vec<[Term; 2]> {
    let asked = atoms(game, rule, Keyword::True);
    asked
        .filter_map(|atom| parts(game, &atom.arguments[0], shape))
        .collect()
}

fn atoms<'r>(game: &Game, rule: &'r Rule, keyword: Keyword) -> impl Iterator<Item = &'r Atom> {
    let relation = game.keyword(keyword);
    rule.body.iter().filter_map(move |literal| match literal {
        Literal::Positive(atom) if Some(atom.relation) == relation => Some(atom),
        _ => None,
    })
}

/// Returns whether the move in the conditions of a rule contains a variable.
fn names_in_move(game: &Game, rule: &Rule, wanted: &Term) -> bool {
    let Term::Variable(wanted) = wanted else {
        return false;
    };
    let mut is_named = false;
    for atom in atoms(game, rule, Keyword::Does) {
        atom.for_each_variable(|variable, _| is_named |= variable == *wanted);
    }
    is_named
}

/// Returns whether every position has content in each state and the contents are only moved around,
/// so that all states have the same contents.
fn is_moved(shape: &Shape, facts: &Facts, at: usize) -> bool {
    let whats = |facts: &Vec<Vec<_>>| {
        let mut whats: Vec<_> = facts.iter().map(|fact| fact[1 - at]).collect();
        whats.sort_unstable();
        whats
    };
    let Some(first) = facts.first() else {
        return false;
    };
    let all = whats(first);
    all.len() == shape.leaves[at].len()
        && facts.iter().all(|facts| whats(facts) == all)
        && facts.iter().any(|facts| facts != first)
}
