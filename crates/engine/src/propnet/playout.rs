//! Uniformly random playouts, hundreds at once.
//!
//! In: a game's network, where playouts begin, how many are wanted. Out: a
//! [`Tally`] of how long they were and what they were worth. Every role picks
//! each of its legal moves with the same probability in every state.
//!
//! A lane that has ended a playout begins the next one at once. The result
//! depends on the seed and the number of playouts, not on how many lanes or
//! threads run them.
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
//! let game = Game::from_text("walk.kif", rules).expect("the rules are right");
//! let (net, _) = Propnet::ground(&game, &GroundLimits::default())?;
//!
//! let playouts = Playouts::new(&net, &PlayoutOptions::default());
//! let tally = playouts.run(10_000, 1, 1, || Proceed::On);
//! assert_eq!(tally.playouts, 10_000);
//! // Two moves out of four on average are `go`, and two of these are needed.
//! let length = tally.state_changes as f64 / tally.playouts as f64;
//! assert!((3.9..4.1).contains(&length));
//! assert_eq!(tally.goals[0].iter().sum::<u64>(), 10_000);
//! # Ok::<(), ggp_engine::propnet::TooLarge>(())
//! ```

pub(super) mod circuit;
mod dependency;
mod lane_progress;
mod phase;
pub(super) mod plan;
mod runner;
pub(super) mod terminal_pool;

use std::ops::AddAssign;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Propnet;
use super::code::Engine;
use circuit::Extras;
use plan::{Anew, Phase, Plan};
use runner::Runner;
pub use runner::Tapes;

/// Number of lanes that run side by side.
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

/// How playouts are made.
#[derive(Clone, Debug)]
pub struct PlayoutOptions {
    /// Where they begin, one bit for each of [`Propnet::facts`]; the initial
    /// state if none.
    pub start: Option<Vec<u64>>,
    /// Joint moves after which a playout is cut.
    pub depth: Option<u64>,
    /// How many run side by side.
    pub width: Width,
    /// What runs them.
    pub engine: Engine,
}

impl Default for PlayoutOptions {
    fn default() -> Self {
        PlayoutOptions {
            start: None,
            depth: None,
            width: Width::W512,
            engine: Engine::Auto,
        }
    }
}

/// Whether to go on.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Proceed {
    /// As before.
    On,
    /// Begin no playout, end those that have begun.
    Finish,
    /// Drop those that have not ended. Then long playouts count for less than
    /// they should.
    Drop,
}

/// What came of some playouts.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Tally {
    /// Playouts that ended, in whatever way.
    pub playouts: u64,
    /// Joint moves of all playouts, also of those that were dropped.
    pub state_changes: u64,
    /// The sum of the squares of the joint moves of each playout, also of those
    /// that were dropped.
    pub squared_lengths: u128,
    /// Playouts that ended as some role had no legal move.
    pub stuck: u64,
    /// Playouts that were cut at the depth asked for.
    pub cut: u64,
    /// By role and goal value, in the order of [`Propnet::goals`]: playouts that
    /// reached a terminal state where this was the only goal value.
    pub goals: Vec<Vec<u64>>,
    /// By role: playouts that reached a terminal state with no goal value or
    /// several.
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
    /// By row of a state: whether it holds at the start.
    start: Vec<bool>,
    /// Rows that each bank needs.
    rows: [usize; circuit::BANKS],
    words: usize,
    depth: Option<u64>,
    none: Tally,
    operations: f64,
}

/// A run asks whether to go on when it has executed so many two-input gates in
/// all its lanes.
const GATES_ASKED: f64 = 1e6;

/// After how many passes of so many gates a run asks whether to go on.
pub(super) fn passes_asked(operations: f64) -> u64 {
    (GATES_ASKED / operations.max(1.0)).clamp(1.0, 256.0) as u64
}

impl Playouts {
    /// Prepares playouts.
    ///
    /// # Panics
    ///
    /// If the start is not as long as the facts need, or the network does not
    /// speak of it (see [`Propnet::admits`]); if the engine is not available for
    /// the width.
    pub fn new(net: &Propnet, options: &PlayoutOptions) -> Playouts {
        let start: Vec<bool> = match &options.start {
            None => net.initial.clone(),
            Some(packed) => {
                assert_eq!(packed.len(), net.facts.len().div_ceil(64), "one bit a fact");
                let facts = 0..net.facts.len();
                facts
                    .map(|fact| packed[fact / 64] >> (fact % 64) & 1 == 1)
                    .collect()
            }
        };
        assert!(net.admits(&start), "the network speaks of the start");
        let cycle = Plan::best(net, &start, Anew::Here, Extras::default())
            .compile(options.width, options.engine);
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
            operations: cycle.operations,
        }
    }

    /// Runs so many playouts.
    ///
    /// `proceed` is asked now and then; with an answer other than
    /// [`Proceed::On`] fewer are run, and how many depends on time.
    ///
    /// # Panics
    ///
    /// If there is no thread, or the system gives none.
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
        assert!(threads > 0, "there is a thread");
        if threads == 1 {
            return work();
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let pool = pool.build().expect("the system gives threads");
        let mut all = self.none.clone();
        for tally in pool.broadcast(|_| work()) {
            all += &tally;
        }
        all
    }

    /// Has playouts be cut after so many joint moves from now on.
    pub fn set_depth(&mut self, depth: Option<u64>) {
        self.depth = depth;
    }

    /// The tapes alone, to be timed.
    pub fn tapes(&self, seed: u64) -> Tapes<'_> {
        Tapes::new(self, seed)
    }

    /// Passes, of one joint move in each lane, after which a run asks whether to
    /// go on.
    fn passes_asked(&self) -> u64 {
        passes_asked(self.operations)
    }

    /// Two-input gates executed for a joint move in all lanes, on average over
    /// the phases, goals aside.
    pub fn operations(&self) -> f64 {
        self.operations
    }

    /// Lanes that run side by side.
    pub fn lanes(&self) -> usize {
        64 * self.words
    }

    /// Number of phases that the tapes are made for, one if they serve all
    /// states.
    pub fn phases(&self) -> usize {
        self.phases.len()
    }
}

/// How playouts are dealt to blocks of 64 lanes.
#[derive(Clone, Debug)]
struct Shares {
    playouts: u64,
    blocks: u64,
}

impl Shares {
    fn new(playouts: u64) -> Shares {
        // The lanes of a block wait for the last one at the end, so each should
        // play many; but a few blocks should run side by side.
        let each = 64 * (playouts >> 16).clamp(16, 256);
        let side_by_side = playouts.div_ceil(64).min(8);
        let blocks = playouts.div_ceil(each).next_multiple_of(8);
        Shares {
            playouts,
            blocks: if playouts <= 8 * each {
                side_by_side
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
