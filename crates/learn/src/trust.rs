//! The weight that values deserve in mixtures with random playouts.
//!
//! In: values. Out: a [`Trust`]. Positions come from games of a player that does not
//! know the values: it makes some random playouts after each of its moves. Values and
//! many playouts then predict the result of the game from each position. The
//! share of the values is the one whose mixtures have the least logarithmic loss. It is
//! 0 unless the gain is certain, compared with mixtures with a constant: playouts
//! predict better if their results are moved towards the mean.

use ggp_engine::propnet::Propnet;
use ggp_engine::propnet::batch::Packed;
use ggp_engine::propnet::code::Engine;
use ggp_engine::propnet::playout::Proceed;
use ggp_engine::propnet::rollouts::{RolloutOptions, Rollouts};
use ggp_stop::Stop;

use crate::trainer::cross_entropy;
use crate::trial::flat_games;
use crate::values::Values;

/// The share of values in mixtures with the results of playouts: 0, 1/4, 1/2 or 3/4.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub struct Trust {
    quarters: u8,
}

impl Trust {
    /// A trust of this number of quarters.
    pub(crate) fn of_quarters(quarters: u8) -> Trust {
        Trust { quarters }
    }

    #[cfg(feature = "files")]
    pub(crate) fn quarters(self) -> u8 {
        self.quarters
    }

    /// The share of the values.
    pub fn share(self) -> f32 {
        f32::from(self.quarters) / 4.0
    }
}

/// The number of games.
const GAMES: usize = 128;
/// The playouts after each move of the players, and those that predict. The latter are many:
/// a search averages over the playouts of a whole subtree, so values have to be better than
/// playouts without noise.
const PLAYERS: u32 = 32;
const PREDICTING: u32 = 256;
/// The most positions of a game that are predicted.
const POSITIONS: usize = 8;
/// The least gain, in standard errors over games.
const CERTAIN: f64 = 2.0;

/// The trust that values deserve. It is 0 if `stop` is over before it is known.
pub fn trust(net: &Propnet, engine: Engine, values: &Values, seed: u64, stop: &Stop) -> Trust {
    let games = flat_games(net, engine, GAMES, PLAYERS, seed, stop);
    let mut rollouts = Rollouts::new(
        net,
        &RolloutOptions {
            engine,
            ..Default::default()
        },
        seed,
    );
    let roles = values.roles();
    let mut losses: Vec<Losses> = Vec::new();
    for game in &games {
        let scores = &game.scores;
        let apart = game.states.len().div_ceil(POSITIONS).max(1);
        let states: Vec<Packed> = game.states.iter().step_by(apart).cloned().collect();
        if states.is_empty() {
            continue;
        }
        let mut proceed = || match stop.is_over() {
            true => Proceed::Drop,
            false => Proceed::On,
        };
        let predicted: Vec<Vec<f32>> = rollouts
            .run(&states, PREDICTING, &mut proceed)
            .iter()
            .map(|outcome| {
                let mean = |role: usize| {
                    let total = outcome.scores[role].total as f32 / 100.0;
                    // As if each result had occurred half a time before.
                    (total + 0.5) / (outcome.playouts as f32 + 1.0)
                };
                (0..roles).map(mean).collect()
            })
            .collect();
        if stop.is_over() {
            return Trust::default();
        }
        losses.push(mean_losses(values, &states, &predicted, scores));
    }
    best(&losses)
}

/// By quarters: the mean losses of mixtures in the positions of a game.
#[derive(Debug, Default)]
struct Losses {
    of_values: [f64; 4],
    /// Those of mixtures with the score that all roles get on average.
    of_constant: [f64; 4],
}

fn mean_losses(
    values: &Values,
    states: &[Packed],
    predicted: &[Vec<f32>],
    scores: &[f32],
) -> Losses {
    let shares = values.all_shares(states);
    let count = (states.len() * values.roles()) as f64;
    let mut losses = Losses::default();
    let average = scores.iter().sum::<f32>() / scores.len() as f32;
    for (shares, predicted) in shares.chunks(values.roles()).zip(predicted) {
        for ((&value, &predicted), &score) in shares.iter().zip(predicted).zip(scores) {
            for quarters in 0..4 {
                let share = quarters as f32 / 4.0;
                let loss = |other: f32| {
                    let mixed = share * other + (1.0 - share) * predicted;
                    cross_entropy(score, mixed) / count
                };
                losses.of_values[quarters] += loss(value);
                losses.of_constant[quarters] += loss(average);
            }
        }
    }
    losses
}

/// The share with the least loss, or 0 if the gain is not certain.
fn best(losses: &[Losses]) -> Trust {
    let count = losses.len() as f64;
    let least = |loss: &dyn Fn(&Losses, usize) -> f64| {
        let mean = |quarters: &usize| losses.iter().map(|each| loss(each, *quarters)).sum::<f64>();
        let found = (0..4).min_by(|a, b| mean(a).total_cmp(&mean(b)));
        found.expect("there are four shares")
    };
    let constant = least(&|each, quarters| each.of_constant[quarters]);
    let found = least(&|each, quarters| each.of_values[quarters]);
    let gains = || {
        losses
            .iter()
            .map(|each| each.of_constant[constant] - each.of_values[found])
    };
    let gain = gains().sum::<f64>() / count;
    let squares: f64 = gains().map(|each| (each - gain).powi(2)).sum();
    let error = (squares / (count - 1.0).max(1.0) / count).sqrt();
    match losses.len() > 1 && gain > CERTAIN * error {
        true => Trust::of_quarters(found as u8),
        false => Trust::default(),
    }
}
