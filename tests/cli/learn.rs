//! `ggp learn`.

use super::workplace::{LIGHTS, MATCHES, Workplace};

#[test]
fn values_are_learned_written_and_explained() {
    let place = Workplace::new();
    place.write("matches.kif", MATCHES);
    place.write("lights.kif", LIGHTS);
    let found = place.run("learn matches.kif --games 3000 -o one.json");
    assert_eq!(found.code, Some(0), "{found:#?}");
    assert!(found.out.contains("share in mixtures"), "{}", found.out);
    let again = place.run("learn matches.kif --games 3000 -o two.json");
    let read = |name: &str| std::fs::read_to_string(place.folder().join(name)).unwrap();
    assert_eq!((again.out, read("two.json")), (found.out, read("one.json")));
    // Taking two of five leaves three, from which the other loses.
    let explained = place.run("learn matches.kif --explain one.json");
    assert!(explained.out.starts_with("ann "), "{explained:#?}");
    assert!(explained.out.contains("(left 5)"), "{}", explained.out);
    let lost = place.json(
        "learn matches.kif --explain one.json",
        &["--moves", "(take 2)"],
    );
    assert!(lost[1]["value"].as_f64().unwrap() < 30.0, "{lost}");
    assert_eq!(lost[1]["facts"][0]["fact"], "(left 3)");
    // The contributions add up to the value.
    let number = |value: &serde_json::Value| value.as_f64().expect("a number");
    let facts = lost[1]["facts"].as_array().expect("a list").iter();
    let sum = facts.map(|fact| number(&fact["weight"])).sum::<f64>()
        + number(&lost[1]["others"])
        + number(&lost[1]["base"]);
    let value = 100.0 / (1.0 + (-sum).exp());
    assert!((value - number(&lost[1]["value"])).abs() < 0.01, "{lost}");
    place.check_failure(
        "learn lights.kif --explain one.json",
        &[],
        "",
        2,
        &["cannot use one.json: the file belongs to other rules"],
    );
}

#[test]
fn learning_needs_a_file_and_a_network() {
    let place = Workplace::new();
    place.write("matches.kif", MATCHES);
    place.check_failure("learn matches.kif", &[], "", 2, &["--output"]);
    place.check_failure(
        "learn matches.kif --backend datalog -o one.json",
        &[],
        "",
        2,
        &["values are learned on a network"],
    );
    place.check_failure(
        "learn matches.kif -o nowhere/one.json",
        &[],
        "",
        2,
        &["cannot write nowhere/one.json"],
    );
}

/// No playout ends, so that no comparison of players shows anything.
#[test]
fn the_test_of_values_ends_where_no_match_does() {
    let workplace = Workplace::new();
    workplace.write(
        "ring.kif",
        "(role walker) (init (at a)) (edge a b) (edge b c) (edge c a)
        (<= (legal walker (to ?y)) (true (at ?x)) (edge ?x ?y)) (legal walker stay)
        (<= (next (at ?y)) (does walker (to ?y)))
        (<= (next (at ?x)) (does walker stay) (true (at ?x)))
        (<= terminal (true (at d))) (goal walker 0)",
    );
    let answer = workplace.run("learn ring.kif --games 20 -o values.json");
    assert_eq!(answer.code, Some(0), "{answer:#?}");
}
