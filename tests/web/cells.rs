//! The cells that moves refer to.

use serde_json::{Value, json};

use super::service::Service;
use super::text;

#[test]
fn a_move_refers_to_the_cells_that_it_names() {
    let service = Service::start(&["--max-question", "60"]);
    let first = |game: &str, action: &str| {
        let path = format!("/api/games/{game}/position");
        let position = service.post(&path, &json!({})).ok();
        let legal = position["legal"].as_array().expect("a list");
        let moves = legal
            .iter()
            .flat_map(|moves| moves.as_array().expect("a list"));
        let mut moves = moves.filter(|one| one["move"] == action);
        let found = moves.next().unwrap_or_else(|| panic!("{game}: {action}"));
        let row = |cell: &Value| {
            let board = &position["drawing"]["boards"][cell[0].as_u64().unwrap() as usize];
            let name = |axis: &str, at: &Value| text(&board[axis][at.as_u64().unwrap() as usize]);
            format!("{} {}", name("rows", &cell[1]), name("columns", &cell[2]))
        };
        let cells = found["cells"].as_array().expect("a list").iter();
        cells.map(row).collect::<Vec<_>>()
    };
    assert_eq!(first("tic_tac_toe", "(mark 2 3)"), ["2 3"]);
    // The role belongs to the name of a place.
    assert_eq!(first("kalah", "(sow 2)"), ["south "]);
    // The argument that selects a board is a coordinate.
    // Lines between dots: those that lie flat are the first board, and their first coordinate is the column.
    assert_eq!(first("dots_and_boxes", "(draw flat 2 1)"), ["1 2"]);
    assert_eq!(first("dots_and_boxes", "(draw flat 3 4)"), ["4 3"]);
    assert_eq!(first("dots_and_boxes", "(draw upright 4 3)"), ["3 4"]);
    // No rule contains both the move and the cell, but the names are those of cells
    assert_eq!(first("lights_out_3x3", "(press 1 2)"), ["1 2"]);
    let mut steps = first("checkers", "(move 2 2 1 3)");
    steps.sort();
    assert_eq!(steps, ["2 2", "3 1"]);
    // or of the content of a cell.
    assert_eq!(first("eight_puzzle", "(slide 6)"), ["3 2"]);
    // A move that names a column refers to the whole column.
    let column = first("connect_four", "(drop 3)");
    assert_eq!(column.len(), 6, "{column:?}");
    assert!(
        column.iter().all(|place| place.ends_with(" 3")),
        "{column:?}"
    );
}

#[test]
fn trails_have_the_colours_of_the_roles_that_left_them() {
    let service = Service::start(&[]);
    let moves = json!({ "moves": [["(drive up)", "(drive down)"]] });
    let position = service
        .post("/api/games/light_cycles/position", &moves)
        .ok();
    let contents = position["drawing"]["boards"][0]["contents"].to_string();
    for content in ["wall/west", "wall/east"] {
        // One where the cycle began, and one where it is.
        assert_eq!(contents.matches(content).count(), 2, "{contents}");
    }
}
