//! Attacks a server of `ggp` while an honest client uses it, and reports how long that one
//! waits.
//!
//! `web`: hostile sessions upload rules without end, ask for long answers, start players and
//! solvers and go away; idle connections send a byte now and then. An honest session loads
//! games, plays and asks meanwhile; each answer must come within the time given by
//! `--within`. `player`: the same connections and damaged messages go to a network player in
//! a match, which must make each move in time. `page-use`, `matches` and `hosted` attack
//! nothing: an honest client uses the page, or a host starts and stops matches with a player
//! or plays whole ones, as often as `--times` says, and the memory of the processes is shown.
//! The exit code is 1 if an answer is late or wrong, or the memory grows.
//!
//! ```sh
//! cargo build --release && cargo run --release -p ggp-fuzz --bin ggp-siege -- web
//! ```

mod attack;
mod honest;
mod server;

use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use clap::{Parser, ValueEnum};
use serde_json::Value;

use attack::{Attack, HOSTILE_MATCHES};
use honest::Round;
use server::{Server, Sizes, beginning, tell};

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
    Hosted,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let result = match options.target {
        Target::Web => web(&options),
        Target::Player => player(&options),
        Target::PageUse => page_use(&options),
        Target::Matches => matches(&options),
        Target::Hosted => hosted(&options),
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
    let (server, address) = Server::start(options, &["player", "--port", "0"])?;
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../games/connect_four.kif");
    let rules = std::fs::read_to_string(file)?;
    let mut sizes = Sizes(Vec::new());
    let mut wrong = 0;
    for done in 1..=options.times {
        let started = tell(address, &format!("(START m{done} red ({rules}) 1 1)"))?;
        let stopped = tell(address, &format!("(STOP m{done} (noop noop))"))?;
        if !started.contains("ready") || !stopped.contains("done") {
            wrong += 1;
            println!("wrong: {} {}", beginning(&started), beginning(&stopped));
        }
        sizes.watch(&server, done, options.times);
    }
    println!("{} matches, {wrong} wrong answers", options.times);
    Ok(wrong == 0 && sizes.are_flat())
}

/// Plays whole matches between one player and the agents of one host.
fn hosted(options: &Options) -> anyhow::Result<bool> {
    let (player, address) = Server::start(options, &["player", "--port", "0"])?;
    let folder = tempfile::tempdir()?;
    let results = folder.path().join("results.jsonl");
    let game = concat!(env!("CARGO_MANIFEST_DIR"), "/../../games/tic_tac_toe.kif");
    let mut command = Command::new(&options.ggp);
    command.args(["tournament", "--quiet", "--games", game, "--results"]);
    command.arg(&results).arg("--player");
    command.args([&format!("http://{address}"), "--player", "random"]);
    // Each player has each role once in a round.
    command.args(["--rounds", &options.times.div_ceil(2).to_string()]);
    command.args(["--start-clock", "5", "--play-clock", "5"]);
    let mut host = Server::new(command.stdout(Stdio::null()).spawn()?);
    let mut sizes = [Sizes(Vec::new()), Sizes(Vec::new())];
    let (mut shown, part) = (0, (options.times / 10).max(1));
    let code = loop {
        let ended = host.ended()?;
        let rows = std::fs::read_to_string(&results).unwrap_or_default();
        let done = rows.lines().count() as u32;
        if done / part > shown && ended.is_none() {
            shown = done / part;
            for (sizes, (name, server)) in
                sizes.iter_mut().zip([("host", &host), ("player", &player)])
            {
                print!("{name} ");
                sizes.watch(server, shown * part, options.times);
            }
        }
        if let Some(code) = ended {
            let errors = rows.lines().filter(|row| !row.contains("\"errors\":[]"));
            println!("{done} matches, {} with errors", errors.count());
            break code;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    Ok(code.success() && sizes.iter().all(Sizes::are_flat))
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
    let (mut moves, mut matches, mut errors) = (0, 0, Vec::new());
    while began.elapsed().as_secs_f64() < options.seconds {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../games/connect_four.kif");
        let host = Command::new(&options.ggp)
            .args([
                "host",
                file,
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
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        // A player is in one match only, so the hostile ones must not be the first.
        std::thread::sleep(Duration::from_millis(500));
        attack.is_paused.store(false, Ordering::Relaxed);
        let host = host.wait_with_output()?;
        attack.is_paused.store(true, Ordering::Relaxed);
        // A hostile match may have begun after the end of the other.
        std::thread::sleep(Duration::from_millis(500));
        for number in 0..HOSTILE_MATCHES {
            tell(address, &format!("(ABORT siege{number})"))?;
        }
        let record: Value = serde_json::from_slice(&host.stdout)
            .with_context(|| String::from_utf8_lossy(&host.stderr).into_owned())?;
        let answers = record["errors"]
            .as_array()
            .context("no errors in the record")?;
        matches += 1;
        moves += answers.len();
        let of_player = answers.iter().filter_map(|answers| answers[0].as_str());
        errors.extend(
            of_player
                .filter(|error| !error.is_empty())
                .map(str::to_owned),
        );
    }
    attack.is_over.store(true, Ordering::Relaxed);
    let requests = attack.requests.load(Ordering::Relaxed);
    println!(
        "{requests} hostile messages, {matches} matches, {moves} answers of the player, {} late or \
         wrong, peak {} MB",
        errors.len(),
        server.size("VmHWM")
    );
    errors
        .iter()
        .take(20)
        .for_each(|error| println!("wrong: {error}"));
    Ok(errors.is_empty())
}
