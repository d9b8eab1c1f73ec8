//! The results of a run.

use std::fmt;

use serde::Serialize;

use crate::format;

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
    /// The rule file, relative to the folder.
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
    /// One entry for each game, in the order of the corpus.
    pub games: Vec<GameReport>,
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
        for game in &self.games {
            match &game.outcome {
                Outcome::Refused { codes } => {
                    writeln!(f, "refused {} ({})", game.game, codes.join(" "))?;
                }
                Outcome::AgreesWithCaseKept => {
                    writeln!(f, "agrees when letter case is kept: {}", game.game)?;
                }
                Outcome::Accepted | Outcome::NotCompared => {}
            }
        }
        for game in &self.games {
            for (difference, why) in &game.explained {
                writeln!(f, "explained {}: {}", difference.game, difference.what)?;
                writeln!(f, "  {why}")?;
            }
        }
        for difference in self.differences() {
            writeln!(f, "{difference}")?;
        }
        let stopped = self.count(|game| !game.finished);
        if stopped > 0 {
            writeln!(f, "{stopped} games were not compared to the end")?;
        }
        let sum = |of: fn(&GameReport) -> u64| self.games.iter().map(of).sum::<u64>();
        let refused = self.count(|game| matches!(game.outcome, Outcome::Refused { .. }));
        write!(
            f,
            "{} games ({refused} refused), {} verdicts, {} perft lines, {} trace steps",
            self.games.len(),
            sum(|game| game.verdicts),
            sum(|game| game.perft_lines),
            sum(|game| game.trace_steps),
        )?;
        for (count, what) in [
            (sum(|game| game.percepts), "percept"),
            (sum(|game| game.beliefs), "belief"),
            (sum(|game| game.values), "value"),
        ] {
            if count > 0 {
                write!(f, ", {}", format::counted(count as usize, what))?;
            }
        }
        writeln!(f, ": {} differences", self.differences().count())
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "DIFFERS {} ({}): {}", self.game, self.place, self.what)?;
        writeln!(f, "  expected {}", self.expected)?;
        write!(f, "  found    {}", self.found)
    }
}
