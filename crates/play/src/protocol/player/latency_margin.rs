//! The time before the end of a clock at which an answer is sent.

use std::time::Duration;

/// The base for a host on another machine, and for one on this machine.
const FAR: Duration = Duration::from_millis(500);
const NEAR: Duration = Duration::from_millis(150);
/// The initial penalty.
const FIRST_PENALTY: Duration = Duration::from_millis(250);

/// The part of a clock that is reserved for the network and the load of the machine.
///
/// It is the sum of a base, which is smaller for a host on the same machine, twice the delay of late answers, and a penalty. The delay is
/// halved with each answer that took nearly the whole clock and was not late. The penalty
/// doubles when the host replaces a move that took nearly the whole clock and so probably
/// arrived too late; it decreases with each such move that is accepted. The margin is at most
/// a third of the clock.
#[derive(Clone, Debug)]
pub struct LatencyMargin {
    fixed: Option<Duration>,
    late: Duration,
    penalty: Duration,
}

impl LatencyMargin {
    /// A fixed margin, or an adaptive one.
    pub fn new(fixed: Option<Duration>) -> Self {
        LatencyMargin {
            fixed,
            late: Duration::ZERO,
            penalty: Duration::ZERO,
        }
    }

    /// The margin for a clock of a host, which is near if it is on the same machine.
    pub fn of(&self, clock: Duration, is_near: bool) -> Duration {
        if let Some(fixed) = self.fixed {
            return fixed.min(clock);
        }
        let base = if is_near { NEAR } else { FAR };
        let whole = base.saturating_add(self.late.saturating_mul(2));
        whole.saturating_add(self.penalty).min(clock / 3)
    }

    /// Records the delay after its deadline of an answer that took nearly the whole clock, 0 if
    /// it was not late.
    pub fn was_late(&mut self, by: Duration) {
        self.late = by.max(self.late / 2);
    }

    /// Records whether the host accepted a move that took nearly the whole clock.
    pub fn was_played(&mut self, played: bool) {
        self.penalty = match played {
            true => self.penalty - self.penalty / 4,
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
        let mut margin = LatencyMargin::new(None);
        let clock = ms(10_000);
        assert_eq!(margin.of(clock, false), ms(500));
        margin.was_late(ms(50));
        assert_eq!(margin.of(clock, false), ms(600));
        margin.was_played(false);
        margin.was_played(false);
        assert_eq!(margin.of(clock, false), ms(1_100));
        // One late answer does not cost much for long.
        for _ in 0..6 {
            margin.was_late(ms(0));
            margin.was_played(true);
        }
        assert!(margin.of(clock, false) < ms(600), "{margin:?}");
    }

    #[test]
    fn a_host_on_the_same_machine_needs_less() {
        let margin = LatencyMargin::new(None);
        assert_eq!(margin.of(ms(10_000), true), ms(150));
    }

    #[test]
    fn the_margin_is_at_most_a_third_of_the_clock() {
        let mut margin = LatencyMargin::new(None);
        assert_eq!(margin.of(ms(900), false), ms(300));
        for _ in 0..100 {
            margin.was_played(false);
        }
        assert_eq!(margin.of(ms(900), false), ms(300));
        let fixed = LatencyMargin::new(Some(ms(2000)));
        assert_eq!(fixed.of(ms(1000), false), ms(1000));
    }
}
