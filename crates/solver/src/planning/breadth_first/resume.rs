//! Breadth-first searches in checkpoints.

use std::io;
use std::path::Path;
use std::time::Duration;

use super::shards::SHARDS;
use super::spill::Files;
use super::{Level, MIN_PARENTS, Round, Search};
use crate::planning::Plan;
use crate::planning::checkpoint::{
    CheckpointError, Identity, Input, LoadError, Output, read, write,
};
use crate::planning::symmetry::{Symmetries, Symmetry};
use ggp_search::{Compare, Counts, LevelStats, Meter};

impl Search<'_> {
    /// Writes the state of the search and its statistics.
    ///
    /// # Errors
    ///
    /// Those of writing.
    pub(super) fn save(
        &mut self,
        file: &Path,
        identity: &Identity,
        stats: &[LevelStats],
    ) -> Result<(), CheckpointError> {
        self.keep_files()?;
        write(file, identity, |out| {
            save_stats(stats, out)?;
            self.save_to(out)
        })?;
        self.files_are_saved();
        Ok(())
    }

    /// Lets the files of levels stay, as a checkpoint is about to name them.
    pub(super) fn keep_files(&mut self) -> Result<(), CheckpointError> {
        match &mut self.disk {
            Some(disk) => disk.keep(),
            None => Ok(()),
        }
    }

    /// Deletes the files of levels that only an older checkpoint names.
    pub(super) fn files_are_saved(&mut self) {
        if let Some(disk) = &mut self.disk {
            disk.saved();
        }
    }

    /// Restores the state of another search; with `is_last`, the next checkpoint replaces this one.
    ///
    /// # Errors
    ///
    /// If the file does not belong to this search or cannot be read.
    pub(super) fn resume(
        &mut self,
        file: &Path,
        is_last: bool,
        identity: &Identity,
        meter: &mut Meter<'_>,
    ) -> Result<(), CheckpointError> {
        let (levels, files) = read(file, identity, |input| {
            let stats = load_stats(input)?;
            let files = self.load_from(input)?;
            match stats.len() == self.levels.len() && self.is_consistent() {
                true => Ok((stats, files)),
                false => Err(LoadError::Invalid),
            }
        })?;
        self.use_files(file, files, is_last)?;
        for level in levels {
            meter.begin_level(level.depth, level.compare);
            *meter.level() = level;
        }
        Ok(())
    }

    /// Writes everything but the states.
    pub(super) fn save_outline(&self, out: &mut Output) -> io::Result<()> {
        let generators = self.symmetries.as_ref().map(|found| &found.generators[..]);
        let generators = generators.unwrap_or_default();
        out.number(generators.len() as u64)?;
        for Symmetry { facts, moves } in generators {
            out.numbers(facts.iter().map(|&to| to.into()))?;
            out.numbers(moves.iter().map(|&to| to.into()))?;
        }
        out.number(self.depth.into())?;
        out.number(self.expanded)?;
        out.number(match self.is_disjoint {
            None => 0,
            Some(false) => 1,
            Some(true) => 2,
        })?;
        out.number(self.round_parents as u64)?;
        out.number(u64::from(self.plan.is_some()))?;
        let plan = self.plan.as_deref().unwrap_or_default();
        out.numbers(plan.iter().map(|&chosen| chosen.into()))?;
        out.number(self.levels.len() as u64)?;
        for level in &self.levels {
            out.numbers(level.starts.iter().map(|&start| start.into()))?;
            out.numbers(level.stored.iter().copied())?;
            out.numbers(level.suffix.iter().copied())?;
        }
        out.number(self.rounds.len() as u64)?;
        for round in &self.rounds {
            out.number(round.level.into())?;
            out.number(round.first)?;
            out.number(round.end)?;
            out.numbers(round.starts.iter().map(|&start| start.into()))?;
        }
        Ok(())
    }

    fn save_to(&self, out: &mut Output) -> io::Result<()> {
        self.save_outline(out)?;
        for states in self.shards.all() {
            out.number(states.len() as u64)?;
            out.number(states.since() as u64)?;
            (states.bytes(0..states.len())).try_for_each(|bytes| out.bytes(bytes))?;
        }
        self.save_files(out)
    }

    /// Writes which files the levels are in.
    pub(super) fn save_files(&self, out: &mut Output) -> io::Result<()> {
        match &self.disk {
            Some(disk) => disk.files().save(out),
            None => Files::default().save(out),
        }
    }

    /// Goes on with the files of a checkpoint.
    ///
    /// # Errors
    ///
    /// If they do not fit the levels, or one is missing or damaged.
    pub(super) fn use_files(
        &mut self,
        checkpoint: &Path,
        files: Files,
        is_last: bool,
    ) -> Result<(), CheckpointError> {
        let stored = || self.levels.iter().filter(|level| !level.stored.is_empty());
        let next = self.depth as usize + 1;
        let is_next_open = (self.levels.get(next)).is_some_and(|next| next.stored.is_empty());
        let own = |level: &Level, lens: Vec<u64>| {
            let mut shards = self.peers.own_shards();
            shards.all(|shard| level.stored[shard] == lens[shard])
        };
        let is_right = files.lens().len() == stored().count()
            && (stored().zip(files.lens())).all(|(level, lens)| own(level, lens))
            && (is_next_open || !files.has_runs());
        match &mut self.disk {
            _ if !is_right => Err(CheckpointError::Damaged(checkpoint.to_owned())),
            Some(disk) => disk.resume(files, is_last),
            None if files.lens().len() > 0 => Err(CheckpointError::Levels(checkpoint.to_owned())),
            None => Ok(()),
        }
    }

    /// Reads what [`Search::save_outline`] writes.
    pub(super) fn load_outline(&mut self, input: &mut Input) -> Result<(), LoadError> {
        let mut generators = Vec::new();
        for _ in 0..input.number()? {
            generators.push(Symmetry {
                facts: permutation(input, self.puzzle.net.facts().len())?,
                moves: permutation(input, self.puzzle.moves())?,
            });
        }
        self.use_symmetries(Symmetries::generated_by(self.puzzle, generators));
        let depth = input.less_than(u32::MAX.into())?;
        self.depth = depth as u32;
        self.expanded = input.number()?;
        self.is_disjoint = match input.less_than(3)? {
            0 => None,
            known => Some(known == 2),
        };
        self.round_parents = input.less_than(1 << 40)? as usize;
        if self.round_parents < MIN_PARENTS {
            return Err(LoadError::Invalid);
        }
        let is_solved = input.less_than(2)? == 1;
        let plan: Plan = numbers(input, self.puzzle.moves() as u64)?;
        self.plan = is_solved.then_some(plan);
        let words = self.layout.words();
        for _ in 0..input.less_than(depth + 3)? {
            let starts = starts(input)?;
            let stored = input.numbers()?;
            let suffix = input.numbers()?;
            let are_counts = stored.is_empty()
                || stored.len() == SHARDS && stored.iter().all(|&count| count < MOST);
            if !are_counts || !suffix.is_empty() && suffix.len() != words {
                return Err(LoadError::Invalid);
            }
            self.levels.push(Level {
                stored: stored.into(),
                ..Level::new(starts, suffix)
            });
        }
        if self.levels.len() as u64 <= depth {
            return Err(LoadError::Invalid);
        }
        for _ in 0..input.number()? {
            self.rounds.push(Round {
                level: input.less_than(depth + 1)? as u32,
                first: input.number()?,
                end: input.number()?,
                starts: starts(input)?,
            });
        }
        Ok(())
    }

    fn load_from(&mut self, input: &mut Input) -> Result<Files, LoadError> {
        self.load_outline(input)?;
        for (states, own) in self.shards.all_mut().iter_mut().zip(&mut self.lens) {
            let len = input.less_than(u32::MAX.into())?;
            *own = len as u32;
            let since = input.less_than(len + 1)?;
            states.restore(len as usize, since as usize, LoadError::Memory, |bytes| {
                input.bytes(bytes)
            })?;
        }
        Files::load(input)
    }

    /// Whether levels and rounds are ranges of the states, in order, or in files, but for one that is
    /// being generated. The states themselves cannot be checked without a search.
    pub(super) fn is_consistent(&self) -> bool {
        let is_ascending = |one: &[u32], other: &[u32]| one.iter().zip(other).all(|(a, b)| a <= b);
        let lens = &self.lens;
        let stored = self
            .levels
            .iter()
            .take_while(|level| !level.stored.is_empty());
        let (stored, in_memory) = self.levels.split_at(stored.count());
        let is_generated = self.levels.len() == self.depth as usize + 2;
        if !stored.is_empty()
            && (in_memory.len() != usize::from(is_generated) || !self.rounds.is_empty())
            || in_memory.iter().any(|level| !level.stored.is_empty())
            || stored.iter().any(|level| level.suffix.is_empty())
        {
            return false;
        }
        let mut starts: Vec<&[u32]> = in_memory.iter().map(|level| &*level.starts).collect();
        starts.push(lens);
        let pairs = starts.windows(2).zip(in_memory);
        let are_levels = starts[0].iter().all(|&start| start == 0)
            && (pairs.clone()).all(|(pair, _)| is_ascending(pair[0], pair[1]))
            && (pairs.clone()).all(|(pair, level)| pair[0] == pair[1] || !level.suffix.is_empty());
        if !are_levels || self.expanded > self.level_len(self.depth) {
            return false;
        }
        let mut last: Option<&Round> = None;
        self.rounds.iter().all(|round| {
            let level = round.level as usize;
            let Some(&[first, end]) = starts.get(level + 1..level + 3) else {
                return false;
            };
            let follows = match last.replace(round) {
                Some(last) if last.level == round.level => {
                    round.first == last.end && is_ascending(&last.starts, &round.starts)
                }
                last => {
                    let is_later = last.is_none_or(|last| last.level < round.level);
                    is_later && round.first == 0 && *round.starts == *first
                }
            };
            follows
                && round.first < round.end
                && round.end <= self.level_len(round.level)
                && is_ascending(&round.starts, end)
        })
    }
}

/// Limit for counts, so that sums of them are numbers.
const MOST: u64 = 1 << 53;

pub(super) fn save_stats(levels: &[LevelStats], out: &mut Output) -> io::Result<()> {
    out.number(levels.len() as u64)?;
    for level in levels {
        let counts = &level.counts;
        let numbers = [
            level.depth.into(),
            counts.expanded,
            counts.arcs,
            counts.generated,
            counts.cycles,
            counts.dead_leaves,
            counts.solutions,
            level.frontier,
            level.elapsed.as_micros() as u64,
        ];
        numbers.iter().try_for_each(|&number| out.number(number))?;
    }
    Ok(())
}

pub(super) fn load_stats(input: &mut Input) -> Result<Vec<LevelStats>, LoadError> {
    let level = |input: &mut Input| {
        Ok(LevelStats {
            depth: input.less_than(u32::MAX.into())? as u32,
            compare: Compare::Key,
            counts: Counts {
                expanded: input.less_than(MOST)?,
                arcs: input.less_than(MOST)?,
                generated: input.less_than(MOST)?,
                cycles: input.less_than(MOST)?,
                dead_leaves: input.less_than(MOST)?,
                solutions: input.less_than(MOST)?,
            },
            frontier: input.less_than(MOST)?,
            elapsed: Duration::from_micros(input.less_than(MOST)?),
        })
    };
    let count = input.less_than(u32::MAX.into())?;
    (0..count).map(|_| level(input)).collect()
}

fn permutation(input: &mut Input, len: usize) -> Result<Vec<u32>, LoadError> {
    let images = numbers(input, len as u64)?;
    let mut sorted = images.clone();
    sorted.sort_unstable();
    match sorted.into_iter().eq(0..len as u32) {
        true => Ok(images),
        false => Err(LoadError::Invalid),
    }
}

/// Reads one number per shard.
pub(super) fn starts(input: &mut Input) -> Result<Box<[u32]>, LoadError> {
    let starts: Vec<u32> = numbers(input, u32::MAX.into())?;
    match starts.len() {
        SHARDS => Ok(starts.into()),
        _ => Err(LoadError::Invalid),
    }
}

/// Reads numbers less than `end`.
fn numbers(input: &mut Input, end: u64) -> Result<Vec<u32>, LoadError> {
    let small = |number| match number < end {
        true => Ok(number as u32),
        false => Err(LoadError::Invalid),
    };
    input.numbers()?.into_iter().map(small).collect()
}
