use std::process::Stdio;

use super::workplace::{Workplace, answer, many_lights};

#[test]
fn levels_are_counted_until_the_game_is_over() {
    let place = Workplace::new();
    let found = place.run("engine perft matches.kif 20");
    assert_eq!(found.code, Some(0), "{found:#?}");
    let numbers: Vec<String> = found
        .out
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    // 5 is made of 1 and 2 in 1 + 4 + 3 ways, in 5, 4 and 3 moves; the last wins.
    let expected = [
        "depth paths distinct ending paths ending distinct sum ann sum bob bad goals",
        "0 1 1 0 0 0 0 0",
        "1 2 2 0 0 0 0 0",
        "2 4 3 0 0 0 0 0",
        "3 7 3 3 1 300 0 0",
        "4 5 2 4 1 0 400 0",
        "5 1 1 1 1 100 0 0",
        "stopped: the whole game is counted",
    ];
    assert_eq!(numbers, expected);
    assert!(
        found.err.contains(" states, each depth by itself, in "),
        "{found:#?}"
    );
}

#[test]
fn every_sequence_can_be_played() {
    let place = Workplace::new();
    let found = place.run("engine perft matches.kif 20 --no-transpositions --csv counts.csv");
    assert_eq!(found.code, Some(0), "{found:#?}");
    let lines: Vec<&str> = found.out.lines().collect();
    let numbers: Vec<&str> = lines[4].split_whitespace().collect();
    assert_eq!(numbers, ["3", "7", "-", "3", "-", "300", "0", "0"]);
    assert_eq!(lines[7], "stopped: the whole game is counted");
    assert!(
        found.err.contains(" sequences, each depth by itself, in "),
        "{found:#?}"
    );
    let csv = std::fs::read_to_string(place.folder().join("counts.csv")).unwrap();
    assert!(csv.contains("\n3,7,-,3,-,300,0,0\n"), "{csv}");
    let json = place.json("engine perft matches.kif 3 --no-transpositions", &[]);
    assert_eq!(json["levels"][3]["paths"], 7);
    assert_eq!(json["levels"][3].get("distinct"), None);
    let json = place.json(
        "engine perft matches.kif 1 --no-transpositions --moves",
        &["(take 2); (take 1)"],
    );
    assert_eq!(json["levels"][1]["terminal_paths"], 1);
    let found = place.run("engine perft faulty.kif 3 --json --quiet --no-transpositions");
    assert_eq!(found.code, Some(2), "{found:#?}");
    let json: serde_json::Value = serde_json::from_str(&found.out).unwrap();
    assert_eq!(json["levels"].as_array().unwrap().len(), 1);
    let failure: serde_json::Value = serde_json::from_str(&found.err).unwrap();
    assert_eq!(failure["error"], "no_legal_move");
    let json = place.json("engine perft faulty.kif 1 --quiet --no-transpositions", &[]);
    assert_eq!(json["levels"][1]["goal_errors"], 3);
}

#[test]
fn playing_every_sequence_needs_the_network() {
    let place = Workplace::new();
    let found = place.run("engine perft matches.kif 3 --no-transpositions --backend datalog");
    assert_eq!(found.code, Some(2), "{found:#?}");
    assert!(found.err.contains("remove --backend"), "{found:#?}");
    let found = place.run("engine perft matches.kif 3 --no-transpositions --ground-instances 1");
    assert_eq!(found.code, Some(2), "{found:#?}");
    assert!(found.err.contains("--ground-time"), "{found:#?}");
    assert!(found.err.contains("more than 1"), "{found:#?}");
    place.write("many.kif", many_lights());
    let json = place.json(
        "engine perft many.kif 40 --no-transpositions --time 0.2",
        &[],
    );
    assert_eq!(json["stop"], "time");
}

#[test]
fn json_and_csv_have_the_same_numbers() {
    let place = Workplace::new();
    let json = place.json(
        "engine perft matches.kif 3 --threads 2 --csv counts.csv",
        &[],
    );
    assert_eq!(json["stop"], "depth");
    assert_eq!(json["levels"][3]["paths"], 7);
    assert_eq!(json["levels"][3]["goal_sums"], serde_json::json!([300, 0]));
    let csv = std::fs::read_to_string(place.folder().join("counts.csv")).unwrap();
    let expected = "\
depth,paths,distinct,terminal_paths,terminal_distinct,\"goal_sum ann\",\"goal_sum bob\",goal_errors
0,1,1,0,0,0,0,0
1,2,2,0,0,0,0,0
2,4,3,0,0,0,0,0
3,7,3,3,1,300,0,0
";
    assert_eq!(csv, expected);
    let files = std::fs::read_dir(place.folder()).unwrap();
    let names = files.map(|file| file.unwrap().file_name());
    assert!(
        names
            .into_iter()
            .all(|name| !name.to_string_lossy().ends_with(".part"))
    );
}

#[test]
fn a_table_that_cannot_be_written_is_a_failure() {
    let place = Workplace::new();
    let found = place.run("engine perft matches.kif 1 --csv nowhere/counts.csv");
    assert_eq!(found.code, Some(2));
    assert!(
        found.err.contains("cannot write nowhere/counts.csv"),
        "{found:#?}"
    );
}

#[test]
fn counting_stops_at_its_limits() {
    let place = Workplace::new();
    place.write("many.kif", many_lights());
    let json = place.json("engine perft many.kif 40 --max-states 5", &[]);
    assert_eq!(json["stop"], "states");
    assert_eq!(json["levels"].as_array().unwrap().len(), 2);
    let json = place.json("engine perft many.kif 40 --time 0.05", &[]);
    assert_eq!(json["stop"], "time");
}

#[test]
fn counting_can_start_anywhere() {
    let place = Workplace::new();
    let json = place.json(
        "engine perft matches.kif 1 --moves",
        &["(take 2); (take 1)"],
    );
    // The last match but one or both are taken.
    assert_eq!(json["levels"][1]["paths"], 2);
    assert_eq!(json["levels"][1]["terminal_paths"], 1);
    assert_eq!(json["levels"][1]["goal_sums"], serde_json::json!([100, 0]));
}

#[test]
fn wrong_scores_are_counted_but_a_missing_move_ends_it() {
    let place = Workplace::new();
    let found = place.run("engine perft faulty.kif 3 --json --quiet");
    assert_eq!(found.code, Some(2), "{found:#?}");
    let json: serde_json::Value = serde_json::from_str(&found.out).unwrap();
    assert_eq!(json["stop"], "error");
    // The level with the stuck state is not complete.
    assert_eq!(json["levels"].as_array().unwrap().len(), 1);
    let failure: serde_json::Value = serde_json::from_str(&found.err).unwrap();
    assert_eq!(failure["error"], "no_legal_move");
    let json = place.json("engine perft faulty.kif 1 --quiet", &[]);
    assert_eq!(json["levels"][1]["goal_errors"], 3);
}

#[cfg(unix)]
#[test]
fn an_interrupt_keeps_what_was_counted() {
    use std::io::{BufRead, BufReader, Read};
    let place = Workplace::new();
    place.write("many.kif", many_lights());
    let mut command = place.command("engine perft many.kif 40 --csv counts.csv");
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut lines = String::new();
    for _ in 0..3 {
        out.read_line(&mut lines).unwrap();
    }
    let killed = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(killed.unwrap().success());
    out.read_to_string(&mut lines).unwrap();
    let found = answer(child.wait_with_output().unwrap());
    assert_eq!(found.code, Some(2), "{found:#?}");
    assert!(lines.ends_with("stopped: interrupted\n"), "{lines}");
    assert!(found.err.contains("interrupted"), "{found:#?}");
    let csv = std::fs::read_to_string(place.folder().join("counts.csv")).unwrap();
    assert!(csv.lines().count() >= 3, "{csv}");
}

#[cfg(unix)]
#[test]
fn an_interrupt_of_a_graph_writes_nothing() {
    let place = Workplace::new();
    place.write("many.kif", many_lights());
    for output in ["many.json", "many.svg"] {
        let line = format!("graph many.kif --budget-nodes 1000000000 -o {output}");
        let mut command = place.command(&line);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        // It cannot end by itself, so it does not matter how far it gets.
        std::thread::sleep(std::time::Duration::from_secs(1));
        let killed = std::process::Command::new("kill")
            .args(["-INT", &child.id().to_string()])
            .status();
        assert!(killed.unwrap().success());
        let found = answer(child.wait_with_output().unwrap());
        assert_eq!(found.code, Some(2), "{found:#?}");
        assert!(found.err.contains("interrupted"), "{found:#?}");
        assert!(!place.folder().join(output).exists(), "{output}");
    }
}
