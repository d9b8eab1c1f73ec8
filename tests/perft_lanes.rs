//! Agreement of counting without transpositions with counting with them, and with
//! published counts.

use crate::common::sized;
use std::fs;

use ggp_engine::machine::{AnyMachine, Backend, Level, Limits, Machine, PerftOptions, perft};
use ggp_engine::propnet::code::Engine;
use ggp_engine::propnet::perft::{CountError, CountOptions, Counter, PathLevel, Width};
use ggp_engine::propnet::{GroundLimits, Propnet};
use ggp_gdl::game::Game;

/// The number of sequences up to which a game is counted.
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

/// The levels up to the first that has too many sequences.
fn expected(game: &Game, paths: u128) -> Vec<Level> {
    let limits = Limits::default();
    let stop = limits.stop.clone();
    let mut machine = AnyMachine::new(game, Backend::Datalog, limits).expect("small rules");
    let start = machine.initial().expect("there is an initial state");
    let mut levels: Vec<Level> = Vec::new();
    // A fault ends the list as well.
    let mut options = PerftOptions::default();
    options.depth = 30;
    let _ = perft(&mut machine, &start, options, |level| {
        levels.push(level.clone());
        if level.paths > paths / 8 {
            stop.raise();
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

fn is_equal(expected: &Level, found: &PathLevel) -> bool {
    (expected.depth, expected.paths, expected.terminal_paths)
        == (found.depth, found.paths, found.terminal_paths)
        && expected.goal_sums == found.goal_sums
        && expected.goal_errors == found.goal_errors
}

const CONFIGURATIONS: [(usize, Width, Engine); 4] = [
    (1, Width::W512, Engine::Auto),
    (2, Width::W512, Engine::Auto),
    (1, Width::W64, Engine::Interpreter),
    (2, Width::W256, Engine::Auto),
];

fn options((threads, width, engine): (usize, Width, Engine)) -> CountOptions {
    CountOptions {
        threads,
        width,
        engine,
        ..CountOptions::default()
    }
}

#[test]
fn the_counts_agree_with_counting_distinct_states() {
    let mut games = 0;
    // Every third, each night all.
    for (name, game) in crate::common::own_games().into_iter().step_by(sized(3, 1)) {
        let net = network(&game).expect("the built-in games are small");
        let expected = expected(&game, PATHS);
        let last = expected.last().expect("there is an initial state");
        for configuration in CONFIGURATIONS {
            let found = counted(&net, &options(configuration), last.depth);
            let is_same = expected.len() == found.len()
                && expected.iter().zip(&found).all(|(a, b)| is_equal(a, b));
            assert!(
                is_same,
                "{name}, {configuration:?}: {found:#?} instead of {expected:#?}"
            );
        }
        println!("{name}: to depth {}, {} sequences", last.depth, last.paths);
        games += 1;
    }
    assert!(games >= sized(15, 45), "there are {games}");
}

/// Games of many kinds: one role and six, simultaneous moves, cycles, no end,
/// missing scores.
const PUBLISHED: &[&str] = &[
    "2pffa",
    "3pConnectFour",
    "blocker",
    "breakthrough",
    "checkersTiny",
    "chineseCheckers6",
    "connectFour",
    "eightPuzzle",
    "crissrace",
    "pacman3p",
    "peg",
    "ticTacToe",
    "tron_10x10",
];

#[test]
#[ignore = "needs GGP_CORPUS"]
fn corpus_counts_agree_with_published_ones() {
    let folder = crate::common::corpus().join("conformance");
    let text = fs::read_to_string(folder.join("perft.jsonl")).expect("there are answers");
    let mut games = 0;
    for line in text.lines() {
        let record: serde_json::Value = serde_json::from_str(line).expect("a line is JSON");
        let key = record["key"].as_str().expect("a game has a key");
        if !PUBLISHED.contains(&key) {
            continue;
        }
        let file = folder.join("games").join(format!("{key}.kif"));
        let rules = fs::read_to_string(&file).expect("the rules are there");
        let game = Game::from_text(key, &rules).expect("the rules are valid");
        let Some(net) = network(&game) else {
            continue;
        };
        let levels = record["perft"].as_array().expect("levels are a list");
        let within = |level: &&serde_json::Value| level["paths"].as_u64() <= Some(1_000_000);
        let levels: Vec<_> = levels.iter().take_while(within).collect();
        for configuration in CONFIGURATIONS {
            let found = counted(&net, &options(configuration), levels.len() as u32 - 1);
            assert_eq!(found.len(), levels.len(), "{key}, {configuration:?}");
            for (found, level) in found.iter().zip(&levels) {
                let found = serde_json::json!({
                    "d": found.depth,
                    "paths": found.paths as u64,
                    "terminal_paths": found.terminal_paths as u64,
                    "goal_sums": found.goal_sums.iter().map(|&n| n as u64).collect::<Vec<_>>(),
                    "goal_errors": found.goal_errors as u64,
                });
                for (field, value) in found.as_object().expect("it is one") {
                    assert_eq!(
                        *value, level[field],
                        "{key}, {configuration:?}: {field} in {level}"
                    );
                }
            }
        }
        println!("{key}: to depth {}", levels.len() - 1);
        games += 1;
    }
    assert!(games >= 6, "there are {games}");
}

#[test]
fn a_role_without_legal_moves_is_reported() {
    // A robot that goes twice cannot move any more, yet the game is not over.
    let rules = "
        (role a) (role b)
        (init (at 0)) (after 0 1) (after 1 2) (after 3 4)
        (init (unheard of))
        (<= (legal a go) (true (at ?x)) (after ?x ?y))
        (<= (legal a stay) (true (at ?x)) (after ?x ?y))
        (legal b wait) (legal b watch)
        (<= (next (at ?y)) (does a go) (true (at ?x)) (after ?x ?y))
        (<= (next (at ?x)) (does a stay) (true (at ?x)))
        (<= (next (unheard of)) (true (unheard of)) (does b watch))
        (<= terminal (true (at 4)))
        (<= (goal ?r 0) (role ?r))";
    let game = Game::from_text("stuck", rules).expect("the rules are valid");
    let net = network(&game).expect("they are small");
    for configuration in CONFIGURATIONS {
        let mut depths = Vec::new();
        let counter = Counter::new(&net, &options(configuration));
        let found = counter.run(9, || true, |level| depths.push((level.depth, level.paths)));
        let Err(CountError::Stuck(packed)) = found else {
            panic!("{configuration:?}: {found:?}");
        };
        assert_eq!(depths, [(0, 1), (1, 4)], "{configuration:?}");
        assert_eq!(packed.len(), net.facts().len().div_ceil(64));
        let found = counter.run(2, || true, |_| {});
        assert!(found.is_ok(), "{configuration:?}: {found:?}");
        let found = counter.run(1, || false, |_| {});
        assert_eq!(found, Err(CountError::Interrupted));
    }
}
