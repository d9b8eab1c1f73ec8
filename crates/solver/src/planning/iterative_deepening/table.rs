//! Which states were searched, and how far: a table of limited size.

use std::hash::Hasher;

use rustc_hash::FxHasher;

/// Keys of states, each with the moves that were searched from it. Where there is
/// no room, what was searched least far is forgotten.
pub(super) struct Table {
    bits: usize,
    /// Words of a key.
    words: usize,
    keys: Vec<u64>,
    /// By place: 0 where nothing is, 1 for what was only seen, and one more than
    /// the moves searched.
    searched: Vec<u16>,
    most_places: usize,
    len: usize,
    seen: usize,
    is_lossy: bool,
    /// For the key at hand.
    key: Vec<u64>,
}

/// Places where a key may be, one after the other.
const WAYS: usize = 64;
const FIRST: usize = 1 << 10;

impl Table {
    /// A table that takes no more than so many bytes, about; also while it grows.
    pub fn new(bits: usize, most_bytes: u64) -> Table {
        let words = bits.div_ceil(64).max(1);
        let place = 8 * words as u64 + 2;
        let most = usize::try_from(most_bytes / place * 2 / 3).unwrap_or(usize::MAX);
        let most_places = match most {
            0..FIRST => FIRST,
            _ => 1 << most.ilog2(),
        };
        Table {
            bits,
            words,
            keys: vec![0; FIRST * words],
            searched: vec![0; FIRST],
            most_places,
            len: 0,
            seen: 0,
            is_lossy: false,
            key: Vec::new(),
        }
    }

    /// States that are there.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether every state that was seen was searched, as far as it is known.
    pub fn is_closed(&self) -> bool {
        self.seen == 0 && !self.is_lossy
    }

    pub fn memory(&self) -> u64 {
        (8 * self.keys.len() + 2 * self.searched.len()) as u64
    }

    /// Whether a state is yet to be searched so many moves far; it is noted as
    /// searched then.
    pub fn enter(&mut self, code: &[u64], moves: u32) -> bool {
        let moves = u16::try_from(moves).unwrap_or(u16::MAX - 1);
        self.note(code, moves + 1)
    }

    /// Notes that there is such a state.
    pub fn see(&mut self, code: &[u64]) {
        self.note(code, 1);
    }

    fn note(&mut self, code: &[u64], searched: u16) -> bool {
        let mut key = std::mem::take(&mut self.key);
        key.clear();
        for (word, &value) in code.iter().take(self.words).enumerate() {
            key.push(match self.bits - (64 * word).min(self.bits) {
                left @ 0..64 => value & !(u64::MAX << left),
                _ => value,
            });
        }
        let is_more = self.put(&key, searched);
        self.key = key;
        is_more
    }

    /// Whether a state was searched less far before.
    fn put(&mut self, key: &[u64], searched: u16) -> bool {
        if 2 * self.len >= self.searched.len() && self.searched.len() < self.most_places {
            self.grow();
        }
        let mask = self.searched.len() - 1;
        let first = hash(key);
        let mut least = first & mask;
        for place in (0..WAYS).map(|way| first.wrapping_add(way) & mask) {
            let before = self.searched[place];
            if before == 0 {
                least = place;
                break;
            }
            if self.keys[place * self.words..][..self.words] == *key {
                self.seen -= usize::from(before == 1 && searched > 1);
                self.searched[place] = before.max(searched);
                return before < searched;
            }
            if before < self.searched[least] {
                least = place;
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
        let places = 2 * self.searched.len();
        let keys = std::mem::replace(&mut self.keys, vec![0; places * self.words]);
        let searched = std::mem::replace(&mut self.searched, vec![0; places]);
        (self.len, self.seen) = (0, 0);
        for (key, searched) in keys.chunks(self.words).zip(searched) {
            if searched > 0 {
                self.put(key, searched);
            }
        }
    }
}

fn hash(key: &[u64]) -> usize {
    let mut hasher = FxHasher::default();
    key.iter().for_each(|&word| hasher.write_u64(word));
    let hash = hasher.finish();
    (hash ^ hash >> 32) as usize
}
