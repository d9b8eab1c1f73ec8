//! Boards and tables found in rules, and their drawings.

mod looks;
mod places;
pub mod visible;

use std::fs;
use std::time::Duration;

use ggp_engine::machine::{AnyMachine, Backend, Limits, Machine};
use ggp_gdl::game::Game;
use ggp_gdl::terms::TermId;
use ggp_picture::{Drawing, Examples, Picture, PictureOptions, SAMPLE_STATES};
use serde_json::Value;

fn machine(text: &str) -> AnyMachine {
    let game = Game::from_text("drawn", text).unwrap();
    AnyMachine::new(&game, Backend::Datalog, Limits::default()).unwrap()
}

/// Names are read as people do.
const NAMED: bool = false;
/// Names have no meaning.
const PLAIN: bool = true;

/// The states that a picture is derived from, and the picture.
fn pictured(machine: &mut AnyMachine, ignores_names: bool) -> (Vec<Vec<TermId>>, Picture) {
    let options = PictureOptions {
        ignores_names,
        ..PictureOptions::default()
    };
    let examples = Examples::of(machine, SAMPLE_STATES).unwrap();
    let picture = examples.picture(machine, options);
    (examples.states, picture)
}

/// The drawing of the state after moves.
fn draw(text: &str, moves: &[&str]) -> Drawing {
    let mut machine = machine(text);
    let mut state = machine.initial().unwrap();
    let (_, picture) = pictured(&mut machine, PLAIN);
    let role = machine.game().roles().next().unwrap();
    for chosen in moves {
        let mut legal = Vec::new();
        machine.legal(&state, role, &mut legal).unwrap();
        let is_it = |term| machine.game().text(machine.terms(), term) == *chosen;
        let found = legal.iter().find(|legal| is_it(legal.term())).copied();
        state = machine.next(&state, &[found.unwrap()]).unwrap();
    }
    let facts = machine.facts(&state);
    picture.draw(machine.terms(), &facts, Default::default())
}

fn check(text: &str, moves: &[&str], expected: &str) {
    let found = ggp_picture::text(&draw(text, moves));
    let trimmed = |text: &str| text.trim_end().trim_start_matches('\n').to_owned();
    assert_eq!(trimmed(&found), trimmed(expected), "\n{found}");
}

/// A role paints squares of two by three; the columns have ordered names.
const PAINT: &str = "
    (role painter) (left a b) (left b c) (row 1) (row 2)
    (init (rounds 2))
    (<= (square ?r ?c) (row ?r) (left ?c ?d))
    (<= (square ?r ?d) (row ?r) (left ?c ?d))
    (<= (legal painter (paint ?r ?c ?k)) (square ?r ?c) (colour ?k) (not (done ?r ?c)))
    (<= (legal painter rest) (true (rounds ?n)))
    (<= (done ?r ?c) (true (is ?c ?r ?k)))
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
    a b c
  2 . . .
  1 . . .

  rounds: 2",
    );
    check(
        PAINT,
        &["(paint 2 c red)"],
        "
    a b c
  2 . . r
  1 . . .
  (r red)

  rounds: 1",
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

/// Frogs and toads hop to a free neighbouring cell.
const HOPS: &str = "
    (role a) (then 1 2) (then 2 3) (then 3 4) (then 4 5)
    (init (pad 1 frog)) (init (pad 2 frog)) (init (pad 3 free)) (init (pad 4 toad))
    (init (pad 5 toad))
    (<= (near ?n ?m) (then ?n ?m)) (<= (near ?m ?n) (then ?n ?m))
    (<= (legal a (hop ?n ?m)) (near ?n ?m) (true (pad ?m free)))
    (<= (next (pad ?m ?w)) (does a (hop ?n ?m)) (true (pad ?n ?w)))
    (<= (next (pad ?n free)) (does a (hop ?n ?m)))
    (<= (next (pad ?k ?w)) (does a (hop ?n ?m)) (true (pad ?k ?w)) (distinct ?k ?n)
        (distinct ?k ?m))
    (<= terminal (true (pad 1 free))) (goal a 100)";

#[test]
fn contents_of_ordered_positions_are_a_line() {
    check(
        HOPS,
        &["(hop 2 3)"],
        "
      1 2 3 4 5
  pad f . f t t
  (f frog, t toad)",
    );
    // With an intermediate relation, so that only the states of a match show it.
    let hidden = HOPS
        .replace("(next (pad ?m ?w))", "(comes ?m ?w)")
        .replace("(next (pad ?n free))", "(comes ?n free)")
        .replace("(next (pad ?k ?w))", "(comes ?k ?w)");
    let hidden = format!("{hidden} (<= (next (pad ?n ?w)) (comes ?n ?w))");
    assert_eq!(draw(&hidden, &[]), draw(HOPS, &[]));
}

#[test]
fn things_that_moves_bring_somewhere_are_piled_up() {
    let rules = "
        (role a) (less 1 2) (less 2 3) (peg left) (peg right)
        (init (on 1 left)) (init (on 2 left)) (init (on 3 left))
        (<= (legal a (bring ?d ?p)) (true (on ?d ?q)) (peg ?p) (distinct ?p ?q))
        (<= (next (on ?d ?p)) (does a (bring ?d ?p)))
        (<= (next (on ?d ?p)) (true (on ?d ?p)) (does a (bring ?e ?q)) (distinct ?d ?e))
        (<= terminal (true (on 3 right))) (goal a 100)";
    let drawing = draw(rules, &[]);
    assert!(drawing.boards.is_empty(), "{drawing:?}");
    assert_eq!(drawing.tables.len(), 1);
}

#[test]
fn a_single_role_has_no_opponent_side() {
    let cell = |x, y| format!("(init (at {x} {y} {}))", if y < 4 { "ape" } else { "bee" });
    let cells = (1..=2).flat_map(|x| (1..=6).map(move |y| cell(x, y)));
    let rules = format!(
        "(role a) {} (<= (legal a (swap ?x ?y)) (true (at ?x ?y ?k)))
         (<= (next (at ?x ?y bee)) (does a (swap ?x ?y)) (true (at ?x ?y ape)))
         (<= (next (at ?x ?y ape)) (does a (swap ?x ?y)) (true (at ?x ?y bee)))
         (<= (next (at ?x ?y ?k)) (true (at ?x ?y ?k)) (not (does a (swap ?x ?y))))
         (<= terminal (true (at 1 1 bee)) (true (at 2 1 bee))) (goal a 100)",
        cells.collect::<String>()
    );
    let board = &draw(&rules, &[]).boards[0];
    assert_eq!((board.rows.len(), board.columns.len()), (2, 6));
}

#[test]
fn static_text_is_shown_in_empty_cells() {
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
fn relations_for_the_initial_state_are_not_static_text() {
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
  1 .
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

/// The rules with other names (numbers are kept), and the original names.
fn scrambled(text: &str) -> (String, Vec<String>) {
    const RESERVED: [&str; 17] = [
        "role", "init", "true", "next", "legal", "does", "goal", "terminal", "base", "input",
        "distinct", "not", "or", "and", "<=", "sees", "random",
    ];
    let mut names: Vec<String> = Vec::new();
    let mut out = String::new();
    for line in text.lines() {
        let rules = line.split(';').next().unwrap_or_default();
        for word in rules
            .replace('(', " ( ")
            .replace(')', " ) ")
            .split_whitespace()
        {
            let is_kept = ["(", ")"].contains(&word)
                || RESERVED.contains(&word)
                || word.starts_with('?')
                || word.parse::<i64>().is_ok();
            if is_kept {
                out.push_str(word);
            } else {
                let known = names.iter().position(|name| name == word);
                let number = known.unwrap_or(names.len());
                if known.is_none() {
                    names.push(word.to_owned());
                }
                out.push_str(&format!("zq{number}w"));
            }
            out.push(' ');
        }
        out.push('\n');
    }
    (out, names)
}

/// Drawings of some states without signs, which are letters of names.
fn drawings(text: &str) -> Vec<String> {
    let mut machine = machine(text);
    let (states, picture) = pictured(&mut machine, PLAIN);
    let drawing = |facts| {
        let mut drawing = picture.draw(machine.terms(), facts, Default::default());
        drawing
            .boards
            .iter_mut()
            .for_each(|board| board.symbols.clear());
        serde_json::to_string(&drawing).unwrap()
    };
    states
        .iter()
        .step_by(7)
        .map(|facts| drawing(facts))
        .collect()
}

#[test]
fn pictures_do_not_depend_on_names() {
    let mut games = 0;
    for (name, game) in crate::common::own_games() {
        let Some(text) = text_of(&game) else { continue };
        let (other, names) = scrambled(&text);
        let plain = drawings(&text);
        let renamed = drawings(&other);
        assert_eq!(plain.len(), renamed.len(), "{name}");
        for (plain, mut renamed) in plain.iter().zip(renamed) {
            for (number, name) in names.iter().enumerate() {
                renamed = renamed.replace(&format!("zq{number}w"), name);
            }
            let [plain, renamed]: [Value; 2] =
                [plain, &renamed].map(|json| serde_json::from_str(json).unwrap());
            assert_eq!(plain, renamed, "{name}");
        }
        games += 1;
    }
    assert!(games >= 30, "{games}");
}

/// The rules of a game, if they are in one file.
fn text_of(game: &Game) -> Option<String> {
    let path = format!("{}/games/{}", env!("CARGO_MANIFEST_DIR"), game.name());
    let path = path
        .strip_suffix(".kif")
        .map_or(path.clone() + ".kif", |_| path.clone());
    fs::read_to_string(path).ok()
}

/// The drawings of some states of a game, and the cells of all moves in the first one.
fn shown(machine: &mut AnyMachine, ignores_names: bool) -> Vec<Value> {
    let (states, picture) = pictured(machine, ignores_names);
    let draw = |facts: &[_]| picture.draw(machine.terms(), facts, Default::default());
    let drawings = states.iter().step_by(7).map(|facts| draw(facts));
    let mut shown: Vec<Value> =
        (drawings.map(|drawing| serde_json::to_value(drawing).unwrap())).collect();
    let first = draw(&states[0]);
    let start = machine.initial().unwrap();
    for role in machine.game().clone().roles() {
        let mut moves = Vec::new();
        machine.legal(&start, role, &mut moves).unwrap();
        for action in moves {
            let cells = picture.cells(machine.terms(), (role, action), &first);
            shown.push(serde_json::to_value(cells).unwrap());
        }
    }
    shown
}

#[test]
fn pictures_do_not_depend_on_the_network() {
    let mut compared = 0;
    let mut limits = Limits::default();
    limits.ground.time = Some(Duration::from_secs(5));
    for (name, game) in crate::common::own_games() {
        let made = |backend| AnyMachine::new(&game, backend, limits.clone());
        let Ok(mut network) = made(Backend::Propnet) else {
            continue;
        };
        let mut datalog = made(Backend::Datalog).unwrap();
        for names in [NAMED, PLAIN] {
            assert_eq!(
                shown(&mut network, names),
                shown(&mut datalog, names),
                "{name}"
            );
        }
        compared += 1;
    }
    assert!(compared >= 30, "{compared}");
}

/// Checks that either all contents of each board have their names as signs, or none but numbers and
/// single letters.
fn check_signs(drawing: &Drawing, about: &str) {
    for board in &drawing.boards {
        let is_own = |text: &str| text.len() == 1 || text.parse::<i64>().is_ok();
        let mut signs = board.symbols.iter().filter(|(text, _)| !is_own(text));
        let whole = signs.clone().filter(|(text, sign)| text == sign).count();
        let letters = signs.clone().filter(|(_, sign)| sign.chars().count() == 1);
        assert!(
            whole == signs.clone().count() || letters.count() == signs.clone().count(),
            "{about}: {:?}",
            board.symbols
        );
        let mut all: Vec<&String> = board.symbols.values().collect();
        all.sort();
        all.dedup();
        assert_eq!(
            all.len(),
            board.symbols.len(),
            "{about}: {:?}",
            board.symbols
        );
        assert!(signs.all(|(_, sign)| !sign.is_empty()));
    }
}

#[test]
fn contents_of_a_board_are_abbreviated_together() {
    for (name, game) in crate::common::own_games() {
        let mut machine = AnyMachine::new(&game, Backend::Datalog, Limits::default()).unwrap();
        for names in [NAMED, PLAIN] {
            let (states, picture) = pictured(&mut machine, names);
            let drawing = picture.draw(machine.terms(), &states[0], Default::default());
            check_signs(&drawing, &name);
        }
    }
    // Contents whose names have all lengths, some of them numbers.
    let words = [
        "up",
        "left",
        "a",
        "bb",
        "ccc",
        "10",
        "200",
        "x1",
        "x2",
        "long_name",
        "q",
        "w",
        "12",
        "zzzz",
    ];
    for first in 0..words.len() {
        for count in 2..=5 {
            let words: Vec<&str> = (0..count)
                .map(|k| words[(first + 3 * k) % words.len()])
                .collect();
            let rules = board_of(&words);
            let drawing = draw(&rules, &[]);
            assert_eq!(drawing.boards.len(), 1, "{words:?}");
            check_signs(&drawing, &rules);
        }
    }
    let own = &draw(&board_of(&["up", "go", "10"]), &[]).boards[0].symbols;
    assert!(own.iter().all(|(text, sign)| text == sign), "{own:?}");
    let short = &draw(&board_of(&["up", "left", "10"]), &[]).boards[0].symbols;
    assert_eq!(
        (&*short["up"], &*short["left"], &*short["10"]),
        ("u", "l", "10")
    );
}

/// Rules of a board with these contents, each in a cell at first.
fn board_of(words: &[&str]) -> String {
    let cell = |(k, word): (usize, &&str)| format!("(init (holds {} {} {word}))", k / 3, k % 3);
    let cells: String = words.iter().enumerate().map(cell).collect();
    let kinds: String = words.iter().map(|word| format!("(kind {word})")).collect();
    format!(
        "(role r) (after 0 1) (after 1 2) (number 0) (number 1) (number 2) {cells} {kinds}
        (<= (legal r (put ?y ?x ?k)) (number ?y) (number ?x) (kind ?k))
        (<= (next (holds ?y ?x ?k)) (does r (put ?y ?x ?k)))
        (<= (next (holds ?y ?x ?k)) (true (holds ?y ?x ?k)) (not (taken ?y ?x)))
        (<= (taken ?y ?x) (does r (put ?y ?x ?k)))
        (<= terminal (true (over))) (goal r 100)"
    )
}

#[test]
fn no_fact_is_lost() {
    for (name, game) in crate::common::own_games() {
        let mut machine = AnyMachine::new(&game, Backend::Datalog, Limits::default()).unwrap();
        for names in [NAMED, PLAIN] {
            let (states, picture) = pictured(&mut machine, names);
            let draw = |facts: &[_]| picture.draw(machine.terms(), facts, Default::default());
            for facts in states.iter().step_by(9) {
                let whole = draw(facts);
                for left_out in 0..facts.len() {
                    let mut fewer = facts.clone();
                    let fact = fewer.remove(left_out);
                    let fact = game.text(machine.terms(), fact);
                    assert!(draw(&fewer) != whole, "{name}: {fact} is not drawn");
                }
            }
        }
    }
}

/// Checks the initial state of a bundled game.
fn starts(game: &str, expected: &str) {
    let path = format!("{}/games/{game}.kif", env!("CARGO_MANIFEST_DIR"));
    check(&fs::read_to_string(path).unwrap(), &[], expected);
}

#[test]
fn sides_face_each_other_with_the_first_role_at_the_bottom() {
    starts(
        "checkers",
        "
    1 2 3 4 5 6
  6   m   m   m
  5 m   m   m
  4   .   .   .
  3 .   .   .
  2   M   M   M
  1 M   M   M
  (M white/man, m black/man)

  turn: white   moves: 0",
    );
    starts(
        "kalah",
        "

  north   3 3 3 3
        0         0
  south   3 3 3 3

  turn: south",
    );
}

#[test]
fn six_neighbours_are_a_slanted_board() {
    starts(
        "hex",
        "
    1 2 3 4 5
  1 . . . . .
  2  . . . . .
  3   . . . . .
  4    . . . . .
  5     . . . . .

  turn: red",
    );
}

#[test]
fn heaps_and_piles_are_drawn() {
    starts(
        "nim",
        "
  turn: left
  heap:
    a 3 ooo
    b 4 oooo
    c 5 ooooo",
    );
    starts(
        "hanoi",
        "
  on:
      1
      2
      3
      4
      5
    ------ ------ ------
     left  middle right",
    );
    starts(
        "wolf_goat_cabbage",
        "
  at:
    left  farmer wolf goat cabbage
    right -",
    );
}

#[test]
fn numbers_that_come_and_go_are_no_heaps() {
    check(
        "(role a) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5) (n 1) (n 2) (n 3) (n 4) (n 5)
        (m p) (m q) (init (at 1)) (<= (next (at ?n)) (does a (go ?m ?n)))
        (<= (legal a (go ?m ?n)) (m ?m) (n ?n)) (<= (next (last ?m ?n)) (does a (go ?m ?n)))
        (<= terminal (true (last p 5))) (goal a 100)",
        &["(go p 4)"],
        "
  at: 4
  last: p 4, q -",
    );
}

/// Three arguments are the coordinates, and most facts say that a cell is empty.
const DEEP: &str = "
    (role a) (n 1) (n 2) (succ 1 2)
    (<= (init (at ?x ?y ?z none)) (n ?x) (n ?y) (n ?z))
    (<= (legal a (take ?x ?y ?z)) (true (at ?x ?y ?z none)))
    (<= (next (at ?x ?y ?z mine)) (does a (take ?x ?y ?z)))
    (<= (next (at ?x ?y ?z ?k)) (true (at ?x ?y ?z ?k)) (not (does a (take ?x ?y ?z))))
    (<= terminal (true (at 1 1 1 mine)) (true (at 2 2 2 mine)))
    (goal a 100)";

#[test]
fn a_third_coordinate_makes_boards_side_by_side() {
    check(
        DEEP,
        &["(take 1 2 2)"],
        "
    1        2
    1 2      1 2
  1 . .    1 . m
  2 . .    2 . .
  (m mine)",
    );
}

#[test]
fn names_are_escaped_in_svg() {
    let rules = DEEP.replace("mine", "<script>x</script>&\u{22}'");
    let drawing = draw(&rules, &["(take 1 2 2)"]);
    let svg = ggp_picture::svg(&drawing, "a <b> title");
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    assert!(svg.contains("&lt;script&gt;x&lt;/script&gt;"), "{svg}");
    assert!(svg.contains("a &lt;b&gt; title"), "{svg}");
    let tags = [
        "svg", "title", "desc", "style", "rect", "circle", "g", "text",
    ];
    for tag in svg.split('<').skip(1) {
        let name = tag.strip_prefix('/').unwrap_or(tag);
        let end = name.find([' ', '>']).unwrap_or(name.len());
        assert!(tags.contains(&&name[..end]), "<{tag}");
    }
}

#[test]
fn a_large_board_is_cut() {
    let follows = (1..1000).map(|k| format!("(after {k} {})", k + 1));
    let rules = format!(
        "(role a) {} (init (at 1 1)) (init (at 999 3))
         (<= (legal a (go ?x)) (after ?x ?y))
         (<= (next (at ?x ?y)) (does a (go ?x)) (after ?y ?x))
         (<= (next (at ?x ?y)) (does a (go ?y)) (after ?y ?x))
         (<= terminal (true (at 1 2))) (goal a 100)",
        follows.collect::<String>()
    );
    let drawing = draw(&rules, &[]);
    let text = ggp_picture::text(&drawing);
    assert!(text.len() < 100_000, "{}", text.len());
    assert!(text.contains("more rows"), "{text}");
    assert_eq!(drawing.left_out, 1);
}

#[test]
fn things_on_top_of_each_other_are_stacks() {
    let rules = "
        (role a) (init (on ball table)) (init (on table floor))
        (<= (legal a wait)) (<= (next ?f) (true ?f)) (<= terminal (true (on ball floor)))
        (goal a 100)";
    check(
        rules,
        &[],
        "
  on:
    ball
    table
    -----
    floor",
    );
}

#[test]
fn a_number_for_each_pair_of_names_is_a_table() {
    let rules = "
        (role a) (role b) (point 1) (point 2) (point 3) (point bar) (colour red) (colour blue)
        (succ 1 2) (succ 2 3) (count 0) (count 4) (turns a b) (turns b a)
        (<= (init (men ?p 0 ?k)) (point ?p) (colour ?k)) (init (turn a))
        (<= (legal ?r (put ?p ?k)) (true (turn ?r)) (point ?p) (colour ?k))
        (<= (legal ?r wait) (turns ?r ?o) (true (turn ?o)))
        (<= (next (men ?p 4 ?k)) (does ?r (put ?p ?k)))
        (<= (next (men ?p ?n ?k)) (true (men ?p ?n ?k)) (not (hit ?p ?k)))
        (<= (hit ?p ?k) (does ?r (put ?p ?k)))
        (<= (next (turn ?o)) (turns ?r ?o) (true (turn ?r)))
        (<= terminal (true (men 1 4 red))) (<= (goal ?r 50) (role ?r))";
    let drawing = draw(rules, &["(put 2 red)"]);
    assert_eq!(drawing.boards.len(), 1, "{drawing:?}");
    assert!(drawing.facts.is_empty());
}

#[test]
fn a_background_that_changes_by_chance_is_the_most_frequent_initial_content() {
    let lights = |start: &str| {
        format!(
            "(role a) (place 1) (place 2) (place 3) (other on off) (other off on) {start}
            (<= (legal a (press ?x ?y)) (place ?x) (place ?y))
            (<= (hit ?x ?y) (does a (press ?x ?z)) (place ?y))
            (<= (next (at ?x ?y ?v)) (true (at ?x ?y ?w)) (hit ?x ?y) (other ?v ?w))
            (<= (next (at ?x ?y ?v)) (true (at ?x ?y ?v)) (not (hit ?x ?y)))
            (<= (bright) (true (at ?x ?y on))) (<= terminal (not (bright))) (goal a 100)"
        )
    };
    let cells = |few: &str, many: &str| -> String {
        let cells = (1..=3).flat_map(|x| (1..=3).map(move |y| (x, y)));
        let value = |(x, y)| if (x, y) < (2, 2) { few } else { many };
        let facts = cells.map(|at| format!("(init (at {} {} {}))", at.0, at.1, value(at)));
        facts.collect()
    };
    check(
        &lights(&cells("on", "off")),
        &[],
        "
     1  2  3
  1 on on on
  2 on  .  .
  3  .  .  .",
    );
    check(
        &lights(&cells("off", "on")),
        &[],
        "
    1 2 3
  1 o o o
  2 o . .
  3 . . .
  (o off)",
    );
}
