//! The table that `ggp engine perft` prints.

use serde::Serialize;

use ggp_engine::machine::Level;
use ggp_engine::propnet::perft::PathLevel;

/// The counts of one depth.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Row {
    pub depth: u32,
    pub paths: u128,
    /// Distinct states, if they were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distinct: Option<u64>,
    pub terminal_paths: u128,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terminal_distinct: Option<u64>,
    pub goal_sums: Vec<u128>,
    pub goal_errors: u128,
}

impl From<&Level> for Row {
    fn from(level: &Level) -> Row {
        Row {
            depth: level.depth,
            paths: level.paths,
            distinct: Some(level.distinct),
            terminal_paths: level.terminal_paths,
            terminal_distinct: Some(level.terminal_distinct),
            goal_sums: level.goal_sums.clone(),
            goal_errors: level.goal_errors,
        }
    }
}

impl From<&PathLevel> for Row {
    fn from(level: &PathLevel) -> Row {
        Row {
            depth: level.depth,
            paths: level.paths,
            distinct: None,
            terminal_paths: level.terminal_paths,
            terminal_distinct: None,
            goal_sums: level.goal_sums.clone(),
            goal_errors: level.goal_errors,
        }
    }
}

fn shown(count: Option<u64>) -> String {
    count.map_or("-".to_owned(), |count| count.to_string())
}

/// The names of the columns.
pub(super) fn heading(roles: &[String]) -> String {
    let sums = roles
        .iter()
        .map(|role| format!(" {:>14}", format!("sum {role}")));
    format!(
        "{:>5} {:>16} {:>12} {:>16} {:>15}{} {:>10}",
        "depth",
        "paths",
        "distinct",
        "ending paths",
        "ending distinct",
        sums.collect::<String>(),
        "bad goals"
    )
}

/// The line of one level.
pub(super) fn line(level: &Row) -> String {
    let sums = level.goal_sums.iter().map(|sum| format!(" {sum:>14}"));
    format!(
        "{:>5} {:>16} {:>12} {:>16} {:>15}{} {:>10}",
        level.depth,
        level.paths,
        shown(level.distinct),
        level.terminal_paths,
        shown(level.terminal_distinct),
        sums.collect::<String>(),
        level.goal_errors
    )
}

/// All levels as CSV.
pub(super) fn csv(roles: &[String], levels: &[Row]) -> String {
    let mut text = "depth,paths,distinct,terminal_paths,terminal_distinct".to_owned();
    for role in roles {
        text.push_str(&format!(",\"goal_sum {}\"", role.replace('"', "\"\"")));
    }
    text.push_str(",goal_errors\n");
    for level in levels {
        text.push_str(&format!(
            "{},{},{},{},{}",
            level.depth,
            level.paths,
            shown(level.distinct),
            level.terminal_paths,
            shown(level.terminal_distinct)
        ));
        for sum in &level.goal_sums {
            text.push_str(&format!(",{sum}"));
        }
        text.push_str(&format!(",{}\n", level.goal_errors));
    }
    text
}
