//! Files of values.
//!
//! In: values and a network of their game. Out: text, and values again, for any
//! network of rules with the same [`Fingerprint`]. Facts are written as codes without
//! names, so a file fits rules whose names were changed.

use ggp_engine::propnet::Propnet;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use crate::features::Features;
use crate::fingerprint::{Fingerprint, code};
use crate::library::{FileError, VERSION};
use crate::trust::Trust;
use crate::values::{GRAIN, Values, grains};

/// The most features of a file, and the most values by position.
const MOST_FEATURES: usize = 1 << 20;
const MOST_BLOCKS: usize = 1 << 8;

/// A file of values. Facts are numbered by their place in `facts`.
#[derive(Serialize, Deserialize)]
struct File {
    /// The version of the format.
    version: u32,
    /// The fingerprint of the rules.
    rules: String,
    /// The gain by the values in the test, in percent.
    trust: u8,
    roles: usize,
    outputs: usize,
    /// By fact: its functors in prefix order, by number of first appearance.
    facts: Vec<Vec<u32>>,
    /// By fact: true if it has weights.
    counts: Vec<bool>,
    phases: Vec<u32>,
    groups: Vec<Vec<u32>>,
    /// By output and phase: the weights of the constant, of facts and of groups.
    weights: Vec<Vec<i32>>,
}

/// The part of a file that all versions have.
#[derive(Deserialize)]
struct Head {
    version: u32,
    rules: String,
}

impl Head {
    fn read(text: &str) -> Result<Head, FileError> {
        let head: Head =
            serde_json::from_str(text).map_err(|error| FileError::Malformed(error.to_string()))?;
        match head.version {
            VERSION => Ok(head),
            other => Err(FileError::Version(other)),
        }
    }
}

/// The text of a file.
pub fn write(net: &Propnet, values: &Values, trust: Trust) -> String {
    let terms = net.terms();
    let features = values.features();
    // Facts without weights are left out.
    let is_kept =
        |fact: usize| features.counts(fact) || features.phase_facts().contains(&(fact as u32));
    let kept: Vec<usize> = (0..features.facts())
        .filter(|&fact| is_kept(fact))
        .collect();
    let mut places = vec![0; features.facts()];
    for (place, &fact) in kept.iter().enumerate() {
        places[fact] = place as u32;
    }
    let place = |fact: u32| places[fact as usize];
    let groups = 1 + features.facts()..features.count();
    let weights = values.weights.chunks(features.count()).map(|weights| {
        let facts = kept.iter().map(|&fact| 1 + fact);
        let all = [0].into_iter().chain(facts).chain(groups.clone());
        all.map(|feature| grains(weights[feature])).collect()
    });
    let file = File {
        version: VERSION,
        rules: Fingerprint::of(net.game()).to_string(),
        trust: trust.gain(),
        roles: values.roles(),
        outputs: values.outputs,
        facts: kept
            .iter()
            .map(|&fact| code(&terms, net.facts()[fact]))
            .collect(),
        counts: kept.iter().map(|&fact| features.counts(fact)).collect(),
        phases: features
            .phase_facts()
            .iter()
            .map(|&fact| place(fact))
            .collect(),
        groups: features
            .groups()
            .iter()
            .map(|group| group.iter().map(|&fact| place(fact)).collect())
            .collect(),
        weights: weights.collect(),
    };
    serde_json::to_string(&file).expect("numbers and lists can be written") + "\n"
}

/// The fingerprint of the rules that a file belongs to.
///
/// # Errors
///
/// [`FileError`] if the text does not begin as a file of values does.
pub(crate) fn rules(text: &str) -> Result<Fingerprint, FileError> {
    let head = Head::read(text)?;
    let malformed = || FileError::Malformed(format!("`{}` is not a fingerprint", head.rules));
    head.rules.parse().map_err(|_| malformed())
}

/// The values of a file, for a network of the same rules, and their trust.
///
/// # Errors
///
/// [`FileError`] if the text is not a file of values or belongs to other rules.
pub fn read(net: &Propnet, text: &str) -> Result<(Values, Trust), FileError> {
    let malformed = |why: String| FileError::Malformed(why);
    Head::read(text)?;
    let file: File = serde_json::from_str(text).map_err(|error| malformed(error.to_string()))?;
    let expected = Fingerprint::of(net.game());
    if file.rules.parse() != Ok(expected) {
        let found = file.rules.chars().take(20).collect();
        return Err(FileError::OtherRules { found, expected });
    }
    check(&file, net).map_err(|why| malformed(why.to_owned()))?;
    let terms = net.terms();
    let numbers: FxHashMap<Vec<u32>, u32> = net
        .facts()
        .iter()
        .zip(0..)
        .map(|(&fact, number)| (code(&terms, fact), number))
        .collect();
    let facts: Vec<Option<u32>> = file
        .facts
        .iter()
        .map(|code| numbers.get(code).copied())
        .collect();
    let missing = facts.iter().filter(|fact| fact.is_none()).count();
    if missing > 0 {
        return Err(FileError::MissingFacts(missing));
    }
    let facts: Vec<u32> = facts.into_iter().flatten().collect();
    let mut counts = vec![false; net.facts().len()];
    for (&fact, &is_counted) in facts.iter().zip(&file.counts) {
        counts[fact as usize] = is_counted;
    }
    let number = |place: u32| facts[place as usize];
    let phases = file.phases.iter().map(|&place| number(place)).collect();
    let mut features = Features::new(&counts, phases);
    let groups = file.groups.iter();
    let groups = groups.map(|group| group.iter().map(|&place| number(place)).collect());
    let groups: Vec<Vec<u32>> = groups.collect();
    let is_in_order = |a: &Vec<u32>, b: &Vec<u32>| a.len().cmp(&b.len()).then(a.cmp(b)).is_lt();
    if !groups.is_sorted_by(is_in_order) {
        return Err(malformed("its groups of facts are not in order".to_owned()));
    }
    let known: FxHashSet<&[u32]> = groups.iter().map(Vec::as_slice).collect();
    let is_extended = |group: &Vec<u32>| match group.split_last() {
        Some((last, base)) => !base.contains(last) && (base.len() == 1 || known.contains(base)),
        None => false,
    };
    if !groups.iter().all(is_extended) {
        return Err(malformed("a group of facts extends no other".to_owned()));
    }
    features.set_groups(groups);
    let mut values = Values::new(features, file.roles, file.outputs);
    let len = values.features.count();
    let first_group = 1 + values.features.facts();
    for (to, from) in values.weights.chunks_mut(len).zip(&file.weights) {
        let mut from = from.iter().map(|&weight| weight as f32 * GRAIN);
        to[0] = from.next().unwrap_or(0.0);
        for (&fact, weight) in facts.iter().zip(from.by_ref()) {
            to[1 + fact as usize] = weight;
        }
        for (to, weight) in to[first_group..].iter_mut().zip(from) {
            *to = weight;
        }
    }
    Ok((values, Trust::of_gain(file.trust)))
}

/// The reason why the lengths and numbers of a file do not fit together, if any.
fn check(file: &File, net: &Propnet) -> Result<(), &'static str> {
    let (facts, roles) = (file.facts.len() as u32, net.game().role_count());
    let is_fact = |fact: &u32| *fact < facts;
    let groups = file.groups.iter().flatten();
    if file.roles != roles || !(file.outputs == roles || file.outputs == 1 && roles == 2) {
        return Err("it has another number of roles");
    }
    if !groups.chain(&file.phases).all(is_fact) || file.counts.len() != file.facts.len() {
        return Err("it uses facts that it does not list");
    }
    let most = Features::MOST_FACTS;
    if !file
        .groups
        .iter()
        .all(|group| (2..=most).contains(&group.len()))
    {
        return Err("a group has too few or too many facts");
    }
    let len = 1 + file.facts.len() + file.groups.len();
    let blocks = file.outputs * (file.phases.len() + 1);
    if len > MOST_FEATURES || blocks > MOST_BLOCKS {
        return Err("it has too many features");
    }
    if file.weights.len() != blocks || file.weights.iter().any(|weights| weights.len() != len) {
        return Err("it does not have one weight for each feature");
    }
    match file.trust {
        0..=100 => Ok(()),
        _ => Err("its trust is not a percentage"),
    }
}
