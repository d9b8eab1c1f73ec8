//! Uniformly random playouts from many states at once.
//!
//! In: some states of a game, and how many playouts from each. Out: by state,
//! what its playouts were worth to each role. That is the engine under a tree
//! search, which asks it again and again; playouts from a single state, and how
//! long these are, are the business of [`playout`](super::playout).
//!
//! Lanes are dealt to the states in equal shares, for the whole of a call. What
//! comes out depends on the seed, the calls made so far and the width, not on
//! the engine.
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
//! let game = Game::from_text("walk.kif", rules).expect("the rules are right");
//! let (net, _) = Propnet::ground(&game, &GroundLimits::default())?;
//!
//! let mut rollouts = Rollouts::new(&net, &RolloutOptions::default(), 1);
//! let start = batch::pack(net.initial.iter().copied());
//! let outcomes = rollouts.run(&[start], 10_000, &mut || Proceed::On);
//! assert_eq!(outcomes[0].playouts, 10_000);
//! // Two times out of four the robot must choose to go.
//! let mean = outcomes[0].mean(0).expect("some have ended");
//! assert!((22.0..28.0).contains(&mean));
//! # Ok::<(), ggp_engine::propnet::TooLarge>(())
//! ```

mod assignment;
mod lane_status;
mod moves;
mod scatter;
mod scores;

use std::ops::Range;

use super::Propnet;
use super::batch::Packed;
use super::code::Engine;
use super::lanes::Rows;
pub use super::playout::circuit::Record;
use super::playout::circuit::{BANKS, CHOSEN, DRAWN, Extras, GUIDE, LOOK, NEXT, STATE, level_row};
use super::playout::plan::{Anew, Phase, Plan};
use super::playout::terminal_pool::Pool;
use super::playout::{Proceed, Width, passes_asked};
use super::streams::{Limits, Streams};
use assignment::Deal;
use lane_status::Field;
use moves::Moves;
pub use moves::{Made, MoveSum, learned_levels};
use scatter::Fill;
use scores::Scores;

/// Playouts begin when one out of so many lanes stands idle.
const IDLE: u32 = 16;
/// The same if moves are recorded, as counting these takes time.
const IDLE_RECORDED: u32 = 4;

/// How playouts are made.
#[derive(Clone, Debug)]
pub struct RolloutOptions {
    /// How many run side by side.
    pub width: Width,
    /// What runs them.
    pub engine: Engine,
    /// Joint moves after which a playout is cut.
    pub depth: Option<u64>,
    /// Bits of a move's level, at most 8; see [`Rollouts::set_levels`]. Each costs
    /// about four gates a move.
    pub level_bits: u32,
    /// What is told of the moves made; see [`Rollouts::moves`].
    pub record: Record,
    /// Whether what is recorded is told of each state; see [`Rollouts::made`].
    pub by_state: bool,
}

impl Default for RolloutOptions {
    fn default() -> Self {
        RolloutOptions {
            width: Width::W512,
            engine: Engine::Auto,
            depth: None,
            level_bits: 0,
            record: Record::Nothing,
            by_state: false,
        }
    }
}

/// What came of the playouts from one state.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Outcome {
    /// Playouts that reached a state where the game is over, and each role has
    /// one score there.
    pub playouts: u64,
    /// By role: the scores of these.
    pub scores: Vec<Sum>,
    /// Playouts that ended as some role had no legal move.
    pub stuck: u64,
    /// Playouts that were cut at the depth asked for.
    pub cut: u64,
    /// Playouts that reached a state where the game is over, and some role has no
    /// goal value there, several, or one that is no score.
    pub faulty: u64,
}

impl Outcome {
    /// What a playout is worth to a role on average, 0 to 100; none if no
    /// playout has a score.
    pub fn mean(&self, role: usize) -> Option<f64> {
        (self.playouts > 0).then(|| self.scores[role].total as f64 / self.playouts as f64)
    }

    fn clear(&mut self) {
        self.scores.fill(Sum::default());
        [self.playouts, self.stuck, self.cut, self.faulty] = [0; 4];
    }
}

/// Some scores, each from 0 to 100.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub struct Sum {
    /// Their sum.
    pub total: u64,
    /// The sum of their squares.
    pub squares: u64,
}

/// Playouts of one game, ready to run on one thread.
///
/// A clone shares the tapes and goes on with the same random numbers, unless it
/// gets others by [`Rollouts::reseed`].
#[derive(Clone, Debug)]
pub struct Rollouts {
    phases: Vec<Phase>,
    /// By phase: last states until they are counted.
    pools: Vec<Pool>,
    /// By phase.
    worth: Vec<Scores>,
    banks: [Rows; BANKS],
    /// Where the playouts of each lane begin.
    home: Rows,
    fill: Fill,
    deal: Deal,
    field: Field,
    streams: Streams,
    /// What is known of moves, if they are recorded.
    moves: Option<Moves>,
    /// By state, if that is wanted: the moves made from it.
    made: Option<Vec<Vec<Made>>>,
    /// By role and move: the first row that says its level.
    levels: Vec<Vec<usize>>,
    level_bits: u32,
    /// Of 256 choices, how many are made at random.
    exploration: u32,
    outcomes: Vec<Outcome>,
    state_changes: u64,
    /// Passes between questions whether to go on, and until the next one.
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
        assert!(options.level_bits <= 8, "a level is a byte");
        let bits = options.level_bits as usize;
        let extras = Extras {
            level_bits: bits,
            record: options.record,
        };
        let plan = Plan::best(net, &net.initial, Anew::Elsewhere, extras);
        let mut cycle = plan.compile(options.width, options.engine);
        let words = options.width.words();
        if bits > 0 {
            // Also rows that no tape reads may be set.
            let moves: usize = net.moves.iter().map(Vec::len).sum();
            cycle.rows[GUIDE as usize] = net.moves.len() + bits * moves;
        }
        let pools = cycle.phases.iter_mut().map(|phase| {
            let pool = phase.pool.take();
            pool.unwrap_or_else(|| Pool::of_scores(phase.scores, words))
        });
        let asked = passes_asked(cycle.operations);
        let levels = net.moves.iter().enumerate().map(|(role, moves)| {
            let rows = (0..moves.len()).map(|index| level_row(net, bits, role, index));
            rows.collect()
        });
        Rollouts {
            pools: pools.collect(),
            worth: cycle
                .phases
                .iter()
                .map(|p| Scores::new(net, &p.goals))
                .collect(),
            banks: cycle.rows.map(|rows| Rows::new(rows, words)),
            home: Rows::new(cycle.rows[STATE as usize], words),
            fill: Fill::new(&cycle.facts, &cycle.values),
            deal: Deal::new(words, cycle.phases.len()),
            field: Field::new(words, options.depth),
            streams: Streams::new(seed, 0, words),
            moves: (options.record == Record::Moves).then(|| Moves::new(net, words)),
            made: options.by_state.then(Vec::new),
            levels: levels.collect(),
            level_bits: options.level_bits,
            exploration: 0,
            outcomes: Vec::new(),
            state_changes: 0,
            phases: cycle.phases,
            asked,
            until_asked: asked,
        }
    }

    /// Lanes that run side by side.
    pub fn lanes(&self) -> usize {
        self.home.lanes()
    }

    /// Joint moves of all playouts so far.
    pub fn state_changes(&self) -> u64 {
        self.state_changes
    }

    /// Takes other random numbers from now on.
    pub fn reseed(&mut self, seed: u64) {
        self.streams = Streams::new(seed, 0, self.streams.len());
    }

    /// Says by move of a role, in the order of [`Propnet::moves`], how gladly it is
    /// chosen. Of its legal moves the role takes one of those with the highest
    /// level, each with the same probability; unless it explores, which is up to
    /// [`Rollouts::set_exploration`]. At first all levels are 0.
    ///
    /// # Panics
    ///
    /// If there is not one level for each move, or one has more than
    /// [`RolloutOptions::level_bits`].
    pub fn set_levels(&mut self, role: usize, levels: &[u8]) {
        let rows = &self.levels[role];
        assert_eq!(rows.len(), levels.len(), "there is a level for each move");
        let guide = &mut self.banks[GUIDE as usize];
        for (&row, &level) in rows.iter().zip(levels) {
            let is_small = u32::from(level).checked_shr(self.level_bits) == Some(0);
            assert!(is_small, "the level has as many bits as were asked for");
            for bit in 0..self.level_bits as usize {
                let is_set = level >> bit & 1 == 1;
                guide.fill(row + bit, if is_set { u64::MAX } else { 0 });
            }
        }
    }

    /// With this probability, each time, a role takes any of its legal moves, all
    /// alike. It is rounded to 256th parts, and 0 at first.
    pub fn set_exploration(&mut self, probability: f64) {
        self.exploration = (probability.clamp(0.0, 1.0) * 256.0).round() as u32;
    }

    /// By move of a role, in the order of [`Propnet::moves`]: playouts in which it
    /// was made, and what these were worth to the role. Counted are playouts with
    /// scores, less what has [faded](Rollouts::fade_moves). Moves of a role whose choice changes
    /// nothing, as it is not its turn, may be left out.
    ///
    /// # Panics
    ///
    /// If moves are not [recorded](RolloutOptions::record).
    pub fn moves(&self, role: usize) -> &[MoveSum] {
        let moves = self.moves.as_ref();
        moves.expect("moves are recorded").sums(role)
    }

    /// By state of the last call: the moves that its playouts with scores made. A
    /// move may be there several times, each with a part of these.
    ///
    /// # Panics
    ///
    /// If that was [not wanted](RolloutOptions::by_state).
    pub fn made(&self) -> &[Vec<Made>] {
        self.made.as_deref().expect("it was wanted")
    }

    /// Has what is known of moves count for this part only: with 0 for nothing.
    ///
    /// Source: Tak, Winands and Björnsson, "Decaying simulation strategies", 2014.
    pub fn fade_moves(&mut self, keep: f64) {
        if let Some(moves) = &mut self.moves {
            moves.fade(keep.clamp(0.0, 1.0));
        }
    }

    /// Plays so many playouts from each state: from up to [`Rollouts::lanes`]
    /// states side by side. Least time is lost if all states together have that
    /// many playouts, or several times as many.
    ///
    /// `proceed` is asked now and then, not in each call; with an answer other
    /// than [`Proceed::On`] fewer are played, and how many depends on time. The
    /// result is by state, until the next call.
    ///
    /// # Panics
    ///
    /// If a state has too few words, or differs from all that the game leads to
    /// in facts that no move has a say in.
    pub fn run(
        &mut self,
        starts: &[Packed],
        each: u32,
        proceed: &mut dyn FnMut() -> Proceed,
    ) -> &[Outcome] {
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
        let mut first = 0;
        for starts in starts.chunks(lanes) {
            if self.play_all(starts, first, each, proceed) != Proceed::On {
                break;
            }
            first += lanes;
        }
        &self.outcomes
    }

    /// Plays from no more states than there are lanes. Outcomes from `first` on
    /// are theirs.
    fn play_all(
        &mut self,
        starts: &[Packed],
        first: usize,
        each: u32,
        proceed: &mut dyn FnMut() -> Proceed,
    ) -> Proceed {
        self.deal.set(first, starts.len(), each);
        self.fill.fill(starts, &mut self.deal, &mut self.home);
        self.field.clear();
        let mut answer = Proceed::On;
        for phase in (0..self.phases.len()).cycle() {
            self.until_asked -= 1;
            if self.until_asked == 0 {
                self.until_asked = self.asked;
                answer = proceed();
                match answer {
                    Proceed::On => {}
                    Proceed::Finish => self.deal.begin_no_more(),
                    Proceed::Drop => break,
                }
            }
            self.begin(phase);
            if !self.field.is_any_live() {
                if self.deal.is_done() {
                    break;
                }
                continue;
            }
            self.look(phase);
            if self.field.is_any_live() {
                self.play(phase);
            }
        }
        for phase in 0..self.phases.len() {
            self.count_kept(phase);
        }
        self.state_changes += self.field.take_changes();
        answer
    }

    /// Has playouts begin in lanes without one.
    fn begin(&mut self, phase: usize) {
        let most_idle = match self.moves {
            Some(_) => IDLE_RECORDED,
            None => IDLE,
        };
        if !self.deal.begin(phase, self.field.live(), most_idle) {
            return;
        }
        if self.moves.is_some() {
            // What was recorded of lanes is lost as they begin anew.
            for phase in 0..self.phases.len() {
                self.count_kept(phase);
            }
        }
        let begun = self.deal.begun();
        if let Some(moves) = &mut self.moves {
            moves.begin(begun);
        }
        let state = &mut self.banks[STATE as usize];
        self.field.begin(begun, &self.home, state);
    }

    /// Ends the playouts that are over.
    fn look(&mut self, number: usize) {
        let phase = &mut self.phases[number];
        if self.level_bits > 0 {
            let guide = &mut self.banks[GUIDE as usize];
            for draw in &phase.draws {
                self.streams
                    .toss(self.exploration, guide.row_mut(draw.role));
            }
        }
        phase.look.run(&mut self.banks);
        let ends = self.field.settle(&self.banks[LOOK as usize]);
        if ends.is_any_due {
            if self.pools[number].is_taken(self.field.due()) {
                self.count_kept(number);
            }
            self.pools[number].keep(self.field.due(), &self.banks);
        }
        if ends.is_any_early {
            let outcomes = &mut self.outcomes;
            let (stuck, cut) = (self.field.stuck(), self.field.cut());
            self.deal
                .count(stuck, |start, n| outcomes[start].stuck += n);
            self.deal.count(cut, |start, n| outcomes[start].cut += n);
        }
    }

    /// Draws moves for the lanes that go on, and makes them.
    fn play(&mut self, number: usize) {
        let words = self.home.words();
        let phase = &mut self.phases[number];
        let [look, drawn] = self
            .banks
            .get_disjoint_mut([LOOK as usize, DRAWN as usize])
            .expect("they are different banks");
        let live = self.field.live();
        let span = |rows: &Range<usize>| rows.start * words..rows.end * words;
        for draw in &phase.draws {
            let limits = Limits {
                counts: &look.flat()[span(&draw.counts)],
                masks: &look.flat()[span(&draw.masks)],
                bits: draw.masks.len(),
            };
            let numbers = &mut drawn.flat_mut()[span(&draw.numbers)];
            self.streams.draw(live, limits, numbers);
        }
        phase.play.run(&mut self.banks);
        if let Some(moves) = &mut self.moves {
            moves.add(live, &phase.chosen, &self.banks[CHOSEN as usize]);
        }
        let [state, next] = self
            .banks
            .get_disjoint_mut([STATE as usize, NEXT as usize])
            .expect("they are different banks");
        std::mem::swap(state, next);
    }

    /// Counts what the states kept are worth, and keeps them no longer.
    fn count_kept(&mut self, phase: usize) {
        let pool = &mut self.pools[phase];
        if let Some((lanes, scores)) = pool.score() {
            let worth = &self.worth[phase];
            let right = worth.count(lanes, scores, &self.deal, &mut self.outcomes);
            if let Some(moves) = &mut self.moves {
                for (role, scored) in worth.scores().iter().enumerate() {
                    let right = &right[..lanes.len()];
                    moves.count(role, right, scored, scores);
                    if let Some(made) = &mut self.made {
                        moves.count_apart(role, right, scored, scores, &self.deal, made);
                    }
                }
            }
            pool.clear();
        }
    }
}

#[cfg(test)]
mod tests;
