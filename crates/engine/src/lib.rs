//! Answers what a game allows: grounded networks, machine code over many positions,
//! and one state-machine interface on every backend.

#[doc(hidden)]
pub mod automorphism;
pub mod machine;
pub mod propnet;
pub mod sat;
