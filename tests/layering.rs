//! Who may import whom, read from the sources.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The top-level modules, lowest first; those of one line may import each other.
/// Each may import those of lines above its own.
const LAYERS: &[&[&str]] = &[
    &["symbol", "span", "markup", "layered"],
    &["diagnostic"],
    &["syntax", "program", "ground"],
    &["check", "game"],
    &["datalog"],
    &["propnet"],
    &["machine"],
    &["analysis"],
    &["search"],
    &["puzzle"],
    &["verify"],
    &[
        "solve",
        "grid",
        "conformance",
        "bench",
        "picture",
        "explain",
        "rewrite",
    ],
    &["audit"],
    &["play"],
    &["ggp", "web", "lsp"],
    &["cli"],
];

/// Narrower than the layers: what a module may import at most.
const NARROW: &[(&str, &[&str])] = &[
    ("symbol", &[]),
    ("span", &[]),
    ("diagnostic", &["span", "markup"]),
    ("syntax", &["span", "diagnostic"]),
    ("program", &["symbol", "span", "ground"]),
    ("ground", &["program"]),
    // Plain Datalog: no word of GDL, no state, no role.
    ("datalog", &["span", "program", "ground"]),
    ("search", &[]),
];

/// Modules below these take clocks, threads, files and chance from outside.
const EDGES: &[&str] = &[
    "search",
    "puzzle",
    "verify",
    "solve",
    "audit",
    "play",
    "grid",
    "conformance",
    "bench",
    "ggp",
    "web",
    "lsp",
    "cli",
];

fn sources() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut open = vec![root.clone()];
    let mut files = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).expect("src can be listed") {
            let path = entry.expect("src can be listed").path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let text = fs::read_to_string(&path).expect("a source is text");
                files.push((path.strip_prefix(&root).unwrap().to_owned(), text));
            }
        }
    }
    files.sort();
    files
}

/// The top-level module of a file; None for the roots `lib.rs` and `main.rs`.
fn module(file: &Path) -> Option<String> {
    let first = file.components().next()?.as_os_str().to_str()?;
    let name = first.strip_suffix(".rs").unwrap_or(first);
    (name != "lib" && name != "main").then(|| name.to_owned())
}

/// A source without its tests: what stands before `#[cfg(test)]` at the start
/// of a line, which by custom comes last. A file of tests alone is left out by
/// its name.
fn without_tests<'t>(file: &Path, text: &'t str) -> &'t str {
    if file.file_stem().is_some_and(|stem| stem == "tests") {
        return "";
    }
    match text.find("\n#[cfg(test)]\nmod tests") {
        Some(end) => &text[..end],
        None => text,
    }
}

/// The source with comments blanked and, if asked for, string literals too, so
/// that only code is left. Line breaks stay.
fn code(text: &str) -> String {
    split(text).0
}

/// The code and the string literals of a source.
fn split(text: &str) -> (String, Vec<String>) {
    let chars: Vec<char> = text.chars().collect();
    let mut code = String::new();
    let mut literals = Vec::new();
    let mut at = 0;
    let starts = |at: usize, what: &str| {
        what.chars()
            .enumerate()
            .all(|(i, c)| chars.get(at + i) == Some(&c))
    };
    while at < chars.len() {
        if starts(at, "//") {
            while at < chars.len() && chars[at] != '\n' {
                at += 1;
            }
        } else if starts(at, "r\"") || starts(at, "r#\"") {
            let close = if starts(at, "r#\"") { "\"#" } else { "\"" };
            at += 1 + close.len();
            let mut literal = String::new();
            while at < chars.len() && !starts(at, close) {
                literal.push(chars[at]);
                at += 1;
            }
            at += close.len();
            literals.push(literal);
            code.push_str("\"\"");
        } else if chars[at] == '"' {
            at += 1;
            let mut literal = String::new();
            while at < chars.len() && chars[at] != '"' {
                if chars[at] == '\\' {
                    at += 1;
                }
                literal.extend(chars.get(at));
                at += 1;
            }
            at += 1;
            literals.push(literal);
            code.push_str("\"\"");
        } else if chars[at] == '\'' && chars.get(at + 1) == Some(&'\\') {
            // '\'' and its like; a lifetime never begins with a backslash.
            at += 3;
            while at < chars.len() && chars[at] != '\'' {
                at += 1;
            }
            at += 1;
        } else if chars[at] == '\'' && chars.get(at + 2) == Some(&'\'') {
            at += 3;
        } else {
            code.push(chars[at]);
            at += 1;
        }
    }
    (code, literals)
}

/// The top-level modules of ours that a source names after `crate::`, also in
/// braces, and after the `super::`s that lead to the top.
fn imports(file: &Path, text: &str) -> BTreeSet<String> {
    let code = code(text);
    // src/a.rs is one step below the top, src/a/b.rs two.
    let depth = file.components().count();
    let up = "super::".repeat(depth);
    let mut found = BTreeSet::new();
    for start in ["crate::", &up] {
        for (index, _) in code.match_indices(start) {
            let before = code[..index].chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
                continue;
            }
            let rest = &code[index + start.len()..];
            match rest.strip_prefix('{') {
                Some(group) => found.extend(group_members(group)),
                None => found.extend(word(rest)),
            }
        }
    }
    found
}

/// The first names of the paths in braces, up to the closing one.
fn group_members(group: &str) -> Vec<String> {
    let mut depth = 0;
    let mut names = Vec::new();
    let mut fresh = true;
    for (index, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => fresh = true,
            c if depth == 0 && fresh && c.is_alphabetic() => {
                names.extend(word(&group[index..]));
                fresh = false;
            }
            _ => {}
        }
    }
    names
}

fn word(text: &str) -> Option<String> {
    let end = text
        .find(|c: char| !c.is_alphanumeric() && c != '_')
        .unwrap_or(text.len());
    (end > 0).then(|| text[..end].to_owned())
}

fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&module))
}

#[test]
fn every_module_has_its_layer() {
    let modules: BTreeSet<String> = sources()
        .iter()
        .filter_map(|(file, _)| module(file))
        .collect();
    for module in modules {
        assert!(layer(&module).is_some(), "{module} stands in no layer");
    }
}

#[test]
fn imports_point_downwards() {
    let modules: BTreeSet<String> = sources()
        .iter()
        .filter_map(|(file, _)| module(file))
        .collect();
    let mut wrong = Vec::new();
    for (file, text) in sources() {
        let Some(from) = module(&file) else { continue };
        for to in imports(&file, without_tests(&file, &text)) {
            if to == from || !modules.contains(&to) {
                continue;
            }
            let narrow = NARROW.iter().find(|(name, _)| *name == from);
            let allowed = match narrow {
                Some((_, most)) => most.contains(&to.as_str()),
                None => layer(&to) < layer(&from) || shares_layer(&from, &to),
            };
            if !allowed {
                wrong.push(format!("src/{} imports {to}", file.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Only these layers are knots on purpose; what stands at the edge side by side
/// does not know each other.
fn shares_layer(from: &str, to: &str) -> bool {
    layer(from) == layer(to) && ["syntax", "program", "ground", "check", "game"].contains(&from)
}

#[test]
fn the_evaluator_knows_no_word_of_the_language() {
    for (file, text) in sources() {
        if module(&file).as_deref() != Some("datalog") {
            continue;
        }
        let (code, literals) = split(without_tests(&file, &text));
        for word in ["Keyword", "RoleId", "Move", "Score"] {
            let named = code
                .split(|c: char| !c.is_alphanumeric() && c != '_')
                .any(|w| w == word);
            assert!(!named, "src/{} names {word}", file.display());
        }
        for keyword in ggp_gdl::check::Keyword::ALL {
            let quoted = literals.iter().any(|literal| literal == keyword.as_str());
            assert!(
                !quoted,
                "src/{} quotes {}",
                file.display(),
                keyword.as_str()
            );
        }
    }
}

/// Only the rules of a game say what its words mean.
#[test]
fn no_game_is_known_by_its_words() {
    const WORDS: &[&str] = &[
        "cell", "step", "control", "mark", "noop", "white", "black", "xplayer", "oplayer", "succ",
        "location", "blank",
    ];
    let mut wrong = Vec::new();
    for (file, text) in sources() {
        let (_, literals) = split(without_tests(&file, &text));
        for literal in literals {
            if WORDS.contains(&literal.to_lowercase().as_str()) {
                wrong.push(format!("src/{} quotes {literal}", file.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// No clock, thread, file, environment or socket below the edges. Search has
/// the clock of its budget, counting positions its time limit and threads,
/// grounding its time limit.
#[test]
fn the_core_asks_nothing_of_its_surroundings() {
    const OUTSIDE: &[&str] = &[
        "std::fs",
        "std::net",
        "std::env",
        "std::io",
        "std::process",
        "std::thread",
        "std::time",
        "Instant::now",
        "SystemTime",
        "println!",
        "eprintln!",
        "rand::rng",
    ];
    let clock = &["std::time", "Instant::now"][..];
    let allowed: BTreeMap<&str, &[&str]> = BTreeMap::from([
        (
            "machine/perft.rs",
            &["std::thread", "std::time", "Instant::now"][..],
        ),
        ("datalog.rs", &["std::time"][..]),
        ("datalog/run.rs", clock),
        ("propnet/attempts.rs", clock),
        ("propnet/clauses.rs", clock),
        ("propnet/grounding.rs", clock),
    ]);
    let mut wrong = Vec::new();
    for (file, text) in sources() {
        let Some(from) = module(&file) else { continue };
        if EDGES.contains(&from.as_str()) {
            continue;
        }
        let name = file.to_str().expect("plain names").replace('\\', "/");
        let allowed = allowed.get(name.as_str()).copied().unwrap_or_default();
        let code = code(without_tests(&file, &text));
        for outside in OUTSIDE {
            if code.contains(outside) && !allowed.contains(outside) {
                wrong.push(format!("src/{name} uses {outside}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn imports_are_found_in_all_their_forms() {
    let text = "
        use ggp_gdl::game::Game; // use crate::cli;
        use crate::{span::{Span, check}, symbol, ground::Terms};
        fn f() -> ggp_engine::machine::Level { \"ggp_web\" }
        use super::super::search;
    ";
    let found = imports(Path::new("solve/plan.rs"), text);
    let expected = ["game", "ground", "machine", "search", "span", "symbol"];
    assert_eq!(found.into_iter().collect::<Vec<_>>(), expected);
}
