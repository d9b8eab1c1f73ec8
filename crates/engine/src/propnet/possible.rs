//! The facts that can ever hold, without a network.
//!
//! In: a game. Out: its facts of the relaxed program ([`super::relax`]), a
//! superset of [`Propnet::facts`](super::Propnet::facts). No gates are built.

use super::decompose::Pieces;
use super::relax;
use ggp_gdl::datalog::{Bounds, Evaluator};
use ggp_gdl::game::Game;
use ggp_gdl::game::flat::flatten;
use ggp_gdl::terms::TermId;

/// The facts that can ever hold, each once, in ascending order of id; `None` if
/// finding them exceeds the bounds. May include facts that no reachable state has:
/// negations and mutual exclusion are ignored.
pub fn possible_facts(game: &Game, bounds: Bounds) -> Option<Vec<TermId>> {
    let flat = flatten(game);
    let mut terms = game.terms().clone();
    let dynamic = relax::dynamic(&flat);
    let pieces = Pieces::whole(flat.rules.clone());
    let relaxed = relax::relaxed(game, &flat, &pieces, &dynamic, &mut terms).ok()?;
    let sources = [&flat.init, &flat.next];
    let asked = sources
        .iter()
        .flat_map(|wrapped| wrapped.relations())
        .collect();
    let (evaluator, _) = Evaluator::new(relaxed, &[], &[(0, asked)], &mut terms, bounds).ok()?;
    let mut facts = Vec::new();
    for wrapped in sources {
        for (relation, functor) in wrapped.flat(game.functors()) {
            let arity = game.functors().functor(functor).arity();
            for row in evaluator.rows(relation) {
                facts.push(terms.intern(functor, &row[row.len() - arity..]).ok()?);
            }
        }
        if let Some(relation) = wrapped.whole {
            facts.extend(evaluator.rows(relation).map(|row| row[row.len() - 1]));
        }
    }
    facts.sort_unstable();
    facts.dedup();
    Some(facts)
}
