//! Agreement of many matches at a time, as programs that learn see them, with single states.

use crate::common::own_games;
use ggp_engine::machine::{Limits, Machine, PlayError, PropnetMachine, PropnetState};
use ggp_engine::propnet::batch::{
    CUT, EnvironmentOptions, Environments, IllegalAction, ONGOING, STUCK, TERMINAL, UNSCORED, holds,
};
use ggp_gdl::game::Game;

/// The matches, more than fit in one block, and those that are compared.
const LANES: usize = 515;
const COMPARED: [usize; 3] = [0, 63, 514];

/// The actions, rewards and ends of some matches.
struct Played {
    actions: Vec<i32>,
    rewards: Vec<f32>,
    ends: Vec<u8>,
}

impl Played {
    fn new(matches: &Environments) -> Self {
        Played {
            actions: vec![0; matches.lanes() * matches.roles()],
            rewards: vec![0.0; matches.lanes() * matches.roles()],
            ends: vec![0; matches.lanes()],
        }
    }

    fn step(&mut self, matches: &mut Environments) {
        matches.sample(&mut self.actions);
        let (rewards, ends) = (&mut self.rewards, &mut self.ends);
        matches
            .step(&self.actions, rewards, ends)
            .expect("they are legal");
    }
}

/// Plays at random and compares the compared matches with a machine after each joint move.
pub(crate) fn check(name: &str, game: &Game, length: u32, steps: usize) -> bool {
    let Ok(mut machine) = PropnetMachine::new(game, Limits::default()) else {
        return false;
    };
    let first = machine.initial().expect("there is one");
    let net = machine.network(&first).expect("it is packed").0.clone();
    let options = EnvironmentOptions {
        seed: 7,
        length: Some(length),
        ..EnvironmentOptions::default()
    };
    let Some(mut matches) = Environments::new(&net, LANES, &options) else {
        return false;
    };
    let roles: Vec<_> = game.roles().collect();
    let mut played = Played::new(&matches);
    let mut states: Vec<(PropnetState, u32)> = COMPARED.map(|_| (first.clone(), 0)).to_vec();
    let mut facts = vec![0.0; LANES * matches.facts()];
    let mut bits = vec![0; LANES * matches.observation_bytes()];
    for _ in 0..steps {
        let masks: Vec<Vec<u8>> = (0..roles.len())
            .map(|role| {
                let mut mask = vec![9; LANES * matches.actions(role)];
                matches.legal_mask(role, &mut mask);
                mask
            })
            .collect();
        let packed = matches.states();
        matches.observe(&mut facts);
        matches.observe_bits(&mut bits);
        played.step(&mut matches);
        for (&lane, (state, made)) in COMPARED.iter().zip(&mut states) {
            let now = &packed[lane];
            assert_eq!(
                *now,
                machine.network(state).expect("it is packed").1,
                "{name}"
            );
            for fact in 0..matches.facts() {
                let seen = facts[lane * matches.facts() + fact];
                let byte = bits[lane * matches.observation_bytes() + fact / 8];
                assert_eq!(seen, f32::from(u8::from(holds(now, fact))), "{name}");
                assert_eq!(byte >> (fact % 8) & 1 == 1, holds(now, fact), "{name}");
            }
            let mut joint = Vec::new();
            for (role, mask) in masks.iter().enumerate() {
                let count = matches.actions(role);
                let moves = &net.moves()[role];
                let mask = mask[lane * count..][..count].iter().zip(moves);
                let mut listed: Vec<_> = mask
                    .filter(|(is, _)| **is == 1)
                    .map(|(_, it)| *it)
                    .collect();
                let mut legal = Vec::new();
                machine
                    .legal(state, roles[role], &mut legal)
                    .expect("it is not stuck");
                legal.sort();
                listed.sort();
                assert_eq!(listed, legal, "{name}");
                let action = played.actions[lane * roles.len() + role];
                joint.push(moves[usize::try_from(action).expect("it is legal")]);
            }
            *state = machine.play(state, &joint).expect("it is legal");
            *made += 1;
            let rewards = &played.rewards[lane * roles.len()..][..roles.len()];
            let end = played.ends[lane];
            if machine.is_terminal(state).expect("it can be told") {
                let mut score = |role| machine.goal(state, role).ok();
                let scores: Vec<_> = roles.iter().map(|&role| score(role)).collect();
                let mut both = roles.iter().zip(&scores);
                let is_scored = both.all(|(&role, score)| score.is_some() || game.is_random(role));
                assert_eq!(end, if is_scored { TERMINAL } else { UNSCORED }, "{name}");
                for (score, &reward) in scores.iter().zip(rewards) {
                    let score = score.filter(|_| is_scored).map_or(0, |score| score.get());
                    assert_eq!(reward, f32::from(score), "{name}");
                }
            } else {
                let is_stuck = roles.iter().any(|&role| {
                    let legal = machine.legal(state, role, &mut Vec::new());
                    matches!(legal, Err(PlayError::NoLegalMove(_)))
                });
                let expected = match is_stuck {
                    true => STUCK,
                    false if *made == length => CUT,
                    false => ONGOING,
                };
                assert_eq!(end, expected, "{name}");
                assert!(rewards.iter().all(|reward| *reward == 0.0), "{name}");
            }
            if end != ONGOING {
                (*state, *made) = (first.clone(), 0);
            }
        }
    }
    true
}

#[test]
fn matches_agree_with_single_states() {
    let compared = own_games()
        .iter()
        .filter(|(name, game)| check(name, game, 50, 60))
        .count();
    assert!(compared >= 30, "{compared}");
}

fn tic_tac_toe(lanes: usize, options: &EnvironmentOptions) -> Environments {
    let rules = include_str!("../games/tic_tac_toe.kif");
    let game = Game::from_text("tic_tac_toe.kif", rules).expect("they are valid");
    let mut machine = PropnetMachine::new(&game, Limits::default()).expect("it is small");
    let first = machine.initial().expect("there is one");
    let (net, _) = machine.network(&first).expect("it is packed");
    Environments::new(net, lanes, options).expect("play can begin")
}

#[test]
fn a_match_does_not_depend_on_the_number_of_matches() {
    let options = EnvironmentOptions {
        seed: 3,
        ..EnvironmentOptions::default()
    };
    let mut last: Option<Vec<Vec<i32>>> = None;
    for lanes in [5, 64, 65, 300, 1_500] {
        let mut matches = tic_tac_toe(lanes, &options);
        let mut played = Played::new(&matches);
        let actions: Vec<Vec<i32>> = (0..40)
            .map(|_| {
                played.step(&mut matches);
                played.actions[..10].to_vec()
            })
            .collect();
        if let Some(last) = &last {
            assert_eq!(*last, actions, "{lanes} matches");
        }
        last = Some(actions);
    }
    // Another seed gives other matches, also to its neighbours.
    let mut matches = tic_tac_toe(2, &options);
    let (mut one, mut other) = (Played::new(&matches), Played::new(&matches));
    let mut next = tic_tac_toe(2, &EnvironmentOptions { seed: 4, ..options });
    let differ = (0..10).any(|_| {
        one.step(&mut matches);
        other.step(&mut next);
        one.actions[2..] != other.actions[..2]
    });
    assert!(differ);
}

#[test]
fn all_legal_actions_are_equally_likely() {
    let mut matches = tic_tac_toe(512, &EnvironmentOptions::default());
    let mut played = Played::new(&matches);
    // After a move, eight actions of the second role are legal: a number that a fraction of bits
    // divides evenly. Nine of the first role are not.
    for role in 0..2 {
        let mut mask = vec![0; 512 * matches.actions(role)];
        matches.legal_mask(role, &mut mask);
        let legal: Vec<usize> = (0..matches.actions(role))
            .filter(|action| mask[*action] == 1)
            .collect();
        assert_eq!(legal.len(), 9 - role);
        let mut counts = vec![0_u32; matches.actions(role)];
        for _ in 0..400 {
            matches.sample(&mut played.actions);
            // All matches are in the same state.
            for actions in played.actions.chunks(2) {
                counts[actions[role] as usize] += 1;
            }
        }
        let expected = 400.0 * 512.0 / legal.len() as f64;
        for (action, count) in counts.into_iter().enumerate() {
            match legal.contains(&action) {
                // Five standard errors.
                true => assert!(
                    (f64::from(count) - expected).abs() < 5.0 * expected.sqrt(),
                    "{action}: {count} for {expected}"
                ),
                false => assert_eq!(count, 0),
            }
        }
        let first = played.actions[..2].to_vec();
        let actions = first.repeat(512);
        let (rewards, ends) = (&mut played.rewards, &mut played.ends);
        matches.step(&actions, rewards, ends).expect("it is legal");
    }
}

#[test]
fn actions_that_are_not_legal_change_nothing() {
    let mut matches = tic_tac_toe(130, &EnvironmentOptions::default());
    let mut played = Played::new(&matches);
    played.step(&mut matches);
    let before = matches.states();
    matches.sample(&mut played.actions);
    for (lane, role, action) in [(129, 0, -1), (70, 1, 1_000), (3, 0, 0), (129, 1, 1)] {
        let mut actions = played.actions.clone();
        let mut mask = vec![0; 130 * matches.actions(role)];
        matches.legal_mask(role, &mut mask);
        let mut count = 0..matches.actions(role) as i32;
        let is_legal = |action: &i32| mask[lane * matches.actions(role) + *action as usize] == 1;
        let wrong = match count.contains(&action) {
            true => count
                .find(|action| !is_legal(action))
                .expect("one is not legal"),
            false => action,
        };
        actions[2 * lane + role] = wrong;
        let error = matches.step(&actions, &mut played.rewards, &mut played.ends);
        assert_eq!(
            error,
            Err(IllegalAction {
                lane,
                role,
                action: wrong
            })
        );
        assert_eq!(matches.states(), before);
    }
    matches
        .step(&played.actions, &mut played.rewards, &mut played.ends)
        .unwrap();
    assert_ne!(matches.states(), before);
}

#[test]
fn matches_that_are_over_wait_for_a_reset() {
    let options = EnvironmentOptions {
        resets: false,
        ..EnvironmentOptions::default()
    };
    let mut matches = tic_tac_toe(100, &options);
    let first = matches.states()[0].clone();
    let mut played = Played::new(&matches);
    let mut ended = vec![0; 100];
    for _ in 0..9 {
        played.step(&mut matches);
        ended
            .iter_mut()
            .zip(&played.ends)
            .for_each(|(sum, end)| *sum += end);
    }
    // Each match has ended exactly once, and is not moved any more.
    assert_eq!(ended, [TERMINAL; 100]);
    let over = matches.states();
    played.step(&mut matches);
    assert_eq!(matches.states(), over);
    assert!(played.actions.iter().all(|action| *action == -1));
    assert_eq!(played.ends, [ONGOING; 100]);
    let mut which = vec![0; 100];
    which[42] = 1;
    matches.reset_some(&which);
    assert_eq!(matches.states()[42], first);
    assert_eq!(matches.states()[41], over[41]);
    played.step(&mut matches);
    assert_ne!(matches.states()[42], first);

    // The same states in matches that begin again: they do so instead of a move.
    let mut again = tic_tac_toe(100, &EnvironmentOptions::default());
    again.set_states(&over);
    played.step(&mut again);
    assert_eq!(again.states(), vec![first; 100]);
}

#[test]
fn faults_of_rules_end_matches_without_a_score() {
    // Chance has no score. A walk may be stuck at `dead`, or end with no score, two, or one that is none.
    let rules = "
        (role random) (role walker) (init (at start))
        (door start good) (door start dead) (door start none) (door start two) (door start wrong)
        (door start start)
        (<= (legal random wait) (true (at ?x)))
        (<= (legal walker (go ?y)) (true (at ?x)) (door ?x ?y))
        (<= (next (at ?y)) (does walker (go ?y)))
        (end good) (end none) (end two) (end wrong)
        (<= terminal (true (at ?x)) (end ?x))
        (<= (goal walker 70) (true (at good)))
        (<= (goal walker 20) (true (at two))) (<= (goal walker 30) (true (at two)))
        (<= (goal walker 170) (true (at wrong)))";
    let game = Game::from_text("walk.kif", rules).expect("they are valid");
    assert!(check("walk", &game, 3, 60));
}
