use super::workplace::Workplace;

#[test]
fn good_rules_are_ok() {
    let place = Workplace::new();
    let expected = "ok: 2 roles, 10 relations, 15 facts, 7 rules";
    place.check("check matches.kif", &[], "", 0, expected);
    let json = place.json("check matches.kif", &[]);
    assert_eq!(json["ok"], true);
    assert_eq!(json["errors"], 0);
    assert_eq!(json["game"]["roles"], serde_json::json!(["ann", "bob"]));
}

#[test]
fn several_files_are_one_rule_set() {
    let place = Workplace::new();
    place.write("roles.kif", "(role ann) (role bob)");
    let rest = super::workplace::MATCHES.replace("(role ann) (role bob)", "");
    place.write("rest.kif", rest);
    let expected = "ok: 2 files as one rule set, 2 roles, 10 relations, 15 facts, 7 rules";
    place.check("check roles.kif rest.kif", &[], "", 0, expected);
    let found = place.run("check rest.kif");
    assert_eq!(found.code, Some(2));
    assert!(found.out.contains("error[G111]"), "{}", found.out);
}

#[test]
fn all_findings_are_printed_with_their_place() {
    let place = Workplace::new();
    place.write("bad.kif", "(role a)\n(<= (legal a ?x) (p))\n");
    let found = place.run("check bad.kif");
    assert_eq!(found.code, Some(2));
    for part in [
        "error[G102]",
        "error[G113]",
        "warning[W202]",
        "bad.kif:2:14",
        "errors, ",
    ] {
        assert!(found.out.contains(part), "{part} is not in\n{}", found.out);
    }
    assert_eq!(found.err, "");
    let json = place.json("check bad.kif", &[]);
    assert_eq!(json["ok"], false);
    assert_eq!(json["game"], serde_json::Value::Null);
    let places = json["findings"].as_array().unwrap().iter();
    assert!(
        places
            .clone()
            .any(|f| f["code"] == "G102" && f["place"]["line"] == 2)
    );
}

#[test]
fn strict_reading_makes_sloppy_rules_errors() {
    let place = Workplace::new();
    let sloppy = format!("{} (<= (goal bob 7) (nowhere))", super::workplace::MATCHES);
    place.write("sloppy.kif", sloppy);
    let tolerant = place.run("check sloppy.kif");
    assert_eq!(tolerant.code, Some(0), "{tolerant:#?}");
    assert!(tolerant.out.contains("ok, 1 warning: "), "{}", tolerant.out);
    assert_eq!(place.run("check --strict sloppy.kif").code, Some(2));
}

#[test]
fn letter_case_matters_if_asked() {
    let place = Workplace::new();
    place.write(
        "case.kif",
        super::workplace::LIGHTS.replace("(light 2)", "(Light 2)"),
    );
    assert_eq!(place.run("legal case.kif").out.lines().count(), 2);
    let kept = place.run("legal --case-sensitive case.kif");
    assert_eq!(kept.out.lines().count(), 1, "{kept:#?}");
    // What is printed can be given back.
    place.write(
        "upper.kif",
        super::workplace::LIGHTS
            .replace("press", "Press")
            .replace("(on ", "(On "),
    );
    let legal = "me (Press 1)\nme (Press 2)";
    place.check("legal --case-sensitive upper.kif", &[], "", 0, legal);
    let line = "next --case-sensitive upper.kif --move";
    place.check(line, &["(Press 2)"], "", 0, "(On 1)\n(On 2)");
    let illegal = place.run_with(line, &["(Press me)"], "");
    assert!(illegal.err.contains("(Press 1)"), "{illegal:#?}");
}

#[test]
fn findings_without_a_place_come_last() {
    let place = Workplace::new();
    place.write("half.kif", "(init (on 1))\n(<= (legal a ?x) (p))\n");
    let json = place.json("check half.kif", &[]);
    let codes = json["findings"].as_array().unwrap().iter();
    let codes: Vec<&str> = codes.map(|f| f["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["G102", "W202", "G111", "G113", "G114"]);
}

#[test]
fn what_a_grid_would_say_is_told_with_its_option() {
    let place = Workplace::new();
    let rules = format!(
        "{} (<= (goal ann 7) (grid_row ?x))",
        super::workplace::MATCHES
    );
    place.write("board.kif", rules);
    let found = place.run("check board.kif");
    assert!(found.out.contains("--grid FILE"), "{}", found.out);
    place.write("board.txt", "xx");
    let found = place.run("check board.kif --grid board.txt");
    assert!(!found.out.contains("--grid"), "{}", found.out);
}

#[test]
fn other_commands_print_errors_whole_and_count_warnings() {
    const LINES: &[&str] = &[
        "draw FILE",
        "export FILE --efg",
        "graph FILE --depth 1 --format dot",
        "host FILE --player random --player random --start-clock 1 --play-clock 1",
        "info FILE",
        "learn FILE --games 10 -o values.json",
        "legal FILE",
        "next FILE --move (take",
        "engine perft FILE 1",
        "play FILE --roles random,random",
        "playout FILE",
        "prove FILE",
        "solve FILE",
        "state FILE",
        "tabulate FILE -o values.table",
        "tournament --games FILE --player random --player first --rounds 1",
        "verify FILE answer.json",
        "why FILE terminal",
    ];
    let place = Workplace::new();
    let sloppy = format!(
        "{} (<= (goal bob 7) (nowhere)) (unused 1)",
        super::workplace::MATCHES
    );
    place.write("sloppy.kif", &sloppy);
    place.write("bad.kif", format!("{sloppy} (<= (legal ann ?x) (p))"));
    place.write("answer.json", "{}");
    for command in super::help::commands() {
        if ["rules", "engine"].contains(&command) {
            continue;
        }
        let help = place.run(&format!("{command} --help")).out;
        let has_line = LINES
            .iter()
            .any(|line| line.starts_with(&format!("{command} ")));
        assert_eq!(
            has_line || command == "check",
            help.contains("--strict") || command == "tournament",
            "{command}"
        );
    }
    for line in LINES {
        let [sloppy, bad] = ["sloppy.kif", "bad.kif"].map(|file| line.replace("FILE", file));
        let found = place.run(&sloppy).err;
        let about = found.lines().filter(|line| line.contains("warning"));
        let expected = "2 warnings; see `ggp check sloppy.kif`";
        assert_eq!(about.collect::<Vec<_>>(), [expected], "{sloppy}\n{found}");
        assert!(!found.contains(" --> "), "{sloppy}\n{found}");
        let found = place.run(&format!("{sloppy} --quiet")).err;
        assert!(!found.contains("warning"), "{sloppy}\n{found}");
        for quiet in ["", " --quiet"] {
            let found = place.run(&format!("{bad}{quiet}"));
            assert_eq!(found.code, Some(2), "{bad}\n{found:#?}");
            for part in ["error[G102]", "bad.kif:", "^^"] {
                assert!(found.err.contains(part), "{bad}\n{}", found.err);
            }
            let see = "1 error, 3 warnings; see `ggp check bad.kif`";
            assert!(found.err.contains(see), "{bad}\n{}", found.err);
            assert!(!found.err.contains("warning["), "{bad}\n{}", found.err);
        }
    }
    for line in place.run("state bad.kif --json").err.lines() {
        serde_json::from_str::<serde_json::Value>(line).unwrap();
    }
    // Rules from standard input, and rules that are in no rule file.
    let sloppy = std::fs::read_to_string(place.folder().join("sloppy.kif")).unwrap();
    let found = place.run_with("state -", &[], &sloppy).err;
    assert!(
        found.contains("2 warnings; pass the rules to `ggp check -`"),
        "{found}"
    );
    let found = place.run_with("state sloppy.kif --grid -", &[], "xx").err;
    let line = "warnings; pass the grid to `ggp check sloppy.kif --grid -`";
    assert!(found.contains(line), "{found}");
    place.run("play sloppy.kif --depth 1 --save m.json");
    let found = place.run("replay m.json").err;
    assert!(
        found.contains("2 warnings in the record's rules"),
        "{found}"
    );
    assert!(!found.contains("ggp check"), "{found}");
    let found = place.run("replay m.json --game sloppy.kif").err;
    assert!(
        found.contains("2 warnings; see `ggp check sloppy.kif`"),
        "{found}"
    );
    // The line can be pasted.
    place.write("a board.txt", "xx");
    let found = place
        .run_with("state sloppy.kif --grid", &["a board.txt"], "")
        .err;
    assert!(
        found.contains("see `ggp check sloppy.kif --grid 'a board.txt'`"),
        "{found}"
    );
}

#[test]
fn colours_follow_the_choice() {
    let place = Workplace::new();
    place.write("bad.kif", "(role a)");
    let plain = place.run("check bad.kif").out;
    assert!(!plain.contains('\x1b'), "{plain:?}");
    let coloured = place.run("check bad.kif --color always").out;
    assert!(coloured.contains('\x1b'), "{coloured:?}");
    assert_eq!(place.run("check bad.kif --colour never").out, plain);
}

#[test]
fn play_ends_in_time_however_long_a_step_takes() {
    let place = Workplace::new();
    let digits: String = (0..80).map(|digit| format!("(digit {digit}) ")).collect();
    let rules = "(role me) (init (at 0)) (goal me 100)
        (<= (legal me go) (true (at ?x)))
        (<= (next (at ?x)) (true (at ?x)))
        (<= (pair ?a ?b ?c ?d) (digit ?a) (digit ?b) (digit ?c) (digit ?d))
        (<= (next (far ?a ?d))
            (pair ?a ?b ?c ?d) (pair ?d ?c ?e ?f) (pair ?f ?e ?b ?a) (does me ?m))
        (<= terminal (true (far 1 1)))";
    place.write("heavy.kif", digits + rules);
    let began = std::time::Instant::now();
    let found = place.run("check --play --time 0.3 heavy.kif");
    assert!(began.elapsed().as_secs() < 30, "{found:#?}");
    assert!((found.out + &found.err).contains("give it more with --time"));
    // What nobody has looked at is not said to be so.
    place.write("walk.kif", include_str!("../tour/walk.kif"));
    for time in ["0", "0.001"] {
        let found = place.run(&format!("check --play --time {time} walk.kif"));
        // What reading found is not lost.
        assert!(found.out.starts_with("ok"), "{found:#?}");
        let said = found.out + &found.err;
        assert!(
            !said.contains("did not fire") && !said.contains("never fires"),
            "{said}"
        );
    }
}

#[test]
fn of_many_claims_those_that_fail_are_shown() {
    let place = Workplace::new();
    let roles: String = (1..=60)
        .map(|n| format!("(role r{n})\n(goal r{n} {})\n", n.min(59) * 100 / 59))
        .collect();
    let rules = "(init (on)) (<= (legal ?r go) (role ?r)) (<= terminal (not (true (on))))";
    // The last role has a second goal value.
    place.write("many.kif", format!("{roles} {rules} (goal r60 0)"));
    let found = place.run("check many.kif --play --time 5");
    assert_eq!(found.code, Some(2), "{found:#?}");
    let shown = found
        .out
        .lines()
        .filter(|line| line.contains("r60"))
        .collect::<Vec<_>>();
    assert!(
        shown.iter().any(|line| line.contains("ERROR")),
        "{}",
        found.out
    );
    assert!(
        found.out.contains("more; --json lists them all"),
        "{}",
        found.out
    );
}
