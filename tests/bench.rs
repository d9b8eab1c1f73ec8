//! The command `ggp engine bench`.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// Two players take one or two of five matches in turn; who takes the last wins.
const MATCHES: &str = "
    (role ann) (role bob)
    (init (left 5)) (init (turn ann))
    (minus 5 1 4) (minus 4 1 3) (minus 3 1 2) (minus 2 1 1) (minus 1 1 0)
    (minus 5 2 3) (minus 4 2 2) (minus 3 2 1) (minus 2 2 0)
    (other ann bob) (other bob ann)
    (<= (legal ?r (take ?k)) (true (turn ?r)) (true (left ?n)) (minus ?n ?k ?m))
    (<= (legal ?r wait) (true (turn ?s)) (other ?r ?s))
    (<= (next (left ?m)) (true (left ?n)) (does ?r (take ?k)) (minus ?n ?k ?m))
    (<= (next (turn ?s)) (true (turn ?r)) (other ?r ?s))
    (<= terminal (true (left 0)))
    (<= (goal ?r 100) (true (left 0)) (true (turn ?s)) (other ?r ?s))
    (<= (goal ?r 0) (true (left 0)) (true (turn ?r)))";

/// One player goes round for ever.
const ENDLESS: &str = "
    (role me) (init (at 1)) (after 1 2) (after 2 1)
    (<= (legal me go) (true (at ?x)))
    (<= (next (at ?y)) (does me go) (true (at ?x)) (after ?x ?y))
    (<= terminal (true (at 3)))
    (goal me 0)";

/// A variable that nothing binds.
const BROKEN: &str = "
    (role me) (init start)
    (<= (legal me ?move) (true start))
    (<= terminal (not (true start)))
    (goal me 0)";

/// The goal is missing after one of two moves.
const FAULTY: &str = "
    (role me) (init start) (choice good) (choice bad)
    (<= (legal me ?c) (true start) (choice ?c))
    (<= (next (done ?c)) (does me ?c))
    (<= terminal (true (done ?c)))
    (<= (goal me 100) (true (done good)))";

/// A folder of its own, empty at first and removed in the end.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Place(TempDir::new().unwrap())
    }

    fn write(&self, name: &str, content: &str) {
        std::fs::write(self.0.path().join(name), content).unwrap();
    }

    fn run(&self, line: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ggp"));
        command.current_dir(self.0.path()).args(["engine", "bench"]);
        if !line.contains("--backend") {
            command.args(["--backend", "datalog"]);
        }
        command.args(line.split_whitespace()).output().unwrap()
    }

    /// Runs the command, whose exit code is checked; its standard output and
    /// error.
    fn text(&self, line: &str, code: i32) -> (String, String) {
        let output = self.run(line);
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let texts = (text(output.stdout), text(output.stderr));
        assert_eq!(output.status.code(), Some(code), "{line}\n{texts:#?}");
        texts
    }

    fn rows(&self, line: &str, code: i32) -> Vec<Value> {
        let (out, _) = self.text(&format!("--json {line}"), code);
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}\n{out}"))
    }
}

fn close(value: &Value, expected: f64, most: f64) {
    let number = value.as_f64().unwrap();
    assert!((number - expected).abs() <= most, "{number} {expected}");
}

#[test]
fn a_row_has_all_that_was_measured() {
    let place = Place::new();
    place.write("matches.kif", MATCHES);
    let line = "matches.kif --playouts 4000 --backend datalog --backend naive --csv rows.csv";
    let rows = place.rows(line, 0);
    assert_eq!(rows.len(), 2);
    for (row, backend) in rows.iter().zip(["datalog", "naive"]) {
        assert_eq!(row["game"], "matches");
        assert_eq!(row["file"], "matches.kif");
        assert_eq!(row["backend"], backend);
        assert_eq!(row["plays"], backend);
        assert_eq!(
            (&row["playouts"], &row["scored"]),
            (&json!(4000), &json!(4000))
        );
        assert_eq!((&row["threads"], &row["lanes"]), (&json!(1), &json!(1)));
        assert_eq!(row["roles"], json!(["ann", "bob"]));
        assert_eq!(
            (&row["error"], &row["failure"]),
            (&Value::Null, &Value::Null)
        );
        // Of n matches L(n) = 1 + (L(n-1) + L(n-2)) / 2, and L(1) = 1.
        close(&row["mean_length"], 3.5625, 0.1);
        let changes = row["state_changes"].as_f64().unwrap();
        close(&row["mean_length"], changes / 4000.0, 1e-9);
        let goals = row["mean_goals"].as_array().unwrap();
        let sum: f64 = goals.iter().map(|goal| goal.as_f64().unwrap()).sum();
        assert!((sum - 100.0).abs() < 1e-9);
        let seconds = row["seconds"].as_f64().unwrap();
        close(
            &row["state_changes_per_wall_second"],
            changes / seconds,
            1.0,
        );
        if cfg!(unix) {
            let seconds = row["cpu_seconds"].as_f64().unwrap();
            close(&row["state_changes_per_cpu_second"], changes / seconds, 1.0);
            assert!(row["start_cpu_seconds"].as_f64().unwrap() > 0.0);
            assert!(row["peak_memory_bytes"].as_u64().unwrap() > 100_000);
        }
    }
    let text = std::fs::read_to_string(place.0.path().join("rows.csv")).unwrap();
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().unwrap().clone();
    let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(records.len(), 2);
    let column = header.iter().position(|name| name == "backend").unwrap();
    assert_eq!(
        (&records[0][column], &records[1][column]),
        ("datalog", "naive")
    );
}

#[test]
fn equal_seeds_play_equally_and_threads_share_the_playouts() {
    let place = Place::new();
    place.write("matches.kif", MATCHES);
    let changes = |line: &str| place.rows(line, 0)[0]["state_changes"].clone();
    let first = changes("matches.kif --playouts 200 --seed 1");
    assert_eq!(first, changes("matches.kif --playouts 200 --seed 1"));
    assert_ne!(first, changes("matches.kif --playouts 200 --seed 2"));
    let rows = place.rows("matches.kif --playouts 200 --threads 3", 0);
    assert_eq!(
        (&rows[0]["playouts"], &rows[0]["threads"]),
        (&json!(200), &json!(3))
    );
}

#[test]
fn a_folder_is_played_in_the_order_of_its_names() {
    let place = Place::new();
    std::fs::create_dir(place.0.path().join("rules")).unwrap();
    for name in ["b", "a", "c"] {
        place.write(&format!("rules/{name}.kif"), MATCHES);
    }
    place.write("rules/notes.txt", "not rules");
    let rows = place.rows("rules --start --jobs 3", 0);
    let names: Vec<&Value> = rows.iter().map(|row| &row["game"]).collect();
    assert_eq!(names, ["a", "b", "c"]);
    assert!(rows.iter().all(|row| row["playouts"] == 0));
    let (table, _) = place.text("rules --start", 0);
    assert!(table.contains("played by"), "{table}");
    let (_, error) = place.text("rules/d.kif", 2);
    assert!(
        error.contains("the file rules/d.kif does not exist"),
        "{error}"
    );
}

#[test]
fn rows_and_networks_have_their_bytes() {
    let place = Place::new();
    place.write("matches.kif", MATCHES);
    let line = "matches.kif --start --backend propnet --backend datalog --backend naive";
    let rows = place.rows(line, 0);
    let number = |row: &Value, name: &str| row[name].as_f64().unwrap();
    let [propnet, datalog, naive] = &rows[..] else {
        panic!("{rows:#?}");
    };
    for row in [propnet, datalog] {
        // At least one term for each row.
        assert!(number(row, "row_bytes") > 4.0 * number(row, "rows"));
        let share = number(row, "row_bytes") / number(row, "rows");
        close(&row["bytes_per_row"], share, 1e-9);
    }
    // The rules have nine facts of one relation.
    assert!(number(datalog, "rows") > 9.0, "{datalog}");
    assert!(number(propnet, "rows") > number(datalog, "rows"));
    let share = number(propnet, "network_bytes") / number(propnet, "gates");
    close(&propnet["bytes_per_gate"], share, 1e-9);
    assert!(share > 4.0);
    assert_eq!(
        (&naive["rows"], &naive["gates"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(datalog["bytes_per_gate"], Value::Null);
    let (table, _) = place.text(line, 0);
    assert!(
        table.contains("bytes/gate") && table.contains("bytes/row"),
        "{table}"
    );
}

#[test]
fn a_row_of_json_is_printed_when_it_is_ready() {
    let place = Place::new();
    place.write("matches.kif", MATCHES);
    place.write("endless.kif", ENDLESS);
    let line = "--json matches.kif endless.kif --playouts 9 --depth 1000000000000 --timeout 600";
    let mut child = Command::new(env!("CARGO_BIN_EXE_ggp"))
        .current_dir(place.0.path())
        .args(["engine", "bench", "--backend", "datalog"])
        .args(line.split_whitespace())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut first).unwrap();
    let is_over = child.try_wait().unwrap().is_some();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!is_over, "{first}");
    let row: Value = serde_json::from_str(first.strip_prefix('[').unwrap()).unwrap();
    assert_eq!(
        (&row["game"], &row["playouts"]),
        (&json!("matches"), &json!(9))
    );
}

#[test]
fn two_files_are_one_game() {
    let place = Place::new();
    let (rules, facts) = MATCHES.split_once("(other").unwrap();
    place.write("rules.kif", rules);
    place.write("facts.kif", &format!("(other{facts}"));
    let rows = place.rows("rules.kif+facts.kif --playouts 5", 0);
    assert_eq!(rows[0]["game"], "rules+facts");
    assert_eq!(rows[0]["playouts"], 5);
}

#[test]
fn wrong_rules_are_one_row_and_end_with_2() {
    let place = Place::new();
    place.write("broken.kif", BROKEN);
    place.write("matches.kif", MATCHES);
    let rows = place.rows("broken.kif matches.kif --playouts 10", 2);
    assert_eq!(rows[0]["failure"], "rules");
    let error = rows[0]["error"].as_str().unwrap();
    assert!(error.starts_with("broken.kif:3:"), "{error}");
    assert!(error.contains("error[G102]"), "{error}");
    assert_eq!(rows[0]["mean_length"], Value::Null);
    assert_eq!(rows[1]["playouts"], 10);
    let (_, told) = place.text("broken.kif --playouts 10", 2);
    assert!(told.contains("1 of 1 row failed"), "{told}");
}

#[test]
fn playouts_without_a_goal_are_counted_as_faults() {
    let place = Place::new();
    place.write("faulty.kif", FAULTY);
    let rows = place.rows("faulty.kif --playouts 400", 0);
    let (faults, scored) = (&rows[0]["faults"], &rows[0]["scored"]);
    assert_eq!(faults.as_u64().unwrap() + scored.as_u64().unwrap(), 400);
    close(faults, 200.0, 80.0);
    assert_eq!(rows[0]["mean_goals"], json!([100.0]));
    let fault = rows[0]["fault"].as_str().unwrap();
    assert!(fault.contains("me has no goal value"), "{fault}");
}

/// Role `r` has two goals after one move and `q` after another; after a third, `q` has no
/// move.
const TWO_FAULTY: &str = "
    (role r) (role q) (init (s 0)) (n 1) (n 2) (n 3) (n 4)
    (<= (legal r (go ?x)) (n ?x)) (<= (legal q wait) (not (true (s 4))))
    (<= (next (s ?x)) (does r (go ?x)))
    (<= terminal (true (s ?x)) (distinct ?x 0) (distinct ?x 4))
    (<= (goal r 100) (true (s 1))) (<= (goal r 50) (true (s 1)))
    (<= (goal r 20) (true (s 2))) (<= (goal r 30) (true (s 3)))
    (<= (goal q 70) (true (s ?x))) (<= (goal q 60) (true (s 2)))";

#[test]
fn backends_count_and_describe_faults_alike() {
    let place = Place::new();
    place.write("faulty.kif", TWO_FAULTY);
    for backend in ["propnet", "mixed", "datalog", "naive"] {
        let rows = place.rows(
            &format!("faulty.kif --backend {backend} --playouts 2000"),
            0,
        );
        let row = &rows[0];
        // Each of the moves 1, 2 and 4 is one fault.
        close(&row["faults"], 1_500.0, 200.0);
        assert_eq!(row["playouts"], 2_000, "{backend}");
        close(&row["mean_goals"][0], 25.0, 1.5);
        close(&row["mean_goals"][1], 70.0, 0.1);
        let fault = row["fault"].as_str().unwrap();
        let is_known = [
            "r has several goal values: 100, 50",
            "q has several goal values",
        ]
        .iter()
        .chain(&["q has no legal move, but the game is not over"])
        .any(|start| fault.starts_with(start));
        assert!(is_known && fault.contains("in the state: (s "), "{fault}");
        assert!(fault.contains("rules concerned: "), "{fault}");
    }
}

#[test]
fn a_game_without_end_is_cut() {
    let place = Place::new();
    place.write("endless.kif", ENDLESS);
    let rows = place.rows("endless.kif --playouts 5 --depth 50", 0);
    assert_eq!(
        (&rows[0]["playouts"], &rows[0]["cut"]),
        (&json!(5), &json!(5))
    );
    assert_eq!(rows[0]["state_changes"], 250);
    assert_eq!(rows[0]["mean_length"], 50.0);
    assert_eq!(rows[0]["mean_goals"], json!([null]));
}

#[test]
fn a_game_over_its_time_is_one_row() {
    let place = Place::new();
    place.write("endless.kif", ENDLESS);
    place.write("matches.kif", MATCHES);
    let line = "endless.kif matches.kif --playouts 20 --depth 1000000000000 --timeout 2";
    let rows = place.rows(line, 1);
    assert_eq!(rows[0]["failure"], "time");
    assert_eq!(rows[0]["error"], "more than 2 s to play");
    assert_eq!(rows[0]["plays"], "datalog");
    assert_eq!(rows[1]["playouts"], 20);
}

#[test]
fn limits_of_evaluation_hold_in_processes() {
    let place = Place::new();
    place.write("matches.kif", MATCHES);
    let rows = place.rows(
        "matches.kif --backend datalog --playouts 20 --max-facts 1",
        1,
    );
    let error = rows[0]["error"].as_str().expect("it failed");
    assert!(error.contains("more than 1 fact in one state"), "{error}");
}

#[cfg(unix)]
#[test]
fn a_game_over_its_memory_is_one_row() {
    let place = Place::new();
    place.write("endless.kif", ENDLESS);
    // No process is as small as this.
    let line = "endless.kif --memory 1 --playouts 20 --depth 1000000000000";
    let rows = place.rows(line, 1);
    assert_eq!(rows[0]["failure"], "memory");
    assert_eq!(rows[0]["error"], "more than 1 MB of memory");
}

#[test]
fn other_engines_stand_beside_ours() {
    let place = Place::new();
    place.write("matches.kif", MATCHES);
    place.write("more.kif", MATCHES);
    place.write(
        "peers.csv",
        "# a remark\ngame,engine,state_changes_per_cpu_s\n\
         matches,slow,1\nmatches,swift,1e12\nmore,swift,1e12\nother,third,7\n",
    );
    let line = "matches.kif more.kif --playouts 500 --against peers.csv";
    let rows = place.rows(line, 0);
    let ours = rows[0]["state_changes_per_cpu_second"].as_f64().unwrap();
    let against = rows[0]["against"].as_array().unwrap();
    assert_eq!(against[0]["engine"], "slow");
    close(&against[0]["ratio"], ours, 1e-6);
    assert_eq!(against[1]["state_changes_per_cpu_second"], 1e12);
    close(&against[1]["ratio"], ours / 1e12, 1e-12);
    assert_eq!(rows[1]["against"].as_array().unwrap().len(), 1);
    let (table, _) = place.text(line, 0);
    assert!(table.contains("geometric mean"), "{table}");
    assert!(!table.contains("third"), "{table}");
    let words = |line: &str| {
        line.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let swift = table
        .lines()
        .map(words)
        .find(|words| words.get(1).is_some_and(|w| w == "swift"));
    assert_eq!(swift.unwrap()[..3], ["datalog", "swift", "2"]);
}

#[test]
fn what_was_printed_before_is_an_engine_too() {
    let place = Place::new();
    place.write("matches.kif", MATCHES);
    let (before, _) = place.text("--json matches.kif --playouts 500", 0);
    place.write("before.json", &before);
    let rows = place.rows("matches.kif --playouts 500 --against before.json", 0);
    assert_eq!(rows[0]["against"][0]["engine"], "datalog");
}

#[test]
fn a_malformed_file_of_figures_is_told_by_line() {
    let place = Place::new();
    place.write("matches.kif", MATCHES);
    let check = |content: &str, expected: &str| {
        place.write("peers.csv", content);
        let (out, error) = place.text("matches.kif --against peers.csv", 2);
        assert_eq!(out, "");
        assert!(error.contains(expected), "{error}");
    };
    let header = "game,engine,state_changes_per_cpu_s\n";
    check(
        &format!("{header}matches,swift,many\n"),
        "peers.csv: line 2: \"many\"",
    );
    check(
        &format!("{header}matches,swift\n"),
        "peers.csv: line 2: 2 fields",
    );
    check("game,speed\n", "the column engine is missing");
    check("[{\"game\": \"matches\"", "line 1 column");
}

#[test]
fn a_reference_that_disagrees_is_noticed() {
    let place = Place::new();
    place.write("matches.kif", MATCHES);
    let (rows, _) = place.text("--json matches.kif --playouts 3000 --seed 5", 0);
    place.write("reference.json", &rows);
    let line = "matches.kif --playouts 3000 --reference reference.json";
    assert_eq!(place.rows(line, 0)[0]["disagreements"], json!([]));
    let mut wrong: Value = serde_json::from_str(&rows).unwrap();
    wrong[0]["mean_length"] = json!(3.9);
    place.write("reference.json", &wrong.to_string());
    let rows = place.rows(line, 1);
    let found = &rows[0]["disagreements"][0];
    assert_eq!(
        (&found["of"], &found["expected"]),
        (&json!("length"), &json!(3.9))
    );
    assert!(found["standard_errors"].as_f64().unwrap() > 5.0);
    let (table, _) = place.text(line, 1);
    assert!(
        table.contains("disagreements:\nmatches, datalog: the mean length is"),
        "{table}"
    );
    place.write("reference.json", "{}");
    let (_, error) = place.text(line, 2);
    assert!(
        error.contains("reference.json: expected a JSON list"),
        "{error}"
    );
}

#[test]
fn the_games_of_this_repository_agree_with_their_reference() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (games, reference) = (folder.join("games"), folder.join("benches/reference.json"));
    let output = Command::new(env!("CARGO_BIN_EXE_ggp"))
        .args([
            "engine",
            "bench",
            "--json",
            "--seconds",
            "0.1",
            "--jobs",
            "2",
        ])
        .arg(games)
        .arg("--reference")
        .arg(&reference)
        .output()
        .unwrap();
    let rows: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{rows:#?}");
    let known = std::fs::read_to_string(reference).unwrap();
    let known: Vec<Value> = serde_json::from_str(&known).unwrap();
    let names = |rows: &[Value]| {
        let mut names: Vec<Value> = rows.iter().map(|row| row["game"].clone()).collect();
        names.dedup();
        names
    };
    assert_eq!(names(&rows), names(&known));
}
