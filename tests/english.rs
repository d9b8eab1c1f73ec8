//! Texts for readers are plain English.
//!
//! Read: doc comments and string literals of `src` and `crates/*/src` without unit tests,
//! the Markdown pages, and the sources of the web page. Two things are checked. A summary
//! or label names its thing: it does not begin with "What", "Who" or "How", unless it is a
//! question. And a few phrases that are hard to read do not occur. Code in backticks and
//! fenced blocks is left out, and so are string literals of a single word.

use std::collections::BTreeMap;

use crate::common::sources::{Piece, file, files_in, root, rust_files, split};

/// First words of a text that names no thing.
const HEADLESS: &[&str] = &["what", "who", "whose", "whom", "how"];

/// A phrase to avoid. Alternatives of a word are separated by `|`.
struct Phrase {
    words: &'static str,
    instead: &'static str,
    /// Words before the phrase, or after it, with which it is fine.
    fine_after: &'static [&'static str],
    fine_before: &'static [&'static str],
}

/// A phrase that is never fine.
const fn never(words: &'static str, instead: &'static str) -> Phrase {
    Phrase {
        words,
        instead,
        fine_after: &[],
        fine_before: &[],
    }
}

const PHRASES: &[Phrase] = &[
    never("so many", "*n*, or the name of the parameter"),
    Phrase {
        fine_after: &["there"],
        ..never("is|are none", "\"is not a …\", \"there is none\" or `None`")
    },
    Phrase {
        fine_after: &["there", "there's"],
        fine_before: &[
            "longer", "more", "less", "fewer", "later", "earlier", "greater", "larger", "smaller",
            "better", "worse", "one", "such",
        ],
        ..never("is no", "\"is not a …\"")
    },
    Phrase {
        fine_before: &["an", "rest", "be"],
        ..never(
            "come|comes|came to",
            "\"the result is …\", \"the total is …\"",
        )
    },
    never(
        "is|are|was|were told",
        "\"reported\", \"printed\", \"shown\"",
    ),
    never(
        "is|are|was|were said",
        "\"reported\", \"printed\", \"shown\"",
    ),
    never("beside", "\"next to\", \"compared with\""),
    never("of ours", "\"built-in\""),
    never("can|cannot|could be had", "\"is available\""),
    never("mend|mends|mended|mending", "\"fix\""),
    Phrase {
        fine_before: &["for", "out", "alone"],
        ..never("stand|stands", "\"is\"")
    },
    never("to be sure", "\"to be certain\""),
];

/// Texts that may stay as they are: the path, the text that contains the phrase, and the
/// reason.
const FINE: &[(&str, &str, &str)] = &[];

/// A text that somebody reads, and the line where it begins.
struct Text {
    line: usize,
    /// Whether this is a summary, heading or label.
    is_summary: bool,
    text: String,
}

impl Text {
    fn new(line: usize, is_summary: bool, text: impl Into<String>) -> Text {
        let text = text.into();
        Text {
            line,
            is_summary,
            text,
        }
    }
}

/// The objections to a text.
fn objections(text: &Text) -> Vec<String> {
    let plain = without_code(&text.text);
    let mut found = Vec::new();
    let words: Vec<String> = words(&plain);
    let is_headless = words
        .first()
        .is_some_and(|word| HEADLESS.contains(&word.as_str()));
    let starts_upper = plain.trim_start().starts_with(|c: char| c.is_uppercase());
    let first_sentence = plain
        .split_inclusive(['.', '?', ':'])
        .next()
        .unwrap_or_default();
    if text.is_summary && is_headless && starts_upper && !first_sentence.ends_with('?') {
        found.push("begins without naming a thing".to_owned());
    }
    for phrase in PHRASES {
        let pattern: Vec<Vec<&str>> = phrase
            .words
            .split(' ')
            .map(|word| word.split('|').collect())
            .collect();
        let at = words
            .windows(pattern.len())
            .enumerate()
            .find(|(at, window)| {
                let fits =
                    |(word, choices): (&String, &Vec<&str>)| choices.contains(&word.as_str());
                let before = at.checked_sub(1).map(|at| words[at].as_str());
                let after = words.get(at + pattern.len()).map(String::as_str);
                window.iter().zip(&pattern).all(fits)
                    && !before.is_some_and(|word| phrase.fine_after.contains(&word))
                    && !after.is_some_and(|word| phrase.fine_before.contains(&word))
            });
        if let Some((_, window)) = at {
            found.push(format!("\"{}\": say {}", window.join(" "), phrase.instead));
        }
    }
    found
}

/// A text without code in backticks, placeholders in braces and tags.
fn without_code(text: &str) -> String {
    let mut plain = String::new();
    let mut closing = None;
    for c in text.chars() {
        match (closing, c) {
            (Some(end), c) if c == end => closing = None,
            (Some(_), _) => {}
            (None, '`') => closing = Some('`'),
            (None, '{') => closing = Some('}'),
            (None, c) => plain.push(c),
        }
        if closing.is_some() && (c == '`' || c == '{') {
            plain.push('§');
        }
    }
    plain
}

/// The words of a text in lower case. Punctuation between words is a word of its own, so
/// that no phrase reaches over it.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for part in text.split_whitespace() {
        let part = part.trim_start_matches(['(', '"', '“', '*', '_', '[', '|', '#', '-', '>']);
        let trimmed =
            part.trim_end_matches(['.', ',', ';', ':', ')', '"', '”', '*', '_', ']', '?']);
        if !trimmed.is_empty() {
            words.push(trimmed.to_lowercase());
        }
        if trimmed.len() < part.len() && part.ends_with(['.', ',', ';', ':', '?']) {
            words.push(".".to_owned());
        }
    }
    words
}

/// Doc comments and string literals of a Rust source.
fn rust_texts(source: &str) -> Vec<Text> {
    let parts = split(source);
    let mut texts: Vec<Text> = Vec::new();
    let mut last: Option<usize> = None;
    let mut is_fenced = false;
    for Piece { line, text } in &parts.comments {
        let doc = text.strip_prefix("///").or(text.strip_prefix("//!"));
        let Some(doc) = doc.filter(|doc| !doc.starts_with('/')) else {
            last = None;
            continue;
        };
        let doc = doc.strip_prefix(' ').unwrap_or(doc);
        let continues = last == Some(line - 1);
        last = Some(*line);
        if !continues {
            is_fenced = false;
        }
        if doc.trim_start().starts_with("```") {
            is_fenced = !is_fenced;
            continue;
        }
        if is_fenced {
            continue;
        }
        let begins = doc.is_empty() || doc.starts_with(['#', '|']) || is_item(doc);
        match texts.last_mut().filter(|_| continues && !begins) {
            Some(text) => {
                text.text.push(' ');
                text.text.push_str(doc);
            }
            None => texts.push(Text::new(*line, !continues, doc)),
        }
    }
    let literals = parts
        .literals
        .iter()
        .filter(|literal| literal.text.contains(' '));
    for literal in literals {
        for (number, line) in literal.text.lines().enumerate() {
            texts.push(Text::new(literal.line + number, number == 0, line));
        }
    }
    texts
}

/// Whether a line of Markdown begins an item of a list.
fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    line.starts_with("- ")
        || line.starts_with("* ")
        || rest.len() < line.len() && rest.starts_with(". ")
}

/// The paragraphs, headings and table rows of a Markdown page.
fn markdown_texts(source: &str) -> Vec<Text> {
    let mut texts: Vec<Text> = Vec::new();
    let mut is_fenced = false;
    let mut is_open = false;
    for (line, text) in (1..).zip(source.lines()) {
        if text.trim_start().starts_with("```") {
            is_fenced = !is_fenced;
            is_open = false;
            continue;
        }
        if is_fenced || text.trim().is_empty() {
            is_open = false;
            continue;
        }
        let is_heading = text.starts_with('#');
        let is_row = text.trim_start().starts_with('|');
        if is_open && !is_heading && !is_row && !is_item(text) {
            let open = texts.last_mut().expect("a paragraph is open");
            open.text.push(' ');
            open.text.push_str(text.trim());
            continue;
        }
        texts.push(Text::new(line, is_heading || is_row, text.trim()));
        is_open = !is_heading && !is_row;
    }
    texts
}

/// String literals of a script with more than one word.
fn script_texts(source: &str) -> Vec<Text> {
    let mut texts = Vec::new();
    let chars: Vec<char> = source.chars().collect();
    let mut line = 1;
    let mut at = 0;
    while at < chars.len() {
        let c = chars[at];
        line += usize::from(c == '\n');
        at += 1;
        if c == '/' && chars.get(at) == Some(&'/') {
            while chars.get(at).is_some_and(|c| *c != '\n') {
                at += 1;
            }
        } else if c == '/' && chars.get(at) == Some(&'*') {
            while at < chars.len() && !(chars[at - 1] == '*' && chars[at] == '/') {
                line += usize::from(chars[at] == '\n');
                at += 1;
            }
        } else if matches!(c, '"' | '\'' | '`') {
            let begin = line;
            let mut text = String::new();
            while at < chars.len() && chars[at] != c && (c == '`' || chars[at] != '\n') {
                line += usize::from(chars[at] == '\n');
                at += usize::from(chars[at] == '\\');
                text.extend(chars.get(at));
                at += 1;
            }
            at += 1;
            if text.contains(' ') {
                texts.push(Text::new(begin, true, text));
            }
        }
    }
    texts
}

/// The text between the tags of a page, and titles and labels in them.
fn page_texts(source: &str) -> Vec<Text> {
    let mut texts = Vec::new();
    for (line, text) in (1..).zip(source.lines()) {
        for part in text
            .split(['<', '>', '"'])
            .filter(|part| part.contains(' '))
        {
            texts.push(Text::new(line, true, part.trim()));
        }
    }
    texts
}

#[test]
fn texts_for_readers_are_plain_english() {
    let mut found: BTreeMap<String, Vec<(usize, String)>> = BTreeMap::new();
    let mut check = |path: &str, texts: Vec<Text>| {
        for text in texts {
            let is_fine = |fine: &&(&str, &str, &str)| fine.0 == path && text.text.contains(fine.1);
            if FINE.iter().any(|fine| is_fine(&fine)) {
                continue;
            }
            for objection in objections(&text) {
                let excerpt: String = text.text.chars().take(100).collect();
                let entry = found.entry(path.to_owned()).or_default();
                entry.push((text.line, format!("{objection}\n      {excerpt}")));
            }
        }
    };
    for file in rust_files() {
        check(&file.path, rust_texts(file.without_tests()));
    }
    let pages = ["README.md", "ARCHITECTURE.md", "DESIGN.md", "CHANGELOG.md"];
    let pages = pages.iter().map(|page| file(root().join(page)));
    for page in pages.chain(files_in(&root().join("docs"), &["md"])) {
        check(&page.path, markdown_texts(&page.text));
    }
    let page_sources = root().join("crates/web/src");
    for script in files_in(&page_sources.join("page"), &["js", "mjs", "ts"]) {
        check(&script.path, script_texts(&script.text));
    }
    for page in files_in(&page_sources.join("served"), &["html"]) {
        check(&page.path, page_texts(&page.text));
    }
    let count: usize = found.values().map(Vec::len).sum();
    let mut report = format!("{count} places in {} files\n", found.len());
    for (path, places) in &found {
        report += &format!("{path}: {}\n", places.len());
        for (line, objection) in places {
            report += &format!("  {line}: {objection}\n");
        }
    }
    assert!(found.is_empty(), "{report}");
}

#[test]
fn objections_are_those_of_the_rules() {
    let check = |text: &str, is_summary: bool, expected: usize| {
        let found = objections(&Text::new(1, is_summary, text));
        assert_eq!(found.len(), expected, "{text}: {found:?}");
    };
    check("What a search came to.", true, 2);
    check("What a search does.", false, 0);
    check("How long is it?", true, 0);
    check("The result of a search.", true, 0);
    check("This is no board.", true, 1);
    check("There is no board.", true, 0);
    check("It is no longer needed, and comes to an end.", true, 0);
    check("`x` stands for any text.", true, 0);
    check("Nodes stand in ranks.", true, 1);
    check("As is. None can be had here.", true, 1);
    check("The option `beside` is none.", true, 1);
}

#[test]
fn texts_are_found_in_sources() {
    let lines = |texts: Vec<Text>| -> Vec<(usize, bool, String)> {
        texts
            .into_iter()
            .map(|text| (text.line, text.is_summary, text.text))
            .collect()
    };
    let text = |line: usize, is_summary: bool, text: &str| (line, is_summary, text.to_owned());
    let rust = "/// One\n/// thing.\n///\n/// ```\n/// code();\n/// ```\n// a remark\nf(\"a text\", \"word\");";
    assert_eq!(
        lines(rust_texts(rust)),
        [
            text(1, true, "One thing."),
            text(3, false, ""),
            text(8, true, "a text")
        ]
    );
    let page = "# Title\n\nOne\ntwo\n- three\n```sh\nfour\n```\n| a | b |\n";
    assert_eq!(
        lines(markdown_texts(page)),
        [
            text(1, true, "# Title"),
            text(3, false, "One two"),
            text(5, false, "- three"),
            text(9, true, "| a | b |"),
        ]
    );
    let script = "// it's a remark\nlabel('How to go', \"x\") /* \"no text\" */";
    assert_eq!(lines(script_texts(script)), [text(2, true, "How to go")]);
    let html = "<p title=\"a title\">some text</p>";
    let found = lines(page_texts(html));
    assert_eq!(
        found[1..],
        [text(1, true, "a title"), text(1, true, "some text")]
    );
}
