//! The status of the lanes: running playouts, and the reasons why playouts ended.

#[cfg(feature = "simd")]
use multiversion::multiversion;

use crate::propnet::lanes::Rows;
use crate::propnet::playout::circuit::{OVER, STUCK, TERMINAL};

/// The status of all lanes.
#[derive(Clone, Debug)]
pub(super) struct LaneStatus {
    live: Vec<u64>,
    /// Lanes whose playout ended in the last pass: the game is over; a role has no
    /// legal move; it was cut.
    finished: Vec<u64>,
    stuck: Vec<u64>,
    cut: Vec<u64>,
    /// The number of joint moves after which playouts are cut, and the numbers made
    /// by the running playouts, in binary. Unused without a depth.
    depth: Option<u64>,
    ages: Vec<Vec<u64>>,
    /// True if all playouts are cut in the next pass.
    cuts_all: bool,
    /// The number of joint moves made.
    changes: u64,
}

/// The reasons for which playouts ended in a pass.
#[derive(Copy, Clone, Debug)]
pub(super) struct Ends {
    pub is_any_finished: bool,
    /// True if a playout was stuck or cut.
    pub is_any_early: bool,
}

impl LaneStatus {
    pub fn new(words: usize, depth: Option<u64>) -> LaneStatus {
        let row = || vec![0; words];
        let bits = depth.map_or(0, |depth| 64 - depth.leading_zeros());
        LaneStatus {
            live: row(),
            finished: row(),
            stuck: row(),
            cut: row(),
            depth,
            ages: (0..bits).map(|_| row()).collect(),
            cuts_all: false,
            changes: 0,
        }
    }

    /// Removes the playouts of all lanes.
    pub fn clear(&mut self) {
        self.live.fill(0);
        self.cut.fill(0);
        self.cuts_all = false;
    }

    /// Cuts all playouts that are not over, in the next pass.
    pub fn cut_all(&mut self) {
        self.cuts_all = true;
    }

    pub fn is_any_live(&self) -> bool {
        self.live.iter().any(|&live| live != 0)
    }

    /// Lanes with a running playout.
    pub fn live(&self) -> &[u64] {
        &self.live
    }

    /// Lanes in which the game ended in the last pass.
    pub fn finished(&self) -> &[u64] {
        &self.finished
    }

    /// Lanes in which a role had no legal move in the last pass.
    pub fn stuck(&self) -> &[u64] {
        &self.stuck
    }

    /// Lanes that were cut in the last pass.
    pub fn cut(&self) -> &[u64] {
        &self.cut
    }

    /// The number of joint moves since the last call.
    pub fn take_changes(&mut self) -> u64 {
        std::mem::take(&mut self.changes)
    }

    /// Loads states into lanes, and begins playouts there.
    pub fn begin(&mut self, lanes: &[u64], from: &Rows, state: &mut Rows) {
        for (live, new) in self.live.iter_mut().zip(lanes) {
            *live |= new;
        }
        for age in &mut self.ages {
            age.iter_mut()
                .zip(lanes)
                .for_each(|(age, new)| *age &= !new);
        }
        copy_lanes(lanes, from, state);
    }

    /// Ends the playouts that are over, and counts a joint move for the rest.
    pub fn settle(&mut self, look: &Rows) -> Ends {
        self.find_cut();
        let ends = settle(self, look);
        if self.depth.is_some() {
            self.age();
        }
        ends
    }

    /// Marks the lanes to cut.
    fn find_cut(&mut self) {
        if self.cuts_all {
            self.cut.fill(u64::MAX);
            return;
        }
        let Some(depth) = self.depth else { return };
        for word in 0..self.cut.len() {
            let ages = self.ages.iter().enumerate();
            let differs = |(bit, age): (usize, &Vec<u64>)| {
                age[word] ^ if depth >> bit & 1 == 1 { u64::MAX } else { 0 }
            };
            self.cut[word] = !ages.map(differs).fold(0, |any, some| any | some);
        }
    }

    /// Increments the age of the live lanes.
    fn age(&mut self) {
        for word in 0..self.live.len() {
            let mut carry = self.live[word];
            for age in &mut self.ages {
                let old = age[word];
                age[word] = old ^ carry;
                carry &= old;
            }
        }
    }
}

/// See [`LaneStatus::settle`]. On entry `cut` has the lanes at the depth limit, on
/// return those that were cut.
#[cfg_attr(
    feature = "simd",
    multiversion(targets("x86_64+avx512f+avx512vpopcntdq", "x86_64+avx2+popcnt"))
)]
fn settle(status: &mut LaneStatus, look: &Rows) -> Ends {
    let (over, terminal, stuck) = (look.row(OVER), look.row(TERMINAL), look.row(STUCK));
    let words = status.live.len();
    let (over, terminal, stuck) = (&over[..words], &terminal[..words], &stuck[..words]);
    let (finished, early) = (&mut status.finished[..words], &mut status.stuck[..words]);
    let (live, cut) = (&mut status.live[..words], &mut status.cut[..words]);
    let (mut any_finished, mut any_early) = (0, 0);
    let mut changes = 0;
    for word in 0..words {
        let before = live[word];
        finished[word] = before & terminal[word];
        early[word] = before & stuck[word];
        cut[word] &= before & !over[word];
        live[word] = before & !over[word] & !cut[word];
        changes += u64::from(live[word].count_ones());
        any_finished |= finished[word];
        any_early |= early[word] | cut[word];
    }
    status.changes += changes;
    Ends {
        is_any_finished: any_finished != 0,
        is_any_early: any_early != 0,
    }
}

/// Copies the given lanes of all rows.
#[cfg_attr(
    feature = "simd",
    multiversion(targets("x86_64+avx512f", "x86_64+avx2"))
)]
fn copy_lanes(lanes: &[u64], from: &Rows, to: &mut Rows) {
    match lanes.len().is_multiple_of(8) {
        true => copy_lanes_by::<8>(lanes, from, to),
        false => copy_lanes_by::<1>(lanes, from, to),
    }
}

/// [`copy_lanes`] in vectors of `N` words.
#[inline(always)]
fn copy_lanes_by<const N: usize>(lanes: &[u64], from: &Rows, to: &mut Rows) {
    let (lanes, _) = lanes.as_chunks::<N>();
    let (from, _) = from.flat().as_chunks::<N>();
    let (to, _) = to.flat_mut().as_chunks_mut::<N>();
    for (from, to) in from
        .chunks_exact(lanes.len())
        .zip(to.chunks_exact_mut(lanes.len()))
    {
        for ((from, to), lanes) in from.iter().zip(to).zip(lanes) {
            let (from, mut new, lanes) = (*from, *to, *lanes);
            for i in 0..N {
                new[i] ^= (new[i] ^ from[i]) & lanes[i];
            }
            *to = new;
        }
    }
}
