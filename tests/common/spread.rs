//! The variation of the shares of facts from sample to sample.

use std::collections::HashMap;

use ggp_gdl::terms::TermId;

/// The sum over all facts of the variance of a fact in one position, and of that of its share from
/// sample to sample, both without bias. A sample is a list of states with their shares; there must be
/// at least two. The quotient is the number of independent positions that a sample is worth.
pub fn variances(samples: &[Vec<(Vec<TermId>, f64)>]) -> [f64; 2] {
    // By fact: the sum of its shares, and of their squares.
    let mut facts: HashMap<TermId, [f64; 2]> = HashMap::new();
    for sample in samples {
        let mut shares: HashMap<TermId, f64> = HashMap::new();
        for (state, share) in sample {
            for fact in state {
                *shares.entry(*fact).or_default() += share;
            }
        }
        for (fact, share) in shares {
            let sums = facts.entry(fact).or_default();
            *sums = [sums[0] + share, sums[1] + share * share];
        }
    }
    let count = samples.len() as f64;
    let mut both = [0.0; 2];
    for [sum, squares] in facts.into_values() {
        let mean = sum / count;
        let variance = (squares - count * mean * mean) / (count - 1.0);
        both = [
            both[0] + mean * (1.0 - mean) + variance / count,
            both[1] + variance,
        ];
    }
    both
}
