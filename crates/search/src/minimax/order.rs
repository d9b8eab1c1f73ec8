//! Move ordering.
//!
//! Moves are identified by hash keys. A collision costs time but does not affect results.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHashMap;

use crate::StateHasher;

/// The side that makes a move.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Side {
    Own,
    Others,
}

/// The moves that caused cutoffs elsewhere.
#[derive(Debug, Default)]
pub(super) struct Order {
    /// By ply and side: the last two moves that caused a cutoff (killer moves).
    killers: Vec<[[u64; 2]; 2]>,
    /// The weighted number of cutoffs of each move (history heuristic).
    history: FxHashMap<u64, u64>,
}

/// The priority directly below that of the best move of the previous search.
pub(super) const FIRST: u64 = u64::MAX - 1;
const KILLER: u64 = 1 << 62;

impl Order {
    /// The priority of a move.
    pub(super) fn priority(&self, side: Side, ply: usize, key: u64) -> u64 {
        let killers = self.killers.get(ply).map(|sides| sides[side as usize]);
        match killers.and_then(|killers| killers.iter().position(|killer| *killer == key)) {
            Some(place) => KILLER - place as u64,
            None => self.history.get(&key).copied().unwrap_or(0),
        }
    }

    /// Records a cutoff by a move.
    pub(super) fn record_cutoff(&mut self, side: Side, ply: usize, depth: u32, key: u64) {
        if self.killers.len() <= ply {
            self.killers.resize(ply + 1, [[0; 2]; 2]);
        }
        let killers = &mut self.killers[ply][side as usize];
        if killers[0] != key {
            *killers = [key, killers[0]];
        }
        let weight = u64::from(depth) * u64::from(depth);
        let history = self.history.entry(key).or_insert(0);
        *history = (*history + weight).min(KILLER / 2);
    }
}

/// The key of a joint move or of part of one.
pub(super) fn key<'m, M: Hash + 'm>(side: Side, moves: impl IntoIterator<Item = &'m M>) -> u64 {
    let mut hasher = StateHasher::default();
    (side as u8).hash(&mut hasher);
    for chosen in moves {
        chosen.hash(&mut hasher);
    }
    // 0 stands for no move.
    hasher.finish() | 1
}
