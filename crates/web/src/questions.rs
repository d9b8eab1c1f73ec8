//! Short answers: positions, explanations, drawings, learned values, and the requests of the
//! rule editor.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::Serialize;

use super::answer::{ApiError, JsonBody};
use super::game_store::{GameStore, blocking, find, reading};
use super::session::Visitor;
use super::{AppState, Shared};
use ggp_answers::editing::{self, AtPlace, FileRange, Meaning, Word};
use ggp_answers::players::{self, PlayerKind};
use ggp_answers::position::{self, Moves, Position};
use ggp_answers::preview::Traits;
use ggp_answers::solving::{self, Method};
use ggp_answers::values::{self, Asked, Valued};
use ggp_answers::why::{self, Explanation, Question};
use ggp_answers::{Allowance, CheckReport, LoadedGame, Refusal, RuleSet, trial};
use ggp_engine::machine::PlayError;
use ggp_stop::Stop;

/// Answers a question about a game.
async fn about<T: Send + 'static>(
    app: &Arc<AppState>,
    visitor: &Visitor,
    id: &str,
    answer: impl FnOnce(&LoadedGame, &Allowance) -> Result<T, Refusal> + Send + 'static,
) -> Result<T, ApiError> {
    let game = find(app, visitor, id).await?;
    let all = Arc::clone(app);
    blocking(app, visitor, move |turn| {
        Ok(answer(&game, &turn.allowance(&all.limits))?)
    })
    .await
}

/// The position after moves.
pub(super) async fn position(
    State(app): Shared,
    Extension(visitor): Extension<Visitor>,
    Path(id): Path<String>,
    JsonBody(asked): JsonBody<Moves>,
) -> Result<Json<Position>, ApiError> {
    let answer = about(&app, &visitor, &id, move |game, allowance| {
        position::position(game, &asked, allowance)
    });
    Ok(Json(answer.await?))
}

/// Answers a question about a position.
pub(super) async fn why(
    State(app): Shared,
    Extension(visitor): Extension<Visitor>,
    Path(id): Path<String>,
    JsonBody(asked): JsonBody<Question>,
) -> Result<Json<Explanation>, ApiError> {
    let answer = about(&app, &visitor, &id, move |game, allowance| {
        why::why(game, &asked, allowance)
    });
    Ok(Json(answer.await?))
}

/// The learned values along a match, and the facts of a position that count.
pub(super) async fn values(
    State(app): Shared,
    Extension(visitor): Extension<Visitor>,
    Path(id): Path<String>,
    JsonBody(asked): JsonBody<Asked>,
) -> Result<Json<Valued>, ApiError> {
    let answer = about(&app, &visitor, &id, move |game, allowance| {
        values::values(game, &asked, allowance)
    });
    Ok(Json(answer.await?))
}

fn svg(text: String) -> Response {
    ([(header::CONTENT_TYPE, "image/svg+xml")], text).into_response()
}

/// A drawing of a position of a game.
pub(super) async fn picture(
    State(app): Shared,
    Extension(visitor): Extension<Visitor>,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let answer = about(&app, &visitor, &id, |game, allowance| {
        Ok(game.preview(allowance.stop)?.svg.clone())
    });
    Ok(svg(answer.await?))
}

/// An animation of a match between programs.
pub(super) async fn film(
    State(app): Shared,
    Extension(visitor): Extension<Visitor>,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let answer = about(&app, &visitor, &id, |game, allowance| {
        Ok(game.film(allowance.stop)?.to_string())
    });
    Ok(svg(answer.await?))
}

/// The traits of a bundled game.
#[derive(Clone, Debug, Serialize)]
pub(super) struct TraitsOf {
    id: String,
    #[serde(flatten)]
    traits: Traits,
}

/// Lists the traits of the bundled games. A game that cannot be evaluated is left out.
pub(super) async fn traits(
    State(app): Shared,
    Extension(visitor): Extension<Visitor>,
) -> Result<Json<Vec<TraitsOf>>, ApiError> {
    if let Some(known) = app.traits.get() {
        return Ok(Json(known.clone()));
    }
    let all = Arc::clone(&app);
    let found = blocking(&app, &visitor, move |turn| {
        Ok(found_traits(&all.shelf, turn.stop())?)
    });
    let found = found.await?;
    Ok(Json(app.traits.get_or_init(|| found).clone()))
}

/// The traits of the bundled games. A game that cannot be evaluated is left out.
///
/// # Errors
///
/// If the stop is raised.
pub(super) fn found_traits(store: &GameStore, stop: &Stop) -> Result<Vec<TraitsOf>, PlayError> {
    let mut found = Vec::new();
    for game in store.complete(stop) {
        let id = game.rules.id.clone();
        match game.preview(stop) {
            Ok(preview) => found.push(TraitsOf {
                id,
                traits: preview.traits.clone(),
            }),
            Err(error @ PlayError::Interrupted) => return Err(error),
            Err(_) => {}
        }
    }
    Ok(found)
}

/// Lists the kinds of players.
pub(super) async fn players() -> Json<Vec<PlayerKind>> {
    Json(players::kinds())
}

/// Lists all solving methods.
pub(super) async fn methods() -> Json<Vec<Method>> {
    Json(solving::methods())
}

/// Checks rules.
pub(super) async fn check(
    State(app): Shared,
    Extension(visitor): Extension<Visitor>,
    JsonBody(set): JsonBody<RuleSet>,
) -> Result<Json<CheckReport>, ApiError> {
    Ok(Json(reading(&app, &visitor, set, editing::check).await?))
}

/// Plays random matches of rules, and reports their faults.
pub(super) async fn try_rules(
    State(app): Shared,
    Extension(visitor): Extension<Visitor>,
    JsonBody(set): JsonBody<RuleSet>,
) -> Result<Response, ApiError> {
    set.check_form()?;
    let tried = blocking(&app, &visitor, move |turn| {
        Ok(trial::try_rules(&set, turn.stop())?)
    });
    Ok(match tried.await? {
        Ok(report) => Json(report).into_response(),
        Err(check) => (StatusCode::UNPROCESSABLE_ENTITY, Json(check)).into_response(),
    })
}

/// Answers a question about a place in rules.
async fn at_place<T: Send + 'static>(
    app: &Arc<AppState>,
    visitor: &Visitor,
    asked: AtPlace,
    answer: fn(AtPlace, &Stop) -> Result<T, Refusal>,
) -> Result<Json<T>, ApiError> {
    asked.check_form()?;
    let answer = blocking(app, visitor, move |turn| {
        let answer = answer(asked, turn.stop())?;
        match turn.stop().is_over() {
            true => Err(ApiError::rules("the rules were not read")),
            false => Ok(answer),
        }
    });
    Ok(Json(answer.await?))
}

/// Explains the name at a place.
pub(super) async fn hover(
    State(app): Shared,
    Extension(visitor): Extension<Visitor>,
    JsonBody(asked): JsonBody<AtPlace>,
) -> Result<Json<Option<Meaning>>, ApiError> {
    at_place(&app, &visitor, asked, editing::hover).await
}

/// Lists the words that fit at a place.
pub(super) async fn completion(
    State(app): Shared,
    Extension(visitor): Extension<Visitor>,
    JsonBody(asked): JsonBody<AtPlace>,
) -> Result<Json<Vec<Word>>, ApiError> {
    at_place(&app, &visitor, asked, editing::completion).await
}

/// Lists the definitions of the name at a place.
pub(super) async fn definition(
    State(app): Shared,
    Extension(visitor): Extension<Visitor>,
    JsonBody(asked): JsonBody<AtPlace>,
) -> Result<Json<Vec<FileRange>>, ApiError> {
    at_place(&app, &visitor, asked, editing::definition).await
}
