//! The order of names: by number, or by a relation that leads from each to the
//! next.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::game::Game;
use crate::program::{FunctorId, RelationId, Shape};

/// Successions that the rules list as facts.
#[derive(Clone, Debug)]
pub struct Chains {
    /// By succession: the place of each name.
    chains: Vec<FxHashMap<FunctorId, usize>>,
    numbers: FxHashMap<FunctorId, i64>,
}

impl Chains {
    /// The successions of a game, in the order of its relations: of each
    /// relation of two names that is nothing but facts, and in which a name has at
    /// most one successor and at most one predecessor, all ways from a name
    /// without predecessor. A circle begins where the rules first name it.
    pub fn of(game: &Game) -> Chains {
        let rules = game.rules();
        let derived: FxHashSet<RelationId> =
            rules.rules.iter().map(|rule| rule.head.relation).collect();
        let mut pairs: FxHashMap<RelationId, Vec<(FunctorId, FunctorId)>> = FxHashMap::default();
        for fact in &rules.facts {
            let terms = game.terms();
            if let [from, to] = fact.arguments[..]
                && !derived.contains(&fact.relation)
                && terms.arguments(from).is_empty()
                && terms.arguments(to).is_empty()
            {
                let pair = (terms.functor(from), terms.functor(to));
                pairs.entry(fact.relation).or_default().push(pair);
            }
        }
        let chains = rules
            .relations()
            .filter_map(|relation| chains(pairs.get(&relation)?));
        let number = |(id, functor): (FunctorId, crate::program::Functor)| {
            let text = game.symbols().name(functor.name);
            let number = text.parse().ok().filter(|_| functor.shape == Shape::Bare)?;
            Some((id, number))
        };
        Chains {
            chains: chains.flatten().collect(),
            numbers: game.functors().iter().filter_map(number).collect(),
        }
    }

    /// Whether a name is a number or has a place in a succession.
    pub fn has(&self, name: FunctorId) -> bool {
        self.numbers.contains_key(&name)
            || self.chains.iter().any(|chain| chain.contains_key(&name))
    }

    /// The names that are in one order with all of some others, in that order: numbers,
    /// or those of the first succession that has the others.
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

    /// The names in order, if there is one: that of numbers, or that of the first
    /// succession that has them all.
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

/// The ways through a relation; none if a name has two neighbours on one side.
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
