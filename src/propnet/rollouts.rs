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
//! use ggp::game::Game;
//! use ggp::propnet::playout::Proceed;
//! use ggp::propnet::rollouts::{RolloutOptions, Rollouts};
//! use ggp::propnet::{GroundLimits, Propnet, batch};
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
//! # Ok::<(), ggp::propnet::TooLarge>(())
//! ```

mod deal;
mod field;
mod fill;
mod worth;

use std::ops::Range;

use super::Propnet;
use super::batch::Packed;
use super::code::Engine;
use super::lanes::Rows;
use super::playout::circuit::{BANKS, DRAWN, LOOK, NEXT, STATE};
use super::playout::plan::{Anew, Phase, Plan};
use super::playout::pool::Pool;
use super::playout::{Proceed, Width, passes_asked};
use super::streams::{Limits, Streams};
use deal::Deal;
use field::Field;
use fill::Fill;
use worth::Worth;

/// How playouts are made.
#[derive(Clone, Debug)]
pub struct RolloutOptions {
    /// How many run side by side.
    pub width: Width,
    /// What runs them.
    pub engine: Engine,
    /// Joint moves after which a playout is cut.
    pub depth: Option<u64>,
}

impl Default for RolloutOptions {
    fn default() -> Self {
        RolloutOptions {
            width: Width::W512,
            engine: Engine::Auto,
            depth: None,
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
    worth: Vec<Worth>,
    banks: [Rows; BANKS],
    /// Where the playouts of each lane begin.
    home: Rows,
    fill: Fill,
    deal: Deal,
    field: Field,
    streams: Streams,
    outcomes: Vec<Outcome>,
    state_changes: u64,
    roles: usize,
    /// Passes between questions whether to go on, and until the next one.
    asked: u64,
    until_asked: u64,
}

impl Rollouts {
    /// Prepares playouts.
    ///
    /// # Panics
    ///
    /// If the engine is not available for the width.
    pub fn new(net: &Propnet, options: &RolloutOptions, seed: u64) -> Rollouts {
        let plan = Plan::best(net, &net.initial, Anew::Elsewhere);
        let mut cycle = plan.compile(options.width, options.engine);
        let words = options.width.words();
        let pools = cycle.phases.iter_mut().map(|phase| {
            let pool = phase.pool.take();
            pool.unwrap_or_else(|| Pool::of_scores(phase.scores, words))
        });
        let asked = passes_asked(cycle.operations);
        Rollouts {
            pools: pools.collect(),
            worth: cycle
                .phases
                .iter()
                .map(|p| Worth::new(net, &p.goals))
                .collect(),
            banks: cycle.rows.map(|rows| Rows::new(rows, words)),
            home: Rows::new(cycle.rows[STATE as usize], words),
            fill: Fill::new(&cycle.facts, &cycle.values),
            deal: Deal::new(words, cycle.phases.len()),
            field: Field::new(words, options.depth),
            streams: Streams::new(seed, 0, words),
            outcomes: Vec::new(),
            state_changes: 0,
            roles: net.goals.len(),
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
        let (roles, none) = (self.roles, Sum::default());
        self.outcomes.resize_with(starts.len(), || Outcome {
            scores: vec![none; roles],
            ..Outcome::default()
        });
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
        if let Some(begun) = self.deal.begin(phase, self.field.live()) {
            let state = &mut self.banks[STATE as usize];
            self.field.begin(begun, &self.home, state);
        }
    }

    /// Ends the playouts that are over.
    fn look(&mut self, number: usize) {
        self.phases[number].look.run(&mut self.banks);
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
        let span = |rows: &Range<usize>| rows.start * words..rows.end * words;
        for draw in &phase.draws {
            let limits = Limits {
                counts: &look.flat()[span(&draw.counts)],
                masks: &look.flat()[span(&draw.masks)],
                bits: draw.masks.len(),
            };
            let numbers = &mut drawn.flat_mut()[span(&draw.numbers)];
            self.streams.draw(self.field.live(), limits, numbers);
        }
        phase.play.run(&mut self.banks);
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
            self.worth[phase].count(lanes, scores, &self.deal, &mut self.outcomes);
            pool.clear();
        }
    }
}

#[cfg(test)]
mod tests;
