//! The answers of all commands in JSON, pinned: `pins/answers.json` has command lines with the exit
//! code and the answer that each had when it was written. A difference is a change for whoever reads
//! these answers. `GGP_BLESS=1 cargo test --test all -- pins::` writes the file anew. The plan, the match and the
//! table that they read were written by the program of 2026-11-28.
//!
//! Times, rates and sizes of the memory are left out.

use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Stdio};

/// Parts of the names of values that no two runs share.
const VARYING: [&str; 7] = [
    "seconds",
    "time",
    "elapsed",
    "rate",
    "per_second",
    "bytes",
    "slowest",
];

/// The value without what no two runs share.
fn repeatable(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|name, _| !VARYING.iter().any(|part| name.contains(part)));
            members.values_mut().for_each(repeatable);
        }
        Value::Array(values) => values.iter_mut().for_each(repeatable),
        _ => {}
    }
}

/// The exit code of a command, and the lines or the one value of its answer.
fn answer(line: &str) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_ggp"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("GGP_CACHE", "")
        .args(["--quiet", "--json"])
        .args(words(line))
        .stdin(Stdio::null())
        .output()
        .expect("the program was built");
    let text = String::from_utf8(output.stdout).expect("the output is UTF-8");
    let values = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
    let mut answer = match values.collect::<Result<Vec<Value>, _>>() {
        Ok(values) => Value::Array(values),
        Err(_) => text.lines().map(Value::from).collect(),
    };
    repeatable(&mut answer);
    json!({ "line": line, "code": output.status.code(), "answer": answer })
}

/// The words of a line, in which single quotes keep blanks.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (number, part) in line.split('\'').enumerate() {
        if number % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

#[test]
fn answers_in_json_are_as_pinned() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pins/answers.json");
    let text = std::fs::read_to_string(&path).expect("the pins can be read");
    let pins: Vec<Value> = serde_json::from_str(&text).expect("the pins are JSON");
    let lines = pins
        .iter()
        .map(|pin| pin["line"].as_str().expect("it has a line"));
    let answers: Vec<Value> = lines.map(answer).collect();
    if std::env::var_os("GGP_BLESS").is_some() {
        let rows: Vec<String> = answers.iter().map(Value::to_string).collect();
        let text = format!("[\n{}\n]\n", rows.join(",\n"));
        std::fs::write(&path, text).expect("the pins can be written");
        return;
    }
    let differing = pins
        .iter()
        .zip(&answers)
        .find(|(pin, answer)| pin != answer);
    if let Some((pin, answer)) = differing {
        panic!("pinned: {pin:#}\nnow: {answer:#}");
    }
}

#[test]
fn every_command_with_an_answer_is_pinned() {
    let all = ggp_cli::command();
    let commands = ggp_cli::all_commands(&all);
    let commands = commands.iter().map(|(words, _)| &words[..]);
    // They serve, wait for others, measure, write files alone or compare answers themselves.
    let others = [
        "lsp",
        "play",
        "web",
        "player",
        "host",
        "learn",
        "completions",
        "man",
        "tabulate",
        "engine bench",
        "engine conformance",
    ];

    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pins/answers.json");
    let pins = std::fs::read_to_string(path).expect("the pins can be read");
    for command in commands.filter(|command| !others.contains(command)) {
        assert!(
            pins.contains(&format!("\"line\":\"{command} ")),
            "{command}"
        );
    }
}
