//! A player over sockets: the protocol, and the deviations of hosts.

mod hostile;
mod peers;
mod service;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpStream};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use ggp_engine::machine::{AnyMachine, Backend, Limits, Machine};
use ggp_gdl::game::{Game, Move};
use ggp_play::protocol::message::spaced;
use ggp_play::protocol::player::{Event, Player, PlayerOptions};

use crate::common::host::{EVER, Running, body, connect, exchange, options, read, request, start};
use crate::common::names::scrambled;
use hostile::endless;

const AVAILABLE: &str = "( ( name ggp ) ( status available ) )";
const BUSY: &str = "( ( name ggp ) ( status busy ) )";
/// An agent without proofs, which searches until it is stopped.
const ENDLESS: &str = "mcts:solver=off";

/// Two players choose simultaneously and may repeat moves; the game ends after three turns.
const SHOWS: &str = "
    (role Ann) (role Bob) (init (round 0)) (after 0 1) (after 1 2) (after 2 3)
    (hand Rock) (hand Paper)
    (<= (legal ?p (show ?h)) (role ?p) (hand ?h))
    (<= (next (round ?n)) (true (round ?m)) (after ?m ?n))
    (<= terminal (true (round 3)))
    (<= (goal ?p 50) (role ?p))";

/// A register of five digits that one player shifts. Each state is small, but the network is
/// too large.
const SHIFTS: &str = "
    (role me) (init (q 1 1 1 1 1))
    (<= (legal me (put ?d)) (digit ?d))
    (<= (next (q ?b ?c ?d ?e ?f)) (true (q ?a ?b ?c ?d ?e)) (does me (put ?f)))
    (<= terminal (true (q 9 9 9 9 9)))
    (<= (goal me 100) terminal)
    (<= (goal me 0) (not terminal))";

fn shifts() -> String {
    let digits: Vec<String> = (1..=60).map(|digit| format!("(digit {digit})")).collect();
    SHIFTS.to_owned() + &digits.join(" ")
}

fn tic_tac_toe() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/games/tic_tac_toe.kif");
    std::fs::read_to_string(path).unwrap()
}

fn machine(rules: &str) -> AnyMachine {
    let game = Game::from_text("rules", rules).expect("the rules are right");
    AnyMachine::new(&game, Backend::Datalog, Limits::default()).unwrap()
}

/// Waits until a condition holds.
fn wait_until(condition: impl Fn() -> bool) {
    let began = Instant::now();
    while !condition() {
        assert!(began.elapsed() < EVER, "the condition never held");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Plays a match as a host: `roles[index]` is the player, all others make their first legal
/// move. The result is the list of answers.
fn play(player: &Running, rules: &str, index: usize, id: &str) -> Vec<String> {
    let mut machine = machine(rules);
    let game = machine.game().clone();
    let role = game.roles().nth(index).unwrap();
    let said = player.start(id, game.role_name(role), rules, (10, 10));
    assert_eq!(said, "ready");
    let mut state = machine.initial().unwrap();
    let mut told = "NIL".to_owned();
    let mut answers = Vec::new();
    while !machine.is_terminal(&state).unwrap() {
        let answer = player.say(&format!("( PLAY {id} {told} )"));
        let mut joint: Vec<Move> = Vec::new();
        let mut legal = Vec::new();
        for other in game.roles() {
            machine.legal(&state, other, &mut legal).unwrap();
            joint.push(legal[0]);
            if other == role {
                let texts: Vec<String> = legal
                    .iter()
                    .map(|made| spaced(&game.text(machine.terms(), made.term())))
                    .collect();
                let place = texts.iter().position(|text| *text == answer);
                let place = place.unwrap_or_else(|| panic!("{answer} is none of {texts:?}"));
                *joint.last_mut().unwrap() = legal[place];
            }
        }
        let moves = joint
            .iter()
            .map(|made| game.text(machine.terms(), made.term()));
        told = format!("({} )", spaced(&moves.collect::<Vec<_>>().join(" ")));
        state = machine.play(&state, &joint).unwrap();
        answers.push(answer);
    }
    assert_eq!(player.say("(INFO)"), BUSY);
    assert_eq!(player.say(&format!("( STOP {id} {told} )")), "done");
    assert_eq!(player.say("(INFO)"), AVAILABLE);
    answers
}

#[test]
fn answers_are_identical_to_those_of_the_reference_player() {
    let player = Running::new(options("first"));
    let answer = exchange(player.address, &request("( INFO )"));
    let expected = "HTTP/1.0 200 OK\r\n\
        Content-type: text/acl\r\n\
        Content-length: 37\r\n\
        Access-Control-Allow-Origin: *\r\n\
        Access-Control-Allow-Methods: POST, GET, OPTIONS\r\n\
        Access-Control-Allow-Headers: Content-Type\r\n\
        Access-Control-Allow-Age: 86400\r\n\
        Access-Control-Max-Age: 86400\r\n\
        \r\n\
        ( ( name ggp ) ( status available ) )";
    assert_eq!(answer, expected);
}

#[test]
fn whole_matches_are_played_under_any_names() {
    let player = Running::new(options("mcts:200"));
    let rules = tic_tac_toe();
    for (number, rules) in [
        rules.clone(),
        scrambled(&rules),
        rules.to_uppercase(),
        rules.to_lowercase(),
        spaced(&rules),
    ]
    .iter()
    .enumerate()
    {
        for role in 0..2 {
            let answers = play(&player, rules, role, &format!("m.ttt.{number}.{role}"));
            assert!(answers.len() >= 5);
        }
    }
    assert_eq!(player.end(), 10);
}

#[test]
fn a_game_of_one_role_is_played_to_its_end() {
    let player = Running::new(options("first"));
    let rules = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/games/buttons_and_lights_timed.kif"
    ))
    .unwrap();
    play(&player, &rules, 0, "one");
    let (made, scores) = player.wait_for(|event| match event {
        Event::Ended { made, scores, .. } => Some((*made, scores.clone())),
        _ => None,
    });
    assert!(made > 0);
    assert_eq!(scores.len(), 1);
}

#[test]
fn hosts_that_write_capitals_are_answered_in_capitals() {
    let player = Running::new(options("first"));
    let rules = "(ROLE XPLAYER) (INIT (TURN 1))
        (<= (LEGAL XPLAYER (MARK 1 ?X)) (TRUE (TURN ?X)))
        (<= (NEXT (TURN 2)) (DOES XPLAYER (MARK 1 1)))
        (<= TERMINAL (TRUE (TURN 2))) (GOAL XPLAYER 100)";
    assert_eq!(player.say(&start("m1", "XPLAYER", rules, (5, 5))), "ready");
    assert_eq!(player.say("(PLAY M1 NIL)"), "( MARK 1 1 )");
    assert_eq!(player.say("(STOP M1 ((MARK 1 1)))"), "done");
}

#[test]
fn one_match_is_played_at_a_time() {
    let player = Running::new(options("first"));
    assert_eq!(player.say("( PREVIEW ((role a)) 1 )"), "ready");
    assert_eq!(player.say("( PLAY m1 NIL )"), "busy");
    assert_eq!(player.say("( STOP m1 NIL )"), "busy");
    assert_eq!(player.say("( ABORT m1 )"), "busy");
    assert_eq!(player.start("m1", "Ann", SHOWS, (5, 5)), "ready");
    for message in [
        start("m2", "Bob", SHOWS, (5, 5)),
        start("m1", "Bob", SHOWS, (5, 5)),
        start("m1", "Ann", SHOWS, (5, 6)),
        "( PREVIEW ((role a)) 1 )".to_owned(),
        "( PLAY m2 NIL )".to_owned(),
        "( STOP m2 NIL )".to_owned(),
        "( ABORT m2 )".to_owned(),
    ] {
        assert_eq!(player.say(&message), "busy", "{message}");
    }
    assert_eq!(player.say("( INFO )"), BUSY);
    assert_eq!(player.say("( PLAY m1 NIL )"), "( show Rock )");
    assert_eq!(player.say("( ABORT m1 )"), "aborted");
    assert_eq!(player.say("( INFO )"), AVAILABLE);
    assert_eq!(player.start("m2", "Bob", SHOWS, (5, 5)), "ready");
}

#[test]
fn the_messages_around_a_match_may_be_repeated() {
    let player = Running::new(options("first"));
    for (last, said) in [("( STOP m1 NIL )", "done"), ("( ABORT m1 )", "aborted")] {
        // At once, after the answer, and after a move.
        std::thread::scope(|scope| {
            let starts =
                [0, 1, 2].map(|_| scope.spawn(|| player.start("m1", "Ann", SHOWS, (5, 5))));
            for start in starts {
                assert_eq!(start.join().unwrap(), "ready");
            }
        });
        assert_eq!(player.start("m1", "Ann", SHOWS, (5, 5)), "ready");
        assert_eq!(player.say("( PLAY m1 NIL )"), "( show Rock )");
        assert_eq!(player.start("m1", "Ann", SHOWS, (5, 5)), "ready");
        assert_eq!(player.say("( PLAY m1 NIL )"), "( show Rock )");
        for _ in 0..3 {
            assert_eq!(player.say(last), said);
        }
        assert_eq!(player.say("( INFO )"), AVAILABLE);
        assert_eq!(player.say("( STOP m2 NIL )"), "busy");
    }
    // Another way to end a match that is over is not a repetition.
    assert_eq!(player.say("( STOP m1 NIL )"), "busy");
}

#[test]
fn clocks_may_have_a_fraction() {
    let player = Running::new(options("first"));
    for clocks in ["5 5", "5.0 5.0", "5.9 5.", "05 5.000"] {
        let start = format!("( START m1 Ann ({SHOWS}) {clocks} )");
        assert_eq!(player.say(&start), "ready", "{clocks}");
        assert_eq!(player.say("( ABORT m1 )"), "aborted");
    }
    for clocks in ["5 x", "5.x 5", "-5 5", "5 5.0.0", "5 1e3", "5 .5"] {
        let start = format!("( START m1 Ann ({SHOWS}) {clocks} )");
        assert!(
            player.say(&start).contains("not a number of seconds"),
            "{clocks}"
        );
    }
}

#[test]
fn invalid_matches_are_rejected_and_the_next_match_is_played() {
    let player = Running::new(options("first"));
    let reasons = || {
        player.wait_for(|event| match event {
            Event::Unplayable { reasons, .. } => Some(reasons.join("\n")),
            _ => None,
        })
    };
    for (role, rules, reason) in [
        ("Ann", "(role Ann) (<= (p ?x) (q ?y))", "error[G"),
        ("Carl", SHOWS, "the rules have no role `Carl`"),
    ] {
        assert_eq!(player.start("m1", role, rules, (5, 5)), "busy");
        let found = reasons();
        assert!(found.contains(reason), "{found}");
        assert_eq!(player.say("( PLAY m1 NIL )"), "busy");
    }
    let deep = format!("{}{}", "(".repeat(190), ")".repeat(190));
    for rules in [
        deep.as_str(),
        ") (",
        "((((",
        &SHOWS.replace("legal", "lawful"),
    ] {
        let said = player.start("m1", "Ann", rules, (1, 1));
        assert!(
            said == "busy" || said.contains("brackets") || said.contains("not"),
            "{said}"
        );
    }
    play(&player, SHOWS, 1, "m2");
}

#[test]
fn a_repeated_message_is_answered_again() {
    let player = Running::new(options("random"));
    assert_eq!(player.start("m1", "cross", &tic_tac_toe(), (5, 5)), "ready");
    let first = player.say("( PLAY m1 NIL )");
    for _ in 0..3 {
        assert_eq!(player.say("( PLAY m1 NIL )"), first);
    }
    let next = format!("( PLAY m1 ({first} wait) )");
    assert_eq!(player.say(&next), "wait");
    assert_eq!(player.say(&next), "wait");
    assert_eq!(player.say("( PLAY m1 NIL )"), first);
    let taken = match first.as_str() {
        "( mark 1 1 )" => "(mark 1 2)",
        _ => "(mark 1 1)",
    };
    let third = format!("( PLAY m1 (wait {taken}) )");
    let answer = player.say(&third);
    assert!(answer.starts_with("( mark "), "{answer}");
    assert_eq!(player.say(&third), answer);
}

#[test]
fn the_same_joint_move_can_be_played_twice() {
    let player = Running::new(options("first"));
    assert_eq!(player.start("m1", "Ann", SHOWS, (5, 5)), "ready");
    assert_eq!(player.say("( PLAY m1 NIL )"), "( show Rock )");
    for _ in 0..2 {
        let message = "( PLAY m1 ((show Rock) (show Rock)) )";
        assert_eq!(player.say(message), "( show Rock )");
    }
    player.say("( STOP m1 ((show Rock) (show Rock)) )");
    let made = player.wait_for(|event| match event {
        Event::Ended { made, scores, .. } => Some((*made, scores.clone())),
        _ => None,
    });
    let scores = vec![("Ann".to_owned(), 50), ("Bob".to_owned(), 50)];
    assert_eq!(made, (3, scores));
}

#[test]
fn a_lost_message_is_inferred_and_impossible_moves_are_ignored() {
    let player = Running::new(options("first"));
    let rules = "(role me) (init (at 0)) (after 0 1) (after 1 2) (after 2 3) (after 3 4)
        (<= (legal me (to ?m)) (true (at ?n)) (after ?n ?m))
        (<= (next (at ?m)) (does me (to ?m)))
        (<= terminal (true (at 4))) (goal me 0)";
    assert_eq!(player.start("m1", "me", rules, (5, 5)), "ready");
    assert_eq!(player.say("( PLAY m1 NIL )"), "( to 1 )");
    // The message with (to 1) was lost.
    assert_eq!(player.say("( PLAY m1 ((to 2)) )"), "( to 3 )");
    for nonsense in ["((to 1) (to 2))", "((to 9))", "((to ?x))", "((to 0))"] {
        let message = format!("( PLAY m1 {nonsense} )");
        assert_eq!(player.say(&message), "( to 3 )", "{message}");
    }
    assert_eq!(player.say("( PLAY m1 ((to 3)) )"), "( to 4 )");
}

#[test]
fn a_replaced_move_is_noticed() {
    let player = Running::new(options("first"));
    assert_eq!(player.start("m1", "Ann", SHOWS, (5, 5)), "ready");
    assert_eq!(player.say("( PLAY m1 NIL )"), "( show Rock )");
    player.say("( PLAY m1 ((show Paper) (show Rock)) )");
    let found = player.wait_for(|event| match event {
        Event::Replaced {
            answered, played, ..
        } => Some((answered.clone(), played.clone())),
        _ => None,
    });
    assert_eq!(found, ("(show Rock)".into(), "(show Paper)".into()));
}

#[test]
fn percepts_that_cannot_be_read_are_reported() {
    let player = Running::new(options("random"));
    let rules = format!("{SHOWS} (<= (sees ?p (did ?q ?m)) (role ?p) (does ?q ?m))");
    let reported = || {
        player.wait_for(|event| match event {
            Event::OutOfStep { reason, .. } => Some(reason.clone()),
            _ => None,
        })
    };
    assert_eq!(player.start("m1", "Ann", &rules, (5, 5)), "ready");
    player.say("( PLAY m1 0 NIL NIL )");
    player.say("( PLAY m1 1 (show Paper) ((did Bob (show Rock)) (unheard of)) )");
    let reason = reported();
    assert!(reason.starts_with("a percept is left out: "), "{reason}");
    player.say("( PLAY m1 9 (show Paper) () )");
    let reason = reported();
    assert!(
        reason.contains("the messages between them were lost"),
        "{reason}"
    );
    player.say("( STOP m1 2 (show Rock) () )");
    let made = player.wait_for(|event| match event {
        Event::Ended { made, scores, .. } => Some((*made, scores.clone())),
        _ => None,
    });
    assert_eq!(made, (2, Vec::new()));
    // Without `sees` the form has no joint move.
    assert_eq!(player.start("m2", "Ann", SHOWS, (5, 5)), "ready");
    let answer = player.say("( PLAY m2 1 (show Rock) () )");
    assert!(answer.starts_with("( show "), "{answer}");
    assert!(reported().contains("no `sees`"));
}

/// The shortest answer time of several attempts.
fn at_best(mut time: impl FnMut() -> Duration) -> Duration {
    (0..5).map(|_| time()).min().unwrap()
}

#[test]
fn info_is_answered_during_a_search() {
    let player = Running::new(options(ENDLESS));
    assert_eq!(
        player.start("m1", "cross", &tic_tac_toe(), (1, 30)),
        "ready"
    );
    let mut asked = player.ask("( PLAY m1 NIL )");
    let took = at_best(|| {
        let began = Instant::now();
        assert_eq!(player.say("( INFO )"), BUSY);
        began.elapsed()
    });
    assert!(took < Duration::from_millis(100), "{took:?}");
    assert_eq!(player.say("( ABORT m1 )"), "aborted");
    assert_eq!(body(&read(&mut asked)), "nil");
}

#[test]
fn an_abort_ends_a_search_at_once() {
    let player = Running::new(options(ENDLESS));
    let took = at_best(|| {
        assert_eq!(
            player.start("m1", "cross", &tic_tac_toe(), (1, 60)),
            "ready"
        );
        let mut asked = player.ask("( PLAY m1 NIL )");
        assert_eq!(player.say("( INFO )"), BUSY);
        let began = Instant::now();
        assert_eq!(player.say("( ABORT m1 )"), "aborted");
        assert_eq!(body(&read(&mut asked)), "nil");
        let took = began.elapsed();
        assert_eq!(player.say("( INFO )"), AVAILABLE);
        took
    });
    assert!(took < Duration::from_millis(100), "{took:?}");
}

#[test]
fn a_stop_ends_a_search_and_the_next_match_begins() {
    let player = Running::new(options(ENDLESS));
    for id in ["m1", "m2", "m3"] {
        assert_eq!(player.start(id, "cross", &tic_tac_toe(), (1, 600)), "ready");
        let mut asked = player.ask(&format!("( PLAY {id} NIL )"));
        assert_eq!(player.say("( INFO )"), BUSY);
        assert_eq!(player.say(&format!("( STOP {id} NIL )")), "done");
        assert!(!body(&read(&mut asked)).is_empty());
    }
}

#[test]
fn moves_are_sent_before_the_clock_ends() {
    let player = Running::new(options(ENDLESS));
    let took = at_best(|| {
        assert_eq!(player.start("m1", "cross", &tic_tac_toe(), (1, 2)), "ready");
        let began = Instant::now();
        let answer = player.say("( PLAY m1 NIL )");
        let took = began.elapsed();
        assert!(answer.starts_with("( mark "), "{answer}");
        assert_eq!(player.say("( STOP m1 NIL )"), "done");
        took
    });
    assert!(took > Duration::from_secs(1), "{took:?}");
    assert!(took < Duration::from_secs(2), "{took:?}");
}

#[test]
fn a_move_is_chosen_while_the_rules_are_still_compiled() {
    let player = Running::new(options("mcts:20"));
    let mut starting = player.ask(&start("m1", "me", &shifts(), (600, 50)));
    player.wait_for(|event| matches!(event, Event::Started { .. }).then_some(()));
    let answer = player.say("( PLAY m1 NIL )");
    assert!(answer.starts_with("( put "), "{answer}");
    assert_eq!(body(&read(&mut starting)), "ready");
    assert_eq!(player.say("( ABORT m1 )"), "aborted");
}

#[test]
fn a_host_that_asks_twice_at_once_gets_the_same_answer_twice() {
    let player = Running::new(options(ENDLESS));
    assert_eq!(player.start("m1", "cross", &tic_tac_toe(), (1, 2)), "ready");
    let mut first = player.ask("( PLAY m1 NIL )");
    let mut second = player.ask("( PLAY m1 NIL )");
    let (first, second) = (body(&read(&mut first)), body(&read(&mut second)));
    assert!(first.starts_with("( mark "), "{first}");
    assert_eq!(first, second);
}

#[test]
fn a_host_that_continues_without_an_answer_is_followed() {
    let player = Running::new(options(ENDLESS));
    assert_eq!(player.start("m1", "Ann", SHOWS, (1, 600)), "ready");
    let mut late = player.ask("( PLAY m1 NIL )");
    assert_eq!(player.say("( INFO )"), BUSY);
    let mut asked = player.ask("( PLAY m1 ((show Rock) (show Rock)) )");
    assert!(!body(&read(&mut late)).is_empty());
    assert_eq!(
        player.say("( STOP m1 ((show Paper) (show Paper)) )"),
        "done"
    );
    let made = player.wait_for(|event| match event {
        Event::Ended { made, .. } => Some(*made),
        _ => None,
    });
    assert_eq!(made, 2);
    assert!(!body(&read(&mut asked)).is_empty());
}

#[test]
fn names_need_not_be_ascii() {
    let player = Running::new(options("first"));
    let rules = SHOWS
        .replace("Rock", "Fels\u{f6}")
        .replace("Ann", "\u{4e2d}");
    assert_eq!(
        player.start("m\u{fc}1", "\u{4e2d}", &rules, (5, 5)),
        "ready"
    );
    assert_eq!(player.say("( PLAY m\u{fc}1 NIL )"), "( show Fels\u{f6} )");
    let next = "( PLAY m\u{fc}1 ((show Fels\u{f6}) (show Paper)) )";
    assert_eq!(player.say(next), "( show Fels\u{f6} )");
}

#[test]
fn ready_is_answered_when_the_start_clock_ends() {
    let player = Running::new(options("mcts:20"));
    let began = Instant::now();
    assert_eq!(player.start("m1", "me", &shifts(), (2, 50)), "ready");
    assert!(began.elapsed() >= Duration::from_secs(1));
    let answer = player.say("( PLAY m1 NIL )");
    assert!(answer.starts_with("( put "), "{answer}");
}
