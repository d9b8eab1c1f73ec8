//! Moves that never changed anything, although other moves did.

use rustc_hash::{FxHashMap, FxHashSet};

use ggp_gdl::game::Move;

/// Minimum number of times that a move must have had no effect, unless all positions are
/// known.
const OFTEN: u32 = 5;
/// Maximum number of different joint moves that are remembered.
const MOST: usize = 200_000;

/// The observed effects of moves.
#[derive(Debug, Default)]
pub(super) struct IdleMoves {
    /// For each role and each of its moves that was a choice: how often nothing changed.
    idle: FxHashMap<(usize, Move), u32>,
    /// Joint moves that changed something, restricted to the moves that were a choice.
    changing: FxHashSet<Vec<(usize, Move)>>,
    is_full: bool,
}

impl IdleMoves {
    /// Visits a joint move. `has_choice` says for each role whether it had an alternative.
    pub(super) fn visit(&mut self, joint: &[Move], has_choice: &[bool], changes: bool) {
        let chosen = joint.iter().copied().enumerate();
        let chosen: Vec<_> = chosen.filter(|(role, _)| has_choice[*role]).collect();
        if !changes {
            for one in chosen {
                *self.idle.entry(one).or_default() += 1;
            }
        } else if self.changing.len() < MOST {
            self.changing.insert(chosen);
        } else {
            self.is_full |= !self.changing.contains(&chosen);
        }
    }

    /// Moves that never change anything unless moves of other roles do. `is_all` says
    /// whether all positions were visited.
    pub(super) fn never(&self, is_all: bool) -> FxHashSet<Move> {
        if self.is_full || self.changing.is_empty() {
            return FxHashSet::default();
        }
        let often = self
            .idle
            .iter()
            .filter(|(_, count)| is_all || **count >= OFTEN);
        let mut never: FxHashSet<(usize, Move)> = often.map(|(one, _)| *one).collect();
        let alone = |joint: &&Vec<_>| joint.iter().all(|one| never.contains(one));
        let changing: Vec<_> = self
            .changing
            .iter()
            .filter(alone)
            .flatten()
            .copied()
            .collect();
        for one in changing {
            never.remove(&one);
        }
        never.into_iter().map(|(_, chosen)| chosen).collect()
    }
}
