//! Questions about what roles know, and persons who play by it.

use super::percepts::{COIN, SIDES};
use super::workplace::Workplace;

/// A bundled game.
fn bundled(name: &str) -> String {
    format!("{}/games/{name}.kif", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_draws_of_a_match_with_a_person_are_others_each_time_and_can_be_repeated() {
    let place = Workplace::new();
    place.write("coin.kif", COIN);
    let line = "play coin.kif --roles human,random --save match.json";
    let play = |line: &str| place.run_with(line, &[], "1\n1\n");
    let seed = |err: &str| {
        let rest = err.strip_prefix("--seed ").expect("the seed is shown");
        let (seed, rest) = rest.split_once(' ').unwrap();
        assert_eq!(rest, "repeats the draws of this match\n");
        seed.parse::<u64>().unwrap()
    };
    let (first, second) = (play(line), play(line));
    let seeds = [seed(&first.err), seed(&second.err)];
    assert_ne!(seeds[0], seeds[1]);
    let record = std::fs::read_to_string(place.folder().join("match.json")).unwrap();
    let record: serde_json::Value = serde_json::from_str(&record).unwrap();
    assert_eq!(record["seed"], seeds[1]);
    let again = play(&format!(
        "play coin.kif --roles human,random --seed {}",
        seeds[0]
    ));
    assert_eq!((again.out, again.err), (first.out, String::new()));
    // Nobody is surprised, or nothing is drawn.
    place.write("sides.kif", SIDES);
    for line in [
        "play coin.kif --roles first,random",
        "play sides.kif --roles human,human --quiet",
    ] {
        assert_eq!(play(line).err, "", "{line}");
    }
}

#[test]
fn samples_have_a_seed() {
    let place = Workplace::new();
    let game = bundled("lattaque_small");
    let moves = "(place marshal) (place spy); (place spy) (place marshal)";
    let line = format!("draw {game} --known-by left --positions 2 --seed");
    let draw = |seed: u32| {
        place
            .run_with(&format!("{line} {seed}"), &["--moves", moves], "")
            .out
    };
    let drawings: Vec<String> = (0..8).map(draw).collect();
    assert!(
        drawings.iter().any(|one| *one != drawings[0]),
        "{drawings:?}"
    );
    assert_eq!(draw(5), drawings[5]);
    let why = format!("why {game} --known-by left --positions 2 --json --seed");
    let why = |seed: u32| {
        let more = [
            "--moves",
            moves,
            "(piece 4 1 right spy)",
            "(piece 4 1 right scout)",
        ];
        place.run_with(&format!("{why} {seed}"), &more, "").out
    };
    let answers: Vec<String> = (0..8).map(why).collect();
    assert!(answers.iter().any(|one| *one != answers[0]), "{answers:?}");
    assert_eq!(why(5), answers[5]);
    let part = ["required", "--known-by"];
    place.check_failure("draw matches.kif --seed 1", &[], "", 2, &part);
}

#[test]
fn drawings_of_knowledge_tell_what_they_are_made_of() {
    let place = Workplace::new();
    place.write("coin.kif", COIN);
    let moves = ["--moves", "wait (hide heads)"];
    let drawn = place.json("draw coin.kif --known-by guesser", &moves);
    let all = serde_json::json!({"role": "guesser", "positions": 2, "exact": true});
    assert_eq!(drawn["known_by"], all);
    assert_eq!(drawn.get("note"), None);
    let drawn = place.json("draw coin.kif --known-by guesser --positions 1", &moves);
    let sample = serde_json::json!({"role": "guesser", "positions": 1, "exact": false});
    assert_eq!(drawn["known_by"], sample);
    let note = drawn["note"].as_str().unwrap();
    let worth = "a sample of the positions that fit, worth at most about 1 independent position: ";
    assert!(note.starts_with(worth), "{note}");
    assert_eq!(place.json("draw coin.kif", &[]).get("known_by"), None);
}

/// Chance hides a side of a coin, and the moves for it are legal, but nobody says which.
const UNTOLD: &str = "
    (role guesser) (role random) (init (turn 0)) (side heads) (side tails) (side edge)
    (<= (legal random (hide ?s)) (true (turn 0)) (side ?s))
    (<= (legal guesser wait) (true (turn 0)))
    (<= (legal random wait) (not (true (turn 0))))
    (<= (legal guesser (take ?s)) (true (hidden ?s)))
    (<= (legal guesser (leave ?s)) (side ?s) (true (turn 1)) (not (true (hidden ?s))))
    (<= (legal guesser (leave heads)) (true (turn 1)))
    (<= (next (hidden ?s)) (does random (hide ?s)))
    (<= (next (turn 1)) (true (turn 0)))
    (<= (next (turn 2)) (true (turn 1)))
    (<= (next taken) (does guesser (take ?s)))
    (<= (sees random wait) (does guesser wait))
    (<= terminal (true (turn 2)))
    (<= (goal guesser 100) (true taken))
    (<= (goal guesser 0) (not (true taken)))
    (<= (goal random 0) (role random))";

#[test]
fn players_prefer_moves_that_are_legal_in_all_positions_that_fit() {
    let place = Workplace::new();
    place.write("untold.kif", UNTOLD);
    for player in [
        "auto:50",
        "mcts:50",
        "minimax:50",
        "greedy",
        "first",
        "random",
    ] {
        for seed in 0..4 {
            let line = format!("play untold.kif --roles {player},random --seed {seed}");
            let found = place.run(&line);
            assert_eq!(found.code, Some(0), "{player} {seed}: {found:#?}");
            assert!(
                found.out.contains("guesser plays (leave heads)"),
                "{found:#?}"
            );
        }
    }
}

#[test]
fn shares_of_a_sample_have_weights_and_no_decimals() {
    let place = Workplace::new();
    place.write("untold.kif", UNTOLD);
    let asked = ["--moves", "wait (hide edge)", "(hidden edge)"];
    let line = "why untold.kif --known-by guesser";
    let all = place.run_with(line, &asked, "");
    let part =
        "1 of 3 positions that fit the moves and percepts of guesser (33.3 % of the histories";
    assert!(all.out.contains(part), "{all:#?}");
    assert_eq!(all.err, "");
    let sample = place.run_with(&format!("{line} --positions 2 --seed 1"), &asked, "");
    let part = "1 of 2 positions of a sample that fit the moves and percepts of guesser \
                (by their weights about 50 % of the histories";
    assert!(sample.out.contains(part), "{sample:#?}");
    let part = "worth at most about 2 independent positions: ";
    assert!(sample.err.contains(part), "{sample:#?}");
}

#[test]
fn a_relation_with_the_name_of_a_fact_is_told_from_it() {
    let place = Workplace::new();
    let game = bundled("kuhn_poker");
    let moves = ["--moves", "wait wait (deal jack king)", "(card left)"];
    let line = format!("why {game} --known-by right");
    let found = place.run_with(&line, &moves, "");
    let end = "does not hold: it fails in all of 2 positions that fit the moves and percepts of right\n  \
               the rules also have `(card ?1 ?2)`\n";
    assert!(found.out.ends_with(end), "{found:#?}");
    let found = place.run_with(&format!("why {game}"), &moves, "");
    assert_eq!(found.err, "the rules also have `(card ?1 ?2)`\n");
}

#[test]
fn a_person_asks_what_its_role_knows() {
    let place = Workplace::new();
    place.write("coin.kif", COIN);
    let input = "why (hidden heads)\nwhy (turn 1)\nwhy 2\nwhy guess tails\nwhy terminal\nwhy\n\
                 why 9\nwhy (hide heads)\nwhy (does random (hide heads))\n\
                 WHY (turn 1); terminal\nQuit\n";
    let mut outs = Vec::new();
    for seed in 0..4 {
        let line = format!("play coin.kif --roles human,random --seed {seed}");
        let found = place.run_with(&line, &[], input);
        let (before, _) = found.out.split_once("the match ends").expect("it ends");
        let before = before
            .split_once("1: guesser plays")
            .map_or(before, |(before, _)| before);
        outs.push(before.to_owned());
    }
    for part in [
        "guesser does not know whether (hidden heads) holds: it does in 1 of 2 positions that fit",
        "guesser knows that (turn 1) holds: it does in all of 2 positions",
        "guesser knows that (legal guesser (guess tails)) holds",
        "guesser knows that terminal does not hold",
        "`why` needs a fact, a move or the number of a move",
        "move numbers are 1 to 2",
        "depends on the moves made",
        "that fit the moves and percepts of guesser\n\nguesser knows that terminal does not hold",
    ] {
        assert!(outs[0].contains(part), "{part:?} is not in\n{}", outs[0]);
    }
    assert!(outs.iter().all(|out| *out == outs[0]), "{outs:#?}");
}

#[test]
fn a_first_hint_comes_or_says_what_to_do() {
    let place = Workplace::new();
    let game = bundled("lattaque");
    let line = format!("play {game} --roles random,random --depth 60 --save match.json --quiet");
    assert_eq!(place.run(&line).code, Some(0));
    let line = "play --resume match.json --roles random,human";
    let found = place.run_with(line, &[], "hint\nquit\n");
    assert_eq!(found.code, Some(0), "{found:#?}");
    let has_hint = found.out.contains("right> hint\nhint: (move ");
    // On a machine that is slow or busy.
    let says =
        found.out.contains("right> hint\nno hint yet: ") && found.out.contains("type hint again");
    assert!(has_hint || says, "{found:#?}");
}

#[test]
fn answers_about_knowledge_obey_the_limit_of_lines() {
    let place = Workplace::new();
    place.write("coin.kif", COIN);
    let moves = ["--moves", "wait (hide heads)"];
    let ask = |line: &str| {
        let line = format!("why coin.kif --known-by guesser {line}");
        place
            .run_with(
                &line,
                &[&moves[..], &["(hidden heads)", "(turn 1)"]].concat(),
                "",
            )
            .out
    };
    let all = ask("");
    assert_eq!(all.lines().count(), 5, "{all}");
    assert_eq!(ask("--lines 5"), all);
    let first = all.lines().next().unwrap();
    assert_eq!(
        ask("--lines 2"),
        format!("{first}\n… 4 more lines (--lines)\n")
    );
    for option in ["--full", "--depth 2", "--rules 2", "--facts 2"] {
        let line = format!("why coin.kif --known-by guesser {option}");
        place.check_failure(&line, &["terminal"], "", 2, &["cannot be used with"]);
    }
}

#[test]
fn each_error_of_a_question_is_marked() {
    let place = Workplace::new();
    place.write("coin.kif", COIN);
    for more in ["", "--known-by guesser"] {
        let line = format!("why coin.kif {more}");
        let found = place.run_with(&line, &["(terminal)", "(none)", "(bar"], "");
        assert_eq!(found.code, Some(2), "{found:#?}");
        assert_eq!(found.err.lines().count(), 3, "{found:#?}");
        assert!(
            found.err.lines().all(|line| line.starts_with("error: ")),
            "{found:#?}"
        );
    }
    let part = "error: write `terminal` without parentheses: it has no arguments\n";
    place.check_failure("why coin.kif (terminal)", &[], "", 2, &[part]);
}

#[test]
fn the_counts_of_a_plan_agree_in_text_and_json() {
    let place = Workplace::new();
    let line = format!("prove {}", bundled("paid_look"));
    let found = place.run(&line);
    let json = place.json(&line, &[]);
    let part = format!(
        "what seeker knows: {} information sets, of which {} with more than one legal move",
        json["information_sets"], json["choices"]
    );
    assert!(found.err.contains(&part), "{part}: {found:#?}");
    assert_eq!(
        (&json["information_sets"], &json["choices"]),
        (&41.into(), &40.into())
    );
}

#[test]
fn limits_of_time_are_named_as_the_command_has_them() {
    let place = Workplace::new();
    let line = "export matches.kif --efg --budget-time 0";
    place.check_failure(line, &[], "", 2, &["raise --budget-time\n"]);
}

#[test]
fn the_turn_is_a_fact_like_others_when_the_game_is_over() {
    let place = Workplace::new();
    for moves in ["(take 2)", "(take 2); (take 1); (take 2)"] {
        let found = place.run_with("draw matches.kif", &["--moves", moves], "");
        assert!(found.out.contains("turn: bob"), "{found:#?}");
        assert!(found.out.contains("left: "), "{found:#?}");
    }
}

/// The guesser cannot know which guesses are legal.
const BLIND: &str = "
    (role guesser)
    (role random)
    (init (turn 1))
    (<= (legal random (hide ?x)) (true (turn 1)) (number ?x))
    (number 1) (number 2) (number 3)
    (<= (legal random wait) (true (turn 2)))
    (<= (legal guesser wait) (true (turn 1)))
    (<= (legal guesser (guess ?x)) (true (turn 2)) (number ?x) (not (true (hidden ?x))))
    (<= (next (hidden ?x)) (does random (hide ?x)))
    (<= (next (turn 2)) (true (turn 1)))
    (<= (next (turn 3)) (true (turn 2)))
    (<= (next (guessed ?x)) (does guesser (guess ?x)))
    (<= terminal (true (turn 3)))
    (<= (goal guesser 100) (true (guessed 1)))
    (<= (goal guesser 0) (not (true (guessed 1))))
    (<= (goal random 0) (true (turn ?x)))
    (<= (sees guesser never) (true (turn 9)))
";

#[test]
fn illegal_moves_of_those_who_cannot_know_better_are_no_hints() {
    let place = Workplace::new();
    place.write("blind.kif", BLIND);
    let mut refused = 0;
    for seed in 0..8 {
        let line = format!("play blind.kif --roles human,first --seed {seed}");
        let found = place.run_with(&line, &[], "hint\nquit\n");
        assert_eq!(found.code, Some(0), "{found:#?}");
        let is_refused = found
            .out
            .contains("the rules are at fault, and ggp check --play shows");
        let is_illegal =
            found.out.contains("hint: (guess 1)") && !found.out.contains("] (guess 1)");
        refused += usize::from(is_refused);
        assert!(!is_illegal, "{found:#?}");
    }
    assert!(refused > 0, "some hints are illegal");
    let errors = ["guesser may not play (guess", "`ggp check --play` shows"];
    let fails = (0..8).filter(|seed| {
        let found = place.run(&format!("play blind.kif --roles auto,first --seed {seed}"));
        found.code == Some(1) && errors.iter().all(|part| found.err.contains(part))
    });
    assert!(fails.count() > 0, "some moves are illegal");
}

#[test]
fn nothing_is_taken_back_where_others_would_be_seen_again() {
    let place = Workplace::new();
    let rules = concat!(env!("CARGO_MANIFEST_DIR"), "/games/krieg_tic_tac_toe.kif");
    let line = format!("play {rules} --roles human,human");
    let found = place.run_with(&line, &[], "1\nundo\nquit\n");
    assert!(
        found
            .out
            .contains("with several people, nothing is taken back"),
        "{found:#?}"
    );
    let line = format!("play {rules} --roles human,random --seed 1");
    let found = place.run_with(&line, &[], "1\nundo\nquit\n");
    let parts = ["what you saw after that choice", "took back 2 joint moves"];
    assert!(
        parts.iter().all(|part| found.out.contains(part)),
        "{found:#?}"
    );
}

#[test]
fn a_move_after_the_end_is_named_as_such() {
    let place = Workplace::new();
    place.write("coin.kif", COIN);
    let moves = "wait (hide heads); (guess heads) wait; (guess tails) wait; wait";
    let more = ["--moves", moves, "terminal"];
    let parts = ["--moves, move 4, `wait`: the game is over"];
    place.check_failure("why coin.kif --known-by guesser", &more, "", 2, &parts);
}
