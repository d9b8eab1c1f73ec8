//! Files that a checkpoint names.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use hmac_sha256::Hash as Sha256;

use super::{Disk, SHARDS, Spill, Stored, TemporaryFolder};
use crate::planning::breadth_first::temporary_folder::is_name;
use crate::planning::checkpoint::{CheckpointError, Input, LoadError, Output};

/// The files of a search that are in use.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Files {
    /// The name of the folder that belongs to this search, or nothing.
    pub(super) folder: String,
    /// Complete levels; empty as long as all levels are in memory.
    pub(super) levels: Vec<Stored>,
    /// Parts of the level being generated, in order. Different runs may contain the
    /// same states.
    pub(super) runs: Vec<Stored>,
}

impl Files {
    /// Writes the names of the files, their extents and their digests.
    pub fn save(&self, out: &mut Output) -> io::Result<()> {
        let folder = match self.levels.is_empty() {
            true => "",
            false => &self.folder,
        };
        save_name(folder, out)?;
        for list in [&self.levels, &self.runs] {
            out.number(list.len() as u64)?;
            for stored in list {
                save_name(&stored.name, out)?;
                out.numbers(stored.starts.iter().copied())?;
                out.bytes(&stored.digest)?;
            }
        }
        Ok(())
    }

    /// Reads what [`Files::save`] writes.
    pub fn load(input: &mut Input) -> Result<Files, LoadError> {
        let folder = load_name(input)?;
        if !folder.is_empty() && !is_name(&folder) {
            return Err(LoadError::Invalid);
        }
        let mut lists = [Vec::new(), Vec::new()];
        for list in &mut lists {
            for _ in 0..input.number()? {
                list.push(Stored::load(input)?);
            }
        }
        let [levels, runs] = lists;
        Ok(Files {
            folder,
            levels,
            runs,
        })
    }

    /// By shard: number of states of each level.
    pub fn lens(&self) -> impl ExactSizeIterator<Item = Vec<u64>> {
        let levels = self.levels.iter();
        levels.map(|level| level.starts.windows(2).map(|two| two[1] - two[0]).collect())
    }

    pub fn has_runs(&self) -> bool {
        !self.runs.is_empty()
    }

    fn all(&self) -> impl Iterator<Item = &Stored> {
        self.levels.iter().chain(&self.runs)
    }

    fn names(&self) -> impl Iterator<Item = String> {
        self.all().map(|stored| stored.name.clone())
    }
}

fn save_name(name: &str, out: &mut Output) -> io::Result<()> {
    out.number(name.len() as u64)?;
    out.bytes(name.as_bytes())
}

fn load_name(input: &mut Input) -> Result<String, LoadError> {
    let mut name = vec![0; input.less_than(1 << 10)? as usize];
    input.bytes(&mut name)?;
    String::from_utf8(name).map_err(|_| LoadError::Invalid)
}

impl Stored {
    fn load(input: &mut Input) -> Result<Stored, LoadError> {
        let name = load_name(input)?;
        let starts = input.numbers()?;
        let mut digest = [0; 32];
        input.bytes(&mut digest)?;
        // Nothing but the files of searches is read or deleted.
        let is_file = name.split_once('/').is_some_and(|(folder, file)| {
            is_name(folder) && !file.is_empty() && file.bytes().all(|byte| byte.is_ascii_digit())
        });
        let are_starts = starts.len() == SHARDS + 1 && starts[0] == 0 && starts.is_sorted();
        match is_file && are_starts {
            true => Ok(Stored {
                name,
                starts,
                digest,
            }),
            false => Err(LoadError::Invalid),
        }
    }

    /// Checks the length and the digest of the file.
    fn check(&self, spill: &Spill, bytes: u64) -> Result<(), CheckpointError> {
        let path = spill.folder.join(&self.name);
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => CheckpointError::Missing(path.clone()),
            _ => CheckpointError::File(path.clone(), error),
        };
        let mut file = File::open(&path).map_err(failed)?;
        let mut hash = Sha256::new();
        let mut block = vec![0; 1 << 20];
        let mut len = 0;
        loop {
            let read = file.read(&mut block).map_err(failed)?;
            if read == 0 {
                break;
            }
            len += read as u64;
            hash.update(&block[..read]);
        }
        let expected = self.starts[SHARDS].checked_mul(bytes);
        match expected == Some(len) && hash.finalize() == self.digest {
            true => Ok(()),
            false => Err(CheckpointError::Damaged(path)),
        }
    }
}

impl Disk {
    /// The files in use.
    pub fn files(&self) -> &Files {
        &self.files
    }

    /// Lets the files stay, as a checkpoint is about to name them.
    pub fn keep(&mut self) -> Result<(), CheckpointError> {
        // Until all processes have heard that the checkpoint is complete, both it and the last one
        // may be the one to go on from.
        self.saved.extend(self.files.names());
        let temporary = self.temporary.as_mut();
        let Some(temporary) = temporary.filter(|_| !self.files.levels.is_empty()) else {
            return Ok(());
        };
        let kept = temporary.keep();
        kept.map_err(|error| CheckpointError::File(temporary.folder.clone(), error))
    }

    /// Deletes what the last checkpoint named and the new one, which is complete, does not.
    pub fn saved(&mut self) {
        self.saved = self.files.names().collect();
        for stored in std::mem::take(&mut self.outdated) {
            self.written -= self.size(&stored);
            // It is deleted at the next start.
            let _ = fs::remove_file(self.spill.folder.join(&stored.name));
        }
    }

    /// Goes on with the files of a checkpoint. If the next ones replace it, with `is_last`, their
    /// folder is this search's; else it is left as it is.
    ///
    /// # Errors
    ///
    /// If a file is missing, is damaged or cannot be read.
    pub fn resume(&mut self, files: Files, is_last: bool) -> Result<(), CheckpointError> {
        for stored in files.all() {
            stored.check(&self.spill, self.bits.div_ceil(8) as u64)?;
            self.written += self.size(stored);
        }
        self.files = files;
        self.saved();
        let folder = std::mem::take(&mut self.files.folder);
        if is_last && !folder.is_empty() {
            let opened = TemporaryFolder::open(&self.spill.folder, &folder);
            let path = self.spill.folder.join(&folder);
            let temporary = opened.map_err(|error| CheckpointError::File(path, error))?;
            self.temporary = Some(temporary);
            self.files.folder = folder;
            self.clean();
        }
        Ok(())
    }

    /// Deletes the files in this search's folder that no checkpoint names.
    fn clean(&self) {
        let Some(folder) = self.temporary.as_ref().map(|temporary| &temporary.folder) else {
            return;
        };
        let is_named = |path: &Path| {
            let mut names = self.saved.iter();
            names.any(|name| self.spill.folder.join(name) == path)
        };
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if !is_named(&entry.path()) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        if self.temporary.as_ref().is_some_and(|own| own.is_kept) {
            self.clean();
        }
    }
}
