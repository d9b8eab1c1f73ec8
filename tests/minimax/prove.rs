//! `ggp prove` as a command.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::ggp;

/// Runs `ggp prove` and checks its exit code and standard output.
fn check_prove(arguments: &[&str], code: i32, expected: &str) {
    let output = ggp(&[&["--quiet", "prove"], arguments].concat());
    let found = String::from_utf8(output.stdout).unwrap();
    assert_eq!(found, expected, "{arguments:?}");
    assert_eq!(output.status.code(), Some(code), "{arguments:?}");
}

#[test]
fn values_of_positions_are_printed() {
    let nim = "games/nim.kif";
    check_prove(&[nim, "--best"], 0, "(take a 2) 100\n");
    let near = "(take c 5); (take b 3); (take a 2)";
    check_prove(&[nim, "--moves", near], 0, "(take a 1) 0\n(take b 1) 0\n");
    let talk = "games/prisoners_dilemma.kif";
    let sure = "talk at least 20\nsilent at least 18\n";
    check_prove(&[talk, "--role", "left"], 0, sure);
    // Chance makes the only choice, and is not asked what is best for it.
    let dice = "(role random) (role a) (init start) (face 1) (face 2)
        (<= (legal random (roll ?x)) (face ?x)) (legal a wait)
        (<= (next (is ?x)) (does random (roll ?x))) (<= terminal (not (true start)))
        (<= (goal a 40) (true (is ?x))) (<= (goal a 40) (true start)) (goal random 0)";
    check_prove(&[&rules("dice", dice)], 0, "wait 40\n");
    // One position is not enough for a proof.
    let output = ggp(&["prove", nim, "--budget-nodes", "1", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["proved"], false);
    assert_eq!(answer["ran_out"], "positions");
    assert_eq!(answer["moves"].as_array().unwrap().len(), 12);
}

/// Writes rules to a file and returns its path.
fn rules(name: &str, text: &str) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("prove_{name}.kif"));
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// A walk between two players; leaving the ring gives the points to the other.
const RING: &str = "
    (role left) (role right) (init (at 0)) (init (turn left))
    (other left right) (other right left) (next_to 0 1) (next_to 1 2) (next_to 2 0)
    (<= (legal ?r walk) (true (turn ?r))) (<= (legal ?r leave) (true (turn ?r)))
    (<= (legal ?r wait) (role ?r) (not (true (turn ?r))))
    (<= (next (turn ?s)) (true (turn ?r)) (other ?r ?s))
    (<= (next (at ?y)) (does ?r walk) (true (at ?x)) (next_to ?x ?y))
    (<= (next (left ?r)) (does ?r leave))
    (<= terminal (true (left ?r))) (<= (goal ?r 0) (true (left ?r)))
    (<= (goal ?s 100) (true (left ?r)) (other ?r ?s))";

#[test]
fn endless_play_is_said_to_be_endless() {
    let ring = rules("ring", RING);
    check_prove(&[&ring], 0, "walk endless, 0 to 100\nleave 0\n");
    let output = ggp(&["prove", &ring, "--json"]);
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["moves"][0]["endless"], true);
    assert!(answer["proved"] == true && answer["endless"] == true);
    let output = |file: &str| String::from_utf8(ggp(&["prove", file]).stderr).unwrap();
    let part = "nor right one worth less than 100: proved, retrograde analysis, ";
    assert!(output(&ring).contains(part), "{}", output(&ring));
    let alone = "(role a) (init on) (<= (next on) (true on)) (legal a go) (legal a stay)
        (<= terminal (not (true on))) (goal a 50)";
    let part = "play can go on forever, and a cannot reach an end worth more than 0: proved";
    assert!(output(&rules("alone", alone)).contains(part));
}

#[test]
fn faults_in_the_rules_are_reported_with_the_moves_that_lead_to_them() {
    let check = |name: &str, text: &str, what: &str| {
        let file = rules(name, text);
        let output = ggp(&["prove", &file]);
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.contains(what), "{name}: {text}");
        assert_eq!(output.status.code(), Some(1), "{name}: {text}");
        let output = ggp(&["prove", &file, "--json"]);
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(
            answer["fault"]["moves"].as_array().unwrap().len(),
            2,
            "{name}"
        );
    };
    let head = "
        (role me) (init (at 0)) (after 0 1) (after 1 2) (mine go)
        (<= (next (at ?y)) (true (at ?x)) (after ?x ?y))";
    let goals = "(<= terminal (true (at 2))) (<= (goal me 70) (true (at 1)))";
    let legal = "(<= (legal me ?m) (mine ?m))";
    let what = "the rules are wrong after go; go: me has no goal value";
    check("no_goal", &format!("{head}{legal}{goals}"), what);
    let stuck = "
        (<= (legal me go) (after ?x ?y) (true (at ?x)))
        (<= terminal (true (at 3))) (<= (goal me 100) terminal)";
    let what = "the rules are wrong after go; go: me has no legal move";
    check("stuck", &format!("{head}{stuck}"), what);
}

#[test]
fn the_best_estimate_is_reported_without_a_proof() {
    let answer = |arguments: &[&str]| -> serde_json::Value {
        let output = ggp(&[&["prove", "--json"], arguments].concat());
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let connect = answer(&["games/connect_four.kif", "--budget-nodes", "2000"]);
    let moves = connect["moves"].as_array().unwrap();
    let estimates: Vec<f64> = moves
        .iter()
        .filter_map(|m| m["estimate"].as_f64())
        .collect();
    assert_eq!(estimates.len(), 7, "{connect}");
    assert!(!connect["line"].as_array().unwrap().is_empty());
    // A time limit is not an error.
    let late = answer(&["games/connect_four.kif", "--budget-time", "0"]);
    assert_eq!(late["ran_out"], "time");
}

#[test]
fn invalid_arguments_of_prove_are_rejected() {
    let refused = |arguments: &[&str], why: &str| {
        let output = ggp(&[&["prove"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.contains(why), "{text}");
    };
    let stones = "games/rock_paper_scissors.kif";
    refused(
        &[stones],
        "select a role with --role: left and right have a choice",
    );
    let end = "(take c 5); (take b 4); (take a 3)";
    refused(&["games/nim.kif", "--moves", end], "the game is over");
}

#[cfg(unix)]
#[test]
fn an_interrupt_keeps_what_is_proved() {
    // It cannot end by itself, so it does not matter how far it gets.
    let arguments = ["prove", "games/hex.kif", "--budget-time", "600", "--json"];
    let child = Command::new(env!("CARGO_BIN_EXE_ggp"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program was built");
    std::thread::sleep(std::time::Duration::from_secs(3));
    let number = child.id().to_string();
    let killed = Command::new("kill").args(["-INT", &number]).status();
    assert!(killed.expect("kill is there").success());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(1));
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).expect("an answer");
    assert_eq!(answer["ran_out"], "interrupted");
    assert!(!answer["moves"].as_array().expect("a list").is_empty());
}
