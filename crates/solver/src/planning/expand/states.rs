//! A set of states, numbered in the order in which they came.
//!
//! The states lie one after the other in as few bytes as their bits take; the
//! table beside them holds numbers only, each with as much of a hash as fits
//! into its word. While the table grows there is no second one.

use std::ops::Range;

use super::table::Table;

/// States of so many bits each.
pub(in crate::planning) struct States {
    bits: usize,
    /// Bytes of a state.
    bytes: usize,
    /// The first one grows; the others have their size from the start.
    chunks: Vec<Vec<u8>>,
    len: usize,
    /// States before this one are kept but not found again.
    since: usize,
    /// 0 where nothing is; else the number from 1, counted from `since`, below
    /// the hash's low bits.
    table: Table,
    /// Bits of a table's word that are the number.
    number_bits: u32,
    most_bytes: u64,
}

/// There is no room for more.
#[derive(Copy, Clone, Debug)]
pub(in crate::planning) struct Full;

/// States of a chunk; of the first one at first.
const CHUNK: usize = 1 << 10;
const FIRST_CHUNK: usize = 16;
/// Bytes that a chunk takes beside its states.
const BESIDE: usize = SLACK + size_of::<Vec<u8>>() + 16;
/// Bytes behind a chunk's states, so that whole words can be read.
const SLACK: usize = 8;
/// States looked up at once.
const AHEAD: usize = 64;
/// Places of the first table.
const FIRST: usize = 1 << 6;

impl States {
    /// An empty set that takes no more than so many bytes, about.
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
        states.rebuild(FIRST);
        states
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// Bytes taken, about.
    pub fn memory(&self) -> u64 {
        4 * self.table.len() as u64 + self.chunk_bytes(self.len)
    }

    /// Bytes that so many states take.
    fn chunk_bytes(&self, states: usize) -> u64 {
        let room = match states {
            0 => return 0,
            1..=CHUNK => states.next_power_of_two().max(FIRST_CHUNK),
            _ => states.next_multiple_of(CHUNK),
        };
        (room * self.bytes + states.div_ceil(CHUNK) * BESIDE) as u64
    }

    /// Forgets all states and keeps the memory.
    pub fn clear(&mut self) {
        self.len = 0;
        self.since = 0;
        self.table.words_mut().fill(0);
    }

    /// Keeps all states, but as if none of them were known: they are new if they
    /// come again.
    pub fn forget(&mut self) {
        self.since = self.len;
        self.rebuild(FIRST);
    }

    /// Takes back all states from this number on.
    pub fn truncate(&mut self, len: usize) {
        if len < self.len {
            self.len = len;
            self.chunks.truncate(len.div_ceil(CHUNK));
            self.rebuild(self.table.len());
        }
    }

    /// Some states as they lie in memory, many at a time.
    pub fn bytes(&self, numbers: Range<usize>) -> impl Iterator<Item = &[u8]> {
        let firsts =
            (numbers.start / CHUNK..numbers.end.div_ceil(CHUNK)).map(|chunk| chunk * CHUNK);
        firsts.map(move |first| {
            let from = numbers.start.max(first) - first;
            let to = numbers.end.min(first + CHUNK) - first;
            &self.chunks[first / CHUNK][from * self.bytes..to * self.bytes]
        })
    }

    /// Bytes of a state.
    pub fn state_bytes(&self) -> usize {
        self.bytes
    }

    /// Replaces all by so many states, of which those before `since` are not
    /// known; `fill` gives them as they lay in memory. `full` if that takes too
    /// much.
    pub fn restore<E>(
        &mut self,
        len: usize,
        since: usize,
        full: E,
        mut fill: impl FnMut(&mut [u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let places = ((len - since) / 5 * 8).max(FIRST);
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

    /// How many states are kept but not known.
    pub fn since(&self) -> usize {
        self.since
    }

    /// Copies the first bits of a key over those of `out`; the other bits stay.
    pub fn overlay(key: &[u64], bits: usize, out: &mut [u64]) {
        let mut left = bits;
        for (word, &value) in out.iter_mut().zip(key) {
            let mask = low(left);
            *word = *word & !mask | value & mask;
            left = left.saturating_sub(64);
        }
    }

    /// Copies the key of a state over the first bits of `out`; the other bits
    /// stay.
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

    /// Adds states of `stride` words each, of which the first bits count, and
    /// calls `see` for each with its position, its number and whether it is
    /// new.
    pub fn insert_all(
        &mut self,
        states: &[u64],
        stride: usize,
        mut see: impl FnMut(usize, u32, bool),
    ) -> Result<(), Full> {
        self.reserve(states.len() / stride)?;
        let mut hashes = [0; AHEAD];
        let mut places = [0; AHEAD];
        for (number, batch) in states.chunks(AHEAD * stride).enumerate() {
            // What the table says is read ahead, and then what it points to, all
            // independent of each other, so that the memory answers many at a
            // time.
            let count = batch.len() / stride;
            let mut touched = 0;
            let table = self.table.words();
            for (position, state) in batch.chunks_exact(stride).enumerate() {
                let hash = hash_of(state, self.bits);
                (hashes[position], places[position]) = (hash, self.place(hash));
                touched ^= table[places[position]];
            }
            std::hint::black_box(touched);
            let mut touched = 0;
            for (place, &hash) in places.iter_mut().zip(&hashes).take(count) {
                let (at, number) = self.follow(*place, hash);
                *place = at;
                if let Some(number) = number {
                    touched ^= self.chunks[number / CHUNK][number % CHUNK * self.bytes];
                }
            }
            std::hint::black_box(touched);
            for (position, state) in batch.chunks_exact(stride).enumerate() {
                // What stands before the place is another's.
                let (state, is_new) = self.insert(state, hashes[position], places[position]);
                see(number * AHEAD + position, state, is_new);
            }
        }
        Ok(())
    }

    /// The number of a state.
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

    /// The number of a state, or the place where its number belongs; looked for
    /// from a place on.
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

    /// The first place from one on that is free or of a state with such a hash,
    /// and the number of that state.
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

    /// The word of a state with this number.
    fn word(&self, hash: u64, number: usize) -> u32 {
        let rest = (hash as u32).checked_shl(self.number_bits).unwrap_or(0);
        rest | (number as u32 + 1)
    }

    /// How many states a table takes.
    fn room(places: usize) -> usize {
        places / 5 * 4
    }

    /// Makes room for so many more.
    fn reserve(&mut self, more: usize) -> Result<(), Full> {
        let wanted = self.len + more;
        if wanted >= u32::MAX as usize {
            return Err(Full);
        }
        let states = self.chunk_bytes(wanted);
        let room = self.most_bytes.saturating_sub(states) / 4;
        let known = wanted - self.since;
        if known <= Self::room(self.table.len()) {
            // What a batch adds at most may be more than it does.
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
        // What the states to come take is left to them.
        let left = self.most_bytes - self.chunk_bytes(self.since);
        let fair = left as f64 / (4.0 + 0.8 * self.bytes as f64);
        let places = (2 * self.table.len()).min(fair as usize).max(least);
        self.rebuild(places);
        Ok(())
    }

    fn rebuild(&mut self, places: usize) {
        // The old one goes first.
        self.table = Table::new(0);
        self.number_bits = usize::BITS - (Self::room(places) + 1).leading_zeros();
        let mut made = Table::new(places);
        let table = made.words_mut();
        let mut state = vec![0; self.bits.div_ceil(64)];
        let mut hashes = [0; AHEAD];
        let place_of = |hash: u64| ((u128::from(hash) * places as u128) >> 64) as usize;
        for first in (self.since..self.len).step_by(AHEAD) {
            let batch = first..self.len.min(first + AHEAD);
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
        self.table = made;
    }
}

/// A number that looks as if chosen by chance, from the first bits of a state.
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
    // The high bits choose the place: they must depend on all.
    hash ^= hash >> 32;
    hash.wrapping_mul(0xe703_7ed1_a0b4_28db)
}

/// So many bits, the lowest.
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
    fn it_numbers_states_as_a_map_does() {
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
    fn it_stays_within_its_memory() {
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
            // A state takes ten bytes or so.
            assert!(full as u64 > most / 14, "{full} states in {most}");
        }
    }

    /// Adds numbers as states of 40 bits; how many of them were new.
    fn add(states: &mut States, numbers: std::ops::Range<u64>) -> usize {
        let numbers: Vec<u64> = numbers.collect();
        let mut new = 0;
        let see = |_, _, is_new| new += usize::from(is_new);
        states.insert_all(&numbers, 1, see).unwrap();
        new
    }

    #[test]
    fn states_are_taken_back_forgotten_and_restored() {
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
