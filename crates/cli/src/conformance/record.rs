//! The lines of a corpus as values.
//!
//! What a field means is said in the [module](super)'s text. Fields that are
//! not compared are ignored, so a corpus may carry remarks of its own.

use serde::Deserialize;

/// What every line begins with.
#[derive(Clone, Debug, Deserialize)]
pub struct Subject {
    /// The game's name in the corpus.
    pub key: String,
    /// The rule file, relative to the folder.
    pub file: String,
    /// Digest of the rule file.
    pub sha256: String,
}

/// A line of `perft*.jsonl`.
#[derive(Clone, Debug, Deserialize)]
pub struct PerftRecord {
    #[serde(flatten)]
    pub subject: Subject,
    pub roles: Vec<String>,
    pub init_count: usize,
    pub init_sha256: String,
    #[serde(default)]
    pub init: Option<Vec<String>>,
    pub init_terminal: bool,
    pub init_legal: Vec<MovesRecord>,
    pub perft: Vec<LevelRecord>,
}

/// The legal moves of a role.
#[derive(Clone, Debug, Deserialize)]
pub struct MovesRecord {
    pub count: usize,
    pub sha256: String,
    #[serde(default)]
    pub moves: Option<Vec<String>>,
}

/// The counts of one depth.
#[derive(Clone, Debug, Deserialize)]
pub struct LevelRecord {
    pub d: u32,
    pub paths: u64,
    pub distinct: u64,
    pub terminal_paths: u64,
    pub terminal_distinct: u64,
    pub goal_sums: Vec<i64>,
    pub goal_errors: u64,
    pub cum_terminal_paths: u64,
    pub cum_goal_sums: Vec<i64>,
}

/// A line of `traces*.jsonl`.
#[derive(Clone, Debug, Deserialize)]
pub struct TraceRecord {
    #[serde(flatten)]
    pub subject: Subject,
    pub playout: u32,
    pub roles: Vec<String>,
    pub end: String,
    pub steps: Vec<StepRecord>,
    #[serde(rename = "final")]
    pub last: Option<LastRecord>,
}

/// One state of a playout that goes on, and the move made.
#[derive(Clone, Debug, Deserialize)]
pub struct StepRecord {
    pub n: usize,
    pub s: String,
    /// For each role number and digest of its legal moves.
    pub legal: Vec<(usize, String)>,
    #[serde(rename = "move")]
    pub joint: Vec<String>,
}

/// The last state of a playout.
#[derive(Clone, Debug, Deserialize)]
pub struct LastRecord {
    pub n: usize,
    pub s: String,
    pub terminal: bool,
    #[serde(default)]
    pub goals: Option<Vec<GoalRecord>>,
}

/// What a role gets.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(untagged)]
pub enum GoalRecord {
    /// One value.
    Value(i64),
    /// None, several, or one that is no integer.
    Wrong(Vec<String>),
}

/// A line of `invalid*.jsonl`.
#[derive(Clone, Debug, Deserialize)]
pub struct VerdictRecord {
    #[serde(flatten)]
    pub subject: Subject,
    pub kind: Kind,
    /// For [`Kind::Mini`] only.
    #[serde(default)]
    pub expect: Option<Expect>,
    #[serde(default)]
    pub clingo: Option<AnswersRecord>,
}

/// What a line of `invalid*.jsonl` is about.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A published game that must be refused.
    Rejected,
    /// A published game that may be refused.
    Lenient,
    /// A published game that must be accepted.
    PlayableWithRemarks,
    /// A rule set made for the purpose.
    Mini,
}

/// What is asked of a rule set made for the purpose.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expect {
    /// It is accepted, and the answers hold.
    Ok,
    /// It is refused.
    Reject,
    /// It is refused, or play reports an error.
    RuntimeError,
    /// It is refused, or the answers hold.
    Policy,
}

/// What another reasoner says of the initial state.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum AnswersRecord {
    /// The answers.
    Given(Answers),
    /// It has none.
    None {
        /// Why.
        #[serde(rename = "error")]
        _error: String,
    },
}

/// Answers about the initial state.
#[derive(Clone, Debug, Deserialize)]
pub struct Answers {
    pub roles: Vec<String>,
    pub init: Vec<String>,
    pub terminal: bool,
    pub legal: Vec<Vec<String>>,
}
