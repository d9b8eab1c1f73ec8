use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};

use super::phase::Phases;
use super::*;
use crate::propnet::GroundLimits;
use crate::propnet::network::{Literal, read};
use ggp_gdl::game::Game;

/// Two walkers move at the same time. A walker may go one step, jump two or stay.
pub(in crate::propnet) const RACE: &str = "
    (role a) (role b) (init (at a 0)) (init (at b 0))
    (after 0 1) (after 1 2) (after 2 3) (after 3 4)
    (<= (legal ?r go) (true (at ?r ?x)) (after ?x ?y))
    (<= (legal ?r jump) (true (at ?r ?x)) (after ?x ?y) (after ?y ?z))
    (<= (legal ?r stay) (true (at ?r ?x)))
    (<= (next (at ?r ?y)) (does ?r go) (true (at ?r ?x)) (after ?x ?y))
    (<= (next (at ?r ?z)) (does ?r jump) (true (at ?r ?x)) (after ?x ?y) (after ?y ?z))
    (<= (next (at ?r ?x)) (does ?r stay) (true (at ?r ?x)))
    (<= terminal (true (at ?r 4)))
    (<= (goal ?r 100) (true (at ?r 4)) (not (both)))
    (<= (goal ?r 50) (role ?r) (both))
    (<= (goal ?r 0) (role ?r) (not (true (at ?r 4))))
    (<= (both) (true (at a 4)) (true (at b 4)))";

/// Two players alternately take one to three; the player who takes the last one
/// wins.
pub(in crate::propnet) const HEAP: &str = "
    (role a) (role b) (init (heap 9)) (init (turn a)) (other a b) (other b a)
    (less 9 1 8) (less 8 1 7) (less 7 1 6) (less 6 1 5) (less 5 1 4)
    (less 4 1 3) (less 3 1 2) (less 2 1 1) (less 1 1 0)
    (<= (less ?x 2 ?z) (less ?x 1 ?y) (less ?y 1 ?z))
    (<= (less ?x 3 ?z) (less ?x 2 ?y) (less ?y 1 ?z))
    (<= (legal ?r (take ?n)) (true (turn ?r)) (true (heap ?x)) (less ?x ?n ?y))
    (<= (legal ?r wait) (role ?r) (not (true (turn ?r))))
    (<= (next (heap ?y)) (does ?r (take ?n)) (true (heap ?x)) (less ?x ?n ?y))
    (<= (next (turn ?s)) (true (turn ?r)) (other ?r ?s))
    (<= terminal (true (heap 0)))
    (<= (goal ?r 100) (role ?r) (not (true (turn ?r))))
    (<= (goal ?r 0) (true (turn ?r)))";

/// Roads are built until the ends are connected. Reachability is a cycle in the
/// rules.
pub(in crate::propnet) const ROADS: &str = "
    (role a)
    (place 1 2) (place 2 3) (place 3 1) (place 3 4) (place 2 4) (place 4 1)
    (<= (legal a (build ?x ?y)) (place ?x ?y) (not (true (road ?x ?y))))
    (<= (next (road ?x ?y)) (true (road ?x ?y)))
    (<= (next (road ?x ?y)) (does a (build ?x ?y)))
    (<= (joined 1 1))
    (<= (joined 1 ?y) (joined 1 ?x) (linked ?x ?y))
    (<= (linked ?x ?y) (true (road ?x ?y)))
    (<= (linked ?x ?y) (true (road ?y ?x)))
    (<= terminal (joined 1 4))
    (<= (goal a 100) (true (road 4 1)))
    (<= (goal a 30) (not (true (road 4 1))))";

/// A walk with traps, and ends without a goal value or with several.
pub(in crate::propnet) const TRAPS: &str = "
    (role a) (init (at s))
    (way s x) (way s y) (way s z) (way s w) (way s t)
    (<= (legal a (to ?y)) (true (at ?x)) (way ?x ?y))
    (<= (next (at ?y)) (does a (to ?y)))
    (<= terminal (true (at ?x)) (distinct ?x s) (distinct ?x t))
    (<= (goal a 10) (true (at x)))
    (<= (goal a 20) (true (at y)))
    (<= (goal a 30) (true (at y)))
    (<= (goal a 40) (true (at w)))";

/// Scoring the lamps takes many gates, and playouts that stop early have any
/// length.
pub(in crate::propnet) const LAMPS: &str = "
    (role a) (init (at 0))
    (after 0 1) (after 1 2) (after 2 3) (after 3 4) (after 4 5)
    (after 5 6) (after 6 7) (after 7 8) (after 8 9) (after 9 10)
    (legal a light) (legal a pass) (legal a stop)
    (<= (next (lit ?x)) (does a light) (true (at ?x)))
    (<= (next (lit ?x)) (true (lit ?x)))
    (<= (next (at ?y)) (true (at ?x)) (after ?x ?y))
    (<= (next over) (does a stop))
    (<= terminal (true over))
    (<= terminal (true (at 10)))
    (sum 0 0)
    (<= (sum ?y ?n) (after ?x ?y) (sum ?x ?m) (true (lit ?x)) (after ?m ?n))
    (<= (sum ?y ?n) (after ?x ?y) (sum ?x ?n) (not (true (lit ?x))))
    (<= (goal a ?n) (sum 10 ?n))";

/// A game that never ends.
pub(in crate::propnet) const FOREVER: &str = "
    (role a) (role b) (init (turn a)) (init (lamp))
    (<= (legal ?r wait) (role ?r))
    (<= (legal ?r switch) (true (turn ?r)))
    (<= (next (turn a)) (true (turn b)))
    (<= (next (turn b)) (true (turn a)))
    (<= (next (lamp)) (true (lamp)) (not (does a switch)))
    (<= (next (lamp)) (not (true (lamp))) (does a switch))
    (<= terminal (true (never)))
    (<= (next (never)) (true (never)))
    (<= (goal ?r 0) (role ?r))";

pub(in crate::propnet) fn net(rules: &str) -> Propnet {
    let game = Game::from_text("test.kif", rules).expect("the rules are valid");
    Propnet::ground(&game, &GroundLimits::default())
        .expect("it is small")
        .0
}

fn on() -> Proceed {
    Proceed::On
}

/// The expected values of a playout: the powers of its length, and the
/// probabilities that it gets stuck and that it ends with exactly one goal value,
/// by role and value.
#[derive(Clone, Debug)]
pub(in crate::propnet) struct Expected {
    powers: [f64; 5],
    pub stuck: f64,
    pub goals: Vec<Vec<f64>>,
}

/// Computes the expectations by enumerating all playouts. States must not repeat,
/// except immediately.
pub(in crate::propnet) fn expected(
    net: &Propnet,
    state: Vec<bool>,
    known: &mut HashMap<Vec<bool>, Expected>,
) -> Expected {
    if let Some(known) = known.get(&state) {
        return known.clone();
    }
    let ask = |moves: &[usize], literals: &[Literal]| -> Vec<bool> {
        let mut inputs = vec![0; net.network.inputs()];
        for (fact, &holds) in state.iter().enumerate() {
            inputs[net.fact_input(fact)] = u64::from(holds);
        }
        for (role, &chosen) in moves.iter().enumerate() {
            inputs[net.move_input(role, chosen)] = 1;
        }
        let values = net.network.evaluate(&inputs);
        literals
            .iter()
            .map(|&l| read(l, &values) & 1 == 1)
            .collect()
    };
    let ended: Vec<Vec<bool>> = net
        .goals
        .iter()
        .map(|goals| {
            let literals: Vec<Literal> = goals.iter().map(|goal| goal.1).collect();
            ask(&[], &literals)
        })
        .collect();
    let mut result = Expected {
        powers: [1.0, 0.0, 0.0, 0.0, 0.0],
        stuck: 0.0,
        goals: ended.iter().map(|ended| vec![0.0; ended.len()]).collect(),
    };
    let legal: Vec<Vec<usize>> = net
        .legal
        .iter()
        .map(|legal| {
            let is = ask(&[], legal);
            (0..legal.len()).filter(|&index| is[index]).collect()
        })
        .collect();
    if ask(&[], &[net.terminal])[0] {
        for (goals, ended) in result.goals.iter_mut().zip(&ended) {
            if ended.iter().filter(|&&is| is).count() == 1 {
                goals
                    .iter_mut()
                    .zip(ended)
                    .for_each(|(goal, &is)| *goal = f64::from(u8::from(is)));
            }
        }
    } else if legal.iter().any(Vec::is_empty) {
        result.stuck = 1.0;
    } else {
        let mut joints = vec![Vec::new()];
        for legal in &legal {
            joints = joints
                .iter()
                .flat_map(|joint: &Vec<usize>| {
                    legal
                        .iter()
                        .map(move |&chosen| [joint.as_slice(), &[chosen]].concat())
                })
                .collect();
        }
        let part = 1.0 / joints.len() as f64;
        let mut powers = [0.0; 5];
        // Moves that do not change the state only make the playout longer.
        let mut same = 0.0;
        for joint in &joints {
            let next = ask(joint, &net.next);
            if next == state {
                same += part;
                continue;
            }
            let after = expected(net, next, known);
            for (sum, power) in powers.iter_mut().zip(one_longer(&after.powers)) {
                *sum += part * power;
            }
            result.stuck += part * after.stuck;
            for (goal, after) in result
                .goals
                .iter_mut()
                .flatten()
                .zip(after.goals.iter().flatten())
            {
                *goal += part * after;
            }
        }
        let scale = 1.0 / (1.0 - same);
        for (power, others) in powers.into_iter().enumerate().skip(1) {
            // Only lower powers are read: this one is not known yet.
            let again = same * one_longer(&result.powers)[power];
            result.powers[power] = scale * (others + again);
        }
        result.stuck *= scale;
        result
            .goals
            .iter_mut()
            .flatten()
            .for_each(|goal| *goal *= scale);
    }
    known.insert(state, result.clone());
    result
}

/// The powers of a length, increased by one, given the powers of the length.
fn one_longer(powers: &[f64; 5]) -> [f64; 5] {
    const BINOMIALS: [[f64; 5]; 5] = [
        [1.0, 0.0, 0.0, 0.0, 0.0],
        [1.0, 1.0, 0.0, 0.0, 0.0],
        [1.0, 2.0, 1.0, 0.0, 0.0],
        [1.0, 3.0, 3.0, 1.0, 0.0],
        [1.0, 4.0, 6.0, 4.0, 1.0],
    ];
    BINOMIALS.map(|row| row.iter().zip(powers).map(|(a, b)| a * b).sum())
}

/// Asserts that a frequency is within five standard deviations of its expectation.
pub(in crate::propnet) fn assert_frequent(count: u64, of: u64, probability: f64, what: &str) {
    let mean = of as f64 * probability;
    let deviation = (mean * (1.0 - probability)).max(0.0).sqrt();
    assert!(
        (count as f64 - mean).abs() <= 5.0 * deviation + 1e-6,
        "{what}: {count} of {of} where {probability} is expected"
    );
}

fn check(rules: &str, start: Option<&[bool]>) {
    const PLAYOUTS: u64 = 40_000;
    let mut net = net(rules);
    for simplified in [false, true] {
        if simplified {
            net.simplify();
        }
        let from = start.map_or(net.initial.clone(), <[bool]>::to_vec);
        let mut packed = vec![0; from.len().div_ceil(64)];
        for (fact, &holds) in from.iter().enumerate() {
            packed[fact / 64] |= u64::from(holds) << (fact % 64);
        }
        let options = PlayoutOptions {
            start: start.map(|_| packed),
            ..PlayoutOptions::default()
        };
        let tally = Playouts::new(&net, &options).run(PLAYOUTS, 5, 1, on);
        let expected = expected(&net, from, &mut HashMap::new());
        assert_eq!((tally.playouts, tally.cut), (PLAYOUTS, 0));
        for (power, sum) in [
            (1, tally.state_changes as f64),
            (2, tally.squared_lengths as f64),
        ] {
            let mean = expected.powers[power];
            let variance = expected.powers[2 * power] - mean * mean;
            let error = (variance.max(0.0) / PLAYOUTS as f64).sqrt();
            let found = sum / PLAYOUTS as f64;
            assert!(
                (found - mean).abs() <= 5.0 * error + 1e-9,
                "power {power} of lengths is {found} where {mean} is expected"
            );
        }
        assert_frequent(tally.stuck, PLAYOUTS, expected.stuck, "stuck");
        for (role, goals) in tally.goals.iter().enumerate() {
            let scored: u64 = goals.iter().sum::<u64>() + tally.goal_errors[role];
            assert_eq!(scored + tally.stuck, PLAYOUTS);
            for (&count, &probability) in goals.iter().zip(&expected.goals[role]) {
                assert_frequent(count, PLAYOUTS, probability, "goal");
            }
        }
    }
}

#[test]
fn lengths_and_scores_have_the_expected_means() {
    for rules in [RACE, HEAP, ROADS, TRAPS, LAMPS] {
        check(rules, None);
    }
}

#[test]
fn playouts_begin_in_the_given_state() {
    // After one joint move, so not in the first phase.
    let net = net(HEAP);
    let mut inputs: Vec<u64> = net.initial.iter().map(|&holds| u64::from(holds)).collect();
    inputs.resize(net.network.inputs(), 0);
    let legal = net.network.evaluate(&inputs);
    for role in 0..2 {
        let first = net.legal[role]
            .iter()
            .position(|&l| read(l, &legal) & 1 == 1);
        inputs[net.move_input(role, first.expect("it may move"))] = 1;
    }
    let values = net.network.evaluate(&inputs);
    let next: Vec<bool> = net
        .next
        .iter()
        .map(|&l| read(l, &values) & 1 == 1)
        .collect();
    assert_ne!(next, net.initial);
    check(HEAP, Some(&next));
}

#[test]
fn the_result_does_not_depend_on_lanes_threads_or_engine() {
    for rules in [RACE, HEAP, ROADS, TRAPS, LAMPS] {
        let net = net(rules);
        for playouts in [1, 63, 700, 20_000] {
            let mut expected: Option<Tally> = None;
            for width in [Width::W64, Width::W256, Width::W512, Width::W1024] {
                for engine in [Engine::Interpreter, Engine::Avx2, Engine::Avx512] {
                    if !engine.is_available(width.words()) {
                        continue;
                    }
                    for threads in [1, 2] {
                        let options = PlayoutOptions {
                            width,
                            engine,
                            ..PlayoutOptions::default()
                        };
                        let all = Playouts::new(&net, &options);
                        let tally = all.run(playouts, 3, threads, on);
                        assert_eq!(tally.playouts, playouts);
                        let expected = expected.get_or_insert_with(|| tally.clone());
                        assert_eq!(&tally, expected, "{width:?} {engine:?} {threads} threads");
                    }
                }
            }
        }
    }
}

#[test]
fn costly_scores_are_pooled() {
    let is_pooled = |rules| {
        let all = Playouts::new(&net(rules), &PlayoutOptions::default());
        all.phases[0].pool.is_some()
    };
    assert!(is_pooled(LAMPS) && !is_pooled(RACE));
}

#[test]
fn running_the_tapes_repeatedly_changes_nothing() {
    for rules in [RACE, HEAP, LAMPS] {
        let all = Playouts::new(&net(rules), &PlayoutOptions::default());
        let [mut once, mut again] = [all.tapes(3), all.tapes(3)];
        for _ in 0..100 {
            once.advance();
            again.run(2);
            again.advance();
        }
        assert_eq!(once.state(), again.state());
    }
}

#[test]
fn seeds_differ() {
    let all = Playouts::new(&net(RACE), &PlayoutOptions::default());
    assert_ne!(all.run(1000, 1, 1, on), all.run(1000, 2, 1, on));
}

#[test]
fn cyclic_facts_are_found() {
    let net = net(HEAP);
    let [_, phases] = Phases::find(&net, &net.initial, 8);
    assert_eq!(phases.len(), 2);
    let constant = |phase: usize| phases.values[phase].iter().flatten().count();
    assert_eq!((constant(0), constant(1)), (2, 2));
    assert_eq!(Phases::find(&net, &net.initial, 1)[1].len(), 1);
    let all = Playouts::new(&net, &PlayoutOptions::default());
    assert_eq!(all.phases(), 2);
    let options = PlayoutOptions {
        phases: 1,
        ..PlayoutOptions::default()
    };
    assert_eq!(Playouts::new(&net, &options).phases(), 1);
    assert_eq!(
        Playouts::new(&self::net(RACE), &PlayoutOptions::default()).phases(),
        1
    );
}

#[test]
fn playouts_are_cut_at_the_depth() {
    for (depth, rules) in [(1, FOREVER), (7, FOREVER), (8, FOREVER), (100, FOREVER)] {
        let options = PlayoutOptions {
            depth: Some(depth),
            ..PlayoutOptions::default()
        };
        let tally = Playouts::new(&net(rules), &options).run(5_000, 1, 1, on);
        assert_eq!((tally.playouts, tally.cut), (5_000, 5_000));
        assert_eq!(tally.state_changes, 5_000 * depth);
        assert_eq!(tally.squared_lengths, u128::from(5_000 * depth * depth));
        assert_eq!(tally.goals, [[0], [0]]);
    }
    // The shortest playout takes three joint moves, the longest nine.
    for (depth, all_cut) in [(2, true), (9, false)] {
        let options = PlayoutOptions {
            depth: Some(depth),
            ..PlayoutOptions::default()
        };
        let tally = Playouts::new(&net(HEAP), &options).run(1_000, 1, 1, on);
        assert_eq!(tally.cut, if all_cut { 1_000 } else { 0 });
    }
}

#[test]
fn playouts_stop_on_request() {
    let asked = AtomicU32::new(0);
    let times = |limit: u32, then: Proceed| {
        asked.store(0, Ordering::Relaxed);
        let asked = &asked;
        move || match asked.fetch_add(1, Ordering::Relaxed) < limit {
            true => Proceed::On,
            false => then,
        }
    };
    let all = Playouts::new(&net(HEAP), &PlayoutOptions::default());
    let finished = all.run(u64::MAX, 1, 1, times(20, Proceed::Finish));
    assert!(finished.playouts > 0);
    let goals: u64 = finished.goals[0].iter().sum();
    assert_eq!(goals, finished.playouts);
    let dropped = all.run(u64::MAX, 1, 2, times(20, Proceed::Drop));
    assert!(dropped.playouts > 0);
    let endless = Playouts::new(&net(FOREVER), &PlayoutOptions::default());
    let nothing = endless.run(10, 1, 1, times(5, Proceed::Drop));
    assert!(nothing.playouts == 0 && nothing.state_changes > 0);
    assert_eq!(all.run(0, 1, 1, on).playouts, 0);
}
