//! The time before the end of a clock at which an answer is sent.

use std::collections::VecDeque;
use std::time::Duration;

/// The number of recent answers whose delays are kept.
const REMEMBERED: usize = 16;
/// The initial penalty.
const FIRST_PENALTY: Duration = Duration::from_millis(250);

/// The part of a clock that is reserved for the network and the load of the machine.
///
/// It is the sum of a base, twice the longest delay of the last answers after their deadline,
/// and a penalty. The penalty doubles when the host replaces a move that took nearly the whole
/// clock and so probably arrived too late; it decreases with each such move that is accepted.
/// The margin is at most a third of the clock.
#[derive(Clone, Debug)]
pub struct LatencyMargin {
    fixed: Option<Duration>,
    base: Duration,
    late: VecDeque<Duration>,
    penalty: Duration,
}

impl LatencyMargin {
    /// A fixed margin, or an adaptive one.
    pub fn new(fixed: Option<Duration>, base: Duration) -> Self {
        LatencyMargin {
            fixed,
            base,
            late: VecDeque::new(),
            penalty: Duration::ZERO,
        }
    }

    /// The margin for a clock.
    pub fn of(&self, clock: Duration) -> Duration {
        if let Some(fixed) = self.fixed {
            return fixed.min(clock);
        }
        let latest = self.late.iter().max().copied().unwrap_or_default();
        let whole = self.base.saturating_add(latest.saturating_mul(2));
        whole.saturating_add(self.penalty).min(clock / 3)
    }

    /// Records the delay of an answer after its deadline.
    pub fn was_late(&mut self, by: Duration) {
        if self.late.len() == REMEMBERED {
            self.late.pop_front();
        }
        self.late.push_back(by);
    }

    /// Records whether the host accepted a move that took nearly the whole clock.
    pub fn was_played(&mut self, played: bool) {
        self.penalty = match played {
            true => self.penalty - self.penalty / 8,
            false => self.penalty.saturating_mul(2).max(FIRST_PENALTY),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn the_margin_grows_with_delays_and_shrinks_again() {
        let mut margin = LatencyMargin::new(None, ms(200));
        assert_eq!(margin.of(ms(10_000)), ms(200));
        margin.was_late(ms(50));
        assert_eq!(margin.of(ms(10_000)), ms(300));
        margin.was_played(false);
        margin.was_played(false);
        assert_eq!(margin.of(ms(10_000)), ms(800));
        for _ in 0..REMEMBERED {
            margin.was_late(ms(0));
            margin.was_played(true);
        }
        assert!(margin.of(ms(10_000)) < ms(300));
    }

    #[test]
    fn the_margin_is_at_most_a_third_of_the_clock() {
        let mut margin = LatencyMargin::new(None, ms(500));
        assert_eq!(margin.of(ms(900)), ms(300));
        for _ in 0..100 {
            margin.was_played(false);
        }
        assert_eq!(margin.of(ms(900)), ms(300));
        assert_eq!(
            LatencyMargin::new(Some(ms(2000)), ms(500)).of(ms(1000)),
            ms(1000)
        );
    }
}
