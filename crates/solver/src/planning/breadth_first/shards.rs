//! States by shard. A state's hash determines its shard.

use std::ops::Range;

use super::workers::Workers;
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
    /// Number of shards that share the memory.
    used: usize,
    /// Words of a key, and of a code.
    words: usize,
    stride: usize,
}

/// Number of states of one shard that follow each other in the order of a level, as far as
/// the shard has that many left.
const STRIPE: u64 = 1 << 12;

/// A range of states in each shard, in the order of a level: some states of each shard, shard
/// by shard, then more of each. So consecutive states are of all shards alike.
pub(super) struct Span {
    ranges: Vec<Range<u64>>,
    /// By stripe: number of states before it; the last entry is the total.
    before: Vec<u64>,
}

/// Consecutive states of one shard that are also consecutive in a level.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Piece {
    /// The position of the first of them in the level.
    pub at: u64,
    pub shard: usize,
    /// Their numbers in the shard.
    pub numbers: Range<u64>,
}

impl Piece {
    pub fn len(&self) -> u64 {
        self.numbers.end - self.numbers.start
    }

    /// The positions of the states in the level.
    pub fn positions(&self) -> Range<u64> {
        self.at..self.at + self.len()
    }

    /// Cuts off the first states, at most `most`, and returns them.
    pub fn take(&mut self, most: u64) -> Piece {
        let end = self.numbers.end.min(self.numbers.start + most);
        let first = Piece {
            numbers: self.numbers.start..end,
            ..self.clone()
        };
        self.at += first.len();
        self.numbers.start = end;
        first
    }
}

impl Span {
    /// The states of each shard in a range.
    pub fn new(ranges: Vec<Range<u64>>) -> Span {
        let len = |range: &Range<u64>| range.end - range.start;
        let longest = ranges.iter().map(len).max().unwrap_or(0);
        let mut before = vec![0];
        for stripe in 0..longest.div_ceil(STRIPE) {
            let in_stripe = |range| STRIPE.min(u64::saturating_sub(len(range), stripe * STRIPE));
            let total: u64 = ranges.iter().map(in_stripe).sum();
            before.push(before[before.len() - 1] + total);
        }
        Span { ranges, before }
    }

    /// The states of each shard from `from` to before `to`.
    pub fn between(from: &[u32], to: &[u32]) -> Span {
        let both = from.iter().zip(to);
        Span::new(both.map(|(&a, &b)| a.into()..b.into()).collect())
    }

    pub fn len(&self) -> u64 {
        self.before[self.before.len() - 1]
    }

    /// By shard: the range, or an empty one if the shard is not wanted.
    pub fn of(&self, is_wanted: impl Fn(usize) -> bool) -> Vec<Range<usize>> {
        let ranges = self.ranges.iter().enumerate();
        let range = |(shard, range): (usize, &Range<u64>)| match is_wanted(shard) {
            true => range.start as usize..range.end as usize,
            false => 0..0,
        };
        ranges.map(range).collect()
    }

    /// The shard of the state at a position, and its number there.
    pub fn place(&self, position: u64) -> (usize, u64) {
        let mut pieces = self.pieces(position..position + 1);
        let piece = pieces.pop().expect("the position is in the span");
        (piece.shard, piece.numbers.start)
    }

    /// The pieces of a range of positions, in order.
    pub fn pieces(&self, positions: Range<u64>) -> Vec<Piece> {
        let mut pieces = Vec::new();
        if positions.is_empty() {
            return pieces;
        }
        let first = self.before.partition_point(|&b| b <= positions.start) - 1;
        for stripe in first..self.before.len() - 1 {
            let mut at = self.before[stripe];
            if at >= positions.end {
                break;
            }
            for (shard, range) in self.ranges.iter().enumerate() {
                let start = range.end.min(range.start + stripe as u64 * STRIPE);
                let end = range.end.min(start + STRIPE);
                let from = start + positions.start.saturating_sub(at);
                let to = end.min(start + positions.end.saturating_sub(at));
                if from < to {
                    pieces.push(Piece {
                        at: at + from - start,
                        shard,
                        numbers: from..to,
                    });
                }
                at += end - start;
            }
        }
        pieces
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
            used: SHARDS,
            words: key_words(bits),
            stride,
        };
        shards.clear();
        shards
    }

    /// Gives the memory to `count` shards; the others stay empty.
    #[cfg(feature = "distributed")]
    pub fn use_only(&mut self, count: usize) {
        self.used = count;
        self.clear();
    }

    /// Removes all states and frees their memory.
    pub fn clear(&mut self) {
        self.all.clear();
        let each = self.most_bytes / self.used as u64;
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

    pub fn memory(&self) -> u64 {
        self.all.iter().map(States::memory).sum()
    }

    pub fn all(&self) -> &[States] {
        &self.all
    }

    pub fn all_mut(&mut self) -> &mut [States] {
        &mut self.all
    }

    /// Appends codes of some states of a shard; `suffix` supplies the bits outside the
    /// key.
    pub fn read(&self, shard: usize, numbers: Range<u64>, suffix: &[u64], out: &mut Vec<u64>) {
        for number in numbers {
            let at = out.len();
            out.extend_from_slice(suffix);
            self.all[shard].read(number as usize, &mut out[at..at + self.stride]);
        }
    }

    /// Inserts the new states among `children` ones, whose keys `feed` supplies by shard in
    /// their order, or nothing if they do not fit. Returns by shard the numbers of all, if they are
    /// `wanted`.
    ///
    /// # Errors
    ///
    /// [`Halt::Full`] if the states exceed the memory, [`Halt::Stopped`] if `stop` ends
    /// the insertion. After a stop some of the states are missing.
    pub fn insert<F>(
        &mut self,
        workers: &Workers,
        children: usize,
        feed: F,
        wanted: bool,
        stop: &ggp_stop::Stop,
    ) -> Result<Vec<Vec<u32>>, Halt>
    where
        F: Fn(usize, &mut dyn FnMut(&[u64]) -> Result<(), Halt>) -> Result<(), Halt> + Sync,
    {
        let lens = self.lens();
        let words = self.words;
        let all = self.all.iter_mut().enumerate().collect();
        let inserted =
            workers.each_pinned(children, all, |_, (shard, states): (usize, &mut States)| {
                let mut numbers = Vec::new();
                feed(shard, &mut |keys| match keys.is_empty() {
                    true => Ok(()),
                    false if stop.is_over() => Err(Halt::Stopped),
                    false => {
                        let inserted = match wanted {
                            false => states.insert_all(keys, words, |_, _, _| ()),
                            true => states.insert_all(keys, words, |_, number, _| {
                                numbers.push(number);
                            }),
                        };
                        inserted.map_err(|Full| Halt::Full)
                    }
                })?;
                Ok(numbers)
            });
        let inserted = inserted.into_iter().collect();
        if let Err(Halt::Full) = inserted {
            self.truncate(&lens);
        }
        inserted
    }

    /// Keeps only the first states of each shard, `lens` of them.
    pub fn truncate(&mut self, lens: &[u32]) {
        for (states, &len) in self.all.iter_mut().zip(lens) {
            states.truncate(len as usize);
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Positions in order, found one by one.
    fn slowly(lens: &[u64]) -> Vec<(usize, u64)> {
        let longest = lens.iter().max().copied().unwrap_or(0);
        let stripes = 0..longest.div_ceil(STRIPE);
        let in_stripe = |stripe: u64| {
            let shards = lens.iter().enumerate();
            shards.flat_map(move |(shard, &len)| {
                let numbers = stripe * STRIPE..len.min((stripe + 1) * STRIPE);
                numbers.map(move |number| (shard, number))
            })
        };
        stripes.flat_map(in_stripe).collect()
    }

    #[test]
    fn pieces_are_the_positions_in_order() {
        for lens in [
            &[][..],
            &[0],
            &[5],
            &[0, 3, 0, 2],
            &[3 * STRIPE, 0, STRIPE + 1, STRIPE, STRIPE - 1],
        ] {
            let first = 7;
            let ranges = lens.iter().map(|&len| first..first + len);
            let span = Span::new(ranges.collect());
            let all = slowly(lens);
            assert_eq!(span.len(), all.len() as u64);
            let total = span.len();
            for from in [0, 1, total / 3, total.saturating_sub(1), total] {
                for to in [from, from + 1, total / 2, total] {
                    let some = from.min(total)..to.clamp(from.min(total), total);
                    let mut found = Vec::new();
                    for piece in span.pieces(some.clone()) {
                        assert_eq!(piece.at, some.start + found.len() as u64);
                        let numbers = piece.numbers.clone();
                        found.extend(numbers.map(|number| (piece.shard, number - first)));
                    }
                    let some = some.start as usize..some.end as usize;
                    assert_eq!(found, all[some], "{lens:?}");
                }
            }
            for at in (0..total).step_by(1 + total as usize / 50) {
                let (shard, number) = span.place(at);
                assert_eq!((shard, number - first), all[at as usize]);
            }
        }
    }
}
