//! Check: which keywords may depend on the state and on the moves made.
//!
//! Only `next` and `sees` may depend on `does`; `init`, `role`, `base` and `input` may not
//! depend on `true`. Only `sees` may depend on `next`, and it may not depend on itself.

use std::collections::VecDeque;

use ggp_stop::Stop;

use rustc_hash::{FxHashMap, FxHashSet};

use super::keywords::Keyword;
use super::lower::{Lowered, Position};
use super::names::MissingKeyword;
use crate::diagnostic::{Code, Diagnostic, Strictness};
use crate::program::RelationId;
use crate::program::strata::{Group, for_each_body_atom};
use crate::span::{Sources, Span};

/// Reports keywords with forbidden dependencies, until `stop` is over.
pub(super) fn check(
    lowered: &Lowered,
    sources: &Sources,
    groups: &[Group],
    stop: &Stop,
) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    let on_moves: &[Keyword] = &[
        Keyword::Legal,
        Keyword::Goal,
        Keyword::Terminal,
        Keyword::Init,
        Keyword::Base,
        Keyword::Input,
    ];
    let on_state: &[Keyword] = &[Keyword::Init, Keyword::Base, Keyword::Input];
    let on_next: &[Keyword] = &[
        Keyword::Next,
        Keyword::Legal,
        Keyword::Goal,
        Keyword::Terminal,
        Keyword::Init,
        Keyword::Base,
        Keyword::Input,
    ];
    let sources_of = [
        // What depends on `next` depends on `does` as well, which is not reported again.
        (Keyword::Next, on_next),
        (Keyword::Does, on_moves),
        (Keyword::True, on_state),
        (Keyword::Sees, &[Keyword::Sees]),
    ];
    for (source, forbidden) in sources_of {
        let Some(source_relation) = lowered.keyword_relation(source) else {
            continue;
        };
        // What depends on a keyword that must not depend on the source is not at fault.
        let at_fault = forbidden.iter();
        let at_fault = at_fault.filter_map(|keyword| lowered.keyword_relation(*keyword));
        let at_fault: FxHashSet<RelationId> = at_fault.collect();
        // For each relation reached, the atom through which it was reached.
        let mut reached: FxHashMap<RelationId, (Span, RelationId)> = FxHashMap::default();
        // Groups are in evaluation order; in a recursive one, rules wait for each other.
        for group in groups {
            if stop.is_over() {
                break;
            }
            let mut waiting: FxHashMap<RelationId, Vec<usize>> = FxHashMap::default();
            let mut open: VecDeque<usize> = group.rules.iter().copied().collect();
            while let Some(number) = open.pop_front() {
                let rule = &lowered.rules.rules[number];
                if reached.contains_key(&rule.head.relation) {
                    continue;
                }
                let mut through = None;
                for_each_body_atom(rule, |atom, _| {
                    let is_passed =
                        reached.contains_key(&atom.relation) && !at_fault.contains(&atom.relation);
                    if atom.relation == source_relation || is_passed {
                        through.get_or_insert((atom.span, atom.relation));
                    }
                });
                if let Some(atom) = through {
                    reached.insert(rule.head.relation, atom);
                    open.extend(waiting.remove(&rule.head.relation).into_iter().flatten());
                } else if group.recursive {
                    for_each_body_atom(rule, |atom, _| {
                        waiting.entry(atom.relation).or_default().push(number);
                    });
                }
            }
        }
        for keyword in forbidden {
            let Some(relation) = lowered.keyword_relation(*keyword) else {
                continue;
            };
            let is_new = |(span, _): &&(Span, _)| {
                findings.iter().all(|f: &Diagnostic| f.span != Some(*span))
            };
            if let Some(&(span, through)) = reached.get(&relation).filter(is_new) {
                // Percepts are named where the source is reached through them.
                let passes =
                    |through: &RelationId| lowered.keyword_of(*through) == Some(Keyword::Sees);
                let mut path = std::iter::successors(Some(through), |through| {
                    let further = *through != source_relation;
                    further.then(|| reached[through].1)
                });
                let by_percepts = *keyword != Keyword::Sees && path.any(|through| passes(&through));
                let word = keyword.as_str();
                let cause = match by_percepts {
                    true => Keyword::Sees.as_str(),
                    false => source.as_str(),
                };
                let message = match word == cause {
                    true => format!("{word} must not depend on itself"),
                    false => format!("{word} must not depend on {cause}"),
                };
                let help = match source.as_str() {
                    _ if by_percepts => {
                        "sees holds only after a joint move: define a separate relation for the \
                               shared condition of the position, and use it in both rules"
                    }
                    "does" => "of the keywords only next and sees may depend on the moves made",
                    "next" => {
                        "only sees may: define a separate relation for the shared condition, \
                               and use it in both rules"
                    }
                    "sees" => {
                        "define a separate relation for what several roles perceive, and use it in \
                               each rule"
                    }
                    _ => "it is evaluated before there is a state",
                };
                // A relation may really be a fact of the state whose `true` or
                // `next` is missing.
                let is_own = lowered.keyword_of(through).is_none();
                let bare = is_own.then(|| MissingKeyword::new(lowered, sources));
                let meant = bare.and_then(|bare| bare.suggestion(through, span, Position::Body));
                let code = Code::ForbiddenDependency;
                findings.push(
                    Diagnostic::new(code, Strictness::Tolerant, span, message).help(match meant {
                        Some(meant) => format!("{help}; {meant}"),
                        None => help.to_owned(),
                    }),
                );
            }
        }
    }
    findings
}
