use ggp_stop::Stop;
use std::path::Path;

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;
use crate::machine::{PlayoutOptions, canonical_facts, canonical_moves, playout};
use crate::propnet::GroundLimits;
use crate::propnet::playout::Proceed;
use crate::propnet::rollouts::{Record, RolloutOptions, Rollouts, Sum};
use crate::threads::SMALL;

fn net(game: &Game) -> Propnet {
    let (mut net, _) = Propnet::ground(game, &GroundLimits::default()).expect("it is small");
    net.simplify();
    net
}

fn game(name: &str) -> Game {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join("games")
        .join(name);
    let text = std::fs::read_to_string(path).unwrap();
    Game::from_text(name, &text).unwrap_or_else(|reading| panic!("{:?}", reading.findings))
}

/// The states and answers of a random match, as text.
fn transcript<M: Machine>(mut machine: M, seed: u64) -> Vec<String> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let start = machine.initial().unwrap();
    let options = PlayoutOptions { depth: 30 };
    let played = playout(&mut machine, &start, options, &mut random).unwrap();
    let mut lines = Vec::new();
    for step in &played.steps {
        lines.push(canonical_facts(&machine, &step.state).join(" "));
        lines.extend(
            step.legal
                .iter()
                .map(|legal| canonical_moves(&machine, legal).join(" ")),
        );
    }
    // Revisit earlier states in reverse order.
    let states = played.steps.iter().map(|step| &step.state);
    for state in states.rev().step_by(3).chain([&played.last]) {
        lines.push(format!("{:?}", machine.is_terminal(state)));
        for role in machine.game().roles() {
            let values = machine.goal_values(state, role).unwrap();
            lines.push(format!("{values:?}"));
        }
    }
    lines
}

#[test]
fn no_code_is_made_for_one_position() {
    let mut machine =
        PropnetMachine::from_network(net(&game("tic_tac_toe.kif")), Limits::default());
    let roles: Vec<RoleId> = machine.game().roles().collect();
    let start = machine.initial().unwrap();
    let (mut legal, mut joint) = (Vec::new(), Vec::new());
    assert!(!machine.is_terminal(&start).unwrap());
    for role in roles {
        machine.legal(&start, role, &mut legal).unwrap();
        joint.push(legal[0]);
        machine.goal_values(&start, role).unwrap();
    }
    assert!(machine.shared.evaluator.get().is_none());
    machine.next(&start, &joint).unwrap();
    assert!(machine.shared.evaluator.get().is_some());
}

#[test]
fn incremental_evaluation_agrees_with_full_evaluation() {
    for name in [
        "tic_tac_toe.kif",
        "rock_paper_scissors.kif",
        "buttons_and_lights.kif",
        "senku.kif",
    ] {
        let game = game(name);
        for seed in 0..4 {
            let datalog = DatalogMachine::new(&game, Limits::default()).unwrap();
            let expected = transcript(datalog, seed);
            let changes = PropnetMachine::by_changes(net(&game), Limits::default()).unwrap();
            assert_eq!(changes.evaluation(), Evaluation::Changes);
            assert_eq!(transcript(changes, seed), expected, "{name}, seed {seed}");
            for engine in [Engine::Auto, Engine::Interpreter] {
                let limits = Limits {
                    engine,
                    ..Limits::default()
                };
                let lanes = PropnetMachine::from_network(net(&game), limits);
                assert_eq!(
                    transcript(lanes, seed),
                    expected,
                    "{name}, seed {seed}, {engine:?}"
                );
            }
        }
    }
}

#[test]
fn machine_code_runs_only_if_allowed() {
    for name in ["tic_tac_toe.kif", "senku.kif", "lights_out.kif"] {
        let net = net(&game(name));
        let machine = |engine| {
            let limits = Limits {
                engine,
                ..Limits::default()
            };
            PropnetMachine::from_network(net.clone(), limits).evaluation()
        };
        assert_ne!(
            machine(Engine::Interpreter),
            Evaluation::MachineCode,
            "{name}"
        );
        for engine in [Engine::Avx2, Engine::Avx512] {
            if engine.is_available(4) {
                assert_eq!(machine(engine), Evaluation::MachineCode, "{name}");
                assert_eq!(machine(Engine::Auto), Evaluation::MachineCode, "{name}");
            }
        }
    }
}

#[test]
fn kept_playouts_begin_as_new_ones() {
    let net = net(&game("tic_tac_toe.kif"));
    let machine = PropnetMachine::from_network(net.clone(), Limits::default());
    let start = pack(net.initial.iter().copied());
    let outcomes = |mut rollouts: Rollouts| {
        let starts = std::slice::from_ref(&start);
        let outcomes = rollouts.run(starts, 3_000, &mut || Proceed::On);
        let sums: Vec<Sum> = outcomes[0].scores.clone();
        (sums, rollouts.moves(0).to_vec())
    };
    let learning = RolloutOptions {
        record: Record::Moves,
        ..RolloutOptions::default()
    };
    let deciding = RolloutOptions {
        decisive: true,
        ..learning
    };
    // The copies before must not leave anything behind, whatever their options were.
    for (options, seed) in [(learning, 1), (learning, 2), (deciding, 1), (learning, 1)] {
        let expected = outcomes(Rollouts::new(&net, &options, seed));
        let kept = outcomes(machine.clone().rollouts(options, seed).unwrap());
        assert_eq!(kept, expected, "{options:?}, seed {seed}");
    }
}

#[test]
fn code_of_large_networks_is_the_same_from_several_threads() {
    let net = net(&game("reversi.kif"));
    assert!(net.network().gates() >= SMALL);
    let start = pack(net.initial.iter().copied());
    let options = RolloutOptions::default();
    let lanes = BatchOptions {
        lanes: 256,
        engine: Engine::Auto,
        looks_ahead: false,
    };
    let answers = |threads| {
        let limits = Limits {
            threads,
            ..Limits::default()
        };
        let machine = PropnetMachine::from_network(net.clone(), limits);
        let made = machine.rollouts_and_batch(options, 1, lanes);
        let (mut rollouts, mut batch) = made.expect("nothing stops it");
        let starts = std::slice::from_ref(&start);
        let outcomes = rollouts.run(starts, 500, &mut || Proceed::On);
        let scores: Vec<u64> = outcomes[0].scores.iter().map(|sum| sum.total).collect();
        (scores, batch.children(&start))
    };
    assert_eq!(answers(1), answers(3));
}

#[test]
fn a_stop_ends_the_preparation_of_code() {
    let lanes = BatchOptions {
        lanes: 64,
        engine: Engine::Auto,
        looks_ahead: true,
    };
    let options = RolloutOptions::default();
    // A small network, and a large one, for which other threads are used.
    for name in ["tic_tac_toe.kif", "reversi.kif"] {
        let mut machine = PropnetMachine::from_network(net(&game(name)), Limits::default());
        machine.set_stop(&Stop::raised());
        assert!(machine.batch(lanes).is_none(), "{name}");
        assert!(machine.rollouts(options, 1).is_none(), "{name}");
        // What was stopped is made when it is wanted again.
        machine.set_stop(&Stop::new());
        assert!(machine.batch(lanes).is_some(), "{name}");
        assert!(machine.rollouts(options, 1).is_some(), "{name}");
    }
}

#[test]
fn code_is_kept_for_the_clones_of_a_machine() {
    let machine = PropnetMachine::from_network(net(&game("tic_tac_toe.kif")), Limits::default());
    let options = |lanes| BatchOptions {
        lanes,
        engine: Engine::Auto,
        looks_ahead: true,
    };
    let number = || machine.shared.kept.batches();
    assert_eq!(machine.batch(options(64)).unwrap().lanes(), 64);
    assert_eq!(
        (
            machine.clone().batch(options(64)).unwrap().lanes(),
            number()
        ),
        (64, 1)
    );
    assert_eq!(
        (machine.batch(options(256)).unwrap().lanes(), number()),
        (256, 2)
    );
    // The oldest one goes.
    assert_eq!(
        (machine.batch(options(512)).unwrap().lanes(), number()),
        (512, 2)
    );
}
