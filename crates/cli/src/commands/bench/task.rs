//! What a process of `ggp bench` is to do, and what it answers.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::bench::Row;
use crate::rules::GroundOptions;

/// One game on one backend.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Task {
    /// The rule files.
    pub files: Vec<PathBuf>,
    /// The backend's name on the command line.
    pub backend: String,
    /// How long to play; none for not at all.
    pub seconds: Option<Duration>,
    /// Playouts to make instead, if there is to be play.
    pub playouts: Option<u64>,
    pub threads: usize,
    pub seed: u64,
    pub depth: u64,
    pub lanes: Option<usize>,
    pub no_jit: bool,
    pub ground: GroundOptions,
    /// Time for a network if none is given.
    pub ground_time: Duration,
    pub case_sensitive: bool,
    /// Bytes of memory at which the process ends itself.
    pub memory: Option<u64>,
}

/// What a process may spend.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) struct Limits {
    /// Wall time until the game is ready.
    pub start: Duration,
    /// Wall time from then on.
    pub play: Duration,
    /// Bytes.
    pub memory: Option<u64>,
}

/// A line that a process prints. The last one counts.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Message {
    /// The game is ready.
    Ready(Box<Row>),
    /// All is done, or has failed in an orderly way.
    Done(Box<Row>),
}

/// The exit code of a process that took too much memory.
pub(super) const TOO_MUCH_MEMORY: i32 = 99;

impl Task {
    /// The names of the rule files without folders and endings.
    pub fn game(&self) -> String {
        let stems = self.files.iter().filter_map(|file| file.file_stem());
        let stems: Vec<_> = stems.map(|stem| stem.to_string_lossy()).collect();
        stems.join("+")
    }

    /// A row that says what is to be done, and no more.
    pub fn row(&self) -> Row {
        let files: Vec<_> = self.files.iter().map(|file| file.display().to_string()).collect();
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
