//! Facts that share arguments, counted.
//!
//! In: the facts of a game. Out: *patterns*, such as `(cell ? 2 white)`: a fact with some
//! arguments left open. The number of facts that match one is a feature with a weight of its
//! own in learning, so that what is learned of one fact is believed of its relatives: of the
//! same piece elsewhere, of other pieces in the same row. A count is a sum over facts, so its
//! weight is shared out to them at the end, and values cost no more.

use ggp_engine::propnet::Propnet;
use ggp_engine::propnet::batch::{Packed, holds};
use ggp_gdl::terms::TermId;
use ggp_stop::Stop;
use rustc_hash::{FxHashMap, FxHashSet};

/// The most patterns. Those of the most facts stay.
const MOST: usize = 1_024;
/// The most arguments of which all combinations are left open; of longer facts, all but one or two,
/// and of still longer ones, all.
const FEW_ARGUMENTS: usize = 4;
const MOST_ARGUMENTS: usize = 8;
/// The most sets of facts that are compared.
const MOST_SETS: usize = 200_000;
/// The least spread of a count, which keeps rare facts from counting too much.
const LEAST_SPREAD: f32 = 0.25;

/// The patterns of a game's facts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Patterns {
    /// By pattern: the facts that match it.
    facts: Vec<Vec<u32>>,
    /// By fact: the end of its patterns in `patterns`.
    ends: Vec<u32>,
    patterns: Vec<u32>,
    /// By pattern: the mean of its count in random games, and one over its spread.
    means: Vec<f32>,
    scales: Vec<f32>,
}

impl Patterns {
    /// The patterns of the facts that vary and whose counts differ in `states`, positions of
    /// random games. If `stop` is over, some are missing.
    pub fn new(net: &Propnet, varies: &[bool], states: &[Packed], stop: &Stop) -> Patterns {
        let facts = net.facts().len();
        let mut sets = sets(net, varies, stop);
        sets.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        let (mut means, mut scales) = (Vec::new(), Vec::new());
        sets.retain(|set| {
            if means.len() == MOST || stop.is_over() {
                return false;
            }
            let (mut sum, mut squares) = (0.0_f64, 0.0);
            for state in states {
                let count = set.iter().filter(|&&fact| holds(state, fact as usize));
                let count = count.count() as f64;
                sum += count;
                squares += count * count;
            }
            let number = states.len().max(1) as f64;
            let mean = sum / number;
            let variance = squares / number - mean * mean;
            let varies = variance > 1e-6;
            if varies {
                means.push(mean as f32);
                scales.push(1.0 / (variance.sqrt() as f32).max(LEAST_SPREAD));
            }
            varies
        });
        let mut of_fact: Vec<Vec<u32>> = vec![Vec::new(); facts];
        for (pattern, set) in sets.iter().enumerate() {
            for &fact in set {
                of_fact[fact as usize].push(pattern as u32);
            }
        }
        let mut ends = Vec::with_capacity(facts);
        let mut patterns = Vec::new();
        for of_fact in of_fact {
            patterns.extend(of_fact);
            ends.push(patterns.len() as u32);
        }
        Patterns {
            facts: sets,
            ends,
            patterns,
            means,
            scales,
        }
    }

    /// The number of patterns.
    pub fn count(&self) -> usize {
        self.facts.len()
    }

    fn of(&self, fact: usize) -> &[u32] {
        let first = fact.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.patterns[first as usize..self.ends[fact] as usize]
    }

    /// Sets `counts` to the count of each pattern, as its distance from the mean in units of
    /// its spread. `facts` are the true facts that vary.
    pub fn counts(&self, facts: impl Iterator<Item = usize>, counts: &mut Vec<f32>) {
        counts.clear();
        counts.extend(self.means.iter().map(|mean| -mean));
        for fact in facts {
            for &pattern in self.of(fact) {
                counts[pattern as usize] += 1.0;
            }
        }
        for (count, scale) in counts.iter_mut().zip(&self.scales) {
            *count *= scale;
        }
    }

    /// Adds the weights of patterns to those of facts. The first of `weights` is that of all
    /// positions; those of the facts follow.
    pub fn share_out(&self, shared: &[f32], weights: &mut [f32]) {
        for (pattern, (facts, weight)) in self.facts.iter().zip(shared).enumerate() {
            let each = weight * self.scales[pattern];
            weights[0] -= each * self.means[pattern];
            for &fact in facts {
                weights[1 + fact as usize] += each;
            }
        }
    }
}

/// By pattern of more than one fact: the facts, each set once.
fn sets(net: &Propnet, varies: &[bool], stop: &Stop) -> Vec<Vec<u32>> {
    let terms = net.terms();
    let mut matching: FxHashMap<(usize, u64, Vec<TermId>), Vec<u32>> = FxHashMap::default();
    for (fact, &term) in net.facts().iter().enumerate() {
        if matching.len() > MOST_SETS || stop.is_over() {
            break;
        }
        if !varies[fact] {
            continue;
        }
        let functor = terms.functor(term).index();
        let arguments = terms.arguments(term);
        for kept in kept(arguments.len()) {
            let fixed = arguments.iter().enumerate();
            let fixed = fixed.filter(|(place, _)| kept >> place & 1 == 1);
            let fixed: Vec<TermId> = fixed.map(|(_, argument)| *argument).collect();
            let key = (functor, kept, fixed);
            matching.entry(key).or_default().push(fact as u32);
        }
    }
    let sets: FxHashSet<Vec<u32>> = matching.into_values().collect();
    sets.into_iter().filter(|set| set.len() > 1).collect()
}

/// The sets of arguments that a pattern may fix, one bit for each.
fn kept(arguments: usize) -> Vec<u64> {
    if arguments > MOST_ARGUMENTS {
        return vec![0];
    }
    if arguments <= FEW_ARGUMENTS {
        return (0..(1 << arguments) - 1).collect();
    }
    let one = (0..arguments).map(|place| 1 << place);
    let two = (0..arguments).flat_map(|place| (0..place).map(move |other| 1 << place | 1 << other));
    std::iter::once(0).chain(one).chain(two).collect()
}
