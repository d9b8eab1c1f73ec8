//! Facts that are not on a board: counters, heaps and piles.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::drawing::{DrawnEntry, DrawnTable, TableStyle};
use super::evidence::{Evidence, Facts, is_key};
use super::name;
use super::shape::{Shape, Skeleton};
use ggp_gdl::check::Keyword;
use ggp_gdl::game::Game;
use ggp_gdl::program::{FunctorId, Literal};

/// Maximum number of piles.
const KEYS: usize = 64;

/// Facts of one or two arguments, shown as a list or as piles.
#[derive(Clone, Debug)]
pub(super) struct Table {
    pub skeleton: Skeleton,
    style: TableStyle,
    /// The argument by which facts are grouped, if there are two.
    by: Option<usize>,
    /// Keys and values, with their rank in the order.
    keys: FxHashMap<FunctorId, usize>,
    values: FxHashMap<FunctorId, usize>,
    /// Keys that are shown even if they have no value.
    always: Vec<FunctorId>,
    owners: FxHashMap<FunctorId, usize>,
    /// The length of the bar for a value.
    bars: FxHashMap<FunctorId, usize>,
    /// Things that are piles of their own when they are on nothing.
    blocks: Vec<FunctorId>,
    /// The arguments of a fact that is a pile, the topmost first.
    pile: Vec<usize>,
}

/// The table for the facts of a shape. `None` if they are listed as plain facts.
pub(super) fn table(evidence: &Evidence, shape: &Shape, facts: &Facts) -> Option<Table> {
    let mut table = Table {
        skeleton: shape.skeleton.clone(),
        style: TableStyle::Plain,
        by: None,
        keys: FxHashMap::default(),
        values: FxHashMap::default(),
        always: Vec::new(),
        owners: evidence.owners.clone(),
        bars: FxHashMap::default(),
        blocks: Vec::new(),
        pile: Vec::new(),
    };
    let ranks = |leaf: usize| -> FxHashMap<FunctorId, usize> {
        evidence
            .ordered(&shape.leaves[leaf])
            .into_iter()
            .zip(0..)
            .collect()
    };
    match &shape.leaves[..] {
        [names] => {
            table.values = ranks(0);
            let is_one = facts.iter().all(|facts| facts.len() <= 1);
            if is_one && evidence.are_roles(names) && is_asked(evidence.game, shape) {
                table.style = TableStyle::Turn;
            }
        }
        [one, two] => {
            let is_ordered = |names: &[FunctorId]| evidence.chains.sorted(names).is_some();
            let are_numbers = |names: &[FunctorId]| {
                let mut names = names.iter();
                names.all(|f| name(evidence.game, *f).parse::<i64>().is_ok())
            };
            let roles = [one, two].map(|names| evidence.are_roles(names));
            let keys = [0, 1].map(|leaf| is_key(facts, &[leaf]));
            if is_stack(evidence, shape, facts) {
                table.style = TableStyle::Stacks;
                table.by = Some(1);
                table.blocks = blocks(evidence, shape, facts);
            } else if keys[0]
                && !roles[0]
                && !roles[1]
                && !are_numbers(two)
                && two.len() < one.len()
            {
                table.style = if is_ordered(one) {
                    TableStyle::Piles
                } else {
                    TableStyle::Plain
                };
                table.by = Some(1);
            } else {
                let by_second = (!keys[0] && keys[1]) || (roles[1] && !roles[0] && !keys[0]);
                table.by = Some(usize::from(by_second));
                let (key, value) = if by_second { (1, 0) } else { (0, 1) };
                let is_number = keys[key] && !roles[key] && is_ordered(&shape.leaves[value]);
                let is_apart = one.iter().all(|name| !two.contains(name));
                // Bars that come and go would change the size of the picture.
                if !facts[0].is_empty()
                    && is_number
                    && shape.leaves[key].len() > 1
                    && (is_apart || are_numbers(two))
                {
                    table.bars = bars(evidence, &shape.leaves[value]);
                    if !table.bars.is_empty() {
                        table.style = TableStyle::Bars;
                    }
                }
            }
            let by = table.by.expect("it was just set");
            table.keys = ranks(by);
            table.values = ranks(1 - by);
            if matches!(table.style, TableStyle::Plain | TableStyle::Piles)
                && shape.leaves[by].len() <= KEYS
            {
                let is_seen =
                    |name: &FunctorId| facts.iter().flatten().any(|fact| fact[by] == *name);
                let names = evidence.ordered(&shape.leaves[by]);
                table.always = names.into_iter().filter(is_seen).collect();
            }
        }
        _ => {
            table.pile = pile(shape, facts)?;
            table.style = TableStyle::Piles;
            table.values = target(evidence.game, shape).unwrap_or_else(|| ranks(0));
        }
    }
    Some(table)
}

/// The arguments of a shape, if each state has one fact of it and all these have the same constants
/// in different orders. The end that changes more often comes first.
fn pile(shape: &Shape, facts: &Facts) -> Option<Vec<usize>> {
    let sorted = |names: &[FunctorId]| {
        let mut names = names.to_vec();
        names.sort_unstable();
        names
    };
    let all = sorted(facts[0].first()?);
    let is_order =
        |facts: &Vec<Vec<FunctorId>>| matches!(&facts[..], [only] if sorted(only) == all);
    let are_different = all.windows(2).all(|pair| pair[0] != pair[1]);
    if !are_different || !facts.iter().all(is_order) || facts.iter().all(|one| *one == facts[0]) {
        return None;
    }
    let changes = |leaf: usize| {
        let pairs = facts.windows(2);
        pairs
            .filter(|pair| pair[0][0][leaf] != pair[1][0][leaf])
            .count()
    };
    let last = shape.leaves.len() - 1;
    let mut pile: Vec<usize> = (0..=last).collect();
    if changes(0) < changes(last) {
        pile.reverse();
    }
    Some(pile)
}

/// The place of each constant in the fact of a shape that a rule for goals asks for.
fn target(game: &Game, shape: &Shape) -> Option<FxHashMap<FunctorId, usize>> {
    let (goal, holds) = (game.keyword(Keyword::Goal)?, game.keyword(Keyword::True)?);
    let rules = game.rules().rules.iter();
    let mut asked = rules
        .filter(|rule| rule.head.relation == goal)
        .flat_map(|rule| &rule.body);
    asked.find_map(|literal| match literal {
        Literal::Positive(atom) if atom.relation == holds => {
            let fact = &atom.arguments[0];
            let names = fact.arguments(game.terms());
            let names: Option<Vec<FunctorId>> = names
                .iter()
                .map(|name| name.functor(game.terms()))
                .collect();
            let ranks: FxHashMap<FunctorId, usize> = names?.into_iter().zip(0..).collect();
            let is_it = fact.functor(game.terms()) == shape.skeleton[0]
                && ranks.len() == shape.leaves.len();
            is_it.then_some(ranks)
        }
        _ => None,
    })
}

/// The things that can be on others, if each that is not is listed by a fact of its own.
fn blocks(evidence: &Evidence, shape: &Shape, facts: &Facts) -> Vec<FunctorId> {
    let all: FxHashSet<FunctorId> = shape.leaves[0].iter().copied().collect();
    let is_rest = |skeleton: &&Skeleton| {
        let mut states = evidence.states.iter().zip(facts);
        states.all(|(state, on)| {
            let mut listed = state.get(*skeleton).into_iter().flatten();
            let mut found: FxHashSet<FunctorId> = on.iter().map(|fact| fact[0]).collect();
            listed.all(|names| found.insert(names[0])) && found == all
        })
    };
    let mut skeletons = evidence.states[0].keys();
    let is_listed =
        skeletons.any(|skeleton| matches!(skeleton[..], [Some(_), None]) && is_rest(&skeleton));
    match is_listed {
        true => shape.leaves[0].clone(),
        false => Vec::new(),
    }
}

/// Returns whether a rule for legal moves depends on facts of a shape.
fn is_asked(game: &Game, shape: &Shape) -> bool {
    let (legal, holds) = (game.keyword(Keyword::Legal), game.keyword(Keyword::True));
    let rules = game.rules().rules.iter();
    let mut rules = rules.filter(|rule| Some(rule.head.relation) == legal);
    rules.any(|rule| {
        rule.body.iter().any(|literal| match literal {
            Literal::Positive(atom) => {
                Some(atom.relation) == holds
                    && atom.arguments[0].functor(game.terms()) == shape.skeleton[0]
            }
            _ => false,
        })
    })
}

/// Returns whether facts say which thing is on which: each thing is on one other, has at most one
/// thing on it, and there are no cycles.
fn is_stack(evidence: &Evidence, shape: &Shape, facts: &Facts) -> bool {
    let [above, below] = &shape.leaves[..] else {
        return false;
    };
    let is_number = |name: &FunctorId| super::name(evidence.game, *name).parse::<i64>().is_ok();
    let is_overlap = above.iter().any(|name| below.contains(name));
    let is_order = above == below && evidence.chains.sorted(above).is_some();
    if !is_overlap
        || is_order
        || above.iter().all(is_number)
        || facts.iter().all(|facts| facts.len() < 2)
    {
        return false;
    }
    is_key(facts, &[0])
        && is_key(facts, &[1])
        && facts.iter().all(|facts| {
            let on: FxHashMap<FunctorId, FunctorId> = facts.iter().map(|f| (f[0], f[1])).collect();
            facts.iter().all(|fact| {
                let mut at = fact[0];
                (0..facts.len()).any(|_| match on.get(&at) {
                    Some(next) => {
                        at = *next;
                        !on.contains_key(next)
                    }
                    None => true,
                })
            })
        })
}

/// The length of the bar for each constant; empty if only few constants are numbers.
pub(super) fn bars(evidence: &Evidence, names: &[FunctorId]) -> FxHashMap<FunctorId, usize> {
    let ranks = || evidence.ordered(names).into_iter().zip(0..);
    let number = |f: FunctorId| name(evidence.game, f).parse::<usize>().ok();
    let numbers: Option<FxHashMap<FunctorId, usize>> =
        names.iter().map(|f| Some((*f, number(*f)?))).collect();
    let bars = numbers.unwrap_or_else(|| ranks().collect());
    if bars.len() > 3 {
        bars
    } else {
        FxHashMap::default()
    }
}

impl Table {
    /// The argument that is the key, if the table is a picture of things with keys.
    pub fn key(&self) -> Option<usize> {
        match self.style {
            TableStyle::Plain | TableStyle::Turn => None,
            TableStyle::Bars | TableStyle::Piles | TableStyle::Stacks => self.by,
        }
    }

    /// Returns whether the facts are things on top of each other.
    pub fn is_stack(&self) -> bool {
        self.style == TableStyle::Stacks
    }

    /// Returns whether a fact belongs to the table.
    pub fn has(&self, names: &[FunctorId]) -> bool {
        match self.by {
            None => names.iter().all(|name| self.values.contains_key(name)),
            Some(by) => {
                self.keys.contains_key(&names[by]) && self.values.contains_key(&names[1 - by])
            }
        }
    }

    /// The table of a state.
    pub fn draw(&self, game: &Game, facts: &[Vec<FunctorId>]) -> DrawnTable {
        let functors = self.skeleton.iter().flatten().map(|f| name(game, *f));
        let title = functors.fold(String::new(), |text, word| match text.is_empty() {
            true => word,
            false => format!("{text} {word}"),
        });
        let entries = match (self.style, self.by) {
            (TableStyle::Stacks, _) => self.stacks(game, facts),
            (TableStyle::Piles, None) => {
                let pile = |fact: &Vec<FunctorId>| {
                    let values: Vec<FunctorId> = self.pile.iter().map(|leaf| fact[*leaf]).collect();
                    self.entry(game, None, &values)
                };
                facts.iter().map(pile).collect()
            }
            (_, None) => {
                let mut values: Vec<FunctorId> = facts.iter().map(|names| names[0]).collect();
                values.sort_by_key(|value| self.values[value]);
                let entry = self.entry(game, None, &values);
                facts.first().map(|_| entry).into_iter().collect()
            }
            (_, Some(by)) => {
                let mut groups: BTreeMap<usize, (FunctorId, Vec<FunctorId>)> = BTreeMap::new();
                for key in &self.always {
                    groups.insert(self.keys[key], (*key, Vec::new()));
                }
                for names in facts {
                    let group = groups.entry(self.keys[&names[by]]);
                    group
                        .or_insert((names[by], Vec::new()))
                        .1
                        .push(names[1 - by]);
                }
                let groups = groups.into_values().map(|(key, mut values)| {
                    values.sort_by_key(|value| self.values[value]);
                    self.entry(game, Some(key), &values)
                });
                groups.collect()
            }
        };
        let ranks = self
            .values
            .iter()
            .map(|(thing, rank)| (name(game, *thing), *rank));
        DrawnTable {
            name: title.clone(),
            title,
            style: self.style,
            entries,
            ranks: match self.style {
                TableStyle::Piles => ranks.collect(),
                _ => BTreeMap::new(),
            },
            origin: 0,
        }
    }

    fn entry(&self, game: &Game, key: Option<FunctorId>, values: &[FunctorId]) -> DrawnEntry {
        let owner = key.into_iter().chain(values.iter().copied());
        let bar = values
            .first()
            .and_then(|value| self.bars.get(value).copied());
        DrawnEntry {
            key: key.map(|key| name(game, key)).unwrap_or_default(),
            values: values.iter().map(|value| name(game, *value)).collect(),
            bar: bar.filter(|_| self.style == TableStyle::Bars),
            owner: owner
                .into_iter()
                .find_map(|name| self.owners.get(&name).copied()),
        }
    }

    /// Groups things by the base that they are on; the topmost comes first.
    fn stacks(&self, game: &Game, facts: &[Vec<FunctorId>]) -> Vec<DrawnEntry> {
        let above: FxHashMap<FunctorId, FunctorId> =
            facts.iter().map(|names| (names[1], names[0])).collect();
        let placed: FxHashMap<FunctorId, FunctorId> =
            facts.iter().map(|names| (names[0], names[1])).collect();
        let mut roots: Vec<FunctorId> = above.keys().copied().collect();
        roots.extend(&self.blocks);
        roots.retain(|root| !placed.contains_key(root));
        roots.sort_by_key(|root| (self.keys.get(root), *root));
        roots.dedup();
        let roots = roots.into_iter().map(|root| {
            let mut values = Vec::new();
            let mut at = root;
            while let Some(next) = above.get(&at) {
                values.push(*next);
                at = *next;
            }
            values.reverse();
            let is_block = self.blocks.contains(&root);
            values.extend(is_block.then_some(root));
            self.entry(game, (!is_block).then_some(root), &values)
        });
        roots.collect()
    }
}
