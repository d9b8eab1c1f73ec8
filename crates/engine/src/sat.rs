//! The SAT solver, behind a trait.
//!
//! [`Solver`] is batsat, which is Rust alone, or with the feature `cadical`
//! CaDiCaL, which needs a C++ compiler and is faster on hard formulas.
//!
//! Variables and their negations are numbers other than 0, as in DIMACS.

#[cfg(any(test, not(feature = "cadical")))]
mod batsat;
#[cfg(feature = "cadical")]
mod cadical;

use ggp_stop::Stop;

#[cfg(any(test, not(feature = "cadical")))]
pub use batsat::Batsat;
#[cfg(feature = "cadical")]
pub use cadical::Cadical;

/// The solver that this build uses.
#[cfg(feature = "cadical")]
pub type Solver = Cadical;
/// The solver that this build uses.
#[cfg(not(feature = "cadical"))]
pub type Solver = Batsat;

/// Of a formula with more literals, some phases of a search look at the stop too rarely: such a search is in a
/// thread of its own, and left after a stop.
const LARGE: usize = 200_000;

/// An incremental SAT solver.
///
/// ```
/// use ggp_engine::sat::{SatSolver, Solver};
///
/// let mut solver = Solver::new();
/// solver.add(&[1, 2]);
/// solver.add(&[-1, 2]);
/// assert_eq!(solver.solve(&[], None), Some(true));
/// assert!(solver.holds(2));
/// assert_eq!(solver.solve(&[3, -2], None), Some(false));
/// assert!(solver.is_needed(-2) && !solver.is_needed(3));
/// ```
pub trait SatSolver {
    /// A solver without clauses.
    fn new() -> Self;

    /// A solver without clauses that spends no time on preprocessing. It suits
    /// many short queries.
    fn for_short_questions() -> Self;

    /// Sets the end of all later searches. [`SatSolver::solve`] then returns `None`.
    fn set_stop(&mut self, stop: Stop);

    /// Adds a clause: one of these literals holds.
    fn add(&mut self, clause: &[i32]);

    /// True if the clauses are satisfiable under the assumptions. The answer is
    /// `None` if that takes more conflicts than the limit, or if the search was
    /// stopped.
    fn solve(&mut self, assumptions: &[i32], conflicts: Option<u32>) -> Option<bool>;

    /// True if the last refutation used this assumption.
    fn is_needed(&self, assumption: i32) -> bool;

    /// The value of a literal in the last model. A variable that the
    /// model leaves open counts as false.
    fn holds(&self, literal: i32) -> bool;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pigeons in one hole fewer: each has a hole, and no hole has two.
    fn pigeons<S: SatSolver>(solver: &mut S, pigeons: i32) {
        let sits = |pigeon: i32, hole: i32| 1 + pigeon * (pigeons - 1) + hole;
        for pigeon in 0..pigeons {
            let holes: Vec<i32> = (0..pigeons - 1).map(|hole| sits(pigeon, hole)).collect();
            solver.add(&holes);
            for other in 0..pigeon {
                for hole in 0..pigeons - 1 {
                    solver.add(&[-sits(pigeon, hole), -sits(other, hole)]);
                }
            }
        }
    }

    fn keeps_its_contract<S: SatSolver>() {
        let mut solver = S::new();
        // A clause may name a literal twice, or one and its negation.
        solver.add(&[1, 1, 2]);
        solver.add(&[3, -3]);
        assert_eq!(solver.solve(&[-1], None), Some(true));
        assert!(solver.holds(2) && solver.holds(-1) && !solver.holds(1));
        assert!(solver.holds(-90), "an unknown variable is false");
        assert_eq!(solver.solve(&[4, -1, -2, 5], None), Some(false));
        assert!(solver.is_needed(-1) && solver.is_needed(-2));
        assert!(!solver.is_needed(4) && !solver.is_needed(5));
        // The clauses alone are still satisfiable.
        assert_eq!(solver.solve(&[], None), Some(true));
        solver.add(&[-1]);
        solver.add(&[-2]);
        assert_eq!(solver.solve(&[6], None), Some(false));
        assert!(!solver.is_needed(6));

        let mut solver = S::for_short_questions();
        pigeons(&mut solver, 7);
        assert_eq!(solver.solve(&[], Some(5)), None);
        assert_eq!(solver.solve(&[], None), Some(false));

        let mut solver = S::new();
        let stop = Stop::new();
        solver.set_stop(stop.clone());
        pigeons(&mut solver, 12);
        stop.raise();
        assert_eq!(solver.solve(&[], None), None);
    }

    #[cfg(feature = "cadical")]
    #[test]
    fn cadical_keeps_its_contract() {
        keeps_its_contract::<Cadical>();
    }

    #[test]
    fn batsat_keeps_its_contract() {
        keeps_its_contract::<Batsat>();
    }
}
