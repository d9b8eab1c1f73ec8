//! Boards that are found in rules.

use ggp::game::Game;
use ggp::machine::{AnyMachine, Backend, Limits, Machine};
use ggp::picture::{Drawing, Picture};

fn machine(text: &str) -> AnyMachine {
    let game = Game::from_text("drawn", text).unwrap();
    AnyMachine::new(&game, Backend::Datalog, Limits::default()).unwrap()
}

/// The drawing of the state after some moves.
fn draw(text: &str, moves: &[&str]) -> Drawing {
    let mut machine = machine(text);
    let mut state = machine.initial().unwrap();
    let first = machine.facts(&state);
    let picture = Picture::new(machine.game(), machine.terms(), &first, None);
    let role = machine.game().roles().next().unwrap();
    for chosen in moves {
        let mut legal = Vec::new();
        machine.legal(&state, role, &mut legal).unwrap();
        let is_it = |term| machine.game().canonical(machine.terms(), term) == *chosen;
        let found = legal.iter().find(|legal| is_it(legal.term())).copied();
        state = machine.next(&state, &[found.unwrap()]).unwrap();
    }
    let facts = machine.facts(&state);
    picture.draw(machine.terms(), &facts)
}

fn check(text: &str, moves: &[&str], expected: &str) {
    let drawing = draw(text, moves);
    let boards: Vec<String> = drawing.boards.iter().map(|board| board.text()).collect();
    let facts = drawing.facts.join(" ");
    let found = [boards.join("\n"), facts].join("\n");
    let trimmed = |text: &str| text.trim_end().trim_start_matches('\n').to_owned();
    assert_eq!(trimmed(&found), trimmed(expected));
}

/// Somebody paints squares of two by three; the columns have names in an order.
const PAINT: &str = "
    (role painter) (left a b) (left b c) (row 1) (row 2)
    (init (rounds 2))
    (<= (square ?r ?c) (row ?r) (left ?c ?d))
    (<= (square ?r ?d) (row ?r) (left ?c ?d))
    (<= (legal painter (paint ?r ?c ?k)) (square ?r ?c) (colour ?k))
    (colour red) (colour rose)
    (<= (next (is ?c ?r ?k)) (does painter (paint ?r ?c ?k)))
    (<= (next (is ?c ?r ?k)) (true (is ?c ?r ?k)))
    (<= (next (rounds 1)) (true (rounds 2)))
    (<= terminal (true (rounds 1)) (true (is ?c 1 ?k)))
    (goal painter 100)";

#[test]
fn rows_and_columns_are_in_order_and_contents_have_symbols() {
    check(
        PAINT,
        &[],
        "
    1 2
  a . .
  b . .
  c . .
(rounds 2)",
    );
    check(
        PAINT,
        &["(paint 2 c red)"],
        "
    1 2
  a . .
  b . .
  c . re
  (re red)
(rounds 1)",
    );
}

#[test]
fn a_move_that_names_a_column_falls_into_it() {
    let rules = "
        (role a) (succ 1 2) (colour red) (colour green) (size 1) (size 2)
        (init (at 2 1 green))
        (<= (legal a (drop ?c)) (size ?c))
        (<= (next (at ?c ?h red)) (does a (drop ?c)) (size ?h) (not (true (at ?c ?h green))))
        (<= (next (at ?c ?h ?k)) (true (at ?c ?h ?k)))
        (<= terminal (true (at ?c ?h red)))
        (goal a 100)";
    check(
        rules,
        &["(drop 1)"],
        "
    1 2
  2 r .
  1 r g
  (g green, r red)",
    );
}

#[test]
fn what_the_rules_print_on_a_board_is_shown_until_something_stands_there() {
    let rules = "
        (role a) (digit 1 1 7) (digit 1 2 8) (digit 2 1 9) (digit 2 2 7)
        (<= (legal a (black ?r ?c)) (digit ?r ?c ?n))
        (<= (next (black ?r ?c)) (does a (black ?r ?c)))
        (<= (next (black ?r ?c)) (true (black ?r ?c)))
        (<= terminal (true (black 1 1)))
        (goal a 100)";
    check(
        rules,
        &["(black 1 2)"],
        "
    1 2
  1 7 b
  2 9 7
  (b black)",
    );
}

#[test]
fn what_only_says_how_the_game_begins_is_not_printed() {
    let rules = "
        (role a) (place 1 1 on) (place 1 2 off) (place 2 1 on) (place 2 2 on)
        (<= (init (lit ?r ?c)) (place ?r ?c on))
        (<= (legal a (press ?r ?c)) (place ?r ?c ?v))
        (<= (next (lit ?r ?c)) (true (lit ?r ?c)) (not (does a (press ?r ?c))))
        (<= terminal (not (true (lit 1 1))))
        (goal a 100)";
    check(
        rules,
        &["(press 1 1)"],
        "
    1 2
  1 . .
  2 l l
  (l lit)",
    );
}

#[test]
fn a_background_is_left_blank() {
    let rules = "
        (role a)
        (init (at 1 1 nothing)) (init (at 1 2 nothing)) (init (at 2 1 nothing)) (init (at 2 2 stone))
        (<= (legal a wait)) (<= (next (at ?x ?y ?k)) (true (at ?x ?y ?k)))
        (<= terminal (true (at 1 1 stone))) (goal a 100)";
    check(
        rules,
        &[],
        "
    1 2
  1 . .
  2 . s
  (s stone)",
    );
}

#[test]
fn names_mean_nothing() {
    let scrambled = PAINT
        .replace("left", "foo")
        .replace("square", "bar")
        .replace("painter", "zed")
        .replace("(is ", "(alpha ")
        .replace("row", "omega");
    let (one, other) = (
        draw(PAINT, &["(paint 1 b rose)"]),
        draw(&scrambled, &["(paint 1 b rose)"]),
    );
    assert_eq!(one.boards, other.boards);
    assert!(!one.boards.is_empty());
}

#[test]
fn facts_without_order_are_listed() {
    let rules = "
        (role a) (init (on ball table)) (init (on table floor))
        (<= (legal a wait)) (<= (next ?f) (true ?f)) (<= terminal (true (on ball floor)))
        (goal a 100)";
    check(rules, &[], "(on ball table) (on table floor)");
}
