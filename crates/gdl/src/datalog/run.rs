//! Execution of plans: nested loops over rows, without recursion.

use super::group::Group;
use super::plan::{Action, Columns, NO_STEP, Plan, PlanStep, Register, Test};
use super::relation::{NONE, Relation};
use super::{EvaluationError, Evaluator, Failure, Rows};
use crate::span::Span;
use crate::terms::{TermId, Terms};

/// Memory that is reused from one run to the next.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    registers: Vec<TermId>,
    /// By step: the next row to visit, and for scans the end.
    cursors: Vec<(u32, u32)>,
    row: Vec<TermId>,
    /// Rows visited and facts derived since the inputs changed. The second number is of facts
    /// that are counted apart.
    work: u64,
    facts: [usize; 2],
    /// Rows visited before the inputs changed.
    earlier: u64,
    /// Rows to visit before the limits are checked again, by this run or later ones.
    budget: u64,
}

impl Scratch {
    /// Resets the counters after a change of the inputs.
    pub fn start(&mut self) {
        self.earlier += std::mem::take(&mut self.work);
        self.facts = [0; 2];
    }

    /// Rows visited in total.
    pub fn total(&self) -> u64 {
        self.earlier + self.work
    }
}

/// A visitor of the relations and a result; it returns false to stop.
pub(super) type Visit<'v> = &'v mut dyn FnMut(&mut Rows, &[TermId]) -> bool;

/// Number of rows visited between checks of the limits.
const PORTION: u64 = 1 << 14;

impl Evaluator {
    /// Computes the closure of the relations under the rules of a group.
    pub(super) fn evaluate(
        &mut self,
        group: &Group,
        terms: &mut Terms,
    ) -> Result<(), EvaluationError> {
        if !group.recursive {
            for plan in &group.plans {
                self.run(plan, (0, 0), terms, None)?;
            }
            return Ok(());
        }
        // Semi-naive evaluation: after one pass over all rows, each pass starts from
        // a row that the previous pass added.
        let heads = &group.heads;
        let count = |relations: &[Relation], head: usize| relations[heads[head]].count();
        let head_of = |plan: &Plan| {
            let head = heads.binary_search(&(plan.head as usize));
            head.expect("the rules of a group derive its heads")
        };
        // By head: the rows before this pass, and those that an earlier pass looked at.
        let mut to: Vec<u32> = (0..heads.len())
            .map(|h| count(&self.relations, h))
            .collect();
        let mut from = to.clone();
        for plan in &group.plans {
            self.run(plan, (0, 0), terms, None)?;
        }
        let mut touched: Vec<usize> = (0..heads.len()).collect();
        loop {
            touched.sort_unstable();
            touched.dedup();
            let mut grown = std::mem::take(&mut touched);
            grown.retain(|&head| count(&self.relations, head) > to[head]);
            if grown.is_empty() {
                return Ok(());
            }
            for &head in &grown {
                (from[head], to[head]) = (to[head], count(&self.relations, head));
            }
            let mut deltas = Vec::new();
            for &head in &grown {
                let rows = &self.relations[heads[head]];
                group.deltas_of[head].matching(rows, (from[head], to[head]), &mut deltas);
            }
            deltas.sort_unstable();
            for (delta, rows) in deltas {
                let plan = &group.deltas[delta];
                self.run(plan, rows, terms, None)?;
                touched.push(head_of(plan));
            }
            for &plan in &group.reruns {
                self.run(&group.plans[plan], (0, 0), terms, None)?;
                touched.push(head_of(&group.plans[plan]));
            }
        }
    }

    /// Adds all results of one rule, or passes them to `visit`. `delta` is the range
    /// of new rows, for a plan that has a step over them.
    pub(super) fn run(
        &mut self,
        plan: &Plan,
        delta: (u32, u32),
        terms: &mut Terms,
        mut visit: Option<Visit>,
    ) -> Result<(), EvaluationError> {
        let relations = &mut self.relations;
        let head = plan.head as usize;
        let is_empty = |&relation: &u32| relations[relation as usize].count() == 0;
        if plan.needed.iter().any(is_empty)
            || (visit.is_none() && plan.head_registers.is_empty() && relations[head].count() > 0)
        {
            return Ok(());
        }
        let scratch = &mut self.scratch;
        let registers = &mut scratch.registers;
        if registers.len() < plan.registers {
            registers.resize(plan.registers, TermId::from_raw(0));
        }
        if scratch.cursors.len() < plan.steps.len() {
            scratch.cursors.resize(plan.steps.len(), (NONE, NONE));
        }
        let registers = &mut registers[..plan.registers];
        let cursors = &mut scratch.cursors[..plan.steps.len()];
        for &(register, constant) in &plan.constants {
            registers[register as usize] = constant;
        }
        let fail = |failure| {
            Err(EvaluationError {
                failure,
                // Rules that are in no text have no place.
                rule: Some(plan.rule).filter(|rule| *rule != Span::default()),
                relation: Some(plan.origin),
            })
        };
        let (most_facts, is_apart) = self.bounds.of(head);
        let facts = &mut scratch.facts[usize::from(is_apart)];
        let before = (*facts, scratch.work);
        let foresight = self.bounds.foresight.filter(|_| visit.is_none());
        let mut portion = scratch.budget;
        let mut budget = portion;
        let mut number = 0;
        let mut entering = true;
        loop {
            let Some(step) = plan.steps.get(number) else {
                scratch.row.clear();
                let row = plan.head_registers.iter().map(|&r| registers[r as usize]);
                scratch.row.extend(row);
                if let Some(visit) = &mut visit {
                    if !visit(&mut Rows(relations), &scratch.row) {
                        return fail(Failure::Refused);
                    }
                } else if relations[head].insert(&scratch.row) {
                    *facts += 1;
                    if *facts > most_facts {
                        return fail(Failure::Facts(most_facts));
                    }
                }
                if plan.after_result == NO_STEP {
                    break;
                }
                number = plan.after_result as usize;
                entering = false;
                continue;
            };
            let passed = match &step.action {
                Action::Scan {
                    relation,
                    delta: is_delta,
                    columns,
                    ..
                } => {
                    let relation = &relations[*relation as usize];
                    let (mut row, end) = match (entering, is_delta) {
                        (true, true) => delta,
                        (true, false) => (0, relation.count()),
                        (false, _) => cursors[number],
                    };
                    loop {
                        if row == end {
                            break false;
                        }
                        let values = relation.row(row);
                        row += 1;
                        budget = budget.wrapping_sub(1);
                        if take(values, columns, registers) {
                            cursors[number] = (row, end);
                            break true;
                        }
                    }
                }
                Action::Probe {
                    relation,
                    index,
                    key,
                    columns,
                    ..
                } => {
                    let relation = &mut relations[*relation as usize];
                    let index = *index as usize;
                    // Also after backtracking: a new value may have changed the
                    // layout of the index in between.
                    relation.catch_up(index);
                    let mut row = if entering {
                        find(relation, index, key, registers)
                    } else {
                        cursors[number].0
                    };
                    loop {
                        if row == NONE {
                            break false;
                        }
                        let at = row;
                        row = relation.older(index, at);
                        budget = budget.wrapping_sub(1);
                        if take(relation.row(at), columns, registers) {
                            cursors[number].0 = row;
                            break true;
                        }
                    }
                }
                Action::Test(test) => {
                    budget = budget.wrapping_sub(1);
                    holds(test, relations, registers)
                }
                Action::Any(branches) => {
                    budget = budget.wrapping_sub(branches.len() as u64);
                    branches
                        .iter()
                        .any(|branch| branch.iter().all(|test| holds(test, relations, registers)))
                }
                Action::Compose {
                    functor,
                    arguments,
                    out,
                } => {
                    scratch.row.clear();
                    let row = arguments.iter().map(|&r| registers[r as usize]);
                    scratch.row.extend(row);
                    match terms.intern(*functor, &scratch.row) {
                        Ok(term) => registers[*out as usize] = term,
                        Err(overflow) => return fail(Failure::Terms(overflow)),
                    }
                    true
                }
                Action::Decompose {
                    functor,
                    term,
                    columns,
                } => {
                    let term = registers[*term as usize];
                    terms.functor(term) == *functor
                        && take(terms.arguments(term), columns, registers)
                }
            };
            if budget > PORTION {
                // The counter went below zero.
                scratch.work += portion;
                (portion, budget) = (PORTION, PORTION);
                if scratch.work > self.bounds.work {
                    return fail(Failure::Work(self.bounds.work));
                }
                if let Some(times) = foresight {
                    let done = progress(&plan.steps[..number], delta, cursors);
                    let foretold = |before: f64, now: f64| before + (now - before) / done;
                    let now = *facts as f64;
                    let all = foretold(before.0 as f64, now);
                    // What is predicted is held to the limit that all facts have.
                    let many = times * self.bounds.facts as f64 / most_facts as f64;
                    if is_beyond(now, all, most_facts as f64, many) {
                        return fail(Failure::Facts(most_facts));
                    }
                    let work = foretold(before.1 as f64, scratch.work as f64);
                    if is_beyond(scratch.work as f64, work, self.bounds.work as f64, times) {
                        return fail(Failure::Work(self.bounds.work));
                    }
                }
                if let Some(reason) = self.bounds.stop.reason() {
                    return fail(reason.into());
                }
            }
            if passed {
                number += 1;
                entering = true;
                continue;
            }
            let back = if entering {
                step.on_failure
            } else {
                step.on_exhaustion
            };
            if back == NO_STEP {
                break;
            }
            number = back as usize;
            entering = false;
        }
        scratch.work += portion - budget;
        scratch.budget = budget;
        Ok(())
    }
}

/// Predictions start when this share of a limit is used up.
const LEAST_SHARE: f64 = 1.0 / 16.0;

fn is_beyond(now: f64, foretold: f64, bound: f64, times: f64) -> bool {
    now > LEAST_SHARE * bound && foretold > times * bound
}

/// An upper bound on the share of all combinations that is done, from the scans at
/// the start of the plan.
fn progress(steps: &[PlanStep], delta: (u32, u32), cursors: &[(u32, u32)]) -> f64 {
    let mut share = 0.0;
    let mut part = 1.0;
    for (step, &(next, end)) in steps.iter().zip(cursors) {
        match &step.action {
            Action::Scan { delta: true, .. } => {
                part /= f64::from(end - delta.0);
                share += part * f64::from(next - delta.0 - 1);
            }
            Action::Scan { .. } => {
                part /= f64::from(end);
                share += part * f64::from(next - 1);
            }
            Action::Probe { .. } => break,
            _ => {}
        }
    }
    share + part
}

/// Copies a row's columns into registers; false if a check fails.
#[inline]
pub(super) fn take(values: &[TermId], columns: &Columns, registers: &mut [TermId]) -> bool {
    for &(column, register) in &columns.bind {
        registers[register as usize] = values[column as usize];
    }
    columns
        .check
        .iter()
        .all(|&(column, register)| registers[register as usize] == values[column as usize])
}

/// Maximum number of key columns that are gathered without allocation.
const NARROW: usize = 8;

#[inline]
pub(super) fn find(
    relation: &Relation,
    index: usize,
    key: &[Register],
    registers: &[TermId],
) -> u32 {
    if key.len() > NARROW {
        let key: Vec<TermId> = key.iter().map(|&r| registers[r as usize]).collect();
        return relation.find(index, &key);
    }
    let mut gathered = [TermId::from_raw(0); NARROW];
    for (to, &register) in gathered.iter_mut().zip(key) {
        *to = registers[register as usize];
    }
    relation.find(index, &gathered[..key.len()])
}

#[inline]
fn holds(test: &Test, relations: &mut [Relation], registers: &[TermId]) -> bool {
    match test {
        Test::Present { relation, key } => {
            is_present(&mut relations[*relation as usize], key, registers)
        }
        Test::Absent { relation, key } => {
            !is_present(&mut relations[*relation as usize], key, registers)
        }
        Test::Different(left, right) => registers[*left as usize] != registers[*right as usize],
        Test::Same(left, right) => registers[*left as usize] == registers[*right as usize],
    }
}

#[inline]
fn is_present(relation: &mut Relation, key: &[Register], registers: &[TermId]) -> bool {
    if key.is_empty() {
        return relation.count() > 0;
    }
    relation.catch_up(0);
    find(relation, 0, key, registers) != NONE
}
