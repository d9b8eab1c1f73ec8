//! The values of all positions of a game.
//!
//! In: a network. Out: for every reachable position and every role but chance, the score that the role
//! can force against all others, who know its moves; and a file in which it is looked up. [`tabulate`]
//! computes the values, [`Tabulation::write`] writes the file, and [`Table`] reads it.
//!
//! The file begins with the line `ggp table 1`, and a line of JSON with everything that is needed to
//! read the rest ([`Header`]). Then follow, in little-endian order: for each bucket and one more, the
//! number of its first entry (`u32`); the entries of all buckets; and the SHA-256 of everything before. A
//! position is in the bucket that [`bucket`] names. An entry has the facts of a position as bits, in the
//! order of the header, rounded up to bytes; the number of its value in the header (`u16`); and if there are
//! distances, the number of joint moves to the end (`u16`), 65535 if it is not known; and if there are expected scores,
//! one for each player (`f32`), not a number if play can go on for ever.

mod build;
mod file;
mod moves;

pub use crate::planning::breadth_first::values::Progress;
pub use build::{TabulateError, TabulateLimits, Tabulation, tabulate};
pub use file::{FactOrder, Header, Table, TableError, TableValue};
pub use moves::{LookError, MoveValue};

/// The first line of a file.
const MAGIC: &str = "ggp table 1\n";

/// The bucket of a position with these bytes of facts, if there are 2^`bits` buckets: the upper
/// bits of FNV-1a (64 bits) times 0x9e3779b97f4a7c15.
pub fn bucket(key: &[u8], bits: u32) -> u64 {
    let hash = key.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let hash = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash.checked_shr(64 - bits).unwrap_or(0)
}
