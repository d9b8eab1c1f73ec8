//! Breadth-first search over packed states, level by level.
//!
//! In: a puzzle. Out: a shortest plan, or a proof that there is none, of any length
//! or within a number of moves. States are distributed to shards by their hash. A
//! round expands some of the states of a level, in portions that threads share;
//! then each shard inserts the states that belong to it, in the order of their
//! parents. The result is therefore the same for any number of threads and any size
//! of rounds.
//!
//! A state takes its bits and, while it must be found again, one word of a table.
//! No parent is stored: the path to a state is found by expanding again the states
//! of the round in which it was generated.
//!
//! If states are counted up to symmetry, one state represents its whole class, and
//! plans are lifted to moves along real states.

mod disjoint;
mod next_level;
mod plan;
mod resume;
mod shards;
mod spill;
mod temporary_folder;
mod workers;

use ggp_stop::Instant;
use std::fmt;
use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

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

/// Options of [`breadth_first`].
#[derive(Clone, Debug)]
pub struct BreadthFirstOptions {
    /// True to visit every reachable state, even after a solution was found.
    pub whole: bool,
    /// Treatment of states that differ only by a symmetry of the rules.
    pub classes: Classes,
    /// Number of threads; 0 counts as 1.
    pub threads: usize,
    /// Folder for levels that do not fit into memory.
    pub spill: Option<Spill>,
    /// File and interval of checkpoints. Cannot be combined with [`Spill`].
    pub checkpoint: Option<Checkpoint>,
    /// The checkpoint file to resume from.
    pub resume: Option<PathBuf>,
}

impl Default for BreadthFirstOptions {
    fn default() -> Self {
        BreadthFirstOptions {
            whole: false,
            classes: Classes::Never,
            threads: 1,
            spill: None,
            checkpoint: None,
            resume: None,
        }
    }
}

/// Conditions under which states that differ only by a symmetry of the rules count
/// as one.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Classes {
    /// Never: each state counts.
    #[default]
    Never,
    /// If there are more than a few thousand states, or if checkpoints are
    /// used.
    IfMany,
    /// Always, if the puzzle has symmetries.
    Always,
}

/// The extent of the search.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Seen {
    /// Number of states visited, or of classes of states.
    pub positions: u64,
    /// Number of symmetries up to which states were counted: 1 if each state
    /// counts.
    pub symmetries: usize,
    /// True if these are all reachable states.
    pub is_all: bool,
}

/// An error with a file.
#[derive(Debug)]
#[non_exhaustive]
pub enum BreadthFirstError {
    /// An error with a checkpoint.
    Checkpoint(CheckpointError),
    /// An error with a spilled level in this folder.
    Spill(PathBuf, io::Error),
    /// Checkpoints do not support levels in files.
    SpillAndCheckpoint,
}

impl fmt::Display for BreadthFirstError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BreadthFirstError::Checkpoint(error) => error.fmt(f),
            BreadthFirstError::Spill(folder, error) => write!(f, "{}: {error}", folder.display()),
            BreadthFirstError::SpillAndCheckpoint => {
                f.write_str("levels in files cannot be combined with checkpoints")
            }
        }
    }
}

impl std::error::Error for BreadthFirstError {}

impl From<CheckpointError> for BreadthFirstError {
    fn from(error: CheckpointError) -> Self {
        BreadthFirstError::Checkpoint(error)
    }
}

/// Searches for a shortest plan of at most [`Budget::depth`] moves.
///
/// Level `d` of `stats` describes the states `d` moves from the start, including
/// those counted before a checkpoint. States are equal if they agree in everything
/// that matters (see [`Layout`]), or, with [`BreadthFirstOptions::classes`], if a
/// symmetry maps one to the other. The counts of a level that a solution or the
/// budget cut short depend on the size of the rounds; all other counts depend only
/// on the puzzle.
///
/// # Errors
///
/// [`BreadthFirstError`], if `options` name files.
pub fn breadth_first(
    puzzle: &Puzzle,
    options: &BreadthFirstOptions,
    budget: &Budget,
    stats: &mut Stats,
    observer: &mut dyn Observer,
) -> Result<(Outcome, Seen), BreadthFirstError> {
    let has_checkpoint = options.checkpoint.is_some() || options.resume.is_some();
    if options.spill.is_some() && has_checkpoint {
        return Err(BreadthFirstError::SpillAndCheckpoint);
    }
    let first = stats.levels.len();
    let mut time = budget.time;
    if options.classes == Classes::IfMany && !has_checkpoint {
        let began = Instant::now();
        let each = BreadthFirstOptions {
            classes: Classes::Never,
            ..options.clone()
        };
        let few = Budget {
            nodes: budget.nodes.min(FEW),
            ..budget.clone()
        };
        let ended = breadth_first(puzzle, &each, &few, stats, observer)?;
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
    let Some(mut search) = Search::new(puzzle, options, budget) else {
        return Ok((
            Outcome::Unknown,
            Seen {
                positions: 0,
                symmetries: 1,
                is_all: false,
            },
        ));
    };
    search.is_saved = has_checkpoint;
    let method = match options.classes {
        Classes::Never => "breadth-first",
        _ => "breadth-first up to symmetry",
    };
    let identity =
        has_checkpoint.then(|| Identity::new(method, puzzle, &(options.whole, &search.layout)));
    match (&options.resume, &identity) {
        (Some(file), Some(identity)) => search.resume(file, identity, &mut meter)?,
        _ if options.classes == Classes::Never => {}
        _ => search.use_symmetries(symmetries(puzzle, budget)),
    }
    let save = |search: &Search<'_>, meter: &Meter<'_>| match (&options.checkpoint, &identity) {
        (Some(checkpoint), Some(identity)) => {
            let levels = &meter.stats().levels[first..];
            search.save(&checkpoint.file, identity, levels)
        }
        _ => Ok(()),
    };
    let mut timer = options.checkpoint.as_ref().map(|c| Timer::new(c.every));
    // A checkpoint that cannot be written is tried again when the next one is due.
    let save = |search: &Search<'_>, meter: &mut Meter<'_>| {
        if let Err(error) = save(search, meter) {
            meter.warn(&format!("{error}; this does not affect the search"));
        }
    };
    let mut between = |search: &Search<'_>, meter: &mut Meter<'_>| {
        if let Some(timer) = &mut timer {
            timer.tick(|| save(search, meter));
        }
    };
    let folder = || options.spill.as_ref().map(|spill| spill.folder.clone());
    let outcome = match search.run(budget.depth, &mut meter, &mut between) {
        Ok(outcome) => outcome,
        Err(Stop::Budget(what)) => {
            meter.ran_out(what);
            save(&search, &mut meter);
            match search.plan.take() {
                Some(plan) => solved(plan),
                None => {
                    if !search.levels.is_empty() {
                        meter.refuted(search.depth);
                    }
                    Outcome::Unknown
                }
            }
        }
        Err(Stop::Spill(error)) => {
            // Without levels in files, only the content of the checkpoint can be wrong.
            if let Some(file) = &options.resume {
                return Err(CheckpointError::Damaged(file.clone()).into());
            }
            return Err(BreadthFirstError::Spill(
                folder().unwrap_or_default(),
                error,
            ));
        }
    };
    Ok((outcome, search.seen()))
}

/// Number of states expanded before the search for symmetries begins, unless it is
/// forced.
const FEW: u64 = 1 << 13;
/// Time limit for the symmetry search, and its share of the total time. The limit
/// is seldom reached; if it is, the symmetries found, and thus the counts, depend
/// on the machine.
const SYMMETRY_TIME: Duration = Duration::from_secs(2);
const SYMMETRY_SHARE: u32 = 4;

fn symmetries(puzzle: &Puzzle, budget: &Budget) -> Symmetries {
    let share = budget.time.map(|time| time / SYMMETRY_SHARE);
    let limited = Budget {
        time: Some(share.map_or(SYMMETRY_TIME, |share| share.min(SYMMETRY_TIME))),
        ..budget.clone()
    };
    Symmetries::of(puzzle, &limited)
}

/// Reasons for which a search stops early.
enum Stop {
    /// The search can be resumed with another budget.
    Budget(BudgetKind),
    Spill(io::Error),
}

impl From<BudgetKind> for Stop {
    fn from(what: BudgetKind) -> Self {
        Stop::Budget(what)
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

/// Approximate number of children per round where states and networks are small.
const ROUND_CHILDREN: usize = 1 << 22;
/// Minimum number of parents per round.
const MIN_PARENTS: usize = 64;
/// Number of states from which checking whether levels are disjoint may pay off.
const MANY: u64 = 1 << 20;

/// A search in progress. Its state is consistent between rounds; a round that a stop ends
/// early may leave states of the next level that are not counted.
struct Search<'p> {
    puzzle: &'p Puzzle,
    layout: Layout,
    /// The symmetries up to which states are counted, if they affect the keys.
    symmetries: Option<Symmetries>,
    workers: Workers,
    /// All states. Once levels are in files: the states of the next level that were
    /// generated since the last run was written.
    shards: Shards,
    disk: Option<Disk>,
    levels: Vec<Level>,
    rounds: Vec<Round>,
    /// The level that is being expanded. The next level, if it exists, is being
    /// generated.
    depth: u32,
    /// Number of its states that have been expanded.
    expanded: u64,
    /// True if no state is on two levels; none if not yet checked.
    is_disjoint: Option<bool>,
    whole: bool,
    /// True if all reachable states have been visited.
    is_all: bool,
    /// A shortest plan, once one is found.
    plan: Option<Plan>,
    /// Maximum number of parents of the next round.
    round_parents: usize,
    /// Approximate number of children per round.
    round_children: usize,
    /// Size of the buffers of the last round, in bytes.
    buffers: u64,
    /// Ends a round before it is complete.
    stop: ggp_stop::Stop,
    /// True if checkpoints are written: rounds are completed then.
    is_saved: bool,
}

/// States of the same depth: in each shard those from `starts` to the start of the
/// next level.
struct Level {
    starts: Box<[u32]>,
    /// The bits outside the key, which all its states share.
    suffix: Packed,
}

/// States of one level that were expanded together: those from `first` to before
/// `end`. By shard, `starts` is the number that the round's first new state gets.
struct Round {
    level: u32,
    first: u64,
    end: u64,
    starts: Box<[u32]>,
}

/// The states of a level, in their order.
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

    /// Appends the codes of a range of the states; `suffix` supplies the bits
    /// outside the key.
    fn read(&self, some: Range<u64>, suffix: &[u64], out: &mut Vec<u64>) -> io::Result<()> {
        match self {
            Source::Memory(shards, span) => {
                shards.read(span, some, suffix, out);
                Ok(())
            }
            Source::Disk(disk, level) => disk.read(*level, some, suffix, out),
        }
    }
}

impl<'p> Search<'p> {
    /// None after [`Puzzle::stop`].
    fn new(
        puzzle: &'p Puzzle,
        options: &BreadthFirstOptions,
        budget: &Budget,
    ) -> Option<Search<'p>> {
        let stop = budget.end();
        let layout = Layout::new(puzzle, Facts::Relevant);
        let (bits, words) = (layout.key_bits(), layout.words());
        let slow = 1 + puzzle.net.network().gates() / 20_000 + words / 8;
        // A share of the memory is reserved for the rounds' buffers.
        let rounds = budget.memory_bytes / 8;
        let child = 8 * (2 * words + 1);
        let room = usize::try_from(rounds / child as u64).unwrap_or(usize::MAX);
        let round_children = (ROUND_CHILDREN / slow).min(room / 2).max(1);
        Some(Search {
            workers: Workers::new(puzzle, &layout, options.threads, round_children, &stop)?,
            stop,
            is_saved: false,
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
            round_parents: MIN_PARENTS,
            round_children,
            buffers: 0,
            symmetries: None,
            puzzle,
            layout,
        })
    }

    /// Counts states up to these symmetries, if any of them affects the keys.
    fn use_symmetries(&mut self, symmetries: Symmetries) {
        let (puzzle, layout) = (self.puzzle, &self.layout);
        if let Some(canonical) = Canonical::new(puzzle, layout, &symmetries, LANES, Engine::Auto) {
            self.workers.reduce_by(&canonical);
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

    /// Runs the search until there is an answer; `between` is called between
    /// rounds.
    fn run(
        &mut self,
        most: u32,
        meter: &mut Meter<'_>,
        between: &mut dyn FnMut(&Self, &mut Meter<'_>),
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
                between(self, meter);
            }
            if !self.is_done() {
                self.deduplicate(meter)?;
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

    /// Number of states visited. While a level is being generated, some may be
    /// counted twice.
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
