//! An honest session of the page.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::server::{Client, beginning};

/// The use of the page by an honest session.
pub struct Round {
    pub client: Client,
    /// The identifier of rules that were uploaded once and stay.
    pub own: Option<String>,
    /// By kind of answer: the time that each took.
    pub times: BTreeMap<&'static str, Vec<Duration>>,
    pub wrong: Vec<String>,
}

impl Round {
    pub fn new(address: SocketAddr) -> Self {
        Round {
            client: Client::new(address),
            own: None,
            times: BTreeMap::new(),
            wrong: Vec::new(),
        }
    }

    /// Sends a request whose answer takes `usual` seconds in any case.
    fn ask(&mut self, kind: &'static str, path: &str, body: Option<&Value>, usual: f64) -> Value {
        let asked = Instant::now();
        let answer = self.client.send(path, body, Duration::from_secs(30));
        let took = asked
            .elapsed()
            .saturating_sub(Duration::from_secs_f64(usual));
        self.times.entry(kind).or_default().push(took);
        match answer {
            Ok((200, body)) => return serde_json::from_str(&body).unwrap_or_default(),
            Ok((status, body)) => {
                (self.wrong).push(format!("{kind}: {status} {}", beginning(&body)))
            }
            Err(error) => (self.wrong).push(format!("{kind}: {error} after {took:?}")),
        }
        Value::Null
    }

    /// Loads the page and games, plays, asks, and lets players think.
    pub fn run(&mut self) {
        let start = json!({ "moves": [] });
        self.ask("page", "/", None, 0.0);
        self.ask("list of games", "/api/games", None, 0.0);
        let rules = "(role r) (init a) (legal r go) (<= (next b) (does r go))
                     (<= terminal (true b)) (goal r 100)";
        let rules = json!({ "files": [{ "name": "own.kif", "text": rules }] });
        let loaded = self.ask("own rules", "/api/games", Some(&rules), 0.0);
        let id = loaded["id"].as_str().unwrap_or_default();
        let own = self.own.get_or_insert_with(|| id.to_owned());
        let path = format!("/api/games/{own}/position");
        self.ask(
            "own position",
            &path,
            Some(&json!({ "moves": [["go"]] })),
            0.0,
        );
        for game in ["tic_tac_toe", "connect_four", "checkers", "hex"] {
            let path = |what: &str| format!("/api/games/{game}/{what}");
            let position = self.ask("position", &path("position"), Some(&start), 0.0);
            let Some(first) = position["legal"][0][0]["move"].as_str() else {
                continue;
            };
            let moves = json!({ "moves": [[first]] });
            self.ask("move", &path("position"), Some(&moves), 0.0);
            let why = json!({ "question": "terminal", "moves": [[first]] });
            self.ask("why", &path("why"), Some(&why), 0.0);
            let think = json!({ "role": 0, "player": "mcts", "seconds": 0.3, "moves": [] });
            self.ask("player, beyond its time", &path("think"), Some(&think), 0.3);
        }
    }
}
