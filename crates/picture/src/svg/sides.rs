//! Lines on a board: around regions, across the sides of cells, and along the sides of a board of
//! hexagons.

use super::canvas::Canvas;
use super::{PIECE, PLACE, piece};
use crate::DrawnBoard;

/// Draws the ground below cells that are points or pits, and the lines between them.
pub(super) fn ground(canvas: &mut Canvas, board: &DrawnBoard, [left, top]: [f64; 2]) {
    if board.lines.is_empty() && !board.has_pits {
        return;
    }
    let [width, height] = [board.columns.len(), board.rows.len()].map(|count| count as f64 * PLACE);
    canvas.rect("plain", [left, top, width, height], 8.0);
    let point = |(row, column): (usize, usize)| {
        let [x, y] =
            [(left, column), (top, row)].map(|(start, at)| start + (at as f64 + 0.5) * PLACE);
        format!("{x} {y}")
    };
    let lines = board.lines.iter();
    let lines: String = lines
        .map(|[from, to]| format!("M{}L{}", point(*from), point(*to)))
        .collect();
    if !lines.is_empty() {
        canvas.line("border", &lines, "");
    }
}

/// Draws thick lines between regions and around them.
pub(super) fn regions(canvas: &mut Canvas, board: &DrawnBoard, left: f64, top: f64) {
    let at = |row: usize, column: usize| board.regions.get(row)?.get(column).copied();
    let mut path = String::new();
    for row in 0..board.regions.len() {
        for column in 0..board.regions[row].len() {
            let (x, y) = (left + column as f64 * PLACE, top + row as f64 * PLACE);
            let here = at(row, column);
            if row == 0 || at(row - 1, column) != here {
                path += &format!("M{x} {y}h{PLACE}");
            }
            if column == 0 || at(row, column - 1) != here {
                path += &format!("M{x} {y}v{PLACE}");
            }
            if at(row + 1, column).is_none() {
                path += &format!("M{x} {}h{PLACE}", y + PLACE);
            }
            if at(row, column + 1).is_none() {
                path += &format!("M{} {y}v{PLACE}", x + PLACE);
            }
        }
    }
    if !path.is_empty() {
        canvas.line("border", &path, "");
    }
}

/// Draws what lies across the sides of cells, after all cells: walls, signs, and bodies that
/// reach into the next cell, below what is there.
pub(super) fn across(canvas: &mut Canvas, board: &DrawnBoard, [left, top]: [f64; 2]) {
    let cells = board.contents.iter().enumerate().flat_map(|(row, places)| {
        let places = places.iter().enumerate();
        places.filter_map(move |(column, place)| Some((row, column, place.as_ref()?)))
    });
    // A body that leaves the board ends at its side.
    let leaves = |row: usize, column: usize, content: &String| {
        board.links.get(content).is_some_and(|[down, right]| {
            let next = row
                .checked_add_signed(*down)
                .zip(column.checked_add_signed(*right));
            next.is_none_or(|(row, column)| {
                row >= board.rows.len() || column >= board.columns.len()
            })
        })
    };
    let mut cut = board.clone();
    for content in board.links.keys() {
        cut.shapes.get_mut(content).map(Vec::pop);
    }
    canvas.untouchable();
    for is_edge in [true, false] {
        for (row, column, contents) in cells.clone() {
            let shown = contents
                .iter()
                .filter(|content| board.edges.contains(*content) == is_edge);
            let shown: Vec<String> = shown.cloned().collect();
            if !shown.is_empty() && (is_edge || !board.links.is_empty()) {
                let x = left + (column as f64 + 0.5) * PLACE;
                let y = top + (row as f64 + 0.5) * PLACE;
                let is_cut = shown.iter().any(|content| leaves(row, column, content));
                piece(
                    canvas,
                    if is_cut { &cut } else { board },
                    &shown,
                    "",
                    [x, y, PIECE],
                );
            }
        }
    }
    canvas.close();
}

/// Draws the sides of a board of hexagons in colours: top, bottom, left and right. `centre` gives
/// the centre of the cell of a row and a column.
pub(super) fn of_hexagons(
    canvas: &mut Canvas,
    board: &DrawnBoard,
    colours: &[String; 4],
    centre: impl Fn(usize, usize) -> (f64, f64),
) {
    let (half, side) = (PLACE / 2.0, PLACE / 3f64.sqrt());
    // Clockwise from the upper left corner.
    let corners = [
        (-half, -side / 2.0),
        (0.0, -side),
        (half, -side / 2.0),
        (half, side / 2.0),
        (0.0, side),
        (-half, side / 2.0),
    ];
    let line = |cells: Vec<(usize, usize)>, along: [usize; 3]| {
        let points = cells.iter().flat_map(|&(row, column)| {
            let (x, y) = centre(row, column);
            along.map(|corner| format!("{:.2} {:.2}", x + corners[corner].0, y + corners[corner].1))
        });
        format!("M{}", points.collect::<Vec<_>>().join("L"))
    };
    let (rows, columns) = (board.rows.len(), board.columns.len());
    let across = |row: usize| (0..columns).map(|column| (row, column)).collect();
    let down = |column: usize| (0..rows).map(|row| (row, column)).collect();
    // Rows are shifted to the right or to the left from one to the next.
    let (left, right) = match board.slant > 0 {
        true => ([0, 5, 4], [1, 2, 3]),
        false => ([1, 0, 5], [2, 3, 4]),
    };
    let lines = [
        line(across(0), [0, 1, 2]),
        line(across(rows - 1), [5, 4, 3]),
        line(down(0), left),
        line(down(columns - 1), right),
    ];
    for (path, colour) in lines.iter().zip(colours) {
        canvas.line("side", path, &format!("stroke:{colour}"));
    }
}
