//! The choice of groups of facts that explain errors.
//!
//! In: positions with target values, and an evaluation. Out: the groups of facts whose
//! joint truth correlates most with the errors of the evaluation. A group extends a fact or
//! a group that the evaluation has. Groups are compared within each phase, because they
//! have weights of their own there.
//!
//! Source: Della Pietra, Della Pietra, Lafferty, "Inducing features of random fields",
//! 1997 (features grow by the best conjunctions with those chosen before).

use std::cmp::Reverse;

use ggp_stop::Stop;
use rustc_hash::FxHashSet;

use crate::samples::Samples;
use crate::values::{Values, logistic};

/// The most facts that may join a group.
const MOST_FACTS: usize = 1_500;
/// The most pairs of a base feature and a fact that are compared.
const MOST_CELLS: usize = 8_000_000;
/// The most pairs of active features that are counted.
const MOST_WORK: usize = 20_000_000;
/// The number of positions without error that are added to those of each group, which
/// makes rare groups less likely to be chosen.
const PRIOR: f32 = 20.0;
/// The least gain of a group that is chosen, in squared standard errors.
const LEAST: f32 = 3.0;

/// At most `most` new groups of at most `size` facts, those with the highest gain.
pub(crate) fn groups(
    values: &Values,
    samples: &Samples,
    size: usize,
    most: usize,
    stop: &Stop,
) -> Vec<Vec<u32>> {
    let features = &values.features;
    let facts = frequent(values, samples);
    let room = MOST_CELLS / (facts.len() * features.phases()).max(1);
    let bases = bases(values, &facts, size, room);
    let gains = Gains::new(values, samples, &bases, &facts, stop);
    // A group can extend several others.
    let sorted = |group: &[u32]| {
        let mut group = group.to_vec();
        group.sort_unstable();
        group
    };
    let known = features.groups().iter().map(|group| sorted(group));
    let mut known: FxHashSet<Vec<u32>> = known.collect();
    let groups = gains.sorted().into_iter().filter_map(|(base, fact)| {
        let base = features.facts_of(bases[base]);
        let group = [base, &[facts[fact]]].concat();
        let is_new = !base.contains(&facts[fact]) && known.insert(sorted(&group));
        is_new.then_some(group)
    });
    groups.take(most).collect()
}

/// The facts, and the groups of fewer than `size` facts, at most `most`: those with the
/// largest weights.
fn bases(values: &Values, facts: &[u32], size: usize, most: usize) -> Vec<usize> {
    let features = &values.features;
    let weight = |feature: usize| {
        let weights = values.weights.chunks(features.count());
        weights.map(|weights| weights[feature].abs()).sum::<f32>()
    };
    let groups = 1 + features.facts()..features.count();
    let mut groups: Vec<usize> = groups
        .filter(|&feature| features.facts_of(feature).len() < size)
        .collect();
    let most = most.saturating_sub(facts.len());
    if groups.len() > most {
        groups.sort_by(|&a, &b| weight(b).total_cmp(&weight(a)));
        groups.truncate(most);
        groups.sort_unstable();
    }
    let facts = facts.iter().map(|&fact| 1 + fact as usize);
    facts.chain(groups).collect()
}

/// The reduction of the errors that each group would bring.
struct Gains {
    /// The number of facts.
    side: usize,
    /// By base feature and fact.
    gains: Vec<f32>,
}

impl Gains {
    /// Compares the groups of a base feature and a fact in the last positions, as many
    /// as the work allows. Without gains if `stop` is over.
    fn new(
        values: &Values,
        samples: &Samples,
        bases: &[usize],
        facts: &[u32],
        stop: &Stop,
    ) -> Gains {
        const NONE: u32 = u32::MAX;
        let features = &values.features;
        let mut base_places = vec![NONE; features.count()];
        for (place, &base) in bases.iter().enumerate() {
            base_places[base] = place as u32;
        }
        let mut fact_places = vec![NONE; 1 + features.facts()];
        for (place, &fact) in facts.iter().enumerate() {
            fact_places[1 + fact as usize] = place as u32;
        }
        let (side, cells) = (facts.len(), bases.len() * facts.len());
        let mut gains = vec![0.0; cells];
        let (mut active, mut active_facts) = (Vec::new(), Vec::new());
        for output in 0..values.outputs {
            // By phase and cell: the sum of the errors, and the number of positions.
            let mut tables = vec![(0.0_f32, 0.0_f32); features.phases() * cells];
            let (mut squares, mut seen, mut work) = (0.0, 0, 0);
            for number in (0..samples.len()).rev() {
                if work > MOST_WORK {
                    break;
                }
                if seen % 256 == 0 && stop.is_over() {
                    gains.fill(0.0);
                    return Gains { side, gains };
                }
                seen += 1;
                let (state, targets) = samples.get(number);
                let error = targets[output] - logistic(values.sum(output, state));
                squares += error * error;
                active.clear();
                active_facts.clear();
                features.each(state, |feature| {
                    let base = base_places[feature];
                    if base != NONE {
                        active.push(base as usize);
                    }
                    if feature < fact_places.len() && fact_places[feature] != NONE {
                        active_facts.push(fact_places[feature] as usize);
                    }
                });
                work += active.len() * active_facts.len();
                let table = &mut tables[features.phase(state) * cells..][..cells];
                for &base in &active {
                    let row = &mut table[base * side..][..side];
                    for &fact in &active_facts {
                        row[fact].0 += error;
                        row[fact].1 += 1.0;
                    }
                }
            }
            let variance = (squares / seen.max(1) as f32).max(1e-6);
            for table in tables.chunks(cells.max(1)) {
                for (gain, &(sum, count)) in gains.iter_mut().zip(table) {
                    *gain += sum * sum / (count + PRIOR) / variance;
                }
            }
        }
        Gains { side, gains }
    }

    /// The places of base feature and fact of each group with a sufficient gain, the
    /// highest gain first.
    fn sorted(&self) -> Vec<(usize, usize)> {
        let mut cells: Vec<usize> = (0..self.gains.len()).collect();
        cells.retain(|&cell| self.gains[cell] > LEAST);
        cells.sort_by(|&a, &b| self.gains[b].total_cmp(&self.gains[a]));
        let places = cells.into_iter();
        places
            .map(|cell| (cell / self.side, cell % self.side))
            .collect()
    }
}

/// The facts that count, in ascending order. If there are too many, those that hold in
/// about half of the positions.
fn frequent(values: &Values, samples: &Samples) -> Vec<u32> {
    let features = &values.features;
    let mut counts = vec![0_usize; features.facts()];
    for number in 0..samples.len() {
        let (state, _) = samples.get(number);
        for (word, &bits) in state.iter().enumerate() {
            let mut bits = bits;
            while bits != 0 {
                counts[64 * word + bits.trailing_zeros() as usize] += 1;
                bits &= bits - 1;
            }
        }
    }
    let changes = |fact: u32| {
        let count = counts[fact as usize];
        count.min(samples.len() - count)
    };
    let counting = features.counting().into_iter();
    let mut facts: Vec<u32> = counting.filter(|&fact| changes(fact) > 0).collect();
    facts.sort_by_key(|&fact| Reverse(changes(fact)));
    facts.truncate(MOST_FACTS);
    facts.sort_unstable();
    facts
}
