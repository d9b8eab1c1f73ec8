//! Hostile clients.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use rand::seq::IndexedRandom;
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::{Value, json};

use super::Options;
use super::server::{Client, beginning};

/// Number of matches that hostile peers name.
pub const HOSTILE_MATCHES: u32 = 20;
/// Rules that are short and need much work.
const HEAVY: [&str; 5] = [
    // A wide join in each state.
    "(role r) (<= (n ?x) (d ?x)) (d 0) (d 1) (d 2) (d 3) (d 4) (d 5) (d 6) (d 7) (d 8) (d 9)
     (<= (w ?a ?b ?c ?d ?e ?f) (n ?a) (n ?b) (n ?c) (n ?d) (n ?e) (n ?f))
     (init (p 0)) (<= (legal r (go ?a)) (true (p ?b)) (w ?a ?b ?c ?d ?e ?f))
     (<= (next (p ?a)) (does r (go ?a))) (<= terminal (true (p 11))) (goal r 0)",
    // Terms that double.
    "(role r) (init (p a)) (legal r go) (<= (next (p (f ?x ?x))) (true (p ?x)))
     (<= terminal (true (p b))) (goal r 0)",
    // States that double.
    "(role r) (init (p a)) (legal r go) (<= (next (p (f ?x))) (true (p ?x)))
     (<= (next (p (g ?x))) (true (p ?x))) (<= terminal (true (p b))) (goal r 0)",
    // A puzzle without a solution, and with many states.
    "(role r) (<= (base (on ?x)) (d ?x)) (<= (input r (flip ?x)) (d ?x))
     (d 1) (d 2) (d 3) (d 4) (d 5) (d 6) (d 7) (d 8) (d 9) (d 10) (d 11) (d 12) (d 13) (d 14)
     (d 15) (d 16) (d 17) (d 18) (d 19) (d 20) (d 21) (d 22) (d 23) (d 24) (d 25) (d 26) (d 27)
     (<= (legal r (flip ?x)) (d ?x)) (<= (next (on ?x)) (does r (flip ?x)) (not (true (on ?x))))
     (<= (next (on ?x)) (true (on ?x)) (not (does r (flip ?x))))
     (<= never (true (on 1)) (not (true (on 1)))) (<= terminal never) (<= (goal r 100) never)
     (<= (goal r 0) (not never))",
    // Deep terms.
    "(role r) (init (p z)) (<= (legal r (m ?x)) (true (p ?x))) (<= (next (p (s ?x))) (true (p ?x)))
     (<= (next (q ?x ?y)) (true (p ?x)) (true (q ?y ?z))) (<= (next (q z ?x)) (true (p ?x)))
     (<= terminal (true (q a b))) (goal r 0)",
];

/// The address of the server, and counts of what happened.
pub struct Attack {
    pub address: SocketAddr,
    pub is_over: AtomicBool,
    /// True while players are left alone.
    pub is_paused: AtomicBool,
    pub requests: AtomicU64,
    pub failures: AtomicU64,
}

impl Attack {
    pub fn start(options: &Options, address: SocketAddr) -> Arc<Self> {
        let attack = Arc::new(Attack {
            address,
            is_over: AtomicBool::new(false),
            is_paused: AtomicBool::new(true),
            requests: AtomicU64::new(0),
            failures: AtomicU64::new(0),
        });
        let idle = Arc::clone(&attack);
        let count = options.idle;
        std::thread::spawn(move || idle.stay_idle(count));
        attack
    }

    pub fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Keeps connections open that send nothing, or a head byte by byte.
    pub fn stay_idle(&self, count: usize) {
        let mut streams: Vec<Option<TcpStream>> = (0..count).map(|_| None).collect();
        while !self.is_over() {
            for (number, place) in streams.iter_mut().enumerate() {
                let is_open = match place {
                    None => false,
                    Some(_) if number % 2 == 0 => true,
                    Some(stream) => stream.write_all(b"G").is_ok(),
                };
                if !is_open {
                    let stream = TcpStream::connect_timeout(&self.address, Duration::from_secs(1));
                    *place = stream.ok();
                }
            }
            std::thread::sleep(Duration::from_millis(500));
        }
    }

    /// Asks as a hostile session.
    pub fn ask(&self, seed: u64) {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut client = Client::new(self.address);
        let mut game = "tic_tac_toe".to_owned();
        while !self.is_over() {
            if random.random_bool(0.05) {
                client.cookie = None;
            }
            let (path, body) = request(&mut game, &mut random);
            let patience = Duration::from_millis(random.random_range(10..3_000));
            let answer = client.send(&path, Some(&body), patience);
            self.requests.fetch_add(1, Ordering::Relaxed);
            match answer {
                Ok((500.., body)) if body.contains("internal") => {
                    self.failures.fetch_add(1, Ordering::Relaxed);
                    eprintln!("{path} {}: {body}", beginning(&body.to_string()));
                }
                Ok((200, body)) if path == "/api/games" => {
                    let loaded: Value = serde_json::from_str(&body).unwrap_or_default();
                    game = loaded["id"].as_str().unwrap_or("hex").to_owned();
                }
                _ => {}
            }
        }
    }

    /// Sends damaged messages to a player.
    pub fn disturb(&self, seed: u64) {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        while !self.is_over() {
            if self.is_paused.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(10));
                continue;
            }
            let rules = HEAVY.choose(&mut random).expect("there are some");
            let message = match random.random_range(0..6) {
                0 => format!(
                    "(START siege{} r ({rules}) 5 5)",
                    random.random_range(0..HOSTILE_MATCHES)
                ),
                1 => "(".repeat(100_000),
                2 => format!("(PLAY siege ({}))", "a ".repeat(200_000)),
                3 => "(STOP siege nil)".to_owned(),
                4 => format!("(PREVIEW ({rules}) 5)"),
                _ => "(INFO)".to_owned(),
            };
            let stated = match random.random_range(0..4) {
                0 => message.len() * 1_000,
                _ => message.len(),
            };
            let send = || {
                let mut stream = TcpStream::connect_timeout(&self.address, Duration::from_secs(1))?;
                stream.set_read_timeout(Some(Duration::from_millis(200)))?;
                write!(
                    stream,
                    "POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: {stated}\r\n\r\n{message}"
                )?;
                stream.read(&mut [0; 4_096])
            };
            // Most of these are refused.
            let _ = send();
            self.requests.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// A request of a hostile session.
fn request(game: &mut String, random: &mut impl Rng) -> (String, Value) {
    let set = |text: String| json!({ "files": [{ "name": "siege.kif", "text": text }] });
    let heavy = HEAVY.choose(random).expect("there are some");
    let of_game = |what: &str, game: &str| format!("/api/games/{game}/{what}");
    let bundled = [
        "chomp",
        "checkers",
        "hex",
        "amazons",
        "othello",
        "eight_puzzle",
    ];
    if random.random_bool(0.2) {
        *game = (*bundled.choose(random).expect("there are some")).to_owned();
    }
    let many = random.random_range(0..3_000);
    match random.random_range(0..10) {
        0 | 1 => {
            let number: u32 = random.random();
            ("/api/games".to_owned(), set(format!("; {number}\n{heavy}")))
        }
        2 => {
            let text = format!(
                "{heavy} {}",
                "(<= (x ?y) (y ?y ?z) (not (z ?y)))\n".repeat(20_000)
            );
            ("/api/check".to_owned(), set(text))
        }
        3 => (
            of_game("position", game),
            json!({ "moves": vec![["go"]; many] }),
        ),
        4 => {
            let deep = format!("{}a{}", "(f ".repeat(many % 190), ")".repeat(many % 190));
            (of_game("position", game), json!({ "moves": [[deep]] }))
        }
        5 => {
            let question = json!({ "question": "terminal", "moves": vec![["go"]; many % 30] });
            (of_game("why", game), question)
        }
        6 => {
            let think = json!({ "role": 0, "player": "mcts", "seconds": 300, "tree": 5_000 });
            (of_game("think", game), think)
        }
        7 => (of_game("solve", game), json!({ "seconds": 300 })),
        8 => (
            of_game("graph", game),
            json!({ "most": 20_000, "merge": "tree" }),
        ),
        _ => {
            let table = json!({ "game": game, "seats": ["person", "mcts"] });
            ("/api/tables".to_owned(), table)
        }
    }
}
