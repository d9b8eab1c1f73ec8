//! Threads that share work. Without the feature `threads` there is one, the
//! caller's.

use crate::propnet::Propnet;
use ggp_stop::Stop;

/// Drops a value that takes long to drop in a thread of its own, so that nobody waits for it.
/// Without threads it is dropped at once.
pub(crate) fn drop_aside<T: Send + 'static>(value: T) {
    #[cfg(feature = "threads")]
    let _ = std::thread::Builder::new().spawn(move || drop(value));
    #[cfg(not(feature = "threads"))]
    drop(value);
}

/// A number of threads, or the caller's alone.
#[derive(Debug)]
pub struct Pool {
    #[cfg(feature = "threads")]
    pool: Option<rayon::ThreadPool>,
}

/// The result of work that does not know of stops. `None` after a stop: the work then goes
/// on in a thread of its own until it ends by itself. Without the feature `threads` the
/// caller waits for the result.
pub fn unless_stopped<R: Send + 'static>(
    stop: &Stop,
    work: impl FnOnce() -> R + Send + 'static,
) -> Option<R> {
    #[cfg(feature = "threads")]
    {
        use std::sync::mpsc::{RecvTimeoutError, channel};

        let began = ggp_stop::Instant::now();
        let stop = stop.while_waiting();
        let (sender, receiver) = channel();
        let worker = std::thread::Builder::new().spawn(move || {
            let result = work();
            // Nobody waits after a stop.
            let _ = sender.send((result, ggp_stop::thread_time()));
        });
        let worker = worker.ok()?;
        loop {
            match receiver.recv_timeout(PAUSE) {
                Ok((result, worked)) => {
                    ggp_stop::add_work(worked.unwrap_or_default());
                    return Some(result);
                }
                Err(RecvTimeoutError::Timeout) if stop.is_over() => {
                    ggp_stop::add_work(began.elapsed());
                    return None;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => match worker.join() {
                    Ok(()) => return None,
                    Err(panic) => std::panic::resume_unwind(panic),
                },
            }
        }
    }
    #[cfg(not(feature = "threads"))]
    (!stop.is_over()).then(work)
}

/// The results of two calls, at the same time if there may be two threads and the system gives
/// another one.
pub(crate) fn both<A, B: Send>(
    threads: usize,
    first: impl FnOnce() -> A,
    second: impl Fn() -> B + Sync,
) -> (A, B) {
    #[cfg(feature = "threads")]
    if threads > 1 {
        return std::thread::scope(|scope| {
            let worker = std::thread::Builder::new().spawn_scoped(scope, &second);
            let first = first();
            let second = match worker {
                Ok(worker) => worker.join(),
                Err(_) => Ok(second()),
            };
            let second = second.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            (first, second)
        });
    }
    let _ = threads;
    (first(), second())
}

/// The number of gates of a network that is not small.
pub(crate) const SMALL: usize = 10_000;

/// The number of threads that prepare a network when `threads` may: one if it is small, since to
/// start others would take longer than their work.
pub(crate) fn worthwhile(net: &Propnet, threads: usize) -> usize {
    match net.network().gates() {
        0..SMALL => 1,
        _ => threads,
    }
}

/// Threads that work until a stop.
#[derive(Debug)]
pub(crate) struct Workers<'s> {
    pool: Pool,
    stop: &'s Stop,
}

impl<'s> Workers<'s> {
    /// At most this many threads, if the network is large enough for them.
    pub fn for_network(net: &Propnet, threads: usize, stop: &'s Stop) -> Workers<'s> {
        let pool = Pool::new(worthwhile(net, threads));
        Workers { pool, stop }
    }

    /// True after the stop.
    pub fn is_stopped(&self) -> bool {
        self.stop.is_over()
    }

    /// The result for each item, in their order; `None` if the stop comes before the last of
    /// them begins.
    pub fn map<T: Send, R: Send>(
        &self,
        items: Vec<T>,
        work: impl Fn(T) -> R + Sync,
    ) -> Option<Vec<R>> {
        let unless_stopped = |_, item| (!self.stop.is_over()).then(|| work(item));
        let results = self.pool.map(items, unless_stopped);
        results.into_iter().collect()
    }
}

/// The pause between two looks at a stop.
#[cfg(feature = "threads")]
const PAUSE: std::time::Duration = std::time::Duration::from_millis(5);

/// The number of threads that a call may use when `wanted` are asked for.
pub fn usable(wanted: usize) -> usize {
    match cfg!(feature = "threads") {
        true => wanted.max(1),
        false => 1,
    }
}

#[cfg(feature = "threads")]
impl Pool {
    /// A pool of this many threads. It has the caller's alone if the system gives
    /// no others.
    pub fn new(threads: usize) -> Pool {
        let pool = match threads {
            0 | 1 => None,
            _ => rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .ok(),
        };
        Pool { pool }
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        let pool = self.pool.as_ref();
        pool.map_or(1, rayon::ThreadPool::current_num_threads)
    }

    /// The results of one call on each thread. A call gets the thread's number.
    pub fn broadcast<R: Send>(&self, work: impl Fn(usize) -> R + Sync) -> Vec<R> {
        match &self.pool {
            Some(pool) => pool.broadcast(|thread| work(thread.index())),
            None => vec![work(0)],
        }
    }

    /// The result for each item, in their order. A call gets the number of the
    /// thread that makes it.
    pub fn map<T: Send, R: Send>(
        &self,
        items: Vec<T>,
        work: impl Fn(usize, T) -> R + Sync,
    ) -> Vec<R> {
        use rayon::prelude::*;

        let Some(pool) = &self.pool else {
            return items.into_iter().map(|item| work(0, item)).collect();
        };
        pool.install(|| {
            let items = items.into_par_iter().with_max_len(1);
            let thread = || rayon::current_thread_index().unwrap_or(0);
            items.map(|item| work(thread(), item)).collect()
        })
    }
}

#[cfg(not(feature = "threads"))]
impl Pool {
    /// The caller's thread, whatever the number.
    pub fn new(_: usize) -> Pool {
        Pool {}
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        1
    }

    /// The result of one call.
    pub fn broadcast<R>(&self, work: impl Fn(usize) -> R) -> Vec<R> {
        vec![work(0)]
    }

    /// The result for each item, in their order.
    pub fn map<T, R>(&self, items: Vec<T>, work: impl Fn(usize, T) -> R) -> Vec<R> {
        items.into_iter().map(|item| work(0, item)).collect()
    }
}
