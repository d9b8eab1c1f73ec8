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

use crate::patterns::Patterns;
use crate::samples::Samples;
use crate::values::{Values, logistic};

/// Parameters of the regression.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Rates {
    /// The first step of a weight.
    pub step: f32,
    /// The first step of the weight of a pattern.
    pub pattern_step: f32,
    /// The factor by which a weight pulls itself towards 0.
    pub decay: f32,
    /// The number of positions over which weights are averaged.
    pub averaging: f32,
}

/// Weights that are being learned.
#[derive(Clone, Debug)]
pub(crate) struct Trainer {
    /// The values learned so far.
    pub values: Values,
    pub average: Values,
    rates: Rates,
    patterns: Patterns,
    /// The values without the weights of patterns.
    own: Values,
    /// By output, phase and pattern: the weight.
    shared: Vec<f32>,
    /// By weight: the sum of the squared gradients.
    squares: Vec<f32>,
    shared_squares: Vec<f32>,
    /// The number of positions learned.
    learned: f32,
    active: Vec<u32>,
    counts: Vec<f32>,
}

/// The sum of squares that a weight begins with.
const FIRST_SQUARE: f32 = 1.0;

impl Trainer {
    pub fn new(values: Values, patterns: Patterns, rates: Rates) -> Trainer {
        let shared = values.outputs * values.features.phases() * patterns.count();
        Trainer {
            squares: vec![FIRST_SQUARE; values.weights.len()],
            shared_squares: vec![FIRST_SQUARE; shared],
            shared: vec![0.0; shared],
            average: values.clone(),
            own: values.clone(),
            values,
            rates,
            patterns,
            learned: 0.0,
            active: Vec::new(),
            counts: Vec::new(),
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
        self.values.weights.copy_from_slice(&self.own.weights);
        let len = self.values.features.count();
        let shared = self.shared.chunks(self.patterns.count().max(1));
        for (weights, shared) in self.values.weights.chunks_mut(len).zip(shared) {
            self.patterns.share_out(shared, weights);
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
        let features = &self.own.features;
        let phase = features.phase(state);
        let active = &mut self.active;
        active.clear();
        features.each(state, |feature| active.push(feature as u32));
        let singles = 1..=features.facts();
        let facts = active.iter().map(|&feature| feature as usize);
        let facts = facts.filter(|feature| singles.contains(feature));
        self.patterns
            .counts(facts.map(|feature| feature - 1), &mut self.counts);
        let (len, phases) = (features.count(), features.phases());
        let mut loss = 0.0;
        for (output, &target) in targets.iter().enumerate() {
            let block = output * phases + phase;
            let weights = &mut self.own.weights[block * len..][..len];
            let squares = &mut self.squares[block * len..][..len];
            let number = self.counts.len();
            let shared = &mut self.shared[block * number..][..number];
            let shared_squares = &mut self.shared_squares[block * number..][..number];
            let sum: f32 = active
                .iter()
                .map(|&feature| weights[feature as usize])
                .sum();
            let products = shared.iter().zip(&self.counts);
            let of_patterns: f32 = products.map(|(weight, count)| weight * count).sum();
            let value = logistic(sum + of_patterns);
            loss += cross_entropy(target, value);
            let error = target - value;
            for &feature in &*active {
                let feature = feature as usize;
                let gradient = error - self.rates.decay * weights[feature];
                squares[feature] += gradient * gradient;
                weights[feature] += self.rates.step * gradient / squares[feature].sqrt();
            }
            let shared = shared.iter_mut().zip(shared_squares).zip(&self.counts);
            for ((weight, squares), count) in shared {
                let gradient = error * count - self.rates.decay * *weight;
                *squares += gradient * gradient;
                *weight += self.rates.pattern_step * gradient / squares.sqrt();
            }
        }
        loss
    }

    /// Replaces the groups of facts. Those that stay keep their weights.
    pub fn set_groups(&mut self, groups: Vec<Vec<u32>>) {
        self.values.set_groups(groups.clone());
        self.own.set_groups(groups);
        self.average = self.values.clone();
        self.squares = vec![FIRST_SQUARE; self.values.weights.len()];
        self.shared_squares.fill(FIRST_SQUARE);
    }
}

/// The logarithmic loss of a value where the target is another.
pub(crate) fn cross_entropy(target: f32, value: f32) -> f64 {
    let value = f64::from(value.clamp(1e-6, 1.0 - 1e-6));
    let target = f64::from(target);
    -(target * value.ln() + (1.0 - target) * (1.0 - value).ln())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::Features;
    use ggp_engine::propnet::batch::pack;
    use ggp_engine::propnet::{GroundLimits, Propnet};
    use ggp_gdl::game::Game;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    #[test]
    fn facts_share_the_weights_of_their_patterns() {
        let rules = "(role r) (<= (legal r (put ?x ?y)) (index ?x) (index ?y))
            (<= (next (at ?x ?y)) (does r (put ?x ?y))) (<= (next (at ?x ?y)) (true (at ?x ?y)))
            (index 1) (index 2) (index 3) (index 4) (goal r 100) (<= terminal (true (at 1 1)))";
        let game = Game::from_text("rules", rules).expect("the rules are valid");
        let (net, _) = Propnet::ground(&game, &GroundLimits::default()).expect("it is small");
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let facts = net.facts().len();
        let mut state = || pack((0..facts).map(|_| random.random::<bool>()));
        let states: Vec<_> = (0..400).map(|_| state()).collect();
        let varies = vec![true; facts];
        let patterns = Patterns::new(&net, &varies, &states, &Stop::new());
        // All facts, four rows and four columns.
        assert_eq!((facts, patterns.count()), (16, 9));
        let values = Values::new(Features::new(&varies, Vec::new()), 1, 1);
        let rates = Rates {
            step: 0.0,
            pattern_step: 0.1,
            decay: 0.0,
            averaging: 1.0,
        };
        let mut trainer = Trainer::new(values, patterns, rates);
        // A state is worth more, the more facts of the first row hold.
        let first: Vec<usize> = (0..facts)
            .filter(|&fact| {
                let text = game.canonical(&net.terms(), net.facts()[fact]);
                text.starts_with("(at 1 ")
            })
            .collect();
        let mut samples = Samples::new(1, 1, usize::MAX);
        for state in &states {
            let count = first.iter().filter(|&&fact| state[0] >> fact & 1 == 1);
            samples.push(state, &[0.1 + 0.2 * count.count() as f32]);
        }
        let order: Vec<u32> = (0..400).collect();
        let before = trainer.learn(&samples, &order, &Stop::new());
        let after = trainer.learn(&samples, &order, &Stop::new());
        assert!(after < before);
        // The weights of facts are those of their patterns alone: equal within the row.
        let weight = |fact: usize| trainer.values.weights[1 + fact];
        let others = (0..facts).filter(|fact| !first.contains(fact));
        let most = others.map(weight).fold(f32::MIN, f32::max);
        assert!(first.iter().all(|&fact| weight(fact) > most + 0.1));
        // What is learned and what is used have the same value.
        for (number, state) in states.iter().enumerate().take(20) {
            let used = logistic(trainer.values.sum(0, state));
            let mut copy = trainer.clone();
            let loss = copy.learn_one(state, samples.get(number).1);
            assert!((loss - cross_entropy(samples.get(number).1[0], used)).abs() < 1e-4);
        }
    }
}
