//! Graphs, sent while they grow.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use ggp_engine::machine::{AnyMachine, Limits, Machine};
use ggp_gdl::game::{Game, Score};
use ggp_search::graph::{Explore, Merge, explore};
use ggp_search::{Budget, Stats};
use ggp_solver::solve::{GameProblem, Keys};
use serde_json::{Value, json};

use super::service::{self, Service};
use super::{rules, set, text};

/// A graph assembled from its events, each of which is checked as it arrives.
struct ReceivedGraph {
    nodes: Vec<Value>,
    arcs: Vec<(u64, u64, String)>,
    events: usize,
    last: Value,
}

fn number(value: &Value) -> u64 {
    value
        .as_u64()
        .unwrap_or_else(|| panic!("{value} is not a number"))
}

fn list(value: &Value) -> &[Value] {
    value
        .as_array()
        .unwrap_or_else(|| panic!("{value} is not a list"))
}

fn received(service: &Service, game: &str, asked: &Value) -> ReceivedGraph {
    let path = format!("/api/games/{game}/graph");
    let mut events = service.post(&path, asked).events();
    let (name, last) = events.pop().expect("there is an answer");
    assert_eq!(name, "graph", "{last}");
    let mut received = ReceivedGraph {
        nodes: Vec::new(),
        arcs: Vec::new(),
        events: events.len(),
        last,
    };
    for (name, grown) in &events {
        assert_eq!(name, "grown");
        for node in list(&grown["nodes"]) {
            assert_eq!(number(&node["id"]), received.nodes.len() as u64);
            assert_eq!(node["level"], grown["level"]);
            assert!(number(&node["same"]) <= number(&node["id"]));
            assert_eq!(node["from"].is_null(), received.nodes.is_empty());
            received.nodes.push(node.clone());
        }
        for arc in list(&grown["arcs"]) {
            let (from, to) = (number(&arc["from"]), number(&arc["to"]));
            assert!(
                from.max(to) < received.nodes.len() as u64,
                "{arc} comes too early"
            );
            assert_eq!(
                number(&received.nodes[from as usize]["level"]) + 1,
                number(&grown["level"])
            );
            received.arcs.push((from, to, text(&arc["move"])));
        }
    }
    assert_eq!(received.last["nodes"], received.nodes.len());
    assert_eq!(received.last["arcs"], received.arcs.len());
    let mut levels: BTreeMap<u64, u64> = BTreeMap::new();
    for node in &received.nodes {
        *levels.entry(number(&node["level"])).or_default() += 1;
    }
    assert_eq!(
        received.last["levels"],
        json!(levels.values().collect::<Vec<_>>())
    );
    received
}

#[test]
fn the_events_add_up_to_the_graph() {
    let service = Service::start(&[]);
    for (name, merge) in [
        ("buttons_and_lights", "stripped"),
        ("buttons_and_lights", "state"),
        ("buttons_and_lights", "tree"),
        ("wolf_goat_cabbage", "state"),
        ("hanoi", "stripped"),
    ] {
        let received = received(&service, name, &json!({ "merge": merge }));
        assert!(
            received.events >= list(&received.last["levels"]).len(),
            "{name}"
        );
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
            let action = game.text(terms, arc.action.term());
            (arc.from as u64, arc.to as u64, action)
        });
        assert_eq!(received.arcs, arcs.collect::<Vec<_>>(), "{name} {merge}");
        let levels = graph.nodes().iter().map(|node| u64::from(node.level));
        let known = received.nodes.iter().map(|node| number(&node["level"]));
        assert!(known.eq(levels), "{name} {merge}");
        assert_eq!(received.last["complete"], graph.is_complete());
    }
}

#[test]
fn positions_are_merged_as_requested() {
    let service = Service::start(&[]);
    let size = |merge: &str| {
        let received = received(&service, "buttons_and_lights", &json!({ "merge": merge }));
        let sames = received
            .nodes
            .iter()
            .filter(|node| node["same"] == node["id"]);
        (received.nodes.len(), sames.count())
    };
    // Three lights that are on or off, whatever the step.
    assert_eq!(size("stripped"), (8, 8));
    assert_eq!(size("state"), (32, 8));
    assert_eq!(size("tree"), (1_093, 8));
}

#[test]
fn a_graph_does_not_exceed_the_requested_size() {
    let service = Service::start(&[]);
    for most in [1, 2, 50] {
        let asked = json!({ "merge": "tree", "most": most });
        let received = received(&service, "eight_puzzle", &asked);
        assert_eq!(received.nodes.len(), most);
        assert_eq!(received.last["complete"], false);
        assert!(text(&received.last["said"]).contains(&most.to_string()));
        assert_eq!(received.last["dead"], json!([]));
    }
    let near = received(&service, "eight_puzzle", &json!({ "depth": 3 }));
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
        let received = text(&answer.json()["message"]);
        assert!(received.contains(word), "{asked}: {received}");
    }
    let wrong = service
        .post(path, &json!({ "moves": [["nowhere"]] }))
        .events();
    let (name, received) = wrong.last().expect("an answer");
    assert_eq!(name, "failed");
    assert!(text(&received["message"]).contains("move 1"), "{received}");
}

#[test]
fn a_graph_of_several_roles_has_joint_moves() {
    let service = Service::start(&[]);
    let ttt = received(&service, "tic_tac_toe", &json!({ "depth": 2 }));
    assert_eq!(ttt.last["levels"], json!([1, 9, 72]));
    assert_eq!(ttt.arcs.len(), 81);
    assert_eq!(ttt.arcs[0].2.matches('(').count(), 1, "{:?}", ttt.arcs[0]);
    // The paths lead to the nodes.
    let mut at = 72;
    let mut moves = Vec::new();
    while let Some(from) = ttt.nodes[at]["from"].as_u64() {
        moves.insert(0, ttt.nodes[at]["joint"].clone());
        at = from as usize;
    }
    assert_eq!(moves.len(), 2);
    let asked = json!({ "moves": moves });
    service.post("/api/games/tic_tac_toe/position", &asked).ok();
    let from_there = received(
        &service,
        "tic_tac_toe",
        &json!({ "moves": moves, "depth": 1 }),
    );
    assert_eq!(from_there.last["levels"], json!([1, 7]));

    let at_once = received(&service, "rock_paper_scissors", &json!({ "depth": 1 }));
    assert_eq!(at_once.arcs.len(), 9);
    assert!(
        at_once
            .arcs
            .iter()
            .all(|(.., action)| action.contains(" & "))
    );
    let score = |role: usize| {
        let asked = json!({ "merge": "state", "role": role, "most": 20_000 });
        let received = received(&service, "prisoners_dilemma", &asked);
        let solved = received
            .nodes
            .iter()
            .filter(|node| node["status"] == "solved");
        (received.nodes.len(), solved.count())
    };
    assert_eq!(score(0).0, score(1).0);
}

#[test]
fn positions_without_a_path_to_a_solution_are_dead() {
    let service = Service::start(&[]);
    let received = received(&service, "wolf_goat_cabbage", &json!({ "merge": "state" }));
    assert_eq!(received.last["complete"], true, "{}", received.last);
    let mut hope: Vec<bool> = (received.nodes.iter())
        .map(|node| node["status"] == "solved")
        .collect();
    assert!(hope.contains(&true));
    for _ in 0..received.nodes.len() {
        for (from, to, _) in &received.arcs {
            hope[*from as usize] |= hope[*to as usize];
        }
    }
    let dead: Vec<usize> = (0..hope.len()).filter(|&node| !hope[node]).collect();
    assert!(!dead.is_empty());
    assert_eq!(received.last["dead"], json!(dead));
}

#[test]
fn graphs_do_not_depend_on_names() {
    let service = Service::start(&[]);
    for name in ["buttons_and_lights", "wolf_goat_cabbage", "tic_tac_toe"] {
        let shapes = [rules(name), service::scrambled(name)].map(|kif| {
            let id = text(&service.post("/api/games", &set(&kif)).ok()["id"]);
            let received = received(&service, &id, &json!({ "depth": 4, "most": 20_000 }));
            let last = &received.last;
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
fn exploration_stops_when_the_client_disconnects() {
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

#[test]
fn positions_have_the_values_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("nim.table");
    let file = file.to_str().unwrap();
    let game = format!("{}/games/nim.kif", env!("CARGO_MANIFEST_DIR"));
    let made = crate::common::ggp(&["tabulate", &game, "-o", file]);
    assert!(made.status.success(), "{made:?}");
    let service = Service::start(&["--table", file]);
    for role in [0, 1] {
        // The network may take a moment.
        let patience = Instant::now() + Duration::from_secs(20);
        let asked = json!({ "merge": "state", "role": role });
        let mut found = received(&service, "nim", &asked);
        while found.nodes[0]["value"].is_null() && Instant::now() < patience {
            found = received(&service, "nim", &asked);
        }
        assert_eq!(found.nodes.len(), 232);
        // Who begins wins, after eleven joint moves.
        let score = if role == 0 { 100 } else { 0 };
        let first = json!({ "least": score, "most": score, "distance": 11 });
        assert_eq!(found.nodes[0]["value"], first);
        // A position is worth what the best position after it is, for whoever chooses.
        for (number, node) in found.nodes.iter().enumerate() {
            let after = found.arcs.iter().filter(|arc| arc.0 == number as u64);
            let after = after.map(|arc| found.nodes[arc.1 as usize]["value"]["least"].as_u64());
            let own = node["value"]["least"].as_u64();
            assert!(own.is_some(), "{node}");
            assert!(
                after.clone().count() == 0 || after.into_iter().any(|value| value == own),
                "{node}"
            );
        }
    }
    // Other games have no values.
    let other = received(&service, "wolf_goat_cabbage", &json!({}));
    assert!(other.nodes.iter().all(|node| node["value"].is_null()));
}
