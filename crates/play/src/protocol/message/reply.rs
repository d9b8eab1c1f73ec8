//! Answers of players.

use std::fmt;

use super::elements::{Elements, inside, spaced};
use super::{MessageError, MessageLimits};

/// What a player answers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reply {
    /// Who it is.
    Info(Info),
    /// It is ready to play.
    Ready,
    /// It plays another match, or does not know this one.
    Busy,
    /// A move, in the spelling of the rules.
    Move(String),
    /// It has no move.
    Nil,
    /// The match is over for it.
    Done,
    /// The match is broken off.
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

/// What a player says of itself.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Info {
    /// Its name.
    pub name: Option<String>,
    /// `available` or `busy`, as a rule.
    pub status: Option<String>,
    /// Such as `alien` or `human`.
    pub species: Option<String>,
}

impl Info {
    /// Reads whatever a player may answer: what cannot be understood is left out.
    ///
    /// A word alone is a status, unknown entries are passed over, and values of
    /// several parts are joined, as the reference host does.
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

    /// Whether it says that it plays a match.
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

/// The move that a player answers, as it spells it. An explanation or a taunt
/// after it is passed over.
///
/// # Errors
///
/// If it is nothing of that kind.
pub fn parse_move(text: &str, limits: MessageLimits) -> Result<String, MessageError> {
    if text.len() > limits.bytes {
        return Err(MessageError::TooLong(limits.bytes));
    }
    let mut elements = Elements::new(text, limits.nesting);
    let chosen = elements.next().ok_or(MessageError::NotAMessage)??;
    // Quoted words of a taunt may have any brackets, so that the rest need not
    // be well formed.
    let rest = text[elements.end()..].trim_start();
    let is_comment = |name: &str| {
        let start = rest.get(1..=name.len()).unwrap_or_default();
        rest.starts_with('(') && start.eq_ignore_ascii_case(name)
    };
    match rest.is_empty() || is_comment("explanation") || is_comment("taunt") {
        true => Ok(chosen.to_owned()),
        false => Err(MessageError::NotAMessage),
    }
}
