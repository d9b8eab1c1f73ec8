//! Rewritten rules give the same answers as the original ones: reference answers about the
//! hand-made rule sets, and the numbers of positions of the bundled games.
//!
//! With `GGP_CORPUS`, also reference answers about public rule files.

use ggp_stop::Stop;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ggp_cli::conformance::{self, Explanation, Options, answers_text, sha256};
use ggp_engine::machine::{AnyMachine, Backend, Limits, Machine, PerftOptions, perft};
use ggp_gdl::game::Game;
use ggp_gdl::rewrite::{
    Layout, Scramble, Tree, from_infix, laid_out, restored, scramble, to_infix, unwritable,
};
use ggp_gdl::span::{Source, Sources};
use ggp_gdl::symbol::Case;
use ggp_gdl::syntax::{SyntaxLimits, read};
use serde_json::Value;

use crate::common::sized;

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

/// The folder of reference answers.
fn answers() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance")
}

/// A copy of the answers about the rule files in some folders, with all of these rewritten for
/// which the transformation exists.
fn rewritten(folders: &[PathBuf], route: Route) -> tempfile::TempDir {
    let new = tempfile::tempdir().expect("a folder can be made");
    let mut digests: HashMap<String, String> = HashMap::new();
    for path in folders.iter().flat_map(|folder| paths(folder)) {
        let bytes = std::fs::read(path).expect("it is a file");
        let text = String::from_utf8(bytes.clone()).ok();
        let rules = text
            .and_then(|text| route(&text))
            .map_or(bytes.clone(), String::into_bytes);
        let name = format!("{}.kif", digests.len());
        std::fs::write(new.path().join(name), &rules).expect("it can be written");
        digests.insert(sha256(&bytes), sha256(&rules));
    }
    let packed = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "gz");
    for path in paths(&answers()).filter(packed) {
        let mut lines = String::new();
        for line in answers_text(&path).expect("it is packed text").lines() {
            let mut record: Value = serde_json::from_str(line).expect("it is JSON");
            if let Some(digest) = digests.get(record["sha256"].as_str().expect("a digest")) {
                record["sha256"] = digest.as_str().into();
                lines += &format!("{record}\n");
            }
        }
        let name = path.file_stem().expect("a file");
        std::fs::write(new.path().join(name), lines).expect("it can be written");
    }
    new
}

/// Everything in a folder.
fn paths(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir(folder).expect("it can be listed");
    entries.map(|entry| entry.expect("it can be listed").path())
}

fn agrees(folders: &[PathBuf], games: &[&str], paths: u64, time: Duration) {
    let text = std::fs::read_to_string(answers().join("explanations.json"));
    let text = text.expect("the file is part of the repository");
    let explanations: Vec<Explanation> = serde_json::from_str(&text).expect("explanations");
    for (name, route) in ROUTES {
        let folder = rewritten(folders, route);
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
        assert!(!report.games.is_empty());
    }
}

#[test]
fn answers_about_hand_made_rule_sets_agree() {
    agrees(
        &[answers().join("minis")],
        &[],
        2_000,
        Duration::from_secs(2),
    );
}

#[test]
#[ignore = "needs GGP_CORPUS"]
fn corpus_answers_agree() {
    let folder = crate::common::corpus();
    let folders = ["conformance/games", "gdl2/games"].map(|games| folder.join(games));
    let seconds = Duration::from_secs(sized(2, 5));
    let games: &[&str] = sized(&["t*"], &[]);
    agrees(&folders, games, sized(2_000, 5_000), seconds);
}

#[test]
fn bundled_games_keep_their_number_of_positions() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("games");
    let is_rules = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        let is_large = name.is_some_and(crate::common::is_large);
        path.extension().is_some_and(|ending| ending == "kif") && sized(!is_large, true)
    };
    for path in paths(&folder).filter(is_rules) {
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
