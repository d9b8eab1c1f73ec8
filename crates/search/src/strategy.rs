//! Passes over keys, and the second pass over exact states where keys prove too little.

use super::budget::{Budget, Meter};
use super::stats::{Observer, Stats};
use super::{Compare, Coverage, Exact, KeyMeaning, Plans, Problem, Status, Verdict};

/// A search that can run on any problem, including [`Exact`].
pub(super) trait Strategy {
    /// The kind of key to compare.
    fn compare(&self) -> Compare;

    /// The plans to find.
    fn plans(&self) -> Plans;

    /// Returns true if the search merges states with equal keys.
    fn merges(&self) -> bool;

    /// Runs one pass to the depth limit `depth`. It relies on the problem's [`KeyMeaning`] and
    /// treats a hint like [`KeyMeaning::SameFuture`]. `compare` is used for statistics only.
    fn pass<P: Problem>(
        &self,
        problem: &mut P,
        plans: Plans,
        depth: u32,
        compare: Compare,
        meter: &mut Meter<'_>,
    ) -> Result<PassResult<P::Action>, P::Error>;
}

/// The result of one pass.
pub(super) struct PassResult<A> {
    pub(super) verdict: Verdict<A>,
    /// True if states with equal keys were merged. If not, the verdict holds for every
    /// [`KeyMeaning`].
    pub(super) merged: bool,
}

/// Runs `strategy`, and once more with exact states if the keys are only a hint and the
/// verdict claims more than they prove.
pub(super) fn run<S: Strategy, P: Problem>(
    strategy: &S,
    problem: &mut P,
    budget: &Budget,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> Result<Verdict<P::Action>, P::Error> {
    let meter = &mut Meter::new(budget, stats, observer);
    let wanted = strategy.plans();
    let exactly = |problem: &mut P, depth, meter: &mut Meter<'_>| {
        let outcome = strategy.pass(&mut Exact(problem), wanted, depth, Compare::State, meter)?;
        Ok(outcome.verdict)
    };
    if strategy.compare() == Compare::State {
        return exactly(problem, budget.depth, meter);
    }
    let hint = problem.key_meaning() == KeyMeaning::Hint && strategy.merges();
    // Under a hint, plans that combine different states with one key may not be real. The
    // first plan is a single walk and always real.
    let plans = if hint { Plans::First } else { wanted };
    let PassResult { verdict, merged } =
        strategy.pass(problem, plans, budget.depth, Compare::Key, meter)?;
    if !hint {
        return Ok(verdict);
    }
    match verdict {
        Verdict::Solved {
            plans,
            optimal,
            coverage,
        } => {
            let length = plans.first().map_or(0, |plan| plan.len() as u32);
            if wanted != Plans::First
                && let proved @ Verdict::Solved { .. } = exactly(problem, length, meter)?
            {
                return Ok(proved);
            }
            Ok(Verdict::Solved {
                plans,
                optimal: optimal && !merged,
                coverage,
            })
        }
        Verdict::OutOfBudget { what, .. } if merged => Ok(Verdict::OutOfBudget {
            depth_completed: None,
            what,
        }),
        Verdict::Unsolvable | Verdict::NoSolutionWithin(_) if merged => {
            exactly(problem, budget.depth, meter)
        }
        proved => Ok(proved),
    }
}

/// The verdict if `start` is not open, recorded as a separate level.
pub(super) fn at_start<P: Problem>(
    problem: &mut P,
    start: &P::State,
    compare: Compare,
    meter: &mut Meter<'_>,
) -> Result<Option<PassResult<P::Action>>, P::Error> {
    let status = problem.status(start)?;
    let verdict = match status {
        Status::Open => return Ok(None),
        Status::Dead => Verdict::Unsolvable,
        Status::Solved => Verdict::Solved {
            plans: vec![Vec::new()],
            optimal: true,
            coverage: Coverage::All,
        },
    };
    meter.begin_level(0, compare);
    meter.level().counts.generated = 1;
    meter.level().counts.solutions = u64::from(status == Status::Solved);
    meter.end_level();
    Ok(Some(PassResult {
        verdict,
        merged: false,
    }))
}
