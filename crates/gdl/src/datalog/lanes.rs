//! Evaluation for up to 64 contents of the first input layer at once.
//!
//! In: rows of the inputs, each with a word whose bit `k` says whether content `k`, the *lane*,
//! has the row. Out: the same for the rows of the queried relations. A rule is matched once for
//! all lanes: a match holds in the lanes that all its rows have, without those of negated rows.
//! Contents that follow each other in play differ little, so this costs about as much as one of
//! them alone.

use super::group::Group;
use super::plan::{Action, Columns, Plan, Test};
use super::relation::{NONE, Relation};
use super::run::{find, take};
use super::{Evaluator, Failure, Layer, Query};
use crate::program::RelationId;
use crate::terms::{TermId, Terms};

/// The reason why the lanes were not evaluated.
enum Refusal {
    /// It would take more work than the lanes one after the other, or more than a limit.
    TooMuch,
    Failed(Failure),
}

/// The maximum number of steps of a rule: steps are nested calls.
const MOST_STEPS: usize = 200;
/// Rows visited between two looks at the stop.
const PORTION: u64 = 1 << 14;

impl Evaluator {
    /// Empties the first input layer and prepares it for [`Evaluator::give_lanes`].
    pub fn begin_lanes(&mut self) {
        self.begin(Layer::First);
        for &relation in &self.program.dynamic[Layer::First as usize - 1] {
            self.relations[relation].in_all_lanes();
        }
    }

    /// Adds a row to an input relation, which must not contain it yet, in these lanes.
    pub fn give_lanes(&mut self, relation: RelationId, row: &[TermId], lanes: u64) {
        self.relations[relation.index()].push_lanes(row, lanes);
    }

    /// Evaluates the relations of a query in all lanes. Returns false if that takes more than
    /// `most_work` rows, or is not possible within the limits. [`Evaluator::begin`] must be
    /// called before other queries.
    ///
    /// # Errors
    ///
    /// [`Failure`] if interrupted.
    pub fn ask_lanes(
        &mut self,
        query: Query,
        terms: &mut Terms,
        most_work: u64,
    ) -> Result<bool, Failure> {
        let program = std::sync::Arc::clone(&self.program);
        let order = program.order(&program.queries[query.0].groups, &self.done);
        let mut most = most_work.min(self.bounds.work);
        for group in order {
            match self.evaluate_lanes(&program.groups[group], terms, &mut most) {
                Ok(()) => self.done[group] = true,
                Err(Refusal::TooMuch) => return Ok(false),
                Err(Refusal::Failed(failure)) => return Err(failure),
            }
        }
        let facts = |relation: &usize| self.relations[*relation].count() as usize;
        let facts: usize = program.dynamic[0].iter().map(facts).sum();
        Ok(facts <= self.bounds.facts)
    }

    /// The lanes that have a row.
    pub fn lanes(&mut self, relation: RelationId, row: &[TermId]) -> u64 {
        let relation = &mut self.relations[relation.index()];
        lanes_of(relation, row.len(), |relation| relation.find(0, row))
    }

    fn evaluate_lanes(
        &mut self,
        group: &Group,
        terms: &mut Terms,
        most: &mut u64,
    ) -> Result<(), Refusal> {
        let mut run = Run {
            relations: &mut self.relations,
            terms,
            registers: Vec::new(),
            row: Vec::new(),
            grown: Vec::new(),
            left: most,
            stop: &self.bounds.stop,
        };
        for plan in &group.plans {
            run.start(plan, (0, 0), u64::MAX)?;
        }
        // Semi-naive: each pass starts from the rows that the last one added lanes to.
        while group.recursive && !run.grown.is_empty() {
            for (head, row, lanes) in std::mem::take(&mut run.grown) {
                let head = group.heads.binary_search(&(head as usize));
                let head = head.expect("the rules of a group derive its heads");
                for delta in group.deltas_of[head].all() {
                    run.start(&group.deltas[delta], (row, row + 1), lanes)?;
                }
            }
            for &plan in &group.reruns {
                run.start(&group.plans[plan], (0, 0), u64::MAX)?;
            }
        }
        Ok(())
    }
}

/// The lanes of the row that `find` returns; the first index is made up to date before.
fn lanes_of(relation: &mut Relation, columns: usize, find: impl FnOnce(&Relation) -> u32) -> u64 {
    if columns == 0 {
        return match relation.count() {
            0 => 0,
            _ => relation.row_lanes(0),
        };
    }
    relation.catch_up(0);
    match find(relation) {
        NONE => 0,
        row => relation.row_lanes(row),
    }
}

/// The matches of the rules of one group.
struct Run<'e> {
    relations: &'e mut [Relation],
    terms: &'e mut Terms,
    registers: Vec<TermId>,
    row: Vec<TermId>,
    /// Relation, row, and the lanes that the row was added to.
    grown: Vec<(u32, u32, u64)>,
    /// The number of rows that may still be visited.
    left: &'e mut u64,
    stop: &'e ggp_stop::Stop,
}

impl Run<'_> {
    /// Adds all results of a rule in some lanes. `delta` is the range of new rows.
    fn start(&mut self, plan: &Plan, delta: (u32, u32), lanes: u64) -> Result<(), Refusal> {
        if plan.steps.len() > MOST_STEPS {
            return Err(Refusal::TooMuch);
        }
        let is_empty = |&relation: &u32| self.relations[relation as usize].count() == 0;
        if plan.needed.iter().any(is_empty) {
            return Ok(());
        }
        if self.registers.len() < plan.registers {
            self.registers.resize(plan.registers, TermId::from_raw(0));
        }
        for &(register, constant) in &plan.constants {
            self.registers[register as usize] = constant;
        }
        self.step(plan, 0, delta, lanes)
    }

    fn step(
        &mut self,
        plan: &Plan,
        number: usize,
        delta: (u32, u32),
        lanes: u64,
    ) -> Result<(), Refusal> {
        let mut lanes = lanes;
        if plan.head_registers.is_empty() {
            // Matches in lanes that have the only row add nothing.
            lanes &= !lanes_of(&mut self.relations[plan.head as usize], 0, |_| NONE);
        }
        if lanes == 0 {
            return Ok(());
        }
        self.visit()?;
        let Some(step) = plan.steps.get(number) else {
            self.row.clear();
            let row = plan.head_registers.iter();
            self.row.extend(row.map(|&r| self.registers[r as usize]));
            let head = &mut self.relations[plan.head as usize];
            let (row, added) = head.insert_lanes(&self.row, lanes);
            if added != 0 {
                self.grown.push((plan.head, row, added));
            }
            return Ok(());
        };
        match &step.action {
            Action::Scan {
                relation,
                delta: is_delta,
                columns,
                once,
            } => {
                let relation = *relation as usize;
                let (first, end) = match is_delta {
                    true => delta,
                    false => (0, self.relations[relation].count()),
                };
                // No later step uses the values of this one, only the lanes that have some.
                let mut any = 0;
                for row in first..end {
                    let both = self.matching(relation, row, columns, lanes)?;
                    match once {
                        true => any |= both,
                        false => self.step(plan, number + 1, delta, both)?,
                    }
                    if any == lanes {
                        break;
                    }
                }
                self.step(plan, number + 1, delta, any)
            }
            Action::Probe {
                relation,
                index,
                key,
                columns,
                once,
            } => {
                let (relation, index) = (*relation as usize, *index as usize);
                self.relations[relation].catch_up(index);
                let mut row = find(&self.relations[relation], index, key, &self.registers);
                let mut any = 0;
                while row != NONE && any != lanes {
                    let both = self.matching(relation, row, columns, lanes)?;
                    match once {
                        true => any |= both,
                        false => self.step(plan, number + 1, delta, both)?,
                    }
                    // A new value may have changed the layout of the index.
                    self.relations[relation].catch_up(index);
                    row = self.relations[relation].older(index, row);
                }
                self.step(plan, number + 1, delta, any)
            }
            Action::Test(test) => {
                let both = lanes & self.test(test);
                self.step(plan, number + 1, delta, both)
            }
            Action::Any(branches) => {
                let mut any = 0;
                for branch in branches {
                    self.visit()?;
                    any |= branch.iter().fold(lanes, |all, test| all & self.test(test));
                }
                self.step(plan, number + 1, delta, any)
            }
            Action::Compose {
                functor,
                arguments,
                out,
            } => {
                self.row.clear();
                let row = arguments.iter();
                self.row.extend(row.map(|&r| self.registers[r as usize]));
                let term = self.terms.intern(*functor, &self.row);
                self.registers[*out as usize] = term.map_err(|_| Refusal::TooMuch)?;
                self.step(plan, number + 1, delta, lanes)
            }
            Action::Decompose {
                functor,
                term,
                columns,
            } => {
                let term = self.registers[*term as usize];
                let is_match = self.terms.functor(term) == *functor
                    && take(self.terms.arguments(term), columns, &mut self.registers);
                match is_match {
                    true => self.step(plan, number + 1, delta, lanes),
                    false => Ok(()),
                }
            }
        }
    }

    /// The lanes in which a row matches; its columns are then in the registers.
    fn matching(
        &mut self,
        relation: usize,
        row: u32,
        columns: &Columns,
        lanes: u64,
    ) -> Result<u64, Refusal> {
        self.visit()?;
        let relation = &self.relations[relation];
        Ok(
            match take(relation.row(row), columns, &mut self.registers) {
                true => lanes & relation.row_lanes(row),
                false => 0,
            },
        )
    }

    fn test(&mut self, test: &Test) -> u64 {
        let all = |holds: bool| u64::from(holds).wrapping_neg();
        let registers = &self.registers;
        match test {
            Test::Present { relation, key } => {
                let relation = &mut self.relations[*relation as usize];
                lanes_of(relation, key.len(), |r| find(r, 0, key, registers))
            }
            Test::Absent { relation, key } => {
                let relation = &mut self.relations[*relation as usize];
                !lanes_of(relation, key.len(), |r| find(r, 0, key, registers))
            }
            Test::Different(left, right) => {
                all(registers[*left as usize] != registers[*right as usize])
            }
            Test::Same(left, right) => all(registers[*left as usize] == registers[*right as usize]),
        }
    }

    fn visit(&mut self) -> Result<(), Refusal> {
        *self.left = self.left.checked_sub(1).ok_or(Refusal::TooMuch)?;
        if self.left.is_multiple_of(PORTION)
            && let Some(reason) = self.stop.reason()
        {
            return Err(Refusal::Failed(reason.into()));
        }
        Ok(())
    }
}
