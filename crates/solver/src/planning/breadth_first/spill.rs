//! Levels in files, once they are more than the memory takes.
//!
//! From then on the tables hold only what was met of the level in the making.
//! When they are full, it goes into a file, a run; behind the level's last round
//! each shard's runs are read one after the other into a table of its own, which
//! loses what is in older levels. So states keep the order that they would have
//! in memory, and no table ever holds more than a shard of one level.
//!
//! Source: delayed duplicate detection by hash as in Korf, Linear-time disk-based
//! implicit graph search (2008).

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::PathBuf;

use super::shards::{SHARDS, Shards, key_words};
use super::temporary_folder::Place;
use crate::planning::expand::states::{Full, States};
use ggp_search::BudgetKind;

/// Where to put what does not fit into the memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spill {
    /// A folder in which a new one is made, and deleted at the end.
    pub folder: PathBuf,
    /// The most bytes of files.
    pub most_bytes: u64,
}

/// Why something could not be put into a file.
#[derive(Debug)]
pub(super) enum SpillError {
    Io(io::Error),
    /// There is no more room for it.
    Full(BudgetKind),
}

impl From<io::Error> for SpillError {
    fn from(error: io::Error) -> Self {
        SpillError::Io(error)
    }
}

/// Files of one search.
pub(super) struct Disk {
    spill: Spill,
    /// Where they are, once there are any.
    place: Option<Place>,
    files: u64,
    written: u64,
    bits: usize,
    /// Complete levels; none as long as all is in memory.
    levels: Vec<Stored>,
    /// Parts of the level in the making, in the order in which they came. What
    /// one has may be in another too.
    runs: Vec<Stored>,
}

/// States in a file, shard by shard.
struct Stored {
    path: PathBuf,
    /// By shard: its first state; one more at the end.
    starts: Vec<u64>,
}

/// What is new in a shard.
pub(super) struct Sifted {
    pub states: States,
    /// By number: whether it is in an older level.
    pub is_old: Vec<bool>,
}

/// Bytes read at once.
const BLOCK: usize = 1 << 16;

impl Disk {
    /// For states of so many bits.
    pub fn new(spill: &Spill, bits: usize) -> Disk {
        Disk {
            spill: spill.clone(),
            place: None,
            files: 0,
            written: 0,
            bits,
            levels: Vec::new(),
            runs: Vec::new(),
        }
    }

    /// Whether the levels are in files.
    pub fn is_used(&self) -> bool {
        !self.levels.is_empty()
    }

    /// How many states a level has.
    pub fn len(&self, level: u32) -> u64 {
        self.levels[level as usize].starts[SHARDS]
    }

    /// How many states all levels have.
    pub fn positions(&self) -> u64 {
        self.levels.iter().map(|level| level.starts[SHARDS]).sum()
    }

    /// Puts away states as a level: by shard, the range of their numbers.
    pub fn put_level(
        &mut self,
        shards: &Shards,
        ranges: &[Range<usize>],
    ) -> Result<(), SpillError> {
        let level = self.store(shards, ranges)?;
        self.levels.push(level);
        Ok(())
    }

    /// Puts away states as a part of the level in the making.
    pub fn put_run(&mut self, shards: &Shards, ranges: &[Range<usize>]) -> Result<(), SpillError> {
        let run = self.store(shards, ranges)?;
        self.runs.push(run);
        Ok(())
    }

    /// Appends codes of a level's states; their bits beside the keys are given.
    pub fn read(
        &self,
        level: u32,
        positions: Range<u64>,
        beside: &[u64],
        out: &mut Vec<u64>,
    ) -> io::Result<()> {
        let mut keys = Vec::new();
        let words = key_words(self.bits);
        self.blocks(&self.levels[level as usize], positions, &mut keys, |keys| {
            for key in keys.chunks_exact(words) {
                let at = out.len();
                out.extend_from_slice(beside);
                States::overlay(key, self.bits, &mut out[at..]);
            }
            Ok(())
        })
    }

    /// What is new in a shard of the level in the making; `is_disjoint` if none of
    /// it can be in an older level. It takes no more than so many bytes.
    pub fn sift(
        &self,
        shard: usize,
        is_disjoint: bool,
        most_bytes: u64,
    ) -> Result<Sifted, SpillError> {
        let words = key_words(self.bits);
        let mut keys = Vec::new();
        let mut states = States::new(self.bits, most_bytes);
        for run in &self.runs {
            self.blocks(run, run.range(shard), &mut keys, |keys| {
                let inserted = states.insert_all(keys, words, |_, _, _| ());
                inserted.map_err(|Full| SpillError::Full(BudgetKind::Memory))
            })?;
        }
        let mut is_old = vec![false; states.len()];
        for level in self.levels.iter().filter(|_| !is_disjoint) {
            self.blocks(level, level.range(shard), &mut keys, |keys| {
                for key in keys.chunks_exact(words) {
                    if let Some(number) = states.find(key) {
                        is_old[number as usize] = true;
                    }
                }
                Ok::<(), SpillError>(())
            })?;
        }
        Ok(Sifted { states, is_old })
    }

    /// Takes the runs away and puts a level in their place.
    pub fn put_sifted(&mut self, level: Writer) -> Result<(), SpillError> {
        let level = level.finish()?;
        self.charge(&level);
        self.levels.push(level);
        for run in std::mem::take(&mut self.runs) {
            self.written -= run.starts[SHARDS] * self.bits.div_ceil(8) as u64;
            std::fs::remove_file(&run.path)?;
        }
        Ok(())
    }

    fn store(&mut self, shards: &Shards, ranges: &[Range<usize>]) -> Result<Stored, SpillError> {
        let mut writer = self.writer()?;
        for (states, range) in shards.all().iter().zip(ranges) {
            for bytes in states.bytes(range.clone()) {
                writer.write(bytes)?;
            }
            writer.end_shard();
        }
        let stored = writer.finish()?;
        self.charge(&stored);
        Ok(stored)
    }

    fn charge(&mut self, stored: &Stored) {
        self.written += stored.starts[SHARDS] * self.bits.div_ceil(8) as u64;
    }

    /// A new file.
    pub fn writer(&mut self) -> Result<Writer, SpillError> {
        if self.place.is_none() {
            self.place = Some(Place::new(&self.spill.folder)?);
        }
        let folder = &self.place.as_ref().expect("it was just made").folder;
        self.files += 1;
        let path = folder.join(self.files.to_string());
        Ok(Writer {
            file: BufWriter::with_capacity(BLOCK, File::create(&path)?),
            path,
            starts: vec![0],
            written: 0,
            room: self.spill.most_bytes.saturating_sub(self.written),
            bytes: self.bits.div_ceil(8) as u64,
        })
    }

    /// Reads some states of a file, many at a time.
    fn blocks<E: From<io::Error>>(
        &self,
        stored: &Stored,
        positions: Range<u64>,
        keys: &mut Vec<u64>,
        mut see: impl FnMut(&[u64]) -> Result<(), E>,
    ) -> Result<(), E> {
        if positions.is_empty() {
            return Ok(());
        }
        let size = self.bits.div_ceil(8);
        let mut file = File::open(&stored.path)?;
        file.seek(SeekFrom::Start(positions.start * size as u64))?;
        let together = (BLOCK / size).max(1) as u64;
        let mut bytes = Vec::new();
        for first in positions.clone().step_by(together as usize) {
            let count = together.min(positions.end - first) as usize;
            bytes.resize(count * size, 0);
            file.read_exact(&mut bytes)?;
            keys.clear();
            for state in bytes.chunks_exact(size) {
                keys.extend(state.chunks(8).map(|bytes| {
                    let mut word = [0; 8];
                    word[..bytes.len()].copy_from_slice(bytes);
                    u64::from_le_bytes(word)
                }));
            }
            see(keys)?;
        }
        Ok(())
    }
}

impl Stored {
    fn range(&self, shard: usize) -> Range<u64> {
        self.starts[shard]..self.starts[shard + 1]
    }
}

/// Writes states, shard by shard.
pub(super) struct Writer {
    file: BufWriter<File>,
    path: PathBuf,
    starts: Vec<u64>,
    written: u64,
    room: u64,
    /// Of a state.
    bytes: u64,
}

impl Writer {
    /// Adds states as they lie in memory.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), SpillError> {
        self.written += bytes.len() as u64;
        if self.written > self.room {
            return Err(SpillError::Full(BudgetKind::Disk));
        }
        Ok(self.file.write_all(bytes)?)
    }

    /// What follows is of the next shard.
    pub fn end_shard(&mut self) {
        self.starts.push(self.written / self.bytes);
    }

    fn finish(mut self) -> Result<Stored, SpillError> {
        self.file.flush()?;
        Ok(Stored {
            path: self.path,
            starts: self.starts,
        })
    }
}
