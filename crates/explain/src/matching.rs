//! Matches of a rule's body: complete ones, or those that lack least.

use std::ops::ControlFlow;

use super::model::{Bindings, Candidates, Model, Value, bind, value};
use super::{Budget, ExplainError};
use ggp_gdl::program::{Atom, Literal, Term};
use ggp_gdl::terms::{TermId, Terms};

/// A search for matches of one body.
pub(super) struct Matching<'a> {
    pub(super) body: &'a [Literal],
    pub(super) model: &'a mut Model,
    pub(super) terms: &'a mut Terms,
    pub(super) budget: &'a mut Budget,
    /// The cost of a missing literal, by its position in the body. If this is empty,
    /// no literal may be missing.
    pub(super) costs: &'a [u32],
    /// Maximum total cost of the missing literals.
    pub(super) most: u32,
}

/// The state of a search at one node.
#[derive(Clone)]
struct Branch {
    /// Literals that are neither matched nor missing yet.
    open: Vec<usize>,
    missed: Vec<usize>,
    cost: u32,
}

/// A visitor of matches: the bindings, and the positions of missing literals.
type Visit<'v> = &'v mut dyn FnMut(&Bindings, &[usize]) -> ControlFlow<()>;

impl Matching<'_> {
    /// Visits all matches that extend the bindings. A literal whose variables remain
    /// unbound because others are missing counts as matched.
    pub(super) fn run(
        &mut self,
        bindings: &mut [Option<TermId>],
        visit: Visit<'_>,
    ) -> Result<ControlFlow<()>, ExplainError> {
        let branch = Branch {
            open: (0..self.body.len()).collect(),
            missed: Vec::new(),
            cost: 0,
        };
        self.from(branch, bindings, visit)
    }

    fn from(
        &mut self,
        mut branch: Branch,
        bindings: &mut [Option<TermId>],
        visit: Visit<'_>,
    ) -> Result<ControlFlow<()>, ExplainError> {
        self.budget.spend(1)?;
        // Decides tests whose variables are bound.
        for place in std::mem::take(&mut branch.open) {
            let literal = &self.body[place];
            let decided = match literal {
                Literal::Positive(_) => None,
                _ => holds(literal, bindings, self.model, self.terms)?,
            };
            match decided {
                None => branch.open.push(place),
                Some(true) => {}
                Some(false) => {
                    branch.missed.push(place);
                    let literal_cost = self.costs.get(place);
                    branch.cost += literal_cost.copied().unwrap_or(0);
                    if literal_cost.is_none() || branch.cost > self.most {
                        return Ok(ControlFlow::Continue(()));
                    }
                }
            }
        }
        let Some((index, atom, candidates)) = self.next(&branch.open, bindings)? else {
            branch.missed.sort_unstable();
            // A literal assumed to be missing must not hold in the end.
            for &place in &branch.missed {
                if let Literal::Positive(atom) = &self.body[place]
                    && extend(atom, &mut bindings.to_vec(), self.model, self.terms)? != Some(false)
                {
                    return Ok(ControlFlow::Continue(()));
                }
            }
            return Ok(visit(bindings, &branch.missed));
        };
        let place = branch.open.swap_remove(index);
        let mut bound = Vec::new();
        for position in 0..candidates.len() {
            self.budget.spend(1)?;
            let row = self
                .model
                .fact(atom.relation, candidates.get(position))
                .to_vec();
            let fits = atom
                .arguments
                .iter()
                .zip(row)
                .all(|(term, given)| bind(term, given, bindings, &mut bound, self.terms));
            if fits && self.from(branch.clone(), bindings, visit)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            for variable in bound.drain(..) {
                bindings[variable] = None;
            }
        }
        if let Some(literal_cost) = self.costs.get(place)
            && branch.cost + literal_cost <= self.most
        {
            branch.cost += literal_cost;
            branch.missed.push(place);
            return self.from(branch, bindings, visit);
        }
        Ok(ControlFlow::Continue(()))
    }
}

impl<'a> Matching<'a> {
    /// The open literal to match next: the one with the fewest facts, preferring
    /// those whose facts are known without further derivations.
    fn next(
        &mut self,
        open: &[usize],
        bindings: &Bindings,
    ) -> Result<Option<(usize, &'a Atom, Candidates)>, ExplainError> {
        let mut next: Option<(usize, &Atom, Candidates)> = None;
        let mut others = Vec::new();
        for (index, &place) in open.iter().enumerate() {
            let Literal::Positive(atom) = &self.body[place] else {
                continue;
            };
            if let Err(fixed) = self.model.is_ready(atom, bindings, self.terms) {
                others.push((fixed, index, atom));
            } else if let Some(found) = self.model.candidates(atom, bindings, self.terms)?
                && (next.as_ref()).is_none_or(|(.., best)| found.len() < best.len())
            {
                next = Some((index, atom, found));
            }
        }
        others.sort_by_key(|(fixed, index, _)| (std::cmp::Reverse(*fixed), *index));
        for (_, index, atom) in others {
            if next.is_some() {
                break;
            }
            let found = self.model.candidates(atom, bindings, self.terms)?;
            next = found.map(|found| (index, atom, found));
        }
        Ok(next)
    }
}

/// Extends the bindings by the first fact that an atom matches; returns whether there
/// is one, or `None` if that is unknown.
pub(super) fn extend(
    atom: &Atom,
    bindings: &mut Bindings,
    model: &mut Model,
    terms: &mut Terms,
) -> Result<Option<bool>, ExplainError> {
    let Some(candidates) = model.candidates(atom, bindings, terms)? else {
        return Ok(None);
    };
    let found = (0..candidates.len()).any(|position| {
        let row = model.fact(atom.relation, candidates.get(position));
        let mut bound = Vec::new();
        let fits = (atom.arguments.iter().zip(row))
            .all(|(term, given)| bind(term, *given, bindings, &mut bound, terms));
        if !fits {
            bound.into_iter().for_each(|v| bindings[v] = None);
        }
        fits
    });
    Ok(Some(found))
}

/// The truth of a literal; `None` if its variables are not all bound, or if it is
/// unknown.
pub(super) fn holds(
    literal: &Literal,
    bindings: &Bindings,
    model: &mut Model,
    terms: &mut Terms,
) -> Result<Option<bool>, ExplainError> {
    let equal = |left: &Term, right: &Term, terms: &mut Terms| {
        let (left, right) = (value(left, bindings, terms), value(right, bindings, terms));
        match (left, right) {
            (Value::Open, _) | (_, Value::Open) => None,
            (left, right) => Some(left == right && left != Value::TooLarge),
        }
    };
    Ok(match literal {
        Literal::Positive(atom) => fact_holds(atom, bindings, model, terms)?,
        Literal::Negative(atom) => fact_holds(atom, bindings, model, terms)?.map(|holds| !holds),
        Literal::Distinct(left, right, _) => equal(left, right, terms).map(|equal| !equal),
        Literal::Same(left, right, _) => equal(left, right, terms),
        Literal::Any(branches) => {
            let mut any = Some(false);
            for branch in branches {
                let mut all = Some(true);
                for literal in branch {
                    all = match (all, holds(literal, bindings, model, terms)?) {
                        (Some(false), _) | (_, Some(false)) => Some(false),
                        (None, _) | (_, None) => None,
                        _ => Some(true),
                    };
                }
                any = match (any, all) {
                    (Some(true), _) | (_, Some(true)) => Some(true),
                    (None, _) | (_, None) => None,
                    _ => Some(false),
                };
            }
            any
        }
    })
}

fn fact_holds(
    atom: &Atom,
    bindings: &Bindings,
    model: &mut Model,
    terms: &mut Terms,
) -> Result<Option<bool>, ExplainError> {
    let mut row = Vec::with_capacity(atom.arguments.len());
    for term in &atom.arguments {
        match value(term, bindings, terms) {
            Value::Is(id) => row.push(id),
            Value::Open => return Ok(None),
            Value::TooLarge => return Ok(Some(false)),
        }
    }
    model.holds(atom.relation, &row, terms)
}
