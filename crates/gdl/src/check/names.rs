//! Checks: names that are used but never defined, or defined but never used; goal
//! values; the relations that every game needs.

use ggp_stop::Stop;
use std::cmp::Ordering;
use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::foreign::{
    ARITHMETIC_HELP, ARROW_HELP, CONNECTIVE_HELP, EQUALITY_HELP, foreign, is_conditional,
    is_inequality, is_operator, keyword_meant,
};
use super::keywords::Keyword;
use super::lower::{Lowered, Position};
use crate::diagnostic::{Code, Diagnostic, Strictness};
use crate::game::parse_score;
use crate::program::{Atom, Functor, FunctorId, RelationId, Shape, Term};
use crate::span::{Sources, Span};
use crate::symbol::Symbol;
use crate::terms::TermId;

/// Maximum number of names compared to find a similar one.
const MAX_COMPARED: usize = 2_000_000;

/// Maximum length of an atom repeated in a help text, in bytes.
const LONGEST_ATOM: usize = 80;

/// Reports undefined and unused names, bad goal values and missing keywords, until
/// `stop` is over.
pub(super) fn check(
    lowered: &Lowered,
    strictness: Strictness,
    sources: &Sources,
    stop: &Stop,
) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    if stop.is_over() {
        return findings;
    }
    let mut near = NameSuggester {
        left: MAX_COMPARED,
        stop,
    };
    missing_keywords(lowered, strictness, &mut findings);
    relations(lowered, strictness, sources, &mut near, &mut findings);
    state_facts(lowered, strictness, &mut near, &mut findings);
    unread_facts(lowered, strictness, &mut near, &mut findings);
    goal_values(lowered, strictness, &mut findings);
    findings
}

fn missing_keywords(lowered: &Lowered, strictness: Strictness, findings: &mut Vec<Diagnostic>) {
    let defined = |keyword| {
        lowered.keyword_relation(keyword).is_some_and(|relation| {
            lowered
                .uses
                .iter()
                .any(|(used, position, _)| *used == relation && *position == Position::Head)
        })
    };
    let needed = [
        (
            Keyword::Role,
            Code::NoRole,
            "the rules declare no role",
            "(role NAME)",
        ),
        (
            Keyword::Init,
            Code::NoInit,
            "the initial state is empty",
            "(init FACT)",
        ),
        (
            Keyword::Legal,
            Code::NoLegal,
            "the rules define no legal move",
            "(<= (legal ROLE MOVE) ...)",
        ),
        (
            Keyword::Goal,
            Code::NoGoal,
            "the rules define no goal",
            "(<= (goal ROLE VALUE) ...)",
        ),
        (
            Keyword::Terminal,
            Code::NoTerminal,
            "the rules define no end of the game",
            "(<= terminal ...)",
        ),
    ];
    for (keyword, code, message, form) in needed {
        // An author who lists all possible facts with `base` left the initial state
        // empty on purpose.
        let meant = keyword == Keyword::Init && defined(Keyword::Base);
        if !defined(keyword) && !meant {
            let finding = Diagnostic::new(code, strictness, None, message);
            findings.push(finding.help(format!("add {form}")));
        }
    }
}

fn relations(
    lowered: &Lowered,
    strictness: Strictness,
    sources: &Sources,
    near: &mut NameSuggester<'_>,
    findings: &mut Vec<Diagnostic>,
) {
    let mut head: FxHashMap<RelationId, Span> = FxHashMap::default();
    let mut body: FxHashMap<RelationId, Span> = FxHashMap::default();
    for (relation, position, span) in &lowered.uses {
        match position {
            Position::Head => head.entry(*relation).or_insert(*span),
            Position::Body => body.entry(*relation).or_insert(*span),
        };
    }
    let data = data_files(lowered);
    // A relation never stands for a keyword with another number of arguments, and its definition
    // never for a connective.
    let keywords = |relation, position| {
        let arguments = arguments(lowered, relation);
        let fits = move |keyword: &&Keyword| match keyword.arity() {
            Some(arity) if !keyword.is_connective() => arity == arguments,
            _ => position == Position::Body && arguments > 0,
        };
        Keyword::ALL
            .iter()
            .filter(fits)
            .map(|keyword| keyword.as_str())
    };
    let bare = MissingKeyword::new(lowered, sources);
    let is_undefined =
        |used: &&RelationId| !head.contains_key(used) && lowered.keyword_of(**used).is_none();
    let undefined: Vec<&RelationId> = body.keys().filter(is_undefined).collect();
    // How often a relation is written; of two names, the one that is written less is the wrong one.
    let mut written: FxHashMap<&str, usize> = FxHashMap::default();
    for (relation, _, _) in &lowered.uses {
        *written.entry(lowered.relation_name(*relation)).or_default() += 1;
    }
    let unused = |name: &str| {
        let mut defined = head.keys().filter(|known| !body.contains_key(known));
        defined.any(|known| lowered.relation_name(*known) == name)
    };
    // By name: in how many forms it is written in heads, and in bodies.
    let mut shapes: FxHashMap<Symbol, [usize; 2]> = FxHashMap::default();
    for relation in lowered.rules.relations() {
        let count = shapes.entry(lowered.relation_symbol(relation)).or_default();
        count[0] += usize::from(head.contains_key(&relation));
        count[1] += usize::from(body.contains_key(&relation));
    }
    for relation in lowered.rules.relations() {
        if near.stop.is_over() {
            return;
        }
        if lowered.keyword_of(relation).is_some() {
            continue;
        }
        let name = lowered.relation_name(relation);
        let [defined, used] = shapes[&lowered.relation_symbol(relation)];
        match (head.get(&relation), body.get(&relation)) {
            // A name that is written in several forms has its own finding.
            (None, Some(_)) if defined > 0 => {}
            (Some(_), None) if used > 0 => {}
            (None, Some(&span)) => {
                let message = format!("{name} is used but never defined, so it never holds");
                let finding = Diagnostic::new(Code::Undefined, strictness, span, message);
                if is_inequality(name) {
                    findings.push(finding.help("write (distinct TERM TERM)"));
                    continue;
                }
                if name == "=" {
                    findings.push(finding.help(EQUALITY_HELP));
                    continue;
                }
                if is_operator(name) {
                    findings.push(finding.help(ARITHMETIC_HELP));
                    continue;
                }
                if matches!(name, "|" | "||" | "&" | "&&") {
                    findings.push(finding.help(CONNECTIVE_HELP));
                    continue;
                }
                if matches!(name, "," | ".") {
                    findings.push(finding.help("remove it: blanks separate conditions"));
                    continue;
                }
                if let Some(meant) = bare.suggestion(relation, span, Position::Body) {
                    findings.push(finding.help(meant));
                    continue;
                }
                let keywords = keywords(relation, Position::Body);
                let known = head.keys().map(|known| lowered.relation_name(*known));
                let meant = near.nearest(name, keywords.chain(known));
                findings.push(match meant {
                    Some(other) if unused(other) => finding.help(of_two(&written, name, other)),
                    Some(other) => finding.help(format!("did you mean {other}?")),
                    None => finding,
                });
            }
            (Some(span), None) if data.contains(&span.file) => {}
            // It has its own finding, too.
            (Some(_), None) if foreign(name, true).is_some() => {}
            (Some(&span), None) => {
                let message = format!("{name} is defined but never used");
                let finding = Diagnostic::new(Code::Unused, strictness, span, message);
                if let Some(meant) = bare.suggestion(relation, span, Position::Head) {
                    findings.push(finding.help(meant));
                    continue;
                }
                if is_conditional(name) {
                    findings.push(finding.help(ARROW_HELP));
                    continue;
                }
                let meant = keyword_meant(name).filter(|keyword| {
                    let missing = |known| !head.contains_key(&known);
                    lowered.keyword_relation(*keyword).is_none_or(missing)
                        && keyword.arity() == Some(arguments(lowered, relation))
                });
                if let Some(keyword) = meant {
                    findings.push(finding.help(format!("did you mean {}?", keyword.form())));
                    continue;
                }
                let keywords = keywords(relation, Position::Head);
                let used = undefined.iter().map(|used| lowered.relation_name(**used));
                let meant = near.nearest(name, keywords.chain(used));
                findings.push(match meant {
                    Some(other) if Keyword::of(other).is_none() => {
                        finding.help(of_two(&written, name, other))
                    }
                    Some(other) => finding.help(format!("did you mean {other}?")),
                    None => finding,
                });
            }
            _ => {}
        }
    }
}

/// A help text on two similar names, one of which is only defined and the other only used: the
/// same for both.
fn of_two(written: &FxHashMap<&str, usize>, name: &str, other: &str) -> String {
    let [of_name, of_other] = [name, other].map(|name| written.get(name).copied().unwrap_or(0));
    match of_name.cmp(&of_other) {
        Ordering::Less => format!("did you mean {other}?"),
        Ordering::Greater => format!("is {other} a misspelling of {name}?"),
        Ordering::Equal => {
            let (first, second) = (name.min(other), name.max(other));
            format!("write {first} or {second} in both places")
        }
    }
}

/// Finds atoms that lack the keyword under which their functors occur elsewhere.
pub(super) struct MissingKeyword<'s> {
    /// Functors that occur under `init`, `true`, `next` and `base`.
    state: FxHashSet<FunctorId>,
    /// Functors that occur under `legal`, `does` and `input`.
    moves: FxHashSet<FunctorId>,
    lowered: &'s Lowered,
    sources: &'s Sources,
}

impl<'s> MissingKeyword<'s> {
    pub(super) fn new(lowered: &'s Lowered, sources: &'s Sources) -> Self {
        use Keyword::{Base, Does, Init, Input, Legal, Next, True};
        MissingKeyword {
            state: functors_under(lowered, &[Init, True, Next, Base]),
            moves: functors_under(lowered, &[Legal, Does, Input]),
            lowered,
            sources,
        }
    }

    /// A help text that suggests the probable intent of an atom, or `None` if its
    /// functor occurs under no keyword.
    pub(super) fn suggestion(
        &self,
        relation: RelationId,
        place: Span,
        position: Position,
    ) -> Option<String> {
        let functor = self.lowered.relation_functor[relation.index()];
        let is_state = self.state.contains(&functor);
        if !is_state && !self.moves.contains(&functor) {
            return None;
        }
        let facts = &self.lowered.rules.facts;
        let is_fact = || facts.binary_search_by_key(&place, |fact| fact.span).is_ok();
        let before = match (position, is_state) {
            (Position::Body, true) => "true",
            (Position::Body, false) => "does ROLE",
            (Position::Head, true) if is_fact() => "init",
            (Position::Head, true) => "next",
            (Position::Head, false) => "legal ROLE",
        };
        let text = self.sources.text(place);
        let fits = text.len() <= LONGEST_ATOM && !text.contains(['\n', '\r', ';']);
        let atom = match fits {
            true => text.to_owned(),
            false => functor_text(self.lowered, functor),
        };
        Some(format!("did you mean ({before} {atom})?"))
    }
}

/// The functors of the last arguments of some keywords.
fn functors_under(lowered: &Lowered, keywords: &[Keyword]) -> FxHashSet<FunctorId> {
    let relations: Vec<RelationId> = keywords
        .iter()
        .filter_map(|keyword| lowered.keyword_relation(*keyword))
        .collect();
    let facts = lowered.rules.facts.iter();
    let mut said: FxHashSet<FunctorId> = facts
        .filter(|fact| relations.contains(&fact.relation))
        .filter_map(|fact| fact.arguments.last())
        .map(|term| lowered.terms.functor(*term))
        .collect();
    let mut look = |atom: &Atom| {
        if relations.contains(&atom.relation) {
            let last = atom.arguments.last();
            said.extend(last.and_then(|term| term.functor(&lowered.terms)));
        }
    };
    for rule in &lowered.rules.rules {
        look(&rule.head);
        for literal in &rule.body {
            literal.for_each_atom(&mut |atom, _| look(atom));
        }
    }
    said
}

/// Number of arguments of a relation.
fn arguments(lowered: &Lowered, relation: RelationId) -> usize {
    let functor = lowered.relation_functor[relation.index()];
    lowered.functors.functor(functor).arity()
}

/// The instance files: files that contain only facts, in a rule set that also has
/// files with rules. The rules need not use all their facts.
fn data_files(lowered: &Lowered) -> Vec<u32> {
    let with_rules: BTreeSet<u32> = lowered.rules.rules.iter().map(|r| r.span.file).collect();
    if with_rules.is_empty() {
        return Vec::new();
    }
    let mut files: Vec<u32> = lowered.uses.iter().map(|(_, _, s)| s.file).collect();
    files.sort_unstable();
    files.dedup();
    files.retain(|file| !with_rules.contains(file));
    files
}

/// Reports facts under `true` and `next`, moves under `does` and `legal`, and percepts under `sees`
/// that no rule can derive.
fn state_facts(
    lowered: &Lowered,
    strictness: Strictness,
    near: &mut NameSuggester<'_>,
    findings: &mut Vec<Diagnostic>,
) {
    let mixed = mixed_names(lowered);
    let achievers = [
        (Keyword::True, &[Keyword::Init, Keyword::Next][..], 0),
        (Keyword::Next, &[Keyword::Next][..], 0),
        (Keyword::Does, &[Keyword::Legal][..], 1),
        (Keyword::Legal, &[Keyword::Legal][..], 1),
        (Keyword::Sees, &[Keyword::Sees][..], 1),
    ];
    for (keyword, made_by, argument) in achievers {
        let Some(asked) = lowered.keyword_relation(keyword) else {
            continue;
        };
        let achievers: Vec<RelationId> = made_by
            .iter()
            .filter_map(|keyword| lowered.keyword_relation(*keyword))
            .collect();
        // A game without any is reported by another finding.
        let said = |f: &Diagnostic| matches!(f.code, Code::NoInit | Code::NoLegal);
        if achievers.is_empty() && findings.iter().any(said) {
            continue;
        }
        let Some(made) = derived_functors(lowered, &achievers, argument) else {
            continue;
        };
        let mut reported = FxHashSet::default();
        for rule in &lowered.rules.rules {
            if near.stop.is_over() {
                return;
            }
            for literal in &rule.body {
                literal.for_each_atom(&mut |atom, _| {
                    let functor = match atom.relation == asked {
                        true => atom.arguments[argument].functor(&lowered.terms),
                        false => None,
                    };
                    let Some(functor) = functor else { return };
                    let is_mixed = mixed.contains(&lowered.functors.functor(functor).name);
                    let is_achieved = made.binary_search(&functor).is_ok();
                    if is_achieved || is_mixed || !reported.insert(functor) {
                        return;
                    }
                    let name = functor_text(lowered, functor);
                    let message = match keyword {
                        Keyword::True => {
                            format!("no init or next rule derives {name}, so it is never true")
                        }
                        Keyword::Next => {
                            format!("no next rule derives {name}, so no move makes it true")
                        }
                        Keyword::Sees => {
                            format!("no sees rule derives {name}, so it is never perceived")
                        }
                        _ => format!("no legal rule allows {name}, so it is never played"),
                    };
                    let finding = Diagnostic::new(Code::Undefined, strictness, atom.span, message);
                    let symbol = |f: FunctorId| lowered.functors.functor(f).name;
                    let other = made.iter().find(|f| symbol(**f) == symbol(functor));
                    if let Some(other) = other {
                        let other = functor_text(lowered, *other);
                        findings.push(finding.help(format!("did you mean {other}?")));
                        return;
                    }
                    let candidates = made.iter().map(|f| lowered.symbols.name(symbol(*f)));
                    let name = lowered.symbols.name(symbol(functor));
                    findings.push(near.suggest(finding, name, candidates));
                });
            }
        }
    }
}

/// Reports facts that no rule reads, if their name is nearly that of a fact that is derived and read.
fn unread_facts(
    lowered: &Lowered,
    strictness: Strictness,
    near: &mut NameSuggester<'_>,
    findings: &mut Vec<Diagnostic>,
) {
    let achievers = [Keyword::Init, Keyword::Next].map(|keyword| lowered.keyword_relation(keyword));
    let achievers: Vec<RelationId> = achievers.into_iter().flatten().collect();
    let Some(derived) = derived_functors(lowered, &achievers, 0) else {
        return;
    };
    let Some(read) = read_functors(lowered) else {
        return;
    };
    let mixed = mixed_names(lowered);
    let name = |functor: FunctorId| lowered.functors.functor(functor).name;
    let text = |functor| lowered.symbols.name(name(functor));
    let is_derived = |functor: &FunctorId| derived.binary_search(functor).is_ok();
    let candidates: Vec<&str> = read
        .iter()
        .filter(|f| is_derived(f))
        .map(|f| text(*f))
        .collect();
    for functor in derived.iter().copied() {
        if read.contains(&functor) || mixed.contains(&name(functor)) {
            continue;
        }
        let Some(meant) = near.nearest(text(functor), candidates.iter().copied()) else {
            continue;
        };
        // Names that differ in numbers or in the first letter are those of two players or parts.
        let rest = |text: &str| text.replace(|sign: char| sign.is_ascii_digit(), "");
        let [meant_rest, rest] = [meant, text(functor)].map(rest);
        if meant_rest == rest || meant_rest.get(1..) == rest.get(1..) {
            continue;
        }
        let message = format!("no rule reads {}", functor_text(lowered, functor));
        let span = lowered.term_functors[&functor];
        let finding = Diagnostic::new(Code::Unused, strictness, span, message);
        findings.push(finding.help(format!("did you mean {meant}?")));
    }
}

/// The functors of facts that bodies read, or `None` if some body reads a fact of any functor.
fn read_functors(lowered: &Lowered) -> Option<FxHashSet<FunctorId>> {
    let relation = lowered.keyword_relation(Keyword::True)?;
    let mut read = FxHashSet::default();
    let mut is_complete = true;
    for rule in &lowered.rules.rules {
        for literal in &rule.body {
            literal.for_each_atom(&mut |atom, _| {
                if atom.relation == relation {
                    let functor = atom.arguments[0].functor(&lowered.terms);
                    is_complete &= functor.is_some();
                    read.extend(functor);
                }
            });
        }
    }
    is_complete.then_some(read)
}

/// Names of functions that are reported because they are written in several forms.
fn mixed_names(lowered: &Lowered) -> FxHashSet<Symbol> {
    let used = lowered.term_functors.keys();
    let mut used: Vec<Functor> = used.map(|id| lowered.functors.functor(*id)).collect();
    used.sort_unstable();
    let is_mixed = |pair: &&[Functor]| {
        // Constants sort first; a constant does not conflict with a function with
        // arguments.
        let shapes = (pair[0].shape, pair[1].shape);
        pair[0].name == pair[1].name && (shapes.0 != Shape::Bare || shapes.1 == Shape::Applied(0))
    };
    let mixed = used.windows(2).filter(is_mixed);
    mixed.map(|pair| pair[0].name).collect()
}

/// The functors that heads of the relations have in an argument, or `None` if some
/// head has a variable there.
fn derived_functors(
    lowered: &Lowered,
    relations: &[RelationId],
    argument: usize,
) -> Option<Vec<FunctorId>> {
    let mut made = Vec::new();
    for fact in &lowered.rules.facts {
        if relations.contains(&fact.relation) {
            made.push(lowered.terms.functor(fact.arguments[argument]));
        }
    }
    for rule in &lowered.rules.rules {
        if relations.contains(&rule.head.relation) {
            made.push(rule.head.arguments[argument].functor(&lowered.terms)?);
        }
    }
    made.sort_unstable();
    made.dedup();
    Some(made)
}

fn goal_values(lowered: &Lowered, strictness: Strictness, findings: &mut Vec<Diagnostic>) {
    let Some(goal) = lowered.keyword_relation(Keyword::Goal) else {
        return;
    };
    let mut check = |value: TermId, span: Span| {
        let functor = lowered.functors.functor(lowered.terms.functor(value));
        let text = lowered.symbols.name(functor.name);
        if functor.shape != Shape::Bare || parse_score(text).is_err() {
            let message = format!("the goal value {text} is not an integer from 0 to 100");
            let finding = Diagnostic::new(Code::BadGoalValue, strictness, span, message);
            findings.push(
                finding.help("use an integer from 0 to 100: play stops with an error at this goal"),
            );
        }
    };
    for fact in &lowered.rules.facts {
        if fact.relation == goal {
            check(fact.arguments[1], fact.span);
        }
    }
    for rule in lowered
        .rules
        .rules
        .iter()
        .filter(|r| r.head.relation == goal)
    {
        if let Term::Ground(value) = rule.head.arguments[1] {
            check(value, rule.head.span);
        }
    }
}

fn functor_text(lowered: &Lowered, functor: FunctorId) -> String {
    let functor = lowered.functors.functor(functor);
    let name = lowered.symbols.name(functor.name);
    match functor.shape {
        Shape::Bare => name.to_owned(),
        Shape::Applied(0) => format!("({name})"),
        Shape::Applied(_) => format!("({name} ...)"),
    }
}

/// Whether a name may be a wrong spelling of another one, given the number of edits between them.
pub(super) fn is_similar(name: &str, distance: usize) -> bool {
    3 * distance <= name.chars().count()
}

/// A search for similar names.
struct NameSuggester<'s> {
    /// Number of comparisons left.
    left: usize,
    stop: &'s Stop,
}

impl NameSuggester<'_> {
    /// Suggests the most similar candidate, if there is one.
    fn suggest<'n>(
        &mut self,
        finding: Diagnostic,
        name: &str,
        candidates: impl Iterator<Item = &'n str>,
    ) -> Diagnostic {
        match self.nearest(name, candidates) {
            Some(candidate) => finding.help(format!("did you mean {candidate}?")),
            None => finding,
        }
    }

    /// The most similar candidate, if one is similar enough and there are not too many to compare.
    fn nearest<'n>(
        &mut self,
        name: &str,
        candidates: impl Iterator<Item = &'n str>,
    ) -> Option<&'n str> {
        let mut nearest = None;
        for candidate in candidates.filter(|candidate| *candidate != name) {
            if self.left == 0 || self.stop.is_over() {
                return None;
            }
            self.left -= 1;
            let found = (strsim::damerau_levenshtein(name, candidate), candidate);
            nearest = Some(nearest.map_or(found, |nearest| found.min(nearest)));
        }
        let (distance, candidate) = nearest?;
        is_similar(name, distance).then_some(candidate)
    }
}
