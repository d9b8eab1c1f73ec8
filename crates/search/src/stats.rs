//! Search statistics and progress observers.
//!
//! All counters saturate. A search appends its levels to its [`Stats`] argument and never
//! clears it, so that one value can cover several searches.

use std::time::Duration;

use super::{BudgetKind, Compare};

/// Counters of one level or of a whole search.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Expanded states.
    pub expanded: u64,
    /// Applied actions.
    pub arcs: u64,
    /// States that were entered: the start, and every result that was neither pruned nor
    /// merged with a known state. A state that is entered again at a smaller step counts again.
    pub generated: u64,
    /// Arcs that were pruned because their key was already visited at the same
    /// or a smaller step.
    pub cycles: u64,
    /// Entered states that were dropped again as dead leaves.
    pub dead_leaves: u64,
    /// Solutions that were entered.
    pub solutions: u64,
}

impl Counts {
    /// Adds `other`, counter by counter.
    pub fn add(&mut self, other: &Counts) {
        bump(&mut self.expanded, other.expanded);
        bump(&mut self.arcs, other.arcs);
        bump(&mut self.generated, other.generated);
        bump(&mut self.cycles, other.cycles);
        bump(&mut self.dead_leaves, other.dead_leaves);
        bump(&mut self.solutions, other.solutions);
    }
}

/// Adds without wrapping.
pub(super) fn bump(counter: &mut u64, by: u64) {
    *counter = counter.saturating_add(by);
}

/// One level of a breadth-first search, one iteration of iterative deepening,
/// or the whole of any other search.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LevelStats {
    /// Breadth-first: the step of the states that were generated here, from
    /// states one step before. Iterative deepening: the limit of the iteration.
    /// Otherwise 0.
    pub depth: u32,
    /// The kind of key that the visited table compared in this pass.
    pub compare: Compare,
    /// The counters of this level alone.
    pub counts: Counts,
    /// Breadth-first: open states of this level, to be expanded in the next.
    /// Depth-first and iterative: open states that the depth limit cut off.
    pub frontier: u64,
    /// Time spent on this level.
    pub elapsed: Duration,
}

/// Statistics of one search, or of several that ran one after another.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Stats {
    /// In the order in which they were searched. The last may be incomplete.
    pub levels: Vec<LevelStats>,
    /// The most entries that a visited table (or a Monte Carlo tree) held.
    pub peak_entries: u64,
    /// The most bytes that the tables took, approximately.
    pub peak_bytes: u64,
    /// The total time.
    pub elapsed: Duration,
    /// The length of the shortest plan so far, while the search looks for a shorter one.
    pub best_length: Option<usize>,
    /// The highest score of a terminal state found so far.
    pub best_score: Option<u8>,
    /// A proved lower bound: every plan has more moves than this.
    pub refuted: Option<u32>,
    /// The limit that ended the last search early, if it was recorded here.
    pub ran_out: Option<BudgetKind>,
    /// The name of the last search, if there are several.
    pub method: Option<&'static str>,
}

impl Stats {
    /// Adds the statistics of another search that ran at the same time.
    pub fn add(&mut self, other: Stats) {
        self.levels.extend(other.levels);
        self.peak_entries = self.peak_entries.max(other.peak_entries);
        self.peak_bytes = self.peak_bytes.max(other.peak_bytes);
        self.elapsed = self.elapsed.saturating_add(other.elapsed);
        self.best_length = other.best_length.or(self.best_length);
        self.best_score = self.best_score.max(other.best_score);
        self.refuted = self.refuted.max(other.refuted);
        self.ran_out = other.ran_out;
        self.method = other.method.or(self.method);
    }

    /// The sum over all levels.
    pub fn total(&self) -> Counts {
        let mut total = Counts::default();
        for level in &self.levels {
            total.add(&level.counts);
        }
        total
    }
}

/// An observer of a search, for progress output. `()` ignores all calls.
pub trait Observer {
    /// A level or iteration is complete; it is the last of `stats.levels`.
    fn level(&mut self, _stats: &Stats) {}

    /// Called once every few thousand arcs, in the middle of a level.
    fn tick(&mut self, _stats: &Stats) {}

    /// Something went wrong that does not end the search.
    fn warning(&mut self, _text: &str) {}
}

impl Observer for () {}
