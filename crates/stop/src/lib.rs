//! One value says when any computation must end: a flag that anyone can raise
//! and a deadline.
//!
//! ```
//! use ggp_stop::Stop;
//!
//! let stop = Stop::new();
//! let mut sum = 0_u64;
//! for number in 0.. {
//!     if stop.is_over() {
//!         break;
//!     }
//!     sum += number;
//!     // A signal handler or another thread would do this.
//!     if sum > 1000 {
//!         stop.raise();
//!     }
//! }
//! assert_eq!(sum, 1035);
//! ```

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, ThreadId};
use std::time::Duration;

/// A point on the wall clock. The standard library's everywhere but in a
/// browser, where the standard library has no clock.
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub use std::time::Instant;
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
pub use web_time::Instant;

/// The end of a computation: a flag that anyone can raise, and a deadline.
///
/// Clones share the flag. [`Stop::child`] makes one with a flag of its own, for
/// a part of the work that ends earlier than the whole.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    flag: Arc<AtomicBool>,
    /// The computation that this one is a part of.
    parent: Option<Arc<Stop>>,
    deadline: Option<Instant>,
    work: Option<Arc<Work>>,
}

/// A bound on the CPU time of one thread.
#[derive(Debug)]
struct Work {
    thread: ThreadId,
    began: Instant,
    /// The CPU time of the thread when it is over.
    end: Duration,
    /// The nanoseconds from the beginning until it can be over at the earliest: a thread works no faster than
    /// the clock.
    earliest: AtomicU64,
}

impl Work {
    fn new(time: Duration) -> Option<Work> {
        Some(Work {
            thread: thread::current().id(),
            began: Instant::now(),
            end: thread_time()?.checked_add(time)?,
            earliest: AtomicU64::new(nanoseconds(time)),
        })
    }

    /// The work that is left, asked by the thread itself.
    fn left(&self) -> Duration {
        thread_time().map_or(Duration::ZERO, |worked| self.end.saturating_sub(worked))
    }

    /// Whether the thread has worked for that long. To other threads, the time on the clock counts.
    fn is_over(&self) -> bool {
        let passed = nanoseconds(self.began.elapsed());
        if passed < self.earliest.load(Ordering::Relaxed) {
            return false;
        }
        if thread::current().id() != self.thread {
            return true;
        }
        let left = self.left();
        let earliest = passed.saturating_add(nanoseconds(left));
        self.earliest.store(earliest, Ordering::Relaxed);
        left.is_zero()
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

thread_local! {
    /// The work that other threads have done for this one.
    static DONE_BY_OTHERS: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// Counts work that another thread has done for this one, which waited for it, as its own: for all stops
/// whose work is bounded ([`Stop::within_work`]).
pub fn add_work(time: Duration) {
    DONE_BY_OTHERS.set(DONE_BY_OTHERS.get().saturating_add(time));
}

/// The CPU time of this thread, and the work that others have done for it; `None` where the system does not
/// tell the CPU time.
pub fn thread_time() -> Option<Duration> {
    Some(cpu_time()?.saturating_add(DONE_BY_OTHERS.get()))
}

#[cfg(unix)]
fn cpu_time() -> Option<Duration> {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    #[expect(
        unsafe_code,
        reason = "a crate with a safe function has two more below it"
    )]
    // SAFETY: the function writes to the time alone, which lives until it returns.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    let seconds = u64::try_from(time.tv_sec).ok()?;
    let nanoseconds = u32::try_from(time.tv_nsec).ok()?;
    (failed == 0).then(|| Duration::new(seconds, nanoseconds))
}

#[cfg(not(unix))]
fn cpu_time() -> Option<Duration> {
    None
}

/// The reason why a computation must end.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Reason {
    /// The flag was raised.
    Raised,
    /// The deadline has passed.
    Late,
}

impl Stop {
    /// A stop without a deadline, not raised.
    pub fn new() -> Stop {
        Stop::default()
    }

    /// A stop that is raised: what takes it ends at once.
    pub fn raised() -> Stop {
        Stop::from(Arc::new(AtomicBool::new(true)))
    }

    /// A stop with this deadline, not raised.
    pub fn at(deadline: Instant) -> Stop {
        Stop::new().until(deadline)
    }

    /// A stop whose deadline is this far from now, not raised.
    pub fn after(time: Duration) -> Stop {
        Stop::new().within(Some(time))
    }

    /// The same flag with this deadline, or with its own if that is earlier.
    #[must_use]
    pub fn until(&self, deadline: Instant) -> Stop {
        let own = self.deadline.unwrap_or(deadline);
        Stop {
            deadline: Some(own.min(deadline)),
            ..self.clone()
        }
    }

    /// The same flag with a deadline this far from now, or with its own if that
    /// is earlier. `None`, and a time that no clock can show, set no deadline.
    #[must_use]
    pub fn within(&self, time: Option<Duration>) -> Stop {
        match time.and_then(|time| Instant::now().checked_add(time)) {
            Some(deadline) => self.until(deadline),
            None => self.clone(),
        }
    }

    /// The same flag, over as well when the calling thread has worked for this long from now on, in CPU
    /// time: on a busy machine it comes later, and no less is done. Where the system does not tell the
    /// CPU time of a thread (Windows, browsers), the time on the clock counts, and so it does for other
    /// threads. `None` sets no bound; of two bounds, the earlier one counts.
    #[must_use]
    pub fn within_work(&self, time: Option<Duration>) -> Stop {
        let Some(time) = time else {
            return self.clone();
        };
        let Some(new) = Work::new(time) else {
            return self.within(Some(time));
        };
        let is_own = |known: &&Arc<Work>| known.thread == new.thread && known.end <= new.end;
        match self.work.as_ref().filter(is_own) {
            Some(_) => self.clone(),
            None => Stop {
                work: Some(Arc::new(new)),
                ..self.clone()
            },
        }
    }

    /// The same stop for a thread that waits for the work of another one: of what is left of its own work, the
    /// time on the clock counts.
    #[must_use]
    pub fn while_waiting(&self) -> Stop {
        let left = self.work.as_ref().map(|work| work.left());
        let clock = Stop {
            work: None,
            ..self.clone()
        };
        clock.within(left)
    }

    /// A stop for a part of the work. It is over when this one is; raising it
    /// does not raise this one.
    ///
    /// ```
    /// # use ggp_stop::Stop;
    /// let whole = Stop::new();
    /// let part = whole.child();
    /// part.raise();
    /// assert!(part.is_over() && !whole.is_over());
    /// let other = whole.child();
    /// whole.raise();
    /// assert!(other.is_over());
    /// ```
    #[must_use]
    pub fn child(&self) -> Stop {
        Stop {
            flag: Arc::default(),
            parent: Some(Arc::new(self.clone())),
            deadline: self.deadline,
            work: self.work.clone(),
        }
    }

    /// Raises the flag.
    pub fn raise(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }

    /// Lowers the flag, for the next computation with the same value. The flags
    /// of those that this one is a part of stay as they are.
    pub fn lower(&self) {
        self.flag.store(false, Ordering::Relaxed);
    }

    /// Whether the flag is raised. This costs one load from memory for each
    /// ancestor and reads no clock.
    #[inline]
    pub fn is_raised(&self) -> bool {
        self.flag.load(Ordering::Relaxed) || self.parent.as_ref().is_some_and(|of| of.is_raised())
    }

    /// Whether the deadline has passed, or the thread has worked for its time. This reads the clock if
    /// there is one.
    #[inline]
    pub fn is_late(&self) -> bool {
        self.deadline.is_some_and(|end| Instant::now() >= end)
            || self.work.as_ref().is_some_and(|work| work.is_over())
    }

    /// Whether the flag is raised or the deadline has passed.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.is_raised() || self.is_late()
    }

    /// The reason to end now, if there is one. The flag comes first.
    pub fn reason(&self) -> Option<Reason> {
        match () {
            () if self.is_raised() => Some(Reason::Raised),
            () if self.is_late() => Some(Reason::Late),
            () => None,
        }
    }

    /// The deadline.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// The time on the clock until the deadline: zero when it has passed, `None` if there is
    /// no deadline.
    pub fn remaining(&self) -> Option<Duration> {
        let end = self.deadline?;
        Some(end.saturating_duration_since(Instant::now()))
    }

    /// The flag itself, for code that knows only flags.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.flag)
    }
}

/// A flag that other code raises, such as a signal handler.
impl From<Arc<AtomicBool>> for Stop {
    fn from(flag: Arc<AtomicBool>) -> Stop {
        Stop {
            flag,
            ..Stop::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_ends_and_is_never_moved_back() {
        let stop = Stop::after(Duration::ZERO);
        assert_eq!(stop.reason(), Some(Reason::Late));
        assert_eq!(stop.remaining(), Some(Duration::ZERO));
        let later = stop.within(Some(Duration::from_secs(600)));
        assert!(later.is_over() && !later.is_raised());
        assert!(later.child().is_over());
        assert_eq!(Stop::new().within(Some(Duration::MAX)).deadline(), None);
    }

    #[test]
    #[cfg(unix)]
    fn a_thread_that_does_not_work_is_not_late() {
        let time = Duration::from_millis(30);
        let stop = Stop::new().within_work(Some(time));
        thread::sleep(2 * time);
        // To another thread the clock counts.
        let other = stop.clone();
        let other = thread::spawn(move || other.is_over());
        assert!(other.join().unwrap());
        assert!(!stop.is_over() && !stop.child().is_over());
        // A thread that waits would never be late.
        let waiting = stop.while_waiting();
        thread::sleep(2 * time);
        assert!(waiting.is_over() && !stop.is_over());
        let helped = stop.within_work(Some(time));
        thread::sleep(time);
        add_work(2 * time);
        assert!(helped.is_over() && stop.is_over());
        let stop = Stop::new().within_work(Some(time));
        let later = stop.within_work(Some(1000 * time));
        let began = thread_time().unwrap();
        while !later.is_over() {}
        assert!(stop.is_over() && stop.child().reason() == Some(Reason::Late));
        assert!(thread_time().unwrap() - began <= 3 * time);
    }

    #[test]
    fn clones_share_the_flag() {
        let stop = Stop::new();
        let other = stop.within(Some(Duration::from_secs(600)));
        assert_eq!(other.reason(), None);
        stop.raise();
        assert_eq!(other.reason(), Some(Reason::Raised));
        other.lower();
        assert!(!stop.is_over());
        stop.flag().store(true, Ordering::Relaxed);
        assert!(other.is_raised());
    }
}
