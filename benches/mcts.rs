//! Speed of Monte Carlo tree search on several threads.
//!
//! ```text
//! cargo bench --bench mcts -- [--seconds S] [--rounds N] [--options NAME=VALUE,...] [FILE.kif ...]
//! ```
//!
//! Prints thousands of iterations per second from the first state, first by
//! wall-clock time, then by CPU time. The configurations take turns. On a machine
//! with other load, the second figure shows the overhead of additional threads.
//!
//! ```text
//! cargo bench --bench mcts -- --pauses [--seconds S] [--memory MB] [FILE.kif ...]
//! ```
//!
//! Thinks on one thread with a tree of at most that size, first about the first state, then
//! about the state after two moves. Prints the longest time without news from the search, how
//! often it was over 50 ms, the time to the first news after the move, and, for comparison,
//! the longest delay of a thread that only sleeps for a millisecond at a time.

use std::thread;
use std::time::{Duration, Instant};

use ggp_cli::bench::usage::cpu_time;
use ggp_gdl::game::Game;
use ggp_play::{AgentSpec, Brief, Observation, Pace};

const THREADS: [usize; 3] = [1, 2, 4];

fn main() {
    let (mut time, mut rounds, mut options) = (Duration::from_secs(1), 5, String::new());
    let (mut files, mut pauses, mut memory) = (Vec::new(), false, 64 << 20);
    // Cargo adds --bench to the user's arguments.
    let mut arguments = std::env::args().skip(1).filter(|word| word != "--bench");
    while let Some(word) = arguments.next() {
        let mut value = || arguments.next().expect("the option has a value");
        match &word[..] {
            "--seconds" => time = Duration::from_secs_f64(value().parse().expect("a number")),
            "--rounds" => rounds = value().parse().expect("a number"),
            "--pauses" => pauses = true,
            "--memory" => memory = value().parse::<u64>().expect("a number") << 20,
            "--options" => options = format!(",{}", value()),
            _ => files.push(word),
        }
    }
    if files.is_empty() {
        let usual = ["connect_four", "othello", "breakthrough", "amazons"];
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/games");
        files = usual.map(|name| format!("{folder}/{name}.kif")).into();
    }
    if pauses {
        return print_pauses(&files, time, memory);
    }
    print!("{:24}", "game");
    for threads in THREADS {
        print!(" {:>18}", format!("{threads}: clock, CPU"));
    }
    println!();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("the file can be read");
        let game = Game::from_text(&file, &text).expect("the rules are valid");
        let mut speeds = THREADS.map(|_| Speed::default());
        for seed in 0..rounds {
            for (threads, speed) in THREADS.into_iter().zip(&mut speeds) {
                let spec = format!("mcts:threads={threads}{options}");
                speed.add(
                    &game,
                    &spec.parse().expect("the options are valid"),
                    seed,
                    time,
                );
            }
        }
        print!("{:24}", file.rsplit('/').next().unwrap_or(&file));
        for speed in speeds {
            let rate = |time: Duration| speed.iterations as f64 / 1e3 / time.as_secs_f64();
            print!(" {:>9.1} {:>8.1}", rate(speed.clock), rate(speed.cpu));
        }
        println!();
    }
}

#[derive(Default)]
struct Speed {
    iterations: u64,
    clock: Duration,
    cpu: Duration,
}

impl Speed {
    fn add(&mut self, game: &Game, spec: &AgentSpec, seed: u64, time: Duration) {
        let role = game.roles().next().expect("there is a role");
        let brief = Brief {
            seed,
            ..Brief::new(game, role)
        };
        let mut agent = spec.agent(brief).expect("the options are valid");
        agent
            .begin(&Pace::default())
            .expect("the game can be played");
        let cpu = || cpu_time().expect("the system has a CPU clock");
        let (start, used) = (Instant::now(), cpu());
        let pace = Pace::new(Some(start + time), None);
        let advice = agent
            .choose(&Observation::of_joint_moves(role, []), &pace)
            .expect("there is a move");
        self.iterations += advice.nodes;
        self.clock += start.elapsed();
        self.cpu += cpu() - used;
    }
}

/// Prints the longest times without news from searches.
fn print_pauses(files: &[String], time: Duration, memory: u64) {
    println!(
        "{:24} {:>9} {:>6} {:>9} {:>9} {:>9}",
        "game", "thousands", "MB", "longest", "first", "sleeper"
    );
    for file in files {
        let text = std::fs::read_to_string(file).expect("the file can be read");
        let game = Game::from_text(file, &text).expect("the rules are valid");
        let role = game.roles().next().expect("there is a role");
        let brief = Brief {
            memory_bytes: memory,
            ..Brief::new(&game, role)
        };
        let spec: AgentSpec = "mcts:threads=1".parse().expect("the options are valid");
        let mut agent = spec.agent(brief).expect("the options are valid");
        agent.begin(&Pace::default()).expect("the rules are valid");
        let mut played = Vec::new();
        for _ in 0..2 {
            let pace = Pace::new(Some(Instant::now() + time), None);
            let observation = Observation::of_joint_moves(role, played.clone());
            let (advice, watched) = thread::scope(|scope| {
                let watched = scope.spawn(|| watch(&pace));
                let advice = agent.choose(&observation, &pace);
                (advice.expect("the rules are valid"), watched.join())
            });
            let [longest, first, sleeper] = watched.expect("it does not panic");
            println!(
                "{:24} {:>9} {:>6} {:>9.1?} {:>9.1?} {:>9.1?}",
                file.rsplit('/').next().unwrap_or(file),
                advice.nodes / 1000,
                resident() >> 20,
                longest,
                first,
                sleeper,
            );
            // In games with turns, the role is to move again after two joint moves.
            let line = advice.line.iter().take(2);
            played.extend(line.map(|joint| joint.iter().map(|(made, _)| *made).collect()));
        }
    }
}

/// Watches a search until it is over: the longest time without news, the time to the first
/// news, and the longest delay of this thread itself.
fn watch(pace: &Pace) -> [Duration; 3] {
    let (start, mut last, mut before, mut nodes) =
        (Instant::now(), Instant::now(), Instant::now(), None);
    let [mut longest, mut first, mut sleeper] = [Duration::ZERO; 3];
    while !pace.is_over() {
        thread::sleep(Duration::from_millis(1));
        let now = Instant::now();
        sleeper = sleeper.max(now - before);
        before = now;
        let news = pace.published().map(|advice| advice.nodes);
        if news != nodes {
            if nodes.is_none() {
                first = now - start;
            }
            longest = longest.max(now - last);
            (last, nodes) = (now, news);
        }
    }
    [longest, first, sleeper]
}

/// The resident memory of this process in bytes, 0 if it is unknown.
fn resident() -> u64 {
    let sizes = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = sizes.split(' ').nth(1).and_then(|pages| pages.parse().ok());
    pages.unwrap_or(0_u64) * 4096
}
