//! How a level is made from the one before.

use std::io;

use super::disjoint::is_disjoint;
use super::shards::{SHARDS, Span};
use super::workers::{LANES, Portion, Worker};
use super::{Flood, LEAST, Level, MANY, Round, Stop};
use crate::planning::Plan;
use crate::planning::expand::states::{Full, States};
use ggp_engine::propnet::batch::Packed;
use ggp_search::{BudgetKind, Compare, Meter};

/// Parents of a portion.
const PORTION: usize = 1 << 11;

impl Flood<'_> {
    /// Makes the first level.
    pub(super) fn begin(&mut self, meter: &mut Meter<'_>) -> Result<(), BudgetKind> {
        meter.begin_level(0, Compare::Key);
        let start = self.layout.encode(&self.puzzle.start);
        let beside = start.clone();
        let starts = self.shards.lens();
        self.levels.push(Level { starts, beside });
        let portion = self.crew.first().one(&start);
        let inserted = self.shards.insert(&self.crew, &[portion]);
        inserted.map_err(|Full| BudgetKind::Memory)?;
        let (over, solved) = self.look(&self.span(0));
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

    /// Begins to make a level from the one before.
    pub(super) fn open_level(&mut self, meter: &mut Meter<'_>) {
        meter.begin_level(self.depth + 1, Compare::Key);
        if self.shards.len() as u64 >= MANY && self.is_disjoint() {
            self.shards.forget();
        }
        self.levels.push(Level {
            starts: self.shards.lens(),
            beside: Packed::new(),
        });
    }

    fn is_disjoint(&mut self) -> bool {
        let (puzzle, layout) = (self.puzzle, &self.layout);
        *self
            .is_disjoint
            .get_or_insert_with(|| is_disjoint(puzzle, layout))
    }

    /// Expands some more of the level's states.
    pub(super) fn round(&mut self, meter: &mut Meter<'_>) -> Result<(), Stop> {
        meter.check()?;
        let source = self.source(self.depth);
        let left = usize::try_from(meter.nodes_left()).unwrap_or(usize::MAX);
        let len = source.len();
        let count = (len - self.expanded).min(self.size.min(left) as u64);
        if count == 0 {
            return Err(BudgetKind::Nodes.into());
        }
        let end = self.expanded + count;
        let firsts = (self.expanded..end).step_by(PORTION).collect();
        let beside = &self.levels[self.depth as usize].beside;
        let work = count as usize * self.together / self.size;
        let portions = self.crew.each(work, firsts, |worker, first| {
            let some = first..end.min(first + PORTION as u64);
            worker.portion(|out| source.read(some, beside, out))
        });
        let portions: io::Result<Vec<Portion>> = portions.into_iter().collect();
        let portions = portions.map_err(Stop::Spill)?;
        let children: usize = portions.iter().map(Portion::len).sum();
        let starts = self.shards.lens();
        if let Err(Full) = self.shards.insert(&self.crew, &portions) {
            drop(portions);
            return self.make_room(count as usize);
        }
        let made = &mut self.levels[self.depth as usize + 1];
        if let (true, Some(portion)) = (
            made.beside.is_empty(),
            portions.iter().find(|portion| !portion.child.is_empty()),
        ) {
            made.beside.clone_from(&portion.child);
        }
        let open = portions.iter().map(|portion| portion.open).sum();
        let buffers = portions.iter().map(Portion::memory).sum::<u64>();
        self.buffers = buffers + self.crew.memory();
        drop(portions);
        let fresh = Span::new(&starts, &self.shards.lens());
        let (over, solved) = self.look(&fresh);
        let level = meter.level();
        level.counts.generated += fresh.len();
        level.counts.cycles += children as u64 - fresh.len();
        level.counts.solutions += solved;
        level.frontier += fresh.len() - over;
        let round = Round {
            level: self.depth,
            first: self.expanded,
            end,
            starts,
        };
        if solved > 0 && self.plan.is_none() {
            self.plan = Some(self.plan(&round).map_err(Stop::Spill)?);
        }
        // Where there is one round alone, it is the level.
        if !self.is_spilled() && count < len {
            self.rounds.push(round);
        }
        self.expanded = end;
        // Not much more at once than before: who knows what it leads to.
        let fair = self.together as u64 * count / (children as u64).max(count);
        self.size = (fair as usize).clamp(LEAST, (2 * self.size).max(LEAST));
        let memory = self.memory();
        meter.charge(open, children as u64, self.positions(), memory);
        match meter.fits(memory) {
            true => Ok(()),
            false => Err(BudgetKind::Memory.into()),
        }
    }

    /// How many of some states of the last level are over, and how many solved.
    fn look(&self, span: &Span) -> (u64, u64) {
        let firsts = (0..span.len()).step_by(LANES).collect();
        let beside = &self.levels[self.levels.len() - 1].beside;
        let ends = self
            .crew
            .each(span.len() as usize, firsts, |worker, first| {
                let some = first..span.len().min(first + LANES as u64);
                worker.look(|out| self.shards.read(span, some, beside, out))
            });
        ends.into_iter().fold((0, 0), add)
    }

    pub(super) fn is_spilled(&self) -> bool {
        self.disk.as_ref().is_some_and(|disk| disk.is_used())
    }

    /// Puts what is in memory into files, where that is allowed, after a round of
    /// so many parents that did not fit.
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
            self.size = count / 2;
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
        let made = &mut self.levels[self.depth as usize + 1].starts;
        let lens = self.shards.lens();
        let ranges: Vec<_> = made.iter().zip(&lens).map(|(&a, &b)| range(a, b)).collect();
        disk.put_run(&self.shards, &ranges)?;
        made.fill(0);
        self.shards.clear();
        self.rounds = Vec::new();
        Ok(())
    }

    /// Leaves of the level made what is new, where that is not known yet.
    pub(super) fn sift(&mut self, meter: &mut Meter<'_>) -> Result<(), Stop> {
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
        let (crew, beside) = (&self.crew, &self.levels[self.depth as usize + 1].beside);
        // Some shards at a time, with the memory for themselves.
        let together = crew.len();
        let each = self.shards.most_bytes() / (2 * together as u64);
        let mut totals = (0, (0, 0));
        let mut level = disk.writer()?;
        for first in (0..SHARDS).step_by(together) {
            meter.check()?;
            let some: Vec<usize> = (first..SHARDS.min(first + together)).collect();
            let sifted = crew.each_its_own(usize::MAX, some, |worker, shard| {
                disk.sift(shard, is_disjoint, each)
                    .map(|sifted| worker.ends_of(&sifted.states, &sifted.is_old, beside))
            });
            for sifted in sifted {
                let (bytes, count, ends) = sifted?;
                level.write(&bytes)?;
                level.end_shard();
                totals = (totals.0 + count, add(totals.1, ends));
            }
        }
        disk.put_sifted(level)?;
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
    /// Of states that are not old: as they lie in memory, how many, how many of
    /// them are over and how many are solved.
    fn ends_of(
        &mut self,
        states: &States,
        is_old: &[bool],
        beside: &[u64],
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
                    out.extend_from_slice(beside);
                    states.read(number, &mut out[at..]);
                }
            };
            ends = add(ends, self.look(read));
            for &number in some {
                states
                    .bytes(number..number + 1)
                    .for_each(|state| bytes.extend(state));
            }
        }
        (bytes, new.len() as u64, ends)
    }
}

fn add(a: (u64, u64), b: (u64, u64)) -> (u64, u64) {
    (a.0 + b.0, a.1 + b.1)
}
