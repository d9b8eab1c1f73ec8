//! A set of states, numbered in the order of insertion.
//!
//! States are stored contiguously in as few bytes as their bits need. A separate
//! hash table holds only their numbers, each with as many bits of the hash as fit
//! into its word. The old table is freed before a larger one is built.

use std::ops::Range;

use super::table::Table;

/// A set of states of `bits` bits each.
pub(in crate::planning) struct States {
    bits: usize,
    /// Bytes of a state.
    bytes: usize,
    /// The first chunk grows; the others are allocated at full size.
    chunks: Vec<Vec<u8>>,
    len: usize,
    /// States with a smaller number are stored but not in the table.
    since: usize,
    /// An entry is 0 if it is free. Otherwise its low bits are the state's number,
    /// counted from 1 at `since`, and its high bits are the low bits of the hash.
    table: Table,
    /// Number of bits of an entry that hold the number.
    number_bits: u32,
    most_bytes: u64,
}

/// The memory limit is reached.
#[derive(Copy, Clone, Debug)]
pub(in crate::planning) struct Full;

/// States per chunk, and the initial capacity of the first chunk.
const CHUNK: usize = 1 << 10;
const FIRST_CHUNK: usize = 16;
/// Bytes that a chunk takes in addition to its states.
const OVERHEAD: usize = SLACK + size_of::<Vec<u8>>() + 16;
/// Padding behind a chunk's states, so that whole words can be read.
const SLACK: usize = 8;
/// Number of states that are looked up together.
const BATCH: usize = 64;
/// Number of entries of the first table.
const FIRST_TABLE: usize = 1 << 6;

impl States {
    /// An empty set that uses about `most_bytes` bytes at most.
    pub fn new(bits: usize, most_bytes: u64) -> States {
        let mut states = States {
            bits,
            bytes: bits.div_ceil(8),
            chunks: Vec::new(),
            len: 0,
            since: 0,
            table: Table::new(0),
            number_bits: 0,
            most_bytes,
        };
        states.rebuild(FIRST_TABLE);
        states
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// Approximate memory used, in bytes.
    pub fn memory(&self) -> u64 {
        4 * self.table.len() as u64 + self.chunk_bytes(self.len)
    }

    /// Bytes that `states` states take.
    fn chunk_bytes(&self, states: usize) -> u64 {
        let room = match states {
            0 => return 0,
            1..=CHUNK => states.next_power_of_two().max(FIRST_CHUNK),
            _ => states.next_multiple_of(CHUNK),
        };
        (room * self.bytes + states.div_ceil(CHUNK) * OVERHEAD) as u64
    }

    /// Removes all states but keeps the memory.
    pub fn clear(&mut self) {
        self.len = 0;
        self.since = 0;
        self.table.words_mut().fill(0);
    }

    /// Keeps all states but removes them from the table: a state that is inserted
    /// again gets a new number.
    pub fn forget(&mut self) {
        self.since = self.len;
        self.rebuild(FIRST_TABLE);
    }

    /// Removes all states from number `len` on.
    pub fn truncate(&mut self, len: usize) {
        if len < self.len {
            self.len = len;
            self.chunks.truncate(len.div_ceil(CHUNK));
            self.rebuild(self.table.len());
        }
    }

    /// The stored bytes of a range of states, in large slices.
    pub fn bytes(&self, numbers: Range<usize>) -> impl Iterator<Item = &[u8]> {
        let firsts =
            (numbers.start / CHUNK..numbers.end.div_ceil(CHUNK)).map(|chunk| chunk * CHUNK);
        firsts.map(move |first| {
            let from = numbers.start.max(first) - first;
            let to = numbers.end.min(first + CHUNK) - first;
            &self.chunks[first / CHUNK][from * self.bytes..to * self.bytes]
        })
    }

    /// Number of bytes of a stored state.
    pub fn state_bytes(&self) -> usize {
        self.bytes
    }

    /// Replaces the contents by `len` states; those before `since` are not in the
    /// table. `fill` supplies the bytes in the format of [`States::bytes`].
    ///
    /// # Errors
    ///
    /// Those of `fill`, and `full` if the states exceed the memory limit.
    pub fn restore<E>(
        &mut self,
        len: usize,
        since: usize,
        full: E,
        mut fill: impl FnMut(&mut [u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let places = Self::places(len - since);
        if self.chunk_bytes(len) + 4 * places as u64 > self.most_bytes {
            return Err(full);
        }
        self.chunks.clear();
        for first in (0..len).step_by(CHUNK) {
            let states = CHUNK.min(len - first);
            let room = match first {
                0 => states.next_power_of_two().max(FIRST_CHUNK),
                _ => CHUNK,
            };
            let mut bytes = vec![0; room * self.bytes + SLACK];
            fill(&mut bytes[..states * self.bytes])?;
            self.chunks.push(bytes);
        }
        (self.len, self.since) = (len, since);
        self.rebuild(places);
        Ok(())
    }

    /// Adds a state, in the format of [`States::bytes`], that is not there yet. It is not in
    /// the table before [`States::index_from`].
    ///
    /// # Errors
    ///
    /// [`Full`] if the states exceed the memory limit.
    #[cfg(feature = "distributed")]
    pub fn append(&mut self, bytes: &[u8]) -> Result<(), Full> {
        if self.len + 1 >= u32::MAX as usize || self.chunk_bytes(self.len + 1) > self.most_bytes {
            return Err(Full);
        }
        self.push(&words_of(bytes).collect::<Vec<_>>());
        Ok(())
    }

    /// Puts the states from number `since` on into the table.
    ///
    /// # Errors
    ///
    /// [`Full`] if the table exceeds the memory limit.
    #[cfg(feature = "distributed")]
    pub fn index_from(&mut self, since: usize) -> Result<(), Full> {
        let places = Self::places(self.len - since);
        if self.chunk_bytes(self.len) + 4 * places as u64 > self.most_bytes {
            return Err(Full);
        }
        self.since = since;
        self.rebuild(places);
        Ok(())
    }

    /// Number of entries of a table for `states` states.
    fn places(states: usize) -> usize {
        (states / 5 * 8).max(FIRST_TABLE)
    }

    /// Number of states that are stored but not in the table.
    pub fn since(&self) -> usize {
        self.since
    }

    /// Copies the first `bits` bits of `key` over those of `out`; the other bits
    /// are kept.
    pub fn overlay(key: &[u64], bits: usize, out: &mut [u64]) {
        let mut left = bits;
        for (word, &value) in out.iter_mut().zip(key) {
            let mask = low(left);
            *word = *word & !mask | value & mask;
            left = left.saturating_sub(64);
        }
    }

    /// Copies the key of a state over the first bits of `out`; the other bits are
    /// kept.
    pub fn read(&self, number: usize, out: &mut [u64]) {
        let at = number % CHUNK * self.bytes;
        let bytes = &self.chunks[number / CHUNK][at..];
        let mut left = self.bits;
        for (word, bytes) in out.iter_mut().zip(bytes.chunks(8)) {
            let value = u64::from_le_bytes(bytes.try_into().expect("there is slack behind states"));
            let mask = low(left);
            *word = *word & !mask | value & mask;
            left = left.saturating_sub(64);
            if left == 0 {
                break;
            }
        }
    }

    /// Inserts states of `stride` words each, comparing their first bits, and calls
    /// `see` for each with its position, its number and whether it is new.
    ///
    /// # Errors
    ///
    /// [`Full`] if the states might not fit into the memory.
    pub fn insert_all(
        &mut self,
        states: &[u64],
        stride: usize,
        mut see: impl FnMut(usize, u32, bool),
    ) -> Result<(), Full> {
        self.reserve(states.len() / stride)?;
        let mut found = [(0, 0); BATCH];
        for (number, batch) in states.chunks(BATCH * stride).enumerate() {
            self.approach(batch, stride, &mut found);
            for (position, state) in batch.chunks_exact(stride).enumerate() {
                // The entries before this place were found not to match.
                let (hash, place) = found[position];
                let (state, is_new) = self.insert(state, hash, place);
                see(number * BATCH + position, state, is_new);
            }
        }
        Ok(())
    }

    /// Calls `see` for each of the keys of `stride` words each with its number, if it is in the
    /// table.
    pub fn find_all(&self, keys: &[u64], stride: usize, mut see: impl FnMut(Option<u32>)) {
        let mut found = [(0, 0); BATCH];
        for batch in keys.chunks(BATCH * stride) {
            self.approach(batch, stride, &mut found);
            for (state, &(hash, place)) in batch.chunks_exact(stride).zip(&found) {
                see(self.seek(state, hash, place).ok());
            }
        }
    }

    /// By state of a batch: its hash, and the first place where it may be or belong.
    fn approach(&self, batch: &[u64], stride: usize, found: &mut [(u64, usize); BATCH]) {
        // The table entries of a batch are read first, then the states that they refer to.
        // These reads are independent, so the memory system serves many at a time.
        let count = batch.len() / stride;
        let mut prefetched = 0;
        let table = self.table.words();
        for (state, found) in batch.chunks_exact(stride).zip(found.iter_mut()) {
            let hash = hash_of(state, self.bits);
            *found = (hash, self.place(hash));
            prefetched ^= table[found.1];
        }
        std::hint::black_box(prefetched);
        let mut prefetched = 0;
        for (hash, place) in found.iter_mut().take(count) {
            let (at, number) = self.follow(*place, *hash);
            *place = at;
            if let Some(number) = number {
                prefetched ^= self.chunks[number / CHUNK][number % CHUNK * self.bytes];
            }
        }
        std::hint::black_box(prefetched);
    }

    /// The number of a state, if it is in the table.
    pub fn find(&self, state: &[u64]) -> Option<u32> {
        let hash = hash_of(state, self.bits);
        self.seek(state, hash, self.place(hash)).ok()
    }

    fn insert(&mut self, state: &[u64], hash: u64, place: usize) -> (u32, bool) {
        match self.seek(state, hash, place) {
            Ok(number) => (number, false),
            Err(place) => {
                self.table.words_mut()[place] = self.word(hash, self.len - self.since);
                self.push(state);
                (self.len as u32 - 1, true)
            }
        }
    }

    /// The number of a state, or the free place where it belongs. Probing starts at
    /// `place`.
    fn seek(&self, state: &[u64], hash: u64, mut place: usize) -> Result<u32, usize> {
        loop {
            let (at, number) = self.follow(place, hash);
            match number {
                None => return Err(at),
                Some(number) if self.is_at(state, number) => return Ok(number as u32),
                Some(_) => place = at + 1,
            }
            if place == self.table.len() {
                place = 0;
            }
        }
    }

    /// The first place from `place` on that is free or whose hash bits match, and
    /// in the latter case the number of the state there.
    fn follow(&self, mut place: usize, hash: u64) -> (usize, Option<usize>) {
        let numbers = low(self.number_bits as usize) as u32;
        let wanted = self.word(hash, 0);
        let table = self.table.words();
        loop {
            let word = table[place];
            if word == 0 {
                return (place, None);
            }
            if (word ^ wanted) & !numbers == 0 {
                return (place, Some(self.since + (word & numbers) as usize - 1));
            }
            place += 1;
            if place == table.len() {
                place = 0;
            }
        }
    }

    fn push(&mut self, state: &[u64]) {
        let (chunk, at) = (self.len / CHUNK, self.len % CHUNK * self.bytes);
        if chunk == self.chunks.len() {
            self.chunks.push(Vec::new());
        }
        let bytes = &mut self.chunks[chunk];
        if bytes.len() < at + self.bytes + SLACK {
            let states = match chunk {
                0 => (self.len + 1).next_power_of_two().max(FIRST_CHUNK),
                _ => CHUNK,
            };
            let size = states * self.bytes + SLACK;
            bytes.reserve_exact(size - bytes.len());
            bytes.resize(size, 0);
        }
        let mut left = self.bits;
        let out = &mut bytes[at..at + self.bytes];
        for (out, &word) in out.chunks_mut(8).zip(state) {
            out.copy_from_slice(&(word & low(left)).to_le_bytes()[..out.len()]);
            left = left.saturating_sub(64);
        }
        self.len += 1;
    }

    fn is_at(&self, state: &[u64], number: usize) -> bool {
        let at = number % CHUNK * self.bytes;
        let bytes = &self.chunks[number / CHUNK][at..];
        if let ([word], Some(bytes)) = (state, bytes.first_chunk()) {
            return (u64::from_le_bytes(*bytes) ^ word) & low(self.bits) == 0;
        }
        let mut left = self.bits;
        for (&word, bytes) in state.iter().zip(bytes.chunks(8)) {
            if left == 0 {
                break;
            }
            let value = u64::from_le_bytes(bytes.try_into().expect("there is slack behind states"));
            if (value ^ word) & low(left) != 0 {
                return false;
            }
            left = left.saturating_sub(64);
        }
        true
    }

    fn place(&self, hash: u64) -> usize {
        ((u128::from(hash) * self.table.len() as u128) >> 64) as usize
    }

    /// The table entry of a state with this number.
    fn word(&self, hash: u64, number: usize) -> u32 {
        let rest = (hash as u32).checked_shl(self.number_bits).unwrap_or(0);
        rest | (number as u32 + 1)
    }

    /// Number of states that a table of `places` entries may hold.
    fn room(places: usize) -> usize {
        places / 5 * 4
    }

    /// Makes room for `more` states.
    fn reserve(&mut self, more: usize) -> Result<(), Full> {
        let wanted = self.len + more;
        if wanted >= u32::MAX as usize {
            return Err(Full);
        }
        let states = self.chunk_bytes(wanted);
        let room = self.most_bytes.saturating_sub(states) / 4;
        let known = wanted - self.since;
        if known <= Self::room(self.table.len()) {
            // The batch may contain fewer new states than `more`.
            return if self.table.len() as u64 <= room {
                Ok(())
            } else {
                Err(Full)
            };
        }
        let least = known + known / 3 + 5;
        if room < least as u64 {
            return Err(Full);
        }
        // Memory is kept free for the states that the larger table will refer to.
        let left = self.most_bytes - self.chunk_bytes(self.since);
        let fair = left as f64 / (4.0 + 0.8 * self.bytes as f64);
        let places = (2 * self.table.len()).min(fair as usize).max(least);
        self.rebuild(places);
        Ok(())
    }

    fn rebuild(&mut self, places: usize) {
        // The old table is freed first.
        self.table = Table::new(0);
        self.number_bits = usize::BITS - (Self::room(places) + 1).leading_zeros();
        let mut larger = Table::new(places);
        let table = larger.words_mut();
        let mut state = vec![0; self.bits.div_ceil(64)];
        let mut hashes = [0; BATCH];
        let place_of = |hash: u64| ((u128::from(hash) * places as u128) >> 64) as usize;
        for first in (self.since..self.len).step_by(BATCH) {
            let batch = first..self.len.min(first + BATCH);
            for (number, hash) in batch.clone().zip(&mut hashes) {
                self.read(number, &mut state);
                *hash = hash_of(&state, self.bits);
            }
            std::hint::black_box(hashes.map(|hash| table[place_of(hash)]));
            for (number, &hash) in batch.zip(&hashes) {
                let mut place = place_of(hash);
                while table[place] != 0 {
                    place = (place + 1) % places;
                }
                table[place] = self.word(hash, number - self.since);
            }
        }
        self.table = larger;
    }
}

/// A hash of the first `bits` bits of a state.
pub(in crate::planning) fn hash_of(state: &[u64], bits: usize) -> u64 {
    let mut left = bits;
    let mut hash = 0x9e37_79b9_7f4a_7c15;
    for &word in state {
        if left == 0 {
            break;
        }
        let product = u128::from((word & low(left)) ^ hash) * 0xa076_1d64_78bd_642f;
        hash = product as u64 ^ (product >> 64) as u64;
        left = left.saturating_sub(64);
    }
    // The high bits determine the place, so they must depend on all input bits.
    hash ^= hash >> 32;
    hash.wrapping_mul(0xe703_7ed1_a0b4_28db)
}

/// The words of a state, in the format of [`States::bytes`].
pub(in crate::planning) fn words_of(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes.chunks(8).map(|bytes| {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        u64::from_le_bytes(word)
    })
}

/// A mask of the lowest `bits` bits.
pub(in crate::planning) fn low(bits: usize) -> u64 {
    if bits >= 64 {
        u64::MAX
    } else {
        !(u64::MAX << bits)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    #[test]
    fn states_are_numbered_as_by_a_hash_map() {
        for bits in [0_usize, 1, 7, 33, 64, 65, 130] {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(bits as u64);
            let stride = bits.div_ceil(64) + 1;
            let mut states = States::new(bits, 1 << 30);
            let mut known: HashMap<Vec<u64>, u32> = HashMap::new();
            let mut in_order = Vec::new();
            for _ in 0..200 {
                let batch: Vec<u64> = (0..50 * stride)
                    .map(|_| random.random_range(0..40))
                    .collect();
                let insert = |position: usize, number, is_new| {
                    let state = &batch[position * stride..][..stride];
                    let mut left = bits;
                    let mut key = Vec::new();
                    for &word in &state[..bits.div_ceil(64)] {
                        key.push(word & low(left));
                        left = left.saturating_sub(64);
                    }
                    let next = known.len() as u32;
                    let expected = *known.entry(key.clone()).or_insert(next);
                    assert_eq!(
                        (number, is_new),
                        (expected, expected == next),
                        "{bits} bits"
                    );
                    if is_new {
                        in_order.push(key);
                    }
                };
                states.insert_all(&batch, stride, insert).unwrap();
            }
            assert_eq!(states.len(), known.len());
            for (number, key) in in_order.iter().enumerate() {
                let mut out = vec![0; key.len()];
                states.read(number, &mut out);
                assert_eq!(&out, key);
            }
        }
    }

    #[test]
    fn the_memory_limit_is_respected() {
        for most in [100_000, 1_000_000, 3_000_000] {
            let mut states = States::new(40, most);
            let mut number = 0;
            let full = loop {
                let batch: Vec<u64> = (number..number + 64).collect();
                number += 64;
                if states.insert_all(&batch, 1, |_, _, _| ()).is_err() {
                    break states.len();
                }
                assert!(states.memory() <= most, "{} of {most}", states.memory());
            };
            // A state takes about ten bytes.
            assert!(full as u64 > most / 14, "{full} states in {most}");
        }
    }

    /// Inserts numbers as states of 40 bits and returns the number of new ones.
    fn add(states: &mut States, numbers: std::ops::Range<u64>) -> usize {
        let numbers: Vec<u64> = numbers.collect();
        let mut new = 0;
        let see = |_, _, is_new| new += usize::from(is_new);
        states.insert_all(&numbers, 1, see).unwrap();
        new
    }

    #[test]
    fn states_can_be_removed_forgotten_and_restored() {
        let mut states = States::new(40, 1 << 30);
        assert_eq!(add(&mut states, 0..5_000), 5_000);
        states.truncate(1_500);
        assert_eq!(add(&mut states, 1_000..2_000), 500);
        states.forget();
        assert_eq!(states.find(&[7]), None);
        assert_eq!(add(&mut states, 0..3_000), 3_000);
        assert_eq!(states.find(&[7]), Some(2_007));
        for range in [0..5_000, 1_023..1_025, 17..17, 4_000..4_999] {
            let bytes: Vec<u8> = states.bytes(range.clone()).flatten().copied().collect();
            assert_eq!(bytes.len(), 5 * range.len());
        }
        let bytes: Vec<u8> = states.bytes(0..5_000).flatten().copied().collect();
        let mut again = States::new(40, 1 << 20);
        let mut at = 0;
        let restored = again.restore(5_000, 2_000, "full", |out| {
            out.copy_from_slice(&bytes[at..at + out.len()]);
            at += out.len();
            Ok(())
        });
        assert_eq!((restored, at), (Ok(()), bytes.len()));
        assert_eq!(again.find(&[7]), Some(2_007));
        assert_eq!(add(&mut again, 0..3_001), 1);
        let little = States::new(40, 10_000).restore(5_000, 0, "full", |_| Ok(()));
        assert_eq!(little, Err("full"));
    }
}
