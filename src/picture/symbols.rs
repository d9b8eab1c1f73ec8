//! Short signs for what stands on a board.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::evidence::Evidence;
use super::name;
use crate::program::FunctorId;

/// Contents for which letters of their own would say little.
const MANY: usize = 16;
/// Signs for what has no letter left.
const SPARE: &str = "#*+@%&$!?~^";

/// A sign for each text, all different: short names and numbers are their own, two roles'
/// pieces of the same kind have one letter, large and small, others a letter of theirs.
pub(super) fn symbols(
    evidence: &Evidence,
    texts: &[(String, Vec<FunctorId>)],
) -> BTreeMap<String, String> {
    let mut symbols = BTreeMap::new();
    let mut used = FxHashSet::default();
    let longest = if texts.len() > MANY { 3 } else { 2 };
    let is_short = |text: &str| {
        text.chars().count() <= longest || (text.len() <= 4 && text.parse::<i64>().is_ok())
    };
    for (text, _) in texts {
        if is_short(text) {
            used.insert(text.clone());
            symbols.insert(text.clone(), text.clone());
        }
    }
    let mut kinds: FxHashMap<FunctorId, String> = FxHashMap::default();
    for (text, what) in texts {
        if symbols.contains_key(text) {
            continue;
        }
        let symbol = match kind(evidence, what) {
            Some((owner, kind)) => {
                let small = kinds.entry(kind).or_insert_with(|| {
                    let small = free(&name(evidence.game, kind).to_lowercase(), &used);
                    used.extend([small.to_uppercase(), small.clone()]);
                    small
                });
                if owner == 0 {
                    small.to_uppercase()
                } else {
                    small.clone()
                }
            }
            None => free(text, &used),
        };
        used.insert(symbol.clone());
        symbols.insert(text.clone(), symbol);
    }
    symbols
}

/// A role and the kind of its piece, if there are two roles.
fn kind(evidence: &Evidence, what: &[FunctorId]) -> Option<(usize, FunctorId)> {
    let role = |name: FunctorId| evidence.roles.iter().position(|role| *role == name);
    match *what {
        [one, two] if evidence.roles.len() == 2 => match (role(one), role(two)) {
            (Some(owner), None) => Some((owner, two)),
            (None, Some(owner)) => Some((owner, one)),
            _ => None,
        },
        _ => None,
    }
}

/// A sign that is not used yet: a letter of the text, or else any; the text itself if
/// there is none.
fn free(text: &str, used: &FxHashSet<String>) -> String {
    let letters = || text.chars().filter(|c| c.is_alphanumeric());
    let large = letters().map(|c| c.to_ascii_uppercase());
    let other = SPARE
        .chars()
        .chain('a'..='z')
        .chain('A'..='Z')
        .chain('0'..='9');
    let mut signs = letters().chain(large).chain(other).map(String::from);
    let found = signs.find(|sign| !used.contains(sign));
    found.unwrap_or_else(|| text.to_owned())
}
