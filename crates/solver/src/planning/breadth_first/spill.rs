//! Levels in files, for searches that exceed the memory.
//!
//! Once levels are in files, the tables hold only states of the level being
//! generated. When they are full, their contents are written to a file, called a
//! run. After the level's last round, each shard's runs are read one after the
//! other into a table of its own, from which states of older levels are removed.
//! States thus keep the order that they would have in memory, and no table ever
//! holds more than one shard of one level.
//!
//! Source: delayed duplicate detection by hash as in Korf, Linear-time disk-based
//! implicit graph search (2008).

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::PathBuf;

use super::shards::{SHARDS, Shards, key_words};
use super::temporary_folder::TemporaryFolder;
use crate::planning::expand::states::{Full, States, words_of};
use ggp_search::BudgetKind;

/// Location and limit of the files for levels that do not fit into memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spill {
    /// The folder in which a temporary folder is created; it is deleted at the end.
    pub folder: PathBuf,
    /// Maximum total size of the files, in bytes.
    pub most_bytes: u64,
}

/// An error while writing a level.
#[derive(Debug)]
pub(super) enum SpillError {
    Io(io::Error),
    /// The disk or memory limit is reached.
    Full(BudgetKind),
}

impl From<io::Error> for SpillError {
    fn from(error: io::Error) -> Self {
        SpillError::Io(error)
    }
}

/// The files of one search.
pub(super) struct Disk {
    spill: Spill,
    /// The temporary folder, once it exists.
    temporary: Option<TemporaryFolder>,
    files: u64,
    written: u64,
    bits: usize,
    /// Complete levels; empty as long as all levels are in memory.
    levels: Vec<Stored>,
    /// Parts of the level being generated, in order. Different runs may contain the
    /// same states.
    runs: Vec<Stored>,
}

/// States in a file, shard by shard.
struct Stored {
    path: PathBuf,
    /// By shard: its first state; the last entry is the number of states.
    starts: Vec<u64>,
}

/// The states of one shard of a new level.
pub(super) struct Deduplicated {
    pub states: States,
    /// By number: whether the state is in an older level.
    pub is_old: Vec<bool>,
}

/// Block size for reading, in bytes.
const BLOCK: usize = 1 << 16;

impl Disk {
    /// Creates the storage for states of `bits` bits; files are created on demand.
    pub fn new(spill: &Spill, bits: usize) -> Disk {
        Disk {
            spill: spill.clone(),
            temporary: None,
            files: 0,
            written: 0,
            bits,
            levels: Vec::new(),
            runs: Vec::new(),
        }
    }

    /// True if the levels are in files.
    pub fn is_used(&self) -> bool {
        !self.levels.is_empty()
    }

    /// Writes states as a complete level; `ranges` gives their numbers by shard.
    pub fn put_level(
        &mut self,
        shards: &Shards,
        ranges: &[Range<usize>],
    ) -> Result<(), SpillError> {
        let level = self.store(shards, ranges)?;
        self.levels.push(level);
        Ok(())
    }

    /// Writes states as a run of the level being generated.
    pub fn put_run(&mut self, shards: &Shards, ranges: &[Range<usize>]) -> Result<(), SpillError> {
        let run = self.store(shards, ranges)?;
        self.runs.push(run);
        Ok(())
    }

    /// Appends codes of some states of a shard in a level; `suffix` supplies the bits
    /// outside the key.
    pub fn read(
        &self,
        level: u32,
        shard: usize,
        numbers: Range<u64>,
        suffix: &[u64],
        out: &mut Vec<u64>,
    ) -> io::Result<()> {
        let mut keys = Vec::new();
        let words = key_words(self.bits);
        let level = &self.levels[level as usize];
        let first = level.starts[shard];
        let positions = first + numbers.start..first + numbers.end;
        self.blocks(level, positions, &mut keys, |keys| {
            for key in keys.chunks_exact(words) {
                let at = out.len();
                out.extend_from_slice(suffix);
                States::overlay(key, self.bits, &mut out[at..]);
            }
            Ok(())
        })
    }

    /// Reads a shard of the level being generated without duplicates and marks the
    /// states of older levels. With `is_disjoint`, older levels are not searched.
    /// The table takes at most `most_bytes` bytes.
    pub fn deduplicate(
        &self,
        shard: usize,
        is_disjoint: bool,
        most_bytes: u64,
    ) -> Result<Deduplicated, SpillError> {
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
        Ok(Deduplicated { states, is_old })
    }

    /// Replaces the runs by the finished level.
    pub fn replace_runs(&mut self, level: Writer) -> Result<(), SpillError> {
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
        for (shard, (states, range)) in shards.all().iter().zip(ranges).enumerate() {
            writer.begin_shard(shard);
            for bytes in states.bytes(range.clone()) {
                writer.write(bytes)?;
            }
        }
        let stored = writer.finish()?;
        self.charge(&stored);
        Ok(stored)
    }

    fn charge(&mut self, stored: &Stored) {
        self.written += stored.starts[SHARDS] * self.bits.div_ceil(8) as u64;
    }

    /// Creates a new file.
    pub fn writer(&mut self) -> Result<Writer, SpillError> {
        if self.temporary.is_none() {
            self.temporary = Some(TemporaryFolder::new(&self.spill.folder)?);
        }
        let folder = &self
            .temporary
            .as_ref()
            .expect("the folder was just created")
            .folder;
        self.files += 1;
        let path = folder.join(self.files.to_string());
        Ok(Writer {
            file: BufWriter::with_capacity(BLOCK, File::create(&path)?),
            path,
            starts: Vec::new(),
            written: 0,
            room: self.spill.most_bytes.saturating_sub(self.written),
            bytes: self.bits.div_ceil(8) as u64,
        })
    }

    /// Reads a range of a file's states, a block at a time.
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
        let block_states = (BLOCK / size).max(1) as u64;
        let mut bytes = Vec::new();
        for first in positions.clone().step_by(block_states as usize) {
            let count = block_states.min(positions.end - first) as usize;
            bytes.resize(count * size, 0);
            file.read_exact(&mut bytes)?;
            keys.clear();
            for state in bytes.chunks_exact(size) {
                keys.extend(words_of(state));
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
    /// Bytes of a state.
    bytes: u64,
}

impl Writer {
    /// Writes states in the format of [`States::bytes`].
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), SpillError> {
        self.written += bytes.len() as u64;
        if self.written > self.room {
            return Err(SpillError::Full(BudgetKind::Disk));
        }
        Ok(self.file.write_all(bytes)?)
    }

    /// The states that follow belong to this shard; the shards come in order.
    pub fn begin_shard(&mut self, shard: usize) {
        self.starts.resize(shard + 1, self.written / self.bytes);
    }

    fn finish(mut self) -> Result<Stored, SpillError> {
        self.begin_shard(SHARDS);
        self.file.flush()?;
        Ok(Stored {
            path: self.path,
            starts: self.starts,
        })
    }
}
