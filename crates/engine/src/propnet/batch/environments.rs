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

use rand::{Rng as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

#[cfg(feature = "simd")]
use multiversion::multiversion;

use super::uniform::Uniform;
use super::{Batch, DRAWN, NEXT, Packed, RANDOM, STATE, STATUS, holds, transpose};
use crate::machine::narrow_lanes;
use crate::propnet::Propnet;
use crate::propnet::code::Engine;
use crate::propnet::lanes::Rows;

/// The end of a match: it goes on.
pub const ONGOING: u8 = 0;
/// The end of a match: the state is terminal.
pub const TERMINAL: u8 = 1;
/// The end of a match: it reached the greatest length.
pub const CUT: u8 = 2;
/// The end of a match: a role has no legal move, and the state is not terminal.
pub const STUCK: u8 = 3;

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
    /// By role and goal value: the score; NaN if the value is not a valid score.
    scores: Vec<Vec<f32>>,
    /// By row of the status: true if it holds in the initial state.
    first_status: Vec<bool>,
}

/// As many matches as a batch has lanes, or fewer.
#[derive(Clone, Debug)]
struct Block {
    batch: Batch,
    /// By 64 lanes: their random bits.
    random: Vec<Xoshiro256PlusPlus>,
    uniform: Uniform,
    /// The joint moves made in each match, if they are limited.
    lengths: Vec<u32>,
    /// The lanes that make no moves: those of matches that are over, and those without a match.
    idle: Vec<u64>,
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
                score.map_or(f32::NAN, |score| f32::from(score.get()))
            });
            scores.collect()
        });
        let scores = scores.collect();
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
            first_status,
        };
        environments.seed(options.seed);
        can_begin.then_some(environments)
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
    /// Where a match ends, its entry in `ends` is [`TERMINAL`], [`CUT`] or [`STUCK`], and its
    /// rewards are the scores, from 0 to 100: NaN if there is not exactly one, as in a match that
    /// was cut. All other rewards are 0.
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
            block.step(self.options.length, &self.scores, rewards, ends);
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

/// The lanes of a word in which a match ends, by reason.
#[derive(Copy, Clone, Debug)]
struct Ended {
    terminal: u64,
    stuck: u64,
    cut: u64,
}

impl Ended {
    fn any(self) -> u64 {
        self.terminal | self.stuck | self.cut
    }
}

impl Block {
    /// The lanes with a match.
    fn used(&self) -> Vec<u64> {
        let count = self.lengths.len();
        let words = (0..self.idle.len()).map(|word| match count.saturating_sub(64 * word) {
            0 => 0,
            left => u64::MAX >> (64 - left.min(64)),
        });
        words.collect()
    }

    /// The lanes with a match that is over.
    fn over(&self) -> Vec<u64> {
        let pairs = self.idle.iter().zip(self.used());
        pairs.map(|(idle, used)| idle & used).collect()
    }

    fn restart(&mut self, lanes: &[u64], first_status: &[bool]) {
        if lanes.iter().all(|lanes| *lanes == 0) {
            return;
        }
        let batch = &mut self.batch;
        for fact in 0..batch.facts {
            let row = batch.banks[STATE as usize].row_mut(fact);
            put(row, lanes, holds(&batch.initial, fact));
        }
        if batch.has_status {
            for (row, holds) in first_status.iter().enumerate() {
                put(batch.banks[STATUS as usize].row_mut(row), lanes, *holds);
            }
        }
        batch.has_goals = false;
        for (lengths, lanes) in self.lengths.chunks_mut(64).zip(lanes) {
            ones(*lanes).for_each(|lane| lengths[lane] = 0);
        }
        for (idle, lanes) in self.idle.iter_mut().zip(lanes) {
            *idle &= !lanes;
        }
    }

    fn sample(&mut self, actions: &mut [i32]) {
        self.batch.status();
        let (batch, uniform) = (&mut self.batch, &mut self.uniform);
        let random = &mut batch.banks[RANDOM as usize];
        for row in 0..random.len() {
            let row = random.row_mut(row);
            for (word, random) in row.iter_mut().zip(&mut self.random) {
                *word = random.next_u64();
            }
        }
        uniform.run(&mut batch.banks);
        let drawn = &batch.banks[DRAWN as usize];
        let roles = batch.roles();
        let mut squares = Vec::new();
        for (word, actions) in actions.chunks_mut(64 * roles).enumerate() {
            transpose_all(uniform.rows(), &mut squares, |row| drawn.row(row)[word]);
            // Iterators over pairs are not inlined in loops as short as these.
            for lane in 0..actions.len() / roles {
                let actions = &mut actions[roles * lane..][..roles];
                if self.idle[word] >> lane & 1 == 1 {
                    actions.fill(-1);
                    continue;
                }
                for (role, action) in actions.iter_mut().enumerate() {
                    *action = uniform.action(role, |group| squares[group][lane]);
                }
            }
        }
    }

    /// Notes the actions of the matches that are not over.
    fn choose(&mut self, actions: &[i32]) -> Result<(), IllegalAction> {
        self.batch.status();
        let batch = &mut self.batch;
        let roles = batch.roles();
        let [_, _, does, status, ..] = &mut batch.banks;
        let words = does.words();
        let flat = does.flat_mut();
        flat.fill(0);
        for (lane, actions) in actions.chunks_exact(roles).enumerate() {
            let (word, bit) = (lane / 64, 1 << (lane % 64));
            if self.idle[word] & bit != 0 {
                continue;
            }
            for (role, &action) in actions.iter().enumerate() {
                let count = batch.moves[role + 1] - batch.moves[role];
                let row = usize::try_from(action).ok().filter(|row| *row < count);
                let Some(row) = row else {
                    return Err(IllegalAction { lane, role, action });
                };
                flat[(batch.moves[role] + row) * words + word] |= bit;
            }
        }
        // The moves come first in the status, in the same order.
        let pairs = does.flat().iter().zip(status.flat());
        let is_illegal = pairs.fold(0, |wrong, (does, legal)| wrong | (does & !legal)) != 0;
        if !is_illegal {
            return Ok(());
        }
        let mut wrong: Vec<(usize, usize)> = Vec::new();
        for (place, (does, legal)) in does.flat().iter().zip(status.flat()).enumerate() {
            let lanes = does & !legal;
            if lanes != 0 {
                let lane = place % words * 64 + lanes.trailing_zeros() as usize;
                wrong.push((lane, place / words));
            }
        }
        let (lane, row) = wrong.into_iter().min().expect("an action is illegal");
        let role = batch.moves.partition_point(|first| *first <= row) - 1;
        Err(IllegalAction {
            lane,
            role,
            action: (row - batch.moves[role]) as i32,
        })
    }

    /// Makes the moves that were chosen. Matches that end make no more moves.
    fn step(
        &mut self,
        most: Option<u32>,
        scores: &[Vec<f32>],
        rewards: &mut [f32],
        ends: &mut [u8],
    ) {
        let batch = &mut self.batch;
        batch.next.run(&mut batch.banks);
        batch.banks.swap(STATE as usize, NEXT as usize);
        batch.invalidate();
        if self.idle.iter().any(|idle| *idle != 0) {
            let [now, before, ..] = &mut batch.banks;
            for (place, (now, before)) in now.flat_mut().iter_mut().zip(before.flat()).enumerate() {
                let idle = self.idle[place % self.idle.len()];
                *now = (*now & !idle) | (before & idle);
            }
        }
        if most.is_some() {
            for (lane, length) in self.lengths.iter_mut().enumerate() {
                *length += u32::from(self.idle[lane / 64] >> (lane % 64) & 1 == 0);
            }
        }
        let roles = scores.len();
        for (word, ended) in self.ended(most).into_iter().enumerate() {
            let new = ended.any() & !self.idle[word];
            self.idle[word] |= new;
            for bit in ones(new) {
                let (lane, is) = (64 * word + bit, |lanes: u64| lanes >> bit & 1 == 1);
                ends[lane] = match () {
                    () if is(ended.terminal) => TERMINAL,
                    () if is(ended.stuck) => STUCK,
                    () => CUT,
                };
                rewards[lane * roles..][..roles].fill(f32::NAN);
            }
            let terminal = new & ended.terminal;
            if terminal == 0 {
                continue;
            }
            for (role, scores) in scores.iter().enumerate() {
                let mut reward = |bit, score| rewards[(64 * word + bit) * roles + role] = score;
                // The lanes with a goal value, and those with several.
                let (mut once, mut again) = (0, 0);
                for (value, &score) in scores.iter().enumerate() {
                    let lanes = self.batch.goal(role, value)[word] & terminal;
                    again |= once & lanes;
                    once |= lanes;
                    ones(lanes).for_each(|bit| reward(bit, score));
                }
                ones(again).for_each(|bit| reward(bit, f32::NAN));
            }
        }
    }

    /// By word: the lanes in whose states no move can be made, or no more.
    fn ended(&mut self, most: Option<u32>) -> Vec<Ended> {
        let words = self.idle.len();
        let moves = self.batch.moves.clone();
        let terminal = self.batch.terminal().to_vec();
        let status = self.batch.status();
        let mut able = vec![u64::MAX; words];
        for role in moves.windows(2) {
            let mut any = vec![0; words];
            for row in role[0]..role[1] {
                any.iter_mut()
                    .zip(status.row(row))
                    .for_each(|(any, row)| *any |= row);
            }
            able.iter_mut()
                .zip(any)
                .for_each(|(able, any)| *able &= any);
        }
        let mut cut = vec![0; words];
        if let Some(most) = most {
            for (lane, _) in self
                .lengths
                .iter()
                .enumerate()
                .filter(|(_, length)| **length >= most)
            {
                cut[lane / 64] |= 1 << (lane % 64);
            }
        }
        let ended = (0..words).map(|word| Ended {
            terminal: terminal[word],
            stuck: !able[word],
            cut: cut[word],
        });
        ended.collect()
    }
}

/// The positions of the set bits of a word.
#[inline]
fn ones(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let first = (word != 0).then(|| word.trailing_zeros() as usize)?;
        word &= word - 1;
        Some(first)
    })
}

/// Sets the bits of some lanes.
fn put(row: &mut [u64], lanes: &[u64], holds: bool) {
    for (row, lanes) in row.iter_mut().zip(lanes) {
        *row = (*row & !lanes) | if holds { *lanes } else { 0 };
    }
}

/// By 64 rows and lane of a word: the bits of the lane.
fn transpose_all(rows: usize, squares: &mut Vec<[u64; 64]>, row: impl Fn(usize) -> u64) {
    squares.resize(rows.div_ceil(64), [0; 64]);
    for (place, square) in squares.iter_mut().enumerate() {
        let count = (rows - 64 * place).min(64);
        for (line, bits) in square[..count].iter_mut().enumerate() {
            *bits = row(64 * place + line);
        }
        square[count..].fill(0);
        transpose(square);
    }
}

/// Writes the bits of all rows, as numbers by the table, to the lines of the lanes. A line has an
/// entry for each row.
#[inline(always)]
fn write_lines<T: Copy>(
    table: &[[T; 8]; 256],
    rows: usize,
    lines: &mut [T],
    row: impl Fn(usize, usize) -> u64,
) {
    let mut squares = Vec::new();
    for word in 0..lines.len().div_ceil(64 * rows) {
        transpose_all(rows, &mut squares, |at| row(at, word));
        let first = 64 * rows * word;
        let end = lines.len().min(first + 64 * rows);
        for lane in 0..(end - first) / rows {
            let line = &mut lines[first + rows * lane..][..rows];
            let (whole, rest) = line.as_chunks_mut::<64>();
            for (place, numbers) in whole.iter_mut().enumerate() {
                write_bits(table, squares[place][lane], numbers);
            }
            if let Some(square) = squares.get(whole.len()) {
                write_bits(table, square[lane], rest);
            }
        }
    }
}

/// [`write_lines`] for numbers of four bytes.
#[cfg_attr(feature = "simd", multiversion(targets("x86_64+avx2")))]
fn write_floats(rows: &Rows, lines: &mut [f32]) {
    let (flat, words) = (rows.flat(), rows.words());
    write_lines(&FLOATS, rows.len(), lines, |row, word| {
        flat[row * words + word]
    });
}

/// By byte: its bits as numbers.
macro_rules! spread {
    ($number:ty) => {{
        let mut all = [[0 as $number; 8]; 256];
        let mut byte = 0;
        while byte < 256 {
            let mut bit = 0;
            while bit < 8 {
                all[byte][bit] = (byte >> bit & 1) as $number;
                bit += 1;
            }
            byte += 1;
        }
        all
    }};
}

static FLOATS: [[f32; 8]; 256] = spread!(f32);
static BYTES: [[u8; 8]; 256] = spread!(u8);

/// Writes bits as numbers, by a table of those of a byte.
#[inline(always)]
fn write_bits<T: Copy>(table: &[[T; 8]; 256], bits: u64, line: &mut [T]) {
    let of = |first: usize| &table[(bits >> first & 0xFF) as usize];
    let (count, (whole, rest)) = (line.len(), line.as_chunks_mut::<8>());
    for (place, numbers) in whole.iter_mut().enumerate() {
        *numbers = *of(8 * place);
    }
    if rest.is_empty() {
        return;
    }
    match line.last_chunk_mut::<8>() {
        Some(last) => *last = *of(count - 8),
        None => line.copy_from_slice(&of(0)[..count]),
    }
}
