//! A board of lines between dots, and of boxes between the lines.

use super::canvas::Canvas;
use super::{GROUND, LETTER, LINE, PIECE, PLACE, piece};
use crate::DrawnBoard;

/// The width of a line.
const WIDTH: f64 = 7.0;

/// Draws board number `of`, and returns its right and its lower end.
pub(super) fn dots(
    canvas: &mut Canvas,
    board: &DrawnBoard,
    of: usize,
    [left, top]: [f64; 2],
) -> (f64, f64) {
    let label = board.rows.iter().map(|row| row.chars().count()).max();
    let (left, top) = match canvas.bare {
        true => (left + GROUND, top + GROUND),
        false => (
            left + label.unwrap_or(0) as f64 * LETTER + 12.0 + GROUND,
            top + LINE + GROUND,
        ),
    };
    // The middle of the line of a dot, or of a box.
    let middle = |start: f64, at: usize| start + at as f64 * PLACE / 2.0;
    let (right, bottom) = (
        middle(left, board.columns.len() - 1),
        middle(top, board.rows.len() - 1),
    );
    let ground = [
        left - GROUND,
        top - GROUND,
        right - left + 2.0 * GROUND,
        bottom - top + 2.0 * GROUND,
    ];
    canvas.rect("plain", ground, 6.0);
    for (k, name) in board.columns.iter().enumerate().step_by(2) {
        canvas.label(middle(left, k), top - GROUND - 10.0, PLACE, name);
    }
    for (k, name) in board.rows.iter().enumerate().step_by(2) {
        canvas.row_label(left - GROUND - 7.0, middle(top, k) + 5.0, name);
    }
    for (row, places) in board.contents.iter().enumerate() {
        for (column, place) in places.iter().enumerate() {
            let Some(contents) = place else {
                continue;
            };
            let (x, y) = (middle(left, column), middle(top, row));
            let said = if contents.is_empty() { "" } else { ": " };
            let title = format!("{}{said}{}", board.places[row][column], contents.join(", "));
            canvas.open(&title, (of, row, column));
            let unsure = board.unsure(row, column);
            if unsure.is_some() {
                canvas.faint(board.share(row, column));
            }
            let size = [column, row].map(|at| match at % 2 {
                0 => WIDTH,
                _ => PLACE - WIDTH,
            });
            let is_line = row % 2 != column % 2;
            let class = if is_line && !contents.is_empty() {
                "ink"
            } else {
                "none"
            };
            canvas.rect(
                class,
                [x - size[0] / 2.0, y - size[1] / 2.0, size[0], size[1]],
                1.0,
            );
            if !is_line && !contents.is_empty() {
                piece(canvas, board, contents, "", [x, y, PIECE * 0.8]);
            }
            if unsure.is_some() {
                canvas.close();
            }
            canvas.close();
        }
    }
    for row in (0..board.rows.len()).step_by(2) {
        for column in (0..board.columns.len()).step_by(2) {
            canvas.circle("ink", middle(left, column), middle(top, row), 4.5);
        }
    }
    let ends = (right + GROUND, bottom + GROUND);
    canvas.reach(ends.0, ends.1);
    ends
}
