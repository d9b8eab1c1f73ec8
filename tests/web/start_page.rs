//! The requests of the start page.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::service::Service;

#[test]
fn games_are_sorted_by_traits_of_their_rules() {
    let service = Service::start(&["--max-question", "60"]);
    let all = service.get("/api/traits").ok();
    let of = |id: &str| -> Value {
        let mut all = all.as_array().expect("a list").iter();
        all.find(|one| one["id"] == id).expect(id).clone()
    };
    assert_eq!(
        of("rock_paper_scissors"),
        json!({
            "id": "rock_paper_scissors", "simultaneous": true, "positions": 56, "board": null,
            "moves": ["rock", "scissors", "paper"],
        })
    );
    let turns = of("connect_four");
    assert_eq!(
        (&turns["simultaneous"], &turns["board"], &turns["positions"]),
        (&json!(false), &json!([6, 7]), &Value::Null)
    );
    // All boards of three by three can be reached.
    assert_eq!(of("lights_out_3x3")["positions"], 512);
    let families = service.get("/api/games").ok();
    let family = |id: &str| {
        let mut cards = families.as_array().expect("a list").iter();
        cards.find(|card| card["id"] == id).expect(id)["family"].clone()
    };
    assert_eq!(family("lights_out_all_on_5x5"), "lights_out");
    assert_eq!(family("tic_tac_toe"), "tic_tac_toe");
}

#[test]
fn a_film_shows_a_match_to_its_end() {
    let service = Service::start(&[]);
    let film = service.get("/api/games/tic_tac_toe/film.svg");
    assert_eq!(film.status, 200);
    // Five to nine marks, each visible from its move until the end.
    let first = |part: &str| -> usize {
        let number = part.split('-').next().expect("a part");
        number.parse().expect("a number")
    };
    let marks: BTreeSet<usize> = film.body.split("class=\"f f").skip(1).map(first).collect();
    let last = *marks.last().expect("it moves");
    assert!((5..=9).contains(&last) && marks.len() >= last, "{marks:?}");
    assert_eq!(
        service.get("/api/games/tic_tac_toe/film.svg").body,
        film.body
    );
    // Its picture is from the middle of a match, and has no labels.
    let picture = service.get("/api/games/tic_tac_toe/picture.svg").body;
    assert!(picture.contains("data-cell=\"0 2 2\"") && !picture.contains("class=\"quiet\""));
    let title = |words: &str| picture.matches(words).count();
    assert!(
        title(": cross</title>") > 0 && title("</title>") > 9,
        "{picture}"
    );
}
