use std::collections::{HashMap, HashSet};

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;
use crate::propnet::batch::tests::{after, evaluate};
use crate::propnet::batch::{holds, pack};
use crate::propnet::network::Literal;
use crate::propnet::playout::tests::{
    FOREVER, HEAP, LAMPS, RACE, ROADS, TRAPS, assert_frequent, expected, net,
};

/// Two choose a number at the same time, twice; the sums are compared, and what
/// they are worth is no score if they are equal.
const DUEL: &str = "
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

fn on() -> Proceed {
    Proceed::On
}

/// The initial state and all that follow, up to some number.
fn reached(net: &Propnet, most: usize) -> Vec<Packed> {
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

/// A role's scores, and how probable each is.
fn scores(net: &Propnet, role: usize, probable: &[f64]) -> Vec<(f64, f64)> {
    let terms = net.terms();
    let values = net.goals[role].iter().zip(probable);
    values
        .filter_map(|(goal, &probable)| {
            let score = net.game.score(&terms, goal.0).ok()?;
            Some((f64::from(score.get()), probable))
        })
        .collect()
}

/// Compares outcomes with what is expected of so many playouts from each state.
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
            // In these games, all roles have scores or none.
            let right: f64 = scores.iter().map(|score| score.1).sum();
            assert_frequent(outcome.playouts, each, right, "scored");
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
    // In few lanes each, all at once.
    let outcomes = rollouts.run(&starts, 1500, &mut on);
    check_means(&net, &starts, 1500, outcomes);
    // Some alone, in many lanes.
    for start in starts.chunks(1).step_by(1 + starts.len() / 6) {
        let outcomes = rollouts.run(start, 3000, &mut on);
        check_means(&net, start, 3000, outcomes);
    }
    // By and by, in company that changes.
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

fn add(sum: &mut Outcome, more: &Outcome) {
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
fn playouts_from_every_state_are_worth_what_is_expected() {
    for rules in [RACE, HEAP, ROADS, TRAPS, LAMPS, DUEL] {
        check(rules);
    }
}

#[test]
fn ends_are_worth_what_they_are() {
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
        let due = |role: usize| -> Vec<f64> {
            let goals: &Vec<(_, Literal)> = &net.goals[role];
            let due: Vec<f64> = goals
                .iter()
                .map(|goal| f64::from(u8::from(is(goal.1))))
                .collect();
            scores(&net, role, &due)
                .iter()
                .map(|(score, due)| score * due)
                .collect()
        };
        if outcome.faulty == 3 {
            assert_eq!(outcome.mean(0), None);
        } else {
            assert_eq!(outcome.playouts, 3);
            for role in 0..2 {
                assert_eq!(outcome.mean(role), Some(due(role).iter().sum()));
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
fn names_make_no_difference() {
    // Other names, in another order.
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
fn engines_make_no_difference_and_seeds_do() {
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

/// Some levels, by role and move.
fn levels(net: &Propnet, bits: u32) -> Vec<Vec<u8>> {
    let of_role = |(role, moves): (usize, &Vec<_>)| {
        let level = |index: usize| ((index * 5 + role * 3 + index / 3) as u8) & ((1 << bits) - 1);
        (0..moves.len()).map(level).collect()
    };
    net.moves.iter().enumerate().map(of_role).collect()
}

fn guide(rollouts: &mut Rollouts, levels: &[Vec<u8>], exploration: f64) {
    for (role, levels) in levels.iter().enumerate() {
        rollouts.set_levels(role, levels);
    }
    rollouts.set_exploration(exploration);
}

/// What single playouts come to, one move after the other.
#[derive(Default)]
struct Plain {
    playouts: u64,
    stuck: u64,
    totals: Vec<u64>,
    /// By role and move.
    moves: Vec<Vec<MoveSum>>,
    /// Whether a move was ever made beside another one that was legal.
    chosen: Vec<Vec<bool>>,
}

fn plain(net: &Propnet, start: &Packed, levels: &[Vec<u8>], exploration: f64, times: u64) -> Plain {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(11);
    let of_moves = |role: &Vec<_>| vec![MoveSum::default(); role.len()];
    let mut plain = Plain {
        totals: vec![0; net.goals.len()],
        moves: net.moves.iter().map(of_moves).collect(),
        chosen: net
            .moves
            .iter()
            .map(|moves| vec![false; moves.len()])
            .collect(),
        ..Plain::default()
    };
    let mut known: HashMap<Packed, _> = HashMap::new();
    for _ in 0..times {
        let mut state = start.clone();
        let mut made: Vec<HashSet<usize>> = vec![HashSet::new(); net.legal.len()];
        let is_over = loop {
            let (is_over, legal) = known.entry(state.clone()).or_insert_with(|| {
                let is = evaluate(net, &state, &[]);
                let of_role = |legal: &Vec<Literal>| -> Vec<usize> {
                    (0..legal.len()).filter(|&l| is(legal[l])).collect()
                };
                (
                    is(net.terminal),
                    net.legal.iter().map(of_role).collect::<Vec<_>>(),
                )
            });
            if *is_over || legal.iter().any(Vec::is_empty) {
                break *is_over;
            }
            let mut joint = Vec::new();
            for (role, legal) in legal.iter().enumerate() {
                let best = legal.iter().map(|&index| levels[role][index]).max();
                let explores = random.random_bool(exploration);
                let is_wanted = |&&index: &&usize| explores || Some(levels[role][index]) == best;
                let wanted: Vec<usize> = legal.iter().filter(is_wanted).copied().collect();
                let index = wanted[random.random_range(0..wanted.len())];
                plain.chosen[role][index] |= legal.len() > 1;
                made[role].insert(index);
                joint.push(index);
            }
            state = after(net, &state, &joint);
        };
        plain.stuck += u64::from(!is_over);
        let is = evaluate(net, &state, &[]);
        let score = |role: usize| {
            let due = net.goals[role]
                .iter()
                .map(|goal| f64::from(u8::from(is(goal.1))));
            let due: Vec<f64> = due.collect();
            let due = (due.iter().sum::<f64>() == 1.0).then(|| scores(net, role, &due))?;
            due.iter().find(|due| due.1 > 0.0).map(|due| due.0 as u64)
        };
        let scores: Option<Vec<u64>> = (0..net.goals.len()).map(score).collect();
        let Some(scores) = scores.filter(|_| is_over) else {
            continue;
        };
        plain.playouts += 1;
        for (role, score) in scores.into_iter().enumerate() {
            plain.totals[role] += score;
            for &index in &made[role] {
                plain.moves[role][index].playouts += 1;
                plain.moves[role][index].total += score;
            }
        }
    }
    plain
}

/// Two counts or sums of values up to `most`, out of different numbers of trials,
/// are compared.
fn assert_alike(one: (u64, u64), other: (u64, u64), most: f64, what: &str) {
    let [a, b] = [one, other].map(|(sum, of)| sum as f64 / of as f64);
    let mean = (one.0 + other.0) as f64 / (one.1 + other.1) as f64;
    // The variance of values between 0 and `most` with a mean is no larger.
    let variance = mean * (most - mean);
    let error = (variance * (1.0 / one.1 as f64 + 1.0 / other.1 as f64)).sqrt();
    assert!((a - b).abs() <= 5.0 * error + 1e-9, "{what}: {a} and {b}");
}

#[test]
fn guided_playouts_are_what_they_are_one_by_one() {
    const TIMES: u64 = 3_000;
    for rules in [RACE, HEAP, ROADS, TRAPS, DUEL] {
        let net = net(rules);
        let states = reached(&net, 60);
        for (level_bits, exploration) in [(0, 0.0), (1, 0.0), (3, 0.25), (3, 1.0)] {
            let options = RolloutOptions {
                level_bits,
                record: Record::Moves,
                ..RolloutOptions::default()
            };
            let levels = levels(&net, level_bits);
            let mut rollouts = Rollouts::new(&net, &options, 2);
            guide(&mut rollouts, &levels, exploration);
            for start in states.iter().step_by(13) {
                rollouts.fade_moves(0.0);
                // Where a lane begins anew, moves are counted from nothing.
                let of = 8 * TIMES;
                let outcome = rollouts.run(&vec![start.clone(); 8], TIMES as u32, &mut on);
                let mut sum = Outcome::default();
                outcome.iter().for_each(|outcome| add(&mut sum, outcome));
                let plain = plain(&net, start, &levels, exploration, TIMES);
                assert_alike((sum.stuck, of), (plain.stuck, TIMES), 1.0, "stuck");
                assert_alike((sum.playouts, of), (plain.playouts, TIMES), 1.0, "scored");
                for role in 0..net.goals.len() {
                    let total = sum.scores[role].total;
                    assert_alike((total, of), (plain.totals[role], TIMES), 100.0, "score");
                    let moves = rollouts.moves(role).iter().zip(&plain.moves[role]);
                    for (index, (lanes, one)) in moves.enumerate() {
                        if !plain.chosen[role][index] && lanes.playouts == 0 {
                            continue;
                        }
                        let what = format!("move {index} of role {role}");
                        assert_alike((lanes.playouts, of), (one.playouts, TIMES), 1.0, &what);
                        assert_alike((lanes.total, of), (one.total, TIMES), 100.0, &what);
                    }
                }
            }
        }
    }
}

/// Two roles choose among seven, of which some may be taken away, and that is all.
const CHOICE: &str = "
    (role a) (role b)
    (what 0) (what 1) (what 2) (what 3) (what 4) (what 5) (what 6)
    (init (has a 0)) (init (has a 1)) (init (has a 2)) (init (has a 3)) (init (has a 4))
    (init (has a 5)) (init (has a 6)) (init (has b 0)) (init (has b 1)) (init (has b 2))
    (init (has b 3)) (init (has b 4)) (init (has b 5)) (init (has b 6))
    (<= (legal ?r (take ?x)) (true (has ?r ?x)))
    (<= (next (took ?r ?x)) (does ?r (take ?x)))
    (<= terminal (true (took ?r ?x)))
    (<= (goal ?r 100) (role ?r) (true (took a ?x)) (true (took b ?x)))
    (<= (goal ?r 0) (role ?r) (not (same)))
    (<= (same) (true (took a ?x)) (true (took b ?x)))";

#[test]
fn moves_are_chosen_by_level_as_promised() {
    const TIMES: u64 = 50_000;
    let net = net(CHOICE);
    let options = RolloutOptions {
        level_bits: 2,
        record: Record::Moves,
        ..RolloutOptions::default()
    };
    let initial = pack(net.initial.iter().copied());
    let given: Vec<usize> = (0..net.facts.len()).filter(|&f| net.initial[f]).collect();
    let mut rollouts = Rollouts::new(&net, &options, 8);
    let levels = [vec![0, 3, 1, 3, 2, 0, 1], vec![1, 1, 0, 2, 2, 2, 0]];
    // Nothing is taken away; then all but some.
    for taken in [
        0u32,
        0b11_0000_1010,
        0b1111_1110_0111,
        0b1000_0000_1001_1110,
    ] {
        let mut start = initial.clone();
        for (bit, fact) in given.iter().enumerate() {
            start[fact / 64] &= !(u64::from(taken >> bit & 1) << (fact % 64));
        }
        let is = evaluate(&net, &start, &[]);
        for exploration in [0.0, 0.25, 1.0] {
            guide(&mut rollouts, &levels, exploration);
            rollouts.fade_moves(0.0);
            let outcome = rollouts.run(std::slice::from_ref(&start), TIMES as u32, &mut on);
            let wins = outcome[0].scores[0].total / 100;
            let mut same = 0.0;
            let mut probable = Vec::new();
            for role in 0..2 {
                let legal = |&index: &usize| is(net.legal[role][index]);
                let legal: Vec<usize> = (0..7).filter(legal).collect();
                let best = legal.iter().map(|&index| levels[role][index]).max();
                let wanted = |&&index: &&usize| Some(levels[role][index]) == best;
                let count = legal.iter().filter(wanted).count() as f64;
                let of = |index: usize| match legal.contains(&index) {
                    false => 0.0,
                    true if Some(levels[role][index]) == best => {
                        (1.0 - exploration) / count + exploration / legal.len() as f64
                    }
                    true => exploration / legal.len() as f64,
                };
                probable.push((0..7).map(of).collect::<Vec<f64>>());
                for (sum, &probable) in rollouts.moves(role).iter().zip(&probable[role]) {
                    assert_frequent(sum.playouts, TIMES, probable, "a move");
                }
            }
            for (one, other) in probable[0].iter().zip(&probable[1]) {
                same += one * other;
            }
            assert_frequent(wins, TIMES, same, "the roles choose apart");
            let made: u64 = rollouts.moves(1).iter().map(|sum| sum.playouts).sum();
            assert_eq!(made, TIMES);
            let won: u64 = rollouts.moves(1).iter().map(|sum| sum.total).sum();
            assert_eq!(won, 100 * wins);
        }
    }
}

#[test]
fn levels_are_learned_from_means() {
    let sum = |playouts, total| MoveSum { playouts, total };
    let sums = [sum(4, 100), sum(0, 0), sum(1, 75), sum(2, 100)];
    assert_eq!(learned_levels(&sums, 0), [0; 4]);
    assert_eq!(learned_levels(&sums, 2), [0, 3, 3, 2]);
    assert_eq!(learned_levels(&sums, 8), [0, 255, 255, 128]);
    assert_eq!(learned_levels(&sums[..2], 4), [15, 15]);
    assert_eq!(sums[3].mean(), Some(50.0));
}

#[test]
fn what_is_known_of_moves_fades() {
    let net = net(CHOICE);
    let options = RolloutOptions {
        record: Record::Moves,
        ..RolloutOptions::default()
    };
    let mut rollouts = Rollouts::new(&net, &options, 8);
    let start = pack(net.initial.iter().copied());
    rollouts.run(&[start], 7000, &mut on);
    let before = rollouts.moves(1).to_vec();
    rollouts.fade_moves(0.5);
    for (before, now) in before.iter().zip(rollouts.moves(1)) {
        assert_eq!(now.playouts, before.playouts / 2);
        assert_eq!(now.total, before.total / 2);
    }
}

#[test]
#[should_panic(expected = "the level has as many bits as were asked for")]
fn levels_that_are_too_high_are_refused() {
    let net = net(CHOICE);
    let options = RolloutOptions {
        level_bits: 2,
        ..RolloutOptions::default()
    };
    Rollouts::new(&net, &options, 1).set_levels(0, &[0, 1, 2, 3, 4, 0, 0]);
}

#[test]
fn a_clone_goes_on_alike_until_it_is_reseeded() {
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
fn every_state_gets_its_playouts_whatever_their_number() {
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
fn playouts_are_cut_where_asked() {
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
    // What is over at once is not cut; what takes five moves or more is.
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
fn playouts_stop_when_told_to() {
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
    // What was dropped is forgotten.
    assert_eq!(rollouts.run(&starts, 10, &mut on)[0].playouts, 10);
    let endless = self::net(FOREVER);
    let mut rollouts = Rollouts::new(&endless, &RolloutOptions::default(), 1);
    let starts = reached(&endless, 1);
    let outcomes = rollouts.run(&starts, 1, &mut asked(Proceed::Drop));
    assert_eq!((outcomes[0].playouts, outcomes[0].cut), (0, 0));
    assert!(rollouts.state_changes() > 0);
}
