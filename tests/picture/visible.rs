//! Every fact is visible somewhere: without it, the picture is another one.

use std::collections::BTreeMap;

use ggp_engine::machine::{AnyMachine, Backend, Limits, Machine};
use ggp_gdl::game::{Game, Move};
use ggp_gdl::terms::TermId;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{NAMED, PLAIN, check, draw, pictured};
use crate::common::{own_games, sized};

/// The facts of a game whose removal changes nothing in the text of the picture, by their relation.
pub fn invisible(game: &Game, ignores_names: bool) -> BTreeMap<String, String> {
    let mut machine = AnyMachine::new(game, Backend::Datalog, Limits::default()).unwrap();
    let (_, picture) = pictured(&mut machine, ignores_names);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let roles: Vec<_> = machine.game().roles().collect();
    let mut state = machine.initial().unwrap();
    let mut found = BTreeMap::new();
    for _ in 0..sized(12, 30) {
        let facts = machine.facts(&state);
        let is_over = machine.is_terminal(&state).unwrap();
        let text = |facts: &[TermId]| {
            let drawing = picture.draw(machine.terms(), facts, Default::default());
            ggp_picture::text(&if is_over { drawing.at_end() } else { drawing })
        };
        let whole = text(&facts);
        for _ in 0..sized(12, 40).min(facts.len()) {
            let number = random.random_range(0..facts.len());
            let mut fewer = facts.clone();
            let fact = fewer.remove(number);
            if text(&fewer) == whole {
                let fact = machine.game().text(machine.terms(), fact);
                let relation = fact.trim_start_matches('(').split(' ').next();
                let relation = relation.unwrap_or_default().to_owned();
                found.entry(relation).or_insert(fact);
            }
        }
        if is_over {
            break;
        }
        let mut joint: Vec<Move> = Vec::new();
        for role in &roles {
            let mut legal = Vec::new();
            machine.legal(&state, *role, &mut legal).unwrap();
            joint.push(legal[random.random_range(0..legal.len())]);
        }
        state = machine.next(&state, &joint).unwrap();
    }
    found
}

#[test]
fn every_fact_is_visible() {
    let mut wrong = Vec::new();
    for (name, game) in own_games() {
        for ignores_names in [PLAIN, NAMED] {
            for fact in invisible(&game, ignores_names).values() {
                wrong.push(format!("{name}, names ignored: {ignores_names}: {fact}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Two painters paint rows; a cell can have both colours, and there is something in every cell.
const PAINTERS: &str = "
    (role ann) (role ben) (paint ann red) (paint ben blue) (init (cell 1 1 red)) (init (cell 2 2 blue))
    (init (cell 1 2 bare)) (init (cell 2 1 bare)) (init (cell 1 3 bare)) (init (cell 2 3 bare))
    (init (cell 3 1 bare)) (init (cell 3 2 bare)) (init (cell 3 3 bare)) (line 1) (line 2) (line 3)
    (<= (legal ?r (brush ?x)) (role ?r) (line ?x))
    (<= (hit ?r ?x ?y) (does ?r (brush ?x)) (line ?y))
    (<= (touched ?x ?y) (hit ?r ?x ?y))
    (<= (next (cell ?x ?y ?c)) (hit ?r ?x ?y) (paint ?r ?c))
    (<= (next (cell ?x ?y ?c)) (true (cell ?x ?y ?c)) (paint ?r ?c))
    (<= (next (cell ?x ?y bare)) (true (cell ?x ?y bare)) (not (touched ?x ?y)))
    (<= dull (true (cell ?x ?y bare))) (<= terminal (not dull)) (goal ann 50) (goal ben 50)";

/// Three in a row; a free cell is a fact of its own.
const FREE: &str = "
    (role a) (role b) (other a b) (other b a) (n 1) (n 2) (n 3) (init (turn a))
    (<= (init (free ?x ?y)) (n ?x) (n ?y))
    (<= (legal ?r (mark ?x ?y)) (true (turn ?r)) (true (free ?x ?y)))
    (<= (legal ?r wait) (role ?r) (not (true (turn ?r))))
    (<= (next (free ?x ?y)) (true (free ?x ?y)) (not (marked ?x ?y)))
    (<= (marked ?x ?y) (does ?r (mark ?x ?y)))
    (<= (next (owned ?x ?y ?r)) (does ?r (mark ?x ?y)))
    (<= (next (owned ?x ?y ?r)) (true (owned ?x ?y ?r)))
    (<= (next (turn ?s)) (true (turn ?r)) (other ?r ?s))
    (<= open (true (free ?x ?y))) (<= terminal (not open)) (goal a 50) (goal b 50)";

/// Dials with three values: none of them is treated in another way than the others.
const DIALS: &str = "
    (role p) (n 1) (n 2) (n 3) (after 0 1) (after 1 2) (after 2 0)
    (<= (init (dial ?x ?y 2)) (n ?x) (n ?y) (distinct ?x ?y)) (<= (init (dial ?x ?x 1)) (n ?x))
    (<= (legal p (press ?x ?y)) (n ?x) (n ?y))
    (<= (hit ?x ?z) (does p (press ?x ?y)) (n ?z))
    (<= (next (dial ?x ?y ?v)) (true (dial ?x ?y ?u)) (hit ?x ?y) (after ?u ?v))
    (<= (next (dial ?x ?y ?v)) (true (dial ?x ?y ?v)) (not (hit ?x ?y)))
    (<= unsolved (true (dial ?x ?y ?v)) (distinct ?v 0)) (<= terminal (not unsolved)) (goal p 100)";

#[test]
fn facts_of_every_kind_are_visible() {
    for (name, text) in [("painters", PAINTERS), ("free", FREE), ("dials", DIALS)] {
        let game = Game::from_text(name, text).unwrap();
        for ignores_names in [PLAIN, NAMED] {
            assert_eq!(invisible(&game, ignores_names), BTreeMap::new(), "{name}");
        }
    }
    check(
        PAINTERS,
        &[],
        "
    red        blue       bare
    1 2 3      1 2 3      1 2 3
  1 c . .    1 . . .    1   c c
  2 . . .    2 . c .    2 c   c
  3 . . .    3 . . .    3 c c c
  (c cell)",
    );
    check(
        DIALS,
        &[],
        "
    1 2 3
  1 1 2 2
  2 2 1 2
  3 2 2 1",
    );
    check(
        FREE,
        &[],
        "
    1 2 3
  1 . . .
  2 . . .
  3 . . .

  turn: a",
    );
}

#[test]
fn the_sign_of_a_number_tells_whose_it_is() {
    let rules = "
        (role north) (role south) (size 1) (size 2)
        (<= (init (at 1 ?x ?x north)) (size ?x)) (<= (init (at 2 ?x ?x south)) (size ?x))
        (<= (legal ?r wait) (role ?r)) (<= (next (at ?x ?y ?k ?r)) (true (at ?x ?y ?k ?r)))
        (<= terminal (true (at 2 2 1 south))) (goal north 50) (goal south 50)";
    check(
        rules,
        &[],
        "
    1 2
  1 A B
  2 a b
  (A 1/north, B 2/north, a 1/south, b 2/south)",
    );
}

#[test]
fn a_counter_does_not_make_a_board_larger() {
    let mut rules = String::from(
        "(role walker) (init (at 3 2 foot)) (init (count 0)) (size 1) (size 2) (size 3)
        (<= (legal walker (walk ?x ?y)) (size ?x) (size ?y))
        (<= (next (at ?x ?y foot)) (does walker (walk ?x ?y)))
        (<= (next (count ?m)) (true (count ?n)) (after ?n ?m)) (<= terminal (true (count 99))) (goal walker 50)",
    );
    for n in 0..99 {
        rules += &format!("(after {n} {})", n + 1);
    }
    check(
        &rules,
        &[],
        "
    1 2 3
  1 . . .
  2 . . .
  3 . f .
  (f foot)

  count: 0",
    );
}

#[test]
fn an_order_within_a_wider_relation_makes_a_board() {
    let rules = "
        (role mover) (init (piece a 1 stone)) (init (piece b 1 brick)) (row 1) (row 2) (row 3)
        (plus 1 a b) (plus 1 b c) (plus 1 c d) (plus 1 1 2) (plus 1 2 3) (plus 1 3 4) (plus 1 4 5)
        (<= (legal mover (push ?x ?y)) (true (piece ?x ?y ?k)))
        (<= (next (piece ?z ?y ?k)) (does mover (push ?x ?y)) (true (piece ?x ?y ?k)) (plus 1 ?x ?z))
        (<= (next (piece ?x ?z ?k)) (does mover (push ?x ?y)) (true (piece ?x ?y ?k)) (row ?z) (plus 1 ?y ?z))
        (<= (next (piece ?x ?y ?k)) (true (piece ?x ?y ?k)) (not (does mover (push ?x ?y))))
        (<= terminal (true (piece d 3 stone))) (goal mover 100)";
    let drawn = ggp_picture::text(&draw(rules, &[]));
    assert!(drawn.contains("a b c d"), "{drawn}");
}

#[test]
fn the_only_mover_is_no_empty_cell() {
    let rules = "
        (role ant) (n 1) (n 2) (n 3) (next_to 1 2) (next_to 2 1) (next_to 2 3) (next_to 3 2)
        (init (on 1 1 bug)) (<= (init (on ?x ?y crumb)) (n ?x) (n ?y) (distinct ?x 1))
        (init (on 1 2 crumb)) (init (on 1 3 crumb))
        (<= (legal ant (go ?z ?y)) (true (on ?x ?y bug)) (next_to ?x ?z))
        (<= (legal ant (go ?x ?z)) (true (on ?x ?y bug)) (next_to ?y ?z))
        (<= (next (on ?x ?y bug)) (does ant (go ?x ?y)))
        (<= (next (on ?x ?y dust)) (true (on ?x ?y bug)))
        (<= (next (on ?x ?y ?k)) (true (on ?x ?y ?k)) (distinct ?k bug) (not (does ant (go ?x ?y))))
        (<= food (true (on ?x ?y crumb))) (<= terminal (not food)) (goal ant 100)";
    let drawn = ggp_picture::text(&draw(rules, &[]));
    assert!(drawn.contains("bug"), "{drawn}");
}
