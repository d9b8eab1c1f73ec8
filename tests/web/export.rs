//! The page as files, with an engine that is only named.

use std::fs;
use std::process::{Command, Output};

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn export(folder: &str, place: &tempfile::TempDir, more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ggp"));
    command
        .current_dir(place.path())
        .args(["web", "--export", folder]);
    command.args(more).output().expect("it runs")
}

#[test]
fn the_page_is_written_as_files() {
    let place = tempfile::tempdir().expect("a folder");
    let file = |path: &str| place.path().join(path);
    fs::create_dir(file("engine")).expect("a folder");
    fs::write(file("engine/engine.js"), "a script").expect("a file");
    let first = export("page", &place, &["--engine", "engine"]);
    assert_eq!(first.status.code(), Some(2));
    assert!(stderr(&first).contains("engine.wasm"), "{}", stderr(&first));
    fs::write(file("engine/engine.wasm"), "a module").expect("a file");
    let done = export("page", &place, &["--engine", "engine"]);
    assert_eq!(done.status.code(), Some(0), "{}", stderr(&done));
    let text = |path: &str| fs::read_to_string(file("page").join(path)).expect("a file");
    assert_eq!(text("engine/engine.wasm"), "a module");
    let index = text("index.html");
    assert!(index.contains(r#"<meta name="engine" content="engine/local.js">"#));
    // All addresses are relative, so that any folder will do.
    for word in ["=\"/", "'/api", "`/api", "\"/api"] {
        assert!(
            !index.contains(word) && !text("page/page.js").contains(word),
            "{word}"
        );
    }
    let cards: serde_json::Value = serde_json::from_str(&text("api/games.json")).expect("JSON");
    let cards = cards.as_array().expect("a list");
    for card in cards {
        let id = card["id"].as_str().expect("a name");
        let game: serde_json::Value =
            serde_json::from_str(&text(&format!("api/games/{id}.json"))).expect("JSON");
        assert!(
            game["files"][0]["text"]
                .as_str()
                .is_some_and(|rules| !rules.is_empty()),
            "{id}"
        );
        assert!(
            text(&format!("api/games/{id}/picture.svg")).starts_with("<svg"),
            "{id}"
        );
        let first: serde_json::Value =
            serde_json::from_str(&text(&format!("api/games/{id}/first.json"))).expect("JSON");
        let roles = game["roles"].as_array().map(Vec::len);
        assert_eq!(first["ply"], 0, "{id}");
        assert_eq!(first["legal"].as_array().map(Vec::len), roles, "{id}");
        // Some games have no board.
        let svg = first["svg"].as_str();
        assert!(
            svg.is_some_and(|svg| svg.is_empty() || svg.starts_with("<svg")),
            "{id}"
        );
    }
    let films = cards.iter().filter(|card| card["featured"].is_number());
    let films: Vec<&str> = films.filter_map(|card| card["id"].as_str()).collect();
    assert!(!films.is_empty());
    for id in films {
        assert!(
            text(&format!("api/games/{id}/film.svg")).starts_with("<svg"),
            "{id}"
        );
    }
    // What is kept for use without a network is there.
    let keeper = text("keep.js");
    let list = keeper
        .lines()
        .find_map(|line| line.strip_prefix("const FILES = "));
    let list = list
        .and_then(|list| list.strip_suffix(';'))
        .expect("a list");
    let paths: Vec<String> = serde_json::from_str(list).expect("JSON");
    assert!(paths.len() > 2 * cards.len());
    assert!(paths.iter().all(|path| file("page").join(path).is_file()));

    let again = export("page", &place, &["--engine", "engine"]);
    assert_eq!(again.status.code(), Some(2));
    assert!(
        stderr(&again).contains("not an empty folder"),
        "{}",
        stderr(&again)
    );
    let names = fs::read_dir(place.path()).expect("a folder");
    assert_eq!(names.count(), 2, "only the engine and the page are there");
}
