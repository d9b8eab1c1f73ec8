//! Check: a name always has the same number of arguments.
//!
//! Rule sets of GDL-II may use a function with other numbers of arguments in percepts,
//! moves and facts, which never meet.

use ggp_stop::Stop;
use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::keywords::Keyword;
use super::lower::Lowered;
use crate::counted::counted;
use crate::diagnostic::{Code, Diagnostic, Strictness};
use crate::program::{Functor, FunctorId, Literal, RelationId, Shape, Term};
use crate::span::Span;
use crate::symbol::Symbol;
use crate::terms::{TermId, Terms};

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
    let mut places = None;
    for (name, mut uses) in by_name {
        let symbol = name;
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
            let meets = kind == NameKind::Relation || {
                let places = places.get_or_insert_with(|| Places::of(lowered));
                places.meet(symbol, first.arity(), other.arity())
            };
            let code = match meets {
                true => code,
                false => Code::FunctionArities,
            };
            let finding = Diagnostic::new(
                code,
                strictness,
                *span,
                format!("{what} {name} has {} here", count(other.arity())),
            )
            .note(*first_span, format!("and {} here", count(first.arity())))
            .help("use different names, or correct the wrong number of arguments");
            findings.push(finding);
        }
    }
}

/// The part of a rule set that has a term.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
enum Place {
    Fact,
    Move,
    Percept,
    /// An argument of another relation.
    Other,
}

/// The places in which functions are used with each number of arguments.
struct Places(FxHashSet<(Symbol, usize, Place)>);

impl Places {
    /// The places of a rule set with `sees`; none of any other, where all may meet.
    fn of(lowered: &Lowered) -> Places {
        let mut places = Places(FxHashSet::default());
        if lowered.keyword_relation(Keyword::Sees).is_none() {
            return places;
        }
        for fact in &lowered.rules.facts {
            let place = place_of(lowered, fact.relation);
            for &argument in &fact.arguments {
                places.visit(lowered, &Term::Ground(argument), place);
            }
        }
        for rule in &lowered.rules.rules {
            let mut atom = |atom: &crate::program::Atom| {
                let place = place_of(lowered, atom.relation);
                for argument in &atom.arguments {
                    places.visit(lowered, argument, place);
                }
            };
            atom(&rule.head);
            for literal in &rule.body {
                literal.for_each_atom(&mut |body, _| atom(body));
            }
            // Terms that are compared can come from anywhere.
            for literal in &rule.body {
                if let Literal::Distinct(left, right, _) | Literal::Same(left, right, _) = literal {
                    places.visit(lowered, left, Place::Other);
                    places.visit(lowered, right, Place::Other);
                }
            }
        }
        places
    }

    fn visit(&mut self, lowered: &Lowered, term: &Term, place: Place) {
        match term {
            Term::Variable(_) => {}
            Term::Ground(id) => self.visit_ground(lowered, &lowered.terms, *id, place),
            Term::Apply(functor, arguments) => {
                let functor = lowered.functors.functor(*functor);
                self.0.insert((functor.name, functor.arity(), place));
                for argument in arguments {
                    self.visit(lowered, argument, place);
                }
            }
        }
    }

    fn visit_ground(&mut self, lowered: &Lowered, terms: &Terms, term: TermId, place: Place) {
        let functor = lowered.functors.functor(terms.functor(term));
        self.0.insert((functor.name, functor.arity(), place));
        for &argument in terms.arguments(term) {
            self.visit_ground(lowered, terms, argument, place);
        }
    }

    /// True if a function with one number of arguments can meet the same with another.
    fn meet(&self, name: Symbol, left: usize, right: usize) -> bool {
        let at = |arity, place| self.0.contains(&(name, arity, place));
        let all = [Place::Fact, Place::Move, Place::Percept];
        self.0.is_empty()
            || at(left, Place::Other)
            || at(right, Place::Other)
            || all.iter().any(|&place| at(left, place) && at(right, place))
    }
}

fn place_of(lowered: &Lowered, relation: RelationId) -> Place {
    match lowered.keyword_of(relation) {
        Some(Keyword::True | Keyword::Next | Keyword::Init | Keyword::Base) => Place::Fact,
        Some(Keyword::Does | Keyword::Legal | Keyword::Input) => Place::Move,
        Some(Keyword::Sees) => Place::Percept,
        _ => Place::Other,
    }
}

fn count(arguments: usize) -> String {
    match arguments {
        0 => "no arguments".to_owned(),
        n => counted(n, "argument"),
    }
}
