//! Moves that were never seen to change anything, though others do.

use rustc_hash::{FxHashMap, FxHashSet};

use ggp_gdl::game::Move;

/// How often a move must have been made without an effect where not all positions are known.
const OFTEN: u32 = 5;
/// Different joint moves that are remembered.
const MOST: usize = 200_000;

/// What moves did.
#[derive(Debug, Default)]
pub(super) struct Idle {
    /// By role and move that its role had a choice about: how often nothing changed.
    idle: FxHashMap<(usize, Move), u32>,
    /// Joint moves that changed something: the moves that their roles had a choice about.
    changing: FxHashSet<Vec<(usize, Move)>>,
    is_full: bool,
}

impl Idle {
    /// Looks at a joint move. `has_choice` says by role whether it could have done
    /// something else.
    pub(super) fn look(&mut self, joint: &[Move], has_choice: &[bool], changes: bool) {
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

    /// Moves that never change anything unless moves of others do. `is_all` says
    /// whether all there is was looked at.
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
