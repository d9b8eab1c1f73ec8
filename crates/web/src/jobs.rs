//! Long answers: players, solvers, game graphs and learning, as streams of events.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use serde::Serialize;

use super::Shared;
use super::answer::{ApiError, JsonBody};
use super::events::{self, Permit};
use super::game_store::{blocking, find};
use super::session::Visitor;
use super::{AppState, WebLimits};
use ggp_answers::graph::{Explore, GraphTask};
use ggp_answers::solving::{Solve, SolveTask};
use ggp_answers::think::{Think, ThinkTask};
use ggp_answers::values::{self, Learn};
use ggp_answers::{Allowance, Listener, Refusal};

/// Runs work, and answers with its events and its result.
fn stream<T: Serialize + Send + Sync + 'static>(
    app: &AppState,
    visitor: &Visitor,
    name: &'static str,
    work: impl FnOnce(&Allowance, &Arc<dyn Listener>) -> Result<T, Refusal> + Send + 'static,
) -> Result<Response, ApiError> {
    let permit = events::permit(app, visitor)?;
    let limits: WebLimits = app.limits.clone();
    let work = move |permit: &Permit, listener: &Arc<dyn Listener>| {
        Ok(work(&permit.allowance(&limits), listener)?)
    };
    Ok(events::stream(permit, name, work))
}

/// Lets a player choose a move.
pub(super) async fn think(
    State(app): Shared,
    Extension(visitor): Extension<Visitor>,
    Path(id): Path<String>,
    JsonBody(asked): JsonBody<Think>,
) -> Result<Response, ApiError> {
    let game = find(&app, &visitor, &id).await?;
    // Reading the player's options may take time.
    let task = blocking(&app, &visitor, move |_| Ok(ThinkTask::new(game, asked)?)).await?;
    stream(&app, &visitor, "move", move |allowance, listener| {
        task.choose(allowance, Some(listener))
    })
}

/// Searches for a plan.
pub(super) async fn solve(
    State(app): Shared,
    Extension(visitor): Extension<Visitor>,
    Path(id): Path<String>,
    JsonBody(asked): JsonBody<Solve>,
) -> Result<Response, ApiError> {
    let game = find(&app, &visitor, &id).await?;
    let task = SolveTask::new(game, asked, app.limits.thought)?;
    stream(&app, &visitor, "answer", move |allowance, listener| {
        task.run(allowance, &**listener)
    })
}

/// Explores a game from a position on.
pub(super) async fn graph(
    State(app): Shared,
    Extension(visitor): Extension<Visitor>,
    Path(id): Path<String>,
    JsonBody(asked): JsonBody<Explore>,
) -> Result<Response, ApiError> {
    let game = find(&app, &visitor, &id).await?;
    let task = GraphTask::new(game, asked, app.limits.thought)?;
    stream(&app, &visitor, "graph", move |allowance, listener| {
        task.run(allowance, &**listener)
    })
}

/// Learns values of a game's positions by self-play, which all requests for this game use.
pub(super) async fn learn(
    State(app): Shared,
    Extension(visitor): Extension<Visitor>,
    Path(id): Path<String>,
    JsonBody(asked): JsonBody<Learn>,
) -> Result<Response, ApiError> {
    let game = find(&app, &visitor, &id).await?;
    asked.time()?;
    stream(&app, &visitor, "learned", move |allowance, listener| {
        values::learn(&game, &asked, allowance, &**listener)
    })
}
