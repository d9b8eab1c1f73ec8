//! One name, one number of arguments.

use ggp_stop::Stop;
use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::lower::Lowered;
use crate::diagnostic::{Code, Diagnostic, Strictness};
use crate::program::{Functor, FunctorId, Shape};
use crate::span::Span;
use crate::symbol::Symbol;

/// Reports relations and functions that are used with different numbers of
/// arguments, unless `stop` is raised. A relation and a function may share a name; so
/// may a constant and a function.
pub(super) fn check(lowered: &Lowered, strictness: Strictness, stop: &Stop) -> Vec<Diagnostic> {
    if stop.is_over() {
        return Vec::new();
    }
    let mut first_use: FxHashMap<FunctorId, Span> = FxHashMap::default();
    for (relation, _, span) in &lowered.uses {
        let functor = lowered.relation_functor[relation.index()];
        first_use.entry(functor).or_insert(*span);
    }
    let mut findings = Vec::new();
    report(
        lowered,
        &first_use,
        Kind::Relation,
        strictness,
        &mut findings,
    );
    report(
        lowered,
        &lowered.term_functors,
        Kind::Function,
        strictness,
        &mut findings,
    );
    findings
}

#[derive(Copy, Clone, PartialEq, Eq)]
enum Kind {
    Relation,
    Function,
}

fn report(
    lowered: &Lowered,
    first_use: &FxHashMap<FunctorId, Span>,
    kind: Kind,
    strictness: Strictness,
    findings: &mut Vec<Diagnostic>,
) {
    let mut by_name: BTreeMap<Symbol, Vec<(Span, Functor)>> = BTreeMap::new();
    for (functor, span) in first_use {
        let functor = lowered.functors.functor(*functor);
        by_name
            .entry(functor.name)
            .or_default()
            .push((*span, functor));
    }
    for (name, mut uses) in by_name {
        uses.sort_unstable();
        let name = lowered.symbols.name(name);
        let shapes: Vec<Shape> = uses.iter().map(|(_, functor)| functor.shape).collect();
        if shapes.contains(&Shape::Bare) && shapes.contains(&Shape::Applied(0)) {
            let (span, _) = uses[1];
            let finding = Diagnostic::new(
                Code::BracketedName,
                strictness,
                span,
                format!("{name} and ({name}) are two different things"),
            );
            let finding = finding.note(uses[0].0, "written the other way here");
            findings.push(finding.help(format!("write {name} the same way everywhere")));
        }
        // A bare name is a constant, which says nothing about a function.
        let mut counted = uses
            .iter()
            .filter(|(_, f)| kind == Kind::Relation || f.shape != Shape::Bare);
        let Some((first_span, first)) = counted.next() else {
            continue;
        };
        for (span, other) in counted {
            if other.arity() == first.arity() {
                continue;
            }
            let (code, what) = match kind {
                Kind::Relation => (Code::RelationArity, "relation"),
                Kind::Function => (Code::FunctionArity, "function"),
            };
            let finding = Diagnostic::new(
                code,
                Strictness::Tolerant,
                *span,
                format!("{what} {name} has {} here", count(other.arity())),
            )
            .note(*first_span, format!("and {} here", count(first.arity())))
            .help("give the two different names, or mend the one that is wrong");
            findings.push(finding);
        }
    }
}

fn count(arguments: usize) -> String {
    match arguments {
        0 => "no arguments".to_owned(),
        1 => "1 argument".to_owned(),
        n => format!("{n} arguments"),
    }
}
