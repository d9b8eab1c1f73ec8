//! Hosted matches of games with `sees`: what a player is sent, and what it is not.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::sync::{Arc, Mutex};

use super::*;
use crate::common::host::{Running, options as player_options};
use ggp_play::protocol::message::{Message, MessageLimits};
use ggp_play::protocol::player::Event;

const SIDES: &str = include_str!("../../crates/play/src/tests/sides.kif");

/// A player that answers by a list, one answer for each `PLAY`, and notes every byte.
struct Listener {
    address: String,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Listener {
    fn new(answers: &'static [&'static str]) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let heard: Arc<Mutex<Vec<String>>> = Arc::default();
        let notes = Arc::clone(&heard);
        std::thread::spawn(move || {
            let mut answers = answers.iter();
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut text = String::new();
                while !is_whole(&text) {
                    let mut bytes = [0; 4096];
                    let count = stream.read(&mut bytes).unwrap();
                    assert!(count > 0, "the request is whole: {text}");
                    text += std::str::from_utf8(&bytes[..count]).unwrap();
                }
                let is_play = text.contains("( PLAY ");
                let answer = match is_play {
                    true => answers.next().expect("there are enough answers"),
                    false => &"ready",
                };
                notes.lock().unwrap().push(text);
                let length = answer.len();
                let head = format!("HTTP/1.0 200 OK\r\nContent-length: {length}\r\n\r\n");
                stream.write_all((head + answer).as_bytes()).unwrap();
            }
        });
        Listener { address, heard }
    }

    fn party(&self) -> Party {
        Party::Remote(self.address.parse().unwrap(), String::new())
    }

    /// All bytes of all requests.
    fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }

    /// The bodies of `PLAY` and `STOP`.
    fn turns(&self) -> Vec<String> {
        let heard = self.heard();
        let bodies = heard
            .iter()
            .map(|text| text.split_once("\r\n\r\n").unwrap());
        let bodies = bodies.map(|(_, body)| body.to_owned());
        bodies.filter(|body| !body.starts_with("( START")).collect()
    }
}

fn is_whole(text: &str) -> bool {
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    let length = head.split("Content-Length: ").nth(1).unwrap();
    body.len()
        == length
            .split("\r\n")
            .next()
            .unwrap()
            .parse::<usize>()
            .unwrap()
}

fn settings(percepts: PerceptForm) -> HostOptions {
    HostOptions {
        percepts,
        headers: true,
        ..options(ENOUGH)
    }
}

fn sides() -> Game {
    Game::from_text("sides", SIDES).expect("the rules are right")
}

/// A match of Alice with these moves against Bob with one illegal answer.
fn hosted(
    alice: &'static [&'static str],
    percepts: PerceptForm,
    is_scrambled: bool,
) -> (MatchRecord, Listener, Listener) {
    let game = sides();
    let alice = Listener::new(alice);
    let bob = Listener::new(&["(guess heads)", "(guess edge)", "(guess tails)", "what"]);
    let mut found = record(&game, is_scrambled);
    let parties = [alice.party(), Party::Chance, bob.party()];
    let settings = settings(percepts);
    host(
        machine(&game),
        &parties,
        &settings,
        &mut found,
        &mut |_, _| Ok(()),
    )
    .unwrap();
    (found, alice, bob)
}

const HEADS: &[&str] = &["(hide heads)"; 4];
const TAILS: &[&str] = &["(hide tails)"; 4];

#[test]
fn a_player_is_sent_nothing_that_its_role_does_not_know() {
    for percepts in [PerceptForm::Own, PerceptForm::List] {
        let (first, _, bob) = hosted(HEADS, percepts, false);
        let (second, _, other) = hosted(TAILS, percepts, false);
        assert_ne!(first.moves, second.moves);
        assert_ne!(first.goal_values, second.goal_values);
        assert_eq!(bob.heard(), other.heard(), "{percepts:?}");
        // Moves in place of illegal answers do not depend on what is hidden either.
        let own = |record: &MatchRecord| -> Vec<String> {
            record.moves.iter().map(|joint| joint[2].clone()).collect()
        };
        assert_eq!(own(&first), own(&second));
        let draws =
            |record: &MatchRecord| record.moves.iter().any(|joint| joint[1] != "( draw 1 )");
        assert!(draws(&first) && !draws(&second));
    }
}

#[test]
fn percepts_are_sent_in_both_forms() {
    let (found, alice, bob) = hosted(HEADS, PerceptForm::Own, false);
    let own: Vec<&String> = found.moves.iter().map(|joint| &joint[2]).collect();
    let turn = |kind, number: usize| {
        let own = own[number - 1];
        format!("( {kind} m.1 {number} {own} (( turn {number} ) ) )")
    };
    let mut expected = vec!["( PLAY m.1 0 NIL NIL )".to_owned()];
    expected.extend((1..4).map(|number| turn("PLAY", number)));
    expected.push(turn("STOP", 4));
    assert_eq!(bob.turns(), expected);
    assert_eq!(
        alice.turns()[1],
        "( PLAY m.1 1 ( hide heads ) (( did bob ( guess heads ) ) ) )"
    );
    assert_eq!(found.errors[2], ["", "", "IL ( guess edge )"]);
    let (_, _, bob) = hosted(HEADS, PerceptForm::List, false);
    let expected = [
        "( PLAY m.1 NIL )",
        "( PLAY m.1 (( turn 1 ) ) )",
        "( PLAY m.1 (( turn 2 ) ) )",
        "( PLAY m.1 (( turn 3 ) ) )",
        "( STOP m.1 (( turn 4 ) ) )",
    ];
    assert_eq!(bob.turns(), expected);
}

#[test]
fn percepts_have_the_names_of_a_scrambled_match() {
    let alice = &["x"; 4];
    let (_, _, bob) = hosted(alice, PerceptForm::Own, true);
    for body in bob.turns() {
        for name in ["bob", "guess", "heads", "tails"] {
            assert!(!body.contains(name), "{body}");
        }
        assert!(!body.contains("turn "), "{body}");
    }
}

#[test]
fn a_resumed_match_is_told_again_without_hidden_moves() {
    for percepts in [PerceptForm::Own, PerceptForm::List] {
        let again = |alice| {
            let (mut found, _, _) = hosted(alice, percepts, false);
            // The match was interrupted after two turns.
            (found.is_completed, found.is_aborted) = (false, true);
            found.moves.truncate(2);
            found.states.truncate(3);
            found.errors.truncate(3);
            found.state_times.truncate(3);
            found.goal_values.clear();
            let bob = Listener::new(&["(guess heads)"; 4]);
            let parties = [Party::Chance, Party::Chance, bob.party()];
            let settings = settings(percepts);
            host(
                machine(&sides()),
                &parties,
                &settings,
                &mut found,
                &mut |_, _| Ok(()),
            )
            .unwrap();
            bob
        };
        let bob = again(HEADS);
        assert_eq!(bob.heard(), again(TAILS).heard());
        let turns: Vec<String> = bob.turns();
        // ABORT, four PLAY, STOP.
        assert_eq!(turns.len(), 6, "{turns:?}");
        let expected = match percepts {
            PerceptForm::Own => "( PLAY m.1 1 ( guess heads ) (( turn 1 ) ) )",
            PerceptForm::List => "( PLAY m.1 (( turn 1 ) ) )",
        };
        assert_eq!(turns[2], expected);
    }
}

#[test]
fn a_network_player_follows_a_match_by_its_percepts() {
    for percepts in [PerceptForm::Own, PerceptForm::List] {
        let player = Running::new(player_options("random"));
        let game = sides();
        let alice = Listener::new(HEADS);
        let mut found = record(&game, false);
        let address = format!("http://{}", player.address);
        let bob = Party::Remote(address.parse().unwrap(), String::new());
        let parties = [alice.party(), Party::Chance, bob];
        let settings = HostOptions {
            start_clock: 10,
            play_clock: 10,
            ..settings(percepts)
        };
        host(
            machine(&game),
            &parties,
            &settings,
            &mut found,
            &mut |_, _| Ok(()),
        )
        .unwrap();
        assert_eq!(found.moves.len(), 4);
        let mut failed = false;
        let mut remarks = Vec::new();
        let (how, made, scores) = player.wait_for(|event| match event {
            Event::Failed { .. } => {
                // This depends on the agent.
                failed = true;
                None
            }
            Event::OutOfStep { reason, .. } => {
                remarks.push(reason.clone());
                None
            }
            Event::Ended {
                how, made, scores, ..
            } => Some((*how, *made, scores.clone())),
            _ => None,
        });
        assert_eq!(how, "stop");
        // The player does not know the state.
        assert_eq!(scores, []);
        if percepts == PerceptForm::Own || !failed {
            assert_eq!(made, 4);
            assert!(remarks.is_empty(), "{remarks:?}");
        }
        if !failed {
            let wrong = found
                .errors
                .iter()
                .flatten()
                .find(|error| !error.is_empty());
            assert_eq!(wrong, None);
        }
    }
}

#[test]
fn messages_of_the_host_are_read_as_they_were_written() {
    for percepts in [PerceptForm::Own, PerceptForm::List] {
        let (_, alice, bob) = hosted(HEADS, percepts, false);
        for body in alice.turns().iter().chain(&bob.turns()) {
            let message = Message::parse(body, MessageLimits::default()).unwrap();
            assert_eq!(&message.to_string(), body);
        }
    }
}
