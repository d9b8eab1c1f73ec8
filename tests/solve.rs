//! Plans, proofs and graphs of games, from rules alone.

use std::time::Duration;

use crate::common::names::scrambled;
use crate::common::sized;
use ggp_engine::machine::{AnyMachine, Backend, Limits, Machine};
use ggp_gdl::game::{Game, Score};
use ggp_search::graph::{Explore, Graph, Merge, explore};
use ggp_search::{Budget, BudgetKind, Coverage, Plans, Prune, Stats, Verdict};
use ggp_solver::solve::{
    Answer, Checker, GameProblem, Keys, Method, Refutes, SolveError, SolveOptions, check_plan,
    solve,
};
use ggp_stop::Stop;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const SEARCHES: [&str; 3] = ["iterative-deepening", "breadth-first", "depth-first"];

fn game(text: &str) -> Game {
    Game::from_text("test.kif", text).unwrap_or_else(|reading| panic!("{:?}", reading.findings))
}

fn file(name: &str) -> String {
    let path = format!("{}/games/{name}.kif", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn machine(text: &str) -> AnyMachine {
    AnyMachine::new(&game(text), Backend::default(), Limits::default()).unwrap()
}

fn run(machine: &AnyMachine, options: &SolveOptions) -> (Answer, Stats) {
    let mut stats = Stats::default();
    let answer = solve(machine, options, &mut stats, &mut ()).unwrap();
    (answer, stats)
}

fn with(method: &str) -> SolveOptions {
    let mut options = SolveOptions::default();
    options.method = method.parse().unwrap();
    options
}

fn all(method: &str) -> SolveOptions {
    let mut options = with(method);
    options.plans = Plans::AllShortest { max: 100 };
    options
}

/// The verdict in one line, with the plans.
fn told(machine: &AnyMachine, answer: &Answer) -> String {
    let mut terms = machine.terms().clone();
    terms.refresh();
    let text = |plan: &Vec<ggp_gdl::game::Move>| {
        let moves = plan.iter().map(|m| machine.game().text(&terms, m.term()));
        moves.collect::<Vec<_>>().join(" ")
    };
    match &answer.verdict {
        Verdict::Solved { plans, .. } => plans.iter().map(text).collect::<Vec<_>>().join(" | "),
        Verdict::Unsolvable => "unsolvable".to_owned(),
        Verdict::NoSolutionWithin(depth) => format!("none within {depth}"),
        Verdict::OutOfBudget { what, .. } => format!("out of budget: {what:?}"),
    }
}

fn length(answer: &Answer) -> Option<usize> {
    match &answer.verdict {
        Verdict::Solved { plans, .. } => plans.first().map(Vec::len),
        _ => None,
    }
}

fn check(text: &str, options: &SolveOptions, expected: &str) {
    let machine = machine(text);
    let (answer, _) = run(&machine, options);
    assert_eq!(told(&machine, &answer), expected, "{:?}", options.method);
}

type Explored = Graph<<AnyMachine as Machine>::State, ggp_gdl::game::Move>;

fn graph(text: &str, keys: Keys, merge: Merge, prune: Prune, depth: u32) -> Explored {
    let mut machine = machine(text);
    let start = machine.initial().unwrap();
    let mut problem = GameProblem::new(&machine, &start, Score::MAX, keys).unwrap();
    let how = Explore {
        merge,
        prune,
        ..Explore::default()
    };
    let budget = Budget {
        depth,
        nodes: 10_000,
        ..Budget::default()
    };
    explore(&mut problem, &how, &budget, &mut Stats::default(), &mut ()).unwrap()
}

fn shape(graph: &Explored) -> (usize, usize, Vec<usize>) {
    let levels = graph.levels().iter().map(ExactSizeIterator::len).collect();
    (graph.nodes().len(), graph.arcs().len(), levels)
}

const LIGHTS_PLANS: &str = "a b a c b a | a b c a b a";

#[test]
fn buttons_and_lights_has_two_shortest_plans() {
    for method in ["auto", "iterative-deepening", "breadth-first"] {
        for keys in [Keys::Auto, Keys::Exact, Keys::Stripped] {
            let mut options = all(method);
            options.keys = keys;
            check(&file("buttons_and_lights"), &options, LIGHTS_PLANS);
            check(&file("buttons_and_lights_timed"), &options, LIGHTS_PLANS);
        }
    }
}

#[test]
fn its_plans_are_known_to_be_all_and_checked() {
    let machine = machine(&file("buttons_and_lights"));
    let (answer, stats) = run(&machine, &all("iterative-deepening"));
    let Verdict::Solved {
        plans,
        optimal,
        coverage,
    } = &answer.verdict
    else {
        panic!("{answer:?}");
    };
    assert_eq!((plans.len(), *optimal, *coverage), (2, true, Coverage::All));
    assert_eq!((answer.checked, answer.stripped), (Checker::Naive, 1));
    assert_eq!(check_plan(&machine, &plans[0]).unwrap(), Score::MAX);
    assert_eq!(stats.levels.len(), 7);
    assert!(matches!(
        check_plan(&machine, &plans[0][..3]),
        Err(SolveError::WrongPlan(wrong)) if wrong.moves == 3
    ));
}

#[test]
fn its_graph_has_8_nodes_without_the_counter_and_32_with_it() {
    let text = file("buttons_and_lights");
    let deep = u32::MAX;
    let stripped = graph(&text, Keys::Auto, Merge::Key, Prune::NONE, deep);
    assert_eq!(shape(&stripped), (8, 21, vec![1, 1, 1, 2, 1, 1, 1]));
    let exact = graph(&text, Keys::Exact, Merge::State, Prune::NONE, deep);
    let levels = vec![1, 2, 3, 5, 6, 7, 8];
    assert_eq!(shape(&exact), (32, 72, levels));
    let tree = graph(&text, Keys::Exact, Merge::Nothing, Prune::NONE, deep);
    assert_eq!(tree.nodes().len(), 1_093);
    assert_eq!(tree.leaf_count(), 729);
}

#[test]
fn pruning_leaves_what_leads_to_the_goal() {
    let text = file("buttons_and_lights");
    let cycle = graph(&text, Keys::Auto, Merge::Key, Prune::CYCLE, u32::MAX);
    assert_eq!(shape(&cycle).0, 8);
    assert!(shape(&cycle).1 < 21);
    let both = graph(&text, Keys::Auto, Merge::Key, Prune::ALL, u32::MAX);
    assert_eq!(shape(&both), (8, 8, vec![1, 1, 1, 2, 1, 1, 1]));
    let shallow = graph(&text, Keys::Auto, Merge::Key, Prune::NONE, 3);
    assert_eq!(shape(&shallow).2, [1, 1, 1, 2]);
}

#[test]
fn other_names_give_the_same_search() {
    for name in [
        "buttons_and_lights",
        "buttons_and_lights_timed",
        "wolf_goat_cabbage",
    ] {
        let text = file(name);
        let renamed = scrambled(&text);
        assert!(!renamed.contains("step"));
        for method in SEARCHES {
            let (one, other) = (machine(&text), machine(&renamed));
            let (answer, stats) = run(&one, &with(method));
            let (renamed_answer, renamed_stats) = run(&other, &with(method));
            assert_eq!(
                length(&answer),
                length(&renamed_answer),
                "{name} {method:?}"
            );
            assert_eq!(answer.stripped, renamed_answer.stripped);
            let counts = |stats: &Stats| -> Vec<_> {
                stats.levels.iter().map(|level| level.counts).collect()
            };
            assert_eq!(counts(&stats), counts(&renamed_stats), "{name} {method:?}");
        }
    }
}

#[test]
fn puzzles_with_cycles_and_no_clock_are_solved() {
    for method in SEARCHES {
        let river = machine(&file("wolf_goat_cabbage"));
        let (answer, _) = run(&river, &with(method));
        assert!(length(&answer).is_some_and(|moves| moves >= 7));
    }
    let hanoi = machine(&file("hanoi"));
    let (answer, _) = run(&hanoi, &with("auto"));
    assert_eq!(length(&answer), Some(31));
}

/// A walk on a row of five cells from the left, with a clock of six steps.
const ROW: &str = "
    (role r) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5)
    (tick 0 1) (tick 1 2) (tick 2 3) (tick 3 4) (tick 4 5) (tick 5 6)
    (init (at 1)) (init (time 0))
    (<= (legal r right) (true (at ?x)) (succ ?x ?y))
    (<= (legal r left) (true (at ?y)) (succ ?x ?y))
    (<= (next (at ?y)) (does r right) (true (at ?x)) (succ ?x ?y))
    (<= (next (at ?x)) (does r left) (true (at ?y)) (succ ?x ?y))
    (<= (next (time ?y)) (true (time ?x)) (tick ?x ?y))
    (<= terminal (true (time 6)))";

#[test]
fn a_goal_that_counts_at_one_step_only_is_found_at_that_step() {
    let exactly_five = format!(
        "{ROW} (<= terminal won) (<= won (true (at 2)) (true (time 5)))
         (<= (goal r 100) won) (<= (goal r 0) (not won))"
    );
    let at_the_end =
        format!("{ROW} (<= (goal r 100) (true (at 3))) (<= (goal r 0) (not (true (at 3))))");
    for method in SEARCHES {
        let (answer, _) = run(&machine(&exactly_five), &with(method));
        assert_eq!(length(&answer), Some(5), "{method:?}");
        let (answer, _) = run(&machine(&at_the_end), &with(method));
        assert_eq!(length(&answer), Some(6), "{method:?}");
    }
    // Five steps from cell 1 lead to an even cell.
    let odd = exactly_five.replace(
        "(true (at 2)) (true (time 5))",
        "(true (at 3)) (true (time 5))",
    );
    for method in SEARCHES {
        check(&odd, &with(method), "unsolvable");
    }
}

#[test]
fn a_move_that_is_legal_at_one_step_only_is_found() {
    let rules = format!(
        "{ROW} (<= (legal r jump) (true (time 4)) (true (at 3)))
         (<= (next (at 9)) (does r jump)) (<= terminal (true (at 9)))
         (<= (goal r 100) (true (at 9))) (<= (goal r 0) (not (true (at 9))))"
    );
    for method in SEARCHES {
        let (answer, _) = run(&machine(&rules), &with(method));
        assert_eq!(length(&answer), Some(5), "{method:?}");
        assert_eq!(answer.stripped, 0);
    }
}

#[test]
fn no_plan_and_no_short_plan_are_told_apart() {
    let win_at = |cell: u32| {
        format!(
            "{ROW} (<= terminal (true (at {cell})))
             (<= (goal r 100) (true (at {cell}))) (<= (goal r 0) (not (true (at {cell}))))"
        )
    };
    let within = |method, depth| {
        let mut options = with(method);
        options.budget.depth = depth;
        options
    };
    for method in SEARCHES {
        check(&win_at(5), &with(method), "right right right right");
        check(&win_at(5), &within(method, 4), "right right right right");
        check(&win_at(5), &within(method, 3), "none within 3");
        check(&win_at(6), &with(method), "unsolvable");
        check(&win_at(6), &within(method, 3), "none within 3");
    }
    check(&win_at(6), &with("auto"), "unsolvable");
    let mut one_node = with("breadth-first");
    one_node.budget.nodes = 1;
    check(&win_at(5), &one_node, "out of budget: Nodes");
}

#[test]
fn a_goal_without_an_end_is_no_solution() {
    let rules = "(role r) (legal r go) (legal r stop) (init (at a))
        (<= (next (at b)) (does r go) (true (at a))) (<= (next (at c)) (does r stop))
        (<= terminal (true (at c)))
        (<= (goal r 100) (true (at b))) (<= (goal r 0) (not (true (at b))))";
    for method in SEARCHES {
        check(rules, &with(method), "unsolvable");
    }
}

/// Take one or two coins four times; the score is what was taken, and the game
/// ends early for who takes too many.
const COINS: &str = "
    (role r) (init (coins 0)) (legal r one) (legal r two)
    (succ 0 10) (succ 10 20) (succ 20 30) (succ 30 40) (succ 40 50)
    (<= (next (coins ?y)) (does r one) (true (coins ?x)) (succ ?x ?y))
    (<= (next (coins ?z)) (does r two) (true (coins ?x)) (succ ?x ?y) (succ ?y ?z))
    (<= (next (coins 5)) (does r two) (true (coins 40)))
    (<= terminal (true (coins ?x)) (enough ?x)) (enough 50) (enough 5)
    (<= (goal r ?x) (true (coins ?x)))";

#[test]
fn the_best_end_is_remembered_with_the_way_there() {
    for method in SEARCHES {
        let machine = machine(COINS);
        let (answer, _) = run(&machine, &with(method));
        assert_eq!(answer.verdict, Verdict::Unsolvable);
        let best = answer.best.expect("there are ends with points");
        assert_eq!(best.score.get(), 50);
        assert_eq!(check_plan(&machine, &best.plan).unwrap(), best.score);
        assert_eq!(answer.checked, Checker::Naive);
    }
    let mut less = with("breadth-first");
    less.target = Score::new(50).unwrap();
    check(COINS, &less, "one two two");
}

#[test]
fn playouts_find_plans_and_best_ends() {
    let mut limited = with("mcts");
    limited.budget.nodes = 300;
    let coins = machine(COINS);
    let (answer, _) = run(&coins, &limited);
    let Verdict::OutOfBudget { what, .. } = answer.verdict else {
        panic!("{answer:?}");
    };
    assert!(matches!(what, BudgetKind::Nodes | BudgetKind::Iterations));
    assert_eq!(answer.best.map(|best| best.score.get()), Some(50));
    let mut less = limited;
    less.target = Score::new(50).unwrap();
    let (answer, _) = run(&coins, &less);
    assert!(length(&answer).is_some());
}

#[test]
fn a_state_without_moves_is_a_dead_end_and_is_reported() {
    let rules = "(role r) (init (at a)) (arc a x) (arc a b) (arc b c)
        (<= (legal r ?y) (true (at ?x)) (arc ?x ?y)) (<= (next (at ?y)) (does r ?y))
        (<= terminal (true (at c))) (<= (goal r 100) (true (at c)))
        (<= (goal r 0) (not (true (at c))))";
    let machine = machine(rules);
    let (answer, _) = run(&machine, &with("depth-first"));
    assert_eq!(told(&machine, &answer), "b c");
    assert!(answer.fault.is_some());
}

#[test]
fn an_interrupt_ends_every_search() {
    let options = |method| {
        let mut options = with(method);
        options.budget.stop = ggp_stop::Stop::raised();
        options
    };
    let anywhere = Method::all().filter(|method| !method.needs_network());
    for method in anywhere {
        check(
            &file("hanoi"),
            &options(method.name()),
            "out of budget: Interrupt",
        );
    }
    let game = game(&file("hanoi"));
    let machine = AnyMachine::new(&game, Backend::Propnet, Limits::default()).unwrap();
    for method in Method::all() {
        let (answer, _) = run(&machine, &options(method.name()));
        assert_eq!(
            told(&machine, &answer),
            "out of budget: Interrupt",
            "{method:?}"
        );
    }
}

#[test]
fn games_of_several_roles_or_with_chance_have_no_plan() {
    for (rules, expected) in [
        (file("rock_paper_scissors"), "this one has 2 roles"),
        (file("kuhn_poker"), "this one has 3 roles"),
        (file("dice_race"), "this one has 3 roles"),
        (file("monty_hall"), "without chance"),
        (
            file("buttons_and_lights").replace("robot", "random"),
            "without chance",
        ),
    ] {
        let error = match Game::from_text("test.kif", &rules) {
            Ok(_) => solve(
                &machine(&rules),
                &with("auto"),
                &mut Stats::default(),
                &mut (),
            ),
            Err(reading) => panic!("{reading}"),
        };
        let error = error.expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}");
    }
}

/// A random walk game with a clock: nodes 0..5, moves p and q, and one of
/// several kinds of end and goal.
fn random_game(seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678;
    let mut below = |count: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % count
    };
    let mut text = String::from(
        "(role r) (legal r p) (legal r q) (init (at n0)) (init (time t0))
         (<= (next (at ?y)) (does r ?m) (true (at ?x)) (arc ?x ?m ?y))
         (<= (next (time ?y)) (true (time ?x)) (tick ?x ?y)) ",
    );
    for node in 0..5 {
        for chosen in ["p", "q"] {
            text += &format!("(arc n{node} {chosen} n{}) ", below(5));
        }
    }
    let last = 2 + below(4);
    for step in 0..last {
        text += &format!("(tick t{step} t{}) ", step + 1);
    }
    text += &format!("(<= terminal (true (time t{last}))) ");
    let (goal, step) = (1 + below(4), 1 + below(last));
    text += &match below(6) {
        0 => format!("(<= won (true (at n{goal}))) (<= terminal won) "),
        1 => format!("(<= won (true (at n{goal}))) "),
        2 => format!("(<= won (true (at n{goal})) (true (time t{step}))) (<= terminal won) "),
        3 => format!(
            "(<= won (true (at n{goal}))) (<= terminal won) \
             (<= terminal (true (at n{})) (true (time t{step}))) ",
            below(5)
        ),
        4 => format!(
            "(<= won (true (at n{goal}))) (<= terminal won) \
             (<= (legal r q2) (true (time t{step}))) (arc n0 q2 n{goal}) (arc n1 q2 n2) "
        ),
        _ => format!("(<= won (true (at n{goal})) (not (true (time t{step})))) (<= terminal won) "),
    };
    text + "(<= (goal r 100) won) (<= (goal r 0) (not won))"
}

#[test]
fn stripped_searches_say_what_exact_ones_say() {
    let (mut solved, mut unsolvable) = (0, 0);
    for seed in 0..120 {
        let text = random_game(seed);
        let machine = machine(&text);
        let mut exact = all("breadth-first");
        exact.keys = Keys::Exact;
        let (expected, _) = run(&machine, &exact);
        for method in ["breadth-first", "iterative-deepening"] {
            for keys in [Keys::Auto, Keys::Stripped] {
                let mut options = all(method);
                options.keys = keys;
                let (answer, _) = run(&machine, &options);
                let (one, other) = (told(&machine, &answer), told(&machine, &expected));
                assert_eq!(one, other, "seed {seed} {method:?} {keys:?}\n{text}");
            }
        }
        let (answer, _) = run(&machine, &with("depth-first"));
        let (auto, _) = run(&machine, &with("auto"));
        let is_solved = length(&expected).is_some();
        assert_eq!(length(&answer).is_some(), is_solved, "seed {seed}\n{text}");
        assert_eq!(length(&auto), length(&expected), "seed {seed}\n{text}");
        solved += u32::from(is_solved);
        unsolvable += u32::from(expected.verdict == Verdict::Unsolvable);
    }
    assert!(solved > 30 && unsolvable > 20, "{solved} {unsolvable}");
}

/// A random walk with a clock whose ends have many scores: 100 at one node at one time, 99 at other times.
fn graded(seed: u64) -> String {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let nodes = random.random_range(4..12);
    let (last, time) = (random.random_range(4..40), random.random_range(2..30));
    let mut text = format!(
        "(role r) (init (at n0)) (init (time 0)) (goal_node n{}) (<= (legal r ?m) (true (at ?x)) (arc ?x ?m ?y))
         (<= (next (at ?y)) (does r ?m) (true (at ?x)) (arc ?x ?m ?y))
         (<= (next (time ?y)) (true (time ?x)) (tick ?x ?y))
         (<= there (true (at ?x)) (goal_node ?x)) (<= terminal there) (<= terminal (true (time {last})))
         (<= (goal r 100) there (true (time {time}))) (<= (goal r 99) there (not (true (time {time}))))
         (<= (goal r ?s) (not there) (true (at ?x)) (points ?x ?s))",
        random.random_range(1..nodes)
    );
    for node in 0..nodes {
        text += &format!(" (points n{node} {})", random.random_range(0..60));
        for chosen in 0..random.random_range(1..4) {
            let to = random.random_range(0..nodes);
            text += &format!(" (arc n{node} m{chosen} n{to})");
        }
    }
    text + &(0..last)
        .map(|time| format!(" (tick {time} {})", time + 1))
        .collect::<String>()
}

#[test]
fn no_end_with_the_target_is_called_unsolved() {
    let mut solved = 0;
    for seed in 0..sized(30, 300) {
        let text = graded(seed);
        let game = game(&text);
        for backend in [Backend::Propnet, Backend::Datalog] {
            let machine = AnyMachine::new(&game, backend, Limits::default()).unwrap();
            let is_network = backend == Backend::Propnet;
            for method in Method::all().filter(|method| is_network || !method.needs_network()) {
                let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
                for nodes in [0, 1, 10, 100, 1_000, 10_000] {
                    let mut options = with(method.name());
                    options.budget.nodes = nodes;
                    options.target = Score::new([100, 99, 50][random.random_range(0..3)]).unwrap();
                    if random.random_bool(0.3) {
                        options.budget.depth = random.random_range(1..20);
                    }
                    if random.random_bool(0.3) {
                        let micros = random.random_range(0..3_000);
                        options.budget.stop =
                            Stop::new().within(Some(Duration::from_micros(micros)));
                    }
                    options.optimal = random.random_bool(0.3);
                    let (answer, _) = run(&machine, &options);
                    let what = format!("seed {seed}, {method:?}, {:?}: {answer:?}", options.budget);
                    let depth = options.budget.depth as usize;
                    if let Some(best) = &answer.best {
                        let is_plan = best.score >= options.target && best.plan.len() <= depth;
                        assert!(!is_plan, "{what}");
                        assert_eq!(
                            check_plan(&machine, &best.plan).unwrap(),
                            best.score,
                            "{what}"
                        );
                        assert!(length(&answer).is_none(), "{what}");
                    }
                    if let Verdict::Solved { plans, .. } = &answer.verdict {
                        let score = check_plan(&machine, &plans[0]).unwrap();
                        assert!(score >= options.target && plans[0].len() <= depth, "{what}");
                        solved += 1;
                    }
                }
            }
        }
    }
    assert!(solved > 0);
}

/// The rows of the table of methods in the documentation.
fn documented_rows() -> String {
    let mut rows = String::new();
    for method in Method::all() {
        let proves = method.proves();
        let shortest = if proves.shortest { "yes" } else { "no" };
        let none = match proves.none {
            Refutes::Never => "no",
            Refutes::UpToLength => "up to a length",
            Refutes::BySearch => "by a complete search",
            Refutes::ByArgument => "by an argument",
        };
        let (name, suits) = (method.name(), method.suits());
        rows += &format!("| `{name}` | {suits} | {shortest} | {none} |\n");
    }
    rows
}

#[test]
fn the_documentation_has_the_table_of_methods() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join("docs/reference/solving.md")).unwrap();
    let rows = documented_rows();
    assert!(
        text.contains(&rows),
        "docs/reference/solving.md lacks these rows:\n{rows}"
    );
}
