//! Hash-consed ground terms: equal terms have equal ids.
//!
//! In: functors and the ids of arguments. Out: a [`TermId`], and back. A [`Terms`] is
//! a view of one shared table: clones of a view, even in other threads, give the same
//! term the same id. Each view reads from its own copy without a lock; it takes the
//! lock only for a term that is new to it.

use std::hash::Hasher;
use std::sync::{Arc, Mutex, MutexGuard};

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use crate::program::FunctorId;

/// A ground term of one game.
///
/// Ids are dense, in order of creation. An id taken from one game must never be used
/// with another.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TermId(u32);

impl TermId {
    /// Position among all terms of the game created so far.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The number itself, for packed tables.
    pub(crate) fn raw(self) -> u32 {
        self.0
    }

    /// The inverse of [`TermId::raw`].
    pub(crate) fn from_raw(raw: u32) -> Self {
        TermId(raw)
    }
}

/// The limit that was reached.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum TermOverflow {
    /// The limit on the number of terms.
    Count(usize),
    /// The limit on the nesting of a term.
    Depth(usize),
    /// The limit on the length of a term's text, in symbols.
    Symbols {
        /// The limit.
        limit: usize,
        /// The longest argument of the term.
        part: TermId,
    },
}

impl TermOverflow {
    /// The counted things, as a plural noun, and the limit.
    pub fn what(self) -> (&'static str, usize) {
        match self {
            TermOverflow::Count(limit) => ("different terms", limit),
            TermOverflow::Depth(limit) => ("levels of nesting in one term", limit),
            TermOverflow::Symbols { limit, .. } => ("symbols in the text of one term", limit),
        }
    }
}

/// Limits on a table of terms.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct TermLimits {
    /// Maximum number of different terms.
    pub count: usize,
    /// Maximum nesting of one term.
    pub depth: usize,
    /// Maximum number of symbols in the text of one term. Terms share their parts in
    /// memory but not in text, so a short rule can make a term too long to write.
    pub symbols: usize,
}

impl Default for TermLimits {
    fn default() -> Self {
        TermLimits {
            count: 10_000_000,
            depth: 10_000,
            symbols: 100_000,
        }
    }
}

#[derive(Copy, Clone, Debug)]
struct Entry {
    functor: FunctorId,
    start: u32,
    arity: u16,
    depth: u16,
    symbols: u32,
}

#[derive(Clone, Debug, Default)]
struct TermTable {
    entries: Vec<Entry>,
    arguments: Vec<TermId>,
    lookup: HashTable<u32>,
}

/// A view of a game's ground terms.
#[derive(Debug)]
pub struct Terms {
    shared: Arc<Mutex<TermTable>>,
    own: TermTable,
    limits: TermLimits,
}

impl Clone for Terms {
    fn clone(&self) -> Self {
        Terms {
            shared: Arc::clone(&self.shared),
            own: self.own.clone(),
            limits: self.limits,
        }
    }
}

impl Default for Terms {
    fn default() -> Self {
        Terms::new(TermLimits::default())
    }
}

impl Terms {
    /// A new, empty table.
    pub fn new(limits: TermLimits) -> Self {
        Terms {
            shared: Arc::default(),
            own: TermTable::default(),
            limits: TermLimits {
                count: limits.count.min(u32::MAX as usize - 1),
                depth: limits.depth.min(u16::MAX as usize - 1),
                symbols: limits.symbols.clamp(1, u32::MAX as usize),
            },
        }
    }

    /// The id of a functor applied to terms, created if it is new.
    ///
    /// # Errors
    ///
    /// [`TermOverflow`] if a limit is reached; the term is then not created.
    pub fn intern(
        &mut self,
        functor: FunctorId,
        arguments: &[TermId],
    ) -> Result<TermId, TermOverflow> {
        let hash = hash(functor, arguments);
        if let Some(id) = self.own.find(hash, functor, arguments) {
            return Ok(id);
        }
        let shared = Arc::clone(&self.shared);
        let mut table = lock(&shared);
        self.catch_up(&table);
        if let Some(id) = self.own.find(hash, functor, arguments) {
            return Ok(id);
        }
        let depth = arguments.iter().map(|&a| self.depth(a) + 1).max();
        if depth.unwrap_or(0) > self.limits.depth {
            return Err(TermOverflow::Depth(self.limits.depth));
        }
        let symbols = arguments.iter().map(|&a| self.symbols(a)).sum::<usize>() + 1;
        if symbols > self.limits.symbols {
            let limit = self.limits.symbols;
            let longest = arguments.iter().max_by_key(|&&a| self.symbols(a));
            let part = *longest.expect("a constant is one symbol");
            return Err(TermOverflow::Symbols { limit, part });
        }
        if table.entries.len() >= self.limits.count
            || table.arguments.len() + arguments.len() > u32::MAX as usize
        {
            return Err(TermOverflow::Count(self.limits.count));
        }
        let size = (depth.unwrap_or(0) as u16, symbols as u32);
        let id = table.push(hash, functor, arguments, size);
        self.own.push(hash, functor, arguments, size);
        Ok(id)
    }

    /// Makes room for this many new terms, so that the table does not grow step by step.
    pub fn reserve(&mut self, count: usize) {
        let shared = Arc::clone(&self.shared);
        let mut table = lock(&shared);
        self.catch_up(&table);
        table.reserve(count);
        self.own.reserve(count);
    }

    /// The id of a functor applied to terms, if any view of the table has created it.
    pub fn get(&mut self, functor: FunctorId, arguments: &[TermId]) -> Option<TermId> {
        let hash = hash(functor, arguments);
        if let Some(id) = self.own.find(hash, functor, arguments) {
            return Some(id);
        }
        let shared = Arc::clone(&self.shared);
        self.catch_up(&lock(&shared));
        self.own.find(hash, functor, arguments)
    }

    /// Copies the terms added by other views, so that any id of the table can be
    /// read.
    pub fn refresh(&mut self) {
        let shared = Arc::clone(&self.shared);
        self.catch_up(&lock(&shared));
    }

    /// True if this view can read the term; if not, call [`Terms::refresh`].
    pub fn knows(&self, term: TermId) -> bool {
        term.index() < self.own.entries.len()
    }

    /// The functor at the top of a term.
    #[inline]
    pub fn functor(&self, term: TermId) -> FunctorId {
        self.own.entries[term.index()].functor
    }

    /// The arguments of a term, in order.
    #[inline]
    pub fn arguments(&self, term: TermId) -> &[TermId] {
        let entry = self.own.entries[term.index()];
        &self.own.arguments[entry.start as usize..][..entry.arity.into()]
    }

    /// The nesting depth of a term: 0 for a constant.
    pub fn depth(&self, term: TermId) -> usize {
        self.own.entries[term.index()].depth.into()
    }

    /// The number of symbols in a term's text: 1 for a constant.
    #[inline]
    pub fn symbols(&self, term: TermId) -> usize {
        self.own.entries[term.index()].symbols as usize
    }

    /// Number of terms that this view can read.
    pub fn len(&self) -> usize {
        self.own.entries.len()
    }

    /// True if no term was created.
    pub fn is_empty(&self) -> bool {
        self.own.entries.is_empty()
    }

    fn catch_up(&mut self, table: &TermTable) {
        // To copy the whole table takes no hashing.
        if table.entries.len() / 2 > self.own.entries.len() {
            self.own.clone_from(table);
        }
        for index in self.own.entries.len()..table.entries.len() {
            let entry = table.entries[index];
            let arguments = &table.arguments[entry.start as usize..][..entry.arity.into()];
            let hash = hash(entry.functor, arguments);
            let size = (entry.depth, entry.symbols);
            self.own.push(hash, entry.functor, arguments, size);
        }
    }
}

impl TermTable {
    fn find(&self, hash: u64, functor: FunctorId, arguments: &[TermId]) -> Option<TermId> {
        let is_same = |&id: &u32| {
            let entry = self.entries[id as usize];
            entry.functor == functor
                && self.arguments[entry.start as usize..][..entry.arity.into()] == *arguments
        };
        self.lookup.find(hash, is_same).map(|&id| TermId(id))
    }

    /// Adds a new term. `size` is its depth and the number of its symbols.
    fn push(
        &mut self,
        hash: u64,
        functor: FunctorId,
        arguments: &[TermId],
        size: (u16, u32),
    ) -> TermId {
        let id = self.entries.len() as u32;
        self.entries.push(Entry {
            functor,
            start: self.arguments.len() as u32,
            arity: arguments.len() as u16,
            depth: size.0,
            symbols: size.1,
        });
        self.arguments.extend_from_slice(arguments);
        let rehash = hasher(&self.entries, &self.arguments);
        self.lookup.insert_unique(hash, id, rehash);
        TermId(id)
    }

    fn reserve(&mut self, count: usize) {
        self.entries.reserve(count);
        let rehash = hasher(&self.entries, &self.arguments);
        self.lookup.reserve(count, rehash);
    }
}

fn lock(table: &Mutex<TermTable>) -> MutexGuard<'_, TermTable> {
    // Nothing panics between two writes of the table, so it is consistent even if
    // the lock is poisoned.
    table
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// The hashes of the terms of a table.
fn hasher(entries: &[Entry], arguments: &[TermId]) -> impl Fn(&u32) -> u64 {
    |&id| {
        let entry = entries[id as usize];
        let arguments = &arguments[entry.start as usize..][..entry.arity.into()];
        hash(entry.functor, arguments)
    }
}

fn hash(functor: FunctorId, arguments: &[TermId]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write_usize(functor.index());
    for argument in arguments {
        hasher.write_u32(argument.0);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Functor, Functors, Shape};
    use crate::symbol::Symbols;

    fn functors() -> (FunctorId, FunctorId) {
        let mut symbols = Symbols::default();
        let mut functors = Functors::default();
        let mut functor = |name, shape| {
            let name = symbols.intern(name);
            functors.intern(Functor { name, shape })
        };
        (functor("z", Shape::Bare), functor("s", Shape::Applied(1)))
    }

    #[test]
    fn equal_terms_have_equal_ids_in_all_views() {
        let (z, s) = functors();
        let mut first = Terms::default();
        let mut second = first.clone();
        let a = first.intern(z, &[]).unwrap();
        let b = second.intern(s, &[a]).unwrap();
        assert_eq!(first.intern(s, &[a]), Ok(b));
        assert_eq!(first.arguments(b), [a]);
        assert_eq!(first.depth(b), 1);
    }

    #[test]
    fn count_and_depth_are_bounded() {
        let (z, s) = functors();
        let limits = TermLimits {
            count: 3,
            ..TermLimits::default()
        };
        let mut terms = Terms::new(limits);
        let mut term = terms.intern(z, &[]).unwrap();
        for _ in 0..2 {
            term = terms.intern(s, &[term]).unwrap();
        }
        assert_eq!(terms.intern(s, &[term]), Err(TermOverflow::Count(3)));
        let mut terms = Terms::new(TermLimits {
            depth: 1,
            ..TermLimits::default()
        });
        let zero = terms.intern(z, &[]).unwrap();
        let one = terms.intern(s, &[zero]).unwrap();
        assert_eq!(terms.intern(s, &[one]), Err(TermOverflow::Depth(1)));
    }

    #[test]
    fn text_is_bounded_although_parts_are_shared() {
        let mut symbols = Symbols::default();
        let mut functors = Functors::default();
        let (name, shape) = (symbols.intern("f"), Shape::Applied(2));
        let pair = functors.intern(Functor { name, shape });
        let mut terms = Terms::new(TermLimits {
            symbols: 1_000,
            ..TermLimits::default()
        });
        let (name, shape) = (symbols.intern("z"), Shape::Bare);
        let constant = functors.intern(Functor { name, shape });
        let mut term = terms.intern(constant, &[]).unwrap();
        for doublings in 1..9 {
            term = terms.intern(pair, &[term, term]).unwrap();
            assert_eq!(terms.symbols(term), (2 << doublings) - 1);
        }
        let longer = terms.intern(pair, &[term, term]);
        let limit = 1_000;
        assert_eq!(longer, Err(TermOverflow::Symbols { limit, part: term }));
    }
}
