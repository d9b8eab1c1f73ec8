//! Logistic regression, one position at a time.
//!
//! In: positions with target values. Out: better weights. The rate of each weight
//! falls with the squares of its gradients (AdaGrad); the weights that are reported
//! are averages over time.
//!
//! Sources: Duchi, Hazan, Singer, "Adaptive subgradient methods for online learning
//! and stochastic optimization", 2011; Polyak, Juditsky, "Acceleration of stochastic
//! approximation by averaging", 1992.

use ggp_stop::Stop;

use crate::samples::Samples;
use crate::values::{Values, logistic};

/// Parameters of the regression.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Rates {
    /// The first step of a weight.
    pub step: f32,
    /// The factor by which a weight pulls itself towards 0.
    pub decay: f32,
    /// The number of positions over which weights are averaged.
    pub averaging: f32,
}

/// Weights that are being learned.
#[derive(Clone, Debug)]
pub(crate) struct Trainer {
    pub values: Values,
    pub average: Values,
    rates: Rates,
    /// By weight: the sum of the squared gradients.
    squares: Vec<f32>,
    /// The number of positions learned.
    learned: f32,
    active: Vec<u32>,
}

/// The sum of squares that a weight begins with.
const FIRST_SQUARE: f32 = 1.0;

impl Trainer {
    pub fn new(values: Values, rates: Rates) -> Trainer {
        Trainer {
            squares: vec![FIRST_SQUARE; values.weights.len()],
            average: values.clone(),
            values,
            rates,
            learned: 0.0,
            active: Vec::new(),
        }
    }

    /// Learns the given samples in this order. Returns the mean logarithmic loss
    /// before each step. Ends early if `stop` is over.
    pub fn learn(&mut self, samples: &Samples, order: &[u32], stop: &Stop) -> f64 {
        let mut loss = 0.0;
        for (index, &number) in order.iter().enumerate() {
            if index % 256 == 0 && stop.is_over() {
                break;
            }
            let (state, targets) = samples.get(number as usize);
            loss += self.learn_one(state, targets);
        }
        // An average over the last positions: half of them at first.
        let count = order.len() as f32;
        self.learned += count;
        let span = self.rates.averaging.min(self.learned / 2.0).max(count);
        let share = count / span.max(1.0);
        let weights = self.values.weights.iter();
        for (average, weight) in self.average.weights.iter_mut().zip(weights) {
            *average += share * (weight - *average);
        }
        loss / (order.len().max(1) * self.values.outputs) as f64
    }

    fn learn_one(&mut self, state: &[u64], targets: &[f32]) -> f64 {
        let features = &self.values.features;
        let phase = features.phase(state);
        let active = &mut self.active;
        active.clear();
        features.each(state, |feature| active.push(feature as u32));
        let (len, phases) = (features.count(), features.phases());
        let mut loss = 0.0;
        for (output, &target) in targets.iter().enumerate() {
            let first = (output * phases + phase) * len;
            let weights = &mut self.values.weights[first..first + len];
            let squares = &mut self.squares[first..first + len];
            let sum: f32 = active
                .iter()
                .map(|&feature| weights[feature as usize])
                .sum();
            let value = logistic(sum);
            loss += cross_entropy(target, value);
            let error = target - value;
            for &feature in &*active {
                let feature = feature as usize;
                let gradient = error - self.rates.decay * weights[feature];
                squares[feature] += gradient * gradient;
                weights[feature] += self.rates.step * gradient / squares[feature].sqrt();
            }
        }
        loss
    }

    /// Replaces the groups of facts. Those that stay keep their weights.
    pub fn set_groups(&mut self, groups: Vec<Vec<u32>>) {
        let mut values = self.values.clone();
        values.set_groups(groups);
        *self = Trainer {
            learned: self.learned,
            ..Trainer::new(values, self.rates)
        };
    }
}

/// The logarithmic loss of a value where the target is another.
pub(crate) fn cross_entropy(target: f32, value: f32) -> f64 {
    let value = f64::from(value.clamp(1e-6, 1.0 - 1e-6));
    let target = f64::from(target);
    -(target * value.ln() + (1.0 - target) * (1.0 - value).ln())
}
