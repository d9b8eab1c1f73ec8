//! Bottom-up evaluation of stratified logic programs with function terms.
//!
//! In: a [`RuleSet`], which of its relations are given from outside, and which
//! are asked for. Out: an [`Evaluator`] that holds the least model, stratum by
//! stratum, as far as it was asked for. Nothing here knows what `legal` or
//! `next` mean; the state machine asks for relations by id.
//!
//! Inputs come in two layers, of which the second changes more often. A group
//! of rules belongs to the outermost layer that it depends on: what depends on
//! no input is evaluated once, what depends on the first layer only is kept
//! while the second changes.
//!
//! A derivation could be recorded where `run` inserts a result: the rule and
//! the rows that its steps chose are known there.

mod compile;
mod demand;
mod order;
mod plan;
mod relation;
mod run;

use ggp_stop::{Reason, Stop};
use std::sync::Arc;

use crate::program::{RelationId, Rule};
use crate::terms::{TermId, TermOverflow, Terms};
use compile::Program;
pub use compile::{OnDemand, on_demand};
pub use demand::Part;
use relation::Relation;

#[allow(unused_imports)] // For the module comment.
use crate::program::RuleSet;

/// How often an input changes.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Layer {
    /// Seldom; what depends on it survives changes of the second layer.
    First = 1,
    /// Often. It is emptied whenever the first layer is.
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

/// Relations that are asked for together.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Query(usize);

/// What an evaluation may cost.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// Facts derived from one content of the inputs.
    pub facts: usize,
    /// Rows looked at for one content of the inputs.
    pub work: u64,
    /// When the evaluation must end.
    pub stop: Stop,
    /// Stops already where the progress of a rule foretells so many times as
    /// many facts or rows as are allowed. The guess may be wrong.
    pub foresight: Option<f64>,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds {
            facts: 5_000_000,
            work: 1_000_000_000,
            stop: Stop::new(),
            foresight: None,
        }
    }
}

/// Why an evaluation stopped.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// More facts than allowed; the number is the limit.
    Facts(usize),
    /// More rows looked at than allowed; the number is the limit.
    Work(u64),
    /// The table of terms is full.
    Terms(TermOverflow),
    /// The deadline is over.
    Late,
    /// Stopped from outside.
    Interrupted,
    /// Who was shown the matches of a rule wanted no more.
    Refused,
}

/// The relations of an evaluator while the matches of a rule are shown.
pub struct Rows<'e>(&'e mut [Relation]);

impl Rows<'_> {
    /// The position of a row in the order of [`Evaluator::rows`], if the
    /// relation has it.
    pub fn position(&mut self, relation: RelationId, row: &[TermId]) -> Option<usize> {
        let relation = &mut self.0[relation.index()];
        if row.is_empty() {
            return (relation.count() > 0).then_some(0);
        }
        relation.catch_up(0);
        match relation.find(0, row) {
            relation::NONE => None,
            row => Some(row as usize),
        }
    }
}

/// A failure and the rule, as an index into [`RuleSet::rules`], that was being
/// evaluated.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct EvaluationError {
    /// What happened.
    pub failure: Failure,
    /// In which rule.
    pub rule: usize,
}

/// A program with the part of its model that was asked for.
#[derive(Clone, Debug)]
pub struct Evaluator {
    program: Arc<Program>,
    relations: Vec<Relation>,
    /// By group: whether its rules are closed over the current inputs.
    done: Vec<bool>,
    bounds: Bounds,
    scratch: run::Scratch,
    /// By relation: rows and times it was found non-empty when emptied.
    observed: Vec<(u64, u64)>,
}

impl Evaluator {
    /// Empties an input layer, and with it what depends on it.
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

    /// Adds a row to an input relation. It must not be there yet.
    pub fn give(&mut self, relation: RelationId, row: &[TermId]) {
        self.relations[relation.index()].push(row);
    }

    /// Evaluates what a query asks for, as far as that is not done.
    ///
    /// # Errors
    ///
    /// [`EvaluationError`] past a bound, or at once if interrupted. The inputs
    /// must then be given anew.
    pub fn ask(&mut self, query: Query, terms: &mut Terms) -> Result<(), EvaluationError> {
        if self.bounds.stop.is_raised() {
            let failure = Failure::Interrupted;
            return Err(EvaluationError { failure, rule: 0 });
        }
        let program = Arc::clone(&self.program);
        for &group in &program.queries[query.0] {
            if !self.done[group] {
                self.evaluate(&program.groups[group], terms)?;
                self.done[group] = true;
            }
        }
        Ok(())
    }

    /// The rows of a relation, each once. Complete after a query that includes
    /// it.
    pub fn rows(&self, relation: RelationId) -> impl Iterator<Item = &[TermId]> {
        self.relations[relation.index()].rows()
    }

    /// The position of a row in the order of [`Evaluator::rows`], if the
    /// relation has it.
    pub fn position(&mut self, relation: RelationId, row: &[TermId]) -> Option<usize> {
        Rows(&mut self.relations).position(relation, row)
    }

    /// Where the rows of relations are once all queries were asked: of those that
    /// are derived on demand, only rows that were asked for.
    pub fn parts(&self) -> &[Part] {
        &self.program.parts
    }

    /// Number of rows of a relation.
    pub fn count(&self, relation: RelationId) -> usize {
        self.relations[relation.index()].count() as usize
    }

    /// Bytes taken by all rows, about.
    pub fn memory(&self) -> usize {
        // Beside its values a row has a slot and a link in each of a few indexes.
        let bytes = |rows: &Relation| rows.count() as usize * (4 * rows.arity() + 24);
        self.relations.iter().map(bytes).sum()
    }

    /// Rows looked at since the evaluator was made.
    pub fn work(&self) -> u64 {
        self.scratch.total()
    }

    /// Shows the matches of a rule's body among the rows as they are: `visit`
    /// gets the arguments of the rule's head, whose relation does not matter,
    /// and says whether to go on. Matches that differ only in variables that the
    /// head does not have may be shown once or several times.
    ///
    /// # Errors
    ///
    /// [`EvaluationError`] past a bound, if interrupted, or if `visit` said to
    /// stop; `number` is the rule that it names.
    pub fn for_each_match(
        &mut self,
        rule: &Rule,
        number: usize,
        terms: &mut Terms,
        visit: &mut dyn FnMut(&mut Rows, &[TermId]) -> bool,
    ) -> Result<(), EvaluationError> {
        self.scratch.start();
        let plan = self.plan_now(rule, number);
        self.run(&plan, (0, 0), terms, Some(visit))
    }

    /// What an evaluation may cost.
    pub fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    /// Changes what further evaluations may cost.
    pub fn set_bounds(&mut self, bounds: Bounds) {
        self.bounds = bounds;
    }
}

#[cfg(test)]
mod tests;
