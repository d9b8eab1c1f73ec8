//! A position: what is true, what is legal, and how it is drawn.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};

use super::Shared;
use super::answer::{Asked, Refusal};
use super::game_store::{Reached, blocking, find};
use super::session::Session;
use ggp_engine::machine::{Machine, PlayError, canonical_facts};
use ggp_gdl::game::Move;
use ggp_picture::{Drawing, Limits, Look, Spot};

/// What is asked.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Moves {
    #[serde(default)]
    moves: Vec<Vec<String>>,
}

/// The answer.
#[derive(Serialize)]
pub(super) struct Position {
    /// The moves that led there, also those that were left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    moves: Option<Vec<Vec<String>>>,
    ply: usize,
    over: bool,
    facts: Vec<String>,
    legal: Vec<Vec<LegalMove>>,
    goals: Vec<Option<u8>>,
    turn: Vec<usize>,
    drawing: Drawing,
    svg: String,
    text: String,
}

#[derive(Serialize)]
struct LegalMove {
    #[serde(rename = "move")]
    action: String,
    spots: Vec<Spot>,
}

impl Reached {
    /// The joint moves with those of single choice that were left out, if any were.
    fn filled(&self, asked: &[Vec<String>]) -> Option<Vec<Vec<String>>> {
        let whole = self.joints.iter().zip(asked);
        if whole
            .clone()
            .all(|(joint, texts)| joint.len() == texts.len())
        {
            return None;
        }
        let text = |action: &Move| self.machine.text(*action);
        let joints = self.joints.iter();
        Some(
            joints
                .map(|joint| joint.iter().map(text).collect())
                .collect(),
        )
    }

    fn position(mut self) -> Result<Position, PlayError> {
        let (machine, state) = (&mut self.machine, &self.state);
        let over = machine.is_terminal(state)?;
        let roles: Vec<_> = machine.game().roles().collect();
        let drawing = {
            let facts = machine.facts(state);
            let limits = Limits::default();
            let mut drawing = self.picture.draw(machine.terms(), &facts, limits);
            if over {
                // The facts may go on saying who would be.
                drawing.tables.retain(|table| table.look != Look::Turn);
            }
            drawing
        };
        let mut legal = Vec::new();
        if !over {
            for &role in &roles {
                let mut moves = Vec::new();
                machine.legal(state, role, &mut moves)?;
                let moves = moves.iter().map(|action| LegalMove {
                    action: machine.text(*action),
                    spots: (self.picture).spots(machine.terms(), (role, *action), &drawing),
                });
                legal.push(moves.collect());
            }
        }
        let mut goals = Vec::new();
        for &role in &roles {
            goals.push(match machine.goal(state, role) {
                Ok(score) => Some(score.get()),
                Err(stopped @ (PlayError::Interrupted | PlayError::TooLarge { .. })) => {
                    return Err(stopped);
                }
                // Rules need not give goals before the end.
                Err(_) => None,
            });
        }
        let choosing = |moves: &(usize, &Vec<LegalMove>)| moves.1.len() > 1;
        let turn = legal.iter().enumerate().filter(choosing);
        Ok(Position {
            moves: None,
            ply: self.joints.len(),
            over,
            facts: canonical_facts(machine, state),
            turn: turn.map(|(role, _)| role).collect(),
            legal,
            goals,
            svg: ggp_picture::svg(&drawing, &machine.game().name()),
            text: ggp_picture::text(&drawing),
            drawing,
        })
    }
}

/// The position after some moves.
pub(super) async fn position(
    State(house): Shared,
    Extension(session): Extension<Arc<Session>>,
    Path(id): Path<String>,
    Asked(asked): Asked<Moves>,
) -> Result<Json<Position>, Refusal> {
    let game = find(&house, &session, &id).await?;
    let position = blocking(&house, move || {
        let reached = game.reach(&asked.moves)?;
        let filled = reached.filled(&asked.moves);
        Ok(Position {
            moves: filled,
            ..reached.position()?
        })
    });
    Ok(Json(position.await?))
}

/// The first position as a picture.
pub(super) async fn picture(
    State(house): Shared,
    Extension(session): Extension<Arc<Session>>,
    Path(id): Path<String>,
) -> Result<Response, Refusal> {
    let game = find(&house, &session, &id).await?;
    let card = blocking(&house, move || Ok(game.card()?)).await?;
    Ok(([(header::CONTENT_TYPE, "image/svg+xml")], card).into_response())
}
