//! One tree that grows on several threads.
//!
//! All threads choose their lines in the same tree, one thread at a time, and ask
//! the game side by side. A line counts as a visit of what it passes while it
//! waits, so that other threads look elsewhere.
//!
//! Source: Chaslot, Winands and van den Herik, "Parallel Monte-Carlo tree search",
//! 2008; Liu et al., "Watch the unobserved", 2020.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::expand::{Grown, Hold, grow};
use super::simulator::Simulator;
use super::tree::Tree;

/// How long a thread that has nothing to do waits at most.
const PATIENCE: Duration = Duration::from_millis(2);

/// A tree over a game.
type TreeOf<G> = Tree<<G as Simulator>::State, <G as Simulator>::Move>;

/// A tree that several threads have.
struct Shared<'t, S, M> {
    tree: Mutex<&'t mut Tree<S, M>>,
    /// Told when lines are credited.
    news: Condvar,
    is_over: AtomicBool,
}

impl<'t, S, M> Shared<'t, S, M> {
    /// A thread that fails in here fails all of them when they are joined.
    fn lock(&self) -> MutexGuard<'_, &'t mut Tree<S, M>> {
        self.tree.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S, M> Hold<S, M> for &Shared<'_, S, M> {
    fn hold<R>(&mut self, work: impl FnOnce(&mut Tree<S, M>) -> R) -> R {
        work(&mut self.lock())
    }
}

/// Grows a tree by as many threads as there are games, until it has so many
/// iterations, or `proceed` or `go_on` says no. That is asked of this thread alone
/// after each batch of its own. With one game, equal seeds give equal trees.
///
/// # Errors
///
/// The first error of a game.
pub fn grow_together<G>(
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
        news: Condvar::new(),
        is_over: AtomicBool::new(false),
    };
    let is_on = || !shared.is_over.load(Ordering::Relaxed);
    let proceed = || is_on() && proceed();
    let meet = |grown: Grown| match grown.is_idle {
        true => drop(shared.news.wait_timeout(shared.lock(), PATIENCE)),
        false => shared.news.notify_all(),
    };
    let work_on = |game, go_on: &mut dyn FnMut(&Tree<_, _>) -> bool| {
        let came = work(&mut &shared, game, until, &proceed, go_on, &meet);
        came.inspect_err(|_| shared.is_over.store(true, Ordering::Relaxed))
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (others.iter_mut())
            .map(|game| scope.spawn(|| work_on(game, &mut |_| true)))
            .collect();
        let mut came = work_on(own, go_on);
        shared.is_over.store(true, Ordering::Relaxed);
        for thread in threads {
            let other = thread.join().unwrap_or_else(|panic| resume_unwind(panic));
            came = came.and(other);
        }
        came
    })
}

/// What each thread does.
fn work<G: Simulator>(
    tree: &mut impl Hold<G::State, G::Move>,
    game: &mut G,
    until: u64,
    proceed: &dyn Fn() -> bool,
    go_on: &mut dyn FnMut(&TreeOf<G>) -> bool,
    meet: &dyn Fn(Grown),
) -> Result<(), G::Error> {
    while proceed() && tree.hold(|tree| tree.iterations < until && go_on(tree)) {
        meet(grow(tree, game, until, &mut None, &mut || proceed())?);
    }
    Ok(())
}
