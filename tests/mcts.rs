//! The agent for Monte Carlo tree search: its proofs are correct, it wins won games, and it is
//! reproducible.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::common::names::scrambled;
use ggp_engine::machine::{AnyMachine, Backend, Limits, Machine, PropnetState};
use ggp_gdl::game::{Game, Move, RoleId};
use ggp_play::{Advice, Agent, AgentSpec, Brief, Observation, Pace};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

fn game(name: &str) -> Game {
    let path = format!("{}/games/{name}.kif", env!("CARGO_MANIFEST_DIR"));
    Game::from_text(&path, &std::fs::read_to_string(&path).unwrap()).unwrap()
}

fn machine(game: &Game) -> AnyMachine {
    AnyMachine::new(game, Backend::Auto, Limits::default()).unwrap()
}

fn agent(game: &Game, role: RoleId, options: &str, seed: u64) -> Box<dyn Agent> {
    let spec: AgentSpec = options.parse().unwrap();
    let brief = Brief {
        seed,
        ..Brief::new(game, role)
    };
    let mut agent = spec.agent(brief).unwrap();
    agent.begin(&Pace::default()).unwrap();
    agent
}

fn ask(agent: &mut dyn Agent, role: RoleId, played: &[Vec<Move>], nodes: u64) -> Advice {
    let observation = Observation::of_joint_moves(role, played);
    let pace = Pace::new(None, Some(nodes));
    agent.choose(&observation, &pace).unwrap()
}

/// All legal joint moves.
fn joints(machine: &mut AnyMachine, state: &PropnetState) -> Vec<Vec<Move>> {
    let mut joints = vec![Vec::new()];
    for role in machine.game().clone().roles() {
        let mut legal = Vec::new();
        machine.legal(state, role, &mut legal).unwrap();
        let longer = joints
            .iter()
            .flat_map(|joint: &Vec<Move>| legal.iter().map(|made| [&joint[..], &[*made]].concat()));
        joints = longer.collect();
    }
    joints
}

/// The scores of both roles under optimal play, by exhaustive search.
fn minimax(
    machine: &mut AnyMachine,
    state: &PropnetState,
    known: &mut HashMap<PropnetState, [u8; 2]>,
) -> [u8; 2] {
    if let Some(value) = known.get(state) {
        return *value;
    }
    let roles: Vec<RoleId> = machine.game().roles().collect();
    let value = if machine.is_terminal(state).unwrap() {
        [0, 1].map(|role| machine.goal(state, roles[role]).unwrap().get())
    } else {
        let joints = joints(machine, state);
        let turn = usize::from(joints.iter().all(|joint| joint[0] == joints[0][0]));
        let values = joints.iter().map(|joint| {
            let next = machine.next(state, joint).unwrap();
            minimax(machine, &next, known)
        });
        values.max_by_key(|value| value[turn]).unwrap()
    };
    known.insert(state.clone(), value);
    value
}

/// Random joint moves from the start to a state that is not terminal.
fn wander(machine: &mut AnyMachine, moves: usize, seed: u64) -> (Vec<Vec<Move>>, PropnetState) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let (mut played, mut state) = (Vec::new(), machine.initial().unwrap());
    for _ in 0..moves {
        let joints = joints(machine, &state);
        let joint = joints[rng.random_range(0..joints.len())].clone();
        let next = machine.next(&state, &joint).unwrap();
        if machine.is_terminal(&next).unwrap() {
            break;
        }
        (state, played) = (next, [played, vec![joint]].concat());
    }
    (played, state)
}

/// Compares proved bounds and chosen moves with an exhaustive search.
fn check(name: &str, options: &str, nodes: u64, positions: u64) {
    let game = game(name);
    let (mut machine, mut known) = (machine(&game), HashMap::new());
    let roles: Vec<RoleId> = game.roles().collect();
    let mut proved = 0;
    for seed in 0..positions {
        let (played, state) = wander(&mut machine, seed as usize % 7, seed);
        let value = minimax(&mut machine, &state, &mut known);
        for role in 0..2 {
            let mut agent = agent(&game, roles[role], options, seed);
            let advice = ask(&mut *agent, roles[role], &played, nodes);
            let (low, high) = advice.bounds;
            let real = f64::from(value[role]);
            assert!(
                low <= real && real <= high,
                "{name} {seed}: {advice:?}, {real}"
            );
            proved += usize::from(low == high);
            let mut legal = Vec::new();
            machine.legal(&state, roles[role], &mut legal).unwrap();
            assert!(legal.contains(&advice.chosen));
            for candidate in &advice.candidates {
                assert!(legal.contains(&candidate.action));
            }
            if legal.len() > 1 {
                let all = joints(&mut machine, &state);
                let joint = all.iter().find(|joint| joint[role] == advice.chosen);
                let next = machine.next(&state, joint.unwrap()).unwrap();
                let reached = minimax(&mut machine, &next, &mut known);
                assert_eq!(reached[role], value[role], "{name} seed {seed} {options}");
            }
        }
    }
    assert!(proved as u64 > positions / 2, "only {proved} are proved");
}

#[test]
fn proofs_in_lanes_are_correct_and_won_games_are_won() {
    check("tic_tac_toe", "mcts", 4_000, 60);
    check("tic_tac_toe", "mcts:graph=off", 4_000, 20);
    check("tic_tac_toe", "mcts:select=ucb,batch=8,each=4", 4_000, 20);
    check("tic_tac_toe", "mcts:select=puct,exploration=1", 4_000, 20);
    check("tic_tac_toe", "mcts:playouts=mast", 4_000, 20);
    check("tic_tac_toe", "mcts:reuse-tree=off", 4_000, 20);
    check("nim", "mcts", 4_000, 20);
}

#[test]
fn proofs_of_several_threads_are_correct_and_won_games_are_won() {
    check("tic_tac_toe", "mcts:threads=3", 12_000, 30);
    check("tic_tac_toe", "mcts:threads=2,graph=off,batch=8", 8_000, 20);
    check("nim", "mcts:threads=2", 8_000, 20);
}

#[test]
fn tic_tac_toe_is_never_lost() {
    let game = game("tic_tac_toe");
    let mut machine = machine(&game);
    let roles: Vec<RoleId> = game.roles().collect();
    for (seed, own, other) in [
        (0, 0, "random"),
        (1, 1, "random"),
        (2, 0, "mcts"),
        (3, 1, "mcts"),
    ] {
        let mut agents = [0, 1].map(|role| {
            let options = if role == own { "mcts" } else { other };
            agent(&game, roles[role], options, seed)
        });
        let (mut state, mut played) = (machine.initial().unwrap(), Vec::new());
        while !machine.is_terminal(&state).unwrap() {
            let joint: Vec<Move> = (agents.iter_mut().zip(&roles))
                .map(|(agent, role)| ask(&mut **agent, *role, &played, 400).chosen)
                .collect();
            state = machine.next(&state, &joint).unwrap();
            played.push(joint);
        }
        let score = machine.goal(&state, roles[own]).unwrap().get();
        assert!(score >= 50, "seed {seed}: {score}");
    }
}

#[test]
fn choices_are_reproducible() {
    for (name, options) in [
        ("connect_four", "mcts:playouts=uniform"),
        ("connect_four", "mcts:playouts=mast"),
        ("goofspiel", "mcts"),
    ] {
        let game = game(name);
        let role = game.roles().next().unwrap();
        let answers = |seed| {
            let mut agent = agent(&game, role, options, seed);
            let first = ask(&mut *agent, role, &[], 700);
            let mut machine = machine(&game);
            let start = machine.initial().unwrap();
            let joints = joints(&mut machine, &start);
            let joint = joints
                .iter()
                .find(|joint| joint[0] == first.chosen)
                .unwrap();
            let second = ask(&mut *agent, role, std::slice::from_ref(joint), 700);
            (first, second)
        };
        assert_eq!(answers(4), answers(4), "{name} {options}");
    }
}

#[test]
fn without_a_clock_one_thread_is_the_default() {
    let game = game("connect_four");
    let role = game.roles().next().unwrap();
    let answer = |threads| {
        let brief = Brief {
            threads,
            seed: 6,
            ..Brief::new(&game, role)
        };
        let spec: AgentSpec = "mcts".parse().unwrap();
        ask(&mut *spec.agent(brief).unwrap(), role, &[], 3_000)
    };
    assert_eq!(answer(4), answer(1));
}

/// With scrambled names, each move has the same visits and the same value.
#[test]
fn a_scrambled_game_is_played_the_same() {
    for name in ["breakthrough_small", "nim", "goofspiel", "kalah", "chomp"] {
        let text =
            std::fs::read_to_string(format!("{}/games/{name}.kif", env!("CARGO_MANIFEST_DIR")))
                .unwrap();
        let advice = |text: &str| {
            let game = Game::from_text("game.kif", text).unwrap();
            let role = game.roles().next().unwrap();
            let advice = ask(&mut *agent(&game, role, "mcts", 8), role, &[], 2_000);
            let mut machine = machine(&game);
            machine.terms_mut().refresh();
            let name = |made: Move| game.text(machine.terms(), made.term()).to_string();
            let candidates = advice.candidates.iter();
            candidates
                .map(|c| (name(c.action), c.visits, c.value, c.bounds))
                .collect::<Vec<_>>()
        };
        let own = advice(&text)
            .into_iter()
            .map(|(made, visits, value, bounds)| {
                // The move is scrambled together with the rules.
                let both = scrambled(&format!("{text}\n{made}"));
                let made = both.lines().last().unwrap().to_owned();
                (made, visits, value, bounds)
            });
        let own: Vec<_> = own.collect();
        assert_eq!(own, advice(&scrambled(&text)), "{name}");
    }
}

#[test]
fn simultaneous_games_are_played_with_legal_moves() {
    for name in ["rock_paper_scissors", "goofspiel", "three_player_race"] {
        let game = game(name);
        let mut machine = machine(&game);
        let start = machine.initial().unwrap();
        for role in game.roles() {
            let mut legal = Vec::new();
            machine.legal(&start, role, &mut legal).unwrap();
            let mut agent = agent(&game, role, "mcts", 5);
            let advice = ask(&mut *agent, role, &[], 500);
            assert!(legal.contains(&advice.chosen), "{name}");
            assert_eq!(advice.candidates.len(), legal.len());
        }
    }
}

#[test]
fn a_choice_ends_with_its_time() {
    let game = game("breakthrough");
    let role = game.roles().next().unwrap();
    for options in ["mcts", "mcts", "mcts:threads=4"] {
        let mut agent = agent(&game, role, options, 1);
        let deadline = Instant::now() + Duration::from_millis(200);
        let pace = Pace::new(Some(deadline), None);
        let advice = agent
            .choose(&Observation::of_joint_moves(role, []), &pace)
            .unwrap();
        // A loaded machine may delay the agent.
        assert!(Instant::now() < deadline + Duration::from_secs(2));
        assert_eq!(
            pace.published().map(|last| last.chosen),
            Some(advice.chosen)
        );
        assert!(advice.nodes > 0 && advice.value.is_some());
    }
}

#[test]
fn invalid_options_are_rejected() {
    let game = game("nim");
    let brief = Brief::new(&game, game.roles().next().unwrap());
    for options in [
        "playouts=best",
        "epsilon=2",
        "graph=maybe",
        "exploration=-1",
        "batch=0",
        "select=best",
        "simultaneous=chess",
        "threads=0",
        "reuse-tree=maybe",
    ] {
        let spec: AgentSpec = format!("mcts:{options}").parse().unwrap();
        let error = spec.agent(brief.clone()).err().expect(options);
        assert!(
            error
                .to_string()
                .contains(options.split('=').next().unwrap()),
            "{error}"
        );
    }
}
