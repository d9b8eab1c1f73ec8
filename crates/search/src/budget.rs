//! The limits of a search, and the meter that enforces them.

use ggp_stop::{Instant, Stop};
use std::time::Duration;

use super::Compare;
use super::stats::{LevelStats, Observer, Stats, bump};

/// The limits of one search. The search ends at the first limit it reaches and returns its
/// result so far. Example: `Budget { nodes: 5_000_000, ..Budget::default() }`.
#[derive(Clone, Debug)]
pub struct Budget {
    /// The most states to expand. Unlimited by default.
    pub nodes: u64,
    /// The most bytes for tables, queues and stacks, approximately. 2 GiB by
    /// default.
    pub memory_bytes: u64,
    /// The most time, counted from the call. Unlimited by default.
    pub time: Option<Duration>,
    /// The clock of [`Budget::time`]; the wall clock by default.
    pub clock: Clock,
    /// An additional stop flag and deadline, independent of [`Budget::time`].
    pub stop: Stop,
    /// The length of the longest plan to find, in actions. Reaching it is a result
    /// ([`NoSolutionWithin`](super::Verdict::NoSolutionWithin)), not an exhausted budget. The
    /// default `u32::MAX` means no limit.
    pub depth: u32,
}

/// A clock for the time of a search.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Clock {
    /// The clock on the wall: a person waits.
    #[default]
    Wall,
    /// The CPU time of the calling thread, so that a busy machine does as much as an idle one
    /// ([`Stop::within_work`]).
    Work,
}

impl Budget {
    /// The end of a search that begins now: [`Budget::stop`] with [`Budget::time`].
    pub fn end(&self) -> Stop {
        match self.clock {
            Clock::Wall => self.stop.within(self.time),
            Clock::Work => self.stop.within_work(self.time),
        }
    }
}

impl Default for Budget {
    fn default() -> Self {
        Budget {
            nodes: u64::MAX,
            memory_bytes: 2 << 30,
            time: None,
            clock: Clock::Wall,
            stop: Stop::new(),
            depth: u32::MAX,
        }
    }
}

/// An exhausted limit.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum BudgetKind {
    /// [`Budget::nodes`], or the most nodes of a graph.
    Nodes,
    /// [`Budget::memory_bytes`], or more than `u32::MAX` entries in one table.
    Memory,
    /// [`Budget::time`], or the deadline of [`Budget::stop`].
    Time,
    /// [`Budget::stop`] was raised.
    Interrupt,
    /// The limit on files.
    Disk,
    /// The iterations of a Monte Carlo search.
    Iterations,
    /// No limit was exhausted: the method does not apply or gave up.
    Method,
}

/// The number of arcs between two checks of the clock.
const ARCS_PER_CHECK: u32 = 32;
/// The number of arcs between two calls of [`Observer::tick`].
const ARCS_PER_TICK: u32 = 4096;

/// The meter that enforces one budget over all passes of a search and records statistics.
pub struct Meter<'a> {
    budget: &'a Budget,
    stats: &'a mut Stats,
    observer: &'a mut dyn Observer,
    expanded: u64,
    started: Instant,
    end: Stop,
    level_started: Instant,
    level_open: bool,
    until_check: u32,
    until_tick: u32,
}

impl<'a> Meter<'a> {
    /// A meter that starts now.
    pub fn new(budget: &'a Budget, stats: &'a mut Stats, observer: &'a mut dyn Observer) -> Self {
        let now = Instant::now();
        stats.ran_out = None;
        Meter {
            budget,
            stats,
            observer,
            expanded: 0,
            started: now,
            end: budget.end(),
            level_started: now,
            level_open: false,
            until_check: 0,
            until_tick: ARCS_PER_TICK,
        }
    }

    /// Opens a level of the statistics.
    pub fn begin_level(&mut self, depth: u32, compare: Compare) {
        self.level_started = Instant::now();
        self.level_open = true;
        self.stats.levels.push(LevelStats {
            depth,
            compare,
            counts: Default::default(),
            frontier: 0,
            elapsed: Duration::ZERO,
        });
    }

    /// The level that [`Meter::begin_level`] opened last.
    pub fn level(&mut self) -> &mut LevelStats {
        self.stats
            .levels
            .last_mut()
            .expect("a level is opened before anything is counted")
    }

    /// Closes the open level and notifies the observer.
    pub fn end_level(&mut self) {
        self.level().elapsed = self.level_started.elapsed();
        self.level_open = false;
        self.observer.level(self.stats);
    }

    /// Charges the expansion of a state. Call it before the expansion. `entries` and `bytes` are
    /// the current sizes of the tables.
    ///
    /// # Errors
    ///
    /// The exhausted limit.
    pub fn expand(&mut self, entries: usize, bytes: u64) -> Result<(), BudgetKind> {
        self.record(entries, bytes);
        if !self.fits(bytes) {
            return Err(BudgetKind::Memory);
        }
        self.spend_node()
    }

    /// Records the current sizes of the tables.
    pub fn record(&mut self, entries: usize, bytes: u64) {
        self.stats.peak_entries = self.stats.peak_entries.max(entries as u64);
        self.stats.peak_bytes = self.stats.peak_bytes.max(bytes);
    }

    /// Charges the expansion of a state, without a check of the memory.
    ///
    /// # Errors
    ///
    /// The exhausted limit.
    pub fn spend_node(&mut self) -> Result<(), BudgetKind> {
        if self.expanded >= self.budget.nodes {
            return Err(BudgetKind::Nodes);
        }
        self.check_outside()?;
        bump(&mut self.expanded, 1);
        bump(&mut self.level().counts.expanded, 1);
        Ok(())
    }

    /// Charges one action. Call it before the action is applied.
    ///
    /// # Errors
    ///
    /// The exhausted limit.
    pub fn arc(&mut self) -> Result<(), BudgetKind> {
        self.check_outside()?;
        bump(&mut self.level().counts.arcs, 1);
        if self.until_tick == 0 {
            self.until_tick = ARCS_PER_TICK;
            self.level().elapsed = self.level_started.elapsed();
            self.observer.tick(self.stats);
        }
        self.until_tick -= 1;
        Ok(())
    }

    /// Charges several expansions and arcs at once, at most [`Meter::nodes_left`] nodes.
    /// `entries` and `bytes` are the current sizes of the tables.
    ///
    /// # Errors
    ///
    /// The exhausted limit.
    pub fn spend(
        &mut self,
        nodes: u64,
        arcs: u64,
        entries: usize,
        bytes: u64,
    ) -> Result<(), BudgetKind> {
        self.record(entries, bytes);
        self.check()?;
        self.charge(nodes, arcs, entries, bytes);
        Ok(())
    }

    /// Checks the time and the stop flag.
    ///
    /// # Errors
    ///
    /// The exhausted limit.
    pub fn check(&mut self) -> Result<(), BudgetKind> {
        self.until_check = 0;
        self.check_outside()
    }

    /// As [`Meter::spend`], for work that is already done.
    pub fn charge(&mut self, nodes: u64, arcs: u64, entries: usize, bytes: u64) {
        self.record(entries, bytes);
        bump(&mut self.expanded, nodes);
        let level = self.level();
        bump(&mut level.counts.expanded, nodes);
        bump(&mut level.counts.arcs, arcs);
        self.until_tick = self
            .until_tick
            .saturating_sub(arcs.min(u64::from(u32::MAX)) as u32);
        if self.until_tick == 0 {
            self.until_tick = ARCS_PER_TICK;
            self.level().elapsed = self.level_started.elapsed();
            self.observer.tick(self.stats);
        }
    }

    /// The limit that ended a search. An error counts as [`BudgetKind::Interrupt`] if the stop
    /// is raised, because evaluations with the same stop then fail.
    ///
    /// # Errors
    ///
    /// Any other error of an evaluation.
    pub(crate) fn exhausted<E>(&self, ended: super::Stop<E>) -> Result<BudgetKind, E> {
        match ended {
            super::Stop::Budget(what) => Ok(what),
            super::Stop::Error(_) if self.budget.stop.is_raised() => Ok(BudgetKind::Interrupt),
            super::Stop::Error(_) if self.end.is_late() => Ok(BudgetKind::Time),
            super::Stop::Error(error) => Err(error),
        }
    }

    /// Tells the observer of something that does not end the search.
    pub fn warn(&mut self, text: &str) {
        self.observer.warning(text);
    }

    /// Records a proof that every plan has more than `moves` moves.
    pub fn refuted(&mut self, moves: u32) {
        self.stats.refuted = self.stats.refuted.max(Some(moves));
    }

    /// Records the limit that ends the search early.
    pub fn ran_out(&mut self, what: BudgetKind) {
        self.stats.ran_out = Some(what);
    }

    /// The result of a search if its budget was sufficient; otherwise the exhausted limit is
    /// recorded.
    pub fn ended<T>(&mut self, result: Result<T, BudgetKind>) -> Option<T> {
        result.map_err(|what| self.ran_out(what)).ok()
    }

    /// The statistics so far.
    pub fn stats(&self) -> &Stats {
        self.stats
    }

    /// The number of states that may still be expanded.
    pub fn nodes_left(&self) -> u64 {
        self.budget.nodes - self.expanded
    }

    /// Returns true if the budget allows tables of this size.
    pub fn fits(&self, bytes: u64) -> bool {
        bytes <= self.budget.memory_bytes
    }

    fn check_outside(&mut self) -> Result<(), BudgetKind> {
        if self.budget.stop.is_raised() {
            return Err(BudgetKind::Interrupt);
        }
        if self.until_check == 0 {
            self.until_check = ARCS_PER_CHECK;
            if self.end.is_late() {
                return Err(BudgetKind::Time);
            }
        }
        self.until_check -= 1;
        Ok(())
    }
}

impl Drop for Meter<'_> {
    // A search that ends early or with an error also records its time.
    fn drop(&mut self) {
        self.stats.elapsed = self.stats.elapsed.saturating_add(self.started.elapsed());
        if self.level_open
            && let Some(level) = self.stats.levels.last_mut()
        {
            level.elapsed = self.level_started.elapsed();
        }
    }
}
