//! Rewritten rules give the same answers as the original ones: on reference answers,
//! if their folder is present, and by counting positions of the bundled games.
//!
//! `cargo test --release --test all -- --ignored rewritten` checks all reference
//! answers.

use ggp_stop::Stop;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ggp_cli::conformance::{self, Explanation, Options, sha256};
use ggp_engine::machine::{AnyMachine, Backend, Limits, Machine, PerftOptions, perft};
use ggp_gdl::game::Game;
use ggp_gdl::rewrite::{
    Layout, Scramble, Tree, from_infix, laid_out, restored, scramble, to_infix, unwritable,
};
use ggp_gdl::span::{Source, Sources};
use ggp_gdl::symbol::Case;
use ggp_gdl::syntax::{SyntaxLimits, read};
use serde_json::Value;

/// A transformation of a text; `None` if the text has no such form.
type Route = fn(&str) -> Option<String>;

const ROUTES: [(&str, Route); 3] = [
    ("laid out", laid),
    ("converted", converted),
    ("in another order", reordered),
];

fn with_tree<T>(text: &str, use_it: impl FnOnce(&mut Tree<'_>) -> T) -> Option<T> {
    let sources = Sources::from(Source::new("t", text));
    let tree = Tree::read(&sources, SyntaxLimits::default(), &Stop::new());
    tree.ok().map(|mut tree| use_it(&mut tree))
}

fn lay(tree: &Tree<'_>) -> String {
    laid_out(tree, Layout::default(), &Stop::new())
}

fn laid(text: &str) -> Option<String> {
    with_tree(text, |tree| lay(tree))
}

/// Converts to infix notation and back.
fn converted(text: &str) -> Option<String> {
    let sources = Sources::from(Source::new("t", text));
    if !unwritable(&read(&sources, SyntaxLimits::default()).0).is_empty() {
        return None;
    }
    let source = Source::new("t", with_tree(text, |tree| to_infix(tree))?);
    let tree = from_infix(&source, SyntaxLimits::default(), &Stop::new());
    Some(lay(&tree.expect("it was written by us")))
}

fn scrambled(text: &str, order: bool) -> Option<(String, ggp_gdl::rewrite::NameMap)> {
    let how = Scramble {
        seed: 11,
        order,
        comments: false,
        case: Case::Keep,
    };
    with_tree(text, |tree| {
        let names = scramble(tree, how);
        (lay(tree), names)
    })
}

/// Scrambles with shuffled order and restores the names.
fn reordered(text: &str) -> Option<String> {
    let (text, names) = scrambled(text, true)?;
    let sources = Sources::from(Source::new("t", text));
    let (forms, _) = read(&sources, SyntaxLimits::default());
    Some(restored(&forms, &sources, 0, &names))
}

/// A copy of the folder of reference answers, with all rule files rewritten for which
/// the transformation exists.
fn rewritten(folder: &Path, route: Route) -> tempfile::TempDir {
    let new = tempfile::tempdir().expect("a folder can be made");
    let mut digests: HashMap<String, String> = HashMap::new();
    let mut digest = |file: &str| {
        let known = digests.entry(file.to_owned()).or_insert_with(|| {
            let bytes = std::fs::read(folder.join(file)).expect("the file is there");
            let text = String::from_utf8(bytes.clone()).ok();
            let rules = text
                .and_then(|text| route(&text))
                .map_or(bytes, String::into_bytes);
            let path = new.path().join(file);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("it can be made");
            std::fs::write(path, &rules).expect("it can be written");
            sha256(&rules)
        });
        known.clone()
    };
    let files = std::fs::read_dir(folder).expect("the folder can be listed");
    let paths = files.map(|entry| entry.expect("it can be listed").path());
    for path in paths.filter(|path| path.extension().is_some_and(|e| e == "jsonl")) {
        let mut lines = String::new();
        for line in std::fs::read_to_string(&path).expect("it is text").lines() {
            let mut record: Value = serde_json::from_str(line).expect("it is JSON");
            let file = record["file"].as_str().expect("a file").to_owned();
            record["sha256"] = digest(&file).into();
            lines += &format!("{record}\n");
        }
        let name = path.file_name().expect("a file");
        std::fs::write(new.path().join(name), lines).expect("it can be written");
    }
    new
}

fn agrees(games: &[&str], paths: u64, time: Duration) {
    let Some(folder) = crate::common::corpus() else {
        return;
    };
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance_faults.json");
    let text = std::fs::read_to_string(file).expect("the file is part of the repository");
    let explanations: Vec<Explanation> = serde_json::from_str(&text).expect("explanations");
    for (name, route) in ROUTES {
        let folder = rewritten(&folder, route);
        let options = Options {
            games: games.iter().map(|&game| game.to_owned()).collect(),
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            paths,
            time_per_game: Some(time),
            explanations: explanations.clone(),
            ..Options::default()
        };
        let report = conformance::run(folder.path(), &options, |_, _| {}).expect("well formed");
        println!("{name}: {report}");
        assert!(report.agrees(), "{name}: {report}");
    }
}

#[test]
fn some_reference_answers_agree() {
    agrees(&["t*"], 2_000, Duration::from_secs(2));
}

#[test]
#[ignore = "takes minutes"]
fn all_reference_answers_agree() {
    agrees(&[], 5_000, Duration::from_secs(5));
}

#[test]
fn bundled_games_keep_their_number_of_positions() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("games");
    let entries = std::fs::read_dir(folder).expect("it can be listed");
    let paths = entries.map(|entry| entry.expect("it can be listed").path());
    let is_rules = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        let is_large = name.is_some_and(crate::common::is_large);
        path.extension().is_some_and(|ending| ending == "kif")
            && crate::common::sized(!is_large, true)
    };
    for path in paths.filter(is_rules) {
        let text = std::fs::read_to_string(&path).expect("it is text");
        // Some games need an instance file.
        let Some(expected) = positions(&text) else {
            continue;
        };
        let texts = [laid(&text), converted(&text), reordered(&text)];
        let scrambled = [false, true].map(|order| scrambled(&text, order).map(|(text, _)| text));
        for other in texts.into_iter().chain(scrambled) {
            let other = other.expect("our games can be rewritten");
            assert_eq!(
                positions(&other).as_ref(),
                Some(&expected),
                "{}\n{other}",
                path.display()
            );
        }
    }
}

/// Paths, positions, ends and scores for the first depths; `None` if the rules do not
/// form a game.
fn positions(text: &str) -> Option<Vec<String>> {
    let game = Game::from_text("t", text).ok()?;
    let mut machine = AnyMachine::new(&game, Backend::Datalog, Limits::default()).ok()?;
    let start = machine.initial().expect("a state");
    let mut levels = Vec::new();
    let mut options = PerftOptions::default();
    options.depth = 2;
    options.states = 3_000;
    perft(&mut machine, &start, options, |level| {
        let ends = (level.terminal_paths, &level.goal_sums);
        levels.push(format!("{} {} {ends:?}", level.paths, level.distinct));
    })
    .expect("it can be played");
    Some(levels)
}
