//! A person in a game with `sees` is shown what its role knows.

use super::workplace::Workplace;

/// Chance, which has no score, hides a coin, the guesser guesses twice and sees the number of the turn.
const COIN: &str = "
    (role guesser) (role random) (init (turn 0)) (after 0 1) (after 1 2)
    (side heads) (side tails)
    (<= (legal guesser wait) (true (turn 0)))
    (<= (legal guesser (guess ?s)) (side ?s) (not (true (turn 0))))
    (<= (legal random (hide ?s)) (side ?s) (true (turn 0)))
    (<= (legal random wait) (not (true (turn 0))))
    (<= (next (turn ?n)) (true (turn ?m)) (after ?m ?n))
    (<= (next (turn 3)) (true (turn 2)))
    (<= (next (hidden ?s)) (does random (hide ?s)))
    (<= (next (hidden ?s)) (true (hidden ?s)))
    (<= (next (guessed ?s)) (does guesser (guess ?s)))
    (<= (sees guesser (turn ?n)) (true (turn ?n)) (not (true (turn 1))))
    (<= terminal (true (turn 3)))
    (<= (goal guesser 100) (true (hidden ?s)) (true (guessed ?s)))
    (<= (goal guesser 0) (true (hidden ?s)) (not (true (guessed ?s))))";

/// Two people show a side at the same time, and each sees whether they are the same.
const SIDES: &str = "
    (role even) (role odd) (side heads) (side tails)
    (<= (legal ?r ?s) (role ?r) (side ?s))
    (<= (next (shown ?r ?s)) (does ?r ?s))
    (<= (next (turn 1)) (not (true (turn 1))))
    (<= (next (turn 2)) (true (turn 1)))
    (<= (sees ?r same) (role ?r) (does even ?s) (does odd ?s))
    (<= terminal (true (turn 2)))
    (goal even 50) (goal odd 50)";

#[test]
fn nothing_hidden_is_shown_before_the_end() {
    let place = Workplace::new();
    place.write("coin.kif", COIN);
    let input = "state\nhistory\nwhy terminal\nhelp\nwait\n1\nhistory\nundo\n1\n2\n";
    let mut ends = Vec::new();
    let mut befores = Vec::new();
    for seed in 0..6 {
        let line = format!("play coin.kif --player guesser=human --seed {seed}");
        let found = place.run_with(&line, &[], input);
        assert_eq!(found.code, Some(0), "{found:#?}");
        let (before, end) = found.out.split_once("1: guesser plays wait").unwrap();
        for part in [
            "turn 2: guesser chooses\n1: you played wait and saw (turn 0)\n",
            "guesser> state\nthe rules have `sees`: your role does not know the state",
            "guesser> why terminal\nthe rules have `sees`",
            "guesser> help\n  a number or a move",
            "is not a legal move here; type help",
            "2: you played (guess heads) and saw nothing\n",
            "took back 1 joint move",
        ] {
            assert!(before.contains(part), "{part:?} is not in\n{before}");
        }
        assert!(!before.contains("random"), "{before}");
        assert!(!before.contains("hid"), "{before}");
        assert!(
            end.contains("the game is over after 3 joint moves"),
            "{end}"
        );
        assert!(!end.contains("undo"), "{end}");
        befores.push(before.to_owned());
        ends.push(end.to_owned());
    }
    assert!(befores.iter().all(|before| *before == befores[0]));
    // Chance hid different sides.
    assert!(ends.iter().any(|end| *end != ends[0]), "{ends:#?}");
}

#[test]
fn a_hint_does_not_speak_of_the_state() {
    let place = Workplace::new();
    place.write("coin.kif", COIN);
    let line = "play coin.kif --player guesser=human --player random=random";
    let found = place.run_with(line, &[], "hint\n1\n1\n");
    assert_eq!(found.code, Some(0), "{found:#?}");
    let (before, _) = found.out.split_once("1: guesser plays wait").unwrap();
    // Whether there is a hint depends on the agent.
    assert!(before.contains("guesser> hint\n"), "{before}");
    assert!(
        before.contains("\nhint: ") || before.contains("no hint is available"),
        "{before}"
    );
    for part in ["why:", "expected", "(hide "] {
        assert!(!before.contains(part), "{before}");
    }
}

#[test]
fn each_person_is_shown_its_own_view() {
    let place = Workplace::new();
    place.write("sides.kif", SIDES);
    let run = |input: &str| {
        let found = place.run_with("play sides.kif --roles human,human", &[], input);
        assert_eq!(found.code, Some(0), "{found:#?}");
        found.out
    };
    let out = run("heads\nheads\ntails\nheads\n");
    for part in [
        "turn 1: even chooses\n  [1] heads [2] tails\neven> heads\n",
        "turn 1: odd chooses\n  [1] heads [2] tails\nodd> heads\n\nturn 2: even chooses\n\
         1: you played heads and saw same\n",
        "turn 2: odd chooses\n1: you played heads and saw same\n",
        "1: even plays heads, odd plays heads\n2: even plays tails, odd plays heads\n",
    ] {
        assert!(out.contains(part), "{part:?} is not in\n{out}");
    }
    let out = run("heads\ntails\nheads\nquit\n");
    for part in [
        "turn 2: even chooses\n1: you played heads and saw nothing\n",
        "turn 2: odd chooses\n1: you played tails and saw nothing\n",
        "1: even plays heads, odd plays tails\nthe match ends after 1 joint move",
    ] {
        assert!(out.contains(part), "{part:?} is not in\n{out}");
    }
}

#[test]
fn a_match_with_hidden_moves_is_saved_replayed_and_resumed() {
    let place = Workplace::new();
    place.write("sides.kif", SIDES);
    let line = "play sides.kif --roles human,human --save match.json";
    place.run_with(line, &[], "heads\ntails\nquit\n");
    let line = "play --resume match.json";
    let found = place.run_with(line, &[], "history\ntails\ntails\n");
    assert_eq!(found.code, Some(0), "{found:#?}");
    let part = "even> history\n1: you played heads and saw nothing\n";
    assert!(found.out.contains(part), "{found:#?}");
    let found = place.run_with("replay match.json", &[], "");
    assert_eq!(found.code, Some(0), "{found:#?}");
    assert!(found.out.contains("odd plays tails"), "{found:#?}");
}
