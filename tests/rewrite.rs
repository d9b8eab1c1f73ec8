//! Rewritten rule text has the same meaning: on random texts, and the bundled games.

use ggp_stop::Stop;
use std::path::{Path, PathBuf};

use ggp_gdl::check::Keyword;
use ggp_gdl::rewrite::{
    Difference, Form, Layout, NameMap, Scramble, Tree, from_infix, laid_out, restored, scramble,
    to_infix, unwritable,
};
use ggp_gdl::span::{Source, Sources};
use ggp_gdl::symbol::Case;
use ggp_gdl::syntax::{SyntaxLimits, read};
use proptest::prelude::*;

/// Names and texts of the bundled rule files.
fn texts() -> Vec<(String, String)> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("games");
    texts_in(&[own.clone(), own.join("instances")])
}

/// Names and texts of the rule files of folders.
pub(crate) fn texts_in(folders: &[PathBuf]) -> Vec<(String, String)> {
    let mut files: Vec<PathBuf> = Vec::new();
    for folder in folders {
        let entries = std::fs::read_dir(folder).expect("the folder can be listed");
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

/// Brackets, names and variables, and the comments, from an independent scanner.
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

/// Parses a text as a tree; `None` if that fails.
fn with_tree<T>(text: &str, use_it: impl FnOnce(&Tree<'_>) -> T) -> Option<T> {
    let sources = Sources::from(Source::new("t", text));
    let tree = Tree::read(&sources, SyntaxLimits::default(), &Stop::new());
    tree.ok().map(|tree| use_it(&tree))
}

fn lay(text: &str, width: usize) -> Option<String> {
    with_tree(text, |tree| laid_out(tree, Layout { width }, &Stop::new()))
}

fn scrambled(text: &str, seed: u64, order: bool) -> Option<(String, NameMap)> {
    let sources = Sources::from(Source::new("t", text));
    let stop = Stop::new();
    let mut tree = Tree::read(&sources, SyntaxLimits::default(), &stop).ok()?;
    let how = Scramble {
        seed,
        order,
        comments: false,
        case: Case::Keep,
    };
    let names = scramble(&mut tree, how);
    Some((laid_out(&tree, Layout::default(), &stop), names))
}

fn back(text: &str, names: &NameMap) -> String {
    let sources = Sources::from(Source::new("t", text));
    let (forms, _) = read(&sources, SyntaxLimits::default());
    restored(&forms, &sources, 0, names)
}

/// The text in infix notation, or `None` if it has no infix form.
fn infix(text: &str) -> Option<String> {
    let sources = Sources::from(Source::new("t", text));
    let (forms, findings) = read(&sources, SyntaxLimits::default());
    let is_right = findings.is_empty() && unwritable(&forms).is_empty();
    is_right.then(|| with_tree(text, to_infix)).flatten()
}

fn kif(infix: &str) -> String {
    let source = Source::new("t", infix);
    let stop = Stop::new();
    match from_infix(&source, SyntaxLimits::default(), &stop) {
        Ok(tree) => laid_out(&tree, Layout::default(), &stop),
        Err(findings) => panic!("{findings:?}\n{infix}"),
    }
}

/// Tokens with keywords in lower case, and comments in alphabetical order.
fn meaning(text: &str) -> (Vec<String>, Vec<String>) {
    let (mut tokens, mut comments) = pieces(text);
    for token in &mut tokens {
        if Keyword::of(token).is_some() {
            token.make_ascii_lowercase();
        }
    }
    comments.sort_unstable();
    (tokens, comments)
}

fn difference(old: &str, new: &str) -> Difference {
    let sources = [old, new].map(|text| Sources::from(Source::new("t", text)));
    let forms = sources
        .each_ref()
        .map(|text| read(text, SyntaxLimits::default()).0);
    let [old, new] = [0, 1].map(|side| Form::all(&forms[side], &sources[side]));
    Difference::between(&old, &new, Case::Keep, &Stop::new())
}

/// Names, brackets and comments in any order, with arbitrary blanks.
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
    let token = prop_oneof![
        2 => word,
        1 => Just("(".to_owned()),
        1 => Just(")".to_owned()),
    ];
    let piece = (token, gap).prop_map(|(token, gap)| {
        // A comment must end before anything follows it.
        let end = if gap.contains("seven") { "\n" } else { "" };
        format!("{token}{gap}{end}")
    });
    proptest::collection::vec(piece, 0..60).prop_map(|pieces| balanced(&pieces.concat()))
}

/// The text with brackets removed and added so that they match.
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

proptest! {
    #[test]
    fn scrambled_names_are_restored(text in any_text(), seed in any::<u64>()) {
        let (other, names) = scrambled(&text, seed, false).expect("the brackets are right");
        prop_assert_eq!(pieces(&back(&other, &names)).0, pieces(&text).0);
    }

    #[test]
    fn the_order_of_forms_does_not_matter(text in any_text(), seed in any::<u64>()) {
        let (other, names) = scrambled(&text, seed, true).expect("the brackets are right");
        let found = difference(&text, &back(&other, &names));
        prop_assert!(found.is_empty(), "{:?}\n{}", found, other);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn any_infix_text_is_read_or_rejected(text in "[a-cA-C_?'1\\\\(),&|~.:% \n-]{0,60}") {
        let source = Source::new("t", text.clone());
        let stop = Stop::new();
        if let Ok(tree) = from_infix(&source, SyntaxLimits::default(), &stop) {
            let forms = laid_out(&tree, Layout::default(), &stop);
            let again = kif(&infix(&forms).expect("it was infix"));
            prop_assert_eq!(meaning(&again), meaning(&forms), "{}", text);
        }
    }

    #[test]
    fn infix_is_restored(text in any_text()) {
        if let Some(infix) = infix(&text) {
            prop_assert_eq!(meaning(&kif(&infix)), meaning(&text), "{}", infix);
        }
    }
}

#[test]
fn converted_files_are_restored() {
    check_converted(texts());
}

/// See the test above; the public files are in `corpus.rs`.
pub(crate) fn check_converted(texts: Vec<(String, String)>) {
    for (name, text) in texts {
        let Some(infix) = infix(&text) else { continue };
        let (found, expected) = (meaning(&kif(&infix)), meaning(&text));
        assert!(found.0 == expected.0, "{name}");
        assert!(found.1 == expected.1, "comments of {name}");
    }
}

#[test]
fn scrambled_files_are_restored() {
    check_scrambled(texts());
}

/// See the test above; the public files are in `corpus.rs`.
pub(crate) fn check_scrambled(texts: Vec<(String, String)>) {
    for (name, text) in texts {
        let Some((other, names)) = scrambled(&text, 7, false) else {
            continue;
        };
        assert!(pieces(&back(&other, &names)).0 == pieces(&text).0, "{name}");
    }
}

#[test]
fn files_in_another_order_do_not_differ() {
    check_order(texts());
}

/// See the test above; the public files are in `corpus.rs`.
pub(crate) fn check_order(texts: Vec<(String, String)>) {
    for (name, text) in texts {
        let Some((other, names)) = scrambled(&text, 7, true) else {
            continue;
        };
        let found = difference(&text, &back(&other, &names));
        assert!(found.is_empty(), "{name}: {found:?}");
    }
}

#[test]
fn layout_changes_nothing_in_any_file() {
    check_layout(texts());
}

/// See the test above; the public files are in `corpus.rs`.
pub(crate) fn check_layout(texts: Vec<(String, String)>) {
    for (name, text) in texts {
        for width in [40, 80] {
            let Some(laid) = lay(&text, width) else {
                continue;
            };
            assert!(pieces(&laid) == pieces(&text), "{name}");
            assert!(lay(&laid, width).as_ref() == Some(&laid), "{name} again");
        }
    }
}

/// Gaps between tokens: a comment behind the last token, comments on lines of their own, both.
const GAPS: [&str; 5] = [
    " ; behind\n",
    "\n; before\n",
    "\n\n; one\n; two\n\n",
    " ; behind\n ; and before\n",
    " ",
];

#[test]
fn layout_is_stable_with_a_comment_at_every_token() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("games");
    for (name, text) in texts() {
        if !Path::new(&name).starts_with(&own) || text.len() > 100_000 {
            continue;
        }
        let (tokens, _) = pieces(&text);
        // The same gap everywhere, and gaps in an order that has no period with the rules.
        for kind in 0..=GAPS.len() {
            let gap = |number: usize| match GAPS.get(kind) {
                Some(gap) => *gap,
                None => GAPS[number * number * 7 % 23 % GAPS.len()],
            };
            let tokens = tokens.iter().enumerate();
            let commented: String = tokens
                .flat_map(|(number, token)| [gap(number), token, gap(number + 1)])
                .collect();
            let laid = lay(&commented, 60).expect("the brackets are right");
            assert!(pieces(&laid) == pieces(&commented), "{name}, gaps {kind}");
            assert!(lay(&laid, 60) == Some(laid), "{name}, gaps {kind} again");
        }
    }
}

#[test]
fn rewriting_keeps_line_breaks_and_byte_order_marks() {
    for (name, text) in texts() {
        // Not all files of a corpus have one kind of line break.
        if !text.contains('\n') || text.contains(['\r', '\u{feff}']) {
            continue;
        }
        for line_break in ["\r\n", "\r"] {
            let other = |text: &str| format!("\u{feff}{}", text.replace('\n', line_break));
            let laid = lay(&text, Layout::WIDTH).map(|laid| other(&laid));
            assert!(lay(&other(&text), Layout::WIDTH) == laid, "{name}");
            let found = infix(&other(&text));
            assert!(found == infix(&text).map(|infix| other(&infix)), "{name}");
            let back = found.map(|infix| kif(&infix));
            assert!(
                back == infix(&text).map(|infix| other(&kif(&infix))),
                "{name}"
            );
        }
    }
}

#[test]
fn bundled_games_are_formatted() {
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
