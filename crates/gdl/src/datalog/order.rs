//! The order in which the literals of a rule are matched.
//!
//! For bodies of up to ten literals, all orders are compared by dynamic programming
//! over the sets of matched literals; longer ones are ordered greedily. The cost is
//! the estimated number of rows visited.
//!
//! Source: Selinger et al., Access path selection in a relational database management
//! system, 1979.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::program::{Atom, Literal, Rule, RuleSet, Variable};
use crate::terms::TermId;

/// Observed or estimated sizes of relations.
#[derive(Clone, Debug, Default)]
pub(super) struct Estimates(FxHashMap<usize, Estimate>);

impl Estimates {
    /// The size of a relation, which must be known.
    pub(super) fn of(&self, relation: usize) -> &Estimate {
        &self.0[&relation]
    }

    pub(super) fn set(&mut self, relation: usize, estimate: Estimate) {
        self.0.insert(relation, estimate);
    }
}

impl FromIterator<(usize, Estimate)> for Estimates {
    fn from_iter<I: IntoIterator<Item = (usize, Estimate)>>(estimates: I) -> Self {
        Estimates(estimates.into_iter().collect())
    }
}

/// The size of one relation.
#[derive(Clone, Debug, Default)]
pub(super) struct Estimate {
    /// Number of rows, on average.
    pub rows: f64,
    /// Number of different values in each column over all states.
    pub distinct: Vec<f64>,
}

/// Estimated number of rows of a relation about which nothing is known.
pub(super) const UNKNOWN_ROWS: f64 = 20.0;
/// Estimated number of different values in a column about which nothing is known.
pub(super) const UNKNOWN_VALUES: f64 = 5.0;

/// Sizes before any evaluation: relations given by facts have their actual size,
/// others may hold any combination of values. Derived relations are therefore matched
/// late, when many variables are bound.
pub(super) fn guessed(rules: &RuleSet) -> Estimates {
    let mut values: Vec<Vec<FxHashSet<TermId>>> = rules
        .arity
        .iter()
        .map(|&arity| vec![FxHashSet::default(); arity])
        .collect();
    let mut facts = vec![0.0; rules.arity.len()];
    for fact in &rules.facts {
        facts[fact.relation.index()] += 1.0;
        for (seen, value) in values[fact.relation.index()]
            .iter_mut()
            .zip(&fact.arguments)
        {
            seen.insert(*value);
        }
    }
    for rule in &rules.rules {
        facts[rule.head.relation.index()] = 0.0;
    }
    let estimate = |(facts, values): (f64, Vec<FxHashSet<TermId>>)| match facts > 0.0 {
        true => Estimate {
            rows: facts,
            distinct: values.iter().map(|seen| seen.len() as f64).collect(),
        },
        false => Estimate {
            rows: UNKNOWN_VALUES.powi(values.len().min(20) as i32),
            distinct: vec![UNKNOWN_VALUES; values.len()],
        },
    };
    let estimates = facts.into_iter().zip(values).map(estimate);
    estimates.enumerate().collect()
}

/// Maximum length of a body that is ordered exactly.
const MAX_EXACT: usize = 10;
/// Maximum length of a body that is ordered at all; longer ones keep their order.
const MAX_GREEDY: usize = 300;

/// The positions of a rule's positive literals in matching order. `first`, if given,
/// stays first.
pub(super) fn order(rule: &Rule, first: Option<usize>, estimates: &Estimates) -> Vec<usize> {
    let atoms: Vec<(usize, &Atom)> = rule
        .body
        .iter()
        .enumerate()
        .filter_map(|(position, literal)| match literal {
            Literal::Positive(atom) => Some((position, atom)),
            _ => None,
        })
        .collect();
    let first = first.map(|p| {
        let found = atoms.iter().position(|(position, _)| *position == p);
        found.expect("the first literal is positive")
    });
    let weighing = Weighing::new(rule, atoms.iter().map(|(_, atom)| *atom), estimates);
    let order = if atoms.len() <= MAX_EXACT {
        weighing.exact(first)
    } else {
        weighing.greedy(first)
    };
    order.into_iter().map(|i| atoms[i].0).collect()
}

/// Sets of variables of a rule.
struct Sets {
    /// The number of words of each.
    words: usize,
    bits: Vec<u64>,
}

impl Sets {
    fn new(rule: &Rule) -> Self {
        Sets {
            words: rule.variables.len().div_ceil(64).max(1),
            bits: Vec::new(),
        }
    }

    /// Adds a set, empty at first.
    fn push(&mut self) -> &mut [u64] {
        let start = self.bits.len();
        self.bits.resize(start + self.words, 0);
        &mut self.bits[start..]
    }

    fn of(&self, number: usize) -> &[u64] {
        &self.bits[number * self.words..][..self.words]
    }

    fn iter(&self) -> impl Iterator<Item = &[u64]> {
        self.bits.chunks_exact(self.words)
    }
}

fn put(set: &mut [u64], variable: Variable) {
    set[variable.index() / 64] |= 1 << (variable.index() % 64);
}

fn join(set: &mut [u64], more: &[u64]) {
    set.iter_mut()
        .zip(more)
        .for_each(|(word, more)| *word |= more);
}

fn is_subset(set: &[u64], of: &[u64]) -> bool {
    set.iter().zip(of).all(|(word, of)| word & !of == 0)
}

struct Weighing<'a> {
    /// By atom: its variables.
    variables: Sets,
    /// By atom, and column: the variables there.
    columns: Vec<Sets>,
    /// By atom.
    estimates: Vec<&'a Estimate>,
    /// The variables of the other literals, and the share of rows that pass each.
    tests: (Sets, Vec<f64>),
}

impl<'a> Weighing<'a> {
    fn new<'r>(
        rule: &Rule,
        atoms: impl Iterator<Item = &'r Atom>,
        estimates: &'a Estimates,
    ) -> Self {
        let mut weighing = Weighing {
            variables: Sets::new(rule),
            columns: Vec::new(),
            estimates: Vec::new(),
            tests: (Sets::new(rule), Vec::new()),
        };
        for atom in atoms {
            let set = weighing.variables.push();
            atom.for_each_variable(|v, _| put(set, v));
            let mut columns = Sets::new(rule);
            for term in &atom.arguments {
                let set = columns.push();
                term.for_each_variable(&mut |v, _| put(set, v));
            }
            weighing.columns.push(columns);
            weighing.estimates.push(estimates.of(atom.relation.index()));
        }
        for literal in &rule.body {
            let passed = match literal {
                Literal::Positive(_) => continue,
                Literal::Negative(_) => 0.6,
                Literal::Distinct(..) => 0.8,
                Literal::Same(..) => 0.2,
                Literal::Any(_) => 0.6,
            };
            let set = weighing.tests.0.push();
            literal.for_each_variable(&mut |v| put(set, v));
            weighing.tests.1.push(passed);
        }
        weighing
    }

    fn exact(&self, first: Option<usize>) -> Vec<usize> {
        let n = self.estimates.len();
        let words = self.variables.words;
        let bits = Vec::with_capacity(words << n);
        // By set of matched literals: the variables that these bind.
        let mut bound = Sets { words, bits };
        for done in 0usize..1 << n {
            let start = bound.bits.len();
            bound.push();
            if done > 0 {
                let (before, set) = bound.bits.split_at_mut(start);
                set.copy_from_slice(&before[(done & (done - 1)) * words..][..words]);
                join(set, self.variables.of(done.trailing_zeros() as usize));
            }
        }
        // For each set of matched literals: cost so far, rows, last literal.
        let mut best: Vec<Option<(f64, f64, usize)>> = vec![None; 1 << n];
        best[0] = Some((0.0, 1.0, usize::MAX));
        for done in 0..1usize << n {
            let Some((weight, rows, _)) = best[done] else {
                continue;
            };
            for next in 0..n {
                if done & 1 << next != 0 || (done == 0 && first.is_some_and(|f| f != next)) {
                    continue;
                }
                let matched = rows * self.fan_out(next, bound.of(done));
                let after = done | 1 << next;
                let weight = weight + rows + matched;
                if best[after].is_none_or(|(known, ..)| weight < known) {
                    let passed = self.tests_passed(bound.of(done), bound.of(after));
                    best[after] = Some((weight, matched * passed, next));
                }
            }
        }
        let mut order = Vec::with_capacity(n);
        let mut done = (1 << n) - 1;
        while done != 0 {
            let (_, _, last) = best[done].expect("every set with the first literal is reached");
            order.push(last);
            done &= !(1 << last);
        }
        order.reverse();
        order
    }

    fn greedy(&self, first: Option<usize>) -> Vec<usize> {
        let mut order: Vec<usize> = first.into_iter().collect();
        let mut bound = vec![0; self.variables.words];
        let mut rest: Vec<usize> = (0..self.estimates.len())
            .filter(|i| first != Some(*i))
            .collect();
        for &i in &order {
            join(&mut bound, self.variables.of(i));
        }
        if rest.len() > MAX_GREEDY {
            order.append(&mut rest);
        }
        while !rest.is_empty() {
            let mut least = (f64::INFINITY, 0);
            for (place, &i) in rest.iter().enumerate() {
                let fan_out = self.fan_out(i, &bound);
                if fan_out < least.0 {
                    least = (fan_out, place);
                }
            }
            let next = rest.remove(least.1);
            join(&mut bound, self.variables.of(next));
            order.push(next);
        }
        order
    }

    /// Estimated number of rows that match a literal when some variables are bound.
    fn fan_out(&self, literal: usize, bound: &[u64]) -> f64 {
        let estimate = self.estimates[literal];
        let mut rows = estimate.rows;
        for (variables, distinct) in self.columns[literal].iter().zip(&estimate.distinct) {
            if is_subset(variables, bound) {
                rows /= distinct.max(1.0);
            }
        }
        rows
    }

    /// Estimated share of rows that pass the tests whose variables have become bound.
    fn tests_passed(&self, before: &[u64], after: &[u64]) -> f64 {
        let (variables, passed) = &self.tests;
        let tests = variables.iter().zip(passed);
        let now = tests.filter(|(test, _)| is_subset(test, after) && !is_subset(test, before));
        now.map(|(_, passed)| passed).product()
    }
}
