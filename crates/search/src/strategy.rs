//! What a pass over keys is worth, and when a second pass over exact states
//! must follow it.

use super::budget::{Budget, Meter};
use super::stats::{Observer, Stats};
use super::{Compare, Coverage, Exact, KeyMeaning, Plans, Problem, Status, Verdict};

/// A search that can be run with any problem, and so with [`Exact`] too.
pub(super) trait Strategy {
    /// What the caller wants the tables to compare.
    fn compare(&self) -> Compare;

    /// The plans that the caller wants.
    fn plans(&self) -> Plans;

    /// Whether states with equal keys are ever taken for one another.
    fn merges(&self) -> bool;

    /// Runs one pass that believes what `problem` says of its keys, a hint
    /// being believed like [`KeyMeaning::SameFuture`], and looks no deeper than
    /// `depth`. `compare` is for the statistics only.
    fn pass<P: Problem>(
        &self,
        problem: &mut P,
        plans: Plans,
        depth: u32,
        compare: Compare,
        meter: &mut Meter<'_>,
    ) -> Result<Outcome<P::Action>, P::Error>;
}

/// What one pass found.
pub(super) struct Outcome<A> {
    pub(super) verdict: Verdict<A>,
    /// Whether two visits of a key were taken for one. If not, the verdict is
    /// true whatever the keys mean.
    pub(super) merged: bool,
}

/// Runs `strategy`, and once more with exact states if the keys are but a hint
/// and the verdict would claim more than they can prove.
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
    // Under a hint, plans put together from different states with one key may
    // not be real; the first plan is a single walk, and is.
    let plans = if hint { Plans::First } else { wanted };
    let Outcome { verdict, merged } =
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

/// The verdict if `start` is not open, counted as a level of its own.
pub(super) fn at_start<P: Problem>(
    problem: &mut P,
    start: &P::State,
    compare: Compare,
    meter: &mut Meter<'_>,
) -> Result<Option<Outcome<P::Action>>, P::Error> {
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
    Ok(Some(Outcome {
        verdict,
        merged: false,
    }))
}
