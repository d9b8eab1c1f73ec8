//! `ggp-lab seeds`.

use std::fs;
use std::path::PathBuf;

use super::lab;
use serde_json::Value;

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("the output is UTF-8")
}

/// An empty folder of its own under the build folder.
fn scratch(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("the build folder can be written");
    path
}

/// Runs a list of tables, and gives exit code and JSON.
fn run(name: &str, spec: &str, more: &[&str]) -> (Option<i32>, Value) {
    let file = scratch(name).join("spec.json");
    fs::write(&file, spec).expect("it can be written");
    let file = file.to_str().expect("a plain name");
    let arguments = [&["seeds", "--json", "--spec", file], more].concat();
    let output = lab(&arguments);
    let told = text(&output.stderr);
    let value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{told}"));
    (output.status.code(), value)
}

/// A table of one board of the rules, with more to say about the run.
fn one_board(more: &str) -> String {
    format!(
        r#"{{"tables": [{{"number": 1, "title": "t", "boards": [{{"label": "b",
        "rules": ["lights_out.kif"], "boards": [{{"board": "010/111/010", "least": 1}}]
        {more}}}]}}]}}"#
    )
}

#[test]
fn our_first_table_is_as_known() {
    let output = lab(&["seeds", "--json", "--table", "1"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let value: Value = serde_json::from_slice(&output.stdout).expect("one JSON value");
    let table = &value["tables"][0];
    assert_eq!(table["graphs"][0]["ours"]["arcs"], 21);
    assert_eq!(table["graphs"][1]["ours"]["nodes"], 32);
    assert_eq!(table["graphs"][2]["ours"]["leaves"], 729);
    for row in table["searches"].as_array().expect("there are searches") {
        assert_eq!(row["length"], 6, "{row}");
        assert_eq!(row["faults"].as_array().map(Vec::len), Some(0), "{row}");
    }
}

#[test]
fn tables_can_be_read_and_put_into_documents() {
    let plain = text(&lab(&["seeds", "--table", "1"]).stdout);
    assert!(plain.starts_with("1. Buttons and Lights\n"), "{plain}");
    assert!(plain.contains("by depth 1 1 1 2 1 1 1") && plain.contains("as known"));
    let marked = text(&lab(&["seeds", "--table", "1", "--markdown"]).stdout);
    assert!(marked.contains("\n## 1. Buttons and Lights\n"), "{marked}");
    assert!(marked.contains("\n| --- | ---: |"), "{marked}");
}

#[test]
fn boards_are_solved_and_solutions_counted() {
    let (code, value) = run("boards", &one_board(""), &[]);
    let row = &value["tables"][0]["boards"][0];
    assert_eq!(code, Some(0), "{row}");
    assert_eq!(row["each"][0]["length"], 1);
    assert_eq!(row["each"][0]["optimal"], true);
    let unique = r#"{"tables": [{"number": 1, "title": "t", "boards": [{"label": "b",
        "rules": ["hitori.kif"], "boards": [{"board": "122/231/132"}, {"board": "11/22"}],
        "count": 2, "expect": {"unique": true}}]}]}"#;
    let (code, value) = run("unique", unique, &[]);
    let row = &value["tables"][0]["boards"][0];
    assert_eq!(row["each"][0]["solutions"], serde_json::json!([1, true]));
    // Shading two cells of one column would make neighbours, of two rows a cut.
    assert_eq!(code, Some(1), "{row}");
    assert_eq!(row["each"][1]["verdict"], "unsolvable");
}

#[test]
fn refutations_are_checked() {
    let spec = r#"{"tables": [{"number": 1, "title": "t", "boards": [{"label": "b",
        "rules": ["lights_out.kif"], "boards": [{"board": "1000/0000/0000/0000"}],
        "expect": {"verdict": "unsolvable"}}]}]}"#;
    let (code, value) = run("refuted", spec, &[]);
    let row = &value["tables"][0]["boards"][0];
    assert_eq!(code, Some(0), "{row}");
    assert_eq!(row["each"][0]["verdict"], "unsolvable");
}

#[test]
fn what_is_not_as_expected_is_told() {
    let wrong = one_board("").replace("\"least\": 1", "\"least\": 2");
    let (code, value) = run("least", &wrong, &[]);
    assert_eq!(code, Some(1));
    let faults = &value["tables"][0]["boards"][0]["faults"];
    assert_eq!(faults[0], "board 1: 1 move instead of 2");
    let (code, _) = run(
        "verdict",
        &one_board(r#", "expect": {"verdict": "unsolvable"}"#),
        &[],
    );
    assert_eq!(code, Some(1));
    let graph = r#"{"tables": [{"number": 1, "title": "t", "graphs": [{"label": "g",
        "game": {"rules": ["buttons_and_lights.kif"]}, "merge": "stripped",
        "known": {"nodes": 9}}]}]}"#;
    assert_eq!(run("graph", graph, &[]).0, Some(1));
}

#[test]
fn counts_and_pictures_are_written() {
    let spec = r#"{"tables": [{"number": 7, "title": "t", "searches": [{"label": "by level",
        "game": {"rules": ["lights_out.kif"], "board": "111/111/111"}, "method": "breadth-first-packed",
        "expect": {"least": 5}}], "curves": [{"label": "known", "values": [1, 9, 36]}]}]}"#;
    let folder = scratch("figures");
    let folder = folder.to_str().expect("a plain name");
    let (code, value) = run("written", spec, &["--csv", folder, "--plot", folder]);
    assert_eq!(code, Some(0));
    let levels = value["tables"][0]["searches"][0]["levels"].as_array();
    let generated: Vec<u64> = levels
        .expect("a search by level")
        .iter()
        .map(|level| level["generated"].as_u64().expect("a number"))
        .collect();
    assert_eq!(generated[..4], [1, 9, 36, 84]);
    let read = |name: &str| fs::read_to_string(PathBuf::from(folder).join(name));
    let levels = read("levels.csv").expect("it was written");
    assert!(
        levels.contains("7,by level,2,") && levels.lines().count() > 4,
        "{levels}"
    );
    assert!(
        read("searches.csv")
            .expect("it was written")
            .contains("7,by level,solved,5,true")
    );
    assert!(
        read("boards.csv")
            .expect("it was written")
            .starts_with("table,boards,")
    );
    let drawn = read("states_7.svg").expect("it was drawn");
    assert!(drawn.contains("by level") && drawn.contains("known"));
}

#[test]
fn bad_lists_of_tables_are_refused() {
    let told = |arguments: &[&str]| {
        let output = lab(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        text(&output.stderr)
    };
    assert!(told(&["seeds", "--table", "99"]).contains("there is no table 99"));
    assert!(told(&["seeds", "--games", "no_such_folder"]).contains("--games"));
    assert!(told(&["seeds", "--spec", "no_such_file"]).contains("cannot read"));
    assert!(told(&["seeds", "--spec", "games/senku.kif"]).contains("not a list of tables"));
    let file = scratch("strategy").join("spec.json");
    let spec = one_board(r#", "method": "magic""#);
    fs::write(&file, spec).expect("it can be written");
    let file = file.to_str().expect("a plain name");
    assert!(told(&["seeds", "--spec", file]).contains("`magic` is not a method"));
    assert!(told(&["seeds", "--budget-time", "0"]).contains("more than 0"));
}

#[test]
fn boards_that_are_not_there_are_left_out() {
    let spec = r#"{"tables": [{"number": 1, "title": "t", "boards": [{"label": "elsewhere",
        "rules": ["lights_out.kif"], "boards": {"file": "no_such_file.txt"}}]}]}"#;
    let (code, value) = run("left_out", spec, &[]);
    assert_eq!(code, Some(0));
    assert_eq!(value["tables"][0]["left_out"][0], "elsewhere");
    // There is nothing to draw then.
    let folder = scratch("not_drawn");
    let file = folder.join("spec.json");
    fs::write(&file, spec).expect("it can be written");
    let plot = folder.join("plot");
    let (file, plot) = (file.to_str().unwrap(), plot.to_str().unwrap());
    let output = lab(&["seeds", "--spec", file, "--plot", plot]);
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(told.contains("nothing is drawn"), "{told}");
}
