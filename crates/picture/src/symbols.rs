//! Short signs for the contents of a board.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::board::{functors, text_of};
use super::evidence::Evidence;
use super::layer::Candidate;
use super::{join, name};
use ggp_gdl::program::FunctorId;

/// Maximum number of contents that get a letter each.
const SYMBOLS: usize = 64;
/// Number of contents above which single letters would mean little.
const MANY: usize = 16;
/// Signs for contents that have no letter left.
const SPARE: &str = "#*+@%&$!?~^";

/// A sign for each text, all different. Numbers are their own sign, and so are names if all of them
/// are short, or too many. Otherwise each name gets a letter; two roles' pieces of the same kind share one, in
/// upper and in lower case.
pub(super) fn symbols(
    evidence: &Evidence,
    texts: &[(String, Vec<FunctorId>)],
    wished: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let mut symbols = BTreeMap::new();
    let mut used: FxHashSet<String> = wished.values().cloned().collect();
    for (text, _) in texts {
        if let Some(sign) = wished.get(text) {
            symbols.insert(text.clone(), sign.clone());
        }
    }
    let longest = if texts.len() > MANY { 3 } else { 2 };
    let is_number = |text: &str| text.len() <= 4 && text.parse::<i64>().is_ok();
    let is_short = |text: &str| text.chars().count() <= longest;
    let is_own = |text: &str| is_number(text) || text.chars().count() == 1;
    let mut names = texts.iter().filter(|(text, _)| !wished.contains_key(text));
    let are_whole =
        texts.len() > SYMBOLS || names.all(|(text, _)| is_number(text) || is_short(text));
    for (text, _) in texts {
        if (are_whole || is_own(text)) && !symbols.contains_key(text) {
            used.insert(text.clone());
            symbols.insert(text.clone(), text.clone());
        }
    }
    let mut kinds: FxHashMap<String, String> = FxHashMap::default();
    for (text, what) in texts {
        if symbols.contains_key(text) {
            continue;
        }
        let symbol = match kind(evidence, what) {
            Some((owner, kind)) => {
                let small = kinds.entry(kind).or_insert_with_key(|kind| {
                    let mut small = free(kind, &used);
                    if small.to_uppercase() == small {
                        // Numbers have no upper case.
                        let mut letters = ('a'..='z').map(String::from);
                        let is_free = |one: &String| {
                            ![one.clone(), one.to_uppercase()]
                                .iter()
                                .any(|one| used.contains(one))
                        };
                        small = letters.find(is_free).unwrap_or(small);
                    }
                    used.extend([small.to_uppercase(), small.clone()]);
                    small
                });
                match (owner, small.to_uppercase() == *small) {
                    (0, false) => small.to_uppercase(),
                    (1, true) => free(text, &used),
                    _ => small.clone(),
                }
            }
            None => free(text, &used),
        };
        used.insert(symbol.clone());
        symbols.insert(text.clone(), symbol);
    }
    symbols
}

/// The role and the kind of a piece in lower case, if there are two roles. Both come from
/// two names, or from one name that begins with the role's name.
fn kind(evidence: &Evidence, what: &[FunctorId]) -> Option<(usize, String)> {
    if evidence.roles.len() != 2 {
        return None;
    }
    let small = |functor: FunctorId| name(evidence.game, functor).to_lowercase();
    let role = |name: FunctorId| evidence.roles.iter().position(|role| *role == name);
    match *what {
        [one, two] => match (role(one), role(two)) {
            (Some(owner), None) => Some((owner, small(two))),
            (None, Some(owner)) => Some((owner, small(one))),
            _ => None,
        },
        [one] => evidence.roles.iter().enumerate().find_map(|(owner, role)| {
            let text = small(one);
            let kind = text.strip_prefix(&small(*role))?.trim_matches(['_', '-']);
            (!kind.is_empty()).then(|| (owner, kind.to_owned()))
        }),
        _ => None,
    }
}

/// An unused sign: a letter of the text, or else any sign; the text itself if no sign is
/// left.
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

/// All possible contents of a board, as text and as constants, without layers that have too
/// many. Layers whose texts would be equal get titles.
pub(super) fn texts(evidence: &Evidence, group: &mut [Candidate]) -> Vec<(String, Vec<FunctorId>)> {
    let game = evidence.game;
    let mut all: Vec<Vec<Vec<FunctorId>>> = Vec::new();
    for one in &*group {
        let mut whats: Vec<Vec<FunctorId>> = vec![Vec::new()];
        for &leaf in &one.layer.rest {
            let names = &one.shape.leaves[leaf];
            if whats.len() * names.len() > SYMBOLS {
                whats.clear();
                break;
            }
            let longer =
                |before: &Vec<FunctorId>, name: &FunctorId| [&before[..], &[*name]].concat();
            whats = (whats.iter())
                .flat_map(|before| names.iter().map(move |name| longer(before, name)))
                .collect();
        }
        all.push(whats);
    }
    let said: Vec<FxHashSet<FunctorId>> = group
        .iter()
        .map(|one| {
            one.layer
                .rest
                .iter()
                .flat_map(|k| one.shape.leaves[*k].iter().copied())
                .collect()
        })
        .collect();
    let is_shared = |layer: usize| {
        (0..all.len()).any(|other| other != layer && !said[layer].is_disjoint(&said[other]))
    };
    let mut texts: Vec<(String, Vec<FunctorId>)> = Vec::new();
    let titled: Vec<bool> = (0..all.len()).map(is_shared).collect();
    let full = group.iter().position(Candidate::is_full);
    let is_about = |layer: usize| {
        full.is_some_and(|full| full != layer && said[layer].is_subset(&said[full]))
            && !said[layer].is_empty()
    };
    // A content that is a cell itself says what belongs together.
    let is_cell = |layer: usize| {
        let (rest, leaves) = (&group[layer].layer.rest, &group[layer].shape.leaves);
        let axes = [group[layer].layer.first, group[layer].layer.second];
        let mut pairs = rest.iter().zip(axes);
        group.len() > 1
            && rest.len() == 2
            && pairs.all(|(leaf, axis)| axis.is_some_and(|axis| leaves[*leaf] == leaves[axis]))
    };
    let minor: Vec<bool> = (0..group.len())
        .map(|layer| is_about(layer) || is_cell(layer))
        .collect();
    for (one, is_minor) in group.iter_mut().zip(minor) {
        one.layer.is_minor = is_minor;
    }
    for ((one, whats), is_shared) in group.iter_mut().zip(all).zip(titled) {
        if one.layer.rest.is_empty() || (is_shared && !one.is_full()) {
            one.layer.title = Some(text_of(game, &functors(&one.shape)));
        }
        for what in whats {
            let text = text_of(game, &what);
            let text = match &one.layer.title {
                Some(title) => join(title, &text),
                None => text,
            };
            texts.push((text, what));
        }
    }
    texts
}
