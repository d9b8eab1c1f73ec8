//! Orders of moves.

use std::hash::BuildHasher;

use rustc_hash::FxBuildHasher;

use ggp_gdl::game::Move;
use ggp_gdl::terms::{TermId, Terms};

/// The order in which moves are tried. All orders are deterministic and independent of
/// names.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum MoveOrder {
    /// The order of the machine: by first appearance in the rules.
    #[default]
    Rules,
    /// The reverse of the order of the rules.
    Reversed,
    /// A pseudo-random order with this seed. The same moves have the same order in all states.
    Mixed(u64),
}

impl MoveOrder {
    /// Sorts moves that are given in the order of the rules.
    pub(super) fn sort(self, terms: &Terms, moves: &mut [Move]) {
        match self {
            MoveOrder::Rules => {}
            MoveOrder::Reversed => moves.reverse(),
            MoveOrder::Mixed(seed) => {
                moves.sort_by_cached_key(|chosen| mix(terms, chosen.term(), seed));
            }
        }
    }
}

/// A hash of the structure of a term and the seed.
fn mix(terms: &Terms, term: TermId, seed: u64) -> u64 {
    let mut hash = FxBuildHasher.hash_one((seed, terms.functor(term)));
    for argument in terms.arguments(term) {
        hash = FxBuildHasher.hash_one((hash, mix(terms, *argument, seed)));
    }
    // FxHash maps similar inputs to similar values; the last step of SplitMix64 separates them.
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}
