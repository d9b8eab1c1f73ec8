//! Games and checks for the tests of the checker.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use ggp_engine::machine::{AnyMachine, Backend, Limits as MachineLimits, Machine};
use ggp_gdl::game::{Game, Score};
use ggp_gdl::terms::TermId;
use ggp_search::{Budget, Plans, Stats};
use ggp_solver::planning::{Outcome, Puzzle, invariant};
use ggp_solver::solve::{SolveOptions, claim, claim_outcome, solve};
use ggp_verify::{Checked, Claim, Failure, Limits, Proof, verify};

pub fn game(text: &str) -> Game {
    Game::from_text("test.kif", text).unwrap_or_else(|found| panic!("{text}\n{:?}", found.findings))
}

pub fn machine(game: &Game) -> AnyMachine {
    AnyMachine::new(game, Backend::Propnet, MachineLimits::default()).expect("it is small")
}

pub fn start(machine: &AnyMachine) -> Vec<TermId> {
    let mut machine = machine.clone();
    let state = machine.initial().expect("there is a state");
    machine.facts(&state)
}

/// What the checker says, with an answer written and read again.
pub fn checked(game: &Game, answer: &Claim, limits: &Limits) -> Result<Checked, Failure> {
    let text = serde_json::to_string(answer).expect("it can be written");
    let answer: Claim = serde_json::from_str(&text).expect("it can be read again");
    verify(game, &start(&machine(game)), Score::MAX, &answer, limits)
}

pub fn is_right(game: &Game, answer: &Claim) -> bool {
    match checked(game, answer, &Limits::default()) {
        Ok(checked) => {
            assert!(!checked.how.is_empty());
            true
        }
        Err(Failure::Wrong(_)) => false,
        Err(Failure::Unchecked(why)) => panic!("{why}: {answer:?}"),
    }
}

pub fn unsolvable(proof: Proof) -> Claim {
    Claim::Unsolvable { proof }
}

/// The claim of a method.
pub fn answer(game: &Game, method: &str, plans: Plans) -> Claim {
    let machine = machine(game);
    let mut options = SolveOptions::default();
    options.method = method.parse().unwrap();
    options.plans = plans;
    options.budget.nodes = 20_000;
    options.budget.depth = 40;
    let mut stats = Stats::default();
    let found = solve(&machine, &options, &mut stats, &mut ()).expect("it has one role");
    let start = machine.clone().initial().expect("there is a state");
    claim(&machine, &start, &found, &Budget::default())
}

/// Without a search: clauses only.
pub fn no_search() -> Limits {
    Limits {
        positions: 0,
        ..Limits::default()
    }
}

pub fn invariant_of(game: &Game) -> Option<Claim> {
    let mut machine = machine(game);
    let start = machine.initial().expect("there is a state");
    let (net, packed) = machine.network(&start).expect("it is a network");
    let puzzle = Puzzle::new(net.clone(), packed, Score::MAX).expect("it has one role");
    let reason = invariant::prove(&puzzle, &Budget::default())?;
    Some(claim_outcome(&puzzle.net, &Outcome::Unsolvable(reason)))
}

/// By length of a shortest plan, how many there are; None if there is none.
pub fn shortest(game: &Game) -> Option<(usize, u64)> {
    let mut machine = machine(game);
    let role = game.roles().next().unwrap();
    let first = machine.initial().unwrap();
    let mut known = vec![machine.facts(&first)];
    let mut level = BTreeMap::from([(machine.facts(&first), 1)]);
    for depth in 0.. {
        let mut below: BTreeMap<Vec<TermId>, u64> = BTreeMap::new();
        let mut plans = 0;
        for (facts, ways) in level {
            let state = machine.state(&facts).unwrap();
            if machine.is_terminal(&state).unwrap() {
                if machine.goal(&state, role).unwrap() == Score::MAX {
                    plans += ways;
                }
                continue;
            }
            let mut legal = Vec::new();
            machine.legal(&state, role, &mut legal).unwrap();
            for chosen in legal {
                let after = machine.next(&state, &[chosen]).unwrap();
                *below.entry(machine.facts(&after)).or_default() += ways;
            }
        }
        if plans > 0 {
            return Some((depth, plans));
        }
        below.retain(|facts, _| !known.contains(facts));
        known.extend(below.keys().cloned());
        if below.is_empty() {
            return None;
        }
        level = below;
    }
    None
}

/// A way of two to three moves, with a side step.
pub const WALK: &str = "(role r) (init (at 0)) (way 0 go 1) (way 1 go 2) (way 2 go 3)
    (way 0 on 1) (way 1 back 0)
    (<= (legal r ?m) (true (at ?x)) (way ?x ?m ?y))
    (<= (next (at ?y)) (true (at ?x)) (does r ?m) (way ?x ?m ?y))
    (<= terminal (true (at 3))) (<= (goal r 100) (true (at 3)))
    (<= (goal r 0) (not (true (at 3))))";

pub fn plan(moves: &[&str]) -> Vec<String> {
    moves.iter().map(|&text| text.to_owned()).collect()
}

/// Three fields of which no two neighbours take the same colour; they are in a
/// ring, so three colours are needed.
pub fn colours(count: usize) -> String {
    let mut rules = String::from(
        "(role r) (ring a b) (ring b c) (ring c a)
        (<= (beside ?x ?y) (ring ?x ?y)) (<= (beside ?x ?y) (ring ?y ?x))
        (<= (field ?x) (ring ?x ?y))
        (<= (full ?x) (true (has ?x ?c)))
        (<= (taken ?x ?c) (beside ?x ?y) (true (has ?y ?c)))
        (<= (legal r (paint ?x ?c)) (field ?x) (colour ?c) (not (full ?x)) (not (taken ?x ?c)))
        (legal r wait)
        (<= (next (has ?x ?c)) (does r (paint ?x ?c)))
        (<= (next (has ?x ?c)) (true (has ?x ?c)))
        (<= open (field ?x) (not (full ?x)))
        (<= terminal (not open)) (<= (goal r 100) (not open)) (<= (goal r 0) open)",
    );
    (0..count).for_each(|colour| write!(rules, "(colour c{colour})").unwrap());
    rules
}
