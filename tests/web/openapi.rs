//! The answers, compared with their description in OpenAPI format.

use serde_json::{Value, json};

use super::service::Service;
use super::{WALK, set, text};

#[test]
fn answers_match_the_openapi_file() {
    let service = Service::start(&[]);
    let file = service.get("/api/openapi.json").ok();
    let check = |schema: &str, answer: &Value| {
        let mut whole = file["components"].clone();
        whole = json!({
            "$ref": format!("#/components/schemas/{schema}"),
            "components": whole,
        });
        let validator = jsonschema::validator_for(&whole).expect("it is a schema");
        let errors: Vec<String> = (validator.iter_errors(answer))
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{schema}: {errors:#?}\n{answer}");
    };
    for card in service.get("/api/games").ok().as_array().expect("a list") {
        check("Card", card);
        let id = text(&card["id"]);
        check("Game", &service.get(&format!("/api/games/{id}")).ok());
        let picture = service.get(&format!("/api/games/{id}/picture.svg"));
        assert!(picture.body.starts_with("<svg"), "{id}: {}", picture.body);
        let path = format!("/api/games/{id}/position");
        check("Position", &service.post(&path, &json!({})).ok());
    }
    for kind in service.get("/api/players").ok().as_array().expect("a list") {
        check("Kind", kind);
    }
    for method in service.get("/api/methods").ok().as_array().expect("a list") {
        check("Method", method);
    }
    check("Game", &service.post("/api/games", &set(WALK)).ok());
    check("Check", &service.post("/api/check", &set("(role")).ok());
    let short = json!({ "moves": [["(mark 1 1)"]] });
    let filled = service.post("/api/games/tic_tac_toe/position", &short).ok();
    assert!(filled["moves"].is_array());
    check("Position", &filled);
    let asked = json!({ "question": "(legal cross ?m)" });
    check(
        "Explanation",
        &service.post("/api/games/tic_tac_toe/why", &asked).ok(),
    );
    let asked = json!({ "role": 0, "player": "mcts:0.5s", "tree": 100 });
    let events = service
        .post("/api/games/connect_four/think", &asked)
        .events();
    assert!(events.len() > 1);
    for (name, event) in &events {
        check(if name == "tree" { "Tree" } else { "Thought" }, event);
    }
    // A search that ends, and one that exceeds its time limit of a second and reports progress.
    let quick = json!({ "seconds": 30, "method": "breadth-first-packed" });
    let long = json!({ "seconds": 1, "method": "iterative-deepening" });
    for (game, asked) in [("eight_puzzle", &quick), ("senku", &long)] {
        let path = format!("/api/games/{game}/solve");
        let events = service.post(&path, asked).events();
        for (name, event) in &events {
            let schema = if name == "answer" {
                "Answer"
            } else {
                "Progress"
            };
            check(schema, event);
        }
        let is_by_level = |(name, event): &(String, Value)| {
            let levels = event["levels"].as_array().expect("a list");
            name == "progress" && event["method"] == asked["method"] && levels.len() > 2
        };
        let has_reports = events.iter().any(is_by_level);
        assert!(has_reports || game != "senku", "{events:#?}");
    }
    let asked = json!({ "most": 300 });
    let events = service
        .post("/api/games/eight_puzzle/graph", &asked)
        .events();
    for (name, event) in &events {
        let schema = if name == "graph" {
            "Graph"
        } else {
            "GraphPart"
        };
        check(schema, event);
    }
    let seats = json!({ "game": "nim", "seats": ["person", "random"] });
    let created = service.post("/api/tables", &seats).ok();
    check("CreatedTable", &created);
    let mut watch = service.stream(&format!("/api/tables/{}", text(&created["table"])));
    check("Table", &watch.next_event().1);
    check("ApiError", &service.get("/api/tables/none").json());
    // Every path of the file exists, with its method.
    for (path, operations) in file["paths"].as_object().expect("paths") {
        let path = path.replace("{game}", "nim").replace("{table}", "none");
        for method in operations.as_object().expect("methods").keys() {
            let status = match &method[..] {
                "get" => service.get(&path).status,
                "post" => service.post(&path, &json!({ "no such field": 1 })).status,
                _ => continue,
            };
            assert_ne!(status, 405, "{method} {path}");
        }
    }
}
