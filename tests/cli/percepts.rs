//! Games with `sees` on the command line: what is shown of percepts, and what people are not shown.

use super::workplace::Workplace;

/// Chance, which has no score, hides a coin, the guesser guesses twice and sees the number of the turn.
pub const COIN: &str = "
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
pub const SIDES: &str = "
    (role even) (role odd) (side heads) (side tails)
    (<= (legal ?r ?s) (role ?r) (side ?s))
    (<= (next (shown ?r ?s)) (does ?r ?s))
    (<= (next (turn 1)) (not (true (turn 1))))
    (<= (next (turn 2)) (true (turn 1)))
    (<= (sees ?r same) (role ?r) (does even ?s) (does odd ?s))
    (<= terminal (true (turn 2)))
    (goal even 50) (goal odd 50)";

#[test]
fn a_graph_counts_the_score_of_a_role_that_has_one() {
    let place = Workplace::new();
    let swapped = COIN.replace(
        "(role guesser) (role random)",
        "(role random) (role guesser)",
    );
    for rules in [COIN, &swapped] {
        place.write("coin.kif", rules);
        let found = place.run("graph coin.kif --output coin.svg");
        assert_eq!(found.code, Some(0), "{found:#?}");
    }
}

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
            "guesser> state\n  turn: 1   hidden: heads 50 %, tails 50 %\n",
            "guesser> why terminal\nguesser knows that terminal does not hold: it fails in all of 2 positions",
            "guesser> help\n  a number or a move",
            "is not a legal move here; type help",
            "2: you played (guess heads) and saw nothing\n",
            "took back 1 joint move",
        ] {
            assert!(before.contains(part), "{part:?} is not in\n{before}");
        }
        assert!(!before.contains("random"), "{before}");
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
        before.contains("\nhint: ") || before.contains("type hint again"),
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

#[test]
fn percepts_are_shown_after_each_joint_move() {
    let place = Workplace::new();
    place.write("sides.kif", SIDES);
    let next = "next sides.kif --move heads --move heads";
    let found = place.run_with(next, &[], "");
    let text = "(shown even heads)\n(shown odd heads)\n(turn 1)\n; even sees same, odd sees same\n";
    assert_eq!(found.out, text, "{found:#?}");
    place.write("state.kif", &found.out);
    let found = place.run_with("legal sides.kif --state state.kif --role odd", &[], "");
    assert_eq!(found.code, Some(0), "comments are no facts: {found:#?}");
    let json = |line: &str| {
        let found = place.run_with(&format!("{line} --json"), &[], "");
        serde_json::from_str::<serde_json::Value>(&found.out).expect("it is JSON")
    };
    assert_eq!(json(next)["sees"], serde_json::json!([["same"], ["same"]]));
    let step = &json("playout sides.kif")["steps"][0];
    let is_same = step["joint"][0] == step["joint"][1];
    assert_eq!(
        step["sees"][1].as_array().unwrap().len(),
        usize::from(is_same)
    );
    let found = place.run_with("playout sides.kif --verbose", &[], "");
    assert_eq!(found.out.matches("even sees ").count(), 2, "{found:#?}");
    // Chance has no score here.
    place.write("coin.kif", COIN);
    let found = place.run_with("playout coin.kif --verbose", &[], "");
    assert_eq!(found.code, Some(0), "{found:#?}");
    let part = "\nguesser sees (turn 2)\nend after 3 moves (the game is over)";
    assert!(found.out.contains(part), "{found:#?}");
    let line = "play sides.kif --roles human,human --save match.json";
    place.run_with(line, &[], "heads\ntails\nquit\n");
    let found = place.run_with("replay match.json", &[], "");
    let part = "odd plays tails\n   even sees nothing, odd sees nothing\n";
    assert!(found.out.contains(part), "{found:#?}");
    assert_eq!(
        json("replay match.json --step 0")["step"]["sees"],
        serde_json::json!([[], []])
    );
}

/// Two roles lay a side one after the other, and each sees what was laid.
const OPEN: &str = "
    (role even) (role odd) (side heads) (side tails) (init (turn even)) (after even odd) (after odd end)
    (<= (legal ?r ?s) (true (turn ?r)) (role ?r) (side ?s))
    (<= (legal ?r wait) (role ?r) (not (true (turn ?r))))
    (<= (next (turn ?b)) (true (turn ?a)) (after ?a ?b))
    (<= (next (laid ?r ?s)) (does ?r ?s) (side ?s))
    (<= (next (laid ?r ?s)) (true (laid ?r ?s)))
    (<= (sees ?r (lays ?other ?s)) (role ?r) (does ?other ?s))
    (<= terminal (true (turn end)))
    (<= same (true (laid even ?s)) (true (laid odd ?s)))
    (<= (goal even 100) same) (<= (goal even 0) (not same))
    (<= (goal odd 0) same) (<= (goal odd 100) (not same))";

#[test]
fn games_in_which_nothing_is_hidden_are_proved_and_tabulated() {
    let place = Workplace::new();
    place.write("open.kif", OPEN);
    let blind = OPEN.replace("(does ?other ?s))", "(does ?other ?s) (does ?r ?s))");
    place.write("blind.kif", &blind);
    let found = place.run_with("prove open.kif", &[], "");
    assert_eq!(found.code, Some(0), "{found:#?}");
    assert_eq!(found.out, "heads 0\ntails 0\n", "{found:#?}");
    let part = "all roles always know the position";
    assert!(found.err.contains(part), "{found:#?}");
    let found = place.run_with("tabulate open.kif --output open.table", &[], "");
    assert_eq!(found.code, Some(0), "{found:#?}");
    let found = place.run_with("prove open.kif --table open.table", &[], "");
    assert_eq!(found.code, Some(0), "{found:#?}");
    for line in ["prove blind.kif", "tabulate blind.kif --output blind.table"] {
        place.check_failure(line, &[], "", 2, &["the rules have `sees`"]);
    }
}

#[test]
fn info_and_learn_tell_that_information_is_hidden() {
    let place = Workplace::new();
    place.write("sides.kif", SIDES);
    place.write("coin.kif", COIN);
    let found = place.run_with("info coin.kif", &[], "");
    let part = "\ninformation    hidden (rules with `sees`)";
    assert!(found.out.contains(part), "{found:#?}");
    let found = place.run_with("info coin.kif --json", &[], "");
    assert!(
        found.out.contains("\"hidden_information\":true"),
        "{found:#?}"
    );
    let found = place.run_with("info matches.kif --json", &[], "");
    assert!(
        found.out.contains("\"hidden_information\":false"),
        "{found:#?}"
    );
    // In some games with `sees`, nothing is hidden.
    place.write("open.kif", OPEN);
    let found = place.run_with("info open.kif", &[], "");
    let part = "\ninformation    complete: all roles always know the position";
    assert!(found.out.contains(part), "{found:#?}");
    let found = place.json("info open.kif", &[]);
    assert_eq!(
        (&found["hidden_information"], &found["percepts"]),
        (&false.into(), &true.into())
    );
    let found = place.run_with("learn sides.kif --games 1 --output v.json", &[], "");
    let part = "the values are those of positions that all roles know";
    assert!(found.err.contains(part), "{found:#?}");
}

#[test]
fn a_hint_shows_the_mix_that_its_move_is_drawn_from() {
    let place = Workplace::new();
    place.write(
        "sides.kif",
        SIDES.replace(
            "(goal even 50) (goal odd 50)",
            "
        (<= both (true (shown even ?s)) (true (shown odd ?s)))
        (<= (goal even 100) both) (<= (goal even 0) (not both))
        (<= (goal odd 0) both) (<= (goal odd 100) (not both))",
        ),
    );
    // A search that took one side to be much worse than the other has no mix.
    let hints = (1..=4).map(|seed| {
        let line = format!("play sides.kif --roles human,first --verbose --seed {seed}");
        place.run_with(&line, &[], "hint\nheads\nhint\nheads\n")
    });
    let hints: Vec<_> = hints.collect();
    let mixed = hints.iter().find(|hint| hint.out.contains(" drawn from "));
    let found = mixed.unwrap_or_else(|| panic!("{hints:#?}"));
    for part in [
        ", drawn from a mix of moves\n  ",
        " %",
        ", value about ",
        "the shares tell how often to make each move",
        "2: even plays heads, odd plays heads\n   even sees same, odd sees same\n",
    ] {
        assert!(found.out.contains(part), "{part}: {found:#?}");
    }
}

#[test]
fn a_match_of_a_tournament_is_replayed() {
    let place = Workplace::new();
    place.write("coin.kif", COIN);
    let line = "tournament --games coin.kif --player first --player random --results cup.jsonl";
    place.run_with(line, &[], "");
    let path = place.folder().join("cup.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    let first = text.lines().next().unwrap();
    let row: serde_json::Value = serde_json::from_str(first).unwrap();
    let id = row["id"].as_str().unwrap();
    let line = format!("replay cup.jsonl --match {id} --game coin.kif");
    let found = place.run_with(&line, &[], "");
    assert_eq!(found.code, Some(0), "{found:#?}");
    for part in ["\n   guesser sees (turn 2)\n", "3 joint moves, completed"] {
        assert!(found.out.contains(part), "{part}: {found:#?}");
    }
    let step = place.run_with(&format!("{line} --step 2"), &[], "");
    assert!(step.out.contains("state 2: "), "{step:#?}");
    let part = "select one by its id, such as --match ";
    place.check_failure("replay cup.jsonl --game coin.kif", &[], "", 2, &[part]);
    let line = "replay cup.jsonl --match none --game coin.kif";
    place.check_failure(line, &[], "", 2, &["has no match none of a tournament"]);
    // A move that the rules do not have is a difference.
    std::fs::write(&path, text.replacen("(hide ", "(guess ", 1)).unwrap();
    let line = format!("replay cup.jsonl --match {id} --game coin.kif");
    let found = place.run_with(&line, &[], "");
    assert_eq!(found.code, Some(1), "{found:#?}");
    assert!(
        found.out.contains("the record differs after state 0"),
        "{found:#?}"
    );
}

#[test]
fn replay_draws_what_a_role_knew_after_each_turn() {
    let place = Workplace::new();
    place.write("coin.kif", COIN);
    let line = "play coin.kif --roles first,random --save match.json --quiet";
    assert_eq!(place.run(line).code, Some(0));
    let found = place.json("replay match.json --known-by guesser", &[]);
    let known = found["known"].as_array().unwrap();
    assert_eq!(known.len(), 4);
    let played = std::fs::read_to_string(place.folder().join("match.json")).unwrap();
    let played: serde_json::Value = serde_json::from_str(&played).unwrap();
    let joints = played["moves"].as_array().unwrap().iter().map(|joint| {
        let moves = joint.as_array().unwrap().iter();
        let moves: Vec<&str> = moves.map(|made| made.as_str().unwrap()).collect();
        moves.join(" ")
    });
    let joints: Vec<String> = joints.collect();
    for (number, state) in known.iter().enumerate() {
        let moves = joints[..number].join("; ");
        let more = ["--moves", &moves];
        let mut drawn = place.json("draw coin.kif --known-by guesser --json", &more);
        let known = drawn.as_object_mut().unwrap().remove("known_by").unwrap();
        assert_eq!(state["drawing"], drawn, "{number}");
        for part in ["role", "positions", "exact"] {
            assert_eq!(state[part], known[part], "{number}");
        }
        let line = format!("replay match.json --known-by guesser --step {number}");
        let step = place.json(&line, &[]);
        assert_eq!(step["known"], serde_json::json!([state]));
    }
    let found = place.run("replay match.json --known-by guesser");
    assert!(found.out.starts_with("known by guesser:\n"), "{found:#?}");
    assert_eq!(
        found.out.matches("known by guesser:\n").count(),
        known.len(),
        "{found:#?}"
    );
    let found = place.run("replay match.json --known-by guesser --positions 1");
    let part = "\nknown by guesser, 1 position of a sample:\n";
    assert!(found.out.contains(part), "{found:#?}");
    place.write("sides.kif", OPEN.replace("sees", "notices"));
    place.run("play sides.kif --roles first,first --save open.json --quiet");
    let line = "replay open.json --known-by even";
    place.check_failure(line, &[], "", 2, &["the rules have no `sees`"]);
}

#[test]
fn roles_that_are_nearly_right_are_suggested_and_chance_has_no_value() {
    let place = Workplace::new();
    place.write("coin.kif", COIN);
    place.run("play coin.kif --roles first,random --save match.json --quiet");
    let near = ["there is no role gueser; did you mean guesser?"];
    for line in [
        "legal coin.kif --role gueser",
        "prove coin.kif --role gueser",
        "draw coin.kif --known-by gueser",
        "replay match.json --known-by gueser",
        "play coin.kif --player gueser=first",
        "host coin.kif --player gueser=first",
    ] {
        place.check_failure(line, &[], "", 2, &near);
    }
    let empty = ["the name of the role is empty; the roles are guesser, random"];
    place.check_failure("draw coin.kif --known-by", &[""], "", 2, &empty);
    place.write(
        "open.kif",
        OPEN.replace(
            "(role even)",
            "(role even) (role random) (legal random wait)",
        ),
    );
    let parts = [
        "random is chance",
        "no value to prove; the roles that decide are",
    ];
    for game in ["coin", "open"] {
        let line = format!("prove {game}.kif --role random");
        place.check_failure(&line, &[], "", 2, &parts);
    }
}

#[test]
fn of_long_histories_only_the_moves_that_differ_are_shown() {
    let place = Workplace::new();
    let numbers = (0..9).map(|n| format!("(after {n} {})", n + 1));
    let long = COIN.replace("(after 1 2)", &numbers.skip(1).collect::<String>());
    let long = long.replace("(<= (next (turn 3)) (true (turn 2)))", "");
    place.write(
        "long.kif",
        long.replace("(true (turn 3))", "(true (turn 9))"),
    );
    let moves = format!("wait (hide heads){}", "; (guess heads) wait".repeat(7));
    let line = "why long.kif --known-by guesser --moves";
    let found = place.run_with(line, &[&moves, "(hidden heads)"], "");
    let part = "\n  holds and fails after two histories of 8 joint moves, which differ in\n     \
                1: holds after guesser plays wait, random plays (hide heads)\n        \
                fails after guesser plays wait, random plays (hide tails)\n";
    assert!(found.out.ends_with(part), "{found:#?}");
}

#[test]
fn what_a_role_knows_is_proved_where_positions_are_a_sample() {
    let place = Workplace::new();
    let rules = concat!(env!("CARGO_MANIFEST_DIR"), "/games/lattaque_small.kif");
    let line = format!("why {rules} --known-by left --positions 3");
    let moves = "(place marshal) (place spy); (place spy) (place marshal)";
    let ask = |questions: &[&str]| {
        let more = [&["--moves", moves], questions].concat();
        place.run_with(&line, &more, "")
    };
    let known = [
        "(piece 1 1 left marshal)",
        "(not (piece 1 1 left spy))",
        "(legal left (place flag))",
        "(not terminal)",
        "(not (goal left 100))",
        // The other has put something there, whatever it is.
        "(piece 4 1 right ?any)",
        "(not (piece 2 ?column ?player ?rank))",
        "(not (piece 1 1 right ?rank))",
    ];
    let found = ask(&known);
    assert_eq!(found.code, Some(0), "{found:#?}");
    let proof = "holds: this follows from its moves and percepts";
    assert_eq!(found.out.matches(proof).count(), known.len(), "{found:#?}");
    let found = ask(&["(piece 1 1 left spy)"]);
    assert_eq!(found.code, Some(1));
    assert!(
        found
            .out
            .contains("left knows that (piece 1 1 left spy) does not hold")
    );
    // The other's piece is another one in some positions that fit.
    let found = ask(&["(piece 4 1 right spy)"]);
    assert_eq!(found.code, Some(1));
    assert!(!found.out.contains("left knows that"), "{found:#?}");
    // One position shows all ranks but one in no place; other histories are found.
    let one = format!("why {rules} --known-by left --positions 1 --moves");
    let ranks = ["flag", "spy", "scout", "marshal"];
    for rank in ranks {
        let question = format!("(piece 4 1 right {rank})");
        let found = place.run_with(&one, &[moves, &question], "");
        let differ =
            found.out.contains("\n  holds after ") && found.out.contains("\n  fails after ");
        assert!(found.code == Some(1) && differ, "{found:#?}");
    }
}

#[test]
fn a_plan_in_a_game_without_end_ends() {
    let place = Workplace::new();
    // Again and again, until one stops or chance ends it; with all percepts, and without.
    let rules = "(role me) (role random) (init a)
        (<= (legal me go) (true a)) (<= (legal me stop) (true a)) (<= (legal me noop) (true b))
        (<= (legal random noop) (true a)) (<= (legal random x) (true b)) (<= (legal random y) (true b))
        (<= (next b) (does me go)) (<= (next c) (does me stop)) (<= (next a) (does random x))
        (<= (next d) (does random y)) (<= terminal (true c)) (<= terminal (true d))
        (<= (goal me 50) (true c)) (<= (goal me 70) (true d))";
    let open =
        format!("{rules} (<= (sees me ?m) (does random ?m)) (<= (sees random ?m) (does me ?m))");
    place.write("open.kif", &open);
    let found = place.run("prove open.kif");
    assert_eq!(
        (found.code, &found.out[..]),
        (Some(0), "go 70.0000\nstop 50.0000\n"),
        "{found:#?}"
    );
    let hidden = format!(
        "{open} (init (side 1)) (<= (next (side ?m)) (does random ?m)) (<= (next (side ?s)) (true (side ?s)) (true a))"
    );
    let hidden = hidden.replace("(<= (sees me ?m) (does random ?m))", "");
    place.write("hidden.kif", &hidden);
    let message = "a match can have more than 10000 joint moves, so a plan by what the role knows may have no end";
    place.check_failure("prove hidden.kif --role me", &[], "", 2, &[message]);
}
