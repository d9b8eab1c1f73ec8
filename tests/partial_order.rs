//! Partial-order reduction, factored puzzles and dead-end detection give the same
//! answers with less work.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::sync::Arc;

use crate::puzzle_search::shared::{own, puzzle_of};
use ggp_engine::machine::{DatalogMachine, Limits};
use ggp_engine::propnet::code::Engine;
use ggp_gdl::game::Score;
use ggp_search::{Budget, Stats};
use ggp_solver::planning::bounded::bounded;
use ggp_solver::planning::dead_end::DeadEnds;
use ggp_solver::planning::depth_first::{DepthFirstOptions, depth_first};
use ggp_solver::planning::expand::{Children, Ends, Expander, Facts, Layout};
use ggp_solver::planning::factored::factored;
use ggp_solver::planning::partial_order::PartialOrder;
use ggp_solver::planning::{Outcome, Puzzle};
use ggp_solver::solve::check_plan;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The number of positions by level until one is solved, whether one is, and the
/// number of moves made. If a partial order is given, only sufficient moves are
/// made.
fn levels(puzzle: &Puzzle, partial_order: Option<&PartialOrder>) -> (Vec<usize>, bool, u64) {
    let layout = Layout::new(puzzle, Facts::Relevant);
    let mut expander = Expander::new(puzzle, &layout, 64, Engine::Auto).expect("nothing stops it");
    let (mut children, mut ends) = (Children::default(), Ends::default());
    let key = |code: &[u64]| -> Vec<bool> {
        let bits = 0..layout.key_bits();
        bits.map(|bit| code[bit / 64] >> (bit % 64) & 1 == 1)
            .collect()
    };
    let mut level = vec![layout.encode(&puzzle.start)];
    let mut known = HashSet::from([key(&level[0])]);
    let (mut sizes, mut made) = (vec![1], 0);
    let mut state = Vec::new();
    while !level.is_empty() {
        let mut next = Vec::new();
        for code in &level {
            expander.ends(code, &mut ends);
            if ends.solved[0] == 1 {
                return (sizes, true, made);
            }
        }
        for code in &level {
            expander.expand(code, &mut children);
            layout.decode(code, &mut state);
            let among = partial_order.and_then(|partial_order| partial_order.sufficient(&state));
            for (number, &chosen) in children.moves.iter().enumerate() {
                let bit = |among: &[u64]| among[chosen as usize / 64] >> (chosen % 64) & 1 == 1;
                if !among.is_none_or(bit) {
                    continue;
                }
                made += 1;
                let child = &children.states[number * layout.words()..][..layout.words()];
                if known.insert(key(child)) {
                    next.push(child.to_vec());
                }
            }
        }
        level = next;
        sizes.push(level.len());
    }
    (sizes, false, made)
}

fn is_plan(puzzle: &Puzzle, plan: &[u32]) -> bool {
    let machine = DatalogMachine::new(puzzle.net.game(), Limits::default()).unwrap();
    let moves = plan
        .iter()
        .map(|&chosen| puzzle.net.moves()[0][chosen as usize]);
    let moves: Vec<_> = moves.collect();
    check_plan(&machine, &moves).unwrap() == Score::MAX
}

/// Random rules for several boards, whose moves flip, set and clear facts. A few
/// moves affect two boards, and the game may end early or after a number of moves.
fn random_rules(seed: u64) -> String {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let boards = random.random_range(1..4);
    let facts = random.random_range(2..5);
    let mut text = String::from("(role me)\n(init (tick 0))\n");
    let mut frames = String::new();
    let mut goal = String::new();
    for board in 0..boards {
        let literal = |random: &mut Xoshiro256PlusPlus| {
            let fact = random.random_range(0..facts);
            match random.random_bool(0.5) {
                true => format!("(true (f {board} {fact}))"),
                false => format!("(not (true (f {board} {fact})))"),
            }
        };
        for fact in 0..facts {
            writeln!(text, "(base (f {board} {fact})) (fact {board} {fact})").unwrap();
            if random.random_bool(0.4) {
                writeln!(text, "(init (f {board} {fact}))").unwrap();
            }
        }
        for number in 0..random.random_range(2..4) {
            let name = format!("(m {board} {number})");
            writeln!(text, "(input me {name})").unwrap();
            let condition = match random.random_range(0..3) {
                0 => literal(&mut random),
                1 if random.random_bool(0.2) => String::from("(true (tick 1))"),
                _ => String::new(),
            };
            writeln!(text, "(<= (legal me {name}) {condition})").unwrap();
            for _ in 0..random.random_range(1..3) {
                let of = match random.random_bool(0.05) {
                    true => 0,
                    false => board,
                };
                let fact = format!("{of} {}", random.random_range(0..facts));
                let turns = random.random_range(0..4);
                writeln!(frames, "(touches {name} {fact})").unwrap();
                if turns > 0 {
                    let more = ["", "(not (true (f ?b ?f)))", "(true (tick ?t))"][turns - 1];
                    writeln!(
                        frames,
                        "(<= (next (f ?b ?f)) (does me {name}) (same ?b ?f {fact}) {more})"
                    )
                    .unwrap();
                }
            }
        }
        let more = literal(&mut random);
        write!(goal, "{} {more}", literal(&mut random)).unwrap();
    }
    text.push_str(&frames);
    writeln!(text, "(<= (same ?b ?f ?b ?f) (fact ?b ?f))").unwrap();
    writeln!(text, "(<= (touched ?b ?f) (does me ?m) (touches ?m ?b ?f))").unwrap();
    writeln!(
        text,
        "(<= (next (f ?b ?f)) (true (f ?b ?f)) (not (touched ?b ?f)))"
    )
    .unwrap();
    writeln!(text, "(<= won {goal}) (<= terminal won)").unwrap();
    writeln!(text, "(<= (goal me 100) won) (<= (goal me 0) (not won))").unwrap();
    writeln!(text, "(<= (next (tick ?u)) (true (tick ?t)) (after ?t ?u))").unwrap();
    let last = random.random_range(3..12);
    (0..last).for_each(|tick| writeln!(text, "(after {tick} {})", tick + 1).unwrap());
    match random.random_range(0..3) {
        0 => writeln!(text, "(after {last} 0)").unwrap(),
        _ => writeln!(text, "(<= terminal (true (tick {last})))").unwrap(),
    }
    if random.random_bool(0.3) {
        writeln!(text, "(<= terminal (true (f 0 0)) (true (f 0 1)))").unwrap();
    }
    if random.random_bool(0.2) {
        writeln!(text, "(<= terminal (not (true (f 0 1))) (true (tick 1)))").unwrap();
    }
    text
}

#[test]
fn sufficient_moves_keep_all_answers() {
    let (mut reductions, mut factored_plans) = (0, 0);
    for seed in 0..300 {
        let text = random_rules(seed);
        let puzzle = puzzle_of(&text);
        let (sizes, solved, made) = levels(&puzzle, None);
        let what = format!("seed {seed}\n{text}");

        // The bounded SAT encoding uses the same reduction.
        if sizes.len() < 9 {
            let budget = Budget {
                depth: 10,
                ..Budget::default()
            };
            let outcome = bounded(&puzzle, &budget).outcome;
            match &outcome {
                Outcome::Solved { plan, .. } => assert_eq!(plan.len() + 1, sizes.len(), "{what}"),
                _ => assert!(!solved, "{outcome:?} {what}"),
            }
        }

        let outcome = factored(&puzzle, &Budget::default(), &mut Stats::default(), &mut ());
        if let Outcome::Solved { plan, .. } = &outcome {
            assert!(solved && is_plan(&puzzle, plan), "{plan:?} {what}");
            factored_plans += u32::from(plan.len() > 2);
        }

        let Some(partial_order) = PartialOrder::of(&puzzle) else {
            continue;
        };
        let (reduced, is_still_solved, fewer) = levels(&puzzle, Some(&partial_order));
        assert_eq!(is_still_solved, solved, "{what}");
        assert!(!solved || reduced.len() == sizes.len(), "{what}");
        reductions += u32::from(fewer < made);

        let options = DepthFirstOptions {
            partial_order: Some(Arc::new(partial_order)),
            ..DepthFirstOptions::default()
        };
        let stats = &mut Stats::default();
        let outcome = depth_first(&puzzle, &options, None, &Budget::default(), stats, &mut ());
        match &outcome {
            Outcome::Solved { plan, .. } => assert!(solved && is_plan(&puzzle, plan), "{what}"),
            Outcome::Unsolvable(_) => assert!(!solved, "{what}"),
            _ => panic!("{outcome:?} {what}"),
        }
    }
    assert!(
        reductions > 15 && factored_plans > 3,
        "{reductions} {factored_plans}"
    );
}

fn lights(lit: &[(u32, u32)]) -> Puzzle {
    let mut text = own(&["lights_out.kif"]);
    for row in 1..=3 {
        for column in 1..=3 {
            let value = u32::from(lit.contains(&(row, column)));
            writeln!(text, "(grid {row} {column} {value})").unwrap();
        }
    }
    text.push_str("(grid_next 1 2) (grid_next 2 3)");
    puzzle_of(&text)
}

#[test]
fn lights_need_few_of_their_switches() {
    let all: Vec<(u32, u32)> = (1..=3)
        .flat_map(|row| (1..=3).map(move |c| (row, c)))
        .collect();
    for count in [1, 3, 6, 9] {
        let puzzle = lights(&all[..count]);
        let (sizes, solved, made) = levels(&puzzle, None);
        let partial_order = PartialOrder::of(&puzzle).unwrap();
        let (reduced, is_still_solved, fewer) = levels(&puzzle, Some(&partial_order));
        assert!(
            solved && is_still_solved && reduced.len() == sizes.len(),
            "{count}"
        );
        assert!(fewer < made, "{count}: {fewer} of {made}");
    }
}

#[test]
fn timed_moves_are_not_reordered() {
    // The door is open only at the second step.
    let text = "(role me) (init (tick 0)) (after 0 1) (after 1 2) (after 2 3)
        (base (in)) (base (key)) (input me enter) (input me take)
        (<= (legal me enter) (true (tick 1)))
        (legal me take)
        (<= (next in) (does me enter)) (<= (next in) (true in))
        (<= (next key) (does me take)) (<= (next key) (true key))
        (<= (next (tick ?u)) (true (tick ?t)) (after ?t ?u))
        (<= won (true in) (true key))
        (<= terminal won) (<= terminal (true (tick 3)))
        (<= (goal me 100) won) (<= (goal me 0) (not won))"
        .replace("(base (in)) (base (key))", "");
    let puzzle = puzzle_of(&text);
    let outcome = bounded(&puzzle, &Budget::default()).outcome;
    assert!(
        matches!(&outcome, Outcome::Solved { plan, .. } if plan.len() == 2),
        "{outcome:?}"
    );
}

#[test]
fn detected_dead_ends_have_no_solution() {
    let mut count = 0;
    for seed in 0..120 {
        let text = random_rules(seed);
        let puzzle = puzzle_of(&text);
        let layout = Layout::new(&puzzle, Facts::Relevant);
        let Some(mut detector) = DeadEnds::new(&puzzle, &layout, 64, Engine::Auto) else {
            panic!("seed {seed} is small");
        };
        let mut expander =
            Expander::new(&puzzle, &layout, 64, Engine::Auto).expect("nothing stops it");
        let mut children = Children::default();
        let (mut states, mut at) = (layout.encode(&puzzle.start), 0);
        let mut known: HashSet<Vec<u64>> = HashSet::from([states.clone()]);
        let words = layout.words();
        while at < states.len() && known.len() < 150 {
            expander.expand(&states[at..at + words], &mut children);
            for child in children.states.chunks(words) {
                if known.insert(child.to_vec()) {
                    states.extend_from_slice(child);
                }
            }
            at += words;
        }
        let mut dead_ends = Vec::new();
        detector.dead_ends(&states, &mut dead_ends);
        let is_dead_end =
            |&(number, _): &(usize, &[u64])| dead_ends[number / 64] >> (number % 64) & 1 == 1;
        let all = states.chunks(words).enumerate();
        for (number, code) in all.filter(is_dead_end).take(12) {
            let mut from = puzzle.clone();
            layout.decode(code, &mut from.start);
            let (_, solved, _) = levels(&from, None);
            assert!(!solved, "seed {seed}, {number}\n{text}");
            count += u32::from(number > 0);
        }
    }
    assert!(count > 50, "{count}");
}

#[test]
fn senku_is_solved_quickly() {
    let puzzle = puzzle_of(&own(&["senku.kif"]));
    let stats = &mut Stats::default();
    let options = DepthFirstOptions::default();
    let outcome = depth_first(&puzzle, &options, None, &Budget::default(), stats, &mut ());
    let Outcome::Solved { plan, .. } = outcome else {
        panic!("{outcome:?}");
    };
    assert!(is_plan(&puzzle, &plan));
    assert!(stats.total().expanded < 500, "{}", stats.total().expanded);
}
