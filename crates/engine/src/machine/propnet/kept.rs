//! Code over many positions that a machine keeps, so that the next user of its network does not
//! compile it again.
//!
//! In: the options of the code. Out: a copy with its own rows, as it was when it was new. A player
//! that is made for each move of a match needs the same code each time.

use std::sync::{Mutex, PoisonError};

use super::PropnetMachine;
use crate::propnet::batch::Batch;
use crate::propnet::code::Engine;
use crate::propnet::rollouts::{RolloutOptions, Rollouts};
use crate::threads::{SMALL, both, unless_stopped, worthwhile};

/// Maximum number of things of one kind that are kept.
const MOST: usize = 2;

/// Options of a batch.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct BatchOptions {
    /// The number of lanes; see [`Batch::new`].
    pub lanes: usize,
    /// The engine that runs it.
    pub engine: Engine,
    /// If true, [`Batch::terminal_only`] is prepared.
    pub looks_ahead: bool,
}

/// The code of a machine, the last one that was made first.
#[derive(Debug, Default)]
pub(super) struct Kept {
    batches: Mutex<Vec<(BatchOptions, Batch)>>,
    rollouts: Mutex<Vec<(RolloutOptions, Rollouts)>>,
}

impl Kept {
    /// The number of batches.
    #[cfg(test)]
    pub fn batches(&self) -> usize {
        self.batches
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .len()
    }
}

impl PropnetMachine {
    /// Lanes for the network, as from [`Batch::until`] with the stop of the machine, which is obeyed at
    /// once. They are compiled once; all copies share the code.
    ///
    /// # Panics
    ///
    /// As [`Batch::new`].
    pub fn batch(&self, options: BatchOptions) -> Option<Batch> {
        self.unless_stopped(move |machine| {
            copied(&machine.shared.kept.batches, options, || {
                let (lanes, engine) = (options.lanes, options.engine);
                let mut batch = Batch::until(machine.net(), lanes, engine, &machine.limits.stop)?;
                if options.looks_ahead {
                    batch.prepare_terminal(machine.net());
                }
                Some(batch)
            })
        })
    }

    /// Playouts on the network, as from [`Rollouts::until`] with the stop of the machine, which is
    /// obeyed at once. They are compiled once; all copies share the code.
    ///
    /// # Panics
    ///
    /// As [`Rollouts::new`].
    pub fn rollouts(&self, options: RolloutOptions, seed: u64) -> Option<Rollouts> {
        let mut rollouts = self.unless_stopped(move |machine| {
            copied(&machine.shared.kept.rollouts, options, || {
                let options = RolloutOptions {
                    threads: machine.limits.threads,
                    ..options
                };
                Rollouts::until(machine.net(), &options, seed, &machine.limits.stop)
            })
        })?;
        rollouts.reseed(seed);
        Some(rollouts)
    }

    /// The result of a call. If the network is large, nobody waits for the call after a stop: the
    /// step that was begun ends in a thread of its own.
    fn unless_stopped<T: Send + 'static>(
        &self,
        make: impl FnOnce(&PropnetMachine) -> Option<T> + Send + 'static,
    ) -> Option<T> {
        if self.net().network().gates() < SMALL {
            return make(self);
        }
        let machine = self.clone();
        unless_stopped(&self.limits.stop, move || make(&machine)).flatten()
    }

    /// The results of [`PropnetMachine::rollouts`] and [`PropnetMachine::batch`], prepared at the
    /// same time if there may be two threads.
    ///
    /// # Panics
    ///
    /// As both.
    pub fn rollouts_and_batch(
        &self,
        rollouts: RolloutOptions,
        seed: u64,
        batch: BatchOptions,
    ) -> Option<(Rollouts, Batch)> {
        let (rollouts, batch) = both(
            worthwhile(self.net(), self.limits.threads),
            || self.rollouts(rollouts, seed),
            || self.batch(batch),
        );
        Some((rollouts?, batch?))
    }
}

/// A copy of what was made with the same options, or else is made now; `None` if that is stopped.
fn copied<O: PartialEq, T: Clone>(
    kept: &Mutex<Vec<(O, T)>>,
    options: O,
    make: impl FnOnce() -> Option<T>,
) -> Option<T> {
    // Nothing is half done after a panic: making comes before keeping.
    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
    let found = kept.iter().position(|(other, _)| *other == options);
    let entry = match found {
        Some(found) => kept.remove(found),
        None => (options, make()?),
    };
    let copy = entry.1.clone();
    kept.insert(0, entry);
    kept.truncate(MOST);
    Some(copy)
}
