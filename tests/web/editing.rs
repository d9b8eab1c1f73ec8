//! Requests of the rule editor: fixes, names, and random matches.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::service::Service;
use super::{WALK, set, text};

/// A place in rules of one file: the first occurrence of `word`, and the characters after it.
fn place(rules: &str, word: &str, more: usize) -> Value {
    let before = &rules[..rules.find(word).expect("it is there")];
    let line = before.matches('\n').count();
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    let character = before[start..].encode_utf16().count() + more;
    json!({
        "files": [{ "name": "own.kif", "text": rules }],
        "at": { "file": "own.kif", "line": line, "character": character },
    })
}

#[test]
fn findings_have_fixes_that_remove_them() {
    let service = Service::start(&[]);
    let broken = WALK.replace("(after 1 2)", "(after 1 2");
    let check = service.post("/api/check", &set(&broken)).ok();
    let fix = &check["findings"][0]["fixes"][0];
    assert_eq!(fix["title"], "Add )");
    let edit = &fix["edits"][0];
    assert_eq!(
        (&edit["file"], &edit["text"]),
        (&json!("own.kif"), &json!(")"))
    );
    let at = &edit["range"]["start"];
    assert_eq!(at, &edit["range"]["end"]);
    let mut lines: Vec<String> = broken.split('\n').map(str::to_owned).collect();
    let line = at["line"].as_u64().expect("a number") as usize;
    let character = at["character"].as_u64().expect("a number") as usize;
    lines[line].insert(character, ')');
    let check = service.post("/api/check", &set(&lines.join("\n"))).ok();
    assert_eq!(
        check,
        json!({ "right": true, "findings": [], "omitted": 0 })
    );
}

#[test]
fn fixes_are_in_the_files_of_the_names() {
    let service = Service::start(&[]);
    let asked = json!({ "files": [
        { "name": "one.kif", "text": "(role r) (init (at 0)) (legal r go)\n(<= terminal (lst 5))" },
        { "name": "two.kif", "text": "(last 5)\n(<= (next (at 1)) (does r go))\n(goal r 0)" },
    ] });
    let check = service.post("/api/check", &asked).ok();
    let findings = check["findings"].as_array().expect("a list").iter();
    let fixes =
        findings.flat_map(|finding| finding["fixes"].as_array().cloned().unwrap_or_default());
    let edits: Vec<Value> = fixes.map(|fix| fix["edits"][0].clone()).collect();
    let replaces = |file: &str, text: &str| {
        let mut edits = edits.iter();
        edits.any(|edit| edit["file"] == file && edit["text"] == text)
    };
    assert!(
        replaces("one.kif", "last") || replaces("two.kif", "lst"),
        "{check}"
    );
    let definition = json!({
        "files": asked["files"],
        "at": { "file": "one.kif", "line": 0, "character": 16 },
    });
    let places = service.post("/api/definition", &definition).ok();
    let files: Vec<&Value> = places
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| &one["file"])
        .collect();
    assert_eq!(files, ["one.kif", "two.kif"], "{places}");
}

#[test]
fn names_are_explained_and_completed() {
    let service = Service::start(&[]);
    let hover = service.post("/api/hover", &place(WALK, "after 0", 1)).ok();
    let told = text(&hover["text"]);
    assert!(
        told.contains("`after`") && told.contains("2 facts"),
        "{told}"
    );
    assert_eq!(
        hover["range"]["end"]["character"],
        hover["range"]["start"]["character"]
            .as_u64()
            .expect("a number")
            + 5
    );
    assert_eq!(service.post("/api/hover", &json!({ "files": [{ "name": "a", "text": " " }], "at": { "file": "a", "line": 9, "character": 9 } })).ok(), Value::Null);
    let words = |asked: &Value| -> Vec<String> {
        let words = service.post("/api/completion", asked).ok();
        let words = words.as_array().expect("a list").iter();
        words.map(|word| text(&word["word"])).collect()
    };
    let fitting = words(&place(WALK, "(at ?y)", 4));
    assert_eq!(fitting, ["0", "1", "2", "?x", "?y"]);
    // While a bracket is missing, the rules before tell what the values are.
    let typed = format!("{WALK}\n(<= (goal walker 50) (true (at ");
    let mut asked = place(&typed, "(goal walker 50)", 27);
    assert!(words(&asked).contains(&"walker".to_owned()));
    asked["before"] = set(WALK)["files"].clone();
    let known = words(&asked);
    assert!(
        known.contains(&"2".to_owned()) && !known.contains(&"walker".to_owned()),
        "{known:?}"
    );
    asked["at"]["file"] = json!("other.kif");
    let refused = service.post("/api/completion", &asked);
    assert_eq!(refused.status, 400);
    assert!(
        refused.body.contains("there is no file `other.kif`"),
        "{}",
        refused.body
    );
}

#[test]
fn random_matches_measure_the_rules() {
    let service = Service::start(&[]);
    let tried = service.post("/api/try", &set(WALK)).ok();
    assert_eq!(
        (&tried["matches"], &tried["ended"]),
        (&json!(200), &json!(200))
    );
    assert_eq!((&tried["stuck"], &tried["faults"]), (&json!(0), &json!([])));
    assert_eq!(tried["lengths"]["least"], 2);
    assert_eq!(tried["branching"], 2.0);
    assert_eq!(
        (&tried["roles"], &tried["means"]),
        (&json!(["walker"]), &json!([100.0]))
    );
    let broken = service.post("/api/try", &set("(role"));
    assert_eq!(broken.status, 422);
    assert_eq!(broken.json()["findings"][0]["code"], "K001");
}

#[test]
fn infix_notation_is_named_by_every_address() {
    let service = Service::start(&[]);
    let infix = "role(walker)\nterminal :- true(at(end))\n";
    let checked = service.post("/api/check", &set(infix)).ok();
    assert_eq!(checked["findings"][0]["code"], "K007");
    for path in ["/api/games", "/api/try"] {
        let refused = service.post(path, &set(infix));
        assert_eq!(refused.status, 422, "{path}");
        let report = refused.json();
        assert_eq!(report["findings"].as_array().unwrap().len(), 1, "{path}");
        for field in ["code", "message"] {
            let (finding, expected) = (&report["findings"][0], &checked["findings"][0]);
            assert_eq!(finding[field], expected[field], "{path}");
        }
    }
}

#[test]
fn random_matches_find_faults_that_a_position_shows() {
    let service = Service::start(&[]);
    let two = format!("{WALK}\n(goal walker 50)");
    let stuck = WALK
        .replace("(<= (legal walker stay)", "(<= (idle walker stay)")
        .replace("(after 1 2)", "");
    for (rules, kind) in [
        (two, "several goal values: 100, 50"),
        (stuck, "no legal move"),
    ] {
        let tried = service.post("/api/try", &set(&rules)).ok();
        let fault = &tried["faults"][0];
        assert!(text(&fault["message"]).contains(kind), "{tried}");
        assert_eq!(fault["role"], "walker");
        let id = text(&service.post("/api/games", &set(&rules)).ok()["id"]);
        let asked = json!({ "moves": fault["moves"] });
        let position = service
            .post(&format!("/api/games/{id}/position"), &asked)
            .ok();
        for field in ["message", "rules", "question"] {
            assert_eq!(position["faults"][0][field], fault[field]);
        }
        let asked = json!({ "moves": fault["moves"], "question": fault["question"] });
        service.post(&format!("/api/games/{id}/why"), &asked).ok();
    }
}

/// Rules that count to a number of digits, one after the other, and perhaps never end.
fn counter(digits: usize) -> String {
    let mut rules = "(role r) (legal r go) (<= terminal (true never)) (goal r 0)\n".to_owned();
    for digit in 0..digits {
        rules += &format!("(init (bit {digit} 0)) (<= (full {digit}) (true (bit {digit} 1)))\n");
        let lower: Vec<String> = (0..digit).map(|lower| format!("(full {lower})")).collect();
        let carry = lower.join(" ");
        rules += &format!("(<= (next (bit {digit} 1)) {carry} (true (bit {digit} 0)))\n");
        rules += &format!("(<= (next (bit {digit} 0)) {carry} (true (bit {digit} 1)))\n");
        for lower in 0..digit {
            rules += &format!(
                "(<= (next (bit {digit} ?x)) (true (bit {digit} ?x)) (not (full {lower})))\n"
            );
        }
    }
    rules
}

/// A rule with many variables, whose matches cannot be counted in time.
const LONG: &str = "(role r) (init s) (legal r go) (next s) (goal r 0)
    (n 0) (n 1) (n 2) (n 3) (n 4) (n 5) (n 6) (n 7) (n 8) (n 9)
    (<= (m ?a ?b ?c ?d ?e) (n ?a) (n ?b) (n ?c) (n ?d) (n ?e) (true s))
    (<= terminal (m ?a ?b ?c ?d ?e) (m ?e ?d ?c ?b ?a) (m ?b ?a ?e ?c ?d) (m ?c ?e ?a ?d ?b)
        (distinct ?a ?b) (n ?f) (m ?f ?f ?f ?f ?a) (not (m ?f ?a ?f ?a ?f)))";

#[test]
fn hostile_rules_take_no_longer_than_others() {
    let service = Service::start(&[]);
    let endless = "(role r) (init s) (legal r go) (legal r stay) (next s) (goal r 0)
                   (<= terminal (not (true s)))";
    let tried = service.post("/api/try", &set(endless)).ok();
    assert_eq!(
        (&tried["ended"], &tried["lengths"]),
        (&json!(0), &Value::Null)
    );
    assert!(tried["cut"].as_u64().expect("a number") > 0, "{tried}");
    for rules in [counter(60), LONG.to_owned()] {
        let began = Instant::now();
        let answer = service.post("/api/try", &set(&rules));
        let took = began.elapsed();
        assert!([200, 422].contains(&answer.status), "{}", answer.body);
        assert!(took < Duration::from_secs(8), "{took:?}: {}", answer.body);
    }
}

#[test]
fn a_trial_ends_when_its_client_is_gone() {
    let service = Service::start(&[]);
    let seconds = |work: &dyn Fn()| {
        let began = Instant::now();
        work();
        began.elapsed().as_secs_f64()
    };
    let alone = seconds(&|| drop(service.post("/api/try", &set(LONG))));
    // A browser has two questions at a time, so others would wait.
    for _ in 0..40 {
        service.abandon("/api/try", &set(LONG));
    }
    let after = seconds(&|| drop(service.post("/api/try", &set(WALK)).ok()));
    assert!(after < 1.0 + 3.0 * alone, "{after} after {alone}");
}

#[test]
fn files_are_compressed_and_sent_once() {
    let service = Service::start(&[]);
    let (head, plain) = service.bytes("/page/editor.js", "");
    assert!(!head.contains("content-encoding"), "{head}");
    let (head, gzip) = service.bytes("/page/editor.js", "Accept-Encoding: br, gzip\r\n");
    assert!(
        head.contains("content-encoding: gzip") && head.contains("vary: accept-encoding"),
        "{head}"
    );
    let size = u32::from_le_bytes(gzip[gzip.len() - 4..].try_into().expect("four bytes"));
    assert!(gzip.starts_with(&[0x1f, 0x8b]) && size as usize == plain.len());
    assert!(
        3 * gzip.len() < plain.len() + plain.len() / 5,
        "{} of {}",
        gzip.len(),
        plain.len()
    );
    let tag = head
        .lines()
        .find_map(|line| line.strip_prefix("etag: "))
        .expect("a tag");
    for (asked, status) in [(tag, "304"), ("\"other\"", "200"), ("\"other\", *", "304")] {
        let headers = format!("Accept-Encoding: gzip\r\nIf-None-Match: {asked}\r\n");
        let (head, body) = service.bytes("/page/editor.js", &headers);
        assert!(
            head.starts_with(&format!("http/1.0 {status}")),
            "{asked}: {head}"
        );
        assert_eq!(body.is_empty(), status == "304");
    }
    // The content that is not compressed has another tag.
    let (head, _) = service.bytes("/page/editor.js", &format!("If-None-Match: {tag}\r\n"));
    assert!(head.starts_with("http/1.0 200"), "{head}");
    // What does not become smaller is not compressed.
    let (head, _) = service.bytes("/api/openapi.json", "Accept-Encoding: gzip;q=0\r\n");
    assert!(!head.contains("content-encoding"), "{head}");
}

/// Maximum size of all scripts in bytes, compressed.
const SCRIPTS: usize = 152_000;

#[test]
fn all_scripts_are_small() {
    let service = Service::start(&[]);
    let sizes = ["page.js", "editor.js"].map(|name| {
        let asked = "Accept-Encoding: gzip\r\n";
        service.bytes(&format!("/page/{name}"), asked).1.len()
    });
    assert!(sizes.iter().sum::<usize>() < SCRIPTS, "{sizes:?}");
}
