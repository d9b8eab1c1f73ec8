//! Why something holds, and why not.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};

use super::Shared;
use super::answer::{Asked, Refusal};
use super::session::Session;
use super::shelf::{Loaded, blocking, find};
use crate::explain::tree::Tree;
use crate::explain::{Explainer, Options, Situation};
use crate::game::Move;
use crate::machine::Machine;

/// Lines of an answer.
const LINES: usize = 500;

/// What is asked.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Question {
    #[serde(default)]
    moves: Vec<Vec<String>>,
    question: String,
    #[serde(default)]
    does: Option<Vec<String>>,
}

/// The answer.
#[derive(Serialize)]
pub(super) struct Explanation {
    holds: bool,
    trees: Vec<Tree>,
    text: String,
}

fn explain(game: &Loaded, asked: &Question) -> Result<Explanation, Refusal> {
    let mut reached = game.reach(&asked.moves)?;
    let (machine, mut state) = (&mut reached.machine, &reached.state);
    let mut joint = reached.joints.last().cloned();
    let before;
    if let Some(texts) = &asked.does {
        let mut moves = Vec::new();
        for text in texts {
            let term = game.game.parse_term(machine.terms_mut(), text);
            moves.push(Move::new(
                term.map_err(|told| Refusal::wrong(told.to_string()))?,
            ));
        }
        joint = Some(moves);
    }
    let mut explainer = Explainer::new(
        &game.game,
        machine.terms().clone(),
        Loaded::limits(),
        Options::default(),
    );
    let question = explainer.question(&asked.question);
    let question = question.map_err(|told| Refusal::wrong(told.to_string()))?;
    let joint = match explainer.needs_moves(&question) {
        false => None,
        true if asked.does.is_some() => joint,
        true if joint.is_some() => {
            // It is about the last move, and the position before it.
            before = game.reach(&asked.moves[..asked.moves.len() - 1])?.state;
            state = &before;
            joint
        }
        true => {
            return Err(Refusal::wrong(
                "that depends on the moves made, and none is made here yet",
            ));
        }
    };
    let facts = machine.facts(state);
    let situation = Situation {
        facts: &facts,
        joint: joint.as_deref(),
    };
    let answer = explainer.explain(&question, situation);
    let answer = answer.map_err(|told| Refusal::rules(told.to_string()))?;
    let mut trees = explainer.trees(&answer);
    Tree::share(&mut trees);
    Tree::cut(&mut trees, LINES);
    let texts: Vec<String> = trees.iter().map(Tree::text).collect();
    Ok(Explanation {
        holds: answer.holds(),
        trees,
        text: texts.join("\n\n"),
    })
}

/// Answers a question about a position.
pub(super) async fn why(
    State(house): Shared,
    Extension(session): Extension<Arc<Session>>,
    Path(id): Path<String>,
    Asked(asked): Asked<Question>,
) -> Result<Json<Explanation>, Refusal> {
    let game = find(&house, &session, &id).await?;
    let explanation = blocking(&house, move || explain(&game, &asked)).await?;
    Ok(Json(explanation))
}
