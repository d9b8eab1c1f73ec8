//! Proofs that there is no plan.

use std::fmt::Write as _;

use ggp_search::Plans;
use ggp_verify::{Claim, Failure, Given, Proof};

use super::shared::*;

#[test]
fn what_is_written_once_is_refuted_by_what_excludes_each_other() {
    let two = game(&colours(2));
    let answer = answer(&two, "sat-set", Plans::First);
    let is_invariant = |answer: &Claim| {
        matches!(
            answer,
            Claim::Unsolvable {
                proof: Proof::Invariant(_)
            }
        )
    };
    assert!(is_invariant(&answer), "{answer:?}");
    assert!(is_right(&two, &answer));
    let three = game(&colours(3));
    assert!(!is_right(&three, &answer), "another game");
    let mut clauses = Vec::new();
    for (one, other) in [("a", "b"), ("b", "c"), ("c", "a")] {
        for colour in ["c0", "c1"] {
            let not = |field| format!("(not (has {field} {colour}))");
            clauses.push(vec![not(one), not(other)]);
        }
    }
    let claims = |clauses: &[Vec<String>]| {
        is_right(
            &two,
            &unsolvable(Proof::Invariant(Given {
                clauses: clauses.to_vec(),
                ..Given::default()
            })),
        )
    };
    assert!(claims(&clauses));
    for dropped in 0..clauses.len() {
        let mut fewer = clauses.clone();
        fewer.remove(dropped);
        assert!(!claims(&fewer), "{:?} is needed", clauses[dropped]);
        let mut turned = clauses.clone();
        let fact = turned[dropped][0].clone();
        turned[dropped][0] = match fact.strip_prefix("(not ") {
            Some(inner) => inner[..inner.len() - 1].to_owned(),
            None => format!("(not {fact})"),
        };
        assert!(!claims(&turned), "{:?} is not it", turned[dropped]);
    }
    let mut more = clauses.clone();
    more.push(Vec::new());
    assert!(!claims(&more), "nothing never holds");
    more.pop();
    more.push(vec!["(has a c9)".to_owned()]);
    assert!(!claims(&more), "there is no such fact");
}

#[test]
fn groups_are_looked_at_too() {
    // Who carries the torch is one of three; the end wants two of them.
    let rules = "(role r) (init (torch a)) (init (tired c)) (who a) (who b) (who c)
        (<= (legal r (pass ?x ?y)) (true (torch ?x)) (who ?y) (distinct ?x ?y))
        (<= (next (torch ?y)) (does r (pass ?x ?y)))
        (<= (next (tired ?x)) (does r (pass ?x ?y)))
        (<= won (true (torch a)) (true (torch b)))
        (<= terminal won) (<= (goal r 100) won) (<= (goal r 0) (not won))";
    let game = game(rules);
    let torch = |who: &[&str]| who.iter().map(|who| format!("(torch {who})")).collect();
    let claims = |exclusive: Vec<Vec<String>>| {
        let clauses = Vec::new();
        is_right(
            &game,
            &unsolvable(Proof::Invariant(Given { clauses, exclusive })),
        )
    };
    assert!(claims(vec![torch(&["a", "b"])]));
    assert!(claims(vec![torch(&["a", "b", "c"])]));
    assert!(!claims(vec![]), "then both may hold");
    assert!(!claims(vec![torch(&["b", "c"])]), "it says nothing of one");
    let mut wrong: Vec<String> = torch(&["a", "b"]);
    wrong.push("(tired a)".to_owned());
    assert!(!claims(vec![wrong]), "one passes and is tired");
    assert!(is_right(&game, &invariant_of(&game).expect("it is small")));
}

#[test]
fn what_holds_only_because_of_itself_is_no_solution() {
    // The island is reached from itself alone; building links none to the shore.
    let rules = "(role r) (init (link isle bay)) (site bay cape) (site cape isle)
        (<= (legal r (build ?x ?y)) (site ?x ?y) (not (true (link ?x ?y))))
        (legal r wait)
        (<= (next (link ?x ?y)) (does r (build ?x ?y)))
        (<= (next (link ?x ?y)) (true (link ?x ?y)))
        (reached shore)
        (<= (reached ?y) (reached ?x) (true (link ?x ?y)))
        (<= won (reached isle))
        (<= terminal won) (<= (goal r 100) won) (<= (goal r 0) (not won))";
    let island = game(rules);
    let nothing = unsolvable(Proof::Invariant(Given::default()));
    assert!(is_right(&island, &nothing));
    let joined = game(&rules.replace("(site bay cape)", "(site bay cape) (site shore bay)"));
    assert!(!is_right(&joined, &nothing));
    let bound = |moves| checked(&joined, &Claim::NoSolutionWithin { moves }, &no_search());
    assert!(bound(2).is_ok());
    assert!(matches!(bound(3), Err(Failure::Wrong(_))));
}

#[test]
fn plays_end_when_they_are_said_to() {
    let rules = |last: u32| {
        let mut rules = String::from(
            "(role r) (legal r a) (legal r b) (init (n 0))
            (<= (next (n ?j)) (true (n ?i)) (after ?i ?j))
            (<= (next on) (does r a) (not (true on)))
            (<= (next on) (true on) (does r b))
            (<= (next off) (does r b) (not (true on)))
            (<= won (true on) (true off))
            (<= terminal won) (<= (goal r 100) won) (<= (goal r 0) (not won))",
        );
        write!(rules, "(<= terminal (true (n {last})))").unwrap();
        (0..last).for_each(|n| write!(rules, "(after {n} {})", n + 1).unwrap());
        rules
    };
    let game = game(&rules(4));
    let over = |moves| unsolvable(Proof::Over { moves });
    assert!(is_right(&game, &over(4)));
    assert!(is_right(&game, &over(5)));
    assert!(!is_right(&game, &over(3)), "a play has one move more");
    let found = answer(&game, "sat-steps", Plans::First);
    assert_eq!(found, over(4));
}
