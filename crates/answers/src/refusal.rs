//! Requests that have no answer, and why.

use serde::Serialize;

use ggp_engine::machine::PlayError;
use ggp_gdl::counted::counted;
use ggp_gdl::game::Game;

/// The reason why a request has no answer, and a remedy. As JSON it is what a client gets.
#[derive(Clone, Debug, Serialize)]
pub struct Refusal {
    /// The kind of reason.
    #[serde(skip)]
    pub kind: RefusalKind,
    /// The reason and the remedy.
    pub message: String,
    /// The number of moves of the request that are legal, if the reason is one of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made: Option<usize>,
}

/// The kind of reason for a refusal. Each has a number of HTTP.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum RefusalKind {
    /// The request is wrong.
    Wrong = 400,
    /// The requested thing does not exist.
    Missing = 404,
    /// The rules do not allow an answer.
    Rules = 422,
    /// Work was stopped, because memory is short.
    Memory = 503,
}

impl RefusalKind {
    /// The number of HTTP.
    pub fn status(self) -> u16 {
        self as u16
    }
}

impl Refusal {
    fn new(kind: RefusalKind, message: impl Into<String>) -> Self {
        Refusal {
            kind,
            message: message.into(),
            made: None,
        }
    }

    /// An error of the request.
    pub fn wrong(message: impl Into<String>) -> Self {
        Refusal::new(RefusalKind::Wrong, message)
    }

    /// The game has no role of this number.
    pub(crate) fn no_role(game: &Game) -> Self {
        let roles = game.role_count();
        let roles = counted(roles, "role");
        Refusal::wrong(format!("the game has {roles}, counted from 0"))
    }

    /// The requested thing does not exist.
    pub fn missing(message: impl Into<String>) -> Self {
        Refusal::new(RefusalKind::Missing, message)
    }

    /// The rules do not allow an answer.
    pub fn rules(message: impl Into<String>) -> Self {
        Refusal::new(RefusalKind::Rules, message)
    }

    /// Work was stopped, because its memory is needed.
    pub fn short_of_memory() -> Self {
        Refusal::new(
            RefusalKind::Memory,
            "memory ran short, and the longest work was stopped: try again soon",
        )
    }
}

impl From<PlayError> for Refusal {
    fn from(error: PlayError) -> Self {
        match error {
            PlayError::IllegalMove { .. }
            | PlayError::GameOver
            | PlayError::WrongMoveCount { .. } => Refusal::wrong(error.to_string()),
            PlayError::Interrupted => Refusal::short_of_memory(),
            _ => Refusal::rules(error.to_string()),
        }
    }
}
