//! Requests of the page: none causes a panic, a failure of the server or an endless answer.
//!
//! Each line of an input is a request: method, path and body. In it, `{game}` is the rule set
//! that an earlier line uploaded, `{table}` the table that one opened, and `{key}` the key of
//! its first seat. Each input is a session of its own.

mod client;

use std::net::SocketAddr;
use std::sync::{OnceLock, mpsc};
use std::thread;
use std::time::Duration;

use ggp_play::AGENT_KINDS;
use ggp_solver::solve::Method;
use ggp_web::{Server, WebLimits};
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::{Value, json};

use super::reading;
use crate::plays::random_moves;
use crate::{Known, change, json, rules};
use client::{Answer, Client};

/// The longest time for a player or a solver.
const THOUGHT: Duration = Duration::from_millis(300);

/// The address of the server, which runs until the process ends.
fn server() -> SocketAddr {
    static ADDRESS: OnceLock<SocketAddr> = OnceLock::new();
    *ADDRESS.get_or_init(|| {
        let limits = WebLimits {
            sessions: 20,
            idle: Duration::from_secs(60),
            tables: 20,
            thought: THOUGHT,
            // Of the whole process, which other targets share.
            memory_bytes: 4 << 30,
            ..WebLimits::default()
        };
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread();
            let runtime = { runtime }.enable_all().build().expect("it can be built");
            runtime.block_on(async {
                let any = SocketAddr::from(([127, 0, 0, 1], 0));
                let server = Server::bind(any, limits).await.expect("a port is free");
                let address = server.address().expect("it has an address");
                sender.send(address).expect("somebody waits");
                let _ = server.serve(std::future::pending()).await;
            });
        });
        receiver.recv().expect("the server listens")
    })
}

/// A session of requests.
pub fn make(known: &Known, random: &mut Xoshiro256PlusPlus) -> String {
    let mut lines = Vec::new();
    let (id, text) = match random.random_bool(0.5) {
        true => {
            let (name, text) = &known.games[random.random_range(0..known.games.len())];
            (name.clone(), text.clone())
        }
        false => {
            let text = match random.random_range(0..4) {
                0 => known.texts[random.random_range(0..known.texts.len())].clone(),
                _ => rules::any(&known.texts, random),
            };
            let mut body = json!({ "files": [{ "name": "a.kif", "text": text }] });
            if random.random_range(0..3) == 0 && !known.pictures.is_empty() {
                let picture = change::changed(&known.pictures, random);
                body["picture"] = json!(picture);
            }
            if random.random_range(0..4) == 0 {
                json::change(&mut body, std::slice::from_ref(&text), random);
            }
            let path = pick(&["games", "games", "games", "games", "check"], random);
            lines.push(format!("POST /api/{path} {}", json::line(&body, random)));
            ("{game}".to_owned(), text)
        }
    };
    let most = random.random_range(0..8);
    let moves = match reading(&text).game {
        Some(game) => random_moves(&game, most, random),
        None => Vec::new(),
    };
    let words = words(&text, random);
    for _ in 0..random.random_range(1..5) {
        lines.push(request(&id, &moves, &words, random));
    }
    lines.join("\n")
}

/// Some words of a text, questions, and the names of players and methods.
fn words(text: &str, random: &mut Xoshiro256PlusPlus) -> Vec<String> {
    let is_end = |c: char| c.is_whitespace() || "()".contains(c);
    let found: Vec<&str> = text.split(is_end).filter(|word| !word.is_empty()).collect();
    let pick = |random: &mut Xoshiro256PlusPlus| match found.is_empty() {
        true => "a",
        false => found[random.random_range(0..found.len())],
    };
    let mut words = Vec::new();
    for _ in 0..5 {
        words.push(pick(random).to_owned());
        words.push(format!("({} {})", pick(random), pick(random)));
        words.push(format!("({} {} ?x)", pick(random), pick(random)));
        words.push(format!("({} ?x ({} ?y))", pick(random), pick(random)));
    }
    words.extend(["person", "terminal", "state", "tree"].map(str::to_owned));
    words
}

fn pick<T: Copy>(from: &[T], random: &mut Xoshiro256PlusPlus) -> T {
    from[random.random_range(0..from.len())]
}

/// A player, with options that may be wrong.
fn player(random: &mut Xoshiro256PlusPlus) -> String {
    let kind = &AGENT_KINDS[random.random_range(0..AGENT_KINDS.len())];
    let mut player = kind.name.to_owned();
    let mut mark = ':';
    for (usage, _) in kind.options {
        if random.random_range(0..4) == 0 {
            let name = usage.split('=').next().unwrap_or(usage);
            let values = ["0", "1", "3", "0.5", "-1", "1e9", "on", "x", "99999999999"];
            player += &format!("{mark}{name}={}", pick(&values, random));
            mark = ',';
        }
    }
    if kind.thinks() && random.random() {
        let limits = ["1", "200", "0.02s", "0", "99999999s", "1e-9s", "NaNs"];
        player += &format!("{mark}{}", pick(&limits, random));
    }
    player
}

/// A request about a game after moves.
fn request(
    id: &str,
    moves: &[Vec<String>],
    words: &[String],
    random: &mut Xoshiro256PlusPlus,
) -> String {
    let seconds = pick(&[0.02, 0.05, 0.2], random);
    let moves = &moves[..random.random_range(0..=moves.len())];
    let word = |random: &mut Xoshiro256PlusPlus| &words[random.random_range(0..words.len())];
    let (method, path, mut body) = match random.random_range(0..16) {
        0 => ("GET", format!("games/{id}"), Value::Null),
        1 => ("GET", format!("games/{id}/picture.svg"), Value::Null),
        2 => {
            let paths = [
                "games",
                "players",
                "methods",
                "openapi.json",
                "tables/{table}",
                "x",
            ];
            ("GET", pick(&paths, random).to_owned(), Value::Null)
        }
        3..7 => ("POST", format!("games/{id}/position"), json!({})),
        7..9 => {
            let mut body = json!({ "question": word(random) });
            if random.random() {
                body["history"] = json!(true);
            }
            if let Some(does) = moves.last().filter(|_| random.random()) {
                body["does"] = json!(does);
            }
            ("POST", format!("games/{id}/why"), body)
        }
        9..11 => {
            let body = json!({
                "role": random.random_range(0..3),
                "player": player(random),
                "seconds": seconds,
                "tree": pick(&[0, 10, 5_000], random),
            });
            ("POST", format!("games/{id}/think"), body)
        }
        11..13 => {
            let mut body = json!({ "seconds": seconds });
            if random.random() {
                let methods: Vec<&str> = Method::all().map(Method::name).collect();
                body["method"] = json!(pick(&methods, random));
            }
            ("POST", format!("games/{id}/solve"), body)
        }
        13 => {
            let body = json!({
                "merge": pick(&["stripped", "state", "tree"], random),
                "depth": random.random_range(0..5),
                "most": random.random_range(1..500),
                "role": random.random_range(0..3),
            });
            ("POST", format!("games/{id}/graph"), body)
        }
        14 => {
            let seats: Vec<String> = (0..random.random_range(1..4))
                .map(|_| match random.random() {
                    true => "person".to_owned(),
                    false => player(random),
                })
                .collect();
            let body = json!({ "game": id, "seats": seats });
            ("POST", "tables".to_owned(), body)
        }
        _ => {
            let chosen = moves.last().and_then(|joint| joint.first());
            let body = json!({
                "key": "{key}",
                "ply": moves.len().saturating_sub(1),
                "move": chosen.unwrap_or(word(random)),
            });
            let path = "tables/{table}/moves".to_owned();
            return format!("POST /api/{path} {}", changed(body, words, random));
        }
    };
    if body.is_null() {
        return format!("{method} /api/{path}");
    }
    body["moves"] = json!(moves);
    format!("{method} /api/{path} {}", changed(body, words, random))
}

/// A body, perhaps with changes.
fn changed(mut body: Value, words: &[String], random: &mut Xoshiro256PlusPlus) -> String {
    if random.random() {
        for _ in 0..random.random_range(1..4) {
            json::change(&mut body, words, random);
        }
    }
    json::line(&body, random)
}

pub fn run(input: &str, _: u64) -> Result<u64, String> {
    let mut client = Client::new(server());
    let mut names: [(&str, Option<String>); 3] =
        [("{game}", None), ("{table}", None), ("{key}", None)];
    let mut answers = 0;
    for line in input.lines() {
        let mut line = line.to_owned();
        for (name, value) in &names {
            if let Some(value) = value {
                line = line.replace(name, value);
            }
        }
        let (method, rest) = line.split_once(' ').unwrap_or((&line, "/"));
        let (path, body) = rest.split_once(' ').unwrap_or((rest, ""));
        let is_followed = method == "GET" && path.starts_with("/api/tables/");
        let answer = client
            .ask(method, path, body, is_followed)
            .map_err(|error| format!("{error}\n{line}"))?;
        check(&answer, is_followed).map_err(|error| format!("{error}\n{line}"))?;
        answers += 1;
        if answer.status == 200 && method == "POST" {
            let value: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
            let text = |value: &Value| value.as_str().map(str::to_owned);
            match path {
                "/api/games" => names[0].1 = text(&value["id"]),
                "/api/tables" => {
                    names[1].1 = text(&value["table"]);
                    let keys = value["keys"].as_array();
                    names[2].1 = keys.and_then(|keys| keys.iter().find_map(text));
                }
                _ => {}
            }
        }
    }
    Ok(answers)
}

/// Checks that an answer is well-formed.
fn check(answer: &Answer, is_followed: bool) -> Result<(), String> {
    let shown = || String::from_utf8_lossy(&answer.body).into_owned();
    if answer.status >= 500 || shown().contains("internal error") {
        return Err(format!("status {}: {}", answer.status, shown()));
    }
    match answer.kind.as_str() {
        "application/json" => {
            let value: Value = serde_json::from_slice(&answer.body)
                .map_err(|error| format!("not JSON, {error}: {}", shown()))?;
            // Rules with errors are answered with findings.
            let is_refused = value["message"].is_string() || value["findings"].is_array();
            match answer.status < 400 || is_refused {
                true => Ok(()),
                false => Err(format!("a refusal without a message: {value}")),
            }
        }
        "text/event-stream" => {
            let text = shown();
            let mut last = "";
            for event in text.split("\n\n").filter(|event| !event.is_empty()) {
                let mut lines = event.lines();
                let name = lines.next().unwrap_or_default();
                // Nothing but a sign of life.
                let Some(name) = name.strip_prefix("event: ") else {
                    continue;
                };
                last = name;
                let data = lines.next().and_then(|line| line.strip_prefix("data: "));
                serde_json::from_str::<Value>(data.unwrap_or_default())
                    .map_err(|error| format!("an event without JSON, {error}: {event}"))?;
            }
            match is_followed || ["move", "answer", "graph", "failed"].contains(&last) {
                true => Ok(()),
                false => Err(format!("the last event is {last:?}: {text}")),
            }
        }
        _ => Ok(()),
    }
}
