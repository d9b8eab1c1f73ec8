//! Trails: contents that stay in cells through which the things of roles have gone, in the
//! colours of these roles.
//!
//! In: drawings of the positions of a match. A state does not say who left a mark; the position
//! before it does.

use std::collections::BTreeMap;

use super::drawing::{Drawing, DrawnBoard};
use super::join;
use super::names::is_filled;
use super::options::Paint;

/// The role that has made the content of each cell, by board, row and column.
pub(super) type Makers = BTreeMap<(usize, String, String), usize>;

/// The cells of a board, with the names of their row and column, and their contents.
fn cells(board: &DrawnBoard) -> impl Iterator<Item = ((&String, &String), &Vec<String>)> {
    board
        .rows
        .iter()
        .zip(&board.contents)
        .flat_map(|(row, places)| {
            let places = board.columns.iter().zip(places);
            places.filter_map(move |(column, place)| Some(((row, column), place.as_ref()?)))
        })
}

/// Notes who has made the trails between two positions.
pub(super) fn note(makers: &mut Makers, before: &Drawing, after: &Drawing) {
    for (number, after) in after.boards.iter().enumerate() {
        let before = before.boards.get(number);
        let known: BTreeMap<_, _> = before.into_iter().flat_map(cells).collect();
        for (at, contents) in cells(after) {
            let had: &[String] = known.get(&at).map_or(&[], |had| had.as_slice());
            let has_trail =
                |all: &[String]| all.iter().any(|content| after.trails.contains(content));
            if has_trail(contents) && !has_trail(had) {
                let mut things = had.iter().chain(contents);
                let maker = things.find_map(|content| after.owners.get(content));
                let at = (number, at.0.clone(), at.1.clone());
                makers.extend(maker.map(|maker| (at, *maker)));
            }
        }
    }
}

/// Gives the trails of a drawing the colours of the roles that have made them.
pub(super) fn colour(makers: &Makers, drawing: &mut Drawing) {
    for (number, board) in drawing.boards.iter_mut().enumerate() {
        let (rows, columns) = (board.rows.clone(), board.columns.clone());
        for (row, row_name) in rows.iter().enumerate() {
            for (column, column_name) in columns.iter().enumerate() {
                let at = (number, row_name.clone(), column_name.clone());
                let Some(&maker) = makers.get(&at) else {
                    continue;
                };
                let mut contents = board.contents[row][column].take().unwrap_or_default();
                for content in &mut contents {
                    if board.trails.contains(content) {
                        *content = owned(board, content, maker, &drawing.roles[maker]);
                    }
                }
                board.contents[row][column] = Some(contents);
            }
        }
    }
}

/// A content like another one that belongs to a role.
fn owned(board: &mut DrawnBoard, content: &str, maker: usize, role: &str) -> String {
    let text = join(content, role);
    if board.owners.insert(text.clone(), maker).is_none() {
        if let Some(sign) = board.symbols.get(content).cloned() {
            board.symbols.insert(text.clone(), sign);
        }
        if let Some(colour) = board.colours.get(role).cloned() {
            board.colours.insert(text.clone(), colour);
        }
        if let Some(mut shapes) = board.shapes.get(content).cloned() {
            if is_filled(&shapes) {
                shapes[0].fill = Paint::Content;
            }
            board.shapes.insert(text.clone(), shapes);
        }
    }
    text
}
