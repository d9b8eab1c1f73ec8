//! Transformations of rule bodies, and the rules with a given head.

use ggp_gdl::check::Keyword;
use ggp_gdl::game::Game;
use ggp_gdl::program::unify::Unifier;
use ggp_gdl::program::{Literal, Rule, Term};
use ggp_gdl::span::Span;
use ggp_gdl::terms::{TermId, Terms};

/// The body without negations of relations that change.
pub(super) fn relaxed_body(body: &[Literal], changing: &[bool]) -> Vec<Literal> {
    let keeps = |literal: &Literal| !matches!(literal, Literal::Negative(atom) if changing[atom.relation.index()]);
    let mut relaxed = Vec::with_capacity(body.len());
    for literal in body.iter().filter(|literal| keeps(literal)) {
        match literal {
            Literal::Any(branches) => {
                let branches: Vec<Vec<Literal>> = (branches.iter())
                    .map(|branch| relaxed_body(branch, changing))
                    .collect();
                // An empty branch is true.
                if branches.iter().all(|branch| !branch.is_empty()) {
                    relaxed.push(Literal::Any(branches));
                }
            }
            other => relaxed.push(other.clone()),
        }
    }
    relaxed
}

/// The bodies of a rule without disjunctions: one for each choice of branches.
pub(super) fn alternatives(rule: &Rule) -> Vec<Vec<Literal>> {
    let mut bodies = Vec::new();
    for (place, literal) in rule.body.iter().enumerate() {
        let Literal::Any(branches) = literal else {
            continue;
        };
        for branch in branches {
            let mut body = rule.body.clone();
            body.splice(place..=place, branch.iter().cloned());
            bodies.push(body);
        }
    }
    if bodies.is_empty() {
        bodies.push(rule.body.clone());
    }
    bodies
}

/// The rule with another body.
pub(super) fn with_body(rule: &Rule, body: Vec<Literal>) -> Rule {
    Rule {
        body,
        ..rule.clone()
    }
}

/// The body in the order of the text, with tests as early as their variables allow.
pub(super) fn in_order(rule: &Rule) -> Vec<Literal> {
    let mut bound = vec![false; rule.variables.len()];
    let mut tests: Vec<&Literal> = Vec::new();
    let mut order = Vec::with_capacity(rule.body.len());
    for literal in &rule.body {
        match literal {
            Literal::Positive(atom) => {
                atom.for_each_variable(|variable, _| bound[variable.index()] = true);
                order.push(literal.clone());
            }
            test => tests.push(test),
        }
        tests.retain(|test| {
            let mut ready = true;
            test.for_each_variable(&mut |variable| ready &= bound[variable.index()]);
            if ready {
                order.push(Literal::clone(test));
            }
            !ready
        });
    }
    order
}

/// The source location of a literal.
pub(super) fn place_of(literal: &Literal) -> Option<Span> {
    match literal {
        Literal::Positive(atom) | Literal::Negative(atom) => Some(atom.span),
        Literal::Distinct(_, _, span) | Literal::Same(_, _, span) => Some(*span),
        Literal::Any(branches) => branches.iter().flatten().find_map(place_of),
    }
}

/// The places of the facts and of the rules whose heads match a keyword with these arguments.
pub(super) fn places_of(
    game: &Game,
    keyword: Keyword,
    arguments: [TermId; 2],
    terms: &mut Terms,
) -> Vec<Span> {
    let relation = game.keyword(keyword);
    let facts = game.rules().facts.iter();
    let facts = facts
        .filter(|fact| Some(fact.relation) == relation && fact.arguments[..] == arguments)
        .map(|fact| fact.span);
    let rules = game.rules().rules.iter();
    let arguments = arguments.map(Term::Ground);
    let rules = rules
        .filter(|rule| {
            let mut unifier = Unifier::new(rule.variables.len(), terms);
            let mut pairs = rule.head.arguments.iter().zip(&arguments);
            Some(rule.head.relation) == relation
                && pairs.all(|(head, term)| unifier.unify((head, 0), (term, 0)))
        })
        .map(|rule| rule.head.span);
    facts.chain(rules).collect()
}
