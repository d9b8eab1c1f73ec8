//! In which order moves are tried.

use std::hash::BuildHasher;

use rustc_hash::FxBuildHasher;

use ggp_gdl::game::Move;
use ggp_gdl::terms::{TermId, Terms};

/// In which order moves are tried. All orders are fixed, and none depends on
/// names.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum MoveOrder {
    /// As the machine gives them: by first appearance in the rules.
    #[default]
    Rules,
    /// The other way round.
    Reversed,
    /// Mixed up by a number; the same moves come in the same order everywhere.
    Mixed(u64),
}

impl MoveOrder {
    /// Sorts moves that are in the order of the rules.
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

/// A number that depends on the structure of the term and the seed.
fn mix(terms: &Terms, term: TermId, seed: u64) -> u64 {
    let mut hash = FxBuildHasher.hash_one((seed, terms.functor(term)));
    for argument in terms.arguments(term) {
        hash = FxBuildHasher.hash_one((hash, mix(terms, *argument, seed)));
    }
    // FxHash leaves neighbours neighbours; this last step of SplitMix64 does not.
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}
