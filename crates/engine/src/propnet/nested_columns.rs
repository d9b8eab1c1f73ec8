//! Columns in place of a term.
//!
//! In: a rule set. Out: an equivalent rule set, where a column that has the same functor
//! wherever its relation is used, as in `(move_of ?role (move ?from ?to))`, is replaced by columns
//! for the arguments of the functor. Then variables are found in columns, which other passes look
//! at, and rows need no terms.

use rustc_hash::FxHashMap;

use ggp_gdl::program::strata::for_each_body_atom;
use ggp_gdl::program::{Atom, FunctorId, Literal, RelationId, RuleSet, Term};
use ggp_gdl::terms::Terms;

/// The most levels of terms that become columns.
const MOST_LEVELS: usize = 16;
/// The most columns of a relation whose terms become columns.
const MOST_COLUMNS: usize = 32;

/// Splits the columns of all relations but those that are `fixed`.
pub(super) fn unnest(
    rules: &mut RuleSet,
    terms: &Terms,
    arity: impl Fn(FunctorId) -> usize,
    fixed: impl IntoIterator<Item = RelationId>,
) {
    let mut is_fixed = vec![false; rules.arity.len()];
    for relation in fixed {
        is_fixed[relation.index()] = true;
    }
    for _ in 0..MOST_LEVELS {
        let mut found: FxHashMap<(usize, usize), Option<FunctorId>> = FxHashMap::default();
        let mut see = |relation: RelationId, column: usize, functor: Option<FunctorId>| {
            let known = found.entry((relation.index(), column)).or_insert(functor);
            if *known != functor {
                *known = None;
            }
        };
        for fact in &rules.facts {
            for (column, &value) in fact.arguments.iter().enumerate() {
                see(fact.relation, column, compound(&Term::Ground(value), terms));
            }
        }
        for rule in &rules.rules {
            let mut see_all = |atom: &Atom| {
                for (column, term) in atom.arguments.iter().enumerate() {
                    see(atom.relation, column, compound(term, terms));
                }
            };
            see_all(&rule.head);
            for_each_body_atom(rule, |atom, _| see_all(atom));
        }
        // By relation: the last column that can be split.
        let mut split: FxHashMap<usize, usize> = FxHashMap::default();
        for ((relation, column), functor) in &found {
            let is_small =
                |functor: &FunctorId| rules.arity[*relation] + arity(*functor) <= MOST_COLUMNS;
            if functor.as_ref().is_some_and(is_small) && !is_fixed[*relation] {
                let last = split.entry(*relation).or_insert(*column);
                *last = (*last).max(*column);
            }
        }
        if split.is_empty() {
            return;
        }
        for (&relation, &column) in &split {
            let functor = found[&(relation, column)].expect("only columns with a functor");
            rules.arity[relation] += arity(functor) - 1;
        }
        let mut replace = |atom: &mut Atom| {
            if let Some(&column) = split.get(&atom.relation.index()) {
                let inner = atom.arguments[column].arguments(terms);
                atom.arguments.splice(column..=column, inner);
            }
        };
        for fact in &mut rules.facts {
            if let Some(&column) = split.get(&fact.relation.index()) {
                let mut row = fact.arguments.to_vec();
                let inner = terms.arguments(row[column]).to_vec();
                row.splice(column..=column, inner);
                fact.arguments = row.into();
            }
        }
        for rule in &mut rules.rules {
            replace(&mut rule.head);
            for literal in &mut rule.body {
                for_each_atom_mut(literal, &mut replace);
            }
        }
    }
}

/// The functor of a term with arguments.
fn compound(term: &Term, terms: &Terms) -> Option<FunctorId> {
    let has_arguments = match term {
        Term::Variable(_) => false,
        Term::Ground(value) => !terms.arguments(*value).is_empty(),
        Term::Apply(..) => true,
    };
    term.functor(terms).filter(|_| has_arguments)
}

fn for_each_atom_mut(literal: &mut Literal, visit: &mut impl FnMut(&mut Atom)) {
    match literal {
        Literal::Positive(atom) | Literal::Negative(atom) => visit(atom),
        Literal::Distinct(..) | Literal::Same(..) => {}
        Literal::Any(branches) => {
            for literal in branches.iter_mut().flatten() {
                for_each_atom_mut(literal, visit);
            }
        }
    }
}
