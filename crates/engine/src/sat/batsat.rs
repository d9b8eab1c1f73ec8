//! batsat, by Cruanes: MiniSat in Rust.
//!
//! Source: Eén and Sörensson, An extensible SAT-solver (2003).

use batsat::{Callbacks, ClauseKind, Lit, SolverInterface, SolverOpts, Var, lbool};
use ggp_stop::Stop;

use super::{LARGE, SatSolver};
use crate::threads::unless_stopped;

/// batsat, in Rust alone.
pub struct Batsat {
    /// None after a stop that the search did not wait for, as in CaDiCaL.
    solver: Option<batsat::Solver<Limit>>,
    stop: Stop,
    /// The clause or the assumptions that are passed to the solver.
    literals: Vec<Lit>,
    /// The number of literals in clauses.
    size: usize,
}

/// The limits of one search. The solver checks them at each decision.
#[derive(Default)]
struct Limit {
    stop: Stop,
    /// The remaining conflicts; `None` for no limit.
    conflicts: Option<u32>,
}

impl Callbacks for Limit {
    fn on_new_clause(&mut self, _: &[Lit], kind: ClauseKind) {
        if let (ClauseKind::Learnt, Some(left)) = (kind, &mut self.conflicts) {
            *left = left.saturating_sub(1);
        }
    }

    fn stop(&self) -> bool {
        self.conflicts == Some(0) || self.stop.is_over()
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
            if let Some(solver) = &mut self.solver {
                solver.var_of_int(number.unsigned_abs() - 1);
            }
            self.literals.push(literal(number));
        }
    }
}

impl SatSolver for Batsat {
    fn new() -> Self {
        Batsat {
            solver: Some(batsat::Solver::new(SolverOpts::default(), Limit::default())),
            stop: Stop::default(),
            literals: Vec::new(),
            size: 0,
        }
    }

    fn for_short_questions() -> Self {
        // batsat has no preprocessing.
        Batsat::new()
    }

    fn set_stop(&mut self, stop: Stop) {
        if let Some(solver) = &mut self.solver {
            solver.cb_mut().stop = stop.clone();
        }
        self.stop = stop;
    }

    fn add(&mut self, clause: &[i32]) {
        self.size += clause.len();
        self.write(clause);
        if let Some(solver) = &mut self.solver {
            solver.add_clause_reuse(&mut self.literals);
        }
    }

    fn solve(&mut self, assumptions: &[i32], conflicts: Option<u32>) -> Option<bool> {
        self.write(assumptions);
        let mut solver = self.solver.take()?;
        solver.cb_mut().conflicts = conflicts;
        let literals = std::mem::take(&mut self.literals);
        let search = move || {
            let found = solver.solve_limited(&literals);
            (solver, found)
        };
        let (solver, found) = if self.size > LARGE {
            unless_stopped(&self.stop, search)?
        } else {
            search()
        };
        self.solver = Some(solver);
        match found {
            found if found == lbool::TRUE => Some(true),
            found if found == lbool::FALSE => Some(false),
            _ => None,
        }
    }

    fn is_needed(&self, assumption: i32) -> bool {
        // The core holds the negations of assumptions.
        let solver = self.solver.as_ref();
        solver.is_some_and(|solver| solver.unsat_core_contains_lit(!literal(assumption)))
    }

    fn holds(&self, number: i32) -> bool {
        let value = |solver: &batsat::Solver<Limit>| solver.value_var(literal(number).var());
        (self.solver.as_ref().map(value) == Some(lbool::TRUE)) == (number > 0)
    }
}
