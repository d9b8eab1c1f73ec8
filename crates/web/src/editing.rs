//! The requests of the rule editor: findings with their fixes, explanations of names, the words
//! that fit, and definitions.
//!
//! The answers are those of the language server ([`ggp_lsp`]). Lines and characters are counted
//! as there: from 0, in UTF-16 code units.

use axum::extract::State;
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};

use super::Shared;
use super::answer::{ApiError, JsonBody};
use super::game_store::reading;
use super::rule_set::{CheckReport, File, Finding, RuleSet, read_options};
use super::session::Visitor;
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
pub(super) struct AtPlace {
    files: Vec<File>,
    /// The rules as they were when they last had no errors.
    #[serde(default)]
    before: Option<Vec<File>>,
    at: FilePosition,
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
pub(super) struct FileRange {
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
pub(super) struct FixText {
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
pub(super) struct Meaning {
    /// The text, with names between backquotes and items on lines of their own.
    text: String,
    range: Range,
}

/// A word that fits at a place.
#[derive(Serialize)]
pub(super) struct Word {
    word: String,
    kind: &'static str,
    detail: String,
}

fn named(files: Vec<File>) -> impl Iterator<Item = (String, String)> {
    files.into_iter().map(|file| (file.name, file.text))
}

fn report(set: RuleSet, stop: &Stop) -> CheckReport {
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

/// Checks rules.
pub(super) async fn check(
    State(app): Shared,
    Extension(visitor): Extension<Visitor>,
    JsonBody(set): JsonBody<RuleSet>,
) -> Result<Json<CheckReport>, ApiError> {
    Ok(Json(reading(&app, &visitor, set, report).await?))
}

/// Answers a question about a place in rules.
async fn ask<T: Send + 'static>(
    State(app): Shared,
    visitor: Visitor,
    asked: AtPlace,
    answer: fn(&RuleFiles, Position) -> T,
) -> Result<Json<T>, ApiError> {
    let AtPlace { files, before, at } = asked;
    let set = RuleSet {
        files,
        picture: None,
    };
    let answer = reading(&app, &visitor, set, move |set, stop| {
        let mut rules = RuleFiles::new(named(before.unwrap_or_default()));
        rules.check(&read_options(), stop);
        rules.replace(named(set.files));
        rules.check(&read_options(), stop);
        let position = Position {
            line: at.line,
            character: at.character,
        };
        match rules.focus(&at.file) {
            true => Ok(answer(&rules, position)),
            false => Err(ApiError::wrong(format!("there is no file `{}`", at.file))),
        }
    });
    Ok(Json(answer.await??))
}

/// Explains the name at a place.
pub(super) async fn hover(
    app: Shared,
    Extension(visitor): Extension<Visitor>,
    JsonBody(asked): JsonBody<AtPlace>,
) -> Result<Json<Option<Meaning>>, ApiError> {
    ask(app, visitor, asked, |rules, position| {
        let (span, text) = rules.hover(position)?;
        let range = rules.range(span);
        Some(Meaning { text, range })
    })
    .await
}

/// Lists the words that fit at a place.
pub(super) async fn completion(
    app: Shared,
    Extension(visitor): Extension<Visitor>,
    JsonBody(asked): JsonBody<AtPlace>,
) -> Result<Json<Vec<Word>>, ApiError> {
    ask(app, visitor, asked, |rules, position| {
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
    .await
}

/// Lists the definitions of the name at a place.
pub(super) async fn definition(
    app: Shared,
    Extension(visitor): Extension<Visitor>,
    JsonBody(asked): JsonBody<AtPlace>,
) -> Result<Json<Vec<FileRange>>, ApiError> {
    ask(app, visitor, asked, |rules, position| {
        let spans = rules.definitions(position).into_iter();
        spans.map(|span| FileRange::new(rules, span)).collect()
    })
    .await
}
