//! Checkpoints of a search in several processes.
//!
//! A checkpoint is a folder. Each process writes the states that its shards received since
//! the last checkpoint to a new file, a segment. When all have done so, the first process
//! replaces the manifest, which holds everything else and the numbers of the segments. Files that
//! the manifest does not count are no part of the checkpoint and are written again. When the states in
//! memory have been written to files of levels, new segments begin, and the last one names these files.

use std::fs;
use std::path::{Path, PathBuf};

use super::peers::Lost;
use super::resume::{load_stats, save_stats};
use super::spill::Files;
use super::{BreadthFirstError, BreadthFirstOptions, LinkError, Processes, Search, manifest};
use crate::planning::checkpoint::{CheckpointError, Identity, LoadError, read, write};
use crate::planning::expand::states::Full;
use ggp_search::{LevelStats, Meter};

/// The extent of the checkpoint in a folder.
#[derive(Debug, Default)]
pub(super) struct Segments {
    /// Number of the first segment, and of the one after the last.
    first: u64,
    count: u64,
    /// By shard: number of states in the segments.
    saved: Option<Box<[u32]>>,
}

/// A segment of a process.
fn segment(folder: &Path, process: usize, number: u64) -> PathBuf {
    folder.join(format!("states-{process}-{number}"))
}

impl Segments {
    /// The next checkpoint is to another folder, so it must contain everything.
    pub fn begin(&mut self) {
        *self = Segments::default();
    }

    /// The states in memory are other ones from now on, so the next checkpoint has none of the
    /// segments of the last one.
    pub fn begin_again(&mut self) {
        self.first = self.count;
        self.saved = None;
    }
}

impl Search<'_> {
    /// Adds to the checkpoint in a folder. If that is not possible for one process, the old
    /// checkpoint stays for all.
    ///
    /// # Errors
    ///
    /// If another process is lost.
    pub(super) fn save_segments(
        &mut self,
        folder: &Path,
        identity: &Identity,
        stats: &[LevelStats],
    ) -> Result<Result<(), String>, Lost> {
        let written = self.keep_files();
        let written = written.and_then(|()| self.save_segment(folder, identity));
        if let Err(text) = self.agree_on_files(written)? {
            return Ok(Err(text));
        }
        self.segments.count += 1;
        let written = match self.peers.index() {
            0 => write(&manifest(folder), identity, |out| {
                out.number(self.peers.count() as u64)?;
                out.number(self.segments.first)?;
                out.number(self.segments.count)?;
                out.numbers(self.lens.iter().map(|&len| len.into()))?;
                out.numbers(self.since.iter().map(|&since| since.into()))?;
                save_stats(stats, out)?;
                self.save_outline(out)
            }),
            _ => Ok(()),
        };
        let agreed = self.agree_on_files(written)?;
        match &agreed {
            Ok(()) => {
                self.segments.saved = Some(self.lens.clone());
                self.files_are_saved();
                self.remove_segments(folder);
            }
            Err(_) => self.segments.count -= 1,
        }
        Ok(agreed)
    }

    /// Deletes the segments before the first one.
    fn remove_segments(&self, folder: &Path) {
        for number in (0..self.segments.first).rev() {
            if fs::remove_file(segment(folder, self.peers.index(), number)).is_err() {
                break;
            }
        }
    }

    /// The text of the first process that had an error with a file.
    fn agree_on_files(
        &mut self,
        own: Result<(), CheckpointError>,
    ) -> Result<Result<(), String>, Lost> {
        let own = own.err().map(|error| error.to_string());
        let all = self.peers.gather(own)?;
        Ok(all.into_iter().flatten().next().map_or(Ok(()), Err))
    }

    fn save_segment(&self, folder: &Path, identity: &Identity) -> Result<(), CheckpointError> {
        let made = fs::create_dir_all(folder);
        made.map_err(|error| CheckpointError::File(folder.to_owned(), error))?;
        let path = segment(folder, self.peers.index(), self.segments.count);
        write(&path, identity, |out| {
            for shard in self.peers.own_shards() {
                let states = &self.shards.all()[shard];
                let saved = self.segments.saved.as_ref();
                let first = saved.map_or(0, |saved| saved[shard] as usize);
                out.number((states.len() - first) as u64)?;
                let mut bytes = states.bytes(first..states.len());
                bytes.try_for_each(|bytes| out.bytes(bytes))?;
            }
            self.save_files(out)
        })
    }

    /// Goes on from the checkpoint of several processes that the first one names; returns whether
    /// there is one.
    ///
    /// # Errors
    ///
    /// As [`Search::load_segments`], or if the processes do not agree on what to do.
    pub(super) fn go_on(
        &mut self,
        processes: &Processes,
        options: &BreadthFirstOptions,
        identity: &Identity,
        meter: &mut Meter<'_>,
    ) -> Result<bool, BreadthFirstError> {
        let last = options.checkpoint.as_ref().map(|next| &next.file);
        let resume = options.resume.as_ref();
        let is_there = |folder: Option<&PathBuf>| folder.is_some_and(|at| manifest(at).exists());
        // True for the folder of the next checkpoints.
        let own = match processes.goes_on {
            true if is_there(last) => Some(true),
            true => is_there(resume).then_some(false),
            false => resume.map(|folder| Some(folder) == last),
        };
        let said = self
            .peers
            .gather((processes.goes_on, resume.is_some(), own))?;
        let other = |process| LinkError::Other(process, vec!["--resume"]).into();
        // After a loss, who comes back has another --resume than who stayed.
        if !said.iter().any(|&(goes_on, ..)| goes_on)
            && let Some(process) = said.iter().position(|said| said.1 != resume.is_some())
        {
            return Err(other(process));
        }
        let is_last = match said[0].2 {
            None => return Ok(false),
            Some(is_last) => is_last,
        };
        let folder = match is_last {
            true => last.or(resume),
            false => resume.or(last),
        };
        let folder = folder.ok_or_else(|| other(0))?;
        let is_kept = Some(folder) == last;
        self.load_segments(folder, is_kept, identity, meter)?;
        if !is_last {
            self.segments.begin();
        }
        Ok(true)
    }

    /// Goes on from the checkpoint in a folder. A process that does not see the manifest of
    /// the first one gets it from there.
    ///
    /// # Errors
    ///
    /// If the checkpoint is not of this search or cannot be read, or a process is lost.
    fn load_segments(
        &mut self,
        folder: &Path,
        is_last: bool,
        identity: &Identity,
        meter: &mut Meter<'_>,
    ) -> Result<(), BreadthFirstError> {
        let path = manifest(folder);
        let index = self.peers.index();
        let own = match index {
            0 => fs::read(&path),
            _ => Ok(Vec::new()),
        };
        let own = own.map_err(|error| CheckpointError::File(path.clone(), error))?;
        let bytes = self.peers.broadcast(own)?;
        let path = match index {
            0 => path,
            _ => {
                let copy = folder.join(format!("manifest-{index}"));
                let written = fs::create_dir_all(folder).and_then(|()| fs::write(&copy, bytes));
                written.map_err(|error| CheckpointError::File(copy.clone(), error))?;
                copy
            }
        };
        let loaded = self.load_manifest(&path, folder, is_last, identity);
        if index > 0 {
            // It is only for reading.
            let _ = fs::remove_file(&path);
        }
        for level in loaded? {
            meter.begin_level(level.depth, level.compare);
            *meter.level() = level;
        }
        Ok(())
    }

    fn load_manifest(
        &mut self,
        path: &Path,
        folder: &Path,
        is_last: bool,
        identity: &Identity,
    ) -> Result<Vec<LevelStats>, CheckpointError> {
        let own = self.peers.count() as u64;
        let damaged = || CheckpointError::Damaged(folder.to_owned());
        let mut processes = own;
        let loaded = read(path, identity, |input| {
            processes = input.number()?;
            if processes != own {
                return Err(LoadError::Invalid);
            }
            let first = input.less_than(u64::MAX)?;
            let count = input.less_than(u64::MAX)?;
            self.lens = super::resume::starts(input)?;
            self.since = super::resume::starts(input)?;
            let stats = load_stats(input)?;
            self.load_outline(input)?;
            match stats.len() == self.levels.len() && self.is_consistent() {
                true => Ok((first, count, stats)),
                false => Err(LoadError::Invalid),
            }
        });
        let (first, count, stats) = loaded.map_err(|error| match error {
            _ if processes != own => CheckpointError::Processes(folder.to_owned(), processes, own),
            // A copy of the manifest is gone by now.
            CheckpointError::Damaged(_) => damaged(),
            error => error,
        })?;
        let mut files = Files::default();
        for number in first..count {
            let path = segment(folder, self.peers.index(), number);
            if !path.exists() {
                return Err(CheckpointError::Missing(path));
            }
            read(&path, identity, |input| {
                let mut bytes = Vec::new();
                for shard in self.peers.own_shards() {
                    let states = &mut self.shards.all_mut()[shard];
                    for _ in 0..input.less_than(u32::MAX.into())? {
                        bytes.resize(states.state_bytes(), 0);
                        input.bytes(&mut bytes)?;
                        states.append(&bytes).map_err(|Full| LoadError::Memory)?;
                    }
                }
                files = Files::load(input)?;
                Ok(())
            })?;
        }
        for shard in self.peers.own_shards() {
            let states = &mut self.shards.all_mut()[shard];
            let since = self.since[shard] as usize;
            if states.len() != self.lens[shard] as usize || since > states.len() {
                return Err(damaged());
            }
            let indexed = states.index_from(since);
            indexed.map_err(|Full| CheckpointError::Memory(folder.to_owned()))?;
        }
        self.use_files(folder, files, is_last)?;
        self.segments = Segments {
            first,
            count,
            saved: Some(self.lens.clone()),
        };
        Ok(stats)
    }
}
