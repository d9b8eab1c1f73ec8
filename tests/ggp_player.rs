//! A player over sockets: what the protocol says, and what hosts do besides.

mod common;
#[path = "common/host.rs"]
mod host;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpStream};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use ggp::game::{Game, Move};
use ggp::ggp::message::spaced;
use ggp::ggp::player::{Event, Player, PlayerOptions};
use ggp::machine::{AnyMachine, Backend, Limits, Machine};

use common::names::scrambled;
use host::{EVER, Running, body, connect, exchange, options, read, request, start};

const AVAILABLE: &str = "( ( name ggp ) ( status available ) )";
const BUSY: &str = "( ( name ggp ) ( status busy ) )";
/// An agent that proves nothing, and so searches until it is stopped.
const ENDLESS: &str = "mcts:solver=off";

/// Two players choose at once, twice the same if they like; it ends after three.
const SHOWS: &str = "
    (role Ann) (role Bob) (init (round 0)) (after 0 1) (after 1 2) (after 2 3)
    (hand Rock) (hand Paper)
    (<= (legal ?p (show ?h)) (role ?p) (hand ?h))
    (<= (next (round ?n)) (true (round ?m)) (after ?m ?n))
    (<= terminal (true (round 3)))
    (<= (goal ?p 50) (role ?p))";

/// A register of five digits that one player shifts. Its network is too large,
/// but each state is small.
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

/// Plays a match as a host: `roles[index]` is the player, everybody else makes
/// the first legal move. The result is the answers.
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
fn an_answer_is_byte_for_byte_what_hosts_expect() {
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
fn a_single_player_gets_to_the_end() {
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
        start("m1", "Ann", SHOWS, (5, 5)),
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
fn what_cannot_be_played_is_refused_and_the_next_match_is_played() {
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
        (
            "Ann",
            "(role Ann) (<= (sees Ann x) (does Ann y))",
            "(GDL-II)",
        ),
    ] {
        let rules = match reason {
            "(GDL-II)" => format!("{SHOWS} (<= (sees ?p ?m) (does ?p ?m))"),
            _ => rules.to_owned(),
        };
        assert_eq!(player.start("m1", role, &rules, (5, 5)), "busy");
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
fn a_message_said_again_is_answered_again() {
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
fn the_same_joint_move_twice_goes_on() {
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
fn a_lost_message_is_made_up_for_and_nonsense_is_not_followed() {
    let player = Running::new(options("first"));
    let rules = "(role me) (init (at 0)) (after 0 1) (after 1 2) (after 2 3) (after 3 4)
        (<= (legal me (to ?m)) (true (at ?n)) (after ?n ?m))
        (<= (next (at ?m)) (does me (to ?m)))
        (<= terminal (true (at 4))) (goal me 0)";
    assert_eq!(player.start("m1", "me", rules, (5, 5)), "ready");
    assert_eq!(player.say("( PLAY m1 NIL )"), "( to 1 )");
    // (to 1) was made, and nobody told us.
    assert_eq!(player.say("( PLAY m1 ((to 2)) )"), "( to 3 )");
    for nonsense in ["((to 1) (to 2))", "((to 9))", "((to ?x))", "((to 0))"] {
        let message = format!("( PLAY m1 {nonsense} )");
        assert_eq!(player.say(&message), "( to 3 )", "{message}");
    }
    assert_eq!(player.say("( PLAY m1 ((to 3)) )"), "( to 4 )");
}

#[test]
fn a_move_of_the_host_in_place_of_ours_is_noticed() {
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

/// How long a message takes to be answered, at best in some tries.
fn at_best(mut time: impl FnMut() -> Duration) -> Duration {
    (0..5).map(|_| time()).min().unwrap()
}

#[test]
fn the_status_is_told_while_a_move_is_searched() {
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
fn moves_are_there_before_the_clock_ends() {
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
fn a_move_is_chosen_though_the_rules_are_still_made_ready() {
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
fn a_host_that_goes_on_without_us_is_followed() {
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
fn ready_is_said_when_the_start_clock_ends() {
    let player = Running::new(options("mcts:20"));
    let began = Instant::now();
    assert_eq!(player.start("m1", "me", &shifts(), (2, 50)), "ready");
    assert!(began.elapsed() >= Duration::from_secs(1));
    let answer = player.say("( PLAY m1 NIL )");
    assert!(answer.starts_with("( put "), "{answer}");
}

#[test]
fn requests_are_read_however_they_are_written() {
    let player = Running::new(options("first"));
    let check = |bytes: &str, expected: &str| {
        let answer = exchange(player.address, bytes.as_bytes());
        assert_eq!(body(&answer), expected, "{bytes}\n{answer}");
    };
    // As other hosts send it: no Host, other letter case.
    check(
        "POST / HTTP/1.0\r\nAccept: text/delim\r\nSender: Gamecontroller\r\n\
         Receiver: us\r\nContent-type: text/acl\r\nContent-length: 6\r\n\r\n(INFO)",
        AVAILABLE,
    );
    check(
        "POST / HTTP/1.0\r\nCONTENT-LENGTH:8\r\n\r\n( INFO )",
        AVAILABLE,
    );
    check(
        "post / HTTP/1.0\r\ncontent-length: 6\r\n\r\n(INFO)",
        AVAILABLE,
    );
    // Line ends without carriage returns, and blank lines before and within.
    check(
        "\r\n\r\nPOST / HTTP/1.0\nContent-Length: 6\n\n(INFO)",
        AVAILABLE,
    );
    check(
        "POST / HTTP/1.0\r\nContent-Length: 10\r\n\r\n\r\n\r\n(INFO)",
        AVAILABLE,
    );
    // Nothing at all is a ping.
    check("POST / HTTP/1.0\r\nContent-Length: 0\r\n\r\n", AVAILABLE);
    check("POST / HTTP/1.0\r\n\r\n", AVAILABLE);
    check("GET / HTTP/1.0\r\n\r\n", AVAILABLE);
    // Nothing says how long it is.
    check("POST / HTTP/1.0\r\n\r\n(INFO)", AVAILABLE);
    check("POST / HTTP/1.0\r\n\r\n(play m1\r\nnil)\r\n", "busy");
    // Too long or too short.
    check(
        "POST / HTTP/1.0\r\nContent-Length: 60\r\n\r\n(INFO)",
        AVAILABLE,
    );
    check(
        "POST / HTTP/1.0\r\nContent-Length: 3\r\n\r\n(INFO)",
        AVAILABLE,
    );
    check(
        "POST / HTTP/1.0\r\nContent-Length: soon\r\n\r\n(INFO)",
        AVAILABLE,
    );
    // Characters that take several bytes, counted as one.
    check(
        "POST / HTTP/1.0\r\nContent-Length: 15\r\n\r\n(PLAY \u{fc}\u{fc}\u{fc} NIL)",
        "busy",
    );
    // In the path.
    check("GET /%28%20INFO%20%29 HTTP/1.0\r\n\r\n", AVAILABLE);
    check(
        "GET /(PLAY+m1+NIL) HTTP/1.1\r\nConnection: close\r\n\r\n",
        "busy",
    );
    // Asking what may be asked.
    check("OPTIONS / HTTP/1.0\r\n\r\n", "");
    // In pieces.
    check(
        "POST / HTTP/1.1\r\nHost: us\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n\
         3\r\n(IN\r\n3;x=y\r\nFO)\r\n0\r\n\r\n",
        AVAILABLE,
    );
    check(
        "POST / HTTP/1.1\r\nTransfer-Encoding: Chunked\r\nConnection: Close\r\n\r\n\
         6\r\n(INFO)\r\n0\r\nSum: 1\r\n\r\n",
        AVAILABLE,
    );
}

#[test]
fn what_is_no_request_is_refused_with_its_reason() {
    let player = Running::new(options("first"));
    let check = |bytes: &[u8], status: &str, reason: &str| {
        let answer = exchange(player.address, bytes);
        assert!(answer.contains(status), "{answer}");
        assert!(body(&answer).contains(reason), "{answer}");
    };
    check(b"(INFO)\r\n\r\n", " 400 ", "no HTTP request");
    check(b"\x16\x03\x01\x02\x00\x01\n\n", " 400 ", "no HTTP request");
    check(
        &request("( WAIT m1 )"),
        " 400 ",
        "there is no message `wait`",
    );
    check(&request("( INFO"), " 400 ", "brackets");
    check(&request("( PLAY m1 1 noop () )"), " 400 ", "GDL-II");
    check(
        b"GET /favicon.ico HTTP/1.0\r\n\r\n",
        " 400 ",
        "there is no message",
    );
    check(
        b"DELETE / HTTP/1.0\r\n\r\n",
        " 405 ",
        "only GET, POST and OPTIONS",
    );
    check(
        b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        " 400 ",
        "no size",
    );
    check(
        b"POST / HTTP/1.0\r\nContent-Length: 99999999999\r\n\r\n",
        " 413 ",
        "too large",
    );
    check(
        b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffff\r\n",
        " 413 ",
        "too large",
    );
    assert_eq!(player.say("( INFO )"), AVAILABLE);
}

/// An answer on a connection that stays open.
fn next_answer(stream: &mut BufReader<TcpStream>) -> String {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert!(stream.read_line(&mut head).unwrap() > 0, "{head}");
    }
    let length = head.split("Content-length: ").nth(1).unwrap();
    let length: usize = length.split("\r\n").next().unwrap().parse().unwrap();
    let mut body = vec![0; length];
    stream.read_exact(&mut body).unwrap();
    head + std::str::from_utf8(&body).unwrap()
}

#[test]
fn connections_stay_open_for_whoever_wants_it() {
    let player = Running::new(options("first"));
    let mut stream = BufReader::new(connect(player.address));
    let send = |stream: &mut BufReader<TcpStream>, text: &str| {
        stream.get_mut().write_all(text.as_bytes()).unwrap();
        next_answer(stream)
    };
    let info = "POST / HTTP/1.1\r\nHost: us\r\nContent-Length: 6\r\n\r\n(INFO)";
    for text in [
        info,
        "\r\nPOST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n(INFO)\r\n0\r\n\r\n",
        "GET /(INFO) HTTP/1.1\r\n\r\n",
        "POST / HTTP/1.0\r\nConnection: Keep-Alive\r\nContent-Length: 6\r\n\r\n(INFO)",
    ] {
        let answer = send(&mut stream, text);
        assert!(
            answer.contains("\r\nConnection: keep-alive\r\n"),
            "{answer}"
        );
        assert!(answer.ends_with(AVAILABLE), "{answer}");
    }
    // Two at once.
    assert!(send(&mut stream, &format!("{info}{info}")).ends_with(AVAILABLE));
    assert!(next_answer(&mut stream).ends_with(AVAILABLE));
    // Somebody who asks first whether to go on.
    let stream_head = "POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 6\r\n\r\n";
    stream.get_mut().write_all(stream_head.as_bytes()).unwrap();
    let mut line = String::new();
    stream.read_line(&mut line).unwrap();
    assert_eq!(line, "HTTP/1.1 100 Continue\r\n");
    stream.read_line(&mut line).unwrap();
    assert!(send(&mut stream, "(INFO)").ends_with(AVAILABLE));
    let last = "POST / HTTP/1.1\r\nConnection: close\r\nContent-Length: 6\r\n\r\n(INFO)";
    let answer = send(&mut stream, last);
    assert!(answer.contains("\r\nConnection: close\r\n"), "{answer}");
    assert_eq!(stream.read(&mut [0]).unwrap(), 0);
}

#[test]
fn a_host_that_has_said_all_still_hears_the_answer() {
    let player = Running::new(options("first"));
    let text = "POST / HTTP/1.0\r\n\r\n(INFO";
    for (rest, expected) in [(")", AVAILABLE), (" ", "brackets do not match")] {
        let mut stream = connect(player.address);
        stream.write_all(text.as_bytes()).unwrap();
        stream.write_all(rest.as_bytes()).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        assert_eq!(body(&read(&mut stream)), expected);
    }
}

#[test]
fn silent_peers_are_let_go_and_stop_nobody() {
    let player = Running::new(PlayerOptions {
        idle: Duration::from_millis(300),
        ..options("first")
    });
    let mut silent = connect(player.address);
    let mut kept = BufReader::new(connect(player.address));
    let info = b"POST / HTTP/1.1\r\nContent-Length: 6\r\n\r\n(INFO)";
    kept.get_mut().write_all(info).unwrap();
    assert!(next_answer(&mut kept).ends_with(AVAILABLE));
    let mut stuck = connect(player.address);
    stuck
        .write_all(b"POST / HTTP/1.0\r\nContent-Length: 100\r\n\r\n(PLAY")
        .unwrap();
    let address = player.address;
    // One byte after the other, for as long as anybody listens.
    let trickling = std::thread::spawn(move || {
        let mut stream = connect(address);
        let mut answer = vec![0; 1000];
        stream
            .set_read_timeout(Some(Duration::from_millis(20)))
            .unwrap();
        let mut text = b"POST / HTTP/1.0\r\nX: ".to_vec();
        text.resize(10_000, b'x');
        for byte in text {
            let _ = stream.write_all(&[byte]);
            match stream.read(&mut answer) {
                Ok(length) => return String::from_utf8_lossy(&answer[..length]).into_owned(),
                Err(_) => continue,
            }
        }
        "nobody minds".to_owned()
    });
    assert_eq!(player.say("( INFO )"), AVAILABLE);
    for stream in [&mut silent, &mut stuck] {
        let answer = read(stream);
        assert!(answer.contains(" 408 "), "{answer}");
    }
    assert_eq!(kept.read(&mut [0]).unwrap(), 0);
    let answer = trickling.join().unwrap();
    assert!(answer.contains(" 408 "), "{answer}");
}

#[test]
fn giants_are_turned_away() {
    let mut few = options("first");
    few.message.bytes = 100_000;
    let player = Running::new(few);
    let giant = "x".repeat(10_000_000);
    for bytes in [
        format!("POST / HTTP/1.0\r\n\r\n({giant}"),
        format!("POST / HTTP/1.0\r\nX: {giant}"),
        format!("POST / HTTP/1.0\r\nContent-Length: 10000000\r\n\r\n{giant}"),
    ] {
        // It may be closed before everything is sent, and the answer be lost.
        let mut stream = connect(player.address);
        let sent = stream.write_all(bytes.as_bytes());
        let mut answer = Vec::new();
        let heard = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer);
        let is_refused = answer.contains(" 413 ");
        assert!(is_refused || sent.is_err() || heard.is_err(), "{answer}");
    }
    assert_eq!(player.say("( INFO )"), AVAILABLE);
    // As long as it may be.
    let rules = format!("{SHOWS} ;{}", "x".repeat(90_000));
    assert_eq!(player.start("m1", "Ann", &rules, (5, 5)), "ready");
}

#[test]
fn a_crowd_does_not_lock_hosts_out() {
    let player = Running::new(PlayerOptions {
        connections: 8,
        idle: EVER,
        ..options("first")
    });
    let crowd: Vec<TcpStream> = (0..100).map(|_| connect(player.address)).collect();
    assert_eq!(player.say("( INFO )"), AVAILABLE);
    assert_eq!(player.start("m1", "Ann", SHOWS, (5, 5)), "ready");
    let more: Vec<TcpStream> = (0..100).map(|_| connect(player.address)).collect();
    assert_eq!(player.say("( PLAY m1 NIL )"), "( show Rock )");
    drop((crowd, more));
}

#[test]
fn a_match_without_a_host_comes_to_an_end() {
    let player = Running::new(PlayerOptions {
        patience: Some(Duration::from_millis(100)),
        ..options("first")
    });
    assert_eq!(player.start("m1", "Ann", SHOWS, (0, 0)), "ready");
    let how = player.wait_for(|event| match event {
        Event::Ended { how, .. } => Some(*how),
        _ => None,
    });
    assert_eq!(how, "deserted");
    assert_eq!(player.say("( INFO )"), AVAILABLE);
}

#[test]
fn it_ends_after_as_many_matches_as_it_should_play() {
    let mut player = Running::new(PlayerOptions {
        matches: Some(2),
        ..options("first")
    });
    play(&player, SHOWS, 0, "m1");
    assert_eq!(player.start("m2", "Bob", SHOWS, (5, 5)), "ready");
    assert_eq!(player.say("( STOP m2 NIL )"), "done");
    assert_eq!(player.join(), 2);
    assert!(TcpStream::connect(player.address).is_err());
}

#[test]
fn an_interrupt_ends_it_in_the_middle_of_a_search() {
    let player = Running::new(options(ENDLESS));
    assert_eq!(
        player.start("m1", "cross", &tic_tac_toe(), (1, 600)),
        "ready"
    );
    let mut asked = player.ask("( PLAY m1 NIL )");
    assert_eq!(player.say("( INFO )"), BUSY);
    let began = Instant::now();
    player.end();
    assert!(began.elapsed() < Duration::from_secs(10));
    assert_eq!(body(&read(&mut asked)), "nil");
}

#[test]
fn the_next_free_port_is_taken_if_nobody_asks_for_one() {
    let here = Ipv4Addr::LOCALHOST.into();
    let first = Player::bind_default(here, options("first")).unwrap();
    let second = Player::bind_default(here, options("first")).unwrap();
    let (first, second) = (first.address().unwrap(), second.address().unwrap());
    assert!(second.port() > first.port());
}

#[test]
fn options_that_make_no_sense_are_refused_at_once() {
    for (options, reason) in [
        (["--listen", "203.0.113.1"], "cannot listen on 203.0.113.1"),
        (["--player", "wizard"], "`wizard` is no player"),
        (["--player", "mcts:colour=3"], "there is no option `colour`"),
        (["--margin", "soon"], "not a number of seconds"),
        (["--log", "/"], "cannot write /"),
    ] {
        let found = Command::new(env!("CARGO_BIN_EXE_ggp"))
            .args(["player", "--port", "0"])
            .args(options)
            .output()
            .unwrap();
        assert_eq!(found.status.code(), Some(2), "{options:?}");
        let said = String::from_utf8_lossy(&found.stderr);
        assert!(said.contains(reason), "{said}");
    }
}

#[test]
fn what_happens_is_told_and_kept() {
    let log = std::env::temp_dir().join(format!("ggp-player-{}.jsonl", std::process::id()));
    let mut child = Command::new(env!("CARGO_BIN_EXE_ggp"))
        .args(["player", "--port", "0", "--json", "--player", "first"])
        .args(["--matches", "1", "--log", log.to_str().unwrap()])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || -> serde_json::Value {
        let line = lines.next().expect("there is more").unwrap();
        serde_json::from_str(&line).unwrap()
    };
    let address = next()["address"].as_str().unwrap().parse().unwrap();
    let say = |message: &str| body(&exchange(address, &request(message)));
    assert_eq!(say("( WAIT )"), "there is no message `wait`");
    assert_eq!(say(&start("m1", "Ann", SHOWS, (5, 5))), "ready");
    assert_eq!(say("( PLAY m1 NIL )"), "( show Rock )");
    assert_eq!(say("( STOP m1 ((show Rock) (show Paper)) )"), "done");
    let begun = next();
    assert_eq!(begun["event"], "started");
    assert_eq!(begun["roles"], serde_json::json!(["Ann", "Bob"]));
    let chosen = next();
    assert_eq!(chosen["event"], "chose");
    assert_eq!(chosen["chosen"], "( show Rock )");
    let ended = next();
    assert_eq!(ended["event"], "ended");
    assert_eq!((&ended["match"], &ended["made"]), (&"m1".into(), &1.into()));
    assert!(child.wait().unwrap().success());
    let kept = std::fs::read_to_string(&log).unwrap();
    std::fs::remove_file(log).unwrap();
    let count = |event: &str| kept.matches(&format!("{{\"event\":\"{event}\"")).count();
    let counts = [
        "listening",
        "refused",
        "answered",
        "started",
        "chose",
        "ended",
    ]
    .map(count);
    assert_eq!(counts, [1, 1, 3, 1, 1, 1], "{kept}");
}

/// What Linux says about a process.
fn status(process: u32, key: &str) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = text.lines().find(|line| line.starts_with(key))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Many matches, some of them with a move: `GGP_CYCLES` says how many.
#[test]
fn nothing_is_left_of_a_match() {
    let cycles = std::env::var("GGP_CYCLES").ok();
    let cycles: u32 = cycles.map_or(200, |cycles| cycles.parse().unwrap());
    let mut child = Command::new(env!("CARGO_BIN_EXE_ggp"))
        .args(["player", "--port", "0", "--json", "--player", "mcts:10"])
        .args(["--matches", &cycles.to_string()])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let first: serde_json::Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    let address = first["address"].as_str().unwrap().parse().unwrap();
    let rest = std::thread::spawn(move || lines.count());
    let say = |message: &str| body(&exchange(address, &request(message)));
    let rules = tic_tac_toe();
    let mut early = (None, None);
    for cycle in 1..=cycles {
        let id = format!("m{cycle}");
        assert_eq!(say(&start(&id, "cross", &rules, (10, 10))), "ready");
        if cycle % 10 == 0 {
            assert!(say(&format!("( PLAY {id} NIL )")).starts_with("( mark "));
        }
        if cycle == cycles / 5 {
            early = (status(child.id(), "VmRSS:"), status(child.id(), "Threads:"));
        }
        if cycle == cycles {
            let late = (status(child.id(), "VmRSS:"), status(child.id(), "Threads:"));
            println!(
                "kB and threads after {}: {early:?}, after {cycles}: {late:?}",
                cycles / 5
            );
            if let ((Some(early_kb), Some(early)), (Some(late_kb), Some(late))) = (early, late) {
                // One match is going on, and up to three come to their end.
                assert!(late <= early + 12, "{late} threads");
                assert!(late_kb < early_kb + 50_000, "{late_kb} kB");
            }
        }
        assert_eq!(say(&format!("( STOP {id} NIL )")), "done");
    }
    assert!(child.wait().unwrap().success());
    assert!(rest.join().unwrap() >= 2 * cycles as usize);
}
