//! Work that waits for a free moment of the worker.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt::{self, Debug, Formatter};
use std::time::Duration;

use ggp_answers::{Background, Work};
use ggp_stop::Stop;

/// Maximum time of one piece of work. Meanwhile the worker gives no answers.
const TIME: Duration = Duration::from_secs(15);

/// Work that waits, the first one first.
#[derive(Default)]
pub(crate) struct Queue(RefCell<VecDeque<(Work, Stop)>>);

impl Queue {
    /// Does the first piece of work. Returns whether there was some.
    pub(crate) fn work(&self) -> bool {
        let first = self.0.borrow_mut().pop_front();
        let Some((work, stop)) = first else {
            return false;
        };
        // Nobody needs it if its stop is raised.
        if !stop.is_raised() {
            work(&stop.within(Some(TIME)));
        }
        true
    }
}

impl Debug for Queue {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "Queue({})", self.0.borrow().len())
    }
}

impl Background for Queue {
    fn start(&self, work: Work) -> Option<Stop> {
        let stop = Stop::new();
        self.0.borrow_mut().push_back((work, stop.clone()));
        Some(stop)
    }

    fn wait(&self, _time: Duration) {
        self.work();
    }

    fn is_parallel(&self) -> bool {
        false
    }
}
