//! The memory of a server that many browsers use, each with rules of its own.

use serde_json::{Value, json};

use super::service::{Service, scrambled_by};
use super::{set, text};

/// Maximum memory of the server, in MB.
const MEMORY: u64 = 300;
/// Games of different kinds and sizes.
const GAMES: [&str; 10] = [
    "tic_tac_toe",
    "connect_four",
    "breakthrough",
    "othello",
    "nim",
    "light_cycles",
    "checkers",
    "hex",
    "chess",
    "amazons",
];

/// The number of browsers, and of the joint moves of each: few, or all with `GGP_THOROUGH=1`.
fn size() -> (u64, usize) {
    match std::env::var_os("GGP_THOROUGH").is_some_and(|value| value == "1") {
        true => (200, 30),
        false => (6, 4),
    }
}

/// Plays at random in a new browser with rules that nobody else has, and lets a player think.
fn play(service: &Service, number: u64, most: usize) {
    let browser = service.anew();
    let rules = scrambled_by(GAMES[number as usize % GAMES.len()], number);
    let id = text(&browser.post("/api/games", &set(&rules)).ok()["id"]);
    let mut moves: Vec<Vec<String>> = Vec::new();
    let mut chance = number;
    let mut position = Value::Null;
    for ply in 0..=most {
        let path = format!("/api/games/{id}/position");
        position = browser.post(&path, &json!({ "moves": moves })).ok();
        if position["over"] == true || ply == most {
            break;
        }
        let joint = position["legal"].as_array().expect("a list").iter();
        let joint = joint.map(|legal| {
            let legal = legal.as_array().expect("a list");
            chance = chance
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695);
            text(&legal[(chance >> 33) as usize % legal.len()]["move"])
        });
        moves.push(joint.collect());
    }
    if position["over"] == true {
        moves.clear();
    }
    let asked = json!({ "moves": moves, "role": 0, "player": "mcts:0.1s" });
    let events = browser
        .post(&format!("/api/games/{id}/think"), &asked)
        .events();
    let (name, last) = events.last().expect("an answer");
    assert_eq!(name, "move", "{last}");
}

#[test]
fn many_rule_sets_stay_within_the_memory() {
    let service = Service::start(&["--memory", &MEMORY.to_string()]);
    let (browsers, most) = size();
    let mut sizes = Vec::new();
    for number in 0..browsers {
        play(&service, number, most);
        sizes.push(service.megabytes("VmRSS"));
    }
    let largest = service.megabytes("VmHWM");
    println!("{sizes:?} MB, at most {largest}");
    assert!(largest < MEMORY, "{largest} MB: {sizes:?}");
    if browsers > 50 {
        let late = |part: &[u64]| part.iter().max().copied().unwrap_or_default();
        let (before, after) = sizes.split_at(sizes.len() - 50);
        assert!(late(after) <= late(before) + MEMORY / 20, "{sizes:?}");
    }
}
