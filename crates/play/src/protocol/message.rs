//! The messages between hosts and players, as text.
//!
//! In: the text of a request or an answer, in any letter case and spacing. Out: a [`Message`]
//! or a [`Reply`], and their text in the form that hosts and players expect. Rules and moves
//! are not parsed and keep their spelling. Sockets, HTTP and clocks are not here.

mod elements;
mod last_turn;
mod reply;

use std::fmt;

use elements::{Elements, inside};
use ggp_gdl::counted::counted;

pub use elements::{Balance, compact, spaced, trimmed};
pub use last_turn::LastTurn;
pub use reply::{Info, Reply, parse_move};

/// Limits on the size of a message.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct MessageLimits {
    /// The most bytes of a message.
    pub bytes: usize,
    /// The greatest depth of nested lists.
    pub nesting: usize,
    /// The most moves of a joint move, and so the most roles of a game. Also the most percepts
    /// of a turn.
    pub moves: usize,
}

impl Default for MessageLimits {
    fn default() -> Self {
        MessageLimits {
            bytes: 16 << 20,
            // The depth of rules, inside a list inside the message.
            nesting: 202,
            moves: 10_000,
        }
    }
}

/// A request of a host. Clocks are in seconds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Message {
    /// Asks for the name and the status of the player.
    Info,
    /// Shows the rules of a coming match.
    Preview {
        /// The rules.
        rules: String,
        /// The time to read them.
        clock: u32,
    },
    /// Starts a match.
    Start {
        /// The match.
        id: String,
        /// The role of the player.
        role: String,
        /// The rules.
        rules: String,
        /// The time before the first move.
        start_clock: u32,
        /// The time for each move.
        play_clock: u32,
    },
    /// Asks for a move.
    Play {
        /// The match.
        id: String,
        /// The last turn.
        last: LastTurn,
    },
    /// Ends a match.
    Stop {
        /// The match.
        id: String,
        /// The last turn.
        last: LastTurn,
    },
    /// Aborts a match.
    Abort {
        /// The match.
        id: String,
    },
}

/// The reason why a text is not a valid message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MessageError {
    /// The text has more bytes than this limit.
    TooLong(usize),
    /// Lists are nested deeper than this limit.
    TooDeep(usize),
    /// A joint move has more moves than this limit, or a turn more percepts.
    TooManyMoves(usize),
    /// Brackets do not match.
    Unbalanced,
    /// The text is not a list that begins with a word.
    NotAMessage,
    /// The kind of message does not exist.
    UnknownKind(String),
    /// The arguments of a known kind are wrong; the expected form.
    Malformed(&'static str),
    /// The text is not a number of seconds.
    BadClock(String),
}

impl fmt::Display for MessageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MessageError::TooLong(most) => write!(f, "more than {}", counted(most, "byte")),
            MessageError::TooDeep(most) => write!(f, "lists are nested deeper than {most}"),
            MessageError::TooManyMoves(most) => {
                let most = counted(most, "entry");
                write!(f, "a list of moves or percepts has more than {most}")
            }
            MessageError::Unbalanced => f.write_str("brackets do not match"),
            MessageError::NotAMessage => {
                f.write_str("not a message such as (INFO) or (PLAY id NIL)")
            }
            MessageError::UnknownKind(kind) => write!(f, "unknown message `{kind}`"),
            MessageError::Malformed(form) => write!(f, "not of the form {form}"),
            MessageError::BadClock(text) => write!(f, "`{text}` is not a number of seconds"),
        }
    }
}

impl std::error::Error for MessageError {}

const PREVIEW: &str = "(PREVIEW (RULE ...) CLOCK)";
const START: &str = "(START ID ROLE (RULE ...) STARTCLOCK PLAYCLOCK)";
const PLAY: &str = "(PLAY ID (MOVE ...)), (PLAY ID NIL) or (PLAY ID TURN MOVE (PERCEPT ...))";
const STOP: &str = "(STOP ID (MOVE ...)), (STOP ID NIL) or (STOP ID TURN MOVE (PERCEPT ...))";
const ABORT: &str = "(ABORT ID)";

impl Message {
    /// Reads a message. An empty text means [`Message::Info`], because some hosts only check
    /// whether a player listens.
    ///
    /// The letter case of the kind, whitespace and comments do not matter. Additional arguments
    /// are ignored where no form of the protocol has any.
    ///
    /// # Errors
    ///
    /// The first error in the text.
    pub fn parse(text: &str, limits: MessageLimits) -> Result<Self, MessageError> {
        if text.len() > limits.bytes {
            return Err(MessageError::TooLong(limits.bytes));
        }
        let mut outer = Elements::new(text, limits.nesting);
        let Some(whole) = outer.next().transpose()? else {
            return Ok(Message::Info);
        };
        if outer.next().transpose()?.is_some() {
            return Err(MessageError::NotAMessage);
        }
        let mut arguments = Elements::new(inside(whole).unwrap_or(whole), limits.nesting);
        let kind = arguments.next().transpose()?;
        let kind = kind.filter(|kind| inside(kind).is_none());
        let kind = kind.ok_or(MessageError::NotAMessage)?.to_ascii_lowercase();
        let mut arguments = Arguments {
            elements: arguments,
            limits,
        };
        match kind.as_str() {
            "info" | "ping" => Ok(Message::Info),
            "preview" => arguments.preview(),
            "start" => arguments.start(),
            "play" => {
                let (id, last) = arguments.last_turn(PLAY)?;
                Ok(Message::Play { id, last })
            }
            "stop" => {
                let (id, last) = arguments.last_turn(STOP)?;
                Ok(Message::Stop { id, last })
            }
            "abort" => Ok(Message::Abort {
                id: arguments.word(ABORT)?,
            }),
            _ => Err(MessageError::UnknownKind(shortened(&kind))),
        }
    }

    /// The kind, in the spelling of hosts.
    pub fn kind(&self) -> &'static str {
        match self {
            Message::Info => "INFO",
            Message::Preview { .. } => "PREVIEW",
            Message::Start { .. } => "START",
            Message::Play { .. } => "PLAY",
            Message::Stop { .. } => "STOP",
            Message::Abort { .. } => "ABORT",
        }
    }

    /// The match of the message.
    pub fn id(&self) -> Option<&str> {
        match self {
            Message::Info | Message::Preview { .. } => None,
            Message::Start { id, .. }
            | Message::Play { id, .. }
            | Message::Stop { id, .. }
            | Message::Abort { id } => Some(id),
        }
    }
}

impl fmt::Display for Message {
    /// The text in the form of hosts: one line, no comments, and spaces around every bracket
    /// inside rules and moves, because some players split at spaces.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.kind();
        match self {
            Message::Info => write!(f, "( {kind} )"),
            Message::Preview { rules, clock } => {
                write!(f, "( {kind} ({} ) {clock} )", spaced(rules))
            }
            Message::Start {
                id,
                role,
                rules,
                start_clock,
                play_clock,
            } => {
                let rules = spaced(rules);
                write!(
                    f,
                    "( {kind} {id} {role} ({rules} ) {start_clock} {play_clock})"
                )
            }
            Message::Play { id, last } | Message::Stop { id, last } => {
                write!(f, "( {kind} {id} {last} )")
            }
            Message::Abort { id } => write!(f, "( {kind} {id} )"),
        }
    }
}

/// The arguments after the kind.
struct Arguments<'t> {
    elements: Elements<'t>,
    limits: MessageLimits,
}

impl<'t> Arguments<'t> {
    fn take(&mut self, form: &'static str) -> Result<&'t str, MessageError> {
        let next = self.elements.next().transpose()?;
        next.ok_or(MessageError::Malformed(form))
    }

    fn word(&mut self, form: &'static str) -> Result<String, MessageError> {
        let word = self.take(form)?;
        match inside(word) {
            None => Ok(word.to_owned()),
            Some(_) => Err(MessageError::Malformed(form)),
        }
    }

    fn rules(&mut self, form: &'static str) -> Result<String, MessageError> {
        let rules = inside(self.take(form)?).ok_or(MessageError::Malformed(form))?;
        Ok(rules.trim().to_owned())
    }

    /// A clock in seconds. A fraction is dropped, so that the clock is not exceeded.
    fn clock(&mut self, form: &'static str) -> Result<u32, MessageError> {
        let text = self.word(form)?;
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        let is_number = fraction.bytes().all(|byte| byte.is_ascii_digit());
        let clock = whole.parse().ok().filter(|_| is_number);
        clock.ok_or_else(|| MessageError::BadClock(shortened(&text)))
    }

    fn preview(mut self) -> Result<Message, MessageError> {
        Ok(Message::Preview {
            rules: self.rules(PREVIEW)?,
            clock: self.clock(PREVIEW)?,
        })
    }

    fn start(mut self) -> Result<Message, MessageError> {
        Ok(Message::Start {
            id: self.word(START)?,
            role: self.word(START)?,
            rules: self.rules(START)?,
            start_clock: self.clock(START)?,
            play_clock: self.clock(START)?,
        })
    }

    /// The match and its last turn.
    fn last_turn(mut self, form: &'static str) -> Result<(String, LastTurn), MessageError> {
        let id = self.word(form)?;
        let first = self.take(form)?;
        let Some(own_move) = self.elements.next().transpose()? else {
            return Ok((id, LastTurn::List(self.list(first)?)));
        };
        let percepts = self.take(form)?;
        let is_last = self.elements.next().transpose()?.is_none();
        let turn = first.parse::<u64>().ok().filter(|_| is_last);
        let turn = turn.ok_or(MessageError::Malformed(form))?;
        let last = LastTurn::Own {
            turn,
            // Before the first move there is none.
            own_move: (turn > 0).then(|| own_move.to_owned()),
            percepts: self.list(percepts)?,
        };
        Ok((id, last))
    }

    /// The elements of a list. Any word means no list, as in the reference player.
    fn list(&self, list: &str) -> Result<Option<Vec<String>>, MessageError> {
        let Some(list) = inside(list) else {
            return Ok(None);
        };
        let mut elements = Vec::new();
        for element in Elements::new(list, self.limits.nesting) {
            let element = element?;
            if elements.len() == self.limits.moves {
                return Err(MessageError::TooManyMoves(self.limits.moves));
            }
            elements.push(element.to_owned());
        }
        Ok(Some(elements))
    }
}

/// The beginning of an arbitrary text.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
