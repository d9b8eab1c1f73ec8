//! The values of all positions of a game, backwards from the ends.
//!
//! In: a game with any roles. Out: for each position and player (a role that is not chance), the score
//! that it can force, and the score that the others can force it down to; and the number of joint moves
//! to the end. A breadth-first search finds the positions, and keeps the joint moves if there is room for
//! them; else positions are expanded again, and their children looked up. A sweep goes over the levels, last
//! first. A position whose children are all settled is settled. One sweep is enough if all children are on
//! later levels; else there are more over the positions left, until nothing changes.
//!
//! The scores that a player can force are a least fixpoint, and those that the others can force a
//! greatest one. Where they differ, play never ends if all play well, or chance decides. Others know the
//! move of a role, and nobody that of chance.
//!
//! Source: Ströhlein, "Untersuchungen über kombinatorische Spiele", 1970; Thompson, "Retrograde analysis of
//! certain endgames", 1986.

mod form;
mod waiting;

use std::ops::Range;

use super::arcs::{Arcs, Kept};
use super::next_level::{PORTION, batches};
use super::shards::{Piece, Shards, Span, key_words};
use super::workers::{LANES, Worker};
use super::{BreadthFirstOptions, MIN_PARENTS, Search, Stop};
use crate::planning::Puzzle;
use crate::planning::expand::scorer::{Scored, Scorer};
use crate::planning::expand::{Facts, Layout};
use form::{Ends, Form, Sweep};
use ggp_engine::propnet::Propnet;
use ggp_search::{Budget, BudgetKind, Meter, Observer, Stats};

/// The distance that stands for an unknown one.
pub(crate) const FAR: u16 = u16::MAX;

/// The reason why there are no values.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    /// A limit was reached.
    Budget(BudgetKind),
    /// This role has no legal move in some position.
    NoMove(usize),
    /// This role has no score, or several, at some end.
    NoScore(usize),
    /// A position has more than [`MOST_JOINT_MOVES`](crate::planning::expand::MOST_JOINT_MOVES) joint
    /// moves.
    Wide,
}

impl Fault {
    const TOO_MANY: Fault = Fault::Budget(BudgetKind::Nodes);
}

/// The part of the work that is going on, with the number of positions done.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Progress {
    /// Positions were found.
    Found(u64),
    /// Positions have their values.
    Valued(u64),
}

/// All positions of a game, with their values.
pub(crate) struct Valued {
    /// By player: its role.
    pub players: Vec<usize>,
    /// Number of joint moves of all positions.
    pub joint_moves: u64,
    pub has_distances: bool,
    layout: Layout,
    shards: Shards,
    values: Values,
    /// The shard and the number of the first position.
    pub first: (usize, usize),
}

/// The values of the positions of each shard.
struct Values {
    /// By shard and number: an entry.
    entries: Vec<Vec<u8>>,
    form: Form,
}

/// New entries of some positions.
#[derive(Default)]
struct Update {
    places: Vec<(usize, usize)>,
    entries: Vec<u8>,
    /// True if several roles choose at once somewhere.
    is_joint: bool,
    /// True if some of the positions are not settled.
    is_open: bool,
}

struct Told<'o>(&'o mut dyn FnMut(Progress));

impl Observer for Told<'_> {
    fn tick(&mut self, stats: &Stats) {
        (self.0)(Progress::Found(stats.total().generated));
    }
}

/// Finds and values all positions, at most `most` of them, within the memory and until the stop of a
/// budget.
pub(crate) fn value_all(
    net: &Propnet,
    threads: usize,
    most: u64,
    budget: &Budget,
    progress: &mut dyn FnMut(Progress),
) -> Result<Valued, Fault> {
    let stop = budget.end();
    let puzzle = Puzzle::without_target(net, stop.clone());
    let options = BreadthFirstOptions {
        whole: true,
        threads,
        ..BreadthFirstOptions::default()
    };
    let form = Form::new(net);
    // A position needs its code, a place in a table, its value, and twice a number to be written.
    let code = Layout::new(&puzzle, Facts::Each).bits().div_ceil(8) + 6;
    let share = code as f64 / (code + form.bytes() + 8) as f64;
    // With joint moves, it may wait for another one.
    let others = (code + form.bytes() + 16) as f64 / code as f64;
    let forward = Budget {
        memory_bytes: (budget.memory_bytes as f64 * share) as u64,
        ..budget.clone()
    };
    let stopped = Fault::Budget(BudgetKind::Interrupt);
    let mut search = Search::new(&puzzle, Facts::Each, &options, &forward).ok_or(stopped)?;
    search.arcs = Some(Kept::new(budget.memory_bytes, others));
    search.workers.keep_joints(true);
    let mut stats = Stats::default();
    let mut told = Told(progress);
    let mut meter = Meter::new(&forward, &mut stats, &mut told);
    let mut between = |search: &mut Search<'_>, _: &mut Meter<'_>| match search.positions() > most {
        true => Err(Stop::Budget(BudgetKind::Nodes)),
        false => Ok(()),
    };
    let found = search.run(u32::MAX, &mut meter, &mut between);
    found.map_err(|stop| match stop {
        Stop::Budget(kind) => Fault::Budget(kind),
        // There are no files and no other processes.
        Stop::Spill(_) | Stop::Lost(_) => stopped,
    })?;
    if search.positions() > most {
        return Err(Fault::Budget(BudgetKind::Nodes));
    }
    drop(meter);
    let joint_moves = stats.total().arcs;
    let scorer = Scorer::new(&puzzle, &search.layout, LANES).ok_or(stopped)?;
    search.workers.score_with(&scorer);
    search.workers.keep_joints(true);
    let kept = search.arcs.take();
    let mut backward = Backward {
        lens: search.lens.iter().map(|&len| len as usize).collect(),
        round: (search.round_children as u64)
            .saturating_mul(search.positions())
            .checked_div(joint_moves)
            .map_or(u64::MAX, |parents| parents.max(MIN_PARENTS as u64)),
        values: Values {
            entries: Vec::new(),
            form,
        },
        search: &search,
        stop: &stop,
        progress,
        is_joint: false,
    };
    backward.run(kept.map(|kept| kept.all))?;
    let Backward {
        values, is_joint, ..
    } = backward;
    let (shard, number) = search.span(0).place(0);
    let Search {
        layout, mut shards, ..
    } = search;
    shards.forget();
    Ok(Valued {
        players: values.form.players.clone(),
        joint_moves,
        has_distances: values.form.floors.is_some() && !is_joint,
        layout,
        shards,
        values,
        first: (shard, number as usize),
    })
}

impl Valued {
    /// By shard: number of positions.
    pub fn lens(&self) -> Box<[u32]> {
        self.shards.lens()
    }

    /// The scores of a position by player.
    pub fn scores(&self, shard: usize, number: usize) -> &[[u8; 2]] {
        let entry = self.values.entry(shard, number);
        &entry.as_chunks().0[..self.players.len()]
    }

    /// The distance of a position.
    pub fn distance(&self, shard: usize, number: usize) -> u16 {
        let values = &self.values;
        values.form.distance(values.entry(shard, number))
    }

    /// Replaces `states` by those of at most 64 positions.
    pub fn read(&self, places: &[(usize, usize)], codes: &mut Vec<u64>, states: &mut Vec<u64>) {
        let stride = self.layout.words();
        codes.clear();
        for &(shard, number) in places {
            let at = codes.len();
            codes.resize(at + stride, 0);
            self.shards.all()[shard].read(number, &mut codes[at..]);
        }
        self.layout.decode_64(codes, states);
    }
}

impl Values {
    fn entry(&self, shard: usize, number: usize) -> &[u8] {
        let bytes = self.form.bytes();
        &self.entries[shard][number * bytes..][..bytes]
    }

    fn entry_mut(&mut self, shard: usize, number: usize) -> &mut [u8] {
        let bytes = self.form.bytes();
        &mut self.entries[shard][number * bytes..][..bytes]
    }

    fn is_settled(&self, shard: usize, number: usize) -> bool {
        self.form.is_settled(self.entry(shard, number))
    }

    /// The positions of a piece that are not settled.
    fn open(&self, piece: &Piece) -> Vec<Piece> {
        let mut open: Vec<Piece> = Vec::new();
        for number in piece.numbers.clone() {
            if self.is_settled(piece.shard, number as usize) {
                continue;
            }
            match open.last_mut() {
                Some(last) if last.numbers.end == number => last.numbers.end += 1,
                _ => open.push(Piece {
                    numbers: number..number + 1,
                    ..piece.clone()
                }),
            }
        }
        open
    }

    /// The new entries of the open positions among those with these joint moves.
    fn update(&self, sweep: Sweep, arcs: &Arcs) -> Result<Update, Fault> {
        let form = &self.form;
        let mut update = Update::default();
        let mut children = Vec::new();
        for ((shard, number), choices) in arcs.places().zip(arcs.choices(form.roles())) {
            let old = self.entry(shard, number);
            if form.is_settled(old) {
                continue;
            }
            if choices.children.is_empty() {
                return Err(choices.chooser.map_or(Fault::Wide, Fault::NoMove));
            }
            update.is_joint |= choices.chooser.is_none();
            children.clear();
            for child in &arcs.children()[choices.children.clone()] {
                children.extend_from_slice(self.entry(child.shard(), child.number()));
            }
            update.places.push((shard, number));
            let start = update.entries.len();
            form.put_after(sweep, &choices, &children, old, &mut update.entries);
            update.is_open |= !form.is_settled(&update.entries[start..]);
        }
        Ok(update)
    }
}

/// The work in progress.
struct Backward<'s, 'p> {
    search: &'s Search<'p>,
    /// By shard: number of positions.
    lens: Vec<usize>,
    /// Number of positions of a level that are valued together.
    round: u64,
    values: Values,
    stop: &'s ggp_stop::Stop,
    progress: &'s mut dyn FnMut(Progress),
    is_joint: bool,
}

impl Backward<'_, '_> {
    fn run(&mut self, mut kept: Option<Vec<Arcs>>) -> Result<(), Fault> {
        self.begin()?;
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

    /// Scores the ends.
    fn begin(&mut self) -> Result<(), Fault> {
        let search = self.search;
        let form = &self.values.form;
        let bytes = form.bytes();
        let entries = self.lens.iter().map(|len| vec![0; len * bytes]);
        self.values.entries = entries.collect();
        let span = Span::new(self.lens.iter().map(|&len| 0..len as u64).collect());
        let mut all = Ends {
            sums: [u32::MAX, 0],
            ranges: vec![[100, 0]; form.players.len()],
        };
        let rounds = (0..span.len()).step_by(ENDS_AT_ONCE as usize);
        for first in rounds {
            self.check()?;
            let some = first..span.len().min(first + ENDS_AT_ONCE);
            let pieces = span
                .pieces(some.clone())
                .into_iter()
                .map(|piece| (piece, 0));
            let form = &self.values.form;
            let work = (some.end - some.start) as usize;
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
        self.values.form.know_ends(&all);
        Ok(())
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
            let updates =
                (self.search.workers).each(work, some, |_, arcs| values.update(sweep, arcs));
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
        Ok(is_changed && is_open)
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

    /// The new entries of the open positions among some of a level.
    fn round(
        &self,
        sweep: Sweep,
        span: &Span,
        positions: Range<u64>,
    ) -> Result<Vec<Update>, Fault> {
        self.check()?;
        let (search, values) = (self.search, &self.values);
        let shards = &search.shards;
        let (stride, words) = (search.layout.words(), key_words(search.layout.key_bits()));
        let pieces = span.pieces(positions).into_iter();
        let open = pieces.flat_map(|piece| values.open(&piece));
        let batches = batches(open.zip(0..), PORTION);
        let stopped = Fault::Budget(BudgetKind::Interrupt);
        let valued = search.workers.each(usize::MAX, batches, |worker, batch| {
            let pieces: Vec<Piece> = batch.into_iter().map(|(piece, _)| piece).collect();
            let portion = worker.portion(std::iter::empty(), |out| {
                let suffix = vec![0; stride];
                for piece in &pieces {
                    shards.read(piece.shard, piece.numbers.clone(), &suffix, out);
                }
                Ok::<(), Fault>(())
            });
            let portion = portion?.ok_or(stopped)?;
            let numbers = shards.all().iter().enumerate().map(|(shard, states)| {
                let mut numbers = Vec::new();
                states.find_all(portion.of(shard), words, |number| {
                    numbers.push(number.expect("the search found all positions"));
                });
                numbers.into_iter()
            });
            let mut numbers: Vec<_> = numbers.collect();
            let number = |shard: usize| numbers[shard].next().expect("each child has one");
            let arcs = Arcs::new(pieces, portion, number);
            values.update(sweep, &arcs.ok_or(Fault::TOO_MANY)?)
        });
        valued.into_iter().collect()
    }

    fn check(&self) -> Result<(), Fault> {
        match self.stop.is_over() {
            true => Err(Fault::Budget(BudgetKind::Interrupt)),
            false => Ok(()),
        }
    }
}

/// Number of portions for each thread that are valued together.
const PORTIONS: usize = 4;
/// Number of positions whose scores are computed together.
const ENDS_AT_ONCE: u64 = 1 << 20;

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
        for (piece, _) in batch {
            shards.read(
                piece.shard,
                piece.numbers.clone(),
                &suffix,
                &mut self.parents,
            );
        }
        let mut ends = Ends {
            sums: [u32::MAX, 0],
            ranges: vec![[100, 0]; form.players.len()],
        };
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
