//! Explanations: why something holds or does not hold.

use serde::{Deserialize, Serialize};

use crate::allowance::Allowance;
use crate::loaded_game::{LoadedGame, Reached};
use crate::refusal::Refusal;
use crate::seat::{View, hidden_seat};
use ggp_engine::machine::{Machine, PlayError};
use ggp_explain::tree::Tree;
use ggp_explain::{ExplainOptions, Explainer, FactHistories, Situation};
use ggp_gdl::game::Move;
use ggp_gdl::terms::TermId;
use ggp_hidden::{Knowledge, Query};

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
    /// The role whose knowledge is asked for. It matters only if the rules have `sees`, and until
    /// the match is over.
    #[serde(default)]
    seat: Option<usize>,
}

impl Question {
    /// The question whether a role knows after moves that something holds.
    pub fn known(moves: Vec<Vec<String>>, seat: Option<usize>, question: String) -> Self {
        Question {
            moves,
            question,
            does: None,
            history: false,
            seat,
        }
    }
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

/// Answers whether a role knows that something holds.
fn known(
    game: &LoadedGame,
    asked: &str,
    reached: &Reached,
    view: &mut View<'_>,
    allowance: &Allowance,
) -> Result<Explanation, Refusal> {
    let limits = game.limits(allowance.stop);
    let terms = reached.machine.terms().clone();
    let mut explainer = Explainer::new(&game.game, terms, limits, ExplainOptions::default());
    let question = explainer.question(asked);
    let question = question.map_err(|error| Refusal::wrong(error.to_string()))?;
    if explainer.needs_moves(&question) {
        let what = "this depends on the moves of all roles: ask when the match is over";
        return Err(Refusal::wrong(what));
    }
    let mut holds = Vec::new();
    for facts in view.positions() {
        explainer.set_past(&[facts.to_vec()]);
        let answer = explainer.explain(&question, Situation { facts, joint: None });
        holds.push(
            answer
                .map_err(|error| Refusal::rules(error.to_string()))?
                .holds(),
        );
    }
    let relation = question.relation().zip(question.is_positive());
    let subject = relation.and_then(|(relation, is_positive)| {
        view.subject((relation, is_positive), |world, arguments| {
            question.matches(relation, arguments, world.terms())
        })
    });
    let knowledge = view.query(&[Query { holds, subject }])?.remove(0);
    let count = view.count();
    let text = match &knowledge {
        Knowledge::Proved(true) if view.is_exact() => {
            format!("You know that it is true: it is in {count}.")
        }
        Knowledge::Proved(false) if view.is_exact() => {
            format!("You know that it is not true: it is false in {count}.")
        }
        Knowledge::Proved(answer) => format!(
            "You know that it is {}: this follows from your moves and percepts.",
            if *answer { "true" } else { "not true" }
        ),
        Knowledge::Open {
            share,
            counterexample,
        } if *share == 0.0 || *share == 1.0 => {
            let is = if *share == 1.0 { "true" } else { "false" };
            match counterexample {
                Some(_) => format!(
                    "You cannot know. It is {is} in {count}, but otherwise in another position that fits."
                ),
                None => format!(
                    "It is open whether you know. It is {is} in {count}, but there may be others."
                ),
            }
        }
        Knowledge::Open { share, .. } => format!(
            "You cannot know. If the others choose with equal probabilities, it is true with \
             probability {:.1} %, judged by {count}.",
            100.0 * share
        ),
    };
    Ok(Explanation {
        holds: knowledge.proved() == Some(true),
        has_history: false,
        trees: Vec::new(),
        text,
    })
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
    if let Some(role) = hidden_seat(game, asked.seat)?
        && !reached.machine.is_terminal(&reached.state)?
    {
        let mut view = View::new(game, role, &mut reached, allowance)?;
        return known(game, &asked.question, &reached, &mut view, allowance);
    }
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
