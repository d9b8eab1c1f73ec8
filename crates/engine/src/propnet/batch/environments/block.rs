//! Matches in the lanes of one batch.
//!
//! In: actions of all roles. Out: their legality, the states after them, and the matches that end.

use rand::Rng as _;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::lines::transpose_all;
use super::{CUT, IllegalAction, STUCK, TERMINAL, UNSCORED};
use crate::propnet::batch::uniform::Uniform;
use crate::propnet::batch::{Batch, DRAWN, NEXT, RANDOM, STATE, STATUS, holds};

/// As many matches as a batch has lanes, or fewer.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) batch: Batch,
    /// By 64 lanes: their random bits.
    pub(super) random: Vec<Xoshiro256PlusPlus>,
    pub(super) uniform: Uniform,
    /// The joint moves made in each match, if they are limited.
    pub(super) lengths: Vec<u32>,
    /// The lanes that make no moves: those of matches that are over, and those without a match.
    pub(super) idle: Vec<u64>,
}

/// The lanes of a word in which a match ends, by reason.
#[derive(Copy, Clone, Debug)]
pub(super) struct Ended {
    terminal: u64,
    stuck: u64,
    cut: u64,
}

impl Ended {
    pub(super) fn any(self) -> u64 {
        self.terminal | self.stuck | self.cut
    }
}

impl Block {
    /// The lanes with a match.
    pub(super) fn used(&self) -> Vec<u64> {
        let count = self.lengths.len();
        let words = (0..self.idle.len()).map(|word| match count.saturating_sub(64 * word) {
            0 => 0,
            left => u64::MAX >> (64 - left.min(64)),
        });
        words.collect()
    }

    /// The lanes with a match that is over.
    pub(super) fn over(&self) -> Vec<u64> {
        let pairs = self.idle.iter().zip(self.used());
        pairs.map(|(idle, used)| idle & used).collect()
    }

    pub(super) fn restart(&mut self, lanes: &[u64], first_status: &[bool]) {
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

    pub(super) fn sample(&mut self, actions: &mut [i32]) {
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
    pub(super) fn choose(&mut self, actions: &[i32]) -> Result<(), IllegalAction> {
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

    /// Makes the moves that were chosen, and notes which matches end. They make no more moves.
    pub(super) fn step(&mut self, most: Option<u32>, ends: &mut [u8]) {
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
        for (word, ended) in self.ended(most).into_iter().enumerate() {
            let new = ended.any() & !self.idle[word];
            self.idle[word] |= new;
            for bit in ones(new) {
                let is = |lanes: u64| lanes >> bit & 1 == 1;
                ends[64 * word + bit] = match () {
                    () if is(ended.terminal) => TERMINAL,
                    () if is(ended.stuck) => STUCK,
                    () => CUT,
                };
            }
        }
    }

    /// Writes the scores of the matches that have just ended in terminal states.
    pub(super) fn score(
        &mut self,
        scores: &[Vec<Option<f32>>],
        is_player: &[bool],
        rewards: &mut [f32],
        ends: &mut [u8],
    ) {
        let roles = scores.len();
        for (word, ends) in ends.chunks_mut(64).enumerate() {
            let terminal = (ends.iter().enumerate())
                .filter(|(_, end)| **end == TERMINAL)
                .fold(0, |lanes, (bit, _)| lanes | 1 << bit);
            if terminal == 0 {
                continue;
            }
            // The lanes in which all players have exactly one valid score.
            let mut scored: u64 = terminal;
            for (role, scores) in scores.iter().enumerate() {
                // The lanes with a goal value, those with several, and those with one that is not a score.
                let (mut once, mut again, mut invalid) = (0, 0, 0);
                for (value, score) in scores.iter().enumerate() {
                    let lanes = self.batch.goal(role, value)[word] & terminal;
                    again |= once & lanes;
                    once |= lanes;
                    match score {
                        None => invalid |= lanes,
                        Some(score) => ones(lanes)
                            .for_each(|bit| rewards[(64 * word + bit) * roles + role] = *score),
                    }
                }
                let valid = once & !again & !invalid;
                if is_player[role] {
                    scored &= valid;
                } else {
                    ones(terminal & !valid)
                        .for_each(|bit| rewards[(64 * word + bit) * roles + role] = 0.0);
                }
            }
            for bit in ones(terminal & !scored) {
                ends[bit] = UNSCORED;
                rewards[(64 * word + bit) * roles..][..roles].fill(0.0);
            }
        }
    }

    /// By word: the lanes in whose states no move can be made, or no more.
    pub(super) fn ended(&mut self, most: Option<u32>) -> Vec<Ended> {
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
