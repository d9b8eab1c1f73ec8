use super::*;
use crate::planning::bidirectional::tests::turning;
use crate::planning::breadth_first::{BreadthFirstOptions, breadth_first};
use crate::planning::move_set::tests::{assert_solves, puzzle};
use std::fmt::Write as _;

fn search(puzzle: &Puzzle, budget: &Budget) -> (Outcome, Stats) {
    let mut stats = Stats::default();
    let outcome = subgroups(puzzle, budget, &mut stats, &mut ());
    (outcome, stats)
}

#[test]
fn plans_and_proofs_agree_with_breadth_first_search() {
    let (mut solved, mut refuted, mut unknown) = (0, 0, 0);
    for seed in 0..60 {
        let puzzle = puzzle(&turning(seed, [0, 4, 9][seed as usize % 3]));
        let budget = Budget::default();
        let options = BreadthFirstOptions::default();
        let stats = &mut Stats::default();
        let (expected, _) = breadth_first(&puzzle, &options, &budget, stats, &mut ()).unwrap();
        let (outcome, _) = search(&puzzle, &budget);
        let what = format!("seed {seed}: {outcome:?} and {expected:?}");
        match (&outcome, &expected) {
            (Outcome::Solved { plan, optimal }, Outcome::Solved { plan: shortest, .. }) => {
                assert_solves(&puzzle, plan, &what);
                assert!(!optimal || plan.len() == shortest.len(), "{what}");
                solved += 1;
            }
            (Outcome::Unsolvable(_), Outcome::Unsolvable(_)) => refuted += 1,
            (Outcome::Unknown, _) => unknown += 1,
            _ => panic!("{what}"),
        }
    }
    assert!(
        solved > 20 && refuted > 2 && unknown < 30,
        "{solved} solved, {refuted} refuted, {unknown} unknown"
    );
}

/// Rules with pieces in a row, of which each move takes `together` on to the next place.
fn row(together: usize, order: &[usize]) -> String {
    let mut text = String::from(
        "(role r)
         (<= (legal r ?m) (move ?m))
         (<= (next (at ?p ?y)) (true (at ?p ?x)) (does r ?m) (takes ?m ?x ?y))
         (<= (next (at ?p ?x)) (true (at ?p ?x)) (does r ?m) (not (moved ?m ?x)))
         (<= (moved ?m ?x) (takes ?m ?x ?y))
         (<= wrong (true (at ?p ?x)) (distinct ?p ?x))
         (<= terminal (not wrong))
         (<= (goal r 100) (not wrong)) (<= (goal r 0) wrong)",
    );
    for first in (0..=order.len() - together).step_by(together / 2) {
        write!(text, "(move {first})").unwrap();
        for place in 0..together {
            let next = first + (place + 1) % together;
            write!(text, "(takes {first} {} {next})", first + place).unwrap();
        }
    }
    for (piece, place) in order.iter().enumerate() {
        write!(text, "(init (at {piece} {place}))").unwrap();
    }
    text
}

#[test]
fn more_positions_than_can_be_searched_need_several_stages() {
    // 16! positions. Large stages do not fit into so little memory, small ones do.
    let order: Vec<usize> = (0..16).map(|piece| (7 * piece + 3) % 16).collect();
    let puzzle = puzzle(&row(4, &order));
    let budget = Budget {
        memory_bytes: 2 << 20,
        ..Budget::default()
    };
    let (outcome, stats) = search(&puzzle, &budget);
    let Outcome::Solved { plan, optimal } = outcome else {
        panic!("{outcome:?}");
    };
    assert_solves(&puzzle, &plan, "a row of 16");
    assert!(!optimal && stats.levels.len() > 1);
    assert!(stats.peak_bytes <= budget.memory_bytes);
    let few = Budget {
        depth: plan.len() as u32 - 1,
        ..budget
    };
    if let (Outcome::Solved { plan, .. }, _) = search(&puzzle, &few) {
        assert!(plan.len() <= few.depth as usize);
        assert_solves(&puzzle, &plan, "a row of 16, within a limit");
    }
}

#[test]
fn positions_that_no_moves_connect_have_no_plan() {
    // Moves of three pieces make even permutations only.
    let apart = row(3, &[1, 0, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    let (outcome, stats) = search(&puzzle(&apart), &Budget::default());
    assert!(
        matches!(outcome, Outcome::Unsolvable(Reason::Refuted { .. })),
        "{outcome:?}"
    );
    assert_eq!(stats.total().expanded, 0);
}

#[test]
fn limits_are_respected() {
    let order: Vec<usize> = (0..12).map(|piece| (7 * piece + 3) % 12).collect();
    let puzzle = puzzle(&row(4, &order));
    let (_, all) = search(&puzzle, &Budget::default());
    let few = Budget {
        nodes: all.total().expanded / 2,
        ..Budget::default()
    };
    let (outcome, stats) = search(&puzzle, &few);
    assert_eq!(outcome, Outcome::Unknown);
    assert!(stats.total().expanded <= few.nodes);
}
