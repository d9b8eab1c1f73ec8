//! Check: no recursion generates ever larger terms.
//!
//! A recursive rule may not wrap a variable in more functors in its head than in its
//! recursive literal, unless a literal outside the recursion bounds the variable.
//! This forbids less than the restriction in the specification, which excludes
//! harmless rules such as a transitive closure defined by joining it with itself. Rules
//! that satisfy the specification are always accepted.
//!
//! Source: GDL specification LG-2006-01, recursion restriction.

use ggp_stop::Stop;

use super::lower::Lowered;
use crate::diagnostic::{Code, Diagnostic, Strictness};
use crate::graph::strong_components;
use crate::program::strata::uses;
use crate::program::{Atom, Literal, RelationId, Rule, Term};

/// Reports rules that can derive ever larger terms from their own results, until
/// `stop` is over.
pub(super) fn check(lowered: &Lowered, stop: &Stop) -> Vec<Diagnostic> {
    if stop.is_over() {
        return Vec::new();
    }
    let component = components(lowered);
    let same = |a: RelationId, b: RelationId| component[a.index()] == component[b.index()];
    let mut findings = Vec::new();
    for rule in &lowered.rules.rules {
        if stop.is_over() {
            break;
        }
        let head = &rule.head;
        // Largest nesting of each variable in the head.
        let mut wrapped: Vec<Option<usize>> = vec![None; rule.variables.len()];
        head.for_each_variable(|v, depth| {
            let most = &mut wrapped[v.index()];
            *most = Some(most.map_or(depth, |m| m.max(depth)));
        });
        let mut recursive = None;
        // Smallest nesting of each variable in a literal of the recursion, or `None`
        // if another literal bounds it.
        let mut given: Vec<Option<usize>> = vec![None; rule.variables.len()];
        let mut bounded = vec![false; rule.variables.len()];
        for literal in &rule.body {
            let Literal::Positive(atom) = literal else {
                continue;
            };
            let is_recursive = same(atom.relation, head.relation);
            if is_recursive {
                recursive.get_or_insert(atom.span);
            }
            atom.for_each_variable(|v, depth| {
                if is_recursive {
                    let least = &mut given[v.index()];
                    *least = Some(least.map_or(depth, |l| l.min(depth)));
                } else {
                    bounded[v.index()] = true;
                }
            });
        }
        let Some(place) = recursive else { continue };
        if satisfies_specification(rule, |relation| same(relation, head.relation)) {
            continue;
        }
        for (index, name) in rule.variables.iter().enumerate() {
            let (Some(wrapped), Some(given)) = (wrapped[index], given[index]) else {
                continue;
            };
            if bounded[index] || wrapped <= given {
                continue;
            }
            let relation = lowered.relation_name(head.relation);
            let finding = Diagnostic::new(
                Code::GrowingRecursion,
                Strictness::Tolerant,
                head.span,
                format!("{relation} can grow without end: {name} is wrapped in a larger term"),
            );
            findings.push(
                finding
                    .note(place, "each result is used here again")
                    .help(format!(
                        "add a literal outside the recursion that limits the values of {name}"
                    )),
            );
        }
    }
    findings
}

/// True if each argument of each recursive literal is ground, an argument of the head, or
/// an argument of a literal outside the recursion.
fn satisfies_specification(rule: &Rule, is_recursive: impl Fn(RelationId) -> bool) -> bool {
    let positive = rule.body.iter().filter_map(|literal| match literal {
        Literal::Positive(atom) => Some(atom),
        _ => None,
    });
    let (recursive, outside): (Vec<&Atom>, Vec<&Atom>) =
        positive.partition(|atom| is_recursive(atom.relation));
    let outside = || outside.iter().flat_map(|atom| &atom.arguments);
    let mut arguments = recursive.iter().flat_map(|atom| &atom.arguments);
    arguments.all(|argument| {
        matches!(argument, Term::Ground(_))
            || rule.head.arguments.contains(argument)
            || outside().any(|other| other == argument)
    })
}

/// For each relation, the number of its strongly connected component.
fn components(lowered: &Lowered) -> Vec<usize> {
    let rules = &lowered.rules;
    let mut component = vec![0; rules.arity.len()];
    let components = strong_components(rules.arity.len(), &uses(rules));
    for (number, members) in components.iter().enumerate() {
        for &member in members {
            component[member] = number;
        }
    }
    component
}
