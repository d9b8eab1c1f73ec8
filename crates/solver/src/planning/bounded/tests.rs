use super::*;
use crate::planning::move_set::tests::{assert_solves, puzzle};

/// A row of lamp_row, where each switch toggles its own lamp and the adjacent ones.
fn lamp_row(count: usize, more: &str) -> String {
    let mut rules = String::from(
        "(role r) (<= (init (lit ?x)) (lamp ?x)) (<= (legal r (press ?x)) (lamp ?x))
         (<= (turned ?x) (does r (press ?x)))
         (<= (turned ?x) (does r (press ?y)) (near ?x ?y))
         (<= (near ?x ?y) (next_to ?x ?y)) (<= (near ?x ?y) (next_to ?y ?x))
         (<= (next (lit ?x)) (true (lit ?x)) (not (turned ?x)))
         (<= (next (lit ?x)) (turned ?x) (not (true (lit ?x))))
         (<= any (true (lit ?x))) (<= terminal (not any))
         (<= (goal r 100) (not any)) (<= (goal r 0) any)",
    );
    for number in 1..=count {
        rules.push_str(&format!("(lamp {number})"));
        if number > 1 {
            rules.push_str(&format!("(next_to {} {number})", number - 1));
        }
    }
    rules + more
}

#[test]
fn plans_are_shortest() {
    for (count, presses) in [(3, 1), (4, 2), (5, 2), (7, 3), (9, 3)] {
        let puzzle = puzzle(&lamp_row(count, ""));
        let answer = bounded(&puzzle, &Budget::default());
        let Outcome::Solved { plan, optimal } = answer.outcome else {
            panic!("{answer:?}");
        };
        assert_solves(&puzzle, &plan, &answer.found);
        assert!(optimal);
        assert_eq!(plan.len(), presses, "{count} lamp_row");
    }
}

#[test]
fn commuting_presses_have_one_order() {
    let puzzle = puzzle(&lamp_row(5, ""));
    let effects = Effects::of(&puzzle).unwrap();
    let pairs: usize = partial_order::commuting(&effects, &puzzle.stop)
        .iter()
        .map(Vec::len)
        .sum();
    assert_eq!(pairs, 10);
}

#[test]
fn the_bound_is_reported_if_there_is_no_plan() {
    let budget = Budget {
        depth: 2,
        ..Budget::default()
    };
    let answer = bounded(&puzzle(&lamp_row(9, "")), &budget);
    assert_eq!(answer.outcome, Outcome::NoPlanWithin(2));
}

#[test]
fn a_game_that_ends_by_itself_has_no_longer_plan() {
    let timed = "(init (clock 0)) (follows 0 1) (follows 1 2)
        (<= (next (clock ?b)) (true (clock ?a)) (follows ?a ?b))
        (<= terminal (true (clock 2)))";
    let answer = bounded(&puzzle(&lamp_row(9, timed)), &Budget::default());
    assert!(
        matches!(
            answer.outcome,
            Outcome::Unsolvable(Reason::Over { moves: 2 })
        ),
        "{answer:?}"
    );
    let answer = bounded(&puzzle(&lamp_row(5, timed)), &Budget::default());
    assert!(
        matches!(answer.outcome, Outcome::Solved { .. }),
        "{answer:?}"
    );
}
