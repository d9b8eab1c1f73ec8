//! Breadth-first search over packed states, level by level.
//!
//! In: a puzzle. Out: a shortest plan, or the proof that there is none, of any
//! length or of so many moves. States are dealt to shards by their hash. In a
//! round some of the states of a level are expanded, in portions that threads
//! share out, and then each shard takes in what is its own, in the order of the
//! states expanded: so that all is the same for any number of threads and any
//! size of rounds.
//!
//! A state takes its bits and, while it must be found again, a word of a table.
//! The way to it is found by expanding once more the states of the round in
//! which it came.

mod crew;
mod disjoint;
mod shards;
mod way;

use crate::search::{Budget, BudgetKind, Compare, Meter, Observer, Stats};

use super::expand::states::Full;
use super::expand::{Facts, Layout};
use super::{Outcome, Plan, Puzzle, Reason};
use crate::propnet::batch::Packed;
use crew::{Crew, LANES, Portion};
use disjoint::is_disjoint;
use shards::{SHARDS, Shards, Span};

/// How to go level by level.
#[derive(Clone, Debug)]
pub struct LevelsOptions {
    /// Whether to look at every state that can be reached, also past a solution.
    pub whole: bool,
    /// Threads that share the work; 0 counts as 1.
    pub threads: usize,
}

impl Default for LevelsOptions {
    fn default() -> Self {
        LevelsOptions {
            whole: false,
            threads: 1,
        }
    }
}

/// Looks for a shortest plan of at most [`Budget::depth`] moves.
///
/// Level `d` of `stats` holds what is `d` moves from the start. Equal positions
/// are those that differ in nothing that matters, see [`Layout`]. Counts of a
/// level that a solution ended depend on how much is expanded at once, all
/// others on the puzzle only.
pub fn levels(
    puzzle: &Puzzle,
    options: &LevelsOptions,
    budget: &Budget,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> Outcome {
    let mut meter = Meter::new(budget, stats, observer);
    let mut flood = Flood::new(puzzle, options, budget);
    flood
        .run(budget.depth, &mut meter)
        .unwrap_or(Outcome::Unknown)
}

/// Children of a round, about, where states and networks are small.
const TOGETHER: usize = 1 << 22;
/// Parents of a round, at least if there are so many.
const LEAST: usize = 64;
/// Parents of a portion.
const PORTION: usize = 1 << 11;
/// States from which on it may pay to ask whether levels are disjoint.
const MANY: u64 = 1 << 20;

/// A search in progress. Between rounds it is complete.
struct Flood<'p> {
    puzzle: &'p Puzzle,
    layout: Layout,
    crew: Crew,
    shards: Shards,
    levels: Vec<Level>,
    rounds: Vec<Round>,
    /// The level that is expanded; the one behind it is made, if there is one.
    depth: u32,
    /// How many of its states were expanded.
    expanded: u64,
    /// Whether no state is on two levels; none before it was asked.
    is_disjoint: Option<bool>,
    whole: bool,
    /// A shortest one, once there is one.
    plan: Option<Plan>,
    /// Parents of the next round, at most.
    size: usize,
    /// Children of a round, about.
    together: usize,
    /// Bytes of what was expanded last.
    buffers: u64,
}

/// States of the same depth: in each shard those from here to the next level.
struct Level {
    starts: Box<[u32]>,
    /// What its states have besides their keys.
    beside: Packed,
}

/// States that were expanded at once: of a level, from the first to before the
/// end. By shard, the first child has the number of the next state at that time.
struct Round {
    level: u32,
    first: u64,
    end: u64,
    starts: Box<[u32]>,
}

impl<'p> Flood<'p> {
    fn new(puzzle: &'p Puzzle, options: &LevelsOptions, budget: &Budget) -> Flood<'p> {
        let layout = Layout::new(puzzle, Facts::Relevant);
        let (bits, words) = (layout.key_bits(), layout.words());
        let slow = 1 + puzzle.net.network.gates() / 20_000 + words / 8;
        // A part of the memory is left to the rounds.
        let rounds = budget.memory_bytes / 8;
        let child = 8 * (2 * words + 1);
        let room = usize::try_from(rounds / child as u64).unwrap_or(usize::MAX);
        let together = (TOGETHER / slow).min(room / 2).max(1);
        Flood {
            crew: Crew::new(puzzle, &layout, options.threads, together),
            shards: Shards::new(bits, words, budget.memory_bytes - rounds),
            levels: Vec::new(),
            rounds: Vec::new(),
            depth: 0,
            expanded: 0,
            is_disjoint: None,
            whole: options.whole,
            plan: None,
            size: LEAST,
            together,
            buffers: 0,
            puzzle,
            layout,
        }
    }

    fn run(&mut self, most: u32, meter: &mut Meter<'_>) -> Result<Outcome, BudgetKind> {
        if self.levels.is_empty() {
            self.begin(meter)?;
        }
        loop {
            let span = self.span(self.depth);
            if self.is_done() || span.len() == 0 {
                break;
            }
            if self.depth >= most {
                return Ok(match self.plan.take() {
                    Some(plan) => solved(plan),
                    None => Outcome::NoPlanWithin(most),
                });
            }
            if self.levels.len() == self.depth as usize + 1 {
                self.open_level(meter);
            }
            while self.expanded < span.len() && !self.is_done() {
                self.round(&span, meter)?;
            }
            meter.end_level();
            self.depth += 1;
            self.expanded = 0;
        }
        meter.record(self.shards.len(), self.memory());
        Ok(match self.plan.take() {
            Some(plan) => solved(plan),
            None => Outcome::Unsolvable(Reason::Exhausted {
                positions: self.shards.len() as u64,
            }),
        })
    }

    fn begin(&mut self, meter: &mut Meter<'_>) -> Result<(), BudgetKind> {
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
    fn open_level(&mut self, meter: &mut Meter<'_>) {
        meter.begin_level(self.depth + 1, Compare::Key);
        if self.is_disjoint.is_none() && self.shards.len() as u64 >= MANY {
            self.is_disjoint = Some(is_disjoint(self.puzzle, &self.layout));
        }
        if self.is_disjoint == Some(true) {
            self.shards.forget();
        }
        self.levels.push(Level {
            starts: self.shards.lens(),
            beside: Packed::new(),
        });
    }

    /// Expands some more of the level's states.
    fn round(&mut self, span: &Span, meter: &mut Meter<'_>) -> Result<(), BudgetKind> {
        meter.check()?;
        let left = usize::try_from(meter.nodes_left()).unwrap_or(usize::MAX);
        let count = (span.len() - self.expanded).min(self.size.min(left) as u64);
        if count == 0 {
            return Err(BudgetKind::Nodes);
        }
        let end = self.expanded + count;
        let firsts = (self.expanded..end).step_by(PORTION).collect();
        let (shards, beside) = (&self.shards, &self.levels[self.depth as usize].beside);
        let work = count as usize * self.together / self.size;
        let portions = self.crew.each(work, firsts, |worker, first| {
            let some = first..end.min(first + PORTION as u64);
            worker.portion(|out| shards.read(span, some, beside, out))
        });
        let starts = self.shards.lens();
        let inserted = self.shards.insert(&self.crew, &portions);
        inserted.map_err(|Full| BudgetKind::Memory)?;
        let made = &mut self.levels[self.depth as usize + 1];
        if let (true, Some(portion)) = (
            made.beside.is_empty(),
            portions.iter().find(|portion| !portion.child.is_empty()),
        ) {
            made.beside.clone_from(&portion.child);
        }
        let children: usize = portions.iter().map(Portion::len).sum();
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
            self.plan = Some(self.plan(&round));
        }
        self.rounds.push(round);
        self.expanded = end;
        // Not much more at once than before: who knows what it leads to.
        let fair = self.together as u64 * count / (children as u64).max(count);
        self.size = (fair as usize).clamp(LEAST, 2 * self.size);
        let memory = self.memory();
        meter.charge(open, children as u64, self.shards.len(), memory);
        match meter.fits(memory) {
            true => Ok(()),
            false => Err(BudgetKind::Memory),
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
        let add = |a: (u64, u64), b: (u64, u64)| (a.0 + b.0, a.1 + b.1);
        ends.into_iter().fold((0, 0), add)
    }

    fn span(&self, level: u32) -> Span {
        let level = level as usize;
        let from = &self.levels[level].starts;
        match self.levels.get(level + 1) {
            Some(next) => Span::new(from, &next.starts),
            None => Span::new(from, &self.shards.lens()),
        }
    }

    fn is_done(&self) -> bool {
        self.plan.is_some() && !self.whole
    }

    fn memory(&self) -> u64 {
        let starts = size_of::<[u32; SHARDS]>();
        let levels = self.levels.len() * (starts + size_of::<Level>() + 8 * self.layout.words());
        let rounds = self.rounds.len() * starts + self.rounds.capacity() * size_of::<Round>();
        self.shards.memory() + (levels + rounds) as u64 + self.buffers
    }
}

fn solved(plan: Plan) -> Outcome {
    Outcome::Solved {
        plan,
        optimal: true,
    }
}
