//! The language server as an editor sees it: messages to and from the program.

mod fixes;
mod large;

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

const URI: &str = "file:///rules/walk.kif";

/// A robot that walks; the first line has characters of one, two and four bytes.
const WALK: &str = "; a é 𝄞
(role robot)
(init (at 0)) (after 0 1) (after 1 2)
(<= (legal robot go) (true (at ?x)) (after ?x ?y))
(<= (legal robot stay) (true (at ?x)))
(<= (next (at ?y)) (does robot go) (true (at ?x)) (after ?x ?y))
(<= (next (at ?x)) (does robot stay) (true (at ?x)))
(<= terminal (true (at 2)))
(<= (goal robot 100) (true (at 2)))
(<= (goal robot 0) (not (true (at 2))))
";

struct Editor {
    server: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// Messages that were not waited for yet.
    others: VecDeque<Value>,
    sent: i64,
}

impl Editor {
    fn new() -> Self {
        let mut server = Command::new(env!("CARGO_BIN_EXE_ggp"))
            .args(["lsp", "--time", "12"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let input = server.stdin.take().expect("it is piped");
        let output = BufReader::new(server.stdout.take().expect("it is piped"));
        let mut editor = Editor {
            server,
            input,
            output,
            others: VecDeque::new(),
            sent: 0,
        };
        let answer = editor.ask("initialize", json!({ "capabilities": {} }));
        assert_eq!(answer["serverInfo"]["name"], "ggp");
        editor.tell("initialized", json!({}));
        editor
    }

    fn open(text: &str) -> Self {
        let mut editor = Editor::new();
        let document = json!({ "uri": URI, "languageId": "kif", "version": 1, "text": text });
        editor.tell("textDocument/didOpen", json!({ "textDocument": document }));
        editor
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len()).expect("it listens");
        self.input.flush().expect("it listens");
    }

    fn tell(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    fn read(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            self.output.read_line(&mut line).expect("it speaks");
            match line.trim_end() {
                "" => break,
                line => {
                    if let Some(number) = line.strip_prefix("Content-Length: ") {
                        length = number.parse().expect("it is a number");
                    }
                }
            }
        }
        let mut body = vec![0; length];
        self.output.read_exact(&mut body).expect("it speaks");
        serde_json::from_slice(&body).expect("it is JSON")
    }

    /// The complete answer to a request.
    fn answer(&mut self, method: &str, params: Value) -> Value {
        self.sent += 1;
        let id = self.sent;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let message = self.read();
            if message["id"] == id {
                return message;
            }
            self.others.push_back(message);
        }
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let answer = self.answer(method, params);
        assert_eq!(answer["error"], Value::Null, "{method}");
        answer["result"].clone()
    }

    /// The next notification of a method.
    fn wait(&mut self, method: &str) -> Value {
        let known = self
            .others
            .iter()
            .position(|message| message["method"] == method);
        if let Some(known) = known {
            return self.others.remove(known).expect("it is there")["params"].clone();
        }
        loop {
            let message = self.read();
            if message["method"] == method {
                return message["params"].clone();
            }
            self.others.push_back(message);
        }
    }

    fn findings(&mut self) -> Vec<Value> {
        let params = self.wait("textDocument/publishDiagnostics");
        params["diagnostics"]
            .as_array()
            .expect("it is a list")
            .clone()
    }

    fn end(mut self) {
        self.ask("shutdown", Value::Null);
        self.tell("exit", Value::Null);
        assert!(self.server.wait().expect("it ends").success());
    }
}

fn at(line: u32, character: u32) -> Value {
    json!({ "textDocument": { "uri": URI }, "position": { "line": line, "character": character } })
}

/// The position of the `number`-th occurrence of a text, in the units of the protocol.
fn place(of: &str, number: usize) -> Value {
    let start = WALK.match_indices(of).nth(number).expect("it is there").0;
    let line = WALK[..start].matches('\n').count();
    let column = WALK[..start].rsplit('\n').next().unwrap_or_default();
    at(line as u32, column.encode_utf16().count() as u32)
}

fn with(mut params: Value, key: &str, value: Value) -> Value {
    params[key] = value;
    params
}

/// The text after edits, applied from the last to the first.
fn edited(text: &str, edits: &Value) -> String {
    let offset = |position: &Value| {
        let line = position["line"].as_u64().expect("a number") as usize;
        let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
        let mut units = position["character"].as_u64().expect("a number") as usize;
        let mut end = start;
        for c in text[start..].chars() {
            if units == 0 {
                break;
            }
            units -= c.len_utf16();
            end += c.len_utf8();
        }
        end
    };
    let mut out = text.to_owned();
    let mut edits: Vec<_> = (edits.as_array().expect("a list").iter())
        .map(|edit| {
            let range = &edit["range"];
            (
                offset(&range["start"]),
                offset(&range["end"]),
                edit["newText"].as_str().expect("a text"),
            )
        })
        .collect();
    edits.sort();
    for (start, end, new) in edits.into_iter().rev() {
        out.replace_range(start..end, new);
    }
    out
}

#[test]
fn errors_are_reported_while_typing() {
    let mut editor = Editor::open(WALK);
    assert!(editor.findings().is_empty());
    // After characters of several bytes: the column is in UTF-16 units.
    let end = json!({ "line": 0, "character": 8 });
    let change = |range: Value, text: &str| {
        json!({
            "textDocument": { "uri": URI, "version": 2 },
            "contentChanges": [{ "range": range, "text": text }]
        })
    };
    editor.tell(
        "textDocument/didChange",
        change(json!({ "start": end, "end": end }), "\n(p ?x"),
    );
    let found = editor.findings();
    assert_eq!(found[0]["code"], "K001");
    assert_eq!(
        found[0]["range"]["start"],
        json!({ "line": 1, "character": 0 })
    );
    editor.tell(
        "textDocument/didChange",
        change(
            json!({ "start": { "line": 1, "character": 0 }, "end": { "line": 1, "character": 5 } }),
            "(p a)",
        ),
    );
    let found = editor.findings();
    assert_eq!(found.len(), 1);
    assert_eq!(
        (&found[0]["code"], &found[0]["severity"]),
        (&json!("W203"), &json!(2))
    );
    // The whole text is replaced.
    editor.tell(
        "textDocument/didChange",
        json!({ "textDocument": { "uri": URI, "version": 4 }, "contentChanges": [{ "text": WALK }] }),
    );
    assert!(editor.findings().is_empty());
    editor.tell(
        "textDocument/didClose",
        json!({ "textDocument": { "uri": URI } }),
    );
    assert!(editor.findings().is_empty());
    let gone = editor.answer("textDocument/hover", place("robot", 0));
    assert!(
        gone["error"]["message"]
            .as_str()
            .unwrap()
            .contains("not open")
    );
    editor.end();
}

#[test]
fn lines_end_with_a_carriage_return_a_line_feed_or_both() {
    let mut editor = Editor::open("(role a)\r\n(role b)\r(p ?x");
    let place = |editor: &mut Editor| {
        let found = editor.findings();
        let codes = found.iter().position(|found| found["code"] == "K001");
        found[codes.expect("a bracket is missing")]["range"]["start"].clone()
    };
    assert_eq!(place(&mut editor), json!({ "line": 2, "character": 0 }));
    // A place beyond the line is before both characters that end it.
    let end = json!({ "line": 0, "character": 99 });
    editor.tell(
        "textDocument/didChange",
        json!({
            "textDocument": { "uri": URI, "version": 2 },
            "contentChanges": [{ "range": { "start": end, "end": end }, "text": " " }]
        }),
    );
    assert_eq!(place(&mut editor), json!({ "line": 2, "character": 0 }));
    editor.end();
}

#[test]
fn hover_describes_names_and_finds_their_definitions() {
    let mut editor = Editor::open(WALK);
    let mut hover = |at: Value| {
        let answer = editor.ask("textDocument/hover", at);
        answer["contents"]["value"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    assert!(hover(place("legal", 0)).contains("(legal ROLE MOVE)"));
    assert!(hover(place("<=", 0)).contains("the head holds if all literals do"));
    let after = hover(place("after", 0));
    assert!(after.contains("2 facts, 0 rules"), "{after}");
    assert!(after.contains("argument 2: `1`, `2` (2 names)"), "{after}");
    assert!(hover(place("at 0", 0)).contains("argument 1: `0`, `1`, `2` (3 names)"));
    // The argument before `after` can only be 0 or 1.
    assert_eq!(hover(place("?x", 0)), "`?x` — `0`, `1` (2 names)");
    assert_eq!(hover(at(0, 0)), "");

    let lines = |answer: &Value| -> Vec<u64> {
        let places = answer.as_array().expect("a list").iter();
        places
            .map(|place| place["range"]["start"]["line"].as_u64().unwrap())
            .collect()
    };
    let definition = editor.ask("textDocument/definition", place("after", 2));
    assert_eq!(lines(&definition), [2, 2]);
    let definition = editor.ask("textDocument/definition", place("(at 2", 0));
    assert!(
        definition.as_array().unwrap().is_empty(),
        "a bracket is not a name"
    );
    let definition = editor.ask("textDocument/definition", place("at 2", 0));
    assert_eq!(lines(&definition), [2, 5, 6]);
    let asked = |declared: bool| {
        with(
            place("go)", 0),
            "context",
            json!({ "includeDeclaration": declared }),
        )
    };
    let uses = editor.ask("textDocument/references", asked(true));
    assert_eq!(lines(&uses), [3, 5]);
    let uses = editor.ask("textDocument/references", asked(false));
    assert_eq!(lines(&uses), [5]);
    editor.end();
}

#[test]
fn names_and_variables_are_renamed() {
    let mut editor = Editor::open(WALK);
    let renamed = |editor: &mut Editor, at: Value, new: &str| {
        editor.answer("textDocument/rename", with(at, "newName", json!(new)))
    };
    let answer = renamed(&mut editor, place("after", 1), "follows");
    let text = edited(WALK, &answer["result"]["changes"][URI]);
    assert_eq!(text, WALK.replace("after", "follows"));
    let answer = renamed(&mut editor, place("?y", 0), "?next");
    let text = edited(WALK, &answer["result"]["changes"][URI]);
    assert_eq!(text, WALK.replacen("?y", "?next", 1));
    for (at, new, why) in [
        (place("?y", 0), "?x", "already"),
        (place("?y", 0), "y", "is not a variable"),
        (place("after", 0), "at", "is already used"),
        (place("after", 0), "a b", "not a valid name"),
        (place("legal", 0), "may", "reserved word"),
    ] {
        let answer = renamed(&mut editor, at, new);
        let message = answer["error"]["message"].as_str().expect("it is refused");
        assert!(message.contains(why), "{message}");
    }
    let range = editor.ask("textDocument/prepareRename", place("after", 0));
    assert_eq!(range["start"]["character"], 15);
    assert_eq!(
        editor.ask("textDocument/prepareRename", place("legal", 0)),
        Value::Null
    );
    editor.end();
}

#[test]
fn completions_fit_their_position() {
    let mut editor = Editor::open(WALK);
    let mut offered = |typed: &str| -> Vec<String> {
        editor.tell(
            "textDocument/didChange",
            json!({
                "textDocument": { "uri": URI, "version": 2 },
                "contentChanges": [{ "text": format!("{WALK}{typed}") }]
            }),
        );
        let line = WALK.matches('\n').count() as u32;
        let items = editor.ask("textDocument/completion", at(line, typed.len() as u32));
        let items = items.as_array().expect("a list").iter();
        items
            .map(|item| item["label"].as_str().unwrap().to_owned())
            .collect()
    };
    let heads = offered("(");
    assert!(
        heads.contains(&"legal".to_owned()) && heads.contains(&"after".to_owned()),
        "{heads:?}"
    );
    assert_eq!(offered("(after 0 "), ["1", "2"]);
    assert_eq!(
        offered("(<= (goal robot 50) (true (at ?z)) (after ?z "),
        ["1", "2", "?z"]
    );
    assert_eq!(
        offered("(<= (goal robot 50) (true (at ?z)) (after ?"),
        ["?z"]
    );
    assert_eq!(offered("(init ("), ["at"]);
    // Facts are completed where facts are expected, and moves where moves are.
    let moves = "(<= (legal robot (jump ?x)) (true (at ?x)))";
    assert_eq!(offered(&format!("{moves} (<= p (true (")), ["at"]);
    assert_eq!(offered(&format!("{moves} (<= p (does ?r (")), ["jump"]);
    assert_eq!(offered(&format!("{moves} (<= (legal ?r (")), ["jump"]);
    editor.end();
}

#[test]
fn files_are_formatted_and_outlined() {
    let loose = WALK.replace(") (true", ")   (true");
    let mut editor = Editor::open(&loose);
    let params = json!({ "textDocument": { "uri": URI }, "options": { "tabSize": 4, "insertSpaces": true } });
    let edits = editor.ask("textDocument/formatting", params.clone());
    let text = edited(&loose, &edits);
    assert!(
        text.contains("\n(<= (legal robot stay)\n    (true (at ?x)))\n"),
        "{text}"
    );
    assert!(text.starts_with("; a é 𝄞\n"));
    let outline = editor.ask(
        "textDocument/documentSymbol",
        json!({ "textDocument": { "uri": URI } }),
    );
    let names: Vec<&str> = (outline.as_array().unwrap().iter())
        .map(|symbol| symbol["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names[..4],
        [
            "(role robot)",
            "(init (at 0))",
            "(after 0 1)",
            "(after 1 2)"
        ]
    );
    assert_eq!(names[4], "(legal robot go)");
    // Unbalanced brackets are left unchanged.
    let mut broken = Editor::open("(p (q)");
    let refused = broken.answer("textDocument/formatting", params);
    assert!(refused["error"]["message"].as_str().is_some());
    broken.end();
    editor.end();
}

#[test]
fn lenses_run_perft_playouts_and_checks() {
    let mut editor = Editor::open(WALK);
    let lenses = editor.ask(
        "textDocument/codeLens",
        json!({ "textDocument": { "uri": URI } }),
    );
    let commands: Vec<Value> = (lenses.as_array().unwrap().iter())
        .map(|lens| lens["command"]["command"].clone())
        .collect();
    assert_eq!(commands, ["ggp.perft", "ggp.playout", "ggp.check"]);
    let mut run = |command: &str| {
        let params = json!({ "command": command, "arguments": [URI] });
        let answer = editor.ask("workspace/executeCommand", params);
        let shown = editor.wait("window/showMessage");
        assert_eq!(shown["message"], answer);
        answer.as_str().expect("a text").to_owned()
    };
    assert!(run("ggp.playout").ends_with("robot 100"));
    let counted = run("ggp.perft");
    assert!(
        counted.contains("2: 4 paths, 3 positions, 1 of them terminal"),
        "{counted}"
    );
    assert!(run("ggp.check").contains("a match can go on forever"));
    let refused = editor.answer(
        "workspace/executeCommand",
        json!({ "command": "rm", "arguments": [URI] }),
    );
    assert!(
        refused["error"]["message"]
            .as_str()
            .unwrap()
            .contains("no command")
    );
    editor.end();
}

#[test]
fn invalid_requests_get_an_error_and_the_server_continues() {
    let mut editor = Editor::open(WALK);
    let answer = editor.answer("textDocument/teleport", json!({}));
    assert_eq!(answer["error"]["code"], -32601);
    let answer = editor.answer("textDocument/hover", json!({ "position": 7 }));
    assert_eq!(answer["error"]["code"], -32602);
    editor.tell("textDocument/didChange", json!({ "nothing": true }));
    editor.tell("$/unknown", json!([]));
    // Positions beyond the text.
    let beyond = editor.ask("textDocument/hover", at(500, 500));
    assert_eq!(beyond, Value::Null);
    editor.tell(
        "textDocument/didChange",
        json!({
            "textDocument": { "uri": URI, "version": 2 },
            "contentChanges": [{ "range": { "start": { "line": 900, "character": 9 }, "end": { "line": 1, "character": 0 } }, "text": "; end" }]
        }),
    );
    assert!(editor.ask("textDocument/hover", place("legal", 0))["contents"].is_object());
    editor.end();
}

#[test]
fn hover_explains_connectives() {
    let text = "(p a) (<= (q ?x) (p ?x) (or (not (p ?x)) (distinct ?x or)))";
    let mut editor = Editor::open(text);
    for (word, meaning) in [
        ("<=", "the head holds if all literals do"),
        ("or (", "at least one of the literals holds"),
        ("not", "does not hold"),
        ("distinct", "the terms s and t differ"),
    ] {
        let column = text.find(word).unwrap() as u32;
        let answer = editor.ask("textDocument/hover", at(0, column));
        let told = answer["contents"]["value"].as_str().unwrap_or_default();
        assert!(told.contains(meaning), "{word}: {answer}");
    }
    let constant = editor.ask("textDocument/hover", at(0, text.len() as u32 - 5));
    assert!(
        !constant.to_string().contains("one of the literals"),
        "{constant}"
    );
    editor.end();
}

#[test]
fn infix_notation_is_reported_and_not_formatted() {
    let mut editor = Editor::open("role(robot)\nterminal :- true(at(2))\n");
    let found = editor.findings();
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].to_string().contains("this is infix notation"),
        "{found:?}"
    );
    let params = json!({ "textDocument": { "uri": URI }, "options": { "tabSize": 4, "insertSpaces": true } });
    let refused = editor.answer("textDocument/formatting", params);
    let told = refused["error"]["message"].as_str();
    assert!(told.is_some_and(|told| told.contains("infix")), "{refused}");
    editor.end();
}

#[test]
fn a_session_without_shutdown_ends_with_code_1() {
    for sends_before in [true, false] {
        let mut editor = Editor::new();
        if sends_before {
            editor.ask("shutdown", Value::Null);
            let answer = editor.answer("textDocument/hover", at(0, 0));
            assert_eq!(answer["error"]["code"], -32600);
        }
        editor.tell("exit", Value::Null);
        let code = editor.server.wait().expect("it ends").code();
        assert_eq!(code, Some(i32::from(!sends_before)));
    }
}

#[test]
fn a_message_that_is_not_json_ends_nothing() {
    let mut editor = Editor::open(WALK);
    for (body, code) in [("{\"id\": 7", -32700), ("\u{feff}", -32700), ("[]", -32600)] {
        write!(editor.input, "Content-Length: {}\r\n\r\n{body}", body.len()).expect("it listens");
        loop {
            let message = editor.read();
            if message["error"] != Value::Null {
                assert_eq!(
                    (&message["id"], &message["error"]["code"]),
                    (&Value::Null, &code.into())
                );
                break;
            }
        }
    }
    assert_ne!(editor.ask("textDocument/hover", at(1, 2)), Value::Null);
    editor.end();
}

#[test]
fn identifiers_of_all_sizes_are_answered() {
    let mut editor = Editor::open(WALK);
    for id in [
        json!(3_000_000_000_u64),
        json!(-5_000_000_000_i64),
        json!("7"),
        json!("\""),
    ] {
        let method = "textDocument/hover";
        editor.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": at(1, 2) }));
        let answer = loop {
            let message = editor.read();
            if message["id"] == id {
                break message;
            }
        };
        assert_ne!(answer["result"], Value::Null, "{id}");
    }
    editor.end();
}
