//! Positions from lost matches, with values by proof.

use std::time::{Duration, Instant};

use ggp_engine::machine::{AnyMachine, Limits, Machine, PropnetState};
use ggp_gdl::game::{Game, Move, RoleId};
use ggp_play::{Agent, AgentSpec, Brief, Evaluation, Lanes, Learner, Observation, Outlook, Pace};
use ggp_search::minimax::{Minimax, TranspositionTable, Wanted, prove};
use ggp_search::{Budget, Stats};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::shared::{Tactic, game, paragraph};

/// Constant-sum games of two roles in turn.
const GAMES: &[&str] = &[
    "amazons",
    "breakthrough",
    "breakthrough_small",
    "checkers",
    "connect_four",
    "connect_four_small",
    "domineering",
    "dots_and_boxes",
    "fox_and_hounds",
    "hex",
    "kalah",
    "othello",
];
/// The time for the values of all moves of a position.
const PROOF: Duration = Duration::from_secs(8);
const MEMORY_BYTES: u64 = 256 << 20;

/// Prints the positions of all games, each at most once.
pub fn run(seconds: f64, matches: u64, games: &[String]) {
    let chosen = |name: &&&str| games.is_empty() || games.iter().any(|game| game == **name);
    let mut all: Vec<Tactic> = Vec::new();
    println!("# Positions in which a match was given up. Written by benches/tactics.rs.");
    for name in GAMES.iter().filter(chosen) {
        let game = game(name);
        for seed in 0..matches {
            let found = find(name, &game, Duration::from_secs_f64(seconds), seed);
            let found = found.filter(|tactic| !all.contains(tactic));
            if let Some(tactic) = found {
                eprintln!("{name}, match {seed}");
                print!("{}", paragraph(&tactic));
                all.push(tactic);
            }
        }
    }
}

/// Plays a match from a random opening and finds the last position in which the loser could have
/// had more, if all later ones of the loser and this one can be proved.
fn find(name: &str, game: &Game, time: Duration, seed: u64) -> Option<Tactic> {
    let (mut machine, _) = AnyMachine::auto(game, Limits::default()).expect("the game is valid");
    let (states, played) = play(&mut machine, game, time, seed);
    let roles: Vec<RoleId> = game.roles().collect();
    let last = states.last().expect("a match has a first state");
    let scores: Vec<u8> = (roles.iter())
        .map(|role| machine.goal(last, *role).expect("a role has a score").get())
        .collect();
    let loser = (0..roles.len()).find(|at| scores[*at] < 50)?;
    for at in (0..played.len()).rev() {
        let mut legal = Vec::new();
        machine.legal(&states[at], roles[loser], &mut legal).ok()?;
        if legal.len() < 2 {
            continue;
        }
        let values = values(&mut machine, &states[at], loser)?;
        let best = values.iter().map(|(_, value)| *value).max()?;
        if best == scores[loser] {
            continue;
        }
        let text = |m: &Move| game.text(machine.terms(), m.term());
        let best_moves = values.iter().filter(|(_, value)| *value == best);
        return Some(Tactic {
            game: name.to_owned(),
            role: game.role_name(roles[loser]).to_owned(),
            value: best,
            best: best_moves.map(|(chosen, _)| text(chosen)).collect(),
            legal: legal.len(),
            played: (played[..at].iter())
                .map(|joint| joint.iter().map(text).collect::<Vec<_>>().join(" "))
                .collect(),
        });
    }
    None
}

/// The states and joint moves of a match.
fn play(
    machine: &mut AnyMachine,
    game: &Game,
    time: Duration,
    seed: u64,
) -> (Vec<PropnetState>, Vec<Vec<Move>>) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let spec: AgentSpec = "mcts".parse().expect("the player is valid");
    let roles: Vec<RoleId> = game.roles().collect();
    let mut agents: Vec<Box<dyn Agent>> = Vec::new();
    for role in &roles {
        let mut brief = Brief::new(game, *role);
        brief.memory_bytes = MEMORY_BYTES;
        brief.seed = seed;
        agents.push(spec.agent(brief).expect("the agent can play"));
    }
    for agent in &mut agents {
        let end = Instant::now() + 20 * time;
        agent.begin(&Pace::new(Some(end), None)).expect("it begins");
    }
    let opening = random.random_range(2..=4);
    let mut states = vec![machine.initial().expect("a first state")];
    let mut played: Vec<Vec<Move>> = Vec::new();
    while !machine.is_terminal(&states[played.len()]).expect("valid") {
        let state = &states[played.len()];
        let mut joint = Vec::new();
        for (role, agent) in roles.iter().zip(&mut agents) {
            let mut legal = Vec::new();
            machine.legal(state, *role, &mut legal).expect("valid");
            joint.push(match (legal.len(), played.len() < opening) {
                (1, _) => legal[0],
                (count, true) => legal[random.random_range(0..count)],
                _ => {
                    let seen = Observation::of_joint_moves(*role, played.clone());
                    let pace = Pace::new(Some(Instant::now() + time), None);
                    agent.choose(&seen, &pace).expect("it chooses").chosen
                }
            });
        }
        states.push(machine.next(state, &joint).expect("valid"));
        played.push(joint);
    }
    (states, played)
}

/// The value of each move; `None` if one is open.
pub fn values(
    machine: &mut AnyMachine,
    state: &PropnetState,
    role: usize,
) -> Option<Vec<(Move, u8)>> {
    let limits = Limits::default();
    let mut lanes = Lanes::new(machine, &limits);
    let due = Instant::now() + PROOF / 10;
    let learner = Learner::new(due, PROOF / 10, MEMORY_BYTES / 8, limits.engine);
    let mut outlook = Outlook {
        stop: machine.stop().clone(),
        learner: Some(learner),
        machine,
        lanes: lanes.as_mut(),
        evaluation: Evaluation::Goals,
        random: Xoshiro256PlusPlus::seed_from_u64(0),
    };
    let options = Minimax {
        wanted: Wanted::All,
        seed: 0,
    };
    let budget = Budget {
        time: Some(PROOF),
        memory_bytes: MEMORY_BYTES,
        ..Budget::default()
    };
    let mut stats = Stats::default();
    let report = prove(
        &mut outlook,
        &mut TranspositionTable::new(MEMORY_BYTES),
        state,
        role,
        &options,
        &budget,
        &mut stats,
        &mut (),
    );
    let moves = report.ok()?.moves.into_iter();
    let exact = moves
        .map(|found| (found.bounds.0 == found.bounds.1).then_some((found.action, found.bounds.0)));
    exact.collect()
}
