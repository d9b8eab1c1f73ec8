//! The work backwards from the ends.

use super::super::Search;
use super::super::arcs::Arcs;
use super::super::next_level::{PORTION, batches};
use super::super::peers::Peers;
use super::super::shards::{Piece, Shards, Span};
use super::super::workers::Worker;
use super::form::{Ends, Form, Sweep};
use super::{Fault, Progress, Update, Values};
use crate::planning::expand::scorer::Scored;

/// The work in progress.
pub(super) struct Backward<'s, 'p> {
    pub search: &'s Search<'p>,
    pub peers: Peers,
    /// By shard: number of positions; none in shards of other processes.
    pub lens: Vec<usize>,
    /// Number of positions of a level that are valued together.
    pub round: u64,
    pub values: Values,
    pub stop: &'s ggp_stop::Stop,
    pub progress: &'s mut dyn FnMut(Progress),
    /// True if several roles choose at once somewhere.
    pub is_joint: bool,
}

/// Number of portions for each thread that are valued together.
const PORTIONS: usize = 4;
/// Number of positions whose scores are computed together.
const ENDS_AT_ONCE: u64 = 1 << 20;

impl Backward<'_, '_> {
    /// Values all positions; `kept` are their joint moves, if they are kept.
    pub fn run(&mut self, mut kept: Option<Vec<Arcs>>) -> Result<(), Fault> {
        let ends = self.begin();
        let mut all = Ends::none(self.values.form.players.len());
        let ends = self.agree(ends)?;
        (self.peers.gather(ends)?.iter()).for_each(|ends| all.add(ends));
        self.values.form.know_ends(&all);
        if let Some(arcs) = &mut kept {
            // This is all where children are on later levels.
            self.sweep_kept(Sweep::Scores, arcs)?;
            self.settle(arcs)?;
        }
        self.repeat(Sweep::Scores, &mut kept)?;
        if self.values.form.floors.is_some() && !self.is_joint {
            self.repeat(Sweep::Distances, &mut kept)?;
        }
        Ok(())
    }

    /// Fails if any process does.
    pub fn agree<T>(&mut self, own: Result<T, Fault>) -> Result<T, Fault> {
        let faults = self.peers.gather(own.as_ref().err().copied())?;
        match faults.into_iter().flatten().next() {
            Some(fault) => Err(fault),
            None => own,
        }
    }

    /// Scores the ends.
    fn begin(&mut self) -> Result<Ends, Fault> {
        let search = self.search;
        let form = &self.values.form;
        let bytes = form.bytes();
        let entries = self.lens.iter().map(|len| vec![0; len * bytes]);
        self.values.entries = entries.collect();
        let span = Span::new(self.lens.iter().map(|&len| 0..len as u64).collect());
        let mut all = Ends::none(form.players.len());
        let rounds = (0..span.len()).step_by(ENDS_AT_ONCE as usize);
        for first in rounds {
            self.check()?;
            let some = first..span.len().min(first + ENDS_AT_ONCE);
            let work = (some.end - some.start) as usize;
            let pieces = span.pieces(some).into_iter().map(|piece| (piece, 0));
            let form = &self.values.form;
            let (shards, stride) = (&search.shards, search.layout.words());
            let scored = (search.workers).each(work, batches(pieces, PORTION), |worker, batch| {
                let scored = worker.scores_of(shards, stride, &batch, form);
                (batch, scored)
            });
            for (batch, scored) in scored {
                let (entries, ends) = scored?;
                let mut from = 0;
                for (piece, _) in batch {
                    let length = piece.len() as usize * bytes;
                    let to = piece.numbers.start as usize * bytes;
                    self.values.entries[piece.shard][to..to + length]
                        .copy_from_slice(&entries[from..from + length]);
                    from += length;
                }
                all.add(&ends);
            }
        }
        Ok(all)
    }

    /// Goes over the levels, last first, until nothing changes.
    fn repeat(&mut self, sweep: Sweep, kept: &mut Option<Vec<Arcs>>) -> Result<(), Fault> {
        loop {
            let is_changed = match kept {
                Some(arcs) => self.sweep_kept(sweep, arcs)?,
                None => self.sweep(sweep)?,
            };
            if !is_changed {
                return Ok(());
            }
        }
    }

    /// Goes over all open positions by their joint moves, keeps only those of positions that stay open,
    /// and returns whether anything changed.
    fn sweep_kept(&mut self, sweep: Sweep, arcs: &mut Vec<Arcs>) -> Result<bool, Fault> {
        let (mut is_changed, mut done) = (false, 0);
        let mut open = Vec::with_capacity(arcs.len());
        for some in arcs.rchunks(PORTIONS * self.search.workers.len()) {
            self.check()?;
            let values = &self.values;
            let work = some.len() * PORTION as usize;
            let some: Vec<&Arcs> = some.iter().rev().collect();
            let updates = (self.search.workers).each(work, some, |_, arcs| {
                values.update(sweep, &arcs.pieces, &arcs.joints, |children, out| {
                    for child in &arcs.children()[children] {
                        out.extend_from_slice(values.entry(child.shard(), child.number()));
                    }
                })
            });
            for update in updates {
                let update = update?;
                open.push(update.is_open);
                done += update.places.len() as u64;
                is_changed |= self.apply(&update);
            }
            (self.progress)(Progress::Valued(done));
        }
        arcs.retain(|_| open.pop().unwrap_or(true));
        Ok(is_changed && !arcs.is_empty())
    }

    /// Goes over all open positions by expanding them, and returns whether anything changed.
    fn sweep(&mut self, sweep: Sweep) -> Result<bool, Fault> {
        let (mut is_changed, mut is_open, mut done) = (false, false, 0);
        for level in (0..self.search.levels.len() as u32).rev() {
            let span = self.search.span(level);
            let mut first = 0;
            while first < span.len() {
                let end = span.len().min(first.saturating_add(self.round));
                for update in self.round(sweep, &span, first..end)? {
                    is_open |= update.is_open;
                    is_changed |= self.apply(&update);
                }
                done += end - first;
                (self.progress)(Progress::Valued(done));
                first = end;
            }
        }
        let all = self.peers.gather((is_changed, is_open, self.is_joint))?;
        self.is_joint = all.iter().any(|(_, _, is_joint)| *is_joint);
        Ok(all.iter().any(|(is_changed, ..)| *is_changed)
            && all.iter().any(|(_, is_open, _)| *is_open))
    }

    /// Takes new entries, and returns whether any of them is another one.
    fn apply(&mut self, update: &Update) -> bool {
        self.is_joint |= update.is_joint;
        let mut is_changed = false;
        let entries = update.entries.chunks_exact(self.values.form.bytes());
        for (&(shard, number), new) in update.places.iter().zip(entries) {
            let old = self.values.entry_mut(shard, number);
            is_changed |= old != new;
            old.copy_from_slice(new);
        }
        is_changed
    }

    pub fn check(&self) -> Result<(), Fault> {
        match self.stop.is_over() {
            true => Err(Fault::Stopped),
            false => Ok(()),
        }
    }
}

impl Worker {
    /// The entries of the positions in some pieces, of which only ends are known, and the scores of the ends.
    fn scores_of(
        &mut self,
        shards: &Shards,
        stride: usize,
        batch: &[(Piece, u32)],
        form: &Form,
    ) -> Result<(Vec<u8>, Ends), Fault> {
        let suffix = vec![0; stride];
        self.parents.clear();
        for (Piece { shard, numbers, .. }, _) in batch {
            shards.read(*shard, numbers.clone(), &suffix, &mut self.parents);
        }
        let mut ends = Ends::none(form.players.len());
        let (mut entries, mut fault) = (Vec::new(), None);
        let scorer = self.scorer.as_mut().expect("workers score positions");
        scorer.score(&self.parents, |scored| match scored {
            Scored::Open => form.put_unknown(&mut entries),
            Scored::End(scores) => {
                let sum = scores.iter().map(|score| u32::from(*score)).sum();
                ends.add(&Ends {
                    sums: [sum; 2],
                    ranges: scores.iter().map(|score| [*score; 2]).collect(),
                });
                form.put_end(&scores, &mut entries);
            }
            Scored::NoScore(role) => fault = Some(Fault::NoScore(role)),
        });
        match fault {
            Some(fault) => Err(fault),
            None => Ok((entries, ends)),
        }
    }
}
