//! Many matches of one game at a time, for programs that learn.
//!
//! In: an action for each role of each match, given by its index in [`Propnet::moves`]. Out:
//! scores and ends, legal actions, observations, and actions drawn uniformly at random, all in
//! flat arrays of the caller. A match that is over begins again, unless the caller resets it.
//!
//! A match is a lane of a [`Batch`], and has random bits of its own: it is the same whatever the
//! number of matches next to it.
//!
//! ```
//! use ggp_gdl::game::Game;
//! use ggp_engine::propnet::batch::{Environments, EnvironmentOptions, ONGOING};
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
//! let options = EnvironmentOptions::default();
//! let mut matches = Environments::new(&net, 100, &options).expect("play can begin");
//! let mut actions = vec![0; 100];
//! let (mut rewards, mut ends) = (vec![0.0; 100], vec![ONGOING; 100]);
//! let mut ended = 0;
//! for _ in 0..50 {
//!     matches.sample(&mut actions);
//!     matches.step(&actions, &mut rewards, &mut ends).expect("the actions are legal");
//!     ended += ends.iter().filter(|end| **end != ONGOING).count();
//! }
//! // A robot takes four steps on average.
//! assert!((1_000..1_500).contains(&ended));
//! # Ok::<(), ggp_engine::propnet::GroundError>(())
//! ```

mod block;
mod lines;

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::uniform::Uniform;
use super::{Batch, DRAWN, Packed, RANDOM, STATE};
use crate::machine::narrow_lanes;
use crate::propnet::Propnet;
use crate::propnet::code::Engine;
use block::Block;
use lines::{BYTES, transpose_all, write_floats, write_lines};

/// The end of a match: it goes on.
pub const ONGOING: u8 = 0;
/// The end of a match: the state is terminal.
pub const TERMINAL: u8 = 1;
/// The end of a match: it reached the greatest length.
pub const CUT: u8 = 2;
/// The end of a match: a role has no legal move, and the state is not terminal.
pub const STUCK: u8 = 3;
/// The end of a match: the state is terminal, and the rules do not give each player exactly one valid
/// score.
pub const UNSCORED: u8 = 4;

/// The options of [`Environments`].
#[derive(Clone, Debug)]
pub struct EnvironmentOptions {
    /// The seed of random actions.
    pub seed: u64,
    /// True if a match that is over begins again at once.
    pub resets: bool,
    /// The number of joint moves after which a match is cut.
    pub length: Option<u32>,
    /// The engine that runs the network.
    pub engine: Engine,
}

impl Default for EnvironmentOptions {
    /// Seed 0, matches that begin again, of any length.
    fn default() -> Self {
        EnvironmentOptions {
            seed: 0,
            resets: true,
            length: None,
            engine: Engine::Auto,
        }
    }
}

/// An action that is not legal.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct IllegalAction {
    /// The match.
    pub lane: usize,
    /// The role.
    pub role: usize,
    /// The action.
    pub action: i32,
}

/// Matches of one game, each in its own state.
///
/// All arrays are by match, then by role, then by action or fact.
#[derive(Clone, Debug)]
pub struct Environments {
    blocks: Vec<Block>,
    lanes: usize,
    options: EnvironmentOptions,
    /// By role and goal value: the score; `None` if the value is not a valid score.
    scores: Vec<Vec<Option<f32>>>,
    /// By role: true if it is not chance, which needs no score.
    is_player: Vec<bool>,
    /// By row of the status: true if it holds in the initial state.
    first_status: Vec<bool>,
}

/// The lanes of a block, at most. The widest vectors have eight words.
const WIDEST: usize = 512;

impl Environments {
    /// Matches in the initial state. `None` if no move can be made in it.
    ///
    /// # Panics
    ///
    /// If there are no matches.
    pub fn new(net: &Propnet, lanes: usize, options: &EnvironmentOptions) -> Option<Self> {
        assert!(lanes > 0, "there must be a match");
        let narrow = narrow_lanes(options.engine);
        let width = if lanes <= narrow { narrow } else { WIDEST };
        let mut batch = Batch::new(net, width, options.engine);
        let rows = batch.moves[batch.roles()] + 1;
        let status = batch.status();
        let first_status: Vec<bool> = (0..rows).map(|row| status.get(row, 0)).collect();
        let can_begin = !batch.is_terminal(0)
            && (0..batch.roles()).all(|role| batch.legal_moves(0, role).next().is_some());
        let terms = net.terms();
        let scores = net.goals().iter().map(|values| {
            let scores = values.iter().map(|(value, _)| {
                let score = net.game().score(&terms, *value);
                score.ok().map(|score| f32::from(score.get()))
            });
            scores.collect()
        });
        let scores = scores.collect();
        let game = net.game();
        let is_player = game.roles().map(|role| !game.is_random(role)).collect();
        let uniform = Uniform::new(net, width / 64, options.engine);
        let [random, drawn] = uniform.banks(width / 64);
        (batch.banks[RANDOM as usize], batch.banks[DRAWN as usize]) = (random, drawn);
        let blocks = (0..lanes).step_by(width).map(|first| {
            let count = width.min(lanes - first);
            let mut idle = vec![u64::MAX; width / 64];
            (0..count).for_each(|lane| idle[lane / 64] &= !(1 << (lane % 64)));
            Block {
                batch: batch.clone(),
                random: Vec::new(),
                uniform: uniform.clone(),
                lengths: vec![0; count],
                idle,
            }
        });
        let mut environments = Environments {
            blocks: blocks.collect(),
            lanes,
            options: options.clone(),
            scores,
            is_player,
            first_status,
        };
        environments.seed(options.seed);
        can_begin.then_some(environments)
    }

    /// The approximate number of bytes of some matches.
    pub fn bytes(net: &Propnet, lanes: usize) -> u64 {
        let count = |rows: Vec<usize>| rows.into_iter().sum::<usize>();
        let moves = count(net.legal.iter().map(Vec::len).collect());
        let values = count(net.goals.iter().map(|values| values.len()).collect());
        // The banks of a batch, the bits of a draw, and as many rows as gates that are open at a time.
        let rows = 2 * net.facts.len() + 3 * moves + values + 64 * net.legal.len() + 256;
        // The length, and the rows as bits.
        lanes.next_multiple_of(WIDEST) as u64 * (4 + rows as u64 / 8)
    }

    /// The number of matches.
    pub fn lanes(&self) -> usize {
        self.lanes
    }

    /// The number of roles.
    pub fn roles(&self) -> usize {
        self.scores.len()
    }

    /// The number of a role's actions.
    pub fn actions(&self, role: usize) -> usize {
        self.blocks[0].batch.moves(role)
    }

    /// The number of facts of an observation.
    pub fn facts(&self) -> usize {
        self.blocks[0].batch.facts
    }

    /// Begins the random numbers of all matches again.
    pub fn seed(&mut self, seed: u64) {
        // Seeds that follow each other must not give the matches of one the numbers of another.
        let mut next = seed.wrapping_mul(0xD134_2543_DE82_EF95);
        for block in &mut self.blocks {
            block.random.clear();
            for _ in 0..block.idle.len() {
                block.random.push(Xoshiro256PlusPlus::seed_from_u64(next));
                next = next.wrapping_add(1);
            }
        }
    }

    /// Puts all matches into the initial state.
    pub fn reset(&mut self) {
        for block in &mut self.blocks {
            let all = block.used();
            block.restart(&all, &self.first_status);
        }
    }

    /// Puts the matches with a number that is not 0 into the initial state.
    ///
    /// # Panics
    ///
    /// If there is not a number for each match. The methods below panic if an array has another
    /// length than they say.
    pub fn reset_some(&mut self, which: &[u8]) {
        assert_eq!(which.len(), self.lanes, "one number for each match");
        for (block, which) in self.blocks.iter_mut().zip(which.chunks(WIDEST)) {
            let mut lanes = vec![0; block.idle.len()];
            for (lane, _) in which.iter().enumerate().filter(|(_, which)| **which != 0) {
                lanes[lane / 64] |= 1 << (lane % 64);
            }
            block.restart(&lanes, &self.first_status);
        }
    }

    /// True if a match is over, and makes no moves.
    ///
    /// # Panics
    ///
    /// If the match does not exist.
    pub fn is_over(&self, lane: usize) -> bool {
        assert!(lane < self.lanes, "the match must exist");
        let lanes = &self.blocks[lane / WIDEST].idle;
        lanes[lane % WIDEST / 64] >> (lane % 64) & 1 == 1
    }

    /// Draws a legal action for each role of each match, with equal probabilities; -1 for the
    /// roles of a match that is over. `actions` has the length of matches × roles.
    pub fn sample(&mut self, actions: &mut [i32]) {
        let roles = self.roles();
        assert_eq!(
            actions.len(),
            self.lanes * roles,
            "one action for each role"
        );
        let parts = actions.chunks_mut(WIDEST * roles);
        for (block, actions) in self.blocks.iter_mut().zip(parts) {
            block.sample(actions);
        }
    }

    /// Makes a joint move in each match that is not over. `actions` and `rewards` have the length
    /// of matches × roles, `ends` that of matches.
    ///
    /// Where a match ends, its entry in `ends` is [`TERMINAL`], [`CUT`], [`STUCK`] or [`UNSCORED`].
    /// Its rewards are the scores, from 0 to 100, if it is [`TERMINAL`]; all other rewards are 0.
    ///
    /// # Errors
    ///
    /// The first action that is not legal. Nothing has changed then.
    pub fn step(
        &mut self,
        actions: &[i32],
        rewards: &mut [f32],
        ends: &mut [u8],
    ) -> Result<(), IllegalAction> {
        let roles = self.roles();
        assert_eq!(
            actions.len(),
            self.lanes * roles,
            "one action for each role"
        );
        assert_eq!(
            rewards.len(),
            self.lanes * roles,
            "one reward for each role"
        );
        assert_eq!(ends.len(), self.lanes, "one end for each match");
        let each = WIDEST * roles;
        let chosen = self.blocks.iter_mut().zip(actions.chunks(each)).enumerate();
        for (place, (block, actions)) in chosen {
            block.choose(actions).map_err(|wrong| IllegalAction {
                lane: wrong.lane + place * WIDEST,
                ..wrong
            })?;
        }
        rewards.fill(0.0);
        ends.fill(ONGOING);
        let parts = rewards.chunks_mut(each).zip(ends.chunks_mut(WIDEST));
        for (block, (rewards, ends)) in self.blocks.iter_mut().zip(parts) {
            block.step(self.options.length, ends);
            block.score(&self.scores, &self.is_player, rewards, ends);
            if self.options.resets {
                let over = block.over();
                block.restart(&over, &self.first_status);
            }
        }
        Ok(())
    }

    /// Writes 1 for each legal action of a role and 0 for all others. `mask` has the length of
    /// matches × actions of the role. In a match that is over, all are 0.
    pub fn legal_mask(&mut self, role: usize, mask: &mut [u8]) {
        let each = self.actions(role);
        assert_eq!(mask.len(), self.lanes * each, "one number for each action");
        if each == 0 {
            return;
        }
        for (block, mask) in self.blocks.iter_mut().zip(mask.chunks_mut(WIDEST * each)) {
            let first = block.batch.moves[role];
            let idle = block.idle.clone();
            let status = block.batch.status();
            write_lines(&BYTES, each, mask, |row, word| {
                status.row(first + row)[word] & !idle[word]
            });
        }
    }

    /// Writes the facts of each match: 1 for those that hold and 0 for all others, in the order of
    /// [`Propnet::facts`]. `facts` has the length of matches × facts.
    pub fn observe(&self, facts: &mut [f32]) {
        let each = self.facts();
        assert_eq!(facts.len(), self.lanes * each, "one number for each fact");
        if each == 0 {
            return;
        }
        for (block, facts) in self.blocks.iter().zip(facts.chunks_mut(WIDEST * each)) {
            write_floats(&block.batch.banks[STATE as usize], facts);
        }
    }

    /// The bytes of an observation as bits.
    pub fn observation_bytes(&self) -> usize {
        self.facts().div_ceil(8)
    }

    /// Writes the facts of each match as bits: fact `f` is bit `f % 8` of byte `f / 8`. `facts`
    /// has the length of matches × [`Environments::observation_bytes`].
    pub fn observe_bits(&self, facts: &mut [u8]) {
        let each = self.observation_bytes();
        assert_eq!(facts.len(), self.lanes * each, "all bytes of each match");
        if each == 0 {
            return;
        }
        let count = self.facts();
        for (block, facts) in self.blocks.iter().zip(facts.chunks_mut(WIDEST * each)) {
            let rows = &block.batch.banks[STATE as usize];
            let mut squares = Vec::new();
            for (word, facts) in facts.chunks_mut(64 * each).enumerate() {
                transpose_all(count, &mut squares, |row| rows.row(row)[word]);
                for lane in 0..facts.len() / each {
                    let line = &mut facts[each * lane..][..each];
                    for (place, square) in squares.iter().enumerate() {
                        let bytes = &mut line[8 * place..each.min(8 * place + 8)];
                        for (at, byte) in bytes.iter_mut().enumerate() {
                            *byte = (square[lane] >> (8 * at)) as u8;
                        }
                    }
                }
            }
        }
    }

    /// The state of each match.
    pub fn states(&self) -> Vec<Packed> {
        let states = self.blocks.iter().map(|b| b.batch.states(b.lengths.len()));
        states.flatten().collect()
    }

    /// Sets the state of each match, as [`Batch::set_states`] does. The lengths of the matches
    /// begin at 0 again. A match in whose state no move can be made is over; if matches begin
    /// again, it does so instead of the next move.
    pub fn set_states<S: AsRef<[u64]>>(&mut self, states: &[S]) {
        assert_eq!(states.len(), self.lanes, "one state for each match");
        for (block, states) in self.blocks.iter_mut().zip(states.chunks(WIDEST)) {
            block.batch.set_states(states);
            block.lengths.fill(0);
            let ended = block.ended(None);
            let used = block.used();
            let lanes = block.idle.iter_mut().zip(ended).zip(used);
            lanes.for_each(|((idle, ended), used)| *idle = !used | ended.any());
        }
    }
}
