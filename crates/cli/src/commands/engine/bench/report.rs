//! The output of `ggp engine bench`.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use crate::Context;
use crate::bench::Row;
use crate::bench::peers::{Peers, standings};
use crate::numbers::thousands;

/// The table to print.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// The cost of preparing the games.
    Start,
    /// The results of play.
    Play,
}

/// A column: its name, its alignment, and a row's cell.
type Column = (&'static str, CellAlignment, fn(&Row) -> Option<String>);

const LEFT: CellAlignment = CellAlignment::Left;
const RIGHT: CellAlignment = CellAlignment::Right;

/// The columns for preparation; a column without any cell is not shown.
const START: &[Column] = &[
    ("game", LEFT, |row| Some(row.game.clone())),
    ("backend", LEFT, |row| Some(row.backend.clone())),
    ("played by", LEFT, |row| row.plays.clone()),
    ("start s", RIGHT, |row| {
        row.start_cpu_seconds.map(|s| format!("{s:.3}"))
    }),
    ("matches", RIGHT, |row| row.ground_rules.map(thousands)),
    ("gates before", RIGHT, |row| row.gates_before.map(thousands)),
    ("gates", RIGHT, |row| row.gates.map(thousands)),
    ("bytes/gate", RIGHT, |row| row.bytes_per_gate.map(tenths)),
    ("rows", RIGHT, |row| row.rows.map(thousands)),
    ("bytes/row", RIGHT, |row| row.bytes_per_row.map(tenths)),
    ("memory MB", RIGHT, |row| {
        row.peak_memory_bytes.map(mebibytes)
    }),
    ("why not", LEFT, |row| {
        row.why_not.as_deref().map(first_line)
    }),
    ("error", LEFT, |row| row.error.as_deref().map(first_line)),
];

/// The columns for play, under the same rule.
const PLAY: &[Column] = &[
    ("game", LEFT, |row| Some(row.game.clone())),
    ("backend", LEFT, |row| Some(row.backend.clone())),
    ("start s", RIGHT, |row| {
        row.start_cpu_seconds.map(|s| format!("{s:.3}"))
    }),
    ("memory MB", RIGHT, |row| {
        row.peak_memory_bytes.map(mebibytes)
    }),
    ("gates", RIGHT, |row| row.gates.map(thousands)),
    ("lanes", RIGHT, |row| {
        row.lanes.filter(|lanes| *lanes > 1).map(thousands)
    }),
    ("changes/cpu s", RIGHT, |row| {
        row.state_changes_per_cpu_second.map(rate)
    }),
    ("changes/s", RIGHT, |row| {
        row.state_changes_per_wall_second.map(rate)
    }),
    ("of limit", RIGHT, |row| {
        row.tape_share
            .map(|share| format!("{:.0} %", 100.0 * share))
    }),
    ("playouts/cpu s", RIGHT, |row| {
        row.playouts_per_cpu_second.map(rate)
    }),
    ("playouts", RIGHT, |row| {
        (row.seconds > 0.0).then(|| thousands(row.playouts))
    }),
    ("cut", RIGHT, |row| {
        (row.cut > 0).then(|| thousands(row.cut))
    }),
    ("faults", RIGHT, |row| {
        (row.faults > 0).then(|| thousands(row.faults))
    }),
    ("mean length", RIGHT, |row| {
        row.mean_length.map(|mean| format!("{mean:.2}"))
    }),
    ("mean goals", RIGHT, |row| {
        (row.scored > 0).then(|| goals(row))
    }),
    ("error", LEFT, |row| row.error.as_deref().map(first_line)),
];

/// Prints a row as a member of a JSON list, on a line of its own.
pub(super) fn print_member(row: &Row, is_first: bool, context: &Context) -> anyhow::Result<()> {
    let before = if is_first { "[" } else { "," };
    let text = serde_json::to_string(row)?;
    Ok(context.print(format!("{before}{text}"))?)
}

/// Ends the list.
pub(super) fn print_end(is_empty: bool, context: &Context) -> anyhow::Result<()> {
    Ok(context.print(if is_empty { "[]" } else { "]" })?)
}

/// Prints the rows, the comparison with peers, and the disagreements.
pub(super) fn print(
    rows: &[Row],
    kind: Kind,
    peers: Option<&Peers>,
    context: &Context,
) -> anyhow::Result<()> {
    let columns = match kind {
        Kind::Start => START,
        Kind::Play => PLAY,
    };
    let mut lines = own_table(rows, columns);
    if matches!(kind, Kind::Start) && rows.iter().any(|row| !row.passes.is_empty()) {
        lines.push(String::new());
        lines.extend(passes_table(rows));
    }
    if let Some(peers) = peers {
        lines.push(String::new());
        lines.extend(peers_table(rows, peers));
        lines.push(String::new());
        lines.extend(standings_table(rows));
    }
    let mut disagree = Vec::new();
    for row in rows {
        for found in &row.disagreements {
            disagree.push(format!("{}, {}: {found}", row.game, row.backend));
        }
    }
    if !disagree.is_empty() {
        lines.push(String::new());
        lines.push("disagreements:".to_owned());
        lines.extend(disagree);
    }
    Ok(context.print_lines(lines)?)
}

fn own_table(rows: &[Row], columns: &[Column]) -> Vec<String> {
    let is_used = |column: &&Column| rows.iter().any(|row| column.2(row).is_some());
    let columns: Vec<&Column> = columns.iter().filter(is_used).collect();
    let cells = rows.iter().map(|row| {
        let cells = columns
            .iter()
            .map(|column| column.2(row).unwrap_or_default());
        cells.collect()
    });
    let header: Vec<(String, CellAlignment)> = columns
        .iter()
        .map(|column| (column.0.to_owned(), column.1))
        .collect();
    table(&header, cells)
}

/// Gates of all networks together after each pass. Where a network skipped a pass, its gates
/// after the previous one count.
fn passes_table(rows: &[Row]) -> Vec<String> {
    let mut names: Vec<&str> = Vec::new();
    for pass in rows.iter().flat_map(|row| &row.passes) {
        if !names.contains(&pass.pass.as_str()) {
            names.push(&pass.pass);
        }
    }
    let mut totals = vec![0; names.len()];
    for row in rows.iter().filter(|row| !row.passes.is_empty()) {
        let mut gates = 0;
        for (name, total) in names.iter().zip(&mut totals) {
            if let Some(pass) = row.passes.iter().find(|pass| pass.pass == *name) {
                gates = pass.gates;
            }
            *total += gates;
        }
    }
    let header = [("pass", LEFT), ("gates of all networks", RIGHT)];
    let header = header.map(|(name, side)| (name.to_owned(), side));
    let cells = names.iter().zip(totals);
    table(
        &header,
        cells.map(|(name, gates)| vec![(*name).to_owned(), thousands(gates)]),
    )
}

/// The figures of this program, and for each engine with any of the games its figures and
/// the ratio to them.
fn peers_table(rows: &[Row], peers: &Peers) -> Vec<String> {
    let has = |row: &Row, engine: &str| row.against.iter().any(|rival| rival.engine == engine);
    let is_met = |engine: &&String| rows.iter().any(|row| has(row, engine));
    let engines: Vec<&String> = peers.engines().iter().filter(is_met).collect();
    if engines.is_empty() {
        return vec!["the peers file has no figures for these games".to_owned()];
    }
    let column = |name: &str, side| (name.to_owned(), side);
    let mut header = vec![
        column("game", LEFT),
        column("backend", LEFT),
        column("ggp", RIGHT),
    ];
    for engine in &engines {
        header.extend([column(engine, RIGHT), column("ratio", RIGHT)]);
    }
    let compared = rows.iter().filter(|row| !row.against.is_empty());
    let cells = compared.map(|row| {
        let ours = row.state_changes_per_cpu_second.map(rate);
        let mut cells = vec![
            row.game.clone(),
            row.backend.clone(),
            ours.unwrap_or_default(),
        ];
        for engine in &engines {
            match row.against.iter().find(|rival| rival.engine == **engine) {
                Some(rival) => {
                    cells.push(rate(rival.state_changes_per_cpu_second));
                    cells.push(ratio(rival.ratio));
                }
                None => cells.extend([String::new(), String::new()]),
            }
        }
        cells
    });
    table(&header, cells)
}

fn standings_table(rows: &[Row]) -> Vec<String> {
    let header = [
        ("backend", LEFT),
        ("engine", LEFT),
        ("games", RIGHT),
        ("geometric mean", RIGHT),
        ("least", RIGHT),
        ("of", LEFT),
    ];
    let standings = standings(rows);
    if standings.is_empty() {
        return Vec::new();
    }
    let cells = standings.into_iter().map(|standing| {
        vec![
            standing.backend,
            standing.engine,
            standing.games.to_string(),
            ratio(standing.geometric_mean),
            ratio(standing.least),
            standing.least_game,
        ]
    });
    table(&header.map(|(name, side)| (name.to_owned(), side)), cells)
}

fn table(
    header: &[(String, CellAlignment)],
    rows: impl Iterator<Item = Vec<String>>,
) -> Vec<String> {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(header.iter().map(|(name, _)| name));
    table.add_rows(rows);
    for (column, (_, side)) in table.column_iter_mut().zip(header) {
        column.set_cell_alignment(*side);
    }
    let lines = table.lines().map(|line| line.trim_end().to_owned());
    lines.collect()
}

/// The rows as CSV.
pub(super) fn csv(rows: &[Row]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let records = rows.iter().map(Row::cells);
    let header = Row::COLUMNS.iter().map(|name| (*name).to_owned()).collect();
    for record in std::iter::once(header).chain(records) {
        writer.write_record(record).expect("memory takes all");
    }
    let text = writer.into_inner().expect("memory takes all");
    String::from_utf8(text).expect("all cells are text")
}

fn goals(row: &Row) -> String {
    let goals = row.mean_goals.iter().flatten();
    let goals: Vec<String> = goals.map(|goal| format!("{goal:.2}")).collect();
    goals.join(" ")
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

fn mebibytes(bytes: u64) -> String {
    tenths(bytes as f64 / f64::from(1 << 20))
}

fn tenths(number: f64) -> String {
    format!("{number:.1}")
}

fn rate(per_second: f64) -> String {
    match per_second < 10.0 {
        true => format!("{per_second:.2}"),
        false => thousands(per_second.round() as u64),
    }
}

/// A ratio with at least two significant digits.
fn ratio(ratio: f64) -> String {
    match ratio {
        ratio if ratio < 0.01 => format!("{ratio:.4}"),
        ratio if ratio < 0.1 => format!("{ratio:.3}"),
        ratio => format!("{ratio:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_with_a_comma_is_quoted() {
        let row = Row {
            game: "a,b".into(),
            mean_goals: vec![Some(1.5), None],
            ..Row::default()
        };
        let text = csv(&[row]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(lines[0].starts_with("game,file,backend,"), "{text}");
        assert!(lines[1].starts_with("\"a,b\",,"), "{text}");
        assert!(lines[1].contains(",1.5;,"), "{text}");
    }
}
