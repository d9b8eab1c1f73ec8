//! Iterative deepening with step-stripped cycle pruning.
//!
//! Depth-limited depth-first passes with the limits 0, 1, 2, … Within one pass
//! a state is not expanded if its key occurs on its path, or was visited with
//! the same or a larger remaining depth. The table of a pass keeps the least
//! step of each key, and a key that is reached again nearer to the start is
//! expanded again.
//!
//! Source: "Buttons and Lights" in Prolog, whose cycle check compares states
//! without their step counter.

use super::budget::{Budget, Meter};
use super::depth_limited::{Completeness, DepthLimited, End, Reopen, Rules};
use super::stats::{Observer, Stats};
use super::strategy::{self, PassResult, Strategy};
use super::{Compare, Plans, Problem, Prune, Stop, Verdict};

/// The options of iterative deepening.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct IterativeDeepening {
    /// The states to leave out. Dead leaves affect the counts only. A state is also a dead leaf
    /// if all its arcs lead to dead leaves or to keys visited at smaller steps.
    pub prune: Prune,
    /// The plans to find.
    pub plans: Plans,
    /// The kind of key in the visited table.
    pub compare: Compare,
}

/// Finds shortest plans.
///
/// Each iteration is one level of `stats`; with a [`KeyMeaning::Hint`] there
/// may be two passes, which [`LevelStats::compare`] distinguishes. A first plan under a hint
/// that merged states is real, but it may not be a shortest one.
///
/// [`KeyMeaning::Hint`]: super::KeyMeaning::Hint
/// [`LevelStats::compare`]: super::LevelStats::compare
///
/// # Errors
///
/// The first error of `problem`.
pub fn iterative_deepening<P: Problem>(
    problem: &mut P,
    options: &IterativeDeepening,
    budget: &Budget,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> Result<Verdict<P::Action>, P::Error> {
    strategy::run(options, problem, budget, stats, observer)
}

impl Strategy for IterativeDeepening {
    fn compare(&self) -> Compare {
        self.compare
    }

    fn plans(&self) -> Plans {
        self.plans
    }

    fn merges(&self) -> bool {
        self.prune.cycle
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
        let rules = Rules {
            prune: self.prune,
            plans,
            reopen: Reopen::Nearer,
        };
        let mut search = DepthLimited::new(problem, start, rules);
        let mut limit = 0;
        loop {
            meter.begin_level(limit, compare);
            let end = search.pass(problem, limit, meter);
            if end.is_ok() {
                meter.end_level();
            }
            let merged = search.merged();
            let completeness = match end {
                Ok(End::Cut) if limit < depth => {
                    limit += 1;
                    continue;
                }
                Ok(_) => Completeness::Whole,
                Err(_) => Completeness::Stopped,
            };
            let verdict = match end {
                Err(Stop::Error(error)) => return Err(error),
                // Every smaller limit was searched completely.
                _ if search.has_found() => {
                    let (plans, coverage) = search.into_plans(completeness);
                    Verdict::Solved {
                        plans,
                        optimal: true,
                        coverage,
                    }
                }
                Err(Stop::Budget(what)) => Verdict::OutOfBudget {
                    depth_completed: limit.checked_sub(1),
                    what,
                },
                Ok(End::Exhausted) => Verdict::Unsolvable,
                Ok(End::Cut | End::Solved) => Verdict::NoSolutionWithin(depth),
            };
            return Ok(PassResult { verdict, merged });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy_problems::{Lights, Paid};

    /// One line per iteration: limit, expanded, generated, cycles, dead leaves,
    /// solutions, frontier.
    fn check(prune: Prune, expected: &str) {
        let options = IterativeDeepening {
            prune,
            plans: Plans::AllShortest { max: 9 },
            ..Default::default()
        };
        let mut stats = Stats::default();
        let lights = &mut Lights {
            paid: Paid::AtAnyStep,
        };
        iterative_deepening(lights, &options, &Budget::default(), &mut stats, &mut ()).unwrap();
        let lines: Vec<String> = stats
            .levels
            .iter()
            .map(|level| {
                let c = level.counts;
                format!(
                    "{}: {} {} {} {} {} {}",
                    level.depth,
                    c.expanded,
                    c.generated,
                    c.cycles,
                    c.dead_leaves,
                    c.solutions,
                    level.frontier
                )
            })
            .collect();
        assert_eq!(lines.join(", "), expected);
    }

    #[test]
    fn unpruned_iterations_are_whole_trees() {
        check(
            Prune::NONE,
            "0: 0 1 0 0 0 1, 1: 1 4 0 0 0 3, 2: 4 13 0 0 0 9, 3: 13 40 0 0 0 27, \
             4: 40 121 0 0 0 81, 5: 121 364 0 0 0 243, 6: 364 1093 0 0 2 0",
        );
    }

    #[test]
    fn dead_leaves_are_all_but_the_ways_to_a_solution() {
        // 1,093 less 1,082 are the 11 states on the two plans.
        check(
            Prune::DEAD_LEAF,
            "0: 0 1 0 0 0 1, 1: 1 4 0 0 0 3, 2: 4 13 0 0 0 9, 3: 13 40 0 0 0 27, \
             4: 40 121 0 0 0 81, 5: 121 364 0 0 0 243, 6: 364 1093 0 1082 2 0",
        );
    }

    #[test]
    fn without_cycles_an_iteration_is_the_states_within_its_limit() {
        // With five steps and more, one state is first reached at step 5 and
        // then entered again at step 3.
        check(
            Prune::ALL,
            "0: 0 1 0 0 0 1, 1: 1 2 2 0 0 1, 2: 2 3 4 0 0 1, 3: 3 5 5 0 0 2, \
             4: 5 6 10 0 0 1, 5: 6 8 11 0 0 2, 6: 8 9 16 1 1 0",
        );
    }
}
