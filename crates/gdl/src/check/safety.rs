//! Check: every variable is bound by a positive literal of the body.
//!
//! Source: GDL specification LG-2006-01, definition of safety.

use ggp_stop::Stop;

use super::keywords::Keyword;
use super::lower::Lowered;
use crate::diagnostic::{Code, Diagnostic, Strictness};
use crate::program::{Literal, Rule, Term, Variable};
use crate::span::{Sources, Span};
use crate::symbol::Case;

/// The most bytes of an atom in a suggestion.
const LONGEST_ATOM: usize = 80;

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
            let finding = unbound(lowered, sources, rule, variable, span);
            let help = role(lowered, rule, variable);
            let help = help.or_else(|| none_of(lowered, sources, rule, variable));
            let help = help.or_else(|| without_mark(sources, rule, variable));
            findings.push(match help {
                Some(help) => finding.help(help),
                None => finding.help(format!(
                    "{name} occurs in {place}: add a positive literal with {name} to the body, and to \
                     every alternative of an `or`",
                    name = rule.variables[variable.index()]
                )),
            });
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
) -> Diagnostic {
    let name = &rule.variables[variable.index()];
    let message = format!("variable {name} is not bound by a positive literal");
    let at = occurrence(sources, span, |text| match lowered.symbols.case() {
        Case::Fold => text.to_lowercase() == name.to_lowercase(),
        Case::Keep => *text == **name,
    });
    Diagnostic::new(Code::UnboundVariable, Strictness::Tolerant, at, message)
}

/// The advice where the head is about any role.
fn role(lowered: &Lowered, rule: &Rule, variable: Variable) -> Option<String> {
    let of_roles = [Keyword::Legal, Keyword::Goal, Keyword::Sees, Keyword::Input];
    let is_of_roles = lowered
        .keyword_of(rule.head.relation)
        .is_some_and(|k| of_roles.contains(&k));
    let is_role = is_of_roles && rule.head.arguments.first() == Some(&Term::Variable(variable));
    let name = &rule.variables[variable.index()];
    is_role.then(|| {
        format!(
            "for every role, add (role {name}) to the body, and to every alternative of an `or`"
        )
    })
}

/// The advice where a condition has the variable's name as an argument without its question mark.
fn without_mark(sources: &Sources, rule: &Rule, variable: Variable) -> Option<String> {
    let name = &*rule.variables[variable.index()];
    let bare = &name[1..];
    let mut is_written = false;
    for literal in &rule.body {
        literal.for_each_atom(&mut |atom, _| {
            let text = sources.text(atom.span);
            is_written |= text.match_indices(bare).any(|(at, _)| {
                let after = &text[at + bare.len()..];
                text[..at].ends_with(char::is_whitespace)
                    && after.starts_with(|c: char| c.is_whitespace() || c == ')')
            });
        });
    }
    is_written.then(|| format!("did you mean {name} where the body has {bare}?"))
}

/// The advice for a negation that denies that something exists: the variable occurs there alone.
fn none_of(
    lowered: &Lowered,
    sources: &Sources,
    rule: &Rule,
    variable: Variable,
) -> Option<String> {
    let mut has_it = false;
    rule.head.for_each_variable(|v, _| has_it |= v == variable);
    let mut of = rule.body.iter().filter(|literal| {
        let mut has_it = false;
        literal.for_each_variable(&mut |v| has_it |= v == variable);
        has_it
    });
    let (Some(Literal::Negative(atom)), None) = (of.next(), of.next()) else {
        return None;
    };
    let text = sources.text(atom.span);
    if has_it || text.len() > LONGEST_ATOM || text.contains(['\n', '\r', ';']) {
        return None;
    }
    let functor = match lowered.keyword_of(atom.relation) {
        Some(_) => atom.arguments.last()?.functor(&lowered.terms)?,
        None => lowered.relation_functor[atom.relation.index()],
    };
    let name = lowered.symbols.name(lowered.functors.functor(functor).name);
    // What is bound elsewhere is the same within the negation.
    let mut others: Vec<Variable> = Vec::new();
    atom.for_each_variable(|v, _| {
        let bound = rule.body.iter().any(|literal| {
            let mut has_it = false;
            if let Literal::Positive(atom) = literal {
                atom.for_each_variable(|other, _| has_it |= other == v);
            }
            has_it
        });
        if bound && !others.contains(&v) {
            others.push(v);
        }
    });
    let names = others
        .iter()
        .map(|v| format!(" {}", rule.variables[v.index()]));
    let some = match names.collect::<String>() {
        names if names.is_empty() => format!("some_{name}"),
        names => format!("(some_{name}{names})"),
    };
    let unbound = &rule.variables[variable.index()];
    Some(format!(
        "to deny that any {unbound} exists, define a relation of its own, such as (<= {some} {text}), and write (not {some})"
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
