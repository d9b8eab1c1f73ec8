//! Relations that depend on others, directly or through further relations. Negated
//! atoms count like others, but for [`supporters`]. The time is linear in the size of the rules.

use super::strata::for_each_body_atom;
use super::{RelationId, RuleSet};

/// By relation: true if it is one of `sources` or depends on one.
///
/// ```
/// use ggp_gdl::check::Keyword;
/// use ggp_gdl::game::Game;
/// use ggp_gdl::program::reach::dependents;
///
/// let text = "(role a) (legal a go) (<= (goal a 100) (role a)) (<= terminal p) (<= p (not q)) q";
/// let game = Game::from_text("one.kif", text).unwrap();
/// let role = game.keyword(Keyword::Role).unwrap();
/// let found = dependents(game.rules(), [role]);
/// assert!(found[game.keyword(Keyword::Goal).unwrap().index()]);
/// assert!(!found[game.keyword(Keyword::Terminal).unwrap().index()]);
/// ```
pub fn dependents(rules: &RuleSet, sources: impl IntoIterator<Item = RelationId>) -> Vec<bool> {
    let mut users: Vec<Vec<RelationId>> = vec![Vec::new(); rules.arity.len()];
    for rule in &rules.rules {
        for_each_body_atom(rule, |atom, _| {
            users[atom.relation.index()].push(rule.head.relation);
        });
    }
    closure(&users, sources)
}

/// By relation: true if it is one of `wanted` or one of them depends on it.
pub fn needed(rules: &RuleSet, wanted: impl IntoIterator<Item = RelationId>) -> Vec<bool> {
    let mut used: Vec<Vec<RelationId>> = vec![Vec::new(); rules.arity.len()];
    for rule in &rules.rules {
        for_each_body_atom(rule, |atom, _| {
            used[rule.head.relation.index()].push(atom.relation);
        });
    }
    closure(&used, wanted)
}

/// By relation: true if it is one of `wanted`, or one of them depends on it not only through a negation:
/// more facts of it may mean more facts of those.
pub fn supporters(rules: &RuleSet, wanted: impl IntoIterator<Item = RelationId>) -> Vec<bool> {
    let mut used: Vec<Vec<RelationId>> = vec![Vec::new(); rules.arity.len()];
    for rule in &rules.rules {
        for_each_body_atom(rule, |atom, negated| {
            if !negated {
                used[rule.head.relation.index()].push(atom.relation);
            }
        });
    }
    closure(&used, wanted)
}

fn closure(edges: &[Vec<RelationId>], from: impl IntoIterator<Item = RelationId>) -> Vec<bool> {
    let mut found = vec![false; edges.len()];
    let mut open: Vec<RelationId> = from.into_iter().collect();
    while let Some(relation) = open.pop() {
        if !std::mem::replace(&mut found[relation.index()], true) {
            open.extend(&edges[relation.index()]);
        }
    }
    found
}
