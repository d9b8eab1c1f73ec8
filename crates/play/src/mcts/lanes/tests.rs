//! Tests of MAST playouts in a game of walking and stopping.

use super::{LESSON, Lanes, Learning};
use ggp_engine::propnet::code::Engine;
use ggp_engine::propnet::{GroundLimits, Propnet, batch};
use ggp_gdl::game::Game;
use ggp_search::mcts::Simulator;

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
fn playouts_learn_to_prefer_better_moves() {
    let game = Game::from_text("walk.kif", RULES).expect("the rules are right");
    let (net, _) = Propnet::ground(&game, &GroundLimits::default()).expect("it is small");
    let start = batch::pack(net.initial().iter().copied());
    let lanes = |learning| Lanes::new(&net, Engine::Auto, 100, learning, 3);

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
