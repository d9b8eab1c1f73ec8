//! The share of each fact in the value of a position.
//!
//! In: values and a position. Out: by fact that holds, its contribution. The weight
//! of a group is divided equally among its facts, so the contributions add
//! up to the sum of all weights but the constant one.
//!
//! Source: Shapley, "A value for n-person games", 1953: this division is the Shapley
//! value of the facts.

use crate::values::Values;

/// The contribution of a fact to the value of a position.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Contribution {
    /// The index of the fact in the network.
    pub fact: usize,
    /// The contribution for a role, in logarithms of odds.
    pub weight: f32,
}

impl Values {
    /// The facts that hold in a position and their contributions to a role's value,
    /// the largest first, positive or negative.
    pub fn explain(&self, state: &[u64], role: usize) -> Vec<Contribution> {
        let (output, sign) = match role < self.outputs {
            true => (role, 1.0),
            false => (0, -1.0),
        };
        let features = self.features();
        let weights = self.block(output, features.phase(state));
        let mut shares = vec![0.0; features.facts()];
        let mut active = Vec::new();
        features.each(state, |feature| active.push(feature));
        for feature in active {
            let group = features.facts_of(feature);
            for &fact in group {
                shares[fact as usize] += sign * weights[feature] / group.len() as f32;
            }
        }
        let shares = shares.into_iter().enumerate();
        let mut found: Vec<Contribution> = shares
            .filter(|share| share.1 != 0.0)
            .map(|(fact, weight)| Contribution { fact, weight })
            .collect();
        found.sort_by(|a, b| b.weight.abs().total_cmp(&a.weight.abs()));
        found
    }
}
