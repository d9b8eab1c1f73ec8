//! Tests of MAST playouts in a game of walking and stopping, and of learned values in a race.

use std::sync::Arc;

use super::{LESSON, Lanes, Learning};
use ggp_engine::machine::{Limits, MixedMachine, PropnetMachine};
use ggp_engine::propnet::batch;
use ggp_engine::propnet::code::Engine;
use ggp_gdl::game::Game;
use ggp_search::mcts::{Simulator, Views};
use ggp_stop::Stop;

const RULES: &str = "
    (role robot)
    (init (at 0)) (after 0 1) (after 1 2) (after 2 3)
    (<= (legal robot go) (true (at ?x)) (after ?x ?y))
    (<= (legal robot stop) (true (at ?x)))
    (<= (next (at ?y)) (does robot go) (true (at ?x)) (after ?x ?y))
    (<= (next (at ?x)) (does robot stop) (true (at ?x)))
    (<= (next over) (does robot stop))
    (<= terminal (true (at 3)))
    (<= terminal (true over))
    (<= (goal robot 100) (true (at 3)))
    (<= (goal robot 0) (not (true (at 3))))";

/// The mean score of [`LESSON`] playouts, after which learning lanes update their levels.
fn mean(lanes: &mut Lanes, start: &batch::Packed) -> f64 {
    let starts = std::slice::from_ref(start);
    let samples = lanes.playouts(
        &starts.iter().collect::<Vec<_>>(),
        LESSON as u32,
        0,
        &mut || true,
    );
    let sample = &samples.expect("lanes never fail")[0];
    assert_eq!(sample.playouts, LESSON);
    sample.sums[0] / sample.playouts as f64
}

#[test]
fn goals_asked_of_datalog_are_those_of_the_network() {
    let game = Game::from_text("walk.kif", RULES).expect("the rules are right");
    let machine = PropnetMachine::new(&game, Limits::default()).expect("it is small");
    let mixed = MixedMachine::new(&game, Limits::default()).expect("it is small");
    let asked = Lanes::new(
        mixed.moves(),
        Some(&mixed),
        Engine::Auto,
        100,
        None,
        true,
        3,
    )
    .expect("nothing stops it");
    let own =
        Lanes::new(&machine, None, Engine::Auto, 100, None, true, 3).expect("nothing stops it");
    let nets = [mixed.moves().net(), machine.net()];
    let mut seen = Vec::new();
    for (mut lanes, net) in [asked, own].into_iter().zip(nets) {
        let start = batch::pack(net.initial().iter().copied());
        let mean = mean(&mut lanes, &start);
        assert!((9.5..15.5).contains(&mean), "{mean}");
        // The ways to the goal and to the other end, and what is seen there.
        let (mut states, mut views) = (vec![start], Views::default());
        for joint in [[0], [0], [0], [1]] {
            let from = match joint {
                [0] => states[states.len() - 1].clone(),
                _ => states[0].clone(),
            };
            let next = lanes.step(&[&from], &joint).expect("lanes never fail");
            states.extend(next);
        }
        let states: Vec<_> = states.iter().collect();
        lanes.look(&states, &mut views).expect("lanes never fail");
        let ends = lanes.terminal_children(&states[2..3], &[2], &[0, 1]);
        let ends = ends.expect("lanes never fail");
        let ends: Vec<_> = ends.into_iter().map(|end| (end.index, end.goals)).collect();
        assert_eq!(ends, [(0, vec![100]), (1, vec![0])]);
        seen.push((views.goals, views.counts));
    }
    assert_eq!(seen[0], seen[1]);
    assert_eq!(seen[0].0, [0, 0, 0, 100, 0]);
}

#[test]
fn playouts_learn_to_prefer_better_moves() {
    let game = Game::from_text("walk.kif", RULES).expect("the rules are right");
    let machine = PropnetMachine::new(&game, Limits::default()).expect("it is small");
    let net = machine.net();
    let start = batch::pack(net.initial().iter().copied());
    let lanes = |learning| {
        Lanes::new(&machine, None, Engine::Auto, 100, learning, true, 3).expect("nothing stops it")
    };

    // Uniform playouts reach the goal with probability 1/8.
    let uniform = &mut lanes(None);
    for _ in 0..3 {
        assert!((9.5..15.5).contains(&mean(uniform, &start)));
    }

    let learned = &mut lanes(Some(Learning {
        epsilon: 0.2,
        fade: 0.0,
    }));
    assert!((9.5..15.5).contains(&mean(learned, &start)));
    // Each of three moves continues with probability 0.9.
    assert!((70.0..76.0).contains(&mean(learned, &start)));

    // With `fade` 0 nothing learned remains.
    learned.fade();
    learned.learn();
    assert!((9.5..15.5).contains(&mean(learned, &start)));
}

#[test]
fn seldom_played_moves_are_close_to_the_average() {
    let sum = |playouts, total| super::MoveSum { playouts, total };
    let smoothed = super::with_prior(&[sum(1, 100), sum(9_999, 500_000 - 100), sum(0, 0)]);
    let means: Vec<f64> = smoothed
        .iter()
        .map(|sum| sum.mean().expect("some"))
        .collect();
    assert!((50.0..54.0).contains(&means[0]), "{means:?}");
    assert!((49.0..51.0).contains(&means[1]), "{means:?}");
    assert!((49.0..51.0).contains(&means[2]), "{means:?}");
}

/// A race on two tracks: whoever reaches the end of the own one first wins.
const RACE: &str = "
    (role a) (role b) (init (at a 0)) (init (at b 0)) (init (turn a))
    (other a b) (other b a) (after 0 1) (after 1 2) (after 2 3)
    (<= (legal ?r go) (true (turn ?r)))
    (<= (legal ?r stay) (true (turn ?r)))
    (<= (legal ?r wait) (role ?r) (not (true (turn ?r))))
    (<= (next (at ?r ?y)) (does ?r go) (true (at ?r ?x)) (after ?x ?y))
    (<= (next (at ?r ?x)) (true (at ?r ?x)) (not (does ?r go)))
    (<= (next (turn ?s)) (true (turn ?r)) (other ?r ?s))
    (<= over (true (at ?r 3)))
    (<= terminal over)
    (<= (goal ?r 100) (true (at ?r 3)))
    (<= (goal ?r 0) (other ?r ?s) (true (at ?s 3)))
    (<= (goal ?r 50) (role ?r) (not over))";

#[test]
fn learned_values_are_mixed_into_playouts_and_known_for_moves() {
    let game = Game::from_text("race.kif", RACE).expect("the rules are right");
    let machine = PropnetMachine::new(&game, Limits::default()).expect("it is small");
    let net = machine.net();
    let options = ggp_learn::Options {
        games: Some(2_000),
        ..Default::default()
    };
    let learned = ggp_learn::learn(net, &options, &Stop::new(), |_| ());
    let values = Arc::new(learned.values);
    let mut lanes =
        Lanes::new(&machine, None, Engine::Auto, 100, None, true, 3).expect("nothing stops it");
    let mut mixing = lanes.clone();
    mixing.set_values(Arc::clone(&values), 0.25);
    assert!(mixing.has_values() && !lanes.has_values());

    let start = batch::pack(net.initial().iter().copied());
    let mut own = vec![0.0; 2];
    values.evaluate(std::slice::from_ref(&start), &mut own);
    let sample = |lanes: &mut Lanes| {
        let samples = lanes.playouts(&[&start], 1_000, 0, &mut || true);
        samples.expect("lanes never fail").remove(0)
    };
    let (plain, mixed) = (sample(&mut lanes), sample(&mut mixing));
    for ((mixed, plain), own) in mixed.sums.iter().zip(&plain.sums).zip(&own) {
        let expected = 0.75 * plain + 0.25 * 1_000.0 * f64::from(*own);
        assert!((mixed - expected).abs() < 1e-6, "{mixed} {expected}");
    }

    let mut views = Views::default();
    lanes.look(&[&start], &mut views).expect("lanes never fail");
    assert_eq!(views.counts, [2, 1]);
    let [one, two, wait] = views.moves[..] else {
        panic!("{views:?}");
    };
    let joints = [one, wait, two, wait];
    let after = mixing.values_after(&[&start], &[2], &joints);
    let children = mixing.step(&[&start, &start], &joints);
    let mut expected = vec![0.0; 4];
    values.evaluate(&children.expect("lanes never fail"), &mut expected);
    assert_eq!(after.expect("lanes never fail"), expected);
    // It is better to go.
    let names = |made: u32| game.text(&net.terms(), net.moves()[0][made as usize].term());
    let better = if expected[0] > expected[2] { one } else { two };
    assert_eq!(names(better), "go");
}
