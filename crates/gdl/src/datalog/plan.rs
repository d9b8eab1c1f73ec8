//! The plan of one rule: a linear list of steps over registers.
//!
//! In: a rule and estimates of its relations' sizes. Out: a [`Plan`]: literals in an
//! order that keeps intermediate results small, tests as early as their variables are
//! bound, and for each step the earlier step to return to when nothing matches. The
//! plan affects the time of an evaluation, never its result.

use crate::program::{Atom, FunctorId, Literal, RelationId, Rule, Term};
use crate::span::Span;
use crate::terms::TermId;

use super::order::{Estimates, order};

/// A register that holds one term during the evaluation of a rule.
pub(super) type Register = u16;

/// The number that denotes no step.
pub(super) const NO_STEP: u16 = u16::MAX;

/// A planned rule.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub steps: Vec<PlanStep>,
    /// The relation of the head; its columns are in the next field.
    pub head: u32,
    pub head_registers: Box<[Register]>,
    /// The step to return to after a result: another match of a later step would give
    /// the same result.
    pub after_result: u16,
    /// Registers that hold constants.
    pub constants: Vec<(Register, TermId)>,
    pub registers: usize,
    /// Relations that must contain a row for the rule to give any result.
    pub needed: Vec<u32>,
    /// The place of the rule.
    pub rule: Span,
    /// The relation whose rule it is, in the program as it was given.
    pub origin: RelationId,
}

/// A step, and the steps to return to.
#[derive(Clone, Debug)]
pub(super) struct PlanStep {
    pub action: Action,
    /// The step to return to if this one fails at once: the last step that chose one
    /// of the values it depends on.
    pub on_failure: u16,
    /// The step to return to after the last match.
    pub on_exhaustion: u16,
}

#[derive(Clone, Debug)]
pub(super) enum Action {
    /// Visits all rows, or only the new rows of a delta.
    Scan {
        relation: u32,
        delta: bool,
        columns: Columns,
        once: bool,
    },
    /// Visits the rows that match the key.
    Probe {
        relation: u32,
        index: u32,
        key: Box<[Register]>,
        columns: Columns,
        once: bool,
    },
    Test(Test),
    /// Tests that one of the conjunctions of tests holds.
    Any(Box<[Box<[Test]>]>),
    /// Builds a term.
    Compose {
        functor: FunctorId,
        arguments: Box<[Register]>,
        out: Register,
    },
    /// Takes a term apart; fails if it has a different functor.
    Decompose {
        functor: FunctorId,
        term: Register,
        columns: Columns,
    },
}

#[derive(Clone, Debug)]
pub(super) enum Test {
    Present { relation: u32, key: Box<[Register]> },
    Absent { relation: u32, key: Box<[Register]> },
    Different(Register, Register),
    Same(Register, Register),
}

/// The use of the columns that the key does not fix.
#[derive(Clone, Debug, Default)]
pub(super) struct Columns {
    /// Columns, and the registers to copy them to.
    pub bind: Box<[(u16, Register)]>,
    /// Columns, and the registers they must be equal to, after binding.
    pub check: Box<[(u16, Register)]>,
}

/// Plans a rule. If `delta` is given, that literal of the body is first and reads new
/// rows only. `index_on` returns the number of a relation's index.
pub(super) fn plan(
    rule: &Rule,
    origin: RelationId,
    delta: Option<usize>,
    estimates: &Estimates,
    index_on: &mut dyn FnMut(u32, &[u16]) -> usize,
) -> Plan {
    let mut builder = Builder {
        steps: Vec::new(),
        bound: vec![false; rule.variables.len()],
        registers: rule.variables.len(),
        constants: Vec::new(),
        composed: Vec::new(),
        index_on,
    };
    let mut tests: Vec<&Literal> = rule
        .body
        .iter()
        .filter(|literal| !matches!(literal, Literal::Positive(_)))
        .collect();
    builder.place_tests(&mut tests);
    for position in order(rule, delta, estimates) {
        let Literal::Positive(atom) = &rule.body[position] else {
            unreachable!("only positive literals are ordered");
        };
        builder.place_atom(atom, delta == Some(position));
        builder.place_tests(&mut tests);
    }
    debug_assert!(tests.is_empty(), "a safe rule binds what it tests");
    let head_registers: Box<[Register]> = rule
        .head
        .arguments
        .iter()
        .map(|term| builder.operand(term).expect("a safe rule binds its head"))
        .collect();
    let needed = rule.body.iter().filter_map(|literal| match literal {
        Literal::Positive(atom) => Some(atom.relation.index() as u32),
        _ => None,
    });
    let mut plan = Plan {
        steps: builder.steps,
        head: rule.head.relation.index() as u32,
        head_registers,
        after_result: NO_STEP,
        constants: builder.constants,
        registers: builder.registers,
        needed: needed.collect(),
        rule: rule.span,
        origin,
    };
    plan.set_returns();
    plan
}

struct Builder<'a> {
    steps: Vec<PlanStep>,
    bound: Vec<bool>,
    registers: usize,
    constants: Vec<(Register, TermId)>,
    /// Terms that earlier steps built or took apart.
    composed: Vec<(Term, Register)>,
    index_on: &'a mut dyn FnMut(u32, &[u16]) -> usize,
}

impl Builder<'_> {
    fn push(&mut self, action: Action) {
        self.steps.push(PlanStep {
            action,
            on_failure: NO_STEP,
            on_exhaustion: NO_STEP,
        });
    }

    fn register(&mut self) -> Register {
        self.registers += 1;
        Register::try_from(self.registers - 1).expect("registers are limited with the terms")
    }

    /// The register that holds a term, if all its variables are bound.
    fn operand(&mut self, term: &Term) -> Option<Register> {
        match term {
            Term::Variable(v) => self.bound[v.index()].then_some(v.index() as Register),
            Term::Ground(id) => {
                let known = self.constants.iter().find(|(_, constant)| constant == id);
                Some(match known {
                    Some((register, _)) => *register,
                    None => {
                        let register = self.register();
                        self.constants.push((register, *id));
                        register
                    }
                })
            }
            Term::Apply(functor, arguments) => {
                let mut all = true;
                term.for_each_variable(&mut |v, _| all &= self.bound[v.index()]);
                if !all {
                    return None;
                }
                if let Some((_, register)) = self.composed.iter().find(|(known, _)| known == term) {
                    return Some(*register);
                }
                let arguments = arguments
                    .iter()
                    .map(|argument| self.operand(argument).expect("all variables are bound"))
                    .collect();
                let out = self.register();
                self.push(Action::Compose {
                    functor: *functor,
                    arguments,
                    out,
                });
                self.composed.push((term.clone(), out));
                Some(out)
            }
        }
    }

    fn place_atom(&mut self, atom: &Atom, delta: bool) {
        let relation = atom.relation.index() as u32;
        let mut key_columns = Vec::new();
        let mut key = Vec::new();
        let mut rest = Vec::new();
        for (column, term) in atom.arguments.iter().enumerate() {
            match self.operand(term) {
                Some(register) => {
                    key_columns.push(column as u16);
                    key.push(register);
                }
                None => rest.push((column as u16, term)),
            }
        }
        if delta {
            // New rows are visited in order, so the key becomes a check.
            let known = key_columns.iter().copied().zip(key).collect::<Vec<_>>();
            let (mut columns, inner) = self.columns(&rest);
            columns.check = columns.check.iter().copied().chain(known).collect();
            self.push(Action::Scan {
                relation,
                delta,
                columns,
                once: false,
            });
            self.decompose(inner);
            return;
        }
        if rest.is_empty() {
            self.push(Action::Test(Test::Present {
                relation,
                key: key.into(),
            }));
            return;
        }
        let (columns, inner) = self.columns(&rest);
        let action = if key.is_empty() {
            Action::Scan {
                relation,
                delta,
                columns,
                once: false,
            }
        } else {
            Action::Probe {
                relation,
                index: (self.index_on)(relation, &key_columns) as u32,
                key: key.into(),
                columns,
                once: false,
            }
        };
        self.push(action);
        self.decompose(inner);
    }

    /// Registers for columns that are not bound yet, and the compound terms to take
    /// apart afterwards.
    fn columns<'t>(&mut self, rest: &[(u16, &'t Term)]) -> (Columns, Vec<(Register, &'t Term)>) {
        let mut bind = Vec::new();
        let mut check = Vec::new();
        let mut inner = Vec::new();
        // A term with a variable of the same row cannot be built before the row is
        // read.
        let ready: Vec<_> = rest.iter().map(|(_, term)| self.operand(term)).collect();
        for (&(column, term), ready) in rest.iter().zip(ready) {
            match (term, ready) {
                (_, Some(register)) => check.push((column, register)),
                (Term::Variable(v), None) if !self.bound[v.index()] => {
                    self.bound[v.index()] = true;
                    bind.push((column, v.index() as Register));
                }
                (Term::Variable(v), None) => check.push((column, v.index() as Register)),
                (_, None) => {
                    let register = self.register();
                    bind.push((column, register));
                    inner.push((register, term));
                }
            }
        }
        let columns = Columns {
            bind: bind.into(),
            check: check.into(),
        };
        (columns, inner)
    }

    fn decompose(&mut self, mut inner: Vec<(Register, &Term)>) {
        inner.reverse();
        while let Some((register, term)) = inner.pop() {
            let Term::Apply(functor, arguments) = term else {
                unreachable!("only compound terms are taken apart");
            };
            let rest: Vec<_> = arguments
                .iter()
                .enumerate()
                .map(|(column, argument)| (column as u16, argument))
                .collect();
            // Arguments that must be built come before the step.
            let (columns, deeper) = self.columns(&rest);
            self.push(Action::Decompose {
                functor: *functor,
                term: register,
                columns,
            });
            // If all steps succeed, the register has this very term.
            self.composed.push((term.clone(), register));
            inner.extend(deeper.into_iter().rev());
        }
    }

    /// Places all tests whose variables are bound.
    fn place_tests(&mut self, tests: &mut Vec<&Literal>) {
        let mut later = Vec::new();
        for literal in tests.drain(..) {
            let mut all = true;
            literal.for_each_variable(&mut |v| all &= self.bound[v.index()]);
            if !all {
                later.push(literal);
                continue;
            }
            match literal {
                Literal::Any(branches) => {
                    let branches = branches
                        .iter()
                        .map(|branch| branch.iter().map(|literal| self.test(literal)).collect())
                        .collect();
                    self.push(Action::Any(branches));
                }
                _ => {
                    let test = self.test(literal);
                    self.push(Action::Test(test));
                }
            }
        }
        *tests = later;
    }

    fn test(&mut self, literal: &Literal) -> Test {
        let mut operand = |term: &Term| self.operand(term).expect("all variables are bound");
        let mut key = |atom: &Atom| atom.arguments.iter().map(&mut operand).collect();
        match literal {
            Literal::Positive(atom) => Test::Present {
                relation: atom.relation.index() as u32,
                key: key(atom),
            },
            Literal::Negative(atom) => Test::Absent {
                relation: atom.relation.index() as u32,
                key: key(atom),
            },
            Literal::Distinct(left, right, _) => Test::Different(operand(left), operand(right)),
            Literal::Same(left, right, _) => Test::Same(operand(left), operand(right)),
            Literal::Any(_) => unreachable!("alternatives are at most one level deep"),
        }
    }
}

impl Plan {
    /// Computes the return steps.
    ///
    /// A register's *origin* is the last step whose choice its value depends on. A
    /// step that fails at once fails again until a step that is the origin of one of
    /// its values makes another choice. A step that binds nothing that is used later
    /// needs no second match.
    fn set_returns(&mut self) {
        let mut used_later = vec![false; self.registers];
        for &register in &self.head_registers {
            used_later[register as usize] = true;
        }
        for step in self.steps.iter_mut().rev() {
            if let Action::Scan { columns, once, .. } | Action::Probe { columns, once, .. } =
                &mut step.action
            {
                // Equal columns of one row are compared with each other in this
                // step.
                *once = !columns.bind.iter().any(|&(_, r)| used_later[r as usize]);
            }
            step.action
                .for_each_use(&mut |r| used_later[r as usize] = true);
        }
        // The origin's number plus one; 0 for constants.
        let mut origin = vec![0u16; self.registers];
        let mut last_choice = NO_STEP;
        for (number, step) in self.steps.iter_mut().enumerate() {
            let mut latest = 0;
            let own: &[(u16, Register)] = match &step.action {
                Action::Scan { columns, .. } | Action::Probe { columns, .. } => &columns.bind,
                _ => &[],
            };
            step.action.for_each_use(&mut |register| {
                if !own.iter().any(|(_, r)| *r == register) {
                    latest = latest.max(origin[register as usize]);
                }
            });
            step.on_failure = latest.wrapping_sub(1);
            step.on_exhaustion = last_choice;
            match &step.action {
                Action::Scan { columns, once, .. } | Action::Probe { columns, once, .. } => {
                    for &(_, register) in &columns.bind {
                        origin[register as usize] = number as u16 + 1;
                    }
                    if !once {
                        last_choice = number as u16;
                    }
                }
                Action::Compose { out, .. } => origin[*out as usize] = latest,
                Action::Decompose { columns, .. } => {
                    for &(_, register) in &columns.bind {
                        origin[register as usize] = latest;
                    }
                }
                Action::Test(_) | Action::Any(_) => {}
            }
        }
        let latest = self
            .head_registers
            .iter()
            .map(|&r| origin[r as usize])
            .max();
        self.after_result = latest.unwrap_or(0).wrapping_sub(1);
    }
}

impl Action {
    /// Calls `visit` for each register that the step reads.
    fn for_each_use(&self, visit: &mut impl FnMut(Register)) {
        match self {
            Action::Scan { columns, .. } => columns.check.iter().for_each(|&(_, r)| visit(r)),
            Action::Probe { key, columns, .. } => {
                key.iter().for_each(|&r| visit(r));
                columns.check.iter().for_each(|&(_, r)| visit(r));
            }
            Action::Test(test) => test.for_each_use(visit),
            Action::Any(branches) => {
                for test in branches.iter().flatten() {
                    test.for_each_use(visit);
                }
            }
            Action::Compose { arguments, .. } => arguments.iter().for_each(|&r| visit(r)),
            Action::Decompose { term, columns, .. } => {
                visit(*term);
                columns.check.iter().for_each(|&(_, r)| visit(r));
            }
        }
    }
}

impl Test {
    fn for_each_use(&self, visit: &mut impl FnMut(Register)) {
        match self {
            Test::Present { key, .. } | Test::Absent { key, .. } => {
                key.iter().for_each(|&r| visit(r));
            }
            Test::Different(left, right) | Test::Same(left, right) => {
                visit(*left);
                visit(*right);
            }
        }
    }
}
