//! Growth of a tree on each thread.

use ggp_stop::Instant;
use std::hash::Hash;
use std::sync::atomic::{AtomicU64, Ordering};

use super::*;

fn options(seed: u64) -> Mcts {
    Mcts {
        graph: true,
        solver: true,
        batch: 8,
        each: 2,
        seed,
        ..Mcts::default()
    }
}

/// Trees and the result of their growth.
type Grown<G> = (
    Vec<Tree<<G as GameProblem>::State, <G as GameProblem>::Move>>,
    Result<(), <G as GameProblem>::Error>,
);

/// Grows a tree with each copy of the game.
fn grow<G>(
    games: &mut [G],
    root: G::State,
    options: &Mcts,
    most: u64,
    proceed: &(dyn Fn() -> bool + Sync),
) -> Grown<G>
where
    G: GameProblem<State: Send, Move: Send, Error: Send + std::fmt::Debug> + Send,
{
    let mut games: Vec<_> = games
        .iter_mut()
        .map(|game| OneByOne::new(game, 100))
        .collect();
    let new = |game: &mut _| Tree::new(game, root.clone(), options).unwrap();
    let mut trees: Vec<_> = games.iter_mut().map(new).collect();
    let is_done = |tree: &Tree<_, _>| tree.is_settled(0);
    let go_on = &mut |_: &Tree<_, _>, _: &Others<_>| true;
    let result = grow_in_parallel(&mut trees, &mut games, most, None, proceed, &is_done, go_on);
    (trees, result)
}

/// The joined statistics.
fn joined<S: Clone + Eq + Hash, M: Clone + Eq + Hash>(trees: &[Tree<S, M>]) -> MctsReport<M> {
    let mut report = trees[0].report(BudgetKind::Iterations);
    for tree in &trees[1..] {
        report.add(&tree.report(BudgetKind::Iterations));
    }
    report
}

#[test]
fn visits_add_up() {
    for threads in [1, 2, 5] {
        for (graph, solver) in [(false, false), (true, true)] {
            let options = Mcts {
                graph,
                solver,
                ..options(3)
            };
            let heaps = &mut [const { Heap }; 5][..threads];
            let (trees, result) = grow(heaps, (200, 0), &options, 5_000, &|| true);
            result.unwrap();
            trees.iter().for_each(check);
            let report = joined(&trees);
            let sum = |entries: &[MoveReport<u32>]| entries.iter().map(|m| m.visits).sum::<u64>();
            let visits = sum(&report.roles[0].moves);
            match solver {
                // Lines that end at a proved root pass no node.
                true => assert!(trees.iter().any(|tree| tree.is_settled(0))),
                false => {
                    let all = 5_000 * threads as u64;
                    assert_eq!([visits + threads as u64, report.iterations], [all; 2]);
                }
            }

            let matrix = || Matrix {
                values: vec![vec![[10, 90], [70, 30]], vec![[60, 40], [20, 80]]],
            };
            let mut games: Vec<Matrix> = (0..threads).map(|_| matrix()).collect();
            let (trees, result) = grow(&mut games, None, &options, 500, &|| true);
            result.unwrap();
            trees.iter().for_each(check);
        }
    }
}

#[test]
fn several_threads_prove_the_same_values() {
    for heap in 1..30 {
        let heaps = &mut [const { Heap }; 3];
        let (trees, result) = grow(heaps, (heap, 0), &options(heap.into()), 20_000, &|| true);
        result.unwrap();
        trees.iter().for_each(check);
        let score = if heap % 4 == 0 { 0 } else { 100 };
        let report = joined(&trees);
        assert_eq!(report.roles[0].bounds, [score; 2], "heap {heap}");
    }
}

#[test]
fn one_thread_is_reproducible() {
    let report = || {
        let (trees, result) = grow(&mut [Heap], (50, 0), &options(9), 700, &|| true);
        result.unwrap();
        joined(&trees)
    };
    assert_eq!(report(), report());
}

#[test]
fn an_interrupt_ends_all_threads_and_leaves_the_tree_consistent() {
    let end = Instant::now() + Duration::from_millis(50);
    let options = Mcts {
        solver: false,
        ..options(1)
    };
    let heaps = &mut [const { Heap }; 4];
    let (trees, result) = grow(heaps, (5_000, 0), &options, u64::MAX, &|| {
        Instant::now() < end
    });
    result.unwrap();
    // A loaded machine may delay the threads.
    assert!(Instant::now() < end + Duration::from_secs(5));
    trees.iter().for_each(check);
    assert!(trees.iter().any(|tree| tree.iterations() > 0));
}

/// A heap whose evaluation fails after a number of moves.
struct Broken<'a> {
    left: &'a AtomicU64,
}

impl GameProblem for Broken<'_> {
    type State = (u32, usize);
    type Move = u32;
    type Error = ();

    fn roles(&self) -> usize {
        2
    }

    fn is_terminal(&mut self, state: &(u32, usize)) -> Result<bool, ()> {
        Ok(state.0 == 0)
    }

    fn legal(&mut self, state: &(u32, usize), role: usize, out: &mut Vec<u32>) -> Result<(), ()> {
        Heap.legal(state, role, out).map_err(|never| match never {})
    }

    fn next(&mut self, state: &(u32, usize), joint: &[u32]) -> Result<(u32, usize), ()> {
        let left = self
            .left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                left.checked_sub(1)
            });
        left.map_err(|_| ())?;
        Heap.next(state, joint).map_err(|never| match never {})
    }

    fn goals(&mut self, state: &(u32, usize), out: &mut [u8]) -> Result<(), ()> {
        Heap.goals(state, out).map_err(|never| match never {})
    }
}

#[test]
fn an_error_ends_all_threads_and_leaves_the_tree_consistent() {
    for (threads, moves) in [(1, 0), (1, 777), (3, 0), (3, 999)] {
        let left = &AtomicU64::new(moves);
        let mut games: Vec<Broken<'_>> = (0..threads).map(|_| Broken { left }).collect();
        let (mut trees, result) = grow(&mut games, (60, 0), &options(2), u64::MAX, &|| true);
        assert_eq!(result, Err(()), "{threads} {moves}");
        trees.iter().for_each(check);
        // The search can continue afterwards.
        left.store(u64::MAX, Ordering::Relaxed);
        let mut game = OneByOne::new(&mut games[0], 100);
        let tree = &mut trees[0];
        let until = tree.iterations() + 100;
        while tree.iterations() < until {
            let most = until - tree.iterations();
            tree.grow(&mut game, most, &mut None, &mut || true).unwrap();
        }
        check(tree);
    }
}
