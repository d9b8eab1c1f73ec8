//! The static text of the cells of a board.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Board, Printed, content};
use crate::layer::Candidate;
use crate::name;
use ggp_gdl::check::Keyword;
use ggp_gdl::game::Game;
use ggp_gdl::program::{FunctorId, RelationId};
use ggp_gdl::terms::TermId;

impl Board {
    /// Finds the static text of the cells: a relation defined only by facts, each with a
    /// cell and one word, that does not describe the initial state. A relation whose words
    /// also occur in states comes first.
    pub(super) fn print(&mut self, game: &Game, group: &[Candidate], is_swapped: bool) {
        if self.sheets.len() > 1 || self.background.is_some() {
            return;
        }
        let init = game.keyword(Keyword::Init);
        let mut begins = vec![false; game.rules().arity.len()];
        for rule in &game.rules().rules {
            if Some(rule.head.relation) == init {
                for literal in &rule.body {
                    literal.for_each_atom(&mut |atom, _| begins[atom.relation.index()] = true);
                }
            }
        }
        let mut said = FxHashSet::default();
        for one in group {
            said.extend(
                one.layer
                    .rest
                    .iter()
                    .flat_map(|k| one.shape.leaves[*k].iter().copied()),
            );
        }
        for relation in game.rules().relations() {
            if begins[relation.index()] {
                continue;
            }
            let Some((printed, words)) = self.printed_by(game, relation, is_swapped) else {
                continue;
            };
            let is_said = words.iter().any(|word| said.contains(word));
            let stands = |one: &Candidate| {
                let mut facts = one.facts.iter().flatten();
                facts.any(|fact| {
                    let place = self.place(&one.layer, fact);
                    let said = place.and_then(|(_, at)| printed.get(&at));
                    said == Some(&content(game, &one.layer, fact))
                })
            };
            if group.iter().any(stands) {
                continue;
            }
            if self.printed.is_empty() || is_said {
                self.printed = printed;
            }
            if is_said {
                // The other words mark what is not known yet.
                let said: FxHashSet<String> = said.iter().map(|f| name(game, *f)).collect();
                self.printed.retain(|_, word| said.contains(word));
                return;
            }
        }
    }

    /// The text that a relation assigns to cells, if it does, and the set of its words.
    fn printed_by(
        &self,
        game: &Game,
        relation: RelationId,
        is_swapped: bool,
    ) -> Option<(Printed, Vec<FunctorId>)> {
        let rules = game.rules();
        if rules.arity[relation.index()] != 3
            || (rules.rules.iter()).any(|rule| rule.head.relation == relation)
        {
            return None;
        }
        let facts = rules.facts.iter().filter(|fact| fact.relation == relation);
        let facts: Vec<&[TermId]> = facts.map(|fact| &*fact.arguments).collect();
        // Among three arguments, the coordinates come in the same order as in the state.
        let orders = [[0, 1, 2], [0, 2, 1], [1, 2, 0]];
        orders.into_iter().find_map(|[one, two, word]| {
            let (row, column) = if is_swapped { (two, one) } else { (one, two) };
            let mut printed = FxHashMap::default();
            let mut words = Vec::new();
            for fact in &facts {
                let row = self.row_at.get(&game.terms().functor(fact[row]))?;
                let column = self.column_at.get(&game.terms().functor(fact[column]))?;
                let text = game.text(game.terms(), fact[word]);
                words.push(game.terms().functor(fact[word]));
                if printed.insert((*row, *column), text).is_some() {
                    return None;
                }
            }
            let is_all = printed.len() == self.rows.len() * self.columns.len();
            is_all.then_some((printed, words))
        })
    }
}
