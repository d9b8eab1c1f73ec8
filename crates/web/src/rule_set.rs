//! Rule sets as they are uploaded or bundled, and the reports about them.

use hmac_sha256::Hash as Sha256;
use serde::{Deserialize, Serialize};

use super::answer::ApiError;
use super::editing::FixText;
use ggp_gdl::check::{ReadOptions, Reading, read_until};
use ggp_gdl::diagnostic::DiagnosticRecord;
use ggp_gdl::span::{Source, Sources};
use ggp_gdl::syntax::SyntaxLimits;
use ggp_gdl::terms::TermLimits;
use ggp_stop::Stop;

/// Maximum number of different terms of a game.
pub(super) const MOST_TERMS: usize = 2_000_000;
/// Maximum size of a picture file in bytes.
const PICTURE: usize = 1 << 20;

/// A rule file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub(super) struct File {
    pub(super) name: String,
    pub(super) text: String,
}

/// A rule set as uploaded.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub(super) struct RuleSet {
    pub(super) files: Vec<File>,
    #[serde(default)]
    pub(super) picture: Option<String>,
}

/// A rule set under its name.
#[derive(Debug)]
pub(super) struct Rules {
    /// The name of a bundled game, or an identifier derived from the content.
    pub(super) id: String,
    pub(super) is_bundled: bool,
    pub(super) set: RuleSet,
}

impl Rules {
    /// Rules that a session uploaded.
    pub(super) fn uploaded(set: RuleSet) -> Self {
        Rules {
            id: set.id(),
            is_bundled: false,
            set,
        }
    }

    /// The size of the texts in bytes.
    pub(super) fn bytes(&self) -> usize {
        let files = self.set.files.iter();
        let files = files.map(|file| file.name.len() + file.text.len());
        files.sum::<usize>() + self.set.picture.as_ref().map_or(0, String::len)
    }

    #[cfg(test)]
    pub(super) fn test(name: &str, text: &str) -> Self {
        Rules::uploaded(RuleSet {
            files: vec![File {
                name: name.to_owned(),
                text: text.to_owned(),
            }],
            picture: None,
        })
    }
}

impl RuleSet {
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
    pub(super) fn check_form(&self) -> Result<(), ApiError> {
        if self.files.is_empty() || self.files.len() > 64 {
            return Err(ApiError::wrong("a rule set has 1 to 64 files"));
        }
        match &self.picture {
            Some(text) if text.len() > PICTURE => Err(ApiError::wrong(format!(
                "a picture file has at most {PICTURE} bytes"
            ))),
            _ => Ok(()),
        }
    }

    /// Reads the rules.
    pub(super) fn read(&self, stop: &Stop) -> Reading {
        let files = self.files.iter();
        let sources = files.map(|file| Source::new(file.name.clone(), file.text.clone()));
        read_until(Sources::new(sources.collect()), &read_options(), stop)
    }
}

/// The limits for rules of strangers.
pub(super) fn read_options() -> ReadOptions {
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
pub(super) struct CheckReport {
    pub(super) right: bool,
    pub(super) findings: Vec<Finding>,
    pub(super) omitted: usize,
}

/// An error or warning about rules.
#[derive(Debug, Serialize)]
pub(super) struct Finding {
    #[serde(flatten)]
    pub(super) record: DiagnosticRecord,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) fixes: Vec<FixText>,
}

impl CheckReport {
    pub(super) fn of(reading: &Reading) -> Self {
        let findings = reading.findings.iter();
        CheckReport {
            right: reading.game.is_some(),
            findings: findings
                .map(|finding| Finding {
                    record: finding.to_record(&reading.sources),
                    fixes: Vec::new(),
                })
                .collect(),
            omitted: reading.omitted,
        }
    }
}
