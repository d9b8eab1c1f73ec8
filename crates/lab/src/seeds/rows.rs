//! The results of runs, as they are printed.

use serde::Serialize;

use super::spec::{Goal, Reached, Theirs};

/// The counts of a graph.
#[derive(Serialize)]
pub(super) struct GraphRow {
    pub label: String,
    pub known: Reached,
    pub ours: Reached,
    pub seconds: f64,
    pub faults: Vec<String>,
}

/// The result of a search.
#[derive(Serialize)]
pub(super) struct SearchRow {
    pub label: String,
    pub theirs: Theirs,
    pub verdict: &'static str,
    pub length: Option<usize>,
    /// Whether it is proved that no plan is shorter.
    pub optimal: Option<bool>,
    pub settled_by: String,
    pub expanded: u64,
    pub generated: u64,
    /// The number of open states at the end; unknown for a search without levels.
    pub frontier: Option<u64>,
    pub peak_bytes: u64,
    /// CPU time of loading the game.
    pub load_seconds: f64,
    /// CPU time of the search.
    pub cpu_seconds: f64,
    pub seconds: f64,
    pub levels: Vec<LevelRow>,
    pub faults: Vec<String>,
}

/// The counts of a level.
#[derive(Serialize)]
pub(super) struct LevelRow {
    pub depth: u32,
    pub expanded: u64,
    pub generated: u64,
    pub frontier: u64,
    pub seconds: f64,
}

/// The results of boards with the same rules.
#[derive(Serialize)]
pub(super) struct BoardsRow {
    pub label: String,
    pub theirs: Theirs,
    pub goal: Goal,
    pub each: Vec<BoardRow>,
    /// CPU time of loading and solving all boards.
    pub seconds: f64,
    pub faults: Vec<String>,
}

/// The result of a board.
#[derive(Serialize)]
pub(super) struct BoardRow {
    /// The number of the board, from 1.
    pub board: usize,
    pub verdict: &'static str,
    pub length: Option<usize>,
    pub optimal: Option<bool>,
    /// The number of solutions found, and whether these are all; `None` if not counted.
    pub solutions: Option<(usize, bool)>,
    pub expanded: u64,
    /// CPU time of loading the board.
    pub load_seconds: f64,
    /// CPU time of solving it.
    pub seconds: f64,
}

impl BoardsRow {
    pub fn count(&self, verdict: &str) -> usize {
        self.each
            .iter()
            .filter(|row| row.verdict == verdict)
            .count()
    }

    /// The number of boards with exactly one solution.
    pub fn unique(&self) -> usize {
        let is_unique = |row: &&BoardRow| row.solutions == Some((1, true));
        self.each.iter().filter(is_unique).count()
    }

    /// Mean milliseconds per board: of solving, and in total.
    pub fn each_ms(&self) -> (f64, f64) {
        let boards = self.each.len().max(1) as f64;
        let solving: f64 = self.each.iter().map(|row| row.seconds).sum();
        (1e3 * solving / boards, 1e3 * self.seconds / boards)
    }

    /// Milliseconds of the slowest board.
    pub fn worst_ms(&self) -> f64 {
        let all = self.each.iter().map(|row| row.load_seconds + row.seconds);
        1e3 * all.fold(0.0, f64::max)
    }
}
