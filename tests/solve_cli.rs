//! The commands `ggp solve` and `ggp graph`.

use std::path::PathBuf;

use crate::common::ggp;
use serde_json::Value;

/// Runs a command, and compares its exit code and standard output.
fn check(arguments: &[&str], code: i32, expected: &str) {
    let output = ggp(arguments);
    assert_eq!(text(&output.stdout), expected, "{arguments:?}");
    assert_eq!(output.status.code(), Some(code), "{arguments:?}");
}

fn json(arguments: &[&str], code: i32) -> Value {
    let output = ggp(arguments);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}");
    serde_json::from_slice(&output.stdout).expect("one JSON value")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("the output is UTF-8")
}

/// A path of its own under the build folder.
fn scratch(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_file(&path);
    path
}

const LIGHTS: &str = "games/buttons_and_lights.kif";

#[test]
fn all_shortest_plans_are_printed() {
    check(&["solve", LIGHTS, "--all"], 0, "a b a c b a\na b c a b a\n");
    let told = text(&ggp(&["solve", LIGHTS, "--all"]).stderr);
    assert!(told.contains("solved in 6 moves, and not in fewer; all 2 shortest plans"));
    check(
        &[
            "solve",
            LIGHTS,
            "--all",
            "--max-plans",
            "1",
            "--method",
            "iterative-deepening",
        ],
        0,
        "a b a c b a\n",
    );
}

#[test]
fn the_verdicts_have_names_and_exit_codes() {
    let verdict = |arguments: &[&str], code| {
        let value = json(&[&["solve", LIGHTS, "--json"], arguments].concat(), code);
        value["verdict"].as_str().map(str::to_owned)
    };
    assert_eq!(verdict(&[], 0).as_deref(), Some("solved"));
    let from_late = ["--moves", "b; b"];
    assert_eq!(verdict(&from_late, 1).as_deref(), Some("unsolvable"));
    let shallow = ["--depth", "5"];
    assert_eq!(verdict(&shallow, 1).as_deref(), Some("no_solution_within"));
    let poor = ["--budget-nodes", "2"];
    assert_eq!(verdict(&poor, 1).as_deref(), Some("out_of_budget"));
    assert_eq!(ggp(&["solve", "no_such_file.kif"]).status.code(), Some(2));
    let goofy = ggp(&[
        "solve",
        "games/tic_tac_toe.kif",
        "--method",
        "breadth-first",
    ]);
    assert_eq!(goofy.status.code(), Some(2));
    assert!(text(&goofy.stderr).contains("one role"));
}

#[test]
fn json_has_plans_statistics_and_findings() {
    let value = json(&["solve", LIGHTS, "--json", "--all"], 0);
    assert_eq!(value["length"], 6);
    assert_eq!(value["optimal"], true);
    assert_eq!(value["coverage"], "all");
    assert_eq!(value["checked_by"], "naive");
    assert_eq!(value["plans"].as_array().map(Vec::len), Some(2));
    assert_eq!(value["plans"][0][3], "c");
    assert_eq!(value["statistics"]["total"]["nodes"], 7);
    assert_eq!(value["statistics"]["levels"][3]["generated"], 2);
    assert_eq!(value["findings"][0]["harmless"], true);
    assert_eq!(value["findings"][0]["ends_at"], 6);
}

#[test]
fn statistics_come_as_a_table_and_as_csv() {
    let output = ggp(&[
        "solve",
        LIGHTS,
        "--method",
        "breadth-first",
        "--stats",
        "csv",
        "--quiet",
    ]);
    let lines: Vec<String> = text(&output.stdout).lines().map(str::to_owned).collect();
    assert!(lines[2].starts_with("depth,compared,nodes,arcs,generated,"));
    assert!(lines[6].starts_with("3,stripped,1,3,2,1,0,0,2,"));
    assert!(output.stderr.is_empty());
    let path = scratch("lights_stats.csv");
    let file = path.to_str().expect("a path of ours");
    let solve = ["solve", LIGHTS, "--method", "bidirectional"];
    let solve = [&solve[..], &["--stats-file", file]].concat();
    check(&solve, 0, "a b c a b a\n");
    let csv = std::fs::read_to_string(&path).expect("the file was written");
    assert_eq!(csv.lines().count(), 7);
    let table = text(&ggp(&["solve", LIGHTS, "--stats", "table"]).stdout);
    assert!(
        table
            .lines()
            .any(|line| line.trim_start().starts_with("depth  compared"))
    );
    assert!(table.lines().any(|line| line.starts_with(" total")));
}

#[test]
fn counts_up_to_symmetry_are_said_to_be() {
    let levels = [
        "solve",
        "games/eight_puzzle.kif",
        "--method",
        "breadth-first-packed",
    ];
    let told = |more: &[&str]| json(&[&levels[..], &["--json"], more].concat(), 0);
    let first = told(&[]);
    assert_eq!(
        (&first["length"], &first["symmetries"]),
        (&20.into(), &2.into())
    );
    assert_eq!(first["all_seen"], false);
    assert_eq!(first["statistics"]["levels"][3]["compared"], "symmetric");
    let all = told(&["--whole"]);
    assert_eq!(all["all_seen"], true);
    assert!(all.get("symmetries").is_none());
    assert_eq!(all["statistics"]["total"]["generated"], 181_440);
    let whole = text(&ggp(&[&levels[..], &["--whole"]].concat()).stderr);
    assert!(whole.contains("all 181440 positions were seen"), "{whole}");
    let last = whole.lines().last().expect("it has lines");
    let rate = last.split_once(" positions a second, ");
    let (rate, bytes) = rate.expect("it says how fast it was");
    assert!(
        rate.starts_with(|first: char| first.is_ascii_digit()),
        "{last}"
    );
    assert!(bytes.ends_with(" bytes of memory for each"), "{last}");
    let lights = [
        "solve",
        "games/buttons_and_lights.kif",
        "--method",
        "breadth-first-packed",
    ];
    let whole = text(&ggp(&[&lights[..], &["--whole"]].concat()).stderr);
    let partial = "all 8 positions were seen, without counters and facts that decide nothing";
    assert!(whole.contains(partial), "{whole}");
    let classes = [&levels[..], &["--whole", "--symmetry", "on"]].concat();
    let whole = text(&ggp(&classes).stderr);
    assert!(whole.contains(" up to 2 symmetries"), "{whole}");
    let poor = [&levels[..], &["--whole", "--budget-nodes", "100000"]].concat();
    let poor = text(&ggp(&poor).stderr);
    assert!(
        poor.contains("not all positions were seen: the limit on positions"),
        "{poor}"
    );
}

#[test]
fn each_puzzle_has_a_row() {
    let path = scratch("puzzles.txt");
    let puzzles = "[[1,2,2],[2,3,1],[1,3,2]]\n\n11/11\n[[1,2,1],[2,2,1],[3,1,2]]\n";
    std::fs::write(&path, puzzles).expect("the build folder can be written");
    let file = path.to_str().expect("a path of ours");
    for threads in ["1", "2"] {
        let arguments = [
            "solve",
            "games/hitori.kif",
            "--each",
            file,
            "--threads",
            threads,
        ];
        let value = json(&[&arguments[..], &["--json"]].concat(), 1);
        let rows = value["puzzles"].as_array().expect("a list");
        let verdicts: Vec<_> = rows.iter().map(|row| row["verdict"].as_str()).collect();
        assert_eq!(
            verdicts,
            [Some("solved"), Some("unsolvable"), Some("solved")]
        );
        assert_eq!(rows[0]["length"], 9);
        assert_eq!(value["total"]["solved"], 2);
        let output = ggp(&arguments);
        let lines = text(&output.stdout);
        assert_eq!(lines.lines().count(), 5);
        assert!(
            lines
                .lines()
                .last()
                .is_some_and(|l| l.contains("2 of 3 solved"))
        );
    }
}

#[test]
fn rules_from_standard_input_are_read_once_for_all_puzzles() {
    let path = scratch("puzzles_for_input.txt");
    std::fs::write(&path, "122/231/132\n11/11\n121/221/312\n").unwrap();
    let folder = env!("CARGO_MANIFEST_DIR");
    let rules = std::fs::File::open(format!("{folder}/games/hitori.kif")).unwrap();
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_ggp"))
        .args(["solve", "-", "--each", path.to_str().unwrap()])
        .stdin(rules)
        .output()
        .unwrap();
    let lines = text(&output.stdout);
    assert!(lines.contains("2 of 3 solved"), "{lines}");
}

#[test]
fn each_game_of_a_suite_has_a_row() {
    let games = [
        "solve",
        "--suite",
        LIGHTS,
        "games/tic_tac_toe.kif",
        "games/wolf_goat_cabbage.kif",
        "--roles",
        "1",
    ];
    let value = json(
        &[&games[..], &["--json", "--method", "breadth-first"]].concat(),
        0,
    );
    let rows = value["puzzles"].as_array().expect("a list");
    let known: Vec<_> = rows
        .iter()
        .map(|row| (row["game"].as_str().unwrap_or(""), row["length"].as_u64()))
        .collect();
    assert_eq!(
        known,
        [
            ("buttons_and_lights", Some(6)),
            ("wolf_goat_cabbage", Some(7))
        ]
    );
    assert!(rows.iter().all(|row| row["optimal"] == true));
    let output = ggp(&games);
    let lines = text(&output.stdout);
    assert!(
        lines
            .lines()
            .last()
            .is_some_and(|l| l.contains("2 of 2 solved"))
    );
}

#[test]
fn a_suite_says_which_games_have_several_roles() {
    let games = ["solve", "--suite", LIGHTS, "games/tic_tac_toe.kif"];
    let value = json(&[&games[..], &["--json"]].concat(), 0);
    let verdict = |row: usize| &value["puzzles"][row]["verdict"];
    assert_eq!(
        (verdict(0), verdict(1)),
        (&"solved".into(), &"several_roles".into())
    );
    assert_eq!(value["total"]["several_roles"], 1);
    let output = ggp(&games);
    assert_eq!(output.status.code(), Some(0));
    let out = text(&output.stdout);
    assert!(out.contains("1 of 2 solved, 1 of several roles"), "{out}");
    assert!(out.contains("  several roles  "), "{out}");
}

#[test]
fn a_suite_tells_rules_without_a_board_and_says_where_others_are_wrong() {
    let wrong = scratch("wrong.kif");
    std::fs::write(&wrong, "(role me)\n(legal me a)\n(<= (next ?x) terminal)\n").unwrap();
    let games = [
        "solve",
        "--suite",
        "games/lights_out.kif",
        wrong.to_str().unwrap(),
    ];
    let output = ggp(&games);
    assert_eq!(output.status.code(), Some(2));
    let out = text(&output.stdout);
    assert!(
        out.contains("0 of 2 solved, 1 with incomplete rules"),
        "{out}"
    );
    assert!(
        out.contains("wrong.kif:3:11: variable ?x is not bound"),
        "{out}"
    );
    assert!(text(&output.stderr).contains("wrong.kif:3:11: variable ?x is not bound"));
}

#[test]
fn what_would_have_no_effect_is_refused() {
    let board = scratch("no_effect.txt");
    std::fs::write(&board, "11/11\n").unwrap();
    let each = ["--each", board.to_str().unwrap()];
    for (flags, says) in [
        (&["--all"][..], "--all"),
        (&["--stats", "csv"], "--stats"),
        (&["--goal", "best"], "one puzzle"),
    ] {
        let output = ggp(&[&["solve", "games/hitori.kif"], &each[..], flags].concat());
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{flags:?}");
        assert!(told.contains(says), "{flags:?}: {told}");
    }
    for (flags, says) in [
        (
            &["--method", "breadth-first-packed", "--prune", "none"][..],
            "one of: iterative-deepening",
        ),
        (&["--prune", "deadleaf"], "one of: iterative-deepening"),
        (
            &["--method", "depth-first-packed", "--keys", "exact"],
            "has no effect with --method depth-first-packed",
        ),
        (&["--method", "depth-first", "--scoring", "length"], "nrpa"),
        (&["--max-plans", "3"], "--all"),
        (&["--count", "1", "--goal", "best"], "--goal best"),
        (&["--count", "1", "--stats", "csv"], "--stats"),
    ] {
        let output = ggp(&[&["solve", LIGHTS], flags].concat());
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{flags:?}");
        assert!(
            told.contains(says) && output.stdout.is_empty(),
            "{flags:?}: {told}"
        );
    }
    std::fs::write(&board, "# nothing\n").unwrap();
    let output = ggp(&[&["solve", "games/hitori.kif"], &each[..]].concat());
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("the file contains no puzzle"));
}

#[test]
fn the_most_that_can_be_had_may_be_nothing() {
    let file = scratch("poor.kif");
    let rules = "(role r) (init (at 1)) (after 1 2) (after 2 3)
        (<= (legal r on) (true (at ?x)))
        (<= (next (at ?y)) (true (at ?x)) (after ?x ?y))
        (<= terminal (true (at 3)))
        (<= (goal r 0) (true (at ?x)))
        (<= (goal r 50) (true (at 9))) (init (at 8)) (after 8 7) (after 7 6)";
    std::fs::write(&file, rules).unwrap();
    let solve = ["solve", file.to_str().unwrap(), "--goal", "best"];
    let value = json(&[&solve[..], &["--json"]].concat(), 0);
    assert_eq!(
        (&value["verdict"], &value["length"]),
        (&"solved".into(), &2.into())
    );
    assert_eq!((&value["target"], &value["bound"]), (&0.into(), &0.into()));
    let output = ggp(&solve);
    let told = text(&output.stderr);
    assert_eq!(text(&output.stdout), "on on\n");
    assert!(
        told.contains("with 0 points, the highest possible score, in 2 moves"),
        "{told}"
    );
}

#[test]
fn solutions_are_counted_only_where_facts_are_written_once() {
    // Lamps that are switched on and off again.
    let output = ggp(&["solve", LIGHTS, "--count", "2"]);
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("--count does not apply"), "{told}");
}

#[test]
fn what_is_worth_nothing_is_not_said_to_be_worth_100() {
    let file = scratch("worthless.kif");
    let rules = "(role r) (init (at 1)) (after 1 2) (after 2 3)
        (<= (legal r on) (true (at ?x)))
        (<= (next (at ?y)) (true (at ?x)) (after ?x ?y))
        (<= terminal (true (at 3)))
        (<= (goal r 0) (true (at ?x)) (not terminal))";
    std::fs::write(&file, rules).unwrap();
    let output = ggp(&["solve", file.to_str().unwrap(), "--goal", "best", "--quiet"]);
    assert_eq!(
        text(&output.stdout),
        "no end with a score above 0 can be reached\n"
    );
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn games_are_known_by_their_rules_and_not_by_their_names() {
    let table = scratch("known.csv");
    let known = |rules: &str| {
        let row = format!("buttons_and_lights,unsolvable,,,x,y,{rules}");
        let text = format!("game,known,moves,proved,settled_by,source,rules\n{row}\n");
        std::fs::write(&table, text).unwrap();
        let file = table.to_str().unwrap();
        ["solve", "--suite", LIGHTS, "--reference", file, "--json"].map(str::to_owned)
    };
    let run = |arguments: &[String], code| {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        json(&arguments, code)
    };
    let other = run(&known("00"), 0);
    let row = &other["puzzles"][0];
    assert_eq!(
        (&row["other_rules"], &row["known"]),
        (&true.into(), &Value::Null)
    );
    let digest = row["rules"].as_str().expect("it has rules").to_owned();
    let same = run(&known(&digest[..16]), 1);
    assert!(same["puzzles"][0]["contradiction"].is_string(), "{same}");
    assert!(same["puzzles"][0]["other_rules"].is_null());
}

#[test]
fn counting_says_what_was_counted_and_who_checked() {
    let sudoku = [
        "solve",
        "games/sudoku.kif",
        "games/instances/sudoku_4x4.kif",
        "--count",
        "2",
    ];
    let value = json(&[&sudoku[..], &["--json"]].concat(), 0);
    assert_eq!(
        (&value["solutions"], &value["complete"]),
        (&1.into(), &true.into())
    );
    assert_eq!(
        (&value["target"], &value["checked_by"]),
        (&100.into(), &"naive".into())
    );
    let file = scratch("counted.json");
    let answer = ["--answer", file.to_str().unwrap(), "--budget-time", "5"];
    let told = text(&ggp(&[&sudoku[..], &answer].concat()).stderr);
    assert!(told.contains("looking for a proof"), "{told}");
}

#[test]
fn making_rules_ready_is_part_of_the_time() {
    let output = ggp(&["solve", LIGHTS, "--budget-time", "0"]);
    let told = text(&output.stderr);
    assert!(
        told.contains("the time limit was reached before the rules were ready"),
        "{told}"
    );
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("not solved: the time limit was reached"));
}

#[test]
fn games_without_a_plan_are_refused_at_once() {
    let options: [&[&str]; 8] = [
        &[],
        &["--json"],
        &["--optimal"],
        &["--all"],
        &["--depth", "3"],
        &["--method", "mcts"],
        &["--goal", "best"],
        &["--count", "2"],
    ];
    for (game, part) in [
        ("games/rock_paper_scissors.kif", "this one has 2 roles"),
        ("games/chess.kif", "this one has 2 roles"),
        ("games/krieg_tic_tac_toe.kif", "this one has 2 roles"),
        ("games/monty_hall.kif", "without chance"),
    ] {
        for options in options {
            let output = ggp(&[&["solve", game][..], options].concat());
            let message = text(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{message}");
            assert!(output.stdout.is_empty());
            assert!(message.contains(part), "{message}");
            assert!(
                message.contains("`ggp prove`") && message.contains("`ggp play`"),
                "{message}"
            );
            let is_hidden = game.contains("krieg");
            assert_eq!(message.contains("export --efg"), is_hidden, "{message}");
        }
    }
}

#[test]
fn the_graph_is_drawn_with_a_rank_for_each_step() {
    let dot = text(&ggp(&["graph", LIGHTS]).stdout);
    assert_eq!(dot.matches(" -> ").count(), 21);
    assert_eq!(dot.matches("rank=same").count(), 7);
    assert_eq!(dot.matches("peripheries=2").count(), 1);
    assert!(dot.contains("n0 -> n1 [label=\"a\"];"));
    assert!(dot.contains("n0 [label=\"(light p off)\\n(light q off)\\n(light r off)\"];"));
    let numbers = text(&ggp(&["graph", LIGHTS, "--labels", "numbers"]).stdout);
    assert!(numbers.contains("n7 [label=\"7\", peripheries=2];"));
}

#[test]
fn the_graph_has_as_many_nodes_as_are_told_apart() {
    let nodes = |arguments: &[&str]| {
        let value = json(
            &[&["graph", LIGHTS, "--format", "json"], arguments].concat(),
            0,
        );
        let count = |name: &str| value[name].as_array().map_or(0, Vec::len);
        (count("nodes"), count("arcs"), value["levels"].to_string())
    };
    let levels = |text: &str| text.to_owned();
    assert_eq!(nodes(&[]), (8, 21, levels("[1,1,1,2,1,1,1]")));
    assert_eq!(nodes(&["--exact"]), (32, 72, levels("[1,2,3,5,6,7,8]")));
    assert_eq!(nodes(&["--exact", "--depth", "2"]).2, "[1,2,3]");
    assert_eq!(nodes(&["--tree"]).0, 1_093);
    assert_eq!(nodes(&["--prune", "cycle,deadleaf"]).0, 8);
    assert_eq!(
        nodes(&["--exact", "--prune", "deadleaf"]).2,
        "[1,1,1,2,1,1,1]"
    );
}

#[test]
fn a_graph_can_be_written_to_a_file() {
    let path = scratch("lights.dot");
    let file = path.to_str().expect("a path of ours");
    check(&["graph", LIGHTS, "--output", file], 0, "");
    let written = std::fs::read_to_string(&path).expect("the file was written");
    assert!(written.starts_with("digraph \"buttons_and_lights\" {"));
}

#[test]
fn a_plan_is_drawn_as_a_film() {
    let path = scratch("plan.svg");
    let file = path.to_str().expect("a plain path");
    let solved = ggp(&["solve", LIGHTS, "--animate", file]);
    assert_eq!(solved.status.code(), Some(0), "{solved:?}");
    let film = std::fs::read_to_string(&path).expect("it was written");
    let plan = text(&solved.stdout);
    let moves: Vec<&str> = plan.split_whitespace().collect();
    assert!(
        film.contains(&format!(">0 of {} moves<", moves.len())),
        "{film}"
    );
    for (number, chosen) in moves.iter().enumerate() {
        let caption = format!(">{} of {}: {chosen}<", number + 1, moves.len());
        assert_eq!(film.matches(&caption).count(), 1, "{caption}");
    }
    // The last position is seen where nothing moves; what never changes is there once.
    let last = format!(
        ".f{}-{}{{visibility:visible}}",
        moves.len(),
        moves.len() + 1
    );
    assert!(film.contains(&last) && film.contains("prefers-reduced-motion:no-preference"));
    assert_eq!(film.matches("<g").count(), film.matches("</g>").count());
    let frames = film.matches("@keyframes").count();
    assert!(frames > moves.len() && !film.contains(&format!("kf0-{}{{", moves.len() + 1)));

    let told = |arguments: &[&str]| {
        let output = ggp(arguments);
        (output.status.code(), text(&output.stderr))
    };
    let (code, said) = told(&["solve", LIGHTS, "--animate", "plan.png"]);
    assert!(
        code == Some(2) && said.contains("must end in .svg"),
        "{said}"
    );
    let (code, said) = told(&["solve", "games/nim.kif", "--animate", file]);
    assert!(
        code == Some(2) && said.contains("a game with one role"),
        "{said}"
    );
    let none = scratch("none.svg");
    let file = none.to_str().expect("a plain path");
    let (code, said) = told(&["solve", LIGHTS, "--depth", "3", "--animate", file]);
    assert!(
        code == Some(1) && said.contains("there is no plan to draw"),
        "{said}"
    );
    assert!(!none.exists());
}

#[test]
fn a_plan_of_one_move_is_a_shortest_one() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("own.kif");
    let rules = "(role r) (init (p a)) (init (q a))
        (<= (legal r x) (true (p a))) (<= (legal r y) (true (q a)))
        (<= (next (p b)) (does r x)) (<= (next (p ?v)) (true (p ?v)) (not (does r x)))
        (<= (next (q b)) (does r y)) (<= (next (q ?v)) (true (q ?v)) (not (does r y)))
        (<= terminal (true (p b))) (<= terminal (true (q b)))
        (<= (goal r 100) (true (p b))) (<= (goal r 0) (not (true (p b))))";
    std::fs::write(&file, rules).unwrap();
    for method in [
        "auto",
        "greedy",
        "depth-first",
        "nrpa",
        "depth-first-packed",
    ] {
        let arguments = [
            "solve",
            file.to_str().unwrap(),
            "--method",
            method,
            "--json",
        ];
        let output = ggp(&arguments);
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(answer["optimal"], true, "{method}: {answer}");
    }
}
