//! Growth of several trees of one position, one on each thread.
//!
//! Each thread has a tree of its own and shares nothing while it searches, so two threads make
//! twice as many iterations, whatever an iteration costs. The statistics of the roots are
//! added up, and what one tree has proved counts.
//!
//! Source: Chaslot, Winands and van den Herik, "Parallel Monte-Carlo tree search",
//! 2008 (root parallelization).

use std::hash::Hash;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::report::MctsReport;
use super::simulator::Simulator;
use super::tree::Tree;
use crate::BudgetKind;
use ggp_stop::Instant;

/// The tree of a game.
pub type TreeOf<G> = Tree<<G as Simulator>::State, <G as Simulator>::Move>;

/// Looks at the first tree and the results of the other threads after each batch, and returns
/// whether to go on.
pub type GoOn<'f, G> = dyn FnMut(&TreeOf<G>, &Others<<G as Simulator>::Move>) -> bool + 'f;

/// The results of the other threads.
#[derive(Debug)]
pub struct Others<M>(Vec<Latest<M>>);

/// The latest result of a thread.
#[derive(Debug)]
struct Latest<M> {
    is_wanted: AtomicBool,
    report: Mutex<Option<MctsReport<M>>>,
}

impl<M: Clone + PartialEq> Others<M> {
    fn new(threads: usize) -> Self {
        let latest = |_| Latest {
            is_wanted: AtomicBool::new(true),
            report: Mutex::new(None),
        };
        Others((0..threads).map(latest).collect())
    }

    /// Adds the results of the other threads, as of the last call, to those of a tree.
    pub fn add_to(&self, report: &mut MctsReport<M>) {
        for latest in &self.0 {
            let other = latest.report.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(other) = &*other {
                report.add(other);
            }
            latest.is_wanted.store(true, Ordering::Relaxed);
        }
    }
}

impl<M: Clone + Eq + Hash> Latest<M> {
    fn update<S: Clone + Eq + Hash>(&self, tree: &Tree<S, M>) {
        if self.is_wanted.swap(false, Ordering::Relaxed) {
            let report = tree.report(BudgetKind::Time);
            let mut latest = self.report.lock().unwrap_or_else(PoisonError::into_inner);
            *latest = Some(report);
        }
    }
}

/// Grows trees, each with a game and a thread of its own, until each of them made `most`
/// iterations, `is_done` returns true for one of them, or `proceed` or `go_on` returns false.
/// `deadline` is the time when `proceed` will return false, if that is known: where it is near,
/// batches grow sooner. Only the calling thread calls `go_on`, with the first tree, after each of its own batches.
/// With one tree and without a deadline, equal seeds give equal trees.
///
/// # Errors
///
/// The first error of a game.
pub fn grow_in_parallel<G>(
    trees: &mut [TreeOf<G>],
    games: &mut [G],
    most: u64,
    deadline: Option<Instant>,
    proceed: &(dyn Fn() -> bool + Sync),
    is_done: &(dyn Fn(&TreeOf<G>) -> bool + Sync),
    go_on: &mut GoOn<'_, G>,
) -> Result<(), G::Error>
where
    G: Simulator<State: Send, Move: Send, Error: Send> + Send,
{
    let mut pairs = trees.iter_mut().zip(games);
    let Some((tree, game)) = pairs.next() else {
        return Ok(());
    };
    let pairs: Vec<_> = match cfg!(feature = "threads") {
        true => pairs.collect(),
        false => Vec::new(),
    };
    let others = Others::new(pairs.len());
    let is_over = AtomicBool::new(false);
    let proceed = || !is_over.load(Ordering::Relaxed) && proceed();
    let work = &|tree: &mut TreeOf<G>, game: &mut G, go_on: &mut dyn FnMut(&TreeOf<G>) -> bool| {
        let until = tree.iterations().saturating_add(most);
        let mut result = Ok(0);
        let time = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        game.begin_move(time);
        while result.is_ok() && tree.iterations() < until && proceed() && go_on(tree) {
            let left = until - tree.iterations();
            let began = Instant::now();
            result = tree.grow(game, left, &mut None, &mut || proceed());
            let now = Instant::now();
            let left = deadline.map(|deadline| deadline.saturating_duration_since(now));
            tree.set_growth(now - began, left);
        }
        if result.is_err() || is_done(tree) || tree.iterations() < until {
            is_over.store(true, Ordering::Relaxed);
        }
        result.map(|_| ())
    };
    thread::scope(|scope| {
        let mut threads = Vec::new();
        for (latest, (tree, game)) in others.0.iter().zip(pairs) {
            let mut go_on = |tree: &TreeOf<G>| {
                latest.update(tree);
                !is_done(tree)
            };
            // A tree for which the system gives no thread stays as it is.
            let start = thread::Builder::new();
            threads.extend(start.spawn_scoped(scope, move || work(tree, game, &mut go_on)));
        }
        let mut result = work(tree, game, &mut |tree| {
            !is_done(tree) && go_on(tree, &others)
        });
        for thread in threads {
            let other = thread.join().unwrap_or_else(|panic| resume_unwind(panic));
            result = result.and(other);
        }
        result
    })
}
