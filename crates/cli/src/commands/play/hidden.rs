//! A role's view of a game with hidden information.

use crate::format;
use ggp_engine::machine::Machine;
use ggp_play::{Observation, Turn};

/// The answer to a question about the rules.
pub const UNKNOWN: &str = "the rules have `sees`: your role does not know the state; type state or \
                           history for what it knows";

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
