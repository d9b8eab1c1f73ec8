//! Tournaments with network players, over real sockets.

use crate::cli::workplace::Workplace;
use crate::protocol_host::fake::{Fake, Manner};
use serde_json::Value;

const CLOCKS: &str = "--start-clock 60 --play-clock 60";

fn player<'v>(tally: &'v Value, name: &str) -> &'v Value {
    let players = tally["players"].as_array().unwrap();
    let found = players.iter().find(|player| player["name"] == name);
    found.expect("it took part")
}

/// The number of matches of a player. Checks that each one ended before the next began.
fn one_at_a_time(fake: &Fake) -> usize {
    let mut current: Option<String> = None;
    let mut begun = 0;
    for request in fake.heard() {
        let body = request.split_once("\r\n\r\n").unwrap().1;
        let mut words = body.split_whitespace().skip(1);
        let (kind, id) = (words.next().unwrap(), words.next().unwrap().to_owned());
        match kind {
            "START" => {
                assert_eq!(current.replace(id), None, "two matches at once");
                begun += 1;
            }
            _ => assert_eq!(current.as_ref(), Some(&id), "{kind}"),
        }
        if matches!(kind, "STOP" | "ABORT") {
            current = None;
        }
    }
    begun
}

#[test]
fn network_players_and_built_in_agents_meet() {
    let place = Workplace::new();
    let fakes = [Fake::new(Manner::Reference), Fake::new(Manner::Upper)];
    let line = format!(
        "tournament --games matches.kif --player far={} --player loud={} --player mcts:60 \
         --rounds 4 --jobs 4 --results r.jsonl {CLOCKS}",
        fakes[0].url(),
        fakes[1].url()
    );
    let found = place.json(&line, &[]);
    assert_eq!(
        (&found["matches"], &found["unfinished"]),
        (&24.into(), &0.into())
    );
    for name in ["far", "loud", "mcts:60"] {
        let player = player(&found, name);
        assert_eq!(player["roles"], 16);
        for fault in ["late", "unreachable", "illegal", "crashed"] {
            assert_eq!(player[fault], 0, "{found}");
        }
        assert!(player["elo"]["rating"].is_number() && player["glicko2"]["rating"].is_number());
    }
    for fake in &fakes {
        assert_eq!(one_at_a_time(fake), 16);
        assert_eq!((fake.count("STOP"), fake.finished()), (16, 16));
    }
    // Finished matches are not played again; a missing match is.
    let path = place.folder().join("r.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    let (first, rest) = text.split_once('\n').unwrap();
    std::fs::write(&path, rest).unwrap();
    let again = place.json(&line, &[]);
    assert_eq!(again["matches"], 24);
    let missing: Value = serde_json::from_str(first).unwrap();
    let played = |name: &str| {
        let players = missing["players"].as_array().unwrap();
        usize::from(players.iter().any(|player| player == name))
    };
    for (fake, name) in fakes.iter().zip(["far", "loud"]) {
        assert_eq!(fake.count("START"), 16 + played(name));
    }
}

#[test]
fn errors_of_players_are_counted() {
    let place = Workplace::new();
    let nobody = Fake::new(Manner::Reference).url();
    let fakes = [Fake::new(Manner::Says("nil")), Fake::new(Manner::Silent)];
    for (url, fault, grace) in [
        (fakes[0].url(), "illegal", 60.0),
        (fakes[1].url(), "late", 0.5),
        (nobody, "unreachable", 60.0),
    ] {
        let line = format!(
            "tournament --games matches.kif --player odd={url} --player first --start-clock 1 \
             --play-clock 1 --grace {grace} --csv r.csv"
        );
        let found = place.run(&format!("--json {line}"));
        assert_eq!(found.code, Some(1), "{found:#?}");
        assert!(
            found.err.contains("odd never made a legal move in time"),
            "{found:#?}"
        );
        let found: Value = serde_json::from_str(&found.out).unwrap();
        assert_eq!(found["unfinished"], 0, "{found}");
        let odd = player(&found, "odd");
        for name in ["late", "unreachable", "illegal", "crashed"] {
            let count = odd[name].as_u64().unwrap();
            assert_eq!(count > 0, name == fault, "{found}");
        }
        let is_told = fault == "late" || player(&found, "first")[fault] == 0;
        assert!(is_told, "{found}");
        assert!(place.folder().join("r.csv").is_file());
    }
}

#[test]
fn an_aborted_match_is_reported() {
    let place = Workplace::new();
    let fake = Fake::new(Manner::Reference);
    let line = format!(
        "tournament --games matches.kif --player {} --player first --depth 1 {CLOCKS}",
        fake.url()
    );
    assert_eq!(place.json(&line, &[])["unfinished"], 2);
    assert_eq!(one_at_a_time(&fake), 2);
    assert_eq!((fake.count("ABORT"), fake.count("STOP")), (2, 0));
}

#[test]
fn invalid_network_tournaments_are_rejected() {
    let place = Workplace::new();
    for (line, part) in [
        (
            "--player http://127.0.0.1:1 --player first",
            "clocks are whole seconds",
        ),
        (
            "--player http://127.0.0.1:1 --player first --start-clock 1 --play-clock 0.5",
            "clocks are whole seconds",
        ),
        (
            "--player a=http://127.0.0.1:1 --player b=somewhere:1",
            "unknown player `somewhere`",
        ),
        (
            "--player a=http://127.0.0.1:1 --player b=http://127.0.0.1:1/ --start-clock 1 \
             --play-clock 1",
            "are the same player",
        ),
        (
            "--player http://127.0.0.1:1 --start-clock 1 --play-clock 1",
            "there is one player",
        ),
        ("--player https://127.0.0.1 --player first", "is not http"),
    ] {
        let line = format!("tournament --games matches.kif {line}");
        place.check_failure(&line, &[], "", 2, &[part]);
    }
}

#[test]
fn passwords_in_addresses_are_not_printed() {
    let place = Workplace::new();
    place.write(
        "setup.toml",
        "games = [\"matches.kif\"]\nplayers = [\"http://me:secret@127.0.0.1\", \"first\"]\n",
    );
    let addresses = [
        "http://me:secret@127.0.0.1:1",
        "https://me:secret@127.0.0.1",
        "ann=http://me:sec/ret@localhost",
        "me:secret@127.0.0.1:1",
    ];
    let lines = addresses.iter().flat_map(|address| {
        let commands = ["host matches.kif", "tournament --games matches.kif"];
        commands.map(|command| format!("{command} --player {address} --player first"))
    });
    for line in lines.chain(["tournament setup.toml".to_owned()]) {
        let found = place.run(&line);
        assert_eq!(found.code, Some(2), "{found:#?}");
        assert!(found.err.contains("must not contain `@`"), "{found:#?}");
        assert!(!found.err.contains("sec"), "{found:#?}");
    }
}

#[test]
fn percepts_are_sent_alone_on_demand() {
    let place = Workplace::new();
    place.write(
        "sides.kif",
        "(role even) (role odd) (side heads) (side tails)
        (<= (legal ?r ?s) (role ?r) (side ?s))
        (<= (next (turn 1)) (not (true (turn 1))))
        (<= (next (turn 2)) (true (turn 1)))
        (<= (sees ?r same) (role ?r) (does even ?s) (does odd ?s))
        (<= terminal (true (turn 2)))
        (goal even 50) (goal odd 50)",
    );
    for (flag, first) in [("", " 0 NIL NIL"), ("--percepts-alone", " NIL")] {
        let fake = Fake::new(Manner::Says("heads"));
        let line = format!(
            "tournament --games sides.kif --player far={} --player first {flag} {CLOCKS}",
            fake.url()
        );
        let found = place.json(&line, &[]);
        assert_eq!(found["unfinished"], 0, "{found}");
        let heard = fake.heard();
        let body = |request: &String| request.split_once("\r\n\r\n").unwrap().1.to_owned();
        let play = heard.iter().map(body).find(|body| body.contains("PLAY"));
        let play = play.expect("it was asked").replace(['(', ')'], "");
        let words: Vec<&str> = play.split_whitespace().skip(2).collect();
        assert_eq!(words.join(" "), first.trim(), "{play}");
    }
}
