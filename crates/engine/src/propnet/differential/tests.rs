use super::*;
use crate::propnet::batch::tests::{after, evaluate, net, random_state};
use crate::propnet::network::tests::random_network;

const FACTS: usize = 70;

/// A random network without cycles: 70 facts, two roles of 3 and 5 moves.
fn random_net(random: &mut Xoshiro256PlusPlus) -> Propnet {
    let mut net = net();
    // Too few gates for a cycle.
    let (network, _) = random_network(FACTS + 8, 30, random);
    let mut has_moves = vec![false; network.len()];
    for node in 0..network.len() {
        let is_move = network
            .input_number(node)
            .is_some_and(|input| input >= FACTS);
        has_moves[node] = is_move
            || network
                .reads(node)
                .iter()
                .any(|read| has_moves[read.node()]);
    }
    let mut pick = |of_moves: bool| loop {
        let node = random
            .random_range(0..network.len() + 30)
            .min(network.len() - 1 - random.random_range(0..30));
        if of_moves || !has_moves[node] {
            return Literal::of(node).negated_if(random.random_bool(0.5));
        }
    };
    net.next = (0..FACTS).map(|_| pick(true)).collect();
    net.legal = [3, 5]
        .map(|moves| (0..moves).map(|_| pick(false)).collect())
        .into();
    net.terminal = pick(false);
    for goal in net.goals.iter_mut().flatten() {
        goal.1 = pick(false);
    }
    net.facts.resize(FACTS, net.facts[0]);
    net.initial = (0..FACTS).map(|_| random.random_bool(0.5)).collect();
    net.moves = net
        .legal
        .iter()
        .map(|legal| vec![net.moves[0][0]; legal.len()])
        .collect();
    net.network = network;
    net
}

/// Checks a random part of the answers.
fn check(net: &Propnet, one: &mut Differential, state: &[u64], random: &mut Xoshiro256PlusPlus) {
    let holds = evaluate(net, state, &[]);
    assert_eq!(one.state(), state);
    if random.random_bool(0.5) {
        assert_eq!(one.is_terminal(), holds(net.terminal));
    }
    for role in 0..net.legal.len() {
        let is_true = |literals: Vec<Literal>| -> Vec<usize> {
            (0..literals.len())
                .filter(|&index| holds(literals[index]))
                .collect()
        };
        if random.random_bool(0.5) {
            let found: Vec<usize> = one.legal_moves(role).collect();
            assert_eq!(found, is_true(net.legal[role].clone()));
        }
        if random.random_bool(0.3) {
            let goals = net.goals[role].iter().map(|goal| goal.1);
            let found: Vec<usize> = one.goal_values(role).collect();
            assert_eq!(found, is_true(goals.collect()));
        }
    }
}

#[test]
fn incremental_answers_agree_with_full_evaluation() {
    for seed in 0..200 {
        println!("seed {seed}");
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let net = match seed % 10 {
            0 => net(),
            _ => random_net(&mut random),
        };
        let mut one = Differential::new(&net).expect("it has no cycles");
        let mut state = one.initial().to_vec();
        for _ in 0..40 {
            check(&net, &mut one, &state, &mut random);
            if random.random_bool(0.2) {
                state = random_state(&net, &mut random);
                one.set_state(&state);
            } else {
                let joint: Vec<usize> = (net.legal.iter())
                    .map(|moves| random.random_range(0..moves.len()))
                    .collect();
                state = after(&net, &state, &joint);
                one.step(&joint);
            }
        }
        one.activity(20);
        let start = one.initial().to_vec();
        check(&net, &mut one, &start, &mut random);
    }
}

#[test]
fn networks_with_cycles_are_rejected() {
    let mut net = net();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    net.network = random_network(net.network.inputs(), 2_000, &mut random).0;
    assert!(!net.network.regions().is_empty());
    assert!(Differential::new(&net).is_none());
}

#[test]
fn true_answers_are_found_across_words() {
    let answers = [1 << 63, 1, 0b11];
    for (first, count, expected) in [
        (63, 66, vec![0, 1, 65]),
        (64, 64, vec![0]),
        (0, 63, vec![]),
        (128, 1, vec![0]),
        (128, 0, vec![]),
    ] {
        assert_eq!(
            true_answers(&answers, first, count).collect::<Vec<_>>(),
            expected
        );
    }
}
