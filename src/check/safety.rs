//! Every variable is bound by a positive literal of the body.
//!
//! Source: GDL specification LG-2006-01, definition of safety.

use super::lower::Lowered;
use crate::diagnostic::{Code, Diagnostic, Strictness};
use crate::program::{Literal, Rule, Variable};
use crate::span::Span;

/// Reports variables that nothing binds.
pub(super) fn check(lowered: &Lowered) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for rule in &lowered.rules.rules {
        let mut bound = vec![false; rule.variables.len()];
        for literal in &rule.body {
            if let Literal::Positive(atom) = literal {
                atom.for_each_variable(|v, _| bound[v.index()] = true);
            }
        }
        let mut reported = Vec::new();
        let mut report = |variable: Variable, span: Span, place: &str| {
            if bound[variable.index()] || reported.contains(&variable) {
                return;
            }
            reported.push(variable);
            findings.push(unbound(rule, variable, span, place));
        };
        rule.head
            .for_each_variable(|v, _| report(v, rule.head.span, "the head"));
        for literal in &rule.body {
            let (span, place) = match literal {
                Literal::Positive(_) => continue,
                Literal::Negative(atom) => (atom.span, "a negation"),
                Literal::Distinct(_, _, span) => (*span, "distinct"),
                Literal::Same(_, _, span) => (*span, "not distinct"),
                // Kept as one only if its variables are bound beside it.
                Literal::Any(_) => continue,
            };
            literal.for_each_variable(&mut |v| report(v, span, place));
        }
    }
    findings
}

fn unbound(rule: &Rule, variable: Variable, span: Span, place: &str) -> Diagnostic {
    let name = &rule.variables[variable.index()];
    Diagnostic::new(
        Code::UnboundVariable,
        Strictness::Tolerant,
        span,
        format!("variable {name} is not bound by a positive literal"),
    )
    .note(
        rule.head.span,
        format!("in the rule for this; {name} stands in {place} only"),
    )
    .help(format!(
        "add a positive literal with {name} to the body (to each alternative of an `or`)"
    ))
}
