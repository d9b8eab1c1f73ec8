//! `ggp solve --answer` and `ggp verify`.

use std::path::{Path, PathBuf};
use std::process::Output;
use std::{env, fs};

use serde_json::{Value, json};

fn ggp(arguments: &[&str]) -> Output {
    crate::common::ggp(&[&["--quiet"], arguments].concat())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("the output is UTF-8")
}

fn scratch(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_file(&path);
    path.to_str().expect("plain names").to_owned()
}

/// Solves, and verifies what was written. The result is the file.
fn right(name: &str, rules: &[&str], how: &[&str], says: &str) -> String {
    let file = scratch(name);
    let solved = ggp(&[&["solve", "--answer", &file], rules, how].concat());
    assert!(Path::new(&file).is_file(), "{}", text(&solved.stderr));
    let verified = ggp(&[&["verify"], rules, &[file.as_str()]].concat());
    let out = text(&verified.stdout);
    assert_eq!(
        verified.status.code(),
        Some(0),
        "{out}{}",
        text(&verified.stderr)
    );
    assert!(out.contains(says), "{out}");
    file
}

/// The exit code, and what is said, once a file was changed.
fn changed(file: &str, rules: &[&str], change: impl Fn(&mut Value)) -> (i32, String) {
    let mut value: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    change(&mut value);
    let other = file.replace(".json", "_changed.json");
    fs::write(&other, value.to_string()).unwrap();
    let verified = ggp(&[&["verify"], rules, &[other.as_str()]].concat());
    let out = text(&verified.stdout) + &text(&verified.stderr);
    (verified.status.code().expect("it ended"), out)
}

const LIGHTS: &[&str] = &["games/buttons_and_lights.kif"];
const DARK: &[&str] = &[
    "games/lights_out.kif",
    "games/instances/lights_out_4x4_unsolvable.kif",
];

#[test]
fn answers_of_every_verdict_are_right() {
    let says = "a plan of 6 moves was played again on the naive evaluator; a search of 24";
    right("plan.json", LIGHTS, &[], says);
    right("all.json", LIGHTS, &["--all"], "2 plans were played again");
    right("parity.json", DARK, &[], "an even number of 8 facts");
    let late = &["--moves", "b; b", "--method", "breadth-first"];
    right(
        "late.json",
        LIGHTS,
        late,
        "right: from another state than the initial one; ",
    );
    let steps = &["--moves", "b; b", "--method", "sat-steps"];
    right("steps.json", LIGHTS, steps, "have no model");
    let eighty = &["--goal", "80"];
    right(
        "eighty.json",
        LIGHTS,
        eighty,
        "right: for 80 points or more; a plan",
    );
    let lit = &[
        "games/lights_out_all_on.kif",
        "games/instances/lights_out_all_on_5x5.kif",
    ];
    let says = "moves flip 25 facts whatever the state, and a solution takes 15 moves";
    right("least.json", lit, &["--method", "algebra"], says);
    let lost = scratch("lost.kif");
    fs::write(
        &lost,
        "(role p) (init a) (legal p go) (<= (next b) (true a)) (<= terminal (true b)) (goal p 0)",
    )
    .unwrap();
    right(
        "lost.json",
        &[&lost],
        &["--goal", "best"],
        "right: for 0 points or more; a plan",
    );
    let shallow = &["--depth", "5"];
    right("shallow.json", LIGHTS, shallow, "no plan within 5 moves");
    let square = ["--grid", &scratch("square.txt")];
    fs::write(square[1], "1 1 1\n2 2 2\n3 3 3\n").unwrap();
    let hitori = &["games/hitori.kif", square[0], square[1]];
    right(
        "hitori.json",
        hitori,
        &["--method", "sat-set"],
        "no solution has them",
    );
    let poor = &["--budget-nodes", "3", "--method", "breadth-first"];
    right(
        "poor.json",
        &["games/eight_puzzle.kif"],
        poor,
        "no plan within",
    );
}

#[test]
fn what_was_tampered_with_is_told() {
    let file = right("tampered.json", LIGHTS, &[], "right");
    type Change = fn(&mut Value);
    let cases: [(Change, i32, &str); 9] = [
        (
            |v| v["answer"]["plans"][0][0] = json!("c"),
            1,
            "ends with 0 points",
        ),
        (|v| v["answer"]["plans"][0][0] = json!("d"), 1, "move 1: "),
        (|v| v["answer"]["plans"] = json!([]), 1, "no plan"),
        (|v| v["answer"]["all"] = json!(true), 1, "2 such plans"),
        (|v| v["start"] = json!(["(step 1)"]), 1, "wrong"),
        (|v| v["start"][0] = json!("(moon full)"), 2, "start"),
        (|v| v["target"] = json!(101), 2, "target"),
        (|v| v["rules"] = json!("0"), 2, "other rules"),
        (|v| v["answer"]["plan"] = json!([]), 2, "not an answer"),
    ];
    for (number, (change, code, says)) in cases.into_iter().enumerate() {
        let (found, out) = changed(&file, LIGHTS, change);
        assert_eq!(found, code, "{number}: {out}");
        assert!(out.contains(says), "{number}: {out}");
    }
    let file = right("parity_too.json", DARK, &[], "right");
    let (code, out) = changed(&file, DARK, |v| {
        v["answer"]["proof"]["facts"].as_array_mut().unwrap().pop();
    });
    assert_eq!(code, 1, "{out}");
    let (code, out) = changed(&file, DARK, |v| v["start"] = json!(["(lit 2 2)"]));
    assert_eq!(code, 1, "that board can be solved: {out}");
    let (code, out) = changed(&file, DARK, |v| {
        v["answer"]["proof"] = json!({"kind": "refuted", "what": "by magic"});
    });
    assert_eq!((code, out.contains("by magic")), (2, true), "{out}");
}

#[test]
fn only_what_solve_writes_is_an_answer() {
    let file = right("only_parity.json", DARK, &[], "right");
    let repeat = |v: &mut Value| {
        let facts = v["start"].as_array_mut().unwrap();
        facts.push(facts[0].clone());
    };
    let (code, out) = changed(&file, DARK, repeat);
    assert_eq!((code, out.contains(" twice")), (2, true), "{out}");
    // A kind by its number, and a list that is left out.
    let number = |v: &mut Value| v["answer"]["proof"]["kind"] = json!(1);
    let empty = |v: &mut Value| v["answer"]["proof"]["told"] = json!([]);
    for change in [number as fn(&mut Value), empty] {
        let (code, out) = changed(&file, DARK, change);
        assert_eq!((code, out.contains("another way")), (2, true), "{out}");
    }
    let file = right("only_plan.json", LIGHTS, &[], "right");
    let cut = |v: &mut Value| {
        v["answer"].as_object_mut().unwrap().remove("all");
    };
    let (code, out) = changed(&file, LIGHTS, cut);
    assert_eq!((code, out.contains("`all`")), (2, true), "{out}");
}

#[test]
fn what_is_seen_up_to_symmetry_is_looked_at_whole() {
    let levels = &["--method", "breadth-first-packed", "--symmetry", "on"];
    let says = "a search of all 4096 positions found no plan";
    let file = right("classes.json", DARK, levels, says);
    let positions = |file: &str| {
        let value: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
        value["answer"]["proof"]["positions"].as_u64().unwrap()
    };
    // No class has more than eight.
    assert!((512..4_096).contains(&positions(&file)), "{file}");
    let all = right("positions.json", DARK, &levels[..2], says);
    assert_eq!(positions(&all), 4_096);
    let (code, out) = changed(&file, DARK, |v| {
        v["answer"]["proof"]["positions"] = json!(4_097);
    });
    assert_eq!(
        (code, out.contains("only 4096 positions")),
        (1, true),
        "{out}"
    );
}

#[test]
fn limits_are_kept_and_said() {
    let eight = &["games/eight_puzzle.kif"];
    let file = right("eight.json", eight, &[], "no plan within 19 moves");
    let arguments = [
        "verify",
        eight[0],
        &file,
        "--budget-nodes",
        "9",
        "--budget-instances",
        "9",
    ];
    let verified = ggp(&arguments);
    let out = text(&verified.stdout);
    assert_eq!(verified.status.code(), Some(0), "the plan is right");
    assert!(
        out.contains("not checked: that no plan is shorter: there are too many"),
        "{out}"
    );
    let several = ggp(&["verify", LIGHTS[0], &scratch("none.json")]);
    assert_eq!(several.status.code(), Some(2));
    for missing in [&["verify", LIGHTS[0]][..], &["verify", &file]] {
        assert_eq!(ggp(missing).status.code(), Some(2), "{missing:?}");
    }
}

#[test]
fn several_answers_are_checked_at_once() {
    let one = right("one.json", LIGHTS, &[], "right");
    let two = right("two.json", LIGHTS, &["--depth", "5"], "right");
    let both = ggp(&["verify", "--json", LIGHTS[0], &one, &two]);
    let lines: Vec<Value> = (text(&both.stdout).lines())
        .map(|line| serde_json::from_str(line).expect("one JSON value a line"))
        .collect();
    assert_eq!(lines.len(), 2);
    assert!(
        lines.iter().all(|line| line["verdict"] == "right"),
        "{lines:?}"
    );
    assert_eq!(both.status.code(), Some(0));
    let (_, _) = changed(&one, LIGHTS, |v| v["answer"]["plans"] = json!([]));
    let wrong = ggp(&[
        "verify",
        LIGHTS[0],
        &two,
        &one.replace(".json", "_changed.json"),
    ]);
    assert_eq!(wrong.status.code(), Some(1));
}

#[test]
fn proofs_are_part_of_what_solve_prints() {
    let solved = ggp(&[&["solve", "--json"], DARK].concat());
    let value: Value = serde_json::from_slice(&solved.stdout).expect("one JSON value");
    assert_eq!(value["proof"]["kind"], "parity");
    let solved = ggp(&["solve", "--json", LIGHTS[0]]);
    let value: Value = serde_json::from_slice(&solved.stdout).expect("one JSON value");
    assert!(value.get("proof").is_none());
}

#[test]
fn answers_and_values_may_have_any_name() {
    let rules = "games/hanoi.kif";
    right("hanoi.plan", &[rules], &[], "right");
    let values = scratch("nim.csv");
    let made = ggp(&["tabulate", "games/nim.kif", "-o", &values]);
    assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    let verified = ggp(&["verify", "games/nim.kif", &values]);
    assert_eq!(
        verified.status.code(),
        Some(0),
        "{}",
        text(&verified.stderr)
    );
    assert!(text(&verified.stdout).contains("nim.csv: right: "));
}
