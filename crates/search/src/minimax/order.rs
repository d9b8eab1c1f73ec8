//! Which moves to try first.
//!
//! Moves are known by keys, which are hashes: two that coincide cost time and
//! nothing else.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};

/// Who makes a move.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Side {
    Own,
    Others,
}

/// What cut off branches elsewhere.
#[derive(Debug, Default)]
pub(super) struct Order {
    /// By ply and side: the last two moves that cut off.
    killers: Vec<[[u64; 2]; 2]>,
    /// How much was cut off.
    history: FxHashMap<u64, u64>,
}

/// Goes before everything but the move that was best before.
pub(super) const FIRST: u64 = u64::MAX - 1;
const KILLER: u64 = 1 << 62;

impl Order {
    /// How promising a move is.
    pub(super) fn promise(&self, side: Side, ply: usize, key: u64) -> u64 {
        let killers = self.killers.get(ply).map(|sides| sides[side as usize]);
        match killers.and_then(|killers| killers.iter().position(|killer| *killer == key)) {
            Some(place) => KILLER - place as u64,
            None => self.history.get(&key).copied().unwrap_or(0),
        }
    }

    /// Takes note of a move that cut off its siblings.
    pub(super) fn cut(&mut self, side: Side, ply: usize, depth: u32, key: u64) {
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

/// The key of a joint move, or of a part of one.
pub(super) fn key<'m, M: Hash + 'm>(side: Side, moves: impl IntoIterator<Item = &'m M>) -> u64 {
    let mut hasher = FxHasher::default();
    (side as u8).hash(&mut hasher);
    for chosen in moves {
        chosen.hash(&mut hasher);
    }
    // 0 stands for no move.
    hasher.finish() | 1
}
