//! The roles of a game, in the order of the file.

use ggp_stop::Stop;

use rustc_hash::{FxHashMap, FxHashSet};

use super::keywords::{Keyword, is_chance};
use super::lower::Lowered;
use super::names::is_similar;
use crate::diagnostic::{Code, Diagnostic, Strictness};
use crate::game::parse_score;
use crate::program::{Shape, Term};
use crate::terms::TermId;

/// Maximum number of roles compared to find a similar name.
const MAX_COMPARED: usize = 100;

/// The declared roles, and findings about them; stops when `stop` is over. Names that were
/// already `reported` get no second finding.
pub(super) fn check(
    lowered: &Lowered,
    reported: &FxHashSet<String>,
    strictness: Strictness,
    stop: &Stop,
    findings: &mut Vec<Diagnostic>,
) -> Vec<TermId> {
    let mut roles: Vec<TermId> = Vec::new();
    let Some(role) = lowered.keyword_relation(Keyword::Role) else {
        return roles;
    };
    for rule in &lowered.rules.rules {
        if rule.head.relation == role {
            let message = "a role cannot be derived by a rule";
            let finding = Diagnostic::new(Code::BadRole, strictness, rule.head.span, message);
            findings.push(finding.help("declare each role with a fact such as (role white)"));
        }
    }
    let mut first_place = FxHashMap::default();
    for fact in lowered.rules.facts.iter().filter(|f| f.relation == role) {
        let name = fact.arguments[0];
        let functor = lowered.functors.functor(lowered.terms.functor(name));
        let text = lowered.symbols.name(functor.name);
        if functor.shape != Shape::Bare {
            let message = "a role must be a name, not a compound term";
            let finding = Diagnostic::new(Code::BadRole, strictness, fact.span, message);
            findings.push(finding.help("use a single name for the role"));
            continue;
        }
        if let Some(earlier) = first_place.get(&name) {
            let message = format!("role {text} is declared twice; it counts once");
            let finding = Diagnostic::new(Code::DuplicateRole, strictness, fact.span, message);
            let finding = finding.note(*earlier, "first declared here");
            findings.push(finding.help("remove one of the two"));
            continue;
        }
        roles.push(name);
        first_place.insert(name, fact.span);
    }
    // An incorrectly declared role still counts as declared.
    if findings.iter().all(|f| f.code != Code::BadRole) {
        undeclared(lowered, reported, strictness, &roles, stop, findings);
    }
    roles
}

/// Reports rules that mention a constant role that is not declared.
fn undeclared(
    lowered: &Lowered,
    reported: &FxHashSet<String>,
    strictness: Strictness,
    roles: &[TermId],
    stop: &Stop,
    findings: &mut Vec<Diagnostic>,
) {
    let relations: Vec<_> = [
        Keyword::Legal,
        Keyword::Does,
        Keyword::Goal,
        Keyword::Input,
        Keyword::Sees,
    ]
    .iter()
    .filter_map(|keyword| lowered.keyword_relation(*keyword))
    .collect();
    // Names that are declared or already reported.
    let mut known: FxHashSet<TermId> = roles.iter().copied().collect();
    // A role as a later argument stands where it should not.
    let mut report = |name: TermId, is_swapped: bool, span| {
        if stop.is_over() || !known.insert(name) {
            return;
        }
        let functor = lowered.functors.functor(lowered.terms.functor(name));
        let text = lowered.symbols.name(functor.name);
        if reported.contains(text) {
            return;
        }
        let message = format!("{text} is not a role, so this has no effect");
        let finding = Diagnostic::new(Code::UndeclaredRole, strictness, span, message);
        let nearest = roles
            .iter()
            .take(MAX_COMPARED)
            .map(|role| {
                let functor = lowered.functors.functor(lowered.terms.functor(*role));
                lowered.symbols.name(functor.name)
            })
            .map(|role| (strsim::damerau_levenshtein(text, role), role))
            .min();
        findings.push(match nearest {
            Some((distance, nearest)) if is_similar(text, distance) => {
                finding.help(format!("did you mean {nearest}, or add (role {text})?"))
            }
            _ if parse_score(text).is_ok() => finding.help("write the role first, then the value"),
            _ if is_swapped => finding.help("write the role first"),
            // Chance has this name in every game.
            Some((_, role)) if !is_chance(text) => finding.help(format!(
                "use a declared role, such as {role}, or add (role {text})"
            )),
            _ => finding.help(format!("add (role {text})")),
        });
    };
    for fact in &lowered.rules.facts {
        if relations.contains(&fact.relation) {
            let is_swapped = fact.arguments[1..].iter().any(|name| roles.contains(name));
            report(fact.arguments[0], is_swapped, fact.span);
        }
    }
    let mut compound = Vec::new();
    for rule in &lowered.rules.rules {
        let mut atom = |atom: &crate::program::Atom| match atom.arguments.first() {
            _ if !relations.contains(&atom.relation) => {}
            Some(Term::Ground(name)) => {
                let is_role =
                    |term: &Term| matches!(term, Term::Ground(name) if roles.contains(name));
                report(*name, atom.arguments[1..].iter().any(is_role), atom.span);
            }
            Some(Term::Apply(..)) => compound.push(atom.span),
            _ => {}
        };
        atom(&rule.head);
        for literal in &rule.body {
            literal.for_each_atom(&mut |a, _| atom(a));
        }
    }
    for span in compound {
        let message =
            "the first argument must be a role, not a compound term, so this has no effect";
        let finding = Diagnostic::new(Code::UndeclaredRole, strictness, span, message);
        findings.push(finding.help("write the role first"));
    }
}
