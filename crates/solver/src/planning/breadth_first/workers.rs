//! The workers of a round, one per thread.

use std::sync::{Mutex, MutexGuard};

#[cfg(feature = "tables")]
use super::arcs::Joints;
use super::shards::{SHARDS, key_words, shard_of};
use crate::planning::Puzzle;
#[cfg(feature = "tables")]
use crate::planning::expand::scorer::Scorer;
use crate::planning::expand::states::{hash_of, low};
use crate::planning::expand::{Children, Ends, Expander, Layout};
use crate::planning::symmetry::Canonical;
use ggp_engine::propnet::code::Engine;
use ggp_engine::threads::Pool;
use ggp_stop::Stop;

/// Number of states that a worker expands at once.
pub(super) const LANES: usize = 512;
/// Amount of work below which a single worker is faster than several.
const FEW: usize = 1 << 12;

pub(super) struct Workers {
    pool: Pool,
    workers: Vec<Mutex<Worker>>,
}

/// Expands and classifies states.
#[derive(Clone)]
pub(super) struct Worker {
    expander: Expander,
    /// Set if states are counted up to symmetry.
    pub canonical: Option<Canonical>,
    /// Set if states are valued.
    #[cfg(feature = "tables")]
    pub scorer: Option<Scorer>,
    /// Number of states expanded at once.
    lanes: usize,
    pub parents: Vec<u64>,
    pub children: Children,
    pub ends: Ends,
    partitioner: Partitioner,
    /// The joint moves of the portion that is made, if they are wanted.
    #[cfg(feature = "tables")]
    pub joints: Option<Joints>,
    /// Ends the expansion of a portion.
    stop: Stop,
}

/// Distributes keys to shards.
#[derive(Clone)]
struct Partitioner {
    bits: usize,
    keys: Vec<u64>,
    /// The shard of each key.
    shards: Vec<u8>,
    /// By piece of the parents: the number of keys up to its end.
    ends: Vec<usize>,
}

/// Keys of children, by shard, in the order of their parents and moves.
#[derive(Clone)]
pub(super) struct Portion {
    keys: Vec<u64>,
    /// By shard: its first word; the last entry is the total number of words.
    starts: Box<[usize]>,
    words: usize,
    /// By piece of the parents, then by shard: number of keys.
    pub counts: Vec<[u32; SHARDS]>,
    /// Number of parents that are not terminal.
    pub open: u64,
    /// The code of one child, if there is any.
    pub child: Vec<u64>,
    /// The joint moves to the children, if they are wanted.
    #[cfg(feature = "tables")]
    pub joints: Option<Joints>,
}

impl Portion {
    pub fn of(&self, shard: usize) -> &[u64] {
        &self.keys[self.starts[shard]..self.starts[shard + 1]]
    }

    /// Number of children in a shard.
    #[cfg(feature = "tables")]
    pub fn len_of(&self, shard: usize) -> usize {
        self.of(shard).len() / self.words
    }

    /// Number of children.
    pub fn len(&self) -> usize {
        self.keys.len() / self.words
    }

    pub fn memory(&self) -> u64 {
        (8 * (self.keys.capacity() + SHARDS) + 4 * SHARDS * self.counts.len()) as u64
    }
}

impl Workers {
    /// Creates workers that generate about `children` children at a time at most; `None`
    /// after [`Puzzle::stop`]. `stop` ends the expansion of portions.
    pub fn new(
        puzzle: &Puzzle,
        layout: &Layout,
        threads: usize,
        children: usize,
        stop: &Stop,
    ) -> Option<Workers> {
        let worker = Worker {
            stop: stop.clone(),
            expander: Expander::new(puzzle, layout, LANES, Engine::Auto)?,
            canonical: None,
            #[cfg(feature = "tables")]
            scorer: None,
            lanes: (children / puzzle.most_children().max(1)).clamp(1, LANES),
            parents: Vec::new(),
            children: Children::default(),
            ends: Ends::default(),
            partitioner: Partitioner {
                bits: layout.key_bits(),
                keys: Vec::new(),
                shards: Vec::new(),
                ends: Vec::new(),
            },
            #[cfg(feature = "tables")]
            joints: None,
        };
        let pool = Pool::new(threads);
        Some(Workers {
            workers: (0..pool.threads())
                .map(|_| Mutex::new(worker.clone()))
                .collect(),
            pool,
        })
    }

    /// Counts states up to symmetry from now on.
    pub fn reduce_by(&mut self, canonical: &Canonical) {
        for worker in &mut self.workers {
            let worker = worker.get_mut().expect("no worker panics");
            worker.canonical = Some(canonical.clone());
        }
    }

    /// Lets portions have joint moves from now on, or not.
    #[cfg(feature = "tables")]
    pub fn keep_joints(&mut self, are_wanted: bool) {
        for worker in &mut self.workers {
            let worker = worker.get_mut().expect("no worker panics");
            worker.joints = are_wanted.then(Joints::default);
        }
    }

    /// Lets the workers score states from now on.
    #[cfg(feature = "tables")]
    pub fn score_with(&mut self, scorer: &Scorer) {
        for worker in &mut self.workers {
            let worker = worker.get_mut().expect("no worker panics");
            worker.scorer = Some(scorer.clone());
        }
    }

    /// Distributes items to the workers and returns the results in order. `work` is
    /// the total amount of work.
    pub fn each<T: Send, R: Send>(
        &self,
        work: usize,
        items: Vec<T>,
        act: impl Fn(&mut Worker, T) -> R + Sync,
    ) -> Vec<R> {
        let lock = |number: usize| self.workers[number].lock().expect("no worker panics");
        if self.len() > 1 && work >= FEW && items.len() > 1 {
            let act = |thread, item| act(&mut lock(thread), item);
            return self.pool.map(items, act);
        }
        let mut worker = lock(0);
        items
            .into_iter()
            .map(|item| act(&mut worker, item))
            .collect()
    }

    /// Distributes items to the workers as [`Workers::each`] does, but an item's
    /// position determines its worker. Memory that an item allocates stays in that
    /// thread's arena, where it can be reused.
    pub fn each_pinned<T: Send, R: Send>(
        &self,
        work: usize,
        items: Vec<T>,
        act: impl Fn(&mut Worker, T) -> R + Sync,
    ) -> Vec<R> {
        if self.len() == 1 || work < FEW {
            return self.each(0, items, act);
        }
        let (len, workers) = (items.len(), self.workers.len());
        let mut queues: Vec<Vec<T>> = (0..workers).map(|_| Vec::new()).collect();
        for (position, item) in items.into_iter().enumerate() {
            queues[position % workers].push(item);
        }
        let queues: Vec<Mutex<Vec<T>>> = queues.into_iter().map(Mutex::new).collect();
        let done = self.pool.broadcast(|thread| {
            let mut worker = self.workers[thread].lock().expect("no worker panics");
            let mut queue = queues[thread].lock().expect("no worker panics");
            let acts = queue.drain(..).map(|item| act(&mut worker, item));
            acts.collect::<Vec<R>>()
        });
        let mut done: Vec<_> = done.into_iter().map(Vec::into_iter).collect();
        let mut next = |position: usize| done[position % workers].next().expect("all is done");
        (0..len).map(&mut next).collect()
    }

    pub fn len(&self) -> usize {
        self.workers.len()
    }

    /// The first worker, for sequential work.
    pub fn first(&self) -> MutexGuard<'_, Worker> {
        self.workers[0].lock().expect("no worker panics")
    }

    pub fn memory(&self) -> u64 {
        let workers = self.workers.iter();
        workers
            .map(|worker| worker.lock().expect("no worker panics").memory())
            .sum()
    }
}

impl Worker {
    /// The children of states, or `None` after a stop; `read` appends the codes of the
    /// states, which belong to pieces of these lengths.
    ///
    /// # Errors
    ///
    /// Those of `read`.
    pub fn portion<E>(
        &mut self,
        lens: impl Iterator<Item = u64>,
        read: impl FnOnce(&mut Vec<u64>) -> Result<(), E>,
    ) -> Result<Option<Portion>, E> {
        self.parents.clear();
        read(&mut self.parents)?;
        let stride = self.expander.stride();
        let mut open = 0;
        let mut child = Vec::new();
        let mut ends = lens.scan(0, |end, len| {
            *end += len as usize;
            Some(*end)
        });
        let mut end = ends.next();
        let mut done = 0;
        for parents in self.parents.chunks(self.lanes * stride) {
            if self.stop.is_over() {
                self.partitioner.clear();
                return Ok(None);
            }
            self.expander.expand(parents, &mut self.children);
            #[cfg(feature = "tables")]
            if let Some(joints) = &mut self.joints {
                joints.add(&self.children);
            }
            reduce(&mut self.canonical, &mut self.children.states);
            open += self.children.open;
            if child.is_empty() {
                child.extend(self.children.states.iter().take(stride));
            }
            let count = parents.len() / stride;
            while let Some(at) = end.filter(|&end| end <= done + count) {
                let before = self.partitioner.shards.len();
                let more = self.children.starts[at - done] as usize;
                self.partitioner.ends.push(before + more);
                end = ends.next();
            }
            self.partitioner.take(&self.children.states, stride);
            done += count;
        }
        #[cfg(feature = "tables")]
        if let Some(joints) = &mut self.joints {
            joints.shards.clone_from(&self.partitioner.shards);
        }
        let portion = self.partitioner.finish(open, child);
        #[cfg(feature = "tables")]
        let portion = Portion {
            joints: self.joints.as_mut().map(std::mem::take),
            ..portion
        };
        Ok(Some(portion))
    }

    /// A portion that contains only the given state.
    pub fn one(&mut self, code: &[u64]) -> Portion {
        let mut code = code.to_vec();
        reduce(&mut self.canonical, &mut code);
        self.partitioner.take(&code, code.len());
        self.partitioner.ends.push(1);
        self.partitioner.finish(0, code)
    }

    /// Replaces [`Worker::children`] by the children of fewer than [`LANES`]
    /// states; `read` appends the codes of the states.
    ///
    /// # Errors
    ///
    /// Those of `read`.
    pub fn expand<E>(
        &mut self,
        read: impl FnOnce(&mut Vec<u64>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.parents.clear();
        read(&mut self.parents)?;
        self.expander.expand(&self.parents, &mut self.children);
        Ok(())
    }

    /// The codes of the children in the form in which the tables store them.
    pub fn stored_children(&mut self) -> Vec<u64> {
        let mut codes = self.children.states.clone();
        reduce(&mut self.canonical, &mut codes);
        codes
    }

    /// Determines which children are terminal or solved.
    pub fn classify_children(&mut self) {
        self.expander.ends(&self.children.states, &mut self.ends);
    }

    /// Counts the terminal and the solved states among those whose codes `read`
    /// appends.
    pub fn classify(&mut self, read: impl FnOnce(&mut Vec<u64>)) -> (u64, u64) {
        self.parents.clear();
        read(&mut self.parents);
        self.expander.ends(&self.parents, &mut self.ends);
        let count = |bits: &[u64]| bits.iter().map(|word| u64::from(word.count_ones())).sum();
        (count(&self.ends.over), count(&self.ends.solved))
    }

    fn memory(&self) -> u64 {
        let words = self.parents.capacity() + self.partitioner.keys.capacity();
        (8 * words + self.partitioner.shards.capacity()) as u64 + self.children.memory()
    }
}

fn reduce(canonical: &mut Option<Canonical>, codes: &mut [u64]) {
    if let Some(canonical) = canonical {
        canonical.reduce(codes);
    }
}

impl Partitioner {
    /// Adds the keys of codes of `stride` words each.
    fn take(&mut self, codes: &[u64], stride: usize) {
        let words = key_words(self.bits);
        let last = low(self.bits - 64 * (words - 1));
        for code in codes.chunks_exact(stride) {
            let shard = shard_of(hash_of(code, self.bits));
            self.shards.push(shard as u8);
            self.keys.extend_from_slice(&code[..words]);
            *self.keys.last_mut().expect("keys have words") &= last;
        }
    }

    /// Returns the keys that were added, sorted by shard.
    fn finish(&mut self, open: u64, child: Vec<u64>) -> Portion {
        let words = key_words(self.bits);
        let mut starts = vec![0; SHARDS + 1];
        for &shard in &self.shards {
            starts[usize::from(shard) + 1] += words;
        }
        for shard in 0..SHARDS {
            starts[shard + 1] += starts[shard];
        }
        let mut at: [usize; SHARDS] = starts[..SHARDS]
            .try_into()
            .expect("there are SHARDS entries");
        let mut keys = vec![0; self.keys.len()];
        for (key, &shard) in self.keys.chunks_exact(words).zip(&self.shards) {
            let at = &mut at[usize::from(shard)];
            keys[*at..*at + words].copy_from_slice(key);
            *at += words;
        }
        let mut counts = Vec::with_capacity(self.ends.len());
        let mut start = 0;
        for &end in &self.ends {
            let mut by_shard = [0; SHARDS];
            for &shard in &self.shards[start..end] {
                by_shard[usize::from(shard)] += 1;
            }
            counts.push(by_shard);
            start = end;
        }
        self.clear();
        Portion {
            keys,
            starts: starts.into(),
            words,
            counts,
            open,
            child,
            #[cfg(feature = "tables")]
            joints: None,
        }
    }

    fn clear(&mut self) {
        self.keys.clear();
        self.shards.clear();
        self.ends.clear();
    }
}

/// A portion whose pieces have these keys, each with its shard.
#[cfg(test)]
pub(super) fn portion_of(bits: usize, pieces: &[&[(usize, u64)]]) -> Portion {
    let mut partitioner = Partitioner {
        bits,
        keys: Vec::new(),
        shards: Vec::new(),
        ends: Vec::new(),
    };
    for &(shard, key) in pieces.iter().copied().flatten() {
        partitioner.shards.push(shard as u8);
        partitioner.keys.push(key);
        partitioner
            .keys
            .resize(partitioner.shards.len() * key_words(bits), 0);
    }
    let ends = pieces.iter().scan(0, |end, piece| {
        *end += piece.len();
        Some(*end)
    });
    partitioner.ends = ends.collect();
    partitioner.finish(0, Vec::new())
}
