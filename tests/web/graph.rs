//! Graphs, told while they grow.

use std::collections::BTreeMap;

use ggp_engine::machine::{AnyMachine, Limits, Machine};
use ggp_gdl::game::{Game, Score};
use ggp_search::graph::{Explore, Merge, explore};
use ggp_search::{Budget, Stats};
use ggp_solver::solve::{GameProblem, Keys};
use serde_json::{Value, json};

use super::service::{self, Service};
use super::{rules, set, text};

/// A graph put together from its events, each looked at as it comes.
struct Told {
    nodes: Vec<Value>,
    arcs: Vec<(u64, u64, String)>,
    events: usize,
    last: Value,
}

fn number(value: &Value) -> u64 {
    value
        .as_u64()
        .unwrap_or_else(|| panic!("{value} is no number"))
}

fn list(value: &Value) -> &[Value] {
    value
        .as_array()
        .unwrap_or_else(|| panic!("{value} is no list"))
}

fn told(service: &Service, game: &str, asked: &Value) -> Told {
    let path = format!("/api/games/{game}/graph");
    let mut events = service.post(&path, asked).events();
    let (name, last) = events.pop().expect("there is an answer");
    assert_eq!(name, "graph", "{last}");
    let mut told = Told {
        nodes: Vec::new(),
        arcs: Vec::new(),
        events: events.len(),
        last,
    };
    for (name, grown) in &events {
        assert_eq!(name, "grown");
        for node in list(&grown["nodes"]) {
            assert_eq!(number(&node["id"]), told.nodes.len() as u64);
            assert_eq!(node["level"], grown["level"]);
            assert!(number(&node["same"]) <= number(&node["id"]));
            assert_eq!(node["from"].is_null(), told.nodes.is_empty());
            told.nodes.push(node.clone());
        }
        for arc in list(&grown["arcs"]) {
            let (from, to) = (number(&arc["from"]), number(&arc["to"]));
            assert!(
                from.max(to) < told.nodes.len() as u64,
                "{arc} comes too early"
            );
            assert_eq!(
                number(&told.nodes[from as usize]["level"]) + 1,
                number(&grown["level"])
            );
            told.arcs.push((from, to, text(&arc["move"])));
        }
    }
    assert_eq!(told.last["nodes"], told.nodes.len());
    assert_eq!(told.last["arcs"], told.arcs.len());
    let mut levels: BTreeMap<u64, u64> = BTreeMap::new();
    for node in &told.nodes {
        *levels.entry(number(&node["level"])).or_default() += 1;
    }
    assert_eq!(
        told.last["levels"],
        json!(levels.values().collect::<Vec<_>>())
    );
    told
}

#[test]
fn what_is_told_of_a_graph_as_it_grows_is_the_graph() {
    let service = Service::start(&[]);
    for (name, merge) in [
        ("buttons_and_lights", "stripped"),
        ("buttons_and_lights", "state"),
        ("buttons_and_lights", "tree"),
        ("wolf_goat_cabbage", "state"),
        ("hanoi", "stripped"),
    ] {
        let told = told(&service, name, &json!({ "merge": merge }));
        assert!(told.events >= list(&told.last["levels"]).len(), "{name}");
        let game = Game::from_text(name, &rules(name)).unwrap();
        let (mut machine, _) = AnyMachine::auto(&game, Limits::default()).unwrap();
        let start = machine.initial().unwrap();
        let keys = Keys::Stripped;
        let mut problem = GameProblem::new(&machine, &start, Score::MAX, keys).unwrap();
        let how = Explore {
            merge: match merge {
                "stripped" => Merge::Key,
                "state" => Merge::State,
                _ => Merge::Nothing,
            },
            ..Explore::default()
        };
        let (budget, stats) = (Budget::default(), &mut Stats::default());
        let graph = explore(&mut problem, &how, &budget, stats, &mut ()).unwrap();
        let terms = problem.machine().terms();
        let arcs = graph.arcs().iter().map(|arc| {
            let action = game.canonical(terms, arc.action.term());
            (arc.from as u64, arc.to as u64, action)
        });
        assert_eq!(told.arcs, arcs.collect::<Vec<_>>(), "{name} {merge}");
        let levels = graph.nodes().iter().map(|node| u64::from(node.level));
        let known = told.nodes.iter().map(|node| number(&node["level"]));
        assert!(known.eq(levels), "{name} {merge}");
        assert_eq!(told.last["complete"], graph.is_complete());
    }
}

#[test]
fn what_is_merged_is_as_asked() {
    let service = Service::start(&[]);
    let size = |merge: &str| {
        let told = told(&service, "buttons_and_lights", &json!({ "merge": merge }));
        let sames = told.nodes.iter().filter(|node| node["same"] == node["id"]);
        (told.nodes.len(), sames.count())
    };
    // Three lights that are on or off, whatever the step.
    assert_eq!(size("stripped"), (8, 8));
    assert_eq!(size("state"), (32, 8));
    assert_eq!(size("tree"), (1_093, 8));
}

#[test]
fn a_graph_is_as_large_as_asked_at_most() {
    let service = Service::start(&[]);
    for most in [1, 2, 50] {
        let asked = json!({ "merge": "tree", "most": most });
        let told = told(&service, "eight_puzzle", &asked);
        assert_eq!(told.nodes.len(), most);
        assert_eq!(told.last["complete"], false);
        assert!(text(&told.last["said"]).contains(&most.to_string()));
        assert_eq!(told.last["dead"], json!([]));
    }
    let near = told(&service, "eight_puzzle", &json!({ "depth": 3 }));
    assert_eq!(list(&near.last["levels"]).len(), 4);
    assert!(text(&near.last["said"]).contains('3'), "{}", near.last);
    let path = "/api/games/eight_puzzle/graph";
    for (asked, word) in [
        (json!({ "most": 0 }), "20000"),
        (json!({ "most": 20_001 }), "20000"),
        (json!({ "most": -1 }), "most"),
        (json!({ "depth": 1_u64 << 32 }), "4294967296"),
        (json!({ "merge": "luck" }), "stripped"),
        (json!({ "role": 1 }), "1 role"),
    ] {
        let answer = service.post(path, &asked);
        assert_eq!(answer.status, 400, "{asked}");
        let told = text(&answer.json()["message"]);
        assert!(told.contains(word), "{asked}: {told}");
    }
    let wrong = service
        .post(path, &json!({ "moves": [["nowhere"]] }))
        .events();
    let (name, told) = wrong.last().expect("an answer");
    assert_eq!(name, "failed");
    assert!(text(&told["message"]).contains("move 1"), "{told}");
}

#[test]
fn a_graph_of_several_roles_has_joint_moves() {
    let service = Service::start(&[]);
    let ttt = told(&service, "tic_tac_toe", &json!({ "depth": 2 }));
    assert_eq!(ttt.last["levels"], json!([1, 9, 72]));
    assert_eq!(ttt.arcs.len(), 81);
    assert_eq!(ttt.arcs[0].2.matches('(').count(), 1, "{:?}", ttt.arcs[0]);
    // The ways lead to the nodes.
    let mut at = 72;
    let mut moves = Vec::new();
    while let Some(from) = ttt.nodes[at]["from"].as_u64() {
        moves.insert(0, ttt.nodes[at]["way"].clone());
        at = from as usize;
    }
    assert_eq!(moves.len(), 2);
    let asked = json!({ "moves": moves });
    service.post("/api/games/tic_tac_toe/position", &asked).ok();
    let from_there = told(
        &service,
        "tic_tac_toe",
        &json!({ "moves": moves, "depth": 1 }),
    );
    assert_eq!(from_there.last["levels"], json!([1, 7]));

    let at_once = told(&service, "rock_paper_scissors", &json!({ "depth": 1 }));
    assert_eq!(at_once.arcs.len(), 9);
    assert!(
        at_once
            .arcs
            .iter()
            .all(|(.., action)| action.contains(" & "))
    );
    let score = |role: usize| {
        let asked = json!({ "merge": "state", "role": role, "most": 20_000 });
        let told = told(&service, "prisoners_dilemma", &asked);
        let solved = told.nodes.iter().filter(|node| node["status"] == "solved");
        (told.nodes.len(), solved.count())
    };
    assert_eq!(score(0).0, score(1).0);
}

#[test]
fn dead_are_the_positions_from_which_nothing_is_solved() {
    let service = Service::start(&[]);
    let told = told(&service, "wolf_goat_cabbage", &json!({ "merge": "state" }));
    assert_eq!(told.last["complete"], true, "{}", told.last);
    let mut hope: Vec<bool> = (told.nodes.iter())
        .map(|node| node["status"] == "solved")
        .collect();
    assert!(hope.contains(&true));
    for _ in 0..told.nodes.len() {
        for (from, to, _) in &told.arcs {
            hope[*from as usize] |= hope[*to as usize];
        }
    }
    let dead: Vec<usize> = (0..hope.len()).filter(|&node| !hope[node]).collect();
    assert!(!dead.is_empty());
    assert_eq!(told.last["dead"], json!(dead));
}

#[test]
fn other_names_have_the_same_graph() {
    let service = Service::start(&[]);
    for name in ["buttons_and_lights", "wolf_goat_cabbage", "tic_tac_toe"] {
        let shapes = [rules(name), service::scrambled(name)].map(|kif| {
            let id = text(&service.post("/api/games", &set(&kif)).ok()["id"]);
            let told = told(&service, &id, &json!({ "depth": 4, "most": 20_000 }));
            let last = &told.last;
            let of = |key: &str| last[key].clone();
            (
                of("nodes"),
                of("arcs"),
                of("levels"),
                of("complete"),
                list(&last["dead"]).len(),
            )
        });
        assert_eq!(shapes[0], shapes[1], "{name}");
    }
}

#[test]
fn a_graph_ends_when_nobody_listens() {
    let service = Service::start(&["--max-jobs-each", "1"]);
    let path = "/api/games/amazons/graph";
    let mut stream = service.stream_of(path, &json!({ "merge": "tree", "most": 20_000 }));
    assert_eq!(stream.next_event().0, "grown");
    let small = json!({ "most": 1 });
    assert_eq!(service.post(path, &small).status, 429);
    drop(stream);
    while service.post(path, &small).status == 429 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}
