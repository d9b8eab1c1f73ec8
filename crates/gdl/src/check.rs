//! From text to a [`Game`], or to everything that is wrong with it.
//!
//! Each pass collects all its findings; a pass runs only if what it needs was
//! found right, so that one mistake is reported once.

mod alternatives;
mod arity;
mod duplicates;
mod keywords;
pub(crate) mod lower;
mod names;
mod recursion;
mod roles;
mod safety;
mod state_dependence;

pub use keywords::Keyword;

use ggp_stop::Stop;

use crate::diagnostic::{self, Code, Diagnostic, Severity, Strictness};
use crate::game::Game;
use crate::program::strata::{NegativeCycle, stratify_until};
use crate::span::Sources;
use crate::symbol::Case;
use crate::syntax::{self, SyntaxLimits};
use crate::terms::TermLimits;

/// How a rule set is read.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct ReadOptions {
    /// Whether sloppy rules are let through with a warning.
    pub strictness: Strictness,
    /// Whether letter case distinguishes names.
    pub case: Case,
    /// Bounds on the text.
    pub syntax: SyntaxLimits,
    /// Most facts and rules, after alternatives are multiplied out.
    pub rules: usize,
    /// Most rules that one rule with alternatives may stand for.
    pub alternatives: usize,
    /// Most literals and terms of all rules together, alternatives multiplied out.
    pub size: usize,
    /// Bounds on ground terms, for reading and for play.
    pub terms: TermLimits,
}

impl Default for ReadOptions {
    fn default() -> Self {
        ReadOptions {
            strictness: Strictness::default(),
            case: Case::default(),
            syntax: SyntaxLimits::default(),
            rules: 5_000_000,
            alternatives: 10_000,
            size: 50_000_000,
            terms: TermLimits::default(),
        }
    }
}

/// The outcome of reading: a game if there is no error, and all findings in
/// the order of the text.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The game, if the findings are warnings only.
    pub game: Option<Game>,
    /// Errors and warnings, ordered by place; those about the whole rule set
    /// come last. Of very many only the first are kept, an error among them if
    /// there is any.
    pub findings: Vec<Diagnostic>,
    /// How many more there were.
    pub omitted: usize,
    /// The texts, for printing the findings.
    pub sources: Sources,
}

/// Most findings that are kept.
const MOST_FINDINGS: usize = 500;

/// Reads and checks a rule set.
pub fn read(sources: Sources, options: &ReadOptions) -> Reading {
    read_until(sources, options, &Stop::new())
}

/// As [`read`], but ends soon after `stop` is raised: then there is no game, and
/// findings may be missing.
pub fn read_until(sources: Sources, options: &ReadOptions, stop: &Stop) -> Reading {
    let (forms, mut findings) = syntax::read_until(&sources, options.syntax, stop);
    let mut game = None;
    // What a missing bracket leaves behind would be reported as nonsense.
    if !diagnostic::has_errors(&findings) {
        let (lowered, more) = lower::lower(&sources, &forms, options, stop);
        drop(forms);
        // What a form that was given up would have defined is not missing.
        let whole = !diagnostic::has_errors(&more);
        findings.extend(more);
        findings.extend(arity::check(&lowered, options.strictness, stop));
        findings.extend(safety::check(&lowered, &sources, stop));
        let mut roles = Vec::new();
        if whole {
            findings.extend(names::check(&lowered, options.strictness, &sources, stop));
            roles = roles::check(&lowered, options.strictness, stop, &mut findings);
        }
        findings.extend(duplicates::check(
            &lowered,
            options.strictness,
            &sources,
            stop,
        ));
        findings.extend(recursion::check(&lowered, stop));
        match stratify_until(&lowered.rules, &lowered.terms, stop) {
            Ok(groups) => {
                findings.extend(state_dependence::check(&lowered, &sources, &groups, stop))
            }
            Err(cycles) => findings.extend(cycles.iter().map(|c| not_stratified(&lowered, c))),
        }
        if !diagnostic::has_errors(&findings) && !stop.is_over() {
            game = Some(Game::new(lowered, roles, sources.clone()));
        }
    }
    if stop.is_over() {
        // Nobody wants to know, and there may be very many.
        findings.clear();
    }
    findings.sort_by_key(|finding| (finding.span.is_none(), finding.span, finding.code));
    findings.dedup();
    let omitted = findings.len().saturating_sub(MOST_FINDINGS);
    if omitted > 0 {
        let error = findings.iter().position(|f| f.severity == Severity::Error);
        if let Some(error) = error.filter(|&error| error >= MOST_FINDINGS) {
            findings.swap(MOST_FINDINGS - 1, error);
        }
        findings.truncate(MOST_FINDINGS);
    }
    Reading {
        game,
        findings,
        omitted,
        sources,
    }
}

fn not_stratified(lowered: &lower::Lowered, cycle: &NegativeCycle) -> Diagnostic {
    let rule = &lowered.rules.rules[cycle.rule];
    let name = lowered.relation_name(rule.head.relation);
    let mut finding = Diagnostic::new(
        Code::NotStratified,
        Strictness::Tolerant,
        cycle.negated,
        format!("{name} depends on its own negation"),
    );
    for &member in cycle.members.iter().take(4) {
        let head = &lowered.rules.rules[member].head;
        finding = finding.note(
            head.span,
            match member == cycle.rule {
                true => "derived here from the negation",
                false => "this rule lies on the way back",
            },
        );
    }
    finding.help("what is negated must be complete before: take one rule out of the circle")
}
