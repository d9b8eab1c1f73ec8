//! Randomised methods: their plans and best ends are valid, and they respect their
//! limits.

use ggp_stop::Stop;

use ggp_engine::machine::{DatalogMachine, Limits};
use ggp_gdl::game::Score;
use ggp_search::{Budget, Stats};
use ggp_solver::planning::breadth_first::{self, BreadthFirstOptions};
use ggp_solver::planning::nrpa::{Nrpa, nrpa};
use ggp_solver::planning::rollout::{Sampling, Scoring};
use ggp_solver::planning::{BestSoFar, Outcome, Puzzle};
use ggp_solver::solve::check_plan;

use crate::puzzle_search::shared::{game, puzzle, random_rules, texts};

type Method = fn(&Puzzle, Sampling, &Budget, &mut Stats) -> (Outcome, Option<BestSoFar>);

const METHODS: [(&str, Method); 1] = [(
    "nested rollout policy adaptation",
    |puzzle, sampling, budget, stats| {
        let mut best = None;
        let how = Nrpa {
            sampling,
            ..Nrpa::default()
        };
        (nrpa(puzzle, &how, budget, &mut best, stats, &mut ()), best)
    },
)];

fn sampling(scoring: Scoring) -> Sampling {
    Sampling {
        scoring,
        longest: 24,
        seed: 1,
    }
}

/// Returns whether all methods found a plan, if there is one.
fn check(name: &str, text: &str, scoring: Scoring) -> Option<bool> {
    let game = game(text);
    let puzzle = puzzle(&game).unwrap();
    let machine = DatalogMachine::new(&game, Limits::default()).unwrap();
    let score = |plan: &[u32]| {
        let moves = plan
            .iter()
            .map(|&chosen| puzzle.net.moves()[0][chosen as usize]);
        check_plan(&machine, &moves.collect::<Vec<_>>()).unwrap()
    };
    let (expected, _) = breadth_first::breadth_first(
        &puzzle,
        &BreadthFirstOptions::default(),
        &Budget::default(),
        &mut Stats::default(),
        &mut (),
    )
    .unwrap();
    let least = match expected {
        Outcome::Solved { plan, .. } => Some(plan.len()),
        Outcome::Unsolvable(_) => None,
        other => panic!("{name}: {other:?}"),
    };
    let budget = Budget {
        nodes: 60_000,
        ..Budget::default()
    };
    let mut found = 0;
    for (method, run) in METHODS {
        let (outcome, best) = run(&puzzle, sampling(scoring), &budget, &mut Stats::default());
        let what = format!("{name}, {method}: {outcome:?}, {best:?}, least {least:?}");
        match (outcome, least) {
            (Outcome::Solved { plan, optimal }, Some(least)) => {
                found += 1;
                assert_eq!(score(&plan), Score::MAX, "{what}");
                assert!(plan.len() >= least, "{what}");
                assert!(!optimal || plan.len() == least, "{what}");
            }
            (Outcome::Unknown, _) => {}
            _ => panic!("{what}"),
        }
        if let Some(best) = best {
            assert_eq!(score(&best.plan), best.score, "{what}");
        }
    }
    least.map(|_| found == METHODS.len())
}

#[test]
fn small_puzzles_are_solved_by_sampling() {
    for (name, text) in texts() {
        let small = ["wolf_goat_cabbage", "buttons_and_lights", "lights_out_3x3"];
        if small.contains(&name.as_str()) {
            for scoring in [Scoring::Points, Scoring::Length] {
                assert_eq!(check(&name, &text, scoring), Some(true), "{name}");
            }
        }
    }
}

#[test]
fn sampled_plans_are_valid() {
    let (mut solved, mut solvable) = (0, 0);
    for seed in 0..40 {
        let scoring = match seed % 2 {
            0 => Scoring::Points,
            _ => Scoring::Length,
        };
        if let Some(is_solved) = check(&format!("seed {seed}"), &random_rules(seed), scoring) {
            solvable += 1;
            solved += u32::from(is_solved);
        }
    }
    assert!(
        solvable > 9 && solvable < 2 + solved,
        "{solved} of {solvable}"
    );
}

/// 50 points for going left once, and 70 for going right after that.
const GRADED: &str = "
    (role me) (init (at 0)) (legal me left) (legal me right) (legal me out)
    (<= (next (at 1)) (true (at 0)) (does me left))
    (<= (next (at 2)) (true (at 1)) (does me right))
    (<= (next (at 3)) (true (at 0)) (does me right))
    (<= (next (at 3)) (true (at 1)) (does me left))
    (<= (next over) (does me out))
    (<= (next (at ?x)) (true (at ?x)) (does me out))
    (<= terminal (true (at 2))) (<= terminal (true (at 3))) (<= terminal (true over))
    (<= (goal me 0) (true (at 0)))
    (<= (goal me 50) (true (at 1)))
    (<= (goal me 70) (true (at 2)))
    (<= (goal me 0) (true (at 3)))
    (<= (goal me 100) (true (at 4)))";

#[test]
fn the_best_end_is_reported() {
    let puzzle = puzzle(&game(GRADED)).unwrap();
    for (method, run) in METHODS {
        let budget = Budget {
            nodes: 20_000,
            ..Budget::default()
        };
        let stats = &mut Stats::default();
        let (outcome, best) = run(&puzzle, sampling(Scoring::Points), &budget, stats);
        assert_eq!(outcome, Outcome::Unknown, "{method}");
        let best = best.map(|best| (best.score.get(), best.plan.len()));
        assert_eq!(best, Some((70, 2)), "{method}");
    }
}

#[test]
fn sampling_respects_limits() {
    let (_, text) = texts()
        .into_iter()
        .find(|(name, _)| name == "eight_puzzle")
        .unwrap();
    let puzzle = puzzle(&game(&text)).unwrap();
    for (method, run) in METHODS {
        let run = |budget: &Budget| {
            let mut stats = Stats::default();
            let found = run(&puzzle, sampling(Scoring::Points), budget, &mut stats);
            (found, stats.total().expanded, stats.peak_bytes)
        };
        let budget = Budget {
            nodes: 100_000,
            memory_bytes: 300_000,
            depth: 9,
            ..Budget::default()
        };
        let once = run(&budget);
        let ((outcome, _), expanded, bytes) = &once;
        assert_eq!(*outcome, Outcome::Unknown, "{method}");
        assert!(
            (90_000..=100_000).contains(expanded),
            "{method}: {expanded}"
        );
        assert!(*bytes <= budget.memory_bytes, "{method}: {bytes}");
        assert_eq!(run(&budget), once, "{method} is reproducible");

        let budget = Budget {
            stop: Stop::raised(),
            ..Budget::default()
        };
        let ((outcome, _), expanded, _) = run(&budget);
        assert_eq!((outcome, expanded), (Outcome::Unknown, 0), "{method}");
    }
}
