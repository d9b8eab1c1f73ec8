//! Attacks a server of `ggp` while an honest client uses it, and reports how long that one
//! waits.
//!
//! `web`: hostile sessions upload rules without end, ask for long answers, start players and
//! solvers and go away; idle connections send a byte now and then. An honest session loads
//! games, plays and asks meanwhile; each answer must come within the time given by
//! `--within`. `player`: the same connections and damaged messages go to a network player in
//! a match, which must make each move in time. `page-use` and `matches` attack nothing: an
//! honest client uses the page, or a host starts and stops matches with a player, as often as
//! `--times` says, and the memory of the server is shown. The exit code is 1 if an answer is
//! late or wrong, or the memory grows.
//!
//! ```sh
//! cargo build --release && cargo run --release -p ggp-fuzz --bin ggp-siege -- web
//! ```

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use clap::{Parser, ValueEnum};
use rand::seq::IndexedRandom;
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::{Value, json};

/// Attack a server while an honest client uses it
#[derive(Parser)]
struct Options {
    /// The server
    target: Target,
    /// Seconds of the attack
    #[arg(long, default_value_t = 60.0)]
    seconds: f64,
    /// Number of hostile sessions
    #[arg(long, default_value_t = 20)]
    sessions: usize,
    /// Number of idle connections
    #[arg(long, default_value_t = 500)]
    idle: usize,
    /// Seconds within which each answer must come
    #[arg(long, default_value_t = 2.0)]
    within: f64,
    /// Number of rounds of the page, or of matches
    #[arg(long, default_value_t = 1_000)]
    times: u32,
    /// The program that is attacked
    #[arg(long, value_name = "FILE", default_value = "target/release/ggp")]
    ggp: PathBuf,
    /// Further options of the program, such as `--memory=500`
    #[arg(last = true)]
    options: Vec<String>,
}

#[derive(Copy, Clone, ValueEnum)]
enum Target {
    Web,
    Player,
    PageUse,
    Matches,
}

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
struct Attack {
    address: SocketAddr,
    is_over: AtomicBool,
    requests: AtomicU64,
    failures: AtomicU64,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let result = match options.target {
        Target::Web => web(&options),
        Target::Player => player(&options),
        Target::PageUse => page_use(&options),
        Target::Matches => matches(&options),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// A server that ends with this value.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Server {
    /// Starts a command that prints its address, `http://ADDRESS`.
    fn start(options: &Options, command: &[&str]) -> anyhow::Result<(Self, SocketAddr)> {
        let mut child = Command::new(&options.ggp)
            .args(command)
            .args(&options.options)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start {}", options.ggp.display()))?;
        let shown = child.stdout.take().expect("it is piped");
        let server = Server(child);
        let mut lines = BufReader::new(shown).lines();
        let address = loop {
            let line = lines.next().context("the server ended")??;
            if let Some((_, address)) = line.split_once("http://") {
                let end = address.find(|c: char| !c.is_ascii_digit() && !".:".contains(c));
                break address[..end.unwrap_or(address.len())].parse()?;
            }
        };
        // What it prints later is not needed, but must be taken.
        std::thread::spawn(move || lines.for_each(drop));
        Ok((server, address))
    }

    /// A size of the process in MB, as Linux tells it: `VmHWM` is the most memory that it has
    /// had, `VmRSS` what it has now. 0 elsewhere.
    fn size(&self, field: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.0.id()));
        let status = status.unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix(field));
        let kilobytes = line.map(|line| line.trim_matches(|c: char| !c.is_ascii_digit()));
        let kilobytes: u64 = kilobytes
            .and_then(|kilobytes| kilobytes.parse().ok())
            .unwrap_or(0);
        kilobytes >> 10
    }
}

/// A client with one connection at a time.
struct Client {
    address: SocketAddr,
    cookie: Option<String>,
}

/// An answer: its status and its body.
type Answer = (u16, String);

impl Client {
    fn new(address: SocketAddr) -> Self {
        Client {
            address,
            cookie: None,
        }
    }

    /// Sends a request and reads the answer for at most `time`.
    fn send(
        &mut self,
        path: &str,
        body: Option<&Value>,
        time: Duration,
    ) -> std::io::Result<Answer> {
        let mut stream = TcpStream::connect_timeout(&self.address, time)?;
        stream.set_read_timeout(Some(time))?;
        stream.set_write_timeout(Some(time))?;
        let cookie = self.cookie.as_deref().unwrap_or("none=0");
        let head = match body {
            None => format!("GET {path}"),
            Some(_) => format!("POST {path}"),
        };
        let body = body.map(Value::to_string).unwrap_or_default();
        write!(
            stream,
            "{head} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncookie: {cookie}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )?;
        let mut answer = Vec::new();
        let began = Instant::now();
        let mut part = [0; 1 << 16];
        loop {
            let length = stream.read(&mut part)?;
            answer.extend_from_slice(&part[..length]);
            if length == 0 {
                break;
            }
            if began.elapsed() > time {
                return Err(std::io::ErrorKind::TimedOut.into());
            }
        }
        let answer = String::from_utf8_lossy(&answer);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        let status = status.ok_or(std::io::ErrorKind::UnexpectedEof)?;
        let mut lines = head.lines();
        if let Some(cookie) = lines.find_map(|line| line.strip_prefix("set-cookie: ")) {
            self.cookie = cookie.split(';').next().map(str::to_owned);
        }
        Ok((status, body.to_owned()))
    }
}

impl Attack {
    fn start(options: &Options, address: SocketAddr) -> Arc<Self> {
        let attack = Arc::new(Attack {
            address,
            is_over: AtomicBool::new(false),
            requests: AtomicU64::new(0),
            failures: AtomicU64::new(0),
        });
        let idle = Arc::clone(&attack);
        let count = options.idle;
        std::thread::spawn(move || idle.stay_idle(count));
        attack
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Keeps connections open that send nothing, or a head byte by byte.
    fn stay_idle(&self, count: usize) {
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
    fn ask(&self, seed: u64) {
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
    fn disturb(&self, seed: u64) {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        while !self.is_over() {
            let rules = HEAVY.choose(&mut random).expect("there are some");
            let message = match random.random_range(0..6) {
                0 => format!(
                    "(START siege{} r ({rules}) 5 5)",
                    random.random_range(0..99)
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

fn beginning(text: &str) -> String {
    text.chars().take(200).collect()
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

/// The use of the page by an honest session.
struct Round {
    client: Client,
    /// The identifier of rules that were uploaded once and stay.
    own: Option<String>,
    /// By kind of answer: the time that each took.
    times: BTreeMap<&'static str, Vec<Duration>>,
    wrong: Vec<String>,
}

impl Round {
    fn new(address: SocketAddr) -> Self {
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
    fn run(&mut self) {
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

/// Sizes of a server during its use. They grow if the last is above the second by more than a
/// tenth and 20 MB.
struct Sizes(Vec<u64>);

impl Sizes {
    /// Shows the size after each tenth of the use.
    fn watch(&mut self, server: &Server, done: u32, all: u32) {
        if done.is_multiple_of((all / 10).max(1)) {
            let size = server.size("VmRSS");
            println!("after {done}: {size} MB");
            self.0.push(size);
        }
    }

    fn are_flat(&self) -> bool {
        match &self.0[..] {
            [_, second, .., last] => *last <= second + second / 10 + 20,
            _ => true,
        }
    }
}

/// Uses the page as often as the options say.
fn page_use(options: &Options) -> anyhow::Result<bool> {
    let (server, address) = Server::start(options, &["web", "--port", "0"])?;
    let (mut round, mut sizes) = (Round::new(address), Sizes(Vec::new()));
    for done in 1..=options.times {
        // Another person now and then.
        if done % 20 == 0 {
            round.client.cookie = None;
            round.own = None;
        }
        round.run();
        sizes.watch(&server, done, options.times);
    }
    round
        .wrong
        .iter()
        .take(20)
        .for_each(|line| println!("wrong: {line}"));
    let requests: usize = round.times.values().map(Vec::len).sum();
    println!("{requests} requests, {} wrong answers", round.wrong.len());
    Ok(round.wrong.is_empty() && sizes.are_flat())
}

/// Starts and stops matches with a player as often as the options say.
fn matches(options: &Options) -> anyhow::Result<bool> {
    let command = ["player", "--port", "0", "--player", "mcts"];
    let (server, address) = Server::start(options, &command)?;
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../games/connect_four.kif");
    let rules = std::fs::read_to_string(file)?;
    let mut sizes = Sizes(Vec::new());
    let send = |message: &str| -> anyhow::Result<String> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(Duration::from_secs(30)))?;
        let length = message.len();
        write!(
            stream,
            "POST / HTTP/1.0\r\nhost: localhost\r\ncontent-length: {length}\r\n\r\n{message}"
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    };
    let mut wrong = 0;
    for done in 1..=options.times {
        let started = send(&format!("(START m{done} red ({rules}) 1 1)"))?;
        let stopped = send(&format!("(STOP m{done} (noop noop))"))?;
        if !started.contains("ready") || !stopped.contains("done") {
            wrong += 1;
            println!("wrong: {} {}", beginning(&started), beginning(&stopped));
        }
        sizes.watch(&server, done, options.times);
    }
    println!("{} matches, {wrong} wrong answers", options.times);
    Ok(wrong == 0 && sizes.are_flat())
}

/// Attacks the page. The result is true if every honest answer was right and in time.
fn web(options: &Options) -> anyhow::Result<bool> {
    let (server, address) = Server::start(options, &["web", "--port", "0"])?;
    let attack = Attack::start(options, address);
    for seed in 0..options.sessions {
        let attack = Arc::clone(&attack);
        std::thread::spawn(move || attack.ask(seed as u64));
    }
    std::thread::sleep(Duration::from_secs(1));
    let began = Instant::now();
    let mut round = Round::new(address);
    while began.elapsed().as_secs_f64() < options.seconds {
        round.run();
        std::thread::sleep(Duration::from_millis(100));
    }
    let Round {
        mut times, wrong, ..
    } = round;
    attack.is_over.store(true, Ordering::Relaxed);
    let mut slowest = Duration::ZERO;
    println!("answer                     number  median s  longest s");
    for (what, times) in &mut times {
        times.sort_unstable();
        let [median, longest] = [times[times.len() / 2], times[times.len() - 1]];
        slowest = slowest.max(longest);
        println!(
            "{what:<26} {:>6} {:>9.3} {:>10.3}",
            times.len(),
            median.as_secs_f64(),
            longest.as_secs_f64()
        );
    }
    wrong
        .iter()
        .take(20)
        .for_each(|line| println!("wrong: {line}"));
    let requests = attack.requests.load(Ordering::Relaxed);
    let failures = attack.failures.load(Ordering::Relaxed);
    println!(
        "{requests} hostile requests, {failures} internal errors, {} wrong answers, peak {} MB",
        wrong.len(),
        server.size("VmHWM")
    );
    Ok(wrong.is_empty() && failures == 0 && slowest.as_secs_f64() <= options.within)
}

/// Attacks a player. The result is true if it made all moves in time.
fn player(options: &Options) -> anyhow::Result<bool> {
    let (server, address) = Server::start(options, &["player", "--port", "0", "--player", "mcts"])?;
    let attack = Attack::start(options, address);
    for seed in 0..options.sessions {
        let attack = Arc::clone(&attack);
        std::thread::spawn(move || attack.disturb(seed as u64));
    }
    let began = Instant::now();
    let (mut moves, mut late, mut busy) = (0, Vec::new(), 0);
    while began.elapsed().as_secs_f64() < options.seconds {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../games/connect_four.kif");
        let host = Command::new(&options.ggp)
            .args([
                "host",
                folder,
                "--start-clock",
                "3",
                "--play-clock",
                "2",
                "--json",
            ])
            .args([
                "--player",
                &format!("http://{address}"),
                "--player",
                "random",
            ])
            .output()?;
        let record: Value = serde_json::from_slice(&host.stdout)
            .with_context(|| String::from_utf8_lossy(&host.stderr).into_owned())?;
        let errors = record["errors"]
            .as_array()
            .context("no errors in the record")?;
        let of_player = errors
            .iter()
            .map(|errors| errors[0].as_str().unwrap_or("?"));
        let of_player: Vec<&str> = of_player.collect();
        moves += of_player.len();
        // A player that is in a hostile match says so at once.
        match of_player
            .iter()
            .all(|error| error.contains("busy") || error.is_empty())
        {
            true if of_player.iter().any(|error| error.contains("busy")) => busy += 1,
            true => {}
            false => late.extend(of_player.iter().map(ToString::to_string)),
        }
    }
    attack.is_over.store(true, Ordering::Relaxed);
    let requests = attack.requests.load(Ordering::Relaxed);
    late.retain(|error| !error.is_empty());
    println!(
        "{requests} hostile messages, {moves} answers of the player, {} errors, {busy} matches \
         refused as it was in another, peak {} MB",
        late.len(),
        server.size("VmHWM")
    );
    late.iter()
        .take(20)
        .for_each(|error| println!("error: {error}"));
    ensure!(moves > 0, "no match was played");
    Ok(late.is_empty())
}
