//! One game played by one backend, as a record with stable field names.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::agreement::Disagreement;
use super::peers::Rival;
use super::{Moments, Readiness, Tally};
use crate::json;

/// The figures of one game on one backend. Unknown figures are written as null, and may be
/// missing when read.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Row {
    /// The name of the rule file without folder and extension.
    pub game: String,
    /// The rule files, joined by `+`.
    pub file: String,
    /// The backend that was requested.
    pub backend: String,
    /// The backend that played.
    pub plays: Option<String>,
    /// The reason why the requested backend was not used.
    pub why_not: Option<String>,
    /// Joint moves per second of CPU time of all threads.
    pub state_changes_per_cpu_second: Option<f64>,
    /// Joint moves per second.
    pub state_changes_per_wall_second: Option<f64>,
    /// Playouts per second of CPU time of all threads.
    pub playouts_per_cpu_second: Option<f64>,
    /// Playouts per second.
    pub playouts_per_wall_second: Option<f64>,
    /// CPU time for reading and preparing the game.
    pub start_cpu_seconds: Option<f64>,
    /// The peak memory of the process, in bytes.
    pub peak_memory_bytes: Option<u64>,
    /// Matches of rules with rows: rules after grounding.
    pub ground_rules: Option<u64>,
    /// Gates of the network before simplification.
    pub gates_before: Option<u64>,
    /// Gates that are evaluated.
    pub gates: Option<u64>,
    /// Bytes that the network keeps, without tapes and machine code.
    pub network_bytes: Option<u64>,
    /// `network_bytes` for each of `gates`.
    pub bytes_per_gate: Option<f64>,
    /// Rows of relations: those that grounding found, or with Datalog those of the initial state.
    pub rows: Option<u64>,
    /// Bytes that these rows and their indexes keep, without the terms in them.
    pub row_bytes: Option<u64>,
    /// `row_bytes` for each of `rows`.
    pub bytes_per_row: Option<f64>,
    /// Gates after each pass, in order.
    pub passes: Vec<PassGates>,
    /// Positions evaluated at the same time by one thread.
    pub lanes: Option<u64>,
    /// State changes per CPU second if only the gates took time.
    pub tape_limit: Option<f64>,
    /// State changes per CPU second as a fraction of `tape_limit`.
    pub tape_share: Option<f64>,
    /// Number of threads that played.
    pub threads: u64,
    /// Wall-clock seconds of play.
    pub seconds: f64,
    /// CPU seconds of play, of all threads.
    pub cpu_seconds: Option<f64>,
    /// Playouts that reached the end of the game or the depth limit.
    pub playouts: u64,
    /// Joint moves, including those of unfinished playouts.
    pub state_changes: u64,
    /// Joint moves after which a playout was cut off.
    pub depth: u64,
    /// Playouts cut off by the depth limit.
    pub cut: u64,
    /// Number of playouts that the goal means are taken over.
    pub scored: u64,
    /// Mean number of joint moves of a playout.
    pub mean_length: Option<f64>,
    /// Standard deviation of the joint moves of a playout.
    pub length_deviation: Option<f64>,
    /// The roles, in the order of the rules.
    pub roles: Vec<String>,
    /// By role: the mean goal at the end.
    pub mean_goals: Vec<Option<f64>>,
    /// By role: the standard deviation of the goal at the end.
    pub goal_deviations: Vec<Option<f64>>,
    /// Faults in the rules that playouts revealed: roles without a move, and roles
    /// without one valid goal at an end.
    pub faults: u64,
    /// One of these faults.
    pub fault: Option<String>,
    /// The means that differ from another backend's or from a reference.
    pub disagreements: Vec<Disagreement>,
    /// Figures of other engines for this game.
    pub against: Vec<Rival>,
    /// The kind of failure.
    pub failure: Option<Failure>,
    /// The reason why figures are missing.
    pub error: Option<String>,
}

/// The reason why a game could not be measured.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// The rules cannot be read or have errors.
    Rules,
    /// A limit on derived facts was exceeded.
    TooLarge,
    /// The time limit was exceeded.
    Time,
    /// The memory limit was exceeded.
    Memory,
    /// The process ended without a result.
    Crash,
}

impl Failure {
    /// Whether this is an exceeded limit rather than an error.
    pub fn is_limit(self) -> bool {
        matches!(self, Failure::TooLarge | Failure::Time | Failure::Memory)
    }
}

/// The number of gates after a simplification pass.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct PassGates {
    /// The name of the pass.
    pub pass: String,
    /// Gates after it.
    pub gates: u64,
}

impl Row {
    /// The names of all fields that are a cell of a table, in order.
    pub const COLUMNS: &[&str] = &[
        "game",
        "file",
        "backend",
        "plays",
        "why_not",
        "state_changes_per_cpu_second",
        "state_changes_per_wall_second",
        "playouts_per_cpu_second",
        "playouts_per_wall_second",
        "start_cpu_seconds",
        "peak_memory_bytes",
        "ground_rules",
        "gates_before",
        "gates",
        "network_bytes",
        "bytes_per_gate",
        "rows",
        "row_bytes",
        "bytes_per_row",
        "lanes",
        "tape_limit",
        "tape_share",
        "threads",
        "seconds",
        "cpu_seconds",
        "playouts",
        "state_changes",
        "depth",
        "cut",
        "scored",
        "mean_length",
        "length_deviation",
        "roles",
        "mean_goals",
        "goal_deviations",
        "faults",
        "fault",
        "failure",
        "error",
    ];

    /// The values of [`Row::COLUMNS`] as text: empty for null; lists joined by semicolons.
    pub fn cells(&self) -> Vec<String> {
        let value = serde_json::to_value(self).expect("strings and numbers are JSON");
        let cell = |name: &&str| text(&value[*name]);
        Row::COLUMNS.iter().map(cell).collect()
    }

    /// Stores how the game is played.
    pub fn take_readiness(&mut self, readiness: Readiness) {
        self.plays = Some(readiness.plays.to_owned());
        self.why_not = readiness.why_not;
        self.ground_rules = readiness.ground_rules;
        self.gates_before = readiness.gates_before;
        self.gates = readiness.gates;
        self.network_bytes = readiness.network_bytes;
        self.bytes_per_gate = share(self.network_bytes, self.gates);
        self.rows = readiness.rows.map(|memory| memory.rows as u64);
        self.row_bytes = readiness.rows.map(|memory| memory.bytes as u64);
        self.bytes_per_row = share(self.row_bytes, self.rows);
        self.passes = readiness.passes;
        self.lanes = Some(readiness.lanes);
        self.tape_limit = readiness.tape_limit;
        let rate = self.state_changes_per_cpu_second;
        self.tape_share = rate.zip(self.tape_limit).map(|(rate, limit)| rate / limit);
    }

    /// Stores the results of play that took this wall-clock and CPU time.
    pub fn take_tally(&mut self, tally: Tally, wall: Duration, cpu: Option<Duration>) {
        let rate = |count: u64, time: Option<Duration>| {
            let seconds = time?.as_secs_f64();
            (seconds > 0.0).then(|| count as f64 / seconds)
        };
        self.playouts = tally.lengths.count;
        self.state_changes = tally.state_changes;
        self.state_changes_per_cpu_second = rate(tally.state_changes, cpu);
        self.state_changes_per_wall_second = rate(tally.state_changes, Some(wall));
        self.playouts_per_cpu_second = rate(self.playouts, cpu);
        self.playouts_per_wall_second = rate(self.playouts, Some(wall));
        self.seconds = wall.as_secs_f64();
        self.cpu_seconds = cpu.map(|cpu| cpu.as_secs_f64());
        self.cut = tally.cut;
        self.scored = tally.goals.first().map_or(0, |goals| goals.count);
        let lengths = Some(tally.lengths).filter(|_| !tally.lengths_unknown);
        self.mean_length = lengths.and_then(Moments::mean);
        self.length_deviation = lengths.and_then(Moments::deviation);
        self.mean_goals = tally.goals.iter().map(|goals| goals.mean()).collect();
        self.goal_deviations = tally.goals.iter().map(|goals| goals.deviation()).collect();
        self.faults = tally.faults;
        self.fault = tally.fault;
    }

    /// Stores the reason why figures are missing.
    pub fn fail(&mut self, failure: Failure, error: impl Into<String>) {
        self.failure = Some(failure);
        self.error = Some(error.into());
    }
}

/// The bytes for each of a number of things; `None` for no things.
fn share(bytes: Option<u64>, count: Option<u64>) -> Option<f64> {
    let count = count.filter(|count| *count > 0)?;
    Some(bytes? as f64 / count as f64)
}

fn text(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::Null => String::new(),
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Array(members) => {
            let members: Vec<String> = members.iter().map(text).collect();
            members.join(";")
        }
        other => other.to_string(),
    }
}

/// Rows as `--json` writes them.
///
/// # Errors
///
/// A message with line and column, or with the row that names no game.
pub fn read_rows(text: &str) -> Result<Vec<Row>, String> {
    let rows: Vec<Row> = json::parse(
        text,
        "a JSON list of rows, as `ggp engine bench --json` prints it",
    )?;
    match rows.iter().position(|row| row.game.is_empty()) {
        Some(index) => Err(format!("there is no game in row {}", index + 1)),
        None => Ok(rows),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_but_lists_of_records_is_a_column() {
        let value = serde_json::to_value(Row::default()).unwrap();
        let members = value.as_object().unwrap().keys();
        let mut members: Vec<&str> = members.map(String::as_str).collect();
        members.retain(|name| !["disagreements", "against", "passes"].contains(name));
        let mut columns = Row::COLUMNS.to_vec();
        columns.sort_unstable();
        assert_eq!(members, columns);
    }

    #[test]
    fn rows_survive_a_round_trip_through_json() {
        let mut row = Row {
            game: "walk".into(),
            mean_goals: vec![Some(0.25), None],
            ..Row::default()
        };
        row.fail(Failure::Time, "more than 1 s");
        let text = serde_json::to_string(&[&row]).unwrap();
        assert_eq!(read_rows(&text), Ok(vec![row]));
    }

    #[test]
    fn a_row_without_a_game_is_refused() {
        let found = read_rows(r#"[{"game": "walk"}, {"playouts": 3}]"#);
        assert_eq!(found, Err("there is no game in row 2".to_owned()));
    }
}
