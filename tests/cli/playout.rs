use super::workplace::{Workplace, many_lights};

#[test]
fn a_playout_shows_every_step_and_the_end() {
    let place = Workplace::new();
    let found = place.run("playout matches.kif --seed 1");
    assert_eq!(found.code, Some(0), "{found:#?}");
    assert!(
        found
            .out
            .starts_with("step 0: 2 facts; legal 2, 1; ann plays (take "),
        "{found:#?}"
    );
    assert!(
        found
            .out
            .contains("(the game is over): 2 facts\n  (left 0) (turn "),
        "{found:#?}"
    );
    assert_eq!(place.run("playout matches.kif --seed 1").out, found.out);
    let verbose = place.run("playout matches.kif --seed 1 -v").out;
    assert!(verbose.contains("\n  (left 5) (turn ann)\n"), "{verbose}");
}

#[test]
fn json_has_the_whole_trace() {
    let place = Workplace::new();
    let json = place.json("playout matches.kif --verbose", &[]);
    assert_eq!(json["end"], "terminal");
    assert_eq!(json["terminal"], true);
    assert_eq!(json["steps"][0]["facts"], 2);
    assert_eq!(json["steps"][0]["legal"], serde_json::json!([2, 1]));
    assert_eq!(json["steps"][0]["state"][0], "(left 5)");
    assert_eq!(json["steps"][0]["joint"][1], "wait");
    assert_eq!(json["goals"].as_array().unwrap().len(), 2);
}

#[test]
fn long_playouts_are_cut() {
    let place = Workplace::new();
    place.write("many.kif", many_lights());
    let found = place.run("playout many.kif --depth 2");
    assert!(
        found
            .out
            .contains("end after 2 moves (cut off, see --depth)"),
        "{found:#?}"
    );
    let json = place.json("playout many.kif --depth 2", &[]);
    assert_eq!(
        (&json["end"], &json["goals"]),
        (&"depth".into(), &serde_json::Value::Null)
    );
}

#[test]
fn many_playouts_are_summed_up_and_each_can_be_seen_alone() {
    let place = Workplace::new();
    let json = place.json("playout matches.kif --count 10 --seed 5", &[]);
    assert_eq!(json["count"], 10);
    assert_eq!(json["cut"], 0);
    let mean = |role: usize| json["scores"][role]["mean"].as_f64().unwrap();
    assert_eq!(mean(0) + mean(1), 100.0);
    let mut wins = 0;
    for seed in 5..15 {
        let alone = place.json(&format!("playout matches.kif --seed {seed}"), &[]);
        wins += alone["goals"][0]["goal"].as_u64().unwrap();
    }
    assert_eq!(wins as f64 / 10.0, mean(0));
    let found = place.run("playout matches.kif --count 10 --seed 5");
    assert!(
        found
            .out
            .starts_with("10 playouts from seed 5\nmoves: mean "),
        "{found:#?}"
    );
}

#[test]
fn playouts_start_anywhere() {
    let place = Workplace::new();
    let moves = ["--moves", "(take 2); (take 2)"];
    let found = place.run_with("playout matches.kif", &moves, "");
    assert!(found.out.contains("end after 1 move "), "{found:#?}");
    assert!(found.out.ends_with("ann 100\nbob 0\n"), "{found:#?}");
}

#[test]
fn wrong_rules_end_a_playout_with_what_it_has() {
    let place = Workplace::new();
    for text in ["none", "two", "much", "stuck"] {
        let found = place.run(&format!("playout faulty.kif --quiet --moves {text}"));
        assert_eq!(found.code, Some(2), "{found:#?}");
        assert!(found.out.contains("(the rules fail): 1 fact"), "{found:#?}");
        assert!(found.err.contains("error: me has "), "{found:#?}");
    }
    let found = place.run("playout faulty.kif --quiet --count 3 --seed 8");
    assert_eq!(
        (found.code, found.out.as_str()),
        (Some(2), ""),
        "{found:#?}"
    );
    assert!(
        found.err.contains("in the playout with --seed 8"),
        "{found:#?}"
    );
}
