//! Conditions on values that are unique in each state, in place of relations that are too large for a
//! network.

use ggp_engine::machine::{DatalogMachine, Limits, Machine, PropnetMachine};
use ggp_engine::propnet::playout::{PlayoutOptions, Playouts, Proceed, Tally};
use ggp_engine::propnet::{Approach, GroundError, GroundLimits, Propnet, Rewrites};
use ggp_gdl::game::Game;

use crate::common::names::scrambled;

/// Five dials with a digit each. All relations of several digits have thousands of rows. The rules ask for
/// a digit that is on exactly one dial: as a key, as a constant, and as the colour of the digit on a dial.
const DIALS: &str = "
    (role r) (dial a) (dial b) (dial c) (dial d) (dial e)
    (digit 1) (digit 2) (digit 3) (digit 4) (digit 5) (digit 6)
    (init (at a 1)) (init (at b 1)) (init (at c 1)) (init (step 1)) (init (colour 2 4))
    (after 1 2) (after 2 3) (after 3 4) (after 4 5) (after 5 6) (after 6 7) (after 7 8) (after 8 9)
    (<= (legal r (turn ?dial ?n)) (dial ?dial) (digit ?n))
    (<= (legal r (paint ?n ?m)) (digit ?n) (digit ?m))
    (<= (next (at ?dial ?n)) (does r (turn ?dial ?n)))
    (<= (next (at ?dial ?n)) (true (at ?dial ?n)) (not (turned ?dial)))
    (<= (turned ?dial) (does r (turn ?dial ?n)))
    (<= (next (colour ?n ?m)) (does r (paint ?n ?m)))
    (<= (next (colour ?n ?m)) (true (colour ?n ?m)) (not (painted ?n)))
    (<= (painted ?n) (does r (paint ?n ?m)))
    (<= (next (step ?m)) (true (step ?n)) (after ?n ?m))
    (<= (same ?x ?x) (digit ?x))
    (<= (first ?z ?a ?b ?c ?d ?e) (same ?z ?a) (digit ?b) (digit ?c) (digit ?d) (digit ?e)
        (not (same ?z ?b)) (not (same ?z ?c)) (not (same ?z ?d)) (not (same ?z ?e)))
    (<= (once ?z ?a ?b ?c ?d ?e) (first ?z ?a ?b ?c ?d ?e))
    (<= (once ?z ?a ?b ?c ?d ?e) (first ?z ?b ?a ?c ?d ?e))
    (<= (once ?z ?a ?b ?c ?d ?e) (first ?z ?c ?a ?b ?d ?e))
    (<= (once ?z ?a ?b ?c ?d ?e) (first ?z ?d ?a ?b ?c ?e))
    (<= (once ?z ?a ?b ?c ?d ?e) (first ?z ?e ?a ?b ?c ?d))
    (<= (has ?z) (digit ?z) (true (at a ?a)) (true (at b ?b)) (true (at c ?c)) (true (at d ?d))
        (true (at e ?e)) (once ?z ?a ?b ?c ?d ?e))
    (<= both (true (at a ?a)) (true (at b ?b)) (true (at c ?c)) (true (at d ?d))
        (true (at e ?e)) (once 3 ?a ?b ?c ?d ?e) (once 4 ?a ?b ?c ?d ?e))
    (<= bright (true (at a ?a)) (true (colour ?a ?z)) (true (at b ?b)) (true (at c ?c))
        (once ?z ?b ?c ?b ?c ?a))
    (<= terminal (true (step 9)))
    (<= terminal (has 1) (has 2) (true (step 8)))
    (<= (goal r 100) both)
    (<= (goal r 50) bright (not both))
    (<= (goal r 0) (not bright) (not both))";

fn game(text: &str) -> Game {
    Game::from_text("dials.kif", text).unwrap_or_else(|reading| panic!("{:?}", reading.findings))
}

/// A network with few rows.
fn small(game: &Game, rewrites: Rewrites) -> Result<Propnet, GroundError> {
    let limits = GroundLimits {
        facts: 2_000,
        rewrites,
        ..GroundLimits::default()
    };
    Propnet::simplified(game, &limits)
}

fn playouts(net: &Propnet) -> Tally {
    let options = PlayoutOptions {
        phases: 1,
        ..PlayoutOptions::default()
    };
    Playouts::new(net, &options).run(20_000, 5, 1, || Proceed::On)
}

#[test]
fn large_relations_of_unique_values_need_no_rows() {
    for text in [DIALS.to_owned(), scrambled(DIALS)] {
        let game = game(&text);
        let limits = GroundLimits {
            approach: Approach::Whole,
            rewrites: Rewrites::NONE,
            ..GroundLimits::default()
        };
        let (whole, _) = Propnet::ground(&game, &limits).unwrap();
        let expected = playouts(&whole);
        assert!(
            expected.goals[0].iter().all(|&count| count > 100),
            "{expected:?}"
        );
        let net = small(&game, Rewrites::ALL).unwrap();
        assert_eq!(playouts(&net), expected);
        let without = Rewrites {
            unique_values: false,
            ..Rewrites::ALL
        };
        assert!(matches!(
            small(&game, without),
            Err(GroundError::TooLarge(_))
        ));
    }
}

#[test]
fn values_must_be_unique_and_not_asked_for_in_negations() {
    let changed = |from: &str, to: &str| {
        let text = DIALS.replacen(from, to, 1);
        assert_ne!(text, DIALS);
        small(&game(&text), Rewrites::ALL)
    };
    // A dial keeps all its digits; so does a digit its colours.
    for kept in [" (not (turned ?dial))", " (not (painted ?n))"] {
        let net = changed(kept, "");
        assert!(matches!(net, Err(GroundError::TooLarge(_))), "{net:?}");
    }
    let net = changed("(once 4 ?a ?b ?c ?d ?e)", "(not (once 4 ?a ?b ?c ?d ?e))");
    assert!(matches!(net, Err(GroundError::TooLarge(_))), "{net:?}");
}

/// The score of the only role in a state.
fn score_of<M: Machine>(machine: &mut M, facts: &str) -> u8 {
    let game = machine.game().clone();
    let facts = game.parse_terms(machine.terms_mut(), facts).unwrap();
    let state = machine.state(&facts).unwrap();
    let role = game.roles().next().unwrap();
    machine.goal(&state, role).unwrap().get()
}

#[test]
fn states_with_two_values_are_evaluated_by_the_rules() {
    let game = game(DIALS);
    let net = small(&game, Rewrites::ALL).unwrap();
    let mut machine = PropnetMachine::from_network(net, Limits::default());
    let mut datalog = DatalogMachine::new(&game, Limits::default()).unwrap();
    let dials = |digits: [&str; 5]| {
        let dials = ["a", "b", "c", "d", "e"].iter().zip(digits);
        dials
            .map(|(dial, digit)| format!("(at {dial} {digit}) "))
            .collect::<String>()
    };
    // With a second digit on a dial, another of its digits makes each condition true.
    for (text, score) in [
        (dials(["3", "4", "1", "5", "2"]), 100),
        (dials(["3", "4", "1", "3", "2"]), 0),
        (dials(["3", "4", "1", "3", "2"]) + "(at d 4) ", 0),
        (dials(["3", "4", "1", "3", "2"]) + "(at d 5) ", 100),
    ] {
        let text = text + "(step 9)";
        assert_eq!(score_of(&mut machine, &text), score, "{text}");
        assert_eq!(score_of(&mut datalog, &text), score, "{text}");
    }
}
