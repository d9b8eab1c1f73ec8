//! Measurement of random playouts on every backend.
//!
//! In: a game prepared by one backend, as a [`Subject`]. Out: a [`Tally`] of uniform random
//! playouts from the initial state to the end, and a [`Row`] with the cost of playouts and
//! preparation. Rows are compared with each other ([`agreement`]) and with figures of other
//! engines ([`peers`]). Processes, files and tables belong to the command line.
//!
//! A backend takes part by one implementation of [`Subject`].

pub mod agreement;
mod lanes;
mod machine;
mod mixed;
mod pace;
pub mod peers;
mod row;
mod tally;
pub mod usage;

use ggp_stop::Stop;
use std::time::Duration;

use ggp_engine::machine::PlayError;
use ggp_engine::propnet::code::Engine;
use ggp_gdl::datalog::RowMemory;

pub use lanes::LanesSubject;
pub use machine::MachineSubject;
pub use mixed::MixedSubject;
pub use pace::Pace;
pub use row::{Failure, PassGates, Row, read_rows};
pub use tally::{Moments, Tally};

/// A game prepared by one backend for random play.
///
/// The constructor prepares the game. Its time, and that of [`Subject::run`], are measured
/// by the caller.
pub trait Subject {
    /// The way the game is played. It is read before a run and again after it, as a run may
    /// change it.
    fn readiness(&mut self) -> Readiness;

    /// Plays uniformly chosen legal moves from the initial state to the end and reads all
    /// goals there, repeatedly.
    ///
    /// Use [`Run::pace`]: a playout that has begun is finished even when the time is over,
    /// so that long playouts are not under-represented, until [`Pace::is_over`]. Playouts
    /// cut off by that are not counted as playouts, but their state changes are.
    ///
    /// # Errors
    ///
    /// A failure that makes further playouts pointless. Faults of single playouts are
    /// counted in [`Tally::faults`].
    fn run(&mut self, run: &Run) -> Result<Tally, PlayError>;
}

/// The way in which a backend plays a game.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Readiness {
    /// The backend that is used.
    pub plays: &'static str,
    /// The reason why a preferred backend could not be used, if one was tried.
    pub why_not: Option<String>,
    /// Rules after grounding.
    pub ground_rules: Option<u64>,
    /// Gates of the network before simplification.
    pub gates_before: Option<u64>,
    /// Gates that are evaluated.
    pub gates: Option<u64>,
    /// Bytes that the network keeps.
    pub network_bytes: Option<u64>,
    /// The rows of Datalog: those that grounding found, or those of the initial state.
    pub rows: Option<RowMemory>,
    /// Gates after each pass, in order.
    pub passes: Vec<PassGates>,
    /// Positions evaluated at the same time by one thread.
    pub lanes: u64,
    /// State changes per CPU second if only the gates took time.
    pub tape_limit: Option<f64>,
}

/// Settings of a backend.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Settings {
    /// Positions evaluated at the same time; chosen by the game if not given.
    pub lanes: Option<usize>,
    /// The way in which networks are run.
    pub engine: Engine,
    /// The most threads that prepare them.
    pub threads: usize,
}

/// The length and settings of a run of playouts.
#[derive(Clone, Debug)]
pub struct Run {
    /// The end of the run.
    pub until: Until,
    /// Number of threads that play, at least 1.
    pub threads: usize,
    /// The seed. Equal seeds give equal playouts with one thread and a given number of
    /// playouts.
    pub seed: u64,
    /// State changes after which a playout is cut off.
    pub depth: u64,
    /// Raised to end at once.
    pub stop: Stop,
}

/// The end of a run.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Until {
    /// After this wall-clock time.
    Time(Duration),
    /// After this number of playouts.
    Playouts(u64),
}

impl Run {
    /// The clock of this run, which starts now.
    pub fn pace(&self) -> Pace {
        Pace::new(self.until, self.stop.clone())
    }
}
