//! Results as tables, in plain text and in Markdown.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use ggp_gdl::counted::counted;

use super::Measured;
use super::rows::{BoardsRow, GraphRow, SearchRow};
use super::spec::{Goal, Other, Reached, Theirs};
use ggp_cli::numbers::thousands;

/// A table of text. The first column has names and the last has remarks.
pub(super) struct Sheet {
    head: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl Sheet {
    /// Aligned columns.
    pub fn text(&self) -> String {
        let mut table = Table::new();
        table.load_style(presets::NOTHING);
        table.set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(&self.head);
        self.rows.iter().for_each(|row| {
            table.add_row(row);
        });
        let numbers = self.head.len() - 2;
        for column in table.column_iter_mut().skip(1).take(numbers) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        let lines = table.lines().map(|line| line.trim_end().to_owned() + "\n");
        lines.collect()
    }

    pub fn markdown(&self) -> String {
        let line = |cells: Vec<&str>| format!("| {} |\n", cells.join(" | "));
        let last = self.head.len() - 1;
        let rule = (0..=last).map(|column| match column == 0 || column == last {
            true => "---",
            false => "---:",
        });
        let mut text = line(self.head.clone()) + &line(rule.collect());
        for row in &self.rows {
            text += &line(row.iter().map(String::as_str).collect());
        }
        text
    }
}

/// The sheets of a table that have rows.
pub(super) fn sheets(measured: &Measured) -> Vec<Sheet> {
    let sheets = [
        graphs(&measured.graphs),
        searches(&measured.searches, &measured.others),
        boards(&measured.boards),
    ];
    let has_rows = |sheet: &Sheet| !sheet.rows.is_empty();
    sheets.into_iter().filter(has_rows).collect()
}

fn graphs(rows: &[GraphRow]) -> Sheet {
    let row = |row: &GraphRow| {
        let check = match row.faults.is_empty() {
            true => "as known".to_owned(),
            false => format!("WRONG: {}", row.faults.join("; ")),
        };
        let (known, ours) = (reached(&row.known), reached(&row.ours));
        vec![row.label.clone(), known, ours, check]
    };
    Sheet {
        head: vec!["graph", "known", "ggp", "check"],
        rows: rows.iter().map(row).collect(),
    }
}

fn reached(reached: &Reached) -> String {
    let numbers = [
        (reached.nodes, "node", "nodes"),
        (reached.arcs, "arc", "arcs"),
        (reached.leaves, "leaf", "leaves"),
    ];
    let mut parts = Vec::new();
    for (number, one, many) in numbers {
        let counted = |number: u64| match number {
            1 => format!("1 {one}"),
            _ => format!("{} {many}", thousands(number)),
        };
        parts.extend(number.map(counted));
    }
    if let Some(levels) = &reached.levels {
        let levels: Vec<String> = levels.iter().map(u64::to_string).collect();
        parts.push(format!("by depth {}", levels.join(" ")));
    }
    parts.join(", ")
}

fn searches(rows: &[SearchRow], others: &[Other]) -> Sheet {
    let row = |row: &SearchRow| {
        let mut answer = match (row.length, row.optimal) {
            (Some(length), Some(true)) => format!("{}, the fewest", counted(length, "move")),
            (Some(length), _) => counted(length, "move"),
            _ => row.verdict.replace('_', " "),
        };
        if !row.faults.is_empty() {
            answer += &format!("; WRONG: {}", row.faults.join("; "));
        }
        vec![
            row.label.clone(),
            count(row.theirs.expanded),
            count(row.theirs.generated),
            count(row.theirs.frontier),
            their_time(&row.theirs),
            thousands(row.expanded),
            thousands(row.generated),
            count(row.frontier),
            format!("{:.3}", row.seconds),
            format!("{:.3}", row.cpu_seconds),
            format!("{:.1}", row.peak_bytes as f64 / f64::from(1 << 20)),
            answer,
        ]
    };
    let head = "search|theirs: expanded|generated|open|time|ggp: expanded|generated|open|s|\
                CPU s|MB|answer";
    let head: Vec<&str> = head.split('|').collect();
    let other = |other: &Other| {
        let theirs = &other.theirs;
        let mut row = vec![
            other.label.clone(),
            count(theirs.expanded),
            count(theirs.generated),
            count(theirs.frontier),
            their_time(theirs),
        ];
        row.resize(head.len(), String::new());
        row
    };
    Sheet {
        rows: rows
            .iter()
            .map(row)
            .chain(others.iter().map(other))
            .collect(),
        head,
    }
}

fn boards(rows: &[BoardsRow]) -> Sheet {
    let row = |row: &BoardsRow| {
        let (solving, each) = row.each_ms();
        vec![
            row.label.clone(),
            thousands(row.each.len() as u64),
            their_time(&row.theirs),
            format!("{:.3}", row.seconds),
            format!("{each:.1}"),
            format!("{solving:.1}"),
            format!("{:.1}", row.worst_ms()),
            goal(row, &row.goal),
            answers(row),
        ]
    };
    let head = "boards|number|theirs|ggp: CPU s|ms each|of it solving|ms at most|goal|answers";
    Sheet {
        head: head.split('|').collect(),
        rows: rows.iter().map(row).collect(),
    }
}

fn goal(row: &BoardsRow, goal: &Goal) -> String {
    let (solving, each) = row.each_ms();
    let aims = [
        (goal.solve_ms, solving, "ms solving"),
        (goal.each_ms, each, "ms each"),
        (goal.all_s, row.seconds, "s in all"),
    ];
    let aims = aims.into_iter().filter_map(|(aim, ours, what)| {
        let aim = aim?;
        let met = if ours < aim { "met" } else { "missed" };
        Some(format!("under {aim} {what}: {met}"))
    });
    aims.collect::<Vec<String>>().join(", ")
}

fn answers(row: &BoardsRow) -> String {
    let verdicts = [
        ("solved", "solved"),
        ("unsolvable", "refuted with checked proofs"),
        (
            "no_solution_within",
            "without a plan of the requested length",
        ),
        ("out_of_budget", "not settled"),
    ];
    let counted = verdicts.map(|(verdict, word)| (row.count(verdict), word));
    let fewest = row.each.iter().filter(|row| row.optimal == Some(true));
    let others = [
        (fewest.count(), "with the fewest moves"),
        (row.unique(), "with exactly one solution"),
    ];
    let counted = counted.into_iter().chain(others);
    let mut parts: Vec<String> = counted
        .filter(|&(number, _)| number > 0)
        .map(|(number, word)| format!("{number} {word}"))
        .collect();
    let failed = row.each.iter().filter(|row| row.verdict == "out_of_budget");
    let failed: Vec<String> = failed.map(|row| row.board.to_string()).collect();
    if !failed.is_empty() {
        parts.push(format!("boards not settled: {}", failed.join(" ")));
    }
    if !row.faults.is_empty() {
        parts.push(format!("WRONG: {}", row.faults.join("; ")));
    }
    parts.join(", ")
}

fn their_time(theirs: &Theirs) -> String {
    let time = theirs.seconds.map(|time| format!("{time} s"));
    let parts: Vec<String> = time.into_iter().chain(theirs.note.clone()).collect();
    parts.join(", ")
}

fn count(number: Option<u64>) -> String {
    number.map_or_else(String::new, thousands)
}
