//! The drawing of a position is the same at every door.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use std::{fs, io::Write};

use ggp_answers::position::{self, Moves};
use ggp_answers::{Allowance, LoadedGame, NoBackground, RuleSet, Rules};
use ggp_stop::Stop;
use serde_json::{Value, json};

/// The drawing and its text, as the page gets them.
fn of_page(set: RuleSet) -> (Value, String) {
    let (rules, stop) = (Arc::new(Rules::uploaded(set)), Stop::new());
    let game = LoadedGame::new(rules, 64 << 20, &stop).expect("the rules have no errors");
    let allowance = Allowance {
        stop: &stop,
        memory_bytes: 64 << 20,
        time: Duration::from_secs(60),
        tables: &Arc::default(),
        background: &NoBackground,
    };
    let answer = position::position(&game, &Moves::default(), &allowance);
    let answer = json!(answer.unwrap_or_else(|refusal| panic!("{}", refusal.message)));
    (answer["drawing"].clone(), super::text(&answer["text"]))
}

/// The output of `ggp draw` for rules on standard input, with these options.
fn of_command(rules: &str, options: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ggp"));
    command.args(["--quiet", "draw", "-"]).args(options);
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    let mut child = (command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()).unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(rules.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{rules}");
    String::from_utf8(output.stdout).unwrap()
}

fn check(rules: &str, picture: Option<&str>, about: &str) {
    let set = RuleSet {
        picture: picture.map(|path| fs::read_to_string(path).unwrap()),
        ..RuleSet::one("drawn", rules)
    };
    let options: &[&str] = match &picture {
        Some(path) => &["--picture", path],
        None => &[],
    };
    let (drawing, text) = of_page(set);
    assert_eq!(of_command(rules, options).trim_end(), text, "{about}");
    let json = of_command(rules, &[options, &["--json"]].concat());
    let found: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(found, drawing, "{about}");
}

#[test]
fn the_page_and_the_command_draw_the_same() {
    let folder = format!("{}/games", env!("CARGO_MANIFEST_DIR"));
    let mut compared = 0;
    for (name, game) in crate::common::own_games() {
        let texts = game.sources().files().iter().map(|file| file.text());
        let rules = texts.collect::<Vec<_>>().join("\n");
        check(&rules, None, &name);
        let stem = name.trim_end_matches(".kif");
        let picture = format!("{folder}/{stem}.picture.toml");
        if fs::exists(&picture).unwrap() {
            check(&rules, Some(&picture), &name);
        }
        compared += 1;
    }
    assert!(compared >= 30, "{compared}");
    // Names say which way up a board is.
    for [north, east] in [["north", "east"], ["up", "right"], ["way_1", "way_2"]] {
        let rules = format!(
            "(role walker) (init (at 2 2)) (after 1 2) (after 2 3)
            (<= (legal walker ?way) (ahead ?way ?x ?y ?u ?v) (true (at ?x ?y)))
            (<= (ahead {north} ?x ?y ?x ?v) (number ?x) (after ?y ?v))
            (<= (ahead {east} ?x ?y ?u ?y) (number ?y) (after ?x ?u))
            (number 1) (number 2) (number 3)
            (<= (next (at ?u ?v)) (does walker ?way) (true (at ?x ?y)) (ahead ?way ?x ?y ?u ?v))
            (<= terminal (true (at 3 3))) (goal walker 100) (legal walker stay)"
        );
        check(&rules, None, north);
    }
}
