//! Terminal states of playouts, collected to be scored together.
//!
//! In: the lanes whose playouts end, and the rows from which their scores follow.
//! Out: the goals of all collected states at once. A state keeps its lane, so all
//! are scored when a lane ends that already has a state here. The results do not
//! depend on when that happens. If the first tape of a pass has computed the
//! scores, these are collected instead of the states.

use multiversion::multiversion;

use super::circuit::{BANKS, LOOK, SCORES};
use crate::propnet::code::Code;
use crate::propnet::lanes::Rows;
use crate::propnet::tape::Place;

/// The collected states, and the tape that scores them.
#[derive(Clone, Debug)]
pub(in crate::propnet) struct TerminalPool {
    /// `None` if scores are collected.
    code: Option<Code>,
    /// The places that the rows of the first bank are copied from.
    sources: Vec<Place>,
    /// The collected rows; their scores.
    banks: [Rows; 2],
    /// Lanes that have a state here.
    lanes: Vec<u64>,
}

impl TerminalPool {
    /// `code` reads the first of two banks, whose rows are copied from `sources`,
    /// and writes `scores` rows of the second.
    pub fn new(code: Code, sources: Vec<Place>, scores: usize) -> TerminalPool {
        let words = code.words();
        TerminalPool {
            banks: [sources.len(), scores].map(|rows| Rows::new(rows, words)),
            lanes: vec![0; words],
            code: Some(code),
            sources,
        }
    }

    /// Collects scores that the first tape of a pass has computed.
    pub fn of_scores(scores: usize, words: usize) -> TerminalPool {
        let source = |row: usize| Place {
            bank: LOOK,
            index: row as u32,
        };
        TerminalPool {
            banks: [scores, 0].map(|rows| Rows::new(rows, words)),
            lanes: vec![0; words],
            code: None,
            sources: (SCORES..SCORES + scores).map(source).collect(),
        }
    }

    /// True if a state of these lanes would overwrite another.
    pub fn overlaps(&self, lanes: &[u64]) -> bool {
        let both = self.lanes.iter().zip(lanes);
        both.fold(0, |any, (kept, new)| any | kept & new) != 0
    }

    /// Adds the states of these lanes.
    pub fn add(&mut self, lanes: &[u64], banks: &[Rows; BANKS]) {
        for (kept, new) in self.lanes.iter_mut().zip(lanes) {
            *kept |= new;
        }
        copy_lanes(lanes, banks, &self.sources, &mut self.banks[0]);
    }

    /// The lanes that have a state here, and their scores; `None` if there are no
    /// such lanes.
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

    /// Removes all states.
    pub fn clear(&mut self) {
        self.lanes.fill(0);
    }
}

/// Copies the given lanes of the source rows.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
fn copy_lanes(lanes: &[u64], banks: &[Rows; BANKS], sources: &[Place], kept: &mut Rows) {
    match lanes.len().is_multiple_of(8) {
        true => copy_lanes_by::<8>(lanes, banks, sources, kept),
        false => copy_lanes_by::<1>(lanes, banks, sources, kept),
    }
}

/// [`copy_lanes`] in vectors of `N` words.
#[inline(always)]
fn copy_lanes_by<const N: usize>(
    lanes: &[u64],
    banks: &[Rows; BANKS],
    sources: &[Place],
    kept: &mut Rows,
) {
    let banks: [&[[u64; N]]; BANKS] = std::array::from_fn(|bank| banks[bank].flat().as_chunks().0);
    let (kept, _) = kept.flat_mut().as_chunks_mut::<N>();
    let (lanes, _) = lanes.as_chunks::<N>();
    let width = lanes.len();
    // Indexes instead of zipped iterators, whose calls would take half of the time.
    for (number, source) in sources.iter().enumerate() {
        let row = &banks[source.bank as usize][source.index as usize * width..][..width];
        let kept = &mut kept[number * width..][..width];
        for at in 0..width {
            // Copying to locals lets the compiler use vectors: data behind references
            // may overlap.
            let (mut new, row, lanes) = (kept[at], row[at], lanes[at]);
            for i in 0..N {
                new[i] ^= (new[i] ^ row[i]) & lanes[i];
            }
            kept[at] = new;
        }
    }
}
