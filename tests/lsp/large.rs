//! Large files: nothing elsewhere waits for them, and edits end their checks.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Editor, URI, WALK, at, place};

const LARGE: &str = "file:///rules/large.kif";

/// A rule file with many rules: the check of 100,000 takes seconds.
fn large(rules: usize) -> String {
    let rules = (0..rules)
        .map(|number| format!("(<= (reached c{number} ?x) (true (at ?x)) (edge n{number} ?x))\n"));
    WALK.to_owned() + &rules.collect::<String>()
}

impl Editor {
    fn open_large(&mut self, rules: usize) {
        let document =
            json!({ "uri": LARGE, "languageId": "kif", "version": 1, "text": large(rules) });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
    }

    /// Inserts a text at the beginning of the large file.
    fn edit_large(&mut self, version: i32, text: &str) {
        let start = json!({ "line": 0, "character": 0 });
        self.tell(
            "textDocument/didChange",
            json!({
                "textDocument": { "uri": LARGE, "version": version },
                "contentChanges": [{ "range": { "start": start, "end": start }, "text": text }]
            }),
        );
    }

    /// Sends a request without waiting for the answer; its number.
    fn post(&mut self, method: &str, params: Value) -> i64 {
        self.sent += 1;
        let id = self.sent;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// The answer to a request that was posted.
    fn answer_to(&mut self, id: i64) -> Value {
        loop {
            let known = self.others.iter().position(|message| message["id"] == id);
            if let Some(known) = known {
                return self.others.remove(known).expect("it is there");
            }
            let message = self.read();
            self.others.push_back(message);
        }
    }
}

/// As [`at`], in the large file.
fn in_large(line: u32, character: u32) -> Value {
    let mut params = at(line, character);
    params["textDocument"]["uri"] = LARGE.into();
    params
}

#[test]
fn a_large_file_delays_no_answer_about_another() {
    let mut editor = Editor::open(WALK);
    assert!(editor.findings().is_empty());
    editor.open_large(30_000);
    let of_large = editor.post("textDocument/hover", in_large(3, 9));
    for version in 2..12 {
        let hover = editor.ask("textDocument/hover", place("after", 0));
        assert!(
            hover.to_string().contains("relation, 2 arguments"),
            "{hover}"
        );
        editor.edit_large(version, "\n");
    }
    // The text changed before it was checked.
    let changed = editor.answer_to(of_large);
    assert_eq!(changed["error"]["code"], -32801, "{changed}");
    // The last text is checked and has its own positions. Nothing was said of the others.
    let hover = editor.ask("textDocument/hover", in_large(3 + 10, 9));
    assert!(hover.to_string().contains("legal"), "{hover}");
    assert_eq!(
        hover["range"]["start"],
        json!({ "line": 13, "character": 5 })
    );
    let told = editor.wait("textDocument/publishDiagnostics");
    assert_eq!(
        (&told["uri"], &told["version"]),
        (&json!(LARGE), &json!(11))
    );
    editor.end();
}

#[test]
fn answers_about_one_file_come_in_the_order_of_the_requests() {
    let mut editor = Editor::open(WALK);
    let asked: Vec<i64> = (0..20)
        .map(|number| {
            let position = place(["after", "legal", "robot"][number % 3], 0);
            editor.post("textDocument/hover", position)
        })
        .collect();
    let mut came = Vec::new();
    while came.len() < asked.len() {
        let message = editor.read();
        came.extend(message["id"].as_i64());
    }
    assert_eq!(came, asked);
    editor.end();
}

#[test]
fn requests_with_the_same_name_are_all_answered() {
    let mut editor = Editor::new();
    editor.open_large(100_000);
    let asked = editor.post("textDocument/hover", in_large(3, 9));
    for _ in 0..2 {
        editor.sent -= 1;
        editor.post("textDocument/hover", in_large(3, 9));
    }
    editor.edit_large(2, " ");
    // Two of them are refused at once.
    let answers = [(); 3].map(|()| editor.answer_to(asked));
    let refused = answers.iter().filter(|answer| !answer["error"].is_null());
    assert!(refused.count() >= 2, "{answers:?}");
    editor.end();
}

#[test]
fn a_closed_file_has_no_findings() {
    let mut editor = Editor::new();
    editor.open_large(100_000);
    let waiting = editor.post("textDocument/hover", in_large(3, 9));
    editor.tell(
        "textDocument/didClose",
        json!({ "textDocument": { "uri": LARGE } }),
    );
    let told = editor.wait("textDocument/publishDiagnostics");
    assert_eq!(told["diagnostics"], json!([]));
    assert_eq!(editor.answer_to(waiting)["error"]["code"], -32801);
    // Opened again, it is another document.
    let document = json!({ "uri": LARGE, "languageId": "kif", "version": 1, "text": "(p ?x" });
    editor.tell("textDocument/didOpen", json!({ "textDocument": document }));
    let told = editor.wait("textDocument/publishDiagnostics");
    assert_eq!(told["diagnostics"][0]["code"], "K001", "{told}");
    editor.end();
}

#[test]
fn the_session_ends_while_a_large_file_is_checked() {
    let mut editor = Editor::new();
    editor.open_large(100_000);
    let waiting = editor.post("textDocument/hover", in_large(3, 9));
    let start = Instant::now();
    editor.ask("shutdown", Value::Null);
    // Each request has an answer before the end.
    assert_eq!(editor.answer_to(waiting)["error"]["code"], -32800);
    editor.tell("exit", Value::Null);
    assert!(editor.server.wait().expect("it ends").success());
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[test]
fn everything_asked_before_the_end_is_answered() {
    let mut editor = Editor::open(WALK);
    let asked = editor.post("textDocument/hover", place("after", 0));
    let end = editor.post("shutdown", Value::Null);
    assert_eq!(editor.answer_to(end)["error"], Value::Null);
    let answer = editor.answer_to(asked);
    assert!(answer["result"].is_object(), "{answer}");
    let findings = editor.wait("textDocument/publishDiagnostics");
    assert_eq!(findings["uri"], URI);
    editor.tell("exit", Value::Null);
    assert!(editor.server.wait().expect("it ends").success());
}

#[cfg(unix)]
#[test]
fn a_signal_ends_the_server() {
    let mut editor = Editor::new();
    editor.open_large(100_000);
    let id = editor.server.id().to_string();
    let sent = std::process::Command::new("kill").arg(&id).status();
    assert!(sent.expect("there is a program `kill`").success());
    assert_eq!(editor.server.wait().expect("it ends").code(), Some(2));
}
