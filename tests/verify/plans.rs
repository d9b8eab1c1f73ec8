//! Plans, bounds of their lengths, and how many ends there are.

use ggp::game::{Game, Move, Score};
use ggp::machine::Machine;
use ggp::puzzle::{Puzzle, collapse};
use ggp::search::Budget;
use ggp::solve::claim_count;
use ggp::verify::{Answer, Failure, Given, Limits, Proof};

use super::shared::*;

#[test]
fn plans_are_what_they_claim_to_be() {
    let game = game(WALK);
    let solved = |plans: &[&[&str]], optimal, all| {
        let plans = plans.iter().map(|moves| plan(moves)).collect();
        is_right(
            &game,
            &Answer::Solved {
                plans,
                optimal,
                all,
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
    assert!(!solved(&[one, one], true, false), "it is the same twice");
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
            let bound = Answer::NoSolutionWithin { moves };
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
    let best = |score, moves: &[&str], no_solution_within| Answer::OutOfBudget {
        no_solution_within,
        best: Some(ggp::verify::End {
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
    let nothing = Answer::OutOfBudget {
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

#[test]
fn ends_are_counted() {
    let three = game(&colours(3));
    let answer = count(&three);
    let Answer::Counted {
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
        let counted = Answer::Counted {
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
    let Answer::Counted { plans, .. } = count(&two) else {
        panic!("it counts");
    };
    assert!(plans.is_empty());
    assert!(is_right(&two, &count(&two)));
}

/// Counts by sets of moves.
fn count(game: &Game) -> Answer {
    let mut machine = machine(game);
    let start = machine.initial().unwrap();
    let (net, packed) = machine.network(&start).unwrap();
    let puzzle = Puzzle::new(net.clone(), packed, Score::MAX).unwrap();
    let budget = Budget::default();
    let found = collapse::count(&puzzle, &budget, 100);
    let plan = |plan: &Vec<u32>| {
        let chosen = plan
            .iter()
            .map(|&chosen| puzzle.net.moves[0][chosen as usize]);
        chosen.collect::<Vec<Move>>()
    };
    let plans: Vec<Vec<Move>> = found.plans.iter().map(plan).collect();
    claim_count(&machine, &start, Score::MAX, &plans, found.is_all, &budget).unwrap()
}
