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
//!
//! Where positions count up to symmetry, a state stands for all that are the same
//! but for a renaming, and plans are lifted to moves that can be made.

mod disjoint;
mod next_level;
mod plan;
mod resume;
mod shards;
mod spill;
mod temporary_folder;
mod workers;

use std::fmt;
use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use ggp_engine::propnet::batch::Packed;
use ggp_search::{Budget, BudgetKind, Meter, Observer, Stats};

use super::checkpoint::{Checkpoint, CheckpointError, Identity, Timer};
use super::expand::{Facts, Layout};
use super::symmetry::{Canonical, Symmetries};
use super::{Outcome, Plan, Puzzle, Reason};
use ggp_engine::propnet::code::Engine;
use shards::{SHARDS, Shards, Span};
pub use spill::Spill;
use spill::{Disk, SpillError};
use workers::{LANES, Workers};

/// How to go level by level.
#[derive(Clone, Debug)]
pub struct LevelsOptions {
    /// Whether to look at every state that can be reached, also past a solution.
    pub whole: bool,
    /// When positions that are the same but for a symmetry of the rules are one.
    pub classes: Classes,
    /// Threads that share the work; 0 counts as 1.
    pub threads: usize,
    /// Where to put levels that do not fit into the memory.
    pub spill: Option<Spill>,
    /// Where to write the search's state. Not together with [`Spill`].
    pub checkpoint: Option<Checkpoint>,
    /// The file with the state from which to go on.
    pub resume: Option<PathBuf>,
}

impl Default for LevelsOptions {
    fn default() -> Self {
        LevelsOptions {
            whole: false,
            classes: Classes::Never,
            threads: 1,
            spill: None,
            checkpoint: None,
            resume: None,
        }
    }
}

/// When positions that are the same but for a symmetry of the rules count as one.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Classes {
    /// Each position counts.
    #[default]
    Never,
    /// Where there are more than some thousand, or checkpoints.
    IfMany,
    /// Wherever there are symmetries.
    Always,
}

/// What was looked at.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Seen {
    /// Positions, or classes of them.
    pub positions: u64,
    /// How many renamings make positions of a class the same: 1 if each is a class of
    /// its own.
    pub symmetries: usize,
    /// Whether these are all that can be reached.
    pub is_all: bool,
}

/// Why a file could not be used.
#[derive(Debug)]
#[non_exhaustive]
pub enum LevelsError {
    /// A checkpoint.
    Checkpoint(CheckpointError),
    /// A file of levels, in this folder.
    Spill(PathBuf, io::Error),
    /// Levels in files are no part of checkpoints.
    SpillAndCheckpoint,
}

impl fmt::Display for LevelsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LevelsError::Checkpoint(error) => error.fmt(f),
            LevelsError::Spill(folder, error) => write!(f, "{}: {error}", folder.display()),
            LevelsError::SpillAndCheckpoint => {
                f.write_str("a search that puts levels into files has no checkpoints")
            }
        }
    }
}

impl std::error::Error for LevelsError {}

impl From<CheckpointError> for LevelsError {
    fn from(error: CheckpointError) -> Self {
        LevelsError::Checkpoint(error)
    }
}

/// Looks for a shortest plan of at most [`Budget::depth`] moves.
///
/// Level `d` of `stats` holds what is `d` moves from the start, also what was
/// counted before a checkpoint. Equal positions are those that differ in nothing
/// that matters, see [`Layout`], or with [`LevelsOptions::classes`] in nothing but
/// names. Counts of a level that a solution or the budget
/// ended depend on how much is expanded at once, all others on the puzzle only.
///
/// # Errors
///
/// [`LevelsError`], if `options` ask for files.
pub fn levels(
    puzzle: &Puzzle,
    options: &LevelsOptions,
    budget: &Budget,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> Result<(Outcome, Seen), LevelsError> {
    let has_checkpoint = options.checkpoint.is_some() || options.resume.is_some();
    if options.spill.is_some() && has_checkpoint {
        return Err(LevelsError::SpillAndCheckpoint);
    }
    let first = stats.levels.len();
    let mut time = budget.time;
    if options.classes == Classes::IfMany && !has_checkpoint {
        let began = Instant::now();
        let each = LevelsOptions {
            classes: Classes::Never,
            ..options.clone()
        };
        let few = Budget {
            nodes: budget.nodes.min(FEW),
            ..budget.clone()
        };
        let ended = levels(puzzle, &each, &few, stats, observer)?;
        if stats.ran_out != Some(BudgetKind::Nodes) || budget.nodes <= FEW {
            return Ok(ended);
        }
        stats.levels.truncate(first);
        time = time.map(|time| time.saturating_sub(began.elapsed()));
    }
    let budget = &Budget {
        time,
        ..budget.clone()
    };
    let mut meter = Meter::new(budget, stats, observer);
    let mut flood = Flood::new(puzzle, options, budget);
    let method = match options.classes {
        Classes::Never => "levels",
        _ => "levels up to symmetry",
    };
    let identity =
        has_checkpoint.then(|| Identity::new(method, puzzle, &(options.whole, &flood.layout)));
    match (&options.resume, &identity) {
        (Some(file), Some(identity)) => flood.resume(file, identity, &mut meter)?,
        _ if options.classes == Classes::Never => {}
        _ => flood.use_symmetries(symmetries(puzzle, budget)),
    }
    let save = |flood: &Flood<'_>, meter: &Meter<'_>| match (&options.checkpoint, &identity) {
        (Some(checkpoint), Some(identity)) => {
            let levels = &meter.stats().levels[first..];
            flood.save(&checkpoint.file, identity, levels)
        }
        _ => Ok(()),
    };
    let mut timer = options.checkpoint.as_ref().map(|c| Timer::new(c.every));
    let mut between = |flood: &Flood<'_>, meter: &Meter<'_>| match &mut timer {
        Some(timer) => timer.tick(|| save(flood, meter)),
        None => Ok(()),
    };
    let folder = || options.spill.as_ref().map(|spill| spill.folder.clone());
    let outcome = match flood.run(budget.depth, &mut meter, &mut between) {
        Ok(outcome) => outcome,
        Err(Stop::Budget(what)) => {
            meter.ran_out(what);
            save(&flood, &meter)?;
            match flood.plan.take() {
                Some(plan) => solved(plan),
                None => {
                    if !flood.levels.is_empty() {
                        meter.refuted(flood.depth);
                    }
                    Outcome::Unknown
                }
            }
        }
        Err(Stop::Checkpoint(error)) => return Err(LevelsError::Checkpoint(error)),
        Err(Stop::Spill(error)) => {
            return Err(LevelsError::Spill(folder().unwrap_or_default(), error));
        }
    };
    Ok((outcome, flood.seen()))
}

/// States that are expanded before anyone looks for symmetries, if not always.
const FEW: u64 = 1 << 13;
/// What looking for symmetries may take, and the part of all time. It is seldom all
/// used: then what is found, and counted, would depend on the machine.
const PATIENCE: Duration = Duration::from_secs(2);
const SHARE: u32 = 4;

fn symmetries(puzzle: &Puzzle, budget: &Budget) -> Symmetries {
    let share = budget.time.map(|time| time / SHARE);
    let hasty = Budget {
        time: Some(share.map_or(PATIENCE, |share| share.min(PATIENCE))),
        ..budget.clone()
    };
    Symmetries::of(puzzle, &hasty)
}

/// What ends a search before its time.
enum Stop {
    /// It may go on with another budget.
    Budget(BudgetKind),
    Checkpoint(CheckpointError),
    Spill(io::Error),
}

impl From<BudgetKind> for Stop {
    fn from(what: BudgetKind) -> Self {
        Stop::Budget(what)
    }
}

impl From<CheckpointError> for Stop {
    fn from(error: CheckpointError) -> Self {
        Stop::Checkpoint(error)
    }
}

impl From<SpillError> for Stop {
    fn from(error: SpillError) -> Self {
        match error {
            SpillError::Io(error) => Stop::Spill(error),
            SpillError::Full(what) => Stop::Budget(what),
        }
    }
}

/// Children of a round, about, where states and networks are small.
const TOGETHER: usize = 1 << 22;
/// Parents of a round, at least if there are so many.
const LEAST: usize = 64;
/// States from which on it may pay to ask whether levels are disjoint.
const MANY: u64 = 1 << 20;

/// A search in progress. Between rounds it is complete.
struct Flood<'p> {
    puzzle: &'p Puzzle,
    layout: Layout,
    /// Up to which states count, if that makes a difference.
    symmetries: Option<Symmetries>,
    crew: Workers,
    /// All states; once levels are in files, those of the level in the making
    /// that came since some went into a file.
    shards: Shards,
    disk: Option<Disk>,
    levels: Vec<Level>,
    rounds: Vec<Round>,
    /// The level that is expanded; the one behind it is made, if there is one.
    depth: u32,
    /// How many of its states were expanded.
    expanded: u64,
    /// Whether no state is on two levels; none before it was asked.
    is_disjoint: Option<bool>,
    whole: bool,
    /// Whether there is nothing left to look at.
    is_all: bool,
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

/// A level's states, in their order.
enum Source<'f> {
    Memory(&'f Shards, Span),
    Disk(&'f Disk, u32),
}

impl Source<'_> {
    fn len(&self) -> u64 {
        match self {
            Source::Memory(_, span) => span.len(),
            Source::Disk(disk, level) => disk.len(*level),
        }
    }

    /// Appends codes of some of them, given what they have besides their keys.
    fn read(&self, some: Range<u64>, beside: &[u64], out: &mut Vec<u64>) -> io::Result<()> {
        match self {
            Source::Memory(shards, span) => {
                shards.read(span, some, beside, out);
                Ok(())
            }
            Source::Disk(disk, level) => disk.read(*level, some, beside, out),
        }
    }
}

impl<'p> Flood<'p> {
    fn new(puzzle: &'p Puzzle, options: &LevelsOptions, budget: &Budget) -> Flood<'p> {
        let layout = Layout::new(puzzle, Facts::Relevant);
        let (bits, words) = (layout.key_bits(), layout.words());
        let slow = 1 + puzzle.net.network().gates() / 20_000 + words / 8;
        // A part of the memory is left to the rounds.
        let rounds = budget.memory_bytes / 8;
        let child = 8 * (2 * words + 1);
        let room = usize::try_from(rounds / child as u64).unwrap_or(usize::MAX);
        let together = (TOGETHER / slow).min(room / 2).max(1);
        Flood {
            crew: Workers::new(puzzle, &layout, options.threads, together),
            shards: Shards::new(bits, words, budget.memory_bytes - rounds),
            disk: options.spill.as_ref().map(|spill| Disk::new(spill, bits)),
            levels: Vec::new(),
            rounds: Vec::new(),
            depth: 0,
            expanded: 0,
            is_disjoint: None,
            whole: options.whole,
            is_all: false,
            plan: None,
            size: LEAST,
            together,
            buffers: 0,
            symmetries: None,
            puzzle,
            layout,
        }
    }

    /// States count up to these, if any of them changes what is told of a state.
    fn use_symmetries(&mut self, symmetries: Symmetries) {
        let (puzzle, layout) = (self.puzzle, &self.layout);
        if let Some(canonical) = Canonical::new(puzzle, layout, &symmetries, LANES, Engine::Auto) {
            self.crew.reduce_by(&canonical);
            self.symmetries = Some(symmetries);
        }
    }

    fn seen(&self) -> Seen {
        let elements = |symmetries: &Symmetries| symmetries.elements().len();
        Seen {
            positions: self.positions() as u64,
            symmetries: self.symmetries.as_ref().map_or(1, elements),
            is_all: self.is_all,
        }
    }

    /// Goes on until there is an answer. What is to be done between rounds may
    /// look at all.
    fn run(
        &mut self,
        most: u32,
        meter: &mut Meter<'_>,
        between: &mut dyn FnMut(&Self, &Meter<'_>) -> Result<(), CheckpointError>,
    ) -> Result<Outcome, Stop> {
        if self.levels.is_empty() {
            self.begin(meter)?;
        }
        while !self.is_done() {
            let len = self.source(self.depth).len();
            if len == 0 {
                self.is_all = true;
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
            while self.expanded < len && !self.is_done() {
                self.round(meter)?;
                between(self, meter)?;
            }
            if !self.is_done() {
                self.sift(meter)?;
            }
            meter.end_level();
            self.depth += 1;
            self.expanded = 0;
        }
        meter.record(self.positions(), self.memory());
        Ok(match self.plan.take() {
            Some(plan) => solved(plan),
            None => Outcome::Unsolvable(Reason::Exhausted {
                positions: self.positions() as u64,
            }),
        })
    }

    fn source(&self, level: u32) -> Source<'_> {
        match &self.disk {
            Some(disk) if disk.is_used() => Source::Disk(disk, level),
            _ => Source::Memory(&self.shards, self.span(level)),
        }
    }

    /// The states of a level that are in memory.
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

    /// How many states were met; some may be counted twice while a level is made.
    fn positions(&self) -> usize {
        let stored = self.disk.as_ref().map_or(0, Disk::positions);
        stored as usize + self.shards.len()
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
