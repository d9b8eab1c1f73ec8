//! Many matches of one game at a time, for programs that learn.
//!
//! In: an action for each role of each match, given by its index in [`Propnet::moves`]. Out:
//! scores and ends, legal actions, observations, and actions drawn uniformly at random, all in
//! flat arrays of the caller. A match that is over begins again, unless the caller resets it.
//!
//! A match is a lane of a [`Batch`], and has random numbers of its own: it is the same whatever
//! the number of matches next to it.
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

use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Batch, NEXT, Packed, STATE, STATUS, holds, transpose};
use crate::propnet::Propnet;
use crate::propnet::code::Engine;

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
    random: Vec<Xoshiro256PlusPlus>,
    /// The joint moves made in each match.
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
        let width = match lanes {
            0..=64 => 64,
            65..=256 if options.engine.is_available(4) => 256,
            _ => WIDEST,
        };
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
        let blocks = (0..lanes).step_by(width).map(|first| {
            let count = width.min(lanes - first);
            let mut idle = vec![u64::MAX; width / 64];
            (0..count).for_each(|lane| idle[lane / 64] &= !(1 << (lane % 64)));
            Block {
                batch: batch.clone(),
                random: Vec::new(),
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
        let first = seed.wrapping_mul(0xD134_2543_DE82_EF95);
        let mut lane = 0;
        for block in &mut self.blocks {
            let count = block.lengths.len() as u64;
            let seeds = (lane..lane + count).map(|lane| first.wrapping_add(lane));
            block.random = seeds.map(Xoshiro256PlusPlus::seed_from_u64).collect();
            lane += count;
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
            let row = |row: usize, word: usize| status.row(first + row)[word] & !idle[word];
            for_each_line(each, mask, row, |bits, line| write_bits(&BYTES, bits, line));
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
            let rows = &block.batch.banks[STATE as usize];
            let row = |row: usize, word: usize| rows.row(row)[word];
            for_each_line(each, facts, row, |bits, line| {
                write_bits(&FLOATS, bits, line)
            });
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
            let row = |row: usize, word: usize| match row < count {
                true => rows.row(row)[word],
                false => 0,
            };
            // A line of bytes is one of bits, eight times as long.
            for (word, facts) in facts.chunks_mut(64 * each).enumerate() {
                for (group, first) in (0..each).step_by(8).enumerate() {
                    let square = square(64 * group, count, word, row);
                    for (bits, line) in square.iter().zip(facts.chunks_mut(each)) {
                        let line = &mut line[first..each.min(first + 8)];
                        line.copy_from_slice(&bits.to_le_bytes()[..line.len()]);
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
        for (lane, length) in self.lengths.iter_mut().enumerate() {
            if lanes[lane / 64] >> (lane % 64) & 1 == 1 {
                *length = 0;
            }
        }
        for (idle, lanes) in self.idle.iter_mut().zip(lanes) {
            *idle &= !lanes;
        }
    }

    fn sample(&mut self, actions: &mut [i32]) {
        let roles = self.batch.roles();
        let moves = self.batch.moves.clone();
        let status = self.batch.status();
        let mut squares = Vec::new();
        for (word, actions) in actions.chunks_mut(64 * roles).enumerate() {
            let random = &mut self.random[64 * word..];
            for role in 0..roles {
                let end = moves[role + 1];
                let starts = (moves[role]..end).step_by(64);
                squares.clear();
                squares.extend(
                    starts.map(|start| square(start, end, word, |row, word| status.row(row)[word])),
                );
                for (lane, (actions, random)) in
                    actions.chunks_mut(roles).zip(&mut *random).enumerate()
                {
                    let is_idle = self.idle[word] >> lane & 1 == 1;
                    actions[role] = match is_idle {
                        true => -1,
                        false => drawn(squares.iter().map(|square| square[lane]), random),
                    };
                }
            }
        }
    }

    /// Notes the actions of the matches that are not over.
    fn choose(&mut self, actions: &[i32]) -> Result<(), IllegalAction> {
        self.batch.status();
        let batch = &mut self.batch;
        let roles = batch.roles();
        let [_, _, does, status, _] = &mut batch.banks;
        does.flat_mut().fill(0);
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
                does.row_mut(batch.moves[role] + row)[word] |= bit;
            }
        }
        // The moves come first in the status, in the same order.
        let pairs = does.flat().iter().zip(status.flat());
        let is_illegal = pairs.fold(0, |wrong, (does, legal)| wrong | (does & !legal)) != 0;
        // `Batch::step` must clear all rows.
        batch.played.clear();
        batch.played.extend(0..does.len());
        if !is_illegal {
            return Ok(());
        }
        let words = does.words();
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
        for (lane, length) in self.lengths.iter_mut().enumerate() {
            *length += u32::from(self.idle[lane / 64] >> (lane % 64) & 1 == 0);
        }
        let roles = scores.len();
        for (word, ended) in self.ended(most).into_iter().enumerate() {
            let mut lanes = ended.any() & !self.idle[word];
            self.idle[word] |= lanes;
            while lanes != 0 {
                let bit = lanes.trailing_zeros() as usize;
                lanes &= lanes - 1;
                let (lane, is) = (64 * word + bit, |lanes: u64| lanes >> bit & 1 == 1);
                ends[lane] = match () {
                    () if is(ended.terminal) => TERMINAL,
                    () if is(ended.stuck) => STUCK,
                    () => CUT,
                };
                for (role, scores) in scores.iter().enumerate() {
                    let mut values = self.batch.goal_values(lane, role);
                    rewards[lane * roles + role] = match (values.next(), values.next()) {
                        (Some(value), None) if is(ended.terminal) => scores[value],
                        _ => f32::NAN,
                    };
                }
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

/// Sets the bits of some lanes.
fn put(row: &mut [u64], lanes: &[u64], holds: bool) {
    for (row, lanes) in row.iter_mut().zip(lanes) {
        *row = (*row & !lanes) | if holds { *lanes } else { 0 };
    }
}

/// By lane of a word: its bits in the rows `first..end`, at most 64.
fn square(first: usize, end: usize, word: usize, row: impl Fn(usize, usize) -> u64) -> [u64; 64] {
    let mut square = [0; 64];
    for (line, at) in square.iter_mut().zip(first..end) {
        *line = row(at, word);
    }
    transpose(&mut square);
    square
}

/// Calls `write` for every 64 rows of each lane: with the bits, and with their part of the lane's
/// line in `lines`, which has `rows` entries for each lane.
fn for_each_line<T>(
    rows: usize,
    lines: &mut [T],
    row: impl Fn(usize, usize) -> u64,
    write: impl Fn(u64, &mut [T]),
) {
    for (word, lines) in lines.chunks_mut(64 * rows).enumerate() {
        for first in (0..rows).step_by(64) {
            let end = rows.min(first + 64);
            let square = square(first, end, word, &row);
            for (bits, line) in square.iter().zip(lines.chunks_mut(rows)) {
                write(*bits, &mut line[first..end]);
            }
        }
    }
}

/// The position of a set bit, drawn with equal probabilities; -1 if there is not one.
fn drawn(words: impl Iterator<Item = u64> + Clone, random: &mut impl Rng) -> i32 {
    let count: u32 = words.clone().map(u64::count_ones).sum();
    if count == 0 {
        return -1;
    }
    // The product is less than `count` · 2^64.
    let mut left = match count {
        1 => 0,
        _ => (u128::from(random.next_u64()) * u128::from(count) >> 64) as u32,
    };
    for (place, mut word) in words.enumerate() {
        let ones = word.count_ones();
        if left < ones {
            (0..left).for_each(|_| word &= word - 1);
            return (64 * place) as i32 + word.trailing_zeros() as i32;
        }
        left -= ones;
    }
    unreachable!("one of `count` bits was drawn")
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
fn write_bits<T: Copy>(table: &[[T; 8]; 256], bits: u64, line: &mut [T]) {
    let mut bytes = bits.to_le_bytes().into_iter();
    let (whole, rest) = line.as_chunks_mut::<8>();
    for (line, byte) in whole.iter_mut().zip(&mut bytes) {
        *line = table[usize::from(byte)];
    }
    if let Some(byte) = bytes.next() {
        rest.copy_from_slice(&table[usize::from(byte)][..rest.len()]);
    }
}
