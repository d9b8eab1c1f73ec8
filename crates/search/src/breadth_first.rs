//! Breadth-first search, level by level.
//!
//! In: a problem. Out: one or all shortest plans, or a proof that there is none. Only two
//! levels of states are in memory; of the others only their keys and first arcs are kept.

use super::budget::{Budget, Meter};
use super::plan_graph::PlanGraph;
use super::stats::{Observer, Stats, bump};
use super::strategy::{self, PassResult, Strategy};
use super::visited::{Visit, Visited};
use super::{BudgetKind, Compare, Coverage, Plans, Problem, Status, Stop, Verdict};

/// The options of breadth-first search. [`Budget::depth`] is the depth limit.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct BreadthFirst {
    /// The plans to find.
    pub plans: Plans,
    /// The kind of key in the visited table.
    pub compare: Compare,
}

/// Finds shortest plans, or proves by exhaustion that there is none.
///
/// Level `d` of `stats` covers the states that are `d` actions from the start.
///
/// # Errors
///
/// The first error of `problem`.
pub fn breadth_first<P: Problem>(
    problem: &mut P,
    options: &BreadthFirst,
    budget: &Budget,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> Result<Verdict<P::Action>, P::Error> {
    strategy::run(options, problem, budget, stats, observer)
}

impl Strategy for BreadthFirst {
    fn compare(&self) -> Compare {
        self.compare
    }

    fn plans(&self) -> Plans {
        self.plans
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
        let mut flood = Flood::new(plans);
        let mut completed = None;
        let mut end = flood.begin(problem, start, compare, meter);
        while end.is_ok() {
            completed = Some(flood.step);
            if flood.is_over() || flood.step >= depth {
                break;
            }
            end = flood.advance(problem, compare, meter);
        }
        let what = match end {
            Ok(()) => None,
            Err(Stop::Budget(what)) => Some(what),
            Err(Stop::Error(error)) => return Err(error),
        };
        Ok(PassResult {
            merged: flood.merged,
            verdict: flood.into_verdict(completed, what),
        })
    }
}

/// A search in progress: all levels up to `step` are generated.
struct Flood<P: Problem> {
    plans: Plans,
    step: u32,
    visited: Visited<P::Key>,
    plan_graph: PlanGraph<P::Action>,
    /// The open states of the level `step`.
    frontier: Vec<(P::State, u32)>,
    goals: Vec<u32>,
    merged: bool,
    state_bytes: u64,
}

impl<P: Problem> Flood<P> {
    fn new(plans: Plans) -> Self {
        Flood {
            plans,
            step: 0,
            visited: Visited::new(),
            plan_graph: PlanGraph::new(),
            frontier: Vec::new(),
            goals: Vec::new(),
            merged: false,
            state_bytes: size_of::<(P::State, u32)>() as u64,
        }
    }

    fn is_over(&self) -> bool {
        !self.goals.is_empty() || self.frontier.is_empty()
    }

    fn begin(
        &mut self,
        problem: &mut P,
        start: P::State,
        compare: Compare,
        meter: &mut Meter<'_>,
    ) -> Result<(), Stop<P::Error>> {
        meter.begin_level(0, compare);
        let key = problem.key(&start);
        let heap_bytes = problem.key_heap_bytes(&key);
        self.visited.visit(key, heap_bytes, 0)?;
        bump(&mut self.state_bytes, problem.state_heap_bytes(&start));
        self.frontier.push((start, 0));
        meter.level().counts.generated = 1;
        meter.level().frontier = 1;
        meter.end_level();
        Ok(())
    }

    /// Generates the next level.
    fn advance(
        &mut self,
        problem: &mut P,
        compare: Compare,
        meter: &mut Meter<'_>,
    ) -> Result<(), Stop<P::Error>> {
        self.step += 1;
        meter.begin_level(self.step, compare);
        // The states of the level before are freed only after the last of them.
        let held = self.frontier.len();
        let mut next = Vec::new();
        let mut actions = Vec::new();
        for (state, from) in std::mem::take(&mut self.frontier) {
            meter.expand(self.visited.len(), self.bytes(held + next.len()))?;
            actions.clear();
            problem.actions(&state, &mut actions).map_err(Stop::Error)?;
            for action in actions.drain(..) {
                meter.arc()?;
                let child = problem.result(&state, &action).map_err(Stop::Error)?;
                let key = problem.key(&child);
                let heap_bytes = problem.key_heap_bytes(&key);
                let visit = self.visited.visit(key, heap_bytes, self.step)?;
                let level = meter.level();
                let Visit::Fresh(node) = visit else {
                    bump(&mut level.counts.cycles, 1);
                    self.merged = true;
                    if let Visit::SameStep(node) = visit
                        && self.plans != Plans::First
                    {
                        self.plan_graph.link(from, action, node)?;
                    }
                    continue;
                };
                self.plan_graph.link(from, action, node)?;
                bump(&mut level.counts.generated, 1);
                match problem.status(&child).map_err(Stop::Error)? {
                    Status::Open => {
                        bump(&mut level.frontier, 1);
                        next.push((child, node));
                    }
                    Status::Dead => {}
                    Status::Solved => {
                        bump(&mut level.counts.solutions, 1);
                        self.goals.push(node);
                        if self.plans == Plans::First {
                            meter.end_level();
                            return Ok(());
                        }
                    }
                }
            }
        }
        self.frontier = next;
        meter.end_level();
        Ok(())
    }

    /// `completed` is the last level that was generated completely, and `what` the exhausted
    /// limit, if any.
    fn into_verdict(self, completed: Option<u32>, what: Option<BudgetKind>) -> Verdict<P::Action> {
        if !self.goals.is_empty() {
            let max = match self.plans {
                Plans::First => 1,
                Plans::AllShortest { max } => max.max(1),
            };
            let (plans, more) = self.plan_graph.plans(&self.goals, max);
            let coverage = match (self.plans, what) {
                _ if more => Coverage::Capped,
                (Plans::AllShortest { .. }, None) => Coverage::All,
                _ => Coverage::Unknown,
            };
            return Verdict::Solved {
                plans,
                optimal: true,
                coverage,
            };
        }
        match what {
            Some(what) => Verdict::OutOfBudget {
                depth_completed: completed,
                what,
            },
            None if self.frontier.is_empty() => Verdict::Unsolvable,
            None => Verdict::NoSolutionWithin(self.step),
        }
    }

    fn bytes(&self, states: usize) -> u64 {
        (states as u64)
            .saturating_mul(self.state_bytes)
            .saturating_add(self.visited.bytes())
            .saturating_add(self.plan_graph.bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy_problems::{Clock, Lights, Net, Paid};

    #[test]
    fn levels_have_the_states_at_their_distance() {
        let mut stats = Stats::default();
        let lights = &mut Lights {
            paid: Paid::AtAnyStep,
        };
        let options = BreadthFirst::default();
        breadth_first(lights, &options, &Budget::default(), &mut stats, &mut ()).unwrap();
        let generated: Vec<u64> = stats
            .levels
            .iter()
            .map(|level| level.counts.generated)
            .collect();
        assert_eq!(generated, [1, 1, 1, 2, 1, 1, 1]);
        let depths: Vec<u32> = stats.levels.iter().map(|level| level.depth).collect();
        assert_eq!(depths, [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(stats.total().expanded, 7);
        assert_eq!(stats.total().solutions, 1);
        assert_eq!(stats.peak_entries, 7);
        assert!(stats.peak_bytes > 0);
    }

    #[test]
    fn levels_distinguish_a_second_pass() {
        let mut stats = Stats::default();
        // Node 1 pays at step 2 only, when the walk is back at 0.
        let mut net = Net::new(&[&[1], &[0]], &[1], Clock::PaysAt(2));
        let options = BreadthFirst::default();
        let verdict = breadth_first(&mut net, &options, &Budget::default(), &mut stats, &mut ());
        assert_eq!(verdict, Ok(Verdict::Unsolvable));
        let passes: Vec<(Compare, u32)> = stats
            .levels
            .iter()
            .map(|level| (level.compare, level.depth))
            .collect();
        let [key, state] = [Compare::Key, Compare::State];
        assert_eq!(
            passes,
            [
                (key, 0),
                (key, 1),
                (key, 2),
                (state, 0),
                (state, 1),
                (state, 2)
            ]
        );
    }

    struct Watch {
        levels: usize,
        ticks: usize,
    }

    impl Observer for Watch {
        fn level(&mut self, stats: &Stats) {
            self.levels += 1;
            assert_eq!(stats.levels.len(), self.levels);
        }

        fn tick(&mut self, _stats: &Stats) {
            self.ticks += 1;
        }
    }

    #[test]
    fn an_observer_sees_every_level_and_some_arcs() {
        // 0 has ten thousand arcs to 1, and 1 one arc to itself.
        let mut net = Net {
            arcs: vec![vec![1; 10_000], vec![1]],
            goals: vec![],
            clock: Clock::None,
        };
        let mut watch = Watch {
            levels: 0,
            ticks: 0,
        };
        let (options, stats) = (BreadthFirst::default(), &mut Stats::default());
        let budget = Budget::default();
        breadth_first(&mut net, &options, &budget, stats, &mut watch).unwrap();
        assert_eq!((watch.levels, watch.ticks), (3, 2));
        assert_eq!(stats.total().arcs, 10_001);
    }
}
