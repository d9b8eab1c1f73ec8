//! The rules of the architecture that Cargo does not enforce, read from the sources.
//!
//! Cargo keeps a crate from using another one that it does not depend on. These tests
//! hold what is left: nothing knows a particular game, the Datalog engine knows nothing of
//! GDL, clocks, threads, files and the environment are used only where they are listed,
//! and the lowest crates stay independent.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::common::sources::{root, rust_files, split};
use ggp_gdl::check::Keyword;

/// Symbols that published games use; only the rules of a game say what they mean.
const GAME_WORDS: &[&str] = &[
    "cell", "step", "control", "mark", "noop", "white", "black", "xplayer", "oplayer", "succ",
    "location", "blank",
];

#[test]
fn no_source_quotes_words_of_games() {
    let mut wrong = Vec::new();
    for file in rust_files() {
        // The one module that reads names as people do, on request only.
        if file.package() == "picture" && is_in(file.module(), "names") {
            continue;
        }
        for literal in split(file.without_tests()).literals {
            if GAME_WORDS.contains(&literal.text.to_lowercase().as_str()) {
                wrong.push(format!(
                    "{}:{}: quotes {}",
                    file.path, literal.line, literal.text
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_datalog_engine_knows_nothing_of_gdl() {
    let mut wrong = Vec::new();
    for file in rust_files() {
        if file.package() != "gdl" || !is_in(file.module(), "datalog") {
            continue;
        }
        let parts = split(file.without_tests());
        let mut words = parts.code.split(|c: char| !c.is_alphanumeric() && c != '_');
        let types = ["Keyword", "Game", "RoleId", "Move", "Score"];
        if let Some(word) = words.find(|word| types.contains(word)) {
            wrong.push(format!("{} names {word}", file.path));
        }
        for literal in &parts.literals {
            if Keyword::ALL
                .iter()
                .any(|keyword| literal.text == keyword.as_str())
            {
                wrong.push(format!(
                    "{}:{}: quotes {}",
                    file.path, literal.line, literal.text
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Whether a module is `parent` or inside it.
fn is_in(module: &str, parent: &str) -> bool {
    let rest = module.strip_prefix(parent);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Ways to reach the surroundings of the program, and how code names them.
const SURROUNDINGS: &[(&str, &[&str])] = &[
    ("clock", &["Instant", "SystemTime"]),
    ("thread", &["std::thread", "thread::", "rayon"]),
    ("file", &["std::fs"]),
    ("memory map", &["memmap2"]),
    ("stream", &["std::io"]),
    ("process", &["std::process"]),
    ("environment", &["std::env"]),
    ("network", &["std::net", "tokio::net"]),
    (
        "terminal",
        &["println!", "eprintln!", "print!", "eprint!", "dbg!"],
    ),
    ("chance", &["rand::rng", "SysRng"]),
];

/// Crates whose purpose is to deal with the surroundings. All others, and their modules,
/// are listed in [`ALLOWED`].
const EDGES: &[&str] = &["cli", "fuzz", "ggp", "lab"];

/// Crate, module (without the modules inside it) and the surroundings that it uses.
const ALLOWED: &[(&str, &str, &[&str])] = &[
    ("stop", "lib", &["clock", "thread"]),
    ("search", "budget", &["clock"]),
    ("search", "mcts/parallel", &["clock", "thread"]),
    ("search", "minimax", &["clock"]),
    ("engine", "machine/perft", &["clock", "thread"]),
    ("engine", "propnet/rollouts", &["clock"]),
    ("engine", "threads", &["clock", "thread"]),
    (
        "engine",
        "propnet/cache",
        &["clock", "environment", "file", "stream"],
    ),
    ("engine", "propnet/native", &["memory map"]),
    ("learn", "learning", &["clock"]),
    (
        "solver",
        "planning/breadth_first",
        &["clock", "file", "stream"],
    ),
    ("solver", "planning/breadth_first/levels", &["stream"]),
    ("solver", "planning/breadth_first/link", &["thread"]),
    (
        "solver",
        "planning/breadth_first/link/sockets",
        &["clock", "network", "stream", "thread"],
    ),
    ("solver", "planning/breadth_first/next_level", &["stream"]),
    ("solver", "planning/breadth_first/options", &["stream"]),
    ("solver", "planning/breadth_first/plan", &["stream"]),
    ("solver", "planning/breadth_first/resume", &["stream"]),
    ("solver", "planning/breadth_first/segments", &["file"]),
    (
        "solver",
        "planning/breadth_first/spill",
        &["file", "stream"],
    ),
    (
        "solver",
        "planning/breadth_first/spill/kept",
        &["file", "stream"],
    ),
    (
        "solver",
        "planning/breadth_first/temporary_folder",
        &["file", "process", "stream"],
    ),
    (
        "solver",
        "planning/checkpoint",
        &["clock", "file", "stream"],
    ),
    ("solver", "planning/expand/table", &["memory map"]),
    ("solver", "planning/potential", &["clock"]),
    ("solver", "solve", &["clock"]),
    ("solver", "solve/methods/task", &["clock"]),
    ("solver", "solve/portfolio", &["clock"]),
    ("solver", "solve/portfolio/network", &["clock", "thread"]),
    ("solver", "solve/portfolio/states", &["clock"]),
    ("playcheck", "alarm", &["clock", "thread"]),
    ("playcheck", "claims", &["clock"]),
    ("playcheck", "coverage", &["clock"]),
    ("playcheck", "lib", &["clock"]),
    ("solver", "table/build", &["stream"]),
    ("solver", "table/file", &["file", "stream"]),
    ("play", "agent", &["clock"]),
    ("play", "agent_thread", &["clock", "thread"]),
    ("play", "backends", &["thread"]),
    ("play", "contest", &["clock"]),
    ("play", "lib", &["clock"]),
    ("play", "mcts", &["clock"]),
    ("play", "protocol/host", &["clock", "stream", "thread"]),
    (
        "play",
        "protocol/host/exchange",
        &["clock", "network", "stream", "thread"],
    ),
    ("play", "protocol/player", &["network", "stream"]),
    ("play", "protocol/player/connections", &["clock", "network"]),
    ("play", "protocol/player/event", &["network"]),
    ("play", "protocol/player/match_progress", &["thread"]),
    ("play", "protocol/player/match_thread", &["clock", "thread"]),
    ("play", "protocol/wire", &["clock", "stream"]),
    ("play", "protocol/wire/body", &["clock"]),
    ("play", "outlook", &["clock"]),
    ("play", "record", &["clock", "process", "stream"]),
    ("play", "referee", &["clock", "thread"]),
    ("play", "spec", &["clock"]),
    ("play", "tournament/results", &["file", "stream"]),
    ("play", "whole_file", &["file", "process", "stream"]),
    ("lsp", "desk", &["stream", "thread"]),
    ("lsp", "lens", &["clock", "stream", "thread"]),
    ("lsp", "lib", &["clock"]),
    ("lsp", "wire", &["stream", "thread"]),
    ("answers", "allowance", &["clock"]),
    ("answers", "graph", &["clock"]),
    ("answers", "network", &["clock"]),
    ("answers", "solving", &["clock"]),
    ("answers", "think", &["clock"]),
    ("answers", "trial", &["clock"]),
    ("answers", "values", &["clock"]),
    ("browser", "lib", &["clock"]),
    ("web", "connections", &["clock", "network", "stream"]),
    ("web", "events", &["clock"]),
    ("web", "export", &["file", "stream"]),
    ("web", "game_store", &["clock"]),
    ("web", "guard", &["network"]),
    ("web", "lib", &["network", "stream", "thread"]),
    ("web", "memory", &["file"]),
    ("web", "page", &["stream"]),
    ("web", "session", &["chance", "clock", "network"]),
    ("web", "tables", &["clock"]),
    ("web", "turns", &["clock", "network", "thread"]),
    ("web", "workers", &["stream", "thread"]),
];

#[test]
fn surroundings_are_used_only_where_listed() {
    let mut wrong = Vec::new();
    let files = rust_files();
    let mut unused: BTreeSet<(&str, &str, &str)> = ALLOWED
        .iter()
        .flat_map(|(package, module, kinds)| kinds.iter().map(|kind| (*package, *module, *kind)))
        .collect();
    for file in &files {
        if EDGES.contains(&file.package()) {
            continue;
        }
        let code = split(file.without_tests()).code;
        for (kind, names) in SURROUNDINGS {
            let Some(name) = names.iter().find(|name| contains_name(&code, name)) else {
                continue;
            };
            if !unused.remove(&(file.package(), file.module(), *kind)) {
                wrong.push(format!("{} uses {kind} ({name})", file.path));
            }
        }
    }
    let unused = unused.iter().map(|(package, module, kind)| {
        format!("crates/{package}/src/{module} is listed for {kind} and does not use it")
    });
    wrong.extend(unused);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Whether code has a name that is not a part of a longer one.
fn contains_name(code: &str, name: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(name).any(|(at, _)| {
        let before = code[..at].chars().next_back();
        let after = code[at + name.len()..].chars().next();
        !before.is_some_and(is_word) && (!name.ends_with(is_word) || !after.is_some_and(is_word))
    })
}

#[test]
fn names_are_found_as_whole_words() {
    assert!(contains_name(
        "use std::time::{Duration, Instant};",
        "Instant"
    ));
    assert!(!contains_name("let is_late = InstantNoodles;", "Instant"));
    assert!(!contains_name("memory_thread::f()", "thread::"));
    assert!(contains_name("thread::spawn(f)", "thread::"));
}

/// For each package its dependencies inside the workspace, without those of tests.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(root().join("crates")).expect("crates can be listed") {
        let folder = entry.expect("crates can be listed").path();
        let Ok(manifest) = fs::read_to_string(folder.join("Cargo.toml")) else {
            continue;
        };
        let mut section = "";
        let mut needs = BTreeSet::new();
        for line in manifest.lines() {
            if let Some(name) = line.strip_prefix('[') {
                section = name.trim_end_matches(']');
            } else if section == "dependencies" || section.ends_with(".dependencies") {
                let name = line.split(['.', '=', ' ']).next().unwrap_or_default();
                needs.extend(name.strip_prefix("ggp-").map(str::to_owned));
            }
        }
        let name = folder.file_name().and_then(|name| name.to_str());
        found.insert(name.expect("crates have plain names").to_owned(), needs);
    }
    found
}

/// The crates that a crate needs, directly or through others.
fn reachable(package: &str, dependencies: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![package.to_owned()];
    while let Some(package) = open.pop() {
        for needed in dependencies.get(&package).into_iter().flatten() {
            if found.insert(needed.clone()) {
                open.push(needed.clone());
            }
        }
    }
    found
}

#[test]
fn the_lowest_crates_need_only_the_ground_floor() {
    let dependencies = dependencies();
    for package in ["gdl", "search"] {
        for needed in &dependencies[package] {
            let below = &dependencies[needed];
            assert!(
                below.is_empty(),
                "{package} needs {needed}, which needs {below:?}"
            );
        }
    }
}

#[test]
fn answers_are_verified_without_the_solver() {
    let dependencies = dependencies();
    if dependencies.contains_key("verify") {
        let needed = reachable("verify", &dependencies);
        assert!(!needed.contains("solver"), "verify needs {needed:?}");
    }
}
