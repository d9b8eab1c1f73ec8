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
    let first = &lost[1]["facts"][0];
    assert!(
        first["weight"].is_number() && first["fact"].is_string(),
        "{lost}"
    );
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
