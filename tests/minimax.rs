//! Alpha-beta search on rule files, and the agents that use it.

mod prove;

use std::collections::HashMap;
use std::path::Path;

use ggp_engine::machine::{AnyMachine, Backend, Limits, Machine, PropnetState};
use ggp_gdl::game::{Game, Move, RoleId};
use ggp_play::{AgentSpec, Brief, Evaluation, Lanes, Observation, Outlook, Pace};
use ggp_search::minimax::{
    Minimax, MinimaxGame, MinimaxReport, TranspositionTable, Wanted, minimax,
};
use ggp_search::{Budget, Stats};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

fn game(name: &str) -> Game {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("games/{name}.kif"));
    let text = std::fs::read_to_string(path).unwrap();
    Game::from_text(name, &text).unwrap()
}

fn machine(game: &Game, backend: Backend) -> AnyMachine {
    AnyMachine::new(game, backend, Limits::default()).unwrap()
}

fn outlook<'m>(
    machine: &'m mut AnyMachine,
    lanes: &'m mut Option<Lanes>,
    evaluation: Evaluation,
) -> Outlook<'m> {
    Outlook {
        machine,
        lanes: lanes.as_mut(),
        evaluation,
        learner: None,
        stop: ggp_stop::Stop::new(),
        random: Xoshiro256PlusPlus::seed_from_u64(0),
    }
}

fn search(
    outlook: &mut Outlook<'_>,
    state: &PropnetState,
    role: usize,
    wanted: Wanted,
    depth: u32,
    table_bytes: u64,
) -> MinimaxReport<Move> {
    let budget = Budget {
        depth,
        ..Budget::default()
    };
    minimax(
        outlook,
        &mut TranspositionTable::new(table_bytes),
        state,
        role,
        &Minimax { wanted, seed: 1 },
        &budget,
        &mut Stats::default(),
        &mut (),
        &mut |_| (),
    )
    .unwrap()
}

/// The value for a role by definition, with estimates at the depth limit.
fn plain(
    outlook: &mut Outlook<'_>,
    state: &PropnetState,
    role: usize,
    depth: u32,
    known: &mut HashMap<(PropnetState, u32), f64>,
) -> f64 {
    if let Some(value) = known.get(&(state.clone(), depth)) {
        return *value;
    }
    let expansion = outlook.expand(state, role).unwrap();
    let own = expansion.legal[role].len();
    let stride: usize = expansion.legal[role + 1..].iter().map(Vec::len).product();
    let mut worst = vec![f64::MAX; own];
    for (place, child) in expansion.children.iter().enumerate() {
        let value = match &child.scores {
            Some(scores) => scores[role].into(),
            None if depth > 1 => plain(outlook, &child.state, role, depth - 1, known),
            None => {
                let mut estimates = Vec::new();
                outlook
                    .estimate(&[&child.state], role, &mut estimates)
                    .unwrap();
                1.0 + 0.98 * estimates[0]
            }
        };
        let own = place / stride % own;
        worst[own] = worst[own].min(value);
    }
    let value = worst.into_iter().fold(f64::MIN, f64::max);
    known.insert((state.clone(), depth), value);
    value
}

/// A state after random joint moves that is not terminal.
fn wander(machine: &mut AnyMachine, moves: usize, seed: u64) -> Option<PropnetState> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let roles: Vec<RoleId> = machine.game().roles().collect();
    let mut state = machine.initial().unwrap();
    let mut legal = Vec::new();
    for _ in 0..moves {
        let mut joint = Vec::new();
        for role in &roles {
            machine.legal(&state, *role, &mut legal).unwrap();
            joint.push(legal[random.random_range(0..legal.len())]);
        }
        state = machine.next(&state, &joint).unwrap();
        if machine.is_terminal(&state).unwrap() {
            return None;
        }
    }
    Some(state)
}

/// Compares alpha-beta with the definition after random moves.
fn check(name: &str, moves: usize, depth: u32) {
    let game = game(name);
    let mut machine = machine(&game, Backend::Propnet);
    let mut lanes = Lanes::new(&machine, &Limits::default());
    for seed in 0..4 {
        let Some(state) = wander(&mut machine, moves, seed) else {
            continue;
        };
        for evaluation in [Evaluation::Goals, Evaluation::Mobility, Evaluation::Mixed] {
            let mut outlook = outlook(&mut machine, &mut lanes, evaluation);
            for role in 0..game.role_count() {
                let expected = plain(&mut outlook, &state, role, depth, &mut HashMap::new());
                for bytes in [0, 100_000, 1 << 26] {
                    let found = search(&mut outlook, &state, role, Wanted::Best, depth, bytes);
                    let value = found.moves[0].value;
                    let context = format!("{name} seed {seed} role {role} {evaluation:?}");
                    assert!(
                        (value - expected).abs() < 1e-3,
                        "{context}: {value} {expected}"
                    );
                }
            }
        }
    }
}

#[test]
fn alpha_beta_is_minimax_on_real_games() {
    check("connect_four", 6, 4);
    check("connect_four_small", 8, 5);
    check("breakthrough_small", 10, 3);
    check("othello", 10, 3);
    check("kalah", 4, 4);
    check("three_player_connect", 6, 4);
    check("light_cycles", 3, 2);
    check("pursuit", 2, 2);
}

#[test]
fn lanes_agree_with_the_machine() {
    for name in [
        "othello",
        "kalah",
        "goofspiel",
        "pursuit",
        "checkers",
        "amazons",
    ] {
        let game = game(name);
        let mut by_network = machine(&game, Backend::Propnet);
        let mut by_datalog = machine(&game, Backend::Datalog);
        let mut lanes = Lanes::new(&by_network, &Limits::default());
        for (moves, seed) in (0..6).zip(0..) {
            for evaluation in [Evaluation::Goals, Evaluation::Mobility] {
                let Some(here) = wander(&mut by_network, moves, seed) else {
                    continue;
                };
                let there = wander(&mut by_datalog, moves, seed).unwrap();
                let mut with = outlook(&mut by_network, &mut lanes, evaluation);
                let mut none = None;
                let mut without = outlook(&mut by_datalog, &mut none, evaluation);
                let found = with.expand(&here, 0).unwrap();
                let expected = without.expand(&there, 0).unwrap();
                assert_eq!(found.legal, expected.legal, "{name}");
                assert_eq!(found.children.len(), expected.children.len());
                for (a, b) in found.children.iter().zip(&expected.children) {
                    assert_eq!(a.scores, b.scores, "{name}");
                    let facts = with.machine.facts(&a.state);
                    assert_eq!(facts, without.machine.facts(&b.state), "{name}");
                    let (mut left, mut right) = (Vec::new(), Vec::new());
                    for role in 0..game.role_count() {
                        with.estimate(&[&a.state], role, &mut left).unwrap();
                        without.estimate(&[&b.state], role, &mut right).unwrap();
                    }
                    assert_eq!(left, right, "{name} {evaluation:?}");
                }
            }
        }
    }
}

/// A position with many moves must not hold up a stop.
#[test]
fn a_raised_stop_ends_an_expansion() {
    let game = game("amazons");
    let mut machine = machine(&game, Backend::Propnet);
    let mut lanes = Lanes::new(&machine, &Limits::default());
    let start = machine.initial().unwrap();
    let mut outlook = outlook(&mut machine, &mut lanes, Evaluation::Goals);
    assert!(outlook.expand(&start, 0).is_ok());
    outlook.stop.raise();
    let ended = outlook.expand(&start, 0).err();
    assert_eq!(ended, Some(ggp_engine::machine::PlayError::Interrupted));
}

/// The exact value of each first move for a role.
fn proved(name: &str, role: usize) -> (MinimaxReport<Move>, Vec<(String, u8, u8)>) {
    let game = game(name);
    let mut machine = machine(&game, Backend::Propnet);
    let mut lanes = Lanes::new(&machine, &Limits::default());
    let state = machine.initial().unwrap();
    let mut outlook = outlook(&mut machine, &mut lanes, Evaluation::Goals);
    let report = search(&mut outlook, &state, role, Wanted::All, u32::MAX, 1 << 28);
    let text = |found: &Move| game.text(machine.terms(), found.term());
    let moves = report
        .moves
        .iter()
        .map(|m| (text(&m.action), m.bounds.0, m.bounds.1));
    let moves = moves.collect();
    (report, moves)
}

#[test]
fn small_games_have_their_known_values() {
    let (report, moves) = proved("tic_tac_toe", 0);
    assert_eq!(report.bounds(), (50, 50));
    assert!(
        moves
            .iter()
            .all(|(_, least, most)| (*least, *most) == (50, 50))
    );
    let (report, moves) = proved("nim", 0);
    assert_eq!(report.bounds(), (100, 100));
    assert_eq!(moves[0], ("(take a 2)".to_owned(), 100, 100));
    assert!(
        moves[1..]
            .iter()
            .all(|(_, least, most)| (*least, *most) == (0, 0))
    );
    // The first player wins with only one move.
    let (report, moves) = proved("chomp", 0);
    assert_eq!(report.bounds(), (100, 100));
    assert_eq!(
        moves.iter().filter(|(_, least, _)| *least == 100).count(),
        1
    );
    // The second player wins.
    if crate::common::sized(false, true) {
        assert_eq!(proved("domineering", 1).0.bounds(), (100, 100));
        assert_eq!(proved("domineering", 0).0.bounds(), (0, 0));
    }
}

#[test]
fn simultaneous_answers_are_assumed_to_be_the_worst() {
    // Every move may be beaten, and no upper bound is reported.
    let (report, moves) = proved("rock_paper_scissors", 0);
    assert_eq!(report.bounds(), (0, 100));
    assert_eq!(moves.len(), 3);
    // Talking gains a point in each round, whatever the other does.
    let (report, _) = proved("prisoners_dilemma", 1);
    assert_eq!(report.bounds(), (20, 100));
}

/// The scores of a match between agents, one for each role.
fn play(name: &str, specs: &[&str], seed: u64) -> Vec<u8> {
    let game = game(name);
    let mut machine = machine(&game, Backend::Propnet);
    let mut agents = Vec::new();
    for (role, spec) in game.roles().zip(specs) {
        let spec: AgentSpec = spec.parse().unwrap();
        let brief = Brief {
            seed,
            memory_bytes: 64 << 20,
            ..Brief::new(&game, role)
        };
        let mut agent = spec.agent(brief).unwrap();
        agent.begin(&Pace::default()).unwrap();
        agents.push((role, agent, spec));
    }
    let mut played = Vec::new();
    let mut state = machine.initial().unwrap();
    while !machine.is_terminal(&state).unwrap() {
        let choose = |(role, agent, spec): &mut (RoleId, Box<dyn ggp_play::Agent>, AgentSpec)| {
            let (deadline, nodes) = spec.limits(None);
            let pace = Pace::new(deadline, nodes);
            let observation = Observation::of_joint_moves(*role, &played[..]);
            let advice = agent.choose(&observation, &pace).unwrap();
            let published = pace.published();
            assert!(published.is_none_or(|seen| !seen.candidates.is_empty()));
            advice.chosen
        };
        let joint: Vec<Move> = agents.iter_mut().map(choose).collect();
        state = machine.play(&state, &joint).unwrap();
        played.push(joint);
    }
    let roles = game.roles();
    roles
        .map(|role| machine.goal(&state, role).unwrap().get())
        .collect()
}

#[test]
fn perfect_play_never_loses_a_small_game() {
    for seed in 0..crate::common::sized(2, 6) {
        for other in ["random", "first", "greedy"] {
            assert!(play("tic_tac_toe", &["minimax:20000", other], seed)[0] >= 50);
            assert!(play("tic_tac_toe", &[other, "minimax:20000"], seed)[1] >= 50);
            assert_eq!(play("nim", &["minimax:20000", other], seed)[0], 100);
            assert_eq!(
                play("domineering", &[other, "alpha-beta:20000"], seed)[1],
                100
            );
        }
        let scores = play("connect_four_small", &["minimax:2000", "random"], seed);
        assert!(scores[0] >= 50, "seed {seed}");
    }
}

#[test]
fn all_kinds_of_games_are_played_to_the_end() {
    for name in [
        "goofspiel",
        "pursuit",
        "three_player_race",
        "oshi_zumo",
        "passing_place",
    ] {
        for kind in [
            "minimax:30",
            "greedy",
            "minimax:30,eval=playouts",
            "greedy:eval=mobility",
        ] {
            let specs = vec![kind; game(name).role_count()];
            let scores = play(name, &specs, 1);
            assert_eq!(
                scores,
                play(name, &specs, 1),
                "{name} {kind}: the same each time"
            );
        }
    }
    // A single role.
    assert_eq!(play("buttons_and_lights_timed", &["greedy"], 1).len(), 1);
}

#[test]
fn a_win_that_is_near_is_taken() {
    let game = game("nim");
    let mut terms = game.terms().clone();
    let mut joint = |text: &str| -> Vec<Move> {
        let terms = game.parse_terms(&mut terms, text).unwrap();
        terms.into_iter().map(Move::new).collect()
    };
    // A single heap is left.
    let played = [joint("(take c 5) wait"), joint("wait (take b 4)")];
    let expected = joint("(take a 3)")[0];
    for kind in ["greedy", "greedy:eval=goals", "minimax:1", "minimax:50"] {
        for seed in 0..10 {
            let spec: AgentSpec = kind.parse().unwrap();
            let role = game.roles().next().unwrap();
            let brief = Brief {
                seed,
                ..Brief::new(&game, role)
            };
            let mut agent = spec.agent(brief).unwrap();
            let pace = Pace::new(None, spec.limits(None).1);
            let observation = Observation::of_joint_moves(role, &played[..]);
            let advice = agent.choose(&observation, &pace).unwrap();
            assert_eq!(advice.chosen, expected, "{kind} {seed}");
            assert_eq!(advice.value, Some(100.0));
        }
    }
}

#[test]
fn unknown_options_are_refused() {
    let game = game("nim");
    for text in ["minimax:eval=luck", "greedy:depth=3", "minimax:speed=1"] {
        let spec: AgentSpec = text.parse().unwrap();
        let brief = Brief::new(&game, game.roles().next().unwrap());
        assert!(spec.agent(brief).is_err(), "{text}");
    }
}

/// A coin toss, or a safe move.
const COIN: &str = "
    (role me) (role random) (init start) (face heads) (face tails) (face edge)
    (<= (legal me safe) (true start)) (<= (legal me bet) (true start))
    (<= (legal random ?f) (face ?f) (true start))
    (<= (next safe) (does me safe)) (<= (next (fell ?f)) (does me bet) (does random ?f))
    (<= terminal (not (true start)))
    (<= (goal me 30) (true safe)) (<= (goal me 0) (true (fell edge)))
    (<= (goal me 80) (true (fell heads))) (<= (goal me 70) (true (fell tails)))";

#[cfg(feature = "cli")]
#[test]
fn the_expected_line_ends_where_chance_draws() {
    let line = ["prove", "games/dice_race.kif", "--budget-time", "10"];
    let output = crate::common::ggp(&[&line[..], &["--moves", "wait wait (roll 3)"]].concat());
    let told = String::from_utf8_lossy(&output.stderr);
    let expected = told.lines().find(|line| line.starts_with("expected: "));
    assert!(expected.is_none_or(|line| !line.contains("roll")), "{told}");
}

#[test]
fn a_role_named_random_is_chance_and_no_enemy() {
    let game = Game::from_text("coin", COIN).unwrap();
    for backend in [Backend::Propnet, Backend::Datalog] {
        let mut machine = machine(&game, backend);
        let mut lanes = Lanes::new(&machine, &Limits::default());
        let state = machine.initial().unwrap();
        let mut outlook = outlook(&mut machine, &mut lanes, Evaluation::Goals);
        let report = search(&mut outlook, &state, 0, Wanted::All, u32::MAX, 1 << 20);
        let text = |m: &Move| game.text(machine.terms(), m.term());
        let moves = report.moves.iter();
        let moves: Vec<_> = moves
            .map(|m| (text(&m.action), m.value.round(), m.bounds))
            .collect();
        let expected = [
            ("bet".to_owned(), 50.0, (0, 80)),
            ("safe".to_owned(), 30.0, (30, 30)),
        ];
        assert_eq!(moves, expected);
    }
    for kind in ["auto:500", "mcts:500", "minimax:50"] {
        for seed in 0..4 {
            let spec: AgentSpec = kind.parse().unwrap();
            let role = game.roles().next().unwrap();
            let brief = Brief {
                seed,
                ..Brief::new(&game, role)
            };
            let mut agent = spec.agent(brief).unwrap();
            let pace = Pace::new(None, spec.limits(None).1);
            let advice = agent
                .choose(&Observation::of_joint_moves(role, []), &pace)
                .unwrap();
            let mut terms = game.terms().clone();
            terms.refresh();
            assert_eq!(
                game.text(&terms, advice.chosen.term()),
                "bet",
                "{kind} {seed}"
            );
        }
    }
}

#[test]
fn pondering_finds_the_answer_to_the_moves_of_other_roles() {
    let game = game("tic_tac_toe");
    let mut machine = machine(&game, Backend::Datalog);
    let [first, second] = game.roles().collect::<Vec<_>>()[..] else {
        panic!("two roles");
    };
    let start = machine.initial().unwrap();
    let mut bounds = |ponders: bool| {
        let spec: AgentSpec = "minimax".parse().unwrap();
        let mut agent = spec.agent(Brief::new(&game, first)).unwrap();
        agent.begin(&Pace::default()).unwrap();
        let little = || Pace::new(None, Some(20));
        let start_of_match = Observation::of_joint_moves(first, []);
        let chosen = agent.choose(&start_of_match, &little()).unwrap().chosen;
        if ponders {
            agent.ponder(&Pace::default()).unwrap();
        }
        let (mut state, mut played) = (start.clone(), Vec::new());
        for by in [first, second] {
            let mut joint = Vec::new();
            let mut legal = Vec::new();
            for role in [first, second] {
                machine.legal(&state, role, &mut legal).unwrap();
                let is_free = by == first && role == first;
                joint.push(if is_free { chosen } else { legal[0] });
            }
            state = machine.next(&state, &joint).unwrap();
            played.push(joint);
        }
        let observation = Observation::of_joint_moves(first, played);
        agent.choose(&observation, &little()).unwrap().bounds
    };
    assert_eq!(bounds(false), (0.0, 100.0));
    let (least, most) = bounds(true);
    assert!(least == most && least >= 50.0, "{least} {most}");
}
