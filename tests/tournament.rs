//! `ggp tournament`.

use crate::cli::workplace::Workplace;
use serde_json::Value;

const PAIR: &str = "tournament --games matches.kif --player mcts:60 --player first";

fn player<'v>(tally: &'v Value, name: &str) -> &'v Value {
    let players = tally["players"].as_array().unwrap();
    players
        .iter()
        .find(|player| player["name"] == name)
        .expect("it took part")
}

/// The lines of a file without measured times.
fn rows(place: &Workplace, name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(place.folder().join(name)).unwrap();
    let row = |line: &str| {
        let mut row: Value = serde_json::from_str(line).unwrap();
        row.as_object_mut().unwrap().remove("slowest");
        row
    };
    let mut rows: Vec<Value> = text.lines().map(row).collect();
    rows.sort_by_key(|row| row["id"].as_str().unwrap().to_owned());
    rows
}

#[test]
fn players_take_every_role_and_the_stronger_one_has_the_higher_rating() {
    let place = Workplace::new();
    let found = place.json(&format!("{PAIR} --rounds 10 --results r.jsonl"), &[]);
    assert_eq!(
        (&found["matches"], &found["unfinished"]),
        (&20.into(), &0.into())
    );
    let (strong, weak) = (player(&found, "mcts:60"), player(&found, "first"));
    assert!(
        strong["elo"]["rating"].as_f64() > weak["elo"]["rating"].as_f64(),
        "{found}"
    );
    assert!(strong["glicko2"]["rating"].as_f64() > weak["glicko2"]["rating"].as_f64());
    assert_eq!(strong["won"], weak["lost"]);
    for name in ["late", "illegal", "crashed"] {
        assert_eq!(strong[name], 0);
    }
    let rows = rows(&place, "r.jsonl");
    let first = |name: &str| rows.iter().filter(|row| row["players"][0] == name).count();
    assert_eq!((first("mcts:60"), first("first")), (10, 10));
}

#[test]
fn matches_are_reproducible_by_seed_for_any_number_of_jobs() {
    let place = Workplace::new();
    let run = |name: &str, more: &str| {
        let line = format!("{PAIR} --player random --rounds 3 --results {name} {more}");
        assert_eq!(place.run(&line).code, Some(0));
        rows(&place, name)
    };
    let one = run("one", "--jobs 1");
    assert_eq!(one.len(), 18);
    assert_eq!(one, run("three", "--jobs 3"));
    let other = run("other", "--seed 7");
    assert!(
        one.iter()
            .zip(&other)
            .any(|(one, other)| one["moves"] != other["moves"])
    );
}

#[test]
fn matches_of_a_round_have_the_same_random_opening() {
    let place = Workplace::new();
    let games = concat!(env!("CARGO_MANIFEST_DIR"), "/games");
    let line = format!(
        "tournament --games matches.kif,{games}/tic_tac_toe.kif --player first --player legal \
                --rounds 8 --opening 1-2 --results r.jsonl"
    );
    assert_eq!(place.run(&line).code, Some(0));
    let rows = rows(&place, "r.jsonl");
    let opening = |row: &Value| {
        let length = row["opening"].as_u64().unwrap() as usize;
        row["moves"].as_array().unwrap()[..length].to_vec()
    };
    for game in ["matches", "tic_tac_toe"] {
        let rounds = (0..8).map(|round| {
            let mut of_round = rows
                .iter()
                .filter(|row| row["game"] == game && row["round"] == round)
                .map(opening);
            let first = of_round.next().expect("it was played");
            assert_eq!(of_round.next().as_ref(), Some(&first));
            assert!((1..=2).contains(&first.len()), "{first:?}");
            first
        });
        let different: std::collections::BTreeSet<String> =
            rounds.map(|opening| format!("{opening:?}")).collect();
        assert!(different.len() > 1, "{different:?}");
    }
    let line = "tournament --games matches.kif --player first --player far=http://127.0.0.1:9 \
                --start-clock 1 --play-clock 1 --opening 1";
    let refused = place.run(line);
    assert_eq!(refused.code, Some(2));
    assert!(
        refused.err.contains("leave out --opening"),
        "{}",
        refused.err
    );
}

#[test]
fn an_interrupted_tournament_can_be_resumed() {
    let place = Workplace::new();
    let line = format!("{PAIR} --rounds 4 --results r.jsonl --json");
    let whole = place.run(&line);
    let expected = rows(&place, "r.jsonl");
    let path = place.folder().join("r.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    let third = text.match_indices('\n').nth(2).unwrap().0;
    // The fourth line is incomplete, and the first two are marked.
    let marked = text[..third + 40].replacen("\"slowest\":[", "\"slowest\":[77", 2);
    std::fs::write(&path, marked).unwrap();
    let again = place.run(&line);
    assert_eq!((whole.code, again.code), (Some(0), Some(0)), "{again:#?}");
    let found = rows(&place, "r.jsonl");
    assert_eq!(found.len(), 8);
    let kept = std::fs::read_to_string(&path).unwrap();
    let marks = kept.matches("\"slowest\":[77").count();
    assert_eq!(marks, 2, "what is there is not played again");
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(
            (&found["id"], &found["scores"]),
            (&expected["id"], &expected["scores"])
        );
    }
}

#[test]
fn late_answers_of_busy_machines_are_told_apart() {
    let place = Workplace::new();
    let line = format!("{PAIR} --rounds 1 --results r.jsonl");
    place.run(&line);
    let path = place.folder().join("r.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    for (waited, overbooked) in [(0.05, None), (0.2, Some(1))] {
        let late = serde_json::json!([{"ply": 0, "role": 0, "error": "TO"}]);
        let mut lines: Vec<Value> = text
            .lines()
            .map(|l| serde_json::from_str(l).unwrap())
            .collect();
        (lines[0]["errors"], lines[0]["waited"]) = (late, waited.into());
        let lines: Vec<String> = lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(&path, lines.concat()).unwrap();
        let found = place.run(&format!("{line} --json"));
        let tally: Value = serde_json::from_str(&found.out).unwrap();
        let players = tally["players"].as_array().unwrap();
        let sum = |key: &str| {
            players
                .iter()
                .filter_map(|player| player[key].as_u64())
                .sum::<u64>()
        };
        assert_eq!(
            (sum("late"), sum("overbooked")),
            (1, overbooked.unwrap_or(0))
        );
        let says = found
            .err
            .contains("1 late answers came while their match waited");
        assert_eq!(says, overbooked.is_some(), "{}", found.err);
    }
}

#[test]
fn results_that_contradict_themselves_are_rejected() {
    let place = Workplace::new();
    let line = format!("{PAIR} --rounds 1 --results r.jsonl");
    place.run(&line);
    let path = place.folder().join("r.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    let (first, rest) = text.split_once('\n').unwrap();
    type Change = fn(&mut Value);
    let cases: [(Change, &str); 9] = [
        (
            |row| row["scores"].as_array_mut().unwrap().reverse(),
            "other scores than",
        ),
        (|row| row["scores"] = Value::Null, "other scores than"),
        (
            |row| row["scores"] = serde_json::json!([]),
            "other scores than",
        ),
        (
            |row| drop(row["moves"].as_array_mut().unwrap().pop()),
            "the match is not over",
        ),
        (|row| row["moves"][0][0] = "(fly)".into(), "joint move 1: "),
        (|row| row["seed"] = 1.into(), "another seed"),
        (
            |row| row["roles"].as_array_mut().unwrap().reverse(),
            "other roles",
        ),
        (|row| row["slowest"] = serde_json::json!([0.1]), "times"),
        (|row| row["opening"] = 1_000.into(), "an opening"),
    ];
    for (change, says) in cases {
        let mut row: Value = serde_json::from_str(first).unwrap();
        change(&mut row);
        std::fs::write(&path, format!("{row}\n{rest}")).unwrap();
        let found = place.run(&line);
        assert_eq!(found.code, Some(2), "{says}: {found:#?}");
        assert!(found.err.contains(says), "{says}: {}", found.err);
    }
    std::fs::write(&path, &text).unwrap();
    assert_eq!(place.run(&line).code, Some(0));
}

#[test]
fn results_of_other_tournaments_are_rejected_without_append() {
    let place = Workplace::new();
    for pairing in ["round-robin", "swiss"] {
        let name = format!("{pairing}.jsonl");
        let line = |rounds: u64, more: &str| {
            format!("{PAIR} --pairing {pairing} --rounds {rounds} --results {name} {more}")
        };
        assert_eq!(place.run(&line(2, "")).code, Some(0));
        // More rounds of the same tournament.
        assert_eq!(place.run(&line(3, "")).code, Some(0));
        assert_eq!(rows(&place, &name).len(), 6);
        let found = place.run(&line(1, ""));
        assert_eq!(found.code, Some(2), "{found:#?}");
        let part = "has 3 rounds of this tournament, and it is to have 1: say --rounds 3";
        assert!(found.err.contains(part), "{found:#?}");
        for more in ["--seed 9", "--play-clock 5", "--depth 7"] {
            let found = place.run(&line(3, more));
            assert_eq!(found.code, Some(2), "{more}: {found:#?}");
            assert!(found.err.contains("--append"), "{found:#?}");
        }
        let found = place.run(&line(1, "--seed 9 --append"));
        assert_eq!(found.code, Some(0), "{found:#?}");
        assert!(found.err.contains("of other tournaments"), "{found:#?}");
    }
}

#[test]
fn games_for_one_role_are_opponents() {
    let place = Workplace::new();
    place.write(
        "pick.kif",
        "(role me) (init start) (legal me a) (legal me b)
         (<= (next (done ?m)) (does me ?m)) (<= terminal (true (done ?m)))
         (<= (goal me 0) (true (done a))) (<= (goal me 100) (true (done b)))
         (<= (goal me 50) (true start))",
    );
    let line = "tournament --games pick.kif --player first --player mcts:40 --rounds 5";
    let found = place.json(line, &[]);
    assert_eq!(found["matches"], 10);
    assert_eq!(player(&found, "first")["mean_score"], 0.0);
    assert_eq!(player(&found, "mcts:40")["mean_score"], 100.0);
    let game = found["games"][0]["elo"]["rating"].as_f64().unwrap();
    let rating = |name: &str| player(&found, name)["elo"]["rating"].as_f64().unwrap();
    assert!(
        rating("first") < game && game < rating("mcts:40"),
        "{found}"
    );
}

#[test]
fn options_take_precedence_over_a_tournament_file() {
    let place = Workplace::new();
    std::fs::create_dir(place.folder().join("cups")).unwrap();
    place.write(
        "cups/cup.toml",
        "games = [\"../matches.kif\"]\nrounds = 2\npairing = \"swiss\"\npoints = \"score\"\n\
         iterations = 30\nseed = 5\n[players]\nsteady = \"first\"\nbold = \"mcts:exploration=2\"\n",
    );
    let found = place.json("tournament cups/cup.toml", &[]);
    assert_eq!(found["matches"], 4, "{found}");
    assert_eq!(player(&found, "bold")["roles"], 4);
    let found = place.json("tournament cups/cup.toml --rounds 3 --player random", &[]);
    // One of three players is left out in each round.
    assert_eq!(found["matches"], 6);
    place.write(
        "cup.json",
        "{\"games\": [\"matches.kif\"], \"players\": [\"first\", \"random\"]}",
    );
    assert_eq!(place.json("tournament cup.json", &[])["matches"], 2);
}

#[test]
fn results_are_written_as_tables_csv_and_svg() {
    let place = Workplace::new();
    let line = format!("{PAIR} --player random --csv r.csv --plot r.svg");
    let found = place.run(&line);
    assert_eq!(found.code, Some(0), "{found:#?}");
    for part in [
        " Elo ",
        " Glicko-2 ",
        "mcts:60",
        "share of the points against",
    ] {
        assert!(
            found.out.contains(part),
            "{part:?} is not in\n{}",
            found.out
        );
    }
    let read = |name: &str| std::fs::read_to_string(place.folder().join(name)).unwrap();
    assert_eq!(read("r.csv").lines().count(), 1 + 6 * 2);
    let drawn = read("r.svg");
    assert!(drawn.starts_with("<svg") && drawn.contains("mcts:60"));
}

#[test]
fn aborted_matches_are_reported() {
    let place = Workplace::new();
    let found = place.run(&format!("{PAIR} --depth 1"));
    assert_eq!(found.code, Some(0), "{found:#?}");
    assert!(
        found.err.contains("the match was aborted; see --depth"),
        "{found:#?}"
    );
    let found = place.run("tournament --games faulty.kif --player first");
    assert_eq!(found.code, Some(1), "{found:#?}");
    assert!(found.err.contains("me has no goal value"), "{found:#?}");
    let found = place.run("tournament --games faulty.kif --player first --rounds 5");
    assert_eq!(
        found.err.matches("has no goal value").count(),
        1,
        "{found:#?}"
    );
    assert!(
        found.err.contains("\n  and so 4 more matches"),
        "{found:#?}"
    );
}

#[test]
fn invalid_tournaments_are_rejected() {
    let place = Workplace::new();
    let line = "tournament --games matches.kif --player first --player mcts:size=2";
    assert_eq!(place.run(line).out, "", "no table of no matches");
    place.write("bad.toml", "games = 3");
    place.write("odd.toml", "colour = \"red\"");
    place.write("r.jsonl", "{}\n");
    for (line, part) in [
        ("tournament", "needs games and players"),
        ("tournament --games matches.kif", "needs games and players"),
        ("tournament bad.toml", "is not a tournament"),
        ("tournament matches.kif", "write --games matches.kif"),
        ("tournament odd.toml", "unknown field"),
        ("tournament no.toml", "cannot read no.toml"),
        (
            "tournament --games no.kif --player first",
            "the file no.kif does not exist",
        ),
        (
            "tournament --games matches.kif --player wizard",
            "unknown player",
        ),
        (
            "tournament --games matches.kif --player first --player mcts:size=2",
            "unknown option `size`",
        ),
        (
            "tournament --games matches.kif --player first --player first",
            "are called first",
        ),
        (
            "tournament --games matches.kif,matches.kif --player first",
            "the same name",
        ),
        (
            "tournament --games matches.kif --player first --play-clock -1",
            "not a time",
        ),
        (
            "tournament --games matches.kif --player first",
            "there is one player",
        ),
        (
            "tournament --games matches.kif --player first --player random --max-matches 1",
            "than 1 match;",
        ),
        (
            "tournament --games matches.kif --player first --player random --results r.jsonl",
            "r.jsonl:1",
        ),
        (
            "tournament --games matches.kif --player first --append",
            "--results",
        ),
        (
            "tournament --games matches.kif --player first --csv no/r.csv",
            "cannot write",
        ),
    ] {
        let found = place.run(line);
        assert_eq!(found.code, Some(2), "{line}: {found:#?}");
        assert!(
            found.err.contains(part),
            "{line}: {part:?} is not in {found:#?}"
        );
    }
}
