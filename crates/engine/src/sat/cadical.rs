//! CaDiCaL, by Biere et al.

use ggp_stop::Stop;

use super::{LARGE, SatSolver};
use crate::threads::unless_stopped;

/// CaDiCaL, in C++.
pub struct Cadical {
    /// None after a stop that the search did not wait for: it then goes on in a thread of its own until
    /// it looks at the stop.
    solver: Option<cadical::Solver<Terminator>>,
    stop: Option<Stop>,
    /// The number of literals in clauses.
    size: usize,
}

struct Terminator(Stop);

impl cadical::Callbacks for Terminator {
    fn terminate(&mut self) -> bool {
        self.0.is_over()
    }
}

impl Cadical {
    fn of(solver: cadical::Solver<Terminator>) -> Self {
        Cadical {
            solver: Some(solver),
            stop: None,
            size: 0,
        }
    }
}

impl SatSolver for Cadical {
    fn new() -> Self {
        Cadical::of(cadical::Solver::new())
    }

    fn for_short_questions() -> Self {
        let solver = cadical::Solver::with_config("plain");
        Cadical::of(solver.expect("the solver knows this configuration"))
    }

    fn set_stop(&mut self, stop: Stop) {
        if let Some(solver) = &mut self.solver {
            solver.set_callbacks(Some(Terminator(stop.clone())));
        }
        self.stop = Some(stop);
    }

    fn add(&mut self, clause: &[i32]) {
        self.size += clause.len();
        if let Some(solver) = &mut self.solver {
            solver.add_clause(clause.iter().copied());
        }
    }

    fn solve(&mut self, assumptions: &[i32], conflicts: Option<u32>) -> Option<bool> {
        let mut solver = self.solver.take()?;
        let most = conflicts.map_or(-1, |most| i32::try_from(most).unwrap_or(i32::MAX));
        solver
            .set_limit("conflicts", most)
            .expect("the solver knows this limit");
        let assumptions = assumptions.to_vec();
        let search = move || {
            let found = solver.solve_with(assumptions);
            (solver, found)
        };
        let (solver, found) = match &self.stop {
            Some(stop) if self.size > LARGE => unless_stopped(stop, search)?,
            _ => search(),
        };
        self.solver = Some(solver);
        found
    }

    fn is_needed(&self, assumption: i32) -> bool {
        let solver = self.solver.as_ref();
        solver.is_some_and(|solver| solver.failed(assumption))
    }

    fn holds(&self, literal: i32) -> bool {
        let value = |solver: &cadical::Solver<Terminator>| solver.value(literal.abs());
        (self.solver.as_ref().and_then(value) == Some(true)) == (literal > 0)
    }
}
