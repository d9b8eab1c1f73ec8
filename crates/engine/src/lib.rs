//! The rules of play of a game: grounded networks, machine code for many positions,
//! and one state-machine interface for all backends.

#[doc(hidden)]
pub mod automorphism;
mod excess;
pub mod machine;
pub mod propnet;
pub mod sat;
#[doc(hidden)]
pub mod threads;
