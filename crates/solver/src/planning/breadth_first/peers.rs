//! The processes that search together, each with shards of its own.
//!
//! All processes run the same search in lockstep. A process expands the states of its own
//! shards and inserts the children that belong to them. Whatever decides how the search goes
//! on is gathered from all processes first, so that all decide alike.

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::shards::SHARDS;

/// Where the processes of a search are, and which of them this one is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Processes {
    /// The number of this process; the first is 0.
    pub index: usize,
    /// By process: host and port at which it listens.
    pub addresses: Vec<String>,
    /// A word that all processes know; others are not let in.
    pub secret: String,
    /// True to go on from [`BreadthFirstOptions::checkpoint`](super::BreadthFirstOptions) if
    /// one was written, after a process was lost.
    pub goes_on: bool,
}

/// The maximum number of processes of a search: each needs a shard.
pub const MOST_PROCESSES: usize = SHARDS;

/// Another process is gone, or sends what cannot be read; its number, if it is known.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Lost(pub Option<usize>);

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(process) => write!(f, "process {process} is lost"),
            None => f.write_str("another process is lost"),
        }
    }
}

/// The connections to the other processes, if there are any.
#[derive(Default)]
pub(crate) struct Peers {
    #[cfg(feature = "distributed")]
    link: Option<super::link::Link>,
}

impl Peers {
    #[cfg(feature = "distributed")]
    pub(super) fn linked(link: super::link::Link) -> Peers {
        Peers { link: Some(link) }
    }

    /// Number of processes.
    pub fn count(&self) -> usize {
        #[cfg(feature = "distributed")]
        if let Some(link) = &self.link {
            return link.count();
        }
        1
    }

    /// The number of this process.
    pub fn index(&self) -> usize {
        #[cfg(feature = "distributed")]
        if let Some(link) = &self.link {
            return link.index();
        }
        0
    }

    pub fn are_several(&self) -> bool {
        self.count() > 1
    }

    /// The shards of a process.
    pub fn shards_of(&self, process: usize) -> impl Iterator<Item = usize> + Clone {
        (process..SHARDS).step_by(self.count())
    }

    /// The shards of this process.
    pub fn own_shards(&self) -> impl Iterator<Item = usize> + Clone {
        self.shards_of(self.index())
    }

    /// By shard: whether it belongs to this process.
    pub fn own_mask(&self) -> Vec<bool> {
        (0..SHARDS).map(|shard| self.own(shard)).collect()
    }

    /// True if a shard belongs to this process.
    pub fn own(&self, shard: usize) -> bool {
        shard % self.count() == self.index()
    }

    /// Sends to each process its bytes, and returns what each sent to this one.
    ///
    /// # Errors
    ///
    /// If a process is lost.
    pub fn exchange(&mut self, parcels: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, Lost> {
        #[cfg(feature = "distributed")]
        if let Some(link) = &mut self.link {
            return link.exchange(parcels);
        }
        Ok(parcels)
    }

    /// The bytes of the first process, for all.
    ///
    /// # Errors
    ///
    /// If a process is lost.
    #[cfg(feature = "distributed")]
    pub fn broadcast(&mut self, own: Vec<u8>) -> Result<Vec<u8>, Lost> {
        let count = self.count();
        Ok(self.exchange(vec![own; count])?.swap_remove(0))
    }

    /// The values of all processes, by process.
    ///
    /// # Errors
    ///
    /// If a process is lost.
    pub fn gather<T: Serialize + DeserializeOwned>(&mut self, said: T) -> Result<Vec<T>, Lost> {
        #[cfg(feature = "distributed")]
        if let Some(link) = &mut self.link {
            return link.gather(&said);
        }
        Ok(vec![said])
    }

    /// Leaves the search together with all others.
    ///
    /// # Errors
    ///
    /// If a process is lost.
    pub fn leave(&mut self) -> Result<(), Lost> {
        #[cfg(feature = "distributed")]
        if let Some(link) = self.link.take() {
            return link.leave();
        }
        Ok(())
    }
}
