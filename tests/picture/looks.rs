//! Looks, regions and sides of boards, and the reading of names.

use std::fs;

use ggp_engine::machine::Machine;
use ggp_picture::board_svg;
use serde_json::{Value, json};

use super::{NAMED, PLAIN, machine, pictured};

/// The first board of the first state of a bundled game.
fn first_board(game: &str) -> Value {
    let path = format!("{}/games/{game}.kif", env!("CARGO_MANIFEST_DIR"));
    let mut machine = machine(&fs::read_to_string(path).unwrap());
    let (states, picture) = pictured(&mut machine, PLAIN);
    let drawing = picture.draw(machine.terms(), &states[0], Default::default());
    serde_json::to_value(&drawing.boards[0]).unwrap()
}

#[test]
fn looks_follow_from_what_happens_to_pieces() {
    for (game, look) in [
        ("tic_tac_toe", "plain"),
        ("connect_four", "frame"),
        ("three_player_connect", "frame"),
        ("othello", "felt"),
        ("checkers", "checkered"),
        ("fox_and_hounds", "checkered"),
        ("senku", "plain"),
    ] {
        assert_eq!(first_board(game)["look"], look, "{game}");
    }
    let hex = first_board("hex");
    assert_eq!(hex["sides"], json!([1, 1, 0, 0]), "blue has the rows");
}

#[test]
fn static_facts_divide_a_board_into_regions() {
    let bands = "(band 1 a) (band 2 a) (band 3 b) (band 4 b)";
    let cells = "(part 1 1 a) (part 1 2 a) (part 1 3 b) (part 1 4 b) (part 2 1 a) (part 2 2 b)
        (part 2 3 b) (part 2 4 c) (part 3 1 a) (part 3 2 d) (part 3 3 c) (part 3 4 c)
        (part 4 1 d) (part 4 2 d) (part 4 3 d) (part 4 4 c)";
    let stripes = "(part 1 1 a) (part 1 2 a) (part 1 3 a) (part 1 4 a)";
    for (facts, expected) in [
        (
            bands,
            json!([[0, 0, 1, 1], [0, 0, 1, 1], [4, 4, 5, 5], [4, 4, 5, 5]]),
        ),
        (
            cells,
            json!([[0, 0, 1, 1], [0, 1, 1, 2], [0, 3, 2, 2], [3, 3, 3, 2]]),
        ),
        (stripes, Value::Null),
    ] {
        let rules = format!(
            "(role a) (number 1) (number 2) (number 3) (number 4) (after 1 2) (after 2 3) (after 3 4)
             {facts}
             (<= (legal a (write ?r ?c ?n)) (number ?r) (number ?c) (number ?n))
             (<= (next (shows ?r ?c ?n)) (does a (write ?r ?c ?n)))
             (<= (next (shows ?r ?c ?n)) (true (shows ?r ?c ?n)))
             (init (shows 1 1 2)) (<= terminal (true (shows 1 2 1))) (goal a 100)"
        );
        let mut machine = machine(&rules);
        let (states, picture) = pictured(&mut machine, PLAIN);
        let drawing = picture.draw(machine.terms(), &states[0], Default::default());
        let board = serde_json::to_value(&drawing.boards[0]).unwrap();
        assert_eq!(board["regions"], expected, "{facts}");
    }
}

#[test]
fn names_are_read_unless_they_are_to_be_ignored() {
    let rules = "
        (role white) (role black) (next_to 1 2) (next_to 2 3)
        (init (at 1 1 wk)) (init (at 1 2 blank)) (init (at 1 3 bq)) (init (at 2 1 wr)) (init (at 2 2 wall))
        (init (at 2 3 blank)) (init (at 3 1 x)) (init (at 3 2 blank)) (init (at 3 3 blank))
        (init (on a1 red)) (init (on a2 none)) (init (on b1 none)) (init (on b2 none))
        (init (on c1 none)) (init (on c2 blue))
        (<= (legal ?r (move c2 a1)) (role ?r)) (<= (next ?f) (true ?f)) (<= terminal (true (at 1 1 x)))
        (<= (goal ?r 100) (role ?r))";
    let mut machine = machine(rules);
    let mut drawn = |names| {
        let (states, picture) = pictured(&mut machine, names);
        let drawing = picture.draw(machine.terms(), &states[0], Default::default());
        let role = machine.game().roles().next().unwrap();
        let mut moves = Vec::new();
        let start = machine.initial().unwrap();
        machine.legal(&start, role, &mut moves).unwrap();
        let cells = picture.cells(machine.terms(), (role, moves[0]), &drawing);
        let svg = board_svg(&drawing, "test").unwrap();
        (serde_json::to_value(&drawing).unwrap(), svg, cells)
    };
    let (plain, svg, cells) = drawn(PLAIN);
    assert_eq!(plain["boards"].as_array().unwrap().len(), 1);
    assert_eq!(cells, []);
    assert!(!svg.contains("#161616"), "black is a name like any other");
    let (named, svg, cells) = drawn(NAMED);
    let boards = &named["boards"];
    assert_eq!(
        boards[0]["contents"][0][1],
        json!([]),
        "a blank cell is empty"
    );
    assert_eq!(boards[0]["colours"]["bq"], "#161616");
    assert_eq!(boards[0]["colours"]["wk"], "#ffffff");
    assert_eq!(boards[1]["columns"], json!(["a", "b", "c"]));
    assert_eq!(boards[1]["rows"], json!(["2", "1"]));
    assert_eq!(boards[1]["contents"][1][0], json!(["red"]));
    assert_eq!(cells, [(1, 0, 2), (1, 1, 0)]);
    assert!(
        svg.matches("fill:#161616").count() > 1,
        "the queen is drawn in black"
    );
}
