//! Last states of playouts, kept until there are many to be scored.
//!
//! In: the lanes whose playouts end, and the rows that say what their states are
//! worth. Out: goals of all kept states at once. A state stays in its lane; so
//! all are scored when a lane ends that has one here already. What comes of it
//! does not depend on when that is. Where the first tape of a pass has scored the
//! states already, that is kept instead of them.

use multiversion::multiversion;

use super::circuit::{BANKS, LOOK, SCORES};
use crate::propnet::code::Code;
use crate::propnet::lanes::Rows;
use crate::propnet::tape::Place;

/// The states kept, and the tape that scores them.
#[derive(Clone, Debug)]
pub(in crate::propnet) struct Pool {
    /// None if what is kept says what states are worth.
    code: Option<Code>,
    /// What is kept, and where it comes from: the rows of the first bank.
    sources: Vec<Place>,
    /// What is kept; what it is worth.
    banks: [Rows; 2],
    /// Lanes that have a state here.
    lanes: Vec<u64>,
}

impl Pool {
    /// The tape reads the first of two banks, whose rows come from the places,
    /// and writes so many rows of the second.
    pub fn new(code: Code, sources: Vec<Place>, scores: usize) -> Pool {
        let words = code.words();
        Pool {
            banks: [sources.len(), scores].map(|rows| Rows::new(rows, words)),
            lanes: vec![0; words],
            code: Some(code),
            sources,
        }
    }

    /// Keeps what the first tape of a pass has said that states are worth.
    pub fn of_scores(scores: usize, words: usize) -> Pool {
        let source = |row: usize| Place {
            bank: LOOK,
            index: row as u32,
        };
        Pool {
            banks: [scores, 0].map(|rows| Rows::new(rows, words)),
            lanes: vec![0; words],
            code: None,
            sources: (SCORES..SCORES + scores).map(source).collect(),
        }
    }

    /// Whether a state of these lanes would take the place of another.
    pub fn is_taken(&self, lanes: &[u64]) -> bool {
        let both = self.lanes.iter().zip(lanes);
        both.fold(0, |any, (kept, new)| any | kept & new) != 0
    }

    /// Keeps the states of these lanes.
    pub fn keep(&mut self, lanes: &[u64], banks: &[Rows; BANKS]) {
        for (kept, new) in self.lanes.iter_mut().zip(lanes) {
            *kept |= new;
        }
        keep(lanes, banks, &self.sources, &mut self.banks[0]);
    }

    /// The lanes that have a state here, and what these are worth; none if there
    /// is no such lane.
    pub fn score(&mut self) -> Option<(&[u64], &Rows)> {
        if self.lanes.iter().all(|&none| none == 0) {
            return None;
        }
        let scores = match &mut self.code {
            Some(code) => {
                code.run(&mut self.banks);
                &self.banks[1]
            }
            None => &self.banks[0],
        };
        Some((&self.lanes, scores))
    }

    /// Keeps no state any more.
    pub fn clear(&mut self) {
        self.lanes.fill(0);
    }
}

/// Copies the lanes of rows.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
fn keep(lanes: &[u64], banks: &[Rows; BANKS], sources: &[Place], kept: &mut Rows) {
    match lanes.len().is_multiple_of(8) {
        true => keep_by::<8>(lanes, banks, sources, kept),
        false => keep_by::<1>(lanes, banks, sources, kept),
    }
}

/// The same in vectors of `N` words.
#[inline(always)]
fn keep_by<const N: usize>(
    lanes: &[u64],
    banks: &[Rows; BANKS],
    sources: &[Place],
    kept: &mut Rows,
) {
    let banks: [&[[u64; N]]; BANKS] = std::array::from_fn(|bank| banks[bank].flat().as_chunks().0);
    let (kept, _) = kept.flat_mut().as_chunks_mut::<N>();
    let (lanes, _) = lanes.as_chunks::<N>();
    let width = lanes.len();
    // No zipped iterators: their calls would be half of the time.
    for (number, source) in sources.iter().enumerate() {
        let row = &banks[source.bank as usize][source.index as usize * width..][..width];
        let kept = &mut kept[number * width..][..width];
        for at in 0..width {
            // Copies make vectors of this: what is behind references may overlap.
            let (mut new, row, lanes) = (kept[at], row[at], lanes[at]);
            for i in 0..N {
                new[i] ^= (new[i] ^ row[i]) & lanes[i];
            }
            kept[at] = new;
        }
    }
}
