//! What is known of positions that were searched before.

use std::hash::Hash;

use rustc_hash::FxHashMap;

use super::value::Value;

/// Positions of one game, as one role sees them, and what is known of them.
///
/// It has room for so many bytes. When half of that is full, the older half is
/// forgotten; a position that is met again counts as new.
#[derive(Clone, Debug)]
pub struct Table<S> {
    recent: FxHashMap<S, Entry>,
    older: FxHashMap<S, Entry>,
    heap_bytes: u64,
    limit: u64,
}

/// What is known of a position.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) struct Entry {
    pub(super) worth: Value,
    pub(super) kind: Kind,
    /// The joint moves that were looked ahead for the value; [`FINAL`] if nothing
    /// was estimated.
    pub(super) depth: u32,
    /// The key of the move that was best.
    pub(super) best: u64,
}

/// More than any depth: more is not to be found out by looking further ahead.
pub(super) const FINAL: u32 = u32::MAX;

/// What the value of an [`Entry`] is.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Exact,
    AtLeast,
    AtMost,
}

impl<S: Clone + Eq + Hash> Table<S> {
    /// An empty table.
    pub fn new(memory_bytes: u64) -> Self {
        Table {
            recent: FxHashMap::default(),
            older: FxHashMap::default(),
            heap_bytes: 0,
            limit: memory_bytes,
        }
    }

    /// The number of positions.
    pub fn len(&self) -> usize {
        self.recent.len() + self.older.len()
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Table::new(self.limit);
    }

    /// The bytes that it takes, approximately.
    pub fn bytes(&self) -> u64 {
        // Of the older half it is not known what its states own; as much as those
        // of the recent one when it was full.
        let older = if self.older.is_empty() {
            0
        } else {
            self.limit / 2
        };
        self.recent_bytes() + older
    }

    fn recent_bytes(&self) -> u64 {
        // A map is at most 7/8 full, and has twice the room after it has grown.
        let slot = size_of::<(S, Entry)>() as u64 + 1;
        self.recent.len() as u64 * slot * 2 + self.heap_bytes
    }

    pub(super) fn get(&self, state: &S) -> Option<Entry> {
        let entry = self.recent.get(state).or_else(|| self.older.get(state));
        entry.copied()
    }

    /// Keeps what was found; what was proved before is kept too.
    pub(super) fn insert(&mut self, state: &S, mut entry: Entry, heap_bytes: u64) {
        if let Some(known) = self.get(state) {
            entry.worth.least = entry.worth.least.max(known.worth.least);
            entry.worth.most = entry.worth.most.min(known.worth.most);
            if known.depth > entry.depth && !entry.worth.is_proved() {
                entry.worth.value = known.worth.value;
                (entry.kind, entry.depth) = (known.kind, known.depth);
            }
        }
        if self.recent.insert(state.clone(), entry).is_none() {
            self.heap_bytes += heap_bytes;
        }
        if self.recent_bytes() >= self.limit / 2 {
            self.older = std::mem::take(&mut self.recent);
            self.heap_bytes = 0;
        }
    }
}
