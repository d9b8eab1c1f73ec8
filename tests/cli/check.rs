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
    let expected = "ok: 2 roles, 10 relations, 15 facts, 7 rules";
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
fn other_commands_print_findings_on_standard_error() {
    let place = Workplace::new();
    place.write("bad.kif", "(role a)\n(<= (legal a ?x) (p))\n");
    place.check_failure("init bad.kif", &[], "", 2, &["error[G102]", "error[G113]"]);
    let sloppy = format!("{} (<= (goal bob 7) (nowhere))", super::workplace::MATCHES);
    place.write("sloppy.kif", sloppy);
    let found = place.run("init sloppy.kif");
    assert!(found.err.contains("warning[W202]"), "{found:#?}");
    assert_eq!(place.run("init --quiet sloppy.kif").err, "");
    for line in place.run("init bad.kif --json").err.lines() {
        serde_json::from_str::<serde_json::Value>(line).unwrap();
    }
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
