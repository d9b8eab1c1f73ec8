//! Explanations: why something holds or does not hold.

use serde::{Deserialize, Serialize};

use crate::allowance::Allowance;
use crate::loaded_game::{LoadedGame, Reached};
use crate::refusal::Refusal;
use ggp_engine::machine::{Machine, PlayError};
use ggp_explain::tree::Tree;
use ggp_explain::{ExplainOptions, Explainer, FactHistories, Situation};
use ggp_gdl::game::Move;
use ggp_gdl::terms::TermId;

/// Maximum number of lines of an answer.
const LINES: usize = 500;

/// The request.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct Question {
    #[serde(default)]
    moves: Vec<Vec<String>>,
    question: String,
    #[serde(default)]
    does: Option<Vec<String>>,
    /// True to ask when a fact of the state became true, persisted and became false.
    #[serde(default)]
    history: bool,
}

/// The answer.
#[derive(Serialize)]
pub struct Explanation {
    holds: bool,
    /// True if the question can also be asked with `history`.
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

/// The facts of all states on the path to a position, and the joint moves between them.
type Trajectory = (Vec<Vec<TermId>>, Vec<Vec<Move>>);

fn course(reached: Reached) -> Result<Trajectory, PlayError> {
    let (mut machine, joints) = (reached.machine, reached.joints);
    let mut state = machine.initial()?;
    let mut states = vec![machine.facts(&state)];
    for joint in &joints {
        state = machine.next(&state, joint)?;
        states.push(machine.facts(&state));
    }
    Ok((states, joints))
}

/// Answers a question about a position.
///
/// # Errors
///
/// If the question or the moves are wrong, or the rules cannot be evaluated.
pub fn why(
    game: &LoadedGame,
    asked: &Question,
    allowance: &Allowance,
) -> Result<Explanation, Refusal> {
    let mut reached = game.reach(&asked.moves, allowance)?;
    let (machine, mut state) = (&mut reached.machine, &reached.state);
    let mut joint = reached.joints.last().cloned();
    let before;
    if let Some(texts) = &asked.does {
        let mut moves = Vec::new();
        for text in texts {
            let chosen = machine.read_move(text);
            moves.push(chosen.map_err(|error| Refusal::wrong(error.to_string()))?);
        }
        joint = Some(moves);
    }
    let mut explainer = Explainer::new(
        &game.game,
        machine.terms().clone(),
        game.limits(allowance.stop),
        ExplainOptions::default(),
    );
    let question = explainer.question(&asked.question);
    let question = question.map_err(|error| Refusal::wrong(error.to_string()))?;
    let is_of_state = question.is_of_state(&game.game);
    if asked.history {
        if !is_of_state {
            return Err(Refusal::wrong("only facts of the state have a history"));
        }
        let (states, joints) = course(reached)?;
        let trajectories = explainer.history(&question, &states, &joints);
        let trajectories = trajectories.map_err(|error| Refusal::rules(error.to_string()))?;
        let holds = matches!(trajectories, FactHistories::Some { .. });
        return Ok(Explanation::new(
            holds,
            true,
            explainer.course_trees(&trajectories),
        ));
    }
    let joint = match explainer.needs_moves(&question) {
        false => None,
        true if asked.does.is_some() => joint,
        true if joint.is_some() => {
            // The question is about the last move and the position before it.
            before = game
                .reach(&asked.moves[..asked.moves.len() - 1], allowance)?
                .state;
            state = &before;
            joint
        }
        true => {
            return Err(Refusal::wrong(
                "the answer depends on the moves made, and no move has been made yet",
            ));
        }
    };
    let facts = machine.facts(state);
    let situation = Situation {
        facts: &facts,
        joint: joint.as_deref(),
    };
    let answer = explainer.explain(&question, situation);
    let answer = answer.map_err(|error| Refusal::rules(error.to_string()))?;
    let has_history = is_of_state && !asked.moves.is_empty();
    Ok(Explanation::new(
        answer.holds(),
        has_history,
        explainer.trees(&answer),
    ))
}
