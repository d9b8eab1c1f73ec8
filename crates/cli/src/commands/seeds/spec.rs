//! What is to be measured, as a file says it.
//!
//! In: JSON. Out: tables of runs, each with what is known of it and what others
//! measured. Rule files are named from the folder of games, files of boards from
//! that of boards.

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
    /// What others measured that has no counterpart here.
    #[serde(default)]
    pub others: Vec<Other>,
    #[serde(default)]
    pub searches: Vec<SearchRun>,
    #[serde(default)]
    pub boards: Vec<BoardRun>,
    /// States by depth that are known, to be drawn beside ours.
    #[serde(default)]
    pub curves: Vec<Curve>,
}

/// A search of others.
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

/// A game, and where it begins.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Game {
    pub rules: Vec<String>,
    pub board: Option<Board>,
}

/// A board, drawn or all alike.
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
    /// As text that [`Grid`](ggp_gdl::text_grid::Grid) reads.
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

/// All that can be reached.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GraphRun {
    pub label: String,
    pub game: Game,
    pub merge: Merge,
    pub depth: Option<u32>,
    pub known: Reached,
}

/// What counts as one node.
#[derive(Copy, Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Merge {
    /// States that differ in counters only.
    Stripped,
    /// Equal states.
    Exact,
    /// Nothing: each way is one.
    Tree,
}

/// Numbers of what can be reached.
#[derive(Clone, Default, Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Reached {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arcs: Option<u64>,
    /// Nodes without a way on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leaves: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub levels: Option<Vec<u64>>,
}

/// One search.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchRun {
    pub label: String,
    pub game: Game,
    pub method: String,
    /// All shortest plans, not only one.
    #[serde(default)]
    pub all: bool,
    /// Of a search by level: whether it goes on past a plan.
    #[serde(default)]
    pub whole: bool,
    /// Of a search by level: whether positions count up to symmetry.
    #[serde(default)]
    pub symmetry: bool,
    /// 0 counts as 1.
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

/// What an answer must be.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Expect {
    /// Nothing else may come of it than this, or a spent budget if `may_fail`.
    pub verdict: Option<String>,
    #[serde(default)]
    pub may_fail: bool,
    /// Length of the shortest plans.
    pub least: Option<usize>,
    /// All shortest plans.
    pub plans: Option<Vec<String>>,
    /// Positions generated, if the budget is enough.
    pub positions: Option<u64>,
}

/// What others measured.
#[derive(Clone, Default, Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Theirs {
    pub expanded: Option<u64>,
    pub generated: Option<u64>,
    pub frontier: Option<u64>,
    pub seconds: Option<f64>,
    pub note: Option<String>,
}

/// The same rules with many boards.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BoardRun {
    pub label: String,
    pub rules: Vec<String>,
    pub boards: Boards,
    #[serde(default = "auto")]
    pub method: String,
    /// Whether playouts are worth the more the shorter a solution is, and less where
    /// they come back to a position.
    #[serde(default)]
    pub by_length: bool,
    /// Solutions looked for, by sets of moves.
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
    /// A board a line, with the fewest moves behind it if there is such a column.
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

/// What must come of all boards.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BoardExpect {
    pub verdict: Option<String>,
    #[serde(default)]
    pub may_fail: bool,
    /// Whether there is one solution each, but several of the boards of these numbers.
    #[serde(default)]
    pub unique: bool,
    #[serde(default)]
    pub several: Vec<usize>,
}

/// What is aimed at, on average over the boards or in all.
#[derive(Clone, Default, Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Goal {
    /// Milliseconds a board, beyond making it ready.
    pub solve_ms: Option<f64>,
    /// Milliseconds a board.
    pub each_ms: Option<f64>,
    /// Seconds for all.
    pub all_s: Option<f64>,
}
