//! Events of a network player, for display and logs.

use std::fmt;
use std::net::SocketAddr;

use serde::Serialize;

use crate::protocol::message::compact;
use ggp_gdl::counted::counted;
use ggp_gdl::markup;

/// An event of a network player. Times are in seconds.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event {
    /// The player accepts connections.
    Listening {
        /// The address.
        address: SocketAddr,
    },
    /// A message was answered.
    Answered {
        /// The address of the sender.
        peer: SocketAddr,
        /// The kind of message.
        kind: &'static str,
        /// The match.
        #[serde(rename = "match")]
        id: Option<String>,
        /// The answer.
        reply: String,
        /// The time since the first byte of the request.
        seconds: f64,
    },
    /// A request was not a valid message.
    Refused {
        /// The address of the sender.
        peer: SocketAddr,
        /// The reason.
        reason: String,
    },
    /// A match has started.
    Started {
        /// The match.
        #[serde(rename = "match")]
        id: String,
        /// The player's role.
        role: String,
        /// All roles in the order of the rules.
        roles: Vec<String>,
        /// The time before the first move.
        start_clock: u32,
        /// The time for each move.
        play_clock: u32,
        /// The number of warnings about the rules.
        warnings: usize,
    },
    /// A match cannot be played.
    Unplayable {
        /// The match.
        #[serde(rename = "match")]
        id: String,
        /// The reasons, one line each.
        reasons: Vec<String>,
    },
    /// A move was chosen.
    Chose {
        /// The match.
        #[serde(rename = "match")]
        id: String,
        /// The number of earlier joint moves.
        made: usize,
        /// The move.
        chosen: String,
        /// The source of the move: `agent`, `published` (its best move so far) or `random`.
        origin: &'static str,
        /// The expected score.
        value: Option<f64>,
        /// The number of iterations or positions.
        nodes: u64,
        /// The time since the request.
        seconds: f64,
    },
    /// The agent failed, and another move was played.
    Failed {
        /// The match.
        #[serde(rename = "match")]
        id: String,
        /// The error.
        reason: String,
    },
    /// The host replaced the answered move by another one.
    Replaced {
        /// The match.
        #[serde(rename = "match")]
        id: String,
        /// The number of earlier joint moves.
        made: usize,
        /// The answered move.
        answered: String,
        /// The move that the host played.
        played: String,
    },
    /// The host's moves are not legal after the known moves, or percepts are missing or cannot
    /// be read.
    OutOfStep {
        /// The match.
        #[serde(rename = "match")]
        id: String,
        /// The reason.
        reason: String,
    },
    /// A match is over.
    Ended {
        /// The match.
        #[serde(rename = "match")]
        id: String,
        /// `stop`, `abort`, `deserted` or `interrupted`.
        how: &'static str,
        /// The number of joint moves.
        made: usize,
        /// The roles with their scores, if the game is over.
        scores: Vec<(String, u8)>,
        /// The error because of which there are no scores: a fault in the rules, or a limit
        /// that they pass.
        #[serde(skip_serializing_if = "Option::is_none")]
        fault: Option<String>,
    },
}

impl Event {
    /// Returns true if the event concerns a single message rather than a match.
    pub fn is_detail(&self) -> bool {
        matches!(self, Event::Answered { .. } | Event::Refused { .. })
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Event::Listening { address } => write!(f, "listening on {address}"),
            Event::Answered {
                peer,
                kind,
                id,
                reply,
                seconds,
            } => {
                let id = plain(id.as_deref().unwrap_or_default());
                let reply = plain(reply);
                write!(f, "{peer}: {kind} {id} -> {reply} ({seconds:.3} s)")
            }
            Event::Refused { peer, reason } => write!(f, "{peer}: refused: {}", plain(reason)),
            Event::Started {
                id,
                role,
                roles,
                start_clock,
                play_clock,
                warnings,
            } => {
                let (id, role, roles) = (plain(id), plain(role), plain(&roles.join(" ")));
                write!(
                    f,
                    "{id}: started; playing {role} of {roles}; {start_clock} s before the first move \
                     and {play_clock} s for each move"
                )?;
                match warnings {
                    0 => Ok(()),
                    more => write!(f, "; {} about the rules", counted(more, "warning")),
                }
            }
            Event::Unplayable { id, reasons } => {
                write!(f, "{}: cannot be played", plain(id))?;
                reasons
                    .iter()
                    .try_for_each(|reason| write!(f, "\n  {}", plain(reason)))
            }
            Event::Chose {
                id,
                made,
                chosen,
                origin,
                value,
                nodes,
                seconds,
            } => {
                let (id, chosen) = (plain(id), plain(&compact(chosen)));
                write!(f, "{id}: {}: {chosen}", made + 1)?;
                if let Some(value) = value {
                    write!(f, ", value {value:.1}")?;
                }
                write!(f, " ({origin}, {}, {seconds:.3} s)", counted(nodes, "node"))
            }
            Event::Failed { id, reason } => {
                write!(f, "{}: the agent failed: {}", plain(id), plain(reason))
            }
            Event::Replaced {
                id,
                made,
                answered,
                played,
            } => {
                let (id, answered) = (plain(id), plain(&compact(answered)));
                let played = plain(&compact(played));
                write!(
                    f,
                    "{id}: {}: the host played {played} instead of the answer {answered}",
                    made + 1
                )
            }
            Event::OutOfStep { id, reason } => {
                write!(f, "{}: out of step: {}", plain(id), plain(reason))
            }
            Event::Ended {
                id,
                how,
                made,
                scores,
                fault,
            } => {
                let moves = if *made == 1 { "move" } else { "moves" };
                write!(f, "{}: over ({how}) after {made} {moves}", plain(id))?;
                for (role, score) in scores {
                    write!(f, "; {} {score}", plain(role))?;
                }
                let mut fault = fault.iter();
                fault.try_for_each(|fault| write!(f, "; {}", plain(fault)))
            }
        }
    }
}

/// Makes text from the network safe to print.
fn plain(text: &str) -> String {
    markup::plain(text, 200)
}
