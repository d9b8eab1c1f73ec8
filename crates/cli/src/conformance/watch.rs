//! The clock of a run: raises the interrupt flags of games whose time is over.

use ggp_stop::Stop;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

use super::Options;

/// Maximum delay between the end of a game's time and its interrupt.
const TICK: Duration = Duration::from_millis(20);

/// The games in progress and their start times.
pub(super) struct Watch<'a> {
    options: &'a Options,
    start: Instant,
    stopped: AtomicBool,
    /// For each thread the flag of its game and the time of its start.
    games: Mutex<Vec<Option<(Stop, Instant)>>>,
    done: Mutex<bool>,
    done_changed: Condvar,
}

impl<'a> Watch<'a> {
    pub fn new(threads: usize, options: &'a Options) -> Self {
        Watch {
            options,
            start: Instant::now(),
            stopped: AtomicBool::new(false),
            games: Mutex::new(vec![None; threads]),
            done: Mutex::new(false),
            done_changed: Condvar::new(),
        }
    }

    /// Whether the run is stopped.
    pub fn is_over(&self) -> bool {
        self.look();
        self.stopped.load(Ordering::Relaxed)
    }

    /// The flag of a game that a thread begins; `None` if the run is stopped.
    pub fn begin(&self, thread: usize) -> Option<Stop> {
        let stop = Stop::new();
        let mut games = self.games.lock().expect("no holder panics");
        games[thread] = Some((stop.clone(), Instant::now()));
        drop(games);
        (!self.is_over()).then_some(stop)
    }

    /// Checks the clock until the run has ended.
    pub fn run(&self) {
        let mut done = self.done.lock().expect("no holder panics");
        while !*done {
            self.look();
            let waited = self.done_changed.wait_timeout(done, TICK);
            done = waited.expect("no holder panics").0;
        }
    }

    /// Ends [`Watch::run`].
    pub fn end(&self) {
        *self.done.lock().expect("no holder panics") = true;
        self.done_changed.notify_all();
    }

    fn look(&self) {
        let late = self
            .options
            .time
            .is_some_and(|time| self.start.elapsed() >= time);
        let stopped = late || self.options.limits.stop.is_raised();
        if stopped {
            self.stopped.store(true, Ordering::Relaxed);
        }
        for (stop, begun) in self
            .games
            .lock()
            .expect("no holder panics")
            .iter()
            .flatten()
        {
            let time = self.options.time_per_game;
            if stopped || time.is_some_and(|time| begun.elapsed() >= time) {
                stop.raise();
            }
        }
    }
}
