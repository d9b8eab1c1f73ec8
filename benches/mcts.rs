//! Speed of Monte Carlo tree search on several threads.
//!
//! ```text
//! cargo bench --bench mcts -- [--seconds S] [--rounds N] [--options NAME=VALUE,...] [FILE.kif ...]
//! ```
//!
//! Prints thousands of iterations per second from the first state, first by
//! wall-clock time, then by CPU time. The configurations take turns. On a machine
//! with other load, the second figure shows the overhead of additional threads.

use std::time::{Duration, Instant};

use ggp_cli::bench::usage::cpu_time;
use ggp_gdl::game::Game;
use ggp_play::{AgentSpec, Brief, Observation, Pace};

const THREADS: [usize; 3] = [1, 2, 4];

fn main() {
    let (mut time, mut rounds, mut options) = (Duration::from_secs(1), 5, String::new());
    let mut files = Vec::new();
    // Cargo adds --bench to the user's arguments.
    let mut arguments = std::env::args().skip(1).filter(|word| word != "--bench");
    while let Some(word) = arguments.next() {
        let mut value = || arguments.next().expect("the option has a value");
        match &word[..] {
            "--seconds" => time = Duration::from_secs_f64(value().parse().expect("a number")),
            "--rounds" => rounds = value().parse().expect("a number"),
            "--options" => options = format!(",{}", value()),
            _ => files.push(word),
        }
    }
    if files.is_empty() {
        let usual = ["connect_four", "othello", "breakthrough", "amazons"];
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/games");
        files = usual.map(|name| format!("{folder}/{name}.kif")).into();
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
