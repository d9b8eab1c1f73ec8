use std::collections::{HashMap, HashSet};

use super::*;
use crate::propnet::batch::Packed;
use crate::propnet::batch::tests::{after, evaluate};
use crate::propnet::batch::{holds, pack};
use crate::propnet::network::Literal;
use crate::propnet::playout::tests::{
    FOREVER, HEAP, LAMPS, RACE, ROADS, TRAPS, assert_frequent, expected, net,
};

/// Two roles choose a number at the same time, twice. Their sums are compared;
/// equal sums give an invalid score.
pub(super) const DUEL: &str = "
    (role a) (role b) (init (sum a 0)) (init (sum b 0)) (init (round 1))
    (less 0 1) (less 0 2) (less 0 3) (less 0 4) (less 1 2) (less 1 3) (less 1 4)
    (less 2 3) (less 2 4) (less 3 4)
    (plus 0 0 0) (plus 0 1 1) (plus 0 2 2) (plus 1 0 1) (plus 1 1 2) (plus 1 2 3)
    (plus 2 0 2) (plus 2 1 3) (plus 2 2 4)
    (<= (legal ?r (say 0)) (role ?r))
    (<= (legal ?r (say 1)) (role ?r))
    (<= (legal ?r (say 2)) (role ?r) (not (true (sum ?r 2))))
    (<= (next (sum ?r ?z)) (does ?r (say ?y)) (true (sum ?r ?x)) (plus ?x ?y ?z))
    (<= (next (round 2)) (true (round 1)))
    (<= (next over) (true (round 2)))
    (<= terminal (true over))
    (<= (goal a 100) (true (sum a ?x)) (true (sum b ?y)) (less ?x ?y))
    (<= (goal a 20) (true (sum a ?x)) (true (sum b ?y)) (less ?y ?x))
    (<= (goal b 0) (true (sum a ?x)) (true (sum b ?y)) (less ?x ?y))
    (<= (goal b 50) (true (sum a ?x)) (true (sum b ?y)) (less ?y ?x))
    (<= (goal ?r 101) (true (sum a ?x)) (true (sum b ?x)) (role ?r))";

pub(super) fn on() -> Proceed {
    Proceed::On
}

/// The initial state and its successors, until there are `most` states.
pub(super) fn reached(net: &Propnet, most: usize) -> Vec<Packed> {
    let initial = pack(net.initial.iter().copied());
    let mut seen = HashSet::from([initial.clone()]);
    let mut states = vec![initial];
    let mut next = 0;
    while next < states.len() && states.len() < most {
        let state = states[next].clone();
        next += 1;
        let is = evaluate(net, &state, &[]);
        if is(net.terminal) {
            continue;
        }
        let mut joints = vec![Vec::new()];
        for legal in &net.legal {
            let legal: Vec<usize> = (0..legal.len()).filter(|&l| is(legal[l])).collect();
            let longer = joints.iter().flat_map(|joint: &Vec<usize>| {
                let one = |&chosen: &usize| [joint.as_slice(), &[chosen]].concat();
                legal.iter().map(one)
            });
            joints = longer.collect();
        }
        for joint in joints {
            let after = after(net, &state, &joint);
            if seen.insert(after.clone()) {
                states.push(after);
            }
        }
    }
    states
}

/// A role's scores and their probabilities.
pub(super) fn scores(net: &Propnet, role: usize, probable: &[f64]) -> Vec<(f64, f64)> {
    let terms = net.terms();
    let values = net.goals[role].iter().zip(probable);
    values
        .filter_map(|(goal, &probable)| {
            let score = net.game.score(&terms, goal.0).ok()?;
            Some((f64::from(score.get()), probable))
        })
        .collect()
}

/// Compares outcomes with the expectations for `each` playouts from each state.
fn check_means(net: &Propnet, starts: &[Packed], each: u64, outcomes: &[Outcome]) {
    let mut known = HashMap::new();
    assert_eq!(starts.len(), outcomes.len());
    for (start, outcome) in starts.iter().zip(outcomes) {
        let state: Vec<bool> = (0..net.facts.len())
            .map(|fact| holds(start, fact))
            .collect();
        let expected = expected(net, state, &mut known);
        let ended = outcome.playouts + outcome.stuck + outcome.faulty;
        assert_eq!((ended, outcome.cut), (each, 0));
        assert_frequent(outcome.stuck, each, expected.stuck, "stuck");
        for (role, sum) in outcome.scores.iter().enumerate() {
            let scores = scores(net, role, &expected.goals[role]);
            // In these games, all roles have scores or none has.
            let valid: f64 = scores.iter().map(|score| score.1).sum();
            assert_frequent(outcome.playouts, each, valid, "scored");
            let power = |n: i32| -> f64 {
                scores
                    .iter()
                    .map(|(score, probable)| score.powi(n) * probable)
                    .sum()
            };
            for (n, sum) in [(1, sum.total), (2, sum.squares)] {
                let error = (power(2 * n) - power(n).powi(2)).max(0.0) / each as f64;
                let mean = sum as f64 / each as f64;
                assert!(
                    (mean - power(n)).abs() <= 5.5 * error.sqrt() + 1e-6,
                    "role {role} power {n}: {mean} where {} is expected",
                    power(n)
                );
            }
        }
    }
}

fn check(rules: &str) {
    let mut net = net(rules);
    net.simplify();
    let starts = reached(&net, 700);
    let mut rollouts = Rollouts::new(&net, &RolloutOptions::default(), 9);
    // All states at once, with few lanes each.
    let outcomes = rollouts.run(&starts, 1500, &mut on);
    check_means(&net, &starts, 1500, outcomes);
    // Single states, with many lanes.
    for start in starts.chunks(1).step_by(1 + starts.len() / 6) {
        let outcomes = rollouts.run(start, 3000, &mut on);
        check_means(&net, start, 3000, outcomes);
    }
    // Repeatedly, in groups of different sizes.
    let mut sums = vec![Outcome::default(); starts.len()];
    for call in 0..20 {
        let few = 1 + call * 3 % 41;
        for (sums, starts) in sums.chunks_mut(few).zip(starts.chunks(few)) {
            for (sum, outcome) in sums.iter_mut().zip(rollouts.run(starts, 40, &mut on)) {
                add(sum, outcome);
            }
        }
    }
    check_means(&net, &starts, 800, &sums);
}

pub(super) fn add(sum: &mut Outcome, more: &Outcome) {
    sum.playouts += more.playouts;
    sum.stuck += more.stuck;
    sum.cut += more.cut;
    sum.faulty += more.faulty;
    sum.scores.resize(more.scores.len(), Sum::default());
    for (sum, more) in sum.scores.iter_mut().zip(&more.scores) {
        sum.total += more.total;
        sum.squares += more.squares;
    }
}

#[test]
fn scores_from_every_state_have_the_expected_means() {
    for rules in [RACE, HEAP, ROADS, TRAPS, LAMPS, DUEL] {
        check(rules);
    }
}

#[test]
fn terminal_states_have_their_own_scores() {
    let net = net(DUEL);
    let starts = reached(&net, 1000);
    let mut rollouts = Rollouts::new(&net, &RolloutOptions::default(), 1);
    let outcomes = rollouts.run(&starts, 3, &mut on).to_vec();
    let mut kinds = HashSet::new();
    for (start, outcome) in starts.iter().zip(&outcomes) {
        let is = evaluate(&net, start, &[]);
        if !is(net.terminal) {
            continue;
        }
        let values = |role: usize| -> Vec<f64> {
            let goals: &Vec<(_, Literal)> = &net.goals[role];
            let values: Vec<f64> = goals
                .iter()
                .map(|goal| f64::from(u8::from(is(goal.1))))
                .collect();
            scores(&net, role, &values)
                .iter()
                .map(|(score, value)| score * value)
                .collect()
        };
        if outcome.faulty == 3 {
            // A role without a score counts as 0.
            assert_eq!(outcome.mean(0), Some(0.0));
        } else {
            assert_eq!(outcome.playouts, 3);
            for role in 0..2 {
                assert_eq!(outcome.mean(role), Some(values(role).iter().sum()));
            }
        }
        kinds.insert((
            outcome.faulty,
            outcome.scores.clone().iter().map(|s| s.total).max(),
        ));
    }
    assert_eq!(kinds.len(), 3, "a wins, b wins, and neither");
}

#[test]
fn results_do_not_depend_on_names() {
    // Other names, in another alphabetical order.
    let mut renamed = RACE.replace("after", "b9");
    for (old, new) in [
        ("go", "zz"),
        ("jump", "aa"),
        ("stay", "mm"),
        ("both", "q"),
        ("at", "x"),
    ] {
        renamed = renamed.replace(&format!("({old} "), &format!("({new} "));
        renamed = renamed.replace(&format!(" {old})"), &format!(" {new})"));
        renamed = renamed.replace(&format!("({old})"), &format!("({new})"));
    }
    assert_ne!(renamed, RACE);
    check(&renamed);
    let whole = |rules: &str| {
        let net = net(rules);
        expected(&net, net.initial.clone(), &mut HashMap::new()).goals
    };
    let sum = |goals: Vec<Vec<f64>>| goals.concat().iter().sum::<f64>();
    assert!((sum(whole(&renamed)) - sum(whole(RACE))).abs() < 1e-9);
}

#[test]
fn results_depend_on_the_seed_and_not_on_the_engine() {
    for rules in [RACE, HEAP, ROADS, TRAPS, LAMPS, DUEL] {
        for level_bits in [0, 2] {
            check_engines(rules, level_bits);
        }
    }
}

fn check_engines(rules: &str, level_bits: u32) {
    let net = net(rules);
    let starts = reached(&net, 90);
    let levels = levels(&net, level_bits);
    for width in [Width::W64, Width::W256, Width::W512, Width::W1024] {
        let run = |engine: Engine, seed: u64| {
            let options = RolloutOptions {
                width,
                engine,
                level_bits,
                record: if level_bits > 0 {
                    Record::Moves
                } else {
                    Record::Nothing
                },
                ..RolloutOptions::default()
            };
            let mut rollouts = Rollouts::new(&net, &options, seed);
            guide(&mut rollouts, &levels, 0.3);
            let mut all = Vec::new();
            for (count, each) in [(1, 1), (7, 9), (90, 30), (64, 8), (64, 8), (0, 5), (3, 0)] {
                let count = starts.len().min(count);
                all.extend_from_slice(rollouts.run(&starts[..count], each, &mut on));
            }
            let moves = match options.record {
                Record::Moves => rollouts.moves(0).to_vec(),
                Record::Nothing => Vec::new(),
            };
            (all, moves, rollouts.state_changes())
        };
        let expected = run(Engine::Interpreter, 3);
        for engine in [Engine::Auto, Engine::Avx2, Engine::Avx512] {
            if engine.is_available(width.words()) {
                assert_eq!(run(engine, 3), expected, "{engine:?} {width:?}");
            }
        }
        assert_ne!(run(Engine::Auto, 4), expected);
    }
}

/// Arbitrary levels, by role and move.
pub(super) fn levels(net: &Propnet, bits: u32) -> Vec<Vec<u8>> {
    let of_role = |(role, moves): (usize, &Vec<_>)| {
        let level = |index: usize| ((index * 5 + role * 3 + index / 3) as u8) & ((1 << bits) - 1);
        (0..moves.len()).map(level).collect()
    };
    net.moves.iter().enumerate().map(of_role).collect()
}

pub(super) fn guide(rollouts: &mut Rollouts, levels: &[Vec<u8>], exploration: f64) {
    for (role, levels) in levels.iter().enumerate() {
        rollouts.set_levels(role, levels);
    }
    rollouts.set_exploration(exploration);
}

#[test]
fn a_clone_continues_equally_until_it_is_reseeded() {
    let net = net(RACE);
    let starts = reached(&net, 10);
    let mut one = Rollouts::new(&net, &RolloutOptions::default(), 5);
    let first = one.run(&starts, 50, &mut on).to_vec();
    let mut other = one.clone();
    let second = one.run(&starts, 50, &mut on).to_vec();
    assert_ne!(first, second);
    assert_eq!(other.run(&starts, 50, &mut on), second);
    other.reseed(5);
    assert_eq!(other.run(&starts, 50, &mut on), first);
}

#[test]
fn every_state_gets_the_requested_playouts() {
    let net = net(HEAP);
    let some = reached(&net, 100);
    let options = RolloutOptions {
        width: Width::W64,
        ..RolloutOptions::default()
    };
    let mut rollouts = Rollouts::new(&net, &options, 1);
    for count in [1, 2, 3, 31, 63, 64, 65, 200] {
        let starts: Vec<Packed> = some.iter().cycle().take(count).cloned().collect();
        for each in [0, 1, 2, 7, 21, 22, 64, 65, 1000] {
            let before = rollouts.state_changes();
            for (start, outcome) in starts.iter().zip(rollouts.run(&starts, each, &mut on)) {
                assert_eq!(outcome.playouts, u64::from(each), "{count} states");
                let sum: u64 = outcome.scores.iter().map(|score| score.total).sum();
                assert_eq!(sum, 100 * u64::from(each), "one of them wins");
                let squares: u64 = outcome.scores.iter().map(|score| score.squares).sum();
                assert_eq!(squares, 100 * sum);
                let is_over = evaluate(&net, start, &[])(net.terminal);
                let best = outcome.scores.iter().map(|score| score.total).max();
                assert!(!is_over || best == Some(sum));
            }
            let changes = rollouts.state_changes() - before;
            assert!(changes <= 9 * u64::from(each) * count as u64);
            assert!(changes > 0 || each == 0);
        }
    }
}

#[test]
fn playouts_are_cut_at_the_depth() {
    for depth in [0, 1, 7, 8, 100] {
        let options = RolloutOptions {
            depth: Some(depth),
            ..RolloutOptions::default()
        };
        let net = net(FOREVER);
        let starts = reached(&net, 100);
        let mut rollouts = Rollouts::new(&net, &options, 1);
        for outcome in rollouts.run(&starts, 300, &mut on) {
            assert_eq!((outcome.playouts, outcome.cut), (0, 300));
        }
        assert_eq!(rollouts.state_changes(), starts.len() as u64 * 300 * depth);
    }
    // Playouts that are over at once are not cut; those of five moves or more are.
    let net = net(HEAP);
    let starts = reached(&net, 100);
    let options = RolloutOptions {
        depth: Some(2),
        ..RolloutOptions::default()
    };
    let mut rollouts = Rollouts::new(&net, &options, 1);
    let outcomes = rollouts.run(&starts, 50, &mut on);
    for (start, outcome) in starts.iter().zip(outcomes) {
        assert_eq!(outcome.playouts + outcome.cut, 50);
        if evaluate(&net, start, &[])(net.terminal) {
            assert_eq!(outcome.cut, 0);
        }
    }
    assert_eq!(outcomes[0].cut, 50);
    assert!(
        outcomes
            .iter()
            .any(|outcome| (1..50).contains(&outcome.cut))
    );
}

#[test]
fn playouts_are_cut_when_time_is_over() {
    let endless = net(FOREVER);
    let starts = reached(&endless, 1);
    let mut rollouts = Rollouts::new(&endless, &RolloutOptions::default(), 1);
    rollouts.set_time(Some(Duration::ZERO));
    let outcome = rollouts.run(&starts, 10, &mut on)[0].clone();
    assert_eq!((outcome.playouts, outcome.cut), (0, 10));
    // More playouts than lanes: those that have not begun are left out.
    let lanes = rollouts.lanes() as u64;
    let outcome = rollouts.run(&starts, 10_000, &mut on)[0].clone();
    assert_eq!((outcome.playouts, outcome.cut), (0, lanes));

    let net = net(HEAP);
    let starts = reached(&net, 1);
    let mut rollouts = Rollouts::new(&net, &RolloutOptions::default(), 1);
    rollouts.set_time(Some(Duration::ZERO));
    let outcome = rollouts.run(&starts, u32::MAX, &mut on)[0].clone();
    assert!(outcome.playouts > 0 && outcome.cut > 0);
    let sum: u64 = outcome.scores.iter().map(|score| score.total).sum();
    assert_eq!(sum, 100 * outcome.playouts);
    // Later calls have their own time.
    rollouts.set_time(None);
    let outcome = rollouts.run(&starts, 10, &mut on)[0].clone();
    assert_eq!((outcome.playouts, outcome.cut), (10, 0));
}

#[test]
fn playouts_stop_on_request() {
    let asked = |answer: Proceed| {
        let mut left = 3;
        move || {
            left -= 1;
            if left > 0 { Proceed::On } else { answer }
        }
    };
    let net = net(HEAP);
    let starts = reached(&net, 1);
    let mut rollouts = Rollouts::new(&net, &RolloutOptions::default(), 1);
    for answer in [Proceed::Finish, Proceed::Drop] {
        let outcome = rollouts.run(&starts, u32::MAX, &mut asked(answer))[0].clone();
        assert!(outcome.playouts > 0);
        let sum: u64 = outcome.scores.iter().map(|score| score.total).sum();
        assert_eq!(sum, 100 * outcome.playouts);
    }
    // Discarded playouts leave no trace.
    assert_eq!(rollouts.run(&starts, 10, &mut on)[0].playouts, 10);
    let endless = self::net(FOREVER);
    let mut rollouts = Rollouts::new(&endless, &RolloutOptions::default(), 1);
    let starts = reached(&endless, 1);
    let outcomes = rollouts.run(&starts, 1, &mut asked(Proceed::Drop));
    assert_eq!((outcomes[0].playouts, outcomes[0].cut), (0, 0));
    assert!(rollouts.state_changes() > 0);
}
