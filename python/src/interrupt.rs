//! Long work that Ctrl-C interrupts.

use std::cell::RefCell;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::errors::Error;
use ggp_stop::Stop;

/// The interval at which signals are looked for.
const TICK: Duration = Duration::from_millis(20);
/// The stack of the thread that works: searches go deep.
const STACK: usize = 64 << 20;

thread_local! {
    /// The stop of the match in which this thread calls a function.
    static OUTER: RefCell<Option<Stop>> = const { RefCell::new(None) };
}

/// Calls a function of Python. Long work that it begins ends when the stop is raised, as at a signal,
/// of which only the main thread of Python hears.
pub fn within<T>(stop: &Stop, call: impl FnOnce() -> T) -> T {
    let outer = OUTER.replace(Some(stop.clone()));
    let result = call();
    OUTER.set(outer);
    result
}

/// Runs work on a thread of its own without the lock of the interpreter. A signal for which
/// Python has a handler that raises, such as Ctrl-C, raises the stop; the exception follows once
/// the work has ended.
///
/// # Errors
///
/// The exception of a signal, or an [`Error`] if the system provides no thread.
pub fn interruptible<T: Send>(
    py: Python<'_>,
    stop: &Stop,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    py.detach(|| {
        std::thread::scope(|scope| {
            let (sender, result) = sync_channel(1);
            let builder = std::thread::Builder::new().stack_size(STACK);
            let thread = builder.spawn_scoped(scope, move || {
                // The receiver waits until this thread has ended.
                let _ = sender.send(work());
            });
            let thread = thread
                .map_err(|error| Error::new_err(format!("the system gives no thread: {error}")))?;
            let mut raised = None;
            loop {
                match result.recv_timeout(TICK) {
                    Ok(value) => return raised.map_or(Ok(value), Err),
                    Err(RecvTimeoutError::Disconnected) => {
                        let panic = thread.join().err();
                        std::panic::resume_unwind(panic.unwrap_or_else(|| Box::new("no result")));
                    }
                    Err(RecvTimeoutError::Timeout) => {
                        let is_over =
                            OUTER.with_borrow(|outer| outer.as_ref().is_some_and(Stop::is_raised));
                        let checked = match is_over {
                            true => Err(PyKeyboardInterrupt::new_err(())),
                            false => Python::attach(|py| py.check_signals()),
                        };
                        if let Err(signal) = checked {
                            stop.raise();
                            raised.get_or_insert(signal);
                        }
                    }
                }
            }
        })
    })
}
