//! The errors of play: faults of the rules, illegal moves and limits.

use ggp_gdl::counted::counted;
use std::borrow::Cow;
use std::fmt;

use serde::Serialize;

use super::Excess;
use crate::propnet::GroundError;

/// An error in the rules or in a move that shows up during play.
#[derive(Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "error", rename_all = "snake_case")]
#[non_exhaustive]
pub enum PlayError {
    /// A move is illegal for its role.
    IllegalMove {
        /// The role's name.
        role: String,
        /// The move's text.
        chosen: String,
        /// The texts of the legal moves, sorted.
        legal: Vec<String>,
    },
    /// A joint move has too few or too many moves.
    WrongMoveCount {
        /// The number of roles.
        expected: usize,
        /// The number of given moves.
        found: usize,
    },
    /// A move was made after the end of the game.
    GameOver,
    /// A role has no legal move although the game is not over.
    NoLegalMove(Fault),
    /// A role has no goal value.
    NoGoal(Fault),
    /// A role has several goal values.
    AmbiguousGoal(Fault),
    /// A role's goal value is not an integer from 0 to 100.
    BadGoal(Fault),
    /// The rules derive more than the limits allow, perhaps without end.
    TooLarge(Excess),
    /// Evaluation was stopped from outside.
    Interrupted,
}

/// The place where play revealed an error in the rules.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Fault {
    /// The role's name.
    pub role: String,
    /// Texts of the values found, if any, sorted.
    pub found: Vec<String>,
    /// Texts of the state's facts, sorted.
    pub state: Vec<String>,
    /// The rules concerned, as `file:line:column`.
    pub rules: Vec<String>,
}

impl fmt::Display for PlayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlayError::IllegalMove {
                role,
                chosen,
                legal,
            } => {
                write!(
                    f,
                    "{} may not play {}; legal: {}",
                    short(role),
                    short(chosen),
                    some(legal, 12)
                )
            }
            PlayError::WrongMoveCount { expected, found } => {
                let expected = counted(expected, "move");
                write!(f, "a joint move has {expected} here, not {found}")
            }
            PlayError::GameOver => f.write_str("the game is over, so no move can be made"),
            PlayError::NoLegalMove(fault) => {
                write!(
                    f,
                    "{} has no legal move, but the game is not over",
                    short(&fault.role)
                )?;
                fault.fmt_place(f)
            }
            PlayError::NoGoal(fault) => {
                write!(f, "{} has no goal value", short(&fault.role))?;
                fault.fmt_place(f)
            }
            PlayError::AmbiguousGoal(fault) => {
                let (role, found) = (short(&fault.role), fault.found.join(", "));
                write!(f, "{role} has several goal values: {}", short(&found))?;
                fault.fmt_place(f)
            }
            PlayError::BadGoal(fault) => {
                let (role, found) = (short(&fault.role), fault.found.join(", "));
                write!(
                    f,
                    "{role} has the goal value {}, not an integer from 0 to 100",
                    short(&found)
                )?;
                fault.fmt_place(f)
            }
            PlayError::TooLarge(excess) => excess.fmt(f),
            PlayError::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl PlayError {
    /// The fault of the rules, if the error is one.
    pub fn fault(&self) -> Option<&Fault> {
        match self {
            PlayError::NoLegalMove(fault)
            | PlayError::NoGoal(fault)
            | PlayError::AmbiguousGoal(fault)
            | PlayError::BadGoal(fault) => Some(fault),
            _ => None,
        }
    }

    /// The text without the state and the rules.
    pub fn summary(&self) -> String {
        let text = self.to_string();
        text.lines().next().unwrap_or_default().to_owned()
    }
}

impl From<Excess> for PlayError {
    fn from(excess: Excess) -> Self {
        PlayError::TooLarge(excess)
    }
}

impl From<GroundError> for PlayError {
    fn from(error: GroundError) -> Self {
        match error {
            GroundError::TooLarge(excess) => PlayError::TooLarge(excess),
            GroundError::Interrupted => PlayError::Interrupted,
        }
    }
}

impl Fault {
    fn fmt_place(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n  in the state: {}", some(&self.state, 40))?;
        if !self.rules.is_empty() {
            write!(f, "\n  rules concerned: {}", some(&self.rules, 8))?;
        }
        Ok(())
    }
}

/// The first few elements of a list, as text.
fn some(list: &[String], most: usize) -> String {
    if list.is_empty() {
        return "(nothing)".to_owned();
    }
    let shown: Vec<_> = list.iter().take(most).map(|text| short(text)).collect();
    let shown = shown.join(" ");
    match list.len().checked_sub(most) {
        None | Some(0) => shown,
        Some(more) => format!("{shown} and {more} more"),
    }
}

/// The beginning of a text of the rules, which may be long.
fn short(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(200) {
        Some((end, _)) => format!("{}...", &text[..end]).into(),
        None => text.into(),
    }
}

impl std::error::Error for PlayError {}

ggp_gdl::debug_as_display!(PlayError);
