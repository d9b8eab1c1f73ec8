//! Making a file of values.

use std::fmt;
use std::io::{self, Write};

use rustc_hash::{FxHashMap, FxHashSet};

use super::bucket;
use super::file::{Header, TableValue, Writer, upper_bound};
use crate::expected::{Bounds, expected_of_all};
use crate::planning::breadth_first::values::{FAR, Fault, Progress, ValueError, Valued, value_all};
use crate::planning::breadth_first::{BreadthFirstError, BreadthFirstOptions, Lost, Peers};
#[cfg(feature = "distributed")]
use crate::planning::breadth_first::{LinkError, Processes};
use ggp_engine::machine::{AnyMachine, Machine, PlayError};
use ggp_engine::propnet::Propnet;
use ggp_engine::threads::Pool;
use ggp_gdl::game::RoleId;
use ggp_search::Budget;
use ggp_stop::Stop;

/// The mean number of positions in a bucket of a file, at most twice as many.
const BUCKET: u64 = 4;
/// The number of positions that a thread prepares for the file at once.
const AT_ONCE: usize = 1 << 14;
/// The number of buckets that are written together.
const BUCKETS: usize = 1 << 17;

/// The limits of [`tabulate`].
#[derive(Clone, Debug)]
pub struct TabulateLimits {
    /// The most positions.
    pub positions: u64,
    /// The most bytes of this process.
    pub memory_bytes: u64,
    /// The number of threads; 0 counts as 1.
    pub threads: usize,
    /// The processes that do the work together, if there are several. Each must have the same network
    /// and limits, but for memory and time.
    #[cfg(feature = "distributed")]
    pub processes: Option<Processes>,
    /// The flag and the deadline that end the work.
    pub stop: Stop,
}

/// The reason why there are no values.
#[derive(Debug)]
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
    /// The processes cannot connect, or one of them is lost.
    Processes(BreadthFirstError),
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
            TabulateError::Processes(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for TabulateError {}

impl From<Lost> for TabulateError {
    fn from(lost: Lost) -> Self {
        TabulateError::Processes(lost.into())
    }
}

/// The values of all positions, of which each process has a part.
pub struct Tabulation {
    part: Part,
    peers: Peers,
}

/// The positions of this process.
struct Part {
    valued: Valued,
    /// By the facts of a position as bits: the expected scores of the players; empty if they are not known.
    means: FxHashMap<Vec<u8>, Vec<f32>>,
    pool: Pool,
    stop: Stop,
}

/// Computes the values of all positions that are reachable from the first one of a network. `seen` is
/// called now and then with the progress. Values and file depend on neither threads nor memory nor
/// processes.
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
    let options = BreadthFirstOptions {
        threads: limits.threads,
        #[cfg(feature = "distributed")]
        processes: limits.processes.clone(),
        ..BreadthFirstOptions::default()
    };
    let valued = value_all(net, &options, most, &budget, &mut seen);
    let valued = valued.map_err(|error| match error {
        #[cfg(feature = "distributed")]
        ValueError::Processes(BreadthFirstError::Link(LinkError::Stopped)) => {
            TabulateError::Stopped
        }
        #[cfg(feature = "distributed")]
        ValueError::Processes(error) => TabulateError::Processes(error),
        ValueError::Fault(fault) => match fault {
            Fault::Stopped => TabulateError::Stopped,
            Fault::TooMany => TabulateError::TooMany(found),
            Fault::TooLarge => TabulateError::TooLarge(found),
            Fault::NoMove(role) => TabulateError::NoMove { role },
            Fault::NoScore(role) => TabulateError::NoScore { role },
            Fault::Wide => TabulateError::Wide,
            Fault::Lost(process) => Lost(process).into(),
        },
    })?;
    let (valued, peers) = valued;
    Ok(Tabulation {
        part: Part {
            valued,
            means: FxHashMap::default(),
            pool: Pool::new(limits.threads),
            stop: limits.stop.clone(),
        },
        peers,
    })
}

impl Tabulation {
    /// The number of positions, of all processes.
    pub fn len(&self) -> u64 {
        self.part.valued.positions
    }

    /// The value of the first position.
    pub fn first(&self) -> TableValue {
        let (scores, distance) = &self.part.valued.first;
        TableValue {
            means: Vec::new(),
            scores: scores.clone(),
            distance: (self.part.valued.has_distances && *distance != FAR).then_some(*distance),
        }
    }

    /// Finds the scores that the players can expect where chance decides, for the file: means over its moves.
    /// `machine` runs the same network. Returns those of the first position; `None` if the budget ends first,
    /// nothing is chance, or several processes share the positions, and in games in which the values depend on
    /// what others know: of several players, but two that take turns with a constant sum.
    ///
    /// # Errors
    ///
    /// Faults of the rules.
    pub fn find_means(
        &mut self,
        machine: &mut AnyMachine,
        budget: &Budget,
    ) -> Result<Option<Vec<f32>>, PlayError> {
        let game = machine.game().clone();
        let start = machine.initial()?;
        let has_chance = game.roles().any(|role| game.is_random(role));
        if !has_chance || self.peers.count() > 1 || machine.is_terminal(&start)? {
            return Ok(None);
        }
        let players: Vec<RoleId> = game.roles().filter(|role| !game.is_random(*role)).collect();
        let mut means: FxHashMap<Vec<u8>, Vec<f32>> = FxHashMap::default();
        let mut first = Vec::new();
        for role in players {
            let Some(found) = expected_of_all(machine, &start, role, budget)? else {
                return Ok(None);
            };
            if !found.is_exact {
                return Ok(None);
            }
            for (state, number) in &found.numbers {
                let Some((net, packed)) = machine.network(state) else {
                    return Ok(None);
                };
                let mut key: Vec<u8> = packed.iter().flat_map(|word| word.to_le_bytes()).collect();
                key.truncate(net.facts().len().div_ceil(8));
                let mean = mean_of(found.values[*number as usize]);
                if *number == 0 {
                    first.push(mean);
                }
                means.entry(key).or_default().push(mean);
            }
        }
        self.part.means = means;
        Ok(Some(first))
    }

    /// The proved upper bound of each score of the first position, if there is one.
    pub fn upper_bounds(&self) -> Vec<Option<u8>> {
        let scores = &self.part.valued.first.0;
        let has_means = !self.part.means.is_empty();
        let is_exact = self.part.valued.has_distances || has_means || scores.len() == 1;
        let bounds = scores.iter().map(|value| upper_bound(*value, is_exact));
        bounds.collect()
    }

    /// Always false: there is the first position.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The number of joint moves of all positions.
    pub fn joint_moves(&self) -> u64 {
        self.part.valued.joint_moves
    }

    /// Writes the file of the values of a game with this network. With several processes, all must call it,
    /// and only the first one's has the content.
    ///
    /// # Errors
    ///
    /// Those of writing; [`io::ErrorKind::InvalidData`] with [`TabulateError::TooVarious`] if there are
    /// more different values than a file can have, [`io::ErrorKind::Interrupted`] with
    /// [`TabulateError::Stopped`] after a stop, and [`io::ErrorKind::ConnectionAborted`] with
    /// [`TabulateError::Processes`] if a process is lost.
    pub fn write(&mut self, net: &Propnet, out: &mut dyn Write) -> io::Result<()> {
        let values = self.values()?;
        let bits = (self.len() / BUCKET).checked_ilog2().unwrap_or(0);
        let (players, has_distances) = (&self.part.valued.players, self.part.valued.has_distances);
        let mut header = Header::new(net, players, self.len(), bits, values, has_distances);
        header.has_means = !self.part.means.is_empty();
        let (firsts, order) = self.part.by_bucket(&header)?;
        let is_first = self.peers.index() == 0;
        let mut writer = if is_first {
            Some(Writer::new(out, &header)?)
        } else {
            None
        };
        let buckets = 1_usize << bits;
        // The first entries of all buckets, and then the entries, some buckets at a time.
        let mut first = 0_u32;
        for some in (0..buckets).step_by(BUCKETS) {
            let counts = counts(&firsts[some..=buckets.min(some + BUCKETS)]);
            let all = self.gather(&counts)?;
            if let Some(writer) = &mut writer {
                for bucket in 0..counts.len() / 4 {
                    writer.write(&first.to_le_bytes())?;
                    first += all
                        .iter()
                        .map(|counts| count_of(counts, bucket))
                        .sum::<u32>();
                }
            }
        }
        if let Some(writer) = &mut writer {
            writer.write(&first.to_le_bytes())?;
        }
        for some in (0..buckets).step_by(BUCKETS) {
            self.part.check()?;
            let own = &firsts[some..=buckets.min(some + BUCKETS)];
            let entries = &order[own[0] as usize..own[own.len() - 1] as usize];
            let mut sent = counts(own);
            sent.extend(self.part.entries(entries, &header));
            let all = self.gather(&sent)?;
            let Some(writer) = &mut writer else {
                continue;
            };
            let count = own.len() - 1;
            let mut left: Vec<&[u8]> = all.iter().map(|sent| &sent[4 * count..]).collect();
            let mut bucket_entries = Vec::new();
            for bucket in 0..count {
                for (sent, left) in all.iter().zip(&mut left) {
                    let bytes = count_of(sent, bucket) as usize * header.entry_bytes();
                    let (own, rest) = left.split_at(bytes);
                    bucket_entries.extend(own.chunks_exact(header.entry_bytes()));
                    *left = rest;
                }
                bucket_entries.sort_unstable();
                for entry in bucket_entries.drain(..) {
                    writer.write(entry)?;
                }
            }
        }
        let written = writer.map_or(Ok(()), Writer::finish);
        // Nobody leaves before all is written.
        self.gather(&[])?;
        self.peers.leave().map_err(lost)?;
        written
    }

    /// The bytes of all processes, for the first one; nothing for others.
    fn gather(&mut self, own: &[u8]) -> io::Result<Vec<Vec<u8>>> {
        let peers = &mut self.peers;
        let mut parcels = vec![Vec::new(); peers.count()];
        own.clone_into(&mut parcels[0]);
        let arrived = peers.exchange(parcels).map_err(lost)?;
        Ok(if peers.index() == 0 {
            arrived
        } else {
            Vec::new()
        })
    }

    /// The different values of all processes, in ascending order.
    fn values(&mut self) -> io::Result<Vec<Vec<[u8; 2]>>> {
        let all = self.peers.gather(self.part.values()).map_err(lost)?;
        let mut all: Vec<Vec<[u8; 2]>> = all.into_iter().flatten().collect();
        all.sort_unstable();
        all.dedup();
        if all.len() > usize::from(u16::MAX) + 1 {
            let error = TabulateError::TooVarious;
            return Err(io::Error::new(io::ErrorKind::InvalidData, error));
        }
        Ok(all)
    }
}

impl Part {
    /// The different values.
    fn values(&self) -> Vec<Vec<[u8; 2]>> {
        let valued = &self.valued;
        let shards = valued.lens().into_iter().enumerate().collect();
        let found = self.pool.map(shards, |_, (shard, len)| {
            let values = (0..len as usize).map(|number| valued.scores(shard, number));
            values.collect::<FxHashSet<&[[u8; 2]]>>()
        });
        let all: FxHashSet<&[[u8; 2]]> = found.into_iter().flatten().collect();
        all.into_iter().map(<[_]>::to_vec).collect()
    }

    /// The entries of positions, in this order.
    fn entries(&self, positions: &[u32], header: &Header) -> Vec<u8> {
        let shard_firsts = self.shard_firsts();
        let numbers = header.values.iter().zip(0_u16..);
        let numbers: FxHashMap<&[[u8; 2]], u16> = { numbers }
            .map(|(value, number)| (&value[..], number))
            .collect();
        let blocks = self
            .pool
            .map(positions.chunks(AT_ONCE).collect(), |_, some| {
                let mut reader = Reader::new(self, header);
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
                        if header.has_distances {
                            let distance = self.valued.distance(shard, number);
                            block.extend_from_slice(&distance.to_le_bytes());
                        }
                        if header.has_means {
                            let means = &self.means[key];
                            block.extend(means.iter().flat_map(|mean| mean.to_le_bytes()));
                        }
                    }
                }
                block
            });
        blocks.concat()
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
        let own: usize = lens.iter().map(|&len| len as usize).sum();
        let mut places = Vec::with_capacity(own);
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

/// The mean between bounds; not a number where they are far apart, since play can go on for ever.
fn mean_of([least, most]: Bounds) -> f32 {
    if most - least > 1e-4 {
        f32::NAN
    } else {
        (least + (most - least) / 2.0) as f32
    }
}

/// The error of a process that lost another one.
fn lost(lost: Lost) -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionAborted, TabulateError::from(lost))
}

/// The numbers of entries of some buckets, little-endian, of which `firsts` has the first entries and one more.
fn counts(firsts: &[u32]) -> Vec<u8> {
    let pairs = firsts.windows(2);
    pairs
        .flat_map(|pair| (pair[1] - pair[0]).to_le_bytes())
        .collect()
}

/// One of these numbers.
fn count_of(counts: &[u8], bucket: usize) -> u32 {
    let (numbers, _) = counts.as_chunks();
    u32::from_le_bytes(numbers[bucket])
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
    fn new(of: &'t Part, header: &Header) -> Reader<'t> {
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
