//! The means for one answer, and the receiver of its events.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use ggp_play::Tables;
use ggp_stop::{Instant, Stop};

/// The means for one answer.
#[derive(Copy, Clone, Debug)]
pub struct Allowance<'a> {
    /// The end of the work.
    pub stop: &'a Stop,
    /// Maximum size in bytes of the tables of a player or solver.
    pub memory_bytes: u64,
    /// Maximum time of a player or solver.
    pub time: Duration,
    /// Values of all positions of games.
    pub tables: &'a Arc<Tables>,
    /// The place for work that goes on after the answer.
    pub background: &'a dyn Background,
}

/// Work that takes a stop, which is raised when nobody needs the work any more.
pub type Work = Box<dyn FnOnce(&Stop) + Send>;

/// A place for work that goes on after an answer, such as building a network.
pub trait Background: Debug {
    /// Starts work, and returns its stop. `None` if there is no room for it now; it is dropped
    /// then.
    fn start(&self, work: Work) -> Option<Stop>;

    /// Lets background work go on for about this time.
    fn wait(&self, time: Duration);

    /// True if background work runs at the same time as the answer is made. Otherwise it
    /// runs between answers and in [`Background::wait`].
    fn is_parallel(&self) -> bool;
}

/// A receiver of events, each a name and a content in JSON.
pub trait Listener: Send + Sync {
    /// Takes an event, unless too many wait to be sent.
    fn offer(&self, name: &'static str, content: &dyn Content);

    /// Takes an event, and waits until there is room for it. Returns whether it was taken in
    /// time and someone still listens.
    fn send_before(&self, name: &'static str, content: &dyn Content, until: Instant) -> bool;
}

/// The content of an event.
pub trait Content {
    /// The content as JSON.
    fn json(&self) -> String;
}

impl<T: Serialize> Content for T {
    fn json(&self) -> String {
        serde_json::to_string(self).expect("strings and numbers are JSON")
    }
}

/// No background: whatever would be started there is not done.
#[derive(Copy, Clone, Debug)]
pub struct NoBackground;

impl Background for NoBackground {
    fn start(&self, _work: Work) -> Option<Stop> {
        None
    }

    fn wait(&self, _time: Duration) {}

    fn is_parallel(&self) -> bool {
        false
    }
}
