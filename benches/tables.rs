//! Tables of the values of all positions: how long they take, and a look into their files.
//!
//! ```text
//! cargo bench --bench tables -- [--threads N] [FILE ...]
//! ```
//!
//! The columns are the positions, the joint moves, the seconds to find and value them, the bytes of a position
//! in the file, and the mean time of a look at a position of a random match, of which each is found. The
//! file is in the cache of the system.

use std::time::Instant;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use ggp_engine::propnet::batch::{Batch, Packed};
use ggp_engine::propnet::code::Engine;
use ggp_engine::propnet::{GroundLimits, Propnet};
use ggp_gdl::game::Game;
use ggp_solver::table::{Table, TabulateLimits, tabulate};
use ggp_stop::Stop;

/// The number of looks.
const LOOKS: usize = 1_000_000;

fn main() {
    let words = std::env::args().skip(1);
    let mut files: Vec<String> = words.filter(|word| word != "--bench").collect();
    let mut threads = 1;
    if let Some(at) = files.iter().position(|word| word == "--threads") {
        threads = files[at + 1].parse().expect("a number of threads");
        files.drain(at..at + 2);
    }
    if files.is_empty() {
        let names = [
            "fox_and_hounds",
            "connect_four_small",
            "kalah",
            "light_cycles",
        ];
        files.extend(names.map(|name| format!("games/{name}.kif")));
    }
    println!("game positions joint_moves seconds bytes look_ns");
    for file in files {
        let text = std::fs::read_to_string(&file).expect("the file can be read");
        let game = Game::from_text(&file, &text).expect("the rules are valid");
        let (net, _) =
            Propnet::ground(&game, &GroundLimits::default()).expect("there is a network");
        let limits = TabulateLimits {
            positions: u64::MAX,
            memory_bytes: 16 << 30,
            threads,
            processes: None,
            stop: Stop::new(),
        };
        let begin = Instant::now();
        let mut made = tabulate(&net, &limits, &mut |_| {}).expect("all positions fit");
        let seconds = begin.elapsed().as_secs_f64();
        let folder = tempfile::tempdir().expect("there is a folder for temporary files");
        let path = folder.path().join("values.table");
        let mut out = std::fs::File::create(&path).expect("it can be written");
        made.write(&net, &mut out).expect("it can be written");
        let bytes = out.metadata().expect("it was written").len();
        let table = Table::open(&path).expect("it was written");
        let order = table.order(&net).expect("it is of this game");
        let positions = positions(&net);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let begin = Instant::now();
        for _ in 0..LOOKS {
            let position = &positions[random.random_range(0..positions.len())];
            let found = table.look(&order, position).expect("it can be read");
            assert!(found.is_some(), "every reachable position is there");
        }
        let look = begin.elapsed().as_nanos() / LOOKS as u128;
        let each = bytes as f64 / made.len() as f64;
        let (count, moves) = (made.len(), made.joint_moves());
        println!("{file} {count} {moves} {seconds:.2} {each:.1} {look}");
    }
}

/// The positions of random matches.
fn positions(net: &Propnet) -> Vec<Packed> {
    let mut batch = Batch::new(net, 512, Engine::Auto);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(0);
    let mut found = Vec::new();
    for _ in 0..200 {
        let mut joints = Vec::new();
        for lane in 0..batch.lanes() {
            for role in 0..batch.roles() {
                let legal: Vec<usize> = batch.legal_moves(lane, role).collect();
                let is_over = batch.is_terminal(lane) || legal.is_empty();
                joints.push(if is_over {
                    0
                } else {
                    legal[random.random_range(0..legal.len())]
                });
            }
        }
        let over: Vec<bool> = (0..batch.lanes())
            .map(|lane| batch.is_terminal(lane))
            .collect();
        found.extend(batch.states(batch.lanes()));
        batch.step(&joints);
        for (lane, over) in over.into_iter().enumerate() {
            if over {
                let first = batch.initial().to_vec();
                batch.set_state(lane, &first);
            }
        }
    }
    found
}
