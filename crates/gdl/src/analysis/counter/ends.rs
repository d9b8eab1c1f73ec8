//! Dependencies of the end of the game on autonomous facts.

use std::collections::BTreeSet;

use ggp_stop::Stop;

use crate::analysis::dependencies::Dependencies;
use crate::analysis::resolve::Body;
use crate::check::Keyword;
use crate::game::Game;
use crate::program::{FunctorId, Rule};
use crate::terms::Terms;

/// Conditions of `terminal` that depend on autonomous facts.
pub(super) struct Ends {
    /// Conditions on autonomous facts alone, as rules.
    pub(super) alone: Vec<Rule>,
    /// The functors that each of these rules depends on.
    pub(super) alone_reads: Vec<BTreeSet<FunctorId>>,
    /// Autonomous functors used together with other facts.
    pub(super) mixed: BTreeSet<FunctorId>,
}

/// Maximum depth to which definitions are unfolded below `terminal`.
const DEPTH: usize = 4;
/// Maximum number of conditions for `terminal` examined.
const MAX_ENDS: usize = 1_000;

/// Computes the conditions; unfolds definitions as far as needed to separate
/// conditions on autonomous facts alone from the others. `None` if `stop` is over.
pub(super) fn ends(
    game: &Game,
    dependencies: &Dependencies,
    autonomous: &BTreeSet<FunctorId>,
    stop: &Stop,
) -> Option<Ends> {
    let mut ends = Ends {
        alone: Vec::new(),
        alone_reads: Vec::new(),
        mixed: BTreeSet::new(),
    };
    let terminal = game.keyword(Keyword::Terminal);
    let mut terms = game.terms().clone();
    let rules = game.rules().rules.iter();
    let mut open: Vec<(Rule, usize)> = rules
        .filter(|rule| Some(rule.head.relation) == terminal)
        .map(|rule| (rule.clone(), DEPTH))
        .collect();
    while let Some((rule, depth)) = open.pop() {
        if stop.is_over() {
            return None;
        }
        let reads = dependencies.rule(&terms, &rule);
        let ours: BTreeSet<FunctorId> = reads.facts.intersection(autonomous).copied().collect();
        if ours.is_empty() {
            continue;
        }
        if ours.len() == reads.facts.len() && !reads.moves {
            ends.alone.push(rule);
            ends.alone_reads.push(ours);
            continue;
        }
        let body = Body::of(&rule);
        // A single condition that mixes both may be a disjunction.
        let is_mixed = |index: usize, terms: &Terms| {
            let mut part = rule.clone();
            part.body = vec![rule.body[index].clone()];
            let reads = dependencies.rule(terms, &part);
            !reads.facts.is_disjoint(autonomous) && !reads.facts.is_subset(autonomous)
        };
        let split = (0..rule.body.len())
            .filter(|_| depth > 0 && open.len() + ends.alone.len() < MAX_ENDS)
            .filter(|index| !stop.is_over() && is_mixed(*index, &terms))
            .collect::<Vec<_>>();
        let split = split
            .into_iter()
            .find_map(|index| body.split(game, index, MAX_ENDS, &mut terms));
        match split {
            Some(bodies) => open.extend(bodies.into_iter().map(|body| {
                let variables = (0..body.variables).map(|v| format!("?{v}").into());
                let part = Rule {
                    head: rule.head.clone(),
                    body: body.literals,
                    variables: variables.collect(),
                    span: rule.span,
                };
                (part, depth - 1)
            })),
            None => ends.mixed.extend(ours),
        }
    }
    Some(ends)
}
