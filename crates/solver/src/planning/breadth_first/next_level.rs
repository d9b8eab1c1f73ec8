//! Generation of a level from the one before.

use std::io;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::disjoint::is_disjoint;
use super::parcel::{Parcels, first_child, pack};
use super::peers::Lost;
use super::shards::{Halt, Piece, SHARDS, Span};
use super::spill::{SpillError, Written};
use super::workers::{LANES, Portion, Worker};
use super::{Level, MANY, MIN_PARENTS, Round, Search, Stop};
use crate::planning::Plan;
use crate::planning::expand::states::States;
use ggp_engine::propnet::batch::Packed;
use ggp_search::{BudgetKind, Compare, Meter};

/// Number of parents per portion.
pub(super) const PORTION: u64 = 1 << 11;

/// The report of a process to the others after its part of a round.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Part {
    /// Number of its parents that are not terminal, and of their children.
    open: u64,
    children: u64,
    /// Number of its new states that are terminal, and that are solved.
    over: u64,
    solved: u64,
    /// By shard of this process: number of its states.
    lens: Vec<u32>,
    memory: u64,
    /// True if its new states do not fit.
    is_full: bool,
    /// True if the process has more memory than it is allowed.
    exceeds_memory: bool,
    /// The limit that ends the search: its position in [`LIMITS`].
    halt: Option<u8>,
    /// True if it ended the part midway.
    is_cut: bool,
}

/// The children of a round, and by portion the numbers of its pieces.
type Portions = (Vec<Portion>, Vec<Vec<u32>>);

/// The limits that can end a search.
const LIMITS: [BudgetKind; 5] = [
    BudgetKind::Nodes,
    BudgetKind::Memory,
    BudgetKind::Time,
    BudgetKind::Interrupt,
    BudgetKind::Disk,
];

/// The position of a limit in [`LIMITS`].
fn number_of(limit: BudgetKind) -> u8 {
    let number = LIMITS.iter().position(|&other| other == limit);
    number.expect("a search has no other limits") as u8
}

/// The first limit that a process reached.
fn first_limit(numbers: impl Iterator<Item = Option<u8>>) -> Option<BudgetKind> {
    let number = numbers.flatten().next()?;
    LIMITS.get(usize::from(number)).copied()
}

impl Part {
    /// Ends the part midway.
    fn cut(&mut self, limit: BudgetKind) {
        self.halt = Some(number_of(limit));
        self.is_cut = true;
    }
}

impl Search<'_> {
    /// Creates the level that contains only the start.
    pub(super) fn begin(&mut self, meter: &mut Meter<'_>) -> Result<(), BudgetKind> {
        meter.begin_level(0, Compare::Key);
        let start = self.layout.encode(&self.puzzle.start);
        let suffix = start.clone();
        let starts = self.lens.clone();
        self.levels.push(Level::new(starts, suffix));
        let portion = self.workers.first().one(&start);
        for (len, &count) in self.lens.iter_mut().zip(&portion.counts[0]) {
            *len += count;
        }
        let own = self.peers.own_mask();
        let feed = |shard: usize, see: &mut dyn FnMut(&[u64]) -> Result<(), Halt>| match own[shard]
        {
            true => see(portion.of(shard)),
            false => Ok(()),
        };
        let never = ggp_stop::Stop::new();
        let inserted = (self.shards).insert(&self.workers, 1, feed, false, &never);
        inserted.map_err(|_| BudgetKind::Memory)?;
        let (over, solved) = (self.workers.first()).classify(|out| out.extend(&start));
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
        if self.in_memory() >= MANY && self.is_disjoint() {
            self.shards.forget();
            #[cfg(feature = "distributed")]
            self.since.clone_from(&self.lens);
        }
        let starts = self.lens.clone();
        self.levels.push(Level::new(starts, Packed::new()));
    }

    fn is_disjoint(&mut self) -> bool {
        let (puzzle, layout) = (self.puzzle, &self.layout);
        *self
            .is_disjoint
            .get_or_insert_with(|| is_disjoint(puzzle, layout))
    }

    /// Expands the next states of the level.
    pub(super) fn round(&mut self, meter: &mut Meter<'_>) -> Result<(), Stop> {
        let checked = meter.check();
        if !self.peers.are_several() {
            checked?;
        }
        let left = usize::try_from(meter.nodes_left()).unwrap_or(usize::MAX);
        let len = self.level_len(self.depth);
        let count = (len - self.expanded).min(self.round_parents.min(left) as u64);
        if count == 0 {
            return Err(BudgetKind::Nodes.into());
        }
        let end = self.expanded + count;
        // What a checkpoint contains must be complete.
        let stop = match self.is_saved {
            true => ggp_stop::Stop::new(),
            false => self.stop.clone(),
        };
        let mut part = Part::default();
        let made = self.portions(self.expanded..end)?;
        let (portions, numbers) = made.unwrap_or_else(|| {
            part.cut(ended(meter));
            Default::default()
        });
        part.children = portions.iter().map(|portion| portion.len() as u64).sum();
        part.open = portions.iter().map(|portion| portion.open).sum();
        let starts = self.shards.lens();
        let inserted = self.insert(portions, &numbers, &stop)?;
        match inserted {
            Ok(()) if !part.is_cut => {
                let new = Span::between(&starts, &self.shards.lens());
                (part.over, part.solved) = self.classify(&new, &stop);
                if stop.is_over() {
                    part.cut(ended(meter));
                }
            }
            Ok(()) => {}
            Err(Halt::Full) => part.is_full = true,
            Err(Halt::Stopped) => part.cut(ended(meter)),
        }
        let lens = self.shards.lens();
        part.lens = self.peers.own_shards().map(|shard| lens[shard]).collect();
        part.memory = self.memory();
        part.exceeds_memory = !meter.fits(part.memory);
        if part.halt.is_none() && self.peers.are_several() {
            part.halt = meter.check().err().map(number_of);
        }
        let parts = self.peers.gather(part)?;
        self.take(count, &starts, &parts, meter)
    }

    /// Inserts the children that belong to this process.
    fn insert(
        &mut self,
        portions: Vec<Portion>,
        numbers: &[Vec<u32>],
        stop: &ggp_stop::Stop,
    ) -> Result<Result<(), Halt>, Lost> {
        let buffers = self.workers.memory() + portions.iter().map(Portion::memory).sum::<u64>();
        let children = portions.iter().map(Portion::len).sum();
        if !self.peers.are_several() {
            self.buffers = buffers;
            self.know_child(first_child(&portions));
            let feed = |shard: usize, see: &mut dyn FnMut(&[u64]) -> Result<(), Halt>| {
                let mut keys = portions.iter().map(|portion| portion.of(shard));
                keys.try_for_each(see)
            };
            #[cfg(feature = "tables")]
            let wanted = self.arcs.is_some();
            #[cfg(not(feature = "tables"))]
            let wanted = false;
            let inserted = (self.shards).insert(&self.workers, children, feed, wanted, stop);
            #[cfg(feature = "tables")]
            if let (Ok(numbers), true) = (&inserted, wanted) {
                self.keep_arcs(portions, numbers);
            }
            return Ok(inserted.map(|_| ()));
        }
        let peers = &mut self.peers;
        let bits = self.layout.key_bits();
        let pack = |process| match process == peers.index() {
            true => Vec::new(),
            false => pack(&portions, numbers, bits, peers.shards_of(process)),
        };
        let parcels: Vec<Vec<u8>> = (0..peers.count()).map(pack).collect();
        let packed = parcels.iter().map(|parcel| parcel.capacity() as u64);
        let packed = packed.sum::<u64>();
        let arrived = peers.exchange(parcels)?;
        let parcels = Parcels::open(portions, numbers, arrived, bits, peers.own_shards())?;
        self.buffers = buffers + packed + parcels.memory();
        self.know_child(&parcels.child);
        let feed = |shard: usize, see: &mut dyn FnMut(&[u64]) -> Result<(), Halt>| {
            parcels.feed(shard, see)
        };
        // About as many have come as were sent.
        let inserted = (self.shards).insert(&self.workers, children, feed, false, stop);
        Ok(inserted.map(|_| ()))
    }

    /// Takes the bits outside the key from a child, as all of a level share them.
    fn know_child(&mut self, child: &[u64]) {
        let suffix = &mut self.levels[self.depth as usize + 1].suffix;
        if suffix.is_empty() {
            suffix.extend(child);
        }
    }

    /// Goes on with what all processes did in a round of `count` parents.
    fn take(
        &mut self,
        count: u64,
        own_starts: &[u32],
        parts: &[Part],
        meter: &mut Meter<'_>,
    ) -> Result<(), Stop> {
        if parts.iter().any(|part| part.is_full) {
            self.shards.truncate(own_starts);
            return self.make_room(count as usize);
        }
        let halt = first_limit(parts.iter().map(|part| part.halt));
        if let (Some(halt), true) = (halt, parts.iter().any(|part| part.is_cut)) {
            return Err(halt.into());
        }
        let starts = self.lens.clone();
        for (process, part) in parts.iter().enumerate() {
            for (shard, &len) in self.peers.shards_of(process).zip(&part.lens) {
                self.lens[shard] = len;
            }
        }
        let sum = |of: fn(&Part) -> u64| parts.iter().map(of).sum::<u64>();
        let new = Span::between(&starts, &self.lens).len();
        let (children, solved) = (sum(|part| part.children), sum(|part| part.solved));
        let level = meter.level();
        level.counts.generated += new;
        level.counts.cycles += children - new;
        level.counts.solutions += solved;
        level.frontier += new - sum(|part| part.over);
        let end = self.expanded + count;
        let round = Round {
            level: self.depth,
            first: self.expanded,
            end,
            starts,
        };
        if solved > 0 && self.plan.is_none() {
            self.plan = Some(self.plan(&round)?);
        }
        // If a level is expanded in a single round, the round need not be stored.
        if !self.is_spilled() && count < self.level_len(self.depth) {
            self.rounds.push(round);
        }
        self.expanded = end;
        // The round grows by at most a factor of two, as the next states may have
        // more children.
        let fair = self.round_children as u64 * count / children.max(count);
        self.round_parents =
            (fair as usize).clamp(MIN_PARENTS, (2 * self.round_parents).max(MIN_PARENTS));
        let memory = sum(|part| part.memory);
        meter.charge(
            sum(|part| part.open),
            children,
            self.positions() as usize,
            memory,
        );
        match halt {
            Some(halt) => Err(halt.into()),
            None if parts.iter().any(|part| part.exceeds_memory) => self.make_room(count as usize),
            None => Ok(()),
        }
    }

    /// The children of this process's states among some of the level, and by portion the
    /// numbers of its pieces; `None` after a stop.
    fn portions(&self, positions: Range<u64>) -> Result<Option<Portions>, Stop> {
        let source = self.source(self.depth);
        let children = (positions.end - positions.start) as usize * self.round_children;
        let work = children / self.round_parents;
        let batches = self.own_batches(positions);
        let numbers = batches.iter();
        let numbers: Vec<Vec<u32>> = numbers
            .map(|batch| batch.iter().map(|&(_, number)| number).collect())
            .collect();
        let suffix = &self.levels[self.depth as usize].suffix;
        let are_several = self.peers.are_several();
        let portions = self.workers.each(work, batches, |worker, batch| {
            let pieces = batch.iter().filter(|_| are_several);
            let lens = pieces.map(|(piece, _)| piece.len());
            worker.portion(lens, |out| {
                (batch.iter()).try_for_each(|(piece, _)| source.read(piece, suffix, out))
            })
        });
        let portions: io::Result<Option<Vec<Portion>>> = portions.into_iter().collect();
        Ok(portions?.map(|portions| (portions, numbers)))
    }

    /// The pieces of some positions of the level that belong to this process, by portion, each
    /// with its number among all pieces.
    pub(super) fn own_batches(&self, positions: Range<u64>) -> Vec<Vec<(Piece, u32)>> {
        let pieces = self.span(self.depth).pieces(positions).into_iter().zip(0..);
        let own = pieces.filter(|(piece, _)| self.peers.own(piece.shard));
        batches(own, PORTION)
    }

    /// Counts the terminal and the solved states in a span of this process's states of the
    /// last level, as far as possible before a stop.
    fn classify(&self, span: &Span, stop: &ggp_stop::Stop) -> (u64, u64) {
        let firsts = (0..span.len()).step_by(LANES).collect();
        let shards = &self.shards;
        let suffix = &self.levels[self.levels.len() - 1].suffix;
        let ends = self
            .workers
            .each(span.len() as usize, firsts, |worker, first| {
                if stop.is_over() {
                    return (0, 0);
                }
                let some = first..span.len().min(first + LANES as u64);
                worker.classify(|out| {
                    for piece in span.pieces(some) {
                        shards.read(piece.shard, piece.numbers, suffix, out);
                    }
                })
            });
        ends.into_iter().fold((0, 0), add)
    }

    pub(super) fn is_spilled(&self) -> bool {
        self.disk.as_ref().is_some_and(|disk| disk.is_used())
    }

    /// Writes the states in memory to files, if that is allowed, after a round of
    /// `count` parents did not fit, or only just.
    fn make_room(&mut self, count: usize) -> Result<(), Stop> {
        let is_used = self.is_spilled();
        let is_empty = is_used && self.in_memory() == 0;
        if self.disk.is_none() {
            return Err(BudgetKind::Memory.into());
        }
        if is_empty {
            if count == 1 {
                return Err(BudgetKind::Memory.into());
            }
            self.round_parents = count / 2;
            return Ok(());
        }
        self.write_run()
    }

    /// Writes the states in memory to files.
    fn write_run(&mut self) -> Result<(), Stop> {
        let is_used = self.is_spilled();
        let Some(disk) = &mut self.disk else {
            return Ok(());
        };
        let next = self.depth as usize + 1;
        let mut put = || {
            if !is_used {
                for pair in self.levels.windows(2) {
                    let span = Span::between(&pair[0].starts, &pair[1].starts);
                    disk.put_level(&self.shards, &span.of(|shard| self.peers.own(shard)))?;
                }
            }
            let span = Span::between(&self.levels[next].starts, &self.lens);
            disk.put_run(&self.shards, &span.of(|shard| self.peers.own(shard)))
        };
        let put = put();
        let agreed = self.agree(put);
        if agreed.is_err()
            && !is_used
            && let Some(disk) = &mut self.disk
        {
            // The levels are still in memory.
            disk.clear()?;
        }
        agreed?;
        if !is_used {
            let starts: Vec<_> = self
                .levels
                .iter()
                .map(|level| level.starts.clone())
                .collect();
            for (level, pair) in self.levels.iter_mut().zip(starts.windows(2)) {
                let both = pair[0].iter().zip(&pair[1]);
                level.stored = both.map(|(&from, &to)| (to - from).into()).collect();
            }
        }
        self.levels[next].starts.fill(0);
        self.rounds = Vec::new();
        self.shards.clear();
        self.lens.fill(0);
        #[cfg(feature = "distributed")]
        {
            self.since.fill(0);
            self.segments.begin_again();
        }
        Ok(())
    }

    /// Ends the search if one process must end it.
    fn agree(&mut self, own: Result<(), SpillError>) -> Result<(), Stop> {
        let halt = match own {
            Ok(()) => None,
            Err(SpillError::Full(what)) => Some(number_of(what)),
            // The others lose this process.
            Err(SpillError::Io(error)) => return Err(Stop::Spill(error)),
        };
        match first_limit(self.peers.gather(halt)?.into_iter()) {
            Some(what) => Err(what.into()),
            None => Ok(()),
        }
    }

    /// Removes duplicates of older states from the spilled runs of the new level.
    pub(super) fn deduplicate(&mut self, meter: &mut Meter<'_>) -> Result<(), Stop> {
        if !self.is_spilled() {
            return Ok(());
        }
        let is_disjoint = self.is_disjoint();
        let mut part = Part::default();
        // Until all have written the level, a checkpoint has the runs.
        self.write_run()?;
        let mut written = None;
        let own = self.deduplicate_own(is_disjoint, &mut part, meter);
        let own = own.map(|own| written = own);
        self.agree(own)?;
        if let (Some(disk), Some(level)) = (&mut self.disk, written) {
            disk.replace_runs(level)?;
        }
        self.is_due = self.is_saved;
        let parts = self.peers.gather(part)?;
        let level = &mut self.levels[self.depth as usize + 1];
        level.stored = vec![0; SHARDS].into();
        for (process, part) in parts.iter().enumerate() {
            for (shard, &len) in self.peers.shards_of(process).zip(&part.lens) {
                level.stored[shard] = len.into();
            }
        }
        let count = level.stored.iter().sum::<u64>();
        let level = meter.level();
        level.counts.generated = count;
        level.counts.cycles = level.counts.arcs - count;
        level.counts.solutions = parts.iter().map(|part| part.solved).sum();
        level.frontier = count - parts.iter().map(|part| part.over).sum::<u64>();
        let memory = parts.iter().map(|part| part.memory).sum();
        meter.record(self.positions() as usize, memory);
        Ok(())
    }

    /// Writes the level of the shards of this process.
    fn deduplicate_own(
        &mut self,
        is_disjoint: bool,
        part: &mut Part,
        meter: &mut Meter<'_>,
    ) -> Result<Option<Written>, SpillError> {
        let Some(disk) = &mut self.disk else {
            return Ok(None);
        };
        let (workers, suffix) = (&self.workers, &self.levels[self.depth as usize + 1].suffix);
        // Some shards at a time are processed, with the whole memory for them.
        let at_once = workers.len();
        let each = self.shards.most_bytes() / (2 * at_once as u64);
        let mut level = disk.writer()?;
        let own: Vec<usize> = self.peers.own_shards().collect();
        for some in own.chunks(at_once) {
            meter.check().map_err(SpillError::Full)?;
            let deduplicated = workers.each_pinned(usize::MAX, some.to_vec(), |worker, shard| {
                disk.deduplicate(shard, is_disjoint, each)
                    .map(|deduplicated| {
                        worker.ends_of(&deduplicated.states, &deduplicated.is_old, suffix)
                    })
            });
            for (&shard, deduplicated) in some.iter().zip(deduplicated) {
                let (bytes, count, (over, solved)) = deduplicated?;
                level.begin_shard(shard);
                level.write(&bytes)?;
                part.lens.push(count as u32);
                part.over += over;
                part.solved += solved;
            }
        }
        let level = level.finish()?;
        part.memory = self.memory();
        Ok(Some(level))
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
fn ended(meter: &mut Meter<'_>) -> BudgetKind {
    meter.check().err().unwrap_or(BudgetKind::Time)
}

/// Groups numbered pieces into batches of at most `most` states; longer pieces are cut.
pub(super) fn batches(
    pieces: impl Iterator<Item = (Piece, u32)>,
    most: u64,
) -> Vec<Vec<(Piece, u32)>> {
    let mut batches = Vec::new();
    let mut room = 0;
    for (mut piece, number) in pieces {
        while piece.len() > 0 {
            if room == 0 {
                batches.push(Vec::new());
                room = most;
            }
            let first = piece.take(room);
            room -= first.len();
            batches
                .last_mut()
                .expect("there is one")
                .push((first, number));
        }
    }
    batches
}

fn add(a: (u64, u64), b: (u64, u64)) -> (u64, u64) {
    (a.0 + b.0, a.1 + b.1)
}
