//! The joint moves between positions.

use std::ops::Range;

use super::Search;
use super::next_level::PORTION;
use super::shards::{Piece, SHARDS};
use super::workers::Portion;
use crate::planning::expand::Children;

/// The joint moves of the positions in some pieces, and the children that they lead to.
pub(super) struct Arcs {
    /// The shard and the number of each position are those of these pieces.
    pub pieces: Vec<Piece>,
    pub joints: Joints,
    /// By joint move: the child.
    children: Vec<Id>,
}

/// The joint moves of some positions.
#[derive(Clone, Default)]
pub(super) struct Joints {
    /// By position: the number of its joint moves and of those of the positions before.
    ends: Vec<u32>,
    /// By position: the role that chooses, or [`SEVERAL`]; if a role has no legal move, that role.
    choosers: Vec<u16>,
    /// By position at which several roles choose, in order: its number among all.
    several: Vec<u32>,
    /// For each of these and by role: the number of legal moves.
    counts: Vec<u32>,
    /// By joint move: the shard of the child, until children have numbers.
    pub shards: Vec<u8>,
}

/// Stands for several roles.
const SEVERAL: u16 = u16::MAX;

/// A position: its shard, and its number in the lower bits.
#[derive(Copy, Clone)]
pub(super) struct Id(u32);

const NUMBER_BITS: u32 = u32::BITS - SHARDS.ilog2();

impl Id {
    /// None if the number is too large.
    pub fn new(shard: usize, number: u32) -> Option<Id> {
        let is_small = number < (1 << NUMBER_BITS) - 1;
        is_small.then_some(Id((shard as u32) << NUMBER_BITS | number))
    }

    /// The position of a word, or `None` for the greatest word.
    pub fn of(word: u32) -> Option<Id> {
        (word != u32::MAX).then_some(Id(word))
    }

    pub fn word(self) -> u32 {
        self.0
    }

    pub fn shard(self) -> usize {
        (self.0 >> NUMBER_BITS) as usize
    }

    pub fn number(self) -> usize {
        (self.0 & ((1 << NUMBER_BITS) - 1)) as usize
    }
}

/// The joint moves of one position.
pub(super) struct Choices<'a> {
    /// The role that chooses, or the role without legal moves, if it is one.
    pub chooser: Option<usize>,
    /// If several roles choose, by role: the number of legal moves.
    pub counts: &'a [u32],
    /// The joint moves, as a range of those of all positions.
    pub children: Range<usize>,
}

impl Joints {
    /// Adds those of the parents of some children.
    pub fn add(&mut self, children: &Children) {
        let parents = children.starts.len() - 1;
        let before = self.ends.last().copied().unwrap_or(0);
        let ends = children.starts[1..].iter();
        self.ends.extend(ends.map(|end| before + end));
        // A single role has no list of choices.
        let roles = children.choices.len().checked_div(parents).unwrap_or(0);
        for parent in 0..parents {
            let counts = &children.choices[parent * roles..][..roles];
            let stuck = counts.iter().position(|&count| count == 0);
            let mut choosers = (0..roles).filter(|role| counts[*role] > 1);
            self.choosers
                .push(match (stuck, choosers.next(), choosers.next()) {
                    (Some(role), ..) | (None, Some(role), None) => role as u16,
                    (None, None, _) => 0,
                    (None, Some(_), Some(_)) => {
                        self.several.push(self.choosers.len() as u32);
                        self.counts.extend_from_slice(counts);
                        SEVERAL
                    }
                });
        }
    }

    /// The joint moves of one of the positions, in a game of this number of roles.
    pub fn choices_of(&self, at: usize, roles: usize) -> Choices<'_> {
        let Joints {
            ends,
            choosers,
            several,
            counts,
            ..
        } = self;
        let first = at.checked_sub(1).map_or(0, |before| ends[before]);
        let chooser = choosers[at];
        let counts = match chooser {
            SEVERAL => match several.binary_search(&(at as u32)) {
                Ok(place) => &counts[place * roles..][..roles],
                // Too many joint moves: there are no children.
                Err(_) => &[],
            },
            _ => &[],
        };
        Choices {
            chooser: (chooser != SEVERAL).then_some(chooser.into()),
            counts,
            children: first as usize..ends[at] as usize,
        }
    }

    /// The joint moves of the positions.
    pub fn choices(&self, roles: usize) -> impl Iterator<Item = Choices<'_>> {
        (0..self.ends.len()).map(move |at| self.choices_of(at, roles))
    }

    fn bytes(&self) -> usize {
        let numbers = self.ends.capacity() + self.several.capacity() + self.counts.capacity();
        4 * numbers + 2 * self.choosers.capacity() + self.shards.capacity()
    }
}

impl Arcs {
    /// The joint moves of a portion; `number` gives the numbers of its children by shard, in their order
    /// there. None if a number is too large.
    pub fn new(
        pieces: Vec<Piece>,
        portion: Portion,
        mut number: impl FnMut(usize) -> u32,
    ) -> Option<Arcs> {
        let mut joints = portion.joints?;
        let shards = std::mem::take(&mut joints.shards).into_iter();
        let children = shards.map(|shard| {
            let shard = usize::from(shard);
            Id::new(shard, number(shard))
        });
        Some(Arcs {
            children: children.collect::<Option<Vec<Id>>>()?,
            pieces,
            joints,
        })
    }

    /// The shards and numbers of the positions.
    pub fn places(&self) -> impl Iterator<Item = (usize, usize)> {
        places(&self.pieces)
    }

    pub fn children(&self) -> &[Id] {
        &self.children
    }

    pub fn bytes(&self) -> usize {
        let pieces = self.pieces.capacity() * size_of::<Piece>();
        pieces + self.joints.bytes() + 4 * self.children.capacity()
    }
}

/// The shards and numbers of the positions in some pieces.
pub(super) fn places(pieces: &[Piece]) -> impl Iterator<Item = (usize, usize)> {
    pieces.iter().flat_map(|piece| {
        let numbers = piece.numbers.start as usize..piece.numbers.end as usize;
        numbers.map(|number| (piece.shard, number))
    })
}

/// The joint moves found so far, as long as there is room for them.
pub(super) struct Kept {
    pub all: Vec<Arcs>,
    bytes: u64,
    /// The memory for everything, in bytes.
    most_bytes: u64,
    /// The bytes of everything else for each byte of the states.
    others: f64,
}

impl Kept {
    pub fn new(most_bytes: u64, others: f64) -> Kept {
        Kept {
            all: Vec::new(),
            bytes: 0,
            most_bytes,
            others,
        }
    }
}

impl Search<'_> {
    /// Keeps the joint moves of the positions that are expanded in a round, if there is room. The
    /// numbers of the children are given by shard.
    pub(super) fn keep_arcs(&mut self, portions: Vec<Portion>, numbers: &[Vec<u32>]) {
        let Some(mut kept) = self.arcs.take() else {
            return;
        };
        let joints = portions.iter().flat_map(|portion| &portion.joints);
        let count: usize = joints.map(|joints| joints.ends.len()).sum();
        let positions = self.expanded..self.expanded + count as u64;
        let mut at = [0; SHARDS];
        let mut items = Vec::with_capacity(portions.len());
        for (batch, portion) in self.own_batches(positions).into_iter().zip(portions) {
            let pieces: Vec<Piece> = batch.into_iter().map(|(piece, _)| piece).collect();
            let first = at;
            for (shard, at) in at.iter_mut().enumerate() {
                *at += portion.len_of(shard);
            }
            items.push((pieces, portion, first));
        }
        let work = items.len() * PORTION as usize;
        let arcs = (self.workers).each(work, items, |_, (pieces, portion, mut at)| {
            Arcs::new(pieces, portion, |shard| {
                at[shard] += 1;
                numbers[shard][at[shard] - 1]
            })
        });
        let arcs: Option<Vec<Arcs>> = arcs.into_iter().collect();
        let Some(arcs) = arcs else {
            self.workers.keep_joints(false);
            return;
        };
        kept.bytes += arcs.iter().map(|arcs| arcs.bytes() as u64).sum::<u64>();
        kept.all.extend(arcs);
        let others = self.shards.memory() as f64 * kept.others;
        match kept.bytes.saturating_add(others as u64) <= kept.most_bytes {
            true => self.arcs = Some(kept),
            false => self.workers.keep_joints(false),
        }
    }
}
