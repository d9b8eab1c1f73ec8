//! The facts that may ever hold, as a Datalog program.
//!
//! In: a game over flat relations. Out: a program without inputs. Its least model
//! contains every row that any reachable state can give a relation. Relations that
//! do not depend on the state are exact. For the others, a fact that can hold next
//! may hold, a move that can be legal may be made, and negations are dropped.

use ggp_gdl::graph::strong_components;

use super::decompose::Pieces;
use ggp_gdl::check::Keyword;
use ggp_gdl::game::Game;
use ggp_gdl::game::flat::{Flat, Wrapped};
use ggp_gdl::program::strata::for_each_body_atom;
use ggp_gdl::program::{
    Atom, FunctorId, Literal, RelationId, Rule, RuleSet, Term, Variable, reach,
};
use ggp_gdl::span::Span;
use ggp_gdl::terms::{TermOverflow, Terms};

/// By relation of a flat game: true if its rows depend on the state.
pub(super) fn dynamic(flat: &Flat) -> Vec<bool> {
    let inputs = flat.state.relations().chain(flat.does.relations());
    reach::dependents(&flat.rules, inputs)
}

/// Builds the program. Its first rules are those of the flat game, in order, each
/// with the guards of its piece.
///
/// # Errors
///
/// [`TermOverflow`] if the table of terms is full.
pub(super) fn relaxed(
    game: &Game,
    flat: &Flat,
    pieces: &Pieces,
    dynamic: &[bool],
    terms: &mut Terms,
) -> Result<RuleSet, TermOverflow> {
    let mut rules = flat.rules.clone();
    let nothing = Vec::new();
    let guards = pieces.guards.iter().chain(std::iter::repeat(&nothing));
    rules.rules.extend(pieces.guard_rules.iter().cloned());
    for (rule, guards) in rules.rules.iter_mut().zip(guards) {
        rule.body = std::mem::take(&mut rule.body)
            .into_iter()
            .filter_map(|literal| weaken(literal, dynamic))
            .chain(guards.iter().cloned())
            .collect();
    }
    for (given, sources, roles) in [
        (&flat.state, &[&flat.init, &flat.next][..], None),
        (&flat.does, &[&flat.legal][..], game.keyword(Keyword::Role)),
    ] {
        for source in sources {
            for mut rule in copies(game, given, source, usize::from(roles.is_some()), terms)? {
                if let Some(role) = roles {
                    let relation = role;
                    let arguments = vec![rule.head.arguments[0].clone()];
                    let span = Span::default();
                    rule.body.push(Literal::Positive(Atom {
                        relation,
                        arguments,
                        span,
                    }));
                }
                rules.rules.push(rule);
            }
        }
    }
    Ok(rules)
}

/// A literal without negations of atoms that depend on the state, or `None` if
/// nothing remains to be tested.
fn weaken(literal: Literal, dynamic: &[bool]) -> Option<Literal> {
    match literal {
        Literal::Negative(atom) if dynamic[atom.relation.index()] => None,
        Literal::Any(branches) => {
            let mut weaker = Vec::with_capacity(branches.len());
            for branch in branches {
                let branch: Vec<Literal> = branch
                    .into_iter()
                    .filter_map(|literal| weaken(literal, dynamic))
                    .collect();
                if branch.is_empty() {
                    return None;
                }
                weaker.push(branch);
            }
            Some(Literal::Any(weaker))
        }
        other => Some(other),
    }
}

/// Rules that copy the rows of one keyword's relations to another's. The wrapped
/// term follows `before` other columns.
fn copies(
    game: &Game,
    given: &Wrapped,
    source: &Wrapped,
    before: usize,
    terms: &mut Terms,
) -> Result<Vec<Rule>, TermOverflow> {
    let functors = game.functors();
    let mut rules = Vec::new();
    for (functor, described) in functors.iter() {
        let arity = described.arity();
        let to = given.by_functor.get(functor.index()).copied().flatten();
        let from = source.by_functor.get(functor.index()).copied().flatten();
        // f(X) <- f(X)
        if let (Some(to), Some(from)) = (to, from) {
            rules.push(rule(
                before + arity,
                (to, flat(before, arity)),
                (from, flat(before, arity)),
            ));
        }
        // f(X) <- whole(f(X))
        if let (Some(to), Some(from)) = (to, source.whole) {
            rules.push(rule(
                before + arity,
                (to, flat(before, arity)),
                (from, wrapped(before, functor, arity, terms)?),
            ));
        }
        // whole(f(X)) <- f(X)
        if let (Some(to), Some(from)) = (given.whole, from) {
            rules.push(rule(
                before + arity,
                (to, wrapped(before, functor, arity, terms)?),
                (from, flat(before, arity)),
            ));
        }
    }
    if let (Some(to), Some(from)) = (given.whole, source.whole) {
        let columns = flat(before, 1);
        rules.push(rule(before + 1, (to, columns.clone()), (from, columns)));
    }
    Ok(rules)
}

fn flat(before: usize, arity: usize) -> Vec<Term> {
    let variables = (0..before + arity).map(Variable::new);
    variables.map(Term::Variable).collect()
}

fn wrapped(
    before: usize,
    functor: FunctorId,
    arity: usize,
    terms: &mut Terms,
) -> Result<Vec<Term>, TermOverflow> {
    let mut columns = flat(before, arity);
    let arguments = columns.split_off(before);
    columns.push(match arguments.is_empty() {
        true => Term::Ground(terms.intern(functor, &[])?),
        false => Term::Apply(functor, arguments.into()),
    });
    Ok(columns)
}

fn rule(variables: usize, head: (RelationId, Vec<Term>), body: (RelationId, Vec<Term>)) -> Rule {
    let span = Span::default();
    let atom = |(relation, arguments)| Atom {
        relation,
        arguments,
        span,
    };
    Rule {
        head: atom(head),
        body: vec![Literal::Positive(atom(body))],
        variables: (0..variables).map(|_| "?x".into()).collect(),
        span,
    }
}

/// The relations that the wanted ones depend on, dependencies first. Mutually
/// dependent relations are grouped.
pub(super) fn components(rules: &RuleSet, wanted: &[RelationId]) -> Vec<Vec<usize>> {
    let count = rules.arity.len();
    let needed = reach::needed(rules, wanted.iter().copied());
    let mut edges = Vec::new();
    for rule in &rules.rules {
        let user = rule.head.relation.index();
        if needed[user] {
            for_each_body_atom(rule, |atom, _| {
                edges.push((user as u32, atom.relation.index() as u32));
            });
        }
    }
    let components = strong_components(count, &edges)
        .into_iter()
        .map(|mut relations| {
            relations.sort_unstable();
            relations
        });
    components
        .filter(|relations| needed[relations[0]])
        .collect()
}
