//! Quick fixes that an editor offers for errors.

use serde_json::{Value, json};

use super::{Editor, URI, WALK, edited};

/// The titles of the fixes for the `number`-th occurrence of a text, and the text after the
/// first fix.
fn fixed(text: &str, of: &str, number: usize) -> (Vec<String>, String) {
    let mut editor = Editor::open(text);
    let start = text.match_indices(of).nth(number).expect("it is there").0;
    let line = text[..start].matches('\n').count();
    let column = text[..start].rsplit('\n').next().unwrap_or_default();
    let at = json!({ "line": line, "character": column.encode_utf16().count() });
    let params = json!({
        "textDocument": { "uri": URI },
        "range": { "start": at, "end": at },
        "context": { "diagnostics": [] }
    });
    let offered = editor.ask("textDocument/codeAction", params);
    let offered = offered.as_array().expect("a list");
    let title = |action: &Value| action["title"].as_str().unwrap().to_owned();
    let titles = offered.iter().map(title).collect();
    let text = match offered.first() {
        Some(action) => edited(text, &action["edit"]["changes"][URI]),
        None => text.to_owned(),
    };
    editor.end();
    (titles, text)
}

#[test]
fn errors_have_quick_fixes() {
    let broken = |right: &str, wrong: &str| {
        assert!(WALK.contains(right), "{right}");
        WALK.replacen(right, wrong, 1)
    };
    for (right, wrong, of, title) in [
        // Names: of a relation, a fact, a move, a role and a keyword.
        (
            "(after ?x ?y))",
            "(aftr ?x ?y))",
            "aftr",
            "Replace aftr with after",
        ),
        (
            "(true (at 2))",
            "(true (att 2))",
            "true (att",
            "Replace att with at",
        ),
        (
            "does robot go)",
            "does robot goo)",
            "does robot goo",
            "Replace goo with go",
        ),
        (
            "(goal robot",
            "(goal robto",
            "goal robto",
            "Replace robto with robot",
        ),
        (
            "terminal (",
            "terminale (",
            "terminale",
            "Replace terminale with terminal",
        ),
        // Variables.
        (
            "?y))\n(<= (next (at ?x)",
            "y))\n(<= (next (at ?x)",
            "?y)) (does",
            "Replace y with ?y",
        ),
        (
            "?y))\n(<= (next (at ?x)",
            "?yy))\n(<= (next (at ?x)",
            "?y)) (does",
            "Replace ?y with ?yy",
        ),
        // Missing keywords.
        (
            "(<= terminal (true (at 2)))",
            "(<= terminal (at 2))",
            "(at 2)",
            "Replace with (true (at 2))",
        ),
        (
            "(<= (next (at ?y))",
            "(<= (at ?y)",
            "(at ?y)",
            "Replace with (next (at ?y))",
        ),
        // Brackets.
        ("(true (at 2)))", "(true (at 2))", "(<= terminal", "Add )"),
        ("(role robot)", "(role robot))", ")\n(init", "Remove )"),
        ("(role robot)", "(role robot) ()", "()", "Remove ()"),
        (
            "(role robot)",
            "(role robot) (role robot)",
            "(role robot)\n",
            "Remove the duplicate role",
        ),
        (
            "(<= (legal robot stay)",
            "((legal robot stay) <=",
            "(legal robot stay) <=",
            "Move the arrow to the front",
        ),
        (
            "(role robot)",
            "(role Robot)",
            "robot",
            "Replace robot with Robot",
        ),
    ] {
        let wrong = broken(right, wrong);
        let (titles, text) = fixed(&wrong, of, 0);
        assert!(
            titles.first().is_some_and(|first| first.starts_with(title)),
            "{title}: {titles:?}"
        );
        let expected = match title {
            "Replace robot with Robot" => WALK.replace("robot", "Robot"),
            "Replace ?y with ?yy" => wrong.replace("(at ?y)", "(at ?yy)"),
            _ => WALK.to_owned(),
        };
        assert_eq!(text, expected, "{title}");
    }
    // A rule that is closed too early continues to its end.
    let right = format!("{WALK}(<= (next (seen ?x))\n    (true (at ?x))\n    (does robot stay))\n");
    let wrong = right.replace("(true (at ?x))\n    (does", "(true (at ?x)))\n    (does");
    let (titles, text) = fixed(&wrong, ")\n", wrong.matches(")\n").count() - 1);
    assert_eq!((text, &titles[0][..18]), (right, "Remove the bracket"));
    // Two names, one of which is wrong, are merged; a manual rename does the same.
    let wrong = broken("(after ?x ?y))", "(follows ?x ?y))");
    let mut editor = Editor::open(&wrong);
    let at =
        json!({ "line": 3, "character": wrong.lines().nth(3).unwrap().find("follows").unwrap() });
    let params = json!({ "textDocument": { "uri": URI }, "position": at, "newName": "after" });
    let answer = editor.ask("textDocument/rename", params);
    assert_eq!(edited(&wrong, &answer["changes"][URI]), WALK);
    editor.end();
    // There are no fixes for correct rules.
    assert_eq!(fixed(WALK, "after", 1).0, Vec::<String>::new());
}
