//! Drawings as self-contained SVG.

mod canvas;
mod film;

use std::slice::from_ref;

use super::drawing::{Drawing, DrawnBoard, DrawnEntry, DrawnTable, TableStyle, lattice};
use super::text::{groups, table_text, text, wrapped};
use canvas::{Canvas, ContentColour, role_class};

pub use film::film;

/// The width of a cell, and of a piece.
const PLACE: f64 = 42.0;
const PIECE: f64 = 34.0;
/// The size of a symbol's square relative to a disc.
const SYMBOL: f64 = 1.15;
const MARGIN: f64 = 18.0;
const LINE: f64 = 21.0;
/// The width of a letter of a label.
const LETTER: f64 = 8.5;

/// Renders a drawing as SVG with a title: boards, the legend, tables, other facts. The
/// colours follow the reader's choice of light or dark.
pub fn svg(drawing: &Drawing, title: &str) -> String {
    let mut canvas = Canvas::default();
    paint(&mut canvas, drawing, MARGIN);
    canvas.finish(title, &text(drawing), MARGIN)
}

/// Draws everything, starting at height `y`.
fn paint(canvas: &mut Canvas, drawing: &Drawing, mut y: f64) {
    let mut number = 0;
    for (boards, in_row) in groups(&drawing.boards) {
        if let Some((across, along)) = lattice(boards) {
            let is_first = std::ptr::eq(across, &boards[0]);
            let numbers = [
                number + usize::from(!is_first),
                number + usize::from(is_first),
            ];
            y = edges(canvas, [across, along], numbers, y);
            number += 2;
            continue;
        }
        for boards in boards.chunks(in_row) {
            let mut x = MARGIN;
            let mut below = y;
            for board in boards {
                let (right, bottom) = draw_board(canvas, board, number, x, y);
                number += 1;
                x = right + PLACE;
                below = below.max(bottom);
            }
            y = below + LINE;
        }
        y = legend(canvas, boards, y);
    }
    for table in &drawing.tables {
        y = draw_table(canvas, drawing, table, y) + 6.0;
    }
    let mut rest = wrapped(&drawing.facts, 1);
    if drawing.left_out > 0 {
        rest.push_str(&format!("\n... and {} more facts", drawing.left_out));
    }
    lines(canvas, &rest, y);
}

/// Draws board number `of`, and returns its right and its lower end.
fn draw_board(
    canvas: &mut Canvas,
    board: &DrawnBoard,
    of: usize,
    left: f64,
    top: f64,
) -> (f64, f64) {
    let length = |text: &String| text.chars().count();
    let label = board.rows.iter().map(length).max().unwrap_or(0) as f64 * LETTER + 8.0;
    let (mut x, mut y) = (left + label, top);
    if !board.title.is_empty() {
        canvas.words("", x, y + 14.0, &board.title);
        y += LINE;
    }
    let last = board.rows.len().saturating_sub(1);
    let pitch = match board.slant {
        0 => PLACE,
        _ => PLACE * 3f64.sqrt() / 2.0,
    };
    for (k, column) in board.columns.iter().enumerate() {
        let shift = if board.slant < 0 {
            last as f64 * PLACE / 2.0
        } else {
            0.0
        };
        let middle = x + shift + (k as f64 + 0.5) * PLACE;
        canvas.middle("quiet", middle, y + 9.0, PLACE, column);
    }
    y += if board.slant == 0 { LINE } else { 1.4 * LINE };
    let start = x;
    for (number, (row, contents)) in board.rows.iter().zip(&board.contents).enumerate() {
        let halves = match board.slant {
            0 => 0,
            1.. => number,
            _ => last - number,
        };
        x = start + halves as f64 * PLACE / 2.0;
        let middle = y + (number as f64 + 0.5) * pitch;
        canvas.end("quiet", x - 7.0, middle + 5.0, row);
        for (k, place) in contents.iter().enumerate() {
            let Some(contents) = place else {
                continue;
            };
            let centre = x + (k as f64 + 0.5) * PLACE;
            let said = match contents.is_empty() {
                true => String::new(),
                false => format!(": {}", contents.join(", ")),
            };
            let title = format!("{row} {}{said}", board.columns[k]);
            canvas.open(&title, (of, number, k));
            let class = if (number + k) % 2 == 0 {
                "light"
            } else {
                "dark"
            };
            match board.slant {
                0 => {
                    let corner = [centre - PLACE / 2.0, middle - PLACE / 2.0];
                    canvas.rect(class, [corner[0], corner[1], PLACE, PLACE], 0.0);
                }
                _ => canvas.hexagon("light", centre, middle, PLACE),
            }
            let printed = board.printed.get(number).and_then(|row| row[k].as_ref());
            let has_symbols = contents
                .iter()
                .all(|content| board.shapes.contains_key(content));
            if let Some(printed) = printed.filter(|_| has_symbols) {
                canvas.middle("", centre, middle, PIECE, printed);
            }
            match contents.is_empty() {
                false => piece(canvas, board, contents, centre, middle, PIECE),
                true if board.shapes.contains_key(&board.empty) => {
                    piece(canvas, board, from_ref(&board.empty), centre, middle, PIECE);
                }
                true => {}
            }
            canvas.close();
        }
    }
    let halves = if board.slant == 0 { 0 } else { last };
    let right = start + board.columns.len() as f64 * PLACE + halves as f64 * PLACE / 2.0;
    let mut below = y + board.rows.len() as f64 * pitch;
    if board.left_out != (0, 0) {
        let (rows, columns) = board.left_out;
        below += LINE;
        canvas.words(
            "quiet",
            start,
            below,
            &format!("... {rows} more rows, {columns} more columns"),
        );
    }
    canvas.reach(right, below);
    (right, below)
}

/// Draws the edges of squares between the corners, and returns their lower end.
fn edges(
    canvas: &mut Canvas,
    [across, along]: [&DrawnBoard; 2],
    numbers: [usize; 2],
    top: f64,
) -> f64 {
    let label = along.rows.iter().map(|row| row.chars().count()).max();
    let left = MARGIN + label.unwrap_or(0) as f64 * LETTER + 12.0;
    let start = top + LINE + 6.0;
    for (k, name) in across.columns.iter().enumerate() {
        canvas.middle(
            "quiet",
            left + (k as f64 + 0.5) * PLACE,
            top + 9.0,
            PLACE,
            name,
        );
    }
    for (k, name) in along.rows.iter().enumerate() {
        canvas.end(
            "quiet",
            left - 9.0,
            start + (k as f64 + 0.5) * PLACE + 5.0,
            name,
        );
    }
    let sides = [(across, [PLACE, 0.0]), (along, [0.0, PLACE])];
    for ((board, size), of) in sides.into_iter().zip(numbers) {
        for (row, places) in board.contents.iter().enumerate() {
            for (column, place) in places.iter().enumerate() {
                let Some(contents) = place else {
                    continue;
                };
                let x = left + column as f64 * PLACE - 2.5;
                let y = start + row as f64 * PLACE - 2.5;
                let names = (&board.rows[row], &board.columns[column]);
                let title = format!("{} {} {}", board.title, names.0, names.1);
                let class = if contents.is_empty() { "none" } else { "ink" };
                canvas.open(&title, (of, row, column));
                canvas.rect(class, [x, y, size[0] + 5.0, size[1] + 5.0], 2.0);
                canvas.close();
            }
        }
    }
    for row in 0..across.rows.len() {
        for column in 0..along.columns.len() {
            let (x, y) = (left + column as f64 * PLACE, start + row as f64 * PLACE);
            canvas.circle("ink", x, y, 4.0);
        }
    }
    start + along.rows.len() as f64 * PLACE + LINE
}

/// Draws the contents of a cell: symbols, or signs, on a disc if they belong to a role.
fn piece(canvas: &mut Canvas, board: &DrawnBoard, contents: &[String], x: f64, y: f64, size: f64) {
    let mut rest = Vec::new();
    for content in contents {
        let Some(shapes) = board.shapes.get(content) else {
            rest.push(content.clone());
            continue;
        };
        let colour = match (board.colours.get(content), board.owners.get(content)) {
            (Some(colour), _) => ContentColour::Colour(colour),
            (None, Some(&owner)) => ContentColour::Role(owner),
            (None, None) => ContentColour::None,
        };
        canvas.symbol(shapes, &colour, x, y, size * SYMBOL);
    }
    if rest.is_empty() {
        return;
    }
    let signs = board.signs(&rest);
    let width = size * 0.8;
    let colour = rest.iter().find_map(|content| board.colours.get(content));
    let owner = rest.iter().find_map(|content| board.owners.get(content));
    match (owner, colour) {
        (_, Some(colour)) => {
            canvas.disc(colour, x, y, size / 2.0);
            canvas.middle("on", x, y, width, &signs);
        }
        (Some(&owner), None) => {
            canvas.circle(&format!("rim {}", role_class(owner)), x, y, size / 2.0);
            canvas.middle(&letters(owner), x, y, width, &signs);
        }
        (None, None) => canvas.middle("", x, y, size, &signs),
    }
}

/// The class of the letters on a role's pieces.
fn letters(owner: usize) -> String {
    role_class(owner).replace('r', "t")
}

/// Draws the legend.
fn legend(canvas: &mut Canvas, boards: &[DrawnBoard], mut y: f64) -> f64 {
    let mut signs: Vec<(&str, &str)> = boards.iter().flat_map(|board| board.legend()).collect();
    signs.sort_unstable();
    signs.dedup();
    let mut x = MARGIN;
    for (_, content) in &signs {
        let width = 44.0 + content.chars().count() as f64 * LETTER;
        if x > MARGIN && x + width > 760.0 {
            x = MARGIN;
            y += LINE + 4.0;
        }
        piece(
            canvas,
            &boards[0],
            &[(*content).to_owned()],
            x + 10.0,
            y,
            20.0,
        );
        canvas.words("", x + 26.0, y + 5.0, content);
        x += width;
    }
    if signs.is_empty() { y } else { y + LINE + 8.0 }
}

fn draw_table(canvas: &mut Canvas, drawing: &Drawing, table: &DrawnTable, y: f64) -> f64 {
    match table.style {
        TableStyle::Turn => {
            let owner = table.entries.first().and_then(|entry| entry.owner);
            let said = table.entries.iter().flat_map(|entry| &entry.values);
            let said = said.cloned().collect::<Vec<_>>().join(" ");
            if let Some(owner) = owner.filter(|_| drawing.roles.len() > 1) {
                let (x, middle) = (MARGIN + 8.0, y + 8.0);
                let mut boards = drawing.boards.iter();
                match boards.find_map(|board| board.colours.get(&drawing.roles[owner])) {
                    Some(colour) => canvas.disc(colour, x, middle, 7.0),
                    None => canvas.circle(&format!("rim {}", role_class(owner)), x, middle, 7.0),
                }
            }
            canvas.words(
                "",
                MARGIN + 24.0,
                y + 13.0,
                &format!("{}: {said}", table.title),
            );
            y + LINE
        }
        TableStyle::Bars => bars(canvas, table, y),
        TableStyle::Piles | TableStyle::Stacks => piles(canvas, table, y),
        TableStyle::Plain => lines(canvas, &table_text(table), y),
    }
}

/// Draws lines of monospaced text.
fn lines(canvas: &mut Canvas, text: &str, mut y: f64) -> f64 {
    for line in text.lines() {
        canvas.words(
            "mono",
            MARGIN,
            y + 14.0,
            line.strip_prefix("  ").unwrap_or(line),
        );
        y += LINE;
    }
    y
}

fn bars(canvas: &mut Canvas, table: &DrawnTable, mut y: f64) -> f64 {
    canvas.words("", MARGIN, y + 14.0, &table.title);
    y += LINE;
    let said = |entry: &DrawnEntry| format!("{} {}", entry.key, entry.values.join(" "));
    let longest = table
        .entries
        .iter()
        .map(|entry| said(entry).chars().count())
        .max();
    let start = MARGIN + longest.unwrap_or(0) as f64 * LETTER + 14.0;
    let most = table
        .entries
        .iter()
        .filter_map(|entry| entry.bar)
        .max()
        .unwrap_or(0);
    let unit = (600.0 / most.max(1) as f64).min(14.0);
    for entry in &table.entries {
        let class = entry.owner.map_or("thing".to_owned(), |owner| {
            format!("rim {}", role_class(owner))
        });
        canvas.words("", MARGIN, y + 14.0, &said(entry));
        let length = entry.bar.unwrap_or(0) as f64 * unit;
        if length > 0.0 {
            canvas.rect(&class, [start, y + 2.0, length, 15.0], 3.0);
        }
        y += LINE;
    }
    y
}

fn piles(canvas: &mut Canvas, table: &DrawnTable, mut y: f64) -> f64 {
    canvas.words("", MARGIN, y + 14.0, &table.title);
    y += LINE + 4.0;
    let words = table
        .entries
        .iter()
        .flat_map(|entry| entry.values.iter().chain([&entry.key]));
    let longest = words.map(|word| word.chars().count()).max().unwrap_or(0);
    let width = (longest as f64 * LETTER + 20.0).max(PLACE);
    let height = table.height();
    let floor = y + height as f64 * 26.0;
    for (k, entry) in table.entries.iter().enumerate() {
        let middle = MARGIN + (k as f64 + 0.5) * (width + 16.0);
        for (level, value) in entry.values.iter().rev().enumerate() {
            let top = floor - (level as f64 + 1.0) * 26.0;
            canvas.rect("thing", [middle - width / 2.0, top, width, 24.0], 5.0);
            canvas.middle("", middle, top + 12.0, width - 8.0, value);
        }
        canvas.rect(
            "dark",
            [middle - width / 2.0 - 4.0, floor, width + 8.0, 4.0],
            1.0,
        );
        canvas.middle("quiet", middle, floor + 15.0, width, &entry.key);
    }
    floor + LINE + 8.0
}
