use super::*;
use crate::planning::move_set::tests::{assert_solves, puzzle};

/// Lamps in a row of which each switch turns itself and its neighbours over.
fn lamps(count: usize, more: &str) -> String {
    let mut rules = String::from(
        "(role r) (<= (init (lit ?x)) (lamp ?x)) (<= (legal r (press ?x)) (lamp ?x))
         (<= (turned ?x) (does r (press ?x)))
         (<= (turned ?x) (does r (press ?y)) (near ?x ?y))
         (<= (near ?x ?y) (beside ?x ?y)) (<= (near ?x ?y) (beside ?y ?x))
         (<= (next (lit ?x)) (true (lit ?x)) (not (turned ?x)))
         (<= (next (lit ?x)) (turned ?x) (not (true (lit ?x))))
         (<= any (true (lit ?x))) (<= terminal (not any))
         (<= (goal r 100) (not any)) (<= (goal r 0) any)",
    );
    for number in 1..=count {
        rules.push_str(&format!("(lamp {number})"));
        if number > 1 {
            rules.push_str(&format!("(beside {} {number})", number - 1));
        }
    }
    rules + more
}

#[test]
fn plans_are_shortest() {
    for (count, presses) in [(3, 1), (4, 2), (5, 2), (7, 3), (9, 3)] {
        let puzzle = puzzle(&lamps(count, ""));
        let answer = bounded(&puzzle, &Budget::default());
        let Outcome::Solved { plan, optimal } = answer.outcome else {
            panic!("{answer:?}");
        };
        assert_solves(&puzzle, &plan, &answer.found);
        assert!(optimal);
        assert_eq!(plan.len(), presses, "{count} lamps");
    }
}

#[test]
fn presses_come_in_one_order() {
    let puzzle = puzzle(&lamps(5, ""));
    let effects = Effects::new(&puzzle).unwrap();
    let pairs: usize = partial_order::commuting(&effects)
        .iter()
        .map(Vec::len)
        .sum();
    assert_eq!(pairs, 10);
}

#[test]
fn no_plan_is_said_of_the_depth_that_was_looked_at() {
    let budget = Budget {
        depth: 2,
        ..Budget::default()
    };
    let answer = bounded(&puzzle(&lamps(9, "")), &budget);
    assert_eq!(answer.outcome, Outcome::NoPlanWithin(2));
}

#[test]
fn a_game_that_ends_by_itself_has_no_longer_plan() {
    let timed = "(init (clock 0)) (follows 0 1) (follows 1 2)
        (<= (next (clock ?b)) (true (clock ?a)) (follows ?a ?b))
        (<= terminal (true (clock 2)))";
    let answer = bounded(&puzzle(&lamps(9, timed)), &Budget::default());
    assert!(
        matches!(
            answer.outcome,
            Outcome::Unsolvable(Reason::Over { moves: 2 })
        ),
        "{answer:?}"
    );
    let answer = bounded(&puzzle(&lamps(5, timed)), &Budget::default());
    assert!(
        matches!(answer.outcome, Outcome::Solved { .. }),
        "{answer:?}"
    );
}
