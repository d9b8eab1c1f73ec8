//! Solves games and checks the solutions: plans, proofs and their independent
//! verification.

pub mod planning;
pub mod solve;
pub mod verify;
