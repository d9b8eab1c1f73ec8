//! Symmetries of puzzles: their number, their correctness, and the length of plans
//! found by searches that count positions up to symmetry.

use ggp_stop::Stop;
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;

use crate::puzzle_search::shared::{own, puzzle_of};
use ggp_engine::propnet::code::Engine;
use ggp_gdl::check::Keyword;
use ggp_search::{Budget, Stats};
use ggp_solver::planning::breadth_first::{self, BreadthFirstOptions, Classes};
use ggp_solver::planning::expand::{Children, Ends, Expander, Facts, Layout};
use ggp_solver::planning::symmetry::Symmetries;
use ggp_solver::planning::{Outcome, Plan, Puzzle};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The number of positions by level, up to symmetry or not, and a shortest plan.
fn levels(puzzle: &Puzzle, symmetry: bool, most: u32) -> (Vec<u64>, Option<Plan>) {
    let budget = Budget {
        depth: most,
        ..Budget::default()
    };
    let options = BreadthFirstOptions {
        whole: true,
        classes: match symmetry {
            true => Classes::Always,
            false => Classes::Never,
        },
        ..BreadthFirstOptions::default()
    };
    let mut stats = Stats::default();
    let (outcome, seen) =
        breadth_first::breadth_first(puzzle, &options, &budget, &mut stats, &mut ()).unwrap();
    assert!(symmetry || seen.symmetries == 1);
    let sizes = stats.levels.iter().map(|level| level.counts.generated);
    let plan = match outcome {
        Outcome::Solved { plan, optimal } if optimal => Some(plan),
        Outcome::Unsolvable(_) | Outcome::NoPlanWithin(_) => None,
        other => panic!("{other:?}"),
    };
    (sizes.collect(), plan)
}

fn check_plan(puzzle: &Puzzle, plan: &[u32]) {
    let layout = Layout::new(puzzle, Facts::Relevant);
    let mut expander = Expander::new(puzzle, &layout, 64, Engine::Auto).expect("nothing stops it");
    let (mut children, mut ends) = (Children::default(), Ends::default());
    let mut state = layout.encode(&puzzle.start);
    for chosen in plan {
        expander.expand(&state, &mut children);
        let child = children.moves.iter().position(|made| made == chosen);
        let child = child.expect("the move is legal");
        state = children.states[child * layout.words()..][..layout.words()].to_vec();
    }
    expander.ends(&state, &mut ends);
    assert_eq!(ends.solved[0] & 1, 1);
}

/// Checks that the images of a state's children are the children of its image.
fn check_elements(puzzle: &Puzzle, symmetries: &Symmetries, most: usize) {
    let layout = Layout::new(puzzle, Facts::All);
    let mut expander = Expander::new(puzzle, &layout, 64, Engine::Auto).expect("nothing stops it");
    let (mut children, mut images) = (Children::default(), Children::default());
    let words = layout.words();
    let mut state = Vec::new();
    for element in symmetries.elements().iter().take(most) {
        let mut level = layout.encode(&puzzle.start);
        for _ in 0..5 {
            let mut renamed = Vec::new();
            for code in level.chunks(words) {
                layout.decode(code, &mut state);
                renamed.extend(layout.encode(&element.image(&state)));
            }
            expander.expand(&level, &mut children);
            expander.expand(&renamed, &mut images);
            let sets = |of: &Children, rename: bool| -> BTreeSet<(u32, u32, Vec<u64>)> {
                let mut state = Vec::new();
                let child = |number: usize| {
                    let code = &of.states[number * words..][..words];
                    let chosen = of.moves[number];
                    match rename {
                        false => (of.parents[number], chosen, code.to_vec()),
                        true => {
                            layout.decode(code, &mut state);
                            let image = layout.encode(&element.image(&state));
                            (of.parents[number], element.moves[chosen as usize], image)
                        }
                    }
                };
                (0..of.len()).map(child).collect()
            };
            assert_eq!(sets(&children, true), sets(&images, false));
            level = children.states[..children.states.len().min(64 * words)].to_vec();
        }
    }
}

fn all(puzzle: &Puzzle) -> Symmetries {
    Symmetries::of(puzzle, &Budget::default())
}

#[test]
fn positions_of_senku_are_counted_up_to_symmetry() {
    let puzzle = puzzle_of(&own(&["senku.kif"]));
    let symmetries = all(&puzzle);
    assert_eq!(symmetries.order(), Some(8));
    check_elements(&puzzle, &symmetries, 8);
    let (sizes, _) = levels(&puzzle, true, 8);
    assert_eq!(sizes, [1, 1, 2, 8, 39, 171, 719, 2757, 9751]);
}

#[test]
fn light_boards_have_the_symmetries_of_a_square() {
    let text = own(&["lights_out.kif", "instances/lights_out_3x3.kif"]);
    let puzzle = puzzle_of(&text);
    let symmetries = all(&puzzle);
    assert_eq!(symmetries.order(), Some(8));
    check_elements(&puzzle, &symmetries, 8);
    let (sizes, plan) = levels(&puzzle, true, 99);
    let (whole, shortest) = levels(&puzzle, false, 99);
    // All boards of nine lights, and those that differ up to symmetry.
    let positions = |sizes: &[u64]| sizes.iter().sum::<u64>();
    assert_eq!((positions(&whole), positions(&sizes)), (512, 102));
    let plan = plan.unwrap();
    check_plan(&puzzle, &plan);
    assert_eq!(plan.len(), shortest.unwrap().len());
}

/// Random rules in which the things are interchangeable or form a circle.
fn random_rules(seed: u64) -> String {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let things = random.random_range(2..5);
    let kinds = random.random_range(1..3);
    let is_circle = random.random_bool(0.5);
    let mut text = String::from("(role me)\n");
    for thing in 0..things {
        writeln!(
            text,
            "(thing {thing}) (near {thing} {})",
            (thing + 1) % things
        )
        .unwrap();
    }
    let literal = |random: &mut Xoshiro256PlusPlus, of: &str| {
        let kind = random.random_range(0..kinds);
        match random.random_bool(0.5) {
            true => format!("(true (f {kind} {of}))"),
            false => format!("(not (true (f {kind} {of})))"),
        }
    };
    // Further things that the legality of a move refers to.
    let beside = match is_circle {
        true => "(near ?x ?y)",
        false => "(thing ?x) (thing ?y) (distinct ?x ?y)",
    };
    for chosen in 0..random.random_range(1..4) {
        let near = literal(&mut random, "?y");
        let own = literal(&mut random, "?x");
        writeln!(
            text,
            "(<= (legal me (m {chosen} ?x)) {beside} {near} {own})"
        )
        .unwrap();
        for kind in 0..kinds {
            let change = match random.random_range(0..3) {
                0 => String::new(),
                1 => format!("(not (true (f {kind} ?x)))"),
                _ => literal(&mut random, "?x"),
            };
            if random.random_bool(0.7) {
                writeln!(
                    text,
                    "(<= (next (f {kind} ?x)) (does me (m {chosen} ?x)) {change})"
                )
                .unwrap();
            }
            writeln!(
                text,
                "(<= (next (f {kind} ?y)) (does me (m {chosen} ?x)) (true (f {kind} ?y)) (thing ?y) (distinct ?x ?y))"
            )
            .unwrap();
        }
    }
    writeln!(text, "(legal me wait)").unwrap();
    writeln!(
        text,
        "(<= (next (f ?k ?x)) (does me wait) (true (f ?k ?x)))"
    )
    .unwrap();
    for kind in 0..kinds {
        for thing in 0..things {
            writeln!(text, "(base (f {kind} {thing}))").unwrap();
            if random.random_bool(0.5) {
                writeln!(text, "(init (f {kind} {thing}))").unwrap();
            }
        }
    }
    let goal = literal(&mut random, "?x");
    writeln!(text, "(<= open (thing ?x) {goal})").unwrap();
    writeln!(
        text,
        "(<= terminal (not open)) (<= (goal me 100) (not open)) (<= (goal me 0) open)"
    )
    .unwrap();
    text
}

#[test]
fn plans_are_shortest_up_to_symmetry() {
    let (mut symmetric, mut solved) = (0, 0);
    for seed in 0..120 {
        let text = random_rules(seed);
        let puzzle = puzzle_of(&text);
        let symmetries = all(&puzzle);
        symmetric += u32::from(!symmetries.generators.is_empty());
        check_elements(&puzzle, &symmetries, 30);
        let (sizes, plan) = levels(&puzzle, true, 99);
        let (whole, shortest) = levels(&puzzle, false, 99);
        let positions = |sizes: &[u64]| sizes.iter().sum::<u64>();
        assert!(positions(&sizes) <= positions(&whole), "seed {seed}");
        let lengths = (plan.as_ref().map(Vec::len), shortest.map(|plan| plan.len()));
        assert_eq!(lengths.0, lengths.1, "seed {seed}");
        if let Some(plan) = plan {
            check_plan(&puzzle, &plan);
            solved += u32::from(plan.len() > 1);
        }
    }
    assert!(symmetric > 30 && solved > 8, "{symmetric} {solved}");
}

/// The same rules with other names and in another order.
fn scramble(text: &str, seed: u64) -> String {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut rules: Vec<String> = Vec::new();
    let (mut depth, mut word) = (0, String::new());
    let mut names: HashMap<String, String> = HashMap::new();
    let mut numbers: Vec<u32> = (0..10_000).collect();
    numbers.shuffle(&mut random);
    let plain = text.lines().map(|line| line.split(';').next().unwrap());
    for c in plain.flat_map(|line| line.chars().chain([' '])) {
        if depth == 0 && c == '(' {
            rules.push(String::new());
        }
        if !c.is_whitespace() && c != '(' && c != ')' {
            word.push(c);
            continue;
        }
        if !word.is_empty() {
            let is_kept = Keyword::ALL.iter().any(|keyword| keyword.as_str() == word)
                || ["<=", "not", "or", "and", "distinct", "0", "100"].contains(&word.as_str())
                || word.starts_with('?');
            if !is_kept {
                let next = || format!("n{}", numbers.pop().unwrap());
                word = names.entry(word).or_insert_with(next).clone();
            }
            rules.last_mut().unwrap().push_str(&word);
            word.clear();
        }
        depth += i32::from(c == '(') - i32::from(c == ')');
        if let Some(rule) = rules.last_mut() {
            rule.push(c);
        }
    }
    rules.shuffle(&mut random);
    rules.concat()
}

#[test]
fn names_and_order_do_not_matter() {
    let mut texts = vec![own(&["senku.kif"])];
    texts.push(own(&["lights_out.kif", "instances/lights_out_3x3.kif"]));
    texts.extend((0..10).map(random_rules));
    for (number, text) in texts.iter().enumerate() {
        let found = |text: &str| {
            let puzzle = puzzle_of(text);
            let symmetries = all(&puzzle);
            let (sizes, plan) = levels(&puzzle, true, 5);
            (symmetries.order(), sizes, plan.map(|plan| plan.len()))
        };
        for seed in 0..2 {
            assert_eq!(
                found(&scramble(text, seed)),
                found(text),
                "{number}, {seed}"
            );
        }
    }
}

#[test]
fn the_symmetry_search_can_be_interrupted() {
    let puzzle = puzzle_of(&own(&["senku.kif"]));
    let budget = Budget {
        stop: Stop::raised(),
        ..Budget::default()
    };
    assert_eq!(Symmetries::of(&puzzle, &budget).order(), Some(1));
}
