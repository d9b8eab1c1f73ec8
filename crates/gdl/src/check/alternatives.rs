//! Expansion of bodies with `or` into bodies without.
//!
//! A disjunction whose variables are all bound outside it is kept as one test; the
//! others are expanded, with one body for each combination of alternatives.

use ggp_stop::Stop;

use rustc_hash::FxHashSet;

use crate::program::{Literal, Variable};

/// A body in negation normal form.
#[derive(Clone, Debug)]
pub enum Formula {
    /// One condition.
    Literal(Literal),
    /// A conjunction.
    And(Vec<Formula>),
    /// A disjunction.
    Or(Vec<Formula>),
}

/// Maximum number of literals and alternatives copied to expand one rule.
const MAX_COPIED: usize = 1_000_000;

/// The bodies that a rule with this body expands to, at most `limit`. The result is
/// empty if the formula is false; it contains one empty body if it is true.
///
/// # Errors
///
/// The limit, if there are more bodies or `stop` is over.
pub fn bodies(formula: Formula, limit: usize, stop: &Stop) -> Result<Vec<Vec<Literal>>, usize> {
    let is_stopped = || stop.is_over();
    let mut done = Vec::new();
    let mut open = vec![flatten(vec![formula])];
    let mut copied = 0;
    while let Some((literals, mut choices)) = open.pop() {
        copied += literals.len() + choices.iter().map(Vec::len).sum::<usize>();
        if open.len() + done.len() > limit || copied > MAX_COPIED || is_stopped() {
            return Err(limit);
        }
        let bound = bound_variables(&literals);
        let free = choices.iter().position(|choice| {
            let mut free = false;
            for_each_variable(choice, &mut |v| free |= !bound.contains(&v));
            free
        });
        match free {
            Some(index) => {
                let choice = choices.swap_remove(index);
                // Pushed in reverse, so that rules are produced in the order of the
                // text.
                for branch in choice.into_iter().rev() {
                    let (more, inner) = flatten(vec![branch]);
                    let literals = literals.iter().cloned().chain(more).collect();
                    let choices = choices.iter().cloned().chain(inner).collect();
                    open.push((literals, choices));
                }
            }
            None => {
                let mut body = literals;
                let mut possible = true;
                for choice in choices {
                    let mut branches = Vec::new();
                    for branch in choice {
                        if is_stopped() {
                            return Err(limit);
                        }
                        branches.extend(branches_of(branch, limit)?);
                        if branches.len() > limit {
                            return Err(limit);
                        }
                    }
                    possible &= !branches.is_empty();
                    if branches.iter().all(|branch| !branch.is_empty()) {
                        body.push(Literal::Any(branches));
                    }
                }
                if possible {
                    done.push(body);
                }
            }
        }
    }
    Ok(done)
}

/// The literals and the disjunctions of a conjunction.
fn flatten(formulas: Vec<Formula>) -> (Vec<Literal>, Vec<Vec<Formula>>) {
    let mut literals = Vec::new();
    let mut choices = Vec::new();
    let mut rest = formulas;
    rest.reverse();
    while let Some(formula) = rest.pop() {
        match formula {
            Formula::Literal(literal) => literals.push(literal),
            Formula::And(members) => rest.extend(members.into_iter().rev()),
            Formula::Or(mut members) if members.len() == 1 => rest.extend(members.pop()),
            Formula::Or(members) => choices.push(members),
        }
    }
    (literals, choices)
}

/// A formula as a disjunction of conjunctions of literals.
fn branches_of(formula: Formula, limit: usize) -> Result<Vec<Vec<Literal>>, usize> {
    let (literals, choices) = flatten(vec![formula]);
    let mut branches = vec![literals];
    for choice in choices {
        let mut options = Vec::new();
        for member in choice {
            options.extend(branches_of(member, limit)?);
        }
        if branches.len().saturating_mul(options.len()) > limit {
            return Err(limit);
        }
        branches = branches
            .iter()
            .flat_map(|branch| {
                options
                    .iter()
                    .map(|option| branch.iter().chain(option).cloned().collect())
            })
            .collect();
    }
    Ok(branches)
}

fn bound_variables(literals: &[Literal]) -> FxHashSet<Variable> {
    let mut bound = FxHashSet::default();
    for literal in literals {
        if let Literal::Positive(atom) = literal {
            atom.for_each_variable(|variable, _| {
                bound.insert(variable);
            });
        }
    }
    bound
}

fn for_each_variable(choice: &[Formula], visit: &mut impl FnMut(Variable)) {
    for formula in choice {
        match formula {
            Formula::Literal(literal) => literal.for_each_variable(visit),
            Formula::And(members) | Formula::Or(members) => for_each_variable(members, visit),
        }
    }
}
