//! Analyses and code of a puzzle that several methods need, each made once.
//!
//! In: a function that makes a value. Out: the value, shared by all clones of a puzzle. A
//! value that a stop left incomplete is not kept, so that it is made again when there is
//! more time.

use std::sync::{Arc, OnceLock};

use super::dead_end::DeadEnds;
use super::effects::Effects;
use super::expand::{Expander, Layout};
use super::move_set::effects::Effects as MoveEffects;
use super::potential::bound::Bound;
use ggp_stop::Stop;

/// The values made so far for a puzzle. Where there are several, they are by
/// [`Facts`](super::expand::Facts).
#[derive(Debug, Default)]
pub(super) struct Known {
    pub effects: Once<Arc<Effects>>,
    pub move_effects: Once<Arc<MoveEffects>>,
    pub bound: OnceLock<Arc<Bound>>,
    pub layouts: [Once<Layout>; 3],
    pub expanders: [Once<Expander>; 3],
    pub dead_ends: [Once<DeadEnds>; 2],
}

/// A value that is made once, or the knowledge that it does not exist.
#[derive(Debug)]
pub(super) struct Once<T>(OnceLock<Option<T>>);

impl<T> Default for Once<T> {
    fn default() -> Self {
        Once(OnceLock::new())
    }
}

impl<T: Clone> Once<T> {
    /// The value; `make` makes it the first time. None after a stop.
    pub fn get(&self, stop: &Stop, make: impl FnOnce() -> Option<T>) -> Option<T> {
        if stop.is_over() {
            return None;
        }
        if let Some(known) = self.0.get() {
            return known.clone();
        }
        let made = make();
        if !stop.is_over() {
            // Another thread may have made the same.
            let _ = self.0.set(made.clone());
        }
        made
    }
}
