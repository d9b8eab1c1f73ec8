//! The comparison with reference answers: those of the repository, and of a small game whose
//! answers were computed by hand.

mod search;

use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, process};

use ggp_cli::conformance::{self, Explanation, GameReport, Options, Outcome, Report};
use ggp_cli::conformance::{list_digest, sha256};
use ggp_engine::machine::Backend;
use serde_json::{Value, json};

use crate::common::sized;

/// The folder of answers that belongs to the repository.
fn answers() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance")
}

fn explanations() -> Vec<Explanation> {
    let text = fs::read_to_string(answers().join("explanations.json")).unwrap();
    serde_json::from_str(&text).expect("a list of explanations")
}

/// Compares with the answers of the repository.
fn repeated(options: Options) -> Report {
    let options = Options {
        threads: std::thread::available_parallelism().map_or(1, usize::from),
        explanations: explanations(),
        ..options
    };
    let report = conformance::run(&answers(), &options, |_, _| {}).expect("well formed");
    assert!(report.agrees(), "{report}");
    report
}

#[test]
fn the_hand_made_rule_sets_agree_and_every_explanation_is_needed() {
    let minis = fs::read_dir(answers().join("minis")).unwrap().count();
    for backend in [Backend::Auto, Backend::Datalog] {
        let report = repeated(Options {
            backend,
            ..Options::default()
        });
        let files = &report.rule_files;
        assert_eq!((files.unlisted.found, files.unlisted.of), (minis, minis));
        assert_eq!((files.listed.found, report.games.len()), (0, minis));
        assert!(report.games.iter().all(|game| game.finished));
        let explained = report.games.iter().map(|game| game.explained.len());
        assert_eq!(explained.sum::<usize>(), explanations().len());
    }
}

/// Compares all answers of the repository, by the public rule files.
fn all_answers_agree(backend: Backend, games: &[&str], paths: u64) {
    let folder = crate::common::corpus();
    let report = repeated(Options {
        rules: ["conformance/games", "gdl2/games"]
            .map(|games| folder.join(games))
            .to_vec(),
        backend,
        games: games.iter().map(|&game| game.to_owned()).collect(),
        paths,
        time: Some(Duration::from_secs(1_200)),
        time_per_game: Some(Duration::from_secs(20)),
        ..Options::default()
    });
    println!("{report}");
    for collection in &report.rule_files.collections {
        assert_eq!(collection.files.missing, [""; 0], "{}", collection.name);
    }
    // Otherwise the time was over before most games were compared.
    let finished = report.games.iter().filter(|game| game.finished).count();
    assert!(10 * finished >= 9 * report.games.len(), "{report}");
}

#[test]
#[ignore = "needs GGP_CORPUS"]
fn corpus_answers_agree_by_datalog() {
    all_answers_agree(Backend::Datalog, &[], sized(1_500, 50_000));
}

#[test]
#[ignore = "needs GGP_CORPUS"]
fn corpus_answers_agree_by_networks() {
    // All of them take minutes.
    let games: &[&str] = sized(&["b*", "s*", "t*"], &[]);
    all_answers_agree(Backend::Auto, games, sized(5_000, 500_000));
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
        "key": "matches", "sha256": sha256(RULES.as_bytes()),
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
        "key": "matches", "sha256": sha256(RULES.as_bytes()),
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
        "key": "matches", "sha256": sha256(RULES.as_bytes()),
        "kind": "mini", "expect": "ok",
        "clingo": {
            "roles": ["picker", "keeper"], "init": ["(heap 3)"], "terminal": false,
            "legal": [["(take 1)", "(take 2)"], ["wait", "watch"]],
        },
    })
}

/// A folder of answers, which is removed on drop.
struct Folder(PathBuf, #[expect(dead_code)] tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("games")).unwrap();
        Folder(folder.path().to_owned(), folder)
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

/// Runs on one record and rules.
fn run_one(file: &str, record: &Value, rules: &str) -> Result<Report, String> {
    let folder = Folder::new();
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
    let folder = Folder::new();
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
        let outcome = run_one(file, &tampered, RULES);
        // Another digest is that of other rules, which are not found.
        let is_reported = outcome.map_or(true, |report| {
            !report.agrees() || report.rule_files.unlisted.found == 0
        });
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
fn a_missing_field_is_bad_input() {
    for (file, record) in [
        ("perft.jsonl", perft_record()),
        ("traces.jsonl", trace_record()),
        ("invalid.jsonl", verdict_record()),
    ] {
        for name in ["key", "sha256"] {
            let mut cut = record.clone();
            cut.as_object_mut().unwrap().remove(name);
            let message = run_one(file, &cut, RULES).unwrap_err();
            assert!(message.contains(name), "{message}");
            assert!(message.starts_with(&format!("{file}:1: ")), "{message}");
        }
    }
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
        let report = run_one("traces.jsonl", &record, RULES).unwrap();
        assert_eq!(differences(&report), expected);
    }
}

/// The outcome for a small game with these rules.
fn verdict(expect: &str, rules: &str) -> Result<Report, String> {
    let mut record = verdict_record();
    record["expect"] = json!(expect);
    record["clingo"] = json!({"error": "not asked"});
    record["sha256"] = json!(sha256(rules.as_bytes()));
    run_one("invalid.jsonl", &record, rules)
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
    let report = run_one("invalid.jsonl", &record, &rules).unwrap();
    assert_eq!(report.games[0].outcome, Outcome::Accepted);
    record["clingo"]["legal"][1] = json!(["wait"]);
    let report = run_one("invalid.jsonl", &record, &rules).unwrap();
    assert_eq!(differences(&report), [""; 0]);
    assert_eq!(report.games[0].outcome, Outcome::AgreesWithCaseKept);
    record["clingo"]["legal"][1] = json!([]);
    let report = run_one("invalid.jsonl", &record, &rules).unwrap();
    assert_eq!(
        differences(&report),
        [
            "legal keeper: 0, of which these are missing: nothing / 2, of which these are unexpected: wait watch"
        ]
    );
}

#[test]
fn bad_input_is_reported_with_its_place() {
    let folder = Folder::new();
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
    folder.write("perft.jsonl", &perft_record().to_string());
    folder.write("sources.json", "{");
    assert!(folder.run().unwrap_err().starts_with("sources.json: "));
    fs::remove_file(folder.0.join("sources.json")).unwrap();
    let options = Options {
        rules: vec![PathBuf::from("no/such/games")],
        ..Options::default()
    };
    let missing = conformance::run(&folder.0, &options, |_, _| {});
    let message = missing.unwrap_err().to_string();
    assert!(
        message.contains("no/such/games") && message.contains("clone"),
        "{message}"
    );
    folder.write("perft.jsonl.gz", "not packed");
    assert!(folder.run().unwrap().agrees(), "perft.jsonl is read");
    fs::remove_file(folder.0.join("perft.jsonl")).unwrap();
    let message = folder.run().unwrap_err();
    assert!(
        message.starts_with("cannot read perft.jsonl.gz"),
        "{message}"
    );
    let missing = conformance::run(Path::new("no/such/folder"), &Options::default(), |_, _| {});
    assert!(missing.unwrap_err().to_string().contains("no/such/folder"));
}

#[test]
fn budgets_and_names_restrict_the_run() {
    let folder = Folder::new();
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
    assert!(report.games.iter().all(|game| !game.finished));
    assert!(report.agrees());
}

#[cfg(feature = "cli")]
#[test]
fn the_command_has_exit_codes() {
    let ggp = |arguments: &[&str], folder: &Folder| {
        let mut command = process::Command::new(env!("CARGO_BIN_EXE_ggp"));
        let output = command
            .args(["engine", "conformance"])
            .arg(&folder.0)
            .args(arguments);
        let output = output.output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        (output.status.code(), text)
    };
    let folder = Folder::new();
    folder.write("games/matches.kif", RULES);
    folder.write("perft.jsonl", &perft_record().to_string());
    let (code, text) = ggp(&[], &folder);
    let sums = "1 of 1 rule files found\n\
                1 game (0 refused), 1 verdict, 4 perft lines: 0 differences\n";
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
    let known = "known difference matches: perft depth 2 paths\n  made wrong\n";
    let (code, text) = ggp(&["--explanations", &file], &folder);
    assert!(code == Some(0) && text.starts_with(known), "{text}");
    folder.write("explanations.json", &explained.to_string());
    let (code, text) = ggp(&[], &folder);
    assert!(code == Some(0) && text.starts_with(known), "{text}");
    assert!(text.ends_with(": 0 differences, and 1 known difference, explained above\n"));
    folder.write("perft.jsonl", "{}");
    assert_eq!(ggp(&[], &folder).0, Some(2));
}

#[cfg(feature = "cli")]
#[test]
fn the_command_compares_with_the_answers_of_the_repository() {
    let run = |arguments: &[&str], at: &Path| {
        let mut command = process::Command::new(env!("CARGO_BIN_EXE_ggp"));
        let command = command
            .args(["engine", "conformance"])
            .args(arguments)
            .current_dir(at);
        let output = command.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (
            output.status.code(),
            text(output.stdout),
            text(output.stderr),
        )
    };
    let empty = tempfile::tempdir().unwrap();
    let folder = empty.path().to_str().unwrap();
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (code, text, _) = run(&["--games", folder, folder], repository);
    let of = |text: &str| {
        text.lines()
            .filter(|line| line.contains("; to get them: "))
            .count()
    };
    assert_eq!((code, of(&text)), (Some(0), 5), "{text}");
    assert!(
        text.ends_with(", and 2 known differences, each explained above\n"),
        "{text}"
    );
    for (arguments, at, part) in [
        (&[][..], empty.path(), "there is no folder conformance"),
        (&[folder][..], repository, "has no file perft*.jsonl"),
        (
            &["--games", "no/such/folder"][..],
            repository,
            "cannot search no/such/folder",
        ),
    ] {
        let (code, _, message) = run(arguments, at);
        assert!(code == Some(2) && message.contains(part), "{message}");
    }
}
