//! batsat, by Cruanes: MiniSat in Rust.
//!
//! Source: Eén and Sörensson, An extensible SAT-solver (2003).

use std::cell::Cell;

use batsat::{Callbacks, ClauseKind, Lit, SolverInterface, SolverOpts, Var, lbool};
use ggp_stop::Stop;

use super::SatSolver;

/// batsat, in Rust alone.
pub struct Batsat {
    solver: batsat::Solver<Limit>,
    /// The clause or the assumptions that are passed to the solver.
    literals: Vec<Lit>,
}

/// The number of decisions between two checks of the clock.
const DECISIONS_PER_CHECK: u32 = 256;

/// The limits of one search. The solver checks them at each decision.
#[derive(Default)]
struct Limit {
    stop: Stop,
    /// The remaining conflicts; `None` for no limit.
    conflicts: Option<u32>,
    until_check: Cell<u32>,
    is_over: Cell<bool>,
}

impl Callbacks for Limit {
    fn on_new_clause(&mut self, _: &[Lit], kind: ClauseKind) {
        if let (ClauseKind::Learnt, Some(left)) = (kind, &mut self.conflicts) {
            *left = left.saturating_sub(1);
        }
    }

    fn stop(&self) -> bool {
        if self.until_check.get() == 0 {
            self.until_check.set(DECISIONS_PER_CHECK);
            self.is_over.set(self.stop.is_over());
        }
        self.until_check.set(self.until_check.get() - 1);
        self.is_over.get() || self.conflicts == Some(0)
    }
}

/// A literal of a variable that the solver may not know yet.
fn literal(number: i32) -> Lit {
    Lit::new(Var::unsafe_from_idx(number.unsigned_abs() - 1), number > 0)
}

impl Batsat {
    /// Sets the literals to pass, and introduces their variables.
    fn write(&mut self, numbers: &[i32]) {
        self.literals.clear();
        for &number in numbers {
            self.solver.var_of_int(number.unsigned_abs() - 1);
            self.literals.push(literal(number));
        }
    }
}

impl SatSolver for Batsat {
    fn new() -> Self {
        Batsat {
            solver: batsat::Solver::new(SolverOpts::default(), Limit::default()),
            literals: Vec::new(),
        }
    }

    fn for_short_questions() -> Self {
        // batsat has no preprocessing.
        Batsat::new()
    }

    fn set_stop(&mut self, stop: Stop) {
        self.solver.cb_mut().stop = stop;
    }

    fn add(&mut self, clause: &[i32]) {
        self.write(clause);
        self.solver.add_clause_reuse(&mut self.literals);
    }

    fn solve(&mut self, assumptions: &[i32], conflicts: Option<u32>) -> Option<bool> {
        self.write(assumptions);
        let limit = self.solver.cb_mut();
        limit.conflicts = conflicts;
        limit.until_check.set(0);
        match self.solver.solve_limited(&self.literals) {
            found if found == lbool::TRUE => Some(true),
            found if found == lbool::FALSE => Some(false),
            _ => None,
        }
    }

    fn is_needed(&self, assumption: i32) -> bool {
        // The core holds the negations of assumptions.
        self.solver.unsat_core_contains_lit(!literal(assumption))
    }

    fn holds(&self, number: i32) -> bool {
        let value = self.solver.value_var(literal(number).var());
        (value == lbool::TRUE) == (number > 0)
    }
}
