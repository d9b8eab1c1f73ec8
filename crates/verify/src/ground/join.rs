//! Matches of rule bodies among rows.

use super::{Grounder, ROWS_AN_INSTANCE, TooLarge};
use crate::rows::{Bindings, unify_all};
use ggp_gdl::program::{Atom, Literal, RelationId, Rule, Term, Variable};
use ggp_gdl::terms::TermId;

/// One step of a match: a query of a relation once some variables are known.
struct Step {
    index: usize,
    relation: RelationId,
    patterns: Vec<Term>,
    key: Vec<Variable>,
    fresh: Vec<Variable>,
    /// The literals that can be tested after the step.
    tests: Vec<usize>,
}

/// An order in which the body of a rule is matched.
pub(crate) struct Plan {
    /// The tests before the first step.
    tests: Vec<usize>,
    steps: Vec<Step>,
}

impl Grounder<'_> {
    /// The order: the next literal has about the fewest rows for the known variables.
    pub(crate) fn plan(&mut self, rule: &Rule, given: Option<usize>) -> Plan {
        let mut known = vec![false; rule.variables.len()];
        let mut left: Vec<usize> = (0..rule.body.len())
            .filter(|&at| Some(at) != given)
            .collect();
        if let Some(Literal::Positive(atom)) = given.map(|at| &rule.body[at]) {
            atom.for_each_variable(|variable, _| known[variable.index()] = true);
        }
        let tests = self.tests(rule, &mut left, &known);
        let mut steps = Vec::new();
        loop {
            let positive =
                left.iter()
                    .enumerate()
                    .filter_map(|(at, &literal)| match &rule.body[literal] {
                        Literal::Positive(atom) => Some((at, atom)),
                        _ => None,
                    });
            let cost = |atom: &Atom| {
                let (mut all, mut open) = (1.0, 0.0);
                atom.for_each_variable(|variable, _| {
                    all += 1.0;
                    open += f64::from(u8::from(!known[variable.index()]));
                });
                let relation = atom.relation.index();
                // The final size of a growing relation is unknown.
                let rows = self.rows[relation].len().max(match self.moving[relation] {
                    true => 100,
                    false => 1,
                });
                (rows as f64).powf(open / all)
            };
            let least = positive.min_by(|a, b| cost(a.1).total_cmp(&cost(b.1)));
            let Some((at, atom)) = least else { break };
            let (mut key, mut fresh) = (Vec::new(), Vec::new());
            atom.for_each_variable(|variable, _| {
                let list = match known[variable.index()] {
                    true => &mut key,
                    false => &mut fresh,
                };
                if !list.contains(&variable) {
                    list.push(variable);
                }
            });
            fresh
                .iter()
                .for_each(|variable| known[variable.index()] = true);
            left.remove(at);
            let tests = self.tests(rule, &mut left, &known);
            steps.push(Step {
                index: self.indexes.index(atom.relation, &atom.arguments, &key),
                relation: atom.relation,
                patterns: atom.arguments.clone(),
                key,
                fresh,
                tests,
            });
        }
        debug_assert!(left.is_empty(), "a safe rule binds all its variables");
        Plan { tests, steps }
    }

    /// Removes and returns the tests whose variables are all known.
    fn tests(&self, rule: &Rule, left: &mut Vec<usize>, known: &[bool]) -> Vec<usize> {
        let is_ready = |&at: &usize| {
            let mut ready = !matches!(rule.body[at], Literal::Positive(_));
            rule.body[at].for_each_variable(&mut |variable| ready &= known[variable.index()]);
            ready
        };
        let ready = left.iter().copied().filter(is_ready).collect();
        left.retain(|at| !is_ready(at));
        ready
    }

    /// The heads of all matches.
    pub(crate) fn heads(
        &mut self,
        rule: &Rule,
        plan: &Plan,
        bindings: &mut Bindings,
    ) -> Result<Vec<Vec<TermId>>, TooLarge> {
        let mut heads = Vec::new();
        self.matches(rule, plan, 0, bindings, &mut |grounder, bindings| {
            heads.push(grounder.row(&rule.head, bindings)?);
            Ok(())
        })?;
        Ok(heads)
    }

    pub(crate) fn matches(
        &mut self,
        rule: &Rule,
        plan: &Plan,
        depth: usize,
        bindings: &mut Bindings,
        found: &mut dyn FnMut(&mut Self, &Bindings) -> Result<(), TooLarge>,
    ) -> Result<(), TooLarge> {
        let tests = match depth {
            0 => &plan.tests,
            _ => &plan.steps[depth - 1].tests,
        };
        for &test in tests {
            if !self.holds(&rule.body[test], bindings)? {
                return Ok(());
            }
        }
        let Some(step) = plan.steps.get(depth) else {
            return found(self, bindings);
        };
        let key: Vec<TermId> = (step.key.iter())
            .map(|known| bindings[known.index()].expect("it is known by now"))
            .collect();
        let rows = self.indexes.rows(step.index, &key, &self.rows, &self.terms);
        let rows = rows.to_vec();
        for row in rows {
            self.work += 1;
            if self.work.is_multiple_of(4096) && self.limits.is_over() {
                return Err(TooLarge::Interrupted);
            }
            if self.work > self.limits.instances as u64 * ROWS_AN_INSTANCE {
                return Err(TooLarge::Limit("rows"));
            }
            step.fresh
                .iter()
                .for_each(|variable| bindings[variable.index()] = None);
            let row = self.rows[step.relation.index()].row(row as usize);
            if unify_all(&step.patterns, row, &self.terms, bindings) {
                self.matches(rule, plan, depth + 1, bindings, found)?;
            }
        }
        Ok(())
    }

    /// Whether a literal without variables may hold.
    pub(crate) fn holds(
        &mut self,
        literal: &Literal,
        bindings: &Bindings,
    ) -> Result<bool, TooLarge> {
        Ok(match literal {
            Literal::Positive(atom) | Literal::Negative(atom) => {
                let row = self.row(atom, bindings)?;
                let relation = atom.relation.index();
                let wanted = matches!(literal, Literal::Positive(_));
                self.moving[relation] || self.rows[relation].find(&row).is_some() == wanted
            }
            Literal::Distinct(left, right, _) => {
                self.value(left, bindings)? != self.value(right, bindings)?
            }
            Literal::Same(left, right, _) => {
                self.value(left, bindings)? == self.value(right, bindings)?
            }
            Literal::Any(branches) => {
                for branch in branches {
                    let mut all = true;
                    for literal in branch {
                        all = all && self.holds(literal, bindings)?;
                    }
                    if all {
                        return Ok(true);
                    }
                }
                false
            }
        })
    }

    pub(crate) fn row(
        &mut self,
        atom: &Atom,
        bindings: &Bindings,
    ) -> Result<Vec<TermId>, TooLarge> {
        let arguments = atom.arguments.iter();
        arguments.map(|term| self.value(term, bindings)).collect()
    }

    fn value(&mut self, term: &Term, bindings: &Bindings) -> Result<TermId, TooLarge> {
        match term {
            Term::Ground(id) => Ok(*id),
            Term::Variable(variable) => Ok(bindings[variable.index()].expect("it is bound")),
            Term::Apply(functor, arguments) => {
                let mut values = Vec::with_capacity(arguments.len());
                for argument in arguments {
                    values.push(self.value(argument, bindings)?);
                }
                Ok(self.terms.intern(*functor, &values)?)
            }
        }
    }
}
