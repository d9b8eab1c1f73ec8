use super::workplace::{LIGHTS, Workplace};

#[test]
fn state_lists_the_facts_and_scores() {
    let place = Workplace::new();
    let expected = "(left 5)\n(turn ann)\n; terminal false\n; ann none\n; bob none";
    place.check("state matches.kif", &[], "", 0, expected);
    let moves = ["--moves", "(take 2); (take 2); (take 1)"];
    let expected = "(left 0)\n(turn bob)\n; terminal true\n; ann 100\n; bob 0";
    place.check("state matches.kif", &moves, "", 0, expected);
    let json = place.json("state matches.kif", &moves);
    let expected = serde_json::json!({
        "facts": ["(left 0)", "(turn bob)"],
        "terminal": true,
        "goals": [
            {"role": "ann", "goal": 100, "values": ["100"]},
            {"role": "bob", "goal": 0, "values": ["0"]},
        ],
    });
    assert_eq!(json, expected);
}

#[test]
fn legal_lists_the_moves_of_all_roles_or_one() {
    let place = Workplace::new();
    let all = "ann (take 1)\nann (take 2)\nbob wait";
    place.check("legal matches.kif", &[], "", 0, all);
    place.check(
        "legal matches.kif --role ANN",
        &[],
        "",
        0,
        "(take 1)\n(take 2)",
    );
    let json = place.json("legal matches.kif --role bob", &[]);
    let expected = serde_json::json!({
        "terminal": false,
        "roles": [{"role": "bob", "moves": ["wait"]}],
    });
    assert_eq!(json, expected);
    let parts = ["there is no role eve; the roles are ann, bob"];
    place.check_failure("legal matches.kif --role eve", &[], "", 2, &parts);
}

#[test]
fn next_makes_a_joint_move_however_it_is_written() {
    let place = Workplace::new();
    let expected = "(left 3)\n(turn bob)";
    for more in [
        &["--move", "(take 2)", "--move", "wait"][..],
        &["--move", "(take 2) wait"],
        &["--move", "(TAKE 2)"],
        &["--", "(take 2)", "wait"],
        &["--", "(take 2)"],
        &["--moves", "(take 2)"],
    ] {
        place.check("next matches.kif", more, "", 0, expected);
    }
    let json = place.json("next matches.kif", &["--move", "(take 2)"]);
    assert_eq!(json["joint"], serde_json::json!(["(take 2)", "wait"]));
    assert_eq!(json["terminal"], false);
    // The last move may be the last one of --moves.
    place.write("moves.txt", "(take 2)\n(take 1)\n");
    for more in [
        &["--moves", "(take 2)", "--move", "(take 1)"][..],
        &["--moves", "(take 2); (take 1)"],
        &["--moves-file", "moves.txt"],
    ] {
        place.check("next matches.kif", more, "", 0, "(left 2)\n(turn ann)");
        let json = place.json("next matches.kif", more);
        assert_eq!(json["joint"], serde_json::json!(["wait", "(take 1)"]));
    }
}

#[test]
fn export_writes_the_game_tree() {
    let place = Workplace::new();
    let place_of = |node: &str| format!("{node} \"\"");
    let json = place.json("export matches.kif --efg", &[]);
    let text = json["text"].as_str().unwrap().to_owned();
    assert!(
        text.starts_with("EFG 2 R \"matches\" { \"ann\" \"bob\" }"),
        "{text}"
    );
    let nodes = text.lines().filter(|line| !line.is_empty()).skip(2);
    let nodes: Vec<&str> = nodes.collect();
    assert_eq!(json["nodes"], nodes.len());
    let of = |node: &str| {
        nodes
            .iter()
            .filter(|line| line.starts_with(&place_of(node)))
            .count()
    };
    assert_eq!(of("p") + of("t"), nodes.len());
    // Every node but the first one is a child, and each choice here has two.
    assert_eq!(2 * of("p") + 1, nodes.len());
    place.check(
        "export matches.kif --efg -o tree.efg --quiet",
        &[],
        "",
        0,
        "",
    );
    let written = std::fs::read_to_string(place.folder().join("tree.efg")).unwrap();
    assert_eq!(written, text);
    let few = ["more than 3 nodes", "--max-nodes sets this limit"];
    place.check_failure("export matches.kif --efg --max-nodes 3", &[], "", 2, &few);
    let late = [
        "the time limit was reached",
        "nothing is written",
        "--budget-time",
    ];
    let endless = "(role a) (role b) (init here) (next here)
        (<= (legal ?r l) (role ?r)) (<= (legal ?r r) (role ?r))
        (<= terminal (not (true here))) (goal a 0) (goal b 0)";
    place.write("endless.kif", endless);
    let line = "export endless.kif --efg -o late.efg --max-nodes 1000000000 --budget-time 0.3";
    let began = std::time::Instant::now();
    place.check_failure(line, &[], "", 2, &late);
    assert!(began.elapsed().as_secs() < 30 && !place.folder().join("late.efg").exists());
    let forced = endless.replace("(<= (legal ?r r) (role ?r))", "");
    place.write("forced.kif", &forced);
    let many = ["more than 100 nodes, with the turns in which nobody has a choice"];
    place.check_failure("export forced.kif --efg --max-nodes 100", &[], "", 2, &many);
    place.check_failure("export matches.kif", &[], "", 2, &["--efg"]);
}

#[test]
fn export_hides_what_a_role_has_not_seen() {
    let place = Workplace::new();
    // Ann hides a coin; Bob hears a noise on the left, and then guesses.
    let rules = "
        (role ann) (role bob) (side left) (side right) (init hiding)
        (<= (legal ann ?s) (true hiding) (side ?s))
        (<= (legal bob ?s) (not (true hiding)) (side ?s))
        (<= (legal bob wait) (true hiding))
        (<= (legal ann wait) (not (true hiding)))
        (<= (next (coin ?s)) (does ann ?s) (side ?s))
        (<= (next (coin ?s)) (true (coin ?s)))
        (<= (next (guess ?s)) (does bob ?s) (side ?s))
        (<= (sees bob noise) (does ann left))
        (<= over (true (guess ?s))) (<= terminal over)
        (<= right (true (guess ?s)) (true (coin ?s)))
        (<= (goal bob 100) right) (<= (goal bob 0) (not right))
        (<= (goal ann 0) right) (<= (goal ann 100) (not right))";
    place.write("coin.kif", rules);
    let json = place.json("export coin.kif --efg", &[]);
    assert_eq!(json["nodes"], 7);
    assert_eq!(json["information_sets"], serde_json::json!([1, 2]));
    let text = json["text"].as_str().unwrap();
    for label in ["did wait | saw noise", "did wait"] {
        assert!(
            text.contains(&format!("\"{label}\" {{ \"left\" \"right\" }}")),
            "{text}"
        );
    }
    let silent = rules.replace("(does ann left)", "(does ann wait)");
    place.write("coin.kif", &silent);
    let json = place.json("export coin.kif --efg", &[]);
    assert_eq!(json["information_sets"], serde_json::json!([1, 1]));
    let rules = format!("{silent} (<= (legal bob look) (true (coin right)))");
    place.write("coin.kif", rules);
    let parts = [
        "two matches look alike to bob",
        "after `left wait` they are left, right; after `right wait` they are left, right, look",
    ];
    place.check_failure("export coin.kif --efg", &[], "", 2, &parts);
}

#[test]
fn moves_that_are_not_legal_are_a_negative_answer() {
    let place = Workplace::new();
    let parts = ["ann may not play (take 5); legal: (take 1) (take 2)"];
    place.check_failure("next matches.kif --", &["(take 5)"], "", 1, &parts);
    let parts = [
        "move 2",
        "`(take 1) wait`",
        "ann may not play (take 1); legal: wait",
    ];
    let moves = ["(take 1); (take 1) wait"];
    place.check_failure("state matches.kif --moves", &moves, "", 1, &parts);
    let moves = ["(take 2); (take 2); (take 1); (take 1) wait"];
    let parts = ["move 4", "the game is over"];
    place.check_failure("state matches.kif --moves", &moves, "", 1, &parts);
}

#[test]
fn moves_that_make_no_sense_are_bad_input() {
    let place = Workplace::new();
    for (text, part) in [
        ("(tak 1)", "did you mean `take`?"),
        ("(take 1 2) wait", "never use `take` with 2 arguments"),
        ("(take 1", "`(take 1`: this is not a term such as"),
        ("(take ?x) wait", "is not one term"),
        ("(take 1) wait wait", "has 2 moves here, not 3"),
    ] {
        place.check_failure("next matches.kif --", &[text], "", 2, &[part]);
    }
    for more in [&[][..], &["--moves", " ; "]] {
        place.check_failure("next matches.kif", more, "", 2, &["--move MOVE or --moves"]);
    }
    // After the end, the number of moves does not matter.
    for more in ["(take 1)", "(take 1) wait", "(take 1) wait wait"] {
        let more = ["(take 2); (take 2); (take 1)", "--move", more];
        let part = "the game is over, so no move can be made";
        place.check_failure("next matches.kif --moves", &more, "", 1, &[part]);
    }
}

#[test]
fn histories_come_from_the_command_line_or_a_file() {
    let place = Workplace::new();
    let expected = "(left 1)\n(turn ann)\n; terminal false\n; ann none\n; bob none";
    let moves = "(take 2) wait; wait (take 2)";
    place.check("state matches.kif --moves", &[moves], "", 0, expected);
    place.write("moves.txt", "(take 2)\r\n\r\nwait (take 2)\n");
    place.check(
        "state matches.kif --moves-file moves.txt",
        &[],
        "",
        0,
        expected,
    );
    place.check("state matches.kif --moves-file -", &[], moves, 0, expected);
    place.check(
        "legal matches.kif --moves",
        &[moves, "--role", "ann"],
        "",
        0,
        "(take 1)",
    );
}

#[test]
fn states_come_from_a_file() {
    let place = Workplace::new();
    place.write(
        "state.txt",
        "; late\n(true (left 2))\n(TURN bob) (left 2)\n",
    );
    let expected = "ann wait\nbob (take 1)\nbob (take 2)";
    place.check("legal matches.kif --state state.txt", &[], "", 0, expected);
    let more = ["--moves", "(take 1)"];
    place.check(
        "state matches.kif --state state.txt",
        &more,
        "",
        0,
        "(left 1)\n(turn ann)\n; terminal false\n; ann none\n; bob none",
    );
    let facts = place.run("state matches.kif").out;
    place.check(
        "state matches.kif --state -",
        &[],
        &facts,
        0,
        facts.trim_end(),
    );
}

#[test]
fn states_that_make_no_sense_are_bad_input_with_their_place() {
    let place = Workplace::new();
    for (text, part) in [
        (
            "(left 2)\n (lef 3)",
            "<stdin>:2:2: not a fact of the game: the rules have no name `lef`",
        ),
        ("(left 2", "<stdin>:1:1"),
        ("(left ?x)", "<stdin>:1:1: not a fact"),
        ("(left 2 3)", "never use `left` with 2 arguments"),
        ("(turn ann)", "has no legal move"),
        (
            "(role ann)",
            "no rule makes or reads `(role ann)` as a fact of a state",
        ),
        ("ann", "no rule makes or reads `ann` as a fact of a state"),
    ] {
        place.check_failure("legal matches.kif --state -", &[], text, 2, &[part]);
    }
    let parts = ["cannot open nowhere.txt"];
    place.check_failure("legal matches.kif --state nowhere.txt", &[], "", 2, &parts);
}

#[test]
fn wrong_goals_are_failures_with_state_and_rules() {
    let place = Workplace::new();
    for (text, shown, part) in [
        ("none", "me none", "me has no goal value"),
        ("two", "me 1 2", "me has several goal values: 1, 2"),
        (
            "much",
            "me 101",
            "me has the goal value 101, not an integer from 0 to 100",
        ),
    ] {
        let found = place.run(&format!("state faulty.kif --quiet --moves {text}"));
        assert_eq!(found.code, Some(2), "{found:#?}");
        let expected = format!("(done {text})\n; terminal true\n; {shown}\n");
        assert_eq!(found.out, expected);
        assert!(found.err.contains(part), "{found:#?}");
        let state = format!("in the state: (done {text})");
        assert!(found.err.contains(&state), "{found:#?}");
        assert!(
            found.err.contains("rules concerned: faulty.kif:"),
            "{found:#?}"
        );
    }
    let parts = ["me has no legal move", "faulty.kif:4:5"];
    place.check_failure("legal faulty.kif -q --moves stuck", &[], "", 2, &parts);
}

#[test]
fn info_sums_up_the_rules() {
    let place = Workplace::new();
    let found = place.run("info matches.kif --relations");
    assert_eq!(found.code, Some(0), "{found:#?}");
    for part in [
        "2 (ann, bob)",
        "legal moves: ann 2, bob 1",
        "minus/3",
        "the moves",
    ] {
        assert!(found.out.contains(part), "{part} is not in\n{}", found.out);
    }
    let json = place.json("info matches.kif", &[]);
    assert_eq!(json["name"], "matches");
    assert_eq!(json["initial"]["legal"], serde_json::json!([2, 1]));
    let relations = json["relations"].as_array().unwrap();
    let depends = |name: &str| {
        let relation = relations.iter().find(|relation| relation["name"] == name);
        relation.unwrap()["depends_on"].clone()
    };
    assert_eq!(depends("minus"), "nothing");
    assert_eq!(depends("legal"), "state");
    assert_eq!(depends("next"), "moves");
    assert!(json["findings"].is_array());
}

#[test]
fn backends_give_the_same_answers() {
    let place = Workplace::new();
    for line in [
        "state matches.kif",
        "legal lights.kif",
        "engine perft matches.kif 9",
        "playout lights.kif",
    ] {
        let naive = place.run(&format!("{line} --backend naive"));
        assert_eq!(naive.code, Some(0), "{naive:#?}");
        for backend in ["auto", "mixed", "datalog"] {
            let other = place.run(&format!("{line} --backend {backend}"));
            assert_eq!(other.out, naive.out, "{line} {backend}");
        }
    }
}

#[test]
fn why_says_what_holds_and_what_is_missed() {
    let place = Workplace::new();
    let expected = "\
(legal ann (take 2))  holds: rule at matches.kif:7:5 with ?r = ann, ?k = 2, ?n = 5, ?m = 3
├─ ✓ (true (turn ann))  in the state
├─ ✓ (true (left 5))  in the state
└─ ✓ (minus 5 2 3)  stated at matches.kif:5:5";
    let arguments = ["(legal ann (take 2))"];
    place.check("why matches.kif", &arguments, "", 0, expected);
    let expected = "\
(legal bob (take 2))  does not hold
└─ rule at matches.kif:7:5
   ├─ ✗ (true (turn bob))  not in the state; similar: (true (turn ann))
   ├─ ✓ (true (left 5))
   └─ ✓ (minus 5 2 3)";
    place.check(
        "why matches.kif",
        &["(legal bob (take 2))"],
        "",
        1,
        expected,
    );
    let json = place.json(
        "why matches.kif --does",
        &["(take 1) wait", "(next (left 4))"],
    );
    assert_eq!(json[0]["mark"], "holds");
    assert_eq!(json[0]["place"]["line"], 9);
    assert_eq!(json[0]["because"][1]["text"], "(does ann (take 1))");
}

#[test]
fn why_follows_a_fact_over_the_moves() {
    let place = Workplace::new();
    let arguments = ["(take 1); (take 1)", "--history", "(turn ann)"];
    let expected = "\
(true (turn ann))  over the moves:
├─ true initially
│  └─ ✓ (init (turn ann))  stated at matches.kif:3:21
├─ no longer true after move 1
│  └─ ✗ (next (turn ann))
│     └─ rule at matches.kif:10:5
│        ├─ ✗ (true (turn bob))  not in the state; similar: (true (turn ann))
│        └─ ✓ (other bob ann)
└─ became true after move 2
   └─ ✓ (next (turn ann))  rule at matches.kif:10:5 with ?s = ann, ?r = bob
      ├─ ✓ (true (turn bob))  in the state
      └─ ✓ (other bob ann)  stated at matches.kif:6:21";
    place.check("why matches.kif --moves", &arguments, "", 0, expected);
}

#[test]
fn a_fact_has_a_history_without_rules_for_it() {
    let place = Workplace::new();
    let rules = "(role r) (legal r stay) (<= terminal (not (true begun))) (goal r 100)";
    let expected = "(true begun)  was never true\n└─ ✗ (true begun)  not in the state";
    place.check("why - --history", &["begun"], rules, 1, expected);
}

#[test]
fn why_answers_several_questions() {
    let place = Workplace::new();
    let expected = "\
(true (left 5))  holds: in the state

(true (left 4))  does not hold: not in the state; similar: (true (left 5))";
    for questions in [&["(left 5)", "(left 4)"][..], &["(left 5); (left 4)"]] {
        place.check("why matches.kif", questions, "", 1, expected);
        let json = place.json("why matches.kif", questions);
        assert_eq!(json[0]["question"], "(left 5)");
        assert_eq!(json[0]["holds"], true);
        assert_eq!(json[1]["holds"], false);
        assert_eq!(json[1]["trees"][0]["mark"], "fails");
    }
    // One that cannot be answered does not lose the others.
    let found = place.run_with("why matches.kif", &["(left 5)", "(lfet 4)", "(minus 1"], "");
    assert_eq!(found.code, Some(2), "{found:#?}");
    assert!(
        found.out.starts_with("(true (left 5))  holds"),
        "{}",
        found.out
    );
    for told in ["`(lfet 4)`", "`(minus 1`"] {
        assert!(found.err.contains(told), "{}", found.err);
    }
    let moves = ["(take 1)", "(left 5)"];
    let expected = "\
(true (left 5))  does not hold: not in the state, it was true until move 1 (--history); similar: (true (left 4))";
    place.check("why matches.kif --moves", &moves, "", 1, expected);
}

#[test]
fn why_refuses_what_is_no_question() {
    let place = Workplace::new();
    for (arguments, parts) in [
        (&[][..], "give the rules and then a fact"),
        (&["goal"], "write `(goal ?1 ?2)`"),
        (&["(left 3 4)"], "write `(left ?1)`"),
        (&["(left thirteen)"], "the rules have no name `thirteen`"),
        (&["(legal ann"], "is not one fact"),
        (&[""], "the question is empty"),
        (
            &["-o", "reason.pdf", "terminal"],
            "must end in .txt, .json or .html, not .pdf",
        ),
        (&["?x"], "matches anything"),
        (&["legal", "ann", "(take 2)"], "each fact in quotes"),
        (
            &["there.kif", "matches.kif", "terminal"],
            "there is no file there.kif",
        ),
        (
            &["--moves", "(take 3)", "terminal"],
            "ann may not play (take 3)",
        ),
        (&["(legal eve ?m)"], "the rules have no name `eve`"),
        (&["(next (left 4))"], "depends on the moves made"),
        (
            &["--history", "terminal"],
            "only facts of the state have a history",
        ),
        (
            &["--max-instances", "1", "(legal ann ?m)"],
            "--max-instances",
        ),
    ] {
        place.check_failure("why matches.kif", arguments, "", 2, &[parts]);
    }
}

#[test]
fn the_name_of_the_output_says_how_why_is_written() {
    let place = Workplace::new();
    for (name, format, beginning) in [
        ("a.html", &[][..], "<!doctype html>"),
        ("a.json", &[], "["),
        ("a.txt", &[], "terminal  does not hold"),
        ("b.json", &["--format", "text"], "terminal  does not hold"),
    ] {
        let arguments = [&["-o", name], format, &["terminal"]].concat();
        let found = place.run_with("why matches.kif", &arguments, "");
        assert_eq!(found.code, Some(1), "{found:#?}");
        let text = std::fs::read_to_string(place.folder().join(name)).unwrap();
        assert!(text.starts_with(beginning), "{name}: {text}");
    }
}

#[test]
fn names_of_rules_are_data_in_a_page() {
    let place = Workplace::new();
    place.write("odd.kif", LIGHTS.replace("me", "<script>"));
    let arguments = ["(legal <script> (press 1))"];
    let found = place.run_with("why odd.kif --format html", &arguments, "");
    assert!(found.out.contains("&lt;script&gt;") && !found.out.contains("<script>"));
}
