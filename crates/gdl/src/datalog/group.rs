//! Groups of rules that are evaluated together, and the plans to run for new rows.

use rustc_hash::FxHashMap;

use super::plan::Plan;
use super::relation::Relation;
use crate::program::{Atom, RuleSet, Term};
use crate::terms::TermId;

/// Rules that are evaluated together.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub rules: Vec<usize>,
    pub recursive: bool,
    pub plans: Vec<Plan>,
    /// For recursive groups: plans for new rows of one head each.
    pub deltas: Vec<Plan>,
    /// Indices into `plans` of the plans without a delta plan.
    pub reruns: Vec<usize>,
    /// By head: the indices into `deltas` of the plans for its new rows.
    pub deltas_of: Vec<Deltas>,
    /// Relations that the group derives, ascending.
    pub heads: Vec<usize>,
    /// The earlier groups that derive what its rules use.
    pub uses: Vec<usize>,
}

impl Group {
    pub fn new(rules: Vec<usize>, recursive: bool, set: &RuleSet) -> Self {
        let mut heads: Vec<usize> = rules
            .iter()
            .map(|&rule| set.rules[rule].head.relation.index())
            .collect();
        heads.sort_unstable();
        heads.dedup();
        Group {
            rules,
            recursive,
            plans: Vec::new(),
            deltas: Vec::new(),
            reruns: Vec::new(),
            deltas_of: vec![Deltas::default(); if recursive { heads.len() } else { 0 }],
            heads,
            uses: Vec::new(),
        }
    }
}

/// With fewer constants than this, all plans look at all new rows.
const FEW: usize = 8;

/// The plans for new rows of one head.
#[derive(Clone, Debug, Default)]
pub(super) struct Deltas {
    /// Those that any row may match.
    any: Vec<usize>,
    /// By column and constant: those that match only rows with the constant there.
    with: FxHashMap<(u16, TermId), Vec<usize>>,
    /// The columns of these constants, ascending.
    columns: Vec<u16>,
}

impl Deltas {
    /// Adds a plan that reads the new rows as `atom`.
    pub fn add(&mut self, atom: &Atom, plan: usize) {
        let constant = |(column, term): (usize, &Term)| match term {
            Term::Ground(value) => Some((column as u16, *value)),
            _ => None,
        };
        let Some(key) = atom.arguments.iter().enumerate().find_map(constant) else {
            self.any.push(plan);
            return;
        };
        self.with.entry(key).or_default().push(plan);
        if let Err(place) = self.columns.binary_search(&key.0) {
            self.columns.insert(place, key.0);
        }
    }

    /// All plans.
    pub fn all(&self) -> impl Iterator<Item = usize> {
        let with = self.with.values().flatten();
        self.any.iter().chain(with).copied()
    }

    /// Adds to `found` the plans that can match one of these new rows, each with a range of
    /// rows that has all those that it can match.
    pub fn matching(&self, rows: &Relation, new: (u32, u32), found: &mut Vec<(usize, (u32, u32))>) {
        found.extend(self.any.iter().map(|&plan| (plan, new)));
        if self.with.len() < FEW {
            found.extend(self.with.values().flatten().map(|&plan| (plan, new)));
            return;
        }
        let mut ranges: FxHashMap<(u16, TermId), (u32, u32)> = FxHashMap::default();
        for number in new.0..new.1 {
            let row = rows.row(number);
            for &column in &self.columns {
                let key = (column, row[usize::from(column)]);
                if self.with.contains_key(&key) {
                    ranges.entry(key).or_insert((number, number)).1 = number + 1;
                }
            }
        }
        for (key, range) in ranges {
            found.extend(self.with[&key].iter().map(|&plan| (plan, range)));
        }
    }
}
