//! Reports of players while they think.

use serde_json::{Value, json};

use super::service::Service;
use super::text;

type Events = Vec<(String, Value)>;

fn thought(service: &Service, game: &str, asked: &Value) -> Events {
    let path = format!("/api/games/{game}/think");
    let events = service.post(&path, asked).events();
    let (name, last) = events.last().expect("an answer");
    assert_eq!(name, "move", "{asked}: {last}");
    events
}

fn trees(events: &Events) -> Vec<&Value> {
    let trees = events.iter().filter(|(name, _)| name == "tree");
    trees.map(|(_, tree)| tree).collect()
}

/// Checks a tree, and goes to its last node.
fn check(service: &Service, game: &str, tree: &Value, most: usize) {
    let nodes = tree["nodes"].as_array().expect("a list");
    assert!(nodes.len() > 1 && nodes.len() <= most);
    assert!(tree["all"].as_u64() >= Some(nodes.len() as u64));
    let visits = |place: usize| nodes[place]["visits"].as_u64().expect("a number");
    assert_eq!(
        (&nodes[0]["from"], &nodes[0]["joint"]),
        (&Value::Null, &json!([]))
    );
    for (place, node) in nodes.iter().enumerate().skip(1) {
        let from = node["from"].as_u64().expect("a place") as usize;
        assert!(from < place && visits(place) <= visits(place - 1), "{node}");
    }
    let (mut at, mut moves) = (nodes.len() - 1, Vec::new());
    while let Some(from) = nodes[at]["from"].as_u64() {
        moves.insert(0, nodes[at]["joint"].clone());
        at = from as usize;
    }
    let path = format!("/api/games/{game}/position");
    service.post(&path, &json!({ "moves": moves })).ok();
}

#[test]
fn a_tree_is_sent_on_request() {
    let service = Service::start(&[]);
    let asked = json!({ "role": 0, "player": "mcts:3000", "tree": 300 });
    let events = thought(&service, "connect_four", &asked);
    let (name, last) = &events[events.len() - 2];
    assert_eq!(name, "tree");
    check(&service, "connect_four", last, 300);
    assert_eq!(last["nodes"].as_array().expect("a list").len(), 300);
    let at_once = json!({ "role": 0, "player": "mcts:300", "tree": 50 });
    let events = thought(&service, "rock_paper_scissors", &at_once);
    check(
        &service,
        "rock_paper_scissors",
        trees(&events).last().expect("one"),
        50,
    );

    for asked in [
        json!({ "role": 0, "player": "mcts:100" }),
        json!({ "role": 0, "player": "random", "tree": 50 }),
    ] {
        let events = thought(&service, "connect_four", &asked);
        assert_eq!(trees(&events).len(), 0, "{asked}");
    }
    let much = json!({ "role": 0, "player": "mcts", "tree": 5_001 });
    let answer = service.post("/api/games/connect_four/think", &much);
    assert_eq!(answer.status, 400);
    assert!(text(&answer.json()["message"]).contains("5000"));
}

#[test]
fn the_principal_variation_begins_with_the_move() {
    let service = Service::start(&[]);
    for player in ["mcts:2000", "minimax:100"] {
        for game in ["tic_tac_toe", "connect_four", "chomp"] {
            let events = thought(&service, game, &json!({ "role": 0, "player": player }));
            let (_, chosen) = events.last().expect("an answer");
            let line = chosen["line"].as_array().expect("a list");
            assert_eq!(
                line.first(),
                Some(&chosen["move"]),
                "{player} {game}: {chosen}"
            );
            assert!(line.len() > 1, "{player} {game}: {chosen}");
        }
    }
    let asked = json!({ "role": 1, "player": "mcts:500" });
    let events = thought(&service, "rock_paper_scissors", &asked);
    let (_, chosen) = events.last().expect("an answer");
    let first = text(&chosen["line"][0]);
    let own = format!(" & {}", text(&chosen["move"]));
    assert!(first.ends_with(&own), "{chosen}");
    let asked = json!({ "role": 0, "player": "first" });
    let events = thought(&service, "tic_tac_toe", &asked);
    assert_eq!(events.last().expect("an answer").1["line"], json!([]));
}

/// Rules whose network takes long to build: every pair of facts can hold together.
fn slow_rules(count: usize) -> String {
    let numbers: String = (0..count).map(|k| format!("(number {k}) ")).collect();
    let tuple = "(number ?a) (number ?b) (number ?c)";
    format!(
        "(role left) (role right) {numbers}
         (init (at 0 0 0))
         (<= (legal ?role (go ?a ?b ?c)) (role ?role) {tuple})
         (<= (next (at ?a ?b ?c)) (does left (go ?a ?b ?d)) (does right (go ?e ?b ?c)) (number ?d))
         (<= (near ?a ?b) (true (at ?a ?b ?c)) (true (at ?b ?c ?d)))
         (<= terminal (near ?a ?b) (distinct ?a 0))
         (<= (goal left 100) (near ?a ?a)) (<= (goal left 0) (not (near 1 1)))
         (goal right 50)"
    )
}

#[test]
fn preparing_the_rules_does_not_count_as_thinking() {
    let service = Service::start(&[]);
    let rules = json!({ "files": [{ "name": "slow.kif", "text": slow_rules(24) }] });
    let game = service.post("/api/games", &rules).ok();
    let game = text(&game["id"]);
    let asked = json!({ "role": 0, "player": "mcts:20" });
    let events = thought(&service, &game, &asked);
    assert_eq!(events[0].0, "preparing", "{}", events[0].1);
    assert!(events[0].1["seconds"].as_f64() >= Some(0.1));
    let (_, chosen) = events.last().expect("an answer");
    assert_eq!(chosen["by_chance"], false);
    assert!(chosen["nodes"].as_u64() > Some(0));
    // The game is prepared once.
    let events = thought(&service, &game, &asked);
    assert!(events.iter().all(|(name, _)| name != "preparing"));
}
