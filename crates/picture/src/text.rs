//! Drawings as plain text.

use super::drawing::{Drawing, DrawnBoard, DrawnEntry, DrawnTable, TableStyle, lattice};
use ggp_gdl::counted::counted;

/// Maximum width of a line, in characters.
const WIDTH: usize = 100;
/// The largest number that is shown as a bar.
const LONGEST_BAR: usize = 40;
/// The gap between boards side by side.
const GAP: usize = 4;

/// Renders a drawing as plain text, each line indented by two: boards, the legend, tables,
/// and the other facts.
pub fn text(drawing: &Drawing) -> String {
    let groups = groups(&drawing.boards);
    let mut parts: Vec<String> = (groups.into_iter())
        .map(|(boards, in_row)| side_by_side(boards, in_row))
        .collect();
    let is_short = |table: &&DrawnTable| {
        matches!(table.style, TableStyle::Turn | TableStyle::Plain)
            && (table.entries.iter()).all(|entry| entry.key.is_empty())
    };
    let short = drawing.tables.iter().filter(is_short);
    let short =
        short.map(|table| format!("{}: {}", table.title, table.entries[0].values.join(" ")));
    let mut lists = vec![wrapped(&short.collect::<Vec<_>>(), 3)];
    lists.extend(
        drawing
            .tables
            .iter()
            .filter(|table| !is_short(table))
            .map(table_text),
    );
    lists.push(wrapped(&drawing.facts, 1));
    if drawing.left_out > 0 {
        lists.push(format!(
            "  ... and {}",
            counted(drawing.left_out, "more fact")
        ));
    }
    lists.retain(|list| !list.is_empty());
    if !lists.is_empty() {
        parts.push(lists.join("\n"));
    }
    parts.join("\n\n")
}

/// Groups boards of the same kind, with the number of boards in one row.
pub(super) fn groups(mut boards: &[DrawnBoard]) -> Vec<(&[DrawnBoard], usize)> {
    let mut groups = Vec::new();
    while let Some(first) = boards.first() {
        let is_same = |board: &&DrawnBoard| {
            board.symbols == first.symbols && (board.rows == first.rows || !board.title.is_empty())
        };
        let count = boards.iter().take_while(is_same).count();
        let (group, others) = boards.split_at(count);
        let width = (group.iter().flat_map(lines))
            .map(|line| line.chars().count())
            .max();
        let fit = ((WIDTH + GAP) / (width.unwrap_or(0) + GAP)).max(1);
        // Boards that two constants tell apart are arranged in rows and columns.
        let row = |board: &DrawnBoard| match &board.sheet[..] {
            [row, _] => Some(row.clone()),
            _ => None,
        };
        let start = row(first);
        let is_in_row = |board: &&DrawnBoard| start.is_some() && row(board) == start;
        let in_row = group.iter().take_while(is_in_row).count();
        groups.push((
            group,
            match in_row {
                0 => squarish(count).min(fit),
                _ if in_row <= fit => in_row,
                _ => fit,
            },
        ));
        boards = others;
    }
    groups
}

/// The number of boards in a row: up to three boards are one row, others as many rows as columns.
fn squarish(count: usize) -> usize {
    match count {
        0..=3 => count.max(1),
        _ => (2..count)
            .find(|width| width * width >= count)
            .unwrap_or(count),
    }
}

/// Renders boards in rows, followed by the legend.
fn side_by_side(boards: &[DrawnBoard], fit: usize) -> String {
    if let Some((across, along)) = lattice(boards) {
        return edges(across, along);
    }
    let blocks: Vec<Vec<String>> = boards.iter().map(lines).collect();
    let width = |block: &[String]| {
        block
            .iter()
            .map(|line| line.chars().count())
            .max()
            .unwrap_or(0)
    };
    let widest = blocks.iter().map(|block| width(block)).max().unwrap_or(0);
    let mut text = Vec::new();
    for blocks in blocks.chunks(fit) {
        let height = blocks.iter().map(Vec::len).max().unwrap_or(0);
        for number in 0..height {
            let mut line = String::new();
            for (k, block) in blocks.iter().enumerate() {
                let start = k * (widest + GAP);
                while line.chars().count() < start {
                    line.push(' ');
                }
                line.push_str(block.get(number).map_or("", |line| line));
            }
            text.push(format!("  {line}").trim_end().to_owned());
        }
        if boards.len() > fit {
            text.push(String::new());
        }
    }
    let mut legend: Vec<(&str, &str)> = boards.iter().flat_map(|board| board.legend()).collect();
    legend.sort_unstable();
    legend.dedup();
    if !legend.is_empty() {
        let count = legend.len();
        let words = legend.into_iter().enumerate().map(|(k, (sign, content))| {
            let before = if k == 0 { "(" } else { "" };
            let after = if k + 1 == count { ")" } else { "," };
            format!("{before}{sign} {content}{after}")
        });
        text.push(wrapped(&words.collect::<Vec<_>>(), 1));
    }
    let unsure = boards.iter().flat_map(|board| {
        board.unsure.iter().map(|unsure| {
            let (row, column) = unsure.cell;
            let place = match board.places.get(row) {
                Some(places) => places[column].clone(),
                None => format!("{} {}", board.rows[row], board.columns[column]),
            };
            format!("{place}: {}", unsure.words())
        })
    });
    let unsure: Vec<String> = unsure.collect();
    if !unsure.is_empty() {
        text.push(wrapped(&unsure, 3));
    }
    text.join("\n")
}

/// Renders the edges of squares between the corners.
fn edges(across: &DrawnBoard, along: &DrawnBoard) -> String {
    let is_there = |board: &DrawnBoard, row: usize, column: usize| {
        let place = board.contents[row][column].as_ref();
        place.is_some_and(|contents| !contents.is_empty())
    };
    let label = along
        .rows
        .iter()
        .map(|row| row.chars().count())
        .max()
        .unwrap_or(0);
    let width = across
        .columns
        .iter()
        .map(|name| name.chars().count())
        .max()
        .unwrap_or(0)
        .max(3);
    let names = across.columns.iter().map(|name| format!(" {name:^width$}"));
    let mut text = vec![format!("{:label$} {}", "", names.collect::<String>())];
    for row in 0..across.rows.len() {
        let edges = (0..across.columns.len()).map(|column| {
            let edge = if is_there(across, row, column) {
                "-"
            } else {
                " "
            };
            format!("+{}", edge.repeat(width))
        });
        text.push(format!("{:label$} {}+", "", edges.collect::<String>()));
        if let Some(name) = along.rows.get(row) {
            let edges = (0..along.columns.len()).map(|column| {
                let edge = if is_there(along, row, column) {
                    "|"
                } else {
                    " "
                };
                format!("{edge}{:width$}", "")
            });
            text.push(format!("{name:>label$} {}", edges.collect::<String>()));
        }
    }
    text.push(format!("(- {}, | {})", across.title, along.title));
    let lines = text
        .iter()
        .map(|line| format!("  {line}").trim_end().to_owned());
    lines.collect::<Vec<_>>().join("\n")
}

/// Renders a board without a legend.
fn lines(board: &DrawnBoard) -> Vec<String> {
    let signs = |row: usize, (column, contents): (usize, &Option<Vec<String>>)| {
        let unsure = board.unsure(row, column).map_or("", |_| "?");
        match contents {
            None => String::new(),
            Some(contents) if contents.is_empty() => ".".to_owned(),
            Some(contents) => board.signs(contents) + unsure,
        }
    };
    let rows = board.contents.iter().enumerate();
    let cells = rows.map(|(row, places)| {
        let places = places.iter().enumerate();
        places.map(|place| signs(row, place)).collect()
    });
    let body: Vec<Vec<String>> = cells.collect();
    let length = |text: &String| text.chars().count();
    let mut width = body
        .iter()
        .flatten()
        .chain(&board.columns)
        .map(length)
        .max()
        .unwrap_or(1);
    if board.slant != 0 && width % 2 == 0 {
        width += 1;
    }
    let half = width.div_ceil(2);
    let label = board.rows.iter().map(length).max().unwrap_or(0);
    let last = board.rows.len().saturating_sub(1);
    let line = |label_text: &str, words: &[String], row: usize| {
        let halves = match board.slant {
            0 => 0,
            1.. => row,
            _ => last - row,
        };
        let words = words.iter().map(|word| format!("{word:>width$}"));
        let words = words.collect::<Vec<_>>().join(" ");
        let before = " ".repeat(half * halves);
        format!("{label_text:>label$} {before}{words}")
            .trim_end()
            .to_owned()
    };
    let mut lines = Vec::new();
    if !board.title.is_empty() {
        lines.push(format!("{:label$} {}", "", board.title));
    }
    lines.push(line("", &board.columns, 0));
    for (number, (row, words)) in board.rows.iter().zip(&body).enumerate() {
        lines.push(line(row, words, number));
    }
    match board.left_out {
        (0, 0) => {}
        (rows, columns) => lines.push(format!(
            "... {}, {}",
            counted(rows, "more row"),
            counted(columns, "more column")
        )),
    }
    lines
}

/// Renders a table, each line indented by two.
pub(super) fn table_text(table: &DrawnTable) -> String {
    match table.style {
        TableStyle::Piles | TableStyle::Stacks => piles(table),
        TableStyle::Bars => bars(table),
        TableStyle::Plain | TableStyle::Turn => words(table),
    }
}

/// Renders a table as words: on one line if each key has one word.
fn words(table: &DrawnTable) -> String {
    let values = |entry: &DrawnEntry| match &entry.values[..] {
        [] => "-".to_owned(),
        values => values.join(" "),
    };
    if let [only] = &table.entries[..]
        && only.key.is_empty()
    {
        return format!("  {}: {}", table.title, only.values.join(" "));
    }
    let count = table.entries.len();
    if table.entries.iter().all(|entry| entry.values.len() <= 1) {
        let entries = table.entries.iter().enumerate().map(|(k, entry)| {
            let after = if k + 1 == count { "" } else { "," };
            format!("{} {}{after}", entry.key, values(entry))
        });
        let text = wrapped(&entries.collect::<Vec<_>>(), 1);
        return format!("  {}: {}", table.title, text.trim_start());
    }
    let key = table
        .entries
        .iter()
        .map(|entry| entry.key.chars().count())
        .max()
        .unwrap_or(0);
    let lines = table
        .entries
        .iter()
        .map(|entry| format!("    {:<key$} {}", entry.key, values(entry)));
    format!(
        "  {}:\n{}",
        table.title,
        lines.collect::<Vec<_>>().join("\n")
    )
}

/// Renders heaps as bars, one below the other.
fn bars(table: &DrawnTable) -> String {
    let length = |text: &str| text.chars().count();
    let key = table
        .entries
        .iter()
        .map(|entry| length(&entry.key))
        .max()
        .unwrap_or(0);
    let bar =
        |entry: &DrawnEntry| "o".repeat(entry.bar.filter(|bar| *bar <= LONGEST_BAR).unwrap_or(0));
    let values = |entry: &DrawnEntry| entry.values.join(" ");
    let value = table
        .entries
        .iter()
        .map(|entry| length(&values(entry)))
        .max()
        .unwrap_or(0);
    let lines = table.entries.iter().map(|entry| {
        let line = format!(
            "    {:<key$} {:>value$} {}",
            entry.key,
            values(entry),
            bar(entry)
        );
        line.trim_end().to_owned()
    });
    let lines: Vec<String> = lines.collect();
    format!("  {}:\n{}", table.title, lines.join("\n"))
}

/// Renders piles side by side, with their bases below.
fn piles(table: &DrawnTable) -> String {
    let height = table.height();
    let length = |text: &String| text.chars().count();
    let words = table
        .entries
        .iter()
        .flat_map(|entry| entry.values.iter().chain([&entry.key]));
    let width = words.map(length).max().unwrap_or(0);
    let mut lines = vec![format!("  {}:", table.title)];
    for level in (0..height).rev() {
        let words = table.entries.iter().map(|entry| {
            let word = entry.values.iter().rev().nth(level).map_or("", |word| word);
            format!("{word:^width$}")
        });
        lines.push(
            format!("    {}", words.collect::<Vec<_>>().join(" "))
                .trim_end()
                .to_owned(),
        );
    }
    let dashes = table
        .entries
        .iter()
        .map(|_| "-".repeat(width))
        .collect::<Vec<_>>();
    lines.push(format!("    {}", dashes.join(" ")));
    let keys = table
        .entries
        .iter()
        .map(|entry| format!("{:^width$}", entry.key));
    lines.push(
        format!("    {}", keys.collect::<Vec<_>>().join(" "))
            .trim_end()
            .to_owned(),
    );
    lines.join("\n")
}

/// Joins words with blanks and breaks them into lines, each indented by two.
pub(super) fn wrapped(words: &[String], blanks: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        match lines.last_mut() {
            Some(line) if line.chars().count() + blanks + word.chars().count() <= WIDTH => {
                line.push_str(&" ".repeat(blanks));
                line.push_str(word);
            }
            _ => lines.push(format!("  {word}")),
        }
    }
    lines.join("\n")
}
