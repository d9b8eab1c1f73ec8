//! Positions as seats see them where the rules hide something.

use std::sync::Arc;
use std::time::Duration;

use ggp_answers::position::{self, Moves};
use ggp_answers::why::{self, Question};
use ggp_answers::{Allowance, LoadedGame, NoBackground, Refusal, RuleSet, Rules};
use ggp_stop::Stop;
use serde_json::{Value, json};

use crate::common::sized;
use crate::hidden::{alike, hidden_games, random};

/// All that a seat gets after joint moves: its position, and whether it knows `fact`.
fn told(game: &LoadedGame, joints: &[Vec<String>], seat: usize, fact: &str) -> [Value; 2] {
    let asked = Moves::seen(joints.to_vec(), Some(seat), None);
    let known = Question::known(joints.to_vec(), Some(seat), fact.to_owned());
    [
        answer(|allowance| Ok(json!(position::position(game, &asked, allowance)?))),
        answer(|allowance| Ok(json!(why::why(game, &known, allowance)?))),
    ]
}

/// An answer as a client gets it.
fn answer(asked: impl Fn(&Allowance) -> Result<Value, Refusal>) -> Value {
    let stop = Stop::new();
    let allowance = Allowance {
        stop: &stop,
        memory_bytes: 64 << 20,
        time: Duration::from_secs(60),
        tables: &Arc::default(),
        background: &NoBackground,
    };
    asked(&allowance).unwrap_or_else(|refusal| panic!("{}", refusal.message))
}

/// A game as the page has it.
fn loaded(name: &str, text: &str) -> LoadedGame {
    let rules = Rules::uploaded(RuleSet::one(name, text));
    LoadedGame::new(Arc::new(rules), 64 << 20, &Stop::new()).expect("the rules have no errors")
}

#[test]
fn matches_that_look_alike_to_a_seat_are_shown_alike() {
    let mut random = random();
    let mut compared = 0;
    for (name, game) in hidden_games() {
        let text = game.sources().files()[0].text();
        for (seat, [left, right]) in alike(&game, sized(2, 60), &mut random) {
            // Each has a game of its own, so that no belief is left of the other.
            let games = [loaded(&name, text), loaded(&name, text)];
            let whole = Moves::seen(right.clone(), None, None);
            let whole =
                answer(|allowance| Ok(json!(position::position(&games[1], &whole, allowance)?)));
            let facts = whole["facts"].as_array().unwrap();
            let fact = format!("(true {})", facts[0].as_str().unwrap());
            let [a, b] = [(&games[0], &left), (&games[1], &right)]
                .map(|(game, joints)| told(game, joints, seat, &fact));
            assert_eq!(a, b, "{name}, seat {seat}: {left:?} and {right:?}");
            let view = &a[0]["seat"];
            assert_eq!(view["role"], seat, "{name}");
            // Certain and uncertain facts are all facts of a position that fits.
            let unsure = view["unsure"].as_array().unwrap();
            let is_listed = |fact: &Value| {
                let certain = a[0]["facts"].as_array().unwrap();
                certain.contains(fact) || unsure.iter().any(|one| one[0] == *fact)
            };
            if view["exact"] == true && unsure.len() < 1_000 {
                assert!(facts.iter().all(is_listed), "{name}: {facts:?}");
            }
            for one in unsure {
                let share = one[1].as_f64().unwrap();
                assert!(share > 0.0 && share < 1.0, "{name}: {one}");
            }
            compared += 1;
        }
    }
    assert!(compared >= 20, "{compared} pairs");
}
