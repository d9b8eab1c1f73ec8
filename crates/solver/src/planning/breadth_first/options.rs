//! Options, results and errors of a breadth-first search.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

#[cfg(feature = "distributed")]
use super::{LinkError, Processes};
use super::{Lost, Spill};
use crate::planning::checkpoint::{Checkpoint, CheckpointError};

/// The file that says what belongs to the last checkpoint in a folder, which searches in several
/// processes have.
pub fn manifest(folder: &Path) -> PathBuf {
    folder.join("manifest")
}

/// Options of [`breadth_first`](super::breadth_first()).
#[derive(Clone, Debug)]
pub struct BreadthFirstOptions {
    /// True to visit every reachable state, even after a solution was found.
    pub whole: bool,
    /// Treatment of states that differ only by a symmetry of the rules.
    pub classes: Classes,
    /// Number of threads; 0 counts as 1.
    pub threads: usize,
    /// Folder for levels that do not fit into memory.
    pub spill: Option<Spill>,
    /// File and interval of checkpoints. With [`Spill`], they name its files.
    pub checkpoint: Option<Checkpoint>,
    /// The checkpoint file to resume from.
    pub resume: Option<PathBuf>,
    /// The processes that search together, if there are several. Each must have the same
    /// puzzle, options and budget, but for memory and time.
    #[cfg(feature = "distributed")]
    pub processes: Option<Processes>,
}

impl Default for BreadthFirstOptions {
    fn default() -> Self {
        BreadthFirstOptions {
            whole: false,
            classes: Classes::Never,
            threads: 1,
            spill: None,
            checkpoint: None,
            resume: None,
            #[cfg(feature = "distributed")]
            processes: None,
        }
    }
}

impl BreadthFirstOptions {
    /// Whether the search is shared by processes.
    pub(super) fn are_several(&self) -> bool {
        #[cfg(feature = "distributed")]
        return self.processes.is_some();
        #[cfg(not(feature = "distributed"))]
        false
    }
}

/// Conditions under which states that differ only by a symmetry of the rules count
/// as one.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Classes {
    /// Never: each state counts.
    #[default]
    Never,
    /// If there are more than a few thousand states, or if checkpoints are
    /// used.
    IfMany,
    /// Always, if the puzzle has symmetries.
    Always,
}

/// The extent of the search.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Seen {
    /// Number of states visited, or of classes of states.
    pub positions: u64,
    /// Number of symmetries up to which states were counted: 1 if each state
    /// counts.
    pub symmetries: usize,
    /// True if states were compared without counters and facts on which no plan depends.
    pub is_partial: bool,
    /// True if these are all reachable states.
    pub is_all: bool,
}

/// An error with a file.
#[derive(Debug)]
#[non_exhaustive]
pub enum BreadthFirstError {
    /// An error with a checkpoint.
    Checkpoint(CheckpointError),
    /// An error with a spilled level in this folder.
    Spill(PathBuf, io::Error),
    /// The processes of the search cannot connect.
    #[cfg(feature = "distributed")]
    Link(LinkError),
    /// Another process is gone.
    Lost(Lost),
}

impl fmt::Display for BreadthFirstError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BreadthFirstError::Checkpoint(error) => error.fmt(f),
            BreadthFirstError::Spill(folder, error) => write!(f, "{}: {error}", folder.display()),
            #[cfg(feature = "distributed")]
            BreadthFirstError::Link(error) => error.fmt(f),
            BreadthFirstError::Lost(lost) => lost.fmt(f),
        }
    }
}

impl std::error::Error for BreadthFirstError {}

impl From<Lost> for BreadthFirstError {
    fn from(lost: Lost) -> Self {
        BreadthFirstError::Lost(lost)
    }
}

#[cfg(feature = "distributed")]
impl From<LinkError> for BreadthFirstError {
    fn from(error: LinkError) -> Self {
        BreadthFirstError::Link(error)
    }
}

impl From<CheckpointError> for BreadthFirstError {
    fn from(error: CheckpointError) -> Self {
        BreadthFirstError::Checkpoint(error)
    }
}
