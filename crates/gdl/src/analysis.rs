//! Static analysis: properties of a game that follow from its rules alone.
//!
//! In: a [`Game`]. Out: findings that hold in every match. They depend on the
//! structure of the rules only, not on the names used in them. Nothing here searches,
//! and nothing here is needed to play. An analysis that reaches its limits reports
//! less; it never reports anything wrong.

pub mod achievers;
pub mod chains;
mod chase;
pub mod counter;
mod dependencies;
pub mod domains;
mod implication;
mod resolve;
mod trajectory;

use std::fmt;

use ggp_stop::Stop;
use serde::Serialize;

use crate::counted::counted;
use crate::game::{Game, Score};

pub use counter::{Counter, Course, Readers, Stripping, counters};
pub use dependencies::{read_by, unkept, unread};

/// A result of the analyses, in a form for printing.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(tag = "finding", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Finding {
    /// Facts that depend on the number of steps alone; see [`Counter`].
    Counter {
        /// The facts of the first steps, one entry per step, as texts.
        facts: Vec<String>,
        /// The development of the facts over the steps.
        course: Course,
        /// The first step at which they end the game; 0 is the initial state.
        ends_at: Option<usize>,
        /// Everything else that depends on them.
        readers: Readers,
        /// True if a search may ignore them when it compares states.
        harmless: bool,
        /// The reason for `harmless`.
        why: String,
    },
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Finding::Counter {
                facts,
                course,
                ends_at,
                why,
                ..
            } => {
                let name = match course {
                    Course::Cycle { .. } => "cycle",
                    _ => "counter",
                };
                write!(f, "{name}: {}", facts.join(", "))?;
                match course {
                    Course::Runs { steps } if *steps > facts.len() => {
                        write!(f, ", … ({steps} steps)")?;
                    }
                    Course::Runs { .. } => {}
                    Course::Cycle { from: 0, period } => {
                        write!(f, ", repeats every {}", counted(period, "joint move"))?
                    }
                    Course::Cycle { from, period } => {
                        let period = counted(period, "joint move");
                        write!(f, "; from step {from} on, repeats every {period}")?;
                    }
                    Course::Open => f.write_str(", …")?,
                }
                if let Some(step) = ends_at {
                    write!(f, "; ends the game after {}", counted(step, "move"))?;
                }
                write!(f, "; {why}")
            }
        }
    }
}

/// Runs all analyses on a game, for a search whose target is the maximum score. Soon after
/// `stop` is over they end with what they know.
pub fn findings(game: &Game, stop: &Stop) -> Vec<Finding> {
    const SHOWN: usize = 8;
    counters(game, Score::MAX, stop)
        .into_iter()
        .map(|counter| Finding::Counter {
            facts: counter.texts(SHOWN),
            course: counter.course,
            ends_at: counter.ends_at,
            readers: counter.readers,
            harmless: counter.stripping.is_harmless(),
            why: counter.stripping.to_string(),
        })
        .collect()
}
