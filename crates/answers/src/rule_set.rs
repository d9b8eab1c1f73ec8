//! Rule sets as they are uploaded or bundled, and the reports about them.

use hmac_sha256::Hash as Sha256;
use serde::{Deserialize, Serialize};

use crate::editing::FixText;
use crate::refusal::Refusal;
use ggp_gdl::check::{ReadOptions, read_until};
use ggp_gdl::diagnostic::{Diagnostic, DiagnosticRecord};
use ggp_gdl::game::Game;
use ggp_gdl::rewrite::infix_finding;
use ggp_gdl::span::{Source, Sources};
use ggp_gdl::syntax::SyntaxLimits;
use ggp_gdl::terms::TermLimits;
use ggp_stop::Stop;

/// Maximum number of different terms of a game.
pub(crate) const MOST_TERMS: usize = 2_000_000;
/// Maximum size of a picture file in bytes.
const PICTURE: usize = 1 << 20;

/// A rule file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct File {
    /// The name, which reports use.
    pub name: String,
    /// The rules.
    pub text: String,
}

/// A rule set as uploaded.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct RuleSet {
    /// The rule files.
    pub files: Vec<File>,
    #[serde(default)]
    /// The text of a picture file.
    pub picture: Option<String>,
}

/// A rule set under its name.
#[derive(Debug)]
pub struct Rules {
    /// The name of a bundled game, or an identifier derived from the content.
    pub id: String,
    /// True for a bundled game.
    pub is_bundled: bool,
    /// The texts.
    pub set: RuleSet,
}

impl Rules {
    /// Rules that a session uploaded.
    pub fn uploaded(set: RuleSet) -> Self {
        Rules {
            id: set.id(),
            is_bundled: false,
            set,
        }
    }

    /// The size of the texts in bytes.
    pub fn bytes(&self) -> usize {
        let files = self.set.files.iter();
        let files = files.map(|file| file.name.len() + file.text.len());
        files.sum::<usize>() + self.set.picture.as_ref().map_or(0, String::len)
    }
}

impl RuleSet {
    /// A set of one file.
    pub fn one(name: &str, text: &str) -> Self {
        RuleSet {
            files: vec![File {
                name: name.to_owned(),
                text: text.to_owned(),
            }],
            picture: None,
        }
    }

    /// An identifier derived from the content.
    fn id(&self) -> String {
        let mut digest = Sha256::new();
        let files = self.files.iter().flat_map(|file| [&file.name, &file.text]);
        for text in files.chain(&self.picture) {
            digest.update(text.len().to_le_bytes());
            digest.update(text);
        }
        let bytes = digest.finalize();
        bytes[..12]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }

    /// Checks the form of an upload.
    ///
    /// # Errors
    ///
    /// If it has too many files, or its picture file is too large.
    pub fn check_form(&self) -> Result<(), Refusal> {
        check_files(&self.files)?;
        match &self.picture {
            Some(text) if text.len() > PICTURE => Err(Refusal::wrong(format!(
                "a picture file has at most {PICTURE} bytes"
            ))),
            _ => Ok(()),
        }
    }

    /// Reads the rules.
    ///
    /// # Errors
    ///
    /// The report about them, if they have errors.
    pub fn read(&self, stop: &Stop) -> Result<(Game, CheckReport), CheckReport> {
        let files = self.files.iter();
        let sources = files.map(|file| Source::new(file.name.clone(), file.text.clone()));
        let sources = Sources::new(sources.collect());
        if let Some(finding) = infix_finding(&sources) {
            return Err(CheckReport::new(&[finding], 0, false, &sources));
        }
        let reading = read_until(sources, &read_options(), stop);
        let is_right = reading.game.is_some();
        let report = CheckReport::new(
            &reading.findings,
            reading.omitted,
            is_right,
            &reading.sources,
        );
        match reading.game {
            Some(game) => Ok((game, report)),
            None => Err(report),
        }
    }
}

/// Checks the number of files.
pub(crate) fn check_files(files: &[File]) -> Result<(), Refusal> {
    match files.len() {
        1..=64 => Ok(()),
        _ => Err(Refusal::wrong("a rule set has 1 to 64 files")),
    }
}

/// The limits for rules of strangers.
pub fn read_options() -> ReadOptions {
    ReadOptions {
        syntax: SyntaxLimits {
            bytes: 4 << 20,
            ..SyntaxLimits::default()
        },
        rules: 500_000,
        size: 4_000_000,
        terms: TermLimits {
            count: MOST_TERMS,
            ..TermLimits::default()
        },
        ..ReadOptions::default()
    }
}

/// The errors and warnings about rules.
#[derive(Debug, Serialize)]
pub struct CheckReport {
    /// True if there are no errors.
    pub right: bool,
    /// The errors and warnings.
    pub findings: Vec<Finding>,
    /// The number of those that were left out.
    pub omitted: usize,
}

/// An error or warning about rules.
#[derive(Debug, Serialize)]
pub struct Finding {
    #[serde(flatten)]
    /// The finding with its place.
    pub record: DiagnosticRecord,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    /// The changes that remove its cause.
    pub fixes: Vec<FixText>,
}

impl CheckReport {
    fn new(findings: &[Diagnostic], omitted: usize, right: bool, sources: &Sources) -> Self {
        let findings = findings.iter().map(|finding| Finding {
            record: finding.to_record(sources),
            fixes: Vec::new(),
        });
        CheckReport {
            right,
            findings: findings.collect(),
            omitted,
        }
    }
}
