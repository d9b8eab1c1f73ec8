//! Faults in the rules that appear during play mean the same everywhere: the same words, and
//! a match that ends with one is aborted and not counted.

use std::path::Path;

use ggp_engine::machine::{
    AnyMachine, Backend, Limits, Machine, PlayoutEnd, PlayoutOptions, play_to_end, playout,
};
use ggp_engine::propnet::playout::Proceed;
use ggp_engine::propnet::rollouts::{RolloutOptions, Rollouts};
use ggp_gdl::game::Game;
use ggp_play::protocol::player::Event;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::{Value, json};

use crate::cli::workplace::Workplace;
use crate::common::host::{Running, options};
use crate::web::service::Service;

/// One joint move leads to a fault: 1 gives `r` two goals, 2 gives them to `q`, 4 leaves `q`
/// without a move, and 5 leaves `q` without a goal. 3 is right.
const RULES: &str = "
    (role r) (role q) (init (s 0))
    (<= (legal r (go ?x)) (true (s 0)) (n ?x))
    (<= (legal r stay) (true (s 4)))
    (<= (legal q wait) (not (true (s 4))))
    (<= (next (s ?x)) (does r (go ?x)))
    (<= terminal (true (s ?x)) (distinct ?x 0) (distinct ?x 4))
    (<= (goal r 100) (true (s 1))) (<= (goal r 50) (true (s ?x)))
    (<= (goal q 70) (true (s ?x)) (distinct ?x 5)) (<= (goal q 60) (true (s 2)))";

/// The rules with these moves.
fn rules(moves: &[u8]) -> String {
    let moves = moves.iter().map(|number| format!(" (n {number})"));
    RULES.to_owned() + &moves.collect::<String>()
}

/// A move, the text of its fault without places, and whether the game is over.
const FAULTS: [(u8, &str, bool); 4] = [
    (1, "r has several goal values: 100, 50", true),
    (2, "q has several goal values: 60, 70", true),
    (4, "q has no legal move, but the game is not over", false),
    (5, "q has no goal value", true),
];

fn read(file: &Path) -> Value {
    let text = std::fs::read_to_string(file).expect("it was written");
    serde_json::from_str(text.trim()).expect("it is JSON")
}

#[test]
fn commands_that_play_name_a_fault_alike_and_abort_the_match() {
    for (number, words, _) in FAULTS {
        let place = Workplace::new();
        place.write("f.kif", rules(&[number]));
        let found =
            place.run("tournament --games f.kif --player first --player random --results r.jsonl");
        assert_eq!(found.code, Some(1), "{found:#?}");
        let rows = std::fs::read_to_string(place.folder().join("r.jsonl")).expect("it is there");
        let mut rows = rows.lines();
        let row: Value = serde_json::from_str(rows.next().expect("a match")).expect("it is JSON");
        let fault = row["fault"].as_str().expect("there is a fault").to_owned();
        assert_eq!(fault.lines().next(), Some(words));
        let state = format!("\n  in the state: (s {number})\n  rules concerned: f.kif:");
        assert!(fault.contains(&state), "{fault}");
        assert!(found.err.contains(&fault), "{found:#?}");
        // What was played before it is known.
        assert_eq!(row["moves"], json!([[format!("(go {number})"), "wait"]]));
        assert_eq!(row["scores"], Value::Null);

        let clocks = "--start-clock 5 --play-clock 5";
        let host = format!("host f.kif {clocks} --player first --player random --save m.json");
        for line in [
            "play f.kif --player first --save m.json",
            &host,
            "playout f.kif",
        ] {
            let found = place.run(line);
            assert_eq!(found.code, Some(2), "{line}: {found:#?}");
            assert!(found.err.contains(&fault), "{line}: {found:#?}");
            if line.contains("--save") {
                let record = read(&place.folder().join("m.json"));
                let ended = (&record["isCompleted"], &record["isAborted"]);
                assert_eq!(ended, (&json!(false), &json!(true)), "{line}");
                assert_eq!(record.get("goalValues"), None, "{line}");
                let again = place.run("replay m.json");
                assert_eq!(again.code, Some(0), "{again:#?}");
            }
        }
        for backend in ["propnet", "datalog"] {
            let found = place.run(&format!(
                "engine bench f.kif --playouts 8 --backend {backend} --json"
            ));
            let rows: Value = serde_json::from_str(&found.out).expect("it is JSON");
            assert_eq!(
                (&rows[0]["faults"], &rows[0]["fault"]),
                (&json!(8), &json!(fault))
            );
        }
    }
}

#[test]
fn names_in_messages_about_faults_are_cut() {
    let place = Workplace::new();
    let name = "x".repeat(5_000);
    let rules = rules(&[1]).replace("(role r)", &format!("(role {name})"));
    place.write("f.kif", rules.replace("r ", &format!("{name} ")));
    let found = place.run("playout f.kif");
    assert_eq!(found.code, Some(2));
    let expected = format!("{}... has several goal values", &name[..200]);
    assert!(found.err.contains(&expected), "{found:#?}");
    assert!(found.err.len() < 1_000, "{found:#?}");
}

#[test]
fn the_page_shows_the_position_and_names_the_fault() {
    let service = Service::start(&[]);
    for (number, words, is_over) in FAULTS {
        let set = json!({ "files": [{ "name": "f.kif", "text": rules(&[number]) }] });
        let game = service.post("/api/games", &set).ok();
        let id = game["id"].as_str().expect("a text");
        let asked = json!({ "moves": [[format!("(go {number})"), "wait"]] });
        let path = format!("/api/games/{id}/position");
        let position = service.post(&path, &asked).ok();
        assert_eq!(position["over"], is_over);
        assert_eq!(position["facts"], json!([format!("(s {number})")]));
        let [fault] = &position["faults"].as_array().expect("a list")[..] else {
            panic!("one fault: {position}");
        };
        assert_eq!(fault["message"], words);
        let rule = fault["rules"][0].as_str().expect("there is a rule");
        assert!(rule.starts_with("f.kif:"), "{rule}");
        let start = service.post(&path, &json!({ "moves": [] })).ok();
        assert_eq!(start["faults"], json!([]));
        // At a table, all forced moves are made at once.
        let seats = json!({ "game": id, "seats": ["person", "person"] });
        let table = service.post("/api/tables", &seats).ok();
        let path = format!("/api/tables/{}", table["table"].as_str().expect("a text"));
        let (_, seen) = service.stream(&path).next_event();
        assert_eq!(seen["moves"].as_array().map(Vec::len), Some(1), "{seen}");
        let failed = (!is_over).then_some(words);
        assert_eq!(seen["failed"].as_str(), failed);
    }
}

#[test]
fn a_network_player_names_the_fault() {
    for (number, words, is_over) in FAULTS {
        let player = Running::new(options("first"));
        let ready = player.start("m", "r", &rules(&[number]), (5, 5));
        assert_eq!(ready, "ready");
        let go = format!("(go {number})");
        assert_eq!(
            player
                .say("(PLAY m NIL)")
                .replace("( ", "(")
                .replace(" )", ")"),
            go
        );
        player.say(&format!("(STOP m ({go} wait))"));
        let (scores, fault) = player.wait_for(|event| match event {
            Event::Ended { scores, fault, .. } => Some((scores.clone(), fault.clone())),
            _ => None,
        });
        assert_eq!(scores, []);
        let first = fault.as_ref().and_then(|fault| fault.lines().next());
        assert_eq!(first, is_over.then_some(words));
    }
    // Asked for a move where its role has none.
    let player = Running::new(options("first"));
    player.start("m", "q", &rules(&[4]), (5, 5));
    assert_eq!(player.say("(PLAY m NIL)"), "wait");
    player.say("(PLAY m ((go 4) wait))");
    let reason = player.wait_for(|event| match event {
        Event::Failed { reason, .. } => Some(reason.clone()),
        _ => None,
    });
    assert!(reason.starts_with(FAULTS[2].1), "{reason}");
}

/// In lanes and one by one: a role without one valid score counts as 0, whatever the others
/// have, and a position without legal moves is not an end.
#[test]
fn playouts_of_players_count_faults_alike() {
    const PLAYOUTS: u32 = 8_000;
    let game = Game::from_text("f.kif", &rules(&[1, 2, 3, 4, 5])).expect("the rules are read");
    let expected = [(0.0 + 3.0 * 50.0) / 4.0, (70.0 + 0.0 + 70.0 + 0.0) / 4.0];

    let machine = AnyMachine::new(&game, Backend::Propnet, Limits::default()).expect("it is small");
    let start = machine.clone().initial().expect("it has one");
    let (net, packed) = machine.network(&start).expect("it has one");
    let mut rollouts = Rollouts::new(net, &RolloutOptions::default(), 5);
    let outcome = rollouts.run(&[packed], PLAYOUTS, &mut || Proceed::On)[0].clone();
    let (ended, few) = (outcome.playouts + outcome.faulty, f64::from(PLAYOUTS) / 5.0);
    assert!((outcome.stuck as f64 - few).abs() < 200.0, "{outcome:?}");
    assert!((outcome.playouts as f64 - few).abs() < 200.0, "{outcome:?}");
    assert_eq!(ended + outcome.stuck, u64::from(PLAYOUTS));
    for (role, expected) in expected.into_iter().enumerate() {
        let mean = outcome.mean(role).expect("playouts ended");
        assert!(
            (mean - expected).abs() < 2.0,
            "{role}: {mean}, not {expected}"
        );
    }

    let backends = [
        Backend::Propnet,
        Backend::Mixed,
        Backend::Datalog,
        Backend::Naive,
    ];
    for backend in backends {
        let mut machine = AnyMachine::new(&game, backend, Limits::default()).expect("it is small");
        let start = machine.initial().expect("it has one");
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let (mut sums, mut ended) = ([0.0; 2], 0.0);
        for _ in 0..2_000 {
            let end = play_to_end(&mut machine, &start, 9, &mut random, &mut || true, &mut 0);
            let Ok(PlayoutEnd::Terminal(scores)) = end else {
                continue;
            };
            ended += 1.0;
            for (sum, score) in sums.iter_mut().zip(scores) {
                *sum += score.map_or(0.0, |score| f64::from(score.get()));
            }
        }
        for (sum, expected) in sums.into_iter().zip(expected) {
            assert!(
                (sum / ended - expected).abs() < 4.0,
                "{backend:?}: {sums:?}"
            );
        }
        let fault = loop {
            let options = PlayoutOptions::default();
            if let Err(fault) = playout(&mut machine, &start, options, &mut random) {
                break fault;
            }
        };
        assert!(
            FAULTS.iter().any(|(_, words, _)| fault.summary() == *words),
            "{fault}"
        );
    }
}

/// A coin that chance tosses; the rules give chance no goal.
const COIN: &str = "
    (role p) (role random) (init start) (legal p noop) (side 0) (side 100)
    (<= (legal random (toss ?x)) (side ?x) (true start))
    (<= (next (got ?x)) (does random (toss ?x)))
    (<= terminal (true (got ?x)))
    (<= (goal p ?x) (true (got ?x)))";

#[test]
fn chance_needs_no_goal() {
    let place = Workplace::new();
    place.write("coin.kif", COIN);
    place.write(
        "seen.kif",
        format!("{COIN} (<= (sees p (got ?x)) (does random (toss ?x)))"),
    );
    let some = "(<= (goal random 7) (true (got 100)))";
    place.write("some.kif", format!("{COIN} {some}"));
    let two = "(goal random 7) (<= (goal random 8) (true (got 100)))";
    place.write("two.kif", format!("{COIN} {two}"));
    for game in ["coin", "seen", "some", "two"] {
        for line in [
            "check GAME.kif --play",
            "playout GAME.kif --seed 1",
            "playout GAME.kif --count 50",
            "play GAME.kif --roles auto,random --save GAME.json",
            "replay GAME.json",
            "play GAME.kif --roles mcts:50,random",
            "play GAME.kif --roles minimax:50,random",
            "engine perft GAME.kif 1",
            "tabulate GAME.kif --output GAME.table",
            "export GAME.kif --efg",
            "engine bench GAME.kif --playouts 200",
            "host GAME.kif --player first --save GAME.host.json",
            "replay GAME.host.json",
        ] {
            let line = line.replace("GAME", game);
            let found = place.run(&line);
            assert_eq!(found.code, Some(0), "{line}: {found:#?}");
            let both = found.out + &found.err;
            for wrong in [
                "ERROR",
                "error",
                "fault",
                "has no goal value",
                "can never get",
            ] {
                assert!(!both.contains(wrong), "{line}: {both}");
            }
        }
    }
}

#[test]
fn nothing_is_concluded_from_matches_that_end_by_a_fault() {
    let place = Workplace::new();
    // The other player has no goal where p has 100.
    let rules = COIN.replace("random", "q") + "(<= (goal q 0) (true (got 0)))";
    place.write("wrong.kif", rules);
    let found = place.run("check wrong.kif --play");
    assert!(
        found
            .out
            .contains("q has no goal value in a terminal position"),
        "{found:#?}"
    );
    assert!(!found.out.contains("can never"), "{found:#?}");
}
