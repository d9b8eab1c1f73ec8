//! Restriction of relations to the rows that fixed conditions of all their uses allow.
//!
//! In: rules that are not decomposed. Out: the same rules with guards. If every rule that uses a
//! relation also has conditions on its columns that do not depend on the state, as in
//! `(<= (pinned ?m) (between ?l ?m ?r) (type ?l king) (owner ?p ?l) (owner ?p ?m))`, no other rows
//! of the relation matter. The rows that any use allows are found first, by a program of fixed
//! relations alone, and its rules are matched within them.
//!
//! Source: magic sets for conditions, Mumick, Finkelstein, Pirahesh and Ramakrishnan, Magic
//! conditions, 1996.

use std::collections::BTreeSet;

use super::decompose::Pieces;
use ggp_gdl::datalog::{Bounds, Evaluator};
use ggp_gdl::program::{Atom, Literal, RelationId, Rule, RuleSet, Term, Variable, reach};
use ggp_gdl::terms::Terms;
use ggp_stop::Stop;

/// A relation is restricted if at most one in this many combinations of its values is used.
const SELECTIVE: f64 = 3.0;
/// The most rows and the most work with which the rows in use are found.
const MOST: (usize, u64) = (200_000, 2_000_000);

/// The rows that uses of a relation allow.
pub(super) struct Used {
    of: RelationId,
    /// The columns that every use restricts.
    columns: Vec<usize>,
    /// For each use: its columns, and the conditions on them.
    uses: Vec<Rule>,
}

/// Adds guards to the rules of relations with more than `many` combinations of values.
/// `combinations` is the number of them in some columns of a relation.
pub(super) fn restrict(
    pieces: &mut Pieces,
    mut used: Vec<Used>,
    dynamic: &[bool],
    combinations: impl Fn(RelationId, &[usize]) -> f64,
    many: f64,
    (terms, stop): (&Terms, &Stop),
) {
    used.retain(|used| {
        let all: Vec<usize> = (0..pieces.rules.arity[used.of.index()]).collect();
        combinations(used.of, &all) > many
    });
    if used.is_empty() {
        return;
    }
    let mut rules = pieces.rules.clone();
    let relations: Vec<RelationId> = used
        .iter()
        .map(|used| rules.add_relation(used.columns.len()))
        .collect();
    for (used, &relation) in used.iter_mut().zip(&relations) {
        for rule in &mut used.uses {
            rule.head.relation = relation;
        }
    }
    let Some(counts) = counts(&rules, dynamic, &used, &relations, terms, stop) else {
        return;
    };
    pieces.rules = rules;
    for ((used, relation), count) in used.into_iter().zip(relations).zip(counts) {
        if count as f64 * SELECTIVE > combinations(used.of, &used.columns) {
            continue;
        }
        pieces.guard_rules.extend(used.uses);
        for (rule, guards) in pieces.rules.rules.iter().zip(&mut pieces.guards) {
            if rule.head.relation == used.of {
                let arguments = used.columns.iter().map(|&c| rule.head.arguments[c].clone());
                guards.push(Literal::Positive(Atom {
                    relation,
                    arguments: arguments.collect(),
                    span: rule.span,
                }));
            }
        }
    }
}

/// The number of rows that uses allow, for each relation.
fn counts(
    rules: &RuleSet,
    dynamic: &[bool],
    used: &[Used],
    relations: &[RelationId],
    terms: &Terms,
    stop: &Stop,
) -> Option<Vec<usize>> {
    let mut program = rules.clone();
    program
        .rules
        .retain(|rule| !dynamic[rule.head.relation.index()]);
    let uses = used.iter().flat_map(|used| used.uses.iter().cloned());
    program.rules.extend(uses);
    let needed = reach::needed(&program, relations.iter().copied());
    program
        .rules
        .retain(|rule| needed[rule.head.relation.index()]);
    let bounds = Bounds {
        facts: MOST.0,
        work: MOST.1,
        stop: stop.clone(),
        foresight: Some(1.0),
        apart: None,
    };
    let queries = [(0, relations.to_vec())];
    let (evaluator, _) = Evaluator::new(program, &[], &queries, &mut terms.clone(), bounds).ok()?;
    Some(relations.iter().map(|&r| evaluator.count(r)).collect())
}

/// The relations that depend on the state, but for `fixed` ones, all of whose uses have fixed
/// conditions.
pub(super) fn candidates(rules: &RuleSet, dynamic: &[bool], fixed: &[RelationId]) -> Vec<Used> {
    let mut found: Vec<Option<Used>> = rules
        .relations()
        .map(|of| {
            let is_given = !dynamic[of.index()] || fixed.contains(&of);
            (!is_given).then(|| Used {
                of,
                columns: (0..rules.arity[of.index()]).collect(),
                uses: Vec::new(),
            })
        })
        .collect();
    for rule in &rules.rules {
        for literal in &rule.body {
            let Literal::Positive(atom) = literal else {
                literal.for_each_atom(&mut |atom, _| found[atom.relation.index()] = None);
                continue;
            };
            let Some(used) = &mut found[atom.relation.index()] else {
                continue;
            };
            let (body, bound) = conditions(rule, atom, dynamic);
            let is_bound = |term: &Term| {
                let mut is_bound = true;
                term.for_each_variable(&mut |v, _| is_bound &= bound.contains(&v));
                is_bound
            };
            used.columns
                .retain(|&column| is_bound(&atom.arguments[column]));
            if used.columns.is_empty() || body.is_empty() {
                found[atom.relation.index()] = None;
                continue;
            }
            used.uses.push(Rule {
                head: atom.clone(),
                body,
                variables: rule.variables.clone(),
                span: rule.span,
            });
        }
    }
    let mut found: Vec<Used> = found.into_iter().flatten().collect();
    found.retain(|used| !used.uses.is_empty());
    for used in &mut found {
        for rule in &mut used.uses {
            let all = std::mem::take(&mut rule.head.arguments);
            let arguments = used.columns.iter().map(|&column| all[column].clone());
            rule.head.arguments = arguments.collect();
        }
    }
    found
}

/// The fixed conditions of a rule's body that have to do with an atom's variables, and the
/// variables that they bind.
fn conditions(rule: &Rule, atom: &Atom, dynamic: &[bool]) -> (Vec<Literal>, BTreeSet<Variable>) {
    let is_fixed = |literal: &Literal| {
        let mut is_fixed = true;
        literal.for_each_atom(&mut |atom, _| is_fixed &= !dynamic[atom.relation.index()]);
        is_fixed
    };
    let mut reached: BTreeSet<Variable> = BTreeSet::new();
    for term in &atom.arguments {
        term.for_each_variable(&mut |variable, _| {
            reached.insert(variable);
        });
    }
    let fixed: Vec<&Literal> = rule.body.iter().filter(|l| is_fixed(l)).collect();
    let mut taken = vec![false; fixed.len()];
    let mut bound = BTreeSet::new();
    loop {
        let mut more = false;
        for (place, literal) in fixed.iter().enumerate() {
            let own = variables(literal);
            let is_next = matches!(literal, Literal::Positive(_)) && !own.is_disjoint(&reached);
            if is_next && !taken[place] {
                taken[place] = true;
                more = true;
                bound.extend(&own);
                reached.extend(own);
            }
        }
        if !more {
            break;
        }
    }
    for (place, literal) in fixed.iter().enumerate() {
        let is_test = !matches!(literal, Literal::Positive(_));
        let own = variables(literal);
        taken[place] |= is_test && !own.is_empty() && own.is_subset(&bound);
    }
    let taken = fixed.into_iter().zip(taken).filter(|(_, taken)| *taken);
    (taken.map(|(literal, _)| literal.clone()).collect(), bound)
}

fn variables(literal: &Literal) -> BTreeSet<Variable> {
    let mut found = BTreeSet::new();
    literal.for_each_variable(&mut |variable| {
        found.insert(variable);
    });
    found
}
