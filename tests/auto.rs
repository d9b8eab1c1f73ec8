//! What `auto` answers: shortest plans, best ends, counted solutions; the same
//! whatever things are called and however many threads there are.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;

use crate::common::names::scrambled;
use ggp_engine::machine::{AnyMachine, Backend, DatalogMachine, Limits, Machine};
use ggp_gdl::game::{Move, Score};
use ggp_search::{Stats, Verdict};
use ggp_solver::solve::{Answer, SolveOptions, count_from, solve, solve_best_from};

use crate::puzzle_search::shared::{game, random_rules};

fn machine(text: &str) -> AnyMachine {
    AnyMachine::new(&game(text), Backend::Propnet, Limits::default()).unwrap()
}

fn own(name: &str, instance: Option<&str>) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("games");
    let read = |path: String| std::fs::read_to_string(root.join(path)).unwrap();
    let instance = instance.map_or_else(String::new, |i| read(format!("instances/{i}.kif")));
    read(format!("{name}.kif")) + &instance
}

fn run(machine: &AnyMachine, options: &SolveOptions) -> (Answer, Stats) {
    let mut stats = Stats::default();
    let answer = solve(machine, options, &mut stats, &mut ()).unwrap();
    (answer, stats)
}

fn length(answer: &Answer) -> Option<usize> {
    match &answer.verdict {
        Verdict::Solved { plans, .. } => plans.first().map(Vec::len),
        _ => None,
    }
}

#[test]
fn names_mean_nothing_to_auto() {
    let texts = [
        own("senku", None),
        own("eight_puzzle", None),
        own("hanoi", None),
        own("wolf_goat_cabbage", None),
        own("buttons_and_lights_timed", None),
        own("lights_out", Some("lights_out_4x4")),
        own("lights_out", Some("lights_out_4x4_unsolvable")),
        own("hitori", Some("hitori_5x5")),
        own("sudoku", Some("sudoku_4x4")),
    ];
    let random = (0..60).map(random_rules);
    for text in texts.into_iter().chain(random) {
        let told = |text: &str| {
            let (answer, stats) = run(&machine(text), &SolveOptions::default());
            let counts: Vec<_> = stats.levels.iter().map(|level| level.counts).collect();
            (length(&answer), answer.chosen, counts)
        };
        assert_eq!(told(&text), told(&scrambled(&text)), "{text}");
    }
}

/// Walks along every play of a small game: the scores of ends, each with the
/// fewest moves that lead to it.
fn ends(text: &str) -> Vec<(u8, usize)> {
    let mut machine = DatalogMachine::new(&game(text), Limits::default()).unwrap();
    let role = machine.game().roles().next().unwrap();
    let mut level = vec![machine.initial().unwrap()];
    let mut known: HashSet<_> = level.iter().cloned().collect();
    let mut ends: Vec<(u8, usize)> = Vec::new();
    for depth in 0.. {
        let mut below = Vec::new();
        for state in &level {
            if machine.is_terminal(state).unwrap() {
                let score = machine.goal(state, role).unwrap().get();
                if ends.iter().all(|&(known, _)| known != score) {
                    ends.push((score, depth));
                }
                continue;
            }
            let mut legal = Vec::new();
            machine.legal(state, role, &mut legal).unwrap();
            for chosen in legal {
                let after = machine.next(state, &[chosen]).unwrap();
                if known.insert(after.clone()) {
                    below.push(after);
                }
            }
        }
        if below.is_empty() {
            return ends;
        }
        level = below;
    }
    unreachable!("levels end")
}

#[test]
fn shortest_plans_are_proved_to_be_shortest() {
    let mut solved = 0;
    for seed in 0..120 {
        let text = random_rules(seed);
        let expected = ends(&text).into_iter().find(|&(score, _)| score == 100);
        for threads in [1, 3] {
            let mut options = SolveOptions::default();
            options.optimal = true;
            options.threads = threads;
            let (answer, _) = run(&machine(&text), &options);
            let known = expected.map(|(_, depth)| depth);
            assert_eq!(length(&answer), known, "seed {seed}, {threads} threads");
            match answer.verdict {
                Verdict::Solved { optimal, .. } => assert!(optimal, "seed {seed}"),
                Verdict::Unsolvable => assert_eq!(known, None),
                other => panic!("seed {seed}: {other:?}"),
            }
            solved += usize::from(known.is_some());
        }
    }
    assert!(solved > 40, "{solved}");
}

#[test]
fn a_plan_of_the_longest_length_allowed_is_found_and_none_longer() {
    let machine = machine(&own("hanoi", None));
    for (depth, expected) in [(31, Some(31)), (30, None)] {
        let mut options = SolveOptions::default();
        options.budget.depth = depth;
        let (answer, _) = run(&machine, &options);
        assert_eq!(length(&answer), expected);
        if expected.is_none() {
            assert_eq!(answer.verdict, Verdict::NoSolutionWithin(30));
        }
    }
}

/// A walk on a line, whose end is worth the more the farther it is; both ways
/// at the end are closed but for one that is worth less than all.
const GRADED: &str = "
    (role r) (succ 0 1) (succ 1 2) (succ 2 3) (init (at 0)) (init (left 3))
    (worth 0 10) (worth 1 30) (worth 2 60) (worth 3 80)
    (<= (legal r go) (true (at ?x)) (succ ?x ?y) (distinct ?y 3))
    (legal r stay)
    (<= (next (at ?y)) (does r go) (true (at ?x)) (succ ?x ?y))
    (<= (next (at ?x)) (does r stay) (true (at ?x)))
    (<= (next (left ?x)) (true (left ?y)) (succ ?x ?y))
    (<= terminal (true (left 0)))
    (<= (goal r ?v) (true (at ?x)) (worth ?x ?v))
    (<= (goal r 100) (true (at 4)))";

#[test]
fn the_best_end_is_found_where_the_target_is_not_to_be_had() {
    let machine = machine(GRADED);
    assert_eq!(ends(GRADED).iter().map(|end| end.0).max(), Some(60));
    for threads in [1, 2] {
        let mut options = SolveOptions::default();
        options.threads = threads;
        let (answer, _) = run(&machine, &options);
        assert_eq!(answer.verdict, Verdict::Unsolvable);
        let best = answer.best.unwrap();
        assert_eq!((best.score.get(), best.plan.len()), (60, 3));
        assert_eq!(answer.bound, Score::new(60));
    }
    let mut from = machine.clone();
    let start = from.initial().unwrap();
    for method in ["auto", "breadth-first", "breadth-first-packed"] {
        let mut options = SolveOptions::default();
        options.method = method.parse().unwrap();
        let mut stats = Stats::default();
        let answer = solve_best_from(&machine, &start, &options, &mut stats, &mut ()).unwrap();
        assert_eq!((length(&answer), answer.target.get()), (Some(3), 60));
        assert_eq!(answer.bound, Score::new(60), "{method:?}");
    }
}

#[test]
fn the_best_end_of_random_games_is_that_of_all_ends() {
    for seed in 0..60 {
        let text = random_rules(seed).replace("(goal me 0)", "(goal me 40)");
        let best = ends(&text).into_iter().map(|end| end.0).max();
        let mut machine = machine(&text);
        let start = machine.initial().unwrap();
        let options = SolveOptions::default();
        let mut stats = Stats::default();
        let answer = solve_best_from(&machine, &start, &options, &mut stats, &mut ()).unwrap();
        let found = length(&answer).map(|_| answer.target.get());
        assert_eq!(found.or(Some(0)), best.or(Some(0)), "seed {seed}\n{text}");
    }
}

/// Facts that are set once each, any three of five; the last two never together.
const CHOICE: &str = "
    (role r) (thing a) (thing b) (thing c) (thing d) (thing e) (succ 0 1) (succ 1 2) (succ 2 3)
    (init (time 0))
    (<= (legal r (take ?x)) (thing ?x) (not (true (has ?x))))
    (<= (next (has ?x)) (does r (take ?x)))
    (<= (next (has ?x)) (true (has ?x)))
    (<= (next (time ?u)) (true (time ?t)) (succ ?t ?u))
    (<= terminal (true (time 3)))
    (<= bad (true (has d)) (true (has e)))
    (<= (goal r 100) (not bad)) (<= (goal r 0) bad)";

fn sets(machine: &AnyMachine, plans: &[Vec<Move>]) -> BTreeSet<Vec<String>> {
    let mut terms = machine.terms().clone();
    terms.refresh();
    let text = |chosen: &Move| machine.game().text(&terms, chosen.term());
    let set = |plan: &Vec<Move>| {
        let mut set: Vec<String> = plan.iter().map(text).collect();
        set.sort();
        set
    };
    plans.iter().map(set).collect()
}

#[test]
fn solutions_that_differ_in_their_moves_are_counted() {
    let cases = [
        (CHOICE.to_owned(), 7),
        (own("sudoku", Some("sudoku_4x4")), 1),
        (own("hitori", Some("hitori_5x5")), 1),
    ];
    for (text, expected) in cases {
        let mut machine = machine(&text);
        let start = machine.initial().unwrap();
        let count = |at_most| count_from(&machine, &start, &SolveOptions::default(), at_most);
        let all = count(expected + 5).unwrap();
        assert!(all.is_all);
        assert_eq!(all.plans.len(), expected);
        assert_eq!(sets(&machine, &all.plans).len(), expected);
        let some = count(expected).unwrap();
        assert_eq!((some.plans.len(), some.is_all), (expected, false));
    }
}

/// A lock with `dials` dials of four values, of which one move turns all, each to the left, to the right or
/// not; the first two decide. With `is_bound`, the last dial turns only where the first has turned before.
fn lock(dials: usize, is_bound: bool) -> String {
    let of = |name: &str| -> Vec<String> { (1..=dials).map(|d| format!("?{name}{d}")).collect() };
    let (turns, all) = (of("t"), of("t").join(" "));
    let mut text = String::from(
        "(role smith) (turn left) (turn right) (turn stay) (clock n e) (clock e s) (clock s w) (clock w n)
        (init (step 1)) (after 1 2) (after 2 3) (after 3 4) (after 4 5)
        (<= (next (step ?n)) (true (step ?m)) (after ?m ?n))
        (<= (next (dial ?d ?b)) (turned ?d right) (true (dial ?d ?a)) (clock ?a ?b))
        (<= (next (dial ?d ?a)) (turned ?d left) (true (dial ?d ?b)) (clock ?a ?b))
        (<= (next (dial ?d ?a)) (turned ?d stay) (true (dial ?d ?a)))
        (<= open (true (dial 1 s)) (true (dial 2 w)))
        (<= terminal open) (<= terminal (true (step 5)))
        (<= (goal smith 100) open) (<= (goal smith 0) (not open))\n",
    );
    for (dial, turn) in (1..).zip(&turns) {
        text += &format!(
            "(init (dial {dial} n)) (<= (turned {dial} {turn}) (does smith (set {all})))\n"
        );
    }
    let each: Vec<String> = turns.iter().map(|turn| format!("(turn {turn})")).collect();
    let first = if is_bound {
        format!("(or (distinct ?t{dials} right) (true (dial 1 e)))")
    } else {
        String::new()
    };
    text + &format!(
        "(<= (legal smith (set {all})) {} {first})\n",
        each.join(" ")
    )
}

#[test]
fn what_no_solution_depends_on_costs_nothing() {
    for dials in 2..=6 {
        let (answer, stats) = run(&machine(&lock(dials, false)), &SolveOptions::default());
        assert_eq!(length(&answer), Some(2), "{dials} dials");
        let positions = stats.total().generated;
        assert!(positions < 500, "{dials} dials: {positions} positions");
    }
    // Moves that are legal elsewhere are others, and a dial that decides what is legal matters.
    for dials in 3..=5 {
        let whole = machine(&lock(dials, true));
        let (answer, _) = run(&whole, &SolveOptions::default());
        assert_eq!(length(&answer), Some(2), "{dials} dials");
    }
}
