//! The kinds of players.

use serde::Serialize;

use ggp_play::AGENT_KINDS;

/// A kind of player.
#[derive(Serialize)]
pub struct PlayerKind {
    name: &'static str,
    what: &'static str,
    thinks: bool,
    options: &'static [(&'static str, &'static str)],
}

/// Lists all kinds.
pub fn kinds() -> Vec<PlayerKind> {
    let kind = |kind: &'static ggp_play::AgentKind| PlayerKind {
        name: kind.name,
        what: kind.about,
        thinks: kind.thinks(),
        options: kind.options,
    };
    AGENT_KINDS.iter().map(kind).collect()
}
