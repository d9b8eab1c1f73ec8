//! Boards of places, lines between dots, piles and marks, by structure and by names.

use ggp_engine::machine::Machine;
use ggp_picture::board_svg;
use serde_json::Value;

use super::{NAMED, PLAIN, check, drawings, machine, pictured, scrambled};

/// Rules that a random match does not end: the facts of the state stay, except as given.
const GOES_ON: &str = "(<= terminal (true over)) (<= (goal ?r 100) (role ?r))";

/// Checks that the pictures of rules are the same under other names, except for the names.
fn check_scrambled(rules: &str) {
    let (other, names) = scrambled(rules);
    for (plain, mut renamed) in drawings(rules).iter().zip(drawings(&other)) {
        for (number, name) in names.iter().enumerate().rev() {
            renamed = renamed.replace(&format!("zq{number}w"), name);
        }
        let [plain, renamed]: [Value; 2] =
            [plain, &renamed].map(|json| serde_json::from_str(json).unwrap());
        assert_eq!(plain, renamed, "{rules}");
    }
}

/// The text and the SVG of the first state, with names read, and the cells of the first role's
/// first move.
fn named(rules: &str) -> (String, String, Vec<(usize, usize, usize)>) {
    let mut machine = machine(rules);
    let (states, picture) = pictured(&mut machine, NAMED);
    let drawing = picture.draw(machine.terms(), &states[0], Default::default());
    let role = machine.game().roles().next().unwrap();
    let start = machine.initial().unwrap();
    let mut moves = Vec::new();
    machine.legal(&start, role, &mut moves).unwrap();
    let cells = picture.cells(machine.terms(), (role, moves[0]), &drawing);
    let svg = board_svg(&drawing, "test").unwrap();
    (ggp_picture::text(&drawing), svg, cells)
}

#[test]
fn facts_of_two_dots_are_lines_and_those_of_one_are_boxes() {
    let rules = format!(
        "(role a) (after 1 2) (after 2 3) (number 1) (number 2) (number 3)
        (init (line 1 1 1 2)) (init (line 2 3 3 3)) (init (box 2 1 a))
        (<= (free ?x ?y ?x ?v) (number ?x) (after ?y ?v) (not (true (line ?x ?y ?x ?v))))
        (<= (free ?x ?y ?u ?y) (number ?y) (after ?x ?u) (not (true (line ?x ?y ?u ?y))))
        (<= (legal a (draw ?x ?y ?u ?v)) (free ?x ?y ?u ?v))
        (<= (next (line ?x ?y ?u ?v)) (does a (draw ?x ?y ?u ?v))) (<= (next ?f) (true ?f)) {GOES_ON}"
    );
    check(
        &rules,
        &["(draw 3 1 3 2)"],
        "
    1   2   3
  1   l   .
    . . . . .
  2   .   .
    . a . . l
  3   l   .
  (l line)",
    );
    check_scrambled(&rules);
    let (_, svg, cells) = named(&rules);
    assert_eq!(svg.matches("class=\"ink\" cx").count(), 9, "nine dots");
    assert_eq!(cells.len(), 1, "a move names one line");
}

#[test]
fn places_that_lead_back_to_the_first_are_a_ring() {
    let rules = "(role a) (then p q) (then q r) (then r s) (then s t) (then t p)
        (init (here p)) (init (thing r)) (init (steps 1)) (after 1 2) (after 2 3) (after 3 4) (after 4 5)
        (legal a go) (<= (next (here ?y)) (true (here ?x)) (then ?x ?y))
        (<= (next (thing ?x)) (true (thing ?x)))
        (<= (next (steps ?n)) (true (steps ?m)) (after ?m ?n)) (<= terminal (true (steps 5)))
        (goal a 100)";
    check(
        rules,
        &["go"],
        "

   . h t
     . .
  (h here, t thing)

  steps: 2",
    );
    check_scrambled(rules);
}

#[test]
fn an_order_of_all_things_in_one_fact_is_a_pile() {
    let rules = "(role a) (init (order d b c)) (legal a top) (legal a all)
        (<= (next (order ?y ?x ?z)) (does a top) (true (order ?x ?y ?z)))
        (<= (next (order ?z ?y ?x)) (does a all) (true (order ?x ?y ?z)))
        (<= (goal a 100) (true (order b c d))) (<= (goal a 0) (not (true (order b c d))))
        (<= terminal (true (order b c d)))";
    check(
        rules,
        &["top"],
        "
  order:
    b
    d
    c
    -",
    );
    check_scrambled(rules);
}

#[test]
fn blocks_that_are_on_nothing_are_towers_of_their_own() {
    let rules = format!(
        "(role a) (init (on c a)) (init (on d c)) (init (table a)) (init (table b))
        (<= (bare ?x) (true (table ?x)) (not (covered ?x))) (<= (covered ?y) (true (on ?x ?y)))
        (<= (top ?x) (true (on ?x ?y)) (not (covered ?x)))
        (<= (legal a (down ?x)) (top ?x)) (<= (legal a (up ?x ?y)) (bare ?x) (top ?y))
        (<= (next (table ?x)) (does a (down ?x))) (<= (next (on ?x ?y)) (does a (up ?x ?y)))
        (<= (next (table ?x)) (true (table ?x)) (not (rises ?x))) (<= (rises ?x) (does a (up ?x ?y)))
        (<= (next (on ?x ?y)) (true (on ?x ?y)) (not (does a (down ?x)))) {GOES_ON}"
    );
    check(
        &rules,
        &["(down d)"],
        "
  table: a d b
  on:
    c
    a d b
    - - -",
    );
    check_scrambled(&rules);
}

#[test]
fn a_mark_that_stays_fills_its_cell_and_one_on_all_cells_is_the_ground() {
    let rules = format!(
        "(role a) (after 1 2) (after 2 3) (number 1) (number 2) (number 3)
        (<= (init (cell ?x ?y)) (number ?x) (number ?y))
        (<= (legal a (dig ?x ?y)) (number ?x) (number ?y))
        (<= (next (hole ?x ?y)) (does a (dig ?x ?y))) (<= (next ?f) (true ?f)) {GOES_ON}"
    );
    check(
        &rules,
        &["(dig 1 3)"],
        "
    1 2 3
  1 . . h
  2 . . .
  3 . . .
  (h hole)",
    );
    check_scrambled(&rules);
    let drawing = super::draw(&rules, &["(dig 1 3)"]);
    let svg = board_svg(&drawing, "test").unwrap();
    assert_eq!(svg.matches("<path").count(), 1, "one filled cell");
}

/// Facts `cell` of a puzzle that never changes.
fn puzzle(facts: &str) -> String {
    format!(
        "(role robot) {facts} (<= (legal robot (put ?c)) (true (cell ?c ?n))) (<= (next ?f) (true ?f)) {GOES_ON}"
    )
}

#[test]
fn rows_of_letters_with_a_common_middle_are_hexagons() {
    let all = text_of_cells();
    let links = "(adj a1 a2) (adj b1 b2) (adj b2 b3) (adj c1 c2) (adj a1 b1) (adj a1 b2) (adj a2 b2) (adj a2 b3)
        (adj b1 c1) (adj b2 c1) (adj b2 c2) (adj b3 c2)";
    let (text, svg, cells) = named(&puzzle(&format!("{all} {links}")));
    assert_eq!(text.matches('.').count(), 7, "{text}");
    assert_eq!(svg.matches("<polygon").count(), 7);
    assert_eq!(cells, [(0, 0, 1)], "a1 is the first of two cells");
    let (_, svg, _) = named(&puzzle(&format!("{all} (adj a1 c2)")));
    assert_eq!(svg.matches("<polygon").count(), 0, "no links, no hexagons");
}

/// Initial facts of the cells of the puzzle of hexagons.
fn text_of_cells() -> String {
    let cells = "a1 a2 b1 b2 b3 c1 c2".split(' ');
    cells
        .map(|cell| format!("(init (cell {cell} blank))"))
        .collect()
}

#[test]
fn directions_of_the_compass_around_a_middle_are_squares_with_lines() {
    let rules = format!(
        "(role white) (role black) (turn n ne) (turn ne e) (turn e se) (turn se s) (turn s sw) (turn sw w)
        (turn w nw) (turn nw n) (level outer) (level inner)
        (<= (way ?d) (turn ?d ?e)) (<= (init (pit ?l ?d empty)) (level ?l) (way ?d))
        (<= (link ?l ?d ?l ?e) (level ?l) (turn ?d ?e))
        (<= (legal ?r (put ?l ?d)) (role ?r) (true (pit ?l ?d empty)))
        (<= (next (pit ?l ?d ?r)) (does ?r (put ?l ?d))) (<= (next ?f) (true ?f)) {GOES_ON}"
    );
    let (text, svg, cells) = named(&rules);
    assert_eq!(
        text.lines()
            .filter(|line| line.matches('.').count() == 3)
            .count(),
        4,
        "{text}"
    );
    assert_eq!(
        svg.matches('M').count(),
        16,
        "a line from each place to the next"
    );
    assert_eq!(cells, [(0, 0, 2)], "the first move is to the outer north");
}

#[test]
fn numbers_of_rows_and_columns_are_at_the_edges() {
    let rules = format!(
        "(role a) (after 1 2) (number 1) (number 2) (row 1 1 7) (row 2 1 8) (row 2 2 9) (col 1 1 4) (col 2 1 5)
        (init (marked 2 1)) (<= (legal a (mark ?col ?row)) (number ?col) (number ?row))
        (<= (next (marked ?col ?row)) (does a (mark ?col ?row))) (<= (next ?f) (true ?f)) {GOES_ON}"
    );
    let (text, svg, _) = named(&rules);
    assert!(
        text.contains("1 . m"),
        "the second argument is the row: {text}"
    );
    assert!(svg.contains(">8 9<"), "both numbers of the second row");
    for number in [4, 5, 7] {
        assert!(svg.contains(&format!(">{number}<")), "{number}");
    }
}

#[test]
fn walls_and_signs_are_on_the_sides_that_names_say() {
    let rules = format!(
        "(role a) (after 1 2) (number 1) (number 2)
        (<= (init (cell ?x ?y b)) (number ?x) (number ?y))
        (init (blocked_north 1 1)) (init (blocked_east 2 1)) (init (gt_right 1 1))
        (init (blocked_north 1 2)) (init (blocked_east 2 2)) (init (gt_right 1 2))
        (init (blocked_north 2 1)) (init (blocked_east 1 1)) (init (gt_right 2 1))
        (<= (step north ?x ?y ?x ?v) (number ?x) (after ?y ?v))
        (<= (step east ?x ?y ?u ?y) (number ?y) (after ?x ?u) (not (true over)))
        (legal a stay) (<= (next ?f) (true ?f)) {GOES_ON}"
    );
    let (text, svg, _) = named(&rules);
    let rows: Vec<&str> = text.lines().map(str::trim).collect();
    assert!(
        rows[1].starts_with('2') && rows[2].starts_with('1'),
        "north is up: {text}"
    );
    for path in ["M-4 -3 H104", "M103 -4 V104", "M96 39 L112 50 L96 61"] {
        assert_eq!(svg.matches(path).count(), 3, "{path}");
    }
}

#[test]
fn cells_that_keep_a_move_are_the_body_of_a_snake() {
    let rules = format!(
        "(role a) (after 1 2) (after 2 3) (after 3 4) (number 1) (number 2) (number 3) (number 4)
        (init (at 1 1)) (init (left 2 2 right)) (init (left 4 4 down))
        (legal a right) (legal a down)
        (<= (next (left ?x ?y ?m)) (does a ?m) (true (at ?x ?y)))
        (<= (next (at ?x ?v)) (does a right) (true (at ?x ?y)) (after ?y ?v))
        (<= (next (at ?u ?y)) (does a down) (true (at ?x ?y)) (after ?x ?u))
        (<= (next (left ?x ?y ?m)) (true (left ?x ?y ?m))) {GOES_ON}"
    );
    let (_, svg, _) = named(&rules);
    assert_eq!(
        svg.matches("M104 50 H157").count(),
        1,
        "to the right, into the next cell"
    );
    assert_eq!(
        svg.matches("M50 50 V104").count(),
        1,
        "down, to the edge of the board"
    );
    assert_eq!(svg.matches("M50 104 V157").count(), 0);
}

#[test]
fn a_king_and_a_rook_are_chess_men_and_a_king_and_a_pawn_are_not() {
    for (man, count) in [("wr", 3), ("wp", 0)] {
        let rules = format!(
            "(role white) (role black) (next_to 1 2) (init (at 1 1 wk)) (init (at 1 2 bk)) (init (at 2 1 {man}))
            (init (at 2 2 b)) (<= (legal ?r wait) (role ?r)) (<= (next ?f) (true ?f)) {GOES_ON}"
        );
        let (_, svg, _) = named(&rules);
        let king = svg.matches("M46 4 H54").count() + svg.matches("M24 16 H37").count();
        assert_eq!(king, count, "{man}");
    }
}

#[test]
fn trails_have_the_colour_of_the_role_that_left_them() {
    let rules = "(role a) (role b) (after 1 2) (after 2 3) (after 3 4) (number 1) (number 2) (number 3) (number 4)
        (init (at a 1 1)) (init (at b 4 4))
        (legal a go) (legal b go)
        (<= (next (at a ?x ?v)) (does a go) (true (at a ?x ?y)) (after ?y ?v))
        (<= (next (at b ?x ?v)) (does b go) (true (at b ?x ?y)) (after ?v ?y))
        (<= (next (wall ?x ?y)) (true (at ?r ?x ?y))) (<= (next (wall ?x ?y)) (true (wall ?x ?y)))
        (<= terminal (true (at a 1 4))) (<= (goal ?r 100) (role ?r))";
    let mut machine = machine(rules);
    let (states, picture) = pictured(&mut machine, PLAIN);
    assert!(picture.has_trails());
    let drawing = picture.draw_after(machine.terms(), &states[..3], Default::default());
    let board = serde_json::to_value(&drawing.boards[0]).unwrap();
    assert_eq!(
        board["contents"][0].to_string(),
        r#"[["wall/a"],["wall/a"],["a"],[]]"#
    );
    assert_eq!(
        board["contents"][1].to_string(),
        r#"[[],["b"],["wall/b"],["wall/b"]]"#
    );
    assert_eq!(board["owners"]["wall/b"], 1);
    let svg = board_svg(&drawing, "test").unwrap();
    let walls = |colour: &str| svg.matches(&format!("style=\"fill:{colour}")).count();
    assert_eq!([walls("#0072b2"), walls("#e69f00")], [2, 2]);
}
