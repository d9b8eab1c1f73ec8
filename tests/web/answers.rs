//! Explanations and histories of facts.

use serde_json::json;

use super::service::Service;
use super::text;

#[test]
fn questions_are_answered() {
    let service = Service::start(&[]);
    let asked = json!({ "question": "(legal cross (mark 1 1))" });
    let why = service.post("/api/games/tic_tac_toe/why", &asked).ok();
    assert_eq!(why["holds"], true);
    let asked = json!({
        "moves": [["(mark 1 1)", "wait"]],
        "question": "(legal nought (mark 1 1))",
    });
    let why = service.post("/api/games/tic_tac_toe/why", &asked).ok();
    assert_eq!(why["holds"], false);
    assert_eq!(why["has_history"], false);
    assert!(!why["trees"].as_array().expect("a list").is_empty());
}

#[test]
fn a_fact_has_a_history() {
    let service = Service::start(&[]);
    let why = "/api/games/tic_tac_toe/why";
    let asked = |question: &str, history: bool| {
        json!({
            "moves": [["(mark 1 1)"], ["(mark 2 2)"], ["(mark 3 3)"]],
            "question": question, "history": history,
        })
    };
    let now = service.post(why, &asked("(cell 1 1 cross)", false)).ok();
    assert_eq!(
        (&now["holds"], &now["has_history"]),
        (&json!(true), &json!(true))
    );
    let history = service.post(why, &asked("(cell 1 1 cross)", true)).ok();
    assert_eq!(history["holds"], true);
    let told = text(&history["text"]);
    assert!(
        told.contains("(does cross (mark 1 1))") && told.contains("move 1"),
        "{told}"
    );
    // A fact that no longer holds has a history as well.
    let past = service.post(why, &asked("(turn nought)", true)).ok();
    assert_eq!(past["holds"], true);
    let legal = service.post(why, &asked("(legal cross wait)", true));
    assert_eq!(legal.status, 400, "{}", legal.body);
}
