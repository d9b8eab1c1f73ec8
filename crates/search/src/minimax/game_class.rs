//! The class of a game by the positions seen, which decides whether upper bounds hold.

use super::expanded::Expanded;

/// The common properties of the positions seen.
#[derive(Copy, Clone, Debug)]
pub(super) struct GameClass {
    /// True if the role and others chose simultaneously.
    has_simultaneous_moves: bool,
    /// The sum of the scores of all roles except chance in the last terminal state.
    sum: Option<u32>,
    /// True if the sum was the same in all terminal states.
    is_constant: bool,
}

impl GameClass {
    pub(super) const NOTHING_SEEN: GameClass = GameClass {
        has_simultaneous_moves: false,
        sum: None,
        is_constant: true,
    };

    /// Takes note of a position and the terminal states after it. `chance` tells by role
    /// whether it is played by chance.
    pub(super) fn record<S, M>(&mut self, expanded: &Expanded<S, M>, chance: &[bool]) {
        self.has_simultaneous_moves |= expanded.is_simultaneous();
        for child in &expanded.expansion.children {
            let Some(scores) = child.scores.as_ref().filter(|_| !child.is_wrong) else {
                continue;
            };
            let chosen = scores.iter().zip(chance).filter(|(_, chance)| !**chance);
            let sum = chosen.map(|(score, _)| u32::from(*score)).sum();
            self.is_constant &= self.sum.is_none_or(|known| known == sum);
            self.sum = Some(sum);
        }
    }

    /// The sum of the scores of all roles except chance, if it was the same in all terminal states.
    pub(super) fn constant_sum(&self) -> Option<u32> {
        self.sum.filter(|_| self.is_constant)
    }

    /// Returns true if upper bounds hold: the interests of all other roles are opposed to the
    /// role's, so that they never allow it more than the computed bound.
    pub(super) fn has_upper_bounds(&self, chance: &[bool]) -> bool {
        match chance.iter().filter(|chance| !**chance).count() {
            0 | 1 => true,
            2 => self.is_constant && !self.has_simultaneous_moves,
            _ => false,
        }
    }
}
