//! A table as those at it may see it.
//!
//! In games with hidden information, a seat gets its own moves and what follows from its percepts
//! until the match is over, and who has no seat gets nothing.

use axum::Json;
use axum::extract::{Path, State};
use axum::{Extension, http::StatusCode};
use serde::Deserialize;

use super::{MatchState, Table, TableView, no_seat};
use crate::Shared;
use crate::answer::{ApiError, JsonBody};
use crate::game_store::blocking;
use crate::session::{Visitor, locked};
use ggp_answers::position::{self, Moves, Position};
use ggp_answers::why::{self, Explanation, Question};

/// The request for a position of a table's match.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub(in super::super) struct AtTable {
    #[serde(default)]
    key: Option<String>,
    ply: usize,
    #[serde(default)]
    names: Option<bool>,
}

/// A question about a position of a table's match.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub(in super::super) struct QuestionAtTable {
    #[serde(default)]
    key: Option<String>,
    ply: usize,
    question: String,
}

impl TableView {
    /// The table as a seat sees it, or someone without a seat.
    pub(super) fn of_seat(mut self, seat: Option<usize>, is_hidden: bool) -> Self {
        self.seat = seat;
        if is_hidden && !self.over && seat.is_none() {
            self.moves.clear();
            self.chosen.fill(false);
        } else if is_hidden && !self.over {
            let moves = self.moves.iter_mut();
            for (role, action) in moves.flat_map(|joint| joint.iter_mut().enumerate()) {
                if Some(role) != seat {
                    action.clear();
                }
            }
            for (role, chosen) in self.chosen.iter_mut().enumerate() {
                *chosen &= Some(role) == seat;
            }
        }
        self
    }
}

impl Table {
    /// The first `ply` joint moves, and the role for which their position is shown, if not for all.
    fn seen_by(
        &self,
        key: Option<&str>,
        ply: usize,
    ) -> Result<(Vec<Vec<String>>, Option<usize>), ApiError> {
        let seat = key.map(|key| self.seat(key).ok_or_else(no_seat));
        let seat = seat.transpose()?;
        let MatchState { moves, over, .. } = &*locked(&self.state);
        let Some(made) = moves.get(..ply) else {
            let count = moves.len();
            return Err(ApiError::wrong(format!(
                "`ply` is a number from 0 to {count}, the joint moves that were made"
            )));
        };
        if !self.game.game.is_hidden() || *over {
            return Ok((made.to_vec(), None));
        }
        match seat {
            Some(seat) => Ok((made.to_vec(), Some(seat))),
            None => Err(ApiError::new(
                StatusCode::FORBIDDEN,
                "the rules hide what others do: who has no seat sees the match when it is over",
            )),
        }
    }
}

/// A position of the match, as a seat knows it.
pub(in super::super) async fn position(
    State(app): Shared,
    Path(name): Path<String>,
    Extension(visitor): Extension<Visitor>,
    JsonBody(asked): JsonBody<AtTable>,
) -> Result<Json<Position>, ApiError> {
    let table = app.tables.find(&name)?;
    let (moves, seat) = table.seen_by(asked.key.as_deref(), asked.ply)?;
    let asked = Moves::seen(moves, seat, asked.names);
    let position = blocking(&app, &visitor, move |turn| {
        let allowance = turn.allowance(&table.limits);
        Ok(position::position(&table.game, &asked, &allowance)?)
    });
    Ok(Json(position.await?))
}

/// Answers a question about a position of the match, as a seat knows it.
pub(in super::super) async fn why(
    State(app): Shared,
    Path(name): Path<String>,
    Extension(visitor): Extension<Visitor>,
    JsonBody(asked): JsonBody<QuestionAtTable>,
) -> Result<Json<Explanation>, ApiError> {
    let table = app.tables.find(&name)?;
    let (moves, seat) = table.seen_by(asked.key.as_deref(), asked.ply)?;
    let asked = Question::known(moves, seat, asked.question);
    let answer = blocking(&app, &visitor, move |turn| {
        let allowance = turn.allowance(&table.limits);
        Ok(why::why(&table.game, &asked, &allowance)?)
    });
    Ok(Json(answer.await?))
}
