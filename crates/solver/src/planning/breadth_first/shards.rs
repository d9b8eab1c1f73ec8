//! States by shard. A state's hash determines its shard.

use std::ops::Range;

use super::workers::{Portion, Workers};
use crate::planning::expand::states::{Full, States};

/// Number of shards. It is fixed because the order of states depends on it.
pub(super) const SHARDS: usize = 128;

/// The shard of a state with this hash, from bits that the shard's table does not
/// use.
pub(super) fn shard_of(hash: u64) -> usize {
    (hash >> 25) as usize % SHARDS
}

pub(super) struct Shards {
    all: Vec<States>,
    bits: usize,
    most_bytes: u64,
    /// Words of a key, and of a code.
    words: usize,
    stride: usize,
}

/// A range of states in each shard, ordered shard by shard.
pub(super) struct Span {
    ranges: Vec<Range<u32>>,
    /// By shard: number of states before it; the last entry is the total.
    before: Vec<u64>,
}

impl Span {
    /// The states of each shard from `from` to before `to`.
    pub fn new(from: &[u32], to: &[u32]) -> Span {
        let ranges: Vec<Range<u32>> = from.iter().zip(to).map(|(&a, &b)| a..b).collect();
        let mut before = vec![0];
        for range in &ranges {
            before.push(before[before.len() - 1] + range.len() as u64);
        }
        Span { ranges, before }
    }

    pub fn len(&self) -> u64 {
        self.before[self.ranges.len()]
    }

    /// The shard of the state at a position, and its number there.
    pub fn place(&self, position: u64) -> (usize, u32) {
        let shard = self.before.partition_point(|&before| before <= position) - 1;
        let first = self.ranges[shard].start;
        (shard, first + (position - self.before[shard]) as u32)
    }
}

impl Shards {
    /// Empty shards for states of `bits` bits, with `most_bytes` bytes in total.
    /// Codes have `stride` words.
    pub fn new(bits: usize, stride: usize, most_bytes: u64) -> Shards {
        let mut shards = Shards {
            all: Vec::new(),
            bits,
            most_bytes,
            words: key_words(bits),
            stride,
        };
        shards.clear();
        shards
    }

    /// Removes all states and frees their memory.
    pub fn clear(&mut self) {
        self.all.clear();
        let each = self.most_bytes / SHARDS as u64;
        let bits = self.bits;
        self.all
            .extend((0..SHARDS).map(|_| States::new(bits, each)));
    }

    /// Maximum memory for the states, in bytes.
    pub fn most_bytes(&self) -> u64 {
        self.most_bytes
    }

    /// By shard: number of states.
    pub fn lens(&self) -> Box<[u32]> {
        let lens = self.all.iter().map(|states| states.len() as u32);
        lens.collect()
    }

    /// Total number of states.
    pub fn len(&self) -> usize {
        self.all.iter().map(States::len).sum()
    }

    pub fn memory(&self) -> u64 {
        self.all.iter().map(States::memory).sum()
    }

    pub fn all(&self) -> &[States] {
        &self.all
    }

    pub fn all_mut(&mut self) -> &mut [States] {
        &mut self.all
    }

    /// Appends codes of a span's states; `suffix` supplies the bits outside the
    /// key.
    pub fn read(&self, span: &Span, positions: Range<u64>, suffix: &[u64], out: &mut Vec<u64>) {
        if positions.is_empty() {
            return;
        }
        let (mut shard, mut number) = span.place(positions.start);
        for _ in positions {
            while number == span.ranges[shard].end {
                shard += 1;
                number = span.ranges[shard].start;
            }
            let at = out.len();
            out.extend_from_slice(suffix);
            self.all[shard].read(number as usize, &mut out[at..at + self.stride]);
            number += 1;
        }
    }

    /// Inserts the new states of all portions, or nothing if they do not fit.
    ///
    /// # Errors
    ///
    /// [`Halt::Full`] if the states exceed the memory, [`Halt::Stopped`] if `stop` ends
    /// the insertion. After a stop some of the states are missing.
    pub fn insert(
        &mut self,
        workers: &Workers,
        portions: &[Portion],
        stop: &ggp_stop::Stop,
    ) -> Result<(), Halt> {
        let lens = self.lens();
        let words = self.words;
        let children: usize = portions.iter().map(Portion::len).sum();
        let all = self.all.iter_mut().enumerate().collect();
        let inserted =
            workers.each_pinned(children, all, |_, (shard, states): (usize, &mut States)| {
                let mut parts = portions.iter().map(|portion| portion.of(shard));
                parts.try_for_each(|keys| match keys.is_empty() {
                    true => Ok(()),
                    false if stop.is_over() => Err(Halt::Stopped),
                    false => {
                        let inserted = states.insert_all(keys, words, |_, _, _| ());
                        inserted.map_err(|Full| Halt::Full)
                    }
                })
            });
        let inserted = inserted.into_iter().collect();
        if let Err(Halt::Full) = inserted {
            for (states, &len) in self.all.iter_mut().zip(&lens) {
                states.truncate(len as usize);
            }
        }
        inserted
    }

    /// Keeps all states but treats them as unknown: they count as new if they are
    /// inserted again.
    pub fn forget(&mut self) {
        self.all.iter_mut().for_each(States::forget);
    }
}

/// The reason why states were not inserted.
pub(super) enum Halt {
    /// They exceed the memory.
    Full,
    /// The search was stopped.
    Stopped,
}

/// Words of a key of `bits` bits, at least one.
pub(super) fn key_words(bits: usize) -> usize {
    bits.div_ceil(64).max(1)
}
