//! Making a file of values.

use std::fmt;
use std::io::{self, Write};

use rustc_hash::{FxHashMap, FxHashSet};

use super::bucket;
use super::file::{Header, TableValue, Writer};
use crate::planning::breadth_first::values::{FAR, Fault, Progress, Valued, value_all};
use ggp_engine::propnet::Propnet;
use ggp_engine::threads::Pool;
use ggp_search::{Budget, BudgetKind};
use ggp_stop::Stop;

/// The mean number of positions in a bucket of a file, at most twice as many.
const BUCKET: u64 = 4;
/// The number of positions that a thread prepares for the file at once.
const AT_ONCE: usize = 1 << 14;

/// The limits of [`tabulate`].
#[derive(Clone, Debug)]
pub struct TabulateLimits {
    /// The most positions.
    pub positions: u64,
    /// The most bytes.
    pub memory_bytes: u64,
    /// The number of threads; 0 counts as 1. The values and the file do not depend on it.
    pub threads: usize,
    /// The flag and the deadline that end the work.
    pub stop: Stop,
}

/// The reason why there are no values.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TabulateError {
    /// It was stopped.
    Stopped,
    /// There are more positions than allowed; the number of those found by then.
    TooMany(u64),
    /// They need more memory than allowed; the number of those found by then.
    TooLarge(u64),
    /// A position has more than 65,536 joint moves.
    Wide,
    /// A role has no legal move in some position.
    NoMove {
        /// The number of the role.
        role: usize,
    },
    /// A role has no score, or several, at some end.
    NoScore {
        /// The number of the role.
        role: usize,
    },
    /// There are more different values than a file can have.
    TooVarious,
}

impl fmt::Display for TabulateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TabulateError::Stopped => f.write_str("stopped before all positions were valued"),
            TabulateError::TooMany(found) => {
                write!(f, "more positions than allowed: {found} found")
            }
            TabulateError::TooLarge(found) => {
                write!(f, "the positions do not fit into the memory: {found} found")
            }
            TabulateError::Wide => f.write_str("a position has more than 65536 joint moves"),
            TabulateError::NoMove { role } => {
                write!(f, "role {} has no legal move in some position", role + 1)
            }
            TabulateError::NoScore { role } => {
                write!(f, "role {} has no score, or several, at some end", role + 1)
            }
            TabulateError::TooVarious => f.write_str("more than 65536 different values"),
        }
    }
}

impl std::error::Error for TabulateError {}

/// The values of all positions.
pub struct Tabulation {
    valued: Valued,
    pool: Pool,
    stop: Stop,
}

/// Computes the values of all positions that are reachable from the first one of a network. `seen` is
/// told now and then how far the work is.
///
/// # Errors
///
/// If a limit is reached, or the rules have a fault.
pub fn tabulate(
    net: &Propnet,
    limits: &TabulateLimits,
    seen: &mut dyn FnMut(Progress),
) -> Result<Tabulation, TabulateError> {
    let budget = Budget {
        memory_bytes: limits.memory_bytes,
        stop: limits.stop.clone(),
        ..Budget::default()
    };
    let mut found = 0;
    let mut seen = |progress| {
        if let Progress::Found(positions) = progress {
            found = positions;
        }
        seen(progress);
    };
    // A file numbers positions with 32 bits.
    let most = limits.positions.min(u32::MAX.into());
    let valued = value_all(net, limits.threads, most, &budget, &mut seen);
    let valued = valued.map_err(|fault| match fault {
        Fault::Budget(BudgetKind::Nodes) => TabulateError::TooMany(found),
        Fault::Budget(BudgetKind::Memory) => TabulateError::TooLarge(found),
        Fault::Budget(_) => TabulateError::Stopped,
        Fault::NoMove(role) => TabulateError::NoMove { role },
        Fault::NoScore(role) => TabulateError::NoScore { role },
        Fault::Wide => TabulateError::Wide,
    })?;
    Ok(Tabulation {
        valued,
        pool: Pool::new(limits.threads),
        stop: limits.stop.clone(),
    })
}

impl Tabulation {
    /// The number of positions.
    pub fn len(&self) -> u64 {
        self.valued.lens().iter().map(|&len| u64::from(len)).sum()
    }

    /// The value of the first position.
    pub fn first(&self) -> TableValue {
        let (shard, number) = self.valued.first;
        let distance = self.valued.distance(shard, number);
        TableValue {
            scores: self.valued.scores(shard, number).to_vec(),
            distance: (self.valued.has_distances && distance != FAR).then_some(distance),
        }
    }

    /// Always false: there is the first position.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The number of joint moves of all positions.
    pub fn joint_moves(&self) -> u64 {
        self.valued.joint_moves
    }

    /// Writes the file of the values of a game with this network.
    ///
    /// # Errors
    ///
    /// Those of writing; [`io::ErrorKind::InvalidData`] with [`TabulateError::TooVarious`] if
    /// there are more different values than a file can have, and [`io::ErrorKind::Interrupted`] with
    /// [`TabulateError::Stopped`] after a stop.
    pub fn write(&self, net: &Propnet, out: &mut dyn Write) -> io::Result<()> {
        let values = self.values()?;
        let bits = (self.len() / BUCKET).checked_ilog2().unwrap_or(0);
        let (players, has_distances) = (&self.valued.players, self.valued.has_distances);
        let header = Header::new(net, players, self.len(), bits, values, has_distances);
        let (firsts, order) = self.by_bucket(&header)?;
        let mut writer = Writer::new(out, &header)?;
        for first in firsts {
            writer.write(&first.to_le_bytes())?;
        }
        let numbers = header.values.iter().zip(0_u16..);
        let numbers: FxHashMap<&[[u8; 2]], u16> = { numbers }
            .map(|(value, number)| (&value[..], number))
            .collect();
        let shard_firsts = self.shard_firsts();
        for some in order.chunks(AT_ONCE * 4 * self.pool.threads()) {
            self.check()?;
            let blocks = self.pool.map(some.chunks(AT_ONCE).collect(), |_, some| {
                let mut reader = Reader::new(self, &header);
                let mut block = Vec::new();
                for some in some.chunks(64) {
                    let place = |position: &u32| {
                        let shard = shard_firsts.partition_point(|first| first <= position) - 1;
                        (shard, (position - shard_firsts[shard]) as usize)
                    };
                    let places: Vec<(usize, usize)> = some.iter().map(place).collect();
                    let keys = reader.keys(&places);
                    for (key, &(shard, number)) in keys.zip(&places) {
                        block.extend_from_slice(key);
                        let value = numbers[self.valued.scores(shard, number)];
                        block.extend_from_slice(&value.to_le_bytes());
                        if has_distances {
                            let distance = self.valued.distance(shard, number);
                            block.extend_from_slice(&distance.to_le_bytes());
                        }
                    }
                }
                block
            });
            for block in blocks {
                writer.write(&block)?;
            }
        }
        writer.finish()
    }

    /// The different values, in ascending order.
    fn values(&self) -> io::Result<Vec<Vec<[u8; 2]>>> {
        let shards = self.valued.lens().into_iter().enumerate().collect();
        let found = self.pool.map(shards, |_, (shard, len)| {
            let values = (0..len as usize).map(|number| self.valued.scores(shard, number));
            values.collect::<FxHashSet<&[[u8; 2]]>>()
        });
        let all: FxHashSet<&[[u8; 2]]> = found.into_iter().flatten().collect();
        if all.len() > usize::from(u16::MAX) + 1 {
            let error = TabulateError::TooVarious;
            return Err(io::Error::new(io::ErrorKind::InvalidData, error));
        }
        let mut all: Vec<Vec<[u8; 2]>> = all.into_iter().map(<[_]>::to_vec).collect();
        all.sort_unstable();
        Ok(all)
    }

    /// The first entry of each bucket and one more, and the positions by bucket.
    fn by_bucket(&self, header: &Header) -> io::Result<(Vec<u32>, Vec<u32>)> {
        let bits = header.bucket_bits;
        let lens = self.valued.lens();
        let pieces = lens.iter().enumerate().flat_map(|(shard, &len)| {
            let firsts = (0..len as usize).step_by(AT_ONCE);
            firsts.map(move |first| (shard, first..(len as usize).min(first + AT_ONCE)))
        });
        let pieces: Vec<_> = pieces.collect();
        let mut places = Vec::with_capacity(self.len() as usize);
        let mut firsts = vec![0_u32; (1 << bits) + 1];
        for some in pieces.chunks(4 * self.pool.threads()) {
            self.check()?;
            let found = self.pool.map(some.to_vec(), |_, (shard, numbers)| {
                let mut reader = Reader::new(self, header);
                let mut places = Vec::with_capacity(numbers.len());
                for first in numbers.clone().step_by(64) {
                    let some = first..numbers.end.min(first + 64);
                    let some: Vec<(usize, usize)> = some.map(|number| (shard, number)).collect();
                    let keys = reader.keys(&some);
                    places.extend(keys.map(|key| bucket(key, bits) as u32));
                }
                places
            });
            for place in found.into_iter().flatten() {
                firsts[place as usize + 1] += 1;
                places.push(place);
            }
        }
        for at in 1..firsts.len() {
            firsts[at] += firsts[at - 1];
        }
        let mut next = firsts.clone();
        let mut order = vec![0_u32; places.len()];
        for (place, position) in places.into_iter().zip(0..) {
            let at = &mut next[place as usize];
            order[*at as usize] = position;
            *at += 1;
        }
        Ok((firsts, order))
    }

    /// By shard: the number of positions in those before it; the last entry is the number of all.
    fn shard_firsts(&self) -> Vec<u32> {
        let lens = self.valued.lens();
        let mut firsts = vec![0];
        firsts.extend(lens.iter().scan(0, |sum, len| {
            *sum += len;
            Some(*sum)
        }));
        firsts
    }

    fn check(&self) -> io::Result<()> {
        match self.stop.is_over() {
            true => Err(io::Error::new(
                io::ErrorKind::Interrupted,
                TabulateError::Stopped,
            )),
            false => Ok(()),
        }
    }
}

/// Reads the facts of positions.
struct Reader<'t> {
    valued: &'t Valued,
    codes: Vec<u64>,
    states: Vec<u64>,
    bytes: Vec<u8>,
    /// The words of a state, and the bytes of its facts.
    words: usize,
    key: usize,
}

impl<'t> Reader<'t> {
    fn new(of: &'t Tabulation, header: &Header) -> Reader<'t> {
        Reader {
            valued: &of.valued,
            codes: Vec::new(),
            states: Vec::new(),
            bytes: Vec::new(),
            words: header.facts.len().div_ceil(64),
            key: header.key_bytes(),
        }
    }

    /// The facts of at most 64 positions as bits.
    fn keys(&mut self, places: &[(usize, usize)]) -> impl Iterator<Item = &[u8]> {
        (self.valued).read(places, &mut self.codes, &mut self.states);
        self.bytes.clear();
        for word in &self.states {
            self.bytes.extend_from_slice(&word.to_le_bytes());
        }
        let firsts = (0..places.len()).map(|number| 8 * self.words * number);
        firsts.map(|first| &self.bytes[first..][..self.key])
    }
}
