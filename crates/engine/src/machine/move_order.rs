//! Fast sorting of moves by the order of the rules.
//!
//! Each move gets a label when it is first sorted. Later sorts compare labels only.

use ggp_gdl::game::{Game, Move};
use ggp_gdl::terms::{TermId, Terms};

/// The moves seen so far, in order, and their labels.
#[derive(Clone, Debug, Default)]
pub(super) struct MoveOrder {
    sorted: Vec<TermId>,
    /// By term; 0 for terms that are not in the order yet.
    labels: Vec<u64>,
}

/// The distance of labels when all are reassigned.
const GAP: u64 = 1 << 32;

impl MoveOrder {
    /// Sorts moves by [`Game::compare_terms`].
    pub fn sort(&mut self, game: &Game, terms: &Terms, moves: &mut [Move]) {
        if moves.len() < 2 {
            return;
        }
        for chosen in &*moves {
            let known = self.labels.get(chosen.term().index());
            if known.is_none_or(|label| *label == 0) {
                self.insert(game, terms, chosen.term());
            }
        }
        moves.sort_unstable_by_key(|chosen| self.labels[chosen.term().index()]);
    }

    #[cold]
    fn insert(&mut self, game: &Game, terms: &Terms, term: TermId) {
        if self.labels.len() <= term.index() {
            self.labels.resize(term.index() + 1, 0);
        }
        let place = self
            .sorted
            .partition_point(|known| game.compare_terms(terms, *known, term).is_lt());
        let label = |place: usize| self.labels[self.sorted[place].index()];
        let below = if place == 0 { 0 } else { label(place - 1) };
        let above = match place < self.sorted.len() {
            true => label(place),
            false => below + 2 * GAP,
        };
        self.sorted.insert(place, term);
        if above - below < 2 || above > u64::MAX / 2 {
            for (place, term) in self.sorted.iter().enumerate() {
                self.labels[term.index()] = (place as u64 + 1) * GAP;
            }
        } else {
            self.labels[term.index()] = below + (above - below) / 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_are_sorted_by_the_rules_regardless_of_earlier_calls() {
        let names: Vec<String> = (0..200).map(|i| format!("m{}", (i * 77) % 200)).collect();
        let facts: String = names.iter().map(|n| format!("(legal r {n})")).collect();
        let text = format!("(role r) (init f) {facts} (<= terminal (not (true f))) (goal r 1)");
        let game = Game::from_text("t", &text).unwrap();
        let mut terms = game.terms().clone();
        let mut order = MoveOrder::default();
        let mut parse = |i: usize| Move::new(game.parse_term(&mut terms, &names[i]).unwrap());
        let all: Vec<Move> = (0..200).map(&mut parse).collect();
        // Always the same gap, so that labels run out and are reassigned.
        for i in (0..200).rev() {
            let mut pair = [all[i], all[0], all[i / 2]];
            order.sort(&game, game.terms(), &mut pair);
            assert_eq!(pair, [all[0], all[i / 2], all[i]]);
        }
    }
}
