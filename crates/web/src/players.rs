//! The kinds of players.

use axum::Json;
use serde::Serialize;

use ggp_play::AGENT_KINDS;

/// A kind of player.
#[derive(Serialize)]
pub(super) struct PlayerKind {
    name: &'static str,
    what: &'static str,
    thinks: bool,
    options: &'static [(&'static str, &'static str)],
}

/// Lists all kinds.
pub(super) async fn kinds() -> Json<Vec<PlayerKind>> {
    let kind = |kind: &'static ggp_play::AgentKind| PlayerKind {
        name: kind.name,
        what: kind.about,
        thinks: kind.thinks(),
        options: kind.options,
    };
    Json(AGENT_KINDS.iter().map(kind).collect())
}
