//! Time limits for work that does not check a clock itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use ggp_engine::machine::PlayError;

/// The interval at which the time and outside interrupts are checked.
const TICK: Duration = Duration::from_millis(20);

/// Interrupts a machine when the time for a part of the work is over.
#[derive(Clone, Debug, Default)]
pub struct Alarm {
    bell: Arc<AtomicBool>,
    outside: Arc<AtomicBool>,
}

impl Alarm {
    /// An alarm that also goes off when `outside` is raised.
    pub fn new(outside: Arc<AtomicBool>) -> Alarm {
        let bell = Arc::default();
        Alarm { bell, outside }
    }

    /// The flag that interrupts the machine.
    pub fn bell(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.bell)
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
            scope.spawn(move || {
                while wait.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                    if self.is_raised() || Instant::now() >= until {
                        self.bell.store(true, Ordering::Relaxed);
                    }
                }
            });
            let result = work();
            drop(done);
            result
        });
        self.bell.store(false, Ordering::Relaxed);
        match result {
            Err(PlayError::Interrupted) => Ok(None),
            other => other.map(Some),
        }
    }

    /// Returns whether it was interrupted from outside.
    pub fn is_raised(&self) -> bool {
        self.outside.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Work without an end.
    fn work(bell: &AtomicBool) -> Result<(), PlayError> {
        while !bell.load(Ordering::Relaxed) {
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
        let raised = Alarm::new(Arc::new(AtomicBool::new(true)));
        let bell = raised.bell();
        let late = Instant::now() + Duration::from_secs(600);
        assert_eq!(raised.within(late, || work(&bell)), Ok(None));
        assert!(raised.is_raised());
    }
}
