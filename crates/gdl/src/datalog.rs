//! Bottom-up evaluation of stratified logic programs with function terms.
//!
//! In: a [`RuleSet`], the relations given as inputs, and the relations queried. Out:
//! an [`Evaluator`] that holds the least model, stratum by stratum, as far as queries
//! needed it. Nothing here knows what `legal` or `next` mean; the state machine
//! queries relations by id.
//!
//! Inputs have two layers, of which the second changes more often. A group of rules
//! belongs to the outermost layer that it depends on: rules that depend on no input
//! are evaluated once, and rules that depend only on the first layer are not
//! evaluated again when the second changes.
//!
//! A derivation could be recorded where `run` inserts a result: the rule and the rows
//! chosen by its steps are known there.

mod compile;
mod demand;
mod demanded;
mod group;
mod lanes;
mod order;
mod plan;
mod relation;
mod run;
mod values;

use ggp_stop::{Reason, Stop};
use std::sync::Arc;

use crate::program::{RelationId, Rule};
use crate::span::Span;
use crate::terms::{TermId, TermOverflow, Terms};
use compile::Program;
pub use compile::{OnDemand, Sizes, check_stop, on_demand};
pub use demanded::Part;
use relation::Relation;
pub use values::ColumnValues;

#[allow(unused_imports)] // For the module comment.
use crate::program::RuleSet;

/// The layer of an input, by how often it changes.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Layer {
    /// Changes seldom; relations that depend on it alone survive changes of the
    /// second layer.
    First = 1,
    /// Changes often. It is emptied whenever the first layer is.
    Second = 2,
}

impl From<Reason> for Failure {
    fn from(reason: Reason) -> Self {
        match reason {
            Reason::Late => Failure::Late,
            _ => Failure::Interrupted,
        }
    }
}

/// A set of relations that are queried together.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Query(usize);

/// Limits of an evaluation.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// Maximum number of facts derived from one content of the inputs.
    pub facts: usize,
    /// Maximum number of rows visited for one content of the inputs.
    pub work: u64,
    /// When the evaluation must end.
    pub stop: Stop,
    /// Stops early if the progress of a rule predicts this many times the allowed
    /// number of facts or rows. The prediction may be wrong.
    pub foresight: Option<f64>,
    /// Relations whose facts have a limit of their own.
    pub apart: Option<Apart>,
}

/// Relations whose facts are counted apart from those of others.
#[derive(Clone, Debug)]
pub struct Apart {
    /// By relation: true if it is one of them. Those after the end are not.
    pub relations: Arc<[bool]>,
    /// Maximum number of facts of all of them together.
    pub facts: usize,
}

/// The memory of rows.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct RowMemory {
    /// The number of rows.
    pub rows: usize,
    /// The bytes that they and their indexes keep, with room for more.
    pub bytes: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds {
            facts: 5_000_000,
            work: 1_000_000_000,
            stop: Stop::new(),
            foresight: None,
            apart: None,
        }
    }
}

impl Bounds {
    /// The limit on the facts of a relation, and whether it is a limit apart.
    fn of(&self, relation: usize) -> (usize, bool) {
        match &self.apart {
            Some(apart) if apart.relations.get(relation) == Some(&true) => (apart.facts, true),
            _ => (self.facts, false),
        }
    }
}

/// The reason why an evaluation stopped.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// The limit on facts was exceeded; the number is the limit.
    Facts(usize),
    /// The limit on visited rows was exceeded; the number is the limit.
    Work(u64),
    /// The term table is full.
    Terms(TermOverflow),
    /// The deadline has passed.
    Late,
    /// The evaluation was stopped from outside.
    Interrupted,
    /// The visitor of a rule's matches asked to stop.
    Refused,
}

/// The relations of an evaluator while the matches of a rule are visited.
pub struct Rows<'e>(&'e mut [Relation]);

impl Rows<'_> {
    /// The position of a row in the order of [`Evaluator::rows`], if the relation
    /// contains it. It is looked for first at `last` and after it; these are where the last row was
    /// and this one is.
    pub fn position(
        &mut self,
        relation: RelationId,
        row: &[TermId],
        last: &mut usize,
    ) -> Option<usize> {
        let relation = &mut self.0[relation.index()];
        if row.is_empty() {
            return (relation.count() > 0).then_some(0);
        }
        relation.catch_up(0);
        let count = relation.count() as usize;
        let is_at = |&place: &usize| place < count && relation.row(place as u32) == row;
        let near = [*last, *last + 1].into_iter().find(is_at);
        let found = near.or_else(|| match relation.find(0, row) {
            relation::NONE => None,
            row => Some(row as usize),
        });
        *last = found.unwrap_or(*last);
        found
    }
}

/// A failure and what was being evaluated. The rule is given by its place in the text:
/// an evaluator rewrites rules, so a number would belong to a list that the caller does
/// not have.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct EvaluationError {
    /// The reason for the failure.
    pub failure: Failure,
    /// The place of the rule, if one was being evaluated.
    pub rule: Option<Span>,
    /// The relation whose rule it is, among those of the rules given to the evaluator.
    pub relation: Option<RelationId>,
}

impl From<Failure> for EvaluationError {
    /// A failure outside of any rule.
    fn from(failure: Failure) -> Self {
        EvaluationError {
            failure,
            rule: None,
            relation: None,
        }
    }
}

/// A program with the part of its model that was queried.
#[derive(Clone, Debug)]
pub struct Evaluator {
    program: Arc<Program>,
    relations: Vec<Relation>,
    /// By group: true if its rules are closed over the current inputs.
    done: Vec<bool>,
    bounds: Bounds,
    scratch: run::Scratch,
    /// By relation: number of rows summed over the times it was emptied, and the
    /// number of times it was not empty then.
    observed: Vec<(u64, u64)>,
}

impl Evaluator {
    /// Empties an input layer and all relations that depend on it.
    pub fn begin(&mut self, layer: Layer) {
        let program = Arc::clone(&self.program);
        for &relation in &program.dynamic[layer as usize - 1] {
            let rows = &mut self.relations[relation];
            let count = rows.count();
            if count > 0 {
                let observed = &mut self.observed[relation];
                observed.0 += u64::from(count);
                observed.1 += 1;
                rows.clear();
            }
        }
        for (relation, rows) in &program.always[layer as usize - 1] {
            for row in rows {
                self.relations[*relation].insert(row);
            }
        }
        for &group in &program.layer_groups[layer as usize - 1] {
            self.done[group] = false;
        }
        self.scratch.start();
    }

    /// Adds a row to an input relation, which must not contain it yet.
    pub fn give(&mut self, relation: RelationId, row: &[TermId]) {
        self.relations[relation.index()].push(row);
    }

    /// Evaluates the relations of a query, unless that is already done.
    ///
    /// # Errors
    ///
    /// [`EvaluationError`] past a limit, or at once if interrupted. The inputs must
    /// then be given again.
    pub fn ask(&mut self, query: Query, terms: &mut Terms) -> Result<(), EvaluationError> {
        if let Some(reason) = self.bounds.stop.reason() {
            return Err(Failure::from(reason).into());
        }
        let program = Arc::clone(&self.program);
        let asked = &program.queries[query.0];
        let order;
        let groups = match &asked.order {
            Some(groups) => groups,
            None => {
                order = program.order(&asked.groups, &self.done);
                &order
            }
        };
        for &group in groups {
            if !self.done[group] {
                self.evaluate(&program.groups[group], terms)?;
                self.done[group] = true;
            }
        }
        Ok(())
    }

    /// The rows of a relation, without duplicates. They are complete after a query
    /// that includes the relation.
    pub fn rows(&self, relation: RelationId) -> impl Iterator<Item = &[TermId]> {
        self.relations[relation.index()].rows()
    }

    /// The position of a row in the order of [`Evaluator::rows`], if the relation
    /// contains it.
    pub fn position(&mut self, relation: RelationId, row: &[TermId]) -> Option<usize> {
        Rows(&mut self.relations).position(relation, row, &mut 0)
    }

    /// The relations that hold the rows after all queries were evaluated. Relations
    /// derived on demand contain only rows that were demanded.
    pub fn parts(&self) -> &[Part] {
        &self.program.parts
    }

    /// Number of rows of a relation.
    pub fn count(&self, relation: RelationId) -> usize {
        self.relations[relation.index()].count() as usize
    }

    /// Approximate memory of all rows, in bytes.
    pub fn memory(&self) -> usize {
        // Apart from its values, a row has a slot and a link in each of a few
        // indexes.
        let bytes = |rows: &Relation| rows.count() as usize * (4 * rows.arity() + 24);
        self.relations.iter().map(bytes).sum()
    }

    /// The rows that all relations have now, and the memory that they keep.
    pub fn row_memory(&self) -> RowMemory {
        RowMemory {
            rows: self.relations.iter().map(|r| r.count() as usize).sum(),
            bytes: self.relations.iter().map(Relation::bytes).sum(),
        }
    }

    /// Rows visited since the evaluator was created.
    pub fn work(&self) -> u64 {
        self.scratch.total()
    }

    /// Visits the matches of a rule's body in the current rows. `visit` gets the
    /// arguments of the rule's head, whose relation is ignored, and returns whether
    /// to continue. Matches that differ only in variables that do not occur in the
    /// head may be visited once or several times.
    ///
    /// # Errors
    ///
    /// [`EvaluationError`] past a limit, if interrupted, or if `visit` asks to stop.
    pub fn for_each_match(
        &mut self,
        rule: &Rule,
        terms: &mut Terms,
        visit: &mut dyn FnMut(&mut Rows, &[TermId]) -> bool,
    ) -> Result<(), EvaluationError> {
        self.scratch.start();
        let plan = self.plan_now(rule);
        self.run(&plan, (0, 0), terms, Some(visit))
    }

    /// The limits of an evaluation.
    pub fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    /// Changes the limits of further evaluations.
    pub fn set_bounds(&mut self, bounds: Bounds) {
        self.bounds = bounds;
    }
}

#[cfg(test)]
mod tests;
