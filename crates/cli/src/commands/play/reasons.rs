//! The `why` command of a person at the terminal.

use crate::format;
use ggp_engine::machine::{Limits, Machine};
use ggp_explain::tree::Tree;
use ggp_explain::{ExplainError, ExplainOptions, Explainer, Question, Situation};
use ggp_gdl::game::{Move, RoleId};
use ggp_play::{History, Turn};

/// The maximum number of lines of an answer.
const LINES: usize = 60;

/// The usage message.
const USAGE: &str = "`why` needs a fact, a move or the number of a move, for example: why terminal, \
                     why 1";

/// Explains why a fact holds in the current state or a move is legal, or why not. A fact of the
/// state is traced over the moves made. The brackets of a move may be left out; `numbered` are
/// the moves that can be given by number.
pub fn why<M: Machine>(
    machine: &mut M,
    turn: &Turn<'_, M::State>,
    limits: Limits,
    numbered: &[Move],
    text: &str,
) -> String {
    let game = machine.game().clone();
    let terms = machine.terms().clone();
    let mut explainer = Explainer::new(&game, terms, limits, ExplainOptions::default());
    let made = turn.history.plies().flat_map(|ply| &ply.joint);
    let moves: Vec<Move> = made.chain(turn.legal).copied().collect();
    let asked = match question(machine, &mut explainer, turn.role, (&moves, numbered), text) {
        Ok(asked) => explainer.question(&asked),
        Err(message) => return message,
    };
    let answer = match asked {
        Ok(question) if turn.history.is_empty() && explainer.needs_moves(&question) => {
            return format!("`{text}` depends on the moves made; ask again after a move");
        }
        Ok(question) => said(machine, &mut explainer, turn.history, &question),
        Err(error) => return error.to_string(),
    };
    answer.unwrap_or_else(|error| error.to_string())
}

/// The question that a text asks: whether a fact holds, or whether a move of the role is legal if the
/// text has the form of one of the moves or is the number of one of the numbered moves.
///
/// # Errors
///
/// A message if the text is empty or a wrong number.
pub fn question<M: Machine>(
    machine: &mut M,
    explainer: &mut Explainer,
    role: RoleId,
    (moves, numbered): (&[Move], &[Move]),
    text: &str,
) -> Result<String, String> {
    if text.is_empty() {
        return Err(USAGE.to_owned());
    }
    let game = machine.game().clone();
    let legal = |text: &str| format!("(legal {} {text})", game.role_name(role));
    if let Ok(number) = text.parse::<usize>()
        && !numbered.is_empty()
    {
        let chosen = number.checked_sub(1).and_then(|at| numbered.get(at));
        return match chosen {
            Some(chosen) => Ok(legal(&format::move_text(machine, *chosen))),
            None => Err(format!("move numbers are 1 to {}", numbered.len())),
        };
    }
    let asked = explainer.question(text);
    let is_relation = asked.is_ok_and(|asked| !asked.is_of_state(&game));
    let like = like_a_move(machine, moves, text).filter(|_| !is_relation);
    Ok(like.map_or(text.to_owned(), |like| legal(&like)))
}

/// The text, with brackets added if necessary, if it has the form of one of the moves.
fn like_a_move<M: Machine>(machine: &mut M, moves: &[Move], text: &str) -> Option<String> {
    let game = machine.game().clone();
    let known: Vec<_> = moves.iter().map(|m| m.term()).collect();
    [text.to_owned(), format!("({text})")]
        .into_iter()
        .find(|text| {
            game.parse_term(machine.terms_mut(), text)
                .is_ok_and(|term| {
                    let terms = machine.terms();
                    (known.iter()).any(|m| terms.functor(*m) == terms.functor(term))
                })
        })
}

fn said<M: Machine>(
    machine: &M,
    explainer: &mut Explainer,
    history: &History<M::State>,
    question: &Question,
) -> Result<String, ExplainError> {
    let mut trees = if question.is_of_state(explainer.game()) {
        let states = (0..=history.len()).map(|moves| machine.facts(history.state_after(moves)));
        let states: Vec<_> = states.collect();
        let joints: Vec<_> = history.plies().map(|ply| ply.joint.clone()).collect();
        let courses = explainer.history(question, &states, &joints)?;
        explainer.course_trees(&courses)
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
    trees.iter_mut().for_each(Tree::fold);
    Tree::share(&mut trees);
    Tree::cut(&mut trees, LINES);
    let texts: Vec<String> = trees.iter().map(Tree::text).collect();
    Ok(texts.join("\n"))
}
