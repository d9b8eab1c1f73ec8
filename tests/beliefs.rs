//! Samples of positions where few histories fit.

use std::collections::HashMap;

use ggp_engine::machine::{AnyMachine, Backend, Limits, Machine};
use ggp_gdl::game::{Game, RoleId};
use ggp_gdl::terms::TermId;
use ggp_hidden::{Belief, BeliefError, BeliefLimits, Claim, World, certain};
use ggp_stop::Stop;

use crate::common::{battleships::battleship, sized};
use crate::hidden::{Past, belief, hidden_games, machine, past, random, shares, told};

/// A role by its number, a machine and a world.
fn begun(game: &Game, role: usize) -> (RoleId, AnyMachine, World) {
    let role = game.roles().nth(role).unwrap();
    let world = World::new(game, Backend::Auto, Limits::default()).unwrap();
    (role, machine(game, Backend::Auto), world)
}

/// Asserts that each history of a belief has the moves and percepts of its role, and leads to its state.
fn assert_fits(game: &Game, world: &World, belief: &Belief, role: RoleId, known: &Past) {
    let mut machine = machine(game, Backend::Datalog);
    for member in belief.members() {
        let mut state = machine.initial().unwrap();
        let history = member.history();
        assert_eq!(history.len(), known.len());
        for (joint, (made, percepts)) in history.iter().zip(known) {
            assert_eq!(joint[role.index()], *made);
            for (other, one) in game.roles().zip(joint) {
                let mut legal = Vec::new();
                machine.legal(&state, other, &mut legal).unwrap();
                assert!(legal.contains(one), "an illegal move");
            }
            let mut now = told(&mut machine, &state, joint, role);
            let mut due = percepts.clone();
            now.sort_unstable();
            due.sort_unstable();
            assert_eq!(now, due);
            state = machine.next(&state, joint).unwrap();
        }
        assert_eq!(machine.facts(&state), world.facts(&member.state));
    }
}

#[test]
fn histories_are_found_where_no_member_of_a_sample_is_left() {
    let game = Game::from_text("battleship", &battleship(8, 4)).unwrap();
    let (role, mut machine, mut world) = begun(&game, 0);
    // So few members do not last for the sixty turns of a match.
    let limits = BeliefLimits {
        members: 50,
        joint_moves: 20_000,
        time: None,
    };
    let mut random = random();
    for _ in 0..sized(2, 10) {
        let known = past(&mut machine, role, 40, &mut random);
        let found = belief(&mut world, role, &known, limits, false, &mut random).unwrap();
        assert!(!found.is_exact());
        assert_fits(&game, &world, &found, role, &known);
    }
}

#[test]
fn changed_histories_are_a_sample_of_all_that_fit() {
    let game = Game::from_text("battleship", &battleship(4, 3)).unwrap();
    let (role, mut machine, mut world) = begun(&game, 0);
    let mut random = random();
    let known = past(&mut machine, role, 6, &mut random);
    let all = BeliefLimits::default();
    let exact = belief(&mut world, role, &known, all, false, &mut random).unwrap();
    assert!(exact.is_exact());
    let exact = shares(&world, exact.members());
    // Far fewer than all that fit, so that samples die out and are moved apart.
    let few = BeliefLimits {
        members: 10,
        joint_moves: 2_000,
        time: None,
    };
    let samples = sized(100_u32, 1_000);
    let mut sums: HashMap<Vec<TermId>, f64> = HashMap::new();
    for _ in 0..samples {
        let sample = belief(&mut world, role, &known, few, false, &mut random).unwrap();
        assert_fits(&game, &world, &sample, role, &known);
        for (state, share) in shares(&world, sample.members()) {
            *sums.entry(state).or_default() += share / f64::from(samples);
        }
    }
    let apart = exact.iter().map(|(state, share)| {
        let found = sums.get(state).copied().unwrap_or(0.0);
        (share - found).max(0.0)
    });
    let apart: f64 = apart.sum();
    assert!(
        apart < 0.15,
        "total variation {apart} of {} states",
        exact.len()
    );
}

#[test]
fn a_percept_that_never_comes_is_impossible() {
    let game = Game::from_text("battleship", &battleship(4, 3)).unwrap();
    let (role, mut machine, mut world) = begun(&game, 0);
    let mut random = random();
    let mut known = past(&mut machine, role, 3, &mut random);
    let strange = game
        .parse_term(world.terms_mut(), "(place across 1 1)")
        .unwrap();
    known[2].1.push(strange);
    let limits = BeliefLimits::default();
    let error = belief(&mut world, role, &known, limits, false, &mut random).unwrap_err();
    assert!(
        matches!(error, BeliefError::Impossible { turn: 3 }),
        "{error}"
    );
}

#[test]
fn weights_do_not_vanish_in_long_matches() {
    let game =
        "(role teller) (role listener) (init (last 0)) (digit 0) (digit 1) (digit 2) (digit 3)
        (<= (legal teller (say ?a ?b ?c ?d)) (digit ?a) (digit ?b) (digit ?c) (digit ?d))
        (legal listener hear)
        (<= (next (last ?a)) (does teller (say ?a ?b ?c ?d)))
        (<= (sees listener ?b) (does teller (say ?a ?b ?c ?d)))
        (<= terminal (true (last 4))) (goal teller 50) (goal listener 50)";
    let game = Game::from_text("numbers", game).unwrap();
    let (role, mut machine, mut world) = begun(&game, 1);
    let mut random = random();
    // Each joint move has a probability of 1/256.
    let known = past(&mut machine, role, 200, &mut random);
    let limits = BeliefLimits::default();
    let found = belief(&mut world, role, &known, limits, false, &mut random).unwrap();
    assert_eq!(found.members().len(), 4);
    for share in shares(&world, found.members()).into_values() {
        assert!((share - 0.25).abs() < 1e-9, "{share}");
    }
}

fn lattaque() -> Game {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/games/lattaque.kif");
    let rules = std::fs::read_to_string(path).expect("the game is bundled");
    Game::from_text("lattaque", &rules).unwrap()
}

#[test]
fn no_choice_is_met_more_often_than_it_is_likely() {
    let game = lattaque();
    let (role, mut machine, mut world) = begun(&game, 0);
    let mut random = random();
    // Each turn places a piece of about twelve kinds, and tells nothing.
    let known = past(&mut machine, role, 12, &mut random);
    let limits = BeliefLimits {
        members: 300,
        joint_moves: 30_000,
        time: None,
    };
    let sample = belief(&mut world, role, &known, limits, false, &mut random).unwrap();
    let mut pieces: HashMap<String, f64> = HashMap::new();
    for (state, share) in shares(&world, sample.members()) {
        let facts = state.iter().map(|fact| game.text(world.terms(), *fact));
        for piece in facts.filter(|fact| fact.starts_with("(piece")) {
            *pieces.entry(piece).or_default() += share;
        }
    }
    // The own pieces are known.
    pieces.retain(|piece, _| !piece.contains("left"));
    assert!(pieces.len() > 8 * known.len(), "{} facts", pieces.len());
    for (piece, share) in pieces {
        assert!(share < 0.3, "{piece}: {share}");
    }
}

#[test]
fn moves_of_two_turns_are_exchanged_where_one_alone_cannot_change() {
    let game = lattaque();
    let (role, mut machine, mut world) = begun(&game, 0);
    let mut random = random();
    // All pieces are placed in forty turns, so another kind at one place is one too many.
    let known = past(&mut machine, role, sized(70, 200), &mut random);
    let limits = BeliefLimits {
        members: 100,
        joint_moves: 10_000,
        time: None,
    };
    let sample = belief(&mut world, role, &known, limits, false, &mut random).unwrap();
    assert_fits(&game, &world, &sample, role, &known);
    let found = sample.members().len();
    assert!(found >= 20, "{found} positions");
}

/// The claims about a position, with whether they hold; facts only if they hold.
fn claims(machine: &mut AnyMachine, facts: &[TermId]) -> HashMap<Claim, bool> {
    let state = machine.state(facts).unwrap();
    let over = machine.is_terminal(&state).unwrap();
    let mut claims: HashMap<Claim, bool> = HashMap::from([(Claim::Over, over)]);
    claims.extend(facts.iter().map(|fact| (Claim::Fact(*fact), true)));
    let roles: Vec<RoleId> = machine.game().roles().collect();
    for role in roles.into_iter().filter(|_| !over) {
        let mut legal = Vec::new();
        machine.legal(&state, role, &mut legal).unwrap();
        claims.extend(legal.iter().map(|made| (Claim::Legal(role, *made), true)));
    }
    claims
}

#[test]
fn what_is_certain_holds_in_all_positions_that_fit() {
    let mut random = random();
    let (mut same, mut proved) = (0, 0);
    for (name, game) in hidden_games() {
        let mut world = World::new(&game, Backend::Auto, Limits::default()).unwrap();
        let mut machine = machine(&game, Backend::Datalog);
        for role in game.roles().filter(|role| !game.is_random(*role)) {
            for turns in 1..sized(5, 9) {
                let known = past(&mut machine, role, turns, &mut random);
                let all = BeliefLimits {
                    members: 5_000,
                    ..BeliefLimits::default()
                };
                let exact = belief(&mut world, role, &known, all, false, &mut random).unwrap();
                if !exact.is_exact() {
                    break;
                }
                // So small a sample suggests much that is wrong.
                let few = BeliefLimits {
                    members: 3,
                    joint_moves: 1_000,
                    time: None,
                };
                let few = belief(&mut world, role, &known, few, false, &mut random).unwrap();
                let is_over =
                    claims(&mut machine, &world.facts(&few.members()[0].state))[&Claim::Over];
                let stop = Stop::default();
                let certain = certain(&mut world, &few, is_over, &stop, &mut random).unwrap();
                let members = exact.with_end(&mut world, is_over).unwrap();
                let members = members.iter().map(|member| world.facts(&member.state));
                let members: Vec<Vec<TermId>> = members.collect();
                let members = members.iter().map(|facts| claims(&mut machine, facts));
                let members: Vec<HashMap<Claim, bool>> = members.collect();
                for (claim, holds) in &certain {
                    let is_compared = match claim {
                        Claim::Legal(..) => !is_over,
                        Claim::Score(..) => false,
                        Claim::Fact(_) | Claim::Over => true,
                    };
                    let mut found = members.iter().map(|member| member.get(claim));
                    assert!(
                        !is_compared || found.all(|found| *found.unwrap_or(&false) == *holds),
                        "{name}, {turns} turns: {claim:?} {holds}"
                    );
                }
                let is_same = |(claim, holds): &(&Claim, &bool)| {
                    members
                        .iter()
                        .all(|member| member.get(claim) == Some(holds))
                };
                let all = members[0].iter().filter(is_same);
                same += all.clone().count();
                proved += all.filter(|(claim, _)| certain.contains_key(claim)).count();
            }
        }
    }
    // Not all: some follow only from several turns together.
    assert!(
        proved < same && 100 * proved > 98 * same,
        "{proved} of {same}"
    );
}

#[test]
fn a_role_is_certain_of_its_own_pieces() {
    let game = lattaque();
    let (role, mut machine, mut world) = begun(&game, 0);
    let mut random = random();
    let known = past(&mut machine, role, 20, &mut random);
    let few = BeliefLimits {
        members: 20,
        joint_moves: 1_000,
        time: None,
    };
    let few = belief(&mut world, role, &known, few, false, &mut random).unwrap();
    assert!(!few.is_exact());
    let certain = certain(&mut world, &few, false, &Stop::default(), &mut random).unwrap();
    let pieces = |of: &str| {
        let facts = certain.iter().filter_map(|claim| match claim {
            (Claim::Fact(fact), true) => Some(game.text(world.terms(), *fact)),
            _ => None,
        });
        let pieces = facts.filter(|fact| fact.starts_with("(piece ") && fact.contains(of));
        pieces.count()
    };
    assert_eq!((pieces(" left "), pieces(" right ")), (20, 0));
    let none = ggp_hidden::certain(&mut world, &few, false, &Stop::raised(), &mut random);
    assert!(none.is_ok_and(|none| none.is_empty()), "a stop is obeyed");
}
