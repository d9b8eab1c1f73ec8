//! Results as CSV files and charts.

use std::collections::BTreeMap;

use super::Measured;
use crate::line_chart::{self, Chart, Curve};

/// The CSV files: their names and contents.
pub(super) fn csv(tables: &[Measured]) -> Vec<(&'static str, String)> {
    let mut searches = begun(
        "table,search,verdict,length,fewest,theirs_expanded,theirs_generated,theirs_frontier,\
         theirs_seconds,expanded,generated,frontier,peak_bytes,load_seconds,cpu_seconds,seconds,\
         settled_by",
    );
    let mut levels = begun("table,search,depth,expanded,generated,frontier,seconds");
    let mut boards = begun(
        "table,boards,board,verdict,length,fewest,solutions,all,expanded,load_seconds,seconds",
    );
    for table in tables {
        let number = table.number.to_string();
        for row in &table.searches {
            searches.push(vec![
                number.clone(),
                row.label.clone(),
                row.verdict.to_owned(),
                plain(row.length),
                plain(row.optimal),
                plain(row.theirs.expanded),
                plain(row.theirs.generated),
                plain(row.theirs.frontier),
                plain(row.theirs.seconds),
                row.expanded.to_string(),
                row.generated.to_string(),
                plain(row.frontier),
                row.peak_bytes.to_string(),
                row.load_seconds.to_string(),
                row.cpu_seconds.to_string(),
                row.seconds.to_string(),
                row.settled_by.clone(),
            ]);
            levels.extend(row.levels.iter().map(|level| {
                vec![
                    number.clone(),
                    row.label.clone(),
                    level.depth.to_string(),
                    level.expanded.to_string(),
                    level.generated.to_string(),
                    level.frontier.to_string(),
                    level.seconds.to_string(),
                ]
            }));
        }
        for row in &table.boards {
            boards.extend(row.each.iter().map(|board| {
                vec![
                    number.clone(),
                    row.label.clone(),
                    board.board.to_string(),
                    board.verdict.to_owned(),
                    plain(board.length),
                    plain(board.optimal),
                    plain(board.solutions.map(|found| found.0)),
                    plain(board.solutions.map(|found| found.1)),
                    board.expanded.to_string(),
                    board.load_seconds.to_string(),
                    board.seconds.to_string(),
                ]
            }));
        }
    }
    let files = [
        ("searches.csv", searches),
        ("levels.csv", levels),
        ("boards.csv", boards),
    ];
    files.map(|(name, rows)| (name, text(rows))).into()
}

/// A table with only a header row.
fn begun(names: &str) -> Vec<Vec<String>> {
    vec![names.split(',').map(str::to_owned).collect()]
}

fn text(rows: Vec<Vec<String>>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer
            .write_record(row)
            .expect("writing to a vector does not fail");
    }
    let bytes = writer
        .into_inner()
        .expect("writing to a vector does not fail");
    String::from_utf8(bytes).expect("CSV of text is text")
}

fn plain<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// Charts of the states by depth, for each table with such a search: their names and contents.
///
/// # Errors
///
/// If a chart cannot be drawn.
pub(super) fn pictures(tables: &[Measured]) -> anyhow::Result<Vec<(String, String)>> {
    let mut pictures = Vec::new();
    for table in tables {
        let mut curves = Vec::new();
        for row in &table.searches {
            // A depth that was searched again counts once.
            let levels = row.levels.iter();
            let levels: BTreeMap<u32, u64> = levels.map(|l| (l.depth, l.generated)).collect();
            if levels.is_empty() {
                continue;
            }
            let levels = levels.into_iter();
            curves.push(Curve {
                label: row.label.clone(),
                points: levels
                    .map(|(depth, count)| (f64::from(depth), count as f64))
                    .collect(),
            });
        }
        if curves.is_empty() {
            continue;
        }
        curves.extend(table.curves.iter().map(|curve| {
            let values = curve.values.iter().map(|value| *value as f64);
            Curve {
                label: curve.label.clone(),
                points: (0..).map(f64::from).zip(values).collect(),
            }
        }));
        let chart = Chart {
            title: &table.title,
            across: "depth",
            upwards: "states",
            is_logarithmic: true,
        };
        let drawn = line_chart::svg(&chart, &curves)?;
        pictures.push((format!("states_{}.svg", table.number), drawn));
    }
    Ok(pictures)
}
