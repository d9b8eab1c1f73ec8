//! Notes about moves that were chosen without any result of a search.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use super::workplace::Workplace;
use ggp_engine::machine::{AnyMachine, Limits, Machine};
use ggp_gdl::game::Game;
use ggp_play::{AgentPlayer, AgentSpec, Brief, Match, Player, Step};

/// The path of a rule file of this repository.
fn bundled(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("games");
    path.join(format!("{name}.kif")).display().to_string()
}

#[test]
fn a_match_with_a_person_has_no_note_about_moves_that_are_proved() {
    let place = Workplace::new();
    let file = bundled("tic_tac_toe");
    for (seed, players) in [(1, "human,auto"), (2, "human,mcts:500"), (3, "auto,human")] {
        // Numbers that are not on the list are refused, and the next one is read.
        let typed = [5, 1, 7, 3, 2].map(|number| format!("{}\n", (number * seed) % 9 + 1));
        let input = typed.concat().repeat(6);
        for clock in ["", " --play-clock 1"] {
            let line = format!("play {file} --roles {players} --seed {seed}{clock}");
            let found = place.run_with(&line, &[], &input);
            assert_eq!(found.code, Some(0), "{line}: {found:#?}");
            assert!(found.out.contains("the game is over"), "{line}: {found:#?}");
            assert_eq!(found.err, "", "{line}");
        }
    }
}

/// The players whose moves were blind in a whole match of one kind of player in all roles.
fn blind_moves(game: &str, player: &str, clock: Option<Duration>, seed: u64) -> Vec<String> {
    let text = std::fs::read_to_string(bundled(game)).unwrap();
    let game = Game::from_text(game, &text).unwrap();
    let (mut machine, _) = AnyMachine::auto(&game, Limits::default()).unwrap();
    let start = machine.initial().unwrap();
    let blind = Rc::new(RefCell::new(Vec::new()));
    let mut players: Vec<Box<dyn Player<AnyMachine>>> = Vec::new();
    for role in game.roles() {
        let brief = Brief {
            seed: seed + role.index() as u64,
            play_clock: clock,
            machine: Some(machine.clone()),
            ..Brief::new(&game, role)
        };
        let spec: AgentSpec = player.parse().unwrap();
        let (blind, name) = (Rc::clone(&blind), game.role_name(role).to_owned());
        let agent = AgentPlayer::new(brief, spec).unwrap();
        players.push(Box::new(agent.heard_by(move |answer| {
            let advice = answer.advice.as_ref().expect("there is a move");
            let mut candidates = advice.candidates.iter();
            let chosen = candidates.find(|one| one.action == advice.chosen);
            if let (Some(value), Some(chosen)) = (advice.value, chosen) {
                let (low, high) = chosen.bounds;
                let is_within = low - 1e-6 <= value && value <= high + 1e-6;
                assert!(is_within, "{value} of {low} to {high}");
            }
            if advice.is_blind {
                blind.borrow_mut().push(name.clone());
            }
        })));
    }
    let mut played = Match::new(machine, start);
    while played.step(&mut players).unwrap() == Step::Moved && played.history().len() < 40 {}
    drop(players);
    blind.take()
}

const SMALL: [&str; 9] = [
    "tic_tac_toe",
    "nim",
    "hanoi",
    "rock_paper_scissors",
    "dice_race",
    "three_player_race",
    "blind_tic_tac_toe",
    "kuhn_poker",
    "monty_hall",
];

#[test]
fn no_player_is_blind_where_iterations_are_counted() {
    for game in SMALL {
        for kind in ["auto", "mcts", "ismcts", "minimax"] {
            for most in [60, 200] {
                let player = format!("{kind}:{most}");
                let found = blind_moves(game, &player, None, most);
                assert!(found.is_empty(), "{game} {player}: {found:?}");
            }
        }
        for player in ["greedy", "random", "first"] {
            let found = blind_moves(game, player, None, 1);
            assert!(found.is_empty(), "{game} {player}: {found:?}");
        }
    }
}

#[test]
fn no_player_is_blind_that_has_time_to_prove_its_move() {
    for game in ["tic_tac_toe", "nim", "hanoi"] {
        for kind in ["auto", "mcts", "minimax"] {
            let found = blind_moves(game, kind, Some(Duration::from_secs(2)), 5);
            assert!(found.is_empty(), "{game} {kind}: {found:?}");
        }
    }
}

#[test]
fn a_note_does_not_speak_of_time_where_iterations_are_counted() {
    // The first iteration looks at the position alone.
    let place = Workplace::new();
    let line = format!("play {} --roles mcts:1,first", bundled("tic_tac_toe"));
    let found = place.run(&line);
    let part = "allow more iterations";
    assert_eq!(found.err.matches(part).count(), 1, "{found:#?}");
    assert!(!found.err.contains("time"), "{found:#?}");
}

#[test]
fn a_blind_move_has_a_note() {
    let place = Workplace::new();
    let file = bundled("chess");
    let line =
        format!("play {file} --roles minimax:eval=playouts,first --play-clock 0.001 --depth 1");
    let found = place.run(&line);
    assert_eq!(found.code, Some(0), "{found:#?}");
    let part = "note: white (minimax:eval=playouts) found no move in its time and makes any legal \
                one; give it more time\n";
    assert!(found.err.contains(part), "{found:#?}");
}
