//! A hash table from states to nodes that never pauses to grow.
//!
//! It has many parts that grow one by one. An entry keeps a part of the hash, so that neither
//! growth nor, in most cases, a comparison touches the states.

use hashbrown::HashTable;

/// The number of bits of a hash that choose the part.
const PART_BITS: u32 = 8;

/// The nodes of states, by the hash of the state.
#[derive(Clone, Debug)]
pub(super) struct Table {
    parts: Vec<HashTable<Entry>>,
    count: usize,
}

#[derive(Clone, Debug)]
struct Entry {
    hash: u32,
    node: u32,
}

/// Spreads the kept part of a hash over the bits that a part uses.
fn spread(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl Table {
    pub fn new() -> Self {
        Table {
            parts: vec![HashTable::new(); 1 << PART_BITS],
            count: 0,
        }
    }

    /// The approximate number of bytes.
    pub fn bytes(&self) -> u64 {
        // A part is at least half full, and an entry has a byte of its own.
        (self.count * 2 * (size_of::<Entry>() + 1)) as u64
    }

    /// The first node with this hash for which `is_same` returns true.
    pub fn find(&self, hash: u32, mut is_same: impl FnMut(u32) -> bool) -> Option<u32> {
        let part = &self.parts[(hash >> (32 - PART_BITS)) as usize];
        let found = part.find(spread(hash), |entry| {
            entry.hash == hash && is_same(entry.node)
        });
        found.map(|entry| entry.node)
    }

    pub fn insert(&mut self, hash: u32, node: u32) {
        let part = &mut self.parts[(hash >> (32 - PART_BITS)) as usize];
        part.insert_unique(spread(hash), Entry { hash, node }, |entry| {
            spread(entry.hash)
        });
        self.count += 1;
    }

    pub fn remove(&mut self, hash: u32, node: u32) {
        let part = &mut self.parts[(hash >> (32 - PART_BITS)) as usize];
        if let Ok(found) = part.find_entry(spread(hash), |entry| entry.node == node) {
            found.remove();
            self.count -= 1;
        }
    }
}
