//! Drawings as self-contained SVG.

mod canvas;
mod dots;
mod film;
mod heaps;
mod sides;

use ggp_gdl::counted::counted;
use std::slice::from_ref;

use super::drawing::{Drawing, DrawnBoard, DrawnTable, TableStyle, lattice};
use super::likely::percent;
use super::look::Look;
use super::names::is_filled;
use super::text::{groups, table_text, text, wrapped};
use canvas::{Canvas, ContentColour, role_class};

pub use film::{film, thumbnail_film};

/// The width of a cell, and of a piece.
const PLACE: f64 = 42.0;
const PIECE: f64 = 34.0;
/// The size of a symbol's square relative to a disc.
const SYMBOL: f64 = 1.15;
/// The width of the share of an uncertain piece.
const SHARE: f64 = 20.0;
const MARGIN: f64 = 18.0;
const LINE: f64 = 21.0;
/// The height of a number above a column.
const CLUE: f64 = 15.0;
/// The width of the ground around a board of edges.
const GROUND: f64 = 12.0;
/// The width of a letter of a label.
const LETTER: f64 = 8.5;

/// Renders a drawing as SVG with a title: boards, the legend, tables, other facts. The
/// background and the text around boards follow the reader's choice of light or dark.
pub fn svg(drawing: &Drawing, title: &str) -> String {
    let mut canvas = Canvas::new(false);
    paint(&mut canvas, drawing, MARGIN);
    canvas.finish(title, &text(drawing))
}

/// Renders the boards, heaps and piles of a drawing alone, so that the picture keeps its size
/// during a match. `None` if the drawing has none of them.
pub fn board_svg(drawing: &Drawing, title: &str) -> Option<String> {
    let mut canvas = Canvas::new(false);
    pictures(&mut canvas, drawing);
    (!canvas.is_empty()).then(|| canvas.finish(title, &text(drawing)))
}

/// Renders what [`board_svg`] renders without labels and background, for a place with little
/// room. A drawing without boards, heaps and piles is rendered as a whole.
pub fn thumbnail(drawing: &Drawing, title: &str) -> String {
    let mut canvas = Canvas::new(true);
    pictures(&mut canvas, drawing);
    match canvas.is_empty() {
        true => svg(drawing, title),
        false => canvas.finish(title, &text(drawing)),
    }
}

/// Draws the boards, heaps and piles.
fn pictures(canvas: &mut Canvas, drawing: &Drawing) {
    let mut y = boards(canvas, drawing, MARGIN, false);
    let pictures = drawing.tables.iter().filter(|table| table.is_picture());
    for table in pictures {
        y = draw_table(canvas, drawing, table, y) + 6.0;
    }
}

/// Draws everything, starting at height `y`.
fn paint(canvas: &mut Canvas, drawing: &Drawing, y: f64) {
    let mut y = boards(canvas, drawing, y, true);
    for table in &drawing.tables {
        y = draw_table(canvas, drawing, table, y) + 6.0;
    }
    let mut rest = wrapped(&drawing.facts, 1);
    if drawing.left_out > 0 {
        rest.push_str(&format!(
            "\n... and {}",
            counted(drawing.left_out, "more fact")
        ));
    }
    lines(canvas, &rest, y);
}

/// Draws the boards, with or without their legends, and returns the lower end.
fn boards(canvas: &mut Canvas, drawing: &Drawing, mut y: f64, has_legend: bool) -> f64 {
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
                let (right, bottom) = draw_board(canvas, board, &drawing.roles, number, [x, y]);
                number += 1;
                x = right + PLACE;
                below = below.max(bottom);
            }
            y = below + LINE;
        }
        if has_legend {
            y = legend(canvas, boards, y);
        }
    }
    y
}

/// Draws board number `of`, and returns its right and its lower end.
fn draw_board(
    canvas: &mut Canvas,
    board: &DrawnBoard,
    roles: &[String],
    of: usize,
    [left, top]: [f64; 2],
) -> (f64, f64) {
    if board.has_dots {
        return dots::dots(canvas, board, of, [left, top]);
    }
    let length = |text: &String| text.chars().count();
    let row_labels = (0..board.rows.len()).map(|row| board.row_label(row));
    let row_labels: Vec<String> = row_labels.collect();
    let longest = row_labels.iter().map(length).max().unwrap_or(0);
    let label = match canvas.bare || longest == 0 {
        true => 0.0,
        false => longest as f64 * LETTER + 8.0,
    };
    let (mut x, mut y) = (left + label, top);
    if !board.title.is_empty() && !canvas.bare {
        canvas.words("", x, y + 14.0, &board.title);
        y += LINE;
    }
    let last = board.rows.len().saturating_sub(1);
    let pitch = match board.slant {
        0 => PLACE,
        _ => PLACE * 3f64.sqrt() / 2.0,
    };
    let clue_lines = board.clues[1]
        .iter()
        .map(Vec::len)
        .max()
        .unwrap_or(1)
        .max(1);
    for (k, column) in board.columns.iter().enumerate() {
        let shift = if board.slant < 0 {
            last as f64 * PLACE / 2.0
        } else {
            0.0
        };
        let middle = x + shift + (k as f64 + 0.5) * PLACE;
        let name = from_ref(column);
        let words = board.clues[1].get(k).map_or(name, Vec::as_slice);
        for (line, word) in words.iter().rev().enumerate() {
            let above = (clue_lines - 1 - line) as f64 * CLUE;
            canvas.label(middle, y + 9.0 + above, PLACE, word);
        }
    }
    if !canvas.bare {
        y += (clue_lines - 1) as f64 * CLUE;
    }
    y += match (canvas.bare, board.slant) {
        (false, 0) => LINE,
        (false, _) => 1.4 * LINE,
        (true, 0) => 0.0,
        // Hexagons overlap in height.
        (true, _) => PLACE / 3f64.sqrt() - pitch / 2.0,
    };
    let halves = |row: usize| match board.slant {
        0 => 0,
        1.. => row,
        _ => last - row,
    };
    // The cells of a row need not begin at its first column.
    let row_start = |row: usize| {
        let first = board.contents[row].iter().position(Option::is_some);
        first.map(|first| halves(row) + 2 * first)
    };
    let inset = match board.slant {
        0 => 0,
        _ => (0..=last).filter_map(row_start).min().unwrap_or(0),
    };
    let start = x - inset as f64 * PLACE / 2.0;
    sides::ground(canvas, board, [start, y]);
    let is_outside =
        |row: usize, column: usize| board.outside.get(row).is_some_and(|row| row[column]);
    // On a chequered board whose cells have one colour, the other squares have the other.
    let is_half = board.look == Look::Checkered && board.slant == 0 && {
        let mut rows = board.contents.iter().enumerate();
        rows.all(|(number, row)| {
            let mut places = row.iter().enumerate();
            places.all(|(k, place)| place.is_some() == ((number + k) % 2 == 1))
        })
    };
    for (number, (row, contents)) in board.rows.iter().zip(&board.contents).enumerate() {
        x = start + halves(number) as f64 * PLACE / 2.0;
        let middle = y + (number as f64 + 0.5) * pitch;
        let indent = match board.slant {
            0 => 0,
            _ => row_start(number).unwrap_or(0) - halves(number),
        };
        canvas.row_label(
            x + indent as f64 * PLACE / 2.0 - 7.0,
            middle + 5.0,
            &row_labels[number],
        );
        for (k, place) in contents.iter().enumerate() {
            let centre = x + (k as f64 + 0.5) * PLACE;
            let Some(contents) = place else {
                if is_half {
                    let corner = [centre - PLACE / 2.0, middle - PLACE / 2.0];
                    canvas.rect("light", [corner[0], corner[1], PLACE, PLACE], 0.0);
                }
                continue;
            };
            let unsure = board.unsure(number, k);
            let said = match unsure {
                Some(unsure) => format!(": {}", unsure.words()),
                None if contents.is_empty() => String::new(),
                None => format!(": {}", contents.join(", ")),
            };
            let title = match board.places.get(number) {
                Some(places) => format!("{}{said}", places[k]),
                None => format!("{row} {}{said}", board.columns[k]),
            };
            canvas.open(&title, (of, number, k));
            let class = match board.look {
                _ if board.has_pits || !board.lines.is_empty() => "none",
                Look::Plain => "plain",
                Look::Checkered if (number + k) % 2 == 0 => "light",
                Look::Checkered => "dark",
                Look::Frame => "frame",
                Look::Felt => "felt",
            };
            match board.slant {
                0 if is_outside(number, k) => {}
                0 => {
                    let corner = [centre - PLACE / 2.0, middle - PLACE / 2.0];
                    canvas.rect(class, [corner[0], corner[1], PLACE, PLACE], 0.0);
                    if board.look == Look::Frame {
                        canvas.circle("hole", centre, middle, PIECE / 2.0 + 0.5);
                    }
                }
                _ => canvas.hexagon("plain", centre, middle, PLACE),
            }
            let printed = board.printed.get(number).and_then(|row| row[k].as_ref());
            let has_symbols = contents
                .iter()
                .all(|content| board.shapes.contains_key(content));
            if let Some(printed) = printed.filter(|_| has_symbols) {
                canvas.middle("", centre, middle, PIECE, printed);
            }
            let inside = contents
                .iter()
                .filter(|content| !board.edges.contains(*content));
            let (minor, main): (Vec<String>, Vec<String>) =
                (inside.cloned()).partition(|content| board.minor.contains(content));
            for mark in 0..minor.len() {
                let x = centre + PLACE / 2.0 - 5.0 - 6.0 * mark as f64;
                canvas.circle("mark-of", x, middle - PLACE / 2.0 + 5.0, 2.5);
            }
            let is_given = board.given.get(number).is_some_and(|row| row[k]);
            let ink = match board.given.is_empty() {
                true => "",
                false if is_given => "given",
                false => "entered",
            };
            match main.is_empty() {
                false if unsure.is_some() => {
                    let share = board.share(number, k);
                    canvas.faint(share);
                    piece(canvas, board, &main, ink, [centre, middle, PIECE]);
                    canvas.close();
                    let corner = [centre + PLACE / 2.0 - 10.0, middle + PLACE / 2.0 - 5.0];
                    canvas.middle("", corner[0], corner[1], SHARE, &percent(share));
                }
                false => piece(canvas, board, &main, ink, [centre, middle, PIECE]),
                true if board.shapes.contains_key(&board.empty) => {
                    let empty = from_ref(&board.empty);
                    piece(canvas, board, empty, "", [centre, middle, PIECE]);
                }
                true if !board.lines.is_empty() => canvas.circle("ink", centre, middle, 4.0),
                true => {}
            }
            canvas.close();
        }
    }
    if !board.edges.is_empty() {
        sides::across(canvas, board, [start, y]);
    }
    sides::regions(canvas, board, start, y);
    if let Some(owners) = board.sides {
        let colours = owners.map(|role| canvas::role_colour(board, roles, role));
        let centre = |row: usize, column: usize| {
            let x = start + halves(row) as f64 * PLACE / 2.0 + (column as f64 + 0.5) * PLACE;
            (x, y + (row as f64 + 0.5) * pitch)
        };
        sides::of_hexagons(canvas, board, &colours, centre);
    }
    let row_end = |row: usize| {
        let end = board.contents[row].iter().rposition(Option::is_some);
        end.map_or(0, |end| halves(row) + 2 * (end + 1))
    };
    let right = match board.slant {
        0 => 2 * board.columns.len(),
        _ => (0..=last).map(row_end).max().unwrap_or(0),
    };
    let right = start + right as f64 * PLACE / 2.0;
    let mut below = y + board.rows.len() as f64 * pitch;
    if board.left_out != (0, 0) && !canvas.bare {
        let (rows, columns) = board.left_out;
        below += LINE;
        canvas.words(
            "quiet",
            start,
            below,
            &format!(
                "... {}, {}",
                counted(rows, "more row"),
                counted(columns, "more column")
            ),
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
    let (left, start) = match canvas.bare {
        true => (MARGIN + GROUND, top + GROUND),
        false => (
            MARGIN + label.unwrap_or(0) as f64 * LETTER + 12.0 + GROUND,
            top + LINE + 6.0 + GROUND,
        ),
    };
    let size = [along.columns.len() - 1, across.rows.len() - 1];
    let [width, height] = size.map(|squares| squares as f64 * PLACE + 2.0 * GROUND);
    let corner = [left - GROUND, start - GROUND];
    canvas.rect("plain", [corner[0], corner[1], width, height], 6.0);
    for (k, name) in across.columns.iter().enumerate() {
        canvas.label(left + (k as f64 + 0.5) * PLACE, top + 9.0, PLACE, name);
    }
    for (k, name) in along.rows.iter().enumerate() {
        canvas.row_label(
            left - 9.0 - GROUND,
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
                let unsure = board.unsure(row, column);
                if unsure.is_some() {
                    canvas.faint(board.share(row, column));
                }
                canvas.rect(class, [x, y, size[0] + 5.0, size[1] + 5.0], 2.0);
                if unsure.is_some() {
                    canvas.close();
                }
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
    corner[1] + height + LINE
}

/// Draws the contents of a cell: symbols, or signs, on a disc if they belong to a role.
/// `ink` is the class of signs without a disc; a point and a width follow.
fn piece(
    canvas: &mut Canvas,
    board: &DrawnBoard,
    contents: &[String],
    ink: &str,
    [x, y, size]: [f64; 3],
) {
    let mut rest = Vec::new();
    let is_filled = |content: &&String| {
        let shapes = board.shapes.get(*content);
        shapes.is_some_and(|shapes| is_filled(shapes))
    };
    let (below, above): (Vec<&String>, Vec<&String>) = contents.iter().partition(is_filled);
    for content in below.into_iter().chain(above) {
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
        (None, None) => canvas.middle(ink, x, y, size, &signs),
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
            "",
            [x + 10.0, y, 20.0],
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
        TableStyle::Bars => heaps::bars(canvas, drawing, table, y),
        TableStyle::Piles | TableStyle::Stacks => heaps::piles(canvas, drawing, table, y),
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
