//! Uniformly random playouts from many states at once.
//!
//! In: states of a game, and the number of playouts from each. Out: by state, the
//! sums of the scores that its playouts gave each role. This is the engine under a
//! tree search, which calls it repeatedly. For playouts from a single state and
//! their lengths, see [`playout`](super::playout).
//!
//! Each call divides the lanes equally among the states. The results depend on the
//! seed, the earlier calls and the width, not on the engine.
//!
//! ```
//! use ggp_gdl::game::Game;
//! use ggp_engine::propnet::playout::Proceed;
//! use ggp_engine::propnet::rollouts::{RolloutOptions, Rollouts};
//! use ggp_engine::propnet::{GroundLimits, Propnet, batch};
//!
//! let rules = "
//!     (role robot)
//!     (init (at 0)) (after 0 1) (after 1 2)
//!     (<= (legal robot go) (true (at ?x)) (after ?x ?y))
//!     (<= (legal robot stop) (true (at ?x)))
//!     (<= (next (at ?y)) (does robot go) (true (at ?x)) (after ?x ?y))
//!     (<= (next (at ?x)) (does robot stop) (true (at ?x)))
//!     (<= (next over) (does robot stop))
//!     (<= terminal (true (at 2)))
//!     (<= terminal (true over))
//!     (<= (goal robot 100) (true (at 2)))
//!     (<= (goal robot 0) (not (true (at 2))))";
//! let game = Game::from_text("walk.kif", rules).expect("the rules are valid");
//! let (net, _) = Propnet::ground(&game, &GroundLimits::default())?;
//!
//! let mut rollouts = Rollouts::new(&net, &RolloutOptions::default(), 1);
//! let start = batch::pack(net.initial().iter().copied());
//! let outcomes = rollouts.run(&[start], 10_000, &mut || Proceed::On);
//! assert_eq!(outcomes[0].playouts, 10_000);
//! // The robot must choose to go in two of four equally likely cases.
//! let mean = outcomes[0].mean(0).expect("some have ended");
//! assert!((22.0..28.0).contains(&mean));
//! # Ok::<(), ggp_engine::propnet::GroundError>(())
//! ```

mod assignment;
mod ends;
mod lane_status;
mod moves;
mod scatter;
mod scores;

use std::borrow::Cow;
use std::ops::Range;
use std::time::Duration;

use ggp_stop::{Instant, Stop};

use super::Propnet;
use super::code::Engine;
use super::lanes::Rows;
pub use super::playout::circuit::Record;
use super::playout::circuit::{BANKS, CHOSEN, DRAWN, Extras, GUIDE, LOOK, NEXT, STATE, level_row};
use super::playout::plan::{LONGEST_CYCLE, Phase, Plan, Restart};
use super::playout::terminal_pool::TerminalPool;
use super::playout::{Proceed, Width, passes_asked};
use super::streams::{Limits, Streams};
use crate::threads::Workers;
use assignment::Assignment;
use ends::{Ends, with_facts_as_goals};
use lane_status::LaneStatus;
use moves::MoveStatistics;
pub use moves::{MadeMove, MoveSum, learned_levels};
use scatter::Scatter;
use scores::Scores;

/// New playouts begin once one lane in `IDLE` has none.
const IDLE: u32 = 16;
/// [`IDLE`] if moves are recorded: counting them takes time.
const IDLE_RECORDED: u32 = 4;

/// Options of playouts.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct RolloutOptions {
    /// The number of playouts that run in parallel.
    pub width: Width,
    /// The engine that runs them.
    pub engine: Engine,
    /// The number of joint moves after which a playout is cut.
    pub depth: Option<u64>,
    /// Bits of a move's level, at most 8; see [`Rollouts::set_levels`]. Each costs
    /// about four gates a move.
    pub level_bits: u32,
    /// If true, a role makes a move that wins at once, or else one that prevents the next role
    /// from doing so, if there is one and cheap conditions recognize it. Only where roles take
    /// turns.
    pub decisive: bool,
    /// The statistics kept about moves; see [`Rollouts::moves`].
    pub record: Record,
    /// If true, the recorded moves are also reported by state; see
    /// [`Rollouts::made`].
    pub by_state: bool,
    /// If true, scores are not read in the network: terminal states are listed, and wait for
    /// [`Rollouts::score_ends`].
    pub lists_ends: bool,
    /// The most threads that prepare large networks.
    pub threads: usize,
}

impl Default for RolloutOptions {
    fn default() -> Self {
        RolloutOptions {
            width: Width::W512,
            engine: Engine::Auto,
            depth: None,
            level_bits: 0,
            decisive: false,
            record: Record::Nothing,
            by_state: false,
            lists_ends: false,
            threads: 1,
        }
    }
}

/// The results of the playouts from one state.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Outcome {
    /// Playouts that reached a terminal state in which each role but chance has one score.
    pub playouts: u64,
    /// By role: the sums of the scores in all terminal states. A role without a score adds 0.
    pub scores: Vec<Sum>,
    /// Playouts that ended because a role had no legal move.
    pub stuck: u64,
    /// Playouts that were cut at [`RolloutOptions::depth`], or after [`Rollouts::set_time`].
    pub cut: u64,
    /// Playouts that reached a terminal state in which a role, chance apart, has no goal
    /// value, several, or an invalid one.
    pub faulty: u64,
}

impl Outcome {
    /// A role's mean score in terminal states, 0 to 100, or `None` if none was reached.
    pub fn mean(&self, role: usize) -> Option<f64> {
        let ended = self.playouts + self.faulty;
        (ended > 0).then(|| self.scores[role].total as f64 / ended as f64)
    }

    fn clear(&mut self) {
        self.scores.fill(Sum::default());
        [self.playouts, self.stuck, self.cut, self.faulty] = [0; 4];
    }
}

/// Sums over scores, each from 0 to 100.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub struct Sum {
    /// The sum of the scores.
    pub total: u64,
    /// The sum of their squares.
    pub squares: u64,
}

/// Playouts of one game, ready to run on one thread.
///
/// A clone shares the tapes and continues with the same random numbers unless it is
/// [reseeded](Rollouts::reseed).
#[derive(Clone, Debug)]
pub struct Rollouts {
    phases: Vec<Phase>,
    /// By phase: terminal states that are not counted yet.
    pools: Vec<TerminalPool>,
    /// By phase: the readers of the scores.
    scores: Vec<Scores>,
    banks: [Rows; BANKS],
    /// The state in which the playouts of each lane begin.
    starts: Rows,
    scatter: Scatter,
    assignment: Assignment,
    status: LaneStatus,
    streams: Streams,
    /// Statistics about moves, if they are recorded.
    moves: Option<MoveStatistics>,
    /// By state, if requested: the moves made from it.
    made: Option<Vec<Vec<MadeMove>>>,
    /// By role and move: the first row of its level.
    levels: Vec<Vec<usize>>,
    level_bits: u32,
    /// The number of random choices among 256.
    exploration: u32,
    outcomes: Vec<Outcome>,
    /// If requested: terminal states whose scores are not known.
    ends: Option<Ends>,
    state_changes: u64,
    /// The time of a call after which its playouts are cut.
    time: Option<Duration>,
    /// Passes between two calls of `proceed`, and until the next one.
    asked: u64,
    until_asked: u64,
}

impl Rollouts {
    /// Prepares playouts.
    ///
    /// # Panics
    ///
    /// If the engine is not available for the width, or levels have more than 8
    /// bits.
    pub fn new(net: &Propnet, options: &RolloutOptions, seed: u64) -> Rollouts {
        let rollouts = Rollouts::until(net, options, seed, &Stop::new());
        rollouts.expect("this stop is never raised")
    }

    /// Prepares playouts as [`Rollouts::new`] does; `None` if a stop comes first.
    ///
    /// # Panics
    ///
    /// As [`Rollouts::new`].
    pub fn until(
        net: &Propnet,
        options: &RolloutOptions,
        seed: u64,
        stop: &Stop,
    ) -> Option<Rollouts> {
        assert!(options.level_bits <= 8, "a level is a byte");
        let net = &match options.lists_ends {
            true => Cow::Owned(with_facts_as_goals(net)),
            false => Cow::Borrowed(net),
        };
        let bits = options.level_bits as usize;
        let extras = Extras {
            level_bits: bits,
            record: options.record,
            decisive: options.decisive,
        };
        let (start, restart) = (&net.initial, Restart::Elsewhere);
        let workers = &Workers::for_network(net, options.threads, stop);
        let plan = Plan::best(net, start, LONGEST_CYCLE, restart, extras, workers)?;
        let mut cycle = plan.compile(options.width, options.engine, workers)?;
        let words = options.width.words();
        if bits > 0 {
            // Rows that no tape reads may be set, too.
            let moves: usize = net.moves.iter().map(Vec::len).sum();
            cycle.rows[GUIDE as usize] = net.moves.len() + bits * moves;
        }
        let pools = cycle.phases.iter_mut().map(|phase| {
            let pool = phase.pool.take();
            pool.unwrap_or_else(|| TerminalPool::of_scores(phase.scores, words))
        });
        let asked = passes_asked(cycle.operations);
        let levels = net.moves.iter().enumerate().map(|(role, moves)| {
            let rows = (0..moves.len()).map(|index| level_row(net, bits, role, index));
            rows.collect()
        });
        Some(Rollouts {
            pools: pools.collect(),
            scores: cycle
                .phases
                .iter()
                .map(|p| Scores::new(net, &p.goals))
                .collect(),
            banks: cycle.rows.map(|rows| Rows::new(rows, words)),
            starts: Rows::new(cycle.rows[STATE as usize], words),
            scatter: Scatter::new(&cycle.facts, &cycle.values),
            assignment: Assignment::new(words, cycle.phases.len()),
            status: LaneStatus::new(words, options.depth),
            streams: Streams::new(seed, 0, words),
            moves: (options.record == Record::Moves).then(|| MoveStatistics::new(net, words)),
            made: options.by_state.then(Vec::new),
            levels: levels.collect(),
            level_bits: options.level_bits,
            exploration: 0,
            outcomes: Vec::new(),
            ends: options.lists_ends.then(Ends::default),
            state_changes: 0,
            phases: cycle.phases,
            time: None,
            asked,
            until_asked: asked,
        })
    }

    /// The number of lanes that run in parallel.
    pub fn lanes(&self) -> usize {
        self.starts.lanes()
    }

    /// The number of joint moves of all playouts so far.
    pub fn state_changes(&self) -> u64 {
        self.state_changes
    }

    /// Restarts the random numbers from another seed.
    pub fn reseed(&mut self, seed: u64) {
        self.streams = Streams::new(seed, 0, self.streams.len());
    }

    /// Changes [`RolloutOptions::depth`].
    pub fn set_depth(&mut self, depth: Option<u64>) {
        self.status = LaneStatus::new(self.starts.words(), depth);
    }

    /// Sets the time after which the playouts of a call are cut; by default they are not. The
    /// time is read as often as `proceed` is called, so results depend on the machine.
    pub fn set_time(&mut self, time: Option<Duration>) {
        self.time = time;
    }

    /// Sets the level of each move of a role, in the order of [`Propnet::moves`].
    /// The role chooses uniformly among its legal moves of the highest level,
    /// except when it explores; see [`Rollouts::set_exploration`]. All levels are 0
    /// at first.
    pub fn set_levels(&mut self, role: usize, levels: &[u8]) {
        let rows = &self.levels[role];
        assert_eq!(rows.len(), levels.len(), "there must be one level per move");
        let guide = &mut self.banks[GUIDE as usize];
        for (&row, &level) in rows.iter().zip(levels) {
            let is_small = u32::from(level).checked_shr(self.level_bits) == Some(0);
            assert!(is_small, "a level must fit in `level_bits` bits");
            for bit in 0..self.level_bits as usize {
                let is_set = level >> bit & 1 == 1;
                guide.fill(row + bit, if is_set { u64::MAX } else { 0 });
            }
        }
    }

    /// Sets the probability with which a role ignores levels and chooses uniformly
    /// among all its legal moves. It is rounded to a multiple of 1/256 and is 0 at
    /// first.
    pub fn set_exploration(&mut self, probability: f64) {
        self.exploration = (probability.clamp(0.0, 1.0) * 256.0).round() as u32;
    }

    /// By move of a role, in the order of [`Propnet::moves`]: the playouts in which
    /// it was made and the role's scores in them. Only playouts with scores count,
    /// less the part that has [faded](Rollouts::fade_moves). If a role's choice
    /// changes nothing because it is not its turn, its moves may be left out.
    ///
    /// # Panics
    ///
    /// If moves are not [recorded](RolloutOptions::record).
    pub fn moves(&self, role: usize) -> &[MoveSum] {
        let moves = self.moves.as_ref();
        moves.expect("moves are recorded").sums(role)
    }

    /// By state of the last call: the moves made in its playouts with scores. A
    /// move may be listed several times, each time with a part of those playouts.
    ///
    /// # Panics
    ///
    /// If they were [not requested](RolloutOptions::by_state).
    pub fn made(&self) -> &[Vec<MadeMove>] {
        self.made.as_deref().expect("`by_state` was set")
    }

    /// Multiplies all statistics about moves by `keep`; 0 discards them.
    ///
    /// Source: Tak, Winands and Björnsson, "Decaying simulation strategies", 2014.
    pub fn fade_moves(&mut self, keep: f64) {
        if let Some(moves) = &mut self.moves {
            moves.fade(keep.clamp(0.0, 1.0));
        }
    }

    /// Counts the terminal states of the last call that were listed. `scores` gives the score of
    /// each role in such a state, 0 to 100, and `None` for a role without one. If it gives nothing,
    /// the remaining states are left out.
    pub fn score_ends(&mut self, scores: impl FnMut(&[u64]) -> Option<Vec<Option<u8>>>) {
        if let Some(ends) = &mut self.ends {
            ends.score(scores, &mut self.outcomes);
        }
    }

    /// The results of the last call, by state.
    pub fn outcomes(&self) -> &[Outcome] {
        &self.outcomes
    }

    /// Plays `each` playouts from each state, up to [`Rollouts::lanes`] states at a
    /// time. This is most efficient if the playouts of all states together are that
    /// number or a multiple of it.
    ///
    /// `proceed` is called from time to time, not in every call. If it returns
    /// anything but [`Proceed::On`], fewer playouts are made; their number depends
    /// on time. The result is by state and valid until the next call.
    ///
    /// # Panics
    ///
    /// If a state has too few words, or differs from every reachable state in facts
    /// that no move influences.
    pub fn run<S: AsRef<[u64]>>(
        &mut self,
        starts: &[S],
        each: u32,
        proceed: &mut dyn FnMut() -> Proceed,
    ) -> &[Outcome] {
        self.ends.iter_mut().for_each(Ends::clear);
        self.outcomes.truncate(starts.len());
        self.outcomes.iter_mut().for_each(Outcome::clear);
        let (roles, none) = (self.levels.len(), Sum::default());
        self.outcomes.resize_with(starts.len(), || Outcome {
            scores: vec![none; roles],
            ..Outcome::default()
        });
        if let Some(made) = &mut self.made {
            made.truncate(starts.len());
            made.iter_mut().for_each(Vec::clear);
            made.resize_with(starts.len(), Vec::new);
        }
        let lanes = self.lanes();
        let end = self.time.map(|time| Instant::now() + time);
        let mut first = 0;
        for starts in starts.chunks(lanes) {
            if self.play_all(starts, first, each, end, proceed) != Proceed::On {
                break;
            }
            first += lanes;
        }
        &self.outcomes
    }

    /// Plays from at most as many states as there are lanes. Their outcomes begin
    /// at index `first`.
    fn play_all<S: AsRef<[u64]>>(
        &mut self,
        starts: &[S],
        first: usize,
        each: u32,
        end: Option<Instant>,
        proceed: &mut dyn FnMut() -> Proceed,
    ) -> Proceed {
        self.assignment.set(first, starts.len(), each);
        self.scatter
            .load(starts, &mut self.assignment, &mut self.starts);
        self.status.clear();
        let mut answer = Proceed::On;
        for phase in (0..self.phases.len()).cycle() {
            self.until_asked -= 1;
            if self.until_asked == 0 {
                self.until_asked = self.asked;
                answer = proceed();
                match answer {
                    Proceed::On => {}
                    Proceed::Finish => self.assignment.begin_no_more(),
                    Proceed::Drop => break,
                }
                if end.is_some_and(|end| Instant::now() >= end) {
                    self.assignment.begin_no_more();
                    self.status.cut_all();
                }
            }
            self.begin(phase);
            if !self.status.is_any_live() {
                if self.assignment.is_done() {
                    break;
                }
                continue;
            }
            self.look(phase);
            if self.status.is_any_live() {
                self.play(phase);
            }
        }
        for phase in 0..self.phases.len() {
            self.count_pool(phase);
        }
        self.state_changes += self.status.take_changes();
        answer
    }

    /// Begins playouts in idle lanes.
    fn begin(&mut self, phase: usize) {
        let most_idle = match self.moves {
            Some(_) => IDLE_RECORDED,
            None => IDLE,
        };
        if !self.assignment.begin(phase, self.status.live(), most_idle) {
            return;
        }
        if self.moves.is_some() {
            // Lanes that restart lose their records.
            for phase in 0..self.phases.len() {
                self.count_pool(phase);
            }
        }
        let begun = self.assignment.begun();
        if let Some(moves) = &mut self.moves {
            moves.begin(begun);
        }
        let state = &mut self.banks[STATE as usize];
        self.status.begin(begun, &self.starts, state);
    }

    /// Ends the playouts that are over.
    fn look(&mut self, number: usize) {
        let phase = &mut self.phases[number];
        if self.level_bits > 0 {
            let guide = &mut self.banks[GUIDE as usize];
            for choice in &phase.choices {
                self.streams
                    .toss(self.exploration, guide.row_mut(choice.role));
            }
        }
        phase.look.run(&mut self.banks);
        let ends = self.status.settle(&self.banks[LOOK as usize]);
        if ends.is_any_finished {
            if self.pools[number].overlaps(self.status.finished()) {
                self.count_pool(number);
            }
            self.pools[number].add(self.status.finished(), &self.banks);
        }
        if ends.is_any_early {
            let outcomes = &mut self.outcomes;
            let (stuck, cut) = (self.status.stuck(), self.status.cut());
            self.assignment
                .count(stuck, |start, n| outcomes[start].stuck += n);
            self.assignment
                .count(cut, |start, n| outcomes[start].cut += n);
        }
    }

    /// Selects moves for the live lanes and makes them.
    fn play(&mut self, number: usize) {
        let words = self.starts.words();
        let phase = &mut self.phases[number];
        let [look, drawn] = self
            .banks
            .get_disjoint_mut([LOOK as usize, DRAWN as usize])
            .expect("the banks are different");
        let live = self.status.live();
        let span = |rows: &Range<usize>| rows.start * words..rows.end * words;
        for choice in &phase.choices {
            let limits = Limits {
                counts: &look.flat()[span(&choice.counts)],
                masks: &look.flat()[span(&choice.masks)],
                bits: choice.masks.len(),
            };
            let numbers = &mut drawn.flat_mut()[span(&choice.numbers)];
            self.streams.draw(live, limits, numbers);
        }
        phase.play.run(&mut self.banks);
        if let Some(moves) = &mut self.moves {
            moves.add(live, &phase.chosen, &self.banks[CHOSEN as usize]);
        }
        let [state, next] = self
            .banks
            .get_disjoint_mut([STATE as usize, NEXT as usize])
            .expect("the banks are different");
        std::mem::swap(state, next);
    }

    /// Counts the scores of the states in the pool and empties it.
    fn count_pool(&mut self, phase: usize) {
        let pool = &mut self.pools[phase];
        let Some((lanes, scores)) = pool.score() else {
            return;
        };
        if let Some(ends) = &mut self.ends {
            let rows = &self.phases[phase].goals;
            ends.add(lanes, scores, rows, &self.assignment);
            pool.clear();
            return;
        }
        let readers = &self.scores[phase];
        let valid = readers.count(lanes, scores, &self.assignment, &mut self.outcomes);
        if let Some(moves) = &mut self.moves {
            for (role, scored) in readers.scores().iter().enumerate() {
                let valid = &valid[..lanes.len()];
                moves.count(role, valid, scored, scores);
                if let Some(made) = &mut self.made {
                    moves.count_apart(role, valid, scored, scores, &self.assignment, made);
                }
            }
        }
        pool.clear();
    }
}

#[cfg(test)]
mod tests;
