//! The runner of reference answers: on the corpus, if it lies next to the
//! repository, and on a small game whose answers were computed by hand.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{env, fs, process};

use ggp_cli::conformance::{self, Explanation, GameReport, Options, Outcome, Report};
use ggp_cli::conformance::{list_digest, sha256};
use ggp_engine::machine::Backend;
use serde_json::{Value, json};

fn explanations() -> Vec<Explanation> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance_faults.json");
    let text = fs::read_to_string(file).expect("the file is part of the repository");
    serde_json::from_str(&text).expect("a list of explanations")
}

#[test]
fn the_corpus_agrees_by_datalog() {
    the_corpus_agrees(Backend::Datalog, 1, crate::common::sized(1_500, 50_000));
}

#[test]
fn the_corpus_agrees_by_networks() {
    let each = crate::common::sized(4, 1);
    the_corpus_agrees(Backend::Auto, each, crate::common::sized(5_000, 500_000));
}

/// Compares one of `each` games of the corpus, in the order of their names.
fn the_corpus_agrees(backend: Backend, each: usize, paths: u64) {
    let Some(folder) = crate::common::corpus() else {
        return;
    };
    let files = fs::read_dir(folder.join("games")).expect("the corpus has games");
    let stem = |path: PathBuf| {
        path.file_stem()
            .map(|stem| stem.to_string_lossy().into_owned())
    };
    let names = files.filter_map(|file| stem(file.expect("it can be listed").path()));
    let names: BTreeSet<String> = names.collect();
    let options = Options {
        threads: std::thread::available_parallelism().map_or(1, usize::from),
        backend,
        games: names.into_iter().step_by(each).collect(),
        paths,
        time: Some(Duration::from_secs(300)),
        time_per_game: Some(Duration::from_secs(20)),
        explanations: explanations(),
        ..Options::default()
    };
    let report = conformance::run(&folder, &options, |_, _| {}).expect("the corpus is well formed");
    println!("{report}");
    assert!(report.agrees(), "{report}");
    // Otherwise the time was over before most games were compared.
    let finished = report.games.iter().filter(|game| game.finished).count();
    assert!(10 * finished >= 9 * report.games.len(), "{report}");
}

#[test]
fn every_explanation_is_needed() {
    let Some(folder) = crate::common::corpus() else {
        return;
    };
    for explanation in explanations() {
        let options = Options {
            games: vec![explanation.key.clone()],
            paths: 100,
            explanations: vec![explanation.clone()],
            ..Options::default()
        };
        let report = conformance::run(&folder, &options, |_, _| {}).expect("the game exists");
        assert_eq!(report.games[0].explained.len(), 1, "{explanation:?}");
    }
}

/// Three matches: the picker takes one or two each time and wants to take the last
/// one alone. The keeper waits or watches, which changes nothing.
const RULES: &str = "
(role picker) (role keeper)
(init (heap 3))
(minus 3 1 2) (minus 3 2 1) (minus 2 1 1) (minus 2 2 0) (minus 1 1 0)
(<= (legal picker (take ?k)) (true (heap ?n)) (minus ?n ?k ?m))
(legal keeper wait)
(legal keeper watch)
(<= (next (heap ?m)) (true (heap ?n)) (does picker (take ?k)) (minus ?n ?k ?m))
(<= (next (last ?k)) (does picker (take ?k)))
(<= terminal (true (heap 0)))
(<= (goal picker 100) (true (last 1)))
(<= (goal picker 40) (true (last 2)))
(<= (goal keeper 50) (true (last ?k)))
";

fn digest(list: &[&str]) -> String {
    list_digest(
        &list
            .iter()
            .map(|text| (*text).to_owned())
            .collect::<Vec<_>>(),
    )
}

fn moves(list: &[&str]) -> Value {
    json!([list.len(), digest(list)])
}

fn perft_record() -> Value {
    let legal = |list: &[&str]| json!({"count": 2, "sha256": digest(list), "moves": list});
    let level = |d, paths, distinct, ends: (u64, u64, [u64; 2]), sums: (u64, [u64; 2])| {
        json!({
            "d": d, "paths": paths, "distinct": distinct,
            "terminal_paths": ends.0, "terminal_distinct": ends.1, "goal_sums": ends.2,
            "goal_errors": 0, "cum_terminal_paths": sums.0, "cum_goal_sums": sums.1,
        })
    };
    json!({
        "key": "matches", "file": "games/matches.kif", "sha256": sha256(RULES.as_bytes()),
        "roles": ["picker", "keeper"],
        "init_count": 1, "init_sha256": digest(&["(heap 3)"]), "init": ["(heap 3)"],
        "init_terminal": false,
        "init_legal": [legal(&["(take 1)", "(take 2)"]), legal(&["wait", "watch"])],
        "perft": [
            level(0, 1, 1, (0, 0, [0, 0]), (0, [0, 0])),
            level(1, 4, 2, (0, 0, [0, 0]), (0, [0, 0])),
            // From (heap 2) to (heap 0) by two, from (heap 1) to (heap 0) by one.
            level(2, 12, 3, (8, 2, [4 * 40 + 4 * 100, 8 * 50]), (8, [560, 400])),
            level(3, 8, 1, (8, 1, [800, 400]), (16, [1360, 800])),
        ],
    })
}

fn trace_record() -> Value {
    json!({
        "key": "matches", "file": "games/matches.kif", "sha256": sha256(RULES.as_bytes()),
        "roles": ["picker", "keeper"], "playout": 0, "end": "terminal",
        "steps": [
            {
                "n": 1, "s": digest(&["(heap 3)"]),
                "legal": [moves(&["(take 1)", "(take 2)"]), moves(&["wait", "watch"])],
                "move": ["(take 1)", "wait"],
            },
            {
                "n": 2, "s": digest(&["(heap 2)", "(last 1)"]),
                "legal": [moves(&["(take 1)", "(take 2)"]), moves(&["wait", "watch"])],
                "move": ["(take 2)", "watch"],
            },
        ],
        "final": {
            "n": 2, "s": digest(&["(heap 0)", "(last 2)"]), "terminal": true, "goals": [40, 50],
        },
    })
}

fn verdict_record() -> Value {
    json!({
        "key": "matches", "file": "games/matches.kif", "sha256": sha256(RULES.as_bytes()),
        "kind": "mini", "expect": "ok",
        "clingo": {
            "roles": ["picker", "keeper"], "init": ["(heap 3)"], "terminal": false,
            "legal": [["(take 1)", "(take 2)"], ["wait", "watch"]],
        },
    })
}

/// A corpus in a folder of its own, which is removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = env::temp_dir().join(format!("ggp-{name}-{}", process::id()));
        fs::create_dir_all(folder.join("games")).unwrap();
        Folder(folder)
    }

    fn write(&self, name: &str, text: &str) -> &Self {
        fs::write(self.0.join(name), text).unwrap();
        self
    }

    fn run(&self) -> Result<Report, String> {
        // The rules are few, so the slow evaluator is fast enough.
        let options = Options {
            backend: Backend::Naive,
            ..Options::default()
        };
        conformance::run(&self.0, &options, |_, _| {}).map_err(|bad| bad.to_string())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Runs on one record and rules.
fn run_one(name: &str, file: &str, record: &Value, rules: &str) -> Result<Report, String> {
    let folder = Folder::new(name);
    folder.write(file, &format!("{record}\n"));
    folder.write("games/matches.kif", rules).run()
}

/// The differences, as `what: expected / found`.
fn differences(report: &Report) -> Vec<String> {
    let differences = report.differences();
    differences
        .map(|d| format!("{}: {} / {}", d.what, d.expected, d.found))
        .collect()
}

#[test]
fn correct_answers_agree() {
    let folder = Folder::new("right");
    folder.write("games/matches.kif", RULES);
    folder.write("perft.jsonl", &perft_record().to_string());
    folder.write("traces_more.jsonl", &format!("\n{}\n", trace_record()));
    folder.write("invalid.jsonl", &verdict_record().to_string());
    folder.write("README.md", "not a record");
    let report = folder.run().unwrap();
    assert_eq!(differences(&report), [""; 0]);
    let [game] = &report.games[..] else {
        panic!("one game, not {}", report.games.len());
    };
    let GameReport {
        perft_lines,
        trace_steps,
        ..
    } = game;
    assert_eq!((*perft_lines, *trace_steps, game.finished), (4, 3, true));
}

/// Pointers to all leaves of a value.
fn leaves(value: &Value, at: String, out: &mut Vec<String>) {
    match value {
        Value::Array(members) => {
            for (index, member) in members.iter().enumerate() {
                leaves(member, format!("{at}/{index}"), out);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                leaves(member, format!("{at}/{name}"), out);
            }
        }
        _ => out.push(at),
    }
}

fn tamper(value: &mut Value) {
    *value = match &*value {
        Value::Bool(b) => json!(!b),
        Value::Number(n) => json!(n.as_u64().unwrap() + 1),
        Value::String(text) => json!(format!("{text}x")),
        other => panic!("not a leaf: {other}"),
    }
}

/// Checks that every field is compared, except those that are only names.
fn check_tampering(file: &str, record: &Value, names: &[&str]) {
    let mut pointers = Vec::new();
    leaves(record, String::new(), &mut pointers);
    for pointer in pointers {
        if names.contains(&pointer.as_str()) {
            continue;
        }
        let mut tampered = record.clone();
        tamper(tampered.pointer_mut(&pointer).unwrap());
        let outcome = run_one("tampered", file, &tampered, RULES);
        let is_reported = outcome.as_ref().map_or(true, |report| !report.agrees());
        assert!(is_reported, "{file}{pointer} may be anything");
    }
}

#[test]
fn each_wrong_field_is_reported() {
    check_tampering("perft.jsonl", &perft_record(), &["/key"]);
    check_tampering(
        "traces.jsonl",
        &trace_record(),
        &["/key", "/playout", "/end"],
    );
    check_tampering("invalid.jsonl", &verdict_record(), &["/key"]);
}

#[test]
fn a_rule_file_has_the_name_of_its_game_if_none_is_given() {
    let mut record = trace_record();
    record.as_object_mut().unwrap().remove("file");
    let report = run_one("named", "traces.jsonl", &record, RULES).unwrap();
    assert_eq!(report.games[0].file, "games/matches.kif");
    assert!(report.agrees());
}

#[test]
fn a_missing_field_is_bad_input() {
    for (file, record) in [
        ("perft.jsonl", perft_record()),
        ("traces.jsonl", trace_record()),
        ("invalid.jsonl", verdict_record()),
    ] {
        for name in ["key", "sha256"] {
            let mut cut = record.clone();
            cut.as_object_mut().unwrap().remove(name);
            let message = run_one("cut", file, &cut, RULES).unwrap_err();
            assert!(message.contains(name), "{message}");
            assert!(message.starts_with(&format!("{file}:1: ")), "{message}");
        }
    }
}

#[test]
fn other_rules_are_detected_by_their_digest() {
    let report = run_one("other", "perft.jsonl", &perft_record(), "(role picker)").unwrap();
    assert!(differences(&report)[0].starts_with("sha256 of games/matches.kif"));
}

#[test]
fn the_ends_of_playouts_are_compared() {
    let mut stuck = trace_record();
    stuck["end"] = json!("no_legal:picker");
    let mut wrong = trace_record();
    wrong["final"]["goals"] = json!([["100", "40"], 50]);
    wrong["end"] = json!("terminal_goal_error");
    let mut open = trace_record();
    open["final"] = Value::Null;
    open["end"] = json!("time");
    for (record, expected) in [
        (stuck, &[""; 0][..]),
        (
            wrong,
            &[
                "playout 0 final goal picker: 2, of which these are missing: 100 / 1, of which these are unexpected: nothing",
            ],
        ),
        (open, &[]),
    ] {
        let report = run_one("ends", "traces.jsonl", &record, RULES).unwrap();
        assert_eq!(differences(&report), expected);
    }
}

/// The outcome for a small game with these rules.
fn verdict(expect: &str, rules: &str) -> Result<Report, String> {
    let mut record = verdict_record();
    record["expect"] = json!(expect);
    record["clingo"] = json!({"error": "not asked"});
    record["sha256"] = json!(sha256(rules.as_bytes()));
    run_one(
        &format!("verdict-{expect}"),
        "invalid.jsonl",
        &record,
        rules,
    )
}

#[test]
fn verdicts_are_compared() {
    let unscored = RULES.replace("(<= (goal picker 40)", "(<= (goal keeper 50)");
    let broken = RULES.replacen(')', "", 1);
    for (expect, rules, agrees) in [
        ("ok", RULES, true),
        ("reject", RULES, false),
        ("runtime_error", RULES, false),
        ("policy", RULES, true),
        ("ok", &*broken, false),
        ("reject", &*broken, true),
        ("runtime_error", &*broken, true),
        ("policy", &*broken, true),
        ("ok", &*unscored, true),
        ("runtime_error", &*unscored, true),
    ] {
        let report = verdict(expect, rules).unwrap();
        assert_eq!(report.agrees(), agrees, "{expect}: {report}");
    }
}

#[test]
fn names_that_differ_in_case_only_are_compared_with_case_kept_too() {
    // With folded case, watching is legal at first; with case kept, it never is.
    let rules = RULES.replace(
        "(legal keeper watch)",
        "(<= (legal keeper watch) (true (Heap 3)))",
    );
    let mut record = verdict_record();
    record["sha256"] = json!(sha256(rules.as_bytes()));
    let report = run_one("case", "invalid.jsonl", &record, &rules).unwrap();
    assert_eq!(report.games[0].outcome, Outcome::Accepted);
    record["clingo"]["legal"][1] = json!(["wait"]);
    let report = run_one("case", "invalid.jsonl", &record, &rules).unwrap();
    assert_eq!(differences(&report), [""; 0]);
    assert_eq!(report.games[0].outcome, Outcome::AgreesWithCaseKept);
    record["clingo"]["legal"][1] = json!([]);
    let report = run_one("case", "invalid.jsonl", &record, &rules).unwrap();
    assert_eq!(
        differences(&report),
        [
            "legal keeper: 0, of which these are missing: nothing / 2, of which these are unexpected: wait watch"
        ]
    );
}

#[test]
fn bad_input_is_reported_with_its_place() {
    let folder = Folder::new("bad");
    assert!(
        folder
            .run()
            .unwrap_err()
            .contains("has no file perft*.jsonl")
    );
    folder.write("games/matches.kif", RULES);
    folder.write(
        "perft.jsonl",
        &format!("{}\n{{\"key\": 1,\n", perft_record()),
    );
    assert!(folder.run().unwrap_err().starts_with("perft.jsonl:2: "));
    let mut outside = perft_record();
    outside["file"] = json!("../matches.kif");
    folder.write("perft.jsonl", &outside.to_string());
    assert!(folder.run().unwrap_err().contains("not inside the folder"));
    outside["file"] = json!("games/none.kif");
    folder.write("perft.jsonl", &outside.to_string());
    assert!(
        folder
            .run()
            .unwrap_err()
            .starts_with("perft.jsonl:1: cannot read games/none.kif")
    );
    let missing = conformance::run(Path::new("no/such/folder"), &Options::default(), |_, _| {});
    assert!(missing.unwrap_err().to_string().contains("no/such/folder"));
}

#[test]
fn budgets_and_names_restrict_the_run() {
    let folder = Folder::new("narrow");
    folder.write("games/matches.kif", RULES);
    folder.write("perft.jsonl", &perft_record().to_string());
    folder.write("traces.jsonl", &trace_record().to_string());
    let run = |options: Options| conformance::run(&folder.0, &options, |_, _| {});
    let narrow = Options {
        games: vec!["m*s".to_owned()],
        paths: 4,
        steps: 1,
        threads: 8,
        ..Options::default()
    };
    let report = run(narrow).unwrap();
    assert_eq!(
        (report.games[0].perft_lines, report.games[0].trace_steps),
        (2, 1)
    );
    let none = Options {
        games: vec!["chess".to_owned()],
        ..Options::default()
    };
    assert_eq!(run(none).unwrap_err().to_string(), "no game matches chess");
    let late = Options {
        time: Some(Duration::ZERO),
        ..Options::default()
    };
    let report = run(late).unwrap();
    assert!(!report.games[0].finished);
    assert!(report.agrees());
}

#[cfg(feature = "cli")]
#[test]
fn the_command_has_exit_codes() {
    let ggp = |arguments: &[&str], folder: &Folder| {
        let mut command = process::Command::new(env!("CARGO_BIN_EXE_ggp"));
        let output = command.arg("conformance").arg(&folder.0).args(arguments);
        let output = output.output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        (output.status.code(), text)
    };
    let folder = Folder::new("command");
    folder.write("games/matches.kif", RULES);
    folder.write("perft.jsonl", &perft_record().to_string());
    let (code, text) = ggp(&[], &folder);
    let sums = "1 games (0 refused), 1 verdicts, 4 perft lines, 0 trace steps: 0 differences\n";
    assert_eq!((code, text.as_str()), (Some(0), sums));
    let mut wrong = perft_record();
    wrong["perft"][2]["paths"] = json!(13);
    folder.write("perft.jsonl", &wrong.to_string());
    let (code, text) = ggp(&["--json", "--backend", "naive", "--threads", "2"], &folder);
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(code, Some(1));
    assert_eq!(
        report["games"][0]["differences"],
        json!([{
            "game": "matches", "place": "perft.jsonl:1", "what": "perft depth 2 paths",
            "expected": "13", "found": "12",
        }])
    );
    let explained = json!([{"key": "matches", "what": "perft depth 2", "why": "made wrong"}]);
    folder.write("explained.json", &explained.to_string());
    let file = folder.0.join("explained.json").display().to_string();
    let (code, text) = ggp(&["--explanations", &file], &folder);
    assert_eq!(code, Some(0));
    assert!(
        text.starts_with("explained matches: perft depth 2 paths\n  made wrong\n"),
        "{text}"
    );
    folder.write("perft.jsonl", "{}");
    assert_eq!(ggp(&[], &folder).0, Some(2));
}
