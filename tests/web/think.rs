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
