//! How long before the end of a clock an answer is given.

use std::collections::VecDeque;
use std::time::Duration;

/// Answers whose lateness is remembered.
const REMEMBERED: usize = 16;
/// What a doubt begins with.
const FIRST_DOUBT: Duration = Duration::from_millis(250);

/// The part of a clock that is left for the network and the load of the machine.
///
/// It is a base, and twice the longest time that one of the last answers was
/// written after it was due, and a doubt: it doubles when a host plays another
/// move than one that took nearly the whole clock, so that it must have been too
/// late, and fades with each such move that is played. At most a third of the
/// clock is taken.
#[derive(Clone, Debug)]
pub struct LatencyMargin {
    fixed: Option<Duration>,
    base: Duration,
    late: VecDeque<Duration>,
    doubt: Duration,
}

impl LatencyMargin {
    /// One that adjusts itself, or always the same.
    pub fn new(fixed: Option<Duration>, base: Duration) -> Self {
        LatencyMargin {
            fixed,
            base,
            late: VecDeque::new(),
            doubt: Duration::ZERO,
        }
    }

    /// What is taken from a clock.
    pub fn of(&self, clock: Duration) -> Duration {
        if let Some(fixed) = self.fixed {
            return fixed.min(clock);
        }
        let latest = self.late.iter().max().copied().unwrap_or_default();
        let whole = self.base.saturating_add(latest.saturating_mul(2));
        whole.saturating_add(self.doubt).min(clock / 3)
    }

    /// An answer was written so long after it was due.
    pub fn was_late(&mut self, by: Duration) {
        if self.late.len() == REMEMBERED {
            self.late.pop_front();
        }
        self.late.push_back(by);
    }

    /// A move that took nearly the whole clock was played by the host, or another
    /// one was in its place.
    pub fn was_played(&mut self, played: bool) {
        self.doubt = match played {
            true => self.doubt - self.doubt / 8,
            false => self.doubt.saturating_mul(2).max(FIRST_DOUBT),
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
    fn it_grows_with_what_goes_wrong_and_shrinks_again() {
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
    fn a_short_clock_is_not_eaten_up() {
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
