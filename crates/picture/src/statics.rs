//! Facts that hold in every state.

use ggp_gdl::check::Keyword;
use ggp_gdl::datalog::{Bounds, Evaluator};
use ggp_gdl::game::Game;
use ggp_gdl::program::{FunctorId, RelationId, RuleSet, reach};
use ggp_gdl::terms::{TermId, Terms};

/// Maximum number of derived facts, and of rows that are visited.
const FACTS: usize = 50_000;
const WORK: u64 = 500_000;
/// The numbers of arguments of the relations that matter.
const ARITIES: std::ops::RangeInclusive<usize> = 2..=5;

/// The relations of two to five constants that depend neither on the state nor on moves, in the
/// order of the rules.
#[derive(Default)]
pub(super) struct Statics {
    pub ids: Vec<RelationId>,
    /// By relation: its rows.
    pub relations: Vec<Vec<Vec<FunctorId>>>,
    /// By relation of two or three arguments: its rows, with the constants of each argument from
    /// left to right, functors first.
    pub pairs: Vec<Vec<Vec<Vec<FunctorId>>>>,
}

impl Statics {
    /// Evaluates the relations of a game; no relation if that takes much work.
    pub fn new(game: &Game) -> Self {
        let rules = game.rules();
        let inputs = [Keyword::True, Keyword::Does].map(|keyword| game.keyword(keyword));
        let is_moving = reach::dependents(rules, inputs.into_iter().flatten());
        let is_keyword = |relation: RelationId| {
            let mut keywords = Keyword::ALL.iter();
            keywords.any(|keyword| game.keyword(*keyword) == Some(relation))
        };
        let is_wanted = |relation: &RelationId| {
            !is_moving[relation.index()]
                && ARITIES.contains(&rules.arity[relation.index()])
                && !is_keyword(*relation)
        };
        let wanted: Vec<RelationId> = rules.relations().filter(is_wanted).collect();
        let mut own = RuleSet::clone(rules);
        own.rules
            .retain(|rule| !is_moving[rule.head.relation.index()]);
        let mut terms = game.terms().clone();
        let bounds = Bounds {
            facts: FACTS,
            work: WORK,
            ..Bounds::default()
        };
        let evaluator = Evaluator::new(own, &[], &[(0, wanted.clone())], &mut terms, bounds);
        let Ok((mut evaluator, queries)) = evaluator else {
            return Statics::default();
        };
        if evaluator.ask(queries[0], &mut terms).is_err() {
            return Statics::default();
        }
        let is_short = |relation: &&RelationId| rules.arity[relation.index()] < 4;
        let pairs = wanted.iter().filter(is_short).map(|relation| {
            let rows = evaluator.rows(*relation);
            rows.map(|row| row.iter().map(|term| constants(&terms, *term)).collect())
                .collect()
        });
        let pairs = pairs.collect();
        let relations = wanted.iter().map(|relation| {
            let rows = evaluator.rows(*relation);
            let is_flat = |row: &&[_]| row.iter().all(|term| terms.arguments(*term).is_empty());
            let rows = rows.filter(is_flat);
            rows.map(|row| row.iter().map(|term| terms.functor(*term)).collect())
                .collect()
        });
        Statics {
            relations: relations.collect(),
            ids: wanted,
            pairs,
        }
    }
}

/// The constants of a term from left to right, functors first.
fn constants(terms: &Terms, term: TermId) -> Vec<FunctorId> {
    let arguments = terms.arguments(term).iter();
    let below = arguments.flat_map(|argument| constants(terms, *argument));
    [terms.functor(term)].into_iter().chain(below).collect()
}
