//! What a person at the board asks `why` of.

use crate::check::Keyword;
use crate::explain::{ExplainError, Explainer, Options, Question, Situation};
use crate::machine::{Limits, Machine};
use crate::play::{History, Turn};

/// Most lines of an answer.
const LINES: usize = 60;

/// Why something holds in the present state, or why not; a fact of the state is
/// followed over the moves. A move is asked to be legal, brackets may be left out.
pub fn why<M: Machine>(
    machine: &mut M,
    turn: &Turn<'_, M::State>,
    limits: Limits,
    text: &str,
) -> String {
    let game = machine.game().clone();
    let terms = machine.terms().clone();
    let mut explainer = Explainer::new(&game, terms, limits, Options::default());
    let bracketed = format!("({text})");
    let mut asked = match text.contains(' ') && !text.starts_with('(') {
        true => explainer.question(&bracketed),
        false => explainer.question(text),
    };
    let is_relation = asked.as_ref().is_ok_and(|question| !of_state(&explainer, question));
    if !is_relation {
        let moves = turn.history.plies().flat_map(|ply| &ply.joint);
        let known: Vec<_> = moves.chain(turn.legal).map(|m| m.term()).collect();
        for text in [text, &bracketed] {
            if let Ok(term) = game.parse_term(machine.terms_mut(), text) {
                let functor = machine.terms().functor(term);
                if known.iter().any(|m| machine.terms().functor(*m) == functor) {
                    let role = game.role_name(turn.role);
                    asked = explainer.question(&format!("(legal {role} {text})"));
                }
            }
        }
    }
    let answer = match asked {
        Ok(question) => said(machine, &mut explainer, turn.history, &question),
        Err(error) => return error.to_string(),
    };
    answer.unwrap_or_else(|error| error.to_string())
}

fn of_state(explainer: &Explainer, question: &Question) -> bool {
    explainer.game().keyword(Keyword::True) == Some(question.relation())
}

fn said<M: Machine>(
    machine: &M,
    explainer: &mut Explainer,
    history: &History<M::State>,
    question: &Question,
) -> Result<String, ExplainError> {
    let states = (0..=history.len()).map(|moves| machine.facts(history.state_after(moves)));
    let mut trees = if of_state(explainer, question) {
        let states: Vec<_> = states.collect();
        let joints: Vec<_> = history.plies().map(|ply| ply.joint.clone()).collect();
        let course = explainer.history(question, &states, &joints)?;
        vec![explainer.course_tree(&course)]
    } else {
        let last = history.plies().last().map(|ply| &ply.joint[..]);
        let joint = last.filter(|_| explainer.needs_moves(question));
        let facts = match joint {
            Some(_) => machine.facts(history.state_after(history.len() - 1)),
            None => machine.facts(history.state()),
        };
        let facts = &facts;
        let answer = explainer.explain(question, Situation { facts, joint })?;
        explainer.trees(&answer)
    };
    let texts = trees.iter_mut().map(|tree| {
        tree.fold();
        tree.cut(LINES);
        tree.text()
    });
    Ok(texts.collect::<Vec<_>>().join("\n"))
}
