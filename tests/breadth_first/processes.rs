//! Searches that several processes share, which are threads of one process here.

use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use super::{Counted, own, run, scratch, up_to_symmetry, whole};
use crate::common::sized;
use ggp_search::{Budget, Stats};
use ggp_solver::planning::Puzzle;
use ggp_solver::planning::breadth_first::{BreadthFirstOptions, Processes, Spill, breadth_first};
use ggp_solver::planning::checkpoint::Checkpoint;

/// Runs a search in `count` processes, which are threads of this one here, and returns what
/// each of them found.
pub(super) fn in_processes(
    puzzle: &Puzzle,
    options: &BreadthFirstOptions,
    budget: &Budget,
    count: usize,
) -> Vec<Counted> {
    thread::scope(|scope| {
        let run = |own: Processes| {
            let options = BreadthFirstOptions {
                processes: Some(own),
                ..options.clone()
            };
            scope.spawn(move || run(puzzle, &options, budget))
        };
        let all = crate::common::in_processes(count).into_iter();
        let all: Vec<_> = all.map(run).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    })
}

#[test]
fn processes_do_not_change_results() {
    let folder = scratch("processes");
    let within = |depth, memory_bytes| Budget {
        depth,
        memory_bytes,
        ..Budget::default()
    };
    let plenty = 1 << 30;
    for (name, budget) in [
        ("senku", within(10, plenty)),
        ("eight_puzzle", within(u32::MAX, plenty)),
        ("hanoi", within(u32::MAX, plenty)),
        ("wolf_goat_cabbage", within(u32::MAX, plenty)),
        // So little that all levels are in files.
        ("eight_puzzle", within(u32::MAX, 500_000)),
    ] {
        let puzzle = own(name);
        let spill = (budget.memory_bytes < plenty).then(|| Spill {
            folder: folder.clone(),
            most_bytes: 1 << 30,
        });
        for options in [whole(), BreadthFirstOptions::default(), up_to_symmetry()] {
            let options = BreadthFirstOptions {
                // Little memory means small rounds, and so other counts in the last level of a
                // search that ends with a plan.
                whole: options.whole || spill.is_some(),
                spill: spill.clone(),
                ..options
            };
            let expected = run(&puzzle, &options, &within(budget.depth, plenty));
            for &count in sized(&[2, 4][..], &[1, 2, 3, 4]) {
                for found in in_processes(&puzzle, &options, &budget, count) {
                    assert_eq!(found, expected, "{name}, {count} processes, {options:?}");
                }
            }
        }
    }
}

#[test]
fn processes_go_on_from_a_folder() {
    let folder = scratch("segments");
    let eight = own("eight_puzzle");
    let expected = run(&eight, &whole(), &Budget::default());
    let mut options = BreadthFirstOptions {
        checkpoint: Some(Checkpoint {
            file: folder.clone(),
            every: Duration::ZERO,
        }),
        ..whole()
    };
    // The last piece ends by itself, and a checkpoint in another folder must be whole as well.
    for nodes in [20_000, 40_000, 60_000, u64::MAX] {
        let budget = Budget {
            nodes,
            ..Budget::default()
        };
        let found = in_processes(&eight, &options, &budget, 3).swap_remove(0);
        match nodes {
            u64::MAX => assert_eq!(found, expected),
            _ => assert_ne!(found, expected),
        }
        options.resume = Some(folder.clone());
        if nodes == 40_000 {
            options.checkpoint.as_mut().unwrap().file = scratch("segments-elsewhere");
        } else if nodes == 60_000 {
            options.resume = Some(options.checkpoint.as_ref().unwrap().file.clone());
        }
    }
}

#[test]
fn processes_of_other_searches_are_not_let_in() {
    let (hanoi, eight) = (own("hanoi"), own("eight_puzzle"));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    drop(listener);
    let error = |puzzle: &Puzzle, index: usize, depth: u32| {
        let options = BreadthFirstOptions {
            processes: Some(Processes {
                index,
                addresses: vec![address.clone(), "127.0.0.1:1".to_owned()],
                secret: String::new(),
                goes_on: false,
            }),
            ..whole()
        };
        let budget = Budget {
            depth,
            ..Budget::default()
        };
        let mut stats = Stats::default();
        let found = breadth_first(puzzle, &options, &budget, &mut stats, &mut ());
        found.unwrap_err().to_string()
    };
    for (puzzle, depth, differs) in [(&eight, 3, "the rules, "), (&hanoi, 4, "--depth differs")] {
        thread::scope(|scope| {
            let first = scope.spawn(|| error(&hanoi, 0, 3));
            let second = scope.spawn(|| error(puzzle, 1, depth));
            for (other, found) in [(1, first), (0, second)] {
                let expected = format!("process {other} searches something else: {differs}");
                let found = found.join().unwrap();
                assert!(found.starts_with(&expected), "{found}");
            }
        });
    }
}
