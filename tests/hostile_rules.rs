//! Rules that grow without end, in every command, on the page and in the player: each ends
//! with an answer or with a message that names a limit.

use std::process::{Command, Output};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::common::sized;
use crate::web::service::Service;

/// The time that no command takes, however slow the machine.
const EVER: Duration = Duration::from_secs(60);
/// The most bytes that a command prints.
const MOST: usize = 12 << 20;

/// Sixty rules that each double a term: 61 nodes, and 2^60 symbols when it is written.
fn doubled_terms() -> String {
    let mut rules = String::from(
        "(role r) (init (s 0)) (d0 z) (<= terminal (true (s 1)))
         (<= (goal r 100) (true (s 1))) (<= (goal r 0) (not (true (s 1))))
         (<= (legal r (take ?x)) (d60 ?x)) (legal r stay) (<= (next (s 1)) (does r stay))",
    );
    for number in 0..60 {
        rules += &format!("(<= (d{} (pair ?x ?x)) (d{number} ?x))\n", number + 1);
    }
    rules
}

/// A chain of facts that each make the next one, last rules first, and a chain of relations
/// that read one fact more each: nothing may look at all pairs of them.
fn chains(length: usize) -> String {
    let mut rules = String::from(
        "(role r) (init (p0 x)) (legal r go) (<= (r0 ?x) (true (p0 ?x)))
         (<= (goal r 100) terminal) (<= (goal r 0) (not terminal))",
    );
    for number in (0..length).rev() {
        let next = number + 1;
        rules += &format!(
            "(<= (next (p{next} ?x)) (true (p{number} ?x)))
             (<= (r{next} ?x) (r{number} ?x) (true (p{next} ?x)))\n"
        );
    }
    rules + &format!("(<= terminal (r{length} x))")
}

/// A rule that looks for as many different facts of a state as there are not: all ways of
/// trying to find them take forever, also in one state.
fn join(length: usize) -> String {
    let mut rules = String::from(
        "(role r) (legal r go) (<= (next (q ?x)) (true (q ?x))) (<= terminal (found))
         (<= (goal r 100) (found)) (<= (goal r 0) (not (found)))",
    );
    rules += "(<= (found)";
    for number in 0..length {
        rules += &format!(" (true (q ?a{number}))");
        for other in 0..number {
            rules += &format!(" (distinct ?a{other} ?a{number})");
        }
    }
    rules += ")";
    for number in 1..length {
        rules += &format!(" (init (q {number}))");
    }
    rules
}

/// A goal that asks for a clique of twelve among many facts.
fn clique(nodes: usize) -> String {
    let mut rules = String::from(
        "(role r) (init (s 0)) (legal r go) (<= (next (s 0)) (true (s 0)))
         (<= terminal (true (s 1))) (<= (goal r 100) (found)) (<= (goal r 0) (not (found)))",
    );
    for first in 0..nodes {
        let edges = (0..first).filter(|other| (first * first + other * 7) % 13 < 7);
        edges.for_each(|other| rules += &format!(" (edge {other} {first})"));
    }
    rules += "(<= (found)";
    for first in 0..12 {
        (0..first).for_each(|other| rules += &format!(" (edge ?a{other} ?a{first})"));
    }
    rules + ")"
}

/// Names and texts of rules that grow, and the limit that they meet.
fn hostile() -> Vec<(String, String)> {
    let game = |name: &str, growth: &str| {
        let rest = "(role r) (legal r go) (<= terminal (true over)) (<= (next over) (true never))
             (<= (goal r 100) (true over)) (<= (goal r 0) (not (true over)))";
        (name.to_owned(), format!("{rest} {growth}"))
    };
    let mut games = vec![
        ("terms".to_owned(), doubled_terms()),
        game(
            "state-text",
            "(init (n z)) (<= (next (n (pair ?x ?x))) (true (n ?x)))",
        ),
        game(
            "state-facts",
            "(init (n y)) (init (n z)) (<= (next (n ?x)) (true (n ?x)))
             (<= (next (n (pair ?x ?y))) (true (n ?x)) (true (n ?y)))",
        ),
        game(
            "one-more",
            "(init (n z)) (<= (next (n ?x)) (true (n ?x)))
             (<= (next (n (after ?x))) (true (n ?x)))",
        ),
        game(
            "counted",
            "(v 1) (v 2) (<= (legal r (put ?x)) (v ?x)) (<= (next (at ?x)) (does r (put ?x)))
             (init (count z)) (<= (next (count (after ?x))) (true (count ?x)))",
        ),
        game(
            "join",
            &(0..60)
                .map(|n| format!("(v {n}) (init (at {n}))"))
                .chain([
                    "(<= (wide ?a ?b ?c ?d ?e) (true (at ?a)) (v ?b) (v ?c) (v ?d) (v ?e))"
                        .to_owned(),
                ])
                .chain([
                    "(<= (next (at ?a)) (wide ?a ?b ?c ?d ?e) (wide ?b ?c ?d ?e ?a))".to_owned(),
                ])
                .collect::<String>(),
        ),
    ];
    games.push(("many-rules".to_owned(), chains(12_000)));
    games.push(("join".to_owned(), join(16)));
    games.push(("clique".to_owned(), clique(60)));
    games
}

/// The commands, with limits of their own where they have some.
const COMMANDS: &[&str] = &[
    "check",
    "check --play --time 1",
    "state",
    "legal",
    "legal --backend naive --max-facts 20000 --max-work 2000000",
    "info --ground-time 1",
    "playout --depth 30 --ground-time 1",
    "playout --depth 30 --backend datalog --max-symbols 20000",
    "solve --budget-time 1",
    "solve --budget-time 1 --backend naive",
    "solve --budget-time 1 --method nrpa",
    "prove --budget-time 1",
    "graph --budget-time 1 --budget-memory 10",
    "engine perft {} 9 --time 1",
    "learn --time 1 -o /dev/null",
    "tabulate --budget-time 1 --budget-memory 100 -o /dev/null",
    "why {} terminal --max-facts 100000 --max-work 2000000",
    "draw --max-facts 100000 --max-work 2000000",
    "engine bench --seconds 0.1 --timeout 3",
    "fmt",
    "rules convert",
    "rules scramble",
];

/// Runs a command in 4 GB of address space. The file stands for `{}`, or at the end.
fn run(line: &str, file: &std::path::Path) -> Output {
    let file = file.to_str().expect("its name is text");
    let mut arguments: Vec<&str> = line.split(' ').collect();
    match arguments.iter_mut().find(|argument| **argument == "{}") {
        Some(place) => *place = file,
        None => arguments.push(file),
    }
    Command::new("sh")
        .args(["-c", "ulimit -v 4000000; exec \"$0\" \"$@\""])
        .arg(env!("CARGO_BIN_EXE_ggp"))
        .args(arguments)
        .output()
        .expect("there is a shell")
}

#[test]
#[cfg(target_os = "linux")]
fn every_command_answers_or_names_a_limit() {
    commands_answer(hostile());
}

/// See the test above; more rule files are in `corpus.rs`.
#[cfg(target_os = "linux")]
pub(crate) fn commands_answer(games: Vec<(String, String)>) {
    let folder = tempfile::tempdir().unwrap();
    for (number, (name, rules)) in games.into_iter().enumerate() {
        let file = folder
            .path()
            .join(format!("{}.kif", name.replace('/', "_")));
        std::fs::write(&file, rules).unwrap();
        for (at, line) in COMMANDS.iter().enumerate() {
            // Every second game meets one of 24 commands.
            if at % sized(48, 1) != number % sized(48, 1) {
                continue;
            }
            let began = Instant::now();
            let output = run(line, &file);
            let told = String::from_utf8_lossy(&output.stderr);
            let what = format!("{line} {name}: {:?}\n{told}", output.status);
            assert!(matches!(output.status.code(), Some(0..=2)), "{what}");
            assert!(!told.contains("panicked"), "{what}");
            assert!(began.elapsed() < EVER, "{what}");
            assert!(output.stdout.len() < MOST, "{what}");
            assert!(told.len() < 40_000, "{what}");
            if output.status.code() == Some(2) {
                let error = told.lines().find(|line| line.starts_with("error"));
                let is_clear = error.is_some_and(|error| {
                    [
                        "more than",
                        "time limit",
                        "has no",
                        "not ready in time",
                        "have none",
                        "nothing is learned",
                        "needs a game",
                        "game is over",
                        "--",
                    ]
                    .iter()
                    .any(|words| error.contains(words))
                });
                assert!(is_clear || told.contains("error["), "{what}");
            }
        }
    }
}

#[test]
fn a_row_is_matched_only_with_the_rules_that_name_it() {
    // Each row of one relation makes the next by a rule of its own, last rules first.
    let mut rules = String::from(
        "(role r) (init (p 0)) (legal r go) (<= (next (p 1)) (true (p 0))) (<= terminal (true (p 1)))
         (<= (goal r 100) (row 0)) (<= (goal r 0) (not (row 0))) (<= (row 20000) (true (p 0)))",
    );
    for number in 0..20_000 {
        rules += &format!("(<= (row {number}) (row {}))\n", number + 1);
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rows.kif");
    std::fs::write(&file, rules).unwrap();
    let path = file.to_str().unwrap();
    for backend in ["auto", "datalog"] {
        let arguments = ["state", path, "--max-work", "1000000", "--backend", backend];
        let output = crate::common::ggp(&arguments);
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{told}");
        assert!(String::from_utf8_lossy(&output.stdout).contains("r 100"));
    }
}

#[test]
fn the_limit_and_its_rule_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("terms.kif");
    std::fs::write(&file, doubled_terms()).unwrap();
    let path = file.to_str().unwrap();
    for (options, line) in [(&[][..], 18), (&["--max-symbols", "1000"][..], 8)] {
        for backend in ["naive", "datalog"] {
            let arguments = [&["legal", path, "--backend", backend], options].concat();
            let output = crate::common::ggp(&arguments);
            let told = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{told}");
            assert!(told.contains("symbols in the text of one term"), "{told}");
            assert!(told.contains(&format!("terms.kif:{line}:")), "{told}");
            assert!(told.contains("in a term around (pair (pair"), "{told}");
            assert!(
                told.contains("help: --max-symbols sets this limit"),
                "{told}"
            );
            assert!(told.len() < 400, "{told}");
        }
    }
}

#[test]
fn the_page_survives_and_serves_others() {
    let service = Service::start(&["--memory", "1000"]);
    for (name, rules) in hostile().into_iter().step_by(sized(4, 1)) {
        let hostile = service.anew();
        let set = json!({ "files": [{ "name": "hostile.kif", "text": rules }] });
        let answer = hostile.post("/api/games", &set);
        assert!(
            (200..500).contains(&answer.status),
            "{name}: {}",
            answer.body
        );
        if answer.status == 200 || answer.status == 201 {
            let game = answer.ok();
            let id = game["id"].as_str().unwrap();
            let path = format!("/api/games/{id}/position");
            let answer = hostile.post(&path, &json!({ "moves": [] }));
            assert!(
                answer.body.len() < MOST,
                "{name}: {} bytes",
                answer.body.len()
            );
        }
        let other = service.anew();
        let path = "/api/games/tic_tac_toe/position";
        let position = other.post(path, &json!({ "moves": [] })).ok();
        assert_eq!(position["legal"][0].as_array().unwrap().len(), 9, "{name}");
    }
}
