use super::*;
use crate::game::Game;
use crate::program::RelationId;
use crate::terms::{TermId, Terms};

/// Evaluates a program given as GDL rules over `given` facts of a relation `given`,
/// completely and on demand, and compares the rows of `wanted` with `expected`, both
/// sorted and joined by blanks. Returns the work of the last evaluator for one round.
fn check(rules: &str, given: &str, wanted: &str, expected: &str) -> u64 {
    let text = format!(
        "(role r) (init i) (legal r m) (goal r 1) (<= terminal (true i))
         (given none) (name a) (name b) (name c) (name d) {rules}"
    );
    let reading = Game::from_text("test", &text);
    let game = reading.unwrap_or_else(|r| panic!("{:?}", r.findings));
    let relation = |name: &str| -> RelationId {
        let mut all = game.rules().relations();
        all.find(|r| game.relation_name(*r) == name)
            .expect("the relation is used")
    };
    let input = relation("given");
    let wanted = relation(wanted);
    let mut rules = game.rules().clone();
    rules.facts.retain(|fact| fact.relation != input);
    let mut terms = game.terms().clone();
    let (mut plain, queries) = Evaluator::new(
        rules,
        &[(input, Layer::First)],
        &[(0, vec![wanted])],
        &mut terms,
        Bounds::default(),
    )
    .unwrap();
    let on_demand = plain.on_demand(&mut terms).unwrap();
    let mut work = 0;
    for evaluator in
        std::iter::once(&mut plain).chain(&mut on_demand.into_iter().collect::<Vec<_>>())
    {
        // The second round shows that nothing of the first is left.
        for _ in 0..2 {
            evaluator.begin(Layer::First);
            let before = evaluator.work();
            for term in game.parse_terms(&mut terms, given).unwrap() {
                evaluator.give(input, &[term]);
            }
            evaluator.ask(queries[0], &mut terms).unwrap();
            work = evaluator.work() - before;
            let mut found: Vec<String> = evaluator
                .rows(wanted)
                .map(|row| {
                    let texts = row.iter().map(|t| game.canonical(&terms, *t));
                    texts.collect::<Vec<_>>().join(",")
                })
                .collect();
            found.sort();
            assert_eq!(found.join(" "), expected);
        }
        let given = game.parse_terms(&mut terms, given).unwrap();
        compare_lanes(evaluator, queries[0], (input, &given), wanted, &mut terms);
    }
    work
}

/// Compares lanes with evaluations one by one: lane 0 has all given terms, each other lane all
/// but one.
fn compare_lanes(
    evaluator: &mut Evaluator,
    query: Query,
    (input, given): (RelationId, &[TermId]),
    wanted: RelationId,
    terms: &mut Terms,
) {
    let lanes = 1 + given.len();
    let has = |lane: usize, place: usize| lane != place + 1;
    let mut alone: Vec<Vec<Vec<TermId>>> = Vec::new();
    for lane in 0..lanes {
        evaluator.begin(Layer::First);
        for (place, &term) in given.iter().enumerate().filter(|(p, _)| has(lane, *p)) {
            assert!(place < 63);
            evaluator.give(input, &[term]);
        }
        evaluator.ask(query, terms).unwrap();
        let mut rows: Vec<Vec<TermId>> = evaluator.rows(wanted).map(<[_]>::to_vec).collect();
        rows.sort();
        alone.push(rows);
    }
    evaluator.begin_lanes();
    for (place, &term) in given.iter().enumerate() {
        let with = (0..lanes).filter(|&lane| has(lane, place));
        evaluator.give_lanes(input, &[term], with.map(|lane| 1 << lane).sum());
    }
    assert_eq!(evaluator.ask_lanes(query, terms, 1_000_000), Ok(true));
    let mut all: Vec<Vec<TermId>> = evaluator.rows(wanted).map(<[_]>::to_vec).collect();
    all.sort();
    for (lane, alone) in alone.iter().enumerate() {
        let mut rows = all.clone();
        rows.retain(|row| evaluator.lanes(wanted, row) >> lane & 1 == 1);
        assert_eq!(rows, *alone, "lane {lane}");
    }
    evaluator.begin_lanes();
    for &term in given {
        evaluator.give_lanes(input, &[term], u64::MAX);
    }
    let little = evaluator.ask_lanes(query, terms, 0);
    assert_eq!(little, Ok(false), "no work is allowed");
}

#[test]
fn what_lanes_gain_in_a_later_round_is_passed_on() {
    // From c there is a shorter way to d in the lanes that have it.
    check(
        "(edge a b) (edge b c) (edge c d) (<= (reach ?x) (given ?x))
         (<= (reach ?y) (reach ?x) (edge ?x ?y))
         (<= (far ?x) (reach ?x) (not (given ?x)))
         (<= (last) (far d)) (<= (out ?x) (far ?x) (last))",
        "a c",
        "out",
        "b d",
    );
}

#[test]
fn a_join_keeps_what_agrees() {
    check(
        "(edge a b) (edge b c) (edge c d) (<= (two ?x ?z) (given ?x) (edge ?x ?y) (edge ?y ?z))",
        "a b d",
        "two",
        "a,c b,d",
    );
}

#[test]
fn a_closure_over_a_cycle_is_complete() {
    check(
        "(edge a b) (edge b c) (edge c a) (edge d a)
         (<= (reach ?x) (given ?x)) (<= (reach ?y) (reach ?x) (edge ?x ?y))",
        "a",
        "reach",
        "a b c",
    );
}

#[test]
fn a_recursion_over_itself_twice_is_complete() {
    check(
        "(edge a b) (edge b c) (edge c d)
         (<= (path ?x ?y) (edge ?x ?y) (given ?x))
         (<= (path ?x ?z) (path ?x ?y) (path ?y ?z))",
        "a b c",
        "path",
        "a,b a,c a,d b,c b,d c,d",
    );
}

#[test]
fn mutual_recursion_is_complete() {
    check(
        "(succ 0 1) (succ 1 2) (succ 2 3) (<= (even ?x) (given ?x))
         (<= (odd ?y) (even ?x) (succ ?x ?y)) (<= (even ?y) (odd ?x) (succ ?x ?y))",
        "0",
        "odd",
        "1 3",
    );
}

#[test]
fn negation_sees_a_complete_relation() {
    check(
        "(edge a b) (edge b c) (node a) (node b) (node c)
         (<= (reach ?x) (given ?x)) (<= (reach ?y) (reach ?x) (edge ?x ?y))
         (<= (cut ?x) (node ?x) (not (reach ?x)))",
        "b",
        "cut",
        "a",
    );
}

#[test]
fn a_relation_may_negate_itself_at_other_constants() {
    check(
        "(<= (value ?x high) (given ?x) (distinct ?x a))
         (<= (value ?x low) (given ?x) (not (value ?x high)))",
        "a b",
        "value",
        "a,low b,high",
    );
}

#[test]
fn terms_are_built_and_taken_apart() {
    check(
        "(<= (pair (f ?x (g ?y))) (given ?x) (given ?y) (distinct ?x ?y))
         (<= (swapped ?y ?x) (pair (f ?x (g ?y))))",
        "a b",
        "swapped",
        "a,b b,a",
    );
}

#[test]
fn a_row_finds_the_demands_of_terms_that_contain_it() {
    // On demand, each new row of `with` for a list is needed for all longer lists that end with it.
    let mut rules = "(list nil)
        (<= (with ?e nil (of ?e nil)) (name ?e) (given free))
        (<= (with ?e (of ?x ?l) (of ?x ?more))
            (name ?x) (name ?e) (list ?l) (with ?e ?l ?more) (list ?more))
        (<= (out ?more) (given (ask ?e ?l)) (with ?e ?l ?more))"
        .to_owned();
    let (mut list, mut members) = ("nil".to_owned(), String::new());
    for x in ["?x", "?y", "?z", "?u"] {
        (list, members) = (format!("(of {x} {list})"), format!("{members} (name {x})"));
        rules += &format!("(<= (list {list}) {members})");
    }
    let names = ["a", "b", "c", "d"];
    let pairs = names.iter().flat_map(|x| names.map(|y| (x, y)));
    let mut given = "free".to_owned();
    let mut expected = Vec::new();
    for (z, (x, y)) in names[..3]
        .iter()
        .flat_map(|z| pairs.clone().map(move |p| (z, p)))
    {
        given += &format!(" (ask a (of {z} (of {x} (of {y} nil))))");
        expected.push(format!("(of {z} (of {x} (of {y} (of a nil))))"));
    }
    let work = check(&rules, &given, "out", &expected.join(" "));
    assert!(work < 1_200, "{work} rows");
}

#[test]
fn equal_variables_of_one_literal_must_agree() {
    check(
        "(<= (pair ?x ?y) (given ?x) (given ?y)) (<= (same ?x) (pair ?x ?x))",
        "a b",
        "same",
        "a b",
    );
}

#[test]
fn an_alternative_is_tested_or_multiplied_out() {
    check(
        "(k a) (l b) (<= (one ?x) (given ?x) (or (k ?x) (not (l ?x))))
         (<= (all ?x) (one ?x)) (<= (all ?x) (or (k ?x) (l ?x)) (given ?x))",
        "a b c",
        "all",
        "a b c",
    );
}

#[test]
fn a_recursive_test_in_an_alternative_is_not_missed() {
    check(
        "(edge a b) (edge b c) (<= (reach ?x) (given ?x))
         (<= (reach ?y) (edge ?x ?y) (or (reach ?x) (given ?y)))",
        "a",
        "reach",
        "a b c",
    );
}

#[test]
fn facts_of_derived_relations_hold_in_every_round() {
    check(
        "(known a) (<= (known ?x) (given ?x)) (<= (out ?x) (known ?x))",
        "b",
        "out",
        "a b",
    );
}

#[test]
fn negation_of_an_empty_input_holds() {
    check(
        "(<= some (given ?x)) (<= (out none) (not some))",
        "",
        "out",
        "none",
    );
}

fn failure(rules: &str, bounds: Bounds) -> Failure {
    let text = format!(
        "(role r) (init i) (legal r m) (goal r 1) (<= terminal (true i))
         (n 0) (n 1) (n 2) (n 3) (n 4) (n 5) (n 6) (n 7) (n 8) (n 9) {rules}"
    );
    let game = Game::from_text("test", &text).unwrap();
    let mut all = game.rules().relations();
    let wanted = all.find(|r| game.relation_name(*r) == "out").unwrap();
    let mut terms = game.terms().clone();
    let rules = game.rules().clone();
    let made = Evaluator::new(rules, &[], &[(0, vec![wanted])], &mut terms, bounds);
    made.map(|_| ()).expect_err("the bound is passed").failure
}

const PRODUCT: &str = "(<= (out ?a ?b ?c ?d ?e) (n ?a) (n ?b) (n ?c) (n ?d) (n ?e))";

#[test]
fn derived_facts_are_bounded() {
    let bounds = Bounds {
        facts: 1_000,
        ..Bounds::default()
    };
    assert_eq!(failure(PRODUCT, bounds), Failure::Facts(1_000));
}

#[test]
fn work_without_results_is_bounded() {
    // Eleven different values out of ten: every choice is tried without success.
    let names: Vec<String> = (0..11).map(|i| format!("?x{i}")).collect();
    let chosen: String = names.iter().map(|x| format!("(n {x})")).collect();
    let mut different = String::new();
    for (i, left) in names.iter().enumerate() {
        for right in &names[..i] {
            different += &format!("(distinct {left} {right})");
        }
    }
    let bounds = Bounds {
        work: 100_000,
        ..Bounds::default()
    };
    let rule = format!("(<= (out x) {chosen} {different})");
    assert_eq!(failure(&rule, bounds), Failure::Work(100_000));
}

#[test]
fn an_interrupt_stops() {
    let bounds = Bounds::default();
    bounds.stop.raise();
    assert_eq!(failure(PRODUCT, bounds.clone()), Failure::Interrupted);
    // Interrupts also work between rules that are too small to be interrupted
    // themselves.
    assert_eq!(
        failure("(<= (out ?x) (n ?x))", bounds),
        Failure::Interrupted
    );
}

#[test]
fn a_term_with_a_variable_of_its_own_row_is_compared_after_the_row_is_read() {
    check(
        "(<= (pair ?x (f ?x)) (given ?x) (distinct ?x b)) (<= (pair ?x (f a)) (given ?x))
         (<= (own ?x) (pair ?x (f ?x)))",
        "a b c",
        "own",
        "a c",
    );
}
