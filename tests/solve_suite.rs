//! `ggp solve --suite` beside what is known.

use std::fs;
use std::path::PathBuf;

use crate::common::ggp;

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

/// A folder `games` in a folder, with two games in it.
fn suite(name: &str) -> PathBuf {
    let folder = scratch(name);
    fs::create_dir(folder.join("games")).expect("it can be made");
    for game in ["buttons_and_lights", "wolf_goat_cabbage"] {
        let from = format!("{}/games/{game}.kif", env!("CARGO_MANIFEST_DIR"));
        fs::copy(from, folder.join(format!("games/{game}.kif"))).expect("it can be copied");
    }
    folder
}

/// Solves two games beside a table of what is known; exit code and both outputs.
fn beside(name: &str, known: &str) -> (Option<i32>, String, String) {
    let folder = suite(name);
    let table = folder.join("known.csv");
    let head = "game,known,moves,proved,settled_by,source";
    fs::write(&table, format!("{head}\n{known}\n")).expect("it can be written");
    let (folder, table) = (folder.to_str(), table.to_str());
    let (folder, table) = (folder.expect("a plain name"), table.expect("a plain name"));
    let output = ggp(&["--quiet", "solve", "--suite", folder, "--reference", table]);
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

#[test]
fn a_suite_stands_beside_what_is_known() {
    let (code, table, _) = beside("suite", "buttons_and_lights,solvable,6,shortest,x,y");
    assert_eq!(code, Some(0), "{table}");
    assert!(table.contains("yes, 6"), "{table}");
    assert!(
        table
            .lines()
            .last()
            .is_some_and(|line| line == "settled 2 of 2"),
        "{table}"
    );
}

#[test]
fn a_contradiction_is_not_to_be_missed() {
    let (code, table, told) = beside("contradiction", "buttons_and_lights,unsolvable,,,x,y");
    assert_eq!(code, Some(1), "{table}");
    assert!(
        table.contains("CONTRADICTION: a plan of 6 moves"),
        "{table}"
    );
    assert!(
        table.contains("settled 2 of 2, 1 CONTRADICT known results"),
        "{table}"
    );
    assert!(
        told.contains("error: buttons_and_lights: a plan of 6 moves"),
        "{told}"
    );
    let (code, table, _) = beside("shorter", "buttons_and_lights,solvable,7,shortest,x,y");
    assert_eq!(code, Some(1), "{table}");
    let (code, _, told) = beside("no_table", "buttons_and_lights,perhaps,7,shortest,x,y");
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("is not a table of known results"), "{told}");
}
