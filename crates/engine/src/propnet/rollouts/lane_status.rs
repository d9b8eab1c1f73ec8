//! Which lanes have a playout running, and how it ends.

use multiversion::multiversion;

use crate::propnet::lanes::Rows;
use crate::propnet::playout::circuit::{OVER, STUCK, TERMINAL};

/// What the lanes are at.
#[derive(Clone, Debug)]
pub(super) struct Field {
    live: Vec<u64>,
    /// Lanes whose playout ended in the last pass: the game is over; a role has
    /// no legal move; it was cut.
    due: Vec<u64>,
    stuck: Vec<u64>,
    cut: Vec<u64>,
    /// Joint moves after which playouts are cut, and those made by the playouts
    /// running, as binary numbers; of no use without a depth.
    depth: Option<u64>,
    ages: Vec<Vec<u64>>,
    /// Joint moves made.
    changes: u64,
}

/// What ended in a pass.
#[derive(Copy, Clone, Debug)]
pub(super) struct Ends {
    pub is_any_due: bool,
    /// Stuck or cut.
    pub is_any_early: bool,
}

impl Field {
    pub fn new(words: usize, depth: Option<u64>) -> Field {
        let row = || vec![0; words];
        let bits = depth.map_or(0, |depth| 64 - depth.leading_zeros());
        Field {
            live: row(),
            due: row(),
            stuck: row(),
            cut: row(),
            depth,
            ages: (0..bits).map(|_| row()).collect(),
            changes: 0,
        }
    }

    /// No lane has a playout.
    pub fn clear(&mut self) {
        self.live.fill(0);
    }

    pub fn is_any_live(&self) -> bool {
        self.live.iter().any(|&live| live != 0)
    }

    /// Lanes with a playout that goes on.
    pub fn live(&self) -> &[u64] {
        &self.live
    }

    /// Lanes in which the game was over in the last pass, and not before.
    pub fn due(&self) -> &[u64] {
        &self.due
    }

    /// Lanes in which a role had no legal move then.
    pub fn stuck(&self) -> &[u64] {
        &self.stuck
    }

    /// Lanes that were cut then.
    pub fn cut(&self) -> &[u64] {
        &self.cut
    }

    /// How many joint moves were made since this was asked last.
    pub fn take_changes(&mut self) -> u64 {
        std::mem::take(&mut self.changes)
    }

    /// Puts lanes into other states, and has a playout begin there.
    pub fn begin(&mut self, lanes: &[u64], from: &Rows, state: &mut Rows) {
        for (live, new) in self.live.iter_mut().zip(lanes) {
            *live |= new;
        }
        for age in &mut self.ages {
            age.iter_mut()
                .zip(lanes)
                .for_each(|(age, new)| *age &= !new);
        }
        put(lanes, from, state);
    }

    /// Ends the playouts that are over, and counts a joint move for the rest.
    pub fn settle(&mut self, look: &Rows) -> Ends {
        self.find_old();
        let ends = settle(self, look);
        if self.depth.is_some() {
            self.age();
        }
        ends
    }

    /// Marks what is to be cut.
    fn find_old(&mut self) {
        let Some(depth) = self.depth else { return };
        for word in 0..self.cut.len() {
            let ages = self.ages.iter().enumerate();
            let differs = |(bit, age): (usize, &Vec<u64>)| {
                age[word] ^ if depth >> bit & 1 == 1 { u64::MAX } else { 0 }
            };
            self.cut[word] = !ages.map(differs).fold(0, |any, some| any | some);
        }
    }

    /// Makes the live lanes older.
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

/// See [`Field::settle`]; `cut` says what is old enough, and becomes what is cut.
#[multiversion(targets("x86_64+avx512f+avx512vpopcntdq", "x86_64+avx2+popcnt"))]
fn settle(field: &mut Field, look: &Rows) -> Ends {
    let (over, terminal, stuck) = (look.row(OVER), look.row(TERMINAL), look.row(STUCK));
    let words = field.live.len();
    let (over, terminal, stuck) = (&over[..words], &terminal[..words], &stuck[..words]);
    let (due, early) = (&mut field.due[..words], &mut field.stuck[..words]);
    let (live, cut) = (&mut field.live[..words], &mut field.cut[..words]);
    let (mut any_due, mut any_early) = (0, 0);
    let mut changes = 0;
    for word in 0..words {
        let before = live[word];
        due[word] = before & terminal[word];
        early[word] = before & stuck[word];
        cut[word] &= before & !over[word];
        live[word] = before & !over[word] & !cut[word];
        changes += u64::from(live[word].count_ones());
        any_due |= due[word];
        any_early |= early[word] | cut[word];
    }
    field.changes += changes;
    Ends {
        is_any_due: any_due != 0,
        is_any_early: any_early != 0,
    }
}

/// Copies lanes of all rows.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
fn put(lanes: &[u64], from: &Rows, to: &mut Rows) {
    match lanes.len().is_multiple_of(8) {
        true => put_by::<8>(lanes, from, to),
        false => put_by::<1>(lanes, from, to),
    }
}

/// The same in vectors of `N` words.
#[inline(always)]
fn put_by<const N: usize>(lanes: &[u64], from: &Rows, to: &mut Rows) {
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
