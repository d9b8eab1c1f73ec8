//! Random playouts against the clock, for every way there is to play a game.
//!
//! In: a game made ready by one backend, as a [`Subject`]. Out: a [`Tally`] of
//! uniform random playouts from the initial state to the end, and a [`Row`]
//! with what they and the start took. Rows are compared with each other
//! ([`agreement`]) and with figures of other engines ([`peers`]). Processes,
//! files and tables are the command line's.
//!
//! A backend takes part by one implementation of [`Subject`].

pub mod agreement;
mod lanes;
mod machine;
mod pace;
pub mod peers;
mod row;
mod tally;
pub mod usage;

use ggp_stop::Stop;
use std::time::Duration;

use ggp_engine::machine::PlayError;

pub use lanes::LanesSubject;
pub use machine::MachineSubject;
pub use pace::Pace;
pub use row::{Failure, PassGates, Row, read_rows};
pub use tally::{Moments, Tally};

/// A game made ready to be played at random by one backend.
///
/// Making it ready belongs to its constructor, whose time is taken from
/// outside, as is that of [`Subject::run`].
pub trait Subject {
    /// How the game is played. Asked before a run, and again after it, in case
    /// it taught more.
    fn readiness(&self) -> Readiness;

    /// Plays uniformly chosen legal moves from the initial state to the end,
    /// and reads all goals there, over and over.
    ///
    /// Use [`Run::pace`]: a playout that has begun is finished even when the
    /// time is over, so that long ones count as often as they are, until
    /// [`Pace::is_over`]; those cut by that are not counted as playouts, but
    /// their state changes are.
    ///
    /// # Errors
    ///
    /// What makes further playouts senseless. What is wrong with single
    /// playouts is counted in [`Tally::faults`].
    fn run(&mut self, run: &Run) -> Result<Tally, PlayError>;
}

/// How a backend plays a game.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Readiness {
    /// The backend that plays in the end.
    pub plays: &'static str,
    /// Why it is not a better one, if one was tried.
    pub why_not: Option<String>,
    /// Rules after grounding.
    pub ground_rules: Option<u64>,
    /// Gates of the network as it was made first.
    pub gates_before: Option<u64>,
    /// Gates that are evaluated.
    pub gates: Option<u64>,
    /// Gates behind each pass, in order.
    pub passes: Vec<PassGates>,
    /// Positions evaluated at the same time by one thread.
    pub lanes: u64,
    /// State changes a CPU second if nothing but gates took time.
    pub tape_limit: Option<f64>,
}

/// What a backend may be told beside the game.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Settings {
    /// Positions evaluated at the same time; what suits the game if not given.
    pub lanes: Option<usize>,
    /// Whether machine code is made.
    pub jit: Jit,
}

/// Whether machine code is made.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Jit {
    /// Where the processor is known.
    #[default]
    Allowed,
    /// Never.
    Off,
}

/// How long, and how, playouts are made.
#[derive(Clone, Debug)]
pub struct Run {
    /// When to end.
    pub until: Until,
    /// Threads that play, at least 1.
    pub threads: usize,
    /// Equal seeds give equal playouts, if there is one thread and a number of
    /// playouts.
    pub seed: u64,
    /// State changes after which a playout is cut.
    pub depth: u64,
    /// Raised to end at once.
    pub stop: Stop,
}

/// When a run ends.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Until {
    /// After so much wall time.
    Time(Duration),
    /// After so many playouts.
    Playouts(u64),
}

impl Run {
    /// The clock of this run, which starts now.
    pub fn pace(&self) -> Pace {
        Pace::new(self.until, self.stop.clone())
    }
}
