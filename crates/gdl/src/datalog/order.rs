//! The order in which the literals of a rule are matched.
//!
//! For bodies of up to ten literals, all orders are compared by dynamic programming
//! over the sets of matched literals; longer ones are ordered greedily. The cost is
//! the estimated number of rows visited.
//!
//! Source: Selinger et al., Access path selection in a relational database management
//! system, 1979.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::program::{Atom, Literal, Rule, RuleSet, Term};
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
    let weighing = Weighing {
        rule,
        estimates: (atoms.iter())
            .map(|(_, atom)| estimates.of(atom.relation.index()))
            .collect(),
        atoms: atoms.iter().map(|(_, atom)| *atom).collect(),
    };
    let order = if atoms.len() <= MAX_EXACT {
        weighing.exact(first)
    } else {
        weighing.greedy(first)
    };
    order.into_iter().map(|i| atoms[i].0).collect()
}

struct Weighing<'a> {
    rule: &'a Rule,
    atoms: Vec<&'a Atom>,
    /// By atom.
    estimates: Vec<&'a Estimate>,
}

impl Weighing<'_> {
    fn exact(&self, first: Option<usize>) -> Vec<usize> {
        let n = self.atoms.len();
        // For each set of matched literals: cost so far, rows, last literal.
        let mut best: Vec<Option<(f64, f64, usize)>> = vec![None; 1 << n];
        best[0] = Some((0.0, 1.0, usize::MAX));
        for done in 0..1usize << n {
            let Some((weight, rows, _)) = best[done] else {
                continue;
            };
            let bound = self.bound_by(done);
            for next in 0..n {
                if done & 1 << next != 0 || (done == 0 && first.is_some_and(|f| f != next)) {
                    continue;
                }
                let matched = rows * self.fan_out(next, &bound);
                let after = done | 1 << next;
                let rows_after = matched * self.tests_passed(&bound, &self.bound_by(after));
                let weight = weight + rows + matched;
                if best[after].is_none_or(|(known, ..)| weight < known) {
                    best[after] = Some((weight, rows_after, next));
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
        let mut bound = vec![false; self.rule.variables.len()];
        let mut rest: Vec<usize> = (0..self.atoms.len())
            .filter(|i| first != Some(*i))
            .collect();
        for &i in &order {
            self.atoms[i].for_each_variable(|v, _| bound[v.index()] = true);
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
            self.atoms[next].for_each_variable(|v, _| bound[v.index()] = true);
            order.push(next);
        }
        order
    }

    fn bound_by(&self, done: usize) -> Vec<bool> {
        let mut bound = vec![false; self.rule.variables.len()];
        for (i, atom) in self.atoms.iter().enumerate() {
            if done & 1 << i != 0 {
                atom.for_each_variable(|v, _| bound[v.index()] = true);
            }
        }
        bound
    }

    /// Estimated number of rows that match a literal when some variables are bound.
    fn fan_out(&self, literal: usize, bound: &[bool]) -> f64 {
        let atom = self.atoms[literal];
        let estimate = self.estimates[literal];
        let mut rows = estimate.rows;
        for (column, term) in atom.arguments.iter().enumerate() {
            if is_bound(term, bound) {
                rows /= estimate.distinct[column].max(1.0);
            }
        }
        rows
    }

    /// Estimated share of rows that pass the tests whose variables have become bound.
    fn tests_passed(&self, before: &[bool], after: &[bool]) -> f64 {
        let mut share = 1.0;
        for literal in &self.rule.body {
            let passed = match literal {
                Literal::Positive(_) => continue,
                Literal::Negative(_) => 0.6,
                Literal::Distinct(..) => 0.8,
                Literal::Same(..) => 0.2,
                Literal::Any(_) => 0.6,
            };
            let (mut early, mut now) = (true, true);
            literal.for_each_variable(&mut |v| {
                early &= before[v.index()];
                now &= after[v.index()];
            });
            if now && !early {
                share *= passed;
            }
        }
        share
    }
}

fn is_bound(term: &Term, bound: &[bool]) -> bool {
    let mut all = true;
    term.for_each_variable(&mut |v, _| all &= bound[v.index()]);
    all
}
