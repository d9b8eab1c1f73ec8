//! Agreement of the evaluators, on random rule sets and along random playouts of
//! games.
//!
//! The naive evaluator is the reference; it shares nothing with the others but the
//! rules. A random rule set is a value before it becomes text, so that a failing
//! one shrinks to a small one, which is printed as text.

mod along;
mod random;

use std::fmt::Write as _;

use ggp_engine::machine::{AnyMachine, Backend, Limits, Machine, PlayError, State};
use ggp_engine::propnet::{Approach, GroundLimits};
use ggp_gdl::game::{Game, RoleId};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use along::{Step, compare_along};
use random::program;

// The comparison.

fn limits(work: u64) -> Limits {
    Limits {
        work,
        ..Limits::default()
    }
}

/// Approaches to grounding, which must all give the same answers.
const APPROACHES: [Approach; 5] = [
    Approach::Best,
    Approach::Whole,
    Approach::Pieces,
    Approach::OnDemand,
    Approach::PiecesOnDemand,
];

/// The machines to compare with the reference. Networks that are too large are
/// omitted.
fn machines(game: &Game, work: u64, networks: &[Approach]) -> Result<Vec<Compared>, End> {
    let datalog = AnyMachine::new(game, Backend::Datalog, limits(work))?;
    let mut machines = vec![Compared::new(datalog)?];
    let limits = |approach| Limits {
        ground: GroundLimits {
            facts: 100_000,
            work: 10_000_000,
            instances: 200_000,
            approach,
            ..GroundLimits::default()
        },
        ..limits(work)
    };
    let networks = networks
        .iter()
        .map(|&approach| (Backend::Propnet, approach));
    for (backend, approach) in networks.chain([(Backend::Mixed, Approach::Best)]) {
        match AnyMachine::new(game, backend, limits(approach)) {
            Err(PlayError::TooLarge { .. }) => {}
            machine => machines.push(Compared::new(machine?)?),
        }
    }
    Ok(machines)
}

/// A machine and the state that it has reached, and the same by moves in place.
struct Compared {
    machine: AnyMachine,
    state: <AnyMachine as Machine>::State,
    in_place: State,
}

impl Compared {
    fn new(mut machine: AnyMachine) -> Result<Self, PlayError> {
        let state = machine.initial()?;
        let in_place = State::of(machine.clone())?;
        Ok(Compared {
            machine,
            state,
            in_place,
        })
    }
}

/// The reason why a comparison ends early.
enum End {
    /// An evaluator reached its limit.
    TooLarge,
    Differs(String),
}

impl From<PlayError> for End {
    fn from(error: PlayError) -> Self {
        match error {
            PlayError::TooLarge { .. } => End::TooLarge,
            error => End::Differs(error.to_string()),
        }
    }
}

/// Makes random moves and compares all answers, until an evaluator reaches its
/// limit.
fn compare(
    game: &Game,
    work: u64,
    steps: usize,
    networks: &[Approach],
    random: &mut impl Rng,
) -> Result<(), String> {
    match compare_steps(game, work, steps, networks, random) {
        Ok(()) | Err(End::TooLarge) => Ok(()),
        Err(End::Differs(message)) => Err(message),
    }
}

fn compare_steps(
    game: &Game,
    work: u64,
    steps: usize,
    networks: &[Approach],
    random: &mut impl Rng,
) -> Result<(), End> {
    let mut oracle = AnyMachine::new(game, Backend::Naive, limits(work))?;
    let mut machines = machines(game, 20 * work, networks)?;
    let mut state = oracle.initial()?;
    let roles: Vec<RoleId> = game.roles().collect();
    let mut played: Vec<Step> = Vec::new();
    for step in 0..=steps {
        let facts = oracle.facts(&state);
        let terminal = oracle.is_terminal(&state)?;
        let mut joint = Vec::new();
        let mut legal = Vec::new();
        for found in &mut machines {
            let backend = found.machine.backend();
            let equal = |what: &str, same: bool| match same {
                true => Ok(()),
                false => Err(End::Differs(format!("{backend:?}: {what} at step {step}"))),
            };
            let machine = &mut found.machine;
            equal("facts", facts == machine.facts(&found.state))?;
            // A state made from its facts equals the one reached by play.
            equal("state", machine.state(&facts)? == found.state)?;
            equal("terminal", machine.is_terminal(&found.state)? == terminal)?;
            let in_place = &mut found.in_place;
            equal("in place", in_place.position() == found.state)?;
            equal("terminal in place", in_place.is_terminal()? == terminal)?;
        }
        for &role in &roles {
            let values = oracle.goal_values(&state, role)?;
            let goal = oracle.goal(&state, role);
            let mut moves = Vec::new();
            let outcome = oracle.legal(&state, role, &mut moves);
            for found in &mut machines {
                let backend = found.machine.backend();
                let equal = |what: &str, same: bool| match same {
                    true => Ok(()),
                    false => Err(End::Differs(format!("{backend:?}: {what} at step {step}"))),
                };
                let machine = &mut found.machine;
                let mut others = Vec::new();
                equal(
                    "goal values",
                    machine.goal_values(&found.state, role)? == values,
                )?;
                equal("goal", machine.goal(&found.state, role) == goal)?;
                equal(
                    "legal",
                    machine.legal(&found.state, role, &mut others) == outcome,
                )?;
                equal("legal moves", moves == others)?;
                let in_place = &mut found.in_place;
                equal("goal in place", in_place.goal(role) == goal)?;
                let legal = in_place.legal_moves(role).map(<[_]>::to_vec);
                equal(
                    "legal in place",
                    legal == outcome.clone().map(|()| others.clone()),
                )?;
            }
            if !moves.is_empty() {
                joint.push(moves[random.random_range(0..moves.len())]);
            }
            legal.push(moves);
        }
        if terminal || step == steps || joint.len() < roles.len() {
            compare_along(game, 20 * work, &played, terminal)?;
            break;
        }
        state = oracle.next(&state, &joint)?;
        played.push(Step {
            facts: oracle.facts(&state),
            joint: joint.clone(),
            legal,
        });
        for found in &mut machines {
            let before = found.in_place.position();
            found.state = found.machine.next(&found.state, &joint)?;
            found.in_place.play(&joint)?;
            // There and back again.
            if step % 2 == 1 {
                found.in_place.set_position(&before);
                found.in_place.play(&joint)?;
            }
        }
    }
    Ok(())
}

/// A fixed set of random rule sets, unless `GGP_SEED` is set. `PROPTEST_CASES` is
/// their number.
fn config() -> Config {
    let given = std::env::var_os("PROPTEST_CASES").is_some();
    Config {
        cases: if given {
            Config::default().cases
        } else {
            crate::common::sized(150, 2_000)
        },
        rng_seed: RngSeed::Fixed(crate::common::seed()),
        failure_persistence: None,
        max_shrink_iters: 20_000,
        ..Config::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn evaluators_agree_on_random_rules(program in program()) {
        let text = program.text();
        let game = match Game::from_text("random", &text) {
            Ok(game) => game,
            Err(reading) => {
                let first = reading.findings.iter().find(|f| f.code.as_str() < "W");
                return Err(TestCaseError::fail(format!("refused: {first:?}\n{text}")));
            }
        };
        let mut random = Xoshiro256PlusPlus::seed_from_u64(program.seed);
        if let Err(message) = compare(&game, 200_000, 5, &APPROACHES, &mut random) {
            return Err(TestCaseError::fail(format!("{message}\n{text}")));
        }
    }
}

/// Compares the evaluators on rules that one of them once evaluated wrongly. The
/// rest of a complete game is added.
fn check(rules: &str) {
    let rest = "(role left) (legal left go) (init s) (goal left 50)
                (<= terminal (true over)) (<= (next over) (true never))";
    let game = Game::from_text("hard", &format!("{rules}\n{rest}"));
    let game = game.unwrap_or_else(|reading| panic!("{:?}", reading.findings));
    let mut random = Xoshiro256PlusPlus::seed_from_u64(0);
    compare(&game, 10_000, 3, &APPROACHES, &mut random)
        .unwrap_or_else(|message| panic!("{message}"));
}

#[test]
fn a_literal_may_contain_a_variable_and_a_term_with_it() {
    check(
        "(pair a (f a))
         (<= (both ?x ?y) (pair ?x ?y) (true s))
         (<= (next s) (both ?y (f ?y)))",
    );
}

/// Compares all backends on a whole rule set.
fn check_game(rules: &str) {
    let game = Game::from_text("shapes", rules);
    let game = game.unwrap_or_else(|reading| panic!("{:?}", reading.findings));
    for seed in 0..6 {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let outcome = compare(&game, 1_000_000, 12, &APPROACHES, &mut random);
        outcome.unwrap_or_else(|message| panic!("{message}, seed {seed}"));
    }
}

#[test]
fn reachability_that_changes_with_the_state_is_a_cycle() {
    check_game(
        "(role painter) (role washer)
         (node a) (node b) (node c) (node d) (node e)
         (road a b) (road b c) (road c a) (road c d) (road d e) (road e d)
         (init (open a b)) (init (open c d)) (init (open d e)) (init (open e d))
         (<= (legal painter (pave ?x ?y)) (road ?x ?y) (not (true (open ?x ?y))))
         (<= (legal painter rest) (true (open a b)))
         (<= (legal painter rest) (not (linked a b)))
         (<= (legal washer (flood ?x ?y)) (true (open ?x ?y)) (linked ?y ?x))
         (<= (legal washer rest) (node a))
         (<= (linked ?x ?y) (true (open ?x ?y)))
         (<= (linked ?x ?z) (linked ?x ?y) (linked ?y ?z))
         (<= (near ?x) (linked a ?x)) (<= (near ?y) (near ?x) (true (open ?y ?x)))
         (<= (next (open ?x ?y)) (does painter (pave ?x ?y)))
         (<= (next (open ?x ?y)) (true (open ?x ?y)) (not (does washer (flood ?x ?y))))
         (<= terminal (linked a e) (linked e a))
         (<= (goal painter 100) (linked a e)) (<= (goal painter 0) (not (linked a e)))
         (<= (goal washer 100) (not (near d))) (<= (goal washer 30) (near d))",
    );
}

#[test]
fn facts_may_be_nested_terms() {
    check_game(
        "(role stacker) (item a) (item b) (item c)
         (init (pile (on a (on b empty)))) (init (pile (on c empty))) (init (pile empty))
         (<= (legal stacker (put ?i ?p)) (true (pile (on ?i ?rest))) (true (pile ?p))
             (distinct ?p (on ?i ?rest)) (low ?p))
         (<= (legal stacker stop) (true (pile empty)))
         (<= (legal stacker stop) (not (true (pile empty))))
         (low empty) (<= (low (on ?i empty)) (item ?i))
         (<= (next (pile (on ?i ?p))) (does stacker (put ?i ?p)))
         (<= (next (pile ?rest)) (does stacker (put ?i ?p)) (true (pile (on ?i ?rest))))
         (<= (next (pile ?p)) (true (pile ?p)) (does stacker (put ?i ?q))
             (distinct ?p ?q) (not (top ?i ?p)))
         (<= (next ?f) (true ?f) (does stacker stop))
         (<= (top ?i (on ?i ?rest)) (true (pile (on ?i ?rest))))
         (<= terminal (not (true (pile empty))))
         (<= (goal stacker 100) (true (pile (on b (on a empty)))))
         (<= (goal stacker 20) (not (true (pile (on b (on a empty))))))",
    );
}

#[test]
fn a_state_may_be_empty() {
    check_game(
        "(role one) (role two)
         (<= (legal one (say ?x)) (word ?x)) (legal two listen) (word a) (word b)
         (<= (next heard) (does one (say a)) (not (true heard)))
         (<= terminal (true never)) (<= (next never) (true never))
         (<= (goal one 50) (true heard)) (<= (goal one 40) (not (true heard))) (goal two 0)",
    );
}

#[test]
fn recursion_that_the_specification_allows_is_accepted() {
    check_game(
        "(role solo) (q a) (q b) (r a b) (init (at a))
         (<= (r ?x (f ?x)) (r ?y ?x) (q ?y))
         (<= (legal solo (go ?y)) (true (at ?x)) (r ?x ?y))
         (<= (next (at ?y)) (does solo (go ?y)))
         (<= terminal (true (at (f b)))) (<= (goal solo 100) (true (at (f b))))
         (<= (goal solo 0) (not (true (at (f b)))))",
    );
}

#[test]
fn six_roles_move_simultaneously() {
    let mut rules = String::from(
        "(init (pot 0)) (plus 0 0 0) (plus 0 1 1) (plus 1 0 1) (plus 1 1 0)
         (<= (legal ?r (give ?n)) (role ?r) (plus 0 ?n ?n) (not (true (out ?r))))
         (<= (legal ?r pass) (true (out ?r)))
         (<= (next (out ?r)) (true (out ?r)))
         (<= (next (out ?r)) (does ?r (give 1)) (true (pot 1)))
         (<= (sum r1 ?n) (does r1 (give ?n))) (<= (sum r1 0) (does r1 pass))
         (<= (next (pot ?n)) (sum r6 ?n))
         (<= terminal (true (out r1)) (true (out r4)) (true (out r6)))
         (<= (goal ?r 100) (role ?r) (not (true (out ?r)))) (<= (goal ?r 0) (true (out ?r)))\n",
    );
    for role in 1..=6 {
        let _ = writeln!(rules, "(role r{role})");
    }
    for role in 2..=6 {
        let before = role - 1;
        let _ = writeln!(
            rules,
            "(<= (sum r{role} ?n) (sum r{before} ?m) (does r{role} (give ?g)) (plus ?m ?g ?n))
             (<= (sum r{role} ?n) (sum r{before} ?n) (does r{role} pass))"
        );
    }
    check_game(&rules);
}

#[test]
fn evaluators_agree_along_random_playouts() {
    evaluators_agree(&crate::common::some_own_games(8));
}

/// See the test above; the public games are in `corpus.rs`.
pub(crate) fn evaluators_agree(games: &[(String, Game)]) {
    crate::common::for_each(games, |_, game| {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(crate::common::seed());
        let steps = crate::common::sized(2, 4);
        compare(game, 100_000, steps, &APPROACHES[..1], &mut random)
    });
}
