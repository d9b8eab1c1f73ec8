//! A transposition table of limited size: which states were searched, and how
//! deeply.

use std::hash::Hasher;

use ggp_search::StateHasher;

/// Keys of states with the depth to which each was searched. When the table is
/// full, the least deeply searched state is replaced.
pub(super) struct TranspositionTable {
    bits: usize,
    /// Number of words of a key.
    words: usize,
    keys: Vec<u64>,
    /// By slot: 0 if it is free, 1 for a state that was only seen, and otherwise
    /// the searched depth plus 1.
    searched: Vec<u16>,
    most_slots: usize,
    len: usize,
    seen: usize,
    is_lossy: bool,
    /// Buffer for the current key.
    key: Vec<u64>,
}

/// Number of consecutive slots in which a key may be stored.
const PROBES: usize = 64;
const FIRST_SLOTS: usize = 1 << 10;

impl TranspositionTable {
    /// A table that uses about `most_bytes` bytes at most, even while it grows.
    pub fn new(bits: usize, most_bytes: u64) -> TranspositionTable {
        let words = bits.div_ceil(64).max(1);
        let slot = 8 * words as u64 + 2;
        let most = usize::try_from(most_bytes / slot * 2 / 3).unwrap_or(usize::MAX);
        let most_slots = match most {
            0..FIRST_SLOTS => FIRST_SLOTS,
            _ => 1 << most.ilog2(),
        };
        TranspositionTable {
            bits,
            words,
            keys: vec![0; FIRST_SLOTS * words],
            searched: vec![0; FIRST_SLOTS],
            most_slots,
            len: 0,
            seen: 0,
            is_lossy: false,
            key: Vec::new(),
        }
    }

    /// Number of states in the table.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if every state that was seen was also searched, as far as the table
    /// knows.
    pub fn is_closed(&self) -> bool {
        self.seen == 0 && !self.is_lossy
    }

    pub fn memory(&self) -> u64 {
        (8 * self.keys.len() + 2 * self.searched.len()) as u64
    }

    /// Records that a state is searched `moves` moves deep. False if it was already
    /// searched as deeply.
    pub fn enter(&mut self, code: &[u64], moves: u32) -> bool {
        let moves = u16::try_from(moves).unwrap_or(u16::MAX - 1);
        self.record(code, moves + 1)
    }

    /// Records that a state was seen.
    pub fn see(&mut self, code: &[u64]) {
        self.record(code, 1);
    }

    fn record(&mut self, code: &[u64], searched: u16) -> bool {
        let mut key = std::mem::take(&mut self.key);
        key.clear();
        for (word, &value) in code.iter().take(self.words).enumerate() {
            key.push(match self.bits - (64 * word).min(self.bits) {
                left @ 0..64 => value & !(u64::MAX << left),
                _ => value,
            });
        }
        let is_more = self.store(&key, searched);
        self.key = key;
        is_more
    }

    /// Stores a state. True if it was not searched as deeply before.
    fn store(&mut self, key: &[u64], searched: u16) -> bool {
        if 2 * self.len >= self.searched.len() && self.searched.len() < self.most_slots {
            self.grow();
        }
        let mask = self.searched.len() - 1;
        let first = hash(key);
        let mut least = first & mask;
        for slot in (0..PROBES).map(|way| first.wrapping_add(way) & mask) {
            let before = self.searched[slot];
            if before == 0 {
                least = slot;
                break;
            }
            if self.keys[slot * self.words..][..self.words] == *key {
                self.seen -= usize::from(before == 1 && searched > 1);
                self.searched[slot] = before.max(searched);
                return before < searched;
            }
            if before < self.searched[least] {
                least = slot;
            }
        }
        if self.searched[least] > 0 {
            self.seen -= usize::from(self.searched[least] == 1);
            self.is_lossy = true;
            self.len -= 1;
        }
        self.keys[least * self.words..][..self.words].copy_from_slice(key);
        self.searched[least] = searched;
        self.len += 1;
        self.seen += usize::from(searched == 1);
        true
    }

    fn grow(&mut self) {
        let slots = 2 * self.searched.len();
        let keys = std::mem::replace(&mut self.keys, vec![0; slots * self.words]);
        let searched = std::mem::replace(&mut self.searched, vec![0; slots]);
        (self.len, self.seen) = (0, 0);
        for (key, searched) in keys.chunks(self.words).zip(searched) {
            if searched > 0 {
                self.store(key, searched);
            }
        }
    }
}

fn hash(key: &[u64]) -> usize {
    let mut hasher = StateHasher::default();
    key.iter().for_each(|&word| hasher.write_u64(word));
    let hash = hasher.finish();
    (hash ^ hash >> 32) as usize
}
