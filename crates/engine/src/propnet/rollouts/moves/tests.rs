use std::collections::{HashMap, HashSet};

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;
use crate::propnet::batch::tests::{after, evaluate};
use crate::propnet::batch::{Packed, pack};
use crate::propnet::network::Literal;
use crate::propnet::playout::tests::{HEAP, RACE, ROADS, TRAPS, assert_frequent, net};
use crate::propnet::rollouts::tests::{DUEL, add, guide, levels, on, reached, scores};
use crate::propnet::rollouts::{Outcome, Record, RolloutOptions, Rollouts};

/// The results of playouts that are made one after the other, one move at a time.
#[derive(Default)]
struct Plain {
    playouts: u64,
    stuck: u64,
    totals: Vec<u64>,
    /// By role and move.
    moves: Vec<Vec<MoveSum>>,
    /// True if the move was ever made although another was legal.
    chosen: Vec<Vec<bool>>,
}

fn plain(net: &Propnet, start: &Packed, levels: &[Vec<u8>], exploration: f64, times: u64) -> Plain {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(11);
    let no_sums = |role: &Vec<_>| vec![MoveSum::default(); role.len()];
    let mut plain = Plain {
        totals: vec![0; net.goals.len()],
        moves: net.moves.iter().map(no_sums).collect(),
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
                let is_best = |&&index: &&usize| explores || Some(levels[role][index]) == best;
                let candidates: Vec<usize> = legal.iter().filter(is_best).copied().collect();
                let index = candidates[random.random_range(0..candidates.len())];
                plain.chosen[role][index] |= legal.len() > 1;
                made[role].insert(index);
                joint.push(index);
            }
            state = after(net, &state, &joint);
        };
        plain.stuck += u64::from(!is_over);
        let is = evaluate(net, &state, &[]);
        let score = |role: usize| {
            let values = net.goals[role]
                .iter()
                .map(|goal| f64::from(u8::from(is(goal.1))));
            let values: Vec<f64> = values.collect();
            let values = (values.iter().sum::<f64>() == 1.0).then(|| scores(net, role, &values))?;
            values
                .iter()
                .find(|values| values.1 > 0.0)
                .map(|values| values.0 as u64)
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

/// Compares two counts or sums of values up to `most` from different numbers of
/// trials.
fn assert_similar(one: (u64, u64), other: (u64, u64), most: f64, what: &str) {
    let [a, b] = [one, other].map(|(sum, of)| sum as f64 / of as f64);
    let mean = (one.0 + other.0) as f64 / (one.1 + other.1) as f64;
    // The variance of values between 0 and `most` with this mean is at most that.
    let variance = mean * (most - mean);
    let error = (variance * (1.0 / one.1 as f64 + 1.0 / other.1 as f64)).sqrt();
    assert!((a - b).abs() <= 5.0 * error + 1e-9, "{what}: {a} and {b}");
}

#[test]
fn guided_playouts_agree_with_sequential_ones() {
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
                // When a lane restarts, its record is cleared.
                let of = 8 * TIMES;
                let outcome = rollouts.run(&vec![start.clone(); 8], TIMES as u32, &mut on);
                let mut sum = Outcome::default();
                outcome.iter().for_each(|outcome| add(&mut sum, outcome));
                let plain = plain(&net, start, &levels, exploration, TIMES);
                assert_similar((sum.stuck, of), (plain.stuck, TIMES), 1.0, "stuck");
                assert_similar((sum.playouts, of), (plain.playouts, TIMES), 1.0, "scored");
                for role in 0..net.goals.len() {
                    let total = sum.scores[role].total;
                    assert_similar((total, of), (plain.totals[role], TIMES), 100.0, "score");
                    let moves = rollouts.moves(role).iter().zip(&plain.moves[role]);
                    for (index, (lanes, one)) in moves.enumerate() {
                        if !plain.chosen[role][index] && lanes.playouts == 0 {
                            continue;
                        }
                        let what = format!("move {index} of role {role}");
                        assert_similar((lanes.playouts, of), (one.playouts, TIMES), 1.0, &what);
                        assert_similar((lanes.total, of), (one.total, TIMES), 100.0, &what);
                    }
                }
            }
        }
    }
}

/// Each of two roles makes one choice among seven moves, of which some may be
/// removed.
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
fn moves_are_chosen_by_level() {
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
    // First nothing is removed, then all but a few.
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
                let candidates = |&&index: &&usize| Some(levels[role][index]) == best;
                let count = legal.iter().filter(candidates).count() as f64;
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
fn moves_are_reported_by_state() {
    let mut only = 0;
    for rules in [RACE, HEAP, ROADS, TRAPS, DUEL] {
        let net = net(rules);
        let states = reached(&net, 60);
        let options = RolloutOptions {
            record: Record::Moves,
            by_state: true,
            ..RolloutOptions::default()
        };
        let mut rollouts = Rollouts::new(&net, &options, 3);
        for each in [1, 7, 100] {
            rollouts.fade_moves(0.0);
            let outcomes = rollouts.run(&states, each, &mut on).to_vec();
            for role in 0..net.legal.len() {
                let mut all = vec![MoveSum::default(); net.moves[role].len()];
                for ((state, outcome), made) in states.iter().zip(&outcomes).zip(rollouts.made()) {
                    let mut own = all.clone();
                    own.fill(MoveSum::default());
                    for made in made.iter().filter(|made| made.role == role) {
                        for sum in [&mut all[made.index], &mut own[made.index]] {
                            sum.playouts += made.sum.playouts;
                            sum.total += made.sum.total;
                        }
                    }
                    let most = outcome.scores[role].total;
                    for sum in &own {
                        assert!(sum.playouts <= outcome.playouts && sum.total <= most);
                    }
                    let is = evaluate(&net, state, &[]);
                    let legal: Vec<_> = net.legal[role].iter().map(|&legal| is(legal)).collect();
                    let count = legal.iter().filter(|legal| **legal).count();
                    let first = legal.iter().position(|&legal| legal);
                    // Moves without effect may be left out.
                    if let Some(first) =
                        first.filter(|&first| count == 1 && own[first].playouts > 0)
                        && !is(net.terminal)
                    {
                        only += 1;
                        assert_eq!(own[first].playouts, outcome.playouts);
                        assert_eq!(own[first].total, most);
                    }
                }
                assert_eq!(all, rollouts.moves(role));
            }
        }
    }
    assert!(only > 0);
}

#[test]
fn statistics_about_moves_fade() {
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
#[should_panic(expected = "a level must fit in `level_bits` bits")]
fn levels_with_too_many_bits_panic() {
    let net = net(CHOICE);
    let options = RolloutOptions {
        level_bits: 2,
        ..RolloutOptions::default()
    };
    Rollouts::new(&net, &options, 1).set_levels(0, &[0, 1, 2, 3, 4, 0, 0]);
}
