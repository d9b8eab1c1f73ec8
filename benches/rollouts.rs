//! The speed of playouts from many states, as a tree search requests them.
//!
//! ```text
//! cargo bench --bench rollouts -- [--seconds S] [FILE.kif ...]
//! ```
//!
//! One thread, in millions of joint moves per second of CPU time. The first column
//! is `propnet::playout`, which plays from the initial state only. All others are
//! `propnet::rollouts`, relative to that: each call plays a number of playouts from
//! a number of states. `levels` and `moves` are the call from 64 states with 8
//! playouts each, with four bits of random levels and a quarter of the choices at
//! random, and with moves recorded as well. The last columns are the time of a
//! call, and the part of it for loading states and counting scores, measured by a
//! call from terminal states. States are one to six joint moves from the initial
//! one, like the leaves of a young tree. Every playout must be accounted for, and
//! from the initial state both must agree on the mean scores.

use std::time::Duration;

use ggp_cli::bench::usage::cpu_time;
use ggp_engine::propnet::batch::{Batch, Packed, pack};
use ggp_engine::propnet::code::Engine;
use ggp_engine::propnet::playout::{PlayoutOptions, Playouts, Proceed};
use ggp_engine::propnet::rollouts::{Record, RolloutOptions, Rollouts};
use ggp_engine::propnet::{GroundLimits, Propnet};
use ggp_gdl::game::Game;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Calls: the number of states, and the number of playouts from each.
const CALLS: [(usize, u32); 6] = [(1, 512), (8, 64), (64, 8), (64, 32), (512, 1), (512, 4)];
/// The call that is also made with levels and with recorded moves.
const USUAL: (usize, u32) = (64, 8);
/// The number of states of either kind.
const STATES: usize = 1024;
/// The number of rounds.
const ROUNDS: u32 = 10;

fn main() {
    let mut seconds = 1.0;
    let mut files = Vec::new();
    // Cargo adds --bench to the user's arguments.
    let mut arguments = std::env::args().skip(1).filter(|word| word != "--bench");
    while let Some(word) = arguments.next() {
        if word == "--seconds" {
            let value = arguments.next().and_then(|value| value.parse().ok());
            seconds = value.expect("--seconds takes a number");
        } else {
            files.push(word);
        }
    }
    if files.is_empty() {
        let usual = ["tic_tac_toe", "connect_four", "breakthrough", "goofspiel"];
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/games");
        files = usual.map(|name| format!("{folder}/{name}.kif")).into();
    }
    print!("{:24} {:>8} {:>9}", "game", "gates", "playouts");
    for (states, each) in CALLS {
        print!(" {:>9}", format!("{states} x {each}"));
    }
    println!(
        " {:>7} {:>7} {:>10} {:>9}",
        "levels", "moves", "us a call", "us over"
    );
    for file in files {
        measure(&file, Duration::from_secs_f64(seconds));
    }
}

fn measure(file: &str, time: Duration) {
    let text = std::fs::read_to_string(file).expect("the file can be read");
    let game = Game::from_text(file, &text).expect("the rules are valid");
    let limits = GroundLimits::default();
    let (mut net, _) = Propnet::ground(&game, &limits).expect("a network is small enough");
    net.simplify();
    let playouts = Playouts::new(&net, &PlayoutOptions::default());
    let mut rollouts = Rollouts::new(&net, &RolloutOptions::default(), 1);
    let [leaves, last] = states(&net);
    agree(&net, &playouts, &mut rollouts);
    let mut base = Speed::default();
    let mut speeds = CALLS.map(|_| Speed::default());
    let mut guided = [Record::Nothing, Record::Moves].map(|record| guided(&net, record));
    let [mut over, mut levels, mut moves] = [(); 3].map(|()| Speed::default());
    // In turns, so that other work on the machine affects all equally.
    for round in 0..ROUNDS {
        let end = cpu() + time / ROUNDS;
        base.add(|| {
            let proceed = || match cpu() < end {
                true => Proceed::On,
                false => Proceed::Drop,
            };
            playouts
                .run(u64::MAX, u64::from(round), 1, proceed)
                .state_changes
        });
        let (states, each) = USUAL;
        let [with_levels, with_moves] = &mut guided;
        let ways = [(&mut levels, with_levels), (&mut moves, with_moves)];
        for (speed, rollouts) in ways {
            speed.repeat(time / ROUNDS, || call(rollouts, &leaves, states, each));
        }
        over.repeat(time / ROUNDS, || call(&mut rollouts, &last, states, each));
        for (speed, (states, each)) in speeds.iter_mut().zip(CALLS) {
            speed.repeat(time / ROUNDS, || call(&mut rollouts, &leaves, states, each));
        }
    }
    let name = file.rsplit('/').next().unwrap_or(file);
    let rate = base.rate();
    print!("{name:24} {:8.0} {:9.2}", playouts.operations(), rate / 1e6);
    for speed in &speeds {
        print!(" {:9.2}", speed.rate() / rate);
    }
    for speed in [levels, moves] {
        print!(" {:7.2}", speed.rate() / rate);
    }
    let microseconds = |speed: &Speed| speed.time.as_secs_f64() * 1e6 / (8.0 * speed.times as f64);
    println!(
        " {:10.1} {:9.1}",
        microseconds(&speeds[2]),
        microseconds(&over)
    );
}

/// Playouts with arbitrary levels.
fn guided(net: &Propnet, record: Record) -> Rollouts {
    let options = RolloutOptions {
        level_bits: 4,
        record,
        ..RolloutOptions::default()
    };
    let mut random = Xoshiro256PlusPlus::seed_from_u64(2);
    let mut rollouts = Rollouts::new(net, &options, 1);
    rollouts.set_exploration(0.25);
    for (role, moves) in net.moves().iter().enumerate() {
        let levels: Vec<u8> = moves.iter().map(|_| random.random_range(0..16)).collect();
        rollouts.set_levels(role, &levels);
    }
    rollouts
}

/// Makes eight calls from different states and returns the number of joint moves.
fn call(rollouts: &mut Rollouts, from: &[Packed], states: usize, each: u32) -> u64 {
    let before = rollouts.state_changes();
    for group in 0..8 {
        let first = group * 64 % (from.len() - states + 1);
        let starts = &from[first..][..states];
        for outcome in rollouts.run(starts, each, &mut || Proceed::On) {
            let ends = outcome.playouts + outcome.stuck + outcome.faulty;
            assert_eq!(ends, u64::from(each), "every playout is accounted for");
        }
    }
    rollouts.state_changes() - before
}

/// States one to six joint moves from the initial one, and the same number of
/// terminal states.
fn states(net: &Propnet) -> [Vec<Packed>; 2] {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut batch = Batch::new(net, 64, Engine::Auto);
    let mut made = [Vec::new(), Vec::new()];
    while made.iter().any(|states| states.len() < STATES) {
        batch.restart();
        for depth in 0.. {
            let mut going = 0;
            let mut joints = Vec::new();
            let states = batch.states(64);
            for (lane, state) in states.into_iter().enumerate() {
                let is_over = batch.is_terminal(lane);
                if is_over || depth == 1 + lane % 6 {
                    made[usize::from(is_over)].push(state);
                }
                going += usize::from(!is_over);
                for role in 0..batch.roles() {
                    let legal: Vec<usize> = batch.legal_moves(lane, role).collect();
                    joints.push(match legal.len() {
                        0 => 0,
                        count => legal[random.random_range(0..count)],
                    });
                }
            }
            if going == 0 {
                break;
            }
            batch.step(&joints);
        }
    }
    made.map(|mut states| {
        states.truncate(STATES);
        states
    })
}

/// Checks that both agree on the mean scores from the initial state.
fn agree(net: &Propnet, playouts: &Playouts, rollouts: &mut Rollouts) {
    const MANY: u32 = 20_000;
    let terms = net.terms();
    let tally = playouts.run(u64::from(MANY), 7, 1, || Proceed::On);
    let start = pack(net.initial().iter().copied());
    let outcome = &rollouts.run(&[start], MANY, &mut || Proceed::On)[0];
    for (role, sum) in outcome.scores.iter().enumerate() {
        let ends = net.goals()[role].iter().zip(&tally.goals[role]);
        let scores = ends.map(|(goal, &ends)| {
            let score = net.game().score(&terms, goal.0);
            f64::from(score.map_or(0, |score| score.get())) * ends as f64
        });
        let [one, other] = [scores.sum(), sum.total as f64].map(|sum| sum / f64::from(MANY));
        let square = sum.squares as f64 / f64::from(MANY);
        let error = ((square - other * other) * 2.0 / f64::from(MANY)).sqrt();
        assert!(
            (one - other).abs() <= 5.0 * error + 1e-9,
            "role {role}: {one} and {other}"
        );
    }
}

/// A number of events and the time they took.
#[derive(Default)]
struct Speed {
    changes: u64,
    times: u64,
    time: Duration,
}

impl Speed {
    fn add(&mut self, work: impl FnOnce() -> u64) {
        let start = cpu();
        self.changes += work();
        self.time += cpu().saturating_sub(start);
        self.times += 1;
    }

    /// Repeats an action for some time.
    fn repeat(&mut self, time: Duration, mut work: impl FnMut() -> u64) {
        let end = cpu() + time;
        while cpu() < end {
            self.add(&mut work);
        }
    }

    /// Joint moves per second.
    fn rate(&self) -> f64 {
        self.changes as f64 / self.time.as_secs_f64()
    }
}

fn cpu() -> Duration {
    cpu_time().expect("there is a clock of CPU time")
}
