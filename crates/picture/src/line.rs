//! Boards of one line: facts of two names, one of which says where.
//!
//! A thing for each of some names can be read in two ways: as what is in places, or as
//! the place of things. The rules tell: on a board what is there is made by the rules or
//! comes from another place, and nobody names it in a move; or it is moved about, and all
//! of it stays.

use super::evidence::{Evidence, Facts, is_key};
use super::name;
use super::shape::Shape;
use ggp_gdl::check::Keyword;
use ggp_gdl::game::Game;
use ggp_gdl::program::{Atom, Literal, Rule, Term};

/// Names that a line has at least.
const SHORTEST: usize = 3;

/// Which of the two names of facts says where, if the facts are a line.
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
        // What fills up from nothing may as well be what was done, by time.
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

/// Whether rules or other places make what is there, or a player names it; none if the
/// rules do not tell.
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

/// The two names of a fact of a shape.
fn parts(game: &Game, fact: &Term, shape: &Shape) -> Option<[Term; 2]> {
    match fact.functor(game.terms()) == shape.skeleton[0] {
        true => <[Term; 2]>::try_from(fact.arguments(game.terms())).ok(),
        false => None,
    }
}

/// The facts of a shape that a rule asks for.
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

/// Whether the move that a rule asks for names a variable.
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

/// Whether all places have something in each state, and it is moved about, so that there
/// is as much of everything in all states.
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
