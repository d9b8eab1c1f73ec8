//! The first path to each state, in 24 bytes per state.
//!
//! In: arcs, each from a state that was reached before. Out: the moves from the start to a
//! state. States are identified by fingerprints, which may collide, so a path must be
//! replayed before it is used.

use std::hash::Hash;

use rustc_hash::FxHashMap;

use ggp_gdl::game::Move;
use ggp_search::state_hash;

/// The tree of the first arcs to each state.
#[derive(Clone, Debug, Default)]
pub(super) struct Trail {
    arcs: FxHashMap<u64, (u64, Move)>,
    start: u64,
}

impl Trail {
    /// The approximate number of bytes per state.
    pub(super) const BYTES: u64 = 32;

    pub(super) fn new(start: &impl Hash) -> Self {
        Trail {
            arcs: FxHashMap::default(),
            start: fingerprint(start),
        }
    }

    /// Records an arc if its end is new.
    pub(super) fn note(&mut self, from: &impl Hash, chosen: Move, to: &impl Hash) {
        let to = fingerprint(to);
        if to != self.start {
            self.arcs
                .entry(to)
                .or_insert_with(|| (fingerprint(from), chosen));
        }
    }

    /// The moves from the start to a state; `None` if the state was never reached or two
    /// fingerprints collide.
    pub(super) fn way(&self, to: &impl Hash) -> Option<Vec<Move>> {
        let mut at = fingerprint(to);
        let mut moves = Vec::new();
        while at != self.start {
            let (from, chosen) = self.arcs.get(&at)?;
            moves.push(*chosen);
            at = *from;
            if moves.len() > self.arcs.len() {
                return None;
            }
        }
        moves.reverse();
        Some(moves)
    }
}

fn fingerprint(state: &impl Hash) -> u64 {
    state_hash(state)
}
