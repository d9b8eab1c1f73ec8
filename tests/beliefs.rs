//! Samples of positions where few histories fit.

use std::collections::{HashMap, HashSet};

use ggp_engine::machine::{AnyMachine, Backend, Limits, Machine};
use ggp_gdl::game::{Game, Move, RoleId};
use ggp_gdl::terms::TermId;
use ggp_hidden::{
    Belief, BeliefError, BeliefLimits, Claim, PlanError, Verdict, World, best_plan, certain, claims,
};
use ggp_stop::Stop;

use crate::common::{battleships::battleship, sized, spread::variances};
use crate::hidden::{
    Past, SECRETS, belief, check_compared, hidden_games, machine, past, random, shares, told,
};

/// A role by its number, a machine and a world.
fn begun(game: &Game, role: usize) -> (RoleId, AnyMachine, World) {
    let role = game.roles().nth(role).unwrap();
    let world = World::new(game, Backend::Auto, Limits::default()).unwrap();
    (role, machine(game, Backend::Auto), world)
}

/// The facts after a history, whose moves are legal, and which has the moves and percepts of a role.
fn after(
    machine: &mut AnyMachine,
    history: &[Vec<Move>],
    role: RoleId,
    known: &Past,
) -> Vec<TermId> {
    let mut state = machine.initial().unwrap();
    assert_eq!(history.len(), known.len());
    for (joint, (made, percepts)) in history.iter().zip(known) {
        assert_eq!(joint[role.index()], *made);
        let roles: Vec<RoleId> = machine.game().roles().collect();
        for (other, one) in roles.into_iter().zip(joint) {
            let mut legal = Vec::new();
            machine.legal(&state, other, &mut legal).unwrap();
            assert!(legal.contains(one), "an illegal move");
        }
        let mut now = told(machine, &state, joint, role);
        let mut due = percepts.clone();
        now.sort_unstable();
        due.sort_unstable();
        assert_eq!(now, due);
        state = machine.next(&state, joint).unwrap();
    }
    machine.facts(&state)
}

/// Asserts that each history of a belief has the moves and percepts of its role, and leads to its state.
fn assert_fits(game: &Game, world: &World, belief: &Belief, role: RoleId, known: &Past) {
    let mut machine = machine(game, Backend::Datalog);
    for member in belief.members() {
        let facts = after(&mut machine, &member.history(), role, known);
        assert_eq!(facts, world.facts(&member.state));
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

#[test]
fn samples_agree_where_battles_leave_few_positions() {
    let game = lattaque();
    let (role, mut machine, mut world) = begun(&game, 0);
    let mut random = random();
    let known = past(&mut machine, role, 62, &mut random);
    let limits = BeliefLimits {
        members: 300,
        joint_moves: 12_000,
        time: None,
    };
    let sample = |_| {
        let sample = belief(&mut world, role, &known, limits, false, &mut random).unwrap();
        shares(&world, sample.members()).into_iter().collect()
    };
    let samples: Vec<_> = (0..sized(4, 10)).map(sample).collect();
    let [of_one, of_samples] = variances(&samples);
    let worth = of_one / of_samples;
    assert!(worth > 5.0, "worth {worth:.1} independent positions");
}

/// The claims about a position that hold.
fn holding(machine: &mut AnyMachine, facts: &[TermId]) -> HashSet<Claim> {
    let state = machine.state(facts).unwrap();
    let mut holding: HashSet<Claim> = facts.iter().copied().map(Claim::Fact).collect();
    if machine.is_terminal(&state).unwrap() {
        holding.insert(Claim::Over);
        return holding;
    }
    let roles: Vec<RoleId> = machine.game().roles().collect();
    for role in roles {
        let mut legal = Vec::new();
        machine.legal(&state, role, &mut legal).unwrap();
        holding.extend(legal.iter().map(|made| Claim::Legal(role, *made)));
    }
    holding
}

#[test]
fn what_is_certain_is_what_holds_in_all_positions_that_fit() {
    // In the last one two positions fit, so a sample of three is exact.
    let compared = certain_is_what_holds_everywhere(hidden_games());
    check_compared(&compared, &SECRETS[..2]);
}

/// See the test above; the public games are in `corpus.rs`. The games in which some claims are
/// certain, and others only seem so.
pub(crate) fn certain_is_what_holds_everywhere(games: Vec<(String, Game)>) -> Vec<String> {
    let mut random = random();
    let mut compared = Vec::new();
    for (name, game) in games {
        let (mut certain_ones, mut others) = (0, 0);
        let mut world = World::new(&game, Backend::Auto, Limits::default()).unwrap();
        let mut machine = machine(&game, Backend::Datalog);
        let all_claims = claims(&mut world);
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
                let mut positions = |world: &mut World, belief: &Belief, is_over| {
                    let members = belief.with_end(world, is_over).unwrap();
                    let members = members.iter().map(|member| world.facts(&member.state));
                    let facts: Vec<Vec<TermId>> = members.collect();
                    let positions = facts.iter().map(|facts| holding(&mut machine, facts));
                    positions.collect::<Vec<HashSet<Claim>>>()
                };
                let is_over = world.status(&[few.members()[0].state.clone()]).unwrap()[0].terminal;
                let every = positions(&mut world, &exact, is_over);
                let some = positions(&mut world, &few, is_over);
                // What is legal after the end, and scores before, are not compared.
                let is_compared = |claim: &Claim| match claim {
                    Claim::Legal(..) => !is_over,
                    Claim::Score(..) => false,
                    Claim::Fact(_) | Claim::Over => true,
                };
                let asked = all_claims.iter().copied().filter(is_compared);
                let asked: Vec<Vec<Claim>> = asked.map(|claim| vec![claim]).collect();
                let stop = Stop::default();
                let found = certain(&mut world, &few, is_over, &asked, &stop, &mut random);
                for (claim, verdict) in asked.iter().zip(found.unwrap()) {
                    let value = |positions: &[HashSet<Claim>]| {
                        let count = positions
                            .iter()
                            .filter(|one| one.contains(&claim[0]))
                            .count();
                        [0, positions.len()].contains(&count).then_some(count > 0)
                    };
                    let (every, some) = (value(&every), value(&some));
                    let place = format!("{name}, {turns} turns: {claim:?}");
                    match verdict {
                        Verdict::Certain(holds) => assert_eq!(every, Some(holds), "{place}"),
                        Verdict::Differs(history) => {
                            let facts = after(&mut machine, &history, role, &known);
                            let holds = holding(&mut machine, &facts).contains(&claim[0]);
                            assert_eq!((some, every), (Some(!holds), None), "{place}");
                        }
                        Verdict::Open => assert_eq!(some, None, "{place}"),
                    }
                    certain_ones += usize::from(every.is_some());
                    others += usize::from(every.is_none() && some.is_some());
                }
            }
        }
        if certain_ones > 0 && others > 0 {
            compared.push(name);
        }
    }
    compared
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
    let facts = claims(&mut world)
        .into_iter()
        .filter_map(|claim| match claim {
            Claim::Fact(fact) => Some((fact, game.text(world.terms(), fact))),
            _ => None,
        });
    let pieces: Vec<(TermId, String)> = facts
        .filter(|(_, text)| text.starts_with("(piece "))
        .collect();
    let mut asked: Vec<Vec<Claim>> = pieces
        .iter()
        .map(|piece| vec![Claim::Fact(piece.0)])
        .collect();
    // A piece of the other is at a place where one was put, whichever it is.
    let place = "(piece 10 1 right ";
    let any = pieces.iter().filter(|(_, text)| text.starts_with(place));
    asked.push(any.map(|(fact, _)| Claim::Fact(*fact)).collect());
    let stop = Stop::default();
    let found = certain(&mut world, &few, false, &asked, &stop, &mut random).unwrap();
    assert_eq!(found.last(), Some(&Verdict::Certain(true)));
    let count = |of: &str| {
        let both = pieces.iter().zip(&found);
        let both = both.filter(|((_, text), _)| text.contains(of));
        both.filter(|(_, verdict)| **verdict == Verdict::Certain(true))
            .count()
    };
    assert_eq!((count(" left "), count(" right ")), (20, 0));
    let none = certain(
        &mut world,
        &few,
        false,
        &asked,
        &Stop::raised(),
        &mut random,
    )
    .unwrap();
    assert!(
        none.iter().all(|verdict| *verdict == Verdict::Open),
        "a stop is obeyed"
    );
}

#[test]
fn a_stopped_plan_has_the_number_of_its_positions() {
    let text = include_str!("../games/monty_hall.kif");
    let game = Game::from_text("monty_hall", text).unwrap();
    let (role, _, mut world) = begun(&game, 0);
    let start = world.start(None).unwrap();
    world.set_stop(&Stop::raised());
    let plan = best_plan(&mut world, role, &start, 100);
    assert_eq!(plan, Err(PlanError::Interrupted(1)));
}
