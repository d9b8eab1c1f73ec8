//! Trial matches of two ways to choose moves, hundreds at a time.
//!
//! In: two choosers. Out: the mean score of the first one. Matches come in pairs
//! with the same random opening and exchanged roles.
//!
//! The flat Monte Carlo player makes a number of random playouts after each of its
//! moves and chooses the move with the best mean score.

use ggp_engine::propnet::Propnet;
use ggp_engine::propnet::batch::Packed;
use ggp_engine::propnet::code::Engine;
use ggp_engine::propnet::playout::Proceed;
use ggp_engine::propnet::rollouts::{RolloutOptions, Rollouts};
use ggp_stop::Stop;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::expansion::{Expansion, best};
use crate::positions::Positions;
use crate::values::Values;

/// A way to choose moves.
#[derive(Copy, Clone, Debug)]
pub enum Chooser<'a> {
    /// The move with the best value after it.
    Values(&'a Values),
    /// The move with the best mean score of this number of random playouts.
    Flat(u32),
    /// The move with the best mean of its value and of the mean score of this number of random
    /// playouts.
    Mixed(&'a Values, u32),
}

/// The result of trial matches.
#[derive(Copy, Clone, Debug, Default)]
pub struct Trial {
    /// The number of matches that ended.
    pub matches: u32,
    /// The mean score of the first chooser, from 0 to 1.
    pub mean: f64,
    /// The standard error of the mean, over pairs of matches.
    pub error: f64,
}

/// The number of random joint moves at the start of a match, and the range.
const OPENING: std::ops::RangeInclusive<u32> = 2..=4;
/// The maximum number of joint moves; a longer match is a draw.
const DEPTH: u32 = 1_000;

/// Plays pairs of matches. In each, the first chooser moves for one role and the
/// second for all others; in the second match of a pair, for the next role. Returns
/// `None` if `stop` is over before all matches have ended.
pub fn trial(
    net: &Propnet,
    engine: Engine,
    choosers: [Chooser<'_>; 2],
    pairs: u32,
    seed: u64,
    stop: &Stop,
) -> Option<Trial> {
    trial_of_some(net, engine, choosers, pairs, usize::MAX, seed, stop)
}

/// As [`trial`], but each role tries at most `most_moves` moves, drawn at random.
pub(crate) fn trial_of_some(
    net: &Propnet,
    engine: Engine,
    choosers: [Chooser<'_>; 2],
    pairs: u32,
    most_moves: usize,
    seed: u64,
    stop: &Stop,
) -> Option<Trial> {
    let mut positions = Positions::new(net, engine);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let options = RolloutOptions {
        engine,
        depth: Some(DEPTH.into()),
        decisive: true,
        ..RolloutOptions::default()
    };
    let mut rollouts = Rollouts::new(net, &options, seed);
    let roles = positions.roles();
    let mut states = openings(&mut positions, pairs as usize, &mut random);
    let mut scores = vec![0.5_f64; states.len()];
    let mut open: Vec<usize> = (0..states.len()).collect();
    let role_of = |line: usize| (line / 2 + line % 2) % roles;
    for _ in 0..DEPTH {
        let now: Vec<Packed> = open.iter().map(|&line| states[line].clone()).collect();
        let status = positions.status(&now);
        let mut still = Vec::new();
        let mut kept = Vec::new();
        for (index, &line) in open.iter().enumerate() {
            if status.is_over(index) {
                scores[line] = f64::from(status.scores(index)[role_of(line)]);
            } else if !status.is_stuck(index) {
                still.push(line);
                kept.push(now[index].clone());
            }
        }
        open = still;
        if open.is_empty() {
            break;
        }
        let status = positions.status(&kept);
        let mut expansion = Expansion::new(
            &mut positions,
            &kept,
            &status,
            |_, _| true,
            most_moves,
            &mut random,
            stop,
        )?;
        let is_first = |position: usize, role: usize| role_of(open[position]) == role;
        let worths = worths(&expansion, choosers, is_first, &mut rollouts, stop)?;
        for choice in std::mem::take(&mut expansion.choices) {
            let found = best(&worths[choice.children.clone()], &mut random);
            let chosen = expansion.moves[choice.children.start + found];
            expansion.choose(choice.position, choice.role, chosen);
        }
        let next = positions.step(&kept, expansion.joints());
        for (&line, next) in open.iter().zip(next) {
            states[line] = next;
        }
    }
    let halves: Vec<f64> = scores
        .chunks(2)
        .map(|pair| (pair[0] + pair[1]) / 2.0)
        .collect();
    let count = halves.len() as f64;
    let mean = halves.iter().sum::<f64>() / count;
    let squares: f64 = halves.iter().map(|half| (half - mean).powi(2)).sum();
    Some(Trial {
        matches: scores.len() as u32,
        mean,
        error: (squares / (count - 1.0).max(1.0) / count).sqrt(),
    })
}

/// Positions after random moves, each twice. Openings that end the game are drawn
/// again.
fn openings(
    positions: &mut Positions,
    pairs: usize,
    random: &mut Xoshiro256PlusPlus,
) -> Vec<Packed> {
    let initial = positions.initial();
    let mut found = Vec::new();
    // Some games end within a few moves.
    for _ in 0..20 {
        let missing = pairs - found.len();
        if missing == 0 {
            break;
        }
        let mut states = vec![initial.clone(); missing];
        let lengths: Vec<u32> = (0..missing).map(|_| random.random_range(OPENING)).collect();
        let mut is_good = vec![true; missing];
        for ply in 0..*OPENING.end() {
            let status = positions.status(&states);
            let stop = Stop::new();
            let expansion =
                Expansion::new(positions, &states, &status, |_, _| false, 0, random, &stop);
            let expansion = expansion.expect("nothing stops it");
            let next = positions.step(&states, expansion.joints());
            for (line, next) in next.into_iter().enumerate() {
                if ply >= lengths[line] {
                    continue;
                }
                is_good[line] &= !status.is_over(line) && !status.is_stuck(line);
                states[line] = next;
            }
        }
        let status = positions.status(&states);
        for (line, state) in states.into_iter().enumerate() {
            if is_good[line] && !status.is_over(line) && !status.is_stuck(line) {
                found.push(state);
            }
        }
    }
    found.resize(pairs, initial);
    found
        .iter()
        .flat_map(|state| [state.clone(), state.clone()])
        .collect()
}

/// By child: its value for the role that chooses, as its chooser sees it. `None` if
/// `stop` is over.
fn worths(
    expansion: &Expansion,
    choosers: [Chooser<'_>; 2],
    is_first: impl Fn(usize, usize) -> bool,
    rollouts: &mut Rollouts,
    stop: &Stop,
) -> Option<Vec<f32>> {
    let mut worths = vec![0.0; expansion.children.len()];
    for (side, chooser) in choosers.into_iter().enumerate() {
        let mine = expansion
            .choices
            .iter()
            .filter(|choice| is_first(choice.position, choice.role) == (side == 0));
        let children: Vec<(usize, usize)> = mine
            .flat_map(|choice| choice.children.clone().map(|child| (child, choice.role)))
            .collect();
        let (values, playouts) = match chooser {
            Chooser::Values(values) => (Some(values), None),
            Chooser::Flat(each) => (None, Some(each)),
            Chooser::Mixed(values, each) => (Some(values), Some(each)),
        };
        let share = if playouts.is_some() { 0.5 } else { 1.0 };
        for children in children.chunks(4_096) {
            let states = children
                .iter()
                .map(|&(child, _)| &expansion.children[child]);
            let states: Vec<&Packed> = states.collect();
            if let Some(each) = playouts {
                let mut proceed = || match stop.is_over() {
                    true => Proceed::Drop,
                    false => Proceed::On,
                };
                let outcomes = rollouts.run(&states, each, &mut proceed);
                for (&(child, role), outcome) in children.iter().zip(outcomes) {
                    worths[child] = outcome.mean(role).unwrap_or(50.0) as f32 / 100.0;
                }
            }
            if let Some(values) = values {
                let shares = values.all_shares(&states);
                for (&(child, role), shares) in children.iter().zip(shares.chunks(values.roles())) {
                    worths[child] += share * (shares[role] - worths[child]);
                }
            }
        }
        if stop.is_over() {
            return None;
        }
    }
    Some(expansion.with_ends(worths))
}
