//! The features at work in a position, and their shares in its value.
//!
//! In: values, and a position or two. Out: everything that holds in a position, with its share
//! for each role; and for a move, the facts that it changes, with theirs. Shares are in
//! logarithms of odds. They add up to the value, as it is before the logistic function, or to
//! the change of the value.
//!
//! Source: Shapley, "A value for n-person games", 1953: a group divided equally among its
//! facts gives their Shapley values.

use ggp_engine::propnet::Propnet;
use ggp_engine::propnet::batch::holds;

use crate::values::Values;

/// The value of a position, divided among the features that hold in it.
#[derive(Clone, PartialEq, Debug)]
pub struct Account {
    /// By role: the value, from 0 to 100.
    pub values: Vec<f32>,
    /// By role: the share of every position of the same phase, with that of its fact.
    pub base: Vec<f32>,
    /// The features, or single facts, with the largest share first.
    pub shares: Vec<Share>,
}

/// The share of a feature in the value of a position.
#[derive(Clone, PartialEq, Debug)]
pub struct Share {
    /// The fact, or the group of facts that hold together, by index in the network.
    pub facts: Vec<u32>,
    /// By role: the share, in logarithms of odds.
    pub weights: Vec<f32>,
}

/// The change of a value between two positions, divided among the facts that changed.
#[derive(Clone, PartialEq, Debug)]
pub struct Changes {
    /// By role: the values before and after, from 0 to 100.
    pub values: Vec<(f32, f32)>,
    /// By role: the share of the new phase, that is, of the turn.
    pub turn: Vec<f32>,
    /// The facts that changed, with the largest share first.
    pub facts: Vec<Change>,
}

/// The share of a changed fact in the change of a value.
#[derive(Clone, PartialEq, Debug)]
pub struct Change {
    /// The index of the fact in the network.
    pub fact: usize,
    /// True if the fact holds afterwards, false if it held before.
    pub holds: bool,
    /// By role: the share, in logarithms of odds.
    pub weights: Vec<f32>,
}

/// Ends a text that is cut.
const ELLIPSIS: char = '…';

/// Facts as a person reads them, as a text of at most `most` characters.
pub fn facts_text(net: &Propnet, facts: &[u32], most: usize) -> String {
    let (game, terms) = (net.game(), net.terms());
    let texts = facts.iter().map(|&fact| net.facts()[fact as usize]);
    let texts: Vec<String> = texts.map(|fact| game.text(&terms, fact)).collect();
    let text = texts.join(" and ");
    match text.char_indices().nth(most) {
        None => text,
        Some(_) => (text.chars().take(most.saturating_sub(1)))
            .chain([ELLIPSIS])
            .collect(),
    }
}

impl Values {
    /// The features that hold in a position, that is, facts and groups of facts.
    pub fn features_at_work(&self, state: &[u64]) -> Account {
        let (features, phase) = (self.features(), self.features().phase(state));
        let mut base = vec![0.0; self.roles()];
        let mut shares = Vec::new();
        features.each(state, |feature| {
            let weights = self.of_roles(phase, feature);
            let facts = features.facts_of(feature);
            if self.without_phases(facts).next().is_none() {
                add(&mut base, &weights, 1.0);
            } else if weights.iter().any(|&weight| weight != 0.0) {
                let facts = facts.to_vec();
                shares.push(Share { facts, weights });
            }
        });
        self.account(state, base, shares)
    }

    /// The facts that hold in a position. The share of a group is divided equally among its
    /// facts, except those that tell the phase.
    pub fn facts_at_work(&self, state: &[u64]) -> Account {
        let whole = self.features_at_work(state);
        let mut sums = vec![vec![0.0; self.roles()]; self.features().facts()];
        for Share { facts, weights } in &whole.shares {
            let facts: Vec<u32> = self.without_phases(facts).collect();
            for &fact in &facts {
                add(&mut sums[fact as usize], weights, 1.0 / facts.len() as f32);
            }
        }
        let shares = (0..).zip(sums).map(|(fact, weights)| Share {
            facts: vec![fact],
            weights,
        });
        let shares = shares.filter(|share| share.weights.iter().any(|&weight| weight != 0.0));
        self.account(state, whole.base, shares.collect())
    }

    /// The change of the value from one position to another. The weight of a fact or group
    /// that began to hold is divided equally among its new facts. The weight of one that ended
    /// is divided among its facts that no longer hold. Both use the weights of the position
    /// after the move. The rest of the change belongs to the turn.
    pub fn changes(&self, before: &[u64], after: &[u64]) -> Changes {
        let features = self.features();
        let (first, last) = (features.phase(before), features.phase(after));
        let mut turn = vec![0.0; self.roles()];
        let mut sums = vec![vec![0.0; self.roles()]; features.facts()];
        features.each(before, |feature| {
            add(&mut turn, &self.of_roles(last, feature), 1.0);
            add(&mut turn, &self.of_roles(first, feature), -1.0);
        });
        for (state, other, sign) in [(after, before, 1.0), (before, after, -1.0)] {
            features.each(state, |feature| {
                let facts = features.facts_of(feature);
                let is_changed = |fact: u32| !holds(other, fact as usize);
                if !facts.iter().any(|&fact| is_changed(fact)) {
                    return;
                }
                let weights = self.of_roles(last, feature);
                let changed = self.without_phases(facts).filter(|&fact| is_changed(fact));
                let changed: Vec<u32> = changed.collect();
                for &fact in &changed {
                    add(
                        &mut sums[fact as usize],
                        &weights,
                        sign / changed.len() as f32,
                    );
                }
                if changed.is_empty() {
                    add(&mut turn, &weights, sign);
                }
            });
        }
        let changes = sums
            .into_iter()
            .enumerate()
            .map(|(fact, weights)| Change {
                fact,
                holds: holds(after, fact),
                weights,
            })
            .filter(|change| change.weights.iter().any(|&weight| weight != 0.0));
        let mut facts: Vec<Change> = changes.collect();
        facts.sort_by(|a, b| size(&b.weights).total_cmp(&size(&a.weights)));
        let values = [self.values_of(before), self.values_of(after)];
        Changes {
            values: values[0].iter().copied().zip(values[1].clone()).collect(),
            turn,
            facts,
        }
    }

    fn account(&self, state: &[u64], base: Vec<f32>, mut shares: Vec<Share>) -> Account {
        shares.sort_by(|a, b| size(&b.weights).total_cmp(&size(&a.weights)));
        Account {
            values: self.values_of(state),
            base,
            shares,
        }
    }

    fn values_of(&self, state: &[u64]) -> Vec<f32> {
        let mut values = vec![0.0; self.roles()];
        self.evaluate(&[state], &mut values);
        values
    }

    /// Facts without those that tell the phase.
    fn without_phases<'a>(&'a self, facts: &'a [u32]) -> impl Iterator<Item = u32> + 'a {
        let phases = self.features().phase_facts();
        let facts = facts.iter().copied();
        facts.filter(|fact| !phases.contains(fact))
    }

    /// The weight of a feature for each role.
    fn of_roles(&self, phase: usize, feature: usize) -> Vec<f32> {
        let outputs = 0..self.outputs;
        let mut weights: Vec<f32> = outputs
            .map(|output| self.block(output, phase)[feature])
            .collect();
        if self.outputs < self.roles {
            weights.push(-weights[0]);
        }
        weights
    }
}

fn add(sums: &mut [f32], weights: &[f32], factor: f32) {
    for (sum, weight) in sums.iter_mut().zip(weights) {
        *sum += factor * weight;
    }
}

/// The largest share for or against a role.
fn size(weights: &[f32]) -> f32 {
    weights
        .iter()
        .fold(0.0, |most, weight| most.max(weight.abs()))
}
