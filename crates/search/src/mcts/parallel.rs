//! Growth of one tree on several threads.
//!
//! The threads take turns to select lines in the shared tree and evaluate the game in
//! parallel. A waiting line counts as a visit of every node it passes, so that other threads
//! select different lines.
//!
//! Source: Chaslot, Winands and van den Herik, "Parallel Monte-Carlo tree search",
//! 2008; Liu et al., "Watch the unobserved", 2020.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::expand::{Grown, TreeAccess, grow};
use super::simulator::Simulator;
use super::tree::Tree;

/// The longest wait of an idle thread.
const PATIENCE: Duration = Duration::from_millis(2);

/// The tree of a game.
type TreeOf<G> = Tree<<G as Simulator>::State, <G as Simulator>::Move>;

/// A tree shared by several threads.
struct Shared<'t, S, M> {
    tree: Mutex<&'t mut Tree<S, M>>,
    /// Notified when lines are backed up.
    changed: Condvar,
    is_over: AtomicBool,
}

impl<'t, S, M> Shared<'t, S, M> {
    // A panic of one thread is propagated when the threads are joined.
    fn lock(&self) -> MutexGuard<'_, &'t mut Tree<S, M>> {
        self.tree.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S, M> TreeAccess<S, M> for &Shared<'_, S, M> {
    fn with_tree<R>(&mut self, work: impl FnOnce(&mut Tree<S, M>) -> R) -> R {
        work(&mut self.lock())
    }
}

/// Grows a tree with one thread for each game until it has `until` iterations, or `proceed`
/// or `go_on` returns false. Only the calling thread calls `go_on`, after each of its own
/// batches. With one game, equal seeds give equal trees.
///
/// # Errors
///
/// The first error of a game.
pub fn grow_in_parallel<G>(
    tree: &mut TreeOf<G>,
    games: &mut [G],
    until: u64,
    proceed: &(dyn Fn() -> bool + Sync),
    go_on: &mut dyn FnMut(&TreeOf<G>) -> bool,
) -> Result<(), G::Error>
where
    G: Simulator<State: Send, Move: Send, Error: Send> + Send,
{
    let Some((own, others)) = games.split_first_mut() else {
        return Ok(());
    };
    if others.is_empty() {
        return work(tree, own, until, proceed, go_on, &|_| ());
    }
    let shared = Shared {
        tree: Mutex::new(tree),
        changed: Condvar::new(),
        is_over: AtomicBool::new(false),
    };
    let is_on = || !shared.is_over.load(Ordering::Relaxed);
    let proceed = || is_on() && proceed();
    let after_batch = |grown: Grown| match grown.is_idle {
        true => drop(shared.changed.wait_timeout(shared.lock(), PATIENCE)),
        false => shared.changed.notify_all(),
    };
    let work_on = |game, go_on: &mut dyn FnMut(&Tree<_, _>) -> bool| {
        let result = work(&mut &shared, game, until, &proceed, go_on, &after_batch);
        result.inspect_err(|_| shared.is_over.store(true, Ordering::Relaxed))
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (others.iter_mut())
            .map(|game| scope.spawn(|| work_on(game, &mut |_| true)))
            .collect();
        let mut result = work_on(own, go_on);
        shared.is_over.store(true, Ordering::Relaxed);
        for thread in threads {
            let other = thread.join().unwrap_or_else(|panic| resume_unwind(panic));
            result = result.and(other);
        }
        result
    })
}

/// The main loop of each thread.
fn work<G: Simulator>(
    tree: &mut impl TreeAccess<G::State, G::Move>,
    game: &mut G,
    until: u64,
    proceed: &dyn Fn() -> bool,
    go_on: &mut dyn FnMut(&TreeOf<G>) -> bool,
    after_batch: &dyn Fn(Grown),
) -> Result<(), G::Error> {
    while proceed() && tree.with_tree(|tree| tree.iterations < until && go_on(tree)) {
        after_batch(grow(tree, game, until, &mut None, &mut || proceed())?);
    }
    Ok(())
}
