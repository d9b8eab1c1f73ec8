//! Checks a rule text and turns it into a [`Game`], or reports all its errors.
//!
//! Each pass collects all its findings. A pass runs only if the passes it relies on
//! found no errors, so that one mistake is reported once.

mod alternatives;
mod arity;
mod bare_variables;
mod duplicates;
mod foreign;
mod keywords;
pub(crate) mod lower;
mod names;
mod recursion;
mod roles;
mod safety;
mod state_dependence;

pub use keywords::Keyword;
pub(crate) use keywords::is_chance;

use std::fmt;

use ggp_stop::Stop;

use crate::diagnostic::{self, Code, Diagnostic, Severity, Strictness, Style};
use crate::game::Game;
use crate::program::strata::{NegativeCycle, stratify_until};
use crate::span::{Source, Sources};
use crate::symbol::Case;
use crate::syntax::{self, Sexp, SyntaxLimits};
use crate::terms::TermLimits;

/// Options for reading a rule set.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct ReadOptions {
    /// Treatment of rules that are not valid GDL but have one sensible meaning.
    pub strictness: Strictness,
    /// Treatment of names that differ only in letter case.
    pub case: Case,
    /// Limits on the text.
    pub syntax: SyntaxLimits,
    /// Maximum number of facts and rules, after disjunctions are expanded.
    pub rules: usize,
    /// Maximum number of rules that one rule with disjunctions expands to.
    pub alternatives: usize,
    /// Maximum number of literals and terms of all rules together, after disjunctions
    /// are expanded.
    pub size: usize,
    /// Limits on ground terms, for reading and for play.
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

/// The result of reading a rule set: a game if there is no error, and all findings in
/// the order of the text.
#[derive(Clone)]
#[non_exhaustive]
pub struct Reading {
    /// The game, if no finding is an error.
    pub game: Option<Game>,
    /// Errors and warnings, ordered by place; those about the whole rule set come
    /// last. If there are very many, only the first are kept, with at least one error
    /// if there is one.
    pub findings: Vec<Diagnostic>,
    /// Number of findings that were dropped.
    pub omitted: usize,
    /// The texts, for printing the findings.
    pub sources: Sources,
}

/// All findings for people, one below the other, without colours.
impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let findings = self.findings.iter();
        let texts = findings.map(|finding| finding.render(&self.sources, Style::Plain));
        f.write_str(&texts.collect::<Vec<_>>().join("\n"))?;
        match self.omitted {
            0 => Ok(()),
            more => write!(f, "\nand {more} more"),
        }
    }
}

/// Rules that cannot be used: at least one finding is an error.
impl std::error::Error for Reading {}

crate::debug_as_display!(Reading);

/// Maximum number of findings kept.
const MAX_FINDINGS: usize = 500;

/// Reads and checks a rule set.
pub fn read(sources: Sources, options: &ReadOptions) -> Reading {
    read_until(sources, options, &Stop::new())
}

/// Reads and checks a rule set; stops soon after `stop` is over. There is then no
/// game, and findings may be missing.
pub fn read_until(sources: Sources, options: &ReadOptions, stop: &Stop) -> Reading {
    Beginning::read_until(sources, options, stop).with(Vec::new(), stop)
}

/// Rule files whose text has been read, but not yet checked. Several rule sets that begin with
/// the same files, such as those of many boards, read them once: each adds its own files to a
/// clone.
#[derive(Clone, Debug)]
pub struct Beginning {
    sources: Sources,
    options: ReadOptions,
    /// The forms and findings, unless a limit or a stop left out a part.
    syntax: Option<(Vec<Sexp>, Vec<Diagnostic>)>,
}

impl Beginning {
    /// Reads the text of rule files; stops soon after `stop` is over. They are then read again
    /// with the files that are added.
    pub fn read_until(sources: Sources, options: &ReadOptions, stop: &Stop) -> Beginning {
        let (forms, findings) = syntax::read_until(&sources, options.syntax, stop);
        let is_whole = !diagnostic::has_errors(&findings) && !stop.is_over();
        Beginning {
            sources,
            options: *options,
            syntax: is_whole.then_some((forms, findings)),
        }
    }

    /// Checks a rule set that consists of these files and more, in this order; stops soon after
    /// `stop` is over. There is then no game, and findings may be missing.
    pub fn with(self, more: Vec<Source>, stop: &Stop) -> Reading {
        let first = self.sources.files().len();
        let sources = self.sources.and(more);
        let limits = self.options.syntax;
        let (forms, findings) = match self.syntax {
            Some(known) => syntax::read_more(&sources, first, known, limits, stop),
            None => syntax::read_until(&sources, limits, stop),
        };
        check(sources, forms, findings, &self.options, stop)
    }
}

fn check(
    sources: Sources,
    forms: Vec<Sexp>,
    mut findings: Vec<Diagnostic>,
    options: &ReadOptions,
    stop: &Stop,
) -> Reading {
    let mut game = None;
    // After an unbalanced bracket, further findings would be misleading.
    if !diagnostic::has_errors(&findings) {
        let (lowered, more) = lower::lower(&sources, &forms, options, stop);
        // A name may be defined in a form that could not be read, so an incomplete
        // rule set has no undefined names.
        let whole = !diagnostic::has_errors(&more);
        findings.extend(more);
        findings.extend(arity::check(&lowered, options.strictness, stop));
        findings.extend(safety::check(&lowered, &sources, stop));
        let mut roles = Vec::new();
        if whole {
            // Unbound variables have their own findings, which suggest the same.
            let mut bare = Default::default();
            if !diagnostic::has_errors(&findings) {
                let found =
                    bare_variables::check(&sources, &forms, options.case, options.strictness, stop);
                findings.extend(found.0);
                bare = found.1;
            }
            drop(forms);
            findings.extend(names::check(&lowered, options.strictness, &sources, stop));
            roles = roles::check(&lowered, &bare, options.strictness, stop, &mut findings);
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
        // Nobody reads the findings of a stopped check, and there may be very many.
        findings.clear();
    }
    findings.sort_by_key(|finding| (finding.span.is_none(), finding.span, finding.code));
    findings.dedup();
    let omitted = findings.len().saturating_sub(MAX_FINDINGS);
    if omitted > 0 {
        let error = findings.iter().position(|f| f.severity == Severity::Error);
        if let Some(error) = error.filter(|&error| error >= MAX_FINDINGS) {
            findings.swap(MAX_FINDINGS - 1, error);
        }
        findings.truncate(MAX_FINDINGS);
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
                false => "this rule is part of the cycle",
            },
        );
    }
    finding.help(
        "a relation must be complete before it can be negated: remove one rule from the cycle",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &str = "(role r) (init (at 1)) (<= (legal r (go ?y)) (true (at ?x)) (way ?x ?y))
        (<= (next (at ?y)) (does r (go ?y))) (<= terminal (true (at 3))) (goal r 100)";

    #[test]
    fn files_that_are_added_later_make_the_same_rule_set() {
        let tight = ReadOptions {
            syntax: SyntaxLimits {
                bytes: RULES.len() + 10,
                ..SyntaxLimits::default()
            },
            ..ReadOptions::default()
        };
        for (first, more, options) in [
            (RULES, "(way 1 2) (way 2 3)", ReadOptions::default()),
            (RULES, "(way 1 2) (way 2", ReadOptions::default()),
            (
                RULES,
                "(way 1 2) (way ?x 3) (Way 1 1)",
                ReadOptions::default(),
            ),
            (&RULES[..90], "(way 1 2))", ReadOptions::default()),
            ("(role r)) (goal r)", "(way 1 2)", ReadOptions::default()),
            (RULES, "(way 1 2) (way 2 3)", tight),
        ] {
            let sources = |texts: &[&str]| {
                let of = |(n, text): (usize, &&str)| Source::new(format!("{n}.kif"), *text);
                Sources::new(texts.iter().enumerate().map(of).collect())
            };
            let stop = Stop::new();
            let at_once = read(sources(&[first, more]), &options);
            let beginning = Beginning::read_until(sources(&[first]), &options, &stop);
            // Twice, as for many boards.
            for _ in 0..2 {
                let added = vec![Source::new("1.kif", more)];
                let later = beginning.clone().with(added, &stop);
                assert_eq!(later.to_string(), at_once.to_string());
                assert_eq!(later.game.is_some(), at_once.game.is_some());
                assert_eq!(later.sources, at_once.sources);
            }
        }
    }
}
