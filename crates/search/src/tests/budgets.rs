//! The results of searches that run out of budget.

use ggp_stop::Stop;
use std::time::Duration;

use super::*;

/// An endless tree without solutions.
struct Endless;

impl Problem for Endless {
    type State = Vec<bool>;
    type Key = Vec<bool>;
    type Action = bool;
    type Error = &'static str;

    fn start(&mut self) -> Result<Vec<bool>, &'static str> {
        Ok(Vec::new())
    }

    fn status(&mut self, _state: &Vec<bool>) -> Result<Status, &'static str> {
        Ok(Status::Open)
    }

    fn actions(&mut self, _: &Vec<bool>, out: &mut Vec<bool>) -> Result<(), &'static str> {
        out.extend([false, true]);
        Ok(())
    }

    fn result(&mut self, state: &Vec<bool>, action: &bool) -> Result<Vec<bool>, &'static str> {
        if state.len() > 60 {
            return Err("too deep");
        }
        Ok([state.as_slice(), &[*action]].concat())
    }

    fn key(&self, state: &Vec<bool>) -> Vec<bool> {
        state.clone()
    }

    fn key_meaning(&self) -> KeyMeaning {
        KeyMeaning::SameFuture
    }

    fn state_heap_bytes(&self, state: &Vec<bool>) -> u64 {
        state.len() as u64
    }

    fn key_heap_bytes(&self, key: &Vec<bool>) -> u64 {
        key.len() as u64
    }
}

#[test]
fn each_budget_ends_every_search() {
    let nodes = Budget {
        nodes: 1_000,
        ..Budget::default()
    };
    let memory = Budget {
        memory_bytes: 4_000,
        depth: 50,
        ..Budget::default()
    };
    let time = Budget {
        time: Some(Duration::from_millis(5)),
        depth: 50,
        ..Budget::default()
    };
    let set = Stop::raised();
    let stop = Budget {
        stop: set,
        ..Budget::default()
    };
    let budgets = [
        (&nodes, BudgetKind::Nodes),
        (&memory, BudgetKind::Memory),
        (&time, BudgetKind::Time),
        (&stop, BudgetKind::Interrupt),
    ];
    for (budget, expected) in budgets {
        let depth = budget.depth.min(50);
        let budget = Budget {
            depth,
            ..budget.clone()
        };
        for search in Search::every() {
            if search.needs_a_depth_limit() && expected == BudgetKind::Memory {
                continue; // this search has no table
            }
            let verdict = search.run(&mut Endless, &budget).unwrap();
            match verdict {
                Verdict::OutOfBudget { what, .. } => assert_eq!(what, expected, "{search:?}"),
                _ => panic!("{search:?} {expected:?}: {verdict:?}"),
            }
        }
    }
}

#[test]
fn the_depth_completed_is_the_last_whole_level() {
    // Levels 0 to 3 take 1 + 2 + 4 expansions breadth-first.
    let budget = Budget {
        nodes: 8,
        ..Budget::default()
    };
    let breadth = Search::Breadth(BreadthFirst::default()).run(&mut Endless, &budget);
    let expected = Verdict::OutOfBudget {
        depth_completed: Some(3),
        what: BudgetKind::Nodes,
    };
    assert_eq!(breadth, Ok(expected.clone()));
    // Limits 1 to 3 take 1, 3 and 7 expansions by iterative deepening.
    let budget = Budget {
        nodes: 12,
        ..Budget::default()
    };
    let iterative = Search::Iterative(IterativeDeepening::default()).run(&mut Endless, &budget);
    assert_eq!(iterative, Ok(expected));
}

#[test]
fn plans_found_before_the_budget_ran_out_are_returned() {
    // The budget is out between 1, which leads to the goal, and 2, which does too.
    let mut net = Net::new(&[&[1, 2], &[3], &[3], &[]], &[3], Clock::None);
    let budget = Budget {
        nodes: 2,
        ..Budget::default()
    };
    let all = BreadthFirst {
        plans: ALL,
        ..Default::default()
    };
    let verdict = Search::Breadth(all).run(&mut net, &budget).unwrap();
    let expected = Verdict::Solved {
        plans: vec![vec![0, 0]],
        optimal: true,
        coverage: Coverage::Unknown,
    };
    assert_eq!(verdict, expected);
}

#[test]
fn an_error_of_the_problem_ends_the_search() {
    let deep = Search::Depth(DepthFirst::default());
    assert_eq!(deep.run(&mut Endless, &Budget::default()), Err("too deep"));
}

#[test]
fn a_hint_that_merged_proves_nothing_when_the_budget_is_out() {
    let mut net = Net::new(&[&[1], &[0]], &[1], Clock::PaysAt(99));
    let budget = Budget {
        nodes: 20,
        ..Budget::default()
    };
    let first_pass = Search::Breadth(BreadthFirst::default()).run(&mut net, &budget);
    // The pass over keys is exhausted after two expansions, the exact one gets
    // the other eighteen.
    let expected = Verdict::OutOfBudget {
        depth_completed: Some(18),
        what: BudgetKind::Nodes,
    };
    assert_eq!(first_pass, Ok(expected));
    let budget = Budget {
        nodes: 1,
        ..Budget::default()
    };
    let verdict = Search::Iterative(IterativeDeepening::default()).run(&mut net, &budget);
    let expected = Verdict::OutOfBudget {
        depth_completed: Some(1),
        what: BudgetKind::Nodes,
    };
    assert_eq!(verdict, Ok(expected), "nothing was merged yet");
    // The loop at 0 is merged at once.
    let mut net = Net::new(
        &[&[0, 1], &[2], &[3], &[4], &[5], &[]],
        &[],
        Clock::PaysAt(99),
    );
    let budget = Budget {
        nodes: 3,
        ..Budget::default()
    };
    let verdict = Search::Breadth(BreadthFirst::default()).run(&mut net, &budget);
    let expected = Verdict::OutOfBudget {
        depth_completed: None,
        what: BudgetKind::Nodes,
    };
    assert_eq!(verdict, Ok(expected));
}
