//! The clock of a run: the start of playouts and their cut-off.

use ggp_stop::Stop;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use super::Until;

/// The clock of a run, shared by its threads.
#[derive(Debug)]
pub struct Pace {
    until: Until,
    start: Instant,
    /// The number of playouts that may still begin, where it is limited.
    left: AtomicU64,
    stop: Stop,
}

impl Pace {
    /// A clock that starts now.
    pub(super) fn new(until: Until, stop: Stop) -> Self {
        let left = match until {
            Until::Time(_) => u64::MAX,
            Until::Playouts(count) => count,
        };
        Pace {
            until,
            start: Instant::now(),
            left: AtomicU64::new(left),
            stop,
        }
    }

    /// Takes up to `most` playouts that may begin now, and returns their number.
    pub fn begin(&self, most: u64) -> u64 {
        if self.stop.is_raised() {
            return 0;
        }
        match self.until {
            Until::Time(time) if self.start.elapsed() >= time => 0,
            Until::Time(_) => most,
            Until::Playouts(_) => {
                let take = |left: u64| Some(left.saturating_sub(most));
                let before = self
                    .left
                    .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
                most.min(before.expect("the closure always returns a number"))
            }
        }
    }

    /// Whether playouts are to be cut off: twice the time has passed, or the interrupt is
    /// raised.
    pub fn is_over(&self) -> bool {
        let late = match self.until {
            Until::Time(time) => self.start.elapsed() >= 2 * time,
            Until::Playouts(_) => false,
        };
        late || self.stop.is_raised()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_playouts_begin_than_requested() {
        let pace = Pace::new(Until::Playouts(5), Stop::new());
        assert_eq!([pace.begin(2), pace.begin(2), pace.begin(2)], [2, 2, 1]);
        assert_eq!(pace.begin(1), 0);
        assert!(!pace.is_over());
    }

    #[test]
    fn an_interrupt_ends_all() {
        let stop: Stop = Stop::new();
        let pace = Pace::new(Until::Playouts(5), stop.clone());
        stop.raise();
        assert_eq!(pace.begin(1), 0);
        assert!(pace.is_over());
    }
}
