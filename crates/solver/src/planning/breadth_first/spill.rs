//! Levels in files, for searches that exceed the memory.
//!
//! Once levels are in files, the tables hold only states of the level being
//! generated. When they are full, their contents are written to a file, called a
//! run. After the level's last round, each shard's runs are read one after the
//! other into a table of its own, from which states of older levels are removed.
//! States thus keep the order that they would have in memory, and no table ever
//! holds more than one shard of one level.
//!
//! Files are written once. If checkpoints are written, they name them, with a digest of
//! each; a file that the last checkpoint names is deleted only once the next one is
//! complete.
//!
//! Source: delayed duplicate detection by hash as in Korf, Linear-time disk-based
//! implicit graph search (2008).

mod kept;

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::PathBuf;

use hmac_sha256::Hash as Sha256;

use super::shards::{SHARDS, Shards, key_words};
use super::temporary_folder::TemporaryFolder;
use crate::planning::expand::states::{Full, States, words_of};
use ggp_search::BudgetKind;
pub(super) use kept::Files;

/// Location and limit of the files for levels that do not fit into memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spill {
    /// The folder in which a folder for the files is created. It is deleted at the end, unless a
    /// checkpoint names it.
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
    /// Total size of the files, in bytes.
    written: u64,
    bits: usize,
    files: Files,
    /// True if checkpoints are written.
    is_saved: bool,
    /// The files that the last checkpoint names, and that are not needed any more.
    outdated: Vec<Stored>,
    /// The names of all files of the last checkpoint, and of one that may be complete.
    saved: Vec<String>,
}

/// States in a file, shard by shard.
#[derive(Clone, Debug)]
struct Stored {
    /// The path within [`Spill::folder`].
    name: String,
    /// By shard: its first state; the last entry is the number of states.
    starts: Vec<u64>,
    /// Digest of the file, if checkpoints are written.
    digest: [u8; 32],
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
    /// Creates the storage for states of `bits` bits; files are created on demand. With
    /// `is_saved`, checkpoints will name them.
    pub fn new(spill: &Spill, bits: usize, is_saved: bool) -> Disk {
        Disk {
            spill: spill.clone(),
            temporary: None,
            written: 0,
            bits,
            files: Files::default(),
            is_saved,
            outdated: Vec::new(),
            saved: Vec::new(),
        }
    }

    /// True if the levels are in files.
    pub fn is_used(&self) -> bool {
        !self.files.levels.is_empty()
    }

    /// Writes states as a complete level; `ranges` gives their numbers by shard.
    pub fn put_level(
        &mut self,
        shards: &Shards,
        ranges: &[Range<usize>],
    ) -> Result<(), SpillError> {
        let level = self.store(shards, ranges)?;
        self.files.levels.push(level);
        Ok(())
    }

    /// Writes states as a run of the level being generated.
    pub fn put_run(&mut self, shards: &Shards, ranges: &[Range<usize>]) -> Result<(), SpillError> {
        let run = self.store(shards, ranges)?;
        self.files.runs.push(run);
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
        let level = &self.files.levels[level as usize];
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
        for run in &self.files.runs {
            self.blocks(run, run.range(shard), &mut keys, |keys| {
                let inserted = states.insert_all(keys, words, |_, _, _| ());
                inserted.map_err(|Full| SpillError::Full(BudgetKind::Memory))
            })?;
        }
        let mut is_old = vec![false; states.len()];
        for level in self.files.levels.iter().filter(|_| !is_disjoint) {
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
    pub fn replace_runs(&mut self, level: Written) -> io::Result<()> {
        self.written += self.size(&level.0);
        self.files.levels.push(level.0);
        let runs = std::mem::take(&mut self.files.runs);
        runs.into_iter().try_for_each(|run| self.discard(run))
    }

    /// Removes all files, as the levels stay in memory.
    pub fn clear(&mut self) -> io::Result<()> {
        let levels = std::mem::take(&mut self.files.levels);
        let runs = std::mem::take(&mut self.files.runs);
        let mut all = levels.into_iter().chain(runs);
        all.try_for_each(|stored| self.discard(stored))
    }

    /// Removes a file, as soon as no checkpoint names it. Those in folders of other searches stay.
    fn discard(&mut self, stored: Stored) -> io::Result<()> {
        let folder = stored.name.split_once('/').map(|(folder, _)| folder);
        if folder != Some(&self.files.folder) {
            return Ok(());
        }
        if self.saved.contains(&stored.name) {
            self.outdated.push(stored);
            return Ok(());
        }
        self.written -= self.size(&stored);
        fs::remove_file(self.spill.folder.join(&stored.name))
    }

    fn size(&self, stored: &Stored) -> u64 {
        stored.starts[SHARDS] * self.bits.div_ceil(8) as u64
    }

    fn store(&mut self, shards: &Shards, ranges: &[Range<usize>]) -> Result<Stored, SpillError> {
        let mut writer = self.writer()?;
        for (shard, (states, range)) in shards.all().iter().zip(ranges).enumerate() {
            writer.begin_shard(shard);
            for bytes in states.bytes(range.clone()) {
                writer.write(bytes)?;
            }
        }
        let Written(stored) = writer.finish()?;
        self.written += self.size(&stored);
        Ok(stored)
    }

    /// Creates a new file.
    pub fn writer(&mut self) -> Result<Writer, SpillError> {
        let temporary = match self.temporary.take() {
            Some(temporary) => temporary,
            None => TemporaryFolder::new(&self.spill.folder)?,
        };
        let temporary = self.temporary.insert(temporary);
        temporary.name().clone_into(&mut self.files.folder);
        let (name, file) = temporary.new_file()?;
        Ok(Writer {
            file: BufWriter::with_capacity(BLOCK, file),
            name,
            starts: Vec::new(),
            written: 0,
            room: self.spill.most_bytes.saturating_sub(self.written),
            bytes: self.bits.div_ceil(8) as u64,
            hash: self.is_saved.then(Sha256::new),
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
        let mut file = File::open(self.spill.folder.join(&stored.name))?;
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
    name: String,
    starts: Vec<u64>,
    written: u64,
    room: u64,
    /// Bytes of a state.
    bytes: u64,
    /// The digest of what was written, if checkpoints are.
    hash: Option<Sha256>,
}

/// A complete file.
pub(super) struct Written(Stored);

impl Writer {
    /// Writes states in the format of [`States::bytes`].
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), SpillError> {
        self.written += bytes.len() as u64;
        if self.written > self.room {
            return Err(SpillError::Full(BudgetKind::Disk));
        }
        if let Some(hash) = &mut self.hash {
            hash.update(bytes);
        }
        Ok(self.file.write_all(bytes)?)
    }

    /// The states that follow belong to this shard; the shards come in order.
    pub fn begin_shard(&mut self, shard: usize) {
        self.starts.resize(shard + 1, self.written / self.bytes);
    }

    /// Completes the file; if checkpoints are written, also on the disk.
    pub fn finish(mut self) -> io::Result<Written> {
        self.begin_shard(SHARDS);
        let file = self.file.into_inner()?;
        if self.hash.is_some() {
            file.sync_all()?;
        }
        Ok(Written(Stored {
            name: self.name,
            starts: self.starts,
            digest: self.hash.map_or([0; 32], Sha256::finalize),
        }))
    }
}
