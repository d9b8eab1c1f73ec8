//! Replay of plans before their figures are shown.

use ggp_engine::machine::{DatalogMachine, Limits, Machine};
use ggp_gdl::game::{Game, Move, Score};

/// Plays plans on the Datalog evaluator and returns their faults.
pub(super) fn wrong_plans(game: &Game, plans: &[Vec<Move>]) -> Vec<String> {
    let play = |plan: &Vec<Move>| -> Result<Score, String> {
        let text = |error: ggp_engine::machine::PlayError| error.to_string();
        let mut machine = DatalogMachine::for_few_states(game, Limits::default()).map_err(text)?;
        machine.terms_mut().refresh();
        let mut state = machine.initial().map_err(text)?;
        for &chosen in plan {
            state = machine.play(&state, &[chosen]).map_err(text)?;
        }
        if !machine.is_terminal(&state).map_err(text)? {
            return Err("the game is not over".to_owned());
        }
        let role = game.roles().next().expect("a game has roles");
        machine.goal(&state, role).map_err(text)
    };
    let mut faults = Vec::new();
    for plan in plans {
        match play(plan) {
            Ok(Score::MAX) => {}
            Ok(score) => faults.push(format!(
                "a plan ends with {} points instead of 100",
                score.get()
            )),
            Err(error) => faults.push(format!("a plan is invalid: {error}")),
        }
    }
    faults
}
