//! Counting without transpositions gives the same numbers as counting with
//! them, and as others have counted.

mod common;

use std::sync::Mutex;

use ggp::game::Game;
use ggp::machine::{DatalogMachine, Level, Limits, Machine, PerftOptions, perft};
use ggp::propnet::code::Engine;
use ggp::propnet::perft::{CountOptions, Counter, PathLevel, Width};
use ggp::propnet::{GroundLimits, Propnet};

/// Sequences up to which a game is counted.
const PATHS: u128 = 20_000;

fn network(game: &Game) -> Option<Propnet> {
    let limits = GroundLimits {
        instances: 300_000,
        ..GroundLimits::default()
    };
    let (mut net, _) = Propnet::ground(game, &limits).ok()?;
    net.simplify();
    Some(net)
}

/// Levels until one has more sequences than allowed.
fn expected(game: &Game, paths: u128) -> Vec<Level> {
    let limits = Limits::default();
    let interrupt = limits.interrupt.clone();
    let mut machine = DatalogMachine::new(game, limits).expect("small rules");
    let start = machine.initial().expect("there is an initial state");
    let mut levels: Vec<Level> = Vec::new();
    // A fault ends the list as well.
    let options = PerftOptions {
        depth: 30,
        ..PerftOptions::default()
    };
    let _ = perft(&mut machine, &start, options, |level| {
        levels.push(level.clone());
        if level.paths > paths / 8 {
            interrupt.store(true, std::sync::atomic::Ordering::Relaxed);
        }
    });
    levels
}

fn counted(net: &Propnet, options: &CountOptions, depth: u32) -> Vec<PathLevel> {
    let mut levels = Vec::new();
    let counter = Counter::new(net, options);
    let _ = counter.run(depth, || true, |level| levels.push(level.clone()));
    levels
}

fn same(expected: &Level, found: &PathLevel) -> bool {
    (expected.depth, expected.paths, expected.terminal_paths)
        == (found.depth, found.paths, found.terminal_paths)
        && expected.goal_sums == found.goal_sums
        && expected.goal_errors == found.goal_errors
}

#[test]
fn the_numbers_are_those_of_distinct_states() {
    let games = Mutex::new(0);
    common::for_each_game(|name, game| {
        let Some(net) = network(game) else {
            return Ok(());
        };
        let expected = expected(game, PATHS);
        let Some(last) = expected.last() else {
            return Ok(());
        };
        *games.lock().unwrap() += 1;
        let ways = [
            (1, Width::W512, Engine::Auto),
            (2, Width::W512, Engine::Auto),
            (1, Width::W64, Engine::Interpreter),
            (2, Width::W256, Engine::Auto),
        ];
        for (threads, width, engine) in ways {
            let options = CountOptions {
                threads,
                width,
                engine,
                ..CountOptions::default()
            };
            let found = counted(&net, &options, last.depth);
            let is_same = expected.len() == found.len()
                && expected.iter().zip(&found).all(|(a, b)| same(a, b));
            if !is_same {
                return Err(format!(
                    "{threads} threads, {width:?}, {engine:?}: {found:#?} instead of {expected:#?}"
                ));
            }
        }
        println!("{name}: to depth {}, {} sequences", last.depth, last.paths);
        Ok(())
    });
    assert!(*games.lock().unwrap() >= 18, "our own at least");
}
