//! The requests of the rule editor: findings with their fixes, explanations of names, the words
//! that fit, and definitions.
//!
//! The answers are those of the language server ([`ggp_lsp`]). Lines and characters are counted
//! as there: from 0, in UTF-16 code units.

use serde::{Deserialize, Serialize};

use crate::refusal::Refusal;
use crate::rule_set::{CheckReport, File, Finding, RuleSet, check_files, read_options};
use ggp_gdl::span::Span;
use ggp_lsp::RuleFiles;
use ggp_stop::Stop;
use lsp_types::{CompletionItemKind, Position, Range};

/// Maximum number of findings with fixes, and maximum size in bytes of rules that have some.
const FIXES: (usize, usize) = (30, 200_000);
/// Maximum number of words for one place.
const WORDS: usize = 500;

/// A place in the rules, and the rules.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct AtPlace {
    files: Vec<File>,
    /// The rules as they were when they last had no errors.
    #[serde(default)]
    before: Option<Vec<File>>,
    at: FilePosition,
}

impl AtPlace {
    /// Checks the form of the request.
    ///
    /// # Errors
    ///
    /// As [`RuleSet::check_form`].
    pub fn check_form(&self) -> Result<(), Refusal> {
        check_files(&self.files)
    }
}

/// A position in a file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
struct FilePosition {
    file: String,
    line: u32,
    character: u32,
}

/// A range in a file.
#[derive(Serialize)]
pub struct FileRange {
    file: String,
    range: Range,
}

impl FileRange {
    fn new(rules: &RuleFiles, span: Span) -> Self {
        FileRange {
            file: rules.file(span).to_owned(),
            range: rules.range(span),
        }
    }
}

/// A change that removes the cause of a finding.
#[derive(Clone, Debug, Serialize)]
pub struct FixText {
    title: String,
    edits: Vec<EditText>,
}

#[derive(Clone, Debug, Serialize)]
struct EditText {
    file: String,
    range: Range,
    text: String,
}

/// The explanation of a name.
#[derive(Serialize)]
pub struct Meaning {
    /// The text, with names between backquotes and items on lines of their own.
    text: String,
    range: Range,
}

/// A word that fits at a place.
#[derive(Serialize)]
pub struct Word {
    word: String,
    kind: &'static str,
    detail: String,
}

fn named(files: Vec<File>) -> impl Iterator<Item = (String, String)> {
    files.into_iter().map(|file| (file.name, file.text))
}

/// Checks rules.
pub fn check(set: RuleSet, stop: &Stop) -> CheckReport {
    let bytes: usize = set.files.iter().map(|file| file.text.len()).sum();
    let mut rules = RuleFiles::new(named(set.files));
    rules.check(&read_options(), stop);
    let fixes = |finding| {
        let fixes = rules.fixes(finding).into_iter();
        let edit = |(span, text)| {
            let FileRange { file, range } = FileRange::new(&rules, span);
            EditText { file, range, text }
        };
        let text = |fix: ggp_lsp::Fix| FixText {
            title: fix.title,
            edits: fix.edits.into_iter().map(edit).collect(),
        };
        fixes.map(text).collect()
    };
    let found = rules.found().iter().enumerate();
    let findings = found.map(|(number, finding)| Finding {
        record: finding.to_record(rules.sources()),
        fixes: match number < FIXES.0 && bytes <= FIXES.1 && !stop.is_over() {
            true => fixes(finding),
            false => Vec::new(),
        },
    });
    CheckReport {
        right: rules.game().is_some(),
        findings: findings.collect(),
        omitted: rules.omitted(),
    }
}

/// Answers a question about a place in rules.
fn ask<T>(
    asked: AtPlace,
    stop: &Stop,
    answer: impl FnOnce(&RuleFiles, Position) -> T,
) -> Result<T, Refusal> {
    let AtPlace { files, before, at } = asked;
    let mut rules = RuleFiles::new(named(before.unwrap_or_default()));
    rules.check(&read_options(), stop);
    rules.replace(named(files));
    rules.check(&read_options(), stop);
    let position = Position {
        line: at.line,
        character: at.character,
    };
    match rules.focus(&at.file) {
        true => Ok(answer(&rules, position)),
        false => Err(Refusal::wrong(format!("there is no file `{}`", at.file))),
    }
}

/// Explains the name at a place.
///
/// # Errors
///
/// If there is no such file.
pub fn hover(asked: AtPlace, stop: &Stop) -> Result<Option<Meaning>, Refusal> {
    ask(asked, stop, |rules, position| {
        let (span, text) = rules.hover(position)?;
        let range = rules.range(span);
        Some(Meaning { text, range })
    })
}

/// Lists the words that fit at a place.
///
/// # Errors
///
/// If there is no such file.
pub fn completion(asked: AtPlace, stop: &Stop) -> Result<Vec<Word>, Refusal> {
    ask(asked, stop, |rules, position| {
        let words = rules.completions(position).into_iter().take(WORDS);
        let word = |item: lsp_types::CompletionItem| Word {
            word: item.label,
            kind: match item.kind {
                Some(CompletionItemKind::VARIABLE) => "variable",
                Some(CompletionItemKind::KEYWORD) => "keyword",
                Some(CompletionItemKind::FUNCTION) => "relation",
                Some(CompletionItemKind::CONSTRUCTOR) => "function",
                _ => "constant",
            },
            detail: item.detail.unwrap_or_default(),
        };
        words.map(word).collect()
    })
}

/// Lists the definitions of the name at a place.
///
/// # Errors
///
/// If there is no such file.
pub fn definition(asked: AtPlace, stop: &Stop) -> Result<Vec<FileRange>, Refusal> {
    ask(asked, stop, |rules, position| {
        let spans = rules.definitions(position).into_iter();
        spans.map(|span| FileRange::new(rules, span)).collect()
    })
}
