//! The time after which a batch of playouts is cut.
//!
//! In: the time for a move, and what each batch took and found. Out: the time for the next batch. Where
//! few batches of whole playouts fit into the time for a move, and few playouts end early, short playouts
//! from many more positions are better: the ends that are near are found, and the tree grows deeper.

use std::time::Duration;

use ggp_engine::propnet::rollouts::Outcome;

/// The parts of the time for a move that batches may take to find out how many playouts end with a score:
/// the next one where none does in the one before.
const TRIALS: [u32; 2] = [8, 2];
/// The part of the time for a move that a batch takes if few playouts end.
const SHORT: u32 = 64;
/// The least share of playouts that must end in a trial, so that they are not cut.
const ENOUGH: f64 = 0.25;
/// The number of moves after which there are other trials.
const MOVES: u32 = 8;

/// The length of playouts, as far as it is known.
#[derive(Copy, Clone, Default, Debug)]
pub(super) struct Patience {
    /// The time for the move; `None` if it is not limited.
    time: Option<Duration>,
    /// The number of trials in which no playout ended.
    failed: usize,
    /// The moves that the last trial still holds for.
    holds: u32,
    is_short: bool,
}

impl Patience {
    /// Begins a move with this time.
    pub fn begin(&mut self, time: Option<Duration>) {
        self.time = time;
        self.failed = 0;
        self.holds = self.holds.saturating_sub(1);
    }

    /// The time of the next batch, if it is limited.
    pub fn most(&self) -> Option<Duration> {
        let part = match self.holds {
            0 => TRIALS[self.failed],
            _ if self.is_short => SHORT,
            _ => return None,
        };
        Some(self.time? / part)
    }

    /// Learns from a batch.
    pub fn learn(&mut self, outcomes: &[Outcome]) {
        if self.time.is_none() || self.holds > 0 {
            return;
        }
        let count = |of: fn(&Outcome) -> u64| outcomes.iter().map(of).sum::<u64>() as f64;
        // Ends without a score tell as little as playouts that are cut.
        let ended = count(|outcome| outcome.playouts + outcome.stuck);
        let cut = count(|outcome| outcome.cut + outcome.faulty);
        if ended == 0.0 && cut > 0.0 && self.failed + 1 < TRIALS.len() {
            self.failed += 1;
            return;
        }
        // Where no playout ends in any trial, only whole ones tell anything.
        self.is_short = ended > 0.0 && ended < ENOUGH * (ended + cut);
        self.holds = MOVES;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME: Duration = Duration::from_secs(64);

    fn outcomes(ended: u64, cut: u64) -> [Outcome; 2] {
        let half = |playouts, cut| Outcome {
            playouts,
            cut,
            ..Outcome::default()
        };
        [half(ended, 0), half(0, cut)]
    }

    #[test]
    fn playouts_are_short_where_some_end_and_most_do_not() {
        for (ended, cut, then) in [
            (0, 100, None),
            (1, 99, Some(TIME / SHORT)),
            (24, 76, Some(TIME / SHORT)),
            (25, 75, None),
            (100, 0, None),
        ] {
            let mut patience = Patience::default();
            patience.begin(Some(TIME));
            assert_eq!(patience.most(), Some(TIME / TRIALS[0]));
            if ended == 0 {
                patience.learn(&outcomes(ended, cut));
                assert_eq!(patience.most(), Some(TIME / TRIALS[1]));
            }
            patience.learn(&outcomes(ended, cut));
            assert_eq!(patience.most(), then, "{ended} of {}", ended + cut);
            // Later batches change nothing until the next trial.
            patience.learn(&outcomes(25, 75));
            for _ in 1..MOVES {
                patience.begin(Some(TIME));
                assert_eq!(patience.most(), then);
            }
            patience.begin(Some(TIME));
            assert_eq!(patience.most(), Some(TIME / TRIALS[0]));
        }
    }

    #[test]
    fn nothing_is_cut_without_a_time_limit() {
        let mut patience = Patience::default();
        patience.begin(None);
        patience.learn(&outcomes(1, 99));
        assert_eq!(patience.most(), None);
        patience.begin(Some(TIME));
        patience.learn(&outcomes(1, 99));
        patience.begin(None);
        assert_eq!(patience.most(), None);
    }
}
