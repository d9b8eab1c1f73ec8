//! Common properties of all searches, on toy graphs and against brute force.

mod budgets;

use super::breadth_first::{BreadthFirst, breadth_first};
use super::depth_first::{DepthFirst, depth_first};
use super::iterative_deepening::{IterativeDeepening, iterative_deepening};
use super::toy_problems::{Clock, Lights, Net, Paid, is_plan, shortest_by_brute_force};
use super::*;

const ALL: Plans = Plans::AllShortest { max: 10_000 };

/// One of the searches, with its options.
#[derive(Copy, Clone, Debug)]
enum Search {
    Iterative(IterativeDeepening),
    Breadth(BreadthFirst),
    Depth(DepthFirst),
}

impl Search {
    fn every() -> Vec<Search> {
        let mut searches = Vec::new();
        for compare in [Compare::Key, Compare::State] {
            for plans in [Plans::First, ALL] {
                for prune in [Prune::NONE, Prune::CYCLE, Prune::DEAD_LEAF, Prune::ALL] {
                    let options = IterativeDeepening {
                        prune,
                        plans,
                        compare,
                    };
                    searches.push(Search::Iterative(options));
                }
                searches.push(Search::Breadth(BreadthFirst { plans, compare }));
            }
            searches.push(Search::Depth(DepthFirst { compare }));
        }
        searches
    }

    fn run<P: Problem>(
        &self,
        problem: &mut P,
        budget: &Budget,
    ) -> Result<Verdict<P::Action>, P::Error> {
        let stats = &mut Stats::default();
        match self {
            Search::Iterative(options) => {
                iterative_deepening(problem, options, budget, stats, &mut ())
            }
            Search::Breadth(options) => breadth_first(problem, options, budget, stats, &mut ()),
            Search::Depth(options) => depth_first(problem, options, budget, stats, &mut ()),
        }
    }

    /// Returns true if the search does not terminate in an infinite graph.
    fn needs_a_depth_limit(&self) -> bool {
        matches!(self, Search::Iterative(options) if !options.prune.cycle)
    }

    fn wants_all(&self) -> bool {
        match self {
            Search::Iterative(options) => options.plans != Plans::First,
            Search::Breadth(options) => options.plans != Plans::First,
            Search::Depth(_) => false,
        }
    }

    /// Returns true if its first plan is always a shortest one.
    fn is_optimal(&self, meaning: KeyMeaning) -> bool {
        let exact = |compare| meaning != KeyMeaning::Hint || compare == Compare::State;
        match self {
            Search::Iterative(options) => {
                exact(options.compare) || !options.prune.cycle || self.wants_all()
            }
            Search::Breadth(options) => exact(options.compare) || self.wants_all(),
            Search::Depth(_) => false,
        }
    }
}

/// No net of [`Net::random`] has a shortest plan longer than this.
const DEEP: u32 = 6;

fn check(search: Search, net: &mut Net, depth: u32, context: &str) {
    let shortest = shortest_by_brute_force(net, depth.min(DEEP));
    let solvable = !shortest_by_brute_force(net, DEEP).is_empty();
    let budget = Budget {
        depth,
        ..Budget::default()
    };
    let verdict = search.run(net, &budget).unwrap();
    let context = format!("{context} {search:?} {net:?} depth {depth}: {verdict:?}");
    match verdict {
        Verdict::Solved {
            plans,
            optimal,
            coverage,
        } => {
            assert!(!plans.is_empty(), "{context}");
            for plan in &plans {
                assert!(is_plan(net, plan), "{context}");
                assert!(plan.len() as u32 <= depth, "{context}");
                assert!(!optimal || plan.len() == shortest[0].len(), "{context}");
            }
            assert!(
                optimal || !search.is_optimal(net.key_meaning()),
                "{context}"
            );
            if search.wants_all() || coverage == Coverage::All {
                assert_eq!(plans, shortest, "{context}");
            }
        }
        Verdict::Unsolvable => assert!(!solvable, "{context}"),
        Verdict::NoSolutionWithin(limit) => {
            assert_eq!(limit, depth, "{context}");
            assert!(shortest.is_empty(), "{context}");
        }
        Verdict::OutOfBudget { .. } => panic!("{context}"),
    }
}

#[test]
fn every_search_agrees_with_brute_force_at_every_depth_limit() {
    for seed in 0..300 {
        let mut net = Net::random(seed);
        for search in Search::every() {
            for depth in 0..=DEEP {
                check(search, &mut net, depth, &format!("seed {seed}"));
            }
        }
    }
}

#[test]
fn every_search_agrees_with_brute_force_without_a_depth_limit() {
    for seed in 0..1_500 {
        let mut net = Net::random(seed);
        for search in Search::every() {
            if net.clock != Clock::None || !search.needs_a_depth_limit() {
                check(search, &mut net, u32::MAX, &format!("seed {seed}"));
            }
        }
    }
}

#[test]
fn states_reached_deep_first_and_shallow_later_are_not_lost() {
    // 0 -> 1 -> 2 and 0 -> 2, then 2 -> 3 -> 4, with only three steps of time.
    let arcs: &[&[usize]] = &[&[1, 2], &[2], &[3], &[4], &[]];
    let mut net = Net::new(arcs, &[4], Clock::EndsAt(3));
    assert!(!mere_membership_finds(&mut net));
    for search in Search::every() {
        check(search, &mut net, u32::MAX, "");
        assert!(matches!(
            search.run(&mut net, &Budget::default()),
            Ok(Verdict::Solved { .. })
        ));
    }
}

/// Depth-first search that never enters a key twice.
fn mere_membership_finds(net: &mut Net) -> bool {
    let mut seen = vec![0];
    let mut path = vec![net.start().unwrap()];
    while let Some(state) = path.last() {
        let actions = match net.status(state).unwrap() {
            Status::Solved => return true,
            Status::Dead => 0,
            Status::Open => net.arcs[state.0].len(),
        };
        let state = *state;
        let mut children = (0..actions).map(|action| net.result(&state, &action).unwrap());
        match children.find(|child| !seen.contains(&child.0)) {
            Some(child) => {
                seen.push(child.0);
                path.push(child);
            }
            None => {
                path.pop();
            }
        }
    }
    false
}

#[test]
fn a_counter_that_matters_falls_back_to_exact_states() {
    // The goal 1 is a solution at step 3 only, and every path there uses the loop.
    let mut net = Net::new(&[&[1], &[0]], &[1], Clock::PaysAt(3));
    for search in Search::every() {
        let verdict = search.run(&mut net, &Budget::default()).unwrap();
        let Verdict::Solved { plans, .. } = verdict else {
            panic!("{search:?}: {verdict:?}")
        };
        assert_eq!(plans, [[0, 0, 0]], "{search:?}");
    }
    // At step 2 the walk is back at 0.
    net.clock = Clock::PaysAt(2);
    for search in Search::every() {
        let verdict = search.run(&mut net, &Budget::default());
        assert_eq!(verdict, Ok(Verdict::Unsolvable), "{search:?}");
    }
}

#[test]
fn a_plan_found_under_a_hint_that_merged_is_not_called_shortest() {
    // Goals pay at even steps, and 3 is three arcs away: it takes the loop at 0
    // to be there at step 4. Without it, 6 at step 6 is the first that pays.
    let arcs: &[&[usize]] = &[&[0, 1], &[2], &[3], &[4], &[5], &[6], &[]];
    let clock = Clock::PaysEvery { period: 2, last: 9 };
    let mut net = Net::new(arcs, &[3, 6], clock);
    for search in Search::every() {
        let Ok(Verdict::Solved { plans, optimal, .. }) = search.run(&mut net, &Budget::default())
        else {
            panic!("{search:?}")
        };
        assert!(!optimal || plans[0].len() == 4, "{search:?} {plans:?}");
        let breadth = matches!(search, Search::Breadth(options) if options.compare == Compare::Key);
        if breadth && !search.wants_all() {
            assert_eq!((plans[0].len(), optimal), (6, false));
        }
    }
}

#[test]
fn lights_have_exactly_two_shortest_plans() {
    for paid in [Paid::AtAnyStep, Paid::AtTheLastStep] {
        for search in Search::every() {
            let verdict = search
                .run(&mut Lights { paid }, &Budget::default())
                .unwrap();
            let Verdict::Solved {
                plans, coverage, ..
            } = verdict
            else {
                panic!("{search:?}")
            };
            let plans: Vec<String> = plans.iter().map(|plan| plan.iter().collect()).collect();
            if search.wants_all() {
                assert_eq!(plans, ["abacba", "abcaba"], "{search:?}");
                assert_eq!(coverage, Coverage::All);
            } else {
                assert_eq!(plans.len(), 1);
            }
        }
    }
}

/// A ladder of `rungs` with two arcs a rung: `2^rungs` shortest plans.
fn ladder(rungs: usize) -> Net {
    let arcs = (0..=rungs)
        .map(|n| if n < rungs { vec![n + 1; 2] } else { vec![] })
        .collect();
    Net {
        arcs,
        goals: vec![rungs],
        clock: Clock::None,
    }
}

#[test]
fn plans_above_the_maximum_are_reported() {
    for (max, expected) in [
        (7, Coverage::Capped),
        (8, Coverage::All),
        (9, Coverage::All),
    ] {
        let plans = Plans::AllShortest { max };
        for prune in [Prune::NONE, Prune::CYCLE] {
            let options = IterativeDeepening {
                prune,
                plans,
                ..Default::default()
            };
            check_cap(Search::Iterative(options), max, expected);
        }
        check_cap(
            Search::Breadth(BreadthFirst {
                plans,
                ..Default::default()
            }),
            max,
            expected,
        );
    }
}

fn check_cap(search: Search, max: usize, expected: Coverage) {
    let verdict = search.run(&mut ladder(3), &Budget::default()).unwrap();
    let Verdict::Solved {
        plans,
        optimal: true,
        coverage,
    } = verdict
    else {
        panic!("{verdict:?}")
    };
    assert_eq!(
        (plans.len(), coverage),
        (max.min(8), expected),
        "{search:?}"
    );
    assert_eq!(plans[1], [0, 0, 1], "{search:?}");
}

#[test]
fn a_long_line_overflows_no_stack() {
    let count = 100_000;
    let arcs = (0..count)
        .map(|n| if n + 1 < count { vec![n + 1] } else { vec![] })
        .collect();
    let mut line = Net {
        arcs,
        goals: vec![count - 1],
        clock: Clock::None,
    };
    for search in [
        Search::Depth(DepthFirst::default()),
        Search::Breadth(BreadthFirst::default()),
    ] {
        let verdict = search.run(&mut line, &Budget::default()).unwrap();
        let Verdict::Solved { plans, .. } = verdict else {
            panic!("{verdict:?}")
        };
        assert_eq!(plans[0].len(), count - 1);
    }
}

#[test]
fn a_solved_start_has_the_empty_plan_and_a_dead_one_none() {
    for search in Search::every() {
        let mut solved = Net::new(&[&[0]], &[0], Clock::None);
        let verdict = search.run(&mut solved, &Budget::default()).unwrap();
        let expected = Verdict::Solved {
            plans: vec![vec![]],
            optimal: true,
            coverage: Coverage::All,
        };
        assert_eq!(verdict, expected);
        let mut dead = Net::new(&[&[0]], &[], Clock::EndsAt(0));
        assert_eq!(
            search.run(&mut dead, &Budget::default()),
            Ok(Verdict::Unsolvable)
        );
    }
}
