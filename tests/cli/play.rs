use super::workplace::Workplace;

#[test]
fn a_person_plays_by_number_by_text_and_without_brackets() {
    let place = Workplace::new();
    let input = "2\n(take 1)\ntake 2\nquit\n";
    let found = place.run_with("play matches.kif --player human", &[], input);
    assert_eq!(found.code, Some(0), "{found:#?}");
    for part in [
        "state 0: 2 facts\n  left: 5   turn: ann\n  [1] (take 1) [2] (take 2)\nann> 2\n",
        "1: ann plays (take 2), bob plays wait\n",
        "2: ann plays wait, bob plays (take 1)\n",
        "ann> take 2\n3: ann plays (take 2), bob plays wait\n",
        "the game is over after 3 joint moves: 2 facts\n  left: 0   turn: bob\nann 100\nbob 0\n",
        "undo or quit> quit\n",
    ] {
        assert!(
            found.out.contains(part),
            "{part:?} is not in\n{}",
            found.out
        );
    }
    assert_eq!(found.err, "");
}

#[test]
fn moves_are_taken_back() {
    let place = Workplace::new();
    let input = "undo\n1\n1\nundo\nhistory\n2\n2\n1\nundo\nhistory\n";
    let found = place.run_with("play matches.kif --player human", &[], input);
    assert_eq!(found.code, Some(0), "{found:#?}");
    for part in [
        "ann> undo\nthere is nothing to take back\n",
        "ann> undo\ntook back 1 joint move\n",
        "bob> history\n1: ann plays (take 1), bob plays wait\n",
        // The last match is taken without a choice, so it goes back over two.
        "undo or quit> undo\ntook back",
        "(end of input)\nthe match ends after ",
    ] {
        assert!(
            found.out.contains(part),
            "{part:?} is not in\n{}",
            found.out
        );
    }
}

#[test]
fn the_match_can_be_asked_about_when_it_is_over() {
    let place = Workplace::new();
    let input = "2\n1\n2\nhelp\nhistory\nstate\nwhy terminal; (left 0)\nmoves\n/why (turn ann)\nhint x\nundo\n1\nquit\n";
    let found = place.run_with("play matches.kif --player human", &[], input);
    assert_eq!(found.code, Some(0), "{found:#?}");
    for part in [
        "undo or quit> help\n  undo ",
        "undo or quit> history\n1: ann plays (take 2), bob plays wait\n2: ",
        "undo or quit> state\n  left: 0   turn: bob\n",
        "undo or quit> why terminal; (left 0)\nterminal  holds: rule",
        "(true (left 0))  over the moves:",
        "undo or quit> moves\nthe game is over, so there are no moves; type undo or quit, or help for help\n",
        "undo or quit> /why (turn ann)\n(true (turn ann))  over the moves:",
        "hint takes no argument",
        "undo or quit> undo\ntook back 1 joint move\n",
    ] {
        assert!(
            found.out.contains(part),
            "{part:?} is not in\n{}",
            found.out
        );
    }
}

#[test]
fn undo_passes_over_the_moves_of_programs() {
    let place = Workplace::new();
    let input = "1\nundo\nhistory\nquit\n";
    let line = "play matches.kif --player ann=human --player bob=first";
    let found = place.run_with(line, &[], input);
    assert!(found.out.contains("took back 2 joint moves"), "{found:#?}");
    assert!(found.out.contains("no moves yet"), "{found:#?}");
    assert!(
        found.out.contains("the match ends after 0 joint moves"),
        "{found:#?}"
    );
}

#[test]
fn the_first_role_without_a_player_is_a_person() {
    let place = Workplace::new();
    for (players, asked) in [
        ("--player bob=first", "ann> "),
        ("--player ann=first", "bob> "),
    ] {
        let line = format!("play matches.kif {players}");
        let found = place.run_with(&line, &[], "quit\n");
        assert!(found.out.contains(asked), "{players}: {found:#?}");
    }
}

#[test]
fn people_who_move_at_once_can_choose_again() {
    let place = Workplace::new();
    let rules = "
        (role a) (role b) (hand rock) (hand paper) (init start)
        (<= (legal ?r ?h) (role ?r) (hand ?h) (true start))
        (<= (next (shown ?r ?h)) (does ?r ?h))
        (<= terminal (not (true start)))
        (<= (goal ?r 50) (role ?r))";
    place.write("hands.kif", rules);
    let input = "rock\nundo\npaper\npaper\n";
    let found = place.run_with("play hands.kif --player human", &[], input);
    let part = "b> undo\nthe moves chosen in this state are taken back\n";
    assert!(found.out.contains(part), "{found:#?}");
    assert!(
        found.out.contains("1: a plays paper, b plays paper"),
        "{found:#?}"
    );
}

#[test]
fn what_is_typed_wrong_is_explained() {
    let place = Workplace::new();
    let input =
        "9\n0\ntak 1\ntake 3\n(press 9)\npress 1 1\nfly\n/fly\n\nhelp\nstate\nmoves\nhint\n1; 1\n";
    let found = place.run_with("play lights.kif", &[], input);
    assert_eq!(found.code, Some(0), "{found:#?}");
    for part in [
        "me> 9\nmove numbers are 1 to 2; type help for help\n",
        "me> 0\nmove numbers are 1 to 2",
        "me> fly\nthe rules have no name `fly`; a move is written like `(press 1)`; type help",
        "me> (press 9)\nthe rules have no number 9; a move is written like `(press 1)`; type help",
        "me> press 1 1\nthe rules never use `press` with 2 arguments; a move is written like `(press 1)`",
        "me> /fly\nunknown command fly",
        "me> help\n  a number or a move ",
        "me> state\n\nstate 0: 1 fact\n  on: 1\n",
        "me> moves\n  [1] (press 1) [2] (press 2)\n",
        "me> hint\nhint: (press ",
        "me> 1; 1\n`1; 1` is not a legal move here; type help",
    ] {
        assert!(
            found.out.contains(part),
            "{part:?} is not in\n{}",
            found.out
        );
    }
}

#[test]
fn moves_may_be_written_as_in_other_fields() {
    let place = Workplace::new();
    let input = "take(1)\ntake 2,\ntake(9)\n(take( 1 ))\n";
    let found = place.run_with("play matches.kif --player human", &[], input);
    assert_eq!(found.code, Some(0), "{found:#?}");
    for part in [
        "1: ann plays (take 1), bob plays wait",
        "2: ann plays wait, bob plays (take 2)",
        "3: ann plays (take 1), bob plays wait",
        "the rules have no number 9; a move is written like `(take 1)`; type help for help",
        "4: ann plays wait, bob plays (take 1)",
    ] {
        assert!(found.out.contains(part), "{part:?}: {found:#?}");
    }
}

#[test]
fn each_state_between_programs_is_shown_once() {
    let place = Workplace::new();
    let line = "play matches.kif --roles first,first";
    let found = place.run(line);
    let shown: Vec<&str> = { found.out.lines() }
        .filter(|line| line.starts_with("  left: "))
        .collect();
    let expected = [5, 4, 3, 2, 1].map(|left| format!("  left: {left}   turn: "));
    assert_eq!(shown.len(), 6, "{found:#?}");
    for (shown, expected) in shown.iter().zip(&expected) {
        assert!(shown.starts_with(expected), "{found:#?}");
    }
    for more in [" --quiet", " --json"] {
        let found = place.run(&format!("{line}{more}"));
        assert!(!found.out.contains("left: 4"), "{found:#?}");
        assert!(!found.err.contains("left: 4"), "{found:#?}");
    }
}

#[test]
fn a_hint_says_why() {
    let place = Workplace::new();
    let found = place.run_with("play matches.kif", &[], "hint\n");
    // Taking two of five leaves three, from which the other loses.
    for part in [
        "hint: (take 2), proved value 100\n  others: (take 1) ",
        "\n  why: proved: the move is worth 100 with best play\n  expected 1: ",
    ] {
        assert!(
            found.out.contains(part),
            "{part:?} is not in\n{}",
            found.out
        );
    }
    assert!(!found.out.contains("learned"), "{}", found.out);
    let learned = place.run("learn matches.kif --games 3000 -o values.json");
    assert_eq!(learned.code, Some(0), "{learned:#?}");
    let found = place.run_with("play matches.kif --values values.json", &[], "hint\n");
    for part in [
        "  why: learned values: ",
        " before the move, ",
        "  why: for it: (left 3) +",
    ] {
        assert!(
            found.out.contains(part),
            "{part:?} is not in\n{}",
            found.out
        );
    }
}

#[test]
fn a_hint_needs_no_reasons() {
    let place = Workplace::new();
    let learned = place.run("learn lights.kif --games 300 -o values.json");
    assert_eq!(learned.code, Some(0), "{learned:#?}");
    let file = place.folder().join("values.json");
    let text = std::fs::read_to_string(file).expect("it was written");
    let damaged = text.replacen("\"weights\"", "\"damaged\"", 1);
    assert_ne!(damaged, text);
    place.write("values.json", damaged);
    let found = place.run_with("play lights.kif --values values.json", &[], "hint\n");
    assert_eq!(found.code, Some(0), "{found:#?}");
    assert!(found.out.contains("\nhint: (press "), "{}", found.out);
}

#[test]
fn moves_that_are_numbers_or_commands_are_moves() {
    let place = Workplace::new();
    let rules = "
        (role me) (init start)
        (<= (legal me 3) (true start)) (<= (legal me undo) (true start))
        (<= (next (did ?m)) (does me ?m))
        (<= terminal (not (true start))) (<= (goal me 0) terminal)";
    place.write("odd.kif", rules);
    let found = place.run_with("play odd.kif", &[], "1\n/undo\nundo\n");
    for part in [
        "  3 undo\nme> 1\n",
        "me> /undo\nthere is nothing to take back\n",
        "1: me plays undo\n",
    ] {
        assert!(
            found.out.contains(part),
            "{part:?} is not in\n{}",
            found.out
        );
    }
}

#[test]
fn programs_play_alone_and_the_same_with_the_same_seed() {
    let place = Workplace::new();
    for players in ["random", "first", "mcts:20", "mcts:0.01s"] {
        let line = format!("play matches.kif --player {players} --seed 4");
        let found = place.run(&line);
        assert_eq!(found.code, Some(0), "{found:#?}");
        assert!(found.out.contains("the game is over after"), "{found:#?}");
        if !players.ends_with('s') {
            assert_eq!(place.run(&line).out, found.out, "{players}");
        }
    }
    let found = place.run("play matches.kif --player first --player bob=mcts:500");
    assert!(found.out.ends_with("ann 0\nbob 100\n"), "{found:#?}");
}

#[test]
fn json_is_printed_at_the_end_and_nothing_else_on_standard_output() {
    let place = Workplace::new();
    let found = place.run_with("play lights.kif --json --verbose", &[], "1\n2\n1\n");
    assert!(found.err.contains("me> "), "{found:#?}");
    let json: serde_json::Value = serde_json::from_str(&found.out).unwrap();
    assert_eq!(json["end"], "terminal");
    assert_eq!(json["steps"][1]["joint"], serde_json::json!(["(press 2)"]));
    assert_eq!(json["steps"][2]["state"], serde_json::json!(["(on 2)"]));
    assert_eq!(json["goals"][0]["goal"], 100);
}

#[test]
fn players_must_fit_the_roles() {
    let place = Workplace::new();
    for (line, part) in [
        ("--player eve=human", "there is no role eve"),
        (
            "--player ann=human --player ann=first",
            "the role ann has two players",
        ),
        (
            "--player human --player first",
            "two players for the other roles",
        ),
        ("--state -", "standard input is used for moves"),
        (
            "--player first --max-agents 1",
            "the limit is 1 (--max-agents)",
        ),
    ] {
        place.check_failure(&format!("play matches.kif {line}"), &[], "", 2, &[part]);
    }
}

#[test]
fn wrong_rules_end_the_match_with_what_was_played() {
    let place = Workplace::new();
    let found = place.run_with("play faulty.kif --quiet", &[], "stuck\n");
    assert_eq!(found.code, Some(2), "{found:#?}");
    assert!(
        found
            .out
            .contains("the match ends after 1 joint move: 1 fact"),
        "{found:#?}"
    );
    assert!(found.err.contains("me has no legal move"), "{found:#?}");
    let found = place.run_with("play faulty.kif --quiet", &[], "two\n\n");
    assert_eq!(found.code, Some(2), "{found:#?}");
    assert!(found.out.contains("me several: 1, 2\n"), "{found:#?}");
    assert!(found.err.contains("several goal values"), "{found:#?}");
}

#[test]
fn a_match_can_start_in_the_middle_and_be_taken_back_from_there() {
    let place = Workplace::new();
    let line = "play matches.kif --player human --depth 1 --moves";
    let found = place.run_with(line, &["(take 1)"], "undo\nhistory\n2\n1\n");
    assert!(
        found.out.contains("bob> undo\ntook back 1 joint move"),
        "{found:#?}"
    );
    assert!(
        found.out.contains("the match ends after 2 joint moves"),
        "{found:#?}"
    );
}

/// Reads a record that was written.
fn record(place: &Workplace, name: &str) -> serde_json::Value {
    serde_json::from_slice(&std::fs::read(place.folder().join(name)).unwrap()).unwrap()
}

/// Chance wants no score: an agent for it would be an enemy of all.
#[test]
fn a_player_without_a_role_does_not_play_for_chance() {
    let place = Workplace::new();
    place.write(
        "coin.kif",
        "(role ann) (role random) (init start) (legal ann wait) (legal random heads) (legal random tails)
        (<= (next (shown ?m)) (does random ?m)) (<= terminal (not (true start)))
        (<= (goal ann 100) (true (shown heads))) (<= (goal ann 0) (true (shown tails)))",
    );
    let players = |arguments: &str| {
        place.run(&format!(
            "play coin.kif --quiet --save match.json {arguments}"
        ));
        record(&place, "match.json")["playerNamesFromHost"].clone()
    };
    assert_eq!(
        players("--player minimax"),
        serde_json::json!(["minimax", "random"])
    );
    let named = players("--player minimax --player random=first");
    assert_eq!(named, serde_json::json!(["minimax", "first"]));
}

#[test]
fn a_match_is_saved_taken_back_and_gone_on_with() {
    let place = Workplace::new();
    let line = "play matches.kif --player human --save game.json";
    let found = place.run_with(line, &[], "1\n2\nundo\n1\nquit\n");
    assert_eq!(found.code, Some(0), "{found:#?}");
    let saved = record(&place, "game.json");
    let moves = serde_json::json!([["( take 1 )", "wait"], ["wait", "( take 1 )"]]);
    assert_eq!(saved["moves"], moves);
    assert_eq!(saved["isCompleted"], false);
    // What was taken back is gone, and taken back again after a resume.
    let line = "play matches.kif --player human --resume game.json";
    let found = place.run_with(line, &[], "history\nundo\n2\n2\n");
    assert_eq!(found.code, Some(0), "{found:#?}");
    for part in [
        "state 2: 2 facts\n",
        "ann> history\n1: ann plays (take 1), bob plays wait\n2: ann plays wait, bob plays (take 1)\n",
        "ann> undo\ntook back 1 joint move\n",
        "the game is over after 3 joint moves",
    ] {
        assert!(
            found.out.contains(part),
            "{part:?} is not in\n{}",
            found.out
        );
    }
    let saved = record(&place, "game.json");
    assert_eq!(saved["moves"].as_array().unwrap().len(), 3);
    assert_eq!(saved["isCompleted"], true);
    assert_eq!(saved["goalValues"], serde_json::json!([100, 0]));
    // A match that is over can be looked at and taken back, and checked.
    let found = place.run_with(line, &[], "undo\nquit\n");
    assert!(
        found.out.contains("undo or quit> undo\ntook back"),
        "{found:#?}"
    );
    assert_eq!(record(&place, "game.json")["isCompleted"], false);
    assert_eq!(place.run("replay game.json").code, Some(0));
}

#[test]
fn a_record_says_who_plays_by_which_rules() {
    let place = Workplace::new();
    let line = "play matches.kif --roles first,human --play-clock 1.5 --seed 7 --save game.json";
    let found = place.run_with(line, &[], "1\nquit\n");
    assert_eq!(found.code, Some(0), "{found:#?}");
    let saved = record(&place, "game.json");
    assert_eq!(
        (&saved["playClock"], &saved["seed"]),
        (&2.into(), &7.into())
    );
    std::fs::remove_file(place.folder().join("matches.kif")).unwrap();
    // The person is asked again, and the program moves by itself.
    let found = place.run_with("play --resume game.json", &[], "1\nquit\n");
    assert_eq!(found.code, Some(0), "{found:#?}");
    assert!(
        found
            .out
            .contains("bob> 1\n4: ann plays wait, bob plays (take 1)\n"),
        "{found:#?}"
    );
    let names = |game: &str| record(&place, game)["playerNamesFromHost"].clone();
    assert_eq!(names("game.json"), serde_json::json!(["first", "human"]));
    // One of them can be another one now.
    let line = "play --resume game.json --player bob=mcts:5 --seed 8 --play-clock 3";
    let found = place.run_with(line, &[], "");
    assert_eq!(found.code, Some(0), "{found:#?}");
    assert_eq!(names("game.json"), serde_json::json!(["first", "mcts:5"]));
    // Somebody from elsewhere cannot.
    let mut saved = record(&place, "game.json");
    saved["playerNamesFromHost"][0] = "http://there".into();
    place.write("far.json", saved.to_string());
    let parts = [
        "the recorded player of ann: unknown player `http`",
        "use --player ann=KIND",
    ];
    place.check_failure("play --resume far.json", &[], "", 2, &parts);
    // Rules that were written down by nobody must be given.
    saved.as_object_mut().unwrap().remove("rulesheet");
    place.write("far.json", saved.to_string());
    place.check_failure(
        "play --resume far.json",
        &[],
        "",
        2,
        &["the record has no rules"],
    );
}

#[test]
fn players_in_one_word_may_have_options() {
    let place = Workplace::new();
    let found = place.run("play matches.kif --roles mcts:9,exploration=1,legal --save game.json");
    assert_eq!(found.code, Some(0), "{found:#?}");
    let names = &record(&place, "game.json")["playerNamesFromHost"];
    assert_eq!(*names, serde_json::json!(["mcts:9,exploration=1", "legal"]));
}

#[test]
fn the_kinds_of_players_are_listed() {
    let place = Workplace::new();
    for line in [
        "play --player list",
        "host --player list",
        "play --roles list",
        "player --player list",
    ] {
        let found = place.run(line);
        assert_eq!(
            (found.code, &found.err[..]),
            (Some(0), ""),
            "{line}: {found:#?}"
        );
        assert!(
            found.out.starts_with("players and their options"),
            "{line}: {found:#?}"
        );
        assert!(found.out.contains("\n  minimax "), "{line}: {found:#?}");
    }
}

#[test]
fn players_without_time_or_with_too_much_to_say_are_refused() {
    let place = Workplace::new();
    for (player, part) in [
        ("mcts:0s", "leaves no time to choose"),
        ("random:3", "remove `3`"),
        (
            "mcts:threads=0",
            "threads must be a whole number from 1 to 256 or auto, not `0`",
        ),
    ] {
        let line = format!("play matches.kif --player {player}");
        place.check_failure(&line, &[], "", 2, &[part]);
    }
    // So little that nobody has come to anything is still a move.
    let found = place.run("play matches.kif --player mcts:0.000001s");
    assert_eq!(found.code, Some(0), "{found:#?}");
}

#[test]
fn what_can_not_be_resumed_is_said() {
    let place = Workplace::new();
    place.write("empty.json", "{}");
    place.run_with("play lights.kif --save lights.json", &[], "1\nquit\n");
    for (line, part) in [
        ("--resume none.json", "cannot read none.json"),
        ("--resume empty.json", "empty.json is not a match record"),
        (
            "--resume lights.json",
            "lights.json is not a match of this game",
        ),
        (
            "--resume lights.json --save other.json",
            "--resume writes to lights.json and cannot be combined with --save",
        ),
        ("--save no/such/folder.json", "no/such/folder.json"),
    ] {
        place.check_failure(&format!("play matches.kif {line}"), &[], "", 2, &[part]);
    }
}

#[test]
fn a_clock_without_time_is_refused() {
    let place = Workplace::new();
    let players = "matches.kif --player auto --player first --play-clock 0";
    for (line, part) in [
        (format!("host {players}"), "from 1 to"),
        (format!("tournament --games {players}"), "no time to choose"),
    ] {
        place.check_failure(&line, &[], "", 2, &[part]);
    }
}

#[test]
fn programs_keep_the_play_clock() {
    let place = Workplace::new();
    let started = std::time::Instant::now();
    let found = place.run("play matches.kif --roles auto,mcts --play-clock 0.05");
    assert_eq!(found.code, Some(0), "{found:#?}");
    assert!(found.out.contains("the game is over after"), "{found:#?}");
    // Five moves at most; without a clock each takes thousands of iterations.
    assert!(started.elapsed().as_secs() < 60);
    for (clock, part) in [
        ("0", "no time to choose"),
        ("soon", "expected a number of seconds"),
    ] {
        let line = format!("play matches.kif --play-clock {clock}");
        place.check_failure(&line, &[], "", 2, &[part]);
    }
}

#[test]
fn hints_plan_where_one_role_decides_and_say_what_follows() {
    let place = Workplace::new();
    let found = place.run_with("play lights.kif", &[], "hint\nquit\n");
    assert!(found.out.contains("proved value 100\n"), "{found:#?}");
    assert!(
        found.out.contains("\n  expected 1: me plays (press "),
        "{found:#?}"
    );
    let found = place.run_with("play matches.kif --player human", &[], "hint\nquit\n");
    // Five are left; who leaves three wins.
    let parts = [
        "ann> hint\nhint: (take 2), proved value 100\n  others: (take 1) ",
        "\n  expected 1: ann plays (take 2), bob plays wait\n  expected 2: ",
    ];
    for part in parts {
        assert!(
            found.out.contains(part),
            "{part:?} is not in\n{}",
            found.out
        );
    }
}

#[test]
fn a_person_may_ask_why() {
    let place = Workplace::new();
    let input = "why next (left 4)\ntake 2\nwhy take 3\nwhy (left 3)\nwhy terminal\nwhy left 9\n\
                 /why x\nwhy\nwhy 1\nwhy 9\nwhy next (left 3)\nhint more\nhelp\nquit\n";
    let line = "play matches.kif --roles human,human";
    let found = place.run_with(line, &[], input);
    for part in [
        "bob> why take 3\n(legal bob (take 3))  does not hold\n",
        "(true (left 3))  over the moves:\n└─ became true after move 1\n",
        "terminal  does not hold\n└─ rule at matches.kif:11:5\n   └─ ✗ (true (left 0))",
        "the rules have no number 9",
        "the rules have no name `x`",
        "`next (left 4)` depends on the moves made; ask again after a move\n",
        "bob> why\n`why` needs ",
        "bob> why 1\n(legal bob (take 1))  holds: ",
        "bob> why 9\nmove numbers are 1 to ",
        "bob> why next (left 3)\n(next (left 3))  holds: ",
        "bob> hint more\nhint takes no argument; ",
        "  why FACT or MOVE ",
    ] {
        assert!(
            found.out.contains(part),
            "{part:?} is not in\n{}",
            found.out
        );
    }
}
