//! Every answer of every method on small random games.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use ggp_search::Plans;
use ggp_solver::solve::Method;
use ggp_verify::{Claim, Given, Limits, Proof};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::shared::*;

/// Rules of a small random game: facts that moves set, drop or turn, a relation
/// that is defined by itself, and perhaps a clock.
pub fn random_rules(random: &mut Xoshiro256PlusPlus) -> String {
    let facts = random.random_range(2..6);
    let moves = random.random_range(2..5);
    let mut text = String::from("(role me) (legal me pass)\n");
    let literal = |random: &mut Xoshiro256PlusPlus| {
        let fact = random.random_range(0..facts);
        match random.random_range(0..5) {
            0 => format!("(linked {fact})"),
            1 => format!("(not (linked {fact}))"),
            2 => format!("(or (true (f {fact})) (not (linked 0)))"),
            3 => format!("(true (f {fact}))"),
            _ => format!("(not (true (f {fact})))"),
        }
    };
    for fact in 0..facts {
        if random.random_bool(0.3) {
            writeln!(text, "(init (f {fact}))").unwrap();
        }
        if random.random_bool(0.3) {
            writeln!(text, "(<= (linked {fact}) (true (f {fact})))").unwrap();
        }
        writeln!(text, "(near {fact} {})", random.random_range(0..facts)).unwrap();
        for chosen in 0..moves {
            let stays = format!("(<= (next (f {fact})) (does me (m {chosen})) (true (f {fact})))");
            let rule = match random.random_range(0..8) {
                0 => format!("(<= (next (f {fact})) (does me (m {chosen})))"),
                1 => String::new(),
                2 => {
                    format!("(<= (next (f {fact})) (does me (m {chosen})) (not (true (f {fact}))))")
                }
                3 => format!(
                    "(<= (next (f {fact})) (does me (m {chosen})) {})",
                    literal(random)
                ),
                _ => stays,
            };
            writeln!(text, "{rule}").unwrap();
        }
        writeln!(
            text,
            "(<= (next (f {fact})) (does me pass) (true (f {fact})))"
        )
        .unwrap();
    }
    writeln!(
        text,
        "(<= (linked ?y) (linked ?x) (near ?x ?y) (true (f ?y)))"
    )
    .unwrap();
    writeln!(
        text,
        "(<= (linked ?y) (linked ?x) (near ?y ?x) (true (f ?y)))"
    )
    .unwrap();
    writeln!(text, "(<= (linked 0) (true (f 0)))").unwrap();
    for chosen in 0..moves {
        let condition = literal(random);
        writeln!(text, "(<= (legal me (m {chosen})) {condition})").unwrap();
    }
    let goal: Vec<String> = (0..random.random_range(3..6))
        .map(|_| literal(random))
        .collect();
    writeln!(
        text,
        "(<= won {})\n(<= terminal won)\n(<= (goal me 100) won)\n(<= (goal me 0) (not won))",
        goal.join(" ")
    )
    .unwrap();
    if random.random_bool(0.4) {
        let last = random.random_range(2..7);
        writeln!(text, "(init (tick 0)) (<= terminal (true (tick {last})))").unwrap();
        writeln!(text, "(<= (next (tick ?u)) (true (tick ?t)) (after ?t ?u))").unwrap();
        (0..last).for_each(|tick| writeln!(text, "(after {tick} {})", tick + 1).unwrap());
    }
    if random.random_bool(0.2) {
        writeln!(text, "(<= terminal {})", literal(random)).unwrap();
    }
    text
}

#[test]
fn every_answer_to_random_games_is_right_and_no_other() {
    let methods: Vec<&str> = Method::all()
        .map(Method::name)
        .filter(|&name| name != "mcts")
        .collect();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
    let (mut solved, mut refuted, mut kinds) = (0, 0, BTreeMap::new());
    for number in 0..100 {
        let rules = random_rules(&mut random);
        let game = game(&rules);
        let expected = shortest(&game);
        for &method in &methods {
            let what = format!("{number}, {method}\n{rules}");
            let answer = answer(&game, method, Plans::First);
            match (&answer, expected) {
                (Claim::Solved { plans, optimal, .. }, Some((least, _))) => {
                    let length = plans[0].len();
                    assert!(length >= least && (!optimal || length == least), "{what}");
                }
                (Claim::Unsolvable { .. }, None) => {}
                (Claim::NoSolutionWithin { moves }, least) => {
                    assert!(
                        least.is_none_or(|(least, _)| least > *moves as usize),
                        "{what}"
                    );
                }
                (Claim::OutOfBudget { .. }, _) => continue,
                _ => panic!("{answer:?}, but {expected:?}: {what}"),
            }
            if let Claim::Unsolvable { proof } = &answer {
                let value = serde_json::to_value(proof).unwrap();
                *kinds.entry(value["kind"].to_string()).or_insert(0) += 1;
            }
            assert!(is_right(&game, &answer), "{answer:?}: {what}");
        }
        let bound = |moves| {
            let bound = Claim::NoSolutionWithin { moves };
            let [plain, clauses] = [Limits::default(), no_search()]
                .map(|limits| checked(&game, &bound, &limits).is_ok());
            assert_eq!(plain, clauses, "{number}, {moves}\n{rules}");
            plain
        };
        match expected {
            Some((least, count)) => {
                solved += 1;
                assert!(!bound(least as u32), "{number}\n{rules}");
                assert!(least == 0 || bound(least as u32 - 1), "{number}\n{rules}");
                let all = answer(&game, "breadth-first", Plans::AllShortest { max: 1_000 });
                let Claim::Solved {
                    plans, all: true, ..
                } = &all
                else {
                    panic!("{all:?}: {number}\n{rules}");
                };
                assert_eq!(plans.len() as u64, count, "{number}\n{rules}");
                assert!(is_right(&game, &all), "{number}\n{rules}");
                assert_eq!(invariant_of(&game), None, "{number}\n{rules}");
                for proof in [
                    Proof::Exhausted { positions: None },
                    Proof::Over { moves: 9 },
                    Proof::Invariant(Given::default()),
                ] {
                    assert!(!is_right(&game, &unsolvable(proof)), "{number}\n{rules}");
                }
            }
            None => {
                refuted += 1;
                assert!(bound(9), "{number}\n{rules}");
                let answer = invariant_of(&game).expect("a small game has one");
                assert!(is_right(&game, &answer), "{answer:?}: {number}\n{rules}");
            }
        }
    }
    assert!(solved > 10 && refuted > 10, "{solved} and {refuted}");
    let known = ["\"exhausted\"", "\"invariant\"", "\"potential\""];
    assert!(
        known.iter().all(|&kind| kinds.contains_key(kind)),
        "{kinds:?}"
    );
    assert!(!kinds.contains_key("\"refuted\""), "{kinds:?}");
}
