//! Orders of names: by numeric value, or by a successor relation in the rules.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::game::Game;
use crate::program::{FunctorId, RelationId, Shape};
use crate::terms::TermId;

/// A relation of three arguments, of which the one at a place is fixed.
type Fixed = (RelationId, usize, FunctorId);

/// Successor relations that the rules list as facts.
#[derive(Clone, Debug)]
pub struct Chains {
    /// By successor relation: the position of each name.
    chains: Vec<FxHashMap<FunctorId, usize>>,
    numbers: FxHashMap<FunctorId, i64>,
}

impl Chains {
    /// The successor relations of a game, in the order of its relations. A relation
    /// qualifies if it is binary, consists of facts only, and gives each name at most
    /// one successor and at most one predecessor. All its chains are included, each
    /// starting at a name without a predecessor. A cycle starts at its first name in
    /// the rules. After them come chains within wider relations, such as that of the facts
    /// `(plus 1 a b)`: two arguments where the third is fixed, if all their chains have
    /// three names or more.
    pub fn of(game: &Game) -> Chains {
        let rules = game.rules();
        let derived: FxHashSet<RelationId> =
            rules.rules.iter().map(|rule| rule.head.relation).collect();
        let mut pairs: FxHashMap<RelationId, Vec<(FunctorId, FunctorId)>> = FxHashMap::default();
        let mut within: BTreeMap<Fixed, Vec<(FunctorId, FunctorId)>> = BTreeMap::new();
        for fact in &rules.facts {
            let terms = game.terms();
            let is_plain = |term: &TermId| terms.arguments(*term).is_empty();
            if derived.contains(&fact.relation) || !fact.arguments.iter().all(is_plain) {
                continue;
            }
            let names = fact.arguments.iter().map(|term| terms.functor(*term));
            let names: Vec<FunctorId> = names.collect();
            match names[..] {
                [from, to] => pairs.entry(fact.relation).or_default().push((from, to)),
                [a, b, c] => {
                    let relation = fact.relation;
                    let mut add = |place, fixed, pair| {
                        within
                            .entry((relation, place, fixed))
                            .or_default()
                            .push(pair);
                    };
                    add(0, a, (b, c));
                    add(1, b, (a, c));
                    add(2, c, (a, b));
                }
                _ => {}
            }
        }
        let binary = rules
            .relations()
            .filter_map(|relation| chains(pairs.get(&relation)?));
        let wider = within.values().filter_map(|pairs| {
            let found = chains(pairs)?;
            found.iter().all(|chain| chain.len() > 2).then_some(found)
        });
        let chains = binary.chain(wider).flatten();
        let number = |(id, functor): (FunctorId, crate::program::Functor)| {
            let text = game.symbols().name(functor.name);
            let number = text.parse().ok().filter(|_| functor.shape == Shape::Bare)?;
            Some((id, number))
        };
        Chains {
            chains: chains.collect(),
            numbers: game.functors().iter().filter_map(number).collect(),
        }
    }

    /// True if a name is a number or has a position in a successor relation.
    pub fn has(&self, name: FunctorId) -> bool {
        self.numbers.contains_key(&name)
            || self.chains.iter().any(|chain| chain.contains_key(&name))
    }

    /// The names that share one order with all of `others`, sorted by that order: the
    /// numeric order, or the first successor relation that contains the others.
    pub fn sorted_with(&self, names: &[FunctorId], others: &[FunctorId]) -> Option<Vec<FunctorId>> {
        let is_number = |name: &FunctorId| self.numbers.contains_key(name);
        let mut kept = names.to_vec();
        if others.iter().all(is_number) {
            kept.retain(is_number);
        } else {
            let has_all = |chain: &&FxHashMap<FunctorId, usize>| {
                others.iter().all(|name| chain.contains_key(name))
            };
            let chain = self.chains.iter().find(has_all)?;
            kept.retain(|name| chain.contains_key(name));
        }
        self.sorted(&kept)
    }

    /// The names sorted by one order, if there is one: the numeric order, or the
    /// first successor relation that contains them all.
    pub fn sorted(&self, names: &[FunctorId]) -> Option<Vec<FunctorId>> {
        let mut sorted = names.to_vec();
        if names.iter().all(|name| self.numbers.contains_key(name)) {
            sorted.sort_by_key(|name| self.numbers[name]);
            return Some(sorted);
        }
        let has_all = |chain: &&FxHashMap<FunctorId, usize>| {
            names.iter().all(|name| chain.contains_key(name))
        };
        let chain = self.chains.iter().find(has_all)?;
        sorted.sort_by_key(|name| chain[name]);
        Some(sorted)
    }
}

/// The chains of a relation, or `None` if a name has two neighbours on one side.
fn chains(pairs: &[(FunctorId, FunctorId)]) -> Option<Vec<FxHashMap<FunctorId, usize>>> {
    let mut after = FxHashMap::default();
    let mut before = FxHashMap::default();
    for &(from, to) in pairs {
        if *after.entry(from).or_insert(to) != to || *before.entry(to).or_insert(from) != from {
            return None;
        }
    }
    let mut seen = FxHashSet::default();
    let mut all = Vec::new();
    let starts = pairs.iter().filter(|(from, _)| !before.contains_key(from));
    for &(first, _) in starts.chain(pairs) {
        let mut chain = FxHashMap::default();
        let mut name = Some(first);
        while let Some(at) = name.filter(|at| seen.insert(*at)) {
            chain.insert(at, chain.len());
            name = after.get(&at).copied();
        }
        if chain.len() > 1 {
            all.push(chain);
        }
    }
    Some(all)
}
