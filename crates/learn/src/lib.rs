//! Learns the value of positions by self-play.
//!
//! In: a game's network, and an amount of games or a time. Out: [`Values`]: for any
//! position, the score that each role can expect. Hundreds of games run at a time:
//! every role looks one ply ahead with the values learned so far, and the results of
//! the games improve them. Features are facts and groups of facts, so nothing
//! about any particular game is needed. Nothing here searches deeper.
//!
//! Sources: Tesauro, "Temporal difference learning and TD-Gammon", 1995; Silver,
//! Sutton, Müller, "Temporal-difference search in computer Go", 2012.

mod expansion;
mod explanation;
mod features;
#[cfg(feature = "files")]
mod file;
mod fingerprint;
mod groups;
mod lanes;
mod learning;
mod library;
mod patterns;
mod positions;
mod samples;
mod self_play;
mod survey;
mod symmetry;
mod trainer;
mod trial;
mod trust;
mod values;

pub use explanation::{Account, Change, Changes, Share, facts_text};
pub use features::Features;
#[cfg(feature = "files")]
pub use file::{read, write};
pub use fingerprint::Fingerprint;
pub use learning::{Learned, Lesson, Options, Progress, learn, weight_bytes};
pub use library::{FileError, Library};
pub use self_play::Play;
pub use trainer::Rates;
pub use trial::{Chooser, Trial, trial};
pub use trust::{Trust, trust};
pub use values::Values;
