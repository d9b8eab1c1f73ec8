//! Methods by linear algebra, against exhaustive search and known answers, and
//! their proofs against the checker.

use std::fs;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustc_hash::FxHashSet;

use ggp_engine::propnet::batch::{Batch, Packed, pack};
use ggp_engine::propnet::code::Engine;
use ggp_engine::propnet::network::read as value;
use ggp_engine::propnet::{GroundLimits, Propnet};
use ggp_gdl::check::{ReadOptions, read};
use ggp_gdl::game::{Game, Score};
use ggp_gdl::span::{Source, Sources};
use ggp_gdl::terms::TermId;
use ggp_gdl::text_grid::Grid;
use ggp_solver::planning::effects::Effects;
use ggp_solver::planning::potential::Potentials;
use ggp_solver::planning::{Outcome, Puzzle, Reason, linear, parity};
use ggp_solver::solve::claim_outcome;
use ggp_verify::{Claim, Given, Limits, Proof, verify};

fn network(game: &Game) -> Propnet {
    let (mut net, _) = Propnet::ground(game, &GroundLimits::default()).expect("it is small");
    net.simplify();
    net
}

pub fn puzzle(rules: &str) -> Puzzle {
    let game = Game::from_text("test.kif", rules).expect("the rules are right");
    from_start(network(&game), None)
}

fn from_start(net: Propnet, start: Option<Packed>) -> Puzzle {
    let start = start.unwrap_or_else(|| pack(net.initial().iter().copied()));
    Puzzle::new(net, start, Score::new(100).unwrap()).expect("it has one role")
}

pub(crate) fn shipped(rules: &str, board: Option<&Grid>) -> Puzzle {
    let path = format!("{}/games/{rules}.kif", env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(path).expect("the game is there");
    let mut sources = vec![Source::new(rules, text)];
    sources.extend(board.map(Grid::to_source));
    let reading = read(Sources::new(sources), &ReadOptions::default());
    from_start(network(&reading.game.expect("the rules are right")), None)
}

/// What the checker says of an outcome.
pub(crate) fn checked(puzzle: &Puzzle, outcome: &Outcome) -> Result<(), String> {
    claim(puzzle, &claim_outcome(&puzzle.net, outcome))
}

fn claim(puzzle: &Puzzle, answer: &Claim) -> Result<(), String> {
    let text = serde_json::to_string(answer).expect("it can be written");
    let answer: Claim = serde_json::from_str(&text).expect("it can be read again");
    // That some plans are the shortest is too hard to check again.
    let limits = Limits {
        conflicts: 5_000,
        ..Limits::default()
    };
    let checked = verify(
        puzzle.net.game(),
        &start(puzzle),
        puzzle.target,
        &answer,
        &limits,
    );
    checked.map(|_| ()).map_err(|failure| failure.to_string())
}

fn start(puzzle: &Puzzle) -> Vec<TermId> {
    let holds = |fact: &usize| puzzle.start[fact / 64] >> (fact % 64) & 1 == 1;
    let facts = (0..puzzle.net.facts().len()).filter(holds);
    facts.map(|fact| puzzle.net.facts()[fact]).collect()
}

/// The length of a shortest plan, by looking at all positions.
fn shortest(puzzle: &Puzzle) -> Option<usize> {
    let mut batch = Batch::new(&puzzle.net, 64, Engine::Auto);
    let ask = |state: &Packed, literal| {
        let mut inputs = vec![0; puzzle.net.network().inputs()];
        for (fact, input) in inputs[..puzzle.net.facts().len()].iter_mut().enumerate() {
            *input = state[fact / 64] >> (fact % 64) & 1;
        }
        value(literal, &puzzle.net.network().evaluate(&inputs)) & 1 == 1
    };
    let mut known = FxHashSet::from_iter([puzzle.start.clone()]);
    let mut level = vec![puzzle.start.clone()];
    for depth in 0.. {
        if level.iter().any(|state| ask(state, puzzle.solved)) {
            return Some(depth);
        }
        let mut below = Vec::new();
        for state in &level {
            if !ask(state, puzzle.net.terminal()) {
                let children = batch.children(state).into_iter().map(|child| child.state);
                below.extend(children.filter(|state| known.insert(state.clone())));
            }
        }
        if below.is_empty() {
            return None;
        }
        level = below;
    }
    None
}

pub fn by_algebra(puzzle: &Puzzle) -> Outcome {
    let effects = Effects::of(puzzle).expect("it is small");
    let solved = linear::solve(puzzle, &effects);
    if matches!(solved, Outcome::Solved { .. }) {
        return solved;
    }
    let potentials = Potentials::of(puzzle, &effects);
    match parity::refute(puzzle, &effects, potentials.as_ref()) {
        Outcome::Unknown => solved,
        refuted => refuted,
    }
}

#[test]
fn all_boards_of_three_by_three_have_their_least_plans() {
    let board = Grid::read("board", "111/111/111").expect("it is a grid");
    let net = shipped("lights_out", Some(&board)).net;
    for bits in 0..512u64 {
        let puzzle = from_start(Propnet::clone(&net), Some(vec![bits]));
        let Outcome::Solved { plan, optimal } = by_algebra(&puzzle) else {
            panic!("board {bits}");
        };
        assert_eq!(
            (Some(plan.len()), optimal),
            (shortest(&puzzle), true),
            "board {bits}"
        );
    }
}

#[test]
fn the_least_presses_that_light_all_are_known() {
    let known = [4, 5, 4, 15, 28, 33, 40, 25, 44, 55, 72];
    for (size, least) in (2..).zip(known) {
        let board = vec!["0".repeat(size); size].join("/");
        let board = Grid::read("board", &board).expect("it is a grid");
        let puzzle = shipped("lights_out_all_on", Some(&board));
        let outcome = by_algebra(&puzzle);
        let Outcome::Solved { plan, optimal } = &outcome else {
            panic!("size {size}");
        };
        assert_eq!((plan.len(), *optimal), (least, true), "size {size}");
        if size < 6 {
            assert_eq!(checked(&puzzle, &outcome), Ok(()), "size {size}");
        }
    }
}

/// Moves that flip random facts, and an end that fixes some.
fn flipping(random: &mut Xoshiro256PlusPlus) -> String {
    let facts = random.random_range(3..8);
    let moves = random.random_range(1..8);
    let mut rules = String::from("(role r)\n");
    for fact in 0..facts {
        rules += &format!("(bit {fact})\n");
        if random.random_bool(0.5) {
            rules += &format!("(init (p {fact}))\n");
        }
    }
    for number in 0..moves {
        rules += &format!("(legal r (m {number}))\n");
        for fact in 0..facts {
            if random.random_bool(0.4) {
                rules += &format!("(flips {number} {fact})\n");
            }
        }
    }
    rules += "(flips none none)
        (<= (flipped ?f) (does r (m ?m)) (flips ?m ?f))
        (<= (next (p ?f)) (true (p ?f)) (not (flipped ?f)))
        (<= (next (p ?f)) (bit ?f) (flipped ?f) (not (true (p ?f))))
        (<= terminal done) (<= (goal r 100) done) (<= (goal r 0) (not done))
        (<= done (role r)";
    for fact in 0..facts {
        match random.random_range(0..3) {
            0 => rules += &format!(" (true (p {fact}))"),
            1 => rules += &format!(" (not (true (p {fact})))"),
            _ => {}
        }
    }
    rules + ")"
}

#[test]
fn random_systems_agree_with_search() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    let mut counts = [0, 0];
    for number in 0..120 {
        let rules = flipping(&mut random);
        let puzzle = puzzle(&rules);
        let outcome = by_algebra(&puzzle);
        let found = match &outcome {
            Outcome::Solved { plan, optimal } => {
                assert!(optimal, "{number}");
                counts[0] += 1;
                Some(plan.len())
            }
            Outcome::Unsolvable(Reason::Parity { .. }) => {
                counts[1] += 1;
                None
            }
            other => panic!("{number}: {other:?}\n{rules}"),
        };
        assert_eq!(found, shortest(&puzzle), "{number}\n{rules}");
        assert_eq!(checked(&puzzle, &outcome), Ok(()), "{number}\n{rules}");
    }
    assert!(counts.iter().all(|&count| count > 20), "{counts:?}");
}

#[test]
fn moves_are_put_in_an_order_that_does_not_end_too_early() {
    // All three must be pressed, but `b` alone ends the game, and so does `c`.
    let rules = "(role r) (legal r a) (legal r b) (legal r c)
        (at a) (at b) (at c)
        (<= (next (on ?x)) (at ?x) (does r ?x) (not (true (on ?x))))
        (<= (next (on ?x)) (true (on ?x)) (not (does r ?x)))
        (<= terminal (true (on b)) (not (true (on a))))
        (<= terminal (true (on c)) (not (true (on b))))
        (<= done (true (on a)) (true (on b)) (true (on c)))
        (<= terminal done) (<= (goal r 100) done) (<= (goal r 0) (not done))";
    let puzzle = puzzle(rules);
    let outcome = by_algebra(&puzzle);
    assert!(matches!(&outcome, Outcome::Solved { plan, optimal: true } if plan.len() == 3));
    assert_eq!(checked(&puzzle, &outcome), Ok(()));
}

#[test]
fn a_limit_of_time_is_kept() {
    let rules = |last: u32| {
        let mut rules = format!(
            "(role r) (legal r a) (legal r b) (legal r c) (at a) (at b) (at c) (init (n 0))
            (<= (next (on ?x)) (at ?x) (does r ?x) (not (true (on ?x))))
            (<= (next (on ?x)) (true (on ?x)) (not (does r ?x)))
            (<= (next (n ?j)) (true (n ?i)) (after ?i ?j))
            (<= done (true (on a)) (true (on b)) (true (on c)))
            (<= terminal done) (<= terminal (true (n {last})))
            (<= (goal r 100) done) (<= (goal r 0) (not done))"
        );
        (0..last).for_each(|n| rules += &format!("(after {n} {})", n + 1));
        rules
    };
    let enough = puzzle(&rules(3));
    let outcome = by_algebra(&enough);
    assert!(matches!(&outcome, Outcome::Solved { plan, optimal: true } if plan.len() == 3));
    let short = puzzle(&rules(2));
    let outcome = by_algebra(&short);
    assert_eq!(outcome, Outcome::NoPlanWithin(2));
    assert_eq!(checked(&short, &outcome), Ok(()));
    let answer = Claim::NoSolutionWithin { moves: 3 };
    assert!(claim(&enough, &answer).is_err());
}

/// Pegs on a line of five holes, `counted` or not.
pub const PEGS: &str = "(role r)
    (init (hole 1 peg)) (init (hole 2 peg)) (init (hole 3 empty))
    (init (hole 4 peg)) (init (hole 5 peg)) (init (pegs 4))
    (less 4 3) (less 3 2) (less 2 1)
    (three 1 2 3) (three 2 3 4) (three 3 4 5) (three 3 2 1) (three 4 3 2) (three 5 4 3)
    (<= (legal r (jump ?a ?b ?c)) (three ?a ?b ?c)
        (true (hole ?a peg)) (true (hole ?b peg)) (true (hole ?c empty)))
    (<= moveable (legal r ?m))
    (<= (next (hole ?a empty)) (does r (jump ?a ?b ?c)))
    (<= (next (hole ?b empty)) (does r (jump ?a ?b ?c)))
    (<= (next (hole ?c peg)) (does r (jump ?a ?b ?c)))
    (<= (next (hole ?x ?v)) (true (hole ?x ?v)) (does r (jump ?a ?b ?c))
        (distinct ?x ?a) (distinct ?x ?b) (distinct ?x ?c))
    (<= (next (pegs ?n)) (true (pegs ?m)) (less ?m ?n))
    (<= terminal (not moveable))
    (<= (goal r 100) (true (pegs 1)) (true (hole 3 peg)))
    (<= (goal r 0) (not (true (pegs 1))))";

#[test]
fn what_is_counted_helps_parities() {
    let puzzle = puzzle(PEGS);
    assert_eq!(shortest(&puzzle), None);
    let outcome = by_algebra(&puzzle);
    let answer = claim_outcome(&puzzle.net, &outcome);
    let Claim::Unsolvable {
        proof: Proof::Parity { facts, told, given },
    } = &answer
    else {
        panic!("{outcome:?}");
    };
    assert_eq!(claim(&puzzle, &answer), Ok(()));
    let tampered = |facts: &[String], told: &[Vec<(String, i64)>]| {
        let proof = Proof::Parity {
            facts: facts.to_vec(),
            told: told.to_vec(),
            given: given.clone(),
        };
        claim(&puzzle, &Claim::Unsolvable { proof })
    };
    assert!(!told.is_empty());
    assert!(tampered(facts, &[]).is_err(), "what was told is needed");
    assert!(tampered(&facts[1..], told).is_err(), "each fact counts");
    assert!(tampered(&[], told).is_err(), "nothing proves nothing");
    assert!(tampered(&["(hole 9 peg)".to_owned()], told).is_err());
    let mut wrong = told.clone();
    wrong[0]
        .iter_mut()
        .for_each(|(_, weight)| *weight = -*weight);
    assert!(
        tampered(facts, &wrong).is_err(),
        "the other way round it tells nothing"
    );
    wrong[0]
        .iter_mut()
        .for_each(|(_, weight)| *weight *= *weight);
    assert!(tampered(facts, &wrong).is_err(), "squares grow");
}

/// Gems cost two coins each; there are `coins` coins.
fn shop(coins: u32) -> Puzzle {
    let mut rules = String::from(
        "(role r) (buy 1 2 a) (buy 2 3 b) (buy 1 2 b) (buy 3 4 b) (buy 1 3 a)
        (<= (legal r (take ?x ?y ?g)) (buy ?x ?y ?g) (true (coin ?x)) (true (coin ?y)))
        (legal r wait)
        (<= (next (gem ?g)) (does r (take ?x ?y ?g)))
        (<= (next (gem ?g)) (true (gem ?g)))
        (<= (paid ?x) (does r (take ?x ?y ?g)))
        (<= (paid ?y) (does r (take ?x ?y ?g)))
        (<= (next (coin ?x)) (true (coin ?x)) (not (paid ?x)))
        (<= done (true (gem a)) (true (gem b)))
        (<= terminal done) (<= (goal r 100) done) (<= (goal r 0) (not done))",
    );
    (1..=coins).for_each(|coin| rules += &format!("(init (coin {coin}))"));
    puzzle(&rules)
}

#[test]
fn potentials_count_what_is_spent() {
    let puzzle = shop(3);
    assert_eq!(shortest(&puzzle), None);
    let potentials = Potentials::new(&puzzle).expect("it is small");
    let outcome = potentials.refute(&puzzle);
    let answer = claim_outcome(&puzzle.net, &outcome);
    let Claim::Unsolvable {
        proof: Proof::Potential { weights, given },
    } = &answer
    else {
        panic!("{outcome:?}");
    };
    assert_eq!(claim(&puzzle, &answer), Ok(()));
    for number in 0..weights.len() {
        let mut weights = weights.clone();
        weights[number].1 *= -1;
        let given = given.clone();
        let proof = Proof::Potential { weights, given };
        assert!(
            claim(&puzzle, &Claim::Unsolvable { proof }).is_err(),
            "{number}"
        );
    }
}

#[test]
fn potentials_refute_only_states_without_solutions() {
    let puzzle = shop(4);
    assert_eq!(shortest(&puzzle), Some(2));
    let mut potentials = Potentials::new(&puzzle).expect("it is small");
    let mut batch = Batch::new(&puzzle.net, 64, Engine::Auto);
    let mut known = FxHashSet::from_iter([puzzle.start.clone()]);
    let mut open = vec![puzzle.start.clone()];
    let mut refuted = 0;
    while let Some(state) = open.pop() {
        if potentials.refutes(&state) || potentials.learn(&state) {
            assert!(potentials.refutes(&state));
            let from = from_start(Propnet::clone(&puzzle.net), Some(state.clone()));
            assert_eq!(shortest(&from), None);
            assert_eq!(checked(&from, &potentials.refute(&from)), Ok(()));
            refuted += 1;
        }
        for child in batch.children(&state) {
            if known.insert(child.state.clone()) {
                open.push(child.state);
            }
        }
    }
    assert!(refuted > 1, "{} states", known.len());
}

#[test]
fn wrong_plans_and_counts_are_rejected() {
    let rules = "(role r) (init (at 0)) (after 0 1) (after 1 2) (legal r stay)
        (<= (legal r go) (true (at ?x)) (after ?x ?y))
        (<= (next (at ?y)) (does r go) (true (at ?x)) (after ?x ?y))
        (<= (next (at ?x)) (does r stay) (true (at ?x)))
        (<= terminal (true (at 2))) (<= (goal r 100) (true (at 2)))
        (<= (goal r 0) (not (true (at 2))))";
    let solvable = puzzle(rules);
    let plan = |moves: &[&str]| {
        let plan = moves.iter().map(|&text| text.to_owned()).collect();
        claim(
            &solvable,
            &Claim::Solved {
                plans: vec![plan],
                optimal: false,
                all: false,
                least: None,
            },
        )
    };
    assert_eq!(plan(&["go", "stay", "go"]), Ok(()));
    assert!(plan(&["go", "stay"]).is_err());
    assert!(plan(&["go", "go", "stay"]).is_err());
    assert!(plan(&["go", "jump"]).is_err());
    let exhausted = |puzzle: &Puzzle, positions| {
        let positions = Some(positions);
        let proof = Proof::Exhausted { positions };
        claim(puzzle, &Claim::Unsolvable { proof })
    };
    let stuck = puzzle(&rules.replace("(goal r 100)", "(goal r 50)"));
    assert_eq!(exhausted(&stuck, 3), Ok(()));
    assert!(exhausted(&stuck, 4).is_err());
    assert!(exhausted(&solvable, 3).is_err());
    assert_eq!(
        claim(&solvable, &Claim::NoSolutionWithin { moves: 1 }),
        Ok(())
    );
    assert!(claim(&solvable, &Claim::NoSolutionWithin { moves: 2 }).is_err());
    let nothing = Claim::OutOfBudget {
        no_solution_within: None,
        best: None,
    };
    assert!(claim(&solvable, &nothing).is_err());
    let empty = Proof::Potential {
        weights: Vec::new(),
        given: Given::default(),
    };
    assert!(claim(&solvable, &Claim::Unsolvable { proof: empty }).is_err());
}
