//! Why something does not hold: for each rule that could give it, the match of
//! its body that misses least.

use std::cmp::Ordering;
use std::ops::ControlFlow;

use super::matching::{Matching, extend, holds};
use super::model::{Bindings, Model};
use super::why::fact_of;
use super::{Attempt, ExplainError, Explainer, FactOf, Missing, Nothing, Outcome, State};
use crate::ground::{TermId, Terms};
use crate::program::unify::Unifier;
use crate::program::{Atom, Literal, RelationId, Rule, Term, Variable};

/// What it costs a match to miss a literal: play can mend what changes, only
/// other rules the rest.
const PRICE_CHANGING: u32 = 2;
const PRICE_FIXED: u32 = 3;

/// Facts shown that are nearest to one that is missed.
const NEAREST: usize = 3;

impl Explainer {
    /// Why no fact matches an atom. `names` are those of its variables; `above`
    /// are the atoms being explained.
    pub(super) fn missing(
        &mut self,
        atom: &Atom,
        names: &[Box<str>],
        model: &mut Model,
        above: &mut Vec<Atom>,
    ) -> Result<Missing, ExplainError> {
        let reason = self.nothing(atom, names, model, above)?;
        Ok(Missing {
            atom: atom.clone(),
            names: names.into(),
            reason,
        })
    }

    fn nothing(
        &mut self,
        atom: &Atom,
        names: &[Box<str>],
        model: &mut Model,
        above: &mut Vec<Atom>,
    ) -> Result<Nothing, ExplainError> {
        let is_same =
            |other: &Atom| other.relation == atom.relation && other.arguments == atom.arguments;
        if above.iter().any(is_same) {
            return Ok(Nothing::Above);
        }
        let numbers = self.rules_of(atom.relation);
        if self.is_input(atom.relation) || numbers.is_empty() {
            return Ok(Nothing::Given(self.nearest(atom, model)));
        }
        if above.len() >= self.options.depth {
            return Ok(Nothing::Cut(self.nearest(atom, model)));
        }
        let game = self.game.clone();
        let mut attempts = Vec::new();
        let mut apart = Vec::new();
        for &number in numbers.iter() {
            let rule = &game.rules().rules[number];
            match resolved(rule, atom, names, &mut self.terms) {
                Some(rule) => {
                    let (bindings, missed, cost) = self.nearest_match(&rule, model)?;
                    attempts.push((cost, number, rule, bindings, missed));
                }
                None => apart.push(number),
            }
        }
        attempts.sort_by_key(|(cost, number, ..)| (*cost, *number));
        let found = attempts.len();
        let least = attempts.first().map_or(0, |(cost, ..)| *cost);
        let shown = (attempts.iter())
            .take_while(|(cost, ..)| *cost <= least + self.options.margin)
            .count();
        attempts.truncate(shown.min(self.options.rules).max(1));
        above.push(atom.clone());
        let mut shown = Vec::new();
        for (_, number, rule, bindings, missed) in attempts {
            let outcomes =
                self.outcomes(&rule.body, Some(&missed), &rule, &bindings, model, above)?;
            shown.push(Attempt {
                rule: number,
                names: rule.variables.into(),
                outcomes,
            });
        }
        above.pop();
        Ok(Nothing::Rules {
            worse: found - shown.len(),
            attempts: shown,
            nearest: match found {
                0 => self.nearest(atom, model),
                _ => Vec::new(),
            },
            apart,
        })
    }

    /// The match of a rule's body that misses least, what it misses and what
    /// that costs.
    fn nearest_match(
        &mut self,
        rule: &Rule,
        model: &mut Model,
    ) -> Result<(Box<Bindings>, Vec<usize>, u32), ExplainError> {
        let prices: Vec<u32> = rule.body.iter().map(|l| self.price(l)).collect();
        let total = prices.iter().sum();
        let mut bindings = vec![None; rule.variables.len()];
        self.budget.start();
        for most in 0..=total {
            let mut found = None;
            let mut search = Matching {
                body: &rule.body,
                model,
                terms: &mut self.terms,
                budget: &mut self.budget,
                prices: &prices,
                most,
            };
            bindings.fill(None);
            let outcome = search.run(&mut bindings, &mut |bindings, missed| {
                found = Some((Box::from(bindings), missed.to_vec(), most));
                ControlFlow::Break(())
            });
            match (outcome, found) {
                (Err(ExplainError::Large(_)), _) => break,
                (Err(error), _) => return Err(error),
                (Ok(_), Some(found)) => return Ok(found),
                (Ok(_), None) => {}
            }
        }
        Ok(self.first_match(rule, &prices, model))
    }

    /// A match of a body by the first fact that fits, literal by literal.
    fn first_match(
        &mut self,
        rule: &Rule,
        prices: &[u32],
        model: &mut Model,
    ) -> (Box<Bindings>, Vec<usize>, u32) {
        let mut bindings = vec![None; rule.variables.len()];
        let mut missed = Vec::new();
        for (place, literal) in rule.body.iter().enumerate() {
            let Literal::Positive(atom) = literal else {
                continue;
            };
            let fits = extend(atom, &mut bindings, model, &mut self.terms);
            if !fits {
                missed.push(place);
            }
        }
        for (place, literal) in rule.body.iter().enumerate() {
            if !matches!(literal, Literal::Positive(_))
                && holds(literal, &bindings, model, &mut self.terms) == Some(false)
            {
                missed.push(place);
            }
        }
        missed.sort_unstable();
        let cost = missed.iter().map(|&place| prices[place]).sum();
        (bindings.into(), missed, cost)
    }

    fn price(&self, literal: &Literal) -> u32 {
        let mut changes = false;
        literal.for_each_atom(&mut |atom, _| changes |= self.changes(atom.relation));
        match changes {
            true => PRICE_CHANGING,
            false => PRICE_FIXED,
        }
    }

    /// What became of each literal of a body or branch; `missed` are those that
    /// a match went without, or none if that is to be found out.
    fn outcomes(
        &mut self,
        body: &[Literal],
        missed: Option<&[usize]>,
        rule: &Rule,
        bindings: &Bindings,
        model: &mut Model,
        above: &mut Vec<Atom>,
    ) -> Result<Vec<Outcome>, ExplainError> {
        let mut outcomes = Vec::new();
        for (place, literal) in body.iter().enumerate() {
            let holding = holds(literal, bindings, model, &mut self.terms);
            let failed = match missed {
                Some(missed) => missed.contains(&place),
                None => holding == Some(false),
            };
            let shown = substituted(literal, bindings, &mut self.terms);
            let state = match (failed, holding) {
                (false, Some(true)) => State::Holds,
                (false, _) => State::Open,
                (true, _) => match &shown {
                    Literal::Positive(atom) => {
                        let missing = self.missing(atom, &rule.variables, model, above)?;
                        State::Missing(Box::new(missing))
                    }
                    Literal::Negative(atom) => {
                        let fact = fact_of(atom, bindings, &mut self.terms);
                        State::Unwanted(self.derive(&fact, model)?)
                    }
                    Literal::Distinct(..) | Literal::Same(..) => State::Fails,
                    Literal::Any(branches) => {
                        let mut found = Vec::new();
                        for branch in branches {
                            found.push(self.outcomes(branch, None, rule, bindings, model, above)?);
                        }
                        State::NoBranch(found)
                    }
                },
            };
            outcomes.push(Outcome {
                literal: shown,
                state,
            });
        }
        Ok(outcomes)
    }

    /// The facts of an atom's relation that differ from it in the least.
    fn nearest(&mut self, atom: &Atom, model: &mut Model) -> Vec<FactOf> {
        let mut found: Vec<(u32, FactOf)> = Vec::new();
        let most: u32 = atom.arguments.iter().map(|t| size(t, &self.terms)).sum();
        for number in 0..model.count(atom.relation) as u32 {
            let row: Vec<TermId> = model.fact(atom.relation, number).to_vec();
            let distance = |(term, given): (&Term, &TermId)| distance(term, *given, &self.terms);
            let far: u32 = atom.arguments.iter().zip(&row).map(distance).sum();
            if far < most.max(2) {
                let fact = FactOf {
                    relation: atom.relation,
                    arguments: row.into(),
                };
                found.push((far, fact));
            }
        }
        found.sort_by(|(l, left), (r, right)| {
            l.cmp(r).then_with(|| {
                let pairs = left.arguments.iter().zip(&right.arguments);
                pairs
                    .map(|(l, r)| self.game.compare_terms(&self.terms, *l, *r))
                    .find(|order| order.is_ne())
                    .unwrap_or(Ordering::Equal)
            })
        });
        let least = found.first().map_or(0, |(far, _)| *far);
        found.retain(|(far, _)| *far == least);
        found.truncate(NEAREST);
        found.into_iter().map(|(_, fact)| fact).collect()
    }

    /// Whether a relation depends on the state or the moves.
    fn changes(&self, relation: RelationId) -> bool {
        self.changing[relation.index()]
    }
}

/// Number of names in a term; variables count for none.
fn size(term: &Term, terms: &Terms) -> u32 {
    match term {
        Term::Variable(_) => 0,
        term => {
            1 + (term.arguments(terms).iter())
                .map(|t| size(t, terms))
                .sum::<u32>()
        }
    }
}

/// Number of places at which a term and a value differ; a variable differs from
/// nothing.
fn distance(term: &Term, given: TermId, terms: &Terms) -> u32 {
    match term {
        Term::Variable(_) => 0,
        Term::Ground(id) if *id == given => 0,
        term if term.functor(terms) == Some(terms.functor(given)) => {
            let pairs = term.arguments(terms);
            (pairs.iter().zip(terms.arguments(given)))
                .map(|(term, given)| distance(term, *given, terms))
                .sum()
        }
        term => size(term, terms),
    }
}

/// A rule narrowed to what can give an atom; nothing if it gives no such fact.
/// The atom's variables come first.
fn resolved(rule: &Rule, atom: &Atom, names: &[Box<str>], terms: &mut Terms) -> Option<Rule> {
    let offset = names.len();
    let mut unifier = Unifier::new(offset + rule.variables.len(), terms);
    for (left, right) in atom.arguments.iter().zip(&rule.head.arguments) {
        // The rule's own names are kept where a variable meets another.
        if !unifier.unify((left, 0), (right, offset)) {
            return None;
        }
    }
    let body = rule.body.iter().map(|l| unifier.literal(l, offset));
    Some(Rule {
        body: body.collect::<Option<Vec<_>>>()?,
        head: unifier.atom(&rule.head, offset)?,
        variables: names.iter().chain(&rule.variables).cloned().collect(),
        span: rule.span,
    })
}

/// A literal with its bound variables replaced.
fn substituted(literal: &Literal, bindings: &Bindings, terms: &mut Terms) -> Literal {
    let mut unifier = Unifier::new(bindings.len(), terms);
    for (variable, value) in bindings.iter().enumerate() {
        if let Some(value) = value {
            let variable = Term::Variable(Variable::new(variable));
            unifier.unify((&variable, 0), (&Term::Ground(*value), 0));
        }
    }
    unifier
        .literal(literal, 0)
        .unwrap_or_else(|| literal.clone())
}
