//! Why something holds, and why not.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};

use super::Shared;
use super::answer::{Asked, Refusal};
use super::game_store::{Loaded, Reached, blocking, find};
use super::session::Session;
use ggp_engine::machine::{Machine, PlayError};
use ggp_explain::tree::Tree;
use ggp_explain::{ExplainOptions, Explainer, FactHistories, Situation};
use ggp_gdl::game::Move;
use ggp_gdl::terms::TermId;

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
    /// How a fact of the state came, stayed and went.
    #[serde(default)]
    history: bool,
}

/// The answer.
#[derive(Serialize)]
pub(super) struct Explanation {
    holds: bool,
    /// Whether it can be asked for the history.
    has_history: bool,
    trees: Vec<Tree>,
    text: String,
}

impl Explanation {
    fn new(holds: bool, has_history: bool, mut trees: Vec<Tree>) -> Self {
        Tree::share(&mut trees);
        Tree::cut(&mut trees, LINES);
        let texts: Vec<String> = trees.iter().map(Tree::text).collect();
        let text = texts.join("\n\n");
        Explanation {
            holds,
            has_history,
            trees,
            text,
        }
    }
}

/// The facts of all states on the way to a position, and the joint moves between them.
type Course = (Vec<Vec<TermId>>, Vec<Vec<Move>>);

fn course(reached: Reached) -> Result<Course, PlayError> {
    let (mut machine, joints) = (reached.machine, reached.joints);
    let mut state = machine.initial()?;
    let mut states = vec![machine.facts(&state)];
    for joint in &joints {
        state = machine.next(&state, joint)?;
        states.push(machine.facts(&state));
    }
    Ok((states, joints))
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
        ExplainOptions::default(),
    );
    let question = explainer.question(&asked.question);
    let question = question.map_err(|told| Refusal::wrong(told.to_string()))?;
    let is_of_state = question.is_of_state(&game.game);
    if asked.history {
        if !is_of_state {
            return Err(Refusal::wrong("only facts of the state have a history"));
        }
        let (states, joints) = course(reached)?;
        let courses = explainer.history(&question, &states, &joints);
        let courses = courses.map_err(|told| Refusal::rules(told.to_string()))?;
        let holds = matches!(courses, FactHistories::Some { .. });
        return Ok(Explanation::new(
            holds,
            true,
            explainer.course_trees(&courses),
        ));
    }
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
    let has_history = is_of_state && !asked.moves.is_empty();
    Ok(Explanation::new(
        answer.holds(),
        has_history,
        explainer.trees(&answer),
    ))
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
