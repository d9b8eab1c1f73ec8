//! What kind of game was seen, which decides what may be said of the most.

use super::expanded::Expanded;

/// What the positions that were met have in common.
#[derive(Clone, Debug)]
pub(super) struct GameClass {
    /// By role: whether it is played by chance.
    chance: Vec<bool>,
    /// Whether the role chose at the same time as others.
    has_choices_at_once: bool,
    /// The sum of the scores of those who choose, and whether it was the same at
    /// all ends.
    sum: Option<u32>,
    is_constant: bool,
}

impl GameClass {
    pub(super) fn new(chance: &[bool]) -> Self {
        GameClass {
            chance: chance.to_vec(),
            has_choices_at_once: false,
            sum: None,
            is_constant: true,
        }
    }

    pub(super) fn note<S, M>(&mut self, fork: &Expanded<S, M>) {
        self.has_choices_at_once |= fork.is_at_once();
        for child in &fork.expansion.children {
            let Some(scores) = child.scores.as_ref().filter(|_| !child.is_wrong) else {
                continue;
            };
            let chosen = scores
                .iter()
                .zip(&self.chance)
                .filter(|(_, chance)| !**chance);
            let sum = chosen.map(|(score, _)| u32::from(*score)).sum();
            self.is_constant &= self.sum.is_none_or(|known| known == sum);
            self.sum = Some(sum);
        }
    }

    /// Whether those who harm the role do themselves good by it, and nobody else
    /// chooses: then the role gets no more than they allow.
    pub(super) fn is_most_known(&self) -> bool {
        match self.chance.iter().filter(|chance| !**chance).count() {
            0 | 1 => true,
            2 => self.is_constant && !self.has_choices_at_once,
            _ => false,
        }
    }
}
