//! The rules for the keys and values of a fluent: clearing, frames, succession, unused arguments.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::coverage::moving;
use ggp_gdl::check::Keyword;
use ggp_gdl::game::Game;
use ggp_gdl::program::{Atom, FunctorId, Literal, RelationId, Rule, Term, Variable};
use ggp_gdl::span::Span;

/// The rules for facts of a functor, with the facts that they derive. Rules that could
/// derive any fact are excluded.
fn rules_for(game: &Game, functor: FunctorId) -> impl Iterator<Item = (&Rule, Vec<Term>)> {
    let next = game.keyword(Keyword::Next);
    let rules = (game.rules().rules.iter()).filter(move |rule| Some(rule.head.relation) == next);
    rules.filter_map(move |rule| {
        let fact = &rule.head.arguments[0];
        (fact.functor(game.terms()) == Some(functor)).then(|| (rule, fact.arguments(game.terms())))
    })
}

/// The arguments of a literal that says that a fact of a functor is true.
fn is_true(game: &Game, literal: &Literal, functor: FunctorId) -> Option<Vec<Term>> {
    let Literal::Positive(atom) = literal else {
        return None;
    };
    let is_true = game.keyword(Keyword::True) == Some(atom.relation);
    let fact = atom.arguments.first().filter(|_| is_true)?;
    (fact.functor(game.terms()) == Some(functor)).then(|| fact.arguments(game.terms()))
}

fn variables_of<'t>(terms: impl IntoIterator<Item = &'t Term>) -> FxHashSet<Variable> {
    let mut found = FxHashSet::default();
    for term in terms {
        term.for_each_variable(&mut |variable, _| {
            found.insert(variable);
        });
    }
    found
}

/// The variables of all arguments but one, and those of that one.
fn split(arguments: &[Term], value: usize) -> (FxHashSet<Variable>, FxHashSet<Variable>) {
    let others = arguments
        .iter()
        .enumerate()
        .filter(|(place, _)| *place != value);
    (
        variables_of(others.map(|(_, term)| term)),
        variables_of([&arguments[value]]),
    )
}

/// Returns whether a rule keeps a key's value unless the moves meet a condition on the key that
/// does not involve its value.
pub(super) fn clears(game: &Game, functor: FunctorId, value: usize) -> bool {
    let moving = moving(game);
    rules_for(game, functor).any(|(rule, given)| {
        let keeps = |literal| is_true(game, literal, functor).is_some_and(|kept| kept == given);
        let (of_key, of_value) = split(&given, value);
        rule.body.iter().any(keeps)
            && !of_value.is_empty()
            && rule.body.iter().any(|literal| match literal {
                Literal::Negative(atom) if moving[atom.relation.index()] => {
                    let has = variables_of(&atom.arguments);
                    !has.is_disjoint(&of_key) && has.is_disjoint(&of_value)
                }
                _ => false,
            })
    })
}

/// Returns whether a rule asks whether a key has no value at all.
pub(super) fn asks_for_none(game: &Game, functor: FunctorId, value: usize) -> bool {
    let set = game.rules();
    let mut denied = vec![false; set.arity.len()];
    for literal in set.rules.iter().flat_map(|rule| &rule.body) {
        literal.for_each_atom(&mut |atom, is_denied| {
            denied[atom.relation.index()] |= is_denied;
        });
    }
    let mut rules = set.rules.iter();
    rules.any(|rule| {
        let [literal] = &rule.body[..] else {
            return false;
        };
        is_true(game, literal, functor).is_some_and(|read| {
            let (of_key, of_value) = split(&read, value);
            denied[rule.head.relation.index()]
                && !of_value.is_empty()
                && variables_of(&rule.head.arguments) == of_key
                && of_key.is_disjoint(&of_value)
        })
    })
}

/// Returns whether a rule leads from the value of a key to its successor, by facts that give each
/// value at most one successor and one predecessor.
pub(super) fn leads_on(game: &Game, functor: FunctorId, value: usize) -> bool {
    let set = game.rules();
    let is_chain = |relation: RelationId| {
        let facts = || set.facts.iter().filter(|fact| fact.relation == relation);
        let column = |at: usize| facts().map(move |fact| fact.arguments[at]);
        let [from, to] = [0, 1].map(|at| column(at).collect::<FxHashSet<_>>().len());
        set.rules.iter().all(|rule| rule.head.relation != relation)
            && from > 0
            && facts().count() == from
            && from == to
    };
    rules_for(game, functor).any(|(rule, given)| {
        let reads = rule
            .body
            .iter()
            .filter_map(|literal| is_true(game, literal, functor));
        let mut reads = reads.filter(|read| {
            let others = |arguments: &[Term]| {
                let mut key = arguments.to_vec();
                key.remove(value);
                key
            };
            others(read) == others(&given) && read[value] != given[value]
        });
        reads.any(|read| {
            rule.body.iter().any(|literal| match literal {
                Literal::Positive(atom) if atom.arguments.len() == 2 => {
                    let pair = [&read[value], &given[value]];
                    pair.iter().all(|term| atom.arguments.contains(term)) && is_chain(atom.relation)
                }
                _ => false,
            })
        })
    })
}

/// Rules for the keys that the moves made say something about, if all rules for them name
/// moves or keep some values whatever is moved. With `is_strict`, these are keys that get a value: what `distinct` leaves out is left out.
pub(super) fn handled(
    game: &Game,
    functor: FunctorId,
    value: usize,
    is_strict: bool,
) -> Option<Vec<Rule>> {
    let next = game.keyword(Keyword::Next);
    let mut heads = game
        .rules()
        .rules
        .iter()
        .filter(|rule| Some(rule.head.relation) == next);
    let is_any = |rule: &Rule| matches!(rule.head.arguments[0], Term::Variable(_));
    if heads.any(is_any) {
        return None;
    }
    let moving = moving(game);
    let names_move = |literal: &&Literal| matches!(literal, Literal::Positive(atom) if moving[atom.relation.index()]);
    // A rule that keeps values without a condition but on the value says nothing of the values that are lost.
    let only_keeps = |(rule, given): &(&Rule, Vec<Term>)| {
        let is_kept = |literal: &Literal| is_true(game, literal, functor).as_ref() == Some(given);
        rule.body.iter().any(is_kept)
            && (rule.body.iter())
                .all(|literal| is_kept(literal) || matches!(literal, Literal::Distinct(..)))
    };
    let others = rules_for(game, functor).filter(|rule| !only_keeps(rule));
    let rules = others.map(|(rule, mut given)| {
        given.remove(value);
        let mut body: Vec<Literal> = rule.body.iter().filter(names_move).cloned().collect();
        if body.is_empty() {
            return None;
        }
        let needed = variables_of(&given);
        let mut bound = FxHashSet::default();
        for literal in &body {
            literal.for_each_variable(&mut |variable| {
                bound.insert(variable);
            });
        }
        // Other literals about the key, with a value that it has.
        for literal in &rule.body {
            if needed.is_subset(&bound) {
                break;
            }
            if let Some(read) = is_true(game, literal, functor) {
                bound.extend(variables_of(&read));
                body.push(literal.clone());
            }
        }
        // Other literals about the key, with any value.
        for literal in &rule.body {
            if needed.is_subset(&bound) {
                break;
            }
            if let Literal::Positive(atom) = literal
                && !moving[atom.relation.index()]
            {
                bound.extend(variables_of(&atom.arguments));
                body.push(literal.clone());
            }
        }
        let is_bound = |literal: &&Literal| {
            let mut is_bound = is_strict && matches!(literal, Literal::Distinct(..));
            literal.for_each_variable(&mut |variable| is_bound &= bound.contains(&variable));
            is_bound
        };
        body.extend(rule.body.iter().filter(is_bound).cloned());
        let head = Atom {
            relation: rule.head.relation,
            arguments: given,
            span: Span::default(),
        };
        needed.is_subset(&bound).then(|| Rule {
            head,
            body,
            ..rule.clone()
        })
    });
    let rules: Option<Vec<Rule>> = rules.collect();
    rules.filter(|rules| !rules.is_empty())
}

/// For each functor of moves: the arguments that nothing depends on.
pub(super) fn unused(game: &Game) -> FxHashMap<FunctorId, Vec<usize>> {
    let mut used: FxHashMap<FunctorId, Vec<bool>> = FxHashMap::default();
    let does = game.keyword(Keyword::Does);
    for rule in &game.rules().rules {
        let mut counts = vec![0usize; rule.variables.len()];
        let mut count = |variable: Variable| counts[variable.index()] += 1;
        rule.head.for_each_variable(|variable, _| count(variable));
        for literal in &rule.body {
            literal.for_each_variable(&mut |variable| count(variable));
        }
        let mut atoms = Vec::new();
        for literal in &rule.body {
            literal.for_each_atom(&mut |atom, _| atoms.push(atom));
        }
        for atom in atoms.into_iter().filter(|atom| Some(atom.relation) == does) {
            let made = &atom.arguments[1];
            let Some(functor) = made.functor(game.terms()) else {
                match made {
                    Term::Variable(variable) if counts[variable.index()] == 1 => continue,
                    // A rule that uses a move as a whole.
                    _ => return FxHashMap::default(),
                }
            };
            let arguments = made.arguments(game.terms());
            let used = used
                .entry(functor)
                .or_insert_with(|| vec![false; arguments.len()]);
            for (used, argument) in used.iter_mut().zip(&arguments) {
                *used |= match argument {
                    Term::Variable(variable) => counts[variable.index()] > 1,
                    _ => true,
                };
            }
        }
    }
    let unused = used.into_iter().map(|(functor, used)| {
        let fluents = (0..used.len()).filter(|&argument| !used[argument]);
        (functor, fluents.collect::<Vec<usize>>())
    });
    unused.filter(|(_, unused)| !unused.is_empty()).collect()
}
