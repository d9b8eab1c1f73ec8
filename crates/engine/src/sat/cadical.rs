//! CaDiCaL, by Biere et al.

use ggp_stop::Stop;

use super::SatSolver;

/// CaDiCaL, in C++.
pub struct Cadical(cadical::Solver<Terminator>);

struct Terminator(Stop);

impl cadical::Callbacks for Terminator {
    fn terminate(&mut self) -> bool {
        self.0.is_over()
    }
}

impl SatSolver for Cadical {
    fn new() -> Self {
        Cadical(cadical::Solver::new())
    }

    fn for_short_questions() -> Self {
        let solver = cadical::Solver::with_config("plain");
        Cadical(solver.expect("the solver knows this configuration"))
    }

    fn set_stop(&mut self, stop: Stop) {
        self.0.set_callbacks(Some(Terminator(stop)));
    }

    fn add(&mut self, clause: &[i32]) {
        self.0.add_clause(clause.iter().copied());
    }

    fn solve(&mut self, assumptions: &[i32], conflicts: Option<u32>) -> Option<bool> {
        let most = conflicts.map_or(-1, |most| i32::try_from(most).unwrap_or(i32::MAX));
        self.0
            .set_limit("conflicts", most)
            .expect("the solver knows this limit");
        self.0.solve_with(assumptions.iter().copied())
    }

    fn is_needed(&self, assumption: i32) -> bool {
        self.0.failed(assumption)
    }

    fn holds(&self, literal: i32) -> bool {
        (self.0.value(literal.abs()) == Some(true)) == (literal > 0)
    }
}
