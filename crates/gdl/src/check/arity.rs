//! Check: a name always has the same number of arguments.

use ggp_stop::Stop;
use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::lower::Lowered;
use crate::diagnostic::{Code, Diagnostic, Strictness};
use crate::program::{Functor, FunctorId, Shape};
use crate::span::Span;
use crate::symbol::Symbol;

/// Reports relations and functions that are used with different numbers of arguments,
/// unless `stop` is over. A relation and a function may share a name, and so may a
/// constant and a function.
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
        NameKind::Relation,
        strictness,
        &mut findings,
    );
    report(
        lowered,
        &lowered.term_functors,
        NameKind::Function,
        strictness,
        &mut findings,
    );
    findings
}

#[derive(Copy, Clone, PartialEq, Eq)]
enum NameKind {
    Relation,
    Function,
}

fn report(
    lowered: &Lowered,
    first_use: &FxHashMap<FunctorId, Span>,
    kind: NameKind,
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
        let (code, what) = match kind {
            NameKind::Relation => (Code::RelationArity, "relation"),
            NameKind::Function => (Code::FunctionArity, "function"),
        };
        let shapes: Vec<Shape> = uses.iter().map(|(_, functor)| functor.shape).collect();
        if shapes.contains(&Shape::Bare) && shapes.contains(&Shape::Applied(0)) {
            let (span, _) = uses[1];
            let finding = Diagnostic::new(
                Code::BracketedName,
                strictness,
                span,
                format!("{name} and ({name}) are different {what}s"),
            );
            let finding = finding.note(uses[0].0, "written differently here");
            findings.push(finding.help(format!("write {name} the same way everywhere")));
        }
        // A bare name is a constant and does not conflict with a function.
        let mut counted = uses
            .iter()
            .filter(|(_, f)| kind == NameKind::Relation || f.shape != Shape::Bare);
        let Some((first_span, first)) = counted.next() else {
            continue;
        };
        for (span, other) in counted {
            if other.arity() == first.arity() {
                continue;
            }
            let finding = Diagnostic::new(
                code,
                Strictness::Tolerant,
                *span,
                format!("{what} {name} has {} here", count(other.arity())),
            )
            .note(*first_span, format!("and {} here", count(first.arity())))
            .help("use different names, or correct the wrong number of arguments");
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
