//! `ggp replay`, and `ggp host` with programs alone.

#[allow(dead_code)]
#[path = "cli/workplace.rs"]
mod workplace;

use serde_json::{Value, json};
use workplace::Workplace;

/// A place with the record of a match.
fn played() -> (Workplace, Value) {
    let place = Workplace::new();
    let line = "host matches.kif --player ann=first --player random --seed 4 --save match.json";
    let found = place.run(line);
    assert_eq!(found.code, Some(0), "{found:#?}");
    let text = std::fs::read_to_string(place.folder().join("match.json")).unwrap();
    (place, serde_json::from_str(&text).unwrap())
}

#[test]
fn a_match_between_programs_is_shown_and_recorded() {
    let place = Workplace::new();
    let line = "host matches.kif --player first --player first --save match.json --match-id m.7";
    let found = place.run(line);
    assert_eq!(found.code, Some(0), "{found:#?}");
    let expected = "\
1: ann plays ( take 1 ), bob plays wait
2: ann plays wait, bob plays ( take 1 )
3: ann plays ( take 1 ), bob plays wait
4: ann plays wait, bob plays ( take 1 )
5: ann plays ( take 1 ), bob plays wait
the game is over after 5 joint moves
ann 100
bob 0
";
    assert_eq!(found.out, expected);
    let replayed = place.run("replay match.json");
    assert_eq!(replayed.code, Some(0), "{replayed:#?}");
    let moves = expected.split_inclusive('\n').take(5).collect::<String>();
    let end = "the record is right: 5 joint moves, to the end\nann 100\nbob 0\n";
    assert_eq!(replayed.out, moves + end);
    let record = place.json("replay match.json", &[]);
    assert_eq!(record["match_id"], "m.7");
    assert_eq!(record["players"], json!(["first", "first"]));
}

#[test]
fn the_same_seed_draws_the_same_moves() {
    let ((_, one), (_, two)) = (played(), played());
    assert_eq!(one["moves"], two["moves"]);
}

#[test]
fn a_step_shows_facts_and_moves() {
    let (place, record) = played();
    let found = place.json("replay match.json --step 1", &[]);
    let step = &found["step"];
    assert_eq!(step["state"], json!(["(left 4)", "(turn bob)"]));
    assert_eq!(step["legal"], json!([["wait"], ["(take 1)", "(take 2)"]]));
    assert_eq!(step["joint"], record["moves"][1]);
    let last = record["moves"].as_array().unwrap().len();
    let found = place.json(&format!("replay match.json --step {last}"), &[]);
    assert_eq!(
        (&found["step"]["legal"], &found["step"]["joint"]),
        (&json!([]), &Value::Null)
    );
    let text = place.run("replay match.json --step 1");
    assert!(
        text.out
            .starts_with("state 1: 2 facts\n  (left 4) (turn bob)\nann may play:\n  wait\n")
    );
    let beyond = format!("replay match.json --step {}", last + 1);
    place.check_failure(&beyond, &[], "", 2, &["states, counted from 0"]);
}

/// Changes a record and expects the first difference found.
fn check(change: impl FnOnce(&mut Value), expected: &str) {
    let (place, mut record) = played();
    change(&mut record);
    place.write("match.json", record.to_string());
    let found = place.run("replay match.json");
    assert_eq!(found.code, Some(1), "{found:#?}");
    assert!(
        found.out.contains(expected),
        "{expected:?} is not in {found:#?}"
    );
}

#[test]
fn whatever_differs_is_named() {
    check(
        |record| record["moves"][0][0] = json!("( take 2 )"),
        "in state 1: (left 4) does not hold by the rules",
    );
    check(
        |record| record["moves"][0][0] = json!("wait"),
        "after state 0: ann may not play wait",
    );
    check(
        |record| record["moves"][0][0] = json!("( fly )"),
        "after state 0: the rules have no name",
    );
    check(
        |record| record["states"][2] = json!("( ( turn ann ) )"),
        "in state 2: (left ",
    );
    check(
        |record| record["states"][1] = json!("nothing"),
        "in state 1: it is no list of facts",
    );
    check(
        |record| record["goalValues"][0] = json!(50),
        "at the end: the scores are [",
    );
    check(
        |record| record["isCompleted"] = json!(false),
        "at the end: the game is over",
    );
    check(
        |record| {
            record["moves"].as_array_mut().unwrap().pop();
        },
        "states for",
    );
    check(
        |record| {
            for key in ["moves", "states", "stateTimes", "errors"] {
                record[key].as_array_mut().unwrap().pop();
            }
        },
        "at the end: the game is not over by the rules",
    );
    check(
        |record| record["errors"][1] = json!([]),
        "the errors of state 1 are not of 2 roles",
    );
    check(
        |record| record["stateTimes"][0] = json!(u64::MAX),
        "state 1 was reached before state 0",
    );
}

#[test]
fn a_broken_off_match_is_gone_on_with() {
    let (place, whole) = played();
    let mut record = whole.clone();
    for key in ["moves", "states", "stateTimes", "errors"] {
        let list = record[key].as_array_mut().unwrap();
        list.truncate(if key == "moves" { 1 } else { 2 });
    }
    record["isCompleted"] = json!(false);
    record["isAborted"] = json!(true);
    record.as_object_mut().unwrap().remove("goalValues");
    place.write("match.json", record.to_string());
    let found = place.run("replay match.json");
    assert!(
        found
            .out
            .contains("the record is right: 1 joint move, broken off"),
        "{found:#?}"
    );
    let line = "host matches.kif --player first --player first --resume match.json --json";
    let found = place.run(line);
    assert_eq!(found.code, Some(0), "{found:#?}");
    let again = place.json("replay match.json", &[]);
    assert_eq!(
        (&again["completed"], &again["difference"]),
        (&json!(true), &Value::Null)
    );
}

#[test]
fn other_peoples_records_need_rules_and_no_more_than_they_have() {
    let (place, mut record) = played();
    let object = record.as_object_mut().unwrap();
    for key in [
        "rulesheet",
        "seed",
        "errors",
        "stateTimes",
        "playerNamesFromHost",
    ] {
        object.remove(key);
    }
    object.insert("gdlVersion".to_owned(), json!(2));
    place.write("match.json", record.to_string());
    place.check_failure(
        "replay match.json",
        &[],
        "",
        2,
        &["the record has no rules"],
    );
    let found = place.run("replay match.json --game matches.kif");
    assert_eq!(found.code, Some(0), "{found:#?}");
    let found = place.run("replay match.json --game lights.kif");
    assert_eq!(found.code, Some(1), "{found:#?}");
}

#[test]
fn what_makes_no_match_is_refused() {
    let place = Workplace::new();
    place.write("not.json", "{\"moves\": 3}");
    for (line, part) in [
        ("host matches.kif --player first", "nobody plays bob"),
        (
            "host matches.kif --player first --player first --player first",
            "more players than roles",
        ),
        (
            "host matches.kif --player cat=first --player first",
            "there is no role cat",
        ),
        (
            "host matches.kif --player https://a --player first",
            "is not http",
        ),
        (
            "host matches.kif --player http://127.0.0.1:x --player first",
            "`x` is no port",
        ),
        (
            "host matches.kif --player wizard --player first",
            "`wizard` is no player",
        ),
        (
            "host matches.kif --player first --player first --match-id (",
            "no name for a match",
        ),
        (
            "host matches.kif --player first --player first --resume not.json",
            "is no match record",
        ),
        (
            "host matches.kif --player first --player first --resume no.json",
            "cannot read no.json",
        ),
        (
            "host matches.kif --player first --player first --save no/a.json",
            "cannot write",
        ),
        (
            "host matches.kif --player first --player first --grace -1",
            "not a time",
        ),
        ("replay not.json", "is no match record"),
        ("replay no.json", "cannot read no.json"),
    ] {
        place.check_failure(line, &[], "", 2, &[part]);
    }
}
