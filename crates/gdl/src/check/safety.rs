//! Check: every variable is bound by a positive literal of the body.
//!
//! Source: GDL specification LG-2006-01, definition of safety.

use ggp_stop::Stop;

use super::lower::Lowered;
use crate::diagnostic::{Code, Diagnostic, Strictness};
use crate::program::{Literal, Rule, Variable};
use crate::span::{Sources, Span};
use crate::symbol::Case;

/// Reports unbound variables, until `stop` is over.
pub(super) fn check(lowered: &Lowered, sources: &Sources, stop: &Stop) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for rule in &lowered.rules.rules {
        if stop.is_over() {
            break;
        }
        let mut bound = vec![false; rule.variables.len()];
        for literal in &rule.body {
            if let Literal::Positive(atom) = literal {
                atom.for_each_variable(|v, _| bound[v.index()] = true);
            }
        }
        let mut reported = Vec::new();
        let mut report = |variable: Variable, span: Span, place: &str| {
            if bound[variable.index()] || stop.is_over() || reported.contains(&variable) {
                return;
            }
            reported.push(variable);
            findings.push(unbound(lowered, sources, rule, variable, span, place));
        };
        rule.head
            .for_each_variable(|v, _| report(v, rule.head.span, "the head"));
        for literal in &rule.body {
            let (span, place) = match literal {
                Literal::Positive(_) => continue,
                Literal::Negative(atom) => (atom.span, "a negation"),
                Literal::Distinct(_, _, span) => (*span, "`distinct`"),
                Literal::Same(_, _, span) => (*span, "a negated `distinct`"),
                // Disjunctions are kept only if their variables are bound outside
                // them.
                Literal::Any(_) => continue,
            };
            literal.for_each_variable(&mut |v| report(v, span, place));
        }
    }
    findings
}

fn unbound(
    lowered: &Lowered,
    sources: &Sources,
    rule: &Rule,
    variable: Variable,
    span: Span,
    place: &str,
) -> Diagnostic {
    let name = &rule.variables[variable.index()];
    let message = format!("variable {name} is not bound by a positive literal");
    let at = occurrence(sources, span, |text| match lowered.symbols.case() {
        Case::Fold => text.to_lowercase() == name.to_lowercase(),
        Case::Keep => *text == **name,
    });
    Diagnostic::new(Code::UnboundVariable, Strictness::Tolerant, at, message).help(format!(
        "{name} occurs in {place}: add a positive literal with {name} to the body, \
         and to every alternative of an `or`"
    ))
}

/// The first occurrence of a variable in a span.
fn occurrence(sources: &Sources, span: Span, is_it: impl Fn(&str) -> bool) -> Span {
    let text = sources.text(span);
    let is_name = |c: char| !c.is_whitespace() && !matches!(c, '(' | ')' | ';');
    let mut from = 0;
    while let Some(found) = text[from..].find('?') {
        let start = from + found;
        let rest = &text[start..];
        let end = start + rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        let begins = !text[..start].ends_with(is_name);
        if begins && is_it(&text[start..end]) {
            return Span {
                file: span.file,
                start: span.start + start as u32,
                end: span.start + end as u32,
            };
        }
        from = end.max(start + 1);
    }
    span
}
