//! `ggp replay`, and `ggp host` with built-in agents only.

use crate::cli::workplace::Workplace;
use serde_json::{Value, json};

/// A workplace with the record of a match.
fn played() -> (Workplace, Value) {
    let place = Workplace::new();
    let line = "host matches.kif --player ann=first --player random --seed 4 --save match.json";
    let found = place.run(line);
    assert_eq!(found.code, Some(0), "{found:#?}");
    let text = std::fs::read_to_string(place.folder().join("match.json")).unwrap();
    (place, serde_json::from_str(&text).unwrap())
}

#[test]
fn a_match_between_agents_is_shown_and_recorded() {
    let place = Workplace::new();
    let line = "host matches.kif --player first --player first --save match.json --match-id m.7";
    let found = place.run(line);
    assert_eq!(found.code, Some(0), "{found:#?}");
    let expected = "\
1: ann plays (take 1), bob plays wait
2: ann plays wait, bob plays (take 1)
3: ann plays (take 1), bob plays wait
4: ann plays wait, bob plays (take 1)
5: ann plays (take 1), bob plays wait
the game is over after 5 joint moves
ann 100
bob 0
";
    assert_eq!(found.out, expected);
    let replayed = place.run("replay match.json");
    assert_eq!(replayed.code, Some(0), "{replayed:#?}");
    let moves = expected.split_inclusive('\n').take(5).collect::<String>();
    let end = "the record is valid: 5 joint moves, completed\nann 100\nbob 0\n";
    assert_eq!(replayed.out, moves + end);
    let record = place.json("replay match.json", &[]);
    assert_eq!(record["match_id"], "m.7");
    assert_eq!(record["players"], json!(["first", "first"]));
}

#[test]
fn random_moves_are_reproducible_by_seed() {
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
            .starts_with("state 1: 2 facts\n  (left 4) (turn bob)\nlegal moves of ann:\n  wait\n")
    );
    let beyond = format!("replay match.json --step {}", last + 1);
    place.check_failure(&beyond, &[], "", 2, &["states, numbered from 0"]);
}

/// Changes a record and checks the first reported difference.
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
fn every_difference_is_reported() {
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
        "in state 1: not a list of facts",
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
    check(
        |record| record["playerNamesFromHost"] = json!(["one"]),
        "playerNamesFromHost has 1 of 2 entries, one for each role: ann, bob",
    );
    check(
        |record| record["isAborted"] = json!(true),
        "the match is both over and aborted",
    );
}

#[test]
fn an_aborted_match_can_be_resumed() {
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
            .contains("the record is valid: 1 joint move, aborted"),
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
fn records_of_other_hosts_need_only_rules() {
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
fn an_endless_match_is_aborted() {
    let place = Workplace::new();
    place.write(
        "on.kif",
        "(role a) (init f) (next f) (legal a on) (<= terminal (not (true f))) (goal a 0)",
    );
    let line = "host on.kif --player first --save match.json --depth 5";
    let found = place.run(line);
    assert_eq!(found.code, Some(2), "{found:#?}");
    assert!(found.out.ends_with("5: a plays on\n"), "{found:#?}");
    let why = "the game is not over after 5 joint moves; see --depth";
    assert!(found.err.contains(why), "{found:#?}");
    let found = place.run("replay match.json");
    assert_eq!(found.code, Some(0), "{found:#?}");
    assert!(found.out.contains("5 joint moves, aborted"), "{found:#?}");
    // A match that is over after exactly the maximum number of moves is not too long.
    let line = "host matches.kif --player first --player first --depth 5";
    assert_eq!(place.run(line).code, Some(0));
}

#[test]
fn a_finished_match_is_not_resumed() {
    let (place, record) = played();
    let line = "host --player first --player first --resume match.json";
    let found = place.run(line);
    assert_eq!(found.code, Some(0), "{found:#?}");
    assert!(
        found.err.contains("there is nothing to resume"),
        "{found:#?}"
    );
    assert!(
        found.out.starts_with("the game is over after "),
        "{found:#?}"
    );
    let text = std::fs::read_to_string(place.folder().join("match.json")).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), record);
}

#[test]
fn a_record_without_clocks_is_resumed_with_default_clocks() {
    let place = Workplace::new();
    let line = "play matches.kif --roles first,first --depth 2 --save match.json";
    assert_eq!(place.run(line).code, Some(0));
    let found = place.run("host --player first --player first --resume match.json");
    assert_eq!(found.code, Some(0), "{found:#?}");
    for part in ["no start clock: it is 30 s", "no play clock: it is 10 s"] {
        assert!(found.err.contains(part), "{found:#?}");
    }
    let text = std::fs::read_to_string(place.folder().join("match.json")).unwrap();
    let record: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&record["startClock"], &record["playClock"]),
        (&json!(30), &json!(10))
    );
}

#[test]
fn terminal_control_characters_are_not_printed() {
    let (place, mut record) = played();
    record["errors"][1][0] = json!("IL \u{1b}[2J( boo )");
    record["playerNamesFromHost"][0] = json!("\u{1b}[2J");
    place.write("match.json", record.to_string());
    let found = place.run("replay match.json");
    assert_eq!(found.code, Some(0), "{found:#?}");
    assert!(found.out.contains("[IL \u{fffd}[2J(boo)]"), "{found:#?}");
    assert!(!found.out.contains('\u{1b}'), "{found:#?}");
    let found = place.run("replay match.json --step 0");
    assert!(!found.out.contains('\u{1b}'), "{found:#?}");
}

#[test]
fn moves_are_shown_up_to_the_first_difference() {
    let (place, mut record) = played();
    let found = place.run("replay match.json --game lights.kif");
    assert_eq!(found.code, Some(1), "{found:#?}");
    assert!(
        found.out.starts_with("the record differs in "),
        "{found:#?}"
    );
    record["states"][2] = json!("( ( turn ann ) )");
    place.write("match.json", record.to_string());
    let found = place.run("replay match.json");
    let lines: Vec<&str> = found.out.lines().collect();
    assert_eq!(lines.len(), 2, "{found:#?}");
    assert!(lines[0].starts_with("1: ann plays (take "), "{found:#?}");
    assert!(
        lines[1].starts_with("the record differs in state 2: "),
        "{found:#?}"
    );
}

#[test]
fn letter_case_is_kept_where_it_matters() {
    let place = Workplace::new();
    place.write(
        "case.kif",
        "(role a) (init up) (legal a Go) (legal a go) (<= (next (done ?m)) (does a ?m))
         (<= terminal (true (done ?m)))
         (<= (goal a 100) (true (done Go))) (<= (goal a 0) (true (done go)))",
    );
    let line = "host case.kif --case-sensitive --player first --save match.json";
    let found = place.run(line);
    assert_eq!(found.code, Some(0), "{found:#?}");
    let found = place.run("replay match.json --case-sensitive");
    assert_eq!(found.code, Some(0), "{found:#?}");
    assert!(found.out.starts_with("1: a plays Go\n"), "{found:#?}");
    // Without the option, the two names are equal, and so are their scores.
    let found = place.run("replay match.json");
    assert_ne!(found.code, Some(0), "{found:#?}");
}

#[test]
fn invalid_matches_are_rejected() {
    let place = Workplace::new();
    place.write("not.json", "{\"moves\": 3}");
    for (line, part) in [
        (
            "host matches.kif --player mcts:threads=0 --player first",
            "threads must be a whole number from 1 to 256 or auto, not `0`",
        ),
        ("host matches.kif --player first", "no player for bob"),
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
            "`x` is not a port number",
        ),
        (
            "host matches.kif --player wizard --player first",
            "unknown player `wizard`",
        ),
        (
            "host matches.kif --player first --player first --match-id (",
            "not a valid name of a match",
        ),
        (
            "host matches.kif --player first --player first --resume not.json",
            "is not a match record",
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
        ("replay not.json", "is not a match record"),
        ("replay no.json", "cannot read no.json"),
    ] {
        place.check_failure(line, &[], "", 2, &[part]);
    }
}

#[test]
fn whole_numbers_may_be_written_with_a_point() {
    let (place, mut record) = played();
    for name in ["goalValues", "stateTimes"] {
        let numbers = record[name].as_array_mut().unwrap();
        for number in numbers {
            *number = json!(number.as_f64().unwrap());
        }
    }
    record["startClock"] = json!(30.0);
    place.write("match.json", record.to_string());
    assert!(
        record.to_string().contains("\"goalValues\":[0.0,100.0]")
            || record.to_string().contains("\"goalValues\":[100.0,0.0]")
    );
    let found = place.run("replay match.json");
    assert_eq!(found.code, Some(0), "{found:#?}");
    for wrong in [json!(99.5), json!(300.0), json!(-1), json!("100")] {
        record["goalValues"][0] = wrong.clone();
        place.write("match.json", record.to_string());
        let found = place.run("replay match.json");
        assert_eq!(found.code, Some(2), "{wrong}: {found:#?}");
    }
}
