//! What may depend on the state and on the moves made.
//!
//! `does` may reach `next` (and `sees`) only; `true` may not reach `init`,
//! `role`, `base` and `input`.

use std::sync::atomic::{AtomicBool, Ordering};

use rustc_hash::FxHashMap;

use super::keywords::Keyword;
use super::lower::Lowered;
use crate::diagnostic::{Code, Diagnostic, Strictness};
use crate::program::RelationId;
use crate::program::strata::{Group, for_each_body_atom};
use crate::span::Span;

/// Reports keywords that depend on what they may not depend on, until `stop` is
/// raised.
pub(super) fn check(lowered: &Lowered, groups: &[Group], stop: &AtomicBool) -> Vec<Diagnostic> {
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
    for (source, forbidden) in [(Keyword::Does, on_moves), (Keyword::True, on_state)] {
        let Some(source_relation) = lowered.keyword_relation(source) else {
            continue;
        };
        // For each relation reached, the atom through which it was.
        let mut reached: FxHashMap<RelationId, Span> = FxHashMap::default();
        // Groups come in order of use; a recursive one may need a second look.
        for group in groups {
            let mut grown = true;
            while grown && !stop.load(Ordering::Relaxed) {
                grown = false;
                for &rule in &group.rules {
                    let rule = &lowered.rules.rules[rule];
                    if reached.contains_key(&rule.head.relation) {
                        continue;
                    }
                    let mut through = None;
                    for_each_body_atom(rule, |atom, _| {
                        if atom.relation == source_relation || reached.contains_key(&atom.relation)
                        {
                            through.get_or_insert(atom.span);
                        }
                    });
                    if let Some(span) = through {
                        grown = group.recursive;
                        reached.insert(rule.head.relation, span);
                    }
                }
            }
        }
        for keyword in forbidden {
            let Some(relation) = lowered.keyword_relation(*keyword) else {
                continue;
            };
            if let Some(span) = reached.get(&relation) {
                let (word, source) = (keyword.as_str(), source.as_str());
                let message = format!("{word} depends on {source}");
                findings.push(
                    Diagnostic::new(
                        Code::ForbiddenDependency,
                        Strictness::Tolerant,
                        *span,
                        message,
                    )
                    .help(match source {
                        "does" => "only next may depend on the moves being made",
                        _ => "it must hold before any state is known",
                    }),
                );
            }
        }
    }
    findings
}
