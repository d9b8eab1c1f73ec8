//! Plans, bounds of their lengths, and how many ends there are.

use std::fmt::Write as _;

use ggp_engine::machine::Machine;
use ggp_gdl::game::Game;
use ggp_search::{Budget, Plans};
use ggp_solver::solve::{SolveOptions, claim_count, count_from};
use ggp_verify::{Claim, Failure, Flips, Given, Limits, Proof};

use super::shared::*;

#[test]
fn plans_are_what_they_claim_to_be() {
    let game = game(WALK);
    let solved = |plans: &[&[&str]], optimal, all| {
        let plans = plans.iter().map(|moves| plan(moves)).collect();
        is_right(
            &game,
            &Claim::Solved {
                plans,
                optimal,
                all,
                least: None,
            },
        )
    };
    let (one, two) = (&["go", "go", "go"][..], &["on", "go", "go"][..]);
    let longer = &["go", "back", "go", "go", "go"][..];
    assert!(solved(&[one], true, false));
    assert!(solved(&[one, two], true, true));
    assert!(solved(&[longer], false, false));
    assert!(!solved(&[], false, false), "no plan is none");
    assert!(!solved(&[longer], true, false), "there is a shorter one");
    assert!(!solved(&[one], true, true), "there is another");
    assert!(
        !solved(&[one, longer], false, true),
        "these are not all of one length"
    );
    assert!(!solved(&[one, one], true, false), "it is the same twice");
    let spelled = &[" GO ", "go", "Go"][..];
    assert!(
        solved(&[spelled], true, false),
        "blanks and case do not matter"
    );
    assert!(!solved(&[one, spelled], true, false), "it is the same move");
    assert!(
        !solved(&[&["go", "go", "on"]], false, false),
        "a move is illegal"
    );
    assert!(!solved(&[&["go", "go"]], false, false), "it is not over");
    assert!(
        !solved(&[&["go", "on", "go"]], false, false),
        "moves are swapped"
    );
    assert!(
        !solved(&[&["go", "go", "go", "go"]], false, false),
        "it is over"
    );
}

#[test]
fn bounds_hold_by_search_and_by_clauses() {
    let game = game(WALK);
    for limits in [Limits::default(), no_search()] {
        for moves in 0..6 {
            let bound = Claim::NoSolutionWithin { moves };
            let outcome = checked(&game, &bound, &limits);
            match moves {
                0..=2 => assert!(outcome.is_ok(), "{moves}: {outcome:?}"),
                _ => assert!(
                    matches!(outcome, Err(Failure::Wrong(_))),
                    "{moves}: {outcome:?}"
                ),
            }
        }
    }
    let best = |score, moves: &[&str], no_solution_within| Claim::OutOfBudget {
        no_solution_within,
        best: Some(ggp_verify::End {
            score,
            plan: plan(moves),
        }),
    };
    let short = &["go", "go", "go"];
    assert!(is_right(&game, &best(100, short, Some(2))));
    assert!(!is_right(&game, &best(100, short, Some(3))));
    assert!(!is_right(&game, &best(99, short, None)));
    assert!(!is_right(&game, &best(100, &["go"], None)));
    let refuted = unsolvable(Proof::Refuted {
        what: "so it is".to_owned(),
    });
    let nothing = Claim::OutOfBudget {
        no_solution_within: None,
        best: None,
    };
    let exhausted = unsolvable(Proof::Exhausted { positions: None });
    for (answer, limits) in [
        (refuted, Limits::default()),
        (nothing, Limits::default()),
        (exhausted, no_search()),
    ] {
        let outcome = checked(&game, &answer, &limits);
        assert!(matches!(outcome, Err(Failure::Unchecked(_))), "{outcome:?}");
    }
}

/// A board of lamps, some of them lit; a press turns a lamp and its neighbours.
pub fn lamps(size: i32, lit: impl Fn(i32, i32) -> bool) -> Game {
    let mut rules = String::from(
        "(role r) (<= (legal r (press ?x)) (lamp ?x))
        (<= (turned ?x) (does r (press ?x))) (<= (turned ?y) (does r (press ?x)) (near ?x ?y))
        (<= (next (lit ?x)) (turned ?x) (not (true (lit ?x))))
        (<= (next (lit ?x)) (true (lit ?x)) (not (turned ?x)))
        (<= some (true (lit ?x)))
        (<= terminal (not some)) (<= (goal r 100) (not some)) (<= (goal r 0) some)",
    );
    for (x, y) in (0..size).flat_map(|x| (0..size).map(move |y| (x, y))) {
        write!(rules, "(lamp l{x}{y})").unwrap();
        if lit(x, y) {
            write!(rules, "(init (lit l{x}{y}))").unwrap();
        }
        for (dx, dy) in [(0, 1), (1, 0), (0, -1), (-1, 0)] {
            let (x2, y2) = (x + dx, y + dy);
            if (0..size).contains(&x2) && (0..size).contains(&y2) {
                write!(rules, "(near l{x}{y} l{x2}{y2})").unwrap();
            }
        }
    }
    game(&rules)
}

#[test]
fn flips_tell_how_many_moves_are_needed() {
    // On four by four lamps, sixteen sets of moves do the same.
    for (size, least) in [(2, 4), (3, 5), (4, 4), (5, 15)] {
        let game = lamps(size, |_, _| true);
        let answer = answer(&game, "algebra", Plans::First);
        let Claim::Solved {
            plans,
            optimal: true,
            least: Some(flips),
            ..
        } = &answer
        else {
            panic!("{size}: {answer:?}");
        };
        assert_eq!(
            (plans[0].len(), flips.facts.len()),
            (least, (size * size) as usize)
        );
        let says = checked(&game, &answer, &no_search()).unwrap();
        assert!(
            says.open.is_empty() && says.how[1].contains("whatever the state"),
            "{says:?}"
        );
        let claims = |plan: Vec<String>, facts: &[String]| {
            let given = Given::default();
            let facts = facts.to_vec();
            let claim = Claim::Solved {
                plans: vec![plan],
                optimal: true,
                all: false,
                least: Some(Flips { facts, given }),
            };
            checked(&game, &claim, &no_search())
        };
        let plan = &plans[0];
        assert!(claims(plan.clone(), &flips.facts).is_ok());
        let twice = [&plan[..1], &plan[..1], &plan[..]].concat();
        let is_wrong = |outcome| matches!(outcome, Err(Failure::Wrong(_)));
        assert!(
            is_wrong(claims(twice, &flips.facts)),
            "a move is made for nothing"
        );
        assert!(
            is_wrong(claims(plan.clone(), &flips.facts[..1])),
            "one lamp takes one move"
        );
        let unknown = [&flips.facts[..], &["(lit".to_owned()]].concat();
        assert!(is_wrong(claims(plan.clone(), &unknown)), "that is no fact");
    }
    // On a way each move changes where one is, but not whatever the state.
    let walk = game(WALK);
    let claim = Claim::Solved {
        plans: vec![plan(&["go", "go", "go"])],
        optimal: true,
        all: false,
        least: Some(Flips {
            facts: vec!["(at 3)".to_owned()],
            given: Given::default(),
        }),
    };
    let Err(Failure::Wrong(why)) = checked(&walk, &claim, &no_search()) else {
        panic!("go does not always lead there");
    };
    assert!(why.contains("may leave it as it is"), "{why}");
}

#[test]
fn ends_are_counted() {
    let three = game(&colours(3));
    let answer = count(&three);
    let Claim::Counted {
        plans,
        all: true,
        proof: Some(proof),
    } = &answer
    else {
        panic!("{answer:?}");
    };
    assert_eq!(plans.len(), 6);
    assert!(is_right(&three, &answer), "by a search");
    assert!(
        checked(&three, &answer, &no_search()).is_ok(),
        "by the proof"
    );
    let claims = |plans: &[Vec<String>], all, proof: Option<&Given>, limits: &Limits| {
        let counted = Claim::Counted {
            plans: plans.to_vec(),
            all,
            proof: proof.cloned(),
        };
        checked(&three, &counted, limits)
    };
    let is_wrong = |outcome| matches!(outcome, Err(Failure::Wrong(_)));
    for limits in [Limits::default(), no_search()] {
        assert!(is_wrong(claims(&plans[1..], true, Some(proof), &limits)));
        assert!(claims(&plans[1..], false, None, &limits).is_ok());
    }
    let open = claims(plans, true, None, &no_search()).expect("the plans are right");
    assert_eq!(open.open.len(), 1);
    let nothing = Given::default();
    assert!(is_wrong(claims(plans, true, Some(&nothing), &no_search())));
    let twice = [plans.as_slice(), &plans[..1]].concat();
    assert!(is_wrong(claims(&twice, false, None, &no_search())));
    let mut short = plans.clone();
    short[3].pop();
    assert!(is_wrong(claims(&short, false, None, &no_search())));
    let two = game(&colours(2));
    let Claim::Counted { plans, .. } = count(&two) else {
        panic!("it counts");
    };
    assert!(plans.is_empty());
    assert!(is_right(&two, &count(&two)));
}

/// Counts by sets of moves.
pub fn count(game: &Game) -> Claim {
    let mut machine = machine(game);
    let start = machine.initial().unwrap();
    let counted = count_from(&machine, &start, &SolveOptions::default(), 100).unwrap();
    claim_count(&machine, &start, &counted, &Budget::default()).unwrap()
}
