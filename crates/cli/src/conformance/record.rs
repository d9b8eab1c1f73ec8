//! The lines of a corpus as values.
//!
//! The page `docs/reference/conformance.md` describes the fields. Fields that are not compared are ignored, so a
//! corpus may carry comments.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The first fields of every line.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub struct Subject {
    /// The game's name in the corpus.
    pub key: String,
    /// Digest of the rule file.
    pub sha256: String,
}

/// A line of `perft*.jsonl`.
#[derive(Clone, Debug, Deserialize)]
pub struct PerftRecord {
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
    /// For each role, number and digest of its legal moves.
    pub legal: Vec<(usize, String)>,
    #[serde(rename = "move")]
    pub joint: Vec<String>,
    /// For each role, its percepts of the joint move.
    #[serde(default)]
    pub sees: Option<Vec<Vec<String>>>,
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

/// The goal of a role.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(untagged)]
pub enum GoalRecord {
    /// One value.
    Value(i64),
    /// No value, several values, or one that is not an integer.
    Wrong(Vec<String>),
}

/// A line of `invalid*.jsonl`.
#[derive(Clone, Debug, Deserialize)]
pub struct VerdictRecord {
    pub kind: Kind,
    /// For [`Kind::Mini`] only.
    #[serde(default)]
    pub expect: Option<Expect>,
    #[serde(default)]
    pub clingo: Option<AnswersRecord>,
}

/// The kind of rule set in a line of `invalid*.jsonl`.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A published game that must be refused.
    Rejected,
    /// A published game that may be refused.
    Lenient,
    /// A published game that must be accepted.
    PlayableWithRemarks,
    /// An artificial rule set.
    Mini,
}

/// The expected result for an artificial rule set.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expect {
    /// The rules are accepted, and the answers agree.
    Ok,
    /// The rules are refused.
    Reject,
    /// The rules are refused, or play reports an error.
    RuntimeError,
    /// The rules are refused, or the answers agree.
    Policy,
}

/// The result of another reasoner on the initial state.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum AnswersRecord {
    /// The answers.
    Given(Answers),
    /// The reasoner has no answers.
    None {
        /// The reasoner's error.
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

/// A line of `beliefs*.jsonl`: what a role can know in a playout of `traces*.jsonl`.
#[derive(Clone, Debug, Deserialize)]
pub struct BeliefRecord {
    pub playout: u32,
    pub role: String,
    /// From the initial state on.
    pub after: Vec<KnownRecord>,
}

/// The states that fit what a role knows after some steps.
#[derive(Clone, Debug, Deserialize)]
pub struct KnownRecord {
    pub states: usize,
    pub histories: u64,
    pub sha: String,
    /// Number of states, number of histories and digest of those whose game is over if it is over
    /// in the playout, and not if not.
    pub same_end: (usize, u64, String),
}

/// A line of `values*.jsonl`: a value, by its kind. Numbers are texts such as `200/3`.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Value {
    /// The best plan of the only player besides `random`.
    BestOnePlayer {
        role: String,
        value: String,
        #[serde(default)]
        first_moves: BTreeMap<String, String>,
        #[serde(default)]
        information_sets: Option<usize>,
        #[serde(default)]
        with_choice: Option<usize>,
    },
    /// A mixed first move that earns each role at least its value, whatever the other does, in a
    /// game of one turn.
    Equilibrium {
        roles: Vec<String>,
        value: Vec<String>,
        mix: BTreeMap<String, String>,
    },
    /// The play of roles that choose with equal probabilities.
    UniformPlay {
        expected_goals: Vec<Option<String>>,
        expected_length: String,
        states_by_depth: usize,
    },
}
