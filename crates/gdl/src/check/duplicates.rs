//! Check: no fact or rule is written twice.
//!
//! Two rules are equal if they differ only in the names of their variables and the
//! order of literals and alternatives. Where variables are hard to distinguish, a
//! duplicate may be missed; two different rules are never reported as equal.

use ggp_stop::Stop;
use std::hash::BuildHasher;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::keywords::Keyword;
use super::lower::Lowered;
use crate::diagnostic::{Code, Diagnostic, Strictness};
use crate::program::{Atom, Fact, Literal, Rule, Term, Variable};
use crate::span::{Sources, Span};

/// Maximum number of duplicates reported individually.
const MAX_REPORTED: usize = 20;

/// Maximum number of literals visited to normalize one rule.
const MAX_ORDERED: usize = 100_000;

/// Reports duplicates, until `stop` is over. Facts are compared within one file only:
/// an instance file may repeat facts of the rule file.
pub(super) fn check(
    lowered: &Lowered,
    strictness: Strictness,
    sources: &Sources,
    stop: &Stop,
) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    facts(lowered, stop, &mut found);
    rules(&lowered.rules.rules, stop, &mut found);
    found.sort_unstable();
    let more = found.len().saturating_sub(MAX_REPORTED);
    let told = found.iter().take(MAX_REPORTED);
    let mut findings: Vec<_> = told
        .map(|&(again, first)| {
            let (line, _) = sources.line_column(first);
            let place = match first.file == again.file {
                true => format!("line {line}"),
                false => format!(
                    "line {line} of {}",
                    sources.files()[first.file as usize].name()
                ),
            };
            let message = format!("this is a duplicate of {place}");
            Diagnostic::new(Code::Duplicate, strictness, again, message)
                .note(first, "first written here")
                .help("remove one of the two")
        })
        .collect();
    if more > 0 {
        let message = format!("{more} more duplicate facts and rules follow, beginning here");
        let place = found[MAX_REPORTED].0;
        findings.push(Diagnostic::new(Code::Duplicate, strictness, place, message));
    }
    findings
}

/// Adds a pair (duplicate, first occurrence) for each duplicate fact.
fn facts(lowered: &Lowered, stop: &Stop, found: &mut Vec<(Span, Span)>) {
    let facts = &lowered.rules.facts;
    // Duplicate roles have their own finding.
    let role = lowered.keyword_relation(Keyword::Role);
    let hash = |fact: &Fact| FxBuildHasher.hash_one((fact.relation, &fact.arguments));
    let mut known: HashTable<u32> = HashTable::new();
    for (index, fact) in (0..).zip(facts) {
        if stop.is_over() {
            return;
        }
        let of = |&known: &u32| &facts[known as usize];
        let same = |known: &u32| {
            let known = of(known);
            known.relation == fact.relation
                && known.arguments == fact.arguments
                && known.span.file == fact.span.file
        };
        match known.entry(hash(fact), same, |known| hash(of(known))) {
            Entry::Vacant(free) => {
                free.insert(index);
            }
            Entry::Occupied(first) => {
                let first = of(first.get()).span;
                if Some(fact.relation) != role && first != fact.span {
                    found.push((fact.span, first));
                }
            }
        }
    }
}

/// Adds a pair (duplicate, first occurrence) of heads for each duplicate rule.
fn rules(rules: &[Rule], stop: &Stop, found: &mut Vec<(Span, Span)>) {
    // The rules that one written rule expands to are adjacent.
    let forms: Vec<&[Rule]> = rules.chunk_by(|a, b| a.span == b.span).collect();
    let mut alike: Vec<(u64, u32)> = Vec::with_capacity(forms.len());
    for (index, form) in (0..).zip(&forms) {
        if stop.is_over() {
            return;
        }
        let mut hashes: Vec<u64> = form.iter().map(order_free_hash).collect();
        hashes.sort_unstable();
        alike.push((FxBuildHasher.hash_one(hashes), index));
    }
    alike.sort_unstable();
    for alike in alike
        .chunk_by(|a, b| a.0 == b.0)
        .filter(|alike| alike.len() > 1)
    {
        let mut known: FxHashMap<Vec<Vec<Tokens>>, Span> = FxHashMap::default();
        for &(_, index) in alike {
            if stop.is_over() {
                return;
            }
            let form = forms[index as usize];
            let mut normalized: Vec<_> = form.iter().map(normalized).collect();
            normalized.sort_unstable();
            let place = form[0].head.span;
            match known.get(&normalized) {
                Some(&first) => found.push((place, first)),
                None => {
                    known.insert(normalized, place);
                }
            }
        }
    }
}

/// A literal encoded as numbers; different literals have different encodings.
type Tokens = Vec<u32>;

/// The number for variables that are not distinguished.
const ANY: u32 = u32::MAX;

/// A hash that is equal for rules that differ only in variable names and order.
fn order_free_hash(rule: &Rule) -> u64 {
    let names = vec![ANY; rule.variables.len()];
    FxBuildHasher.hash_one(sorted(rule, &names))
}

/// The head and the literals in ascending order, with variables encoded by `names`.
fn sorted(rule: &Rule, names: &[u32]) -> Vec<Tokens> {
    let mut literals: Vec<Tokens> = rule.body.iter().map(|l| literal(l, names)).collect();
    literals.sort_unstable();
    literals.push(atom(&rule.head, names));
    literals
}

/// The rule with its variables numbered in an order that does not depend on how the
/// rule is written.
fn normalized(rule: &Rule) -> Vec<Tokens> {
    let count = rule.variables.len();
    let mut names = vec![ANY; count];
    let mut next = 0;
    let mut number = |names: &mut Vec<u32>, variable: Variable| {
        let name = &mut names[variable.index()];
        if *name >= ANY - count as u32 {
            *name = next;
            next += 1;
        }
    };
    let size: usize = sorted(rule, &names).iter().map(Vec::len).sum();
    if size.saturating_mul(rule.body.len() + count) > MAX_ORDERED {
        rule.head.for_each_variable(|v, _| number(&mut names, v));
        for literal in &rule.body {
            literal.for_each_variable(&mut |v| number(&mut names, v));
        }
        return sorted(rule, &names);
    }
    // First by all places where a variable occurs, ignoring the other variables.
    let mut places: Vec<(Vec<Tokens>, usize)> = (0..count)
        .map(|variable| {
            let mut names = vec![ANY; count];
            names[variable] = 0;
            (sorted(rule, &names), variable)
        })
        .collect();
    places.sort_unstable();
    let mut rank = ANY;
    for (index, (place, variable)) in places.iter().enumerate() {
        if index > 0 && *place != places[index - 1].0 {
            rank -= 1;
        }
        names[*variable] = rank;
    }
    // Then by the literals in sorted order, starting with the head.
    rule.head.for_each_variable(|v, _| number(&mut names, v));
    let mut rest: Vec<&Literal> = rule.body.iter().collect();
    while let Some((first, _)) = (rest.iter().enumerate())
        .map(|(index, rest)| (index, literal(rest, &names)))
        .min_by(|a, b| a.1.cmp(&b.1))
    {
        let literal = rest.remove(first);
        literal.for_each_variable(&mut |v| number(&mut names, v));
    }
    sorted(rule, &names)
}

fn literal(literal: &Literal, names: &[u32]) -> Tokens {
    let with = |kind: u32, rest: Tokens| [vec![kind], rest].concat();
    let pair = |left: &Term, right: &Term| {
        let mut sides = [left, right].map(|side| {
            let mut tokens = Tokens::new();
            term(side, names, &mut tokens);
            tokens
        });
        sides.sort_unstable();
        sides.concat()
    };
    match literal {
        Literal::Positive(positive) => with(0, atom(positive, names)),
        Literal::Negative(negative) => with(1, atom(negative, names)),
        Literal::Distinct(left, right, _) => with(2, pair(left, right)),
        Literal::Same(left, right, _) => with(3, pair(left, right)),
        Literal::Any(branches) => {
            let branches: Vec<Tokens> = branches
                .iter()
                .map(|branch| listed(branch.iter().map(|l| self::literal(l, names)).collect()))
                .collect();
            with(4, listed(branches))
        }
    }
}

/// Encodes lists as one, ignoring their order.
fn listed(mut lists: Vec<Tokens>) -> Tokens {
    lists.sort_unstable();
    let mut tokens = vec![lists.len() as u32];
    for list in lists {
        tokens.push(list.len() as u32);
        tokens.extend(list);
    }
    tokens
}

fn atom(atom: &Atom, names: &[u32]) -> Tokens {
    let mut tokens = vec![atom.relation.index() as u32];
    for argument in &atom.arguments {
        term(argument, names, &mut tokens);
    }
    tokens
}

fn term(term: &Term, names: &[u32], tokens: &mut Tokens) {
    match term {
        Term::Variable(variable) => tokens.extend([0, names[variable.index()]]),
        Term::Ground(id) => tokens.extend([1, id.index() as u32]),
        Term::Apply(functor, arguments) => {
            tokens.extend([2, functor.index() as u32]);
            for argument in arguments {
                self::term(argument, names, tokens);
            }
        }
    }
}
