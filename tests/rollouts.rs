//! Agreement of playouts from many states, hundreds at once, with single playouts.

use std::path::Path;

use ggp_engine::machine::{Limits, Machine, PlayoutOptions, PropnetMachine, playout};
use ggp_engine::propnet::playout::Proceed;
use ggp_engine::propnet::rollouts::{Record, RolloutOptions, Rollouts, learned_levels};
use ggp_engine::propnet::{GroundLimits, Propnet, batch};
use ggp_gdl::game::Game;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// The number of playouts from each state, one after the other and in lanes.
const SINGLE: usize = 250;
const MANY: u32 = 5_000;

fn game(name: &str) -> Game {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("games")
        .join(name);
    let text = std::fs::read_to_string(file).expect("it can be read");
    Game::from_text(name, &text).expect("the rules are valid")
}

/// Compares the mean scores of all roles in several states of a random playout of a
/// game.
fn check(name: &str, states: usize) {
    let game = game(name);
    let mut machine = PropnetMachine::new(&game, Limits::default()).expect("it is small");
    let mut random = Xoshiro256PlusPlus::seed_from_u64(4);
    let options = PlayoutOptions::default();
    let start = machine.initial().expect("it has one");
    let play = playout(&mut machine, &start, options, &mut random).expect("it can be played");
    let mut line: Vec<_> = play.steps.into_iter().map(|step| step.state).collect();
    line.push(play.last);
    let step = line.len().div_ceil(states);
    let line: Vec<_> = line.into_iter().rev().step_by(step).collect();
    let packed = line
        .iter()
        .map(|state| machine.network(state).expect("it has one").1);
    let packed: Vec<_> = packed.collect();
    let (net, _) = machine.network(&line[0]).expect("it has one");
    let mut rollouts = Rollouts::new(net, &RolloutOptions::default(), 5);
    let outcomes = rollouts.run(&packed, MANY, &mut || Proceed::On).to_vec();
    for (depth, (state, outcome)) in line.iter().zip(&outcomes).enumerate() {
        assert_eq!(outcome.playouts, u64::from(MANY), "{name}");
        let mut sums = vec![0.0; outcome.scores.len()];
        for _ in 0..SINGLE {
            let play = playout(&mut machine, state, options, &mut random).expect("it ends");
            for (sum, score) in sums.iter_mut().zip(play.scores.expect("it ends")) {
                *sum += f64::from(score.get());
            }
        }
        for (role, sum) in sums.iter().enumerate() {
            let many = f64::from(MANY);
            let mean = outcome.mean(role).expect("playouts ended");
            let variance = outcome.scores[role].squares as f64 / many - mean * mean;
            let error = (variance.max(0.0) * (1.0 / SINGLE as f64 + 1.0 / many)).sqrt();
            let single = sum / SINGLE as f64;
            // Rare scores may be missing in the smaller sample.
            let rare = 500.0 / SINGLE as f64;
            assert!(
                (single - mean).abs() <= 5.0 * error + rare * f64::from(u8::from(error > 0.0)),
                "{name}, state {depth} before the end, role {role}: {mean} and {single}"
            );
        }
    }
}

#[test]
fn scores_agree_in_games_with_alternating_moves() {
    check("tic_tac_toe.kif", 6);
    check("connect_four.kif", 5);
    check("nim.kif", 4);
    check("three_player_connect.kif", 4);
}

#[test]
fn scores_agree_in_games_with_simultaneous_moves() {
    check("goofspiel.kif", 5);
    check("rock_paper_scissors.kif", 4);
    check("three_player_race.kif", 4);
}

/// A role's mean scores from the initial state: in random playouts, and in playouts
/// in which that role alone prefers moves that were good in the former.
fn learned(name: &str, role: usize) -> [f64; 2] {
    let (mut net, _) = Propnet::ground(&game(name), &GroundLimits::default()).expect("it is small");
    net.simplify();
    let options = RolloutOptions {
        level_bits: 4,
        record: Record::Moves,
        ..RolloutOptions::default()
    };
    let mut rollouts = Rollouts::new(&net, &options, 3);
    rollouts.set_exploration(0.25);
    let start = [batch::pack(net.initial().iter().copied())];
    let mut mean = || {
        let outcomes = rollouts.run(&start, 20_000, &mut || Proceed::On);
        let mean = outcomes[0].mean(role).expect("playouts ended");
        let levels = learned_levels(rollouts.moves(role), options.level_bits);
        rollouts.set_levels(role, &levels);
        mean
    };
    [mean(), mean()]
}

#[test]
fn learned_moves_score_better_than_random_ones() {
    for (name, role) in [
        ("tic_tac_toe.kif", 0),
        ("tic_tac_toe.kif", 1),
        ("connect_four.kif", 1),
        ("breakthrough.kif", 0),
    ] {
        let [random, learned] = learned(name, role);
        assert!(learned > random + 10.0, "{name}: {random} and {learned}");
    }
}
