//! What can be learned from the rules alone, without playing.
//!
//! In: a [`Game`]. Out: findings about it that hold in every match, found by
//! structure: they do not change when the names in the rules are replaced by
//! others. Nothing here searches, and nothing here is needed to play: an
//! analysis that gives up finds nothing, and never something wrong.

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

use serde::Serialize;

use crate::game::{Game, Score};

pub use counter::{Counter, Course, Readers, Stripping, counters};
pub use dependencies::{read_by, unkept, unread};

/// Something that the rules show, in a form for printing.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(tag = "finding", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Finding {
    /// Facts that depend on the number of steps alone; see [`Counter`].
    Counter {
        /// The first facts, step by step, in canonical text.
        facts: Vec<String>,
        /// How the facts go on.
        course: Course,
        /// The first step at which they end the game; 0 is the start.
        ends_at: Option<usize>,
        /// What depends on them besides themselves.
        readers: Readers,
        /// Whether a search may leave them out.
        harmless: bool,
        /// The reason.
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
                    Course::Cycle { from: 0, period } => write!(f, ", again after {period}")?,
                    Course::Cycle { from, period } => {
                        write!(f, "; from step {from} on, again after {period}")?;
                    }
                    Course::Open => f.write_str(", …")?,
                }
                if let Some(step) = ends_at {
                    write!(f, "; ends the game after {step} moves")?;
                }
                write!(f, "; {why}")
            }
        }
    }
}

/// What the analyses find in a game, for a search that wants all points.
pub fn findings(game: &Game) -> Vec<Finding> {
    const SHOWN: usize = 8;
    counters(game, Score::MAX)
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
