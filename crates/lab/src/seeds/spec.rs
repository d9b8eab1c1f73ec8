//! The list of runs, as read from a file.
//!
//! In: JSON. Out: tables of runs, each with known results and the figures of other programs.
//! Names of rule files are relative to the folder of games, names of board files to the folder
//! of boards.

use serde::Deserialize;

/// A file of tables.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Spec {
    pub tables: Vec<Table>,
}

/// A comparison with one other program.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    pub number: u32,
    pub title: String,
    #[serde(default)]
    pub notes: Vec<String>,
    #[serde(default)]
    pub graphs: Vec<GraphRun>,
    /// Searches of the other program without a counterpart here.
    #[serde(default)]
    pub others: Vec<Other>,
    #[serde(default)]
    pub searches: Vec<SearchRun>,
    #[serde(default)]
    pub boards: Vec<BoardRun>,
    /// Known numbers of states by depth, drawn next to the measured ones.
    #[serde(default)]
    pub curves: Vec<Curve>,
}

/// A search of another program.
#[derive(Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Other {
    pub label: String,
    pub theirs: Theirs,
}

/// Numbers by depth, from 0.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Curve {
    pub label: String,
    pub values: Vec<u64>,
}

/// A game and its initial board.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Game {
    pub rules: Vec<String>,
    pub board: Option<Board>,
}

/// A board, either drawn or with equal cells.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Board {
    Drawn(String),
    Plain {
        rows: usize,
        columns: usize,
        value: String,
    },
}

impl Board {
    /// The board as text that [`Grid`](ggp_gdl::text_grid::Grid) reads.
    pub fn text(&self) -> String {
        match self {
            Board::Drawn(text) => text.clone(),
            Board::Plain {
                rows,
                columns,
                value,
            } => {
                let row = vec![value.as_str(); *columns].join(" ") + "\n";
                row.repeat(*rows)
            }
        }
    }
}

/// A run over all reachable states.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GraphRun {
    pub label: String,
    pub game: Game,
    pub merge: Merge,
    pub depth: Option<u32>,
    pub known: Reached,
}

/// The states that count as one node.
#[derive(Copy, Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Merge {
    /// States that differ only in counters.
    Stripped,
    /// Equal states.
    Exact,
    /// No states: each path is a node.
    Tree,
}

/// The size of a graph of reachable states.
#[derive(Clone, Default, Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Reached {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arcs: Option<u64>,
    /// Nodes without successors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leaves: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub levels: Option<Vec<u64>>,
}

/// A run of one search.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchRun {
    pub label: String,
    pub game: Game,
    pub method: String,
    /// Whether all shortest plans are wanted, not only one.
    #[serde(default)]
    pub all: bool,
    /// Whether a search by level continues after a plan is found.
    #[serde(default)]
    pub whole: bool,
    /// Whether symmetric positions count as one in a search by level.
    #[serde(default)]
    pub symmetry: bool,
    /// The number of threads; 0 counts as 1.
    #[serde(default)]
    pub threads: usize,
    #[serde(default = "minute")]
    pub most_seconds: f64,
    #[serde(default)]
    pub expect: Expect,
    #[serde(default)]
    pub theirs: Theirs,
}

fn minute() -> f64 {
    60.0
}

/// The expected answer of a search.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Expect {
    /// The required verdict; a spent budget is also accepted if `may_fail`.
    pub verdict: Option<String>,
    #[serde(default)]
    pub may_fail: bool,
    /// The length of the shortest plans.
    pub least: Option<usize>,
    /// All shortest plans.
    pub plans: Option<Vec<String>>,
    /// The number of positions generated, if the budget is sufficient.
    pub positions: Option<u64>,
}

/// The figures of another program.
#[derive(Clone, Default, Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Theirs {
    pub expanded: Option<u64>,
    pub generated: Option<u64>,
    pub frontier: Option<u64>,
    pub seconds: Option<f64>,
    pub note: Option<String>,
}

/// A run of the same rules with many boards.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BoardRun {
    pub label: String,
    pub rules: Vec<String>,
    pub boards: Boards,
    #[serde(default = "auto")]
    pub method: String,
    /// Whether a playout scores more for a shorter solution and less for a repeated position.
    #[serde(default)]
    pub by_length: bool,
    /// The number of solutions to look for that differ in more than the order of moves.
    pub count: Option<usize>,
    #[serde(default = "minute")]
    pub most_seconds: f64,
    #[serde(default)]
    pub expect: BoardExpect,
    #[serde(default)]
    pub theirs: Theirs,
    #[serde(default)]
    pub goal: Goal,
}

fn auto() -> String {
    "auto".to_owned()
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Boards {
    /// A file with one board per line; with `least`, the fewest moves are in a second column.
    File {
        file: String,
        #[serde(default)]
        least: bool,
    },
    List(Vec<KnownBoard>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KnownBoard {
    pub board: Board,
    pub least: Option<usize>,
}

/// The expected answers for all boards.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BoardExpect {
    pub verdict: Option<String>,
    #[serde(default)]
    pub may_fail: bool,
    /// Whether each board must have exactly one solution, except those of `several`.
    #[serde(default)]
    pub unique: bool,
    /// The numbers of the boards with more than one solution.
    #[serde(default)]
    pub several: Vec<usize>,
}

/// The time goals, on average over the boards or in total.
#[derive(Clone, Default, Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Goal {
    /// Milliseconds per board, without loading.
    pub solve_ms: Option<f64>,
    /// Milliseconds per board.
    pub each_ms: Option<f64>,
    /// Seconds for all boards.
    pub all_s: Option<f64>,
}
