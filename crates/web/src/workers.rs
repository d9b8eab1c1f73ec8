//! Threads that work for requests, each at the priority that its length and its session
//! deserve.
//!
//! Short requests are answered in time although others compute: what runs for more than a
//! moment gives way, and so does all work of a session that has had much lately.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::oneshot;

use super::session::locked;

/// The time at full priority.
const MOMENT: Duration = Duration::from_millis(100);

/// The priority of a thread.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Pace {
    /// Full priority for a moment, and then that of `Steady`.
    Quick,
    /// For players and solvers.
    Steady,
    /// For sessions that have had much.
    Background,
}

/// Runs work on a thread. `None` if it panics, or no thread can be started.
pub(super) async fn run<T: Send + 'static>(
    pace: Pace,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let receiver = start(pace, work).ok()?;
    receiver.await.ok()
}

/// Starts work on a thread. Its result is sent.
///
/// # Errors
///
/// If the system starts no thread.
pub(super) fn start<T: Send + 'static>(
    pace: Pace,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<oneshot::Receiver<T>> {
    let (sender, receiver) = oneshot::channel();
    let thread = Arc::new(Mutex::new(None));
    let own = Arc::clone(&thread);
    std::thread::Builder::new()
        .name("worker".to_owned())
        .spawn(move || {
            let _running = Running::new(own, pace);
            // The receiver is gone if the client is.
            let _ = sender.send(work());
        })?;
    if pace == Pace::Quick {
        // Only requests are short, and they are answered on the runtime.
        tokio::spawn(async move {
            tokio::time::sleep(MOMENT).await;
            if let Some(thread) = &*locked(&thread) {
                priority::lower(Some(*thread), priority::STEADY);
            }
        });
    }
    Ok(receiver)
}

/// Names the thread while it runs, so that no later thread of that number is meant.
struct Running(Arc<Mutex<Option<priority::ThreadId>>>);

impl Running {
    fn new(thread: Arc<Mutex<Option<priority::ThreadId>>>, pace: Pace) -> Self {
        match pace {
            Pace::Quick => *locked(&thread) = priority::own(),
            Pace::Steady => priority::lower(None, priority::STEADY),
            Pace::Background => priority::lower(None, priority::BACKGROUND),
        }
        Running(thread)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        *locked(&self.0) = None;
    }
}

#[cfg(target_os = "linux")]
mod priority {
    //! Linux has a priority for each thread, which its threads inherit.

    pub(super) type ThreadId = rustix::thread::Pid;

    /// Priorities, from -20 (first) to 19 (last). A step is a fifth of the processor.
    pub(super) const STEADY: i32 = 5;
    pub(super) const BACKGROUND: i32 = 15;

    pub(super) fn own() -> Option<ThreadId> {
        Some(rustix::thread::gettid())
    }

    /// Lowers the priority of a thread, by default this one.
    pub(super) fn lower(thread: Option<ThreadId>, priority: i32) {
        // Without it, long work is only more in the way.
        let _ = rustix::process::setpriority_process(thread, priority);
    }
}

#[cfg(not(target_os = "linux"))]
mod priority {
    //! Elsewhere all threads have the same priority.

    pub(super) type ThreadId = ();

    pub(super) const STEADY: i32 = 0;
    pub(super) const BACKGROUND: i32 = 0;

    pub(super) fn own() -> Option<ThreadId> {
        None
    }

    pub(super) fn lower(_thread: Option<ThreadId>, _priority: i32) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_result_is_sent_and_a_panic_is_none() {
        for pace in [Pace::Quick, Pace::Steady, Pace::Background] {
            assert_eq!(run(pace, || 7).await, Some(7));
            assert_eq!(run(pace, || -> u8 { panic!("a test") }).await, None);
        }
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn long_work_gives_way() {
        let own = || rustix::process::getpriority_process(None).expect("a priority");
        let before = own();
        let first = run(Pace::Quick, own).await;
        assert_eq!(first, Some(before));
        let later = run(Pace::Quick, move || {
            let began = std::time::Instant::now();
            while own() == before && began.elapsed() < 100 * MOMENT {
                std::thread::sleep(MOMENT / 10);
            }
            own()
        });
        let later = later.await.expect("it ends");
        assert!(later > before, "{later} {before}");
        let steady = run(Pace::Steady, own).await.expect("it ends");
        assert_eq!(steady, later);
        let background = run(Pace::Background, own).await.expect("it ends");
        assert!(background > steady, "{background} {steady}");
        assert_eq!(own(), before, "other threads keep their priority");
    }
}
