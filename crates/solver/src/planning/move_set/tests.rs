use std::collections::BTreeSet;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;
use crate::planning::bounded::bounded;
use ggp_engine::machine::{DatalogMachine, Limits, Machine};
use ggp_engine::propnet::batch::pack;
use ggp_engine::propnet::{GroundLimits, Propnet};
use ggp_gdl::game::{Game, Move, RoleId, Score};

/// A puzzle that starts in the rules' initial state.
pub(in crate::planning) fn puzzle(rules: &str) -> Puzzle {
    let game = Game::from_text("test", rules).unwrap();
    let (mut net, _) = Propnet::ground(&game, &GroundLimits::default()).unwrap();
    net.simplify();
    let start = pack(net.initial().iter().copied());
    Puzzle::new(net, start, Score::new(100).unwrap()).unwrap()
}

/// Checks a plan with the rules alone.
pub(in crate::planning) fn assert_solves(puzzle: &Puzzle, plan: &[u32], what: &str) {
    let mut rules = Rules::new(puzzle);
    let mut state = rules.machine.initial().unwrap();
    for &chosen in plan {
        let chosen = puzzle.net.moves()[0][chosen as usize];
        assert!(!rules.machine.is_terminal(&state).unwrap(), "{what}");
        assert!(rules.legal(&state).contains(&chosen), "{what}");
        state = rules.machine.next(&state, &[chosen]).unwrap();
    }
    assert!(rules.is_solved(&state), "{what}");
}

pub(in crate::planning) struct Rules {
    machine: DatalogMachine,
    role: RoleId,
    target: Score,
}

type State = <DatalogMachine as Machine>::State;

impl Rules {
    pub fn new(puzzle: &Puzzle) -> Rules {
        let game = puzzle.net.game();
        Rules {
            machine: DatalogMachine::new(game, Limits::default()).unwrap(),
            role: game.roles().next().unwrap(),
            target: puzzle.target,
        }
    }

    fn legal(&mut self, state: &State) -> Vec<Move> {
        let mut legal = Vec::new();
        self.machine.legal(state, self.role, &mut legal).unwrap();
        legal
    }

    fn is_solved(&mut self, state: &State) -> bool {
        self.machine.is_terminal(state).unwrap()
            && self.machine.goal(state, self.role).unwrap() >= self.target
    }

    /// All sets of moves that solve the puzzle, and the length of a shortest
    /// solution, among plays of at most `most` moves.
    pub fn exhaust(&mut self, most: usize) -> (BTreeSet<BTreeSet<Move>>, Option<usize>) {
        let mut sets = BTreeSet::new();
        let mut shortest = None;
        let start = (self.machine.initial().unwrap(), BTreeSet::new());
        let mut level = BTreeSet::from([self.key(start.0, start.1)]);
        for depth in 0..=most {
            let mut next = BTreeSet::new();
            for (facts, made) in level {
                let state = self.machine.state(&facts).unwrap();
                if self.machine.is_terminal(&state).unwrap() {
                    if self.is_solved(&state) {
                        shortest.get_or_insert(depth);
                        sets.insert(made);
                    }
                    continue;
                }
                for chosen in self.legal(&state) {
                    let after = self.machine.next(&state, &[chosen]).unwrap();
                    let mut made = made.clone();
                    made.insert(chosen);
                    next.insert(self.key(after, made));
                }
            }
            level = next;
        }
        (sets, shortest)
    }

    fn key(
        &self,
        state: State,
        made: BTreeSet<Move>,
    ) -> (Vec<ggp_gdl::terms::TermId>, BTreeSet<Move>) {
        (self.machine.facts(&state), made)
    }
}

fn solved(rules: &str) -> Plan {
    let puzzle = puzzle(rules);
    match move_set(&puzzle, &Budget::default()).outcome {
        Outcome::Solved { plan, .. } => {
            assert_solves(&puzzle, &plan, rules);
            plan
        }
        other => panic!("{other:?}"),
    }
}

fn is_refuted(rules: &str) -> bool {
    let outcome = move_set(&puzzle(rules), &Budget::default()).outcome;
    matches!(outcome, Outcome::Unsolvable(Reason::Refuted { .. }))
}

/// Pieces on a board; all must be placed so that no piece attacks another.
fn placing(size: usize, attacked: &str) -> String {
    let mut rules = String::from(
        "(role r) (init (clock 0))
         (<= (legal r (put ?x ?y)) (place ?x) (place ?y) (not (true (has ?x ?y))))
         (<= (next (has ?x ?y)) (does r (put ?x ?y)))
         (<= (next (has ?x ?y)) (true (has ?x ?y)))
         (<= (next (clock ?b)) (true (clock ?a)) (follows ?a ?b))
         (<= (row ?x ?y ?x ?z) (place ?x) (place ?y) (place ?z) (distinct ?y ?z))
         (<= (row ?y ?x ?z ?x) (place ?x) (place ?y) (place ?z) (distinct ?y ?z))
         (<= bad (true (has ?x ?y)) (true (has ?u ?v)) (attacks ?x ?y ?u ?v))
         (<= (goal r 100) (not bad)) (<= (goal r 0) bad)",
    );
    for number in 0..size {
        rules.push_str(&format!(
            "(follows {number} {}) (place {})",
            number + 1,
            number + 1
        ));
    }
    rules.push_str(&format!("(<= terminal (true (clock {size})))"));
    rules.push_str(attacked);
    rules
}

#[test]
fn a_clock_determines_the_number_of_moves() {
    let rooks = "(<= (attacks ?x ?y ?u ?v) (row ?x ?y ?u ?v))";
    assert_eq!(solved(&placing(4, rooks)).len(), 4);
    let everything = "(<= (attacks ?x ?y ?u ?v) (place ?x) (place ?y) (place ?u) (place ?v)
                          (distinct ?x ?u))
                      (<= (attacks ?x ?y ?u ?v) (row ?x ?y ?u ?v))";
    assert!(is_refuted(&placing(2, everything)));
}

#[test]
fn mutually_exclusive_moves_are_not_both_made() {
    // A Latin square: no value occurs twice in a line, enforced by legality alone.
    let rules = |values: &str| {
        format!(
            "(role r) (place 1) (place 2) (place 3) {values}
             (<= (init (cell ?x ?y empty)) (place ?x) (place ?y))
             (<= (legal r (write ?x ?y ?v)) (true (cell ?x ?y empty)) (value ?v)
                 (not (taken ?x ?y ?v)))
             (<= (taken ?x ?y ?v) (true (cell ?x ?z ?v)) (place ?y))
             (<= (taken ?x ?y ?v) (true (cell ?z ?y ?v)) (place ?x))
             (legal r stop)
             (<= (next (cell ?x ?y ?v)) (does r (write ?x ?y ?v)))
             (<= (next (cell ?x ?y ?v)) (true (cell ?x ?y ?v)) (distinct ?v empty))
             (<= (next (cell ?x ?y empty)) (true (cell ?x ?y empty)) (does r (write ?u ?v ?w))
                 (distinct ?u ?x))
             (<= (next (cell ?x ?y empty)) (true (cell ?x ?y empty)) (does r (write ?u ?v ?w))
                 (distinct ?v ?y))
             (<= (next (cell ?x ?y empty)) (true (cell ?x ?y empty)) (does r stop))
             (<= (next stopped) (does r stop))
             (<= gap (true (cell ?x ?y empty)))
             (<= terminal (not gap)) (<= terminal (true stopped))
             (<= (goal r 0) gap) (<= (goal r 100) (not gap))"
        )
    };
    assert_eq!(solved(&rules("(value 1) (value 2) (value 3)")).len(), 9);
    assert!(is_refuted(&rules("(value 1) (value 2)")));
    let all = count(
        &puzzle(&rules("(value 1) (value 2) (value 3)")),
        &Budget::default(),
        100,
    );
    assert_eq!((all.plans.len(), all.is_all), (12, true));
    let some = count(
        &puzzle(&rules("(value 1) (value 2) (value 3)")),
        &Budget::default(),
        2,
    );
    assert_eq!((some.plans.len(), some.is_all), (2, false));
}

#[test]
fn moves_come_after_those_that_make_them_legal() {
    let chain = |last: &str| {
        format!(
            "(role r) (init (has key0))
             (<= (legal r (open ?x)) (needs ?x ?k) (true (has ?k)))
             (needs a key0) (needs b key1) (needs c key2) (gives a key1) (gives b key2)
             (needs e key3) (needs f key4) (gives e key4) (gives f key3)
             (gives c gold) {last}
             (<= (next (has ?x)) (true (has ?x)))
             (<= (next (has ?k)) (does r (open ?x)) (gives ?x ?k))
             (<= won (true (has gold))) (<= terminal won)
             (<= (goal r 100) won) (<= (goal r 0) (not won))"
        )
    };
    assert_eq!(solved(&chain("")).len(), 3);
    // Two doors, each holding the other's key.
    let locked = chain("").replace("(gives c gold)", "(gives f gold)");
    assert!(is_refuted(&locked));
}

#[test]
fn recursive_facts_need_a_foundation() {
    // A path of marks from one end of a ring with a tail to the other.
    let rules = |ends: &str| {
        format!(
            "(role r) (link 1 2) (link 2 3) (link 4 5) (link 5 6) (link 6 4) {ends}
             (<= (near ?a ?b) (link ?a ?b)) (<= (near ?b ?a) (link ?a ?b))
             (<= (place ?a) (near ?a ?b))
             (<= (legal r (mark ?a)) (place ?a) (not (true (marked ?a))))
             (<= (next (marked ?a)) (true (marked ?a)))
             (<= (next (marked ?a)) (does r (mark ?a)))
             (<= (reached 1) (true (marked 1)))
             (<= (reached ?b) (reached ?a) (near ?a ?b) (true (marked ?b)))
             (<= won (reached 6)) (<= terminal won)
             (<= (goal r 100) won) (<= (goal r 0) (not won))"
        )
    };
    assert!(solved(&rules("(link 3 4)")).len() >= 5);
    assert!(is_refuted(&rules("")));
}

/// Three marks to be set; some states are lost.
fn marking(lost: &str) -> String {
    format!(
        "(role r) (place a) (place b) (place c)
        (<= (legal r (mark ?a)) (place ?a) (not (true (marked ?a))))
        (<= (next (marked ?a)) (true (marked ?a)))
        (<= (next (marked ?a)) (does r (mark ?a)))
        (<= won (true (marked a)) (true (marked b)) (true (marked c)))
        {lost}
        (<= terminal won) (<= terminal lost)
        (<= (goal r 100) won) (<= (goal r 0) (not won))"
    )
}

/// Marks must be set in an order that never leaves two of them alone.
const NOT_ALONE: &str = "
        (<= lost (not won) (true (marked b)) (not (true (marked c))))
        (<= lost (not won) (true (marked a)) (not (true (marked b))))";

#[test]
fn plans_do_not_pass_through_terminal_states() {
    assert_eq!(solved(&marking(NOT_ALONE)).len(), 3);
}

#[test]
fn moves_are_compared_only_if_their_order_needs_it() {
    let is_compared = |rules: &str| {
        let (puzzle, budget) = (puzzle(rules), Budget::default());
        let analysed = with_analysis(&puzzle, |analysis| {
            let mut search = analysis.search(&puzzle, &budget, Stop::new());
            assert!(matches!(search.next(), Next::Plan(plan) if plan.len() == 3));
            analysis.single_changes.is_compared()
        });
        analysed.expect("the puzzle is small")
    };
    assert!(!is_compared(&marking(
        "(<= lost (true (marked a)) (not (place a)))"
    )));
    assert!(is_compared(&marking(NOT_ALONE)));
}

/// A random game with a few facts that moves change, and perhaps a clock.
fn random_game(seed: u64, erases: bool, counts: bool) -> String {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let facts = ["a", "b", "c", "d", "e"];
    let mut literals = |most: usize| -> String {
        let count = random.random_range(0..=most);
        let one = |_| {
            let fact = facts[random.random_range(0..facts.len())];
            match random.random_range(0..3) {
                0 => format!("(true (on {fact}))"),
                1 => format!("(not (true (on {fact})))"),
                _ => format!("(not (reached {fact}))"),
            }
        };
        (0..count).map(one).collect::<Vec<String>>().join(" ")
    };
    let mut rules = String::from("(role r) (legal r wait)\n");
    for (number, fact) in facts.into_iter().enumerate() {
        rules.push_str(&format!(
            "(<= (legal r (set {fact})) (not (true (on {fact}))) {})
             (<= (next (on {fact})) (does r (set {fact})) {})\n",
            literals(2),
            if number == 4 {
                literals(1)
            } else {
                String::new()
            },
        ));
    }
    rules.push_str(&format!(
        "(<= won (true (on e)) {}) (<= won (reached c) {}) (<= lost (not won) {} {})
         (<= terminal won) (<= terminal lost)
         (<= (goal r 100) won) (<= (goal r 0) (not won))\n",
        literals(3),
        literals(3),
        "(true (on b))",
        literals(3),
    ));
    for number in 0..6 {
        rules.push_str(&format!("(follows {number} {})", number + 1));
    }
    if counts {
        rules.push_str(
            "(init (clock 0)) (<= terminal (true (clock 6)))
             (<= (next (clock ?b)) (true (clock ?a)) (follows ?a ?b))\n",
        );
    }
    rules.push_str(
        "(link a b) (link b c) (link c b) (link d a) (link c d) (link e c)
         (<= (reached a) (true (on a)))
         (<= (reached ?y) (reached ?x) (link ?x ?y) (true (on ?y)))\n",
    );
    match erases {
        true => rules.push_str(
            "(<= (next (on ?x)) (true (on ?x)) (not (does r (clear ?x))))
             (<= (legal r (clear ?x)) (true (on ?x)) (not (reached ?x)))",
        ),
        false => rules.push_str("(<= (next (on ?x)) (true (on ?x)))"),
    }
    rules
}

#[test]
fn random_games_agree_with_exhaustive_search() {
    let mut answered = 0;
    for seed in 0..180 {
        let (erases, counts) = (seed % 3 == 0, seed % 3 < 2);
        let rules = random_game(seed, erases, counts);
        let puzzle = puzzle(&rules);
        let (sets, shortest) = Rules::new(&puzzle).exhaust(6);
        match move_set(&puzzle, &Budget::default()).outcome {
            Outcome::Solved { plan, .. } => {
                assert_solves(&puzzle, &plan, &rules);
                answered += 1;
            }
            Outcome::Unsolvable(_) => {
                assert_eq!(shortest, None, "seed {seed}: {rules}");
                answered += 1;
            }
            Outcome::Unknown => {}
            other => panic!("{other:?}"),
        }
        // Without a clock, there is no bound on the number of moves.
        let bounded = counts.then(|| bounded(&puzzle, &Budget::default()).outcome);
        match bounded {
            None => {}
            Some(Outcome::Solved { plan, optimal }) => {
                assert_solves(&puzzle, &plan, &rules);
                assert!(optimal);
                assert_eq!(Some(plan.len()), shortest, "seed {seed}: {rules}");
            }
            Some(Outcome::Unsolvable(_)) => assert_eq!(shortest, None, "seed {seed}: {rules}"),
            other => panic!("seed {seed}: {other:?}"),
        }
        let solutions = count(&puzzle, &Budget::default(), 1_000);
        for plan in &solutions.plans {
            assert_solves(&puzzle, plan, &rules);
        }
        if solutions.is_all {
            assert_eq!(solutions.plans.len(), sets.len(), "seed {seed}: {rules}");
        } else {
            assert!(solutions.plans.len() <= sets.len(), "seed {seed}: {rules}");
        }
    }
    assert!(answered >= 110, "{answered} of 180");
}
