//! Typical mistakes of authors: three correct games, small edits that break them, and
//! the findings of the tools for each.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

/// Runs a command on rules given on standard input; returns exit code and standard
/// output.
fn ggp(arguments: &[&str], rules: &str) -> (i32, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_ggp"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program was built");
    let mut input = child.stdin.take().expect("it is piped");
    input.write_all(rules.as_bytes()).expect("it reads");
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    let text = String::from_utf8(output.stdout).expect("the output is UTF-8");
    (output.status.code().expect("it exits"), text)
}

/// Path and text of a correct game.
fn right(game: &str) -> (String, String) {
    let path = format!("tests/mistakes/{game}.kif");
    let whole = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(&path);
    let text = std::fs::read_to_string(whole).expect("the game can be read");
    (path, text)
}

const GAMES: [&str; 3] = ["puzzle", "turns", "together"];

/// A correct game, the text in it to replace, and the mistake that replaces it.
type Edit = (&'static str, &'static str, &'static str);

fn wrong((game, from, to): Edit) -> String {
    let (_, text) = right(game);
    assert_eq!(text.matches(from).count(), 1, "{game}: {from}");
    text.replace(from, to)
}

/// The findings of `check --play`, one line each: code and text at the place, or
/// subject, role and verdict.
fn found(rules: &str) -> (i32, Vec<String>) {
    let limits = ["--playouts", "20", "--time", "120"];
    let (code, out) = ggp(
        &[&["check", "--play", "--json", "-"], &limits[..]].concat(),
        rules,
    );
    let answer: Value = serde_json::from_str(&out).expect("one JSON value");
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut lines = Vec::new();
    let findings = [&answer["findings"], &answer["play"]["findings"]].map(list);
    for finding in findings.concat() {
        let code = word(&finding["code"]);
        lines.push(format!("{code} {}", word(&finding["place"]["text"])));
        for note in list(&finding["notes"]) {
            lines.push(format!("{code} note {}", word(&note["place"]["text"])));
        }
    }
    for claim in list(&answer["play"]["claims"]) {
        let parts = ["subject", "role", "verdict"].map(|part| word(&claim[part]));
        lines.push(parts.join(" ").replace("  ", " "));
    }
    (code, lines)
}

#[test]
fn the_correct_games_have_no_findings() {
    for game in GAMES {
        let (code, lines) = found(&right(game).1);
        let remarks = ["turns fails", "role_symmetry open"];
        let other = |line: &&String| !line.ends_with(" holds") && !remarks.contains(&line.as_str());
        let complaints: Vec<&String> = lines.iter().filter(other).collect();
        assert_eq!(code, 0, "{game}");
        assert!(complaints.is_empty(), "{game}: {complaints:?}");
        assert!(lines.contains(&"ends holds".to_owned()), "{game}");
    }
}

/// Mistakes, the exit code of `check --play`, and some of its findings.
#[rustfmt::skip]
const FOUND: &[(Edit, i32, &[&str])] = &[
    // A variable that is not bound.
    (("puzzle", "(does gardener (go ?u ?v)))", "(does gardener (go ?x ?v)))"),
        2, &["G102 ?u"]),
    (("turns", "(does ?bird (settle ?x)))\n\n(<= terminal", "(does ?bird (settle ?y)))\n\n(<= terminal"),
        2, &["G102 ?x"]),
    // A misspelled name: of a relation, of a fact of the state, of a move, of a
    // role.
    (("puzzle", "(beside ?x ?y ?u ?v))\n(<= (legal gardener water)", "(besides ?x ?y ?u ?v))\n(<= (legal gardener water)"),
        2, &["W202 (besides ?x ?y ?u ?v)", "P301 note (besides ?x ?y ?u ?v)", "legal gardener fails"]),
    (("puzzle", "(<= thirsty\n    (true (dry ?x ?y))", "(<= thirsty\n    (true (dri ?x ?y))"),
        0, &["W202 (true (dri ?x ?y))", "P301 note (true (dri ?x ?y))"]),
    (("puzzle", "(watered ?x ?y)\n    (does gardener water)", "(watered ?x ?y)\n    (does gardener watr)"),
        0, &["W202 (does gardener watr)", "winnable gardener fails", "change fails"]),
    (("together", "(legal mouse hide)", "(legal mous hide)"),
        0, &["W208 (legal mous hide)", "P301 note (does mouse hide)"]),
    // A constant that no fact has, a variable without `?`, arguments in the wrong
    // order.
    (("turns", "(true (place ?x empty))\n", "(true (place ?x emty))\n"),
        0, &["P301 note (true (place ?x emty))", "ends fails"]),
    (("puzzle", "(true (at ?x ?y))\n    (beside", "(true (at ?x y))\n    (beside"),
        2, &["P301 note (true (at ?x y))", "legal gardener fails"]),
    (("turns", "(true (place ?x ?bird))", "(true (place ?bird ?x))"),
        0, &["P301 (taken ?x)", "winnable robin fails"]),
    (("together", "(init (in mouse hall))", "(init (in mouse hal))"),
        0, &["P301 note (true (in mouse ?room))", "winnable cat fails", "facts fails"]),
    // A wrong number of arguments.
    (("puzzle", "(beside ?x ?y ?u ?v))\n(<= (legal gardener water)", "(beside ?x ?u ?v))\n(<= (legal gardener water)"),
        2, &["G107 (beside ?x ?u ?v)"]),
    (("together", "(<= (next (in ?who ?to))", "(<= (next (in ?to))"),
        2, &["G108 (in ?to)", "G108 note (in cat attic)"]),
    // Brackets: one never closed, one too many, one closed too early.
    (("puzzle", "(not (watered ?x ?y)))", "(not (watered ?x ?y))"),
        2, &["K001 ("]),
    (("turns", "(role wren)", "(role wren))"),
        2, &["K002 )"]),
    (("turns", "(touch ?x ?y)\n    (taken ?y))", "(touch ?x ?y))\n    (taken ?y)"),
        2, &["G102 (taken ?y)", "G102 note )"]),
    // A fact and a rule written twice.
    (("turns", "(role wren)", "(role wren)\n(init (turn robin))"),
        0, &["W213 (init (turn robin))", "W213 note (init (turn robin))"]),
    (("puzzle", "(<= thirsty\n", "(<= thirsty\n    (true (dry ?a ?b)))\n(<= thirsty\n"),
        0, &["W213 thirsty", "W213 note thirsty"]),
    // Keywords: missing, or in the wrong place.
    (("turns", "(true (turn ?bird))\n    (free", "(turn ?bird)\n    (free"),
        2, &["W202 (turn ?bird)", "legal robin fails"]),
    (("turns", "(<= (next (turn ?other))", "(<= (turn ?other)"),
        2, &["W203 (turn ?other)", "legal robin fails", "legal wren fails"]),
    (("turns", "(<= (next (turn ?other))", "(<= (true (turn ?other))"),
        2, &["G104 (true (turn ?other))"]),
    (("turns", "(true (turn ?bird))\n    (free", "(does ?bird rest)\n    (free"),
        2, &["G116 (does ?bird rest)"]),
    // Cycles: through a negation, and with ever larger terms.
    (("turns", "(true (place ?x ?bird))\n    (role ?bird)", "(true (place ?x ?bird))\n    (not (free ?x))"),
        2, &["G109 (free ?x)"]),
    (("puzzle", "(<= thirsty", "(<= (near (s ?x) ?y) (near ?x ?y))\n(<= thirsty"),
        2, &["G110 (near (s ?x) ?y)"]),
    // Missing frame rules.
    (("turns", "(<= (next (place ?x ?what))\n    (true (place ?x ?what))\n    (not (settled ?x)))\n", ""),
        0, &["W203 (settled ?x)", "winnable wren fails", "frame fails"]),
    (("puzzle", "(<= (next (at ?x ?y))\n    (does gardener water)\n    (true (at ?x ?y)))\n", ""),
        2, &["legal gardener fails", "winnable gardener fails", "frame fails"]),
    (("together", "(<= (next (round ?n))\n    (true (round ?m))\n    (following ?m ?n))\n", ""),
        0, &["W203 (following 0 1)", "ends fails", "P301 note (true (round 4))", "frame fails"]),
    // Frame rules that keep too much: a second value, a second place.
    (("turns", "(true (place ?x ?what))\n    (not (settled ?x)))", "(true (place ?x ?what)))"),
        0, &["W203 (settled ?x)", "ends fails", "change fails", "facts fails", "single_value fails"]),
    (("puzzle", "(does gardener water)\n    (true (at ?x ?y)))\n(<= (next (dry", "(true (at ?x ?y)))\n(<= (next (dry"),
        0, &["change fails", "facts fails"]),
    // A role without a move, a neighbour in one direction only.
    (("turns", "(not some_free))", "(not some_free)\n    (true (turn robin)))"),
        2, &["legal wren fails"]),
    (("turns", "(init (turn robin))", ""),
        2, &["legal robin fails", "legal wren fails"]),
    (("puzzle", "(near ?x ?y)\n    (after ?y ?x)", "(near ?x ?y)\n    (after ?x ?y)"),
        2, &["legal gardener fails"]),
    // Ends without a goal, with two goals, with an invalid goal.
    (("together", "(<= (goal mouse 100)\n    safe)\n", ""),
        2, &["goal mouse fails"]),
    (("puzzle", "(<= (goal gardener 0)\n    thirsty)", "(<= (goal gardener 0)\n    (true (hour 8)))"),
        2, &["goal gardener fails"]),
    (("together", "(goal cat 100)", "(goal cat 110)"),
        2, &["W205 (goal cat 110)", "goal cat fails"]),
    // Endless play: a clock that stops, that nothing reads, that has a gap.
    (("together", "(true (round ?m))\n    (following ?m ?n))", "(true (round ?n)))"),
        0, &["ends fails", "facts fails", "P301 note (true (round 4))"]),
    (("puzzle", "(<= terminal\n    (true (hour 8)))\n", ""),
        0, &["ends fails", "used fails"]),
    (("together", " (following 2 3)", ""),
        0, &["ends fails", "P301 note (true (round 4))"]),
    // A role that cannot win, and roles with different chances.
    (("together", "(goal cat 100)", "(goal cat 90)"),
        0, &["winnable cat fails", "sum fails"]),
    (("puzzle", "(init (hour 0))", "(init (hour 2))"),
        0, &["winnable gardener fails", "P301 note thirsty"]),
    // A move without effect; turns that do not rotate; both roles choosing at once.
    (("puzzle", "(<= (next (at ?u ?v))\n    (does gardener (go ?u ?v)))", "(<= (next (at ?x ?y))\n    (true (at ?x ?y))\n    (does gardener (go ?u ?v)))"),
        0, &["change fails", "facts fails", "winnable gardener fails"]),
    (("turns", "(true (turn ?bird))\n    (other ?bird ?other))", "(true (turn ?other)))"),
        0, &["facts fails", "winnable robin fails"]),
    (("turns", "(true (turn ?bird))\n    (free", "(role ?bird)\n    (free"),
        0, &["turns fails"]),
    // Facts and rules that nothing depends on.
    (("together", "(init (round 0))", "(init (round 0))\n(init (light on))\n(<= (next (light on))\n    (true (light on)))"),
        0, &["used fails", "facts fails"]),
    (("together", "(<= caught", "(<= lonely\n    (not caught))\n(<= caught"),
        0, &["W203 lonely"]),
];

#[test]
fn mistakes_are_found() {
    let fine = GAMES.map(|game| (game, found(&right(game).1).1));
    for &(edit, code, expected) in FOUND {
        let (got, lines) = found(&wrong(edit));
        assert_eq!(got, code, "{edit:?}: {lines:#?}");
        let (_, before) = fine
            .iter()
            .find(|(game, _)| *game == edit.0)
            .expect("one of them");
        for &line in expected {
            let line = line.to_owned();
            assert!(lines.contains(&line), "{edit:?}: no {line:?} in {lines:#?}");
            assert!(
                !before.contains(&line),
                "{line:?} is said of {} anyway",
                edit.0
            );
        }
    }
}

/// A correct game with a counter for each role.
const SHOTS: &str = "
    (role red) (role blue) (init (shots red 0)) (init (shots blue 0)) (init (round 1))
    (after 0 1) (after 1 2) (after 2 3) (after 3 4)
    (<= (legal ?r rest) (role ?r))
    (<= (legal ?r load) (true (shots ?r ?n)) (after ?n ?m))
    (<= (next (shots ?r ?m)) (does ?r load) (true (shots ?r ?n)) (after ?n ?m))
    (<= (next (shots ?r ?n)) (does ?r rest) (true (shots ?r ?n)))
    (<= (next (round ?m)) (true (round ?n)) (after ?n ?m))
    (<= terminal (true (round 4)))
    (<= (goal ?r 100) (true (shots ?r 2)))
    (<= (goal ?r 0) (role ?r) (not (true (shots ?r 2))))";
/// Two objects that are moved from one side to the other.
const SIDES: &str = "
    (role x) (init (holder a left)) (init (holder b left))
    (<= (legal x (move ?h)) (true (holder ?h left)))
    (<= (next (holder ?h right)) (does x (move ?h)))
    (<= (next (holder ?h ?s)) (true (holder ?h ?s)) (not (does x (move ?h))))
    (<= terminal (true (holder a right)) (true (holder b right)))
    (<= (goal x 100) (true (holder a right)) (true (holder b right)))
    (<= (goal x 0) (true (holder ?h left)))";

/// Correct rules, the text in them to replace, its replacement, and the findings for
/// the mistake only.
#[rustfmt::skip]
fn places() -> Vec<(String, &'static str, &'static str, &'static [&'static str])> {
    let hanoi = concat!(env!("CARGO_MANIFEST_DIR"), "/games/hanoi.kif");
    let hanoi = std::fs::read_to_string(hanoi).expect("the game can be read");
    let pawns = right("pawns").1;
    vec![
        // A place that loses its only value: no rule is about the move, or the place
        // where something goes is not asked for.
        (SHOTS.to_owned(), "(<= (next (shots ?r ?n)) (does ?r rest) (true (shots ?r ?n)))", "",
            &["frame fails"]),
        (hanoi, "(<= (next (on ?disk ?peg))\n    (does player (move ?disk ?peg)))", "",
            &["frame fails"]),
        // Two places with two values each.
        (SHOTS.to_owned(), "(does ?r rest) (true", "(role ?r) (true", &["single_value fails"]),
        (SIDES.to_owned(), " (not (does x (move ?h))))", ")", &["single_value fails"]),
        // Places that may be empty.
        (pawns.clone(), "(<= (left ?x ?y)\n    (does ?p (take ?u ?v ?x))\n    (ahead ?p ?v ?y))\n", "",
            &["single_value fails"]),
        // Over before it begins.
        (pawns, "(<= terminal\n    (won ?p))", "(<= terminal\n    (true (turn ?p)))", &["ends fails"]),
    ]
}

#[test]
fn board_cells_are_checked_whatever_their_names() {
    for (right, from, to, expected) in places() {
        let (code, fine) = found(&right);
        assert_eq!(code, 0);
        assert_eq!(right.matches(from).count(), 1, "{from}");
        let wrong = right.replace(from, to);
        let (_, lines) = found(&wrong);
        let (_, other) = found(&made(&["rules", "scramble", "-"], &wrong));
        for &line in expected {
            assert!(
                !fine.contains(&line.to_owned()),
                "{line} of the right rules"
            );
            for lines in [&lines, &other] {
                assert!(
                    lines.contains(&line.to_owned()),
                    "no {line} in {lines:#?} of {wrong}"
                );
            }
        }
        // What is lost with the last move is not missed.
        let quits = "(<= (legal ?r quit) (role ?r)) (<= (next quit) (does ?r quit)) (<= terminal (true quit))";
        if right == SHOTS {
            let (_, lines) = found(&format!("{SHOTS} {quits}"));
            assert!(!lines.contains(&"frame fails".to_owned()), "{lines:#?}");
        }
        // What follows is not told.
        if expected == ["ends fails"] {
            assert_eq!(lines, expected);
        }
    }
}

#[test]
fn rules_that_need_an_illegal_move_are_consequences() {
    let (_, right) = right("pawns");
    let (from, to) = ("(true (at ?u ?w ?other))", "(true (att ?u ?w ?other))");
    assert_eq!(right.matches(from).count(), 1);
    let (_, lines) = found(&right.replace(from, to));
    let heads = lines
        .iter()
        .filter(|line| line.starts_with("P301 ") && !line.contains("note"));
    let heads: Vec<&String> = heads.collect();
    assert_eq!(heads[0], "P301 (can ?p (take ?x ?y ?u))");
    assert!(
        heads
            .iter()
            .all(|head| !head.contains("left") && !head.contains("next")),
        "{heads:?}"
    );
}

#[test]
fn moves_without_effect_are_reported() {
    let dance = "(<= (legal ?r dance) (role ?r))
        (<= (next (shots ?r ?n)) (does ?r dance) (true (shots ?r ?n)))";
    let (_, out) = ggp(&["check", "--play", "-"], &format!("{SHOTS} {dance}"));
    assert!(
        out.contains("; neither do these moves by themselves: rest, dance\n"),
        "{out}"
    );
    let (_, out) = ggp(&["check", "--play", "-"], SHOTS);
    assert!(
        out.contains("changes nothing") && !out.contains("neither do"),
        "{out}"
    );
}

#[test]
fn dead_rules_come_with_a_question_to_ask() {
    let odd = "(<= odd (true (shots red 2)) (true (round 2))) (<= (legal ?r jump) odd (role ?r))";
    let rules = format!("{SHOTS} {odd}");
    let (_, out) = ggp(&["check", "--play", "-"], &rules);
    let (_, command) = out.split_once("`ggp why ... 'odd' --moves '").expect(&out);
    let (moves, _) = command.split_once("'`").expect(&out);
    let (code, answer) = ggp(&["why", "-", "odd", "--moves", moves], &rules);
    assert_eq!(code, 1);
    assert!(answer.contains("✗ (true (round 2))"), "{answer}");
}

/// A clock that starts late.
const LATE: Edit = ("puzzle", "(init (hour 0))", "(init (hour 2))");
/// A gardener who waters is nowhere afterwards.
const NOWHERE: Edit = (
    "puzzle",
    "(<= (next (at ?x ?y))\n    (does gardener water)\n    (true (at ?x ?y)))\n",
    "",
);
/// A gardener who walks also stays at the old place.
const EVERYWHERE: Edit = (
    "puzzle",
    "(does gardener water)\n    (true (at ?x ?y)))\n(<= (next (dry",
    "(true (at ?x ?y)))\n(<= (next (dry",
);
/// A place where a bird has settled is still empty.
const BOTH: Edit = (
    "turns",
    "(true (place ?x ?what))\n    (not (settled ?x)))",
    "(true (place ?x ?what)))",
);
const MISSPELLED: Edit = (
    "turns",
    "(true (place ?x empty))\n",
    "(true (place ?x emty))\n",
);
const ONE_WAY: Edit = (
    "turns",
    "(touch ?x ?y)\n    (after ?y ?x)",
    "(touch ?x ?y)\n    (after ?x ?y)",
);
const NO_GOAL: Edit = ("together", "(<= (goal mouse 100)\n    safe)\n", "");
const GAP: Edit = ("together", " (following 2 3)", "");
const SHORT: &str = "(go study) hide; (go attic) hide; (go study) hide";
const THERE: &str = "(go 1 2); (go 1 3); water";
const LAST: &str = "(go study) (go cellar); (go attic) (go hall); \
                    (go study) (go cellar); (go attic) (go hall)";

/// Mistakes, a question about each, its exit code, and parts of the answer.
#[rustfmt::skip]
const ASKED: &[(Edit, &[&str], i32, &[&str])] = &[
    (MISSPELLED, &["why", "-", "some_free"],
        1, &["missing (true (place ?x emty))", "similar: (true (place 1 empty))"]),
    (MISSPELLED, &["rules", "diff", "tests/mistakes/turns.kif", "-"],
        1, &["-    (true (place ?x empty))", "+    (true (place ?x emty))"]),
    (ONE_WAY, &["why", "-", "(touch 2 1)"],
        1, &["rule at <stdin>:15:1", "(after 2 1)  not a fact of the rules"]),
    (NO_GOAL, &["why", "-", "(goal mouse ?n)", "--moves", LAST],
        1, &["rule at <stdin>:47:1", "caught"]),
    (NOWHERE, &["why", "-", "(legal gardener ?move)", "--moves", THERE],
        1, &["(true (at 1 1))  not in the state, it was true until move 1 (--history)"]),
    (NOWHERE, &["why", "-", "--history", "(at ?x ?y)", "--moves", THERE],
        0, &["no longer true after move 3", "not the move made; similar: (does gardener water)"]),
    (NOWHERE, &["rules", "diff", "tests/mistakes/puzzle.kif", "-"],
        1, &["only in the old rules", "-    (does gardener water)"]),
    (EVERYWHERE, &["why", "-", "--history", "(at ?x ?y)", "--moves", "(go 1 2)"],
        0, &["(true (at 1 1))  over the moves", "kept over 1 move: rule at <stdin>:36:1"]),
    (EVERYWHERE, &["draw", "-", "--moves", "(go 1 2); (go 1 3); (go 2 3)"],
        0, &["1 at at at", "2  .  . at"]),
    (BOTH, &["draw", "-", "--moves", "(settle 1) rest"],
        0, &["1 robin empty"]),
    (BOTH, &["why", "-", "--history", "(place 1 empty)", "--moves", "(settle 1) rest"],
        0, &["true initially", "kept over 1 move: rule at <stdin>:39:1"]),
    (LATE, &["solve", "-"],
        1, &["unsolvable"]),
    (GAP, &["why", "-", "--history", "(round 3)", "--moves", SHORT],
        1, &["(round 3))  was never true", "(following 2 3)  not a fact of the rules"]),
];

#[test]
fn questions_lead_to_the_mistake() {
    for &(edit, arguments, code, expected) in ASKED {
        let (got, answer) = ggp(arguments, &wrong(edit));
        assert_eq!(got, code, "{arguments:?} of {edit:?}: {answer}");
        for part in expected {
            assert!(
                answer.contains(part),
                "{arguments:?} of {edit:?}: no {part:?} in\n{answer}"
            );
        }
        let (_, fine) = ggp(arguments, &right(edit.0).1);
        assert_ne!(answer, fine, "{arguments:?} of {edit:?}");
    }
}

/// The output of a command on rules; its exit code must be 0.
fn made(arguments: &[&str], rules: &str) -> String {
    let (code, text) = ggp(arguments, rules);
    assert_eq!(code, 0, "{arguments:?}");
    text
}

#[test]
fn round_trips_change_nothing() {
    for (game, word) in GAMES.into_iter().zip(["at", "place", "in"]) {
        let (path, text) = right(game);
        let flat = text.replace("\n    ", " ");
        assert_ne!(flat, text);
        assert_eq!(made(&["fmt", "-"], &flat), text, "{game}");

        let infix = made(&["rules", "convert", "-"], &text);
        let back = made(&["rules", "convert", "-"], &infix);
        assert_eq!(made(&["rules", "diff", &path, "-"], &back), "", "{game}");
        assert_eq!(made(&["rules", "convert", "-"], &back), infix, "{game}");

        let names = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{game}.json"));
        let names = names.to_str().expect("the path is UTF-8");
        let other = made(
            &["rules", "scramble", "-", "--order", "--map", names],
            &text,
        );
        assert_eq!(ggp(&["rules", "diff", &path, "-"], &other).0, 1, "{game}");
        let back = made(&["rules", "scramble", "-", "--back", names], &other);
        assert_eq!(made(&["rules", "diff", &path, "-"], &back), "", "{game}");

        let (old, new) = (word, "elsewhere");
        let other = made(&["rules", "rename", "-", old, new], &text);
        assert!(other.contains(&format!("({new} ")) && !other.contains(&format!("({old} ")));
        assert_eq!(
            made(&["rules", "rename", "-", new, old], &other),
            text,
            "{game}"
        );
    }
}

#[test]
fn what_follows_from_a_missing_move_is_no_finding() {
    let rest = "(<= (legal ?bird rest)\n    (true (turn ?other))\n    (other ?other ?bird))";
    let (code, lines) = found(&wrong(("turns", rest, "")));
    assert_eq!(code, 2);
    assert!(lines.contains(&"legal wren fails".to_owned()), "{lines:#?}");
    let is_other = |line: &&String| line.starts_with("P301") || line.starts_with("winnable");
    assert_eq!(lines.iter().find(is_other), None, "{lines:#?}");
}

#[test]
fn each_kind_of_wrong_goals_is_shown_and_who_waits_is_told_only_of_waiting() {
    let rules = "
        (role a) (role b) (init (at 0)) (after 0 1) (after 1 2) (pick l) (pick m) (pick r)
        (<= (legal ?r (go ?x)) (role ?r) (pick ?x))
        (<= (next (at ?m)) (true (at ?n)) (after ?n ?m))
        (<= (next (did ?r ?x)) (does ?r (go ?x)))
        (<= terminal (true (at 2)))
        (<= (goal ?r 50) (true (did ?r l))) (<= (goal ?r 40) (true (did ?r l)))
        (<= (goal ?r 140) (true (did ?r m)))";
    let (code, out) = ggp(&["check", "--play", "-"], rules);
    assert_eq!(code, 2);
    for (role, fault) in [
        ("a", "no goal value in a terminal position\n"),
        ("b", "no goal value in a terminal position\n"),
        ("a", "several goal values in a terminal position: 50 and 40"),
        ("b", "the goal value 140 in a terminal position"),
    ] {
        assert!(
            out.contains(&format!("ERROR   {role} has {fault}")),
            "{out}"
        );
    }
    // The role that has a turn lacks moves here, or none has a turn.
    let rules = rules.replace("140", "30").replace("40)", "50)");
    let waits = "b has no legal move in a non-terminal position";
    for (legal, end) in [
        (
            "(<= (legal a (go ?x)) (pick ?x)) (<= (legal b noop) (true (at 0)))",
            " (a role that waits",
        ),
        (
            "(<= (legal a noop) (true (at 0))) (<= (legal b noop) (true (at 0)))",
            "\n",
        ),
    ] {
        let rules = rules.replace("(<= (legal ?r (go ?x)) (role ?r) (pick ?x))", legal);
        let out = ggp(&["check", "--play", "-"], &rules).1;
        assert!(out.contains(&format!("{waits}{end}")), "{out}");
    }
}

#[test]
fn playouts_that_get_stuck_are_no_part_of_the_average_and_said() {
    let rules = "
        (role x) (init (p 0))
        (<= (legal x left) (true (p 0))) (<= (legal x right) (true (p 0)))
        (<= (next (p 1)) (does x left)) (<= (next (p 2)) (does x right))
        (<= terminal (true (p 1))) (<= (goal x 100) (true (p 1))) (<= (goal x 0) (not (true (p 1))))
        (<= (next won) (true (p 9)))";
    let out = ggp(&["check", "--play", "-"], rules).1;
    for part in [
        " stuck without a legal move, all 3 positions\n",
        "x can get 100 (100 on average in playouts that ended)",
        "warning[P301]: this rule never fires",
        "`ggp why ... '(next won)' --does 'MOVES'`; maybe matches that end for want of a legal move",
    ] {
        assert!(out.contains(part), "{part}: {out}");
    }
}

#[test]
fn cells_that_a_move_elsewhere_deletes_are_found_where_other_values_are_always_kept() {
    let keeps = "(<= (next (cell ?r ?c b)) (true (cell ?r ?c b)) (does ?p (put ?x ?y))
        (or (distinct ?r ?x) (distinct ?c ?y)))";
    let rules = |keeps: &str| {
        format!(
            "(role x) (role o) (index 1) (index 2) (index 3) (init (control x))
            (<= (init (cell ?r ?c b)) (index ?r) (index ?c))
            (<= (legal ?p (put ?r ?c)) (true (control ?p)) (true (cell ?r ?c b)))
            (<= (legal x noop) (true (control o))) (<= (legal o noop) (true (control x)))
            (<= (next (cell ?r ?c ?p)) (does ?p (put ?r ?c)))
            (<= (next (cell ?r ?c ?w)) (true (cell ?r ?c ?w)) (distinct ?w b)) {keeps}
            (<= (next (control o)) (true (control x))) (<= (next (control x)) (true (control o)))
            (<= (line ?p) (true (cell ?r 1 ?p)) (true (cell ?r 2 ?p)) (true (cell ?r 3 ?p)))
            (<= open (true (cell ?r ?c b))) (<= someone (role ?p) (line ?p))
            (<= terminal someone) (<= terminal (not open))
            (<= (goal ?p 100) (role ?p) (line ?p)) (<= (goal ?p 50) (role ?p) (not someone))
            (<= (goal ?p 0) (role ?p) (role ?q) (line ?q) (distinct ?p ?q))"
        )
    };
    let is_fault = |line: &String| line.ends_with("frame fails");
    assert!(!found(&rules(keeps)).1.iter().any(is_fault));
    let both = "(<= (next (cell ?r ?c b)) (true (cell ?r ?c b)) (does ?p (put ?x ?y))
        (distinct ?r ?x) (distinct ?c ?y))";
    let (_, lines) = found(&rules(both));
    assert!(lines.iter().any(is_fault), "{lines:#?}");
}

#[test]
fn a_role_that_stands_second_is_told_to_stand_first() {
    let rules = "(role ann) (role bob) (init (on 1)) (legal noop ann) (legal bob noop)
        (<= (next (on ?x)) (true (on ?x))) (<= terminal (true (on 1))) (goal ann 50) (goal bob 50)";
    let out = ggp(&["check", "-"], rules).1;
    assert!(out.contains("noop is not a role"), "{out}");
    assert!(out.contains("= help: write the role first\n"), "{out}");
}

#[test]
fn chance_under_another_name_is_told_its_name() {
    let dice = "(role wren)\n(role dice)\n(legal dice (roll 1))\n(legal dice (roll 2))";
    let (code, out) = ggp(
        &["check", "--play", "-"],
        &wrong(("turns", "(role wren)", dice)),
    );
    assert_eq!(code, 2);
    let expected = "ERROR   dice has no goal value in a terminal position (a role that only makes random \
                    moves is named random, and needs none)";
    assert!(out.contains(expected), "{out}");
}

#[test]
fn a_value_of_each_role_is_kept() {
    let rules = "
        (role left) (role right) (init (at left 1)) (init (at right 5)) (init (turn left))
        (other left right) (other right left) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5)
        (<= (forward left ?x ?y) (succ ?x ?y)) (<= (forward right ?x ?y) (succ ?y ?x))
        (<= (legal ?p go) (true (turn ?p)) (true (at ?p ?x)) (forward ?p ?x ?y))
        (<= (legal ?p wait) (role ?p) (not (true (turn ?p))))
        (<= (next (at ?p ?y)) (does ?p go) (true (at ?p ?x)) (forward ?p ?x ?y))
        (<= (next (at ?p ?x)) (does ?p wait) (true (at ?p ?x)))
        (<= (next (turn ?q)) (true (turn ?p)) (other ?p ?q))
        (<= (home left) (true (at left 5))) (<= (home right) (true (at right 1)))
        (<= terminal (home ?p)) (<= (goal ?p 100) (home ?p)) (<= (goal ?p 0) (home ?q) (other ?p ?q))";
    let (code, lines) = found(rules);
    let is_fault = |line: &&String| line.ends_with("frame fails");
    assert_eq!((code, lines.iter().find(is_fault)), (0, None), "{lines:#?}");
    let waits = "(<= (next (at ?p ?x)) (does ?p wait) (true (at ?p ?x)))";
    let lost = found(&rules.replace(waits, "")).1;
    assert!(lost.contains(&"frame fails".to_owned()), "{lost:#?}");
}

#[test]
fn an_inequality_is_told_how_to_say_it() {
    for word in ["!=", "neq", "different", "<>"] {
        let rules = SIDES.replace("(<= terminal", &format!("(<= (two ?a ?b) (true (holder ?a ?s)) (true (holder ?b ?s)) ({word} ?a ?b)) (<= terminal (not (two a b)) "));
        let (_, out) = ggp(&["check", "-"], &rules);
        assert!(
            out.contains("help: write (distinct TERM TERM)"),
            "{word}: {out}"
        );
    }
}
