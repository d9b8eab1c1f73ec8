//! Check: no question mark is missing before a variable.
//!
//! A constant `x` in a rule with a variable `?x` may be meant as it stands: a marker x in column
//! ?x. It is then written next to that variable, as in `(cell ?x ?y x)`, or in another place, too, where
//! there is no such variable. Only other constants are reported.

use ggp_stop::Stop;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::diagnostic::{Code, Diagnostic, Strictness};
use crate::span::{Sources, Span};
use crate::symbol::Case;
use crate::syntax::{Sexp, SexpKind};

/// Reports variables without question mark, each once, until `stop` is over. Also returns their names.
pub(super) fn check(
    sources: &Sources,
    forms: &[Sexp],
    case: Case,
    strictness: Strictness,
    stop: &Stop,
) -> (Vec<Diagnostic>, FxHashSet<String>) {
    let reader = Reader { sources, case };
    // Hardly any rule set has candidates, so facts are read only where there are some.
    let mut candidates: FxHashMap<String, (Span, Span)> = FxHashMap::default();
    for rule in forms.iter().filter(|form| reader.is_rule(form)) {
        if stop.is_over() {
            return Default::default();
        }
        let names = reader.names(rule);
        for (name, place) in &names.constants {
            if let Some(variable) = names.variables.get(name) {
                let found = candidates.entry(name.clone());
                found.or_insert((*place, *variable));
            }
        }
    }
    for form in forms {
        if candidates.is_empty() || stop.is_over() {
            break;
        }
        let names = reader.names(form);
        for (name, _) in &names.constants {
            if !names.variables.contains_key(name) {
                candidates.remove(name);
            }
        }
        for name in &names.next_to_variable {
            candidates.remove(name);
        }
    }
    let mut findings = Vec::new();
    for (place, variable) in candidates.values() {
        let (text, meant) = (sources.text(*place), sources.text(*variable));
        let message = format!("{text} is a name here, and {meant} a variable of the rule");
        let finding = Diagnostic::new(Code::BareVariable, strictness, *place, message);
        findings.push(finding.help(format!("did you mean {meant}?")));
    }
    (findings, candidates.into_keys().collect())
}

struct Reader<'s> {
    sources: &'s Sources,
    case: Case,
}

/// The names in the arguments of a form, and where they are first written.
#[derive(Default)]
struct Names {
    constants: Vec<(String, Span)>,
    /// Constants in a list with the variable of that name.
    next_to_variable: Vec<String>,
    /// By name without question mark.
    variables: FxHashMap<String, Span>,
}

impl Reader<'_> {
    fn is_rule(&self, form: &Sexp) -> bool {
        match &form.kind {
            SexpKind::List(members) => {
                (members.first()).is_some_and(|first| self.sources.text(first.span) == "<=")
            }
            _ => false,
        }
    }

    fn names(&self, form: &Sexp) -> Names {
        let mut names = Names::default();
        self.visit(form, &mut names);
        names
    }

    fn visit(&self, sexp: &Sexp, names: &mut Names) {
        let SexpKind::List(members) = &sexp.kind else {
            return;
        };
        let Some((first, members)) = members.split_first() else {
            return;
        };
        let has_literals = matches!(self.sources.text(first.span), "<=" | "not" | "or" | "and");
        let is_variable = |member: &&Sexp| member.kind == SexpKind::Variable;
        let own = members.iter().filter(is_variable);
        let own: Vec<&str> = own.map(|own| &self.sources.text(own.span)[1..]).collect();
        for member in members {
            let text = self.sources.text(member.span);
            match &member.kind {
                SexpKind::List(_) => self.visit(member, names),
                SexpKind::Variable => {
                    let name = self.folded(&text[1..]);
                    names.variables.entry(name).or_insert(member.span);
                }
                // A proposition.
                SexpKind::Symbol if has_literals => {}
                SexpKind::Symbol => {
                    names.constants.push((self.folded(text), member.span));
                    if own.iter().any(|own| self.folded(own) == self.folded(text)) {
                        names.next_to_variable.push(self.folded(text));
                    }
                }
            }
        }
    }

    fn folded(&self, name: &str) -> String {
        match self.case {
            Case::Fold => name.to_lowercase(),
            Case::Keep => name.to_owned(),
        }
    }
}
