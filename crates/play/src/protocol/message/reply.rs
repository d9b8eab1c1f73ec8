//! Answers of players.

use std::fmt;

use super::elements::{Elements, inside, spaced};
use super::{MessageError, MessageLimits};

/// The answer of a player.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reply {
    /// The name and the status of the player.
    Info(Info),
    /// The player is ready.
    Ready,
    /// The player is in another match, or does not know this one.
    Busy,
    /// A move, in the spelling of the rules.
    Move(String),
    /// The player has no move.
    Nil,
    /// The player acknowledges the end of the match.
    Done,
    /// The player acknowledges that the match is aborted.
    Aborted,
}

impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reply::Info(info) => info.fmt(f),
            Reply::Ready => f.write_str("ready"),
            Reply::Busy => f.write_str("busy"),
            Reply::Move(chosen) => f.write_str(&spaced(chosen)),
            Reply::Nil => f.write_str("nil"),
            Reply::Done => f.write_str("done"),
            Reply::Aborted => f.write_str("aborted"),
        }
    }
}

/// The answer to an INFO message.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Info {
    /// The name of the player.
    pub name: Option<String>,
    /// Usually `available` or `busy`.
    pub status: Option<String>,
    /// The species, such as `alien` or `human`.
    pub species: Option<String>,
}

impl Info {
    /// Reads any answer of a player and ignores the parts that are not understood.
    ///
    /// A single word is a status, unknown entries are skipped, and values of several parts are
    /// joined, as in the reference host.
    pub fn parse(text: &str, limits: MessageLimits) -> Self {
        let mut info = Info::default();
        if text.len() > limits.bytes {
            return info;
        }
        let mut outer = Elements::new(text, limits.nesting);
        let (Some(Ok(whole)), None) = (outer.next(), outer.next()) else {
            return info;
        };
        let Some(entries) = inside(whole) else {
            info.status = Some(whole.to_owned());
            return info;
        };
        for entry in Elements::new(entries, limits.nesting) {
            let Ok(entry) = entry else { break };
            let Some(entry) = inside(entry) else { continue };
            let mut parts = Elements::new(entry, limits.nesting).map_while(Result::ok);
            let Some(key) = parts.next() else { continue };
            let value: String = parts.map(spaced).collect();
            let slot = match key.to_ascii_lowercase().as_str() {
                "name" => &mut info.name,
                "status" => &mut info.status,
                "species" => &mut info.species,
                _ => continue,
            };
            if !value.is_empty() {
                *slot = Some(value);
            }
        }
        info
    }

    /// Returns true if the status says that the player is in a match.
    pub fn is_busy(&self) -> bool {
        let status = self.status.as_deref().unwrap_or_default();
        status.eq_ignore_ascii_case("busy")
    }
}

impl fmt::Display for Info {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        let entries = [
            ("name", &self.name),
            ("status", &self.status),
            ("species", &self.species),
        ];
        for (key, value) in entries {
            if let Some(value) = value {
                write!(f, " ( {key} {} )", word(value))?;
            }
        }
        f.write_str(" )")
    }
}

/// A text as a single word.
fn word(text: &str) -> String {
    let text = text.trim();
    let harmless = |c: char| match c.is_whitespace() || c.is_control() || "();".contains(c) {
        true => '_',
        false => c,
    };
    match text.is_empty() {
        true => "_".to_owned(),
        false => text.chars().map(harmless).collect(),
    }
}

/// The move in an answer, in the spelling of the player. Comments are ignored, and an
/// explanation or a taunt after the move.
///
/// # Errors
///
/// If the answer is not a move.
pub fn parse_move(text: &str, limits: MessageLimits) -> Result<String, MessageError> {
    if text.len() > limits.bytes {
        return Err(MessageError::TooLong(limits.bytes));
    }
    let mut elements = Elements::new(text, limits.nesting);
    let chosen = elements.next().ok_or(MessageError::NotAMessage)??;
    // Quoted words of a taunt may contain brackets, so the rest may be malformed.
    let rest = elements.rest();
    let is_comment = |name: &str| {
        let start = rest.get(1..=name.len()).unwrap_or_default();
        rest.starts_with('(') && start.eq_ignore_ascii_case(name)
    };
    match rest.is_empty() || is_comment("explanation") || is_comment("taunt") {
        true => Ok(chosen.to_owned()),
        false => Err(MessageError::NotAMessage),
    }
}
