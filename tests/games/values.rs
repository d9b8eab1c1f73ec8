//! What small games are worth, and which moves are good in them.

use super::*;
use ggp_play::{AgentSpec, Brief, Observation, Pace};

/// The sums of one column of a table's levels.
fn total(name: &str, column: usize) -> u128 {
    table(name).levels.iter().map(|level| level[column]).sum()
}

#[test]
fn tic_tac_toe_has_5478_positions_and_255168_games() {
    assert_eq!(total("tic_tac_toe", 2), 5_478);
    assert_eq!(total("tic_tac_toe", 3), 255_168);
    // 131184 games won, 77904 lost and 46080 drawn.
    assert_eq!(total("tic_tac_toe", 5), 13_118_400 + 2_304_000);
    assert_eq!(total("tic_tac_toe", 6), 7_790_400 + 2_304_000);
}

/// What the first role gets if both of two play best, one at a time.
fn value(machine: &mut AnyMachine, state: &State, known: &mut HashMap<State, Score>) -> Score {
    if let Some(value) = known.get(state) {
        return *value;
    }
    let roles: Vec<_> = machine.game().roles().collect();
    let value = if machine.is_terminal(state).unwrap() {
        let scores: Vec<u8> = roles
            .iter()
            .map(|role| machine.goal(state, *role).unwrap().get())
            .collect();
        assert_eq!(scores.iter().sum::<u8>(), 100);
        Score::new(scores[0]).unwrap()
    } else {
        let joints = answers(machine, state).joints;
        let values: Vec<Score> = joints
            .iter()
            .map(|joint| {
                let next = machine.next(state, joint).unwrap();
                value(machine, &next, known)
            })
            .collect();
        let mut legal = [Vec::new(), Vec::new()];
        for (role, legal) in roles.iter().zip(&mut legal) {
            machine.legal(state, *role, legal).unwrap();
        }
        assert!(legal[0].len() == 1 || legal[1].len() == 1);
        match legal[1].len() {
            1 => *values.iter().max().unwrap(),
            _ => *values.iter().min().unwrap(),
        }
    };
    known.insert(state.clone(), value);
    value
}

#[test]
fn small_games_are_worth_what_is_known() {
    let mut known = HashMap::new();
    let mut board = machine("tic_tac_toe");
    let start = board.initial().unwrap();
    assert_eq!(value(&mut board, &start, &mut known).get(), 50);

    known.clear();
    let mut heaps = machine("nim");
    let start = heaps.initial().unwrap();
    assert_eq!(value(&mut heaps, &start, &mut known).get(), 100);
    let joints = answers(&mut heaps, &start).joints;
    let wins = |joint: &&Vec<Move>| {
        let next = heaps.next(&start, joint).unwrap();
        value(&mut heaps, &next, &mut known) == Score::MAX
    };
    let winning: Vec<Vec<Move>> = joints.iter().filter(wins).cloned().collect();
    assert_eq!(winning.len(), 1);
    assert_eq!(canonical_moves(&heaps, &winning[0]), ["(take a 2)", "wait"]);
}

/// The move that tree search recommends to a role, with its expected score.
fn advice(
    machine: &mut AnyMachine,
    state: &State,
    role: &str,
    playouts: u64,
    seed: u64,
) -> (String, f64) {
    let role = machine.game().role_named(role).unwrap();
    let spec: AgentSpec = format!("mcts:{playouts}").parse().unwrap();
    let pace = Pace::new(None, Some(playouts));
    let mut agent = spec
        .agent(Brief {
            start: Some(machine.facts(state)),
            seed,
            ..Brief::new(machine.game(), role)
        })
        .unwrap();
    agent.begin(&pace).unwrap();
    let seen = Observation::of_joint_moves(role, Vec::new());
    let advice = agent.choose(&seen, &pace).unwrap();
    machine.terms_mut().refresh();
    (machine.text(advice.chosen), advice.value.unwrap())
}

/// Compares what playouts take for a role's best move after some joint moves.
fn check_best(name: &str, played: &str, role: &str, playouts: u64, expected: &str) {
    let mut machine = machine(name);
    let state = after(&mut machine, played);
    for seed in 0..3 {
        let (best, value) = advice(&mut machine, &state, role, playouts, seed);
        assert_eq!(best, expected, "{name} seed {seed}: {value}");
    }
}

#[test]
fn playouts_find_the_only_good_move() {
    check_best("nim", "", "left", 256_000, "(take a 2)");
    check_best("nim", "(take c 5) wait", "right", 2_000, "(take b 1)");
    let win = "(mark 1 1) wait wait (mark 2 2) (mark 1 2) wait wait (mark 3 3)";
    check_best("tic_tac_toe", win, "cross", 300, "(mark 1 3)");
    let guard = "(mark 1 1) wait wait (mark 2 2) (mark 1 2) wait";
    check_best("tic_tac_toe", guard, "nought", 2_000, "(mark 1 3)");
    let win = "(drop 1) wait wait (drop 2) (drop 1) wait wait (drop 2) (drop 1) wait wait (drop 2)";
    check_best("connect_four", win, "red", 500, "(drop 1)");
    let guard = "(drop 1) wait wait (drop 2) (drop 1) wait wait (drop 7) (drop 1) wait";
    check_best("connect_four", guard, "yellow", 1_000, "(drop 1)");
}

#[test]
fn symmetric_games_are_even() {
    for name in ["rock_paper_scissors", "goofspiel", "three_player_race"] {
        let mut machine = machine(name);
        let start = machine.initial().unwrap();
        let game = machine.game().clone();
        let even = 100.0 / game.role_count() as f64;
        for role in game.roles() {
            let (_, expected) = advice(&mut machine, &start, game.role_name(role), 3_000, 0);
            assert!((expected - even).abs() < 15.0, "{name}: {expected}");
        }
    }
}

#[test]
fn chance_plays_all_its_moves_alike() {
    // The better of two dice is chosen: 100 with 1 in 3, or 100 with 2 in 3.
    let rules = "(role player) (role random) (init start)
        (<= (legal player small) (true start)) (<= (legal player large) (true start))
        (<= (legal random ?x) (true start) (face ?x)) (face 1) (face 2) (face 3)
        (<= (next (rolled ?m ?x)) (does player ?m) (does random ?x))
        (wins small 1) (wins large 1) (wins large 2)
        (<= won (true (rolled ?m ?x)) (wins ?m ?x)) (<= terminal (not (true start)))
        (<= (goal player 100) won) (<= (goal player 0) (not won)) (<= (goal random 0) (role random))";
    let game = Game::from_text("dice.kif", rules).unwrap();
    let mut machine = AnyMachine::new(&game, Backend::Auto, Limits::default()).unwrap();
    let start = machine.initial().unwrap();
    let (best, worth) = advice(&mut machine, &start, "player", 3_000, 0);
    assert_eq!(best, "large");
    assert!((60.0..=73.0).contains(&worth), "{worth}");
}
