//! `ggp tabulate`, and what reads its files.

mod processes;

use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hmac_sha256::Hash as Sha256;
use rand::SeedableRng;
use rand::seq::IndexedRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::Value;

use crate::common::ggp;
use crate::common::names::scrambled;
use ggp_engine::machine::{DatalogMachine, Limits, Machine};
use ggp_gdl::game::{Game, Move};
use ggp_play::{AgentSpec, Brief, Observation, Pace, Tables};
use ggp_solver::table::Table;

/// Whoever ends the game loses.
const ENDLESS: &str = "(role a) (role b) (init (turn a)) (after a b) (after b a)
    (<= (legal ?r wait) (role ?r)) (<= (legal ?r stop) (true (turn ?r)))
    (<= (next (turn ?s)) (true (turn ?r)) (after ?r ?s)) (<= (next (lost ?r)) (does ?r stop))
    (<= terminal (true (lost ?r))) (<= (goal ?r 0) (true (lost ?r)))
    (<= (goal ?r 100) (true (lost ?s)) (after ?s ?r))";

/// A guess, and chance, which has no goal.
const COINS: &str = "(role random) (role guesser) (init (round 0)) (side heads) (side tails)
    (<= (legal ?r ?side) (role ?r) (side ?side))
    (<= (next (fell ?side)) (does random ?side)) (<= (next (said ?side)) (does guesser ?side))
    (<= terminal (true (fell ?side)))
    (<= (goal guesser 100) (true (fell ?side)) (true (said ?side)))
    (<= (goal guesser 20) (true (fell ?side)) (not (true (said ?side))))";

fn game(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    root.join(format!("games/{name}.kif")).display().to_string()
}

fn code(output: &Output) -> (i32, String) {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code().expect("it ends by itself"), text)
}

fn json(arguments: &[&str]) -> Value {
    let output = ggp(arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    serde_json::from_slice(&output.stdout).expect("it is JSON")
}

/// A folder, and in it the values of a game.
fn table(rules: &str) -> (tempfile::TempDir, PathBuf, Value) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("values.table");
    let made = json(&["tabulate", rules, "-o", file.to_str().unwrap(), "--json"]);
    (folder, file, made)
}

/// The values of a position and of its moves, by name.
fn values(answer: &Value) -> (Value, Value, Vec<(String, Value, Value)>) {
    let moves = answer["moves"].as_array().unwrap().iter();
    let one = |found: &Value| {
        let text = found["move"].as_str().unwrap().to_owned();
        (text, found["least"].clone(), found["most"].clone())
    };
    let mut moves: Vec<_> = moves.map(one).collect();
    moves.sort_by(|one, other| one.0.cmp(&other.0));
    (answer["least"].clone(), answer["most"].clone(), moves)
}

#[test]
fn values_are_those_that_are_proved() {
    // Turns, several moves in a row, moves at once, chance, three roles, one role, and endless play.
    let cases = [
        ("nim", "left", ""),
        ("nim", "right", "(take b 2) wait"),
        ("tic_tac_toe", "nought", "(mark 1 1) wait"),
        ("tic_tac_toe", "cross", "(mark 1 1) wait; wait (mark 1 2)"),
        ("chomp", "right", ""),
        ("oshi_zumo", "left", ""),
        ("goofspiel", "left", ""),
        ("three_player_race", "green", ""),
        ("hanoi", "player", ""),
        ("passing_place", "west", ""),
        ("prisoners_dilemma", "right", ""),
        (ENDLESS, "a", ""),
        (ENDLESS, "b", "wait wait"),
        (COINS, "guesser", ""),
    ];
    let mut endless = 0;
    for (name, role, moves) in cases {
        let own = tempfile::tempdir().unwrap();
        let rules = match name.starts_with('(') {
            true => {
                let file = own.path().join("own.kif");
                std::fs::write(&file, name).unwrap();
                file.display().to_string()
            }
            false => game(name),
        };
        let (_folder, file, made) = table(&rules);
        let file = file.to_str().unwrap();
        let question = ["prove", &rules, "--role", role, "--moves", moves, "--json"];
        let found = json(&[&question[..], &["--table", file]].concat());
        let proved = json(&question);
        assert_eq!(proved["proved"], true, "{name}");
        let (least, most, found_moves) = values(&found);
        let (low, high, proved_moves) = values(&proved);
        assert_eq!(found_moves.len(), proved_moves.len(), "{name}");
        // The mean over the moves of chance is between the worst and the best of its outcomes.
        if let Some(mean) = proved["value"].as_f64() {
            assert!(
                least.as_f64() <= Some(mean) && Some(mean) <= most.as_f64(),
                "{name}: {proved}"
            );
        } else {
            assert_eq!(least, low, "{name}");
        }
        let pairs = found_moves.iter().zip(&proved_moves);
        for (one, other) in pairs.filter(|_| proved["value"].is_null()) {
            assert_eq!((&one.0, &one.1), (&other.0, &other.1), "{name}");
            // Without a constant sum, no upper bound is proved.
            assert!(
                one.2.as_u64() <= other.2.as_u64(),
                "{name}: {one:?}, {other:?}"
            );
        }
        if proved["endless"] == true {
            endless += 1;
            assert_eq!(most, high, "{name}");
            assert_ne!(least, most, "{name}");
        }
        // All positions, or 2,000, by other code.
        let check = ["verify", &rules, file, "--sample", "2000", "--json"];
        let checked = json(&check);
        assert_eq!(checked["verdict"], "right", "{name}: {checked}");
        let positions = made["positions"].as_u64().unwrap();
        let text = format!("of {} of {positions}", positions.min(2_000));
        assert!(
            checked["checked"][0].as_str().unwrap().contains(&text),
            "{checked}"
        );
    }
    assert!(endless > 0);
}

/// Two walk towards the end of a track of `length` places in turn; a coin moves on, or throws back to the start
/// who dares.
fn walk(length: usize) -> String {
    let mut text = String::from(
        "(role red) (role blue) (role random) (other red blue) (other blue red)
        (init (turn red)) (init (at red 0)) (init (at blue 0))
        (<= (legal ?r dare) (true (turn ?r))) (<= (legal ?r creep) (true (turn ?r)))
        (<= (legal ?r wait) (role ?r) (distinct ?r random) (not (true (turn ?r))))
        (legal random heads) (legal random tails) (legal random edge)
        (<= (next (turn ?s)) (true (turn ?r)) (other ?r ?s))
        (<= (next (at ?r ?n)) (true (at ?r ?n)) (not (true (turn ?r))))
        (<= (next (at ?r ?k)) (does ?r dare) (does random heads) (true (at ?r ?n)) (after ?n ?m) (after ?m ?k))
        (<= (next (at ?r 0)) (does ?r dare) (does random tails))
        (<= (next (at ?r ?n)) (does ?r dare) (does random edge) (true (at ?r ?n)))
        (<= (next (at ?r ?m)) (does ?r creep) (does random heads) (true (at ?r ?n)) (after ?n ?m))
        (<= (next (at ?r ?n)) (does ?r creep) (not (does random heads)) (true (at ?r ?n)))
        (<= (goal ?r 100) (home ?r)) (<= (goal ?r 0) (other ?r ?s) (home ?s))
        (<= (goal ?r 40) (role ?r) (distinct ?r random) (not (done)))
        (<= (done) (home ?r)) (<= terminal (home ?r))\n",
    );
    for place in 0..length {
        text += &format!("(after {place} {}) ", place + 1);
    }
    text + &format!("(after {length} {length}) (<= (home ?r) (true (at ?r {length})))")
}

#[test]
fn expected_scores_are_those_that_are_proved() {
    let own = tempfile::tempdir().unwrap();
    let file = own.path().join("own.kif");
    for (rules, role, moves) in [
        (walk(3), "red", "creep wait heads; wait dare edge"),
        (
            walk(6),
            "blue",
            "creep wait heads; wait dare edge; dare wait heads",
        ),
        (COINS.to_owned(), "guesser", ""),
    ] {
        std::fs::write(&file, &rules).unwrap();
        let rules = file.to_str().unwrap();
        let (_folder, values, made) = table(rules);
        let question = ["prove", rules, "--role", role, "--moves", moves, "--json"];
        let proved = json(&question);
        let found = json(&[&question[..], &["--table", values.to_str().unwrap()]].concat());
        let is_near = |one: &Value, other: &Value| {
            let [one, other] = [one, other].map(|value| value.as_f64().unwrap());
            (one - other).abs() < 1e-3
        };
        assert_eq!(proved["exact"], true, "{proved}");
        assert!(
            is_near(&found["mean"], &proved["value"]),
            "{found} {proved}"
        );
        assert!(made["first"][0]["mean"].is_number(), "{made}");
        for one in found["moves"].as_array().unwrap() {
            let others = proved["moves"].as_array().unwrap();
            let other = others
                .iter()
                .find(|other| other["move"] == one["move"])
                .unwrap();
            assert!(is_near(&one["mean"], &other["value"]), "{one} {other}");
        }
        let checked = json(&[
            "verify",
            rules,
            values.to_str().unwrap(),
            "--whole",
            "--json",
        ]);
        assert_eq!(checked["verdict"], "right", "{checked}");
    }
}

#[test]
fn an_expected_score_that_does_not_follow_is_found() {
    let own = tempfile::tempdir().unwrap();
    let rules = own.path().join("own.kif");
    std::fs::write(&rules, walk(3)).unwrap();
    let rules = rules.to_str().unwrap();
    let (_folder, file, _) = table(rules);
    let mut bytes = std::fs::read(&file).unwrap();
    // The last value is followed by the digest, which is made again.
    let end = bytes.len() - 32;
    bytes[end - 4..end].copy_from_slice(&12.5_f32.to_le_bytes());
    let digest = hmac_sha256::Hash::hash(&bytes[..end]);
    bytes[end..].copy_from_slice(&digest);
    std::fs::write(&file, &bytes).unwrap();
    let output = ggp(&["verify", rules, file.to_str().unwrap(), "--whole"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("another expected score"), "{text}");
}

#[test]
fn the_number_of_moves_to_the_end_is_known() {
    for (name, positions, distance) in [
        ("nim", 232, Some(11)),
        // Counted by many; and the shortest solution of five disks.
        ("tic_tac_toe", 5_478, Some(9)),
        ("hanoi", 243, Some(31)),
        ("wolf_goat_cabbage", 15, Some(7)),
        ("oshi_zumo", 187, None),
    ] {
        let (_folder, _, made) = table(&game(name));
        assert_eq!(made["positions"], positions, "{name}");
        assert_eq!(made["distance"].as_u64(), distance, "{name}");
    }
}

#[test]
fn chance_leaves_a_range() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("own.kif");
    // Chance ends the game some time, but need not.
    let late =
        "(role random) (role p) (init (on)) (legal p wait) (legal random go) (legal random end)
        (<= (next (on)) (does random go)) (<= (next (over)) (does random end))
        (<= terminal (true (over))) (<= (goal p 70) (true (over))) (<= (goal p 0) (true (on)))";
    for (rules, least, most) in [(COINS, 20, 100), (late, 0, 100)] {
        std::fs::write(&file, rules).unwrap();
        let (_folder, values, made) = table(file.to_str().unwrap());
        let first = &made["first"][0];
        assert_eq!(
            (&first["least"], &first["most"]),
            (&least.into(), &most.into())
        );
        let output = ggp(&[
            "prove",
            file.to_str().unwrap(),
            "--table",
            values.to_str().unwrap(),
        ]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            text.contains(&format!("at least {least}, at most {most}")),
            "{text}"
        );
    }
}

#[test]
fn where_others_need_not_harm_a_role_nothing_bounds_it() {
    // Both choose at once and a coin decides the rest; and a coin leads to one who likes a high score of both.
    let at_once = "(role a) (role b) (role random) (init start) (side h) (side t)
        (<= (legal ?r ?x) (role ?r) (side ?x) (true start))
        (<= (next same) (does a ?x) (does b ?x)) (<= (next lucky) (does random h))
        (<= (next over) (true start)) (<= terminal (true over))
        (<= (goal a 100) (not (true same))) (<= (goal b 0) (not (true same)))
        (<= (goal a 50) (true same) (true lucky)) (<= (goal b 50) (true same) (true lucky))
        (<= (goal a 0) (true same) (not (true lucky)))
        (<= (goal b 100) (true same) (not (true lucky)))";
    let kind = "(role a) (role b) (role random) (init start) (legal a wait)
        (<= (legal b wait) (true start)) (<= (legal b up) (true asked)) (<= (legal b down) (true asked))
        (<= (legal random ask) (true start)) (<= (legal random stop) (true start))
        (<= (legal random rest) (true asked))
        (<= (next asked) (does random ask)) (<= (next stopped) (does random stop))
        (<= (next raised) (does b up)) (<= (next lowered) (does b down))
        (<= terminal (true stopped)) (<= terminal (true raised)) (<= terminal (true lowered))
        (<= (goal a 0) (true stopped)) (<= (goal b 0) (true stopped))
        (<= (goal a 100) (true raised)) (<= (goal b 100) (true raised))
        (<= (goal a 50) (true lowered)) (<= (goal b 0) (true lowered))";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("own.kif");
    let path = file.to_str().unwrap();
    for rules in [at_once, kind] {
        std::fs::write(&file, rules).unwrap();
        let (_folder, table, made) = table(path);
        assert_eq!(made["first"][0]["most"], Value::Null, "{made}");
        let table = table.to_str().unwrap();
        let answer = json(&["prove", path, "--table", table, "--role", "a", "--json"]);
        let (least, most, moves) = values(&answer);
        assert_eq!((least, most), (0.into(), Value::Null));
        assert!(moves.iter().all(|(.., most)| most.is_null()), "{moves:?}");
    }
}

#[test]
fn a_single_role_is_opposed_by_nobody() {
    // A line on which one can go to and fro, with an end that is worth 70; and a way off without end.
    let line = "(role r) (init (at 0)) (after 0 1) (after 1 2) (after 2 3) (<= (legal r up) (not (true off)))
        (<= (legal r down) (true (at ?n)) (after ?m ?n)) (legal r leave)
        (<= (next (at ?n)) (does r up) (true (at ?m)) (after ?m ?n))
        (<= (next (at ?m)) (does r down) (true (at ?n)) (after ?m ?n))
        (<= (next off) (does r leave)) (<= (next off) (true off))
        (<= terminal (true (at 3))) (<= (goal r 70) (true (at 3)))";
    let folder = tempfile::tempdir().unwrap();
    let rules = folder.path().join("line.kif");
    std::fs::write(&rules, line).unwrap();
    let rules = rules.to_str().unwrap();
    let (_folder, file, made) = table(rules);
    let first = &made["first"][0];
    assert_eq!((&first["least"], &first["most"]), (&70.into(), &70.into()));
    assert_eq!(made["distance"], 3);
    let file = file.to_str().unwrap();
    let look = [
        "prove", rules, "--table", file, "--json", "--moves", "leave",
    ];
    let (least, most, _) = values(&json(&look));
    assert_eq!((least, most), (0.into(), 0.into()));
    let checked = json(&["verify", rules, file, "--json"]);
    assert_eq!(checked["verdict"], "right", "{checked}");
    let play = [
        "play", rules, "--player", "auto", "--table", file, "--depth", "9",
    ];
    let played = String::from_utf8_lossy(&ggp(&play).stdout).into_owned();
    assert!(played.contains("r 70"), "{played}");
}

#[test]
fn names_do_not_matter() {
    for name in ["nim", "goofspiel", "tic_tac_toe"] {
        let (_folder, file, made) = table(&game(name));
        let text = std::fs::read_to_string(game(name)).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let other = folder.path().join("other.kif");
        std::fs::write(&other, scrambled(&text)).unwrap();
        let (_other_folder, _, other_made) = table(other.to_str().unwrap());
        for key in ["positions", "joint_moves", "distance"] {
            assert_eq!(made[key], other_made[key], "{name}");
        }
        let scores = |made: &Value| -> Vec<(Value, Value)> {
            let first = made["first"].as_array().unwrap().iter();
            first
                .map(|of| (of["least"].clone(), of["most"].clone()))
                .collect()
        };
        assert_eq!(scores(&made), scores(&other_made), "{name}");
        // It is of no use for rules with other names.
        let wrong = [
            "prove",
            other.to_str().unwrap(),
            "--table",
            file.to_str().unwrap(),
        ];
        let (code, text) = code(&ggp(&[&wrong[..], &["--role", "x"]].concat()));
        assert_eq!(code, 2, "{text}");
        let checked = ggp(&["verify", other.to_str().unwrap(), file.to_str().unwrap()]);
        let text = String::from_utf8_lossy(&checked.stderr).into_owned();
        assert!(text.contains("it was made from other rules"), "{text}");
    }
}

#[test]
fn wrong_values_are_found() {
    let rules = game("nim");
    let (_folder, file, _) = table(&rules);
    let bytes = std::fs::read(&file).unwrap();
    let check = || {
        let output = ggp(&["verify", &rules, file.to_str().unwrap(), "--whole"]);
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert!(check().contains("right"));
    let lines = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    let body = lines.map(|(at, _)| at + 1).nth(1).unwrap();
    // Damage anywhere after the first lines is seen, and ends no program.
    for at in (body..bytes.len()).step_by(bytes.len() / 40) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x41;
        std::fs::write(&file, &damaged).unwrap();
        assert!(check().contains("wrong: its digest"), "{at}");
        let (code, text) = code(&ggp(&["prove", &rules, "--table", file.to_str().unwrap()]));
        assert!(code == 0 || code == 2, "{text}");
    }
    // So are wrong values and distances, and missing positions, under a digest that is right.
    let mut found = Vec::new();
    for at in (body..bytes.len() - 32).rev().step_by(bytes.len() / 60) {
        let mut forged = bytes[..bytes.len() - 32].to_vec();
        forged[at] ^= 1;
        let digest = Sha256::hash(&forged);
        forged.extend(digest);
        std::fs::write(&file, &forged).unwrap();
        let said = check();
        assert!(!said.contains(": right"), "{at}: {said}");
        found.push(said);
    }
    for what in ["another value", "another distance", "missing"] {
        assert!(
            found.iter().any(|said| said.contains(what)),
            "{what}: {found:?}"
        );
    }
    // Cut files.
    for length in (0..bytes.len()).step_by(bytes.len() / 50) {
        std::fs::write(&file, &bytes[..length]).unwrap();
        let arguments = ["prove", &rules, "--table", file.to_str().unwrap()];
        let (status, text) = code(&ggp(&arguments));
        assert!(
            status == 2 && text.contains("values.table"),
            "{length}: {text}"
        );
        let (code, text) = code(&ggp(&["verify", &rules, file.to_str().unwrap()]));
        assert!(code == 2 || code == 1, "{length}: {text}");
    }
}

#[test]
fn limits_and_faults_are_named_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("values.table");
    std::fs::write(&file, "old").unwrap();
    let faulty = folder.path().join("faulty.kif");
    let rules = "(role a) (init 1) (legal a go) (<= (next 2) (true 1)) (<= terminal (true 2)) \
                 (<= (goal a 100) (true 1))";
    std::fs::write(&faulty, rules).unwrap();
    let stuck = folder.path().join("stuck.kif");
    let rules = "(role a) (init 1) (<= (legal a go) (true 1)) (<= (next 2) (true 1)) \
                 (<= (next 3) (true 2)) (<= terminal (true 3)) (goal a 100)";
    std::fs::write(&stuck, rules).unwrap();
    // Black can run out of moves; and 300 moves each are too many joint moves.
    let lonely = folder.path().join("lonely.kif");
    let rules = "(role white) (role black) (init 1) (legal white go) (<= (legal black go) (true 1)) \
                 (<= (next 2) (true 1)) (<= (next 3) (true 2)) (<= terminal (true 3)) \
                 (goal white 50) (goal black 50)";
    std::fs::write(&lonely, rules).unwrap();
    let wide = folder.path().join("wide.kif");
    let numbers: String = (0..300)
        .map(|number| format!("(number {number})"))
        .collect();
    let rules = "(role white) (role black) (init 1) (<= (legal ?r (say ?n)) (role ?r) (number ?n)) \
                 (<= (next 2) (true 1)) (<= terminal (true 2)) (goal white 50) (goal black 50)";
    std::fs::write(&wide, format!("{rules} {numbers}")).unwrap();
    for (rules, more, says) in [
        (
            lonely.display().to_string(),
            ["--threads", "2"],
            "black has no legal move",
        ),
        (
            wide.display().to_string(),
            ["--threads", "2"],
            "more than 65536 joint moves",
        ),
        (game("kalah"), ["--budget-nodes", "1000"], "--budget-nodes"),
        (game("kalah"), ["--budget-memory", "1"], "--budget-memory"),
        (game("hex"), ["--budget-time", "0.5"], "--budget-time"),
        (
            faulty.display().to_string(),
            ["--budget-time", "9"],
            "a has no score",
        ),
        (
            stuck.display().to_string(),
            ["--budget-time", "9"],
            "a has no legal move",
        ),
    ] {
        let arguments = ["tabulate", &rules, "-o", file.to_str().unwrap()];
        let (code, text) = code(&ggp(&[&arguments[..], &more].concat()));
        assert_eq!(code, 2, "{text}");
        assert!(text.contains(says), "{text}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "old");
    }
    let (code, text) = code(&ggp(&[
        "prove",
        &game("nim"),
        "--table",
        file.to_str().unwrap(),
    ]));
    assert!(
        code == 2 && text.contains("not a file of `ggp tabulate`"),
        "{text}"
    );
}

#[test]
fn a_game_without_facts_has_one_position() {
    let folder = tempfile::tempdir().unwrap();
    let rules = folder.path().join("still.kif");
    std::fs::write(&rules, "(role a) (legal a go) terminal (goal a 30)").unwrap();
    let rules = rules.to_str().unwrap();
    let (_folder, file, made) = table(rules);
    assert_eq!(
        (&made["positions"], &made["first"][0]["least"]),
        (&1.into(), &30.into())
    );
    let checked = json(&["verify", rules, file.to_str().unwrap(), "--json"]);
    assert_eq!(checked["verdict"], "right");
}

#[test]
fn the_player_auto_plays_perfectly_with_a_table() {
    for name in ["nim", "tic_tac_toe", "chomp", "hanoi"] {
        let rules = game(name);
        let (_folder, file, _) = table(&rules);
        let rules = Game::from_text(name, &std::fs::read_to_string(&rules).unwrap()).unwrap();
        let mut tables = Tables::default();
        tables.add(Table::open(&file).unwrap());
        let tables = Arc::new(tables);
        for (role, seed) in rules
            .roles()
            .flat_map(|role| (0..6).map(move |n| (role, n)))
        {
            let brief = Brief {
                tables: Arc::clone(&tables),
                ..Brief::new(&rules, role)
            };
            let spec: AgentSpec = "auto:1".parse().unwrap();
            let mut agent = spec.agent(brief).unwrap();
            let pace = Pace::new(Some(Instant::now() + Duration::from_secs(60)), None);
            agent.begin(&pace).unwrap();
            let mut machine = DatalogMachine::new(&rules, Limits::default()).unwrap();
            let mut state = machine.initial().unwrap();
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            let mut played: Vec<Vec<Move>> = Vec::new();
            let mut promised = 0.0;
            let mut left = u16::MAX;
            while !machine.is_terminal(&state).unwrap() {
                let mut joint = Vec::new();
                let mut has_choice = false;
                for other in rules.roles() {
                    let mut legal = Vec::new();
                    machine.legal(&state, other, &mut legal).unwrap();
                    joint.push(*legal.choose(&mut random).unwrap());
                    has_choice |= other == role && legal.len() > 1;
                }
                let observation = Observation::of_joint_moves(role, played.clone());
                let advice = agent.choose(&observation, &pace).unwrap();
                joint[role.index()] = advice.chosen;
                // What is promised is exact, never becomes less, and comes true in time.
                let value = advice.value.unwrap();
                assert_eq!(advice.bounds, (value, value), "{name}");
                assert!(value >= promised, "{name}");
                assert_eq!(advice.candidates[0].action, advice.chosen, "{name}");
                let distance = advice.candidates[0].distance;
                // Play without an end has no distance, and a role that waits may not know it.
                assert!(distance.is_some() || value < 100.0 || !has_choice, "{name}");
                if let Some(distance) = distance.filter(|_| has_choice) {
                    assert!(value < 100.0 || value > promised || distance < left);
                    let line = usize::from(distance).min(40);
                    assert_eq!(advice.line.len(), line, "{name}");
                    left = distance;
                }
                promised = value;
                state = machine.next(&state, &joint).unwrap();
                played.push(joint);
            }
            let score = machine.goal(&state, role).unwrap();
            assert!(f64::from(score.get()) >= promised, "{name}");
        }
    }
}

#[test]
fn a_table_does_not_decide_where_moves_are_made_at_once() {
    let rules = game("goofspiel");
    let (_folder, file, _) = table(&rules);
    let rules = Game::from_text("goofspiel", &std::fs::read_to_string(&rules).unwrap()).unwrap();
    let mut tables = Tables::default();
    tables.add(Table::open(&file).unwrap());
    let role = rules.roles().next().unwrap();
    let brief = Brief {
        tables: Arc::new(tables),
        ..Brief::new(&rules, role)
    };
    let mut agent = "auto:50"
        .parse::<AgentSpec>()
        .unwrap()
        .agent(brief)
        .unwrap();
    let pace = Pace::new(Some(Instant::now() + Duration::from_secs(60)), Some(50));
    agent.begin(&pace).unwrap();
    let observation = Observation::of_joint_moves(role, []);
    let advice = agent.choose(&observation, &pace).unwrap();
    assert!(advice.candidates.iter().any(|found| found.visits > 0));
}

#[test]
fn a_table_that_is_damaged_is_told_once() {
    let rules = game("nim");
    let (_folder, file, _) = table(&rules);
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    let end = bytes.len() - 32;
    bytes[middle..end].fill(0xff);
    std::fs::write(&file, &bytes).unwrap();
    let file = file.to_str().unwrap();
    let play = ["play", &rules, "--roles", "auto:9,auto:9"];
    let players = ["--player", "a=auto:9", "--player", "b=auto:9"];
    let tournament = [&["tournament", "--games", &rules][..], &players].concat();
    for command in [&play[..], &tournament] {
        let (code, text) = code(&ggp(&[command, &["--table", file]].concat()));
        assert_eq!(code, 0, "{text}");
        let warnings = text.lines().filter(|line| line.starts_with("warning: "));
        let warnings: Vec<_> = warnings.collect();
        assert!(
            matches!(warnings[..], [line] if line.contains(file) && line.contains("`ggp verify`")),
            "{text}"
        );
    }
    let checked = ggp(&["verify", &rules, file, "--budget-time", "0"]);
    let text = String::from_utf8_lossy(&checked.stdout).into_owned();
    assert!(text.contains("the time is up after 0 of "), "{text}");
}

#[test]
fn tables_of_other_rules_are_refused() {
    let (_folder, file, _) = table(&game("nim"));
    let (hex, file) = (game("hex"), file.to_str().unwrap());
    let players = ["--player", "auto:1", "--player", "random"];
    let tournament = [&["tournament", "--games", &hex][..], &players].concat();
    for command in [&["play", &hex, "--roles", "auto:1,random"][..], &tournament] {
        let (code, text) = code(&ggp(&[command, &["--table", file]].concat()));
        assert_eq!(code, 2, "{text}");
        assert!(text.contains("was made from other rules"), "{text}");
    }
    for command in ["play", "tournament", "player", "web"] {
        let rules = match command {
            "play" => &[hex.as_str()][..],
            "tournament" => &tournament[1..],
            _ => &[],
        };
        let (code, text) = code(&ggp(
            &[&[command][..], rules, &["--table", "missing"]].concat()
        ));
        assert_eq!(code, 2, "{command}: {text}");
        assert!(text.contains("cannot use missing"), "{command}: {text}");
    }
}

/// Positions that differ only in a counter have values of their own.
#[test]
fn a_value_in_a_graph_is_that_of_all_positions_of_its_node() {
    let rules = "(role r) (init (pos 1)) (init (t 0)) (e 1 2) (e 2 1) (e 2 3) (e 3 4) (e 4 2) (e 4 5)
        (s 0 1) (s 1 2) (s 2 3) (s 3 4) (s 4 5) (s 5 6)
        (<= (legal r (go ?y)) (true (pos ?x)) (e ?x ?y)) (<= (next (pos ?y)) (does r (go ?y)))
        (<= (next (t ?y)) (true (t ?x)) (s ?x ?y)) (<= terminal (true (pos 5))) (<= terminal (true (t 6)))
        (<= (goal r 80) (true (pos 5))) (<= (goal r 20) (not (true (pos 5))))";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("maze.kif");
    std::fs::write(&path, rules).unwrap();
    let path = path.to_str().unwrap();
    let (_folder, file, _) = table(path);
    let file = file.to_str().unwrap();
    let nodes = |more: &[&str]| {
        let output = ggp(&[&["graph", path, "--format", "json"], more].concat());
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        found["nodes"].as_array().unwrap().len()
    };
    let exact = nodes(&["--exact"]);
    assert!(nodes(&[]) < exact);
    assert_eq!(nodes(&["--table", file]), exact);
    let refused = code(&ggp(&["graph", path, "--table", file, "--stripped"]));
    assert_eq!(refused.0, 2, "{}", refused.1);
}

#[test]
fn graphs_are_coloured_by_value() {
    let rules = game("tic_tac_toe");
    let (_folder, file, _) = table(&rules);
    let graph = |more: &[&str]| {
        let first = ["graph", &rules, "--table", file.to_str().unwrap()];
        let output = ggp(&[&first[..], &["--depth", "2", "--role", "cross"], more].concat());
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let found: Value = serde_json::from_str(&graph(&["--format", "json"])).unwrap();
    let nodes = found["nodes"].as_array().unwrap();
    let value = |node: &Value| {
        (
            node["value"]["least"].clone(),
            node["value"]["most"].clone(),
        )
    };
    let count = |score: u8| {
        let exact = (Value::from(score), Value::from(score));
        nodes.iter().filter(|node| value(node) == exact).count()
    };
    // Cross begins, and most answers lose.
    assert_eq!(value(&nodes[0]), (50.into(), 50.into()));
    assert_eq!((count(50), count(100)), (1 + 9 + 24, 48));
    assert!(nodes.iter().all(|node| node["value"]["distance"].is_u64()));
    let dot = graph(&["--format", "dot"]);
    assert_eq!(dot.matches("fillcolor").count(), nodes.len());
    assert!(dot.contains("50 in 9"));
    let svg = graph(&["--format", "svg"]);
    assert!(svg.contains("cross can force 50<") && svg.contains("cross can force 100<"));
    assert!(!svg.contains("cross can force 0<") && svg.contains(" v2\""));
    let other = game("nim");
    let (code, text) = code(&ggp(&["graph", &other, "--table", file.to_str().unwrap()]));
    assert!(
        code == 2 && text.contains("made from other rules"),
        "{text}"
    );
}
