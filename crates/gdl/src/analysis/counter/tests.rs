use super::*;
use crate::analysis::findings;

/// A light that `press` toggles, with a step counter from 1 to 4. Each test adds
/// rules for `goal`, `terminal` and more.
const LIGHT: &str = "
    (role r) (init (light off)) (init (step 1))
    (legal r press) (legal r wait)
    (<= (next (light on)) (does r press) (true (light off)))
    (<= (next (light off)) (does r press) (true (light on)))
    (<= (next (light ?x)) (does r wait) (true (light ?x)))
    (<= (next (step ?y)) (true (step ?x)) (succ ?x ?y))
    (succ 1 2) (succ 2 3) (succ 3 4)";

fn game(text: &str) -> Game {
    Game::from_text("test.kif", text).unwrap_or_else(|reading| panic!("{:?}", reading.findings))
}

/// Checks one line per counter: its facts, its course, and its classification.
fn check(rules: &str, expected: &[&str]) {
    let found = counters(&game(rules), Score::MAX, &Stop::new());
    let lines: Vec<String> = found
        .iter()
        .map(|counter| {
            let course = match counter.course {
                Course::Runs { steps } => format!("runs {steps}"),
                Course::Cycle { from, period } => format!("cycle {from}+{period}"),
                Course::Open => "open".to_owned(),
            };
            let facts = counter.texts(4).join(", ");
            let ends = counter
                .ends_at
                .map_or(String::new(), |step| format!(" ends {step}"));
            format!("{facts}: {course}{ends}: {:?}", counter.stripping)
        })
        .collect();
    assert_eq!(lines, expected);
}

fn check_light(more: &str, expected: &str) {
    check(&format!("{LIGHT}{more}"), &[expected]);
}

const STEPS: &str = "(step 1), (step 2), (step 3), (step 4): runs 4 ends 3";

#[test]
fn a_counter_that_only_ends_the_game_can_be_ignored() {
    check_light(
        "(<= terminal (true (step 4))) (<= terminal (true (light on)))
         (<= (goal r 100) (true (light on))) (<= (goal r 0) (true (light off)))",
        &format!("{STEPS}: EndsOnly"),
    );
}

#[test]
fn names_do_not_matter() {
    let scrambled = "
        (role zz) (init (qq kk)) (init (ww a))
        (legal zz x1) (legal zz x2)
        (<= (next (qq mm)) (does zz x1) (true (qq kk)))
        (<= (next (qq kk)) (does zz x1) (true (qq mm)))
        (<= (next (qq ?x)) (does zz x2) (true (qq ?x)))
        (<= (next (ww ?y)) (true (ww ?x)) (hh ?x ?y))
        (hh a b) (hh b c) (hh c d)
        (<= terminal (true (ww d))) (<= terminal (true (qq mm)))
        (<= (goal zz 100) (true (qq mm))) (<= (goal zz 0) (true (qq kk)))";
    check(
        scrambled,
        &["(ww a), (ww b), (ww c), (ww d): runs 4 ends 3: EndsOnly"],
    );
}

#[test]
fn a_goal_that_does_not_end_the_game_needs_the_counter() {
    check_light(
        "(<= terminal (true (step 4)))
         (<= (goal r 100) (true (light on))) (<= (goal r 0) (true (light off)))",
        &format!("{STEPS}: GoalWithoutEnd"),
    );
}

#[test]
fn a_goal_of_one_step_needs_the_counter() {
    check_light(
        "(<= terminal (true (step 4))) (<= terminal (true (light on)))
         (<= (goal r 100) (true (light on)) (true (step 3)))
         (<= (goal r 0) (not (true (step 3))))",
        &format!("{STEPS}: GoalReads"),
    );
}

#[test]
fn a_move_of_some_steps_needs_the_counter() {
    check_light(
        "(<= (legal r jump) (true (step 2)))
         (<= terminal (true (step 4))) (<= terminal (true (light on)))
         (<= (goal r 100) (true (light on))) (<= (goal r 0) (true (light off)))",
        &format!("{STEPS}: LegalReads"),
    );
}

#[test]
fn facts_that_depend_on_the_step_need_the_counter() {
    check_light(
        "(<= (next (light on)) (does r wait) (true (step 3)))
         (<= terminal (true (step 4))) (<= terminal (true (light on)))
         (<= (goal r 100) (true (light on))) (<= (goal r 0) (true (light off)))",
        &format!("{STEPS}: NextReads"),
    );
}

#[test]
fn an_end_that_mixes_step_and_light_needs_the_counter() {
    check_light(
        "(<= terminal (true (step 4)))
         (<= terminal (true (light on)) (not (true (step 2))))
         (<= (goal r 100) (true (light on)) terminal) (<= (goal r 0) (not terminal))",
        &format!("{STEPS}: GoalReads"),
    );
    check_light(
        "(<= terminal (true (step 4)))
         (<= terminal (true (light on)))
         (<= terminal (true (light off)) (true (step 2)))
         (<= (goal r 100) (true (light on))) (<= (goal r 0) (true (light off)))",
        "(step 1), (step 2), (step 3), (step 4): runs 4 ends 3: EndsWithOthers",
    );
}

#[test]
fn an_unread_counter_can_be_ignored_even_without_an_end() {
    check_light(
        "(<= terminal (true (light on)))
         (<= (goal r 100) (true (light on))) (<= (goal r 0) (true (light off)))",
        "(step 1), (step 2), (step 3), (step 4): runs 4: Unread",
    );
}

#[test]
fn definitions_are_unfolded() {
    check_light(
        "(<= terminal over)
         (<= over timeout) (<= over (or win lost))
         (<= timeout (true (step 4)))
         (<= win (true (light ?x)) (good ?x)) (good on) (<= lost (true (light broken)))
         (<= (goal r ?n) (worth ?n)) (<= (worth 100) win) (<= (worth 0) (not win))",
        &format!("{STEPS}: EndsOnly"),
    );
}

#[test]
fn a_negated_condition_of_the_goal_may_be_the_end() {
    check_light(
        "(<= terminal (true (step 4))) (<= terminal (not dark))
         (<= dark (true (light off)))
         (<= (goal r 100) (not dark)) (<= (goal r 0) dark)",
        &format!("{STEPS}: EndsOnly"),
    );
}

#[test]
fn every_derivation_of_the_goal_must_end_the_game() {
    check_light(
        "(<= terminal (true (step 4))) (<= terminal (true (light on)))
         (<= win (true (light on))) (<= win (true (light golden)))
         (<= (goal r 100) win) (<= (goal r 0) (not win))",
        &format!("{STEPS}: GoalWithoutEnd"),
    );
}

/// Checks a game that consists of a clock with the given rules.
fn check_clock(clock: &str, expected: &[&str]) {
    let rest = "(role r) (legal r a) (legal r b) (init (at 0))
        (<= (next (at ?m)) (does r ?m))
        (<= terminal (true (at b))) (<= (goal r 100) (true (at b)))
        (<= (goal r 0) (not (true (at b))))";
    check(&format!("{rest}{clock}"), expected);
}

#[test]
fn counters_may_run_down() {
    check_clock(
        "(init (left 3)) (<= (next (left ?y)) (true (left ?x)) (succ ?y ?x))
         (succ 0 1) (succ 1 2) (succ 2 3) (<= terminal (true (left 0)))",
        &["(left 3), (left 2), (left 1), (left 0): runs 4 ends 3: EndsOnly"],
    );
}

#[test]
fn counters_may_be_rules_without_variables() {
    check_clock(
        "(init s1) (<= (next s2) (true s1)) (<= (next s3) (true s2)) (<= terminal (true s3))",
        &["s1, s2, s3: runs 3 ends 2: EndsOnly"],
    );
}

#[test]
fn counters_may_be_function_terms() {
    check_clock(
        "(init (n z)) (<= (next (n (s ?x))) (true (n ?x))) (<= terminal (true (n (s (s z)))))",
        &["(n z), (n (s z)), (n (s (s z))): runs 3 ends 2: EndsOnly"],
    );
    check_clock(
        "(init (n (s (s z)))) (<= (next (n ?x)) (true (n (s ?x)))) (<= terminal (true (n z)))",
        &["(n (s (s z))), (n (s z)), (n z): runs 3 ends 2: EndsOnly"],
    );
}

#[test]
fn a_counter_may_have_no_end() {
    let rules = "(init (n z)) (<= (next (n (s ?x))) (true (n ?x)))
        (role r) (legal r a) (init (at 0)) (<= (next (at ?m)) (does r ?m))
        (<= terminal (true (at a))) (goal r 100)";
    let found = counters(&game(rules), Score::MAX, &Stop::new());
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].course, Course::Open);
    assert_eq!(found[0].stripping, Stripping::Unread);
}

#[test]
fn digits_and_other_arguments_may_count_together() {
    check_clock(
        "(init (clock main 0 0)) (tick 0 1) (tick 1 2)
         (<= (next (clock ?w ?t ?y)) (true (clock ?w ?t ?x)) (tick ?x ?y))
         (<= (next (clock ?w ?y 0)) (true (clock ?w ?x 2)) (tick ?x ?y))
         (<= terminal (true (clock ?w 1 1)))",
        &[
            "(clock main 0 0), (clock main 0 1), (clock main 0 2), (clock main 1 0): \
           runs 5 ends 4: EndsOnly",
        ],
    );
}

#[test]
fn the_successor_may_be_derived_and_a_move_be_mentioned() {
    check_clock(
        "(init (step 1)) (<= (next (step ?y)) (does r ?m) (true (step ?x)) (after ?x ?y))
         (<= (after ?x ?y) (pred ?y ?x)) (pred 2 1) (pred 3 2) (<= terminal (true (step 3)))",
        &["(step 1), (step 2), (step 3): runs 3 ends 2: EndsOnly"],
    );
}

#[test]
fn turns_are_a_cycle() {
    check_clock(
        "(init (turn x)) (<= (next (turn o)) (true (turn x))) (<= (next (turn x)) (true (turn o)))
         (<= (legal r c) (true (turn o)))",
        &["(turn x), (turn o): cycle 0+2: LegalReads"],
    );
}

#[test]
fn facts_that_depend_on_moves_are_not_counters() {
    check_clock(
        "(init (pegs 3)) (<= (next (pegs ?y)) (does r a) (true (pegs ?x)) (succ ?y ?x))
         (<= (next (pegs ?x)) (does r b) (true (pegs ?x))) (succ 2 3) (succ 1 2)",
        &[],
    );
    check_clock(
        "(init (step 1)) (<= (next (step ?y)) (true (step ?x)) (succ ?x ?y) (true (at a)))
         (<= (next (step ?x)) (true (step ?x)) (not (true (at a)))) (succ 1 2)",
        &[],
    );
}

#[test]
fn constant_facts_are_not_counters() {
    check_clock(
        "(init (wall 1)) (<= (next (wall ?x)) (true (wall ?x)))",
        &[],
    );
}

#[test]
fn rules_for_all_facts_are_handled_soundly() {
    check_clock(
        "(init (step 1)) (<= (next (step 2)) (true (step 1)))
         (<= (next ?f) (does r b) (true ?f))",
        &[],
    );
    check_clock(
        "(init (step 1)) (<= (next (step 2)) (true (step 1))) (<= (legal r c) (true ?f))",
        &["(step 1), (step 2): runs 2: LegalReads"],
    );
}

#[test]
fn a_finding_is_printed_as_a_sentence() {
    let rules = format!(
        "{LIGHT}(<= terminal (true (step 4))) (<= terminal (true (light on)))
         (<= (goal r 100) (true (light on))) (<= (goal r 0) (true (light off)))"
    );
    let found = findings(&game(&rules), &Stop::new());
    let texts: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "counter: (step 1), (step 2), (step 3), (step 4); ends the game after 3 moves; \
          a search can ignore it: it only ends the game"
        ]
    );
}
