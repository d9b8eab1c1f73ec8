//! A role's view of a game with hidden information.

use super::super::why::known;
use super::reasons;
use crate::format;
use crate::knowledge::{Known, SampleLimits};
use ggp_engine::machine::{Limits, Machine};
use ggp_explain::{ExplainOptions, Explainer};
use ggp_gdl::game::Move;
use ggp_gdl::terms::TermId;
use ggp_hidden::ascending;
use ggp_play::{Observation, Turn};

/// The limits of a belief that is shown.
const SAMPLE: SampleLimits = SampleLimits {
    positions: 500,
    seed: None,
};

/// The positions that fit what the role knows. Those that were `kept` are brought up to the turn, so
/// that all answers of a turn are about the same ones.
///
/// # Errors
///
/// If the rules cannot be evaluated, or no position is found that fits.
pub fn belief<'k, M: Machine>(
    machine: &mut M,
    turn: &Turn<'_, M::State>,
    limits: Limits,
    kept: &'k mut Option<Known>,
) -> anyhow::Result<&'k mut Known> {
    let role = turn.role.index();
    let plies = turn.history.plies();
    let past = plies.map(|ply| (ply.joint[role], ascending(&ply.percepts[role])));
    let past: Vec<(Move, Vec<TermId>)> = past.collect();
    let is_behind = |known: &Known| past.starts_with(known.belief.past());
    let mut known = match kept.take().filter(is_behind) {
        Some(known) => known,
        None => {
            let start = machine.facts(turn.history.state_after(0));
            Known::at_start(machine.game(), turn.role, &start, limits, SAMPLE)?
        }
    };
    for (made, told) in &past[known.belief.turns()..] {
        known.turn(*made, told)?;
    }
    Ok(kept.insert(known))
}

/// The answer to whether the role knows a fact, or that a move is legal.
///
/// # Errors
///
/// If the question is malformed, and as [`belief`].
pub fn why<M: Machine>(
    machine: &mut M,
    turn: &Turn<'_, M::State>,
    limits: Limits,
    kept: &mut Option<Known>,
    (numbered, text): (&[Move], &str),
) -> anyhow::Result<String> {
    let game = machine.game().clone();
    let known = belief(machine, turn, limits.clone(), kept)?;
    let terms = machine.terms().clone();
    let mut explainer = Explainer::new(&game, terms, limits, ExplainOptions::default());
    // Whether a text is a move must not depend on moves of others.
    let moves = (turn.legal, numbered);
    let question = reasons::question(machine, &mut explainer, turn.role, moves, text);
    let questions = [question.map_err(anyhow::Error::msg)?];
    let (answers, faults) = known::answers(machine, known, &questions, &mut explainer)?;
    match (answers.first(), faults.into_iter().next()) {
        (Some(answer), _) => Ok(match known.note().filter(|_| !answer.is_certain()) {
            Some(note) => format!("{}\n{note}", answer.text()),
            None => answer.text(),
        }),
        (None, fault) => Err(fault.expect("a question has an answer or an error")),
    }
}

/// The role's knowledge of the turns after the first `shown` ones, one line for each.
pub fn view<M: Machine>(machine: &M, turn: &Turn<'_, M::State>, shown: usize) -> Vec<String> {
    let game = machine.game();
    let known = Observation::of_history(game, turn.role, turn.history);
    let Some(percepts) = known.percepts() else {
        // The role random knows all moves.
        let plies = (1..).zip(turn.history.plies()).skip(shown);
        let line = |joint| format::joint_line(machine, joint);
        return plies
            .map(|(number, ply)| format!("{number}: {}", line(&ply.joint)))
            .collect();
    };
    let turns = (1..).zip(known.own_moves().iter().zip(percepts));
    let turns = turns.skip(shown).map(|(number, (own, percepts))| {
        let texts = percepts
            .iter()
            .map(|percept| game.text(machine.terms(), *percept));
        let texts: Vec<String> = texts.collect();
        let saw = match texts.is_empty() {
            true => "nothing".to_owned(),
            false => texts.join(", "),
        };
        let own = format::move_text(machine, *own);
        format!("{number}: you played {own} and saw {saw}")
    });
    turns.collect()
}
