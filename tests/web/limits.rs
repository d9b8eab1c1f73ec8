//! Limits: what one client does costs the others little.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::json;

use super::service::Service;
use super::{WALK, set};

fn connect(service: &Service) -> TcpStream {
    let stream = TcpStream::connect(service.host()).expect("it listens");
    let ever = Some(Duration::from_secs(60));
    stream.set_read_timeout(ever).expect("it has timeouts");
    stream
}

/// The rest of what the server sends before it closes the connection.
fn rest(mut stream: TcpStream) -> String {
    let mut text = String::new();
    match stream.read_to_string(&mut text) {
        Ok(_) => text,
        Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => text,
        Err(error) => panic!("{error}: {text}"),
    }
}

#[test]
fn slow_requests_are_ended() {
    let service = Service::start(&["--max-receive", "0.5"]);
    // Nothing, a part of a head, a part of a body, and nothing after an answer.
    assert_eq!(rest(connect(&service)), "");
    let mut slow = connect(&service);
    slow.write_all(b"GET / HTTP/1.1\r\nHost: loc")
        .expect("it is open");
    assert!(!rest(slow).contains("200 OK"));
    let mut slow = connect(&service);
    let head = "POST /api/check HTTP/1.1\r\nHost: localhost\r\n\
                Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"files\"";
    slow.write_all(head.as_bytes()).expect("it is open");
    let answer = rest(slow);
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    assert!(
        answer.contains("did not arrive within 0.5 seconds"),
        "{answer}"
    );
    let mut idle = connect(&service);
    let head = "GET /api/players HTTP/1.1\r\nHost: localhost\r\n\r\n";
    idle.write_all(head.as_bytes()).expect("it is open");
    assert!(rest(idle).starts_with("HTTP/1.1 200"));
}

#[test]
fn a_greeting_in_tls_is_answered_with_the_reason() {
    let service = Service::start(&[]);
    for greeting in [
        b"\x16".to_vec(),
        [&b"\x16\x03\x01\x02\x00"[..], &[1; 512]].concat(),
    ] {
        let mut stream = connect(&service);
        stream.write_all(&greeting).expect("it is open");
        let answer = rest(stream);
        assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
        assert!(answer.contains("begins with http, not https"), "{answer}");
    }
}

#[test]
fn a_wrong_request_is_told_what_is_wrong() {
    let service = Service::start(&[]);
    let answer = service.get("/api/check");
    assert_eq!(answer.status, 405);
    assert!(
        answer.body.contains("/api/check does not answer GET"),
        "{}",
        answer.body
    );
    assert!(
        answer.head.to_lowercase().contains("allow: post"),
        "{}",
        answer.head
    );
    let answer = service.post("/api/check", &json!({ "text": 5 }));
    assert_eq!(answer.status, 400);
    let told = "the body does not fit this request: ";
    assert!(answer.body.contains(told), "{}", answer.body);
    // The answer comes when all was sent.
    let answer = service.post("/api/check", &json!({ "text": "x".repeat(20 << 20) }));
    assert_eq!(answer.status, 413);
    assert!(answer.body.contains("--max-request"), "{}", answer.body);
}

#[test]
fn idle_connections_make_room_and_busy_ones_stay() {
    let service = Service::start(&["--max-connections-each", "4"]);
    let path = "/api/games/connect_four/think";
    let asked = json!({ "role": 0, "player": "mcts:100s" });
    let mut busy = service.stream_of(path, &asked);
    // On a busy machine the network may not be ready at once.
    let begun = (0..).map(|_| busy.next_event().0);
    let first = begun.into_iter().find(|event| event != "preparing");
    assert_eq!(first.as_deref(), Some("thought"));
    let idle: Vec<TcpStream> = (0..10).map(|_| connect(&service)).collect();
    assert_eq!(service.get("/api/players").status, 200);
    for stream in idle.into_iter().take(6) {
        assert_eq!(rest(stream), "");
    }
    assert_eq!(busy.next_event().0, "thought");
}

#[test]
fn a_long_answer_is_given_up_while_others_are_answered() {
    let service = Service::start(&["--max-question", "0.5"]);
    let endless = "(role r) (init p) (legal r go) (legal r stay) (next p) (goal r 0)
                   (<= terminal (not (true p)))";
    let id = service.post("/api/games", &set(endless)).ok()["id"].clone();
    let path = format!("/api/games/{}/position", id.as_str().expect("a name"));
    let start = json!({ "moves": [] });
    let long = json!({ "moves": vec![["go"]; 500_000] });
    let other = service.anew();
    other.post("/api/games/nim/position", &start).ok();
    std::thread::scope(|scope| {
        let long = scope.spawn(|| service.post(&path, &long));
        for _ in 0..10 {
            other.post("/api/games/nim/position", &start).ok();
        }
        let answer = long.join().expect("it ends");
        assert_eq!(answer.status, 422, "{}", answer.body);
        assert!(answer.body.contains("--max-question"), "{}", answer.body);
    });
    // The turns are there again.
    for _ in 0..4 {
        service.post("/api/games/nim/position", &start).ok();
    }
}

#[test]
fn names_of_the_server_are_given_by_its_user() {
    let service = Service::start(&["--listen", "0.0.0.0", "--host", "games.example"]);
    let status = |host: &str| {
        let headers = format!("Host: {host}\r\n");
        service.get_with("/api/players", &headers).status
    };
    assert_eq!(status("games.example"), 200);
    assert_eq!(status("192.0.2.1:9180"), 200);
    assert_eq!(status("localhost"), 200);
    assert_eq!(status("evil.example"), 403);
    let answer = service.get_with("/api/players", "Host: evil.example\r\n");
    assert!(
        answer.body.contains("--host evil.example"),
        "{}",
        answer.body
    );
}

#[test]
fn a_session_has_its_number_of_tables() {
    let service = Service::start(&["--max-tables-each", "1"]);
    let table = json!({ "game": "tic_tac_toe", "seats": ["person", "person"] });
    service.get("/api/players");
    assert_eq!(service.post("/api/tables", &table).status, 200);
    assert_eq!(service.post("/api/tables", &table).status, 429);
    let other = service.anew();
    other.get("/api/players");
    assert_eq!(other.post("/api/tables", &table).status, 200);
    // A table that is laid by the first request counts, too.
    let hasty = service.anew();
    let statuses = [(); 2].map(|()| hasty.post("/api/tables", &table).status);
    assert_eq!(statuses, [200, 429]);
}

#[test]
fn a_flood_of_sessions_does_not_take_the_rules_of_others() {
    let service = Service::start(&["--max-sessions", "10"]);
    let id = service.post("/api/games", &set(WALK)).ok()["id"].clone();
    let path = format!("/api/games/{}/position", id.as_str().expect("a name"));
    service.post(&path, &json!({ "moves": [] })).ok();
    for number in 0..50 {
        let own = format!("; {number}\n{WALK}");
        service.anew().post("/api/games", &set(&own)).ok();
    }
    service.post(&path, &json!({ "moves": [["go"]] })).ok();
}

#[test]
fn a_client_that_asks_before_it_sends_too_much_is_refused_at_once() {
    let service = Service::start(&["--max-request", "1000"]);
    let status = |length: usize| {
        let head = format!(
            "POST /api/check HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
        );
        let mut stream = connect(&service);
        stream.write_all(head.as_bytes()).expect("it is open");
        let mut bytes = [0; 12];
        stream.read_exact(&mut bytes).expect("it answers");
        String::from_utf8_lossy(&bytes).into_owned()
    };
    assert_eq!(status(1000), "HTTP/1.1 100");
    assert_eq!(status(1001), "HTTP/1.1 413");
    assert_eq!(status(5_000_000), "HTTP/1.1 413");
}

#[test]
fn byte_order_marks_are_accepted() {
    let service = Service::start(&[]);
    let marked = format!("\u{feff}{WALK}");
    let picture = "\u{feff}[captions]\nat = \"place\"\n";
    let set = json!({ "files": [{ "name": "walk.kif", "text": marked }], "picture": picture });
    for mark in ["", "\u{feff}"] {
        let body = format!("{mark}{set}");
        let head = format!(
            "POST /api/games HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut stream = connect(&service);
        stream.write_all(head.as_bytes()).expect("it is open");
        let answer = rest(stream);
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
}
