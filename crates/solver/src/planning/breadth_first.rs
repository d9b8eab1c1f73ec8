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

#[cfg(feature = "tables")]
mod arcs;
mod disjoint;
mod levels;
#[cfg(feature = "distributed")]
mod link;
mod next_level;
mod options;
mod parcel;
mod peers;
mod plan;
mod resume;
#[cfg(feature = "distributed")]
mod segments;
mod shards;
mod spill;
mod temporary_folder;
#[cfg(feature = "tables")]
pub(crate) mod values;
mod workers;

use ggp_stop::Instant;
use std::io;
use std::time::Duration;

use ggp_search::{Budget, BudgetKind, Meter, Observer, Stats};

use super::checkpoint::{CheckpointError, Identity, Timer};
use super::expand::{Facts, Layout};
use super::symmetry::{Canonical, Symmetries};
use super::{Outcome, Plan, Puzzle, Reason};
use ggp_engine::propnet::code::Engine;
use levels::{Level, Round};
#[cfg(feature = "distributed")]
pub use link::LinkError;
pub use options::{BreadthFirstError, BreadthFirstOptions, Classes, Seen, manifest};
pub(crate) use peers::Peers;
pub use peers::{Lost, MOST_PROCESSES, Processes};
use shards::{SHARDS, Shards};
pub use spill::Spill;
use spill::{Disk, SpillError};
use workers::{LANES, Workers};

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
    let are_several = options.are_several();
    let first = stats.levels.len();
    let mut time = budget.time;
    if options.classes == Classes::IfMany && !has_checkpoint && !are_several {
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
    let Some(mut search) = Search::new(puzzle, Facts::Relevant, options, budget) else {
        return Ok(NOTHING);
    };
    #[cfg(feature = "distributed")]
    if let Some(processes) = &options.processes {
        if let (Some(checkpoint), None, 0, false) = (
            &options.checkpoint,
            &options.resume,
            processes.index,
            processes.goes_on,
        ) {
            // An older search must not be gone on with. The others wait to be connected.
            let _ = std::fs::remove_file(manifest(&checkpoint.file));
        }
        match search.link(processes, options, budget) {
            Ok(()) => {}
            Err(BreadthFirstError::Link(LinkError::Stopped)) => {
                let stopped = meter.check().err().unwrap_or(BudgetKind::Time);
                meter.ran_out(stopped);
                return Ok(NOTHING);
            }
            Err(error) => return Err(error),
        }
    }
    let method = match options.classes {
        Classes::Never => "breadth-first",
        _ => "breadth-first up to symmetry",
    };
    let identity =
        has_checkpoint.then(|| Identity::new(method, puzzle, &(options.whole, &search.layout)));
    #[cfg(feature = "distributed")]
    let is_resumed = match (&options.processes, &identity) {
        (Some(processes), Some(identity)) => {
            search.go_on(processes, options, identity, &mut meter)?
        }
        _ => false,
    };
    #[cfg(not(feature = "distributed"))]
    let is_resumed = false;
    match (&options.resume, &identity) {
        _ if is_resumed => {}
        (Some(file), Some(identity)) if !are_several => {
            let last = options.checkpoint.as_ref().map(|next| &next.file);
            search.resume(file, last == Some(file), identity, &mut meter)?;
        }
        _ if options.classes == Classes::Never => {}
        _ => search.find_symmetries(budget)?,
    }
    // A checkpoint that cannot be written is tried again when the next one is due.
    let save = |search: &mut Search<'_>, meter: &mut Meter<'_>| {
        let (Some(checkpoint), Some(identity)) = (&options.checkpoint, &identity) else {
            return Ok(());
        };
        let levels = &meter.stats().levels[first..];
        #[cfg(feature = "distributed")]
        let saved = match are_several {
            true => search.save_segments(&checkpoint.file, identity, levels)?,
            false => (search.save(&checkpoint.file, identity, levels)).map_err(|e| e.to_string()),
        };
        #[cfg(not(feature = "distributed"))]
        let saved = (search.save(&checkpoint.file, identity, levels)).map_err(|e| e.to_string());
        match saved {
            Ok(()) if std::mem::take(&mut search.is_unsaved) => {
                meter.warn("checkpoints can be written again");
            }
            Ok(()) => {}
            Err(error) => {
                // It is said once, not for each attempt.
                if !std::mem::replace(&mut search.is_unsaved, true) {
                    meter.warn(&format!("{error}; this does not affect the search"));
                }
            }
        }
        Ok::<(), Lost>(())
    };
    let mut timer = options.checkpoint.as_ref().map(|c| Timer::new(c.every));
    let mut between = |search: &mut Search<'_>, meter: &mut Meter<'_>| {
        let Some(timer) = &mut timer else {
            return Ok(());
        };
        // The clock of the first process counts.
        let is_due = std::mem::take(&mut search.is_due) && !search.is_unsaved;
        let is_due = search.peers.gather(is_due || timer.is_due())?[0];
        match is_due {
            true => Ok(timer.run(|| save(search, meter))?),
            false => Ok(()),
        }
    };
    let folder = || options.spill.as_ref().map(|spill| spill.folder.clone());
    let outcome = match search.run(budget.depth, &mut meter, &mut between) {
        Ok(outcome) => outcome,
        Err(Stop::Budget(what)) => {
            meter.ran_out(what);
            save(&mut search, &mut meter)?;
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
        Err(Stop::Lost(lost)) => return Err(lost.into()),
        Err(Stop::Spill(error)) => {
            // Without levels in files, only the content of the checkpoint can be wrong.
            if let (Some(file), None) = (&options.resume, &options.spill) {
                return Err(CheckpointError::Damaged(file.clone()).into());
            }
            return Err(BreadthFirstError::Spill(
                folder().unwrap_or_default(),
                error,
            ));
        }
    };
    search.peers.leave()?;
    Ok((outcome, search.seen()))
}

/// The result of a search that did not begin.
const NOTHING: (Outcome, Seen) = (
    Outcome::Unknown,
    Seen {
        positions: 0,
        symmetries: 1,
        is_partial: false,
        is_all: false,
    },
);

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
    Lost(Lost),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Stop::Spill(error)
    }
}

impl From<io::ErrorKind> for Stop {
    fn from(kind: io::ErrorKind) -> Self {
        Stop::Spill(kind.into())
    }
}

impl From<Lost> for Stop {
    fn from(lost: Lost) -> Self {
        Stop::Lost(lost)
    }
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
/// Maximum number of children per round, of all processes together: it does not depend on
/// their number.
fn most_children(puzzle: &Puzzle, layout: &Layout) -> usize {
    ROUND_CHILDREN / (1 + puzzle.net.network().gates() / 20_000 + layout.words() / 8)
}

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
    peers: Peers,
    /// By shard: number of states in memory, also those of other processes.
    lens: Box<[u32]>,
    /// By shard: number of its first states that are not in the table.
    #[cfg(feature = "distributed")]
    since: Box<[u32]>,
    #[cfg(feature = "distributed")]
    segments: segments::Segments,
    /// All states of this process. Once levels are in files: the states of the next level that were
    /// generated since the last run was written.
    shards: Shards,
    disk: Option<Disk>,
    levels: Vec<Level>,
    rounds: Vec<Round>,
    /// The level that is being expanded. The next level, if it exists, is being
    /// generated.
    depth: u32,
    /// The joint moves of all expanded states, if they are kept.
    #[cfg(feature = "tables")]
    arcs: Option<arcs::Kept>,
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
    /// True if the next checkpoint is due, whatever the time: a level has been written to a file, so
    /// there is little in memory.
    is_due: bool,
    /// True if the last checkpoint could not be written.
    is_unsaved: bool,
}

impl<'p> Search<'p> {
    /// None after [`Puzzle::stop`].
    fn new(
        puzzle: &'p Puzzle,
        facts: Facts,
        options: &BreadthFirstOptions,
        budget: &Budget,
    ) -> Option<Search<'p>> {
        let stop = budget.end();
        let layout = Layout::new(puzzle, facts);
        let (bits, words) = (layout.key_bits(), layout.words());
        // A share of the memory is reserved for the rounds' buffers.
        let rounds = budget.memory_bytes / 8;
        // Keys of several processes are packed and unpacked as well.
        let copies = if options.are_several() { 4 } else { 2 };
        let child = 8 * (copies * words + 1);
        let room = usize::try_from(rounds / child as u64).unwrap_or(usize::MAX);
        let round_children = most_children(puzzle, &layout).min(room / 2).max(1);
        Some(Search {
            workers: Workers::new(puzzle, &layout, options.threads, round_children, &stop)?,
            stop,
            is_saved: options.checkpoint.is_some() || options.resume.is_some(),
            is_due: false,
            is_unsaved: false,
            peers: Peers::default(),
            lens: vec![0; SHARDS].into(),
            #[cfg(feature = "distributed")]
            since: vec![0; SHARDS].into(),
            #[cfg(feature = "distributed")]
            segments: segments::Segments::default(),
            shards: Shards::new(bits, words, budget.memory_bytes - rounds),
            disk: (options.spill.as_ref())
                .map(|spill| Disk::new(spill, bits, options.checkpoint.is_some())),
            levels: Vec::new(),
            rounds: Vec::new(),
            depth: 0,
            #[cfg(feature = "tables")]
            arcs: None,
            expanded: 0,
            // All positions are looked up once they are found.
            is_disjoint: (facts == Facts::Each).then_some(false),
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

    /// Connects to the other processes and agrees with them on the size of rounds.
    #[cfg(feature = "distributed")]
    fn link(
        &mut self,
        processes: &Processes,
        options: &BreadthFirstOptions,
        budget: &Budget,
    ) -> Result<(), BreadthFirstError> {
        let is_reduced = options.classes != Classes::Never;
        let identity = Identity::new("breadth-first", self.puzzle, &(&self.layout, self.is_saved));
        let number = |number: u64| hmac_sha256::Hash::hash(&number.to_le_bytes());
        let parts = [
            ("the rules", identity.rules()),
            (
                "the first position or the score to reach",
                identity.digest(),
            ),
            (
                "the number of processes",
                number(processes.addresses.len() as u64),
            ),
            ("--whole", number(self.whole.into())),
            ("--symmetry", number(is_reduced.into())),
            ("--checkpoint", number(options.checkpoint.is_some().into())),
            ("--spill", number(self.disk.is_some().into())),
            ("--depth", number(budget.depth.into())),
            ("--budget-nodes", number(budget.nodes)),
        ];
        let link = link::Link::new(processes, &parts, &self.stop);
        self.peers = Peers::linked(link.map_err(BreadthFirstError::Link)?);
        self.shards.use_only(self.peers.own_shards().count());
        let children = self.peers.gather(self.round_children);
        let children = children.map_err(LinkError::Lost)?;
        let least = children.into_iter().min().unwrap_or(1);
        let most = most_children(self.puzzle, &self.layout);
        self.round_children = most.min(least * self.peers.count());
        Ok(())
    }

    /// Counts states up to the symmetries that the first process finds.
    fn find_symmetries(&mut self, budget: &Budget) -> Result<(), Lost> {
        let found = match self.peers.index() {
            0 => symmetries(self.puzzle, budget).generators,
            _ => Vec::new(),
        };
        let generators = self.peers.gather(found)?.swap_remove(0);
        self.use_symmetries(Symmetries::generated_by(self.puzzle, generators));
        Ok(())
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
            positions: self.positions(),
            symmetries: self.symmetries.as_ref().map_or(1, elements),
            is_partial: self.layout.is_partial(),
            is_all: self.is_all,
        }
    }

    /// Runs the search until there is an answer; `between` is called between
    /// rounds.
    fn run(
        &mut self,
        most: u32,
        meter: &mut Meter<'_>,
        between: &mut dyn FnMut(&mut Self, &mut Meter<'_>) -> Result<(), Stop>,
    ) -> Result<Outcome, Stop> {
        if self.levels.is_empty() {
            self.begin(meter)?;
        }
        while !self.is_done() {
            let len = self.level_len(self.depth);
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
                self.deduplicate(meter)?;
            }
            meter.end_level();
            self.depth += 1;
            self.expanded = 0;
        }
        meter.record(self.positions() as usize, self.memory());
        Ok(match self.plan.take() {
            Some(plan) => solved(plan),
            None => Outcome::Unsolvable(Reason::Exhausted {
                positions: self.positions(),
            }),
        })
    }

    fn is_done(&self) -> bool {
        self.plan.is_some() && !self.whole
    }

    /// Number of states visited. While a level is being generated, some may be
    /// counted twice.
    fn positions(&self) -> u64 {
        let stored = self.levels.iter().flat_map(|level| &level.stored);
        stored.sum::<u64>() + self.in_memory()
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
