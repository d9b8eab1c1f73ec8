//! The levels of a search: where their states are, in memory or in files.

use std::io;

use super::Search;
use super::shards::{Piece, Shards, Span};
use super::spill::Disk;
use ggp_engine::propnet::batch::Packed;

/// States of the same depth: in each shard those from `starts` to the start of the
/// next level.
pub(super) struct Level {
    pub starts: Box<[u32]>,
    /// By shard: number of its states, if they are in files.
    pub stored: Box<[u64]>,
    /// The bits outside the key, which all its states share.
    pub suffix: Packed,
}

impl Level {
    pub fn new(starts: Box<[u32]>, suffix: Packed) -> Level {
        Level {
            starts,
            stored: Box::default(),
            suffix,
        }
    }
}

/// States of one level that were expanded together: those from `first` to before
/// `end`. By shard, `starts` is the number that the round's first new state gets.
pub(super) struct Round {
    pub level: u32,
    pub first: u64,
    pub end: u64,
    pub starts: Box<[u32]>,
}

/// The states of a level, in their order.
pub(super) struct Source<'f> {
    pub span: Span,
    pub place: Place<'f>,
}

pub(super) enum Place<'f> {
    Memory(&'f Shards),
    Disk(&'f Disk, u32),
}

impl Source<'_> {
    /// Appends the codes of a piece of this process's states; `suffix` supplies the bits
    /// outside the key.
    pub fn read(&self, piece: &Piece, suffix: &[u64], out: &mut Vec<u64>) -> io::Result<()> {
        let numbers = piece.numbers.clone();
        match self.place {
            Place::Memory(shards) => {
                shards.read(piece.shard, numbers, suffix, out);
                Ok(())
            }
            Place::Disk(disk, level) => disk.read(level, piece.shard, numbers, suffix, out),
        }
    }
}

impl Search<'_> {
    pub(super) fn source(&self, level: u32) -> Source<'_> {
        Source {
            span: self.span(level),
            place: match &self.disk {
                Some(disk) if disk.is_used() => Place::Disk(disk, level),
                _ => Place::Memory(&self.shards),
            },
        }
    }

    /// The places of a level's states.
    pub(super) fn span(&self, level: u32) -> Span {
        let level = level as usize;
        let Level { starts, stored, .. } = &self.levels[level];
        match self.levels.get(level + 1) {
            _ if !stored.is_empty() => Span::new(stored.iter().map(|&len| 0..len).collect()),
            Some(next) => Span::between(starts, &next.starts),
            None => Span::between(starts, &self.lens),
        }
    }

    /// Number of states of a level.
    pub(super) fn level_len(&self, level: u32) -> u64 {
        self.span(level).len()
    }

    /// Number of states in memory, also of other processes.
    pub(super) fn in_memory(&self) -> u64 {
        self.lens.iter().map(|&len| u64::from(len)).sum()
    }
}
