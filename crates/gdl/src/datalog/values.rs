//! The values that the columns of relations may have.
//!
//! In: a program. Out: for each column of a relation, a set that contains all its values, by
//! looking at each column by itself: a variable has the values that all columns with it in a
//! body allow. A column whose values are not bounded in this way is unknown.

use rustc_hash::FxHashSet;

use crate::program::{Literal, RelationId, Rule, RuleSet, Term, Variable};
use crate::terms::TermId;

/// The most values of a column that is known.
const MOST_VALUES: usize = 1_000;
/// The most values that are looked at before all columns count as unknown.
const MOST_WORK: usize = 3_000_000;

/// The values of columns. Unknown columns have `None`.
#[derive(Clone, Debug)]
pub struct ColumnValues {
    /// By relation and column.
    columns: Vec<Vec<Option<FxHashSet<TermId>>>>,
}

impl ColumnValues {
    /// Finds the values of all columns. Relations without rules have the rows of their facts
    /// only.
    pub fn of(rules: &RuleSet) -> ColumnValues {
        let mut values = ColumnValues {
            columns: rules
                .arity
                .iter()
                .map(|&arity| vec![Some(FxHashSet::default()); arity])
                .collect(),
        };
        let mut users: Vec<Vec<usize>> = vec![Vec::new(); rules.arity.len()];
        for (number, rule) in rules.rules.iter().enumerate() {
            for literal in &rule.body {
                if let Literal::Positive(atom) = literal {
                    users[atom.relation.index()].push(number);
                }
            }
        }
        for fact in &rules.facts {
            for (column, value) in fact.arguments.iter().enumerate() {
                values.add(fact.relation, column, [*value]);
            }
        }
        let mut work = 0;
        let mut is_open = vec![true; rules.rules.len()];
        let mut open: Vec<usize> = (0..rules.rules.len()).rev().collect();
        while let Some(number) = open.pop() {
            is_open[number] = false;
            let rule = &rules.rules[number];
            if !values.apply(rule, &mut work) {
                continue;
            }
            if work > MOST_WORK {
                values
                    .columns
                    .iter_mut()
                    .flatten()
                    .for_each(|column| *column = None);
                return values;
            }
            for &user in &users[rule.head.relation.index()] {
                if !std::mem::replace(&mut is_open[user], true) {
                    open.push(user);
                }
            }
        }
        values
    }

    /// The values of a column, if they are known.
    pub fn get(&self, relation: RelationId, column: usize) -> Option<&FxHashSet<TermId>> {
        self.columns[relation.index()][column].as_ref()
    }

    /// The values that a variable of a rule may have, if they are known.
    pub fn of_variable(&self, body: &[Literal], variable: Variable) -> Option<FxHashSet<TermId>> {
        let mut allowed: Option<FxHashSet<TermId>> = None;
        for literal in body {
            let Literal::Positive(atom) = literal else {
                continue;
            };
            for (column, term) in atom.arguments.iter().enumerate() {
                if *term != Term::Variable(variable) {
                    continue;
                }
                if let Some(values) = self.get(atom.relation, column) {
                    match &mut allowed {
                        None => allowed = Some(values.clone()),
                        Some(allowed) => allowed.retain(|value| values.contains(value)),
                    }
                }
            }
        }
        allowed
    }

    /// Adds the values of a rule's head. Returns whether there are new ones.
    fn apply(&mut self, rule: &Rule, work: &mut usize) -> bool {
        let is_possible = rule.body.iter().all(|literal| match literal {
            Literal::Positive(atom) => self.columns[atom.relation.index()]
                .iter()
                .all(|values| values.as_ref().is_none_or(|values| !values.is_empty())),
            _ => true,
        });
        if !is_possible {
            return false;
        }
        let mut is_new = false;
        for (column, term) in rule.head.arguments.iter().enumerate() {
            if self.get(rule.head.relation, column).is_none() {
                continue;
            }
            is_new |= match term {
                Term::Ground(value) => self.add(rule.head.relation, column, [*value]),
                Term::Variable(variable) => match self.of_variable(&rule.body, *variable) {
                    Some(values) => {
                        *work += values.len() + rule.body.len();
                        self.add(rule.head.relation, column, values)
                    }
                    None => self.forget(rule.head.relation, column),
                },
                Term::Apply(..) => self.forget(rule.head.relation, column),
            };
        }
        is_new
    }

    fn add(
        &mut self,
        relation: RelationId,
        column: usize,
        more: impl IntoIterator<Item = TermId>,
    ) -> bool {
        let place = &mut self.columns[relation.index()][column];
        let Some(values) = place else { return false };
        let before = values.len();
        values.extend(more);
        let is_new = values.len() > before;
        if values.len() > MOST_VALUES {
            *place = None;
        }
        is_new
    }

    fn forget(&mut self, relation: RelationId, column: usize) -> bool {
        self.columns[relation.index()][column] = None;
        true
    }
}
