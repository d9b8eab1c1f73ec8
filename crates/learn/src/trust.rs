//! The weight that values deserve in mixtures with random playouts.
//!
//! In: values. Out: a [`Trust`]. A player that mixes values with playouts meets one that makes the
//! same number of playouts, in matches from random openings. The values deserve their share if
//! the former is stronger with certainty, and the more, the stronger it is.

use ggp_engine::propnet::Propnet;
use ggp_engine::propnet::code::Engine;
use ggp_stop::Stop;

use crate::trial::{Chooser, Trial, trial_of_some};
use crate::values::Values;

/// The gain by values in the test, from which their shares in tree search follow.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub struct Trust {
    /// The gain in percent of the points, 0 if it is not certain.
    gain: u8,
}

impl Trust {
    /// A trust for a gain in percent of the points, or of the score where the sum of scores is not
    /// constant.
    pub(crate) fn of_gain(gain: u8) -> Trust {
        Trust { gain }
    }

    #[cfg(feature = "files")]
    pub(crate) fn gain(self) -> u8 {
        self.gain
    }

    /// The share of values in mixtures with the results of playouts: 0 or 1/2.
    pub fn share(self) -> f32 {
        if self.gain > 0 { 0.5 } else { 0.0 }
    }

    /// The share of the value at the end of the best line after a move in the value of the move.
    /// Values must be good for that: it is 0 up to a gain of 15 %, and 0.4 from 47 %.
    pub fn implicit(self) -> f32 {
        (f32::from(self.gain.saturating_sub(15)) / 80.0).min(0.4)
    }
}

/// The playouts of both players after each of their moves.
const PLAYOUTS: u32 = 64;
/// The most moves that each player tries.
const MOST_MOVES: usize = 64;
/// The pairs of matches that are played at a time. The first rounds are short, so that something is
/// known of games with long matches, too.
const ROUNDS: [u32; 6] = [8, 8, 16, 32, 64, 128];
/// The squared spread of a pair.
const ONE_PAIR: f64 = 0.25;
/// The least gain, in standard errors: after many pairs, and if the result comes sooner.
const CERTAIN: f64 = 2.0;
const CERTAIN_SOON: f64 = 3.0;
const MANY: u32 = 32;

/// The trust that values deserve. It is 0 if `stop` is over before that is known.
pub fn trust(net: &Propnet, engine: Engine, values: &Values, seed: u64, stop: &Stop) -> Trust {
    let flat = Chooser::Flat(PLAYOUTS);
    // Of two equal players who share a constant sum, both get half of it.
    let equal = Trial {
        mean: 0.5,
        ..Trial::default()
    };
    // All are sums over pairs. The spread begins with that of a pair, since that of a few is not
    // known well.
    let (mut gain, mut squares, mut number): (f64, f64, u32) = (0.0, ONE_PAIR, 0);
    for (round, pairs) in ROUNDS.into_iter().enumerate() {
        let seed = seed.wrapping_add(round as u64);
        let play =
            |chooser| trial_of_some(net, engine, [chooser, flat], pairs, MOST_MOVES, seed, stop);
        let Some(mixed) = play(Chooser::Mixed(values, PLAYOUTS)) else {
            break;
        };
        let is_constant_sum = values.outputs == 1;
        let Some(equal) = is_constant_sum.then_some(equal).or_else(|| play(flat)) else {
            break;
        };
        number += pairs;
        let pairs = f64::from(pairs);
        gain += pairs * (mixed.mean - equal.mean);
        squares += pairs.powi(2) * (mixed.error.powi(2) + equal.error.powi(2));
        // Where no match ends, or all end alike, more of them show no more.
        let is_alike = round > 0 && gain == 0.0 && squares == ONE_PAIR;
        if is_alike || gain.abs() > CERTAIN_SOON * squares.sqrt() {
            break;
        }
    }
    let certain = if number < MANY { CERTAIN_SOON } else { CERTAIN };
    match gain > certain * squares.sqrt() {
        true => Trust::of_gain((100.0 * gain / f64::from(number)).clamp(1.0, 100.0) as u8),
        false => Trust::default(),
    }
}
