//! Rule text that is rewritten stays the same rules: over random texts, our
//! games, and the corpus where it is there.

mod common;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use ggp::rewrite::{Layout, Tree, laid_out};
use ggp::span::{Source, Sources};
use ggp::syntax::SyntaxLimits;
use proptest::prelude::*;

/// Name and text of all rule files there are.
fn texts() -> Vec<(String, String)> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("games");
    let folders = [own.clone(), own.join("instances")].into_iter();
    let mut files: Vec<PathBuf> = Vec::new();
    for folder in folders.chain(common::corpus().map(|folder| folder.join("games"))) {
        let entries = std::fs::read_dir(&folder).expect("the folder can be listed");
        let paths = entries.map(|entry| entry.expect("it can be listed").path());
        files.extend(paths.filter(|path| path.extension().is_some_and(|e| e == "kif")));
    }
    files.sort();
    let text = |path: &PathBuf| String::from_utf8(std::fs::read(path).ok()?).ok();
    let named = files
        .iter()
        .filter_map(|path| Some((path.display().to_string(), text(path)?)));
    named.collect()
}

/// Brackets, names and variables; and the comments. By a scanner of its own.
fn pieces(text: &str) -> (Vec<String>, Vec<String>) {
    let (mut tokens, mut comments) = (Vec::new(), Vec::new());
    let mut word = String::new();
    let mut comment: Option<String> = None;
    for c in text.chars().chain(['\n']) {
        if let Some(open) = &mut comment {
            match c {
                '\n' | '\r' => comments.extend(comment.take().map(|c| c.trim_end().to_owned())),
                c => open.push(c),
            }
            continue;
        }
        let is_blank = c.is_ascii_whitespace() || ['\u{b}', '\u{a0}', '\u{feff}'].contains(&c);
        if is_blank || ['(', ')', ';'].contains(&c) {
            tokens.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
            match c {
                '(' | ')' => tokens.push(c.to_string()),
                ';' => comment = Some(";".to_owned()),
                _ => {}
            }
        } else {
            word.push(c);
        }
    }
    (tokens, comments)
}

/// What reads a text as a tree.
fn with_tree<T>(text: &str, use_it: impl FnOnce(&Tree<'_>) -> T) -> Option<T> {
    let sources = Sources::from(Source::new("t", text));
    let tree = Tree::read(&sources, SyntaxLimits::default(), &AtomicBool::new(false));
    tree.ok().map(|tree| use_it(&tree))
}

fn lay(text: &str, width: usize) -> Option<String> {
    with_tree(text, |tree| {
        laid_out(tree, Layout { width }, &AtomicBool::new(false))
    })
}

/// Names, brackets and comments in any order, with any blanks.
fn any_text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        4 => "[a-z?][a-z0-9+_-]{0,9}",
        2 => Just("<=".to_owned()),
        1 => Just("(<= ".to_owned()),
        1 => "[a-z]{30,50}",
        1 => Just("not".to_owned()),
    ];
    let gap = prop_oneof![
        8 => Just(" "),
        2 => Just("\n"),
        1 => Just("\n\n \n"),
        1 => Just("\r\n\t"),
        2 => Just(" ; one\n"),
        1 => Just(";two ;;\r"),
        1 => Just("\n  ; three\n"),
        1 => Just("\n\n; four\n; five\n\n"),
        1 => Just("; six\n; seven"),
    ];
    let bracket = prop_oneof![Just("("), Just(")"), Just("")];
    let piece = (bracket, word, gap).prop_map(|(bracket, word, gap)| {
        // A comment must end before anything else comes.
        let end = if gap.contains("seven") { "\n" } else { "" };
        format!("{bracket}{word}{gap}{end}")
    });
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| balanced(&pieces.concat()))
}

/// The text with brackets left out and added so that they are right.
fn balanced(text: &str) -> String {
    let mut open = 0;
    let mut out = String::new();
    let mut is_comment = false;
    for c in text.chars() {
        is_comment = (is_comment || c == ';') && c != '\n' && c != '\r';
        match c {
            '(' if !is_comment => open += 1,
            ')' if !is_comment && open == 0 => continue,
            ')' if !is_comment => open -= 1,
            _ => {}
        }
        out.push(c);
    }
    if is_comment {
        out.push('\n');
    }
    out + &")".repeat(open)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn layout_changes_blanks_alone(text in any_text(), width in 20..100_usize) {
        let laid = lay(&text, width).expect("the brackets are right");
        prop_assert_eq!(pieces(&laid), pieces(&text), "{}", laid);
        prop_assert_eq!(lay(&laid, width), Some(laid.clone()), "again");
    }
}

#[test]
fn layout_changes_nothing_in_any_file() {
    for (name, text) in texts() {
        for width in [40, 80] {
            let Some(laid) = lay(&text, width) else {
                continue;
            };
            assert!(pieces(&laid) == pieces(&text), "{name}");
            assert!(lay(&laid, width).as_ref() == Some(&laid), "{name} again");
        }
    }
}

#[test]
fn our_games_are_laid_out() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("games");
    for (name, text) in texts() {
        if Path::new(&name).starts_with(&own) {
            assert!(
                lay(&text, Layout::WIDTH) == Some(text),
                "{name}: run `ggp fmt games`"
            );
        }
    }
}
