//! The results of a run.

use std::fmt;

use serde::Serialize;

use super::sources::RuleFiles;
use ggp_gdl::counted::counted;

/// An answer that differs from the corpus.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Difference {
    /// The game's key.
    pub game: String,
    /// The place of the corpus' answer, as `file:line`.
    pub place: String,
    /// The question.
    pub what: String,
    /// The corpus' answer.
    pub expected: String,
    /// The answer of this program.
    pub found: String,
}

/// The reception of a rule set.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// The rules were read and played.
    Accepted,
    /// Answers differ unless `Cell` and `cell` are two names; then all agree.
    AgreesWithCaseKept,
    /// The rules were refused, with the codes of the errors, each once.
    Refused {
        /// Such as `G102`.
        codes: Vec<&'static str>,
    },
    /// The corpus has no answers for it, or the run was stopped first.
    NotCompared,
}

/// The comparison of one rule set.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct GameReport {
    /// The game's key.
    pub game: String,
    /// The path of the rule file.
    pub file: String,
    /// The reception of the rules.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// Whether the verdict or the answers of `invalid*.jsonl` were compared.
    pub verdicts: u64,
    /// Number of perft depths compared.
    pub perft_lines: u64,
    /// Number of states of playouts compared, including the last ones.
    pub trace_steps: u64,
    /// Number of percepts compared.
    pub percepts: u64,
    /// Number of times that what a role can know was compared.
    pub beliefs: u64,
    /// Number of values compared.
    pub values: u64,
    /// Whether everything within the budgets was compared before the time was over.
    pub finished: bool,
    /// The answers that differ.
    pub differences: Vec<Difference>,
    /// Differences that have an [`Explanation`](super::Explanation), with its reason.
    pub explained: Vec<(Difference, String)>,
}

impl GameReport {
    pub(super) fn new(game: &str, file: &str) -> Self {
        GameReport {
            game: game.to_owned(),
            file: file.to_owned(),
            outcome: Outcome::NotCompared,
            verdicts: 0,
            perft_lines: 0,
            trace_steps: 0,
            percepts: 0,
            beliefs: 0,
            values: 0,
            finished: false,
            differences: Vec::new(),
            explained: Vec::new(),
        }
    }
}

/// The results of a whole run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Report {
    /// One entry for each game whose rules were found, in the order of the corpus.
    pub games: Vec<GameReport>,
    /// The rule files found and missing.
    pub rule_files: RuleFiles,
}

impl Report {
    /// All differences, in the order of the corpus.
    pub fn differences(&self) -> impl Iterator<Item = &Difference> {
        self.games.iter().flat_map(|game| &game.differences)
    }

    /// Whether no answer differs.
    pub fn agrees(&self) -> bool {
        self.differences().next().is_none()
    }

    fn count(&self, holds: impl Fn(&GameReport) -> bool) -> usize {
        self.games.iter().filter(|game| holds(game)).count()
    }
}

/// Printed for people: the games that need attention first, then the totals. Ends with a
/// line break.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut refused = Vec::new();
        for game in &self.games {
            match &game.outcome {
                Outcome::Refused { codes } => {
                    refused.push(format!("{} ({})", game.game, codes.join(" ")));
                }
                Outcome::AgreesWithCaseKept => {
                    writeln!(f, "agrees when letter case is kept: {}", game.game)?;
                }
                Outcome::Accepted | Outcome::NotCompared => {}
            }
        }
        if !refused.is_empty() {
            writeln!(
                f,
                "refused, as the answers ask for or allow: {}",
                refused.join(", ")
            )?;
        }
        for game in &self.games {
            for (difference, why) in &game.explained {
                writeln!(
                    f,
                    "known difference {}: {}",
                    difference.game, difference.what
                )?;
                writeln!(f, "  {why}")?;
            }
        }
        for difference in self.differences() {
            writeln!(f, "{difference}")?;
        }
        let stopped = self.count(|game| !game.finished);
        if stopped > 0 {
            let stopped = counted(stopped, "game");
            writeln!(f, "not compared to the end: {stopped}")?;
        }
        write!(f, "{}", self.rule_files)?;
        let sum = |of: fn(&GameReport) -> u64| self.games.iter().map(of).sum::<u64>();
        let games = counted(self.games.len(), "game");
        write!(f, "{games} ({} refused)", refused.len())?;
        for (count, what) in [
            (sum(|game| game.verdicts), "verdict"),
            (sum(|game| game.perft_lines), "perft line"),
            (sum(|game| game.trace_steps), "trace step"),
            (sum(|game| game.percepts), "percept"),
            (sum(|game| game.beliefs), "belief"),
            (sum(|game| game.values), "value"),
        ] {
            if count > 0 {
                write!(f, ", {}", counted(count, what))?;
            }
        }
        let differences = counted(self.differences().count(), "difference");
        write!(f, ": {differences}")?;
        match self.games.iter().map(|game| game.explained.len()).sum() {
            0 => writeln!(f),
            1 => writeln!(f, ", and 1 known difference, explained above"),
            known => writeln!(f, ", and {known} known differences, each explained above"),
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "DIFFERS {} ({}): {}", self.game, self.place, self.what)?;
        writeln!(f, "  expected {}", self.expected)?;
        write!(f, "  found    {}", self.found)
    }
}
