//! The transposition table: search results of positions.

use std::hash::Hash;

use rustc_hash::FxHashMap;

use super::game_class::GameClass;
use super::value::Value;

/// Search results for positions of one game and one role.
#[derive(Clone, Debug)]
pub struct TranspositionTable<S> {
    known: Halves<S, Entry>,
    /// The class of the game by all positions that led to entries.
    pub(super) game_class: GameClass,
}

/// The knowledge about positions, within a limit on memory.
///
/// There are two halves of equal size. When the recent half is full, it replaces the
/// older half, whose entries are dropped. An entry that is updated moves to the recent half.
#[derive(Clone, Debug)]
pub(super) struct Halves<S, E> {
    recent: FxHashMap<S, E>,
    older: FxHashMap<S, E>,
    heap_bytes: u64,
    limit: u64,
}

/// The search result of a position.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) struct Entry {
    pub(super) value: Value,
    pub(super) kind: BoundKind,
    /// The depth of the search in joint moves; [`FINAL`] if it used no estimates.
    pub(super) depth: u32,
    /// The key of the best move.
    pub(super) best: u64,
}

/// The depth of results that a deeper search cannot change.
pub(super) const FINAL: u32 = u32::MAX;

/// The relation of the expected score of an [`Entry`] to the true one.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum BoundKind {
    Exact,
    AtLeast,
    AtMost,
}

impl<S: Clone + Eq + Hash> TranspositionTable<S> {
    /// An empty table with a limit in bytes.
    pub fn new(memory_bytes: u64) -> Self {
        TranspositionTable {
            known: Halves::new(memory_bytes),
            game_class: GameClass::NOTHING_SEEN,
        }
    }

    /// The number of positions.
    pub fn len(&self) -> usize {
        self.known.recent.len() + self.known.older.len()
    }

    /// Returns true if the table has no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes all entries.
    pub fn clear(&mut self) {
        *self = TranspositionTable::new(self.known.limit);
    }

    /// The approximate number of bytes that the table uses.
    pub fn bytes(&self) -> u64 {
        self.known.bytes()
    }

    pub(super) fn get(&self, state: &S) -> Option<Entry> {
        self.known.get(state)
    }

    /// Inserts a result. Proved bounds of an earlier entry are kept.
    pub(super) fn insert(&mut self, state: &S, mut entry: Entry, heap_bytes: u64) {
        if let Some(known) = self.get(state) {
            entry.value.least = entry.value.least.max(known.value.least);
            entry.value.most = entry.value.most.min(known.value.most);
            if known.depth > entry.depth && !entry.value.is_proved() {
                entry.value.expected = known.value.expected;
                (entry.kind, entry.depth) = (known.kind, known.depth);
            }
        }
        self.known.insert(state, entry, heap_bytes);
    }
}

impl<S: Clone + Eq + Hash, E: Copy> Halves<S, E> {
    pub(super) fn new(limit: u64) -> Self {
        Halves {
            recent: FxHashMap::default(),
            older: FxHashMap::default(),
            heap_bytes: 0,
            limit,
        }
    }

    fn bytes(&self) -> u64 {
        // The older half is as large as the recent half was when it was full.
        let older = if self.older.is_empty() {
            0
        } else {
            self.limit / 2
        };
        self.recent_bytes() + older
    }

    fn recent_bytes(&self) -> u64 {
        // A map is at most 7/8 full and doubles its capacity when it grows.
        let slot = size_of::<(S, E)>() as u64 + 1;
        self.recent.len() as u64 * slot * 2 + self.heap_bytes
    }

    pub(super) fn get(&self, state: &S) -> Option<E> {
        let entry = self.recent.get(state).or_else(|| self.older.get(state));
        entry.copied()
    }

    pub(super) fn insert(&mut self, state: &S, entry: E, heap_bytes: u64) {
        if self.recent.insert(state.clone(), entry).is_none() {
            self.heap_bytes += heap_bytes;
        }
        if self.recent_bytes() >= self.limit / 2 {
            self.older = std::mem::take(&mut self.recent);
            self.heap_bytes = 0;
        }
    }
}
