use super::*;
use crate::planning::breadth_first::{BreadthFirstOptions, breadth_first};
use crate::planning::move_set::tests::{assert_solves, puzzle};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::fmt::Write as _;

/// Rules in which moves take pieces around and turn them; each belongs to its own place.
pub(in crate::planning) fn turning(seed: u64, steps: u32) -> String {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let pieces = random.random_range(3..6);
    let mut text = String::from(
        "(role r) (init (step 0))
         (<= (legal r ?m) (move ?m))
         (<= (next (at ?p ?y)) (true (at ?p ?x)) (does r ?m) (takes ?m ?x ?y))
         (<= (next (turned ?p)) (true (turned ?p)) (true (at ?p ?x)) (does r ?m)
             (not (turns ?m ?x)))
         (<= (next (turned ?p)) (not (true (turned ?p))) (true (at ?p ?x)) (does r ?m)
             (turns ?m ?x))
         (<= (next (step ?n)) (true (step ?m)) (after ?m ?n))
         (<= wrong (true (at ?p ?x)) (distinct ?p ?x))
         (<= wrong (true (turned ?p)))
         (<= terminal (not wrong))
         (<= (goal r 100) (not wrong)) (<= (goal r 0) wrong)",
    );
    if steps > 0 {
        write!(text, "(<= terminal (true (step {steps})))").unwrap();
    }
    (0..20).for_each(|step| write!(text, "(after {step} {})", step + 1).unwrap());
    let mut places: Vec<u32> = (0..pieces).collect();
    for chosen in ["m1", "m2", "m3"] {
        write!(text, "(move {chosen})").unwrap();
        let mut taken = places.clone();
        taken.shuffle(&mut random);
        for (from, to) in taken.iter().zip(taken.iter().cycle().skip(1)) {
            // Some places keep what they have.
            let stays = *from > 2 && chosen == "m1";
            let to = if stays { from } else { to };
            let to = if chosen == "m1" && *from < 3 {
                &((from + 1) % 3)
            } else {
                to
            };
            write!(text, "(takes {chosen} {from} {to})").unwrap();
            if random.random_bool(0.3) {
                write!(text, "(turns {chosen} {from})").unwrap();
            }
        }
    }
    places.shuffle(&mut random);
    for (piece, place) in places.iter().enumerate() {
        write!(text, "(init (at {piece} {place}))").unwrap();
        if random.random_bool(0.3) {
            write!(text, "(init (turned {piece}))").unwrap();
        }
    }
    text
}

fn search(puzzle: &Puzzle, budget: &Budget) -> (Outcome, Stats) {
    let mut stats = Stats::default();
    let outcome = bidirectional(puzzle, budget, &mut stats, &mut ());
    (outcome, stats)
}

#[test]
fn plans_and_proofs_agree_with_breadth_first_search() {
    let (mut solved, mut refuted, mut declined) = (0, 0, 0);
    for seed in 0..60 {
        let puzzle = puzzle(&turning(seed, [0, 4, 9][seed as usize % 3]));
        let budget = Budget::default();
        let options = BreadthFirstOptions::default();
        let stats = &mut Stats::default();
        let (expected, _) = breadth_first(&puzzle, &options, &budget, stats, &mut ()).unwrap();
        let (outcome, counts) = search(&puzzle, &budget);
        let what = format!("seed {seed}: {outcome:?} and {expected:?}");
        if outcome == Outcome::Unknown && counts.total().expanded == 0 {
            // A piece that all moves take to the same place changes by itself.
            declined += 1;
            continue;
        }
        let Outcome::Solved { plan: shortest, .. } = &expected else {
            assert!(matches!(expected, Outcome::Unsolvable(_)), "{what}");
            assert!(matches!(outcome, Outcome::Unsolvable(_)), "{what}");
            refuted += 1;
            continue;
        };
        if shortest.is_empty() {
            continue;
        }
        let Outcome::Solved { plan, optimal } = &outcome else {
            panic!("{what}");
        };
        assert_solves(&puzzle, plan, &what);
        assert!(*optimal && plan.len() == shortest.len(), "{what}");
        let total = counts.total().expanded;
        assert!(plan.len() < 5 || total < stats.total().expanded, "{what}");
        solved += 1;
        let depth = plan.len() as u32 - 1;
        let within = Budget {
            depth,
            ..Budget::default()
        };
        assert_eq!(
            search(&puzzle, &within).0,
            Outcome::NoPlanWithin(depth),
            "{what}"
        );
    }
    assert!(
        solved > 20 && refuted > 5 && declined < 20,
        "{solved} solved, {refuted} refuted, {declined} declined"
    );
}

#[test]
fn limits_are_respected() {
    // Five pieces have up to 3,840 positions. Most random moves of them need few.
    let puzzle = puzzle(&turning(3_089, 0));
    let (Outcome::Solved { plan, .. }, all) = search(&puzzle, &Budget::default()) else {
        panic!("there is a plan");
    };
    assert!(all.total().expanded > 200, "{:?}", all.total());
    let little = Budget {
        memory_bytes: 2 * 1_600,
        ..Budget::default()
    };
    let (outcome, stats) = search(&puzzle, &little);
    assert_eq!(outcome, Outcome::Unknown);
    assert!(
        stats.peak_bytes <= little.memory_bytes,
        "{}",
        stats.peak_bytes
    );
    let refuted = stats.refuted.unwrap();
    assert!(refuted > 0 && refuted < plan.len() as u32, "{refuted}");
    let few = Budget {
        nodes: all.total().expanded / 2,
        ..Budget::default()
    };
    let (outcome, stats) = search(&puzzle, &few);
    assert_eq!(outcome, Outcome::Unknown);
    assert!(stats.total().expanded <= few.nodes);
}

#[test]
fn moves_that_forget_or_depend_on_time_are_left_to_others() {
    let all = turning(1, 0);
    let forgets = "(move m4) (takes m4 0 0) (takes m4 1 0) (takes m4 2 2)";
    let not_legal = all.replace(
        "(<= (legal r ?m) (move ?m))",
        "(<= (legal r ?m) (move ?m) wrong)",
    );
    for text in [format!("{all} {forgets}"), not_legal] {
        let (outcome, stats) = search(&puzzle(&text), &Budget::default());
        assert_eq!(
            (outcome, stats.total().expanded),
            (Outcome::Unknown, 0),
            "{text}"
        );
    }
}
