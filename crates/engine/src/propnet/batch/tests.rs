use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;
use crate::propnet::GroundLimits;
use crate::propnet::network::read;
use ggp_gdl::game::Game;

/// More facts than a word has bits, and two roles that move at once.
const LAMPS: &str = "
    (role a) (role b)
    (index 0) (index 1) (index 2) (index 3) (index 4) (index 5) (index 6) (index 7) (index 8)
    (<= (legal ?r (switch ?x ?y)) (role ?r) (index ?x) (index ?y) (not (true (lamp ?x ?y))))
    (<= (legal ?r wait) (role ?r))
    (<= (next (lamp ?x ?y)) (true (lamp ?x ?y)))
    (<= (next (lamp ?x ?y)) (does ?r (switch ?x ?y)))
    (<= (next (lamp ?y ?x)) (does b (switch ?x ?y)))
    (<= terminal (true (lamp ?x ?x)))
    (<= (goal a 60) (true (lamp 1 1)))
    (<= (goal a 40) (not (true (lamp 1 1))))
    (<= (goal b 40) (true (lamp 1 1)))
    (<= (goal b 60) (true (lamp 2 2)))";

pub(in crate::propnet) fn net() -> Propnet {
    let game = Game::from_text("lamps.kif", LAMPS).expect("the rules are valid");
    let limits = GroundLimits::default();
    Propnet::ground(&game, &limits).expect("it is small").0
}

/// The value of a literal in a state, after a joint move if there is one.
pub(in crate::propnet) fn evaluate(
    net: &Propnet,
    state: &[u64],
    joint: &[usize],
) -> impl Fn(Literal) -> bool + use<> {
    let mut inputs = vec![0; net.network.inputs()];
    for fact in 0..net.facts.len() {
        inputs[net.fact_input(fact)] = state[fact / 64] >> (fact % 64) & 1;
    }
    for (role, &chosen) in joint.iter().enumerate() {
        inputs[net.move_input(role, chosen)] = 1;
    }
    let values = net.network.evaluate(&inputs);
    move |literal| read(literal, &values) & 1 == 1
}

pub(in crate::propnet) fn after(net: &Propnet, state: &[u64], joint: &[usize]) -> Packed {
    let holds = evaluate(net, state, joint);
    let mut next = vec![0; state.len()];
    for (fact, &literal) in net.next.iter().enumerate() {
        next[fact / 64] |= u64::from(holds(literal)) << (fact % 64);
    }
    next
}

pub(in crate::propnet) fn random_state(net: &Propnet, random: &mut impl Rng) -> Packed {
    let mut state: Packed = vec![0; net.facts.len().div_ceil(64)];
    for fact in 0..net.facts.len() {
        state[fact / 64] |= u64::from(random.random_bool(0.05)) << (fact % 64);
    }
    state
}

#[test]
fn lanes_agree_with_the_network() {
    let net = net();
    for lanes in [64, 256, 512] {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(lanes as u64);
        let mut batch = Batch::new(&net, lanes, Engine::Auto);
        let mut states: Vec<Packed> = (0..lanes)
            .map(|_| random_state(&net, &mut random))
            .collect();
        batch.set_states(&states);
        let one = random_state(&net, &mut random);
        batch.set_state(9, &one);
        states[9] = one;
        for _ in 0..3 {
            assert_eq!(batch.states(lanes), states);
            let mut joints = Vec::new();
            let counts = [0, 1].map(|role| batch.legal_counts(role, lanes - 1));
            for (lane, state) in states.iter_mut().enumerate() {
                assert_eq!(&batch.state(lane), state);
                let holds = evaluate(&net, state, &[]);
                let mut joint = Vec::new();
                for role in 0..2 {
                    let legal = |&index: &usize| holds(net.legal[role][index]);
                    let legal: Vec<usize> = (0..net.legal[role].len()).filter(legal).collect();
                    let found: Vec<usize> = batch.legal_moves(lane, role).collect();
                    assert_eq!(found, legal);
                    let count = counts[role].get(lane);
                    assert!(count.is_none_or(|count| *count as usize == legal.len()));
                    assert_eq!(count.is_none(), lane == lanes - 1);
                    joint.push(legal[random.random_range(0..legal.len())]);
                    assert!(batch.is_legal(lane, role, joint[role]));
                    let row = batch.legal(role, joint[role])[lane / 64];
                    assert_eq!(row >> (lane % 64) & 1, 1);
                    let expected = |&index: &usize| holds(net.goals[role][index].1);
                    let expected: Vec<usize> =
                        (0..net.goals[role].len()).filter(expected).collect();
                    let found: Vec<usize> = batch.goal_values(lane, role).collect();
                    assert_eq!(found, expected);
                }
                assert_eq!(batch.is_terminal(lane), holds(net.terminal));
                *state = after(&net, state, &joint);
                joints.extend(joint);
            }
            batch.step(&joints);
        }
    }
}

#[test]
fn children_are_all_successors() {
    let net = net();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    // About 6000 joint moves, so more than one run.
    let state = random_state(&net, &mut random);
    let mut batch = Batch::new(&net, 512, Engine::Auto);
    let children = batch.children(&state);
    let holds = evaluate(&net, &state, &[]);
    let legal = |role: usize| -> Vec<usize> {
        let legal = |&index: &usize| holds(net.legal[role][index]);
        (0..net.legal[role].len()).filter(legal).collect()
    };
    let mut expected = Vec::new();
    for first in legal(0) {
        expected.extend(legal(1).into_iter().map(|second| vec![first, second]));
    }
    assert!(expected.len() > 512);
    let joints: Vec<Vec<usize>> = children.iter().map(|child| child.joint.clone()).collect();
    assert_eq!(joints, expected);
    for child in children.iter().step_by(17) {
        assert_eq!(child.state, after(&net, &state, &child.joint));
    }
}

#[test]
fn transposing_exchanges_rows_and_columns() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let before: [u64; 64] = std::array::from_fn(|_| random.random());
    let mut square = before;
    transpose(&mut square);
    for (line, word) in before.iter().enumerate() {
        for (column, turned) in square.iter().enumerate() {
            assert_eq!(word >> column & 1, turned >> line & 1);
        }
    }
}
