//! Time limits for work that does not check a clock itself.

use ggp_stop::{Instant, Stop};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use ggp_engine::machine::PlayError;

/// The interval at which the time and outside interrupts are checked.
const TICK: Duration = Duration::from_millis(20);

/// Interrupts a machine when the time for a part of the work is over.
#[derive(Clone, Debug, Default)]
pub struct Alarm {
    bell: Stop,
    outside: Stop,
}

impl Alarm {
    /// An alarm that also goes off when `outside` is raised.
    pub fn new(outside: Stop) -> Alarm {
        let bell = outside.child();
        Alarm { bell, outside }
    }

    /// The value that interrupts the machine.
    pub fn bell(&self) -> Stop {
        self.bell.clone()
    }

    /// The result of `work`; `None` if it is not done by `until` or is interrupted.
    ///
    /// # Errors
    ///
    /// Those of the work except [`PlayError::Interrupted`].
    pub fn within<T>(
        &self,
        until: Instant,
        work: impl FnOnce() -> Result<T, PlayError>,
    ) -> Result<Option<T>, PlayError> {
        let result = thread::scope(|scope| {
            let (done, wait) = channel::<()>();
            let watch = move || {
                while wait.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                    if self.is_raised() || Instant::now() >= until {
                        self.bell.raise();
                    }
                }
            };
            // Work that nothing would end is not begun.
            let watch = thread::Builder::new().spawn_scoped(scope, watch);
            let result = watch.map_or(Err(PlayError::Interrupted), |_| work());
            drop(done);
            result
        });
        self.bell.lower();
        match result {
            Err(PlayError::Interrupted) => Ok(None),
            other => other.map(Some),
        }
    }

    /// Returns whether it was interrupted from outside.
    pub fn is_raised(&self) -> bool {
        self.outside.is_raised()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Work without an end.
    fn work(bell: &Stop) -> Result<(), PlayError> {
        while !bell.is_raised() {
            thread::sleep(Duration::from_millis(1));
        }
        Err(PlayError::Interrupted)
    }

    #[test]
    fn work_ends_with_its_time_and_other_work_goes_on() {
        let alarm = Alarm::default();
        let bell = alarm.bell();
        let soon = || Instant::now() + Duration::from_millis(30);
        assert_eq!(alarm.within(soon(), || work(&bell)), Ok(None));
        assert_eq!(alarm.within(soon(), || Ok(1)), Ok(Some(1)));
        let outside = Stop::new();
        outside.raise();
        let raised = Alarm::new(outside);
        let bell = raised.bell();
        let late = Instant::now() + Duration::from_secs(600);
        assert_eq!(raised.within(late, || work(&bell)), Ok(None));
        assert!(raised.is_raised());
    }
}
