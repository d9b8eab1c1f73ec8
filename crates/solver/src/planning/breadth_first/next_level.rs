//! Generation of a level from the one before.

use std::io;

use super::disjoint::is_disjoint;
use super::shards::{Halt, SHARDS, Span};
use super::workers::{LANES, Portion, Worker};
use super::{Level, MANY, MIN_PARENTS, Round, Search, Stop};
use crate::planning::Plan;
use crate::planning::expand::states::States;
use ggp_engine::propnet::batch::Packed;
use ggp_search::{BudgetKind, Compare, Meter};

/// Number of parents per portion.
const PORTION: usize = 1 << 11;

impl Search<'_> {
    /// Creates the level that contains only the start.
    pub(super) fn begin(&mut self, meter: &mut Meter<'_>) -> Result<(), BudgetKind> {
        meter.begin_level(0, Compare::Key);
        let start = self.layout.encode(&self.puzzle.start);
        let suffix = start.clone();
        let starts = self.shards.lens();
        self.levels.push(Level { starts, suffix });
        let portion = self.workers.first().one(&start);
        let inserted = self
            .shards
            .insert(&self.workers, &[portion], &ggp_stop::Stop::new());
        inserted.map_err(|_| BudgetKind::Memory)?;
        let (over, solved) = self.classify(&self.span(0), &ggp_stop::Stop::new());
        let level = meter.level();
        level.counts.generated = 1;
        level.counts.solutions = solved;
        level.frontier = 1 - over;
        meter.end_level();
        if solved > 0 {
            self.plan = Some(Plan::new());
        }
        Ok(())
    }

    /// Starts the next level.
    pub(super) fn open_level(&mut self, meter: &mut Meter<'_>) {
        meter.begin_level(self.depth + 1, Compare::Key);
        if self.shards.len() as u64 >= MANY && self.is_disjoint() {
            self.shards.forget();
        }
        self.levels.push(Level {
            starts: self.shards.lens(),
            suffix: Packed::new(),
        });
    }

    fn is_disjoint(&mut self) -> bool {
        let (puzzle, layout) = (self.puzzle, &self.layout);
        *self
            .is_disjoint
            .get_or_insert_with(|| is_disjoint(puzzle, layout))
    }

    /// Expands the next states of the level.
    pub(super) fn round(&mut self, meter: &mut Meter<'_>) -> Result<(), Stop> {
        meter.check()?;
        let source = self.source(self.depth);
        let left = usize::try_from(meter.nodes_left()).unwrap_or(usize::MAX);
        let len = source.len();
        let count = (len - self.expanded).min(self.round_parents.min(left) as u64);
        if count == 0 {
            return Err(BudgetKind::Nodes.into());
        }
        let end = self.expanded + count;
        let firsts = (self.expanded..end).step_by(PORTION).collect();
        let suffix = &self.levels[self.depth as usize].suffix;
        let work = count as usize * self.round_children / self.round_parents;
        let portions = self.workers.each(work, firsts, |worker, first| {
            let some = first..end.min(first + PORTION as u64);
            worker.portion(|out| source.read(some, suffix, out))
        });
        let portions: io::Result<Option<Vec<Portion>>> = portions.into_iter().collect();
        let Some(portions) = portions.map_err(Stop::Spill)? else {
            return Err(ended(meter));
        };
        let children: usize = portions.iter().map(Portion::len).sum();
        let starts = self.shards.lens();
        // What a checkpoint contains must be complete.
        let never = ggp_stop::Stop::new();
        let stop = match self.is_saved {
            true => &never,
            false => &self.stop.clone(),
        };
        match self.shards.insert(&self.workers, &portions, stop) {
            Ok(()) => {}
            Err(Halt::Full) => {
                drop(portions);
                return self.make_room(count as usize);
            }
            Err(Halt::Stopped) => return Err(ended(meter)),
        }
        let next = &mut self.levels[self.depth as usize + 1];
        if let (true, Some(portion)) = (
            next.suffix.is_empty(),
            portions.iter().find(|portion| !portion.child.is_empty()),
        ) {
            next.suffix.clone_from(&portion.child);
        }
        let open = portions.iter().map(|portion| portion.open).sum();
        let buffers = portions.iter().map(Portion::memory).sum::<u64>();
        self.buffers = buffers + self.workers.memory();
        drop(portions);
        let new = Span::new(&starts, &self.shards.lens());
        let (over, solved) = self.classify(&new, stop);
        if stop.is_over() {
            return Err(ended(meter));
        }
        let level = meter.level();
        level.counts.generated += new.len();
        level.counts.cycles += children as u64 - new.len();
        level.counts.solutions += solved;
        level.frontier += new.len() - over;
        let round = Round {
            level: self.depth,
            first: self.expanded,
            end,
            starts,
        };
        if solved > 0 && self.plan.is_none() {
            self.plan = Some(self.plan(&round).map_err(Stop::Spill)?);
        }
        // If a level is expanded in a single round, the round need not be stored.
        if !self.is_spilled() && count < len {
            self.rounds.push(round);
        }
        self.expanded = end;
        // The round grows by at most a factor of two, as the next states may have
        // more children.
        let fair = self.round_children as u64 * count / (children as u64).max(count);
        self.round_parents =
            (fair as usize).clamp(MIN_PARENTS, (2 * self.round_parents).max(MIN_PARENTS));
        let memory = self.memory();
        meter.charge(open, children as u64, self.positions(), memory);
        match meter.fits(memory) {
            true => Ok(()),
            false => Err(BudgetKind::Memory.into()),
        }
    }

    /// Counts the terminal and the solved states in a span of the last level, as far as
    /// possible before a stop.
    fn classify(&self, span: &Span, stop: &ggp_stop::Stop) -> (u64, u64) {
        let firsts = (0..span.len()).step_by(LANES).collect();
        let suffix = &self.levels[self.levels.len() - 1].suffix;
        let ends = self
            .workers
            .each(span.len() as usize, firsts, |worker, first| {
                if stop.is_over() {
                    return (0, 0);
                }
                let some = first..span.len().min(first + LANES as u64);
                worker.classify(|out| self.shards.read(span, some, suffix, out))
            });
        ends.into_iter().fold((0, 0), add)
    }

    pub(super) fn is_spilled(&self) -> bool {
        self.disk.as_ref().is_some_and(|disk| disk.is_used())
    }

    /// Writes the states in memory to files, if that is allowed, after a round of
    /// `count` parents did not fit.
    fn make_room(&mut self, count: usize) -> Result<(), Stop> {
        let is_used = self.is_spilled();
        let is_empty = is_used && self.shards.len() == 0;
        let Some(disk) = &mut self.disk else {
            return Err(BudgetKind::Memory.into());
        };
        if is_empty {
            if count == 1 {
                return Err(BudgetKind::Memory.into());
            }
            self.round_parents = count / 2;
            return Ok(());
        }
        let range = |from: u32, to: u32| from as usize..to as usize;
        if !is_used {
            for pair in self.levels.windows(2) {
                let both = pair[0].starts.iter().zip(&pair[1].starts);
                let ranges: Vec<_> = both.map(|(&from, &to)| range(from, to)).collect();
                disk.put_level(&self.shards, &ranges)?;
            }
        }
        let next = &mut self.levels[self.depth as usize + 1].starts;
        let lens = self.shards.lens();
        let ranges: Vec<_> = next.iter().zip(&lens).map(|(&a, &b)| range(a, b)).collect();
        disk.put_run(&self.shards, &ranges)?;
        next.fill(0);
        self.shards.clear();
        self.rounds = Vec::new();
        Ok(())
    }

    /// Removes duplicates of older states from the spilled runs of the new level.
    pub(super) fn deduplicate(&mut self, meter: &mut Meter<'_>) -> Result<(), Stop> {
        if !self.is_spilled() {
            return Ok(());
        }
        let is_disjoint = self.is_disjoint();
        let Some(disk) = &mut self.disk else {
            return Ok(());
        };
        let lens = self.shards.lens();
        let ranges: Vec<_> = lens.iter().map(|&len| 0..len as usize).collect();
        disk.put_run(&self.shards, &ranges)?;
        self.shards.clear();
        let (workers, suffix) = (&self.workers, &self.levels[self.depth as usize + 1].suffix);
        // Some shards at a time are processed, with the whole memory for them.
        let at_once = workers.len();
        let each = self.shards.most_bytes() / (2 * at_once as u64);
        let mut totals = (0, (0, 0));
        let mut level = disk.writer()?;
        for first in (0..SHARDS).step_by(at_once) {
            meter.check()?;
            let some: Vec<usize> = (first..SHARDS.min(first + at_once)).collect();
            let deduplicated = workers.each_pinned(usize::MAX, some, |worker, shard| {
                disk.deduplicate(shard, is_disjoint, each)
                    .map(|deduplicated| {
                        worker.ends_of(&deduplicated.states, &deduplicated.is_old, suffix)
                    })
            });
            for deduplicated in deduplicated {
                let (bytes, count, ends) = deduplicated?;
                level.write(&bytes)?;
                level.end_shard();
                totals = (totals.0 + count, add(totals.1, ends));
            }
        }
        disk.replace_runs(level)?;
        let (count, (over, solved)) = totals;
        let level = meter.level();
        level.counts.generated = count;
        level.counts.cycles = level.counts.arcs - count;
        level.counts.solutions = solved;
        level.frontier = count - over;
        meter.record(self.positions(), self.memory());
        Ok(())
    }
}

impl Worker {
    /// Collects the states that are not old: their stored bytes, their number, and
    /// how many of them are terminal and how many are solved.
    fn ends_of(
        &mut self,
        states: &States,
        is_old: &[bool],
        suffix: &[u64],
    ) -> (Vec<u8>, u64, (u64, u64)) {
        let new: Vec<usize> = (0..is_old.len())
            .filter(|&number| !is_old[number])
            .collect();
        let mut ends = (0, 0);
        let mut bytes = Vec::with_capacity(new.len() * states.state_bytes());
        for some in new.chunks(LANES) {
            let read = |out: &mut Vec<u64>| {
                for &number in some {
                    let at = out.len();
                    out.extend_from_slice(suffix);
                    states.read(number, &mut out[at..]);
                }
            };
            ends = add(ends, self.classify(read));
            for &number in some {
                states
                    .bytes(number..number + 1)
                    .for_each(|state| bytes.extend(state));
            }
        }
        (bytes, new.len() as u64, ends)
    }
}

/// The limit that ended a round.
fn ended(meter: &mut Meter<'_>) -> Stop {
    Stop::Budget(meter.check().err().unwrap_or(BudgetKind::Time))
}

fn add(a: (u64, u64), b: (u64, u64)) -> (u64, u64) {
    (a.0 + b.0, a.1 + b.1)
}
