//! Random games that show which facts change, who chooses when, and what scores
//! there are.
//!
//! In: a game. Out: a [`Survey`]. It depends on the seed, and on the structure of
//! the rules only, not on the names.

use ggp_engine::propnet::batch::{Packed, holds};
use ggp_stop::Stop;
use rand::SeedableRng;
use rand::seq::IndexedRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::positions::Positions;

/// The number of random games at a time, and in all.
const LINES: usize = 256;
/// The maximum number of joint moves of all games.
const PLIES: usize = 400;
/// The number of games whose positions are kept, and the most bytes of those.
const KEPT: usize = 4;
const KEPT_BYTES: usize = 1 << 25;

/// The properties of a game that random games show.
#[derive(Debug)]
pub(crate) struct Survey {
    /// By fact: true if it held in some positions and not in others.
    pub varies: Vec<bool>,
    /// By role that chooses: the fact that tells. Empty if no facts do.
    pub phases: Vec<u32>,
    /// True if there are two roles, and their scores always added up to 100.
    pub is_constant_sum: bool,
    /// Some of the positions.
    pub states: Vec<Packed>,
}

/// Plays random games until each has ended, or `stop` is over.
pub(crate) fn survey(positions: &mut Positions, facts: usize, seed: u64, stop: &Stop) -> Survey {
    let roles = positions.roles();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut states: Vec<Packed> = vec![positions.initial(); LINES];
    let words = states[0].len();
    let (mut any, mut all) = (vec![0; words], vec![u64::MAX; words]);
    // By role: facts that held whenever it had a choice, and facts that held when
    // another role had one.
    let mut own = vec![vec![u64::MAX; words]; roles];
    let mut others = vec![vec![0; words]; roles];
    let mut chooses = vec![false; roles];
    let (mut is_constant_sum, mut ended) = (roles == 2, 0);
    let mut kept = Vec::new();
    for _ in 0..PLIES {
        if stop.is_over() || states.is_empty() {
            break;
        }
        if kept.len() * words * 8 < KEPT_BYTES {
            kept.extend(states.iter().take(KEPT).cloned());
        }
        let status = positions.status(&states);
        let mut joints = Vec::with_capacity(states.len() * roles);
        let mut open = Vec::with_capacity(states.len());
        for (index, state) in states.iter().enumerate() {
            for (word, bits) in state.iter().enumerate() {
                any[word] |= bits;
                all[word] &= bits;
            }
            if status.is_over(index) {
                let sum: f32 = status.scores(index).iter().sum();
                is_constant_sum &= (sum - 1.0).abs() < 0.001;
                ended += 1;
            }
            if status.is_over(index) || status.is_stuck(index) {
                continue;
            }
            for role in 0..roles {
                let legal = status.moves(index, role);
                joints.push(*legal.choose(&mut random).expect("no role is stuck") as usize);
                if legal.len() < 2 || positions.is_chance(role) {
                    continue;
                }
                chooses[role] = true;
                for (word, bits) in state.iter().enumerate() {
                    own[role][word] &= bits;
                    for (other, rows) in others.iter_mut().enumerate() {
                        rows[word] |= if other == role { 0 } else { *bits };
                    }
                }
            }
            open.push(state.clone());
        }
        states = positions.step(&open, &joints);
    }
    let varies: Vec<bool> = (0..facts)
        .map(|fact| holds(&any, fact) && !holds(&all, fact))
        .collect();
    let tells = |role: usize, fact: &usize| {
        varies[*fact] && holds(&own[role], *fact) && !holds(&others[role], *fact)
    };
    let choosers = (0..roles).filter(|&role| chooses[role]);
    let phases: Option<Vec<u32>> = choosers
        .map(|role| {
            (0..facts)
                .find(|fact| tells(role, fact))
                .map(|fact| fact as u32)
        })
        .collect();
    Survey {
        varies,
        phases: phases.filter(|phases| phases.len() > 1).unwrap_or_default(),
        is_constant_sum: is_constant_sum && ended > 0,
        states: kept,
    }
}
