//! What happens at a player, to be shown or kept.

use std::fmt;
use std::net::SocketAddr;

use serde::Serialize;

use crate::protocol::message::compact;
use ggp_gdl::markup;

/// Something that happened. Times are in seconds.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event {
    /// The player can be reached.
    Listening {
        /// Where.
        address: SocketAddr,
    },
    /// A message was answered.
    Answered {
        /// Who sent it.
        peer: SocketAddr,
        /// What kind of message it was.
        kind: &'static str,
        /// The match.
        #[serde(rename = "match")]
        id: Option<String>,
        /// The answer.
        reply: String,
        /// From the first byte of the request on.
        seconds: f64,
    },
    /// What came was no message.
    Refused {
        /// Who sent it.
        peer: SocketAddr,
        /// What is wrong with it.
        reason: String,
    },
    /// A match begins.
    Started {
        /// The match.
        #[serde(rename = "match")]
        id: String,
        /// Whom we play.
        role: String,
        /// Everybody's role, in the order of the rules.
        roles: Vec<String>,
        /// Time before the first move.
        start_clock: u32,
        /// Time for each move.
        play_clock: u32,
        /// How many warnings the rules gave.
        warnings: usize,
    },
    /// A match cannot be played.
    Unplayable {
        /// The match.
        #[serde(rename = "match")]
        id: String,
        /// Why: a line for each reason.
        reasons: Vec<String>,
    },
    /// A move was chosen.
    Chose {
        /// The match.
        #[serde(rename = "match")]
        id: String,
        /// Joint moves made before.
        made: usize,
        /// The move.
        chosen: String,
        /// Who it comes from: the agent, what it had found so far, or chance.
        origin: &'static str,
        /// The score that it is thought to lead to.
        value: Option<f64>,
        /// Iterations or positions.
        nodes: u64,
        /// How long it took.
        seconds: f64,
    },
    /// The agent failed, and something else was played.
    Failed {
        /// The match.
        #[serde(rename = "match")]
        id: String,
        /// With what.
        reason: String,
    },
    /// The host played another move for us than our answer.
    Replaced {
        /// The match.
        #[serde(rename = "match")]
        id: String,
        /// Joint moves made before.
        made: usize,
        /// What we had answered.
        answered: String,
        /// What it played.
        played: String,
    },
    /// The host's moves do not follow from what was played before.
    OutOfStep {
        /// The match.
        #[serde(rename = "match")]
        id: String,
        /// Why not.
        reason: String,
    },
    /// A match is over.
    Ended {
        /// The match.
        #[serde(rename = "match")]
        id: String,
        /// `stop`, `abort`, `deserted` or `interrupted`.
        how: &'static str,
        /// Joint moves made.
        made: usize,
        /// Roles with their scores, if the game is over.
        scores: Vec<(String, u8)>,
    },
}

impl Event {
    /// Whether it is about a single message rather than a match.
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
                    "{id}: begins; we are {role} of {roles}; {start_clock} s before and \
                     {play_clock} s for each move"
                )?;
                match warnings {
                    0 => Ok(()),
                    1 => f.write_str("; 1 warning about the rules"),
                    more => write!(f, "; {more} warnings about the rules"),
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
                    write!(f, ", worth {value:.1}")?;
                }
                write!(f, " ({origin}, {nodes} nodes, {seconds:.3} s)")
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
                    "{id}: {}: the host played {played} for us, not {answered}",
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
            } => {
                let moves = if *made == 1 { "move" } else { "moves" };
                write!(f, "{}: over ({how}) after {made} {moves}", plain(id))?;
                let mut scores = scores.iter();
                scores.try_for_each(|(role, score)| write!(f, "; {} {score}", plain(role)))
            }
        }
    }
}

/// Names come from the network.
fn plain(text: &str) -> String {
    markup::plain(text, 200)
}
