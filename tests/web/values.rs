//! Learned values: on request, along a match, and in the reasons for a move.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::service::Service;
use super::{WALK, set, text};

/// The result of learning for a time, and the number of reports before it.
fn learn(service: &Service, game: &str, seconds: f64) -> (Value, usize) {
    let path = format!("/api/games/{game}/learn");
    let events = service.post(&path, &json!({ "seconds": seconds })).events();
    let (name, last) = events.last().expect("an answer");
    assert_eq!(name, "learned", "{last}");
    (last.clone(), events.len() - 1)
}

fn numbers(list: &Value) -> Vec<f64> {
    let list = list.as_array().expect("a list").iter();
    list.map(|number| number.as_f64().expect("a number"))
        .collect()
}

#[test]
fn values_are_learned_on_request() {
    let service = Service::start(&[]);
    let path = "/api/games/tic_tac_toe/values";
    let moves = json!([["(mark 1 1)"], ["(mark 2 2)"], ["(mark 1 2)"]]);
    let asked = json!({ "moves": moves, "at": 2 });
    let found = service.post(path, &asked).ok();
    assert_eq!(
        (&found["learned"], &found["values"]),
        (&json!(null), &json!([]))
    );

    let (first, reports) = learn(&service, "tic_tac_toe", 4.0);
    assert!(first["games"].as_u64() > Some(100), "{first}");
    assert!(reports > 0);
    // Values of fewer games do not take their place.
    let (learned, _) = learn(&service, "tic_tac_toe", 1.0);
    assert!(
        learned["games"].as_u64() >= first["games"].as_u64(),
        "{learned} after {first}"
    );
    let found = service.post(path, &asked).ok();
    assert_eq!(found["learned"], learned);
    assert_eq!(found["values"].as_array().map(Vec::len), Some(4));
    assert!(!found["facts"].as_array().expect("a list").is_empty());
    let wanted = numbers(&found["values"][2]);
    assert_eq!(wanted.len(), 2);
    for (role, value) in wanted.into_iter().enumerate() {
        let facts = found["facts"].as_array().expect("a list").iter();
        let sum = facts
            .map(|fact| numbers(&fact["weights"])[role])
            .sum::<f64>()
            + numbers(&found["others"])[role]
            + numbers(&found["base"])[role];
        let expected = 100.0 / (1.0 + (-sum).exp());
        assert!((value - expected).abs() < 0.01, "{found}");
    }
    let think = json!({ "moves": moves, "role": 1, "player": "mcts:300" });
    let events = service
        .post("/api/games/tic_tac_toe/think", &think)
        .events();
    let why = &events.last().expect("an answer").1["why"];
    let why: Vec<String> = why.as_array().expect("a list").iter().map(text).collect();
    assert!(
        why.iter()
            .any(|reason| reason.starts_with("learned values: ")),
        "{why:?}"
    );
    assert!(
        why.iter().any(|reason| reason.contains("(cell ")),
        "{why:?}"
    );

    let error = service.post(path, &json!({ "moves": moves, "at": 4 }));
    assert_eq!(error.status, 400, "{}", error.body);
    assert!(error.body.contains("from 0 to 3"), "{}", error.body);
}

#[test]
fn ends_of_own_games_have_no_learned_value() {
    let service = Service::start(&[]);
    let id = text(&service.post("/api/games", &set(WALK)).ok()["id"]);
    learn(&service, &id, 2.0);
    let path = format!("/api/games/{id}/values");
    let found = service
        .post(&path, &json!({ "moves": [["go"], ["go"]] }))
        .ok();
    let is_null: Vec<bool> = found["values"]
        .as_array()
        .expect("a list")
        .iter()
        .map(Value::is_null)
        .collect();
    assert_eq!(
        (is_null, &found["facts"]),
        (vec![false, false, true], &json!([]))
    );
}

#[test]
fn learning_is_kept_within_the_limits() {
    let service = Service::start(&["--max-thought", "2", "--max-jobs-each", "1"]);
    let path = "/api/games/tic_tac_toe/learn";
    let began = Instant::now();
    learn(&service, "tic_tac_toe", 1_000.0);
    assert!(
        began.elapsed() < Duration::from_secs(100),
        "{:?}",
        began.elapsed()
    );
    for seconds in [0.0, -1.0, 1e7] {
        let error = service.post(path, &json!({ "seconds": seconds }));
        assert_eq!(error.status, 400, "{}", error.body);
    }
    let service = Service::start(&["--max-jobs-each", "1"]);
    let mut running = service.stream_of(path, &json!({ "seconds": 100 }));
    // Something is learned once a game has ended.
    loop {
        let (name, progress) = running.next_event();
        assert_eq!(name, "learning", "{progress}");
        if progress["games"].as_u64() > Some(0) {
            break;
        }
    }
    let busy = service.post(path, &json!({ "seconds": 1 }));
    assert_eq!(busy.status, 429, "{}", busy.body);
    drop(running);
    // Values are kept after a stop.
    let learned = |_| {
        std::thread::sleep(Duration::from_millis(100));
        let found = service.post("/api/games/tic_tac_toe/values", &json!({}));
        !found.ok()["learned"].is_null()
    };
    assert!((0..300).any(learned));
}
