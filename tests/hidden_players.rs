//! Choices of players in games with hidden information where there is no doubt.

use ggp_engine::machine::{Backend, Machine};
use ggp_gdl::game::Game;
use ggp_play::{AgentSpec, Brief, Observation, Pace};

use crate::common::sized;
use crate::hidden::{machine, told};

/// A side is drawn, and the listener hears which one. Then it names a side, at once or after it has waited:
/// 100 points for the right one. A secret is drawn as well, which matters to nobody.
fn heard(sides: usize, waits: usize, secrets: usize) -> String {
    let names = (0..sides).map(|side| format!("(side s{side}) "));
    let mut text: String = names.collect();
    text.extend((0..secrets).map(|secret| format!("(secret x{secret}) ")));
    let last = waits + 1;
    for turn in 0..=last {
        text += &format!("(after {turn} {}) ", turn + 1);
    }
    text + &format!(
        "(role random) (role listener) (init (turn 0))
        (<= (legal random (draw ?s ?x)) (true (turn 0)) (side ?s) (secret ?x))
        (<= (legal random rest) (not (true (turn 0))))
        (<= (legal listener wait) (not (true (turn {last}))))
        (<= (legal listener (name ?s)) (true (turn {last})) (side ?s))
        (<= (next (drawn ?s)) (does random (draw ?s ?x)))
        (<= (next (kept ?x)) (does random (draw ?s ?x)))
        (<= (next (kept ?x)) (true (kept ?x)))
        (<= (next (drawn ?s)) (true (drawn ?s)))
        (<= (next (named ?s)) (does listener (name ?s)))
        (<= (next (turn ?n)) (true (turn ?m)) (after ?m ?n))
        (<= (sees listener (hears ?s)) (does random (draw ?s ?x)))
        (<= terminal (true (turn {})))
        (<= right (true (drawn ?s)) (true (named ?s)))
        (<= (goal listener 100) right) (<= (goal listener 0) (not right))",
        last + 1
    )
}

#[test]
fn where_there_is_no_doubt_players_choose_the_best_move() {
    for (sides, waits, secrets) in [(2, 0, 1), (3, 1, 1), (5, 0, 1), (2, 0, 3), (3, 1, 30)] {
        let game = Game::from_text("heard", &heard(sides, waits, secrets)).unwrap();
        let role = game.roles().find(|role| !game.is_random(*role)).unwrap();
        // Of 100 iterations, each of 16 guesses has six, two for each of three moves.
        for spec in [
            "greedy",
            "minimax:100",
            "mcts:100",
            "mcts:300",
            "ismcts:300",
            "auto:300",
        ] {
            let spec: AgentSpec = spec.parse().unwrap();
            for seed in 0..sized(20, 100) {
                let mut machine = machine(&game, Backend::Datalog);
                let mut state = machine.initial().unwrap();
                let (mut own, mut percepts) = (Vec::new(), Vec::new());
                let side = seed as usize % sides;
                for turn in 0..=waits {
                    let draw = if turn == 0 {
                        format!("(draw s{side} x0)")
                    } else {
                        "rest".to_owned()
                    };
                    let joint = [draw, "wait".to_owned()];
                    let joint = joint.map(|made| machine.read_move(&made).unwrap());
                    own.push(joint[role.index()]);
                    percepts.push(told(&mut machine, &state, &joint, role));
                    state = machine.next(&state, &joint).unwrap();
                }
                let mut brief = Brief::new(&game, role);
                brief.seed = seed;
                let mut agent = spec.agent(brief).unwrap();
                let pace = Pace::new(None, spec.limits(None).1);
                agent.begin(&pace).unwrap();
                let observation = Observation::of_percepts(own, percepts);
                let advice = agent.choose(&observation, &pace).unwrap();
                let chosen = machine.text(advice.chosen);
                assert_eq!(
                    chosen,
                    format!("(name s{side})"),
                    "{spec}, seed {seed}: {advice:#?}"
                );
            }
        }
    }
}
