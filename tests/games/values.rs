//! What small games are worth, and which moves are good in them.

use super::*;

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

/// Compares what playouts take for a role's best move after some joint moves.
fn check_best(name: &str, played: &str, role: &str, playouts: u64, expected: &str) {
    let mut machine = machine(name);
    let state = after(&mut machine, played);
    for seed in 0..3 {
        let mut options = SolveOptions::default();
        options.seed = seed;
        options.budget.nodes = playouts;
        let found = evaluate(&machine, &state, &options, &mut Stats::default(), &mut ()).unwrap();
        let known = found.roles.iter().find(|known| known.role == role).unwrap();
        let best = known.best.as_deref();
        assert_eq!(best, Some(expected), "{name} seed {seed}: {known:?}");
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
        let mut options = SolveOptions::default();
        options.budget.nodes = 3_000;
        let found = evaluate(&machine, &start, &options, &mut Stats::default(), &mut ()).unwrap();
        let even = 100.0 / found.roles.len() as f64;
        for role in found.roles {
            let expected = role.expected.unwrap();
            assert!((expected - even).abs() < 15.0, "{name}: {role:?}");
        }
    }
}
