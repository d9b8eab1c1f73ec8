//! Who does the work of a round: as many workers as there are threads.

use std::sync::{Mutex, MutexGuard};

use rayon::prelude::*;

use super::shards::{SHARDS, key_words, shard_of};
use crate::planning::Puzzle;
use crate::planning::expand::states::{hash_of, low};
use crate::planning::expand::{Children, Ends, Expander, Layout};
use crate::planning::symmetry::Canonical;
use ggp_engine::propnet::code::Engine;

/// States expanded at once by one worker.
pub(super) const LANES: usize = 512;
/// Items of work that one worker does faster than several.
const FEW: usize = 1 << 12;

pub(super) struct Workers {
    /// None where there is one worker.
    pool: Option<rayon::ThreadPool>,
    workers: Vec<Mutex<Worker>>,
}

/// Expands states and looks at them.
#[derive(Clone)]
pub(super) struct Worker {
    expander: Expander,
    /// Where states count up to symmetry.
    pub canonical: Option<Canonical>,
    /// States expanded at once.
    lanes: usize,
    pub parents: Vec<u64>,
    pub children: Children,
    pub ends: Ends,
    dealer: Dealer,
}

/// Sorts keys by shard.
#[derive(Clone)]
struct Dealer {
    bits: usize,
    keys: Vec<u64>,
    /// By key: its shard.
    shards: Vec<u8>,
}

/// Keys of children, by shard, in the order of their parents and moves.
pub(super) struct Portion {
    keys: Vec<u64>,
    /// By shard: its first word; one more at the end.
    starts: Box<[usize]>,
    words: usize,
    /// Parents whose game goes on.
    pub open: u64,
    /// The code of one child, if there is any.
    pub child: Vec<u64>,
}

impl Portion {
    pub fn of(&self, shard: usize) -> &[u64] {
        &self.keys[self.starts[shard]..self.starts[shard + 1]]
    }

    /// Number of children.
    pub fn len(&self) -> usize {
        self.keys.len() / self.words
    }

    pub fn memory(&self) -> u64 {
        (8 * (self.keys.capacity() + SHARDS)) as u64
    }
}

impl Workers {
    /// Workers that make about so many children at a time, at most.
    pub fn new(puzzle: &Puzzle, layout: &Layout, threads: usize, children: usize) -> Workers {
        let worker = Worker {
            expander: Expander::new(puzzle, layout, LANES, Engine::Auto),
            canonical: None,
            lanes: (children / puzzle.moves().max(1)).clamp(1, LANES),
            parents: Vec::new(),
            children: Children::default(),
            ends: Ends::default(),
            dealer: Dealer {
                bits: layout.key_bits(),
                keys: Vec::new(),
                shards: Vec::new(),
            },
        };
        let pool = match threads {
            0 | 1 => None,
            // Without threads there is one worker.
            _ => rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .ok(),
        };
        let workers = pool
            .as_ref()
            .map_or(1, rayon::ThreadPool::current_num_threads);
        Workers {
            pool,
            workers: (0..workers).map(|_| Mutex::new(worker.clone())).collect(),
        }
    }

    /// From now on states count up to symmetry.
    pub fn reduce_by(&mut self, canonical: &Canonical) {
        for worker in &mut self.workers {
            let worker = worker.get_mut().expect("no worker panics");
            worker.canonical = Some(canonical.clone());
        }
    }

    /// Shares out items, which are so much work in all; what came of them, in
    /// their order.
    pub fn each<T: Send, R: Send>(
        &self,
        work: usize,
        items: Vec<T>,
        act: impl Fn(&mut Worker, T) -> R + Sync,
    ) -> Vec<R> {
        let lock = |number: usize| self.workers[number].lock().expect("no worker panics");
        match &self.pool {
            Some(pool) if work >= FEW && items.len() > 1 => pool.install(|| {
                let items = items.into_par_iter().with_max_len(1);
                let act = |item| act(&mut lock(rayon::current_thread_index().unwrap_or(0)), item);
                items.map(act).collect()
            }),
            _ => {
                let mut worker = lock(0);
                items
                    .into_iter()
                    .map(|item| act(&mut worker, item))
                    .collect()
            }
        }
    }

    /// As [`Workers::each`], but the same worker always has the items of the same
    /// positions. What they allocate stays in that thread's part of the memory,
    /// where it finds room for more that another thread would not.
    pub fn each_its_own<T: Send, R: Send>(
        &self,
        work: usize,
        items: Vec<T>,
        act: impl Fn(&mut Worker, T) -> R + Sync,
    ) -> Vec<R> {
        let Some(pool) = self.pool.as_ref().filter(|_| work >= FEW) else {
            return self.each(0, items, act);
        };
        let (len, workers) = (items.len(), self.workers.len());
        let mut hands: Vec<Vec<T>> = (0..workers).map(|_| Vec::new()).collect();
        for (position, item) in items.into_iter().enumerate() {
            hands[position % workers].push(item);
        }
        let hands: Vec<Mutex<Vec<T>>> = hands.into_iter().map(Mutex::new).collect();
        let done = pool.broadcast(|thread| {
            let mut worker = self.workers[thread.index()]
                .lock()
                .expect("no worker panics");
            let mut hand = hands[thread.index()].lock().expect("no worker panics");
            let acts = hand.drain(..).map(|item| act(&mut worker, item));
            acts.collect::<Vec<R>>()
        });
        let mut done: Vec<_> = done.into_iter().map(Vec::into_iter).collect();
        let mut next = |position: usize| done[position % workers].next().expect("all is done");
        (0..len).map(&mut next).collect()
    }

    /// Number of workers.
    pub fn len(&self) -> usize {
        self.workers.len()
    }

    /// The first worker, for work of one.
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
    /// The children of states, whose codes `read` appends.
    ///
    /// # Errors
    ///
    /// Those of `read`.
    pub fn portion<E>(
        &mut self,
        read: impl FnOnce(&mut Vec<u64>) -> Result<(), E>,
    ) -> Result<Portion, E> {
        self.parents.clear();
        read(&mut self.parents)?;
        let stride = self.expander.stride();
        let mut open = 0;
        let mut child = Vec::new();
        for parents in self.parents.chunks(self.lanes * stride) {
            self.expander.expand(parents, &mut self.children);
            reduce(&mut self.canonical, &mut self.children.states);
            open += self.children.open;
            if child.is_empty() {
                child.extend(self.children.states.iter().take(stride));
            }
            self.dealer.take(&self.children.states, stride);
        }
        Ok(self.dealer.deal(open, child))
    }

    /// A state alone.
    pub fn one(&mut self, code: &[u64]) -> Portion {
        let mut code = code.to_vec();
        reduce(&mut self.canonical, &mut code);
        self.dealer.take(&code, code.len());
        self.dealer.deal(0, code)
    }

    /// Replaces [`Worker::children`] by those of states, whose codes `read`
    /// appends; fewer than [`LANES`].
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

    /// The codes of the children as tables have them.
    pub fn kept_children(&mut self) -> Vec<u64> {
        let mut codes = self.children.states.clone();
        reduce(&mut self.canonical, &mut codes);
        codes
    }

    /// Looks which children are ends.
    pub fn look_at_children(&mut self) {
        self.expander.ends(&self.children.states, &mut self.ends);
    }

    /// How many of some states, whose codes `read` appends, are over, and how
    /// many are solved.
    pub fn look(&mut self, read: impl FnOnce(&mut Vec<u64>)) -> (u64, u64) {
        self.parents.clear();
        read(&mut self.parents);
        self.expander.ends(&self.parents, &mut self.ends);
        let count = |bits: &[u64]| bits.iter().map(|word| u64::from(word.count_ones())).sum();
        (count(&self.ends.over), count(&self.ends.solved))
    }

    fn memory(&self) -> u64 {
        let words = self.parents.capacity() + self.dealer.keys.capacity();
        (8 * words + self.dealer.shards.capacity()) as u64 + self.children.memory()
    }
}

fn reduce(canonical: &mut Option<Canonical>, codes: &mut [u64]) {
    if let Some(canonical) = canonical {
        canonical.reduce(codes);
    }
}

impl Dealer {
    /// Adds the keys of codes of so many words.
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

    /// What was added, sorted.
    fn deal(&mut self, open: u64, child: Vec<u64>) -> Portion {
        let words = key_words(self.bits);
        let mut starts = vec![0; SHARDS + 1];
        for &shard in &self.shards {
            starts[usize::from(shard) + 1] += words;
        }
        for shard in 0..SHARDS {
            starts[shard + 1] += starts[shard];
        }
        let mut at: [usize; SHARDS] = starts[..SHARDS].try_into().expect("there are so many");
        let mut keys = vec![0; self.keys.len()];
        for (key, &shard) in self.keys.chunks_exact(words).zip(&self.shards) {
            let at = &mut at[usize::from(shard)];
            keys[*at..*at + words].copy_from_slice(key);
            *at += words;
        }
        self.keys.clear();
        self.shards.clear();
        Portion {
            keys,
            starts: starts.into(),
            words,
            open,
            child,
        }
    }
}
