//! Depth-first search with a transposition table.
//!
//! The first plan found is returned; it is seldom a shortest one. Actions are tried in the
//! order of the problem, which has a large effect on the running time.

use super::budget::{Budget, Meter};
use super::depth_limited::{Completeness, DepthLimited, End, Reopen, Rules};
use super::stats::{Observer, Stats};
use super::strategy::{self, PassResult, Strategy};
use super::{Compare, KeyMeaning, Plans, Problem, Prune, Stop, Verdict};

/// The options of depth-first search. [`Budget::depth`] is the depth limit.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct DepthFirst {
    /// The kind of key in the transposition table.
    pub compare: Compare,
}

/// Finds a plan of any length.
///
/// A key that is reached again at a smaller step is expanded again, so that no
/// plan is lost to a depth limit or a counter; only without a depth limit, and
/// with [`KeyMeaning::SameFuture`], is each key expanded once. The whole search
/// is one level of `stats`.
///
/// # Errors
///
/// The first error of `problem`.
pub fn depth_first<P: Problem>(
    problem: &mut P,
    options: &DepthFirst,
    budget: &Budget,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> Result<Verdict<P::Action>, P::Error> {
    strategy::run(options, problem, budget, stats, observer)
}

impl Strategy for DepthFirst {
    fn compare(&self) -> Compare {
        self.compare
    }

    fn plans(&self) -> Plans {
        Plans::First
    }

    fn merges(&self) -> bool {
        true
    }

    fn pass<P: Problem>(
        &self,
        problem: &mut P,
        plans: Plans,
        depth: u32,
        compare: Compare,
        meter: &mut Meter<'_>,
    ) -> Result<PassResult<P::Action>, P::Error> {
        let start = problem.start()?;
        if let Some(outcome) = strategy::at_start(problem, &start, compare, meter)? {
            return Ok(outcome);
        }
        let reopen = match problem.key_meaning() {
            KeyMeaning::SameFuture if depth == u32::MAX => Reopen::Never,
            _ => Reopen::Nearer,
        };
        let mut search = DepthLimited::new(
            problem,
            start,
            Rules {
                prune: Prune::CYCLE,
                plans,
                reopen,
            },
        );
        meter.begin_level(0, compare);
        let end = search.pass(problem, depth, meter);
        if end.is_ok() {
            meter.end_level();
        }
        let merged = search.merged();
        let verdict = match end {
            Ok(End::Cut) => Verdict::NoSolutionWithin(depth),
            Ok(End::Exhausted) => Verdict::Unsolvable,
            Ok(End::Solved) => {
                let (plans, coverage) = search.into_plans(Completeness::Stopped);
                Verdict::Solved {
                    plans,
                    optimal: false,
                    coverage,
                }
            }
            Err(Stop::Budget(what)) => Verdict::OutOfBudget {
                depth_completed: None,
                what,
            },
            Err(Stop::Error(error)) => return Err(error),
        };
        Ok(PassResult { verdict, merged })
    }
}
