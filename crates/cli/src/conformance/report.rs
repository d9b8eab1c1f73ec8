//! What a run found.

use std::fmt;

use serde::Serialize;

/// An answer of ours that is not the one in the corpus.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Difference {
    /// The game's key.
    pub game: String,
    /// Where the corpus gives its answer, as `file:line`.
    pub place: String,
    /// What was asked.
    pub what: String,
    /// The corpus' answer.
    pub expected: String,
    /// Ours.
    pub found: String,
}

/// How a rule set was received.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// Read, and played.
    Accepted,
    /// Answers differ unless `Cell` and `cell` are two names; if they are, all
    /// agree.
    AgreesWithCaseKept,
    /// Not read; the codes of the errors, each once.
    Refused {
        /// Such as `G102`.
        codes: Vec<&'static str>,
    },
    /// Not what the corpus speaks of, or the run was stopped before it.
    NotCompared,
}

/// What was compared of one rule set.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct GameReport {
    /// The game's key.
    pub game: String,
    /// The rule file, relative to the folder.
    pub file: String,
    /// How it was received.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// Whether the verdict or the answers of `invalid*.jsonl` were compared.
    pub verdicts: u64,
    /// Depths counted and compared.
    pub perft_lines: u64,
    /// States of playouts compared, last ones included.
    pub trace_steps: u64,
    /// Whether everything within the budgets was compared before the time was
    /// over.
    pub finished: bool,
    /// Where we differ.
    pub differences: Vec<Difference>,
    /// Differences that have an [`Explanation`](super::Explanation), with the
    /// argument.
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
            finished: false,
            differences: Vec::new(),
            explained: Vec::new(),
        }
    }
}

/// What a whole run found.
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

/// Printed for a person: what needs attention first, then the sums. Ends with a
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
        writeln!(
            f,
            "{} games ({refused} refused), {} verdicts, {} perft lines, {} trace steps: {} differences",
            self.games.len(),
            sum(|game| game.verdicts),
            sum(|game| game.perft_lines),
            sum(|game| game.trace_steps),
            self.differences().count(),
        )
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "DIFFERS {} ({}): {}", self.game, self.place, self.what)?;
        writeln!(f, "  expected {}", self.expected)?;
        write!(f, "  found    {}", self.found)
    }
}
