//! The task of a child process of `ggp engine bench`, and its messages.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::bench::Row;
use crate::rule_limits::EvaluationOptions;

/// One game on one backend.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Task {
    /// The rule files.
    pub files: Vec<PathBuf>,
    /// The backend's name on the command line.
    pub backend: String,
    /// The time to play; `None` to only prepare the game.
    pub seconds: Option<Duration>,
    /// The number of playouts, instead of a time.
    pub playouts: Option<u64>,
    pub threads: usize,
    pub seed: u64,
    pub depth: u64,
    pub lanes: Option<usize>,
    pub no_jit: bool,
    pub evaluation: EvaluationOptions,
    /// The time limit for building a network unless one is given.
    pub ground_time: Duration,
    pub case_sensitive: bool,
    /// Bytes of memory at which the process ends itself.
    pub memory: Option<u64>,
}

/// The limits of a process.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) struct Limits {
    /// Wall-clock time for preparing the game.
    pub start: Duration,
    /// Wall-clock time after that.
    pub play: Duration,
    /// Bytes of memory.
    pub memory: Option<u64>,
}

/// A line printed by a process. The last one counts.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Message {
    /// The game is prepared.
    Ready(Box<Row>),
    /// The task is done, or has failed in an orderly way.
    Done(Box<Row>),
}

/// The exit code of a process that exceeded its memory limit.
pub(super) const TOO_MUCH_MEMORY: i32 = 99;

impl Task {
    /// The names of the rule files without folders and extensions.
    pub fn game(&self) -> String {
        let stems = self.files.iter().filter_map(|file| file.file_stem());
        let stems: Vec<_> = stems.map(|stem| stem.to_string_lossy()).collect();
        stems.join("+")
    }

    /// A row with the task and no results.
    pub fn row(&self) -> Row {
        let files: Vec<_> = self
            .files
            .iter()
            .map(|file| file.display().to_string())
            .collect();
        Row {
            game: self.game(),
            file: files.join("+"),
            backend: self.backend.clone(),
            threads: self.threads as u64,
            depth: self.depth,
            ..Row::default()
        }
    }
}
