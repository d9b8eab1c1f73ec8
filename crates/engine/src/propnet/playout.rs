//! Uniformly random playouts, hundreds at once.
//!
//! In: a game's network, a start state and the number of playouts. Out: a [`Tally`]
//! of their lengths and scores. In every state, every role chooses uniformly among
//! its legal moves.
//!
//! A lane that has ended a playout begins the next one at once. The result depends
//! on the seed and the number of playouts, not on the number of lanes or threads.
//!
//! The result also depends on the [phases](Playouts::phases), since a role that has
//! no choice in a phase draws no number there. Several phases are used where that
//! saves enough gates, so two networks of one game may have different numbers of
//! them. Their playouts then differ, but not the probabilities. To compare such
//! networks, allow a [single phase](PlayoutOptions::phases).
//!
//! ```
//! use ggp_gdl::game::Game;
//! use ggp_engine::propnet::playout::{PlayoutOptions, Playouts, Proceed};
//! use ggp_engine::propnet::{GroundLimits, Propnet};
//!
//! let rules = "
//!     (role robot)
//!     (init (at 0)) (after 0 1) (after 1 2)
//!     (<= (legal robot go) (true (at ?x)) (after ?x ?y))
//!     (<= (legal robot stay) (true (at ?x)))
//!     (<= (next (at ?y)) (does robot go) (true (at ?x)) (after ?x ?y))
//!     (<= (next (at ?x)) (does robot stay) (true (at ?x)))
//!     (<= terminal (true (at 2)))
//!     (<= (goal robot 100) (true (at 2)))
//!     (<= (goal robot 0) (not (true (at 2))))";
//! let game = Game::from_text("walk.kif", rules).expect("the rules are valid");
//! let (net, _) = Propnet::ground(&game, &GroundLimits::default())?;
//!
//! let playouts = Playouts::new(&net, &PlayoutOptions::default());
//! let tally = playouts.run(10_000, 1, 1, || Proceed::On);
//! assert_eq!(tally.playouts, 10_000);
//! // On average two of four moves are `go`, and two of these are needed.
//! let length = tally.state_changes as f64 / tally.playouts as f64;
//! assert!((3.9..4.1).contains(&length));
//! assert_eq!(tally.goals[0].iter().sum::<u64>(), 10_000);
//! # Ok::<(), ggp_engine::propnet::GroundError>(())
//! ```

pub(super) mod circuit;
mod decisive;
mod dependency;
mod estimate;
mod lane_progress;
mod phase;
pub(super) mod plan;
mod runner;
pub(super) mod terminal_pool;

use crate::threads::{Pool, Workers};
use ggp_stop::Stop;
use std::ops::AddAssign;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Propnet;
use super::code::Engine;
use circuit::Extras;
use plan::{LONGEST_CYCLE, Phase, Plan, Restart};
use runner::Runner;
pub use runner::Tapes;

/// The number of lanes that run in parallel.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Width {
    /// 64 lanes.
    W64,
    /// 256 lanes.
    W256,
    /// 512 lanes.
    W512,
    /// 1024 lanes.
    W1024,
}

impl Width {
    /// Words of a row.
    pub fn words(self) -> usize {
        match self {
            Width::W64 => 1,
            Width::W256 => 4,
            Width::W512 => 8,
            Width::W1024 => 16,
        }
    }
}

/// Options of playouts.
#[derive(Clone, Debug)]
pub struct PlayoutOptions {
    /// The start state, one bit for each of [`Propnet::facts`]; `None` for the
    /// initial state.
    pub start: Option<Vec<u64>>,
    /// The number of joint moves after which a playout is cut.
    pub depth: Option<u64>,
    /// The number of playouts that run in parallel.
    pub width: Width,
    /// The engine that runs them.
    pub engine: Engine,
    /// The most [phases](Playouts::phases) that tapes may be made for, at least 1.
    pub phases: usize,
    /// The most threads that prepare large networks.
    pub threads: usize,
}

impl Default for PlayoutOptions {
    fn default() -> Self {
        PlayoutOptions {
            start: None,
            depth: None,
            width: Width::W512,
            engine: Engine::Auto,
            phases: LONGEST_CYCLE,
            threads: 1,
        }
    }
}

/// The decision whether playouts continue.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Proceed {
    /// Continue.
    On,
    /// Begin no more playouts; finish the running ones.
    Finish,
    /// Discard the running playouts. This biases the results: long playouts are
    /// underrepresented.
    Drop,
}

/// The results of some playouts.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Tally {
    /// Playouts that ended for any reason.
    pub playouts: u64,
    /// Joint moves of all playouts, including discarded ones.
    pub state_changes: u64,
    /// The sum of the squared lengths of all playouts, including discarded ones.
    pub squared_lengths: u128,
    /// Playouts that ended because a role had no legal move.
    pub stuck: u64,
    /// Playouts that were cut at the depth limit.
    pub cut: u64,
    /// By role and goal value, in the order of [`Propnet::goals`]: playouts that
    /// reached a terminal state in which this was the only goal value.
    pub goals: Vec<Vec<u64>>,
    /// By role: playouts that reached a terminal state with no goal value or
    /// several. 0 for chance, which needs no score.
    pub goal_errors: Vec<u64>,
}

impl Tally {
    fn new(net: &Propnet) -> Tally {
        Tally {
            goals: net.goals.iter().map(|goals| vec![0; goals.len()]).collect(),
            goal_errors: vec![0; net.goals.len()],
            ..Tally::default()
        }
    }
}

impl AddAssign<&Tally> for Tally {
    fn add_assign(&mut self, other: &Tally) {
        self.playouts += other.playouts;
        self.state_changes += other.state_changes;
        self.squared_lengths += other.squared_lengths;
        self.stuck += other.stuck;
        self.cut += other.cut;
        let goals = self.goals.iter_mut().flatten();
        for (goal, more) in goals.zip(other.goals.iter().flatten()) {
            *goal += more;
        }
        for (errors, more) in self.goal_errors.iter_mut().zip(&other.goal_errors) {
            *errors += more;
        }
    }
}

/// Playouts of one game from one state, ready to run.
#[derive(Clone, Debug)]
pub struct Playouts {
    phases: Vec<Phase>,
    /// By row of a state: its value in the start state.
    start: Vec<bool>,
    /// The number of rows of each bank.
    rows: [usize; circuit::BANKS],
    words: usize,
    depth: Option<u64>,
    none: Tally,
    /// By role: whether it is chance.
    chance: Vec<bool>,
    operations: f64,
}

/// The number of two-input gates, counted once for all lanes, between two calls of
/// `proceed`.
const GATES_ASKED: f64 = 1e6;

/// The number of passes between two calls of `proceed`, given the gates of a pass.
pub(super) fn passes_asked(operations: f64) -> u64 {
    (GATES_ASKED / operations.max(1.0)).clamp(1.0, 256.0) as u64
}

impl Playouts {
    /// Prepares playouts.
    ///
    /// # Panics
    ///
    /// If the start does not have one bit per fact or is not covered by the network
    /// (see [`Propnet::admits`]), if the engine is not available for the width, or if
    /// no phase is allowed.
    pub fn new(net: &Propnet, options: &PlayoutOptions) -> Playouts {
        let start: Vec<bool> = match &options.start {
            None => net.initial.clone(),
            Some(packed) => {
                assert_eq!(
                    packed.len(),
                    net.facts.len().div_ceil(64),
                    "one bit per fact"
                );
                let facts = 0..net.facts.len();
                facts
                    .map(|fact| packed[fact / 64] >> (fact % 64) & 1 == 1)
                    .collect()
            }
        };
        assert!(net.admits(&start), "the network must cover the start");
        assert!(options.phases > 0, "at least one phase is needed");
        let extras = Extras::default();
        let stop = Stop::new();
        let workers = Workers::for_network(net, options.threads, &stop);
        let plan = Plan::best(net, &start, options.phases, Restart::Here, extras, &workers);
        let cycle = plan.and_then(|plan| plan.compile(options.width, options.engine, &workers));
        let cycle = cycle.expect("this stop is never raised");
        let facts = cycle.facts.iter().zip(&start);
        let mut first: Vec<bool> = facts.filter(|f| f.0.is_some()).map(|f| *f.1).collect();
        first.resize(cycle.rows[circuit::STATE as usize], false);
        Playouts {
            start: first,
            phases: cycle.phases,
            rows: cycle.rows,
            words: options.width.words(),
            depth: options.depth,
            none: Tally::new(net),
            chance: net.chance(),
            operations: cycle.operations,
        }
    }

    /// Runs `playouts` playouts.
    ///
    /// `proceed` is called from time to time. If it returns anything but
    /// [`Proceed::On`], fewer are run, and their number depends on time.
    ///
    /// # Panics
    ///
    /// If `threads` is 0, or the system cannot start the threads.
    pub fn run(
        &self,
        playouts: u64,
        seed: u64,
        threads: usize,
        proceed: impl Fn() -> Proceed + Sync,
    ) -> Tally {
        let shares = Shares::new(playouts);
        let words = self.words as u64;
        let next = AtomicU64::new(0);
        let work = || {
            let mut runner = Runner::new(self, seed);
            let mut tally = self.none.clone();
            loop {
                let first = next.fetch_add(words, Ordering::Relaxed);
                if first >= shares.blocks || proceed() != Proceed::On {
                    return tally;
                }
                let blocks = first..first + words;
                tally += &runner.run(blocks, |block| shares.of(block), &proceed);
            }
        };
        assert!(threads > 0, "at least one thread is needed");
        if threads == 1 {
            return work();
        }
        let pool = Pool::new(threads);
        let mut all = self.none.clone();
        for tally in pool.broadcast(|_| work()) {
            all += &tally;
        }
        all
    }

    /// Sets the number of joint moves after which playouts are cut.
    pub fn set_depth(&mut self, depth: Option<u64>) {
        self.depth = depth;
    }

    /// The tapes alone, for benchmarks.
    pub fn tapes(&self, seed: u64) -> Tapes<'_> {
        Tapes::new(self, seed)
    }

    /// The number of passes, of one joint move in each lane, between two calls of
    /// `proceed`.
    fn passes_asked(&self) -> u64 {
        passes_asked(self.operations)
    }

    /// The two-input gates executed for a joint move in all lanes, on average over
    /// the phases, without goals.
    pub fn operations(&self) -> f64 {
        self.operations
    }

    /// The number of lanes that run in parallel.
    pub fn lanes(&self) -> usize {
        64 * self.words
    }

    /// The number of phases that the tapes are made for; 1 if they serve all
    /// states.
    pub fn phases(&self) -> usize {
        self.phases.len()
    }
}

/// The division of playouts among blocks of 64 lanes.
#[derive(Clone, Debug)]
struct Shares {
    playouts: u64,
    blocks: u64,
}

impl Shares {
    fn new(playouts: u64) -> Shares {
        // At the end the lanes of a block wait for its last one, so each block
        // should play many; but a few blocks should run in parallel.
        let each = 64 * (playouts >> 16).clamp(16, 256);
        let in_parallel = playouts.div_ceil(64).min(8);
        let blocks = playouts.div_ceil(each).next_multiple_of(8);
        Shares {
            playouts,
            blocks: if playouts <= 8 * each {
                in_parallel
            } else {
                blocks
            },
        }
    }

    fn of(&self, block: u64) -> u64 {
        if block >= self.blocks {
            return 0;
        }
        self.playouts / self.blocks + u64::from(block < self.playouts % self.blocks)
    }
}

#[cfg(test)]
pub(super) mod tests;
