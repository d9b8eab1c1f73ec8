//! Searches over packed states agree with plain search in their plans, proofs and
//! counts.

use ggp_stop::Stop;

use ggp_engine::machine::DatalogMachine;
use ggp_engine::machine::{Limits, Machine};
use ggp_gdl::check::Keyword;
use ggp_gdl::game::{Game, Score};
use ggp_search::breadth_first::{BreadthFirst, breadth_first};
use ggp_search::{Budget, Compare, Plans, Stats, Verdict};
use ggp_solver::planning::best_first::{BestFirst, Order, best_first};
use ggp_solver::planning::breadth_first::{self, BreadthFirstOptions};
use ggp_solver::planning::depth_first::{DeadEndDetector, DepthFirstOptions, depth_first};
use ggp_solver::planning::estimate::Estimate;
use ggp_solver::planning::iterative_deepening::iterative_deepening;
use ggp_solver::planning::{Outcome, Puzzle, Reason};
use ggp_solver::solve::{GameProblem, Keys, check_plan};

pub(crate) mod shared;
use shared::{game, puzzle, random_rules, texts};

type Search = fn(&Puzzle, &Budget, &mut Stats) -> Outcome;

fn best(
    puzzle: &Puzzle,
    order: Order,
    estimate: Estimate,
    budget: &Budget,
    stats: &mut Stats,
) -> Outcome {
    let how = BestFirst::new(order, estimate);
    best_first(puzzle, &how, budget, stats, &mut ())
}

/// All searches that eventually find a plan or a proof.
const SEARCHES: [(&str, Search); 10] = [
    ("levels", level_by_level),
    ("one worker", |puzzle, budget, stats| {
        let options = DepthFirstOptions {
            workers: 1,
            ..DepthFirstOptions::default()
        };
        depth_first(puzzle, &options, None, budget, stats, &mut ())
    }),
    ("workers", |puzzle, budget, stats| {
        let options = DepthFirstOptions {
            restart_after: 20,
            ..DepthFirstOptions::default()
        };
        depth_first(puzzle, &options, None, budget, stats, &mut ())
    }),
    ("fewest moves", |puzzle, budget, stats| {
        let options = DepthFirstOptions {
            restart_after: 20,
            fewest_moves: true,
            ..DepthFirstOptions::default()
        };
        depth_first(puzzle, &options, None, budget, stats, &mut ())
    }),
    ("greedy, distance", |puzzle, budget, stats| {
        best(puzzle, Order::Greedy, Estimate::GoalCount, budget, stats)
    }),
    ("greedy, additive", |puzzle, budget, stats| {
        best(puzzle, Order::Greedy, Estimate::HAdd, budget, stats)
    }),
    ("A*, distance", |puzzle, budget, stats| {
        best(puzzle, Order::AStar, Estimate::GoalCount, budget, stats)
    }),
    ("A*, latest", |puzzle, budget, stats| {
        best(puzzle, Order::AStar, Estimate::HMax, budget, stats)
    }),
    ("greedy, scarce", |puzzle, budget, stats| {
        best(
            puzzle,
            Order::Greedy,
            Estimate::WeightedGoalCount,
            budget,
            stats,
        )
    }),
    ("novelty", |puzzle, budget, stats| {
        best(puzzle, Order::Bfws2, Estimate::HAdd, budget, stats)
    }),
];

fn level_by_level(puzzle: &Puzzle, budget: &Budget, stats: &mut Stats) -> Outcome {
    breadth_first::breadth_first(
        puzzle,
        &BreadthFirstOptions::default(),
        budget,
        stats,
        &mut (),
    )
    .unwrap()
    .0
}

/// Searches that need other limits.
const OTHERS: [(&str, Search); 1] = [("IDA*", ida_star)];

fn ida_star(puzzle: &Puzzle, budget: &Budget, stats: &mut Stats) -> Outcome {
    iterative_deepening(puzzle, budget, stats, &mut ())
}

/// Larger games are too slow on the plain machine.
const GATES: usize = 1_500;

/// Compares all searches with plain breadth-first search on the Datalog machine.
/// Returns whether that search finished.
fn check(name: &str, game: &Game, nodes: u64) -> bool {
    let Some(puzzle) = puzzle(game).filter(|puzzle| puzzle.net.network().gates() < GATES) else {
        return false;
    };
    let mut machine = DatalogMachine::new(game, Limits::default()).unwrap();
    let start = machine.initial().unwrap();
    let budget = Budget {
        nodes,
        ..Budget::default()
    };
    let plain = |keys, compare| {
        let mut problem = GameProblem::new(&machine, &start, Score::MAX, keys).unwrap();
        let options = BreadthFirst {
            plans: Plans::First,
            compare,
        };
        let mut stats = Stats::default();
        let found = breadth_first(&mut problem, &options, &budget, &mut stats, &mut ());
        (found.unwrap(), stats)
    };
    let (expected, all) = plain(Keys::Exact, Compare::State);
    let (_, stripped) = plain(Keys::Auto, Compare::Key);
    let least = match &expected {
        Verdict::Solved { plans, .. } => Some(plans[0].len()),
        Verdict::Unsolvable => None,
        _ => return false,
    };
    for (search, run) in SEARCHES.into_iter().chain(OTHERS) {
        let mut stats = Stats::default();
        let outcome = run(&puzzle, &Budget::default(), &mut stats);
        let what = format!("{name}, {search}: {outcome:?}");
        match (&outcome, least) {
            (Outcome::Solved { plan, optimal }, Some(least)) => {
                let moves = plan
                    .iter()
                    .map(|&chosen| puzzle.net.moves()[0][chosen as usize]);
                let moves: Vec<_> = moves.collect();
                assert_eq!(check_plan(&machine, &moves).unwrap(), Score::MAX, "{what}");
                assert!(
                    plan.len() >= least && (!optimal || plan.len() == least),
                    "{what}"
                );
                let is_bound = ["levels", "A*, latest"].contains(&search);
                let is_bound = is_bound || OTHERS.iter().any(|(other, _)| *other == search);
                assert!(*optimal || !is_bound, "{what}");
            }
            (&Outcome::Unsolvable(Reason::Exhausted { positions }), None) => {
                let most = all.total().generated;
                assert!(positions <= most, "{what}, but {most}");
                let first = stripped
                    .levels
                    .iter()
                    .filter(|level| level.compare == Compare::Key);
                let keys: u64 = first.map(|level| level.counts.generated).sum();
                assert!(
                    positions <= keys.max(1) || positions == most,
                    "{what}, but {keys} keys"
                );
            }
            _ => panic!("{what}, but the least plan is {least:?}"),
        }
        // The searches are repeated with the depth of a shortest plan, and with one
        // less.
        let Some(least) = least.filter(|&least| least > 0) else {
            continue;
        };
        let within = |depth: usize| Budget {
            depth: depth as u32,
            ..Budget::default()
        };
        let outcome = run(&puzzle, &within(least), &mut Stats::default());
        let is_solved = matches!(&outcome, Outcome::Solved { plan, .. } if plan.len() == least);
        assert!(is_solved, "{what}; within {least}: {outcome:?}");
        let outcome = run(&puzzle, &within(least - 1), &mut Stats::default());
        let is_nothing = outcome == Outcome::NoPlanWithin(least as u32 - 1);
        assert!(is_nothing, "{what}; within {}: {outcome:?}", least - 1);
    }
    true
}

#[test]
fn plans_and_proofs_agree_with_plain_search() {
    let mut checked = Vec::new();
    for (name, text) in texts() {
        if let Ok(game) = Game::from_text(&name, &text)
            && check(&name, &game, 1_000)
        {
            checked.push(name);
        }
    }
    for name in [
        "hanoi",
        "wolf_goat_cabbage",
        "buttons_and_lights_timed",
        "lights_out_3x3",
    ] {
        assert!(
            checked.iter().any(|checked| checked == name),
            "{name} of {checked:?}"
        );
    }
}

#[test]
fn random_games_agree_with_plain_search() {
    let mut ended = 0;
    for seed in 0..150 {
        let game = game(&random_rules(seed));
        ended += u32::from(check(&format!("seed {seed}"), &game, 3_000));
    }
    assert!(ended > 100, "{ended} games");
}

fn own(name: &str) -> Puzzle {
    let texts = texts();
    let (_, text) = texts.iter().find(|(own, _)| own == name).unwrap();
    puzzle(&game(text)).unwrap()
}

#[test]
fn positions_are_counted_level_by_level() {
    let mut stats = Stats::default();
    let budget = Budget {
        depth: 9,
        ..Budget::default()
    };
    let outcome = level_by_level(&own("senku"), &budget, &mut stats);
    assert_eq!(outcome, Outcome::NoPlanWithin(9));
    let generated = stats.levels.iter().map(|level| level.counts.generated);
    let expected = [1, 4, 12, 60, 296, 1338, 5648, 21842, 77559, 249_690];
    assert_eq!(generated.collect::<Vec<_>>(), expected);
}

#[test]
fn weighted_goal_counts_guide_greedy_search() {
    let how = BestFirst {
        together: 16,
        ..BestFirst::new(Order::Greedy, Estimate::WeightedGoalCount)
    };
    let stats = &mut Stats::default();
    let outcome = best_first(&own("senku"), &how, &Budget::default(), stats, &mut ());
    let is_solved = matches!(&outcome, Outcome::Solved { plan, .. } if plan.len() == 31);
    assert!(is_solved, "{outcome:?}");
    assert!(stats.total().expanded < 500, "{:?}", stats.total());
}

/// A tour of a board of `side` by `side` cells by jumps as in chess, from a corner, and one
/// jump more.
fn tour(side: u32) -> String {
    use std::fmt::Write as _;
    let mut text = String::from(
        "(role r) (init (at 1 1)) (init (step 1))
         (<= (legal r (go ?x ?y)) (true (at ?u ?v)) (jump ?u ?v ?x ?y))
         (<= (next (at ?x ?y)) (does r (go ?x ?y)))
         (<= (next (seen ?x ?y)) (true (seen ?x ?y)))
         (<= (next (seen ?x ?y)) (true (at ?x ?y)))
         (<= (next (step ?n)) (true (step ?m)) (after ?m ?n))
         (<= terminal (true (at ?x ?y)) (true (seen ?x ?y)))
         (<= (goal r 100) (true (step LAST))) (<= (goal r 0) (not (true (step LAST))))",
    )
    .replace("LAST", &(side * side + 1).to_string());
    for step in 1..=side * side {
        write!(text, "(after {step} {})", step + 1).unwrap();
    }
    let cells = || (1..=side).flat_map(|x| (1..=side).map(move |y| (x, y)));
    for ((u, v), (x, y)) in cells().flat_map(|from| cells().map(move |to| (from, to))) {
        if u.abs_diff(x) * v.abs_diff(y) == 2 {
            write!(text, "(jump {u} {v} {x} {y})").unwrap();
        }
    }
    text
}

#[test]
fn positions_with_few_moves_come_first() {
    let puzzle = puzzle(&game(&tour(8))).unwrap();
    let expanded = |fewest_moves, nodes| {
        let options = DepthFirstOptions {
            fewest_moves,
            ..DepthFirstOptions::default()
        };
        let stats = &mut Stats::default();
        let budget = Budget {
            nodes,
            ..Budget::default()
        };
        let outcome = depth_first(&puzzle, &options, None, &budget, stats, &mut ());
        let is_solved = matches!(&outcome, Outcome::Solved { plan, .. } if plan.len() == 64);
        (is_solved, stats.total().expanded)
    };
    let (is_solved, nodes) = expanded(true, 20_000);
    assert!(is_solved && nodes < 20_000, "{nodes}");
    // No order of moves does as well.
    assert!(!expanded(false, 5 * nodes).0);
}

#[test]
fn weighted_sums_bound_the_remaining_moves() {
    // Each jump removes one peg, so the first pass already has the length of the
    // plan.
    let stats = &mut Stats::default();
    let budget = Budget {
        nodes: 200_000,
        ..Budget::default()
    };
    let outcome = ida_star(&own("senku"), &budget, stats);
    let limits: Vec<u32> = stats.levels.iter().map(|level| level.depth).collect();
    assert_eq!(limits, [0, 31], "{outcome:?}");
    let within = Budget {
        depth: 30,
        ..Budget::default()
    };
    let stats = &mut Stats::default();
    let outcome = ida_star(&own("senku"), &within, stats);
    assert_eq!(outcome, Outcome::NoPlanWithin(30));
    assert_eq!(stats.total().expanded, 0);
}

#[test]
fn a_full_table_only_costs_time() {
    let puzzle = own("eight_puzzle");
    let mut expanded = Vec::new();
    for memory_bytes in [100_000, 1 << 28] {
        let budget = Budget {
            memory_bytes,
            ..Budget::default()
        };
        let stats = &mut Stats::default();
        let outcome = ida_star(&puzzle, &budget, stats);
        let is_shortest = matches!(
            &outcome,
            Outcome::Solved { plan, optimal: true } if plan.len() == 20
        );
        assert!(is_shortest, "{outcome:?}");
        assert!(stats.peak_bytes <= memory_bytes, "{}", stats.peak_bytes);
        expanded.push(stats.total().expanded);
    }
    assert!(expanded[0] > expanded[1], "{expanded:?}");
}

#[test]
fn every_position_is_counted() {
    let texts = texts();
    let (_, text) = texts
        .iter()
        .find(|(name, _)| name == "eight_puzzle")
        .unwrap();
    // Two tiles are swapped, so that only half of all arrangements can be reached,
    // and the solution is in the other half.
    let swapped = text
        .replace("(init (cell 1 1 2))", "(init (cell 1 1 3))")
        .replace("(init (cell 1 2 3))", "(init (cell 1 2 2))");
    let puzzle = puzzle(&game(&swapped)).unwrap();
    let positions = 181_440;
    let expected = Outcome::Unsolvable(Reason::Exhausted { positions });
    for (name, run) in &SEARCHES[..4] {
        let budget = Budget::default();
        assert_eq!(
            run(&puzzle, &budget, &mut Stats::default()),
            expected,
            "{name}"
        );
    }
}

#[test]
fn limits_are_respected() {
    let puzzle = own("senku");
    for (name, run) in SEARCHES {
        let stats = &mut Stats::default();
        let budget = Budget {
            memory_bytes: 300_000,
            depth: 12,
            ..Budget::default()
        };
        let outcome = run(&puzzle, &budget, stats);
        assert_eq!(outcome, Outcome::Unknown, "{name}");
        assert!(
            stats.peak_bytes <= budget.memory_bytes,
            "{name}: {}",
            stats.peak_bytes
        );
        let expanded = stats.total().expanded;
        assert!(expanded > 99, "{name}: {expanded}");

        let stats = &mut Stats::default();
        let budget = Budget {
            nodes: 777,
            depth: 12,
            ..Budget::default()
        };
        assert_eq!(run(&puzzle, &budget, stats), Outcome::Unknown, "{name}");
        assert!(stats.total().expanded <= 777, "{name}");

        let budget = Budget {
            stop: Stop::raised(),
            depth: 12,
            ..Budget::default()
        };
        let stats = &mut Stats::default();
        assert_eq!(run(&puzzle, &budget, stats), Outcome::Unknown, "{name}");
        assert_eq!(stats.total().expanded, 0, "{name}");
    }
}

/// A detector that knows one dead end and records the states it is called with.
struct Told {
    dead: Vec<u64>,
    stuck: u32,
}

impl DeadEndDetector for Told {
    fn is_dead(&mut self, state: &[u64]) -> bool {
        state == self.dead
    }

    fn stuck(&mut self, _state: &[u64]) {
        self.stuck += 1;
    }
}

#[test]
fn dead_ends_are_queried_and_reported() {
    let puzzle = own("wolf_goat_cabbage");
    let options = DepthFirstOptions {
        workers: 1,
        ..DepthFirstOptions::default()
    };
    let search = |dead: Vec<u64>| {
        let mut told = Told { dead, stuck: 0 };
        let stats = &mut Stats::default();
        let dead_end: Option<&mut dyn DeadEndDetector> = Some(&mut told);
        let budget = Budget::default();
        let outcome = depth_first(&puzzle, &options, dead_end, &budget, stats, &mut ());
        (outcome, stats.total().expanded, told.stuck)
    };
    // The start is reported as a dead end, so nothing is left to search.
    assert_eq!(search(puzzle.start.clone()), (Outcome::Unknown, 0, 0));
    let (outcome, _, _) = search(Vec::new());
    assert!(matches!(outcome, Outcome::Solved { .. }), "{outcome:?}");
    let (outcome, expanded, stuck) = {
        let unsolvable = own("lights_out_4x4_unsolvable");
        let mut told = Told {
            dead: Vec::new(),
            stuck: 0,
        };
        let stats = &mut Stats::default();
        let budget = Budget {
            depth: 3,
            ..Budget::default()
        };
        let outcome = depth_first(
            &unsolvable,
            &options,
            Some(&mut told),
            &budget,
            stats,
            &mut (),
        );
        (outcome, stats.total().expanded, told.stuck)
    };
    assert_eq!(outcome, Outcome::NoPlanWithin(3));
    assert!(
        stuck > 0 && u64::from(stuck) <= expanded,
        "{stuck} of {expanded}"
    );
}

/// The same rules with other names, in the same order.
fn rename(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let line = line.split(';').next().unwrap().to_lowercase();
        for piece in line.split_inclusive(|c: char| c.is_whitespace() || c == '(' || c == ')') {
            let word = piece.trim_end_matches(|c: char| c.is_whitespace() || c == '(' || c == ')');
            let is_fixed = word.is_empty()
                || word == "<="
                || word.starts_with('?')
                || word.parse::<i64>().is_ok()
                || Keyword::of(word).is_some();
            if !is_fixed {
                out.push_str("q7");
                out.extend(word.chars().rev().filter(|c| c.is_alphanumeric()));
                out.push_str(if word.contains('_') { "z" } else { "y" });
                out.push_str(&piece[word.len()..]);
            } else {
                out.push_str(piece);
            }
        }
        out.push('\n');
    }
    out
}

#[test]
fn names_do_not_affect_searches() {
    for (name, text) in texts() {
        if !["senku", "eight_puzzle", "hanoi", "lights_out_3x3"].contains(&name.as_str()) {
            continue;
        }
        let [plain, other] =
            [text.clone(), rename(&text)].map(|text| puzzle(&game(&text)).unwrap());
        for (search, run) in SEARCHES {
            let budget = Budget {
                nodes: crate::common::sized(5_000, 20_000),
                ..Budget::default()
            };
            let counts = |puzzle: &Puzzle| {
                let mut stats = Stats::default();
                let outcome = run(puzzle, &budget, &mut stats);
                (outcome, stats.total(), stats.peak_entries)
            };
            assert_eq!(counts(&plain), counts(&other), "{name}, {search}");
        }
    }
}
