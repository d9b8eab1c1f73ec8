//! Numbers of joint-move sequences by length, counted hundreds at once.
//!
//! In: a game's network and a start state. Out: for each length, the number of
//! joint-move sequences, the number of those that end the game, and their scores.
//! Every sequence is played. Equal states are not detected, so little memory is
//! needed and evaluating gates takes all the time.
//!
//! The first depths are enumerated one after the other and their states kept until
//! there are enough of them to share among threads. From there, each thread
//! searches depth-first. The numbers depend neither on threads nor on lanes.
//!
//! ```
//! use ggp_gdl::game::Game;
//! use ggp_engine::propnet::perft::{CountOptions, Counter};
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
//! let counter = Counter::new(&net, &CountOptions::default());
//! let mut levels = Vec::new();
//! let end = counter.run(3, || true, |level| levels.push(level.clone()));
//! assert!(end.is_ok());
//! // Of three moves, two are `go`; the game ends with the second of them.
//! assert_eq!(levels[2].terminal_paths, 1);
//! assert_eq!(levels[3].terminal_paths, 2);
//! assert_eq!(levels[3].goal_sums, [200]);
//! # Ok::<(), ggp_engine::propnet::GroundError>(())
//! ```

mod assume;
mod compile;
mod depth_facts;
mod gather;
mod odometer;
mod stage;
mod worker;

use crate::threads::{Pool, usable};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::Propnet;
use super::code::Engine;
use super::lanes::Rows;
pub use super::playout::Width;
use compile::Target;
use depth_facts::Known;
use stage::Stage;
use worker::{Batch, Halt, Route, Tally, Worker, first};

/// Options of counting.
#[derive(Clone, Debug)]
pub struct CountOptions {
    /// The start state, one bit for each of [`Propnet::facts`]; `None` for the
    /// initial state.
    pub start: Option<Vec<u64>>,
    /// The number of threads; 0 counts as 1.
    pub threads: usize,
    /// The number of states processed in parallel.
    pub width: Width,
    /// The engine that runs the code.
    pub engine: Engine,
    /// If true, each depth is counted before the next one is begun. Otherwise
    /// several are counted together, which takes less time in total.
    pub one_by_one: bool,
}

impl Default for CountOptions {
    fn default() -> Self {
        CountOptions {
            start: None,
            threads: 1,
            width: Width::W512,
            engine: Engine::Auto,
            one_by_one: false,
        }
    }
}

/// The counts of one length.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PathLevel {
    /// The number of joint moves.
    pub depth: u32,
    /// Sequences of this length. A sequence does not continue after the end of the
    /// game.
    pub paths: u128,
    /// Sequences that end the game.
    pub terminal_paths: u128,
    /// By role: the sum of its scores over the ending sequences.
    pub goal_sums: Vec<u128>,
    /// Pairs of an ending sequence and a role, chance apart, without exactly one valid score.
    pub goal_errors: u128,
}

/// The reason why counting ended.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum CountEnd {
    /// No sequence continues: the whole game was counted.
    Exhausted,
    /// The requested depth was reached.
    Depth,
}

/// The reason why counting failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CountError {
    /// A role has no legal move though the game is not over. The state has one bit
    /// for each of [`Propnet::facts`].
    Stuck(Vec<u64>),
    /// `proceed` returned false.
    Interrupted,
}

/// Counts the sequences of one game from one state.
#[derive(Clone, Debug)]
pub struct Counter<'n> {
    net: &'n Propnet,
    options: CountOptions,
    start: Vec<bool>,
}

/// The approximate maximum number of states whose successors are kept. Twice as
/// many are an error.
const MOST_STATES: usize = 1 << 18;
/// The limit for the states counted together before the next report, as a multiple
/// of the states counted so far.
const GROWTH_PER_REPORT: f64 = 64.0;
/// The minimum number of parts of the work per thread.
const PARTS: usize = 64;

impl<'n> Counter<'n> {
    /// Prepares to count.
    ///
    /// # Panics
    ///
    /// If the start does not have one bit per fact or is not covered by the network
    /// (see [`Propnet::admits`]), or if the engine is not available for the width.
    pub fn new(net: &'n Propnet, options: &CountOptions) -> Counter<'n> {
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
        assert!(
            options.engine.is_available(options.width.words()),
            "the engine must be available for the width"
        );
        Counter {
            net,
            options: options.clone(),
            start,
        }
    }

    /// Counts to a depth. `on_level` gets each depth once, in order, as soon as it
    /// is counted. `proceed` is called from time to time.
    /// # Errors
    ///
    /// If a role cannot move in a state before the last depth, or if `proceed`
    /// returns false. `on_level` has received some earlier depths; in the first
    /// case, at least all before that of the state.
    ///
    /// # Panics
    ///
    /// If the system cannot start the threads.
    pub fn run(
        &self,
        depth: u32,
        proceed: impl Fn() -> bool + Sync,
        mut on_level: impl FnMut(&PathLevel),
    ) -> Result<CountEnd, CountError> {
        let relevant = depth_facts::relevant(self.net);
        let mut seen = 0;
        let mut report = |level: PathLevel| {
            // Levels are repeated after a fault.
            if level.depth == seen {
                seen += 1;
                on_level(&level);
            }
        };
        let mut options = self.options.clone();
        let found = Count::new(self, &options, relevant).run(depth, &proceed, &mut report);
        let Err(Halt::Stuck(_)) = found else {
            return found.map_err(|_| CountError::Interrupted);
        };
        // Count again with all facts, to determine the state, and only to its
        // depth.
        options.one_by_one = true;
        let all = vec![true; self.net.facts.len()];
        match Count::new(self, &options, all).run(depth, &proceed, &mut report) {
            Err(Halt::Stuck(holds)) => {
                let mut packed = vec![0; holds.len().div_ceil(64)];
                for (fact, holds) in holds.iter().enumerate() {
                    packed[fact / 64] |= u64::from(*holds) << (fact % 64);
                }
                Err(CountError::Stuck(packed))
            }
            found => found.map_err(|_| CountError::Interrupted),
        }
    }
}

/// A count in progress.
struct Count<'c, 'n> {
    counter: &'c Counter<'n>,
    options: &'c CountOptions,
    relevant: Vec<bool>,
    /// By depth.
    stages: Vec<Stage<'n>>,
    pool: Option<Pool>,
}

impl<'c, 'n> Count<'c, 'n> {
    fn new(counter: &'c Counter<'n>, options: &'c CountOptions, relevant: Vec<bool>) -> Self {
        Count {
            counter,
            options,
            relevant,
            stages: Vec::new(),
            pool: None,
        }
    }

    fn run(
        &mut self,
        last: u32,
        proceed: &(impl Fn() -> bool + Sync),
        report: &mut impl FnMut(PathLevel),
    ) -> Result<CountEnd, Halt> {
        let last = last as usize;
        self.prepare(0);
        let mut depth = 0;
        let mut frontier = self.start();
        let mut states = 1.0;
        let mut growth = 1.0;
        let mut done = 0.0;
        // The first depths, one by one.
        while depth < last && states * growth <= MOST_STATES as f64 {
            if !proceed() {
                return Err(Halt::Interrupted);
            }
            let (tallies, next) =
                match self.walk(depth, depth + 1, Some(&frontier), &frontier, proceed) {
                    Err(Halt::TooManyStates) => break,
                    found => found?,
                };
            let level = self.level(depth, &tallies[0]);
            let is_over = level.paths == level.terminal_paths;
            report(level);
            if is_over {
                return Ok(CountEnd::Exhausted);
            }
            frontier = next;
            depth += 1;
            let lanes: usize = frontier.iter().map(|batch| batch.lanes).sum();
            growth = (lanes as f64 / states).max(1.0);
            states = lanes as f64;
            done += states;
        }
        // The remaining depths, starting from there.
        let mut reported = depth;
        loop {
            let mut to = reported + 1;
            let mut expected = states * growth;
            while !self.options.one_by_one
                && expected * growth < GROWTH_PER_REPORT * done
                && to < last
            {
                expected *= growth;
                to += 1;
            }
            let to = to.min(last);
            let (tallies, _) = self.walk(depth, to, None, &frontier, proceed)?;
            for (depth, tally) in (depth..=to).zip(&tallies).skip(reported - depth) {
                if tally.paths == 0 {
                    return Ok(CountEnd::Exhausted);
                }
                let level = self.level(depth, tally);
                let is_over = level.paths == level.terminal_paths;
                report(level);
                if is_over {
                    return Ok(CountEnd::Exhausted);
                }
                growth = (tally.paths as f64 / states).max(1.0);
                states = tally.paths as f64;
                done += states;
            }
            reported = to + 1;
            if to == last {
                return Ok(CountEnd::Depth);
            }
        }
    }

    fn level(&self, depth: usize, tally: &Tally) -> PathLevel {
        let game = self.counter.net.game();
        let scored = game.roles().zip(&tally.scores);
        let scored = scored.filter(|(role, _)| !game.is_random(*role));
        let errors = scored.map(|(_, scored)| tally.terminal - scored);
        PathLevel {
            depth: depth as u32,
            paths: tally.paths,
            terminal_paths: tally.terminal,
            goal_sums: tally.sums.clone(),
            goal_errors: errors.sum(),
        }
    }

    /// Prepares the code up to a depth.
    fn prepare(&mut self, depth: usize) {
        let target = Target {
            net: self.counter.net,
            words: self.options.width.words(),
            engine: self.options.engine,
        };
        while self.stages.len() <= depth {
            let known: Known = match self.stages.last() {
                None => self
                    .counter
                    .start
                    .iter()
                    .map(|&holds| Some(holds))
                    .collect(),
                Some(stage) => stage.after.clone(),
            };
            let after = depth_facts::after(self.counter.net, &known);
            self.stages
                .push(Stage::new(target, &self.relevant, &known, &after));
        }
    }

    /// The start state, all of whose facts are known.
    fn start(&self) -> Vec<Batch> {
        let rows = Rows::new(0, self.options.width.words());
        vec![Batch { rows, lanes: 1 }]
    }

    /// Searches from states of depth `from`. With `keep`, the states of depth `to`
    /// are kept instead of counted.
    fn walk(
        &mut self,
        from: usize,
        to: usize,
        keep: Option<&[Batch]>,
        frontier: &[Batch],
        proceed: &(impl Fn() -> bool + Sync),
    ) -> Result<(Vec<Tally>, Vec<Batch>), Halt> {
        self.prepare(to);
        let words = self.options.width.words();
        let threads = usable(self.options.threads);
        let threads = if keep.is_some() { 1 } else { threads };
        if threads > 1 && self.pool.is_none() {
            self.pool = Some(Pool::new(threads));
        }
        let route = Route {
            stages: self.stages[from..=to].iter().collect(),
            keep: keep.map(|_| 2 * MOST_STATES),
            words,
        };
        let parts = parts(frontier, threads, words);
        let next = AtomicUsize::new(0);
        let halted = AtomicBool::new(false);
        let walk = || {
            let mut worker = Worker::new(&route);
            let proceed = || !halted.load(Ordering::Relaxed) && proceed();
            let mut walk = || {
                while let Some((batch, lanes)) = parts.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if !proceed() {
                        return Err(Halt::Interrupted);
                    }
                    worker.walk_from(&frontier[*batch], lanes, &proceed)?;
                }
                worker.finish(&proceed)
            };
            let walked = walk();
            if walked.is_err() {
                halted.store(true, Ordering::Relaxed);
            }
            walked.map(|()| (worker.tallies, worker.kept))
        };
        let found = match &self.pool {
            Some(pool) if threads > 1 => pool.broadcast(|_| walk()),
            _ => vec![walk()],
        };
        // The thread that stopped the others has the actual reason.
        let fault = found.iter().filter_map(|found| found.as_ref().err());
        if let Some(fault) = fault.min_by_key(|halt| **halt == Halt::Interrupted) {
            return Err(fault.clone());
        }
        let mut found = found.into_iter().flatten();
        let (mut tallies, kept) = found.next().expect("there is at least one thread");
        for (others, _) in found {
            for (tally, other) in tallies.iter_mut().zip(&others) {
                tally.add_all(other);
            }
        }
        Ok((tallies, kept))
    }
}

/// The states in parts, each some lanes of a batch.
fn parts(frontier: &[Batch], threads: usize, words: usize) -> Vec<(usize, Vec<u64>)> {
    let all: usize = frontier.iter().map(|batch| batch.lanes).sum();
    let size = match threads {
        1 => 64 * words,
        _ => all.div_ceil(PARTS * threads).clamp(1, 64 * words),
    };
    let mut parts = Vec::new();
    for (number, batch) in frontier.iter().enumerate() {
        for from in (0..batch.lanes).step_by(size) {
            let to = (from + size).min(batch.lanes);
            let before = first(from, words);
            let mut lanes = first(to, words);
            for (lanes, before) in lanes.iter_mut().zip(before) {
                *lanes &= !before;
            }
            parts.push((number, lanes));
        }
    }
    parts
}
